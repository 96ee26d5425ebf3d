"""Clusters as units: CR0, CR1, CR2 with Bell-McCaffrey t, design effect, ICC."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onechange.stats.estimate import Interval
from onechange.stats.interval import student_interval, transformed_limits
from onechange.stats.student import StudentLaw, guard, mean

__all__ = [
    "ClusterVariance",
    "bell_mccaffrey_df",
    "cluster_figures",
    "cr0",
    "cr1",
    "cr2",
    "cr2_covariance",
    "cr2_law",
    "cr2_t_interval",
    "design_effect",
    "guarded_cr2_law",
    "guarded_cr2_mean_law",
    "guarded_cr2_t_interval",
    "icc_anova",
    "largest_share",
    "skewed_cluster_limits",
    "variance_ratio",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ClusterVariance:
    """CR2 standard error of a mean with its degrees of freedom.

    Parameters
    ----------
    standard_error, df : float or None
        None when there is a single cluster, which shows no variance.
    n_clusters : int
        Number of clusters.
    """

    standard_error: float | None
    df: float | None
    n_clusters: int


def cr0(difference: FloatArray, clusters: IntArray) -> float:
    """Clustered standard error without a small-sample factor (Miller 2024).

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
    clusters : ndarray of int, shape (n_pairs,)
        Cluster of each question.

    Notes
    -----
    √(Σ_g R_g²)/n, R_g the sum of difference - mean over cluster g.
    """
    residual, _ = _residual_sums(difference, clusters)
    return math.sqrt(float(np.sum(residual**2))) / difference.size


def cr1(difference: FloatArray, clusters: IntArray) -> float | None:
    """Clustered standard error with the factor √(G/(G - 1)); None for one cluster."""
    n_clusters = int(np.unique(clusters).size)
    if n_clusters < 2:
        return None
    return cr0(difference, clusters) * math.sqrt(n_clusters / (n_clusters - 1))


def cr2(difference: FloatArray, clusters: IntArray) -> ClusterVariance:
    """Bias-reduced clustered standard error of a mean, with Bell-McCaffrey df.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
    clusters : ndarray of int, shape (n_pairs,)
        Cluster of each question.

    Returns
    -------
    ClusterVariance

    Notes
    -----
    √(Σ_g R_g²/(1 - n_g/n))/n, R_g the sum of difference - mean over cluster g
    (Bell & McCaffrey 2002; Pustejovsky & Tipton 2018).

    Examples
    --------
    >>> variance = cr2(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 2]))
    >>> round(variance.standard_error, 6), round(variance.df, 6)
    (0.881917, 2.0)
    """
    variance = cr2_covariance(difference, difference, clusters)
    sizes = _sizes(clusters)
    if variance is None:
        return ClusterVariance(None, None, sizes.size)
    return ClusterVariance(math.sqrt(variance), _bm_df(sizes), sizes.size)


def cr2_covariance(
    first: FloatArray, second: FloatArray, clusters: IntArray
) -> float | None:
    """CR2 covariance of two means over the same questions; None for one cluster.

    Parameters
    ----------
    first, second : ndarray of float, shape (n_questions,)
    clusters : ndarray of int, shape (n_questions,)
        Cluster of each question.
    """
    first_residual, sizes = _residual_sums(first, clusters)
    if sizes.size < 2:
        return None
    second_residual, _ = _residual_sums(second, clusters)
    n = first.size
    weighted = first_residual * second_residual / (1 - sizes / n)
    return float(np.sum(weighted)) / n**2


def bell_mccaffrey_df(
    clusters: IntArray, weights: FloatArray | None = None
) -> float | None:
    """Bell-McCaffrey degrees of freedom of a CR2 variance; None for one cluster.

    Parameters
    ----------
    clusters : ndarray of int, shape (n_questions,)
        Cluster of each question.
    weights : ndarray of float, shape (n_questions,), optional
        Weight of each question; the size of a cluster is then their sum.

    Notes
    -----
    Satterthwaite's matching under equal, independent errors:
    df = tr(Γ)²/Σ Γ_gh² with Γ_gg = n_g/n² and, for g ≠ h,
    Γ_gh = -w_g·w_h·n_g·n_h/n³, w_g² = 1/(1 - n_g/n). Singletons give n - 1.
    """
    sizes = _sizes(clusters, weights)
    return None if sizes.size < 2 else _bm_df(sizes)


def design_effect(difference: FloatArray, clusters: IntArray) -> float | None:
    """CR2 variance over the variance of independent questions.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
    clusters : ndarray of int, shape (n_pairs,)

    Returns
    -------
    float or None
        SE_CR2²/(sd²/n); 1 when all differences are equal; None for one cluster.
    """
    variance = cr2_covariance(difference, difference, clusters)
    if variance is None:
        return None
    if np.ptp(difference) == 0:
        return 1.0
    return variance / (float(np.var(difference, ddof=1)) / difference.size)


def cluster_figures(
    difference: FloatArray | None, clusters: IntArray | None
) -> dict[str, Any]:
    """Describe the clusters: their number, the share of the largest, design effect.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,), or None
        None for a statistic that is no mean of differences.
    clusters : ndarray of int, shape (n_pairs,), or None
        Without clusters, or without any question, there are no figures.
    """
    if clusters is None or clusters.size == 0:
        return {}
    return {
        "n_clusters": int(np.unique(clusters).size),
        "largest_cluster_share": largest_share(clusters),
        "design_effect": None
        if difference is None
        else design_effect(difference, clusters),
    }


def variance_ratio(difference: FloatArray, clusters: IntArray) -> float | None:
    """CR0 variance over Σ(d - mean)²/n², without small-sample factors.

    None when all differences are equal.
    """
    if np.ptp(difference) == 0:
        return None
    n = difference.size
    return cr0(difference, clusters) ** 2 / (float(np.var(difference)) / n)


def icc_anova(difference: FloatArray, clusters: IntArray) -> float | None:
    """Intraclass correlation of the differences within clusters, not truncated.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
    clusters : ndarray of int, shape (n_pairs,)

    Returns
    -------
    float or None
        None for one cluster, for singletons only, and without any spread.

    Notes
    -----
    (MSB - MSW)/(MSB + (n0 - 1)·MSW), n0 = (n - Σn_g²/n)/(G - 1).
    """
    residual, sizes = _residual_sums(difference, clusters)
    n, n_clusters = difference.size, sizes.size
    if n_clusters < 2 or n_clusters == n:
        return None
    between = float(np.sum(residual**2 / sizes))
    total = float(np.sum((difference - mean(difference)) ** 2))
    ms_between = between / (n_clusters - 1)
    ms_within = max(total - between, 0.0) / (n - n_clusters)
    n0 = (n - float(np.sum(sizes**2)) / n) / (n_clusters - 1)
    denominator = ms_between + (n0 - 1) * ms_within
    if denominator == 0 or np.ptp(difference) == 0:
        return None
    return (ms_between - ms_within) / denominator


def cr2_law(difference: FloatArray, clusters: IntArray) -> StudentLaw | None:
    """Student law of the mean with the CR2 standard error; None for one cluster."""
    variance = cr2(difference, clusters)
    if variance.standard_error is None or variance.df is None:
        return None
    return StudentLaw(mean(difference), variance.standard_error, variance.df)


def guarded_cr2_law(
    difference: FloatArray, clusters: IntArray, *, width: float | None
) -> StudentLaw | None:
    """Student law of the mean, CR2 variance plus the guard 2c²/n².

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
    clusters : ndarray of int, shape (n_pairs,)
    width : float or None
        Width of the declared score range, used when no answer changed.

    Returns
    -------
    StudentLaw or None
        None for one cluster, and when all differences are zero and no range is
        declared.
    """
    return _guarded(difference, clusters, guard(difference, width))


def guarded_cr2_mean_law(
    values: FloatArray, clusters: IntArray, *, width: float | None
) -> StudentLaw | None:
    """As `guarded_cr2_law` for an arm's own mean: c from the deviations from it."""
    if np.ptp(values) == 0:
        return _guarded(values, clusters, width)
    return _guarded(values, clusters, float(np.std(values)))


def skewed_cluster_limits(
    values: FloatArray, clusters: IntArray, tail: float
) -> tuple[float, float] | None:
    """Limits of a mean by CR2, corrected for the skewness of the cluster totals.

    Parameters
    ----------
    values : ndarray of float, shape (n_questions,)
    clusters : ndarray of int, shape (n_questions,)
    tail : float
        Probability beyond either limit.

    Returns
    -------
    tuple or None
        None for one cluster.

    Notes
    -----
    `transformed_limits` with the skewness Σ R_g³/(Σ R_g²)^1.5, R_g the sum of value
    - mean over cluster g. With one question in each cluster it is `hall_limits`.
    """
    law = cr2_law(values, clusters)
    if law is None:
        return None
    residual, _ = _residual_sums(values, clusters)
    scale = float(np.max(np.abs(residual)))
    scaled = residual / scale if scale > 0 else residual
    squares = float(np.sum(scaled**2))
    skew = float(np.sum(scaled**3)) / squares**1.5 if squares > 0 else 0.0
    return transformed_limits(law, skew, tail)


def cr2_t_interval(
    difference: FloatArray, clusters: IntArray, *, confidence_level: float = 0.95
) -> Interval | None:
    """Interval of the mean difference: CR2 with Bell-McCaffrey t.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
    clusters : ndarray of int, shape (n_pairs,)
    confidence_level : float
        Two-sided level.

    Returns
    -------
    Interval or None
        None for one cluster; degenerate when no cluster deviates from the mean.
    """
    law = cr2_law(difference, clusters)
    return student_interval(law, confidence_level, "cr2-t")


def guarded_cr2_t_interval(
    difference: FloatArray,
    clusters: IntArray,
    *,
    confidence_level: float = 0.95,
    width: float | None = None,
) -> Interval | None:
    """Interval of the mean difference: CR2 plus the guard 2c²/n².

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
    clusters : ndarray of int, shape (n_pairs,)
    confidence_level : float
        Two-sided level.
    width : float, optional
        Width of the declared score range, used when no answer changed.

    Returns
    -------
    Interval or None
        None for one cluster, or without any change and any declared range.
    """
    law = guarded_cr2_law(difference, clusters, width=width)
    return student_interval(law, confidence_level, "guarded-cr2-t")


def largest_share(clusters: IntArray) -> float:
    """Share of all questions that lies in the largest cluster."""
    sizes = _sizes(clusters)
    return float(sizes.max() / sizes.sum())


def _guarded(
    values: FloatArray, clusters: IntArray, c: float | None
) -> StudentLaw | None:
    law = cr2_law(values, clusters)
    if law is None or not c:
        return None
    variance = law.standard_error**2 + 2 * c * c / values.size**2
    return StudentLaw(law.estimate, math.sqrt(variance), law.df)


def _sizes(clusters: IntArray, weights: FloatArray | None = None) -> FloatArray:
    codes = np.unique(clusters, return_inverse=True)[1]
    return np.bincount(codes, weights=weights).astype(np.float64)


def _residual_sums(
    values: FloatArray, clusters: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Per cluster: sum of value - mean, and size."""
    _, code, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    centred = np.zeros_like(values) if np.ptp(values) == 0 else values - mean(values)
    return np.bincount(code, weights=centred).astype(np.float64), sizes.astype(
        np.float64
    )


def _bm_df(sizes: FloatArray) -> float:
    n = float(sizes.sum())
    weighted = sizes**2 / (1 - sizes / n)
    off_diagonal = float(weighted.sum() ** 2 - np.sum(weighted**2)) / n**6
    return float(1 / n**2 / (np.sum(sizes**2) / n**4 + off_diagonal))
