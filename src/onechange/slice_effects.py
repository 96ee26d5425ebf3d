"""Slices against each other and against the whole: heterogeneity and reversals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.delta import Delta, metric_sample
from onechange.display import format_number
from onechange.plan import Analysis
from onechange.slices import SliceLabel
from onechange.stats.estimate import Interval, Note, TestResult
from onechange.stats.heterogeneity import heterogeneity
from onechange.stats.methods import score_width
from onechange.values import VariantValues

__all__ = [
    "Reversal",
    "SliceHeterogeneity",
    "reversals",
    "slice_heterogeneity",
]

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SliceHeterogeneity:
    """How far the deltas of one metric differ between slices.

    Parameters
    ----------
    metric, variant_name : str
    test : TestResult
        Of one common delta; the statistic is Q.
    df : int
        Number of slices less one.
    i2 : float
        Share of Q beyond its expectation, in percent.
    tau2 : float
        Variance of the true deltas between slices.
    pooled_delta : float
        Mean of the slices weighted by the inverse of their guarded variances.
    shrunken : tuple of (slice, delta)
        The delta of each slice drawn towards the mean by what its noise is worth.
    """

    metric: str
    variant_name: str
    test: TestResult
    df: int
    i2: float
    tau2: float
    pooled_delta: float
    shrunken: tuple[tuple[SliceLabel, float], ...]

    def shrunken_delta(self, label: SliceLabel | None) -> float | None:
        """Return the shrunken delta of one slice; None when it has none."""
        return dict(self.shrunken).get(label or ())


@dataclass(frozen=True, slots=True)
class Reversal:
    """A slice on the other side of zero from the overall delta.

    Parameters
    ----------
    metric, variant_name : str
    slice : tuple of (column, label)
    delta, overall : float
        Of the slice, and over all questions.
    interval : Interval or None
        Simultaneous interval of the slice.
    shown : bool
        Whether both are shown: the overall interval excludes 0, and the simultaneous
        one of the slice lies on the other side. Else only the signs differ.
    """

    metric: str
    variant_name: str
    slice: SliceLabel
    delta: float
    overall: float
    interval: Interval | None
    shown: bool

    def note(self, decimals: int, *, several: bool = False) -> Note:
        """Write the note that travels with the slice's delta."""
        label = " × ".join(text for _, text in self.slice)
        own = format_number(self.delta, decimals, signed=True)
        overall = format_number(self.overall, decimals, signed=True)
        figures = f"{own} in {label} against {overall} overall"
        what = f"{self.metric} of {self.variant_name}" if several else self.metric
        if self.shown:
            text = f"{what} is shown to go the other way: {figures}."
            return Note("reversal", text)
        reach = (
            "" if _side(self.interval) == 0 else ", although the slice itself is shown"
        )
        text = f"{what} has another sign, not shown to differ: {figures}{reach}."
        return Note("opposite-sign", text)


def slice_heterogeneity(
    variant: VariantValues,
    metric: str,
    slices: Sequence[tuple[SliceLabel, BoolArray]],
    analysis: Analysis,
) -> SliceHeterogeneity | None:
    """Test whether the slices of a breakdown have one delta.

    Parameters
    ----------
    variant : VariantValues
        The variant with its pairs.
    metric : str
    slices : sequence of (label, ndarray of bool, shape (n_questions,))
        The slices at or above the minimum size.
    analysis : Analysis
        Resamples and seed.

    Returns
    -------
    SliceHeterogeneity or None
        None with fewer than two slices.
    """
    values = variant.metrics[metric]
    complete = values.complete
    code = np.full(complete.size, -1, dtype=np.int64)
    for number, (_, questions) in enumerate(slices):
        code[questions & complete] = number
    sample = metric_sample(values, code >= 0)
    if len(slices) < 2 or sample.n_pairs == 0:
        return None
    found = heterogeneity(
        sample.difference,
        code[code >= 0],
        clusters=sample.clusters,
        width=score_width(sample),
        n_resamples=analysis.n_resamples,
        seed=analysis.seed,
    )
    if found is None:
        return None
    whole = found.pooled
    return SliceHeterogeneity(
        metric=metric,
        variant_name=variant.name,
        test=found.test,
        df=whole.df,
        i2=whole.i2,
        tau2=whole.tau2,
        pooled_delta=whole.delta,
        shrunken=tuple(
            (slices[number][0], delta)
            for number, delta in zip(found.slices, whole.shrunken, strict=True)
        ),
    )


def reversals(
    deltas: Sequence[Delta], overall: Sequence[Delta]
) -> tuple[Reversal, ...]:
    """List the slices on the other side of zero from the overall delta.

    Parameters
    ----------
    deltas : sequence of Delta
        Of the slices, with simultaneous intervals.
    overall : sequence of Delta
        Over all questions.

    Returns
    -------
    tuple of Reversal
        The shown ones first; slices under the minimum size are left out.
    """
    whole = {(d.metric, d.statistic, d.variant_name): d for d in overall}
    found = []
    for delta in deltas:
        against = whole.get((delta.metric, delta.statistic, delta.variant_name))
        if against is None or delta.statistic != "mean":
            continue
        small = any(note.code == "small-slice" for note in delta.notes)
        if small or not delta.delta or not against.delta:
            continue
        if delta.delta * against.delta > 0:
            continue
        interval = delta.simultaneous_interval
        shown = _side(against.interval) * _side(interval) < 0
        found.append(
            Reversal(
                metric=delta.metric,
                variant_name=delta.variant_name,
                slice=delta.slice or (),
                delta=delta.delta,
                overall=against.delta,
                interval=interval,
                shown=shown,
            )
        )
    return tuple(sorted(found, key=lambda reversal: not reversal.shown))


def _side(interval: Interval | None) -> int:
    """Which side of zero an interval lies on; 0 when it reaches it."""
    if interval is None:
        return 0
    return (interval.low > 0) - (interval.high < 0)
