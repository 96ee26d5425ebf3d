"""The law of a mean under Poisson resampling, on a lattice, value by value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onechange.stats.lattice import find_lattice
from onechange.stats.listed import Cells, ListedLaw, listed_law, whole_power

__all__ = ["FEWEST_UNITS", "poisson_lattice_law"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

FEWEST_UNITS = 20  # fewer, and a resample may well be empty
MOST_POINTS = 2**21
REMOTE = 9.0  # standard deviations of the number of draws that are counted
NEGLIGIBLE = 1e-18


def poisson_lattice_law(cells: Cells) -> ListedLaw | None:
    """Law of a resampled mean when every unit counts Poisson(1) times.

    Parameters
    ----------
    cells : Cells
        With x = 1 throughout.

    Returns
    -------
    ListedLaw or None
        None when the values lie on no lattice, or on one too fine to list its means.

    Notes
    -----
    The number of draws M is Poisson(n); given M = m the resample is one of m draws
    with replacement, whose sum is the m-fold convolution of the mass function. The
    mean is that sum over m, so that the law is a mixture over m; an empty resample
    has no mean and is left out (e⁻ⁿ of all).

    Examples
    --------
    >>> cells = Cells(np.array([0.0, 1.0]), np.ones(2), np.array([15, 5]))
    >>> law = poisson_lattice_law(cells)
    >>> round(law.quantile(0.025), 4), round(law.quantile(0.975), 4)
    (0.0667, 0.4583)
    """
    from scipy.special import gammaln

    found = find_lattice(cells.y)
    if found is None:
        return None
    n = cells.n_units
    reach = REMOTE * n**0.5 + 40.0
    draws = np.arange(max(1, int(n - reach)), int(n + reach) + 1)
    share = cells.counts / n
    smallest = int(np.min(found.integers))
    steps = found.integers - smallest
    window = _window(steps, share, int(draws[-1]))
    if window * draws.size > MOST_POINTS:
        return None
    log = draws * np.log(n) - n - gammaln(draws + 1.0)
    weight = np.exp(log - np.log(np.sum(np.exp(log))))
    points, masses = [], []
    for m, w, sums, mass in _convolutions(steps, share, draws, weight, window):
        kept = mass * w > NEGLIGIBLE
        points.append((smallest * m + sums[kept]) / m * found.unit)
        masses.append(mass[kept] * w)
    return listed_law(np.concatenate(points), np.concatenate(masses))


def _window(steps: IntArray, share: FloatArray, most: int) -> int:
    """Width of the law of a sum of draws, but for a negligible mass."""
    mean = float(share @ steps)
    spread = float(np.sqrt(most * (share @ (steps - mean) ** 2)))
    far = 40.0 * float(np.max(np.abs(steps - mean)))
    return int(min(20.0 * spread + far, float(most * int(np.max(steps))))) + 1


def _convolutions(
    steps: IntArray,
    share: FloatArray,
    draws: IntArray,
    weight: FloatArray,
    window: int,
) -> list[tuple[int, float, IntArray, FloatArray]]:
    """For each number of draws: it, its weight, the sums and their masses."""
    from scipy import fft

    size = fft.next_fast_len(window, real=True)
    one = np.bincount(steps % size, weights=share, minlength=size)
    factor = fft.rfft(one)
    transform = whole_power(factor, int(draws[0]))
    mean, found = float(share @ steps), []
    for m, w in zip(draws.tolist(), weight.tolist(), strict=True):
        mass = fft.irfft(transform, n=size)
        whole = size > m * int(np.max(steps))
        first = 0 if whole else max(0, round(m * mean) - size // 2)
        sums = np.arange(size) + first
        found.append((m, w, sums, np.asarray(mass[sums % size])))
        transform = transform * factor
    return found
