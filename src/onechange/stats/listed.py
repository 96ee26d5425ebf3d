"""Bootstrap laws that are few enough to be written down value by value."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onechange.stats.lattice import find_lattice

__all__ = [
    "Cells",
    "ListedLaw",
    "compositions",
    "grid_law",
    "half_width",
    "lattice_law",
    "listed_law",
    "listed_resamples",
    "whole_power",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
ComplexArray = NDArray[np.complex128]
Piece = tuple[FloatArray, FloatArray, int]  # values, their shares, number of draws

LISTED_LATTICE = 2**18
GRID = 2**21
REMOTE = 34.0  # logarithm of the mass that may lie beyond
TILTS = (7.0, 5.0, 3.5, 2.5, 1.8)  # for Chernoff's bound, in reciprocal deviations


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
    tie : float
        Values this close to each other may be one value.
    unit : float
        Distance of neighbouring points that stand for all values in between, or 0.
    """

    points: FloatArray
    probability: FloatArray
    tie: float = 0.0
    unit: float = 0.0

    def below(self, point: float) -> float:
        """Probability of less than a point plus half of the point itself."""
        noise = max(self.tie, 1e-12 * float(np.max(np.abs(self.points))))
        less = float(np.sum(self.probability[self.points < point - noise]))
        most = float(np.sum(self.probability[self.points <= point + noise]))
        return 0.5 * (less + most)

    def tails(self, point: float) -> tuple[float, float]:
        """Probabilities of at most a point and of at least the point."""
        finite = self.points[np.isfinite(self.points)]
        noise = max(self.tie, 1e-12 * float(np.max(np.abs(finite), initial=0.0)))
        least = float(np.sum(self.probability[self.points <= point + noise]))
        most = float(np.sum(self.probability[self.points >= point - noise]))
        return min(max(least, 0.0), 1.0), min(max(most, 0.0), 1.0)

    def quantile(self, probability: float) -> float:
        """Smallest value whose cumulated probability reaches `probability`."""
        # The rounding of a transform may leave masses of -1e-17.
        cumulated = np.maximum.accumulate(np.cumsum(self.probability))
        index = int(np.searchsorted(cumulated, probability * (1.0 - 1e-12)))
        index = min(index, self.points.size - 1)
        if self.unit == 0.0:
            return float(self.points[index])
        before = float(cumulated[index - 1]) if index else 0.0
        part = (probability - before) / max(float(cumulated[index]) - before, 1e-300)
        return float(self.points[index]) + (min(max(part, 0.0), 1.0) - 0.5) * self.unit


def listed_resamples(
    cells: Cells, *, most: float
) -> tuple[FloatArray, FloatArray] | None:
    """Every possible resample of one stratum, when there are few of them.

    Parameters
    ----------
    cells : Cells
    most : float
        Largest number of resamples to be listed.

    Returns
    -------
    tuple of ndarray, or None
        How often each cell is drawn, shape (n_cells, n_resamples), and the
        probability of the resample; None when there are too many.
    """
    from scipy.special import gammaln

    n, width = cells.n_units, cells.counts.size
    log_number = gammaln(n + width) - gammaln(n + 1.0) - gammaln(width)
    if log_number > np.log(most):
        return None
    times = compositions(n, width)
    log = gammaln(n + 1.0) - np.sum(gammaln(times + 1.0), axis=0)
    log = log + np.log(cells.counts / n) @ times
    return times, np.exp(log)


def compositions(total: int, n_cells: int) -> FloatArray:
    """Return every way to write a number as an ordered sum of counts.

    Parameters
    ----------
    total : int
        The number, zero or more.
    n_cells : int
        How many counts, one or more; each is zero or more.

    Returns
    -------
    ndarray of float, shape (n_cells, n_ways)

    Examples
    --------
    >>> compositions(2, 2).tolist()
    [[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]
    """
    drawn = np.zeros((0, 1), dtype=np.int64)
    left = np.full(1, total, dtype=np.int64)
    for _ in range(n_cells - 1):
        repeats = left + 1
        source = np.repeat(np.arange(left.size), repeats)
        start = np.repeat(np.cumsum(repeats) - repeats, repeats)
        taken = np.arange(source.size) - start
        drawn = np.vstack((drawn[:, source], taken))
        left = left[source] - taken
    return np.vstack((drawn, left)).astype(np.float64)


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
    found = find_lattice(np.concatenate([cells.y for cells in strata]))
    if found is None:
        return 0.0
    pieces, start = [], 0
    for cells in strata:
        part = found.integers[start : start + cells.counts.size]
        start += cells.counts.size
        pieces.append((part, cells.counts / cells.n_units, cells.n_units))
    width = _window([(k.astype(np.float64), w, n) for k, w, n in pieces]) + 3.0
    if width > LISTED_LATTICE:
        return found.unit / sum(c.n_units for c in strata)
    return _convolved(pieces, found.unit, int(width))


def grid_law(strata: tuple[Cells, ...]) -> ListedLaw:
    """Law of a mean whose values are split between the points of a fine lattice.

    Parameters
    ----------
    strata : tuple of Cells
        With x = 1 throughout.

    Returns
    -------
    ListedLaw

    Notes
    -----
    For resamples that are too many for a list and values whose characteristic
    function does not fall off, such as a few changed questions among many unchanged
    ones. Each value is divided between its neighbours on a lattice of two million
    points so that its mean stays; the limits move by about 1e-6 standard deviations
    of the values at most.
    """
    pieces = [(c.y, c.counts / c.n_units, c.n_units) for c in strata]
    reach = float(np.max(np.abs(np.concatenate([cells.y for cells in strata]))))
    unit = (2.0 * half_width(pieces) + 4.0 * reach) / GRID
    split = []
    for values, weight, n in pieces:
        below = np.floor(values / unit)
        share = values / unit - below
        both = np.concatenate((below, below + 1.0)).astype(np.int64)
        weights = np.concatenate((weight * (1.0 - share), weight * share))
        split.append((both, weights, n))
    law = _convolved(split, unit, GRID)
    n = sum(cells.n_units for cells in strata)
    return replace(law, tie=4.0 * unit / n**0.5, unit=unit / n)


def whole_power(base: ComplexArray, exponent: int) -> ComplexArray:
    """Raise to a whole power by repeated squaring, which is faster than ``**``.

    Parameters
    ----------
    base : ndarray of complex, shape (n,)
    exponent : int
        Zero or more.

    Returns
    -------
    ndarray of complex, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> whole_power(np.array([2.0 + 0.0j]), 10)
    array([1024.+0.j])
    """
    result = np.ones(base.size, dtype=np.complex128)
    base = base.copy()
    while True:
        if exponent % 2 == 1:
            result *= base
        exponent //= 2
        if exponent == 0:
            return result
        base *= base


def half_width(pieces: list[Piece]) -> float:
    """Distance from its mean beyond which a sum of draws has 1e-15 of its mass.

    Parameters
    ----------
    pieces : list of tuple
        Values, their shares, and the number of draws from them.

    Returns
    -------
    float

    Notes
    -----
    Chernoff's bound of either tail, the smallest over some tilts.
    """
    moved = [(values - float(share @ values), share, n) for values, share, n in pieces]
    variance = sum(n * float(share @ values**2) for values, share, n in moved)
    sigma, ends = float(np.sqrt(variance)), []
    for sign in (1.0, -1.0):
        end = sum(n * float(np.max(sign * values)) for values, _, n in moved)
        for tilt in TILTS:
            log = 0.0
            for values, share, n in moved:
                w = (sign * tilt / sigma) * values
                top = float(np.max(w))
                log += n * (top + float(np.log(share @ np.exp(w - top))))
            end = min(end, (log + REMOTE) * sigma / tilt)
            if end <= 9.0 * sigma:  # that of the normal law is 8.4
                break
        ends.append(end)
    return max(ends)


def _window(pieces: list[Piece]) -> float:
    """Width of the law of a sum of draws, but for 1e-20 of its mass."""
    variance, reach, span = 0.0, 0.0, 0.0
    for values, weight, n in pieces:
        mean = float(np.sum(weight * values))
        variance += n * float(np.sum(weight * (values - mean) ** 2))
        reach = max(reach, float(np.max(np.abs(values - mean))))
        span += n * float(np.ptp(values))
    # A far outlier is drawn a few times at most; 20 copies of it are room enough.
    return min(20.0 * float(np.sqrt(variance)) + 40.0 * reach, span)


def _convolved(
    pieces: list[tuple[IntArray, FloatArray, int]], unit: float, width: int
) -> ListedLaw:
    """Convolve the mass functions of all draws within a window of whole numbers."""
    from scipy import fft

    span = sum(int(np.ptp(k)) * m for k, _, m in pieces) + 1
    window = fft.next_fast_len(min(width, span), real=True)
    centre = sum(int(np.rint(float(np.sum(w * k)) * m)) for k, w, m in pieces)
    smallest = sum(int(np.min(k)) * m for k, _, m in pieces)
    first = smallest if window >= span else centre - window // 2
    transform = np.ones(window // 2 + 1, dtype=np.complex128)
    for integers, weight, m in pieces:
        one = np.bincount(integers % window, weights=weight, minlength=window)
        transform *= whole_power(fft.rfft(one), m)
    mass: FloatArray = fft.irfft(transform, n=window)
    sums = np.arange(window) + first
    n = sum(m for _, _, m in pieces)
    points: FloatArray = sums.astype(np.float64) * (unit / n)
    return ListedLaw(points, mass[sums % window])
