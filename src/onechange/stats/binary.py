"""Paired 0/1 outcomes: McNemar tests and intervals of the difference of shares."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.estimate import Interval, TestResult
from onechange.stats.interval import wilson_limits
from onechange.stats.signflip import tail_probability
from onechange.stats.student import (
    normal_quantile,
)

__all__ = [
    "BINARY_LIMITS",
    "PairedTable",
    "agresti_min_limits",
    "binary_interval",
    "binary_table",
    "bonett_price_limits",
    "mcnemar_test",
    "newcombe_limits",
    "tango_limits",
    "wald_limits",
]

FloatArray = NDArray[np.float64]
SMALLEST = 5e-324  # the smallest double: a p-value is never printed as 0


@dataclass(frozen=True, slots=True)
class PairedTable:
    """Counts of a paired 0/1 metric.

    Parameters
    ----------
    both, only_baseline, only_variant, neither : int
        Questions scored 1 by both arms, by one only, by none.
    """

    both: int
    only_baseline: int
    only_variant: int
    neither: int

    @property
    def n(self) -> int:
        """Number of pairs."""
        return self.both + self.only_baseline + self.only_variant + self.neither

    @property
    def delta(self) -> float:
        """Share of the variant minus share of the baseline."""
        return (self.only_variant - self.only_baseline) / self.n


def binary_table(baseline: FloatArray, variant: FloatArray) -> PairedTable:
    """Count the four outcomes of a paired 0/1 metric.

    Parameters
    ----------
    baseline, variant : ndarray of float, shape (n_pairs,)
        Zeros and ones; entry i of both belongs to the same question.

    Raises
    ------
    MethodError
        If a value is neither 0 nor 1.

    Examples
    --------
    >>> binary_table(np.array([1.0, 0, 0]), np.array([1.0, 1, 0])).only_variant
    1
    """
    for values in (baseline, variant):
        if not np.all((values == 0) | (values == 1)):
            raise MethodError(
                "A table of paired outcomes needs scores of 0 and 1 only, and there "
                "are others; use a method for scores, such as sign-flip."
            )
    right_b, right_v = baseline == 1, variant == 1
    return PairedTable(
        both=int(np.count_nonzero(right_b & right_v)),
        only_baseline=int(np.count_nonzero(right_b & ~right_v)),
        only_variant=int(np.count_nonzero(~right_b & right_v)),
        neither=int(np.count_nonzero(~right_b & ~right_v)),
    )


def mcnemar_test(
    only_baseline: int,
    only_variant: int,
    *,
    method: str = "mcnemar-midp",
    continuity: bool = False,
) -> TestResult:
    """Two-sided McNemar test of equal shares in both arms.

    Parameters
    ----------
    only_baseline, only_variant : int
        Numbers of questions that only one arm scored 1.
    method : str
        ``mcnemar-midp``, ``mcnemar-exact`` or ``mcnemar-asymptotic``.
    continuity : bool
        Continuity correction of the asymptotic test.

    Returns
    -------
    TestResult
        The statistic is `only_variant`; p = 1 without a discordant question.

    Raises
    ------
    MethodError
        If the method has another name.

    Notes
    -----
    With N = b + c discordant questions and X ~ Binomial(N, 1/2): exact
    min(1, 2·P(X ≤ min(b, c))); mid-p the same minus P(X = min(b, c)), and
    1 - P(X = b)/2 when b = c (Fagerland et al. 2013); asymptotic
    (b - c)²/(b + c) on chi-square with one degree of freedom (McNemar 1947).

    Examples
    --------
    >>> mcnemar_test(7, 1, method="mcnemar-exact").pvalue
    0.0703125
    """
    low, n = min(only_baseline, only_variant), only_baseline + only_variant
    if method == "mcnemar-asymptotic":
        return _asymptotic(only_baseline, only_variant, continuity=continuity)
    if method not in ("mcnemar-midp", "mcnemar-exact"):
        raise MethodError(
            f'"{method}" is not a McNemar test; choose mcnemar-midp, mcnemar-exact '
            "or mcnemar-asymptotic."
        )
    midp = method == "mcnemar-midp"
    if n == 0 or (2 * low == n and not midp):
        pvalue, log_p = 1.0, 0.0
    elif n <= 1000:
        pvalue = _exact_two_sided(low, n, midp=midp)
        log_p = math.log(pvalue)
    elif 2 * low == n:
        pvalue = 1.0 - math.exp(_log_binomial(low, n)) / 2
        log_p = math.log(pvalue)
    else:
        log_p = _log_two_sided(low, n, midp=midp)
        pvalue = max(math.exp(log_p), SMALLEST)
    return TestResult(
        pvalue=pvalue,
        method=method,
        statistic=float(only_variant),
        exact=True,
        log10_pvalue=log_p / math.log(10),
    )


def newcombe_limits(table: PairedTable, tail: float) -> tuple[float, float]:
    """Square-and-add limits of the difference of paired shares, method 10.

    Notes
    -----
    With the Wilson limits (l, u) of both shares and the correlation phi,
    low = delta - √((p_v - l_v)² - 2·phi·(p_v - l_v)(u_b - p_b) + (u_b - p_b)²),
    high alike. phi's numerator e·h - b·c is lowered by n/2 when above n/2, is 0
    between 0 and n/2, unchanged when negative; phi = 0 when a margin is empty
    (Newcombe 1998).
    """
    n = table.n
    right_v = table.both + table.only_variant
    right_b = table.both + table.only_baseline
    low_v, high_v = wilson_limits(right_v, n, tail)
    low_b, high_b = wilson_limits(right_b, n, tail)
    share_v, share_b, phi = right_v / n, right_b / n, _phi(table)

    def distance(first: float, second: float) -> float:
        square = first * first - 2 * phi * first * second + second * second
        return math.sqrt(max(square, 0.0))

    return (
        table.delta - distance(share_v - low_v, high_b - share_b),
        table.delta + distance(high_v - share_v, share_b - low_b),
    )


def wald_limits(table: PairedTable, tail: float) -> tuple[float, float]:
    """Wald limits: delta ± z·√(b + c - (b - c)²/n)/n."""
    return _wald(table.only_variant, table.only_baseline, table.n, tail)


def agresti_min_limits(table: PairedTable, tail: float) -> tuple[float, float]:
    """Agresti-Min limits: Wald after adding 1/2 to each of the four cells."""
    return _wald(table.only_variant + 0.5, table.only_baseline + 0.5, table.n + 2, tail)


def bonett_price_limits(table: PairedTable, tail: float) -> tuple[float, float]:
    """Bonett-Price limits: Wald after adding 1 to both discordant cells.

    Notes
    -----
    The denominator becomes n + 2 (Bonett & Price 2012).
    """
    return _wald(table.only_variant + 1, table.only_baseline + 1, table.n + 2, tail)


def tango_limits(table: PairedTable, tail: float) -> tuple[float, float]:
    """Tango's score limits, by bisection.

    Notes
    -----
    The set of δ with |b - c - nδ| ≤ z·√(n(2q + δ(1 - δ))), where q is the
    probability of the cell "only the baseline right" that is most likely under
    p_v - p_b = δ: the larger root of 2n·q² + Bq - cδ(1 - δ) = 0,
    B = (2n - b + c)δ - b - c (Tango 1998).
    """
    z = normal_quantile(tail)
    swapped = PairedTable(
        table.both, table.only_variant, table.only_baseline, table.neither
    )
    return -_tango_high(swapped, z), _tango_high(table, z)


BINARY_LIMITS: dict[str, Callable[[PairedTable, float], tuple[float, float]]] = {
    "newcombe": newcombe_limits,
    "tango": tango_limits,
    "bonett-price": bonett_price_limits,
    "agresti-min": agresti_min_limits,
    "wald": wald_limits,
}


def binary_interval(
    table: PairedTable, *, method: str = "newcombe", confidence_level: float = 0.95
) -> Interval | None:
    """Interval of the difference of paired shares by a named method.

    Parameters
    ----------
    table : PairedTable
    method : str
        ``newcombe``, ``tango``, ``bonett-price``, ``agresti-min`` or ``wald``.
    confidence_level : float
        Two-sided level.

    Returns
    -------
    Interval or None
        None without pairs; cut to [-1, 1].

    Raises
    ------
    MethodError
        If the method has another name.

    Examples
    --------
    >>> table = PairedTable(both=1, only_baseline=7, only_variant=1, neither=12)
    >>> interval = binary_interval(table, method="tango")
    >>> round(interval.low, 3), round(interval.high, 3)
    (-0.517, -0.026)
    """
    if method not in BINARY_LIMITS:
        raise MethodError(
            f'"{method}" is not an interval of paired 0/1 outcomes; choose one of '
            f"{', '.join(BINARY_LIMITS)}."
        )
    tail = tail_probability(confidence_level)
    if table.n == 0:
        return None
    low, high = BINARY_LIMITS[method](table, tail)
    flat = low == high
    return Interval(
        max(low, -1.0), min(high, 1.0), confidence_level, method, degenerate=flat
    )


def _asymptotic(b: int, c: int, *, continuity: bool) -> TestResult:
    from scipy.special import log_ndtr

    gap = abs(b - c) - (1 if continuity and b != c else 0)
    root = 0.0 if b + c == 0 else gap / math.sqrt(b + c)
    log_p = min(math.log(2) + float(log_ndtr(-root)), 0.0)
    return TestResult(
        pvalue=max(math.exp(log_p), SMALLEST),
        method="mcnemar-asymptotic",
        statistic=root * root,
        exact=False,
        log10_pvalue=log_p / math.log(10),
    )


def _exact_two_sided(low: int, n: int, *, midp: bool) -> float:
    """Two-sided p in whole numbers, rounded once."""
    top: int = math.comb(n, low)
    if 2 * low == n:
        return float((2 ** (n + 1) - top) / 2 ** (n + 1)) if midp else 1.0
    tail, term = top, top
    for k in range(low, 0, -1):
        term = term * k // (n - k + 1)
        tail += term
    return float((2 * tail - (top if midp else 0)) / 2**n)


def _log_binomial(k: int, n: int) -> float:
    """Logarithm of P(X = k), X ~ Binomial(n, 1/2)."""
    choose = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return choose - n * math.log(2)


def _log_two_sided(low: int, n: int, *, midp: bool) -> float:
    """Logarithm of 2·P(X ≤ low), less P(X = low) for the mid-p, for low < n/2."""
    # ratios P(k - 1)/P(k) fall with k, so the sum from the top is stable
    k = np.arange(low, 0, -1, dtype=np.float64)
    terms = np.cumprod(k / (n - k + 1))
    relative = 2 * (1 + math.fsum(terms)) - (1 if midp else 0)
    return min(_log_binomial(low, n) + math.log(relative), 0.0)


def _phi(table: PairedTable) -> float:
    e, b, c, h = table.both, table.only_variant, table.only_baseline, table.neither
    margins = (e + b) * (c + h) * (e + c) * (b + h)
    if margins == 0:
        return 0.0
    numerator = float(e * h - b * c)
    if numerator > 0:
        numerator = max(numerator - table.n / 2, 0.0)
    return numerator / math.sqrt(margins)


def _wald(b: float, c: float, n: float, tail: float) -> tuple[float, float]:
    half = normal_quantile(tail) * math.sqrt(max(b + c - (b - c) ** 2 / n, 0.0)) / n
    return (b - c) / n - half, (b - c) / n + half


def _tango_high(table: PairedTable, z: float) -> float:
    b, c, n = table.only_variant, table.only_baseline, table.n

    def inside(delta: float) -> bool:
        linear = (2 * n - b + c) * delta - b - c
        root = math.sqrt(max(linear * linear + 8 * n * c * delta * (1 - delta), 0.0))
        q = max((root - linear) / (4 * n), 0.0)
        spread = math.sqrt(max(n * (2 * q + delta * (1 - delta)), 0.0))
        return n * delta - (b - c) <= z * spread

    low, high = table.delta, 1.0
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if inside(middle) else (low, middle)
    return low
