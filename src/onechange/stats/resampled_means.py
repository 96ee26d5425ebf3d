"""Quantiles of a resampled mean from one pass over its characteristic function."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.listed import Cells, half_width, whole_power
from onechange.stats.series import SeriesMultinomialLaw, power_sums

__all__ = ["ResampledMean", "resampled_mean"]

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]
Run = tuple[int, ComplexArray]

SERIES_VALUES = 256
SIDES = 8.4  # standard deviations; e^(-z²/2) is 5e-16
ROOM = 4.5  # standard deviations that a quantile may be away
REACH = 60.0  # reciprocal root mean squares of a value
NEGLIGIBLE = 25.0  # logarithm of what is left out
DIRECT_VALUES = 64  # whose function is sooner taken than bounded
SAMPLE = 512
GROWTH = 1.35  # from bound to bound in the first lobe of a value
STRIDE = 0.8  # the same beyond, in reciprocal root mean squares
ALONE = 32_000  # products of matrices for which no threads are started
WIDTH = 128
MOST = 8e6  # products, for some twenty questions
AT_ONCE = 2**21  # products held in memory
ACCEPTED = 3e-8  # √n of it moves a limit by a millionth of a standard deviation
LUCK = 2.0  # standard deviations of a sum of random phases
NEWTON = 12
SOLVED = 1e-9  # standard errors
CLOSE = 1e-8


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

    def run(self, delta: float, start: int, shape: tuple[int, int]) -> ComplexArray:
        """Take it at a run of multiples of delta, from few cosines.

        With k = start + width·j + r, e^{itv} is a product of two factors, and the
        sum over the values a product of matrices.
        """
        rows = start + shape[1] * np.arange(float(shape[0]))
        columns = np.arange(float(shape[1]))
        one = np.zeros(shape, dtype=np.complex128)
        step = max(1, AT_ONCE // (shape[0] + shape[1]))
        for first in range(0, self.values.size, step):
            values = self.values[first : first + step]
            outer = np.exp(np.multiply.outer(1j * delta * rows, values))
            outer *= self.share[first : first + step]
            inner = np.exp(np.multiply.outer(values, 1j * delta * columns))
            _add_product(one, outer, inner)
        return whole_power(one.ravel(), self.n_draws).reshape(shape)

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
        cos, sin = _cosine_sums(t, values, share)
        square = cos[:, 0] ** 2 + sin[:, 0] ** 2
        slope = 2.0 * (sin[:, 0] * cos[:, 1] - cos[:, 0] * sin[:, 1])
        most = square + np.abs(slope) * half + self.variance * half**2
        most += slack * np.minimum(1.0, most)
        return np.asarray(0.5 * self.n_draws * np.log(np.minimum(most, 1.0)))


def _add_product(total: ComplexArray, outer: ComplexArray, inner: ComplexArray) -> None:
    """Add a product of matrices in pieces for which no threads are started."""
    step = max(1, ALONE // inner.size)
    for row in range(0, outer.shape[0], step):
        some = outer[row : row + step]
        # A single row would be another routine, which starts threads.
        if some.shape[0] == 1:
            total[row : row + step] += np.einsum("ij,jk->ik", some, inner)
        else:
            total[row : row + step] += some @ inner


def _cosine_sums(
    t: FloatArray, values: FloatArray, share: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Σ p cos(t v) and Σ p v cos(t v), the same for sines, in single precision."""
    both = np.column_stack((share, share * values)).astype(np.float32)
    cos, sin = np.empty((t.size, 2)), np.empty((t.size, 2))
    step = max(1, AT_ONCE // values.size)
    for first in range(0, t.size, step):
        rows = slice(first, first + step)
        w = np.multiply.outer(t[rows], values).astype(np.float32)
        cos[rows], sin[rows] = np.cos(w) @ both, np.sin(w) @ both
    return cos, sin


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
    main : ndarray of complex, shape (n_main,)
        Characteristic function of the sum about its mean in its main lobe, over π k.
    far : tuple of (int, ndarray of complex, shape (n_rows, width))
        The same for runs of frequencies beyond, with the number of the first.
    error : float
        Estimate of the error of a probability.
    """

    centre: float
    spread: float
    skewness: float
    kurtosis: float
    n_draws: int
    length: float
    main: ComplexArray
    far: tuple[Run, ...]
    error: float

    @property
    def accurate(self) -> bool:
        """Whether quantiles are good to a millionth of a value's deviation."""
        accuracy = float(np.sqrt(self.n_draws))
        return self.error <= 2.0 * ACCEPTED * accuracy

    @property
    def has_lobes(self) -> bool:
        """Whether frequencies beyond the main lobe count."""
        return len(self.far) > 0

    def at_most(self, point: float) -> float:
        """Probability of at most a point, an atom there halved."""
        x = (point - self.centre) * self.n_draws
        return self._below(x)[0] - self._beyond(x)

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
        for whole in (False, True) if self.far else (False,):
            for _ in range(NEWTON):
                below, density = self._below(x)
                if whole:
                    below -= self._beyond(x)
                if abs(x) > ROOM * sigma or not density > 0.0:
                    return None
                move = (probability - below) / density
                x += float(np.clip(move, -0.5 * sigma, 0.5 * sigma))
                if abs(move) <= (CLOSE if whole else SOLVED) * sigma:
                    break
        return self.centre + x / self.n_draws

    def _below(self, x: float) -> tuple[float, float]:
        """Probability of a sum of at most x, and its density, by the main lobe."""
        delta = 2.0 * np.pi / self.length
        k = np.arange(1.0, self.main.size + 1.0)
        terms = self.main * np.exp(-1j * (delta * x) * k)
        density = (1.0 + 2.0 * np.pi * float(np.sum(terms.real * k))) / self.length
        return 0.5 + x / self.length - float(np.sum(terms.imag)), density

    def _beyond(self, x: float) -> float:
        """Return what the other frequencies take from it."""
        turn = -2j * np.pi * x / self.length
        total = 0.0
        for start, values in self.far:
            n_rows, width = values.shape
            outer = np.exp(turn * (start + width * np.arange(float(n_rows))))
            inner = np.exp(turn * np.arange(float(width)))
            total += float(np.sum(np.einsum("i,ij->j", outer, values) * inner).imag)
        return total


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
    k = np.arange(1.0, n_main + 1.0)
    main = np.prod([part.function(k * delta) for part in parts], axis=0) / (np.pi * k)
    far, error = _beyond(parts, sigma, delta, n_main, n)
    return ResampledMean(
        centre=total / n,
        spread=sigma / n,
        skewness=third / sigma**3,
        kurtosis=fourth / sigma**4,
        n_draws=n,
        length=length,
        main=main,
        far=far,
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
) -> tuple[tuple[Run, ...], float]:
    """Find the frequencies beyond the main lobe that count; estimate an error."""
    scale = sigma / n**0.5
    width = sum(part.values.size for part in parts)
    least = max(4 * n_main, int(REACH / (scale * delta)))
    height = 0.0  # with many values two resamples never agree
    if width <= DIRECT_VALUES:
        height = float(np.exp(sum(_log_mean_square(part) for part in parts)))
    wanted = 0.6 * height * (LUCK / (2.0 * np.pi * ACCEPTED)) ** 2 / n
    last = max(least, int(wanted)) if wanted <= MOST / width else least
    ranges = [(n_main + 1, last)]
    if width > DIRECT_VALUES:
        ranges = _alive(parts, scale, delta, n_main, last)
    runs, square = [], 0.0
    for start, stop in ranges:
        shape = -(-(stop - start + 1) // WIDTH), min(WIDTH, stop - start + 1)
        values = parts[0].run(delta, start, shape)
        for part in parts[1:]:
            values *= part.run(delta, start, shape)
        k = start + np.arange(float(values.size)).reshape(shape)
        values[k > stop] = 0.0
        tail = values[k > last / 2]
        square += float(np.sum(tail.real**2) + np.sum(tail.imag**2))
        runs.append((start, values / (np.pi * k)))
    height = max(height, square / (0.5 * last))
    return tuple(runs), LUCK * float(np.sqrt(height / (2.0 * last))) / np.pi


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
