"""How large a characteristic function still is away from zero.

Values on (or near) a common grid bring it back to one at the frequencies of the
grid; such lobes must enter the inversion, or be shown to be negligible.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["NEGLIGIBLE", "screen", "spectrum"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

BINS = 4096
WIDEST = 12.0  # values beyond so many root mean squares are left out
NEGLIGIBLE = -42.0


def screen(
    t: FloatArray,
    indices: IntArray,
    factor: Callable[[int, FloatArray], FloatArray],
) -> FloatArray:
    """Add up logarithms of factors, leaving a frequency once it is negligible.

    Parameters
    ----------
    t : ndarray of float, shape (n_points,)
        Frequencies.
    indices : ndarray of int, shape (n_factors,)
        Factors, those that weigh most first.
    factor : callable
        Index and frequencies to the logarithm of the absolute factor, at most 0.

    Returns
    -------
    ndarray of float, shape (n_points,)
        An upper bound of the logarithm of the product, exact where it matters.
    """
    log = np.zeros(t.size)
    alive = np.arange(t.size)
    current = np.zeros(t.size)
    points = t
    for step, index in enumerate(indices.tolist()):
        current = current + factor(index, points)
        if step % 8 == 7 or step == indices.size - 1:
            log[alive] = current
            kept = current > NEGLIGIBLE
            alive, current, points = alive[kept], current[kept], points[kept]
            if alive.size == 0:
                break
    return log


def spectrum(
    values: FloatArray, weights: FloatArray, t: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Σ w cos(t v) and Σ w sin(t v) at many frequencies, from binned values.

    Parameters
    ----------
    values, weights : ndarray of float, shape (n_values,)
    t : ndarray of float, shape (n_points,)
        Frequencies, ascending from above zero.

    Returns
    -------
    cosine, sine : ndarray of float, shape (n_points,)
        At the nearest frequency of a discrete transform; far outliers are left
        out. Frequencies beyond an eighth of the transform's end have NaN.
    """
    from scipy import fft

    total = float(np.sum(weights))
    centre = float(np.sum(weights * values)) / total
    moved = values - centre
    reach = WIDEST * float(np.sqrt(np.sum(weights * moved**2) / total))
    reach = min(reach, float(np.max(np.abs(moved))))
    width = 2.0 * reach / (BINS - 2)
    index = np.rint(moved / width).astype(np.int64) + BINS // 2
    inside = (index >= 0) & (index < BINS)
    mass = np.bincount(index[inside], weights=weights[inside], minlength=BINS)
    transform = fft.rfft(mass, n=4 * BINS)
    step = 2.0 * np.pi / (4 * BINS * width)
    place = np.rint(t / step).astype(np.int64)
    outside = place > BINS // 4
    value = np.conj(transform[np.minimum(place, BINS // 4)])
    value = value * np.exp(1j * step * place * (centre - width * (BINS // 2)))
    value[outside] = np.nan
    return np.asarray(value.real), np.asarray(value.imag)
