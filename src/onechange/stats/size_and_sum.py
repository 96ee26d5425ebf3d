"""Joint law of the size and the sum of a random subset of values on a lattice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.lattice import Lattice

__all__ = ["LARGEST_SUM", "LARGEST_TABLE", "SizeAndSum", "size_and_sum"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LARGEST_TABLE = 2**20
LARGEST_SUM = 2**27  # additions: a tenth of a second
FACTOR_COST = 25.0  # of one factor of a transform, in additions
WINDOW = 18.4  # standard deviations from end to end; 4e-20 of the mass lies outside
NEGLIGIBLE = 42.0
WHOLE = 1e-9  # a sum this close to a whole number is one
NEAR = 1e-7
PARTS = 16  # of a bracket, looked at together
CANDIDATES = 40.0


@dataclass(frozen=True, slots=True, eq=False)
class SizeAndSum:
    """Shares of the subsets of each size whose sum is at most so much.

    Parameters
    ----------
    unit : float
        Distance of the lattice points.
    sizes : ndarray of int, shape (n_sizes,)
        Subset sizes with more than negligible mass.
    first_sum : int
        Smallest sum in the table, in units.
    cumulated : ndarray of float, shape (n_sizes, n_sums + 1)
        Mass of each size at sums below the first, up to the first, and so on.
    """

    unit: float
    sizes: IntArray
    first_sum: int
    cumulated: FloatArray

    def share(self, mean: float) -> float:
        """Share of subsets, the empty one included, with a mean of at most so much.

        Parameters
        ----------
        mean : float
            In units.
        """
        return float(self._shares(np.array([mean]))[0])

    def _shares(self, means: FloatArray) -> FloatArray:
        most = np.floor(np.multiply.outer(means, self.sizes) + WHOLE)
        return np.asarray(np.sum(self._below(most - self.first_sum + 1.0), axis=1))

    def _below(self, column: FloatArray) -> FloatArray:
        """Mass of each size before a column, shape (n_means, n_sizes)."""
        width = self.cumulated.shape[1]
        place = np.minimum(np.maximum(column, 0.0), width - 1.0).astype(np.int64)
        place += np.arange(0, self.sizes.size * width, width)
        return np.asarray(self.cumulated.ravel()[place])

    def share_above(self, mean: float) -> float:
        """Share of subsets, the empty one included, with a mean of at least so much."""
        return float(self._shares_above(np.array([mean]))[0])

    def _shares_above(self, means: FloatArray) -> FloatArray:
        least = np.ceil(np.multiply.outer(means, self.sizes) - WHOLE)
        below = self._below(least - self.first_sum)
        return np.asarray(np.sum(self.cumulated[:, -1] - below, axis=1))

    def below(self, sums: FloatArray) -> float:
        """Share of subsets with a sum of at most so much, a bound for each size.

        Parameters
        ----------
        sums : ndarray of float, shape (n_sizes,)
            In units.
        """
        column = np.floor(sums + WHOLE) - self.first_sum + 1.0
        return float(np.sum(self._below(column)))

    def limits(self, tail: float) -> tuple[float, float]:
        """Smallest and largest mean at which a share exceeds the tail."""
        sums = self.first_sum + np.array([0, self.cumulated.shape[1]])
        least = max(1, int(self.sizes[0]))
        reach = float(np.max(np.abs(sums))) / least + 1.0
        tail *= 1.0 + 1e-11  # rounding of the transform is not mass
        low = _first(self._shares, tail, reach, self.sizes)
        high = -_first(
            lambda means: self._shares_above(-means), tail, reach, self.sizes
        )
        return low * self.unit, high * self.unit


def size_and_sum(
    found: Lattice,
    counts: IntArray,
    *,
    sizes: IntArray | None = None,
    largest: int = LARGEST_TABLE,
    most_added: float = LARGEST_SUM,
) -> SizeAndSum | None:
    """Tabulate the joint law, when the lattice of the values is coarse enough.

    Parameters
    ----------
    found : Lattice
        Distinct values in whole numbers.
    counts : ndarray of int, shape (n_values,)
        Number of questions (clusters) per value.
    sizes : ndarray of int, shape (n_values,), optional
        Number of questions in each cluster; 1 by default.
    largest : int
        Largest number of cells of a transform.
    most_added : float
        Largest number of additions.

    Returns
    -------
    SizeAndSum or None
        None where the table would be too large.

    Notes
    -----
    Few values are added to the table one by one. Otherwise the characteristic
    function is Π cos((t k + τ s) / 2)^c times a phase that centres
    the table; it is worked out only where it is not negligible, and inverted by a
    two-dimensional fast Fourier transform.
    """
    k = found.integers
    weights = np.ones(k.size, dtype=np.int64) if sizes is None else sizes
    n = int(np.sum(weights * counts))
    span = int(np.sum(np.abs(k) * counts))
    shape = _width(k, counts, span), _width(weights, counts, n)
    cells = shape[0] * shape[1]
    transformed = FACTOR_COST * 0.5 * cells * k.size
    added = 0.25 * float(n + 1) * float(span + 1) * float(np.sum(counts))
    if largest == 0 or (cells > largest and added > most_added):
        return None
    if cells > largest or added <= transformed:
        first_sum, mass = _added(np.repeat(k, counts), np.repeat(weights, counts), n)
        first_size = 0
    else:
        first_sum, first_size, mass = _transformed(k, weights, counts, shape)
    cumulated = np.zeros((mass.shape[0], mass.shape[1] + 1))
    np.cumsum(mass, axis=1, out=cumulated[:, 1:])
    subset_sizes = first_size + np.arange(mass.shape[0], dtype=np.int64)
    return SizeAndSum(found.unit, subset_sizes, first_sum, cumulated)


def _added(k: IntArray, weights: IntArray, n: int) -> tuple[int, FloatArray]:
    """First sum, and mass of every size and sum, from one value after another.

    The complement of a subset has the size n - s and the sum total - x, so that half
    of the sizes are enough.
    """
    least, total = int(np.sum(k[k < 0])), int(np.sum(k))
    half = n // 2
    mass = np.zeros((half + 1, total - 2 * least + 1))
    mass[0, -least] = 1.0
    low = high = -least  # columns, and
    most = 0  # row, of what is filled
    order = np.argsort(np.abs(k), kind="stable")
    for step, size in zip(k[order].tolist(), weights[order].tolist(), strict=True):
        part = 0.5 * mass[: most + 1, low : high + 1]
        mass[: most + 1, low : high + 1] = part
        kept = part[: max(half + 1 - size, 0)]
        rows = slice(size, size + kept.shape[0])
        mass[rows, low + step : high + 1 + step] += kept
        low, high = min(low, low + step), max(high, high + step)
        most = min(most + size, half)
    return least, np.concatenate((mass, mass[n - half - 1 :: -1, ::-1]))


def _transformed(
    k: IntArray, weights: IntArray, counts: IntArray, shape: tuple[int, int]
) -> tuple[int, int, FloatArray]:
    """First sum, first size and mass, from the characteristic function."""
    from scipy import fft

    n_sums = fft.next_fast_len(shape[0])
    n_sizes = fft.next_fast_len(shape[1], real=True)
    values, sizes = k.astype(np.float64), weights.astype(np.float64)
    row, column, value = _transform(values, sizes, counts, (n_sums, n_sizes))
    total, n = int(np.sum(k * counts)), int(np.sum(weights * counts))
    first_size, first_sum = (n + 1 - n_sizes) // 2, (total + 1 - n_sums) // 2
    turns = row / n_sums * (first_sum - total / 2.0)
    turns = turns + column / n_sizes * (first_size - n / 2.0)
    grid = np.zeros((n_sums, n_sizes // 2 + 1), dtype=np.complex128)
    grid[row, column] = value * np.exp(2j * np.pi * turns)
    return first_sum, first_size, fft.irfft2(grid, s=(n_sums, n_sizes)).T


def _first(
    shares: Callable[[FloatArray], FloatArray],
    tail: float,
    reach: float,
    sizes: IntArray,
) -> float:
    """Find the first attainable mean at which increasing shares exceed a tail."""
    some = sizes[sizes > 0]
    low, high = -reach, reach
    # Narrow enough to hold one sum of each size at most, and few in all.
    narrow = min(0.5 / float(some[-1]), CANDIDATES / float(np.sum(some)))
    while high - low > narrow:
        ends = np.linspace(low, high, PARTS + 1)
        above = np.append(shares(ends[1:-1]) > tail, True)
        place = int(np.argmax(above))
        low, high = float(ends[place]), float(ends[place + 1])
    sums = np.floor(some * high + NEAR)
    near = sums > some * low - NEAR
    candidates = np.unique(sums[near] / some[near])
    exceeding = candidates[shares(candidates) > tail]
    return float(exceeding[0]) if exceeding.size else high


def _width(values: IntArray, counts: IntArray, span: int) -> int:
    spread = 0.5 * float(np.sqrt(np.sum(values.astype(np.float64) ** 2 * counts)))
    return min(int(WINDOW * spread) + 6, span + 1)


def _transform(
    k: FloatArray, weights: FloatArray, counts: IntArray, shape: tuple[int, int]
) -> tuple[IntArray, IntArray, FloatArray]:
    """Row, column and real factor of every frequency that is not negligible."""
    n_sums, n_sizes = shape
    order = np.argsort(-counts, kind="stable")
    t = np.pi * np.arange(n_sums) / n_sums
    tau = np.pi * np.arange(n_sizes // 2 + 1) / n_sizes
    first, second = t * k[order[0]], tau * weights[order[0]]
    cosine = np.outer(np.cos(first), np.cos(second))
    cosine -= np.outer(np.sin(first), np.sin(second))
    least = float(np.exp(-NEGLIGIBLE / counts[order[0]]))
    row, column = np.nonzero(np.abs(cosine) > least)
    log = counts[order[0]] * np.log(np.abs(cosine[row, column]))
    odd = (cosine[row, column] < 0.0) & (counts[order[0]] % 2 == 1)
    for index in order[1:].tolist():
        factor = np.cos(t[row] * k[index] + tau[column] * weights[index])
        size = np.maximum(np.abs(factor), 1e-300)
        log = log + counts[index] * np.log(size)
        odd = odd ^ ((factor < 0.0) & (counts[index] % 2 == 1))
        kept = log > -NEGLIGIBLE
        row, column, log, odd = row[kept], column[kept], log[kept], odd[kept]
    return row, column, np.where(odd, -1.0, 1.0) * np.exp(log)
