"""Intervals for one mean or share: Student, guarded Student, Hall, Wilson."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from onechange.stats.estimate import Interval
from onechange.stats.signflip import tail_probability
from onechange.stats.student import (
    StudentLaw,
    guarded_t_law,
    mean,
    normal_quantile,
    t_law,
    t_quantile,
)

__all__ = [
    "clip",
    "guarded_t_interval",
    "hall_interval",
    "hall_limits",
    "skewness",
    "student_interval",
    "t_interval",
    "transformed_limits",
    "wider",
    "wilson_interval",
    "wilson_limits",
]

FloatArray = NDArray[np.float64]


def t_interval(
    difference: FloatArray, *, confidence_level: float = 0.95
) -> Interval | None:
    """Paired t interval of the mean difference.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
    confidence_level : float
        Two-sided level.

    Returns
    -------
    Interval or None
        None for fewer than two pairs; degenerate when all differences are equal.

    Examples
    --------
    >>> interval = t_interval(np.array([0.1, 0.3, 0.2, 0.4]))
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0446, 0.4554)
    """
    return student_interval(t_law(difference), confidence_level, "t")


def guarded_t_interval(
    difference: FloatArray,
    *,
    confidence_level: float = 0.95,
    width: float | None = None,
) -> Interval | None:
    """Guarded t interval of the mean difference; it never collapses.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
    confidence_level : float
        Two-sided level.
    width : float, optional
        Width of the declared score range, used when no answer changed.

    Returns
    -------
    Interval or None
        None when all differences are zero and no range is declared.

    Notes
    -----
    See `guarded_t_law` for the formula.

    Examples
    --------
    >>> interval = guarded_t_interval(np.full(8, 0.05))
    >>> round(interval.low, 8), round(interval.high, 8)
    (0.02737843, 0.07262157)
    """
    law = guarded_t_law(difference, width=width)
    return student_interval(law, confidence_level, "guarded-t")


def skewness(values: FloatArray, centre: float | None = None) -> float:
    """Moment skewness m3/m2^1.5; 0 for equal values.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
    centre : float, optional
        Their mean, when it is known.
    """
    width = 0.0 if values.size == 0 else float(np.ptp(values))
    if width == 0.0:
        return 0.0
    deviation = (values - (mean(values) if centre is None else centre)) / width
    square = deviation * deviation
    cube = np.multiply(square, deviation, out=deviation)  # a power takes far longer
    return float(np.mean(cube) / np.mean(square) ** 1.5)


def hall_limits(values: FloatArray, tail: float) -> tuple[float, float] | None:
    """Limits of Hall's transformed t, leaving `tail` on either side.

    Notes
    -----
    `transformed_limits` with the skewness of the values over √n and Student's
    quantile with n - 1 degrees of freedom (Hall 1992).
    """
    law = t_law(values)
    if law is None:
        return None
    skew = skewness(values, law.estimate) / math.sqrt(values.size)
    return transformed_limits(law, skew, tail)


def transformed_limits(
    law: StudentLaw, skew: float, tail: float
) -> tuple[float, float]:
    """Limits of a Student law corrected for the skewness of its estimate.

    Parameters
    ----------
    law : StudentLaw
        Of the estimate.
    skew : float
        Skewness of the estimate itself: of a mean of n values theirs over √n.
    tail : float
        Probability beyond either limit.

    Notes
    -----
    The limits are mean - SE·T(±t) with T(q) = (3/a)·((1 + a·(q - a/6))^(1/3) - 1),
    a the skewness (Hall 1992). T is computed as 3u/(r² + r + 1), u = q - a/6, r the
    cube root, which has no division by a.
    """
    quantile = t_quantile(tail, law.df)

    def transformed(q: float) -> float:
        u = q - skew / 6
        r = float(np.cbrt(1 + skew * u))
        return 3 * u / (r * r + r + 1)

    return (
        law.estimate - law.standard_error * transformed(quantile),
        law.estimate - law.standard_error * transformed(-quantile),
    )


def hall_interval(
    values: FloatArray, *, confidence_level: float = 0.95
) -> Interval | None:
    """Hall's skewness-transformed t interval of a mean.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
    confidence_level : float
        Two-sided level.

    Returns
    -------
    Interval or None
        None for fewer than two values; degenerate when all are equal.

    Notes
    -----
    See `hall_limits` (Hall 1992, J. R. Stat. Soc. B 54:221).

    Examples
    --------
    >>> interval = hall_interval(np.array([1.0, 1.2, 1.1, 1.4, 4.0]))
    >>> interval.low < 1.74 < interval.high
    True
    """
    limits = hall_limits(values, tail_probability(confidence_level))
    if limits is None:
        return None
    flat = bool(np.ptp(values) == 0)
    return Interval(*limits, confidence_level, "hall", degenerate=flat)


@lru_cache(maxsize=4096)
def wilson_limits(successes: int, n: int, tail: float) -> tuple[float, float]:
    """Wilson's score limits of a share, exactly inside [0, 1]."""
    z = normal_quantile(tail)
    centre = successes + z * z / 2
    half = z * math.sqrt(successes * (n - successes) / n + z * z / 4)
    low = 0.0 if successes == 0 else max(0.0, (centre - half) / (n + z * z))
    high = 1.0 if successes == n else min(1.0, (centre + half) / (n + z * z))
    return low, high


def wilson_interval(
    successes: int, n: int, *, confidence_level: float = 0.95
) -> Interval | None:
    """Wilson interval of a share.

    Parameters
    ----------
    successes, n : int
        Number of questions scored 1, and of all questions.
    confidence_level : float
        Two-sided level.

    Returns
    -------
    Interval or None
        None without questions.

    Notes
    -----
    (x + z²/2 ± z·√(x(n - x)/n + z²/4)) / (n + z²) (Wilson 1927).

    Examples
    --------
    >>> interval = wilson_interval(38, 38)
    >>> round(interval.low, 6), interval.high
    (0.90819, 1.0)
    """
    if n == 0:
        return None
    limits = wilson_limits(successes, n, tail_probability(confidence_level))
    return Interval(*limits, confidence_level, "wilson")


def wider(
    first: tuple[float, float], second: tuple[float, float]
) -> tuple[float, float]:
    """At each end the wider of two pairs of limits."""
    return min(first[0], second[0]), max(first[1], second[1])


def clip(interval: Interval, lowest: float, highest: float) -> Interval:
    """Cut the limits to what the estimate can attain at all."""
    return replace(
        interval,
        low=min(max(interval.low, lowest), highest),
        high=max(min(interval.high, highest), lowest),
    )


def student_interval(
    law: StudentLaw | None, confidence_level: float, method: str
) -> Interval | None:
    """Interval of a law at a level, under the name of a method; None without law."""
    tail = tail_probability(confidence_level)
    if law is None:
        return None
    flat = law.standard_error == 0
    return Interval(*law.limits(tail), confidence_level, method, degenerate=flat)
