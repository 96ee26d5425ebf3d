"""What repeated trials say about the delta of one metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.components import Component, TableFit
from onechange.stats.projection import Contributions, contributions
from onechange.stats.runs import FEWEST_QUESTIONS, RunVariance
from onechange.stats.twoway import variance_of_mean

__all__ = ["DeltaTrials", "delta_trials"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DeltaTrials:
    """Run-to-run variation of the delta; None = not estimable.

    Parameters
    ----------
    paired : bool
        Whether trial 1 of the baseline belongs to trial 1 of the variant.
    runs : RunVariance or None
        Variance between whole runs, pooled over the arms, with its F test.
    run_variance : Component or None
        The same with its interval.
    noise_floor : float or None
        Standard deviation of the delta from runs alone, the questions held fixed.
    delta_to_noise : float or None
        Size of the delta in noise floors.
    parts : Contributions or None
        Parts of the delta's variance: questions, answers, runs.
    reason : str or None
        Why nothing of this is estimable.
    """

    paired: bool = False
    runs: RunVariance | None = None
    run_variance: Component | None = None
    noise_floor: float | None = None
    delta_to_noise: float | None = None
    parts: Contributions | None = None
    reason: str | None = None


def delta_trials(
    difference: FloatArray,
    clusters: IntArray | None,
    fits: Sequence[TableFit],
    runs: RunVariance | None,
    *,
    confidence_level: float,
    judged: Sequence[float] = (),
) -> DeltaTrials:
    """Part the variance of a delta by what the trials tell.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
        Variant minus baseline of all pairs of the metric.
    clusters : ndarray of int, shape (n_pairs,), or None
        Cluster of each question.
    fits : sequence of TableFit
        Of both arms; of the differences when trials are paired.
    runs : RunVariance or None
        From the same tables.
    confidence_level : float
        Two-sided level of the component's interval.
    judged : sequence of float
        Variance of an answer's mean grading, by table.

    Returns
    -------
    DeltaTrials
    """
    if runs is None:
        return DeltaTrials(paired=len(fits) == 1, reason=_why_unknown(fits))
    if clusters is not None and np.unique(clusters).size == clusters.size:
        clusters = None
    spread = variance_of_mean(difference, clusters)
    floor = math.sqrt(runs.noise_variance)
    delta = float(np.mean(difference)) if difference.size else 0.0
    return DeltaTrials(
        paired=runs.paired,
        runs=runs,
        run_variance=runs.interval(confidence_level),
        noise_floor=floor,
        delta_to_noise=abs(delta) / floor if floor > 0 else None,
        parts=None if spread is None else contributions(spread, fits, runs, judged),
    )


def _why_unknown(fits: Sequence[TableFit]) -> str:
    if all(fit.n_trials < 2 for fit in fits):
        return "not estimable (1 trial)"
    repeated = max(fit.n_repeated for fit in fits)
    if repeated < FEWEST_QUESTIONS:
        have = f"{repeated} question{' has' if repeated == 1 else 's have'}"
        return (
            f"not estimable ({have} two scored trials; {FEWEST_QUESTIONS} are needed "
            "to tell runs from answers)"
        )
    return "not estimable (the trials share too few questions)"
