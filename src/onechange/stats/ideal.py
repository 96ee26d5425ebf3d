"""The ideal bootstrap: the law over all resamples, without drawing any.

Every statistic here is a ratio of sums, Σ W y / Σ W x, with random weights W (for a
mean over single questions x = 1). Its law is read off the sign of Σ W (y - r x).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from onechange.stats.gamma import gamma_sum_below
from onechange.stats.inversion import Law, upper_tail
from onechange.stats.laws import IndependentLaws, MultinomialLaw, PoissonLaw
from onechange.stats.listed import (
    Cells,
    ListedLaw,
    lattice_law,
    listed_law,
    listed_resamples,
)

__all__ = ["RatioLaw", "ResampledLaw", "resampled_law"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class ResampledLaw(Protocol):
    """The law of a resampled statistic."""

    def below(self, point: float) -> float:
        """Probability of less than a point plus half of the point itself."""

    def quantile(self, probability: float) -> float:
        """Smallest value whose cumulated probability reaches `probability`."""


@dataclass(frozen=True, slots=True, eq=False)
class RatioLaw:
    """A law computed from the sign of a random sum, where it is asked for.

    Parameters
    ----------
    strata : tuple of Cells
        Resampled apart from each other.
    weighting : str
        ``multinomial``, ``poisson`` or ``exponential`` weights of the units.
    step : float
        Distance of attainable values of the statistic, 0 when there is none.
    """

    strata: tuple[Cells, ...]
    weighting: str = "multinomial"
    step: float = 0.0

    def below(self, point: float) -> float:
        """Probability that the resampled ratio is below a point."""
        parts: list[Law] = []
        for cells in self.strata:
            moved = cells.y - point * cells.x
            if self.weighting == "exponential":
                return gamma_sum_below(moved, cells.counts)
            parts.append(_weighted(moved, cells.counts, self.weighting))
        law = parts[0] if len(parts) == 1 else IndependentLaws(tuple(parts))
        low, high = law.support()
        if high <= 0.0:
            return 1.0
        if low >= 0.0:
            return 0.0
        mean = law.moments(0.0)[1]
        if mean > 0.0:
            return upper_tail(law.opposite(), 0.0).probability
        return upper_tail(law, 0.0).complement().probability

    def quantile(self, probability: float) -> float:
        """Solve for the value with that probability below it."""
        centre, spread, low, high = self._location()
        root = _root(self.below, probability, centre, spread, low, high)
        if self.step > 0.0:
            return float(self.step * np.ceil(root / self.step - 0.5))
        return root

    def _location(self) -> tuple[float, float, float, float]:
        """Centre, standard error and range of the resampled ratio."""
        y = sum(float(c.y @ c.counts) for c in self.strata)
        x = sum(float(c.x @ c.counts) for c in self.strata)
        centre, variance, low, high = y / x, 0.0, np.inf, -np.inf
        for cells in self.strata:
            rest = cells.y - centre * cells.x
            mean = float(rest @ cells.counts) / cells.n_units
            variance += float((rest - mean) ** 2 @ cells.counts)
            some = cells.x > 0.0
            ratios = cells.y[some] / cells.x[some]
            low = min(low, float(np.min(ratios, initial=np.inf)))
            high = max(high, float(np.max(ratios, initial=-np.inf)))
        return centre, float(np.sqrt(variance)) / x, low, high


def resampled_law(
    strata: tuple[Cells, ...], *, weighting: str, mean: bool
) -> ResampledLaw:
    """Choose how the law of a resampled ratio of sums is computed.

    Parameters
    ----------
    strata : tuple of Cells
        Equal units taken together, per stratum.
    weighting : str
        ``multinomial``, ``poisson`` or ``exponential``.
    mean : bool
        Whether every denominator is one.

    Returns
    -------
    ResampledLaw
    """
    step = 0.0
    if weighting == "multinomial":
        if mean:
            found = lattice_law(strata)
            if isinstance(found, ListedLaw):
                return found
            step = found
        if len(strata) == 1:
            listed = listed_resamples(strata[0])
            if listed is not None:
                drawn, probability = listed
                denominator = strata[0].x @ drawn
                some = denominator > 0.0
                ratio = (strata[0].y @ drawn)[some] / denominator[some]
                kept = probability[some]
                return listed_law(ratio, kept / float(np.sum(kept)))
    return RatioLaw(strata, weighting, step)


def _weighted(moved: FloatArray, counts: IntArray, weighting: str) -> Law:
    if weighting == "poisson":
        return PoissonLaw(moved, counts)
    n = int(np.sum(counts))
    return MultinomialLaw(moved, counts / n, n)


def _root(
    below: Callable[[float], float],
    probability: float,
    centre: float,
    spread: float,
    lowest: float,
    highest: float,
) -> float:
    """Solve below(x) = probability for x, on the probit scale."""
    from scipy.special import ndtri

    target = float(ndtri(probability))
    low, high = lowest, highest
    z_low, z_high = -np.inf, np.inf
    guess = centre + target * spread
    for _ in range(100):
        if high - low <= 1e-10 * spread:
            break
        if not low < guess < high:
            guess = 0.5 * (low + high)
        z = float(ndtri(below(guess)))
        if abs(z - target) < 1e-12:
            return guess
        if z < target:
            low, z_low = guess, z
        else:
            high, z_high = guess, z
        if np.isfinite(z_low) and np.isfinite(z_high):
            guess = low + (high - low) * (target - z_low) / (z_high - z_low)
        else:
            guess = guess + 1.1 * (target - z) * spread
    return 0.5 * (low + high)
