"""Pilot pairs -> the same pairs under an alternative of a given size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.ratio import RatioPair

__all__ = ["ratio_shares", "tilted_shares"]

FloatArray = NDArray[np.float64]

MOST_TILT = 200.0  # beyond it a single unit has all the weight


def tilted_shares(totals: FloatArray, sizes: FloatArray, delta: float) -> FloatArray:
    """Weigh the pilot's units so that the mean difference is the one wanted.

    Parameters
    ----------
    totals : ndarray of float, shape (n_units,)
        Sum of the differences of each unit: a question, or a cluster of them.
    sizes : ndarray of float, shape (n_units,)
        Number of questions of each unit.
    delta : float
        Wanted mean difference of a question.

    Returns
    -------
    ndarray of float, shape (n_units,)
        Probability of each unit, all above 0.

    Raises
    ------
    MethodError
        When the wanted mean is not between the smallest and the largest mean
        difference of a unit.

    Notes
    -----
    The shares are ∝ exp(λ·(Sᵢ − D·mᵢ)), λ solved for Σ share·(Sᵢ − D·mᵢ) = 0: of
    all laws on the pilot's units with mean D the one nearest to the pilot
    (exponential tilting). Scores stay what they were, so bounds hold.

    Examples
    --------
    >>> shares = tilted_shares(np.array([-1.0, 0.0, 1.0]), np.ones(3), 0.25)
    >>> round(float(shares @ [-1.0, 0.0, 1.0]), 12)
    0.25
    """
    from scipy.optimize import brentq
    from scipy.special import logsumexp

    gap = totals - delta * sizes
    scale = float(np.max(np.abs(gap)))
    if scale <= 1e-12 * max(1.0, float(np.max(np.abs(totals)))):
        return np.full(totals.size, 1.0 / totals.size)
    if not (gap.min() < 0 < gap.max()):
        means = totals / sizes
        raise MethodError(
            f"a delta of {delta:g} cannot be made of the pilot's differences, which "
            f"run from {means.min():g} to {means.max():g}; give a smaller one, or a "
            "pilot with larger differences."
        )
    gap = gap / scale

    def shares(tilt: float) -> FloatArray:
        exponent = tilt * gap
        return np.asarray(np.exp(exponent - logsumexp(exponent)))

    def mean(tilt: float) -> float:
        return float(shares(tilt) @ gap)

    reach = 1.0
    while mean(reach) < 0 or mean(-reach) > 0:
        reach *= 2
    return shares(float(brentq(mean, -reach, reach, xtol=1e-13)))


def ratio_shares(
    arms: tuple[RatioPair, RatioPair], codes: NDArray[np.int64], delta: float
) -> FloatArray:
    """Weigh units so that the difference of two ratios of sums is the one wanted.

    Parameters
    ----------
    arms : tuple of RatioPair
        Numerators and denominators of the baseline and of the variant.
    codes : ndarray of int, shape (n_pairs,)
        Unit of each question, from 0.
    delta : float
        Wanted difference of the ratios.

    Returns
    -------
    ndarray of float, shape (n_units,)
        Probability of each unit, all above 0.

    Raises
    ------
    MethodError
        When no tilt gives that difference.

    Notes
    -----
    The shares are ∝ exp(λ·i), i a unit's influence on the difference at the ratios of
    the pilot, λ solved for the difference of the ratios of the weighted sums.
    """
    from scipy.optimize import brentq
    from scipy.special import logsumexp

    sums = [
        np.bincount(codes, weights=part).astype(np.float64)
        for arm in arms
        for part in (arm.numerator, arm.denominator)
    ]
    influence = np.zeros(sums[0].size)
    for sign, first in ((-1.0, 0), (1.0, 2)):
        top, bottom = sums[first], sums[first + 1]
        ratio = top.sum() / bottom.sum()
        influence += sign * (top - ratio * bottom) / bottom.mean()
    scale = float(np.max(np.abs(influence)))

    def shares(tilt: float) -> FloatArray:
        exponent = tilt * influence / (scale or 1.0)
        return np.asarray(np.exp(exponent - logsumexp(exponent)))

    def gap(tilt: float) -> float:
        weights = shares(tilt)
        before, after = (
            float(weights @ sums[first]) / float(weights @ sums[first + 1])
            for first in (0, 2)
        )
        return after - before - delta

    if abs(gap(0.0)) <= 1e-12 * max(1.0, abs(delta)):
        return shares(0.0)
    reach = 1.0
    while scale > 0 and reach < MOST_TILT:
        if gap(-reach) < 0 < gap(reach):
            return shares(float(brentq(gap, -reach, reach, xtol=1e-13)))
        reach *= 2
    raise MethodError(
        f"a delta of {delta:g} cannot be made of the pilot's questions; give one "
        f"nearer to theirs, {gap(0.0) + delta:g}, or a pilot with larger differences."
    )
