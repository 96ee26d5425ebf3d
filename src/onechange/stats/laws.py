"""Cumulant functions of random sums: signs, resamples, and Dirichlet weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.envelope import NEGLIGIBLE, screen, spectrum
from onechange.stats.inversion import Law

__all__ = ["IndependentLaws", "MultinomialLaw", "PoissonLaw", "SignLaw"]

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]
IntArray = NDArray[np.int64]

LOG_TWO = float(np.log(2.0))
ENVELOPE_VALUES = 64
ENOUGH_VALUES = 4096
MANY_VALUES = 200  # from here on the envelope is taken from binned values


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
    counts: IntArray | FloatArray

    def tilted(self, tilt: float, t: FloatArray) -> ComplexArray:
        """Π (cos(t a) + i tanh(θ a) sin(t a))."""
        product = np.ones(t.size, dtype=np.complex128)
        tanh = np.tanh(tilt * self.sizes)
        for part in _chunks(self.sizes.size, t.size):
            w = np.multiply.outer(self.sizes[part], t)
            power = np.empty(w.shape, dtype=np.complex128)
            np.cos(w, out=power.real)
            np.multiply(np.sin(w), tanh[part, None], out=power.imag)
            left = self.counts[part].astype(np.int64)
            while True:  # powers by repeated squaring
                odd = left % 2 == 1
                product *= np.multiply.reduce(power if odd.all() else power[odd])
                left = left // 2
                more = left > 0
                if not more.any():
                    break
                power, left = power[more] ** 2, left[more]
        return product

    @property
    def n_terms(self) -> int:
        """Number of terms of the sum."""
        return int(np.sum(self.counts))

    def support(self) -> tuple[float, float]:
        """Smallest and largest possible sum."""
        total = float(np.sum(self.sizes * self.counts))
        return -total, total

    def opposite(self) -> SignLaw:
        """Law of the sum with its sign changed."""
        return self

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Return the cumulant function and its derivatives at a real point."""
        w = abs(tilt) * self.sizes
        decay = np.exp(-2.0 * w)
        value = np.sum(self.counts * (w + np.log1p(decay) - LOG_TWO))
        tanh = (1.0 - decay) / (1.0 + decay)
        slope = np.copysign(np.sum(self.counts * self.sizes * tanh), tilt)
        curvature = np.sum(self.counts * self.sizes**2 * (1.0 - tanh) * (1.0 + tanh))
        return float(value), float(slope), float(curvature)

    def log_envelope(self, tilt: float, t: FloatArray) -> FloatArray:
        """Bound log |φ| of the tilted law.

        Notes
        -----
        A factor has |φ|² = 1 - w sin²(t a) with w = sech²(θ a); many of them are
        bounded by log |φ| ≤ -w (1 - cos 2 t a) / 4.
        """
        shrink = np.cosh(np.minimum(np.abs(tilt * self.sizes), 300.0)) ** -2.0
        weights = self.counts * shrink
        if self.sizes.size > MANY_VALUES:
            # Every factor is at most one: some thousand values bound the product,
            # but near zero, where sin² x ≥ x² - x⁴/3 bounds it by all of them.
            some = slice(None, None, max(1, self.sizes.size // ENOUGH_VALUES))
            both = np.concatenate((2.0 * self.sizes[some], -2.0 * self.sizes[some]))
            cosine = spectrum(both, np.concatenate((weights[some], weights[some])), t)
            log = -0.25 * float(np.sum(weights[some])) * (1.0 - cosine)
            log = np.where(np.isnan(log), NEGLIGIBLE, log)
            square = self.sizes**2
            second = float(np.sum(weights * square))
            fourth = float(np.sum(weights * square**2))
            return np.minimum(log, -0.5 * t**2 * (second - t**2 * fourth / 3.0))
        top = np.argsort(-weights, kind="stable")[:ENVELOPE_VALUES]
        counts = self.counts[top].astype(np.float64)
        return screen(t, self.sizes[top], shrink[top], counts)


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

    def tilted(self, tilt: float, t: FloatArray) -> ComplexArray:
        """Return (Σ q e^{i t v})^n with the tilted probabilities q."""
        weight = self._tilted_probability(tilt)
        total = np.zeros(t.size, dtype=np.complex128)
        for part in _chunks(self.values.size, t.size):
            w = np.multiply.outer(self.values[part], t)
            total.real += np.einsum("ij,i->j", np.cos(w), weight[part])
            total.imag += np.einsum("ij,i->j", np.sin(w), weight[part])
        with np.errstate(divide="ignore"):
            return np.asarray(np.exp(self.n_draws * np.log(total)))

    def _tilted_probability(self, tilt: float) -> FloatArray:
        w = tilt * self.values
        weight = self.probability * np.exp(w - np.max(w))
        return np.asarray(weight / np.sum(weight))

    @property
    def n_terms(self) -> int:
        """Number of terms of the sum."""
        return self.n_draws

    def support(self) -> tuple[float, float]:
        """Smallest and largest possible sum."""
        low, high = float(np.min(self.values)), float(np.max(self.values))
        return self.n_draws * low, self.n_draws * high

    def opposite(self) -> MultinomialLaw:
        """Law of the sum with its sign changed."""
        return MultinomialLaw(-self.values, self.probability, self.n_draws)

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Return the cumulant function and its derivatives at a real point."""
        top = float(np.max(tilt * self.values))
        weight = self.probability * np.exp(tilt * self.values - top)
        mass = float(np.sum(weight))
        mean = float(np.sum(weight * self.values)) / mass
        variance = float(np.sum(weight * (self.values - mean) ** 2)) / mass
        n = self.n_draws
        return n * (float(np.log(mass)) + top), n * mean, n * variance

    def log_envelope(self, tilt: float, t: FloatArray) -> FloatArray:
        """Return log |φ| of the tilted law, from binned values where they are many."""
        if self.values.size <= ENVELOPE_VALUES:
            return _modulus(self, tilt, t)
        weight = self._tilted_probability(tilt)
        log = self.n_draws * np.log(spectrum(self.values, weight, t) + 1e-300)
        return np.where(np.isnan(log), NEGLIGIBLE, log)


@dataclass(frozen=True, slots=True, eq=False)
class PoissonLaw:
    """The law of Σ N v with independent Poisson(1) numbers N.

    Parameters
    ----------
    values : ndarray of float, shape (n_values,)
        Distinct values.
    counts : ndarray of int, shape (n_values,)
        Number of terms with that value.
    """

    values: FloatArray
    counts: IntArray

    def tilted(self, tilt: float, t: FloatArray) -> ComplexArray:
        """Return exp Σ c e^{θ v} (e^{i t v} - 1)."""
        weight = self.counts * np.exp(tilt * self.values)
        total = np.full(t.size, -np.sum(weight), dtype=np.complex128)
        for part in _chunks(self.values.size, t.size):
            w = np.multiply.outer(self.values[part], t)
            total.real += np.einsum("ij,i->j", np.cos(w), weight[part])
            total.imag += np.einsum("ij,i->j", np.sin(w), weight[part])
        return np.asarray(np.exp(total))

    @property
    def n_terms(self) -> int:
        """Number of terms of the sum."""
        return int(np.sum(self.counts))

    def support(self) -> tuple[float, float]:
        """Smallest and largest possible sum."""
        low, high = float(np.min(self.values)), float(np.max(self.values))
        return (-np.inf if low < 0.0 else 0.0), (np.inf if high > 0.0 else 0.0)

    def opposite(self) -> PoissonLaw:
        """Law of the sum with its sign changed."""
        return PoissonLaw(-self.values, self.counts)

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Return the cumulant function and its derivatives at a real point."""
        with np.errstate(over="ignore"):
            weight = self.counts * np.exp(tilt * self.values)
        value = float(np.sum(self.counts * np.expm1(tilt * self.values)))
        slope = float(np.sum(weight * self.values))
        return value, slope, float(np.sum(weight * self.values**2))

    def log_envelope(self, tilt: float, t: FloatArray) -> FloatArray:
        """Return log |φ| of the tilted law."""
        return _modulus(self, tilt, t)


@dataclass(frozen=True, slots=True, eq=False)
class IndependentLaws:
    """The law of a sum of independent sums, such as one per stratum.

    Parameters
    ----------
    parts : tuple of Law
    """

    parts: tuple[Law, ...]

    def tilted(self, tilt: float, t: FloatArray) -> ComplexArray:
        """Product of the parts' characteristic functions."""
        product = np.ones(t.size, dtype=np.complex128)
        for part in self.parts:
            product *= part.tilted(tilt, t)
        return product

    @property
    def n_terms(self) -> int:
        """Number of terms of the sum."""
        return sum(part.n_terms for part in self.parts)

    def support(self) -> tuple[float, float]:
        """Smallest and largest possible sum."""
        ends = [part.support() for part in self.parts]
        return sum(low for low, _ in ends), sum(high for _, high in ends)

    def opposite(self) -> IndependentLaws:
        """Law of the sum with its sign changed."""
        return IndependentLaws(tuple(part.opposite() for part in self.parts))

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Return the cumulant function and its derivatives at a real point."""
        each = [part.moments(tilt) for part in self.parts]
        value, slope, curvature = (sum(column) for column in zip(*each, strict=True))
        return value, slope, curvature

    def log_envelope(self, tilt: float, t: FloatArray) -> FloatArray:
        """Return the sum of the parts' bounds."""
        total = np.zeros(t.size)
        for part in self.parts:
            total += part.log_envelope(tilt, t)
        return total


def _modulus(law: Law, tilt: float, t: FloatArray) -> FloatArray:
    """Log |φ| of a tilted law from its characteristic function."""
    return np.asarray(np.log(np.abs(law.tilted(tilt, t)) + 1e-300))


def _chunks(n_values: int, n_points: int) -> list[slice]:
    """Slices of the values that keep the matrix of a step below 16 MB."""
    size = max(1, 1_000_000 // max(1, n_points))
    return [slice(i, i + size) for i in range(0, n_values, size)]
