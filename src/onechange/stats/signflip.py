"""Sign-flip (paired permutation) test and the interval that inverts it.

Under "no difference" every question could as well have had its arms swapped: all
2^n sign assignments are equally likely. Their law is computed, not sampled.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.estimate import Interval, TestResult
from onechange.stats.exact import ROUNDED, TIE, group, on_coarse_lattice, subset_tail
from onechange.stats.inversion import Tail
from onechange.stats.scale import moderate
from onechange.stats.subset_means import subset_mean_limits, subset_mean_shares

__all__ = ["n_min", "signflip_interval", "signflip_test", "tail_probability"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LOG_TEN = float(np.log(10.0))
SMALLEST = 5e-324
ALTERNATIVES = ("two-sided", "less", "greater")


def signflip_test(
    difference: FloatArray,
    *,
    clusters: IntArray | None = None,
    alternative: str = "two-sided",
    shift: float = 0.0,
) -> TestResult:
    """Exact sign-flip test of the mean difference.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
        Variant minus baseline per question, cleaned of rounding noise.
    clusters : ndarray of int, shape (n_pairs,), optional
        Cluster of each question; whole clusters flip together.
    alternative : str
        ``two-sided``, ``greater`` (the mean exceeds `shift`) or ``less``.
    shift : float
        The mean difference under the null hypothesis, such as a margin.

    Returns
    -------
    TestResult
        ``pvalue`` is at least 2^-n; below the double range it is 5e-324 and
        ``log10_pvalue`` has the value. The statistic is the mean difference.

    Raises
    ------
    MethodError
        Without differences, or for an unknown `alternative`.

    Notes
    -----
    The p-value is the share of all 2^n sign assignments whose sum is at least as
    extreme as the observed one, which is counted; ties count (Fisher 1935).
    Questions without a difference drop out.

    Examples
    --------
    >>> import numpy as np
    >>> signflip_test(np.array([0.1, 0.2, 0.1, 0.1, 0.2, 0.2])).pvalue
    0.03125
    """
    if alternative not in ALTERNATIVES:
        raise MethodError(
            f"alternative is {alternative!r}; use one of {', '.join(ALTERNATIVES)}"
        )
    if difference.size == 0:
        raise MethodError("the sign-flip test has no paired difference to work on")
    sums, sizes = _units(difference, clusters)
    sums, scale = moderate(sums)
    shift /= scale
    values, counts = group(_shifted(sums, sizes, shift))
    total = float(np.sum(values * counts))
    moved = None
    if clusters is not None and shift != 0.0 and not on_coarse_lattice(values, counts):
        moved = _moved_clusters(sums, sizes, shift, total, alternative)
    if moved is not None:
        tail = moved
    elif alternative == "two-sided":
        tail = _two_sided(values, counts, total)
    else:
        sign = 1.0 if alternative == "greater" else -1.0
        tail = subset_tail(sign * values, counts)
    return TestResult(
        pvalue=max(SMALLEST, min(1.0, tail.probability)),
        method="sign-flip",
        alternative=alternative,
        statistic=float(np.sum(np.sort(difference))) / difference.size,
        log10_pvalue=min(0.0, tail.log / LOG_TEN),
    )


def signflip_interval(
    difference: FloatArray,
    *,
    clusters: IntArray | None = None,
    confidence_level: float = 0.95,
) -> Interval:
    """Interval of the mean differences that the sign-flip test does not reject.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
        Variant minus baseline per question, cleaned of rounding noise.
    clusters : ndarray of int, shape (n_pairs,), optional
        Cluster of each question; whole clusters flip together.
    confidence_level : float
        Two-sided level.

    Returns
    -------
    Interval
        Unbounded when 2^n (1 - confidence_level) / 2 is below one.

    Raises
    ------
    MethodError
        Without differences.

    Notes
    -----
    The closure of all δ at which both one-sided p-values exceed half of the error
    level. The limits are the k-th smallest and largest of the means of the
    2^n - 1 non-empty subsets, k = floor(2^n α / 2) (Hartigan 1969).

    Examples
    --------
    >>> import numpy as np
    >>> maize = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48])
    >>> interval = signflip_interval(maize / 8)
    >>> round(interval.low, 7), interval.high
    (-0.0208333, 5.125)
    """
    if difference.size == 0:
        raise MethodError("the sign-flip interval has no paired difference to work on")
    tail = tail_probability(confidence_level)
    sums, sizes = _units(difference, clusters)
    sums, scale = moderate(sums)
    low, high = subset_mean_limits(sums, sizes, tail=tail)
    return Interval(
        low=low * scale + 0.0,
        high=high * scale + 0.0,
        confidence_level=confidence_level,
        method="sign-flip",
        degenerate=bool(low == high),
    )


def n_min(confidence_level: float) -> int:
    """Smallest number of questions whose sign-flip interval is bounded.

    Parameters
    ----------
    confidence_level : float
        Two-sided level.

    Returns
    -------
    int
        ceil(log2(2 / (1 - confidence_level))).

    Examples
    --------
    >>> n_min(0.95), n_min(0.90), n_min(0.99)
    (6, 5, 8)
    """
    tail = _exact_tail(confidence_level)
    n = 0
    while Fraction(1, 2**n) > tail:
        n += 1
    return n


def tail_probability(confidence_level: float) -> float:
    """Half of the error level, from the decimal digits of the level.

    Parameters
    ----------
    confidence_level : float
        Two-sided level, between 0 and 1.

    Returns
    -------
    float

    Raises
    ------
    MethodError
        When the level is not between 0 and 1.

    Examples
    --------
    >>> tail_probability(0.95)
    0.025
    """
    return float(_exact_tail(confidence_level))


def _exact_tail(confidence_level: float) -> Fraction:
    if not 0.0 < confidence_level < 1.0:
        raise MethodError(
            f"confidence_level is {confidence_level}; it must lie between 0 and 1"
        )
    return (1 - Fraction(str(confidence_level))) / 2


def _units(
    difference: FloatArray, clusters: IntArray | None
) -> tuple[FloatArray, FloatArray]:
    """Sum and number of questions of every unit that flips."""
    if clusters is None:
        return difference, np.ones(difference.size)
    codes = np.unique(clusters, return_inverse=True)[1]
    # Sorted first, so that the order of the rows cannot change a rounding.
    order = np.lexsort((difference, codes))
    sums = np.bincount(codes[order], weights=difference[order]).astype(np.float64)
    sizes = np.bincount(codes).astype(np.float64)
    noise = 1e-13 * np.bincount(codes, weights=np.abs(difference))
    sums[np.abs(sums) <= noise] = 0.0
    return sums, sizes


def _shifted(sums: FloatArray, sizes: FloatArray, shift: float) -> FloatArray:
    """Differences from the null value, with rounding noise set to zero."""
    if shift == 0.0:
        return sums
    expected = shift * sizes
    moved = sums - expected
    moved[np.abs(moved) <= 1e-12 * np.maximum(np.abs(sums), np.abs(expected))] = 0.0
    return moved


def _moved_clusters(
    sums: FloatArray, sizes: FloatArray, shift: float, total: float, alternative: str
) -> Tail | None:
    """Tail from the joint law of sums and sizes, which a shift leaves on its lattice.

    None where there is no such law, and where the tail is too small for its rounding.
    """
    shares = subset_mean_shares(sums, sizes, shift)
    if shares is None:
        return None
    below, above = shares
    if alternative == "two-sided":
        tail = Tail.of(below if total > 0.0 else above).halved(-1)
    else:
        tail = Tail.of(below if alternative == "greater" else above)
    return tail if tail.probability > ROUNDED else None


def _two_sided(values: FloatArray, counts: IntArray, total: float) -> Tail:
    noise = TIE * float(np.sum(np.abs(values) * counts))
    if abs(total) <= noise:
        return Tail.of(1.0)
    return subset_tail(np.copysign(1.0, total) * values, counts).halved(-1)
