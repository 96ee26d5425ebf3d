"""The two-way interval: other questions and other runs might have been drawn."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onechange.stats.estimate import Interval
from onechange.stats.interval import wider
from onechange.stats.runs import RunVariance
from onechange.stats.sample import PairedSample
from onechange.stats.student import StudentLaw, mean

__all__ = [
    "question_variance",
    "run_law",
    "satterthwaite",
    "two_way_arm_interval",
    "two_way_arm_law",
    "two_way_law",
    "variance_of_mean",
    "with_runs",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def run_law(sample: PairedSample, name: str) -> StudentLaw | None:
    """Law of the two-way interval where the named interval takes it into account.

    Parameters
    ----------
    sample : PairedSample
        Its `runs` say what is known of whole runs.
    name : str
        Under ``auto`` the law counts where runs differ (F test, p below 0.2),
        under ``two-way`` in any case, under other names never.
    """
    runs = sample.runs
    if runs is None or name not in ("auto", "two-way"):
        return None
    if name == "auto" and not runs.differ:
        return None
    return two_way_law(sample, runs)


def two_way_law(sample: PairedSample, runs: RunVariance) -> StudentLaw | None:
    """Law of the mean delta when other questions and other runs might have been drawn.

    Parameters
    ----------
    sample : PairedSample
        Pairs of question means, all of them or those of a slice.
    runs : RunVariance
        Of the whole metric.

    Returns
    -------
    StudentLaw or None
        None without any spread, or for a single question or cluster.

    Notes
    -----
    V = V_q + max(0, h·(MS_trial - MS_residual)), V_q = sd²/n (CR2 with clusters),
    h = (1/K_b + 1/K_v)/n, with Satterthwaite's degrees of freedom
    V²/(V_q²/df_q + (h·MS_trial)²/ν + (h·MS_residual)²/ν_e), but not fewer than K - 1
    of the arm that has fewest of the runs used, nor than df_q where that is smaller:
    V holds a difference of mean squares, and where little of it is left the formula
    falls below the degrees of freedom of any of its parts, down to 0.
    """
    spread = question_variance(sample)
    if spread is None:
        return None
    return _law(mean(sample.difference), spread, runs, sum(runs.trial_weights))


def with_runs(law: StudentLaw, runs: RunVariance) -> StudentLaw | None:
    """Add whole runs to the law of a delta over questions alone.

    Parameters
    ----------
    law : StudentLaw
        Of the delta, or of a weighted mean of slice deltas: runs move all slices.
    runs : RunVariance

    Returns
    -------
    StudentLaw or None
        None without any spread.
    """
    spread = law.standard_error**2, law.df
    return _law(law.estimate, spread, runs, sum(runs.trial_weights))


def two_way_arm_law(
    values: FloatArray, clusters: IntArray | None, runs: RunVariance, arm: int
) -> StudentLaw | None:
    """As `two_way_law` for one arm's own mean.

    Parameters
    ----------
    values : ndarray of float, shape (n_questions,)
        Question means of the arm.
    clusters : ndarray of int, shape (n_questions,), or None
    runs : RunVariance
        Of unpaired arms.
    arm : int
        0 for the baseline, 1 for the variant.
    """
    if clusters is not None and np.unique(clusters).size == values.size:
        clusters = None
    spread = variance_of_mean(values, clusters)
    if spread is None:
        return None
    return _law(mean(values), spread, runs, runs.trial_weights[arm])


def question_variance(sample: PairedSample) -> tuple[float, float] | None:
    """Variance of the mean delta over questions alone, and its degrees of freedom.

    Parameters
    ----------
    sample : PairedSample

    Returns
    -------
    tuple of float, or None
        As `variance_of_mean`, of the differences.
    """
    clusters = sample.clusters
    if clusters is not None and sample.n_clusters == sample.n_pairs:
        clusters = None
    return variance_of_mean(sample.difference, clusters)


def two_way_arm_interval(
    interval: Interval,
    values: FloatArray,
    clusters: IntArray | None,
    runs: RunVariance,
    arm: int,
) -> Interval:
    """At each end the wider of an arm's own interval and its two-way interval.

    Parameters
    ----------
    interval : Interval
        Of the arm's mean, over questions alone.
    values, clusters, runs, arm
        As for `two_way_arm_law`.
    """
    law = two_way_arm_law(values, clusters, runs, arm)
    if law is None:
        return interval
    tail = (1 - interval.confidence_level) / 2
    low, high = wider((interval.low, interval.high), law.limits(tail))
    return replace(interval, low=low, high=high, method="two-way", degenerate=False)


def satterthwaite(
    question: tuple[float, float],
    runs: tuple[float, float],
    answers: tuple[float, float],
    *,
    least_df: float,
) -> float | None:
    """Degrees of freedom of V_q + runs - answers.

    Parameters
    ----------
    question, runs, answers : tuple of float
        Contribution and degrees of freedom of V_q, h·MS_trial and h·MS_residual.
    least_df : float
        Not fewer than these, or than those of V_q where it has spread and fewer.

    Returns
    -------
    float or None
        None without any spread.

    Examples
    --------
    >>> round(satterthwaite((4.0, 99), (3.0, 4), (1.0, 396), least_df=2), 2)
    14.91
    >>> satterthwaite((0.0, 99), (1.5, 4), (1.0, 396), least_df=2)
    2
    """
    total = question[0] + max(0.0, runs[0] - answers[0])
    spread = sum(part**2 / df for part, df in (question, runs, answers) if df > 0)
    if spread == 0:
        return None
    least = min(least_df, question[1]) if question[0] > 0 else least_df
    return max(least, total**2 / spread)


def _law(
    estimate: float,
    spread: tuple[float, float],
    runs: RunVariance,
    weight: float,
) -> StudentLaw | None:
    h = weight / runs.trial.factor
    df = satterthwaite(
        spread,
        (h * runs.trial.value, runs.trial.df),
        (h * runs.residual.value, runs.residual.df),
        least_df=runs.least_df,
    )
    if df is None:
        return None
    variance = spread[0] + max(0.0, weight * runs.variance)
    return StudentLaw(estimate, math.sqrt(variance), df)


def variance_of_mean(
    values: FloatArray, clusters: IntArray | None
) -> tuple[float, float] | None:
    """Variance of a mean over questions alone, and its degrees of freedom.

    Parameters
    ----------
    values : ndarray of float, shape (n_questions,)
    clusters : ndarray of int, shape (n_questions,), or None
        With them CR2 and Bell-McCaffrey degrees of freedom.

    Returns
    -------
    tuple of float, or None
        None for a single question or cluster.
    """
    if clusters is not None:
        from onechange.stats.cluster import cr2

        found = cr2(values, clusters)
        if found.standard_error is None or found.df is None:
            return None
        return found.standard_error**2, found.df
    if values.size < 2:
        return None
    noise = 1e-12 * float(np.max(np.abs(values)))
    spread = 0.0 if np.ptp(values) <= noise else float(np.var(values, ddof=1))
    return spread / values.size, values.size - 1
