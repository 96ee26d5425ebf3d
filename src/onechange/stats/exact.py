"""Exact laws of sums over random subsets and random resamples.

Three routes to the same number: enumeration where the states are few, whole
numbers where the values lie on a lattice (but for a shift), and inversion of the
characteristic function elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from onechange.stats.enumeration import (
    FEW_STATES,
    LARGEST_HALF,
    binomial_half,
    count_below,
    states_per_half,
)
from onechange.stats.inversion import (
    NEGLIGIBLE,
    NO_CENTRES,
    REACH,
    Law,
    Tail,
    upper_tail,
)
from onechange.stats.lattice import (
    ROUNDING_NOISE,
    denominator_of,
    find_lattice,
)
from onechange.stats.laws import SignLaw
from onechange.stats.sawtooth import SHALLOW, Frequencies, products
from onechange.stats.series import SeriesSignLaw, power_sums
from onechange.stats.size_and_sum import size_and_sum

__all__ = [
    "ROUNDED",
    "TIE",
    "Route",
    "group",
    "on_coarse_lattice",
    "sign_law",
    "subset_tail",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Whole = tuple[IntArray, IntArray, int]  # whole numbers, their counts, the largest sum

TIE = 1e-13  # of the sum of absolute values: rounding noise of a sum
ACCEPTED = 1e-7  # estimate of an error
CONVOLUTION_WORK = 2e6  # more where inversion is slow, since few signs decay slowly
FEW_SIGNS, MORE = 64, 20.0
COUNTED_STATES = 7e4  # per half, 32 questions without ties: some milliseconds
COARSEST = 120  # the coarsest lattice looked for, in units of the finest
SAMPLED_TERMS = 256  # enough terms to tell that a lobe is negligible
SERIES_VALUES = 256
SPARE = 1.2  # tilts that are deeper than the point
ROUNDED = 1e-9  # share that a table gives to some digits
DOMINATING = 60.0  # square of a size against the sum of all other squares


def group(values: FloatArray) -> tuple[FloatArray, IntArray]:
    """Distinct values with their counts.

    Parameters
    ----------
    values : ndarray of float, shape (n,)

    Returns
    -------
    distinct : ndarray of float, shape (n_distinct,)
        In ascending order.
    counts : ndarray of int, shape (n_distinct,)
    """
    ordered = np.sort(values)
    first = np.empty(ordered.size, dtype=bool)
    first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    counts = np.diff(np.append(starts, ordered.size))
    return ordered[starts], counts.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """How the law of a subset sum may be computed.

    Parameters
    ----------
    lattice : bool
        Whether to look for a common unit of the values.
    reach : float
        As in `upper_tail`; with 0 the result is a start for a search only.
    centres : ndarray of float, shape (n_centres,)
        As in `upper_tail`.
    most_states : float
        States per half up to which subsets are counted without trying inversion.
    fallback : bool
        Whether an inversion that is not accurate is followed by something better.
    """

    lattice: bool = True
    reach: float = REACH
    centres: FloatArray = field(default_factory=lambda: NO_CENTRES)
    most_states: float = COUNTED_STATES
    fallback: bool = True


ANY_ROUTE = Route()


def subset_tail(values: FloatArray, counts: IntArray, route: Route = ANY_ROUTE) -> Tail:
    """Probability that a random subset has a sum of zero or less.

    Parameters
    ----------
    values : ndarray of float, shape (n_values,)
        Value of each question (or group of equal ones); any sign.
    counts : ndarray of int, shape (n_values,)
        Number of questions with that value.
    route : Route
        Restricts how it is computed.

    Returns
    -------
    Tail
        The empty subset included; sums within rounding noise of zero tie with it.

    Notes
    -----
    Taking the complement within the negative values leaves sums of absolute
    values against N = Σ of the negative ones; an absolute value above N can be in
    no such subset and costs a factor of one half.

    Examples
    --------
    >>> import numpy as np
    >>> tail = subset_tail(np.array([1.0, -1.0]), np.array([9, 3]))
    >>> tail.probability
    0.072998046875
    """
    sizes, merged = _merge(np.abs(values), counts)
    noise = TIE * float(np.sum(sizes * merged))
    negative = values < 0.0
    room = float(np.sum(-values[negative] * counts[negative]))
    fits = sizes <= room + noise
    halvings = int(np.sum(merged[~fits]))
    sizes, merged = sizes[fits], merged[fits]
    total = float(np.sum(sizes * merged))
    if total <= room + noise:
        return Tail.of(1.0).halved(halvings)
    exact = _counted(sizes, merged, room, noise, route)
    if isinstance(exact, Tail):
        return exact.halved(halvings)
    if route.lattice:
        finest = None if exact is None else int(exact[0][-1])
        share = _on_moved_lattice(values, counts, finest)
        if share > ROUNDED:
            return Tail.of(share)
    if exact is not None:
        tail = _lattice_inverted(*exact, reach=route.reach)
    else:
        tail = _inverted(sizes, merged, room, route)
    apart = route.fallback and tail.error * tail.probability > ACCEPTED
    if apart and states_per_half(merged) <= LARGEST_HALF:
        tail = Tail.of(count_below(sizes, merged, room, noise))
    return tail.halved(halvings)


def on_coarse_lattice(values: FloatArray, counts: IntArray) -> bool:
    """Whether sums of subsets are soon counted on a lattice, or without one.

    Parameters
    ----------
    values : ndarray of float, shape (n_values,)
    counts : ndarray of int, shape (n_values,)

    Returns
    -------
    bool
    """
    if states_per_half(counts) <= COUNTED_STATES:
        return True
    found = find_lattice(values)
    if found is None:
        return False
    integers = np.abs(found.integers)
    some = integers > 0
    room = int(np.sum(integers * counts)) // 2
    return _soon_convolved(integers[some], counts[some], room)


def _merge(sizes: FloatArray, counts: IntArray) -> tuple[FloatArray, IntArray]:
    """Join equal absolute values and drop zeros."""
    order = np.argsort(sizes, kind="stable")
    ordered = sizes[order]
    first = np.append(True, ordered[1:] != ordered[:-1])
    starts = np.flatnonzero(first)
    merged = np.add.reduceat(counts[order], starts)
    distinct = ordered[starts]
    keep = distinct > 0.0
    return distinct[keep], merged[keep]


def _counted(
    sizes: FloatArray, counts: IntArray, room: float, noise: float, route: Route
) -> Tail | Whole | None:
    """Probability that the sum of a random subset of sizes is at most `room`.

    Where that is soon counted; else the same question in whole numbers, or None
    where there is no lattice.
    """
    states = states_per_half(counts)
    if states <= min(FEW_STATES, route.most_states):
        return Tail.of(count_below(sizes, counts, room, noise))
    found = find_lattice(sizes) if route.lattice else None
    whole = None
    if found is not None:
        allowed = int(np.floor((room + noise) / found.unit))
        whole = found.integers, counts, allowed
        if _soon_convolved(*whole):
            return _convolved(*whole)
    if states <= route.most_states:
        return Tail.of(count_below(sizes, counts, room, noise))
    return whole


def _on_moved_lattice(
    values: FloatArray, counts: IntArray, finest: int | None
) -> float:
    """Share of subsets with a sum of zero or less, of values shift + k·unit.

    A whole number of shifts is added to a sum on the lattice, so that its law comes
    from the joint law of a subset's sum and size; 0 where that cannot be tabulated,
    and where it is no coarser than one with whole numbers up to the finest.
    """
    mean = float(np.sum(values * counts)) / float(np.sum(counts))
    shift = float(values[np.argmin(np.abs(values - mean))])
    distance = values - shift
    widest = distance[np.argmax(np.abs(distance))]
    noise = ROUNDING_NOISE * float(np.max(np.abs(values)) / np.abs(widest))
    if denominator_of(float(distance[distance.size // 3] / widest), noise) is None:
        return 0.0  # most values that are on no lattice
    found = find_lattice(distance)
    if found is None:
        return 0.0
    if finest is not None and 3 * int(np.max(np.abs(found.integers))) > finest:
        return 0.0
    table = size_and_sum(found, counts)
    return 0.0 if table is None else table.share(-shift / found.unit)


def _inverted(sizes: FloatArray, counts: IntArray, room: float, route: Route) -> Tail:
    """Do the same by inversion, dominating sizes split off one by one."""
    total = float(np.sum(sizes * counts))
    if room >= total:
        return Tail.of(1.0)
    if room < 0.0:
        return Tail.of(0.0)
    square = sizes**2 * counts
    variance = float(np.sum(square))
    largest = float(sizes[-1])
    if largest**2 > DOMINATING * (variance - largest**2):
        rest = counts.copy()
        rest[-1] -= 1
        kept = rest > 0
        with_it = _inverted(sizes[kept], rest[kept], room - largest, route)
        without = _inverted(sizes[kept], rest[kept], room, route)
        return with_it.plus(without).halved(1)
    point = total - 2.0 * room
    if route.reach > 0.0 and point**2 <= SHALLOW**2 * variance:
        return _shallow(sizes, counts, point, route)
    law = sign_law(sizes, counts, depth=abs(point) / variance**0.5)
    if point >= 0.0:
        return upper_tail(law, point, reach=route.reach, centres=route.centres)
    tail = upper_tail(law, -point, reach=route.reach, centres=route.centres)
    return tail.complement()


def _shallow(sizes: FloatArray, counts: IntArray, point: float, route: Route) -> Tail:
    """P(Σ ±a ≥ x) for a point of a few standard deviations."""
    weight, here = counts.astype(np.float64), np.array([point])
    some = Frequencies.of(np.array([np.sum(weight * sizes**2)]), here)
    series = _series(sizes, counts, 0.0)
    if series is None:
        main = products(sizes[None, :], weight, some.main)
    else:
        main = series.tilted(0.0, some.main).real[None, :]
    far, error = some.beyond(sizes, weight, point, route.centres)
    share = max(float(some.tails(here, main)[0]) + far, np.finfo(float).tiny)
    return replace(Tail.of(share), error=error / share)


def sign_law(sizes: FloatArray, counts: IntArray, *, depth: float = 0.0) -> Law:
    """Law of a sum with random signs, through power sums where values are many.

    Parameters
    ----------
    sizes : ndarray of float, shape (n_values,)
        Distinct positive values, ascending.
    counts : ndarray of int, shape (n_values,)
    depth : float
        Standard deviations of the point whose tail is wanted.

    Returns
    -------
    Law
    """
    return _series(sizes, counts, depth) or SignLaw(sizes, counts)


def _series(sizes: FloatArray, counts: IntArray, depth: float) -> SeriesSignLaw | None:
    if sizes.size <= SERIES_VALUES:
        return None
    # The tilt is about the depth; frequencies to 9.5 standard errors are taken.
    reach = SPARE * float(np.hypot(9.5, depth))
    base = power_sums(sizes, counts, centre=0.0, reach=reach)
    return SeriesSignLaw.of(base, 0.0)


def _soon_convolved(integers: IntArray, counts: IntArray, allowed: int) -> bool:
    """Whether a convolution of the shorter tail takes few multiplications."""
    shorter = min(allowed, int(np.sum(integers * counts)) - allowed - 1)
    terms = np.sum(np.minimum(counts, shorter // integers) + 1)
    most = CONVOLUTION_WORK * (MORE if np.sum(counts) <= FEW_SIGNS else 1.0)
    return float(shorter + 1) * float(terms) <= most


def _convolved(integers: IntArray, counts: IntArray, allowed: int) -> Tail:
    """Probability that the sum of a random subset is at most `allowed`."""
    other = int(np.sum(integers * counts)) - allowed - 1
    if other < allowed:
        rest = float(np.sum(_mass_up_to(integers, counts, other)))
        return Tail.of(rest).complement()
    return Tail.of(float(np.sum(_mass_up_to(integers, counts, allowed))))


def _lattice_inverted(
    integers: IntArray, counts: IntArray, allowed: int, *, reach: float
) -> Tail:
    """Do the same by inversion over the lattice."""
    total = int(np.sum(integers * counts))
    law = sign_law(integers.astype(np.float64), counts)
    centres = _coarser_lattices(integers, counts) if reach > 0.0 else NO_CENTRES
    point = float(total - 2 * allowed)
    if point >= 0.0:
        return upper_tail(law, point, step=2.0, reach=reach, centres=centres)
    tail = upper_tail(law, 2.0 - point, step=2.0, reach=reach, centres=centres)
    return tail.complement()


def _coarser_lattices(integers: IntArray, counts: IntArray) -> FloatArray:
    """Frequencies of the coarser lattices on which most of the values lie.

    Trial means over thirds and halves lie on sixths, but most of them on thirds
    alone; the characteristic function then comes back to almost one far from zero.
    A value off the coarser lattice makes it vanish there, but not beside it: within
    a lobe, of width 4/spread, its cosine grows to 4 k/spread.
    """
    spread = float(np.sqrt(np.sum(integers.astype(np.float64) ** 2 * counts)))
    least = np.clip(4.0 * integers / spread, 1e-300, 1.0)
    whole = np.arange(2, COARSEST + 1)
    parts = [p / q for q in whole.tolist() for p in range(1, q // 2 + 1)]
    t = np.pi * np.unique(np.asarray(parts))
    order = np.argsort(-counts, kind="stable")
    for some in (order[:SAMPLED_TERMS], order[SAMPLED_TERMS:]):
        if some.size and t.size:
            cosine = np.abs(np.cos(np.outer(t, integers[some])))
            log = np.log(np.maximum(cosine, least[some])) @ counts[some]
            t = t[log > -NEGLIGIBLE]
    return t


def _mass_up_to(integers: IntArray, counts: IntArray, allowed: int) -> FloatArray:
    """Probabilities of the sums 0 … allowed, by convolution of positive terms."""
    mass = np.ones(1)
    order = np.argsort(-integers, kind="stable")
    for size, count in zip(
        integers[order].tolist(), counts[order].tolist(), strict=True
    ):
        most = min(count, allowed // size)
        row = np.zeros(most * size + 1)
        row[::size] = binomial_half(count)[: most + 1]
        if most * mass.size < 64 or size == 1:
            mass = np.convolve(mass, row)[: allowed + 1]
        else:
            longer = np.zeros(min(allowed, mass.size - 1 + most * size) + 1)
            for taken in range(most + 1):
                room = longer.size - taken * size
                part = mass[:room]
                longer[taken * size : taken * size + part.size] += (
                    part * row[taken * size]
                )
            mass = longer
    return mass
