"""One-sided p-values of the bootstrap intervals, without a search over levels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from onechange.stats.bootstrap import (
    bias_correction,
    check_bootstrap,
    jackknife_acceleration,
)
from onechange.stats.ideal import ResampledLaw, resampled_law
from onechange.stats.resample import unexpanded_tail
from onechange.stats.studentized import studentized_law
from onechange.stats.units import Units, units

__all__ = ["bootstrap_pvalue"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
TailMap = Callable[[float], float]

FINEST = 1e-12  # smallest tail that is told from none


def bootstrap_pvalue(
    difference: FloatArray,
    null: float,
    *,
    alternative: str,
    method: str = "expanded-percentile",
    clusters: IntArray | None = None,
    strata: IntArray | None = None,
    resampling: str = "multinomial",
    n_resamples: int = 9999,
    seed: int = 7,
) -> float:
    """One-sided p-value at which an end of the bootstrap interval touches a value.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
        Variant minus baseline per question.
    null : float
        Mean difference under the null hypothesis.
    alternative : str
        ``greater`` looks at the low end, ``less`` at the high end.
    method, clusters, strata, resampling, n_resamples, seed
        As in `bootstrap_interval`.

    Returns
    -------
    float
        At least 1e-12, since no level beyond it can be told from certainty.

    Notes
    -----
    The low end lies above the null exactly when the law has less probability at or
    below it than the method's tail, so the p-value is that probability mapped back
    through the method's rule for the tail: no search over levels.

    Examples
    --------
    >>> import numpy as np
    >>> d = np.array([0.1, 0.2, 0.6, 0.0, 0.8, 0.1])
    >>> p = bootstrap_pvalue(d, 0.0, alternative="greater", method="percentile")
    >>> round(p * 6**6, 6)  # only one of the resamples is all zeros
    1.0
    """
    ones = np.ones(difference.size)
    check_bootstrap(ones, ones, method, resampling, clusters, strata)
    sample = units(difference, ones, clusters, strata)
    if sample.constant:
        gap = null - sample.estimate
        beyond = gap > 0.0 if alternative == "greater" else gap < 0.0
        return 0.5 if gap == 0.0 else 1.0 - FINEST if beyond else FINEST
    if method == "studentized":
        found = studentized_law(sample, n_resamples, seed)
        below, above = found.law.tails((sample.estimate - null) / found.error)
        at_most, at_least = above, below
        low: TailMap = float
        high: TailMap = float
    else:
        weighting = "exponential" if method == "bayesian" else resampling
        law = resampled_law(sample.strata, weighting=weighting, mean=sample.mean)
        at_most, at_least = _null_tails(law, sample, null, method)
        low, high = _tail_maps(law, sample, method)
    shown, refuted = low(at_most), high(at_least)
    if alternative == "less":
        shown, refuted = refuted, shown
    if shown < 0.5:
        return max(shown, FINEST)
    return 1.0 - max(refuted, FINEST) if refuted < 0.5 else 0.5


def _null_tails(
    law: ResampledLaw, sample: Units, null: float, method: str
) -> tuple[float, float]:
    """Probabilities of the resamples against which each end is set."""
    if method == "basic":
        below, above = law.tails(2.0 * sample.estimate - null)
        return above, below
    return law.tails(null)


def _tail_maps(
    law: ResampledLaw, sample: Units, method: str
) -> tuple[TailMap, TailMap]:
    """From a probability of the law to the tail of the low and of the high end."""
    from scipy.special import ndtr, ndtri

    if method == "expanded-percentile":
        same = partial(unexpanded_tail, sample.n_units)
        return same, same
    if method != "bca":
        return float, float
    z0, acceleration = bias_correction(law, sample), jackknife_acceleration(sample)

    def level(w: float) -> float:
        """Undo Φ⁻¹ of an adjusted tail, less the bias."""
        stretch = 1.0 + acceleration * w
        return w / stretch - z0 if stretch > 0.0 else float(np.copysign(np.inf, w))

    def low(at_most: float) -> float:
        return float(ndtr(level(float(ndtri(at_most)) - z0)))

    def high(at_least: float) -> float:
        return float(ndtr(-level(-float(ndtri(at_least)) - z0)))

    return low, high
