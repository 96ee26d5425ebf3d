"""Sums of values with independent exponential weights (the Bayesian bootstrap)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["gamma_sum_below"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def gamma_sum_below(values: FloatArray, counts: IntArray) -> float:
    """Probability that a sum with independent exponential weights is below zero.

    Parameters
    ----------
    values : ndarray of float, shape (n_values,)
        Distinct values.
    counts : ndarray of int, shape (n_values,)
        Number of terms with that value.

    Returns
    -------
    float

    Notes
    -----
    The moment generating function Π (1 - z v)^-c is inverted along
    z = θ + i s sinh(u), on which the trapezoidal sum converges exponentially even
    where the function falls off as a low power only.

    Examples
    --------
    >>> import numpy as np
    >>> round(gamma_sum_below(np.array([-1.0, 3.0]), np.array([1, 1])), 12)
    0.25
    """
    if np.min(values) >= 0.0:
        return 0.0
    if np.max(values) <= 0.0:
        return 1.0
    if float(values @ counts) < 0.0:
        return 1.0 - gamma_sum_below(-values, counts)
    values = -values / float(np.sqrt(values**2 @ counts))
    pole = 1.0 / float(np.max(values))
    low, high = 0.0, pole
    for _ in range(60):
        tilt = 0.5 * (low + high)
        if float(counts @ (values / (1.0 - tilt * values))) > 0.0:
            high = tilt
        else:
            low = tilt
    tilt = max(tilt, min(2.5, 0.5 * pole))
    scale = min(tilt, pole - tilt)
    value = -float(counts @ np.log1p(-tilt * values))
    step, total = 0.15, 0.0
    for start in range(0, 4000, 20):
        u = step * np.arange(start, start + 20)
        z = tilt + 1j * scale * np.sinh(u)
        log = -(np.log1p(-z[:, None] * values) @ counts.astype(np.float64))
        term = (np.exp(log - value) / z).real * scale * np.cosh(u)
        size = np.abs(np.exp(log.real - value) / z) * scale * np.cosh(u)
        total += float(np.sum(term)) - (0.5 * float(term[0]) if start == 0 else 0.0)
        if float(np.max(size[-4:])) < 1e-18:
            break
    return float(np.exp(value)) * total * step / np.pi
