"""The rows of the calibration benchmark: cell, size, method, limits.

Limits are percentages. A `pass` row must lie within them; a `control` row is a
method known to be bad and must come out beyond its limit, which proves that the
benchmark can see the problem; a `report` row has no limit. `reference` is the rate
measured in the study that set the limits.
"""

from __future__ import annotations

from collections.abc import Iterator

import cells
from cells import Cell
from events import (
    Row,
    covers,
    covers_p95,
    covers_ratio,
    covers_with_rows,
    covers_without_clusters,
    passes,
    passes_plain_fieller,
    passes_plainly,
    passes_relative,
    rejects,
    rejects_like_sacrebleu,
    ships,
)
from families import family_rows

COVERAGE = "coverage of 95 % intervals"
TYPE_I = "type-I error at 5 %"
FALSE_PASS = "false guardrail passes at the margin"
SHIP = "ship although nothing changed"


LATENCY = cells.latency(1.2, name="lognormal ratio=1.2")
LATENCY_EQUAL = cells.latency(1.0, name="lognormal equal")
TRIALS = cells.trials_continuous(name="trials cont null")
LOW_NOISE = cells.trials_continuous(noise=0.05, name="trials cont lownoise null")
RUN_EFFECT = cells.trials_continuous(run=0.03, name="trials cont trialeff null")


Sizes = dict[int, tuple[float, float, float]]  # n -> measured in the study, low, high


def all_rows() -> tuple[Row, ...]:
    """List every row of the benchmark."""
    return (
        *_mean_rows(),
        *_two_way_rows(),
        *_other_statistic_rows(),
        *_coverage_controls(),
        *_type_one_rows(),
        *_cluster_type_one_rows(),
        *_type_one_controls(),
        *_false_pass_rows(),
        *_named_false_pass_rows(),
        *_false_pass_reports(),
        *_false_pass_controls(),
        *_ship_rows(),
        *family_rows(),
    )


def _sizes(
    numbers: tuple[int, ...],
    measured: tuple[float, ...],
    limits: tuple[tuple[float, float], ...] | tuple[float, float],
) -> Sizes:
    """Join sizes, rates of the study, and limits (one pair for all, or one each)."""
    pairs = limits if isinstance(limits[0], tuple) else (limits,) * len(numbers)
    return {
        n: (reference, *pair)
        for n, reference, pair in zip(numbers, measured, pairs, strict=True)
    }


USUAL = (20, 50, 150)
BINARY_LIMITS = ((94.0, 100.0), (94.0, 100.0), (94.0, 97.5), (94.0, 97.5))
SCORE_LIMITS = ((90.5, 99.5), (92.8, 98.2), (93.0, 98.2), (93.0, 98.2))
ZERO_LIMITS = ((87.5, 97.0), (92.0, 97.0), (92.8, 97.0))

# cell, method, sizes: every row is run by the named method and through `auto`
MEAN_TABLE: tuple[tuple[Cell, str, Sizes], ...] = (
    *(
        (
            cells.binary(psi, delta),
            "newcombe",
            _sizes((20, 50, 150, 500), measured, BINARY_LIMITS),
        )
        for psi, delta, measured in (
            (0.05, 0.03, (100.0, 99.2, 96.2, 96.0)),
            (0.10, 0.03, (99.6, 97.6, 95.7, 95.2)),
            (0.30, 0.10, (95.8, 95.9, 95.4, 95.3)),
        )
    ),
    *(
        (cell, "sign-flip", _sizes((10, 20, 50, 150), measured, SCORE_LIMITS))
        for cell, measured in (
            (cells.ordinal(0.0), (98.6, 97.0, 96.4, 95.3)),
            (cells.ordinal(0.25), (95.3, 95.2, 94.9, 95.3)),
            (cells.faithfulness(0.60, 0.75), (92.3, 94.2, 94.7, 94.5)),
        )
    ),
    (
        cells.ordinal(0.25),
        "expanded-percentile",
        _sizes(USUAL, (95.0, 94.8, 95.2), (93.3, 97.0)),
    ),
    (LATENCY, "sign-flip", _sizes(USUAL, (94.5, 95.0, 94.6), (93.0, 97.0))),
    (
        cells.zero_inflated(0.05),
        "guarded-t",
        _sizes(USUAL, (89.4, 93.5, 94.3), ZERO_LIMITS),
    ),
    (
        cells.clustered("normal"),
        "cr2-t",
        _sizes((7, 21, 68), (95.1, 94.6, 95.4), (93.5, 96.5)),
    ),
    (
        cells.clustered("normal"),
        "sign-flip",
        _sizes((7, 21, 68), (95.5, 94.7, 95.4), (93.3, 97.5)),
    ),
    (TRIALS, "sign-flip", _sizes(USUAL, (95.2, 95.1, 95.1), (93.5, 96.5))),
)


def _mean_rows() -> Iterator[Row]:
    for cell, method, sizes in MEAN_TABLE:
        for n, (measured, low, high) in sizes.items():
            for label, name, reference in (
                (method, method, measured),
                (f"auto (for {method})", "auto", None),
            ):
                yield Row(
                    COVERAGE,
                    cell,
                    n,
                    label,
                    covers(name),
                    low=low,
                    high=high,
                    reference=reference,
                )


def _two_way_rows() -> Iterator[Row]:
    """Give runs an effect of their own; ``auto`` must do better than the floor."""
    for n, measured in ((50, 95.2), (150, 93.5), (500, 93.0)):
        for name, low in (("two-way", 91.5), ("auto", 92.5)):
            yield Row(
                COVERAGE,
                RUN_EFFECT,
                n,
                name,
                covers(name),
                low=low,
                high=97.5,
                reference=measured if name == "two-way" else None,
            )


def _other_statistic_rows() -> Iterator[Row]:
    """Relative and quantile deltas; guarded Fieller is what ``auto`` uses."""
    p95 = cells.latency_p95(1.2)
    for cell, n, method, event, low, high, measured in (
        (LATENCY, 50, "fieller", covers_ratio("fieller"), 93.0, 97.0, 94.8),
        (
            LATENCY,
            50,
            "guarded-fieller",
            covers_ratio("guarded-fieller"),
            93.0,
            97.0,
            None,
        ),
        (p95, 150, "p95 percentile", covers_p95, 94.5, 99.0, 97.5),
    ):
        yield Row(
            COVERAGE, cell, n, method, event, low=low, high=high, reference=measured
        )


def _coverage_controls() -> Iterator[Row]:
    documents = cells.clustered("normal")
    ignored = covers_without_clusters("t")
    for cell, n, method, event, measured, limit in (
        (cells.binary(0.05, 0.03), 20, "percentile", covers("percentile"), 54.9, 60),
        (cells.ordinal(0.25), 10, "percentile", covers("percentile"), 88.9, 91),
        (LATENCY, 10, "bca", covers("bca"), 85.0, 87),
        (documents, 21, "t, clusters ignored", ignored, 74.2, 78),
        (LOW_NOISE, 150, "t over rows", covers_with_rows, 77.0, 80),
        (RUN_EFFECT, 500, "t on question means", covers("t"), 54.3, 60),
    ):
        yield Row(
            COVERAGE,
            cell,
            n,
            method,
            event,
            kind="control",
            high=limit,
            reference=measured,
        )


BINARY_NULLS = tuple(cells.binary(psi, 0.0) for psi in (0.05, 0.10, 0.30))
SYMMETRIC_NULLS = (
    cells.ordinal(0.0),
    cells.faithfulness(0.60, 0.60),
    LATENCY_EQUAL,
    cells.zero_inflated(0.0),
    *BINARY_NULLS,
)


def _type_one_rows() -> Iterator[Row]:
    for cell in SYMMETRIC_NULLS:
        names = ["sign-flip", "auto"]
        if cell in BINARY_NULLS:
            names += ["mcnemar-exact", "mcnemar-midp"]
        for n in (10, *USUAL):
            for name in names:
                yield Row(TYPE_I, cell, n, name, rejects(name), high=6.5)


def _cluster_type_one_rows() -> Iterator[Row]:
    for kind, sizes, limit in (("normal", (7, 21, 68), 6.5), ("skew", (7,), 8.0)):
        for n in sizes:
            for name in ("sign-flip", "auto"):
                cell = cells.clustered(kind)
                yield Row(TYPE_I, cell, n, name, rejects(name), high=limit)


def _type_one_controls() -> Iterator[Row]:
    for cell, measured in ((cells.ordinal(0.0), 11.6), (BINARY_NULLS[1], 12.6)):
        yield Row(
            TYPE_I,
            cell,
            150,
            "sacrebleu-style p",
            rejects_like_sacrebleu,
            kind="control",
            low=9.0,
            reference=measured,
        )


DOCUMENTS = (7, 21, 68)
FEW = cells.binary(0.05, -0.03)
GROUPED = cells.clustered_binary(0.05, -0.03)
DENSE = cells.clustered_binary(0.05, -0.03, concentrated=True)

# cell, sizes, rates of the study, limits (one for all sizes or one each)
FALSE_PASS_TABLE: tuple[
    tuple[Cell, tuple[int, ...], tuple[float, ...], float | tuple[float, ...]], ...
] = (
    (FEW, USUAL, (0.0, 0.7, 3.1), 4.5),
    (cells.ordinal(0.25, swapped=True), USUAL, (2.5, 2.2, 2.5), 4.0),
    (cells.faithfulness(0.75, 0.60), USUAL, (3.6, 2.5, 2.9), (5.0, 4.0, 4.0)),
    (LATENCY, USUAL, (4.5, 4.0, 3.0), (6.0, 5.5, 4.5)),
    (cells.trials_binary(0.05), USUAL, (2.9, 2.6, 2.9), 4.5),
    (
        cells.trials_few_changes(0.05, -0.03, flips=2 / 3),
        (50, 150),
        (3.2, 3.4),
        4.5,
    ),
    (cells.clustered("normal", -0.05), (7, 21), (2.4, 2.4), 4.0),
    (GROUPED, DOCUMENTS, (0.0, 2.1, 2.6), 4.5),
    (DENSE, DOCUMENTS, (0.0, 4.1, 4.0), 6.0),
)


def _false_pass_rows() -> Iterator[Row]:
    """Guardrails through ``auto``, and the relative margin of a 0/1 metric."""
    for cell, sizes, measured, limits in FALSE_PASS_TABLE:
        each = limits if isinstance(limits, tuple) else (limits,) * len(sizes)
        for n, reference, limit in zip(sizes, measured, each, strict=True):
            yield Row(
                FALSE_PASS, cell, n, "auto", passes(), high=limit, reference=reference
            )
    for n, reference in zip(USUAL, (0.0, 0.1, 2.5), strict=True):
        yield Row(
            FALSE_PASS,
            FEW,
            n,
            "relative margin",
            passes_relative,
            high=4.5,
            reference=reference,
        )


def _named_false_pass_rows() -> Iterator[Row]:
    for psi in (0.05, 0.10, 0.30):
        for n in (10, 20, 50, 150, 500):
            cell = cells.binary(psi, -0.03)
            yield Row(FALSE_PASS, cell, n, "newcombe", passes("newcombe"), high=4.5)


def _false_pass_reports() -> Iterator[Row]:
    """Cells in which no interval can hold the level; what remains is stated."""
    heavier = cells.latency(1.2, noise=(0.3, 0.9), name="latency, heavier variant")
    reports: list[tuple[Cell, tuple[int, ...], tuple[float | None, ...]]] = [
        (heavier, USUAL, (10.7, 8.2, 6.3)),
        (cells.zero_inflated(-0.05), USUAL, (9.9, 6.3, 4.2)),
        (cells.clustered("skew", 0.1, "lower"), DOCUMENTS, (7.0, 5.8, 4.2)),
        (cells.rare_collapse(), (50,), (17.0,)),
    ]
    for flips in (1 / 2, 1 / 3):
        cell = cells.trials_few_changes(0.05, -0.03, flips=flips)
        reports.append((cell, (50, 150), (None, None)))
    for cell, sizes, measured in reports:
        for n, reference in zip(sizes, measured, strict=True):
            yield Row(
                FALSE_PASS,
                cell,
                n,
                "auto",
                passes(),
                kind="report",
                reference=reference,
            )


def _false_pass_controls() -> Iterator[Row]:
    for cell, n, name, event, measured, limit in (
        (FEW, 20, "t", passes_plainly("t"), 35.6, 25.0),
        (FEW, 20, "fieller", passes_plain_fieller, 36.0, 25.0),
        (GROUPED, 7, "cr2-t", passes_plainly("cr2-t"), 12.7, 9.0),
    ):
        yield Row(
            FALSE_PASS,
            cell,
            n,
            name,
            event,
            kind="control",
            low=limit,
            reference=measured,
        )


def _ship_rows() -> Iterator[Row]:
    for cell in (*BINARY_NULLS, cells.ordinal(0.0), LATENCY_EQUAL):
        for n in USUAL:
            yield Row(SHIP, cell, n, "auto", ships, high=3.5)
