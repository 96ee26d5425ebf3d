"""Quantiles of the means of random subsets: the limits of the sign-flip interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.enumeration import (
    MANY_STATES,
    first_mean_above,
    kth_smallest_mean,
    n_states,
    states_per_half,
)
from onechange.stats.exact import (
    SERIES_VALUES,
    group,
    smooth_subset_tail,
    subset_tail,
)
from onechange.stats.inversion import NEGLIGIBLE, NO_CENTRES, upper_tail
from onechange.stats.lattice import Lattice, find_lattice
from onechange.stats.roots import Bracket, first_above, shrink
from onechange.stats.series import SeriesSignLaw, power_sums
from onechange.stats.size_and_sum import LARGEST_TABLE, size_and_sum

__all__ = ["subset_mean_limits"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Share = Callable[[float, bool], float]

FINEST = 1e7  # j n k of the last lobe that moves a limit
MANY_LOBES = 20_000.0
ACCURACY = 2e-7  # of a limit, in standard deviations of the values
LISTED_STATES = 2.0**14  # subsets whose means are listed one by one


def subset_mean_limits(
    sums: FloatArray,
    sizes: FloatArray,
    *,
    tail: float,
    largest_table: int = LARGEST_TABLE,
) -> tuple[float, float]:
    """Means below and above which no more than a tail of all subsets lies.

    Parameters
    ----------
    sums : ndarray of float, shape (n_units,)
        Sum of the differences of each question or cluster.
    sizes : ndarray of float, shape (n_units,)
        Number of questions of each.
    tail : float
        Half of the error level.
    largest_table : int
        Cells of the joint table of sizes and sums, above which it is not made.

    Returns
    -------
    low, high : float
        Infinite when the empty subset alone weighs more than the tail.

    Notes
    -----
    The share p(δ) of subsets whose mean is δ or less is the one-sided sign-flip
    p-value of the hypothesis that the mean is δ. It steps up with δ; the lower limit
    is the first δ at which it exceeds the tail.
    """
    from scipy.special import ndtri

    if sums.size * np.log(2.0) < -np.log(tail) * (1.0 - 1e-12):
        return -np.inf, np.inf
    values, group_sizes, counts = _group_units(sums, sizes)
    if values.size == 1:
        mean = float(values[0] / group_sizes[0])
        return mean, mean
    if n_states(counts) <= LISTED_STATES:
        low = kth_smallest_mean(values, group_sizes, counts, tail=tail)
        high = -kth_smallest_mean(-values, group_sizes, counts, tail=tail)
        return low, high
    plain = bool(np.all(group_sizes == 1.0))
    table = size_and_sum(values, counts, largest=largest_table) if plain else None
    if table is not None:
        return table.limits(tail)
    total = float(np.sum(group_sizes * counts))
    mean = float(np.sum(values * counts)) / total
    square = np.sum((values - mean * group_sizes) ** 2 * counts)
    spread = float(np.sqrt(square)) / total
    ratios = values / group_sizes
    if plain and values.size > SERIES_VALUES:
        share, opposite = _series_shares(values, counts)
    else:
        share = _direct_share(values, group_sizes, counts)
        opposite = _direct_share(-values, group_sizes, counts)
    ends = float(np.min(ratios)), float(np.max(ratios))
    start = float(ndtri(tail)) * spread
    search = _Search(values, group_sizes, counts, tail, spread)
    low = search.first(share, mean + start, (ends[0], mean))
    high = -search.opposite().first(opposite, start - mean, (-ends[1], -mean))
    return low, high


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """Units and tail of one limit."""

    values: FloatArray
    sizes: FloatArray
    counts: IntArray
    tail: float
    spread: float

    def opposite(self) -> _Search:
        return _Search(-self.values, self.sizes, self.counts, self.tail, self.spread)

    def first(self, share: Share, start: float, bounds: Bracket) -> float:
        """Return the first mean whose share exceeds the tail."""
        if states_per_half(self.counts) > MANY_STATES:
            return first_above(
                share,
                self.tail,
                start=start,
                spread=self.spread,
                bounds=bounds,
                accuracy=ACCURACY * float(np.sqrt(np.sum(self.counts))),
            )[1]

        def smooth(delta: float) -> float:
            moved = self.values - delta * self.sizes
            return smooth_subset_tail(moved, self.counts).probability

        # Narrow enough for the subset means within to be listed.
        accuracy = min(0.3, 1e6 / n_states(self.counts))
        bracket = first_above(
            share,
            self.tail,
            start=start,
            spread=self.spread,
            bounds=bounds,
            smooth=smooth,
            accuracy=accuracy,
        )
        units = self.values, self.sizes, self.counts
        while True:
            mean = first_mean_above(*units, bracket=bracket, tail=self.tail)
            if mean is not None:
                return mean
            width = (bracket[1] - bracket[0]) / 100.0
            narrower = shrink(share, self.tail, bracket, width)
            if narrower == bracket:
                return bracket[1]
            bracket = narrower


def _group_units(
    sums: FloatArray, sizes: FloatArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Distinct (sum, size) units with their counts."""
    if bool(np.all(sizes == 1.0)):
        values, counts = group(sums)
        return values, np.ones(values.size), counts
    units = np.column_stack((sums, sizes)).astype(np.float64)
    pairs, counts = np.unique(units, axis=0, return_counts=True)
    return pairs[:, 0], pairs[:, 1], counts.astype(np.int64)


def _direct_share(values: FloatArray, sizes: FloatArray, counts: IntArray) -> Share:
    found = find_lattice(values)

    def share(delta: float, lobes: bool) -> float:
        centres = NO_CENTRES
        if lobes and found is not None:
            centres = _lobe_centres(found, sizes, counts, delta)
        moved = values - delta * sizes
        return subset_tail(
            moved, counts, lattice=False, lobes=lobes, centres=centres
        ).probability

    return share


def _lobe_centres(
    lattice: Lattice, sizes: FloatArray, counts: IntArray, delta: float
) -> FloatArray:
    """Frequencies at which values on a lattice, moved by δ, come back to one.

    Without the j-th of them a step of the share at a δ of j-th parts of the unit
    would be missed, which moves a limit by 14 / (j n k) standard deviations of the
    values, k their root mean square in units.
    """
    n = float(np.sum(counts))
    scale = float(np.sqrt(np.sum(lattice.integers.astype(float) ** 2 * counts) / n))
    most = min(FINEST / (n * scale), MANY_LOBES)
    j = np.arange(1.0, most)
    log = np.zeros(j.size)
    distinct, place = np.unique(sizes, return_inverse=True)
    for size, count in zip(distinct, np.bincount(place, weights=counts), strict=True):
        cosine = np.abs(np.cos(np.pi * j * (delta / lattice.unit) * size))
        log += count * np.log(np.maximum(cosine, 1e-300))
    return np.asarray(np.pi / lattice.unit * j[log > -NEGLIGIBLE])


def _series_shares(values: FloatArray, counts: IntArray) -> tuple[Share, Share]:
    """Shares of subset means at or below δ, and of the opposite values."""
    base = power_sums(values, counts)
    n = int(np.sum(counts))
    direct = _direct_share(values, np.ones(values.size), counts)

    found = find_lattice(values)
    one = np.ones(values.size)

    def share(delta: float, lobes: bool) -> float:
        law = SeriesSignLaw.of(base, base.centre - delta)
        if law is None:
            return direct(delta, lobes)
        centres = NO_CENTRES
        if lobes and found is not None:
            centres = _lobe_centres(found, one, counts, delta)
        point = n * (base.centre - delta)
        if point >= 0.0:
            return upper_tail(law, point, lobes=lobes, centres=centres).probability
        tail = upper_tail(law, -point, lobes=lobes, centres=centres)
        return tail.complement().probability

    def opposite(delta: float, lobes: bool) -> float:
        return 1.0 - share(-delta, lobes)

    return share, opposite
