"""One stream of sign flips for many columns: whole questions or clusters flip.

Every column of a family (a metric in a slice, for a variant) sees the same flips, so
that their dependence is kept. Sums are exact: the values of a column are whole
multiples of one power of two, and no sum of them leaves 53 bits. They therefore do
not depend on the order in which a matrix product adds, nor on its threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Flips",
    "UnitColumns",
    "flips",
    "numbered",
    "on_grid",
    "random_groups",
    "unit_columns",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MAX_UNITS = 16_384  # more are joined at random to so many groups:
N_GROUPS = 4_096  # it bounds time and memory
BATCH = 128  # flips held at once, a multiple of 8
MANTISSA = 52

_NOTHING = np.empty(0, dtype=np.int64)
_OCTETS = 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) - 1.0


@dataclass(frozen=True, slots=True, eq=False)
class UnitColumns:
    """Columns over the same units, such as the metrics of one slice.

    Parameters
    ----------
    units : ndarray of int, shape (n_rows,)
        Numbers of the units that flip, each once.
    values : ndarray of float, shape (n_rows, n_columns)
        Sum of the differences of each unit; 0 where a column has no pair.
    sizes : ndarray of float, shape (n_rows, n_columns)
        Number of pairs behind each sum.
    """

    units: IntArray
    values: FloatArray
    sizes: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Flips:
    """A stream of sign assignments.

    Parameters
    ----------
    n_units : int
    n_flips : int
        Number of assignments in the stream.
    exact : bool
        Whether they are all there are.
    mirrored : bool
        Whether one assignment stands for its mirror image too.
    seed : int
        Used unless exact.
    """

    n_units: int
    n_flips: int
    exact: bool
    seed: int
    mirrored: bool = True

    def batches(self) -> Iterator[FloatArray]:
        """Yield the signs, ±1, in parts of shape (n_units, n_part)."""
        if self.exact:
            yield _all_signs(self.n_units, mirrored=self.mirrored)
            return
        rng = np.random.default_rng(self.seed)
        for start in range(0, self.n_flips, BATCH):
            drawn = rng.bytes(self.n_units * BATCH // 8)
            octets = np.frombuffer(drawn, dtype=np.uint8)
            signs = np.take(_OCTETS, octets, axis=0).reshape(self.n_units, BATCH)
            yield signs[:, : min(BATCH, self.n_flips - start)]

    def pvalue(self, n_extreme: int) -> float:
        """p-value when so many flips of the stream are at least as extreme."""
        if self.exact:  # the identity is one of the stream
            return n_extreme / self.n_flips
        return (n_extreme + 1) / (self.n_flips + 1)


def flips(
    n_units: int, *, n_resamples: int = 9999, seed: int = 7, mirrored: bool = True
) -> Flips:
    """Plan the flips of some units.

    Parameters
    ----------
    n_units : int
        Number of questions or clusters.
    n_resamples : int
        Number of sampled flips.
    seed : int
        Seed of the random numbers.
    mirrored : bool
        Whether the statistic is the same when all signs change.

    Returns
    -------
    Flips
        All assignments when there are at most ``n_resamples + 1``.

    Examples
    --------
    >>> flips(3).n_flips, flips(3).exact, flips(40).n_flips
    (4, True, 9999)
    """
    if n_units < 63 and 2**n_units <= n_resamples + 1:
        n_flips = 2 ** max(n_units - mirrored, 0)
        return Flips(n_units, n_flips, True, seed, mirrored)
    return Flips(n_units, n_resamples, False, seed, mirrored)


def unit_columns(
    units: IntArray, difference: FloatArray, paired: NDArray[np.bool_]
) -> UnitColumns:
    """Add up the differences of each unit.

    Parameters
    ----------
    units : ndarray of int, shape (n_questions,)
        Unit of each question of the slice: its cluster, or its own number.
    difference : ndarray of float, shape (n_questions, n_columns)
        Variant minus baseline; ignored where not paired.
    paired : ndarray of bool, shape (n_questions, n_columns)

    Returns
    -------
    UnitColumns
    """
    values = np.where(paired, difference, 0.0)
    sizes = paired.astype(np.float64)
    columns = UnitColumns(units, values, sizes)
    in_order = bool(np.all(units[1:] > units[:-1]))
    return columns if in_order else _added(columns, units)


def numbered(
    columns: Sequence[UnitColumns], *, seed: int = 7
) -> tuple[list[UnitColumns], int]:
    """Renumber units from 0, and join them at random where there are very many.

    Parameters
    ----------
    columns : sequence of UnitColumns
    seed : int
        Seed of the joining.

    Returns
    -------
    columns : list of UnitColumns
        In the same order.
    n_units : int
        At most `MAX_UNITS`.

    Notes
    -----
    Units are numbered in the order in which columns name them, the smallest columns
    first, and the rows of each column are put in that order: the slices of a breakdown
    are then contiguous, and so is the whole. Flipping random groups of units together
    is a subgroup of all flips, so a test stays exact; its resolution is that of
    `N_GROUPS` units.
    """
    by_size = sorted(columns, key=lambda part: part.units.size)
    named = np.concatenate([part.units for part in by_size] or [_NOTHING])
    place = np.arange(named.size)
    first = np.empty(int(named.max(initial=-1)) + 1, dtype=np.int64)
    first[named[::-1]] = place[::-1]  # the first place is written last
    order = named[first[named] == place]
    number = np.empty(first.size, dtype=np.int64)
    number[order] = np.arange(order.size)
    if order.size <= MAX_UNITS:
        return [_renumbered(part, number) for part in columns], order.size
    group = random_groups(order.size, seed=seed)
    return [_added(part, group[number[part.units]]) for part in columns], N_GROUPS


def random_groups(n_units: int, *, seed: int = 7) -> IntArray:
    """Join very many units to `N_GROUPS` random groups; few stay themselves.

    Parameters
    ----------
    n_units : int
    seed : int

    Returns
    -------
    ndarray of int, shape (n_units,)
        Group of each unit.
    """
    if n_units <= MAX_UNITS:
        return np.arange(n_units, dtype=np.int64)
    shuffled = np.random.default_rng(seed).permutation(n_units)
    return np.asarray(shuffled % N_GROUPS, dtype=np.int64)


def on_grid(values: FloatArray) -> FloatArray:
    """Round each column to multiples of one power of two, so that its sums are exact.

    Parameters
    ----------
    values : ndarray of float, shape (n_rows, n_columns)

    Returns
    -------
    ndarray of float, shape (n_rows, n_columns)
        Changed by at most 2^-52 of the sum of all absolute values of the column.
    """
    total = np.sum(np.abs(values), axis=0)
    total[total == 0] = 1.0
    unit = np.ldexp(1.0, np.frexp(total)[1] - MANTISSA)
    return np.asarray(np.rint(values / unit) * unit)


def _all_signs(n_units: int, *, mirrored: bool) -> FloatArray:
    """All sign assignments; mirrored: those in which the last unit keeps its sign."""
    free = max(n_units - mirrored, 0)
    codes = np.arange(2**free, dtype=np.int64)
    bits = (codes[None, :] >> np.arange(n_units, dtype=np.int64)[:, None]) & 1
    return np.asarray(1.0 - 2.0 * bits)


def _renumbered(columns: UnitColumns, number: IntArray) -> UnitColumns:
    units = number[columns.units]
    if np.all(units[1:] > units[:-1]):
        return replace(columns, units=units)
    order = np.argsort(units)
    return UnitColumns(units[order], columns.values[order], columns.sizes[order])


def _added(columns: UnitColumns, units: IntArray) -> UnitColumns:
    """Add up the rows of each unit, in their order."""
    present = np.zeros(int(units.max(initial=-1)) + 1, dtype=np.bool_)
    present[units] = True
    found = np.flatnonzero(present)
    codes = (np.cumsum(present) - 1)[units]
    values, sizes = (
        np.column_stack(
            [np.bincount(codes, weights=column, minlength=found.size) for column in x.T]
        ).astype(np.float64)
        for x in (columns.values, columns.sizes)
    )
    return UnitColumns(found.astype(np.int64), values, sizes)
