"""Exact laws of sums over random subsets and random resamples.

Three routes to the same number: enumeration where the states are few, whole
numbers where the values lie on a lattice, and inversion of the characteristic
function elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.enumeration import (
    binomial_half,
    count_below,
    n_states,
    split_in_halves,
)
from onechange.stats.inversion import Tail, upper_tail
from onechange.stats.lattice import find_lattice

__all__ = ["MultinomialLaw", "SignLaw", "group", "subset_tail"]

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]
IntArray = NDArray[np.int64]

LOG_TWO = float(np.log(2.0))
TIE = 1e-12  # of the sum of absolute values: rounding noise of a sum
FEW_STATES = 3e3  # per half: faster than any other route
MANY_STATES = 1.5e5  # per half: below a tenth of a second
CONVOLUTION_WORK = 2e6
NEGLIGIBLE_ATOM = 1e-11
ENVELOPE_VALUES = 64


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
class SignLaw:
    """The law of Σ ±a with independent fair signs.

    Parameters
    ----------
    sizes : ndarray of float, shape (n_values,)
        Distinct positive values a.
    counts : ndarray of int, shape (n_values,)
        Number of terms with that value.
    """

    sizes: FloatArray
    counts: IntArray

    def cumulant(self, z: ComplexArray) -> ComplexArray:
        """Σ log cosh(z a)."""
        total = np.zeros(z.shape, dtype=np.complex128)
        for part in _chunks(self.sizes.size, z.size):
            w = z[:, None] * self.sizes[None, part]
            log = w + np.log1p(np.exp(-2.0 * w)) - LOG_TWO
            total += log @ self.counts[part].astype(np.float64)
        return total

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Return the cumulant function and its derivatives at a real point."""
        w = tilt * self.sizes
        tanh = np.tanh(w)
        value = self.counts @ (np.abs(w) + np.log1p(np.exp(-2.0 * np.abs(w))) - LOG_TWO)
        slope = self.counts @ (self.sizes * tanh)
        decay = np.exp(-2.0 * np.abs(w))
        curvature = self.counts @ (self.sizes**2 * 4.0 * decay / (1.0 + decay) ** 2)
        return float(value), float(slope), float(curvature)

    def log_envelope(self, tilt: float, t: FloatArray) -> FloatArray:
        """Bound log |φ| by the values that weigh most."""
        shrink = np.cosh(np.minimum(tilt * self.sizes, 300.0)) ** -2.0
        top = np.argsort(-self.counts * shrink, kind="stable")[:ENVELOPE_VALUES]

        def factor(index: int, at: FloatArray) -> FloatArray:
            sine = np.sin(at * self.sizes[index])
            with np.errstate(divide="ignore"):
                log = np.log1p(-np.minimum(sine * sine * shrink[index], 1.0))
            return np.asarray(0.5 * self.counts[index] * log)

        return _screen(t, top, factor)


@dataclass(frozen=True, slots=True, eq=False)
class MultinomialLaw:
    """The law of the sum of n draws with replacement.

    Parameters
    ----------
    values : ndarray of float, shape (n_values,)
        Distinct values.
    probability : ndarray of float, shape (n_values,)
        Chance of each value in one draw.
    n_draws : int
        Number of draws.
    """

    values: FloatArray
    probability: FloatArray
    n_draws: int

    def cumulant(self, z: ComplexArray) -> ComplexArray:
        """Return n log Σ p e^{z v}."""
        total = np.zeros(z.shape, dtype=np.complex128)
        top = float(np.max(z.real[0] * self.values))
        for part in _chunks(self.values.size, z.size):
            w = np.exp(z[:, None] * self.values[None, part] - top)
            total += w @ self.probability[part]
        with np.errstate(divide="ignore"):
            return np.asarray(self.n_draws * (np.log(total) + top))

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Return the cumulant function and its derivatives at a real point."""
        top = float(np.max(tilt * self.values))
        weight = self.probability * np.exp(tilt * self.values - top)
        mass = float(np.sum(weight))
        mean = float(weight @ self.values) / mass
        variance = float(weight @ (self.values - mean) ** 2) / mass
        n = self.n_draws
        return n * (float(np.log(mass)) + top), n * mean, n * variance

    def log_envelope(self, tilt: float, t: FloatArray) -> FloatArray:
        """Return log |φ| of the tilted law, from all values."""
        value = self.moments(tilt)[0]
        log = np.empty(t.size)
        for start in range(0, t.size, 4096):
            z = tilt + 1j * t[start : start + 4096]
            log[start : start + 4096] = self.cumulant(z).real - value
        return log


def subset_tail(values: FloatArray, counts: IntArray, *, lattice: bool = True) -> Tail:
    """Probability that a random subset has a sum of zero or less.

    Parameters
    ----------
    values : ndarray of float, shape (n_values,)
        Value of each question (or group of equal ones); any sign.
    counts : ndarray of int, shape (n_values,)
        Number of questions with that value.
    lattice : bool
        Whether to look for a common unit of the values.

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
    >>> round(float(np.exp(tail.log)), 10)
    0.0729980469
    """
    sizes, merged = _merge(np.abs(values), counts)
    noise = TIE * float(sizes @ merged)
    room = float(-values[values < 0.0] @ counts[values < 0.0])
    fits = sizes <= room + noise
    log = -LOG_TWO * float(np.sum(merged[~fits]))
    sizes, merged = sizes[fits], merged[fits]
    total = float(sizes @ merged)
    if total <= room + noise:
        return Tail(log)
    if room <= noise:
        return Tail(log - LOG_TWO * float(np.sum(merged)))
    tail = _sum_at_most(sizes, merged, room, noise, lattice)
    return Tail(log + tail.log, tail.error)


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


def _sum_at_most(
    sizes: FloatArray, counts: IntArray, room: float, noise: float, lattice: bool
) -> Tail:
    """Probability that the sum of a random subset of sizes is at most `room`."""
    total = float(sizes @ counts)
    first = split_in_halves(counts)
    states = max(n_states(counts[first]), n_states(counts[~first]))
    if states <= FEW_STATES:
        return _log_tail(count_below(sizes, counts, room, noise))
    found = find_lattice(sizes) if lattice else None
    if found is not None:
        allowed = int(np.floor((room + noise) / found.unit))
        return _lattice_at_most(found.integers, counts, allowed)
    if states <= MANY_STATES:
        return _log_tail(count_below(sizes, counts, room, noise))
    law = SignLaw(sizes, counts)
    point = total - 2.0 * room
    if point >= 0.0:
        return upper_tail(law, point)
    return _complement(upper_tail(law, -point))


def _lattice_at_most(integers: IntArray, counts: IntArray, allowed: int) -> Tail:
    """Do the same in whole numbers."""
    total = int(integers @ counts)
    if allowed < 0:
        return Tail(-np.inf)
    if 2 * allowed >= total:
        return _complement(_lattice_at_most(integers, counts, total - allowed - 1))
    work = float(allowed + 1) * float(
        np.sum(np.minimum(counts, allowed // integers) + 1)
    )
    if work <= CONVOLUTION_WORK:
        return _log_tail(float(np.sum(_mass_up_to(integers, counts, allowed))))
    law = SignLaw(integers.astype(np.float64), counts)
    return upper_tail(law, float(total - 2 * allowed), step=2.0)


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


def _log_tail(probability: float) -> Tail:
    with np.errstate(divide="ignore"):
        return Tail(float(np.log(probability)))


def _complement(tail: Tail) -> Tail:
    probability = float(np.exp(tail.log))
    return Tail(
        float(np.log1p(-probability)), tail.error * probability / (1.0 - probability)
    )


def _chunks(n_values: int, n_points: int) -> list[slice]:
    """Slices of the values that keep the matrix of a step below 16 MB."""
    size = max(1, 1_000_000 // max(1, n_points))
    return [slice(i, i + size) for i in range(0, n_values, size)]


def _screen(
    t: FloatArray,
    indices: IntArray,
    factor: Callable[[int, FloatArray], FloatArray],
) -> FloatArray:
    """Add up log factors, leaving a frequency as soon as it is negligible."""
    log = np.zeros(t.size)
    alive = np.arange(t.size)
    for index in indices.tolist():
        log[alive] += factor(index, t[alive])
        alive = alive[log[alive] > -42.0]
        if alive.size == 0:
            break
    return log
