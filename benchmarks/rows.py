"""The rows of the calibration benchmark: cell, size, method, limits.

Limits are percentages. A `pass` row must lie within them; a `control` row is a
method known to be bad and must come out beyond its limit, which proves that the
benchmark can see the problem; a `report` row has no limit. `reference` is the rate
measured in the study that set the limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cells
from cells import Cell
from events import (
    Event,
    covers,
    covers_p95,
    covers_ratio,
    covers_with_rows,
    covers_without_clusters,
    passes,
    passes_relative,
    rejects,
    rejects_like_sacrebleu,
    ships,
)

COVERAGE = "coverage of 95 % intervals"
TYPE_I = "type-I error at 5 %"
FALSE_PASS = "false guardrail passes at the margin"
SHIP = "ship although nothing changed"


@dataclass(frozen=True)
class Row:
    """One line of the benchmark."""

    table: str
    cell: Cell
    n: int
    method: str
    event: Event
    kind: str = "pass"
    low: float = 0.0
    high: float = 100.0
    reference: float | None = None
    unit: str = "questions"

    @property
    def name(self) -> str:
        """Identify the row, for ``--rows`` and in the results."""
        return f"{self.table} | {self.cell.name} | {self.n} | {self.method}"


LATENCY = cells.latency(1.2, name="lognormal ratio=1.2")
LATENCY_EQUAL = cells.latency(1.0, name="lognormal equal")
LATENCY_HEAVIER = cells.latency(
    1.0, noise=(0.3, 0.9), name="lognormal equal mean, heavier variant"
)
TRIALS = cells.trials_continuous(name="trials cont null")
LOW_NOISE = cells.trials_continuous(noise=0.05, name="trials cont lownoise null")
RUN_EFFECT = cells.trials_continuous(run=0.03, name="trials cont trialeff null")
DOCUMENTS = "documents"


def all_rows() -> tuple[Row, ...]:
    """List every row of the benchmark."""
    return (
        *_coverage_rows(),
        *_coverage_controls(),
        *_type_one_rows(),
        *_false_pass_rows(),
        *_ship_rows(),
    )


def _named_and_auto(
    cell: Cell,
    sizes: dict[int, tuple[float, float, float]],
    method: str,
    unit: str = "questions",
) -> Iterator[Row]:
    for n, (reference, low, high) in sizes.items():
        for name in (method, "auto"):
            yield Row(
                COVERAGE,
                cell,
                n,
                name if name == method else f"auto (for {method})",
                covers(name),
                low=low,
                high=high,
                reference=reference if name == method else None,
                unit=unit,
            )


def _coverage_rows() -> Iterator[Row]:
    binary = {
        (0.05, 0.03): {
            20: (100.0, 94.0, 100.0),
            50: (99.2, 94.0, 100.0),
            150: (96.2, 94.0, 97.5),
            500: (96.0, 94.0, 97.5),
        },
        (0.10, 0.03): {
            20: (99.6, 94.0, 100.0),
            50: (97.6, 94.0, 100.0),
            150: (95.7, 94.0, 97.5),
            500: (95.2, 94.0, 97.5),
        },
        (0.30, 0.10): {
            20: (95.8, 94.0, 100.0),
            50: (95.9, 94.0, 100.0),
            150: (95.4, 94.0, 97.5),
            500: (95.3, 94.0, 97.5),
        },
    }
    for (psi, delta), sizes in binary.items():
        yield from _named_and_auto(cells.binary(psi, delta), sizes, "newcombe")
    scores = {
        cells.ordinal(0.0): (98.6, 97.0, 96.4, 95.3),
        cells.ordinal(0.25): (95.3, 95.2, 94.9, 95.3),
        cells.faithfulness(0.60, 0.75): (92.3, 94.2, 94.7, 94.5),
    }
    limits = {10: (90.5, 99.5), 20: (92.8, 98.2), 50: (93.0, 98.2), 150: (93.0, 98.2)}
    for cell, references in scores.items():
        sizes = {
            n: (reference, *limits[n])
            for n, reference in zip(limits, references, strict=True)
        }
        yield from _named_and_auto(cell, sizes, "sign-flip")
    yield from _named_and_auto(
        cells.ordinal(0.25),
        {20: (95.0, 93.3, 97.0), 50: (94.8, 93.3, 97.0), 150: (95.2, 93.3, 97.0)},
        "expanded-percentile",
    )
    yield from _named_and_auto(
        LATENCY,
        {20: (94.5, 93.0, 97.0), 50: (95.0, 93.0, 97.0), 150: (94.6, 93.0, 97.0)},
        "sign-flip",
    )
    yield from _named_and_auto(
        cells.zero_inflated(0.05),
        {20: (89.4, 87.5, 97.0), 50: (93.5, 92.0, 97.0), 150: (94.3, 92.8, 97.0)},
        "guarded-t",
    )
    for method, references, low, high in (
        ("cr2-t", (95.1, 94.6, 95.4), 93.5, 96.5),
        ("sign-flip", (95.5, 94.7, 95.4), 93.3, 97.5),
    ):
        sizes = {
            n: (reference, low, high)
            for n, reference in zip((7, 21, 68), references, strict=True)
        }
        yield from _named_and_auto(cells.clustered("normal"), sizes, method, DOCUMENTS)
    yield from _named_and_auto(
        TRIALS,
        {20: (95.2, 93.5, 96.5), 50: (95.1, 93.5, 96.5), 150: (95.1, 93.5, 96.5)},
        "sign-flip",
    )
    for name, reference in (("fieller", 94.8), ("guarded-fieller", None)):
        yield Row(
            COVERAGE,
            LATENCY,
            50,
            f"relative delta, {name}",
            covers_ratio(name),
            low=93.0,
            high=97.0,
            reference=reference,
        )
    yield Row(
        COVERAGE,
        cells.latency_p95(1.2),
        150,
        "p95 delta, percentile",
        covers_p95,
        low=94.5,
        high=99.0,
        reference=97.5,
    )


def _coverage_controls() -> Iterator[Row]:
    def control(
        cell: Cell, n: int, method: str, event: Event, measured: float, limit: float
    ) -> Row:
        unit = DOCUMENTS if cell.name.startswith("clustered") else "questions"
        return Row(
            COVERAGE,
            cell,
            n,
            method,
            event,
            kind="control",
            high=limit,
            reference=measured,
            unit=unit,
        )

    few = cells.binary(0.05, 0.03)
    shifted = cells.ordinal(0.25)
    yield control(few, 20, "percentile", covers("percentile"), 54.9, 60)
    yield control(shifted, 10, "percentile", covers("percentile"), 88.9, 91)
    yield control(LATENCY, 10, "bca", covers("bca"), 85.0, 87)
    documents = cells.clustered("normal")
    yield control(
        documents, 21, "t, clusters ignored", covers_without_clusters("t"), 74.2, 78
    )
    yield control(LOW_NOISE, 150, "t over rows", covers_with_rows, 77.0, 80)
    yield control(RUN_EFFECT, 500, "t on question means", covers("t"), 54.3, 60)


def _type_one_rows() -> Iterator[Row]:
    nulls = [
        cells.ordinal(0.0),
        cells.faithfulness(0.60, 0.60),
        LATENCY_EQUAL,
        cells.zero_inflated(0.0),
    ]
    binaries = [cells.binary(psi, 0.0) for psi in (0.05, 0.10, 0.30)]
    for cell in (*nulls, *binaries):
        names = ["sign-flip", "auto"]
        if cell in binaries:
            names += ["mcnemar-exact", "mcnemar-midp"]
        for n in (10, 20, 50, 150):
            for name in names:
                yield Row(TYPE_I, cell, n, name, rejects(name), high=6.5)
    for kind, sizes, limit in (("normal", (7, 21, 68), 6.5), ("skew", (7,), 8.0)):
        for n in sizes:
            for name in ("sign-flip", "auto"):
                yield Row(
                    TYPE_I,
                    cells.clustered(kind),
                    n,
                    name,
                    rejects(name),
                    high=limit,
                    unit=DOCUMENTS,
                )
    for cell, measured in ((nulls[0], 11.6), (binaries[1], 12.6)):
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


def _false_pass_rows() -> Iterator[Row]:
    def rows(
        cell: Cell,
        sizes: tuple[int, ...],
        measured: tuple[float, ...],
        limits: tuple[float, ...] | float | None,
        unit: str = "questions",
    ) -> Iterator[Row]:
        for i, n in enumerate(sizes):
            limit = limits[i] if isinstance(limits, tuple) else limits
            yield Row(
                FALSE_PASS,
                cell,
                n,
                "auto",
                passes(),
                kind="report" if limit is None else "pass",
                high=100.0 if limit is None else limit,
                reference=measured[i],
                unit=unit,
            )

    usual = (20, 50, 150)
    few = cells.binary(0.05, -0.03)
    yield from rows(few, usual, (0.0, 0.7, 3.1), 4.5)
    for psi in (0.05, 0.10, 0.30):
        for n in (10, 20, 50, 150, 500):
            yield Row(
                FALSE_PASS,
                cells.binary(psi, -0.03),
                n,
                "newcombe",
                passes("newcombe"),
                high=4.5,
            )
    ordinal = cells.ordinal(0.25, swapped=True)
    yield from rows(ordinal, usual, (2.5, 2.2, 2.5), 4.0)
    worse = cells.faithfulness(0.75, 0.60)
    yield from rows(worse, usual, (3.6, 2.5, 2.9), (5.0, 4.0, 4.0))
    yield from rows(LATENCY, usual, (4.5, 4.0, 3.0), (6.0, 5.5, 4.5))
    trials = cells.trials_binary(0.05)
    yield from rows(trials, usual, (2.9, 2.6, 2.9), 4.5)
    for flips, limit in ((2 / 3, 4.5), (1 / 2, None), (1 / 3, None)):
        cell = cells.trials_few_changes(0.05, -0.03, flips=flips)
        yield from rows(cell, (50, 150), (3.2, 3.4), limit)
    normal = cells.clustered("normal", -0.05)
    yield from rows(normal, (7, 21), (2.4, 2.4), 4.0, DOCUMENTS)
    documents = (7, 21, 68)
    grouped = cells.clustered_binary(0.05, -0.03)
    yield from rows(grouped, documents, (0.0, 2.1, 2.6), 4.5, DOCUMENTS)
    dense = cells.clustered_binary(0.05, -0.03, concentrated=True)
    yield from rows(dense, documents, (0.0, 4.1, 4.0), 6.0, DOCUMENTS)
    for n, measured in zip(usual, (0.0, 0.1, 2.5), strict=True):
        yield Row(
            FALSE_PASS,
            few,
            n,
            "relative margin",
            passes_relative(),
            high=4.5,
            reference=measured,
        )
    heavier = cells.latency(1.2, noise=(0.3, 0.9), name="latency, heavier variant")
    yield from rows(heavier, usual, (10.7, 8.2, 6.3), None)
    yield from rows(cells.zero_inflated(-0.05), usual, (9.9, 6.3, 4.2), None)
    skew = cells.clustered("skew", 0.1, "lower")
    yield from rows(skew, documents, (7.0, 5.8, 4.2), None, DOCUMENTS)
    yield from rows(cells.rare_collapse(), (50,), (17.0,), None)
    for cell, n, name, event, measured, limit in (
        (few, 20, "t", passes("t"), 35.6, 25.0),
        (few, 20, "fieller", passes_relative("fieller"), 36.0, 25.0),
        (grouped, 7, "cr2-t", passes("cr2-t"), 12.7, 9.0),
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
            unit=DOCUMENTS if cell is grouped else "questions",
        )


def _ship_rows() -> Iterator[Row]:
    exchangeable = [
        *(cells.binary(psi, 0.0) for psi in (0.05, 0.10, 0.30)),
        cells.ordinal(0.0),
        LATENCY_EQUAL,
    ]
    for cell in exchangeable:
        for n in (20, 50, 150):
            yield Row(SHIP, cell, n, "auto", ships, high=3.5)
