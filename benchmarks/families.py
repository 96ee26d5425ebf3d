"""Cells and rows of several slices at once: max-T, simultaneous intervals, spreads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

import cells
from cells import Cell, Draw, FloatArray, IntArray
from events import Event, Row
from onechange.stats.choose import decision_interval
from onechange.stats.flips import UnitColumns
from onechange.stats.heterogeneity import heterogeneity, label_permutation
from onechange.stats.multiplicity import max_t, simultaneous_level
from onechange.stats.sample import paired_sample

FAMILY = "several slices at once"
N_RESAMPLES = 999
SIZES = (8, 12, 16, 20, 28, 36, 48, 60)
SLICES = np.repeat(np.arange(len(SIZES)), SIZES)
QUESTIONS = int(SLICES.size)

# sizes of the slices, spreads of their differences
SPREADS = {
    "small slices spread more": ((60, 40, 20, 10), (0.1, 0.2, 0.4, 0.8)),
    "large slices spread more": ((60, 40, 20, 10), (0.8, 0.4, 0.2, 0.1)),
    "equal sizes": ((30, 30, 30, 30), (0.1, 0.2, 0.4, 0.8)),
}


def family_rows() -> Iterator[Row]:
    """Give the rows of families; `n` counts all questions."""
    yield Row(
        FAMILY,
        two_metrics(),
        QUESTIONS,
        "max-T, family-wise error",
        any_rejected,
        high=6.5,
        reference=5.2,
    )
    for psi, delta in ((0.10, 0.03), (0.30, 0.10)):
        yield Row(
            FAMILY,
            binary_slices(psi, delta),
            QUESTIONS,
            "simultaneous intervals, joint coverage",
            all_covered,
            low=92.5,
            reference=95.6 if psi == 0.10 else 94.0,
        )
    for name, (sizes, _) in SPREADS.items():
        yield Row(
            FAMILY,
            unequal_spreads(name),
            sum(sizes),
            "heterogeneity",
            differs(name),
            high=9.0,
        )
    name = "small slices spread more"
    yield Row(
        FAMILY,
        unequal_spreads(name),
        sum(SPREADS[name][0]),
        "label permutation",
        differs(name, permute=True),
        kind="control",
        low=20.0,
        reference=29.7,
    )


def two_metrics() -> Cell:
    """One binary and one ordinal metric without effect; they share no question effect.

    A draw holds both as columns, of shape (n_questions, 2).
    """
    parts = (cells.binary(0.30, 0.0), cells.ordinal(0.0))

    def draw(rng: np.random.Generator, n: int) -> Draw:
        drawn = [part.draw(rng, n) for part in parts]
        return Draw(
            np.column_stack([one.baseline for one in drawn]),
            np.column_stack([one.variant for one in drawn]),
        )

    return Cell("2 metrics, 8 slices of 8-60", draw, 0.0)


def binary_slices(psi: float, delta: float) -> Cell:
    """Every slice has the same binary delta."""
    whole = cells.binary(psi, delta)
    return replace(whole, name=f"8 slices of 8-60, {whole.name}", counted=False)


def unequal_spreads(name: str) -> Cell:
    """Slices with the same delta 0.1 and normal differences of unequal spread."""
    sizes, spreads = SPREADS[name]
    scale = np.repeat(spreads, sizes)

    def draw(rng: np.random.Generator, n: int) -> Draw:
        baseline = rng.standard_normal(n)
        return Draw(baseline, baseline + 0.1 + scale * rng.standard_normal(n))

    return Cell(f"4 slices, {name}", draw, 0.1)


def any_rejected(draw: Draw, cell: Cell) -> bool:
    """Count families in which some adjusted p-value is at most 0.05."""
    difference = draw.variant - draw.baseline
    found = max_t(list(_columns(difference)), n_resamples=N_RESAMPLES, seed=_seed(draw))
    return any(p is not None and p <= 0.05 for p in found.pvalues)


def all_covered(draw: Draw, cell: Cell) -> bool | None:
    """Count families in which every slice's simultaneous interval holds the delta."""
    difference = (draw.variant - draw.baseline)[:, None]
    found = max_t(list(_columns(difference)), n_resamples=N_RESAMPLES, seed=_seed(draw))
    if found.critical is None:
        return None
    level = simultaneous_level(found.critical, 0.95)
    return all(_slice_covered(draw, cell, code, level) for code in range(len(SIZES)))


def differs(name: str, *, permute: bool = False) -> Event:
    """Count rejections of "all slices have the same delta" at 5 %."""
    sizes, _ = SPREADS[name]
    slices = np.repeat(np.arange(len(sizes)), sizes)
    return partial(_differs, slices=slices, permute=permute)


def _differs(draw: Draw, cell: Cell, *, slices: IntArray, permute: bool) -> bool | None:
    difference = draw.variant - draw.baseline
    settings = {"n_resamples": N_RESAMPLES, "seed": _seed(draw)}
    if permute:
        test = label_permutation(difference, slices, **settings)
    else:
        found = heterogeneity(difference, slices, **settings)
        if found is None:
            return None
        test = found.test
    return None if test.pvalue is None else test.pvalue <= 0.05


def _slice_covered(draw: Draw, cell: Cell, code: int, level: float) -> bool:
    members = code == SLICES
    sample = paired_sample(draw.baseline[members], draw.variant[members], binary=True)
    interval = decision_interval(sample, confidence_level=level).interval
    if interval is None:  # a slice too small for the level makes no claim
        return True
    return interval.low - 1e-9 <= cell.delta <= interval.high + 1e-9


def _columns(difference: FloatArray) -> Iterator[UnitColumns]:
    for code in range(len(SIZES)):
        members = np.flatnonzero(code == SLICES)
        values = difference[members]
        yield UnitColumns(members, values, np.ones_like(values))


def _seed(draw: Draw) -> int:
    return int(np.random.default_rng(draw.key).integers(2**31))
