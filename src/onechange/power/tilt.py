"""Pilot pairs -> the same pairs under an alternative of a given size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError

__all__ = ["tilted_shares"]

FloatArray = NDArray[np.float64]


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
