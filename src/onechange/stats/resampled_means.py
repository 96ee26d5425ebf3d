"""Quantiles of a resampled mean from one pass over its characteristic function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.listed import Cells, half_width, whole_power
from onechange.stats.series import SeriesMultinomialLaw, power_sums

__all__ = ["ResampledMean", "resampled_mean"]

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]

SERIES_VALUES = 256
SIDES = 8.4  # standard deviations; e^(-z²/2) is 5e-16
ROOM = 4.5  # standard deviations that a quantile may be away
REACH = 60.0  # reciprocal root mean squares of a value
NEGLIGIBLE = 25.0  # logarithm of what is left out
DIRECT_VALUES = 64  # whose function is sooner taken than bounded
SAMPLE = 512
GROWTH = 1.35  # from bound to bound in the first lobe of a value
STRIDE = 0.7  # the same beyond, in reciprocal root mean squares
SINGLE = 1e-6  # larger terms need double precision
MOST = 8e6  # cosines, for some twenty questions
BLOCK = 60_000
ACCEPTED = 3e-8  # √n of it is a millionth of a standard deviation of the values
LUCK = 2.0  # standard deviations of a sum of random phases
NEWTON = 12
CLOSE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class _Stratum:
    """Draws with replacement from values with mean zero."""

    values: FloatArray
    share: FloatArray
    n_draws: int

    @property
    def variance(self) -> float:
        return float(self.share @ self.values**2)

    def function(self, t: FloatArray) -> ComplexArray:
        """Characteristic function of the sum."""
        if self.values.size > SERIES_VALUES:
            counts = np.rint(self.share * self.n_draws).astype(np.int64)
            series = SeriesMultinomialLaw(power_sums(self.values, counts))
            return series.tilted(0.0, t)
        w = np.multiply.outer(t, self.values)
        return whole_power(
            np.cos(w) @ self.share + 1j * (np.sin(w) @ self.share), self.n_draws
        )

    def rough_function(self, t: FloatArray) -> ComplexArray:
        """Take it from cosines in single precision."""
        turns = np.multiply.outer(t / (2.0 * np.pi), self.values)
        turns -= np.rint(turns)
        w = (2.0 * np.pi * turns).astype(np.float32)
        share = self.share.astype(np.float32)
        one = (np.cos(w) @ share).astype(np.complex128)
        one.imag = np.sin(w) @ share
        return whole_power(one, self.n_draws)

    def log_bound(self, t: FloatArray, half: FloatArray) -> FloatArray:
        """Bound log |φ| around each frequency, half a width to either side.

        From ψ = |φ|² of one draw, ψ(t + h) ≤ ψ(t) + |ψ'(t) h| + V h².
        """
        values, share, slack = self.values, self.share, 1e-4
        few = t * np.sqrt(self.variance) >= 1.0
        if few.all() and values.size > SAMPLE:
            place = np.cumsum(share) - 0.5 * share
            middle = (np.arange(SAMPLE) + 0.5) / SAMPLE
            values = values[np.searchsorted(place, middle).clip(max=values.size - 1)]
            share, slack = np.full(SAMPLE, 1.0 / SAMPLE), 0.1
        w = np.multiply.outer(t, values).astype(np.float32)
        both = np.column_stack((share, share * values)).astype(np.float32)
        cos, sin = (
            (np.cos(w) @ both).astype(np.float64),
            (np.sin(w) @ both).astype(float),
        )
        square = cos[:, 0] ** 2 + sin[:, 0] ** 2
        slope = 2.0 * (sin[:, 0] * cos[:, 1] - cos[:, 0] * sin[:, 1])
        most = square + np.abs(slope) * half + self.variance * half**2
        return (
            0.5
            * self.n_draws
            * np.log(np.minimum(most + slack * np.minimum(1.0, most), 1.0))
        )


@dataclass(frozen=True, slots=True, eq=False)
class ResampledMean:
    """The law of a mean over all resamples, smooth as far as it is known.

    Parameters
    ----------
    centre, spread, skewness, kurtosis : float
        Moments of the resampled mean.
    n_draws : int
        Number of questions.
    length : float
        Period of the sum, as in `sawtooth`.
    k : ndarray of float, shape (n_frequencies,)
        Numbers of the frequencies, those of the main lobe first.
    n_main : int
    function : ndarray of complex, shape (n_frequencies,)
        Characteristic function of the sum about its mean, over π k.
    error : float
        Estimate of the error of a probability.
    """

    centre: float
    spread: float
    skewness: float
    kurtosis: float
    n_draws: int
    length: float
    k: FloatArray
    n_main: int
    function: ComplexArray
    error: float

    @property
    def accurate(self) -> bool:
        """Whether quantiles are good to a millionth of a value's deviation."""
        return self.error <= 2.0 * ACCEPTED * self.n_draws**0.5

    @property
    def has_lobes(self) -> bool:
        """Whether frequencies beyond the main lobe count."""
        return self.k.size > self.n_main

    def at_most(self, point: float) -> float:
        """Probability of at most a point, an atom there halved."""
        return self._below((point - self.centre) * self.n_draws, self.k.size)[0]

    def quantile(self, probability: float) -> float | None:
        """Solve for the value with that probability below it.

        Parameters
        ----------
        probability : float

        Returns
        -------
        float or None
            None where it lies too far out for the period.
        """
        from scipy.special import ndtri

        z = float(ndtri(probability))
        start = z + (z * z - 1.0) * self.skewness / 6.0
        start += (z**3 - 3.0 * z) * self.kurtosis / 24.0
        start -= (2.0 * z**3 - 5.0 * z) * self.skewness**2 / 36.0
        sigma = self.spread * self.n_draws
        x = float(np.clip(start, z - 1.0, z + 1.0)) * sigma
        for size in (self.n_main, self.k.size):
            for _ in range(NEWTON):
                below, density = self._below(x, size)
                if abs(x) > ROOM * sigma or not density > 0.0:
                    return None
                move = (probability - below) / density
                x += float(np.clip(move, -0.5 * sigma, 0.5 * sigma))
                if abs(move) <= 1e-9 * sigma:
                    break
        return self.centre + x / self.n_draws

    def _below(self, x: float, size: int) -> tuple[float, float]:
        """Probability of a sum of at most x, and the density by the main lobe."""
        delta = 2.0 * np.pi / self.length
        terms = self.function[:size] * np.exp(-1j * (delta * x) * self.k[:size])
        below = 0.5 + x / self.length - float(np.sum(terms.imag))
        k = self.k[: self.n_main]
        density = float(terms.real[: self.n_main] @ (np.pi * k)) * delta / np.pi
        return below, 1.0 / self.length + density


def resampled_mean(strata: tuple[Cells, ...]) -> ResampledMean:
    """Take the characteristic function of a mean, where it is not negligible.

    Parameters
    ----------
    strata : tuple of Cells
        Resampled apart from each other; with x = 1 throughout, not all constant.

    Returns
    -------
    ResampledMean
    """
    parts, total = [], 0.0
    for cells in strata:
        share = cells.counts / cells.n_units
        mean = float(share @ cells.y)
        total += mean * cells.n_units
        if cells.y.size > 1:
            parts.append(_Stratum(cells.y - mean, share, cells.n_units))
    n = sum(cells.n_units for cells in strata)
    second, third, fourth = (sum(some) for some in zip(*map(_sums, parts), strict=True))
    sigma = float(np.sqrt(second))
    length = half_width([(p.values, p.share, p.n_draws) for p in parts]) + ROOM * sigma
    delta = 2.0 * np.pi / length
    n_main = int(np.ceil(SIDES / (sigma * delta)))
    main = np.arange(1.0, n_main + 1.0)
    values = np.prod([part.function(main * delta) for part in parts], axis=0)
    far, further, error = _beyond(parts, sigma, delta, n_main, n)
    k = np.concatenate((main, far))
    return ResampledMean(
        centre=total / n,
        spread=sigma / n,
        skewness=third / sigma**3,
        kurtosis=fourth / sigma**4,
        n_draws=n,
        length=length,
        k=k,
        n_main=n_main,
        function=np.concatenate((values, further)) / (np.pi * k),
        error=error,
    )


def _sums(part: _Stratum) -> tuple[float, float, float]:
    """Second to fourth cumulant of a sum of draws."""
    square, n = part.values**2, part.n_draws
    weighted = part.share * square
    second, fourth = float(np.sum(weighted)), float(weighted @ square)
    third = float(weighted @ part.values)
    return n * second, n * third, n * (fourth - 3.0 * second**2)


def _beyond(
    parts: list[_Stratum], sigma: float, delta: float, n_main: int, n: int
) -> tuple[FloatArray, ComplexArray, float]:
    """Frequencies beyond the main lobe that count, their function, and an error."""
    scale = sigma / n**0.5
    width = sum(part.values.size for part in parts)
    least = max(4 * n_main, int(REACH / (scale * delta)))
    height = 0.0  # with many values two resamples never agree
    if width <= DIRECT_VALUES:
        height = float(np.exp(sum(_log_mean_square(part) for part in parts)))
    wanted = 0.6 * height * (LUCK / (np.pi * ACCEPTED)) ** 2 / n
    # A quarter of it is enough for half of the accuracy; else it is not worth it.
    last = max(least, int(min(wanted, MOST / width)))
    if 0.25 * wanted > MOST / width:
        last = least
    ranges = [(n_main + 1, last)]
    if width > DIRECT_VALUES:
        ranges = _alive(parts, scale, delta, n_main, last)
    numbers, values = [np.zeros(0)], [np.zeros(0, dtype=np.complex128)]
    for k in _blocks(ranges, width):
        some = np.prod([part.rough_function(k * delta) for part in parts], axis=0)
        large = np.flatnonzero(np.abs(some) > SINGLE * k)
        if large.size:
            t = k[large] * delta
            some[large] = np.prod([part.function(t) for part in parts], axis=0)
        numbers.append(k)
        values.append(some)
    k, function = np.concatenate(numbers), np.concatenate(values)
    tail = np.abs(function[k > last / 2])
    height = max(height, float(np.sum(tail**2)) / (0.5 * last))
    return k, function, LUCK * float(np.sqrt(height / (2.0 * last))) / np.pi


def _log_mean_square(part: _Stratum) -> float:
    """Logarithm of E |φ|² over all frequencies: the chance that two resamples agree.

    The values but for the most frequent one turn independently: one draw is that
    one's share plus a complex normal variable, whose moments are known.
    """
    from scipy.special import gammaln

    n, most = part.n_draws, int(np.argmax(part.share))
    rest = float(part.share @ part.share) - float(part.share[most]) ** 2
    k = np.arange(n + 1.0)
    log = 2.0 * gammaln(n + 1.0) - gammaln(n - k + 1.0) - 2.0 * gammaln(k + 1.0)
    log += (n - k) * np.log(rest) + 2.0 * k * np.log(part.share[most])
    top = float(np.max(log))
    return min(0.0, top + float(np.log(np.sum(np.exp(log - top)))))


def _alive(
    parts: list[_Stratum], scale: float, delta: float, n_main: int, last: int
) -> list[tuple[int, int]]:
    """Ranges of frequencies whose function may not be negligible."""
    first = n_main * delta
    growing = max(0, int(np.ceil(np.log(1.0 / (scale * first)) / np.log(GROWTH))))
    near = first * GROWTH ** np.arange(growing + 1.0)
    far = np.arange(float(near[-1]), last * delta + STRIDE / scale, STRIDE / scale)
    ranges = []
    for edges in (near, far):
        middle, half = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
        log = sum(part.log_bound(middle, half) for part in parts)
        for i in np.flatnonzero(log > -NEGLIGIBLE).tolist():
            start, stop = int(edges[i] / delta) + 1, int(edges[i + 1] / delta)
            ranges.append((max(start, n_main + 1), min(stop, last)))
    return ranges


def _blocks(ranges: list[tuple[int, int]], width: int) -> Iterator[FloatArray]:
    """Yield numbers of frequencies, few enough for their cosines to stay in cache."""
    size = max(1, BLOCK // width)
    for start, stop in ranges:
        for first in range(start, stop + 1, size):
            yield np.arange(float(first), min(first + size, stop + 1))
