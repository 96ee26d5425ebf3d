"""Quantiles of the means of random subsets: the limits of the sign-flip interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onechange.stats.enumeration import (
    FEW_STATES,
    MANY_STATES,
    first_mean_above,
    kth_smallest_mean,
    n_states,
    states_per_half,
)
from onechange.stats.exact import Route, group, subset_tail
from onechange.stats.inversion import NEGLIGIBLE, NO_CENTRES, REACH
from onechange.stats.lattice import Lattice, find_lattice
from onechange.stats.mean_shares import mean_shares, normal_density, smooth_limits
from onechange.stats.parted import parted_limits
from onechange.stats.roots import Bracket, first_above
from onechange.stats.size_and_sum import LARGEST_SUM, LARGEST_TABLE, size_and_sum

__all__ = ["subset_mean_limits", "subset_mean_shares"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Units = tuple[FloatArray, FloatArray, IntArray]  # sums, sizes, how many of each

FINEST = 3e6  # j n k of the last lobe that moves a limit noticeably
MANY_LOBES = 20_000.0
FINE = 1e-12  # of a limit, in deviations of the values, outliers among them
SAME_MEAN = 1e-13  # relative rounding noise of a cluster's mean
TRIES = 2  # by the slope of the normal law, which outliers do not follow
SMALL_TABLE, SMALL_SUM = 2**14, 2**22  # made in some milliseconds
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
    if sums.size * np.log(2.0) < -np.log(tail) * (1.0 - 1e-12):
        return -np.inf, np.inf
    values, group_sizes, counts = _group_units(sums, sizes)
    lattice = find_lattice(values)
    exact = _exact_limits((values, group_sizes, counts), lattice, tail, largest_table)
    if exact is not None:
        return exact
    states = states_per_half(counts)
    if states > MANY_STATES and bool(np.all(group_sizes == 1.0)):
        parted = parted_limits(values, counts, tail)
        if parted is not None:
            return parted
    units = values, group_sizes, counts
    shares = mean_shares(*units)
    few = states <= FEW_STATES
    found = smooth_limits(shares, tail, rough=few)
    if found.accurate and not few and not _has_steps(units, lattice, found.limits):
        return found.limits
    low, high = found.limits
    opposite = -values, group_sizes, counts
    if states <= MANY_STATES:
        here, there = (
            _counted_limit(units, tail, low, shares.spread),
            _counted_limit(opposite, tail, -high, shares.spread),
        )
    else:
        here, there = (
            _stepped_limit(units, tail, low, shares.spread, lattice),
            _stepped_limit(opposite, tail, -high, shares.spread, lattice),
        )
    return here, -there


def subset_mean_shares(
    sums: FloatArray, sizes: FloatArray, mean: float
) -> tuple[float, float] | None:
    """Shares of subsets with a mean of at most, and of at least, so much.

    Parameters
    ----------
    sums, sizes : ndarray of float, shape (n_units,)
        As in `subset_mean_limits`.
    mean : float

    Returns
    -------
    tuple of float, or None
        The empty subset counts in both. None where sums are on no lattice, or one
        too fine for their joint law with the sizes to be tabulated.
    """
    values, group_sizes, counts = _group_units(sums, sizes)
    lattice = find_lattice(values)
    if lattice is None:
        return None
    whole = np.rint(group_sizes).astype(np.int64)
    table = size_and_sum(lattice, counts, sizes=whole)
    if table is None:
        return None
    return table.share(mean / lattice.unit), table.share_above(mean / lattice.unit)


def _exact_limits(
    units: Units, lattice: Lattice | None, tail: float, largest_table: int
) -> tuple[float, float] | None:
    """Limits where subsets can be listed or tabulated; None where they cannot."""
    values, sizes, counts = units
    means = values / sizes
    if np.ptp(means) <= SAME_MEAN * float(np.max(np.abs(means))):
        return float(means[0]), float(means[0])  # the mean of every subset
    if n_states(counts) <= LISTED_STATES:
        low = kth_smallest_mean(values, sizes, counts, tail=tail)
        return low, -kth_smallest_mean(-values, sizes, counts, tail=tail)
    if lattice is None:
        return None
    whole = np.rint(sizes).astype(np.int64)
    most = LARGEST_SUM
    if states_per_half(counts) <= FEW_STATES:  # soon counted without a table, too
        largest_table, most = min(largest_table, SMALL_TABLE), SMALL_SUM
    table = size_and_sum(
        lattice, counts, sizes=whole, largest=largest_table, most_added=most
    )
    return None if table is None else table.limits(tail)


def _has_steps(
    units: Units, lattice: Lattice | None, limits: tuple[float, float]
) -> bool:
    """Whether values on a fine lattice make the share rise in steps at a limit."""
    if lattice is None:
        return False
    centres = [_lobe_centres(lattice, *units[1:], delta) for delta in limits]
    return any(some.size for some in centres)


def _stepped_limit(
    units: Units, tail: float, start: float, spread: float, lattice: Lattice | None
) -> float:
    """Solve for the limit by shares that cost more, steps and outliers among them."""
    values, sizes, counts = units

    def share(delta: float, lobes: bool) -> float:
        centres = NO_CENTRES
        if lobes and lattice is not None:
            centres = _lobe_centres(lattice, sizes, counts, delta)
        route = Route(False, REACH if lobes else 0.0, centres, FEW_STATES, False)
        return subset_tail(values - delta * sizes, counts, route).probability

    return first_above(
        share,
        tail,
        start=start,
        spread=spread,
        bounds=_bounds(units),
        accuracy=FINE * float(np.sqrt(np.sum(counts))),
    )[1]


def _counted_limit(units: Units, tail: float, start: float, spread: float) -> float:
    """Return the first subset mean whose share exceeds the tail."""
    # Narrow enough for the subset means within to be listed.
    width = spread * min(0.3, 2e4 / n_states(units[2]))
    slope = normal_density(tail) / spread
    for _ in range(TRIES):
        bracket = start - width, start + width
        mean, excess = first_mean_above(*units, bracket=bracket, tail=tail)
        if mean is not None:
            return mean
        move = float(np.clip(-excess / slope, -spread, spread))
        start += move + float(np.copysign(width, move))
    low, high = _bracket(units, tail, start, spread, width / spread)
    width = max(width, high - low)
    while True:
        mean, excess = first_mean_above(*units, bracket=(low, high), tail=tail)
        if mean is not None:
            return mean
        if excess == 0.0:  # too many means that nearly agree
            middle = 0.5 * (low + high)
            if not low < middle < high:
                return high
            above = _counted_share(units, middle) > tail
            low, high = (low, middle) if above else (middle, high)
        else:
            low, high = (low - width, low) if excess > 0.0 else (high, high + width)
            width *= 4.0


def _bracket(
    units: Units, tail: float, start: float, spread: float, accuracy: float
) -> Bracket:
    """Enclose a limit by counting, where an outlier makes the share rise in waves."""
    values, sizes, counts = units

    def smooth(delta: float) -> float:
        route = Route(lattice=False, most_states=0.0, fallback=False)
        return subset_tail(values - delta * sizes, counts, route).probability

    return first_above(
        lambda delta, lobes: _counted_share(units, delta),
        tail,
        start=start,
        spread=spread,
        bounds=_bounds(units),
        smooth=smooth if states_per_half(counts) > FEW_STATES else None,
        accuracy=accuracy,
    )


def _counted_share(units: Units, delta: float) -> float:
    values, sizes, counts = units
    route = Route(lattice=False, most_states=MANY_STATES)
    return subset_tail(values - delta * sizes, counts, route).probability


def _bounds(units: Units) -> Bracket:
    """Return the smallest mean of a unit, and that of all, which a limit is below."""
    values, sizes, counts = units
    mean = float(np.sum(values * counts)) / float(np.sum(sizes * counts))
    return float(np.min(values / sizes)), mean


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


def _lobe_centres(
    lattice: Lattice, sizes: FloatArray, counts: IntArray, delta: float
) -> FloatArray:
    """Frequencies at which values on a lattice, moved by δ, come back to one.

    Without the j-th of them a step of the share at a δ of j-th parts of the unit
    would be missed, which moves a limit by 14 / (j n k) standard deviations of the
    values, k their root mean square in units.
    """
    j = np.arange(1.0, _last_lobe(lattice, counts))
    log = np.zeros(j.size)
    distinct, place = np.unique(sizes, return_inverse=True)
    for size, count in zip(distinct, np.bincount(place, weights=counts), strict=True):
        cosine = np.abs(np.cos(np.pi * j * (delta / lattice.unit) * size))
        log += count * np.log(np.maximum(cosine, 1e-300))
    return np.asarray(np.pi / lattice.unit * j[log > -NEGLIGIBLE])


def _last_lobe(lattice: Lattice, counts: IntArray) -> float:
    n = float(np.sum(counts))
    scale = np.sqrt(np.sum(lattice.integers.astype(np.float64) ** 2 * counts) / n)
    return min(FINEST / (n * float(scale)), MANY_LOBES)
