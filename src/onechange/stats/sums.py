"""Sums rounded once: the order of the values cannot change them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["exact_sum"]

FloatArray = NDArray[np.float64]

_CHUNK = 1 << 15  # values that stay in the processor's cache
_FEW = 256  # below this `math.fsum` is quicker
_LARGEST = 2.0**960  # above it the splitting could overflow


def exact_sum(values: FloatArray) -> float:
    """Sum with a single rounding at the end, as `math.fsum`, for whole arrays.

    Parameters
    ----------
    values : ndarray of float, shape (n,)

    Returns
    -------
    float
        The double nearest to the exact sum; 0.0 without values.

    Notes
    -----
    With n ≤ 2^m and σ = 2^m·max|p| rounded up to a power of two, (σ + p) - σ is p
    rounded to a grid on which sums of n values are exact, and the rest of p is exact,
    too. The rest is split in the same way until nothing is left (Rump, Ogita & Oishi
    2008, SIAM J. Sci. Comput. 31:189).

    Examples
    --------
    >>> exact_sum(np.array([1e16, 1.0, -1e16]))
    1.0
    """
    if values.size <= _FEW:
        return math.fsum(values.tolist())
    if not max(float(np.max(values)), -float(np.min(values))) < _LARGEST:
        return math.fsum(values.tolist())
    parts: list[float] = []
    for start in range(0, values.size, _CHUNK):
        parts += _exact_parts(values[start : start + _CHUNK])
    return math.fsum(parts)


def _exact_parts(values: FloatArray) -> list[float]:
    """Few numbers whose exact sum is that of the values."""
    bits = math.ceil(math.log2(values.size + 2))
    largest = max(float(np.max(values)), -float(np.min(values)))
    rest = np.array(values, dtype=np.float64)
    high = np.empty_like(rest)
    parts: list[float] = []
    while largest > 0.0:
        sigma = math.ldexp(1.0, math.frexp(largest)[1] + bits)
        np.add(rest, sigma, out=high)
        high -= sigma
        parts.append(float(high.sum()))
        rest -= high
        largest = math.ldexp(sigma, -53) if rest.any() else 0.0
    return parts
