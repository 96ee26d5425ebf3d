"""Limits of subset means when a few values dwarf all others.

Beside an outlier the means of subsets fall into groups, by whether it is drawn and by
how many others are, and their law is a staircase. The joint law of the size and the
sum of the others is smooth or tabulated, and gives every step.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from onechange.stats.lattice import find_lattice
from onechange.stats.size_and_sum import SizeAndSum, size_and_sum

__all__ = ["parted_limits"]

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]
IntArray = NDArray[np.int64]

DOMINATING = 60.0  # square of a value against the sum of all other squares
MOST_OUTLIERS = 6
LEAST, MOST = 30, 50_000  # others
SIDES = 8.4  # standard deviations; e^(-z²/2) is 5e-16
NEGLIGIBLE = 60.0  # logarithm of what is left out
SLOW_DECAY, MORE = 60, 8  # few others have a law less smooth, in more frequencies
AT_ONCE = 2**21  # factors held in memory
BISECTIONS = 100


class JointLaw(Protocol):
    """Joint law of the size and the sum of a random subset."""

    @property
    def sizes(self) -> IntArray:
        """Sizes with more than negligible mass, shape (n_sizes,)."""
        ...

    def below(self, sums: FloatArray) -> float:
        """Probability of a sum of at most so much, a bound for each size."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Others on a lattice."""

    table: SizeAndSum

    @property
    def sizes(self) -> IntArray:
        """Sizes of the table."""
        return self.table.sizes

    def below(self, sums: FloatArray) -> float:
        """Look it up."""
        return self.table.below(sums / self.table.unit)


@dataclass(frozen=True, slots=True, eq=False)
class _Series:
    """Others off the lattice: for each size a Fourier series over the sum.

    Notes
    -----
    A sawtooth series, as in `sawtooth`: with values u about their mean, a subset of
    any size has an expected sum of zero, so that
    P(size = s, U ≤ x) = p (1/2 + x/L) - Σ_k Im φ_s(kΔ) e^{-ikΔx} / (πk).
    """

    sizes: IntArray
    mean: float
    mass: FloatArray
    reach: float
    length: float
    terms: ComplexArray

    def below(self, sums: FloatArray) -> float:
        """Sum the series of every size."""
        x = np.clip(sums - self.mean * self.sizes, -self.reach, self.reach)
        k = np.arange(1.0, self.terms.shape[1] + 1.0)
        turns = np.exp(np.multiply.outer(-2j * np.pi / self.length * x, k))
        waves = np.sum((self.terms * turns).imag)
        return float(np.sum(self.mass * (0.5 + x / self.length)) - waves)


def parted_limits(
    values: FloatArray, counts: IntArray, tail: float
) -> tuple[float, float] | None:
    """Means below and above which no more than a tail of all subsets lies.

    Parameters
    ----------
    values : ndarray of float, shape (n_values,)
        Distinct differences.
    counts : ndarray of int, shape (n_values,)
        Number of questions with each.
    tail : float
        Half of the error level.

    Returns
    -------
    low, high : float, or None
        None where no value dwarfs the others, or too few or too many are left.
    """
    parts = _part(values, counts)
    if parts is None:
        return None
    outliers, others, left = parts
    n = int(np.sum(counts))
    mean = float(np.sum(values * counts)) / n
    limits = []
    for sign in (1.0, -1.0):
        law = _joint_law(sign * others, left)
        end = float(np.min(sign * values))
        limits.append(_first(law, sign * outliers, tail, end, sign * mean))
    return limits[0], -limits[1]


def _part(
    values: FloatArray, counts: IntArray
) -> tuple[FloatArray, FloatArray, IntArray] | None:
    """Outliers one by one, and the distinct others with their counts."""
    left = counts.copy()
    outliers: list[float] = []
    while int(np.sum(left)) >= LEAST and len(outliers) <= MOST_OUTLIERS:
        weight = left / np.sum(left)
        mean = float(np.sum(values * weight))
        far = int(np.argmax(np.where(left > 0, np.abs(values - mean), -1.0)))
        rest = left.copy()
        rest[far] -= 1
        centre = float(np.sum(values * rest)) / float(np.sum(rest))
        square = float(np.sum((values - centre) ** 2 * rest))
        if (values[far] - centre) ** 2 <= DOMINATING * square:
            break
        outliers.append(float(values[far]))
        left = rest
    used = left > 0
    enough = LEAST <= int(np.sum(left)) <= MOST and np.count_nonzero(used) > 1
    if not outliers or len(outliers) > MOST_OUTLIERS or not enough:
        return None
    return np.array(outliers), values[used], left[used]


def _joint_law(values: FloatArray, counts: IntArray) -> JointLaw:
    lattice = find_lattice(values)
    if lattice is not None:
        table = size_and_sum(lattice, counts)
        if table is not None:
            return _Table(table)
    return _series(values, counts)


def _series(values: FloatArray, counts: IntArray) -> _Series:
    n = int(np.sum(counts))
    mean = float(np.sum(values * counts)) / n
    u = values - mean
    square = float(np.sum(u**2 * counts))
    spread = 0.5 * np.sqrt(square * n / (n - 1.0))
    reach = SIDES * spread
    length = 2.06 * reach
    n_terms = int(np.ceil(SIDES * length / (2.0 * np.pi * spread)))
    if n <= SLOW_DECAY:
        n_terms *= MORE
    half = int(np.ceil(0.5 * SIDES * np.sqrt(n))) + 1
    sizes = np.arange(max(0, n // 2 - half), min(n, (n + 1) // 2 + half) + 1)
    t = 2.0 * np.pi / length * np.arange(n_terms + 1.0)
    j = np.arange(sizes.size) - sizes.size // 2
    tau = 2.0 * np.pi / sizes.size * j
    row, column = np.nonzero(
        np.add.outer(square * t**2, n * tau**2) <= 8.0 * NEGLIGIBLE
        if n > SLOW_DECAY
        else np.ones((t.size, tau.size), dtype=bool)
    )
    function = np.ones(row.size)
    step = max(1, AT_ONCE // max(1, row.size))
    for first in range(0, u.size, step):
        some = slice(first, first + step)
        angle = np.multiply.outer(u[some], 0.5 * t[row]) + 0.5 * tau[column]
        factor = np.cos(angle)
        several = counts[some] > 1
        factor[several] **= counts[some][several, None]
        function *= np.multiply.reduce(factor, axis=0)
    grid = np.zeros((t.size, tau.size), dtype=np.complex128)
    grid[row, column] = function * np.exp(0.5j * n * tau[column])
    back = np.exp(-1j * np.multiply.outer(tau, sizes)) / sizes.size
    by_size = (grid @ back).T
    k = np.arange(1.0, n_terms + 1.0)
    mass = by_size[:, 0].real
    return _Series(sizes, mean, mass, reach, length, by_size[:, 1:] / (np.pi * k))


def _first(
    law: JointLaw, outliers: FloatArray, tail: float, low: float, high: float
) -> float:
    """Find the first mean at which the share of subsets exceeds the tail."""
    drawn = np.array(list(product((0.0, 1.0), repeat=outliers.size)))
    sums, more = drawn @ outliers, drawn.sum(axis=1)
    sizes = law.sizes

    def share(mean: float) -> float:
        parts = [
            law.below(mean * (sizes + m) - s) for m, s in zip(more, sums, strict=True)
        ]
        return sum(parts) / len(parts)

    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if share(middle) > tail:
            high = middle
        else:
            low = middle
    return high
