"""Non-inferiority and equivalence (TOST) of paired differences, by Student's t."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.sums import exact_sum

__all__ = ["Equivalence", "noninferiority_bound", "noninferiority_pvalue", "tost"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Two one-sided tests.

    Parameters
    ----------
    pvalue : float
        The larger of the two.
    pvalue_low, pvalue_high : float
        Of "the delta is −margin or less" and of "the delta is margin or more".
    low, high : float
        The interval that lies within the margins exactly when the test rejects:
        level 1 − 2α.
    """

    pvalue: float
    pvalue_low: float
    pvalue_high: float
    low: float
    high: float


def noninferiority_pvalue(difference: FloatArray, margin: float) -> float:
    """One-sided p-value of "the delta is −margin or less" (higher is better).

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
        Paired differences that vary.
    margin : float
        Largest tolerated worsening, 0 or more, in the unit of the differences.

    Returns
    -------
    float

    Examples
    --------
    >>> d = np.array([0.02, -0.01, 0.03, 0.00, 0.01, -0.02])
    >>> round(noninferiority_pvalue(d, 0.02), 4)
    0.0111
    """
    from scipy.special import stdtr

    mean, error, df = _student(difference, margin)
    return float(stdtr(df, -(mean + margin) / error))


def noninferiority_bound(
    difference: FloatArray, *, confidence_level: float = 0.95
) -> float:
    """One-sided lower confidence bound of the delta.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
        Paired differences that vary.
    confidence_level : float
        One-sided level.

    Returns
    -------
    float
        Above −margin exactly when `noninferiority_pvalue` is below 1 − level.
    """
    from scipy.special import stdtrit

    mean, error, df = _student(difference, 0.0)
    return mean - float(stdtrit(df, confidence_level)) * error


def tost(difference: FloatArray, margin: float, *, alpha: float = 0.05) -> Equivalence:
    """Test equivalence within ±margin by two one-sided t tests.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
        Paired differences that vary.
    margin : float
        Largest tolerated change, 0 or more, in the unit of the differences.
    alpha : float
        Level of each test.

    Returns
    -------
    Equivalence

    Notes
    -----
    Schuirmann 1987. A rule with ``role = "equivalence"`` asks the same of the
    decision interval of the metric.

    Examples
    --------
    >>> d = np.array([0.02, -0.01, 0.03, 0.00, 0.01, -0.02])
    >>> round(tost(d, 0.03).pvalue, 4)
    0.0111
    """
    from scipy.special import stdtrit

    mean, error, df = _student(difference, margin)
    low = noninferiority_pvalue(difference, margin)
    high = noninferiority_pvalue(-difference, margin)
    reach = float(stdtrit(df, 1 - alpha)) * error
    return Equivalence(max(low, high), low, high, mean - reach, mean + reach)


def _student(difference: FloatArray, margin: float) -> tuple[float, float, int]:
    """Mean, standard error and degrees of freedom."""
    n = difference.size
    if not math.isfinite(margin) or margin < 0:
        raise MethodError(f"margin is {margin}; give a finite number of 0 or more.")
    if n < 2 or np.ptp(difference) == 0:
        raise MethodError(
            f"{n} differences that do not vary have no t test; use the decision "
            "interval of the metric."
        )
    error = float(np.std(difference, ddof=1)) / math.sqrt(n)
    return exact_sum(difference) / n, error, n - 1
