"""How large a characteristic function still is away from zero.

Values on (or near) a common grid bring it back to one at the frequencies of the
grid; such lobes must enter the inversion, or be shown to be negligible.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["NEGLIGIBLE", "screen", "spectrum"]

FloatArray = NDArray[np.float64]

BLOCK = 16
BINS = 4096
WIDEST = 12.0  # values beyond so many root mean squares are left out
NEGLIGIBLE = -27.0


def screen(
    t: FloatArray, sizes: FloatArray, weights: FloatArray, counts: FloatArray
) -> FloatArray:
    """Bound log Π |1 - w sin²(t a)|^{c/2}, leaving a frequency once it is negligible.

    Parameters
    ----------
    t : ndarray of float, shape (n_points,)
        Frequencies.
    sizes, weights, counts : ndarray of float, shape (n_values,)
        The values a, weights w and counts c of the factors, those that weigh most
        first.

    Returns
    -------
    ndarray of float, shape (n_points,)
        An upper bound of the logarithm of the product, exact where it matters.
    """
    log = np.zeros(t.size)
    alive = np.arange(t.size)
    for start in range(0, sizes.size, BLOCK):
        part = slice(start, start + BLOCK)
        square = np.sin(np.multiply.outer(sizes[part], t[alive])) ** 2
        factor = np.maximum(1.0 - weights[part, None] * square, 0.0)
        if np.any(counts[part] > 1.0):
            factor = factor ** counts[part, None]
        left = np.multiply.reduce(factor)
        log[alive] += 0.5 * np.log(np.maximum(left, 1e-300))
        alive = alive[log[alive] > NEGLIGIBLE]
        if alive.size == 0:
            break
    return log


def spectrum(values: FloatArray, weights: FloatArray, t: FloatArray) -> FloatArray:
    """Approximate |Σ w e^{itv}| / Σ w at many frequencies, from binned values.

    Parameters
    ----------
    values, weights : ndarray of float, shape (n_values,)
    t : ndarray of float, shape (n_points,)
        Frequencies above zero.

    Returns
    -------
    ndarray of float, shape (n_points,)
        At the nearest frequency of a discrete transform, and below its resolution
        from the variance and the fourth moment; far outliers count as one.
        Frequencies beyond an eighth of the transform's end have NaN.

    Notes
    -----
    |φ|² = E cos(t (v - v')) ≤ 1 - t² V + t⁴ (2 μ₄ + 6 V²) / 24.
    """
    from scipy import fft

    total = float(np.sum(weights))
    centre = float(np.sum(weights * values)) / total
    moved = values - centre
    widest = WIDEST * float(np.sqrt(np.sum(weights * moved**2) / total))
    inside = np.abs(moved) <= widest
    moved, near = moved[inside], weights[inside]
    reach = float(np.max(np.abs(moved)))
    width = 2.0 * reach / (BINS - 2)
    index = np.rint(moved / width).astype(np.int64) + BINS // 2
    mass = np.bincount(index, weights=near, minlength=BINS)
    step = 2.0 * np.pi / (4 * BINS * width)
    transform = np.abs(fft.rfft(mass, n=4 * BINS))[: BINS // 4 + 1]
    place = np.rint(t / step).astype(np.int64)
    size = transform[np.minimum(place, BINS // 4)]
    size[place > BINS // 4] = np.nan
    inner = float(np.sum(near))
    moved = moved * moved
    square = t**2 * (float(np.sum(near * moved)) / inner)
    fourth = t**4 * (float(np.sum(near * moved * moved)) / inner)
    bound = np.maximum(0.0, 1.0 - square + (2.0 * fourth + 6.0 * square**2) / 24.0)
    small = (square < 1.0) & (bound < 1.0)
    size[small] = np.minimum(size[small], inner * np.sqrt(bound[small]))
    return np.asarray((size + (total - inner)) / total)
