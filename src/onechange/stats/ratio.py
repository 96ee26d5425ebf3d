"""Relative deltas and ratio metrics: Fieller with the guard, clusters as units."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.cluster import bell_mccaffrey_df, cr2_covariance
from onechange.stats.student import guard, mean, t_quantile

__all__ = [
    "Moments",
    "RatioPair",
    "bottom_reason",
    "fieller_limits",
    "fieller_pvalue",
    "guard_variance",
    "linearised",
    "mean_moments",
    "ratio_delta_limits",
    "ratio_limits",
    "undefined_reason",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Moments:
    """Two means over the same questions with their variances.

    Parameters
    ----------
    bottom, top : float
        Mean of the baseline (the denominator) and of the variant.
    var_bottom, var_top, covariance : float
        Variances of the means, and their covariance.
    df : float
        Degrees of freedom of the t quantile.
    guard_variance : float
        What is added to `var_top` so that the interval cannot collapse; 0 for
        the plain method.
    """

    bottom: float
    top: float
    var_bottom: float
    var_top: float
    covariance: float
    df: float
    guard_variance: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class RatioPair:
    """A ratio metric in one arm: sums of numerators over sums of denominators.

    Parameters
    ----------
    numerator, denominator : ndarray of float, shape (n_pairs,)
        Trial-averaged values of each question.
    """

    numerator: FloatArray
    denominator: FloatArray

    @property
    def ratio(self) -> float:
        """Σ numerator / Σ denominator."""
        return mean(self.numerator) / mean(self.denominator)


def mean_moments(
    baseline: FloatArray,
    variant: FloatArray,
    *,
    clusters: IntArray | None = None,
    guarded: bool = True,
    width: float | None = None,
    difference: FloatArray | None = None,
) -> Moments | None:
    """Means of both arms with variances, CR2 when clusters are given.

    Parameters
    ----------
    baseline, variant : ndarray of float, shape (n_pairs,)
    clusters : ndarray of int, shape (n_pairs,), optional
    guarded : bool
        Add 2c²/n² to the variance of the variant's mean.
    width : float, optional
        Width of the declared score range, c when no answer changed.
    difference : ndarray of float, shape (n_pairs,), optional
        Cleaned differences; by default variant - baseline.

    Returns
    -------
    Moments or None
        None for fewer than two pairs or clusters, and when the guard has no size
        (no answer changed and no range is declared).
    """
    n = baseline.size
    if n < 2:
        return None
    extra: float | None = 0.0
    if guarded:
        if difference is None:
            difference = variant - baseline
        extra = guard_variance(difference, width)
    if extra is None:
        return None
    bottom, top = mean(baseline), mean(variant)
    if clusters is None:
        matrix = np.cov(baseline, variant, ddof=1) / n
        var_b, var_v, cov = matrix[0, 0], matrix[1, 1], matrix[0, 1]
        return Moments(
            bottom, top, float(var_b), float(var_v), float(cov), n - 1, extra
        )
    df = bell_mccaffrey_df(clusters)
    clustered_b = cr2_covariance(baseline, baseline, clusters)
    clustered_v = cr2_covariance(variant, variant, clusters)
    clustered_cov = cr2_covariance(baseline, variant, clusters)
    if df is None or clustered_b is None or clustered_v is None:
        return None
    return Moments(
        bottom, top, clustered_b, clustered_v, clustered_cov or 0.0, df, extra
    )


def guard_variance(difference: FloatArray, width: float | None) -> float | None:
    """Variance that the guard adds to the mean of the variant, 2c²/n².

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
    width : float or None
        Width of the declared score range, c when no answer changed.

    Returns
    -------
    float or None
        None when no answer changed and no range is declared.
    """
    c = guard(difference, width)
    return None if c is None else 2 * c * c / difference.size**2


def bottom_reason(bottom: float) -> str | None:
    """Say why nothing can be relative to this baseline mean; None when it can."""
    if bottom > 0:
        return None
    return f"the baseline mean is {'0' if bottom == 0 else 'below 0'}"


def undefined_reason(moments: Moments, tail: float) -> str | None:
    """Say why top/bottom is undefined at this level, or None when it is defined.

    Notes
    -----
    Undefined when the bottom is not positive, or t²·Var(bottom) ≥ bottom²: then
    Fieller's set is unbounded.
    """
    t = t_quantile(tail, moments.df)
    if moments.bottom > 0 and t * t * moments.var_bottom >= moments.bottom**2:
        return "the baseline mean is not clearly above 0"
    return bottom_reason(moments.bottom)


def fieller_limits(moments: Moments, tail: float) -> tuple[float, float] | None:
    """Fieller's limits of top/bottom - 1; None where the ratio is undefined.

    Parameters
    ----------
    moments : Moments
    tail : float
        Probability beyond either limit.

    Notes
    -----
    The set of r with (top - r·bottom)² ≤ t²·(Var(top) + guard - 2r·Cov +
    r²·Var(bottom)) (Fieller 1954).
    """
    if undefined_reason(moments, tail) is not None:
        return None
    t2 = t_quantile(tail, moments.df) ** 2
    a = moments.bottom**2 - t2 * moments.var_bottom
    b = moments.bottom * moments.top - t2 * moments.covariance
    c = moments.top**2 - t2 * (moments.var_top + moments.guard_variance)
    root = math.sqrt(max(b * b - a * c, 0.0))
    return (b - root) / a - 1, (b + root) / a - 1


def fieller_pvalue(
    moments: Moments, relative_delta: float, alternative: str
) -> float | None:
    """One-sided p-value of "the relative delta is `relative_delta` or beyond".

    Parameters
    ----------
    moments : Moments
    relative_delta : float
        The relative margin, -0.1 for a fall by 10 %.
    alternative : str
        ``greater`` or ``less``: on which side of it the evidence is sought.

    Returns
    -------
    float or None
        None without any spread.
    """
    from scipy.special import stdtr

    r = 1 + relative_delta
    variance = (
        moments.var_top
        + moments.guard_variance
        - 2 * r * moments.covariance
        + r * r * moments.var_bottom
    )
    if variance <= 0:
        return None
    statistic = (moments.top - r * moments.bottom) / math.sqrt(variance)
    signed = -statistic if alternative == "greater" else statistic
    return max(float(stdtr(moments.df, signed)), 5e-324)


def linearised(arm: RatioPair) -> FloatArray:
    """Per-question values whose mean is the ratio, and whose spread is its error.

    Parameters
    ----------
    arm : RatioPair

    Returns
    -------
    ndarray of float, shape (n_pairs,)
        R + (numerator - R·denominator)/mean(denominator).
    """
    ratio = arm.ratio
    residual = arm.numerator - ratio * arm.denominator
    return np.asarray(ratio + residual / mean(arm.denominator), dtype=np.float64)


def ratio_limits(
    arm: RatioPair, tail: float, clusters: IntArray | None = None
) -> tuple[float, float] | None:
    """Fieller's limits of one arm's ratio; None where its set is unbounded.

    Parameters
    ----------
    arm : RatioPair
    tail : float
        Probability beyond either limit.
    clusters : ndarray of int, shape (n_pairs,), optional
    """
    moments = mean_moments(
        arm.denominator, arm.numerator, clusters=clusters, guarded=False
    )
    limits = None if moments is None else fieller_limits(moments, tail)
    return None if limits is None else (limits[0] + 1, limits[1] + 1)


def ratio_delta_limits(
    baseline: RatioPair,
    variant: RatioPair,
    tail: float,
    *,
    clusters: IntArray | None = None,
    guarded: bool = True,
    width: float | None = None,
) -> tuple[float, float] | None:
    """Limits of the difference of two ratio metrics over the same questions.

    Parameters
    ----------
    baseline, variant : RatioPair
    tail : float
        Probability beyond either limit.
    clusters : ndarray of int, shape (n_pairs,), optional
    guarded : bool
        Add t²·2c²/n² under the root, c from the linearised differences.
    width : float, optional
        Width of the ratio's declared range, c when no answer changed.

    Returns
    -------
    tuple of float or None
        None where an arm's Fieller set is unbounded, or the guard has no size.

    Notes
    -----
    Square-and-add (Zou & Donner 2008): low = Δ - √(a² - 2·phi·a·b + b² +
    t²·2c²/n²), a the variant's distance to its Fieller low, b the baseline's to
    its Fieller high, phi the correlation of the linearised values.
    """
    pseudo_b, pseudo_v = linearised(baseline), linearised(variant)
    joint = mean_moments(
        pseudo_b,
        pseudo_v,
        clusters=clusters,
        guarded=guarded,
        width=width,
        difference=_without_noise(pseudo_v - pseudo_b, pseudo_b, pseudo_v),
    )
    limits_b = ratio_limits(baseline, tail, clusters)
    limits_v = ratio_limits(variant, tail, clusters)
    if joint is None or limits_b is None or limits_v is None:
        return None
    spread = math.sqrt(joint.var_bottom * joint.var_top)
    phi = 0.0 if spread == 0 else min(1.0, max(-1.0, joint.covariance / spread))
    extra = t_quantile(tail, joint.df) ** 2 * joint.guard_variance

    def distance(a: float, b: float) -> float:
        return math.sqrt(max(a * a - 2 * phi * a * b + b * b, 0.0) + extra)

    ratio_b, ratio_v = baseline.ratio, variant.ratio
    delta = ratio_v - ratio_b
    return (
        delta - distance(ratio_v - limits_v[0], limits_b[1] - ratio_b),
        delta + distance(limits_v[1] - ratio_v, ratio_b - limits_b[0]),
    )


def _without_noise(
    difference: FloatArray, first: FloatArray, second: FloatArray
) -> FloatArray:
    from onechange.stats.sample import snap

    scale = max(float(np.max(np.abs(first))), float(np.max(np.abs(second))))
    return snap(difference, 1e-12 * scale)
