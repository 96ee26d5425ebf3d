"""Student's law of a mean: plain and guarded, its quantiles and tails."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onechange.stats.sums import exact_sum

__all__ = [
    "StudentLaw",
    "guard",
    "guarded_mean_law",
    "guarded_t_law",
    "mean",
    "normal_quantile",
    "t_law",
    "t_quantile",
]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StudentLaw:
    """An estimate whose error, over its standard error, follows Student's t.

    Parameters
    ----------
    estimate : float
        The centre, in the unit of the score.
    standard_error : float
        Standard error of the estimate, same unit; may be 0.
    df : float
        Degrees of freedom.

    Examples
    --------
    >>> law = StudentLaw(0.05, 0.01, 9)
    >>> [round(limit, 6) for limit in law.limits(0.025)]
    [0.027378, 0.072622]
    """

    estimate: float
    standard_error: float
    df: float

    def limits(self, tail: float) -> tuple[float, float]:
        """Limits that leave `tail` on either side."""
        half = t_quantile(tail, self.df) * self.standard_error
        return self.estimate - half, self.estimate + half

    def pvalue(self, null: float, alternative: str) -> float | None:
        """One-sided p-value of "the estimate's target is `null` or beyond".

        ``greater`` is the evidence for a value above `null`, ``less`` for one
        below. None when there is no spread.
        """
        from scipy.special import stdtr

        if self.standard_error == 0:
            return None
        statistic = (self.estimate - null) / self.standard_error
        signed = -statistic if alternative == "greater" else statistic
        return max(float(stdtr(self.df, signed)), 5e-324)

    def log_two_sided(self, null: float) -> float:
        """Natural logarithm of the two-sided p-value, also below the double range."""
        from scipy.special import betaln, stdtr

        statistic = abs(self.estimate - null) / self.standard_error
        pvalue = min(1.0, 2 * float(stdtr(self.df, -statistic)))
        if pvalue > 1e-290:
            return math.log(pvalue)
        # P = I_x(df/2, 1/2), x = df/(df + t²), by the series of the incomplete beta
        a, x = self.df / 2, self.df / (self.df + statistic * statistic)
        k = np.arange(1, 100 + math.ceil(40 / (1 - x)))
        series = 1 + float(np.sum(np.cumprod(x * (a - 0.5 + k) / (a + k))))
        log_x = -math.log1p(statistic * statistic / self.df)
        front = a * log_x + math.log1p(-x) / 2 - math.log(a) - float(betaln(a, 0.5))
        return front + math.log(series)


def normal_quantile(tail: float) -> float:
    """Upper `tail` quantile of the standard normal law."""
    from scipy.special import ndtri

    return -float(ndtri(tail))


def t_quantile(tail: float, df: float) -> float:
    """Upper `tail` quantile of Student's t with `df` degrees of freedom."""
    from scipy.special import stdtrit

    return -float(stdtrit(df, tail))


def mean(values: FloatArray) -> float:
    """Mean without rounding noise: equal values give exactly that value."""
    return exact_sum(values) / values.size


def t_law(difference: FloatArray) -> StudentLaw | None:
    """Student law of the mean of `difference`; None for fewer than two values.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)

    Returns
    -------
    StudentLaw or None
    """
    n = difference.size
    if n < 2:
        return None
    spread = 0.0 if np.ptp(difference) == 0 else float(np.std(difference, ddof=1))
    return StudentLaw(mean(difference), spread / math.sqrt(n), n - 1)


def guard(difference: FloatArray, width: float | None) -> float | None:
    """Size c of the pseudo-differences: what a single changed answer may weigh.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
    width : float or None
        Width of the declared score range.

    Returns
    -------
    float or None
        Root mean square of the non-zero differences; the width when all are
        zero; None when all are zero and no range is declared.
    """
    changed = difference[difference != 0]
    if changed.size:
        return float(np.sqrt(np.mean(changed**2)))
    return width if width else None


def guarded_t_law(difference: FloatArray, *, width: float | None) -> StudentLaw | None:
    """Student law of the mean with one pair of pseudo-differences in its spread.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
    width : float or None
        Width of the declared score range, used when no answer changed.

    Returns
    -------
    StudentLaw or None
        None when all differences are zero and no range is declared.

    Notes
    -----
    With c from `guard`, N = n + 2 and M = sum(d)/N,
    s² = (sum(d²) + 2c² - N·M²)/(N - 1); centre mean(d), standard error s/√N,
    N - 1 degrees of freedom. The pair enters the spread, never the centre, so
    the interval cannot collapse.
    """
    c = guard(difference, width)
    if c is None or difference.size == 0:
        return None
    padded = np.concatenate([difference, [c, -c]])
    return StudentLaw(
        mean(difference),
        float(np.std(padded, ddof=1)) / math.sqrt(padded.size),
        padded.size - 1,
    )


def guarded_mean_law(values: FloatArray, *, width: float | None) -> StudentLaw | None:
    """Guarded Student law of an arm's own mean.

    Parameters
    ----------
    values : ndarray of float, shape (n_questions,)
        Trial-averaged scores of one arm.
    width : float or None
        Width of the declared score range, used when all scores are equal.

    Returns
    -------
    StudentLaw or None
        None when all scores are equal and no range is declared.

    Notes
    -----
    As `guarded_t_law`, on the deviations from the mean; c is their root mean
    square, so that shifting all scores shifts the limits by the same amount.
    """
    if values.size == 0:
        return None
    centre = mean(values)
    if np.ptp(values) == 0:
        law = guarded_t_law(np.zeros(values.size), width=width)
        return None if law is None else replace(law, estimate=centre)
    n = values.size + 2
    square = float(np.sum((values - centre) ** 2))
    c2 = square / values.size
    variance = (square + 2 * c2) / (n - 1)
    return StudentLaw(centre, math.sqrt(variance / n), n - 1)
