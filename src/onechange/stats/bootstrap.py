"""Bootstrap intervals of paired means and of ratios of sums.

For means and single ratios the ideal bootstrap (infinitely many resamples) is
computed, so nothing depends on a seed; only `studentized` has to be sampled once
the resamples are too many to be listed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.estimate import Interval, Note
from onechange.stats.ideal import ResampledLaw, resampled_law
from onechange.stats.resample import expanded_tail
from onechange.stats.scale import moderate
from onechange.stats.signflip import tail_probability
from onechange.stats.studentized import studentized_limits
from onechange.stats.units import Units, units

__all__ = [
    "BOOTSTRAP_METHODS",
    "bca_parts",
    "bias_correction",
    "bootstrap_interval",
    "bootstrap_standard_error",
    "check_bootstrap",
    "jackknife_acceleration",
    "ratio_of_sums_interval",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

BOOTSTRAP_METHODS = (
    "percentile",
    "expanded-percentile",
    "basic",
    "bca",
    "studentized",
    "bayesian",
)
RESAMPLING = ("multinomial", "poisson")


def bootstrap_interval(
    difference: FloatArray,
    *,
    method: str = "expanded-percentile",
    clusters: IntArray | None = None,
    strata: IntArray | None = None,
    weights: FloatArray | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    seed: int = 7,
    resampling: str = "multinomial",
) -> Interval:
    """Bootstrap interval of the (weighted) mean difference.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
        Variant minus baseline per question.
    method : str
        One of `BOOTSTRAP_METHODS`.
    clusters : ndarray of int, shape (n_pairs,), optional
        Whole clusters are resampled.
    strata : ndarray of int, shape (n_pairs,), optional
        Questions are resampled within their stratum, whose size stays fixed.
    weights : ndarray of float, shape (n_pairs,), optional
        Weight of each question, zero or more; the statistic is Σ w d / Σ w.
    confidence_level : float
        Two-sided level.
    n_resamples, seed : int
        Used only by `studentized`, when the resamples are too many to be listed.
    resampling : str
        ``multinomial`` (n draws with replacement) or ``poisson`` (every unit an
        independent Poisson(1) number of times).

    Returns
    -------
    Interval
        ``n_resamples`` is None where the law is exact.

    Raises
    ------
    MethodError
        When the method does not exist or does not fit the data.

    Notes
    -----
    A quantile of the bootstrap law is its smallest value with at least that
    cumulated probability. Expanded percentile (Hesterberg 2015) takes the tails at
    Φ(-√(n/(n-1)) t), t the quantile of Student's law with n - 1 degrees of freedom
    and n the number of units that are resampled.

    Examples
    --------
    >>> import numpy as np
    >>> d = np.array([0.1, 0.2, 0.6, 0.0, 0.8, 0.1])
    >>> interval = bootstrap_interval(d, method="percentile")
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0833, 0.55)
    """
    weight = np.ones(difference.size) if weights is None else weights
    if weights is not None and (np.min(weights) < 0.0 or np.max(weights) <= 0.0):
        raise MethodError(
            "weights must be zero or more, and not all zero; correct the weights"
        )
    return ratio_of_sums_interval(
        difference * weight,
        weight,
        method=method,
        clusters=clusters,
        strata=strata,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        seed=seed,
        resampling=resampling,
    )


def bootstrap_standard_error(
    difference: FloatArray, *, clusters: IntArray | None = None
) -> float:
    """Return the standard deviation of the mean over all resamples.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
        Variant minus baseline per question.
    clusters : ndarray of int, shape (n_pairs,), optional
        Whole clusters are resampled; the linearised standard error of the ratio.

    Returns
    -------
    float
        √(Σ (d - mean)²) / n, with clusters √(Σ (sum of d - mean)²) / n.

    Examples
    --------
    >>> import numpy as np
    >>> bootstrap_standard_error(np.array([0.0, 1.0]))
    0.3535533905932738
    """
    rest = difference - np.mean(difference)
    if clusters is not None:
        codes = np.unique(clusters, return_inverse=True)[1]
        rest = np.bincount(codes, weights=rest).astype(np.float64)
    return float(np.sqrt(np.sum(rest**2)) / difference.size)


def ratio_of_sums_interval(
    numerator: FloatArray,
    denominator: FloatArray,
    *,
    method: str = "expanded-percentile",
    clusters: IntArray | None = None,
    strata: IntArray | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    seed: int = 7,
    resampling: str = "multinomial",
) -> Interval:
    """Bootstrap interval of Σ numerator / Σ denominator over resampled questions.

    Parameters
    ----------
    numerator, denominator : ndarray of float, shape (n_pairs,)
        Per question; the denominators are zero or more, and not all zero.
    method, clusters, strata, confidence_level, n_resamples, seed, resampling
        As in `bootstrap_interval`.

    Returns
    -------
    Interval

    Raises
    ------
    MethodError
        When a denominator is negative, all are zero, or the method does not fit.

    Notes
    -----
    Σ W y / Σ W x ≤ r exactly when Σ W (y - r x) ≤ 0, as long as Σ W x > 0.

    Examples
    --------
    >>> import numpy as np
    >>> y, x = np.array([1.0, 2.0, 2.0, 3.0]), np.array([1.0, 1.0, 2.0, 2.0])
    >>> interval = ratio_of_sums_interval(y, x, method="percentile")
    >>> round(interval.low, 4), round(interval.high, 4)
    (1.0, 1.75)
    """
    check_bootstrap(numerator, denominator, method, resampling, clusters, strata)
    tail = tail_probability(confidence_level)
    numerator, scale = moderate(numerator)
    sample = units(numerator, denominator, clusters, strata)
    notes = _empty_resamples(sample)
    estimate = sample.estimate
    drawn: int | None = None
    if sample.constant:
        if method == "bca":
            raise MethodError(
                "bca needs differences that are not all equal; ask for guarded-t or "
                "expanded-percentile instead"
            )
        low = high = estimate
    elif method == "studentized":
        low, high, drawn, told = studentized_limits(sample, tail, n_resamples, seed)
        notes = (*notes, *told)
    else:
        weighting = "exponential" if method == "bayesian" else resampling
        law = resampled_law(sample.strata, weighting=weighting, mean=sample.mean)
        low, high = _quantile_limits(law, sample, method, tail)
    return Interval(
        low=low * scale + 0.0,
        high=high * scale + 0.0,
        confidence_level=confidence_level,
        method=method,
        degenerate=bool(low == high),
        n_resamples=drawn,
        notes=notes,
    )


def bca_parts(
    difference: FloatArray, *, clusters: IntArray | None = None
) -> tuple[float, float]:
    """Bias correction and acceleration of the BCa interval of a mean.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
        Variant minus baseline per question, not all equal.
    clusters : ndarray of int, shape (n_pairs,), optional
        Whole clusters are resampled and left out.

    Returns
    -------
    z0, acceleration : float
        z0 = Φ⁻¹(P(m* < m) + P(m* = m)/2) and the jackknife acceleration.
    """
    sample = units(difference, np.ones(difference.size), clusters, None)
    law = resampled_law(sample.strata, weighting="multinomial", mean=sample.mean)
    return bias_correction(law, sample), jackknife_acceleration(sample)


def check_bootstrap(
    numerator: FloatArray,
    denominator: FloatArray,
    method: str,
    resampling: str,
    clusters: IntArray | None,
    strata: IntArray | None,
) -> None:
    """Refuse a method that does not exist or does not fit the data."""
    if method not in BOOTSTRAP_METHODS:
        raise MethodError(
            f"bootstrap method is {method!r}; use one of {', '.join(BOOTSTRAP_METHODS)}"
        )
    if resampling not in RESAMPLING:
        raise MethodError(
            f"resampling is {resampling!r}; use one of {', '.join(RESAMPLING)}"
        )
    if numerator.size == 0:
        raise MethodError("the bootstrap has no paired difference to work on")
    if float(np.min(denominator)) < 0.0 or float(np.max(denominator)) <= 0.0:
        raise MethodError(
            "a bootstrap of a ratio needs denominators of zero or more, not all zero; "
            "report the difference of means instead"
        )
    if strata is not None and (
        clusters is not None or method in ("bca", "studentized", "bayesian")
    ):
        raise MethodError(
            f"{method} with strata{' and clusters' if clusters is not None else ''} is "
            "not available; use percentile, expanded-percentile or basic without "
            "clusters"
        )
    if resampling == "poisson" and method in ("studentized", "bayesian"):
        raise MethodError(f"{method} has no poisson form; use multinomial resampling")


def _empty_resamples(sample: Units) -> tuple[Note, ...]:
    """Note the share of resamples whose denominators are all zero."""
    log = 0.0
    for cells in sample.strata:
        share = float(np.sum(cells.counts[cells.x == 0.0])) / cells.n_units
        if share == 0.0:
            return ()
        log += cells.n_units * float(np.log(share))
    if log < np.log(1e-9):
        return ()
    return (
        Note(
            "empty-resamples",
            f"{np.exp(log):.2g} of all resamples have no denominator and are left out.",
        ),
    )


def _quantile_limits(
    law: ResampledLaw, sample: Units, method: str, tail: float
) -> tuple[float, float]:
    if method == "bca":
        lower, upper = _bca_tails(law, sample, tail)
        return law.quantile(lower), law.quantile(upper)
    if method == "expanded-percentile":
        tail = expanded_tail(sample.n_units, tail)
    low, high = law.quantile(tail), law.quantile(1.0 - tail)
    if method == "basic":
        return 2.0 * sample.estimate - high, 2.0 * sample.estimate - low
    return low, high


def _bca_tails(law: ResampledLaw, sample: Units, tail: float) -> tuple[float, float]:
    from scipy.special import ndtr, ndtri

    z0, acceleration = bias_correction(law, sample), jackknife_acceleration(sample)

    def adjusted(z: float) -> float:
        return float(ndtr(z0 + (z0 + z) / (1.0 - acceleration * (z0 + z))))

    z = float(ndtri(tail))
    return adjusted(z), adjusted(-z)


def bias_correction(law: ResampledLaw, sample: Units) -> float:
    """Return Φ⁻¹ of the resamples below the estimate, half of the equal ones too."""
    from scipy.special import ndtri

    return float(ndtri(law.below(sample.estimate)))


def jackknife_acceleration(sample: Units) -> float:
    """Jackknife acceleration, units left out one at a time."""
    cells = sample.strata[0]
    total_y, total_x = float(cells.y @ cells.counts), float(cells.x @ cells.counts)
    without = (total_y - cells.y) / (total_x - cells.x)
    centre = float(without @ cells.counts) / cells.n_units
    rest = centre - without
    square = float(rest**2 @ cells.counts)
    return float(rest**3 @ cells.counts) / float(6.0 * square**1.5)
