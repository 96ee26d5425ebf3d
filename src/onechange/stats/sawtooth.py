"""Tails of sums with random signs from equally spaced frequencies.

The sign-flip laws of a handful of trial values at once, in real arithmetic and from
some fifteen frequencies; for tails that are not deep. `inversion` serves the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO_CENTRES", "SHALLOW", "Frequencies", "products"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

SHALLOW = 4.5  # standard deviations; errors stay below 1e-9 of such a tail
SIDES = 8.4  # standard deviations; e^(-z²/2) is 5e-16
WIDER = 1.03  # room for trial values beside those the frequencies are made for
REACH = 60.0  # reciprocal root mean squares of a term, at least
ACCEPTED = 5e-8  # error for which it is worth to go further
MOST = 600_000  # cosines
LUCK = 2.0  # standard deviations of a sum of random phases
NEGLIGIBLE = 25.0  # logarithm of what is left out
WIDEST = 3.0  # root mean squares
COARSE = 0.15  # reciprocal root mean squares from bound to bound
STRIDE = 3.0  # reciprocal standard deviations from bound to bound
SAMPLES = (64, 512, 4096)  # values that bound a product, and those for doubtful bounds
MANY = 8.0  # counts of a value that may make a product negligible alone
SINGLE = 1e-6  # larger terms need double precision
NO_CENTRES = np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False)
class Frequencies:
    """Where characteristic functions are taken, for laws that differ little.

    Parameters
    ----------
    length : float
        Period: a law and the point lie less than this apart.
    n_main : int
        Number of frequencies in the main lobe.

    Notes
    -----
    With Δ = 2π/L, P(Y > x) = 1/2 + (E Y - x)/L + Σ_k Im φ(kΔ) e^{-ikΔx} / (πk), the
    Fourier series of a sawtooth, is exact as long as |Y - x| < L; an atom at x is
    halved. Sums of random signs are below e^{-z²/2} beyond z standard deviations,
    and so is their characteristic function in its main lobe.
    """

    length: float
    n_main: int

    @classmethod
    def of(cls, square: FloatArray, points: FloatArray) -> Frequencies:
        """Choose the period and the frequencies of the main lobe.

        Parameters
        ----------
        square : ndarray of float, shape (n_laws,)
            Variance Σ c a² of each law.
        points : ndarray of float, shape (n_laws,)
            The points x.
        """
        spread = np.sqrt(square)
        length = WIDER * float(np.max(np.abs(points) + SIDES * spread))
        n_main = SIDES * length / (2.0 * np.pi * float(np.min(spread)))
        return cls(length, int(np.ceil(n_main)))

    @property
    def delta(self) -> float:
        """Distance of the frequencies."""
        return 2.0 * np.pi / self.length

    @property
    def main(self) -> FloatArray:
        """Frequencies of the main lobe, shape (n_main,)."""
        return np.arange(1.0, self.n_main + 1.0) * self.delta

    def fit(self, square: FloatArray, points: FloatArray) -> bool:
        """Whether the period is long enough for other laws and points."""
        most = np.abs(points) + (SIDES - 0.2) * np.sqrt(square)
        return bool(np.max(most) <= self.length)

    def tails(self, points: FloatArray, main: FloatArray) -> FloatArray:
        """P(Y ≥ x) from the main lobe of the characteristic functions.

        Parameters
        ----------
        points : ndarray of float, shape (n_laws,)
        main : ndarray of float, shape (n_laws, n_main)
            The functions at the frequencies `main`.

        Returns
        -------
        ndarray of float, shape (n_laws,)
        """
        k = np.arange(1.0, self.n_main + 1.0)
        turns = np.multiply.outer(points * self.delta, k)
        sums = (np.sin(turns) * main) @ (1.0 / (np.pi * k))
        return np.asarray(0.5 - points / self.length - sums)

    def beyond(
        self,
        sizes: FloatArray,
        counts: FloatArray,
        point: float,
        centres: FloatArray = NO_CENTRES,
        accepted: float = ACCEPTED,
    ) -> tuple[float, float]:
        """Return what the frequencies beyond the main lobe add to a probability.

        Parameters
        ----------
        sizes : ndarray of float, shape (n_values,)
            The values a of one law.
        counts : ndarray of float, shape (n_values,)
        point : float
            The point x.
        centres : ndarray of float, shape (n_centres,)
            Frequencies, further than is searched, around which lobes are known.
        accepted : float
            Error to be reached, if it can be with some effort.

        Returns
        -------
        amount, error : float
            The error is estimated from the further half of what was searched.
        """
        scale = float(np.sqrt(np.sum(counts * sizes**2) / np.sum(counts)))
        least = max(4 * self.n_main, int(REACH / (scale * self.delta)))
        height = _mean_square(sizes, counts, least * self.delta)
        wanted = 0.6 * (LUCK / accepted) ** 2 * height / np.pi**2
        last = max(least, int(min(wanted, MOST / counts.size)))
        k = self._alive(sizes, counts, last)
        function = self._far_products(sizes, counts, k)
        amount = self._sum(point, k, function)
        tail = function[k > last / 2]
        height = max(height, float(np.sum(tail**2)) / (0.5 * last))
        error = LUCK * float(np.sqrt(height / (2.0 * last))) / np.pi
        if centres.size:
            k = self._around(centres, last)
            amount += self._sum(point, k, self._far_products(sizes, counts, k))
        return amount, error

    def _sum(self, point: float, k: FloatArray, function: FloatArray) -> float:
        return -float(np.sum(np.sin(k * (point * self.delta)) * function / k)) / np.pi

    def _far_products(
        self, sizes: FloatArray, counts: FloatArray, k: FloatArray
    ) -> FloatArray:
        """Characteristic function, in single precision where it is tiny."""
        turns = np.multiply.outer(sizes * (self.delta / (2.0 * np.pi)), k)
        cosines = np.cos(_angles(turns))
        function = _raised(cosines, counts).astype(np.float64)
        large = np.flatnonzero(np.abs(function) > SINGLE * k)
        if large.size:
            t = k[large] * self.delta
            function[large] = products(sizes[None, :], counts, t)[0]
        return function

    def _alive(self, sizes: FloatArray, counts: FloatArray, last: int) -> FloatArray:
        """Numbers of the frequencies whose function may not be negligible."""
        if counts.size <= SAMPLES[0]:
            every = np.arange(self.n_main + 1.0, last + 1.0)
            return self._left(sizes, counts, every)
        square = counts * sizes**2
        scale = float(np.sqrt(np.sum(square) / np.sum(counts)))
        # Up to π/2 a cosine is below e^(-y²/2): no lobe of all but the largest values.
        widest = WIDEST * scale
        first = np.sqrt(2.0 * NEGLIGIBLE / float(np.sum(square[sizes <= widest])))
        free = max(first, 0.5 * np.pi / widest) / self.delta
        near = np.arange(self.n_main + 1.0, min(last, first / self.delta) + 1.0)
        stride = int(max(STRIDE / np.sqrt(np.sum(square)), COARSE / scale) / self.delta)
        stride = max(1, stride)
        beyond = max(self.n_main, int(free))
        probes = np.arange(beyond + 0.5 * (stride + 1), last + 1.0, stride)
        half = 0.5 * stride * self.delta
        for most in SAMPLES:
            some = _sample(counts, most)
            log = _bound(sizes[some], counts[some], probes * self.delta, half)
            probes = probes[log > -NEGLIGIBLE]
        around = np.add.outer(probes, np.arange(stride) - 0.5 * (stride - 1)).ravel()
        return np.concatenate((near, around[around <= last]))

    def _left(self, sizes: FloatArray, counts: FloatArray, k: FloatArray) -> FloatArray:
        """Leave out frequencies at which one value alone makes φ negligible."""
        for place in np.argsort(-counts, kind="stable").tolist():
            if counts[place] < MANY or k.size == 0:
                break
            size, least = sizes[place], np.exp(-NEGLIGIBLE / counts[place])
            turns = k * (size * self.delta / (2.0 * np.pi))
            k = k[np.abs(np.cos(_angles(turns))) > least]
        return k

    def _around(self, centres: FloatArray, last: int) -> FloatArray:
        """Numbers of the frequencies in a main lobe's width around others."""
        near = np.rint(centres / self.delta)
        around = np.add.outer(near, np.arange(-self.n_main, self.n_main + 1.0))
        return np.unique(around[around > last])


def _angles(turns: FloatArray) -> NDArray[np.float32]:
    """Whole turns, less the nearest whole number of them, as angles."""
    turns -= np.rint(turns)
    turns *= 2.0 * np.pi
    return turns.astype(np.float32)


def _mean_square(sizes: FloatArray, counts: FloatArray, most: float) -> float:
    """Mean of |φ|² up to a frequency, as if the values turned independently.

    For values that have turned often it is the chance that two subsets tie.
    """
    angle = 2.0 * np.minimum(sizes * most, 1e3)
    slow = 0.5 * (1.0 + np.sin(angle) / np.maximum(angle, 1e-9))
    ties = 1.0 / np.sqrt(np.pi * counts + 0.86)
    return float(np.prod(np.minimum(1.0, np.maximum(ties, slow**counts))))


def _sample(counts: FloatArray, most: int) -> IntArray:
    """Numbers of some values, the largest of those that count most among them."""
    if counts.size <= most:
        return np.arange(counts.size)
    order = counts.size - 1 - np.argsort(-counts[::-1], kind="stable")
    half = most // 2
    rest = order[half:]
    return np.concatenate((order[:half], rest[:: max(1, rest.size // half)]))


def _bound(
    sizes: FloatArray, counts: FloatArray, t: FloatArray, half: float
) -> FloatArray:
    """Bound log Π |cos|^c within `half` of each frequency.

    From log cos y ≤ -y²/2 - y⁴/12, y the least distance to a multiple of π; `half`
    is widened by the rounding of single precision.
    """
    turns = np.multiply.outer((sizes / np.pi).astype(np.float32), t.astype(np.float32))
    slack = 1.5e-7 * float(t[-1]) * sizes if t.size else sizes
    y = np.abs(turns - np.rint(turns))
    y *= np.float32(np.pi)
    y -= (half * sizes + slack).astype(np.float32)[:, None]
    np.maximum(y, np.float32(0.0), out=y)
    y *= y
    y *= np.float32(0.5) + y / np.float32(12.0)
    log = np.einsum("i,ij->j", counts.astype(np.float32), y)
    return np.asarray(-log, dtype=np.float64)


def products(sizes: FloatArray, counts: FloatArray, t: FloatArray) -> FloatArray:
    """Characteristic functions Π cos(t a)^c.

    Parameters
    ----------
    sizes : ndarray of float, shape (n_laws, n_values)
    counts : ndarray of float, shape (n_values,)
    t : ndarray of float, shape (n_points,)

    Returns
    -------
    ndarray of float, shape (n_laws, n_points)
    """
    return _raised(np.cos(np.multiply.outer(sizes, t)), counts)


def _raised(cosines: FloatArray, counts: FloatArray) -> FloatArray:
    """Multiply along the last axis but one, each factor as often as it counts."""
    several = counts > 1.0
    if several.any():
        cosines[..., several, :] **= counts[several, None].astype(cosines.dtype)
    return np.asarray(np.multiply.reduce(cosines, axis=-2))
