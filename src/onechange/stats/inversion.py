"""Tail probabilities of sums from their cumulant function, by tilted inversion.

The inversion integral runs through a point near the saddle of the integrand
instead of zero, so that a tail of 1e-40 keeps the relative accuracy of one of 0.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "NEGLIGIBLE",
    "NO_CENTRES",
    "REACH",
    "Law",
    "Tail",
    "lobe_height",
    "upper_tail",
]

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]

DIGITS = 38.0  # natural logarithm of the relative size of what may be dropped
SMALLEST_TILT = 2.5  # in standard deviations
NEGLIGIBLE = 25.0  # logarithm of the lobes that are left out
MAX_NODES = 200_000
NO_CENTRES = np.zeros(0)
REACH = 60.0
CHEAP = 1e5  # terms that are sooner evaluated than bounded
SLOW = 1e-9  # share of the last terms, above which the main lobe is not enough


class Law(Protocol):
    """What the inversion asks of the law of a sum."""

    def tilted(self, tilt: float, t: FloatArray) -> ComplexArray:
        """Characteristic function of the law tilted by e^{tilt·y}, at `t`."""

    @property
    def n_terms(self) -> int:
        """Number of terms of the sum."""

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Cumulant function at a real point with its first two derivatives."""

    def support(self) -> tuple[float, float]:
        """Smallest and largest possible sum."""

    def opposite(self) -> Law:
        """Law of the sum with its sign changed."""

    def log_envelope(self, tilt: float, t: FloatArray) -> FloatArray:
        """Upper bound of log |φ| of the tilted law at frequencies `t`."""


@dataclass(frozen=True, slots=True)
class Tail:
    """A tail probability, also below the double range.

    Parameters
    ----------
    probability : float
        The probability; 0 when it is below the double range.
    log : float
        Its natural logarithm.
    error : float
        Estimate of the relative error from what was left out.
    """

    probability: float
    log: float
    error: float = 0.0

    @classmethod
    def of(cls, probability: float) -> Tail:
        """Make a tail from a probability within the double range."""
        return cls(
            probability, float(np.log(probability)) if probability > 0 else -np.inf
        )

    def halved(self, times: int) -> Tail:
        """Return the tail divided by a power of two."""
        return Tail(
            float(np.ldexp(self.probability, -times)),
            self.log - times * float(np.log(2.0)),
            self.error,
        )

    def plus(self, other: Tail) -> Tail:
        """Return the sum with the probability of a disjoint event."""
        log = float(np.logaddexp(self.log, other.log))
        error = max(self.error, other.error)
        return Tail(self.probability + other.probability, log, error)

    def complement(self) -> Tail:
        """Return one minus the tail."""
        rest = 1.0 - self.probability
        if rest <= 0.0:
            return Tail(0.0, -np.inf, self.error)
        error = self.error * self.probability / rest
        return Tail(rest, float(np.log1p(-self.probability)), error)


def upper_tail(
    law: Law,
    point: float,
    *,
    step: float | None = None,
    reach: float = REACH,
    centres: FloatArray = NO_CENTRES,
) -> Tail:
    """Probability that a sum is at or above a point above its mean.

    Parameters
    ----------
    law : Law
        Law of the sum.
    point : float
        At or above the mean, strictly below the upper end of the support. On a
        lattice it must be a lattice point.
    step : float, optional
        Distance of the lattice points; without it the law counts as continuous
        (an atom at the point is halved).
    reach : float
        Up to which frequency, in reciprocal root mean squares of a term, to look for
        lobes beyond the main one around zero; 0 for the main lobe alone.
    centres : ndarray of float, shape (n_centres,)
        Frequencies, beyond those that are searched, around which it is not.

    Returns
    -------
    Tail

    Notes
    -----
    With K the cumulant function and θ > 0, P(Y ≥ x) = e^{K(θ) - θx} / 2π ·
    ∫ e^{K(θ+it) - K(θ) - itx} / (θ+it) dt, on a lattice of step h over one
    period with h / (1 - e^{-h(θ+it)}) in place of 1/(θ+it) (Lugannani & Rice
    1980). The trapezoidal sum with spacing 2π/L adds only the tails at x ± L,
    which the choice of L makes negligible.
    """
    tilt, (value, _, curvature) = _tilt(law, point)
    spread = float(np.sqrt(curvature))
    length = _period(law, point, tilt, value, spread)
    last: int | None = None
    if step is not None:
        n_period = int(np.ceil(length / step)) + 1
        n_period += 1 - n_period % 2  # odd, so that no node stands at half a period
        length, last = step * n_period, n_period // 2
    delta = 2.0 * np.pi / length
    main = int(np.ceil(9.5 / (spread * delta)))
    end = main if last is None else min(main, last)
    sum_ = _Sum(law, point, tilt, delta, step)
    total, _, ending = sum_.over(np.arange(end + 1))
    if reach > 0.0:
        rest, error = _lobes(law, tilt, delta, main, last, reach)
        rest = _with_centres(rest, centres, delta, main)
        if last is not None:
            rest = rest[rest <= last]
        lobes, height, _ = sum_.over(rest)
        total, error = total + lobes, height if error is None else error
    else:
        error = 0.0
        if ending > SLOW * abs(total):  # the main lobe has longer tails
            further = 6 * main if last is None else min(6 * main, last)
            total += sum_.over(np.arange(end + 1, further + 1))[0]
    if total <= 0.0:
        return Tail(0.0, -np.inf, np.inf)
    log = value - tilt * point + float(np.log(total))
    return Tail(float(np.exp(log)), log, error / total)


@dataclass(frozen=True, slots=True)
class _Sum:
    """The trapezoidal sum of an inversion."""

    law: Law
    point: float
    tilt: float
    delta: float
    step: float | None

    def over(self, nodes: NDArray[np.int64]) -> tuple[float, float, float]:
        """Return the sum, the function's height in the last half, the last terms."""
        if nodes.size == 0:
            return 0.0, 0.0, 0.0
        t = np.multiply(nodes, self.delta)
        z = self.tilt + 1j * t
        kernel = 1.0 / z if self.step is None else self.step / -np.expm1(-self.step * z)
        function = self.law.tilted(self.tilt, t)
        terms = (function * np.exp(-1j * (t * self.point)) * kernel).real
        total = float(np.sum(terms)) - (0.5 * float(terms[0]) if nodes[0] == 0 else 0.0)
        height = float(np.mean(np.abs(function[function.size // 2 :])))
        ending = float(np.max(np.abs(terms[-3:])))
        return total * self.delta / np.pi, 0.1 * height, ending * self.delta


def lobe_height(law: Law) -> float:
    """Return how high the characteristic function still is, far from its main lobe.

    Parameters
    ----------
    law : Law

    Returns
    -------
    float
        A tenth of its mean over the further half of what is searched: about the
        error of an inverted probability.
    """
    spread = float(np.sqrt(law.moments(0.0)[2]))
    delta = 2.0 * np.pi / (10.0 * spread)
    tilt = SMALLEST_TILT / spread
    nodes, error = _lobes(law, tilt, delta, 16, None, REACH)
    if error is None:
        error = _Sum(law, 0.0, tilt, delta, None).over(nodes)[1]
    return error


def _tilt(law: Law, point: float) -> tuple[float, tuple[float, float, float]]:
    """Solve K'(θ) = point, but keep θ away from the pole at zero."""
    _, mean, variance = law.moments(0.0)
    least = SMALLEST_TILT / float(np.sqrt(variance))
    low, tilt = 0.0, max(least, (point - mean) / variance)
    high = np.inf
    moments = law.moments(tilt)
    for _ in range(200):
        _, slope, curvature = moments
        gap = slope - point
        if gap > 0.0:
            high = tilt
        else:
            low = tilt
        if abs(gap) <= 0.3 * np.sqrt(curvature) or high <= least:
            break
        proposal = tilt - gap / curvature if curvature > 0.0 else np.inf
        inside = low < proposal < high
        tilt = (
            proposal
            if inside
            else (2.0 * low if high == np.inf else _middle(low, high))
        )
        moments = law.moments(tilt)
    if tilt < least:
        return least, law.moments(least)
    return tilt, moments


def _middle(low: float, high: float) -> float:
    return float(np.sqrt(low * high)) if low > 0.0 else 0.5 * high


def _period(law: Law, point: float, tilt: float, value: float, spread: float) -> float:
    """Return the shortest period whose aliases are negligible beside the tail."""
    below = (DIGITS + max(0.0, tilt * point - value)) / tilt
    shift = 7.0 / spread
    log = law.moments(tilt + shift)[0] - value - shift * point
    return float(max(below, (log + DIGITS) / shift, 10.0 * spread))


def _lobes(
    law: Law, tilt: float, delta: float, main: int, last: int | None, reach: float
) -> tuple[NDArray[np.int64], float | None]:
    """Find frequencies beyond the main lobe that count; bound what lies further.

    The bound is None when all frequencies are taken, and it can be seen from them.
    """
    scale = float(np.sqrt(law.moments(0.0)[2] / law.n_terms))
    stop = int(min(MAX_NODES, max(8.0 * main, reach / (scale * delta))))
    complete = last is not None and last <= stop
    if last is not None:
        stop = min(stop, last)
    if last is None and (stop - main) * law.n_terms <= CHEAP:
        return np.arange(main + 1, stop + 1), None
    # Lobes are wider than a tenth of a reciprocal root mean square of a term.
    stride = max(1, int(0.05 / (scale * delta)))
    probes = np.arange(main + 1, stop + 1, stride)
    if probes.size == 0:
        return probes, 0.0
    log = law.log_envelope(tilt, np.multiply(probes, delta))
    kept = probes[log > -NEGLIGIBLE]
    if stride > 1:
        around = np.add.outer(kept, np.arange(1 - stride, stride))
        kept = np.unique(np.clip(around, main + 1, stop))
    if complete:
        return kept, 0.0
    return kept, 0.1 * float(np.mean(np.exp(log[log.size // 2 :])))


def _with_centres(
    nodes: NDArray[np.int64], centres: FloatArray, delta: float, main: int
) -> NDArray[np.int64]:
    """Add the nodes within a main lobe's width of given frequencies."""
    if centres.size == 0:
        return nodes
    near = np.rint(centres / delta).astype(np.int64)
    width = int(np.ceil(0.7 * main))  # down to e^-22 of the lobe's height
    around = np.add.outer(near, np.arange(-width, width + 1)).ravel()
    return np.unique(np.concatenate((nodes, around[around > main])))
