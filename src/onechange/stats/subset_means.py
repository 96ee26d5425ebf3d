"""Quantiles of the means of random subsets: the limits of the sign-flip interval."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from onechange.stats.enumeration import kth_smallest_mean, n_states
from onechange.stats.exact import SERIES_VALUES, group, subset_tail
from onechange.stats.inversion import Tail, upper_tail
from onechange.stats.series import SeriesSignLaw, power_sums
from onechange.stats.size_and_sum import size_and_sum

__all__ = ["subset_mean_limits"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Share = Callable[[float, bool], Tail]

LISTED_STATES = 2.0**20  # subsets whose means are listed one by one
ACCURACY = 1e-9  # of the standard error
NEAR = 1e-7  # probits within which one more step reaches the root


def subset_mean_limits(
    sums: FloatArray, sizes: FloatArray, *, tail: float
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
    table = size_and_sum(values, counts) if plain else None
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
    low = _first_above(share, tail, mean, spread, float(np.min(ratios)))
    high = -_first_above(opposite, tail, -mean, spread, -float(np.max(ratios)))
    return low, high


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
    def share(delta: float, lobes: bool) -> Tail:
        moved = values - delta * sizes
        return subset_tail(moved, counts, lattice=False, lobes=lobes)

    return share


def _series_shares(values: FloatArray, counts: IntArray) -> tuple[Share, Share]:
    """Shares of subset means at or below δ, and of the opposite values."""
    base = power_sums(values, counts)
    n = int(np.sum(counts))
    direct = _direct_share(values, np.ones(values.size), counts)

    def share(delta: float, lobes: bool) -> Tail:
        law = SeriesSignLaw.of(base, base.centre - delta)
        if law is None:
            return direct(delta, lobes)
        point = n * (base.centre - delta)
        if point >= 0.0:
            return upper_tail(law, point, lobes=lobes)
        return upper_tail(law, -point, lobes=lobes).complement()

    def opposite(delta: float, lobes: bool) -> Tail:
        return share(-delta, lobes).complement()

    return share, opposite


def _first_above(
    share: Share, tail: float, mean: float, spread: float, smallest: float
) -> float:
    """Find where an increasing step function first exceeds the tail."""
    from scipy.special import ndtri

    target = float(ndtri(tail))

    def gap(delta: float, lobes: bool) -> float:
        z = float(ndtri(max(share(delta, lobes).probability, 1e-300)))
        return z - target

    guess = _secant(gap, mean + target * spread, spread)
    if guess is not None and abs(last := gap(guess, True)) < NEAR:
        return guess - last * spread
    return _bracketed(gap, smallest, mean, ACCURACY * spread)


def _secant(
    gap: Callable[[float, bool], float], start: float, spread: float
) -> float | None:
    """Solve by secant steps from the main lobe alone; None without convergence."""
    here, value, slope = start, gap(start, False), 1.0 / spread
    for _ in range(12):
        if abs(value) < 1e-10:
            return here
        there = here - value / slope
        value_there = gap(there, False)
        if there != here and value_there != value:
            slope = (value_there - value) / (there - here)
        if slope <= 0.0 or abs(value_there) > 3.0:
            return None
        here, value = there, value_there
    return here


def _bracketed(
    gap: Callable[[float, bool], float], low: float, high: float, accuracy: float
) -> float:
    """Find where a step function becomes positive, halving at least every third step.

    The value at `low` is taken as negative and that at `high` as positive.
    """
    below, above = -9.0, 3.0
    for step in range(200):
        if high - low <= accuracy:
            break
        share = 0.5 if step % 3 == 2 else below / (below - above)
        middle = low + (high - low) * min(max(share, 1e-3), 1.0 - 1e-3)
        value = gap(middle, True)
        if value > 0.0:
            high, above = middle, value
        else:
            low, below = middle, value
    return high
