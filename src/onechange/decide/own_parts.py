"""What the variance of the variant's own value is made of, where whole runs differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onechange.decide.findings import Scope
from onechange.decide.stability import slice_mask
from onechange.delta import Delta
from onechange.stats.cluster import cr2
from onechange.stats.projection import Contributions

__all__ = ["own_contributions"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
VARIANT = 1  # position of its weights


def own_contributions(scope: Scope, delta: Delta) -> Contributions | None:
    """Part the variance of the variant's own mean into questions, answers and runs.

    Parameters
    ----------
    scope : Scope
        What was compared.
    delta : Delta
        The row whose limit is open, overall or of a slice.

    Returns
    -------
    Contributions or None
        None for other statistics than the mean, and where runs do not differ or the
        interval was asked for by name and does not count them.

    Notes
    -----
    The parts are those of the interval: h'MS_residual for the answers, the variance
    between runs times the trial weight, and the rest of the variance of the question
    means.
    """
    values = scope.comparison.values.get((scope.variant_name, delta.metric))
    runs = None if values is None else values.arm_runs
    counts = scope.analysis(delta).interval in ("auto", "two-way")
    if values is None or runs is None or delta.statistic != "mean":
        return None
    if not counts or not runs.differ:
        return None
    spec = _breakdown(scope, delta)
    mask = slice_mask(scope, delta, spec, values.paired.size)
    use = np.flatnonzero(np.isfinite(values.variant) & mask)
    if use.size < 2:
        return None
    clusters = None if values.clusters is None else values.clusters[use]
    variance, df = _question_variance(values.variant[use], clusters)
    share = use.size / int(np.count_nonzero(np.isfinite(values.variant)))
    answers = min(
        float(runs.answer_weights[VARIANT] / share * runs.residual.value), variance
    )
    between = runs.trial_weights[VARIANT] * max(0.0, runs.variance)
    trials = [
        arm.n_trials
        for arm in (
            scope.comparison.baseline,
            scope.comparison.variants[scope.position],
        )
    ]
    both = trials[0] == trials[VARIANT]
    blank = (0.0,) if both else ()
    return Contributions(
        questions=variance - answers,
        answers=(*blank, answers),
        runs=(*blank, between),
        n_questions=int(use.size),
        n_trials=tuple(trials) if both else (trials[VARIANT],),
        df=df,
    )


def _question_variance(
    scores: FloatArray, clusters: IntArray | None
) -> tuple[float, float]:
    """Variance of the mean over questions, and its degrees of freedom."""
    n = scores.size
    if clusters is not None:
        found = cr2(scores, clusters)
        if found.standard_error is not None and found.df is not None:
            return found.standard_error**2, found.df
    return float(np.var(scores, ddof=1)) / n, float(n - 1)


def _breakdown(scope: Scope, delta: Delta) -> str | None:
    """Name the breakdown that the slice of a row belongs to."""
    for part in scope.comparison.slices:
        if any(row is delta for row in (*part.deltas, *part.rates, *part.joined)):
            return part.spec.text
    for joint in scope.comparison.joint:
        if joint.delta is delta and joint.spec is not None:
            return joint.spec.text
    return None
