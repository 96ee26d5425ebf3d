"""Shares of subsets whose mean is δ or less, and where they reach a tail."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.sawtooth import Frequencies, products
from onechange.stats.series import PowerSums, moved_sign_functions, power_sums

__all__ = [
    "MeanShares",
    "SmoothLimits",
    "mean_shares",
    "normal_density",
    "smooth_limits",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

SERIES_VALUES = 600
REACH = 10.0  # standard errors; the main lobe ends before
ASIDE = 0.02  # distance of the two first trial values, in spreads
SOLVED = 1e-4  # in probits; one more step squares it
STEPS = 6
ACCURACY = 5e-7  # of a limit, in standard deviations of the values


@dataclass(frozen=True, slots=True, eq=False)
class MeanShares:
    """Units moved so that their mean is zero.

    Parameters
    ----------
    mean : float
        Sum of the values over the number of questions.
    values : ndarray of float, shape (n_values,)
        Sum of the differences of a unit from their mean.
    sizes, counts : ndarray of float, shape (n_values,)
        Questions of a unit; number of units.
    base : PowerSums, optional
        Of many values of single questions.
    """

    mean: float
    values: FloatArray
    sizes: FloatArray
    counts: FloatArray
    base: PowerSums | None

    @property
    def spread(self) -> float:
        """Standard deviation of the mean of a random subset, about."""
        square = _total(self.counts, self.values, self.values)
        return float(np.sqrt(square)) / _total(self.counts, self.sizes)

    def starts(self, tail: float) -> tuple[float, float]:
        """Limits by the expansion of Cornish and Fisher.

        Parameters
        ----------
        tail : float
        """
        from scipy.special import ndtri

        z = float(ndtri(tail))
        n = _total(self.counts, self.sizes)
        first = _total(self.counts, self.values, self.values)
        cross = _total(self.counts, self.values, self.sizes)
        second = _total(self.counts, self.sizes, self.sizes)
        limits = []
        for sign in (1.0, -1.0):
            y, delta = sign * z, 0.0
            for _ in range(2):
                # Solves n δ = y σ(δ), σ² = first - 2 cross δ + second δ².
                lead = n * n - y * y * second
                if lead <= 0.0:
                    break
                root = np.sqrt((y * y * cross) ** 2 + lead * y * y * first)
                delta = float((-y * y * cross + np.copysign(root, y)) / lead)
                square = (self.values - delta * self.sizes) ** 2
                weighted = self.counts * square  # products: a power takes far longer
                variance = float(np.sum(weighted))
                weighted *= square
                fourth = -2.0 * float(np.sum(weighted)) / variance**2
                weighted *= square
                sixth = 16.0 * float(np.sum(weighted)) / variance**3
                y = z + fourth / 24.0 * (z**3 - 3.0 * z)
                y += sixth / 720.0 * (z**5 - 10.0 * z**3 + 15.0 * z)
                y -= fourth**2 / 384.0 * (3.0 * z**5 - 24.0 * z**3 + 29.0 * z)
                y = sign * float(np.clip(y, 1.3 * z, 0.5 * z))
            limits.append(delta)
        return self.mean + limits[0], self.mean + limits[1]

    def laws(self, deltas: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Values moved by each δ, their variance, and the point of the sign law."""
        sizes = self.values - (deltas - self.mean)[:, None] * self.sizes
        moments = [
            (_total(own, own, self.counts), _total(own, self.counts)) for own in sizes
        ]
        variances, points = np.array(moments).T
        return sizes, variances, points

    def shares(
        self, some: Frequencies, sizes: FloatArray, points: FloatArray
    ) -> FloatArray:
        """Shares from the main lobe."""
        if self.base is None:
            return some.tails(points, products(sizes, self.counts, some.main))
        shifts = sizes[:, 0] - self.values[0] + self.base.centre
        main = moved_sign_functions(self.base, shifts, some.main)
        if main is None:
            main = products(sizes, self.counts, some.main)
        return some.tails(points, main)


def mean_shares(values: FloatArray, sizes: FloatArray, counts: IntArray) -> MeanShares:
    """Move units so that their mean is zero.

    Parameters
    ----------
    values, sizes : ndarray of float, shape (n_values,)
        Sum of the differences of a unit, and its number of questions.
    counts : ndarray of int, shape (n_values,)
        Number of units.

    Returns
    -------
    MeanShares
    """
    weight = counts.astype(np.float64)
    mean = _total(weight, values) / _total(weight, sizes)
    moved = values - mean * sizes
    base = None
    if values.size > SERIES_VALUES and bool(np.all(sizes == 1.0)):
        base = power_sums(moved, counts, reach=REACH)
    return MeanShares(mean, moved, sizes, weight, base)


def _total(*factors: FloatArray) -> float:
    """Sum of products, without the threads that `@` would start for every one."""
    product = factors[0]
    for factor in factors[1:]:
        product = product * factor
    return float(np.sum(product))


@dataclass(frozen=True, slots=True)
class SmoothLimits:
    """Limits of shares that are taken for smooth.

    Parameters
    ----------
    limits : tuple of float
    accurate : bool
        Whether they are as accurate as asked for; else they are a start.
    """

    limits: tuple[float, float]
    accurate: bool


def smooth_limits(
    units: MeanShares, tail: float, *, rough: bool = False
) -> SmoothLimits:
    """Solve for both limits at once.

    Parameters
    ----------
    units : MeanShares
    tail : float
        Half of the error level.
    rough : bool
        Whether they are wanted as a start only.

    Returns
    -------
    SmoothLimits

    Notes
    -----
    Secant steps on the probit scale, on which the shares are nearly lines. The
    frequencies beyond the main lobe enter from the second step on.
    """
    from scipy.special import ndtri

    starts = units.starts(tail)
    target = np.array([ndtri(tail), -ndtri(tail)])
    aside = ASIDE * units.spread * np.array([-1.0, -1.0, 1.0, 1.0])
    sizes, square, points = units.laws(np.tile(starts, 2) + aside)
    some = Frequencies.of(square, points)
    gaps = np.reshape(_probit(units.shares(some, sizes, points)), (2, 2)) - target
    slope = (gaps[1] - gaps[0]) / (aside[2] - aside[0])
    if np.min(slope) <= 0.0:  # an outlier parts the law
        return SmoothLimits(starts, False)
    at = np.array(starts) + aside[:2] - gaps[0] / slope
    if rough:
        return SmoothLimits((float(at[0]), float(at[1])), False)
    accuracy = ACCURACY * float(np.sqrt(np.sum(units.counts)))
    accepted = accuracy * normal_density(tail)
    for _ in range(STEPS):
        sizes, square, points = units.laws(at)
        if not some.fit(square, points):
            break
        shares, error = units.shares(some, sizes, points), 0.0
        for i in range(2):
            amount, doubt = some.beyond(
                np.abs(sizes[i]), units.counts, float(points[i]), accepted=accepted
            )
            shares[i] += amount
            error = max(error, doubt)
        gap = _probit(shares) - target
        at = at - gap / slope
        if np.max(np.abs(gap)) <= SOLVED:
            accurate = error <= 2.0 * accepted  # twice its standard deviation
            return SmoothLimits((float(at[0]), float(at[1])), accurate)
    return SmoothLimits(starts, False)


def _probit(shares: FloatArray) -> FloatArray:
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(shares, 1e-15, 1.0 - 1e-15)))


def normal_density(tail: float) -> float:
    """Return the density of the normal law at the quantile of a tail."""
    from scipy.special import ndtri

    return float(np.exp(-0.5 * float(ndtri(tail)) ** 2) / np.sqrt(2.0 * np.pi))
