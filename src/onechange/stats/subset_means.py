"""Quantiles of the means of random subsets: the limits of the sign-flip interval."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from onechange.stats.enumeration import (
    FEW_STATES,
    LARGEST_HALF,
    MANY_STATES,
    first_mean_above,
    kth_smallest_mean,
    n_states,
    states_per_half,
)
from onechange.stats.exact import (
    ACCEPTED,
    MAIN_LOBE,
    SERIES_VALUES,
    Route,
    group,
    subset_tail,
)
from onechange.stats.inversion import NEGLIGIBLE, NO_CENTRES, REACH, Tail, upper_tail
from onechange.stats.lattice import Lattice, find_lattice
from onechange.stats.roots import Bracket, first_above, shrink
from onechange.stats.series import SeriesSignLaw, power_sums
from onechange.stats.size_and_sum import LARGEST_TABLE, size_and_sum

__all__ = ["subset_mean_limits"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Share = Callable[[float, float], Tail]
Units = tuple[FloatArray, FloatArray, IntArray]  # sums, sizes, how many of each

FINEST = 3e6  # j n k of the last lobe that moves a limit noticeably
MANY_LOBES = 20_000.0
ACCURACY = 5e-7  # of a limit, in standard deviations of the values
NO_ERROR = 1e-11  # without a lobe that counts, none is looked for again
SAME_MEAN = 1e-13  # relative rounding noise of a cluster's mean
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
    lattice = find_lattice(values)
    exact = _exact_limits((values, group_sizes, counts), lattice, tail, largest_table)
    if exact is not None:
        return exact
    plain = bool(np.all(group_sizes == 1.0))
    total = float(np.sum(group_sizes * counts))
    mean = float(np.sum(values * counts)) / total
    square = np.sum((values - mean * group_sizes) ** 2 * counts)
    spread = float(np.sqrt(square)) / total
    units = values, group_sizes, counts
    opposite = -values, group_sizes, counts
    ratios = values / group_sizes
    z = float(ndtri(tail))
    # The normal law of Σ ±(v - δ s), whose variance grows with δ, too.
    share_of_shift = z * z * float(np.sum(group_sizes**2 * counts)) / total**2
    start = z * spread / float(np.sqrt(max(1.0 - share_of_shift, 0.25)))
    ends = float(np.min(ratios)), float(np.max(ratios))
    if plain and values.size > SERIES_VALUES:
        share, other = _series_shares(values, counts, lattice)
    else:
        share, other = (_direct_share(some, lattice) for some in (units, opposite))
    reach = _reach(counts, share, mean + start)
    if reach == 0.0 and lattice is not None and _last_lobe(lattice, counts) >= 2.0:
        reach = REACH
    if reach is None:
        low = _counted_limit(units, tail, mean + start, spread, (ends[0], mean))
        high = _counted_limit(opposite, tail, start - mean, spread, (-ends[1], -mean))
        return low, -high

    def limit(some: Share, guess: float, bounds: Bracket) -> float:
        return first_above(
            lambda delta, lobes: some(delta, reach if lobes else 0.0).probability,
            tail,
            start=guess,
            spread=spread,
            bounds=bounds,
            accuracy=ACCURACY * float(np.sqrt(np.sum(counts))),
            lobes=reach > 0.0,
        )[1]

    low = limit(share, mean + start, (ends[0], mean))
    return low, -limit(other, start - mean, (-ends[1], -mean))


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
    table = size_and_sum(lattice, counts, sizes=whole, largest=largest_table)
    return None if table is None else table.limits(tail)


def _reach(counts: IntArray, share: Share, start: float) -> float | None:
    """How far to look for lobes, or None when subsets are to be counted instead."""
    states = states_per_half(counts)
    if states <= FEW_STATES:
        return None
    tail = share(start, REACH)
    error = tail.error * tail.probability
    if error <= NO_ERROR:
        apart = abs(share(start, 0.0).probability - tail.probability)
        return 0.0 if apart <= NO_ERROR else REACH
    if error <= 2.0 * ACCEPTED:
        return REACH
    return None if states <= MANY_STATES else 10.0 * REACH


def _counted_limit(
    units: Units, tail: float, start: float, spread: float, bounds: Bracket
) -> float:
    """Return the first subset mean whose share exceeds the tail."""
    values, sizes, counts = units
    exact = Route(lattice=False, most_states=LARGEST_HALF)

    def share(delta: float, lobes: bool) -> float:
        return subset_tail(values - delta * sizes, counts, exact).probability

    def smooth(delta: float) -> float:
        return subset_tail(values - delta * sizes, counts, MAIN_LOBE).probability

    bracket = first_above(
        share,
        tail,
        start=start,
        spread=spread,
        bounds=bounds,
        smooth=smooth,
        # Narrow enough for the subset means within to be listed.
        accuracy=min(0.3, 1e5 / n_states(counts)),
    )
    while True:
        mean = first_mean_above(*units, bracket=bracket, tail=tail)
        if mean is not None:
            return mean
        narrower = shrink(share, tail, bracket, (bracket[1] - bracket[0]) / 100.0)
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


def _direct_share(units: Units, found: Lattice | None) -> Share:
    values, sizes, counts = units

    def share(delta: float, reach: float) -> Tail:
        centres = NO_CENTRES
        if reach > 0.0 and found is not None:
            centres = _lobe_centres(found, sizes, counts, delta)
        route = Route(False, reach, centres, FEW_STATES, fallback=False)
        return subset_tail(values - delta * sizes, counts, route)

    return share


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


def _series_shares(
    values: FloatArray, counts: IntArray, found: Lattice | None
) -> tuple[Share, Share]:
    """Shares of subset means at or below δ, and of the opposite values."""
    base = power_sums(values, counts)
    n = int(np.sum(counts))
    direct = _direct_share((values, np.ones(values.size), counts), found)

    one = np.ones(values.size)

    def share(delta: float, reach: float) -> Tail:
        law = SeriesSignLaw.of(base, base.centre - delta)
        if law is None:
            return direct(delta, reach)
        centres = NO_CENTRES
        if reach > 0.0 and found is not None:
            centres = _lobe_centres(found, one, counts, delta)
        point = n * (base.centre - delta)
        if point >= 0.0:
            return upper_tail(law, point, reach=reach, centres=centres)
        tail = upper_tail(law, -point, reach=reach, centres=centres)
        return tail.complement()

    def opposite(delta: float, reach: float) -> Tail:
        return share(-delta, reach).complement()

    return share, opposite
