"""Cumulant functions of many terms through the power sums of their bulk.

Σ f(z v) over a million values costs a few dozen additions once Σ v^r is known, for
every z that keeps |z v| inside the radius of convergence of f. The few values
outside of it are added one by one. Power sums about the mean serve every shift of
the values, so all steps of an interval search share one pass over the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from onechange.stats.inversion import Law
from onechange.stats.laws import MultinomialLaw, SignLaw

__all__ = [
    "PowerSums",
    "SeriesMultinomialLaw",
    "SeriesSignLaw",
    "moved_sign_functions",
    "power_sums",
]

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]
IntArray = NDArray[np.int64]

REACH = 16.0  # frequencies in standard errors that the series serve by default
BULK = 0.45  # largest |z v| of the bulk
LARGEST = 0.6  # the same with the shift; log cosh converges up to π/2
MAX_ORDER = 40
BLOCK = 16_384  # values per pass, so that they stay in the cache


@dataclass(frozen=True, slots=True, eq=False)
class PowerSums:
    """Values about their mean: power sums of the bulk, and the outliers.

    Parameters
    ----------
    centre : float
        Subtracted from the values, such as their mean.
    values : ndarray of float, shape (n_values,)
        Distinct values minus the centre, ascending.
    counts : ndarray of int, shape (n_values,)
        Number of terms per value.
    scale : float
        Largest absolute value in the bulk.
    sums : ndarray of float, shape (n_orders,)
        Σ c (v / scale)^r over the bulk.
    outliers : ndarray of float, shape (n_outliers,)
        Values outside the bulk.
    outlier_counts : ndarray of float, shape (n_outliers,)
    radius : float
        Largest |z| that the sums serve.
    """

    centre: float
    values: FloatArray
    counts: IntArray
    scale: float
    sums: FloatArray
    outliers: FloatArray
    outlier_counts: FloatArray
    radius: float


def power_sums(
    values: FloatArray,
    counts: IntArray,
    *,
    centre: float | None = None,
    reach: float = REACH,
) -> PowerSums:
    """Take one pass over distinct values.

    Parameters
    ----------
    values : ndarray of float, shape (n_values,)
        Distinct values, ascending, not all equal.
    counts : ndarray of int, shape (n_values,)
        Number of terms per value.
    centre : float, optional
        Subtracted from the values; the mean by default.
    reach : float
        Frequencies that are served, in reciprocal standard deviations of the sum.

    Returns
    -------
    PowerSums
    """
    weight = counts.astype(np.float64)
    if centre is None:
        centre = float(np.sum(values * weight)) / float(np.sum(weight))
    moved = values - centre
    radius = reach / float(np.sqrt(np.sum(moved**2 * weight)))
    first, last = np.searchsorted(moved, (-BULK / radius, BULK / radius))
    bulk, bulk_weight = moved[first:last], weight[first:last]
    scale = float(np.max(np.abs(bulk), initial=0.0)) or 1.0
    # Enough orders for the bulk moved by a tenth of its width, too.
    ratio = min(LARGEST, 1.5 * radius * scale) / (np.pi / 2.0)
    order = int(np.clip(np.ceil(-42.0 / np.log(ratio)), 8, MAX_ORDER))
    return PowerSums(
        centre=centre,
        values=moved,
        counts=counts,
        scale=scale,
        sums=_sums(bulk / scale, bulk_weight, order),
        outliers=np.concatenate((moved[:first], moved[last:])),
        outlier_counts=np.concatenate((weight[:first], weight[last:])),
        radius=radius,
    )


def _sums(values: FloatArray, weight: FloatArray, order: int) -> FloatArray:
    sums = np.zeros(order + 1)
    for start in range(0, values.size, BLOCK):
        base = values[start : start + BLOCK]
        power = weight[start : start + BLOCK].copy()
        for r in range(order + 1):
            sums[r] += np.sum(power)
            power *= base
    return sums


@dataclass(frozen=True, slots=True, eq=False)
class SeriesSignLaw:
    """The law of Σ ±(v + shift) with independent fair signs.

    Parameters
    ----------
    base : PowerSums
    shift : float
        Added to every value; within `fits`.
    even : ndarray of float, shape (n_orders,)
        Coefficients of the even powers of z scale, from the second on.
    """

    base: PowerSums
    shift: float
    even: FloatArray

    @classmethod
    def of(cls, base: PowerSums, shift: float) -> SeriesSignLaw | None:
        """Return the law, or None when the shift is too large for the series."""
        order = (base.sums.size - 1) // 2
        width = 1.0 + abs(shift) / base.scale
        ratio = base.radius * base.scale * width / (np.pi / 2.0)
        if ratio > LARGEST / (np.pi / 2.0) or 2 * order * np.log(ratio) > -34.0:
            return None
        return cls(base, shift, _even_sums(base.sums, shift / base.scale, order))

    def tilted(self, tilt: float, t: FloatArray) -> ComplexArray:
        """Characteristic function of the law tilted by e^{tilt·y}, at `t`."""
        z = tilt + 1j * t
        near = np.abs(z) <= self.base.radius
        if not near.all() or tilt > self.base.radius:
            return _by_parts(self, self._direct(), tilt, t, near)
        square: ComplexArray = np.square(z * self.base.scale)
        series = _polynomial(self.even, square) * square
        u = (tilt * self.base.scale) ** 2
        series -= float(np.sum(self.even * u ** np.arange(self.even.size))) * u
        return np.asarray(np.exp(series) * self._outliers().tilted(tilt, t))

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Return the cumulant function and its derivatives at a real point."""
        if abs(tilt) > self.base.radius:
            return self._direct().moments(tilt)
        value, slope, curvature = self._outliers().moments(tilt)
        u = tilt * self.base.scale
        r = 2.0 * np.arange(1, self.even.size + 1)
        powers = u ** (r - 2.0) * self.even
        value += float(np.sum(powers)) * u * u
        slope += float(np.sum(powers * r)) * u * self.base.scale
        curvature += float(np.sum(powers * r * (r - 1.0))) * self.base.scale**2
        return value, slope, curvature

    def support(self) -> tuple[float, float]:
        """Smallest and largest possible sum."""
        return self._direct().support()

    def opposite(self) -> SeriesSignLaw:
        """Law of the sum with its sign changed."""
        return self

    @property
    def n_terms(self) -> int:
        """Number of terms of the sum."""
        return int(np.sum(self.base.counts))

    def log_envelope(self, tilt: float, t: FloatArray) -> FloatArray:
        """Bound log |φ| of the tilted law."""
        return self._direct().log_envelope(tilt, t)

    def _outliers(self) -> SignLaw:
        sizes = np.abs(self.base.outliers + self.shift)
        return SignLaw(sizes, self.base.outlier_counts)

    def _direct(self) -> SignLaw:
        sizes = np.abs(self.base.values + self.shift)
        return SignLaw(sizes, self.base.counts)


def moved_sign_functions(
    base: PowerSums, shifts: FloatArray, t: FloatArray
) -> FloatArray | None:
    """Characteristic functions of Σ ±(v + shift) for some shifts at once.

    Parameters
    ----------
    base : PowerSums
    shifts : ndarray of float, shape (n_laws,)
    t : ndarray of float, shape (n_points,)
        Frequencies within the radius of the power sums.

    Returns
    -------
    ndarray of float, shape (n_laws, n_points), or None
        None where a shift is too large for the series.
    """
    widest = shifts[np.argmax(np.abs(shifts))]
    if SeriesSignLaw.of(base, float(widest)) is None:
        return None
    order = (base.sums.size - 1) // 2
    coefficients, binomials, exponents = _expansion(order)
    powers = (shifts / base.scale)[:, None] ** np.arange(2.0 * order + 1.0)
    weights = binomials * base.sums[: 2 * order + 1]
    even = coefficients * np.einsum("mrj,rj->mr", powers[:, exponents], weights)
    square = -((t * base.scale) ** 2)
    log = np.einsum("mr,rt->mt", even, square ** np.arange(1.0, order + 1.0)[:, None])
    outer = np.multiply.outer(base.outliers + shifts[:, None], t)
    cosines = np.cos(outer) ** base.outlier_counts[:, None]
    return np.asarray(np.exp(log) * np.multiply.reduce(cosines, axis=1))


def _even_sums(sums: FloatArray, shift: float, order: int) -> FloatArray:
    """Coefficients of log cosh times Σ (u + shift)^{2r}, r = 1 … order."""
    coefficients, binomials, exponents = _expansion(order)
    powers = shift ** np.arange(2.0 * order + 1.0)
    shifted = binomials * powers[exponents]
    return np.asarray(coefficients * np.sum(shifted * sums[: 2 * order + 1], axis=1))


@cache
def _expansion(order: int) -> tuple[FloatArray, FloatArray, IntArray]:
    """Taylor coefficients of log cosh, and how (u + shift)^{2r} expands.

    The coefficients come from the equation tanh' = 1 - tanh².
    """
    tanh = [1.0]  # coefficients of x, x³, x⁵ …
    for n in range(1, order):
        convolution = sum(tanh[i] * tanh[n - 1 - i] for i in range(n))
        tanh.append(-convolution / (2 * n + 1))
    coefficients = np.array(tanh) / (2.0 * np.arange(1, order + 1))
    binomials = np.zeros((order, 2 * order + 1))
    exponents = np.zeros((order, 2 * order + 1), dtype=np.int64)
    for r in range(1, order + 1):
        for j in range(2 * r + 1):
            binomials[r - 1, j] = float(comb(2 * r, j))
            exponents[r - 1, j] = 2 * r - j
    return np.asarray(coefficients), binomials, exponents


@dataclass(frozen=True, slots=True, eq=False)
class SeriesMultinomialLaw:
    """The law of the sum of as many draws, with replacement, as there are terms.

    Parameters
    ----------
    base : PowerSums
        The draws are of values about their mean.
    """

    base: PowerSums

    @property
    def n_terms(self) -> int:
        """Number of draws."""
        return int(np.sum(self.base.counts))

    def tilted(self, tilt: float, t: FloatArray) -> ComplexArray:
        """Characteristic function of the law tilted by e^{tilt·y}, at `t`."""
        z = tilt + 1j * t
        near = np.abs(z) <= self.base.radius
        if not near.all() or tilt > self.base.radius:
            return _by_parts(self, self._direct(), tilt, t, near)
        mass = self._mass(np.concatenate(([tilt], z)))
        return np.asarray(np.exp(self.n_terms * np.log(mass[1:] / mass[0])))

    def _mass(self, z: ComplexArray) -> ComplexArray:
        """Return Σ c e^{z v}."""
        coefficients = self.base.sums / _factorials(self.base.sums.size)
        mass = _polynomial(coefficients, z * self.base.scale)
        if self.base.outliers.size:
            outer = np.exp(np.multiply.outer(z, self.base.outliers))
            mass += np.einsum("ij,j->i", outer, self.base.outlier_counts)
        return mass

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Return the cumulant function and its derivatives at a real point."""
        if abs(tilt) > self.base.radius:
            return self._direct().moments(tilt)
        n, scale = self.n_terms, self.base.scale
        u = tilt * scale
        powers = u ** np.arange(self.base.sums.size) / _factorials(self.base.sums.size)
        far = self.base.outlier_counts * np.exp(tilt * self.base.outliers)
        mass = float(np.sum(powers * self.base.sums) + np.sum(far))
        first = scale * float(np.sum(powers[:-1] * self.base.sums[1:]))
        first += float(np.sum(far * self.base.outliers))
        second = scale**2 * float(np.sum(powers[:-2] * self.base.sums[2:]))
        second += float(np.sum(far * self.base.outliers**2))
        mean = first / mass
        return n * float(np.log(mass / n)), n * mean, n * (second / mass - mean**2)

    def support(self) -> tuple[float, float]:
        """Smallest and largest possible sum."""
        return self._direct().support()

    def opposite(self) -> SeriesMultinomialLaw:
        """Law of the sum with its sign changed."""
        signs = np.where(np.arange(self.base.sums.size) % 2 == 0, 1.0, -1.0)
        return SeriesMultinomialLaw(
            PowerSums(
                centre=-self.base.centre,
                values=-self.base.values[::-1],
                counts=self.base.counts[::-1],
                scale=self.base.scale,
                sums=self.base.sums * signs,
                outliers=-self.base.outliers,
                outlier_counts=self.base.outlier_counts,
                radius=self.base.radius,
            )
        )

    def log_envelope(self, tilt: float, t: FloatArray) -> FloatArray:
        """Bound log |φ| of the tilted law."""
        return self._direct().log_envelope(tilt, t)

    def _direct(self) -> MultinomialLaw:
        n = self.n_terms
        return MultinomialLaw(self.base.values, self.base.counts / n, n)


def _polynomial(coefficients: FloatArray, z: ComplexArray) -> ComplexArray:
    """Return Σ c_r z^r."""
    powers = np.empty((coefficients.size, z.size), dtype=np.complex128)
    powers[0], powers[1:] = 1.0, z
    np.multiply.accumulate(powers, axis=0, out=powers)
    return np.asarray(np.einsum("i,ij->j", coefficients, powers))


def _by_parts(
    series: Law, direct: Law, tilt: float, t: FloatArray, near: NDArray[np.bool_]
) -> ComplexArray:
    """Take the frequencies that the power sums do not serve term by term."""
    if not near.any():
        return direct.tilted(tilt, t)
    value = np.empty(t.size, dtype=np.complex128)
    value[near] = series.tilted(tilt, t[near])
    value[~near] = direct.tilted(tilt, t[~near])
    return value


def _factorials(size: int) -> FloatArray:
    return np.asarray(np.cumprod(np.maximum(1.0, np.arange(size, dtype=np.float64))))
