"""Bootstrap laws that are few enough to be written down value by value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.lattice import find_lattice

__all__ = ["Cells", "ListedLaw", "lattice_law", "listed_law", "listed_resamples"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LISTED_RESAMPLES = 4e5
LISTED_LATTICE = 2**18


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Equal units of one stratum taken together.

    Parameters
    ----------
    y, x : ndarray of float, shape (n_cells,)
        Numerator and denominator of a unit.
    counts : ndarray of int, shape (n_cells,)
        Number of units that have them.
    """

    y: FloatArray
    x: FloatArray
    counts: IntArray

    @property
    def n_units(self) -> int:
        """Number of units, which is the number of draws."""
        return int(np.sum(self.counts))


@dataclass(frozen=True, slots=True, eq=False)
class ListedLaw:
    """A law given by all of its values.

    Parameters
    ----------
    points : ndarray of float, shape (n_points,)
        Distinct values in ascending order.
    probability : ndarray of float, shape (n_points,)
    """

    points: FloatArray
    probability: FloatArray

    def below(self, point: float) -> float:
        """Probability of less than a point plus half of the point itself."""
        noise = 1e-12 * float(np.max(np.abs(self.points)))
        less = float(np.sum(self.probability[self.points < point - noise]))
        most = float(np.sum(self.probability[self.points <= point + noise]))
        return 0.5 * (less + most)

    def quantile(self, probability: float) -> float:
        """Smallest value whose cumulated probability reaches `probability`."""
        # The rounding of a transform may leave masses of -1e-17.
        cumulated = np.maximum.accumulate(np.cumsum(self.probability))
        index = int(np.searchsorted(cumulated, probability * (1.0 - 1e-12)))
        return float(self.points[min(index, self.points.size - 1)])


def listed_resamples(cells: Cells) -> tuple[FloatArray, FloatArray] | None:
    """Every possible resample of one stratum, when there are few of them.

    Parameters
    ----------
    cells : Cells

    Returns
    -------
    tuple of ndarray, or None
        How often each cell is drawn, shape (n_cells, n_resamples), and the
        probability of the resample; None above 400,000 resamples.
    """
    from scipy.special import gammaln

    n, width = cells.n_units, cells.counts.size
    log_number = gammaln(n + width) - gammaln(n + 1.0) - gammaln(width)
    if log_number > np.log(LISTED_RESAMPLES):
        return None
    drawn = np.zeros((0, 1), dtype=np.int64)
    left = np.full(1, n, dtype=np.int64)
    for _ in range(width - 1):
        repeats = left + 1
        source = np.repeat(np.arange(left.size), repeats)
        start = np.repeat(np.cumsum(repeats) - repeats, repeats)
        taken = np.arange(source.size) - start
        drawn = np.vstack((drawn[:, source], taken))
        left = left[source] - taken
    times: FloatArray = np.vstack((drawn, left)).astype(np.float64)
    log = gammaln(n + 1.0) - np.sum(gammaln(times + 1.0), axis=0)
    log = log + np.log(cells.counts / n) @ times
    return times, np.exp(log)


def listed_law(values: FloatArray, probability: FloatArray) -> ListedLaw:
    """Sort the values of a law and join those that differ by rounding.

    Parameters
    ----------
    values, probability : ndarray of float, shape (n_resamples,)

    Returns
    -------
    ListedLaw
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    finite = np.abs(ordered[np.isfinite(ordered)])
    noise = 1e-13 * float(np.max(finite, initial=0.0))
    with np.errstate(invalid="ignore"):
        first = np.append(True, np.diff(ordered) > noise)
    starts = np.flatnonzero(first)
    return ListedLaw(ordered[starts], np.add.reduceat(probability[order], starts))


def lattice_law(strata: tuple[Cells, ...]) -> ListedLaw | float:
    """Law of a mean whose values lie on a lattice.

    Parameters
    ----------
    strata : tuple of Cells
        With x = 1 throughout.

    Returns
    -------
    ListedLaw or float
        The step of the mean instead when the lattice is too fine to be listed,
        and 0 when there is none.

    Notes
    -----
    The n-fold convolution of the mass function by a discrete Fourier transform
    over 20 standard deviations, beyond which the mass is below 1e-20.
    """
    from scipy import fft

    found = find_lattice(np.concatenate([cells.y for cells in strata]))
    if found is None:
        return 0.0
    n = sum(cells.n_units for cells in strata)
    pieces, start, variance, reach = [], 0, 0.0, 0
    for cells in strata:
        size = cells.counts.size
        integers = found.integers[start : start + size]
        start += size
        weight = cells.counts / cells.n_units
        mean = float(weight @ integers)
        variance += cells.n_units * float(weight @ (integers - mean) ** 2)
        pieces.append((integers, weight, cells.n_units))
        reach = max(reach, int(np.max(np.abs(integers - mean))))
    # A far outlier is drawn a few times at most; 20 copies of it are room enough.
    window = int(20.0 * np.sqrt(variance) + 40 * reach) + 3
    span = sum(int(np.ptp(k)) * m for k, _, m in pieces) + 1
    whole = window >= span
    window = fft.next_fast_len(min(window, span), real=True)
    if window > LISTED_LATTICE:
        return float(found.unit / n)
    centre = sum(int(np.rint(float(w @ k) * m)) for k, w, m in pieces)
    smallest = sum(int(np.min(k)) * m for k, _, m in pieces)
    first = smallest if whole else centre - window // 2
    transform = np.ones(window // 2 + 1, dtype=np.complex128)
    for integers, weight, m in pieces:
        one = np.bincount(integers % window, weights=weight, minlength=window)
        transform *= fft.rfft(one) ** m
    mass: FloatArray = fft.irfft(transform, n=window)
    sums = np.arange(window) + first
    points: FloatArray = sums.astype(np.float64) * (found.unit / n)
    return ListedLaw(points, mass[sums % window])
