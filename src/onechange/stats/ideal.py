"""The ideal bootstrap: the law over all resamples, without drawing any.

Every statistic here is a ratio of sums, Σ W y / Σ W x, with random weights W (for a
mean over single questions x = 1). Its law is read off the sign of Σ W (y - r x).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from onechange.stats.drawn import HalvedResamples, halved_resamples
from onechange.stats.exact import SERIES_VALUES
from onechange.stats.gamma import gamma_sum_below
from onechange.stats.inversion import REACH, Law, lobe_height, upper_tail
from onechange.stats.laws import IndependentLaws, MultinomialLaw, PoissonLaw
from onechange.stats.listed import (
    Cells,
    ListedLaw,
    grid_law,
    lattice_law,
    listed_law,
    listed_resamples,
)
from onechange.stats.poisson import poisson_lattice_law
from onechange.stats.resampled_means import ResampledMean, resampled_mean
from onechange.stats.roots import first_above
from onechange.stats.series import PowerSums, SeriesMultinomialLaw, power_sums

__all__ = ["RatioLaw", "ResampledLaw", "resampled_law"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class ResampledLaw(Protocol):
    """The law of a resampled statistic."""

    def below(self, point: float) -> float:
        """Probability of less than a point plus half of the point itself."""

    def tails(self, point: float) -> tuple[float, float]:
        """Probabilities of at most a point and of at least the point."""

    def quantile(self, probability: float) -> float:
        """Smallest value whose cumulated probability reaches `probability`."""


LISTED_RESAMPLES = 3e4
NO_LOBES = 1e-12  # nothing but the main lobe of the characteristic function counts
LOW_LOBES = 1e-7
SHALLOW = 1e-6  # tails that need no tilt


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
    sums : PowerSums, optional
        Of a mean of many values, to spare the pass over them.
    halves : HalvedResamples, optional
        Of a few units, to count instead of inverting.
    reach : float
        As in `upper_tail`.
    means : ResampledMean, optional
        The law of a mean, for its quantiles.
    """

    strata: tuple[Cells, ...]
    weighting: str = "multinomial"
    step: float = 0.0
    sums: PowerSums | None = None
    halves: HalvedResamples | None = None
    reach: float = REACH
    means: ResampledMean | None = None

    def below(self, point: float) -> float:
        """Probability that the resampled ratio is below a point."""
        if self.halves is not None:
            tiny = 1e-9 * self._location()[1]
            below, above = (self.halves.at_most(point + s * tiny) for s in (-1.0, 1.0))
            return 0.5 * (below + above)
        if self.means is not None:
            return self.means.at_most(point)
        return self._below(point, True)

    def tails(self, point: float) -> tuple[float, float]:
        """Probabilities of at most a point and of at least the point."""
        if self.halves is not None:
            tiny = 1e-9 * self._location()[1]
            less, least = (self.halves.at_most(point + s * tiny) for s in (-1.0, 1.0))
            return least, 1.0 - less
        if self.step == 0.0:
            least = self._below(point, True)
            return least, 1.0 - least
        place = point / self.step  # attainable values lie at whole numbers
        beyond = self.step * (np.floor(place + 1e-9) + 0.5)
        before = self.step * (np.ceil(place - 1e-9) - 0.5)
        return self._below(beyond, True), 1.0 - self._below(before, True)

    def quantile(self, probability: float) -> float:
        """Solve for the value with that probability below it."""
        from scipy.special import ndtri

        if self.means is not None and SHALLOW <= probability <= 1.0 - SHALLOW:
            found = self.means.quantile(probability)
            if found is not None:
                return self._attained(found)
        centre, spread, skewness, low, high = self._location()
        z = float(ndtri(probability))
        start = centre + (z + (z * z - 1.0) * skewness / 6.0) * spread
        if self.halves is not None:
            halves = self.halves
            _, root = first_above(
                lambda point, lobes: halves.at_most(point),
                probability,
                start=start,
                spread=spread,
                bounds=(low, high),
                smooth=lambda point: self._below(point, False),
                accuracy=1e-6,
            )
            return root
        _, root = first_above(
            self._below,
            probability,
            start=start,
            spread=spread,
            bounds=(low, high),
            lobes=self.reach > 0.0,
        )
        return self._attained(root)

    def _attained(self, root: float) -> float:
        """Return the attainable value at a root between two of them."""
        if self.step > 0.0:
            return float(self.step * np.ceil(root / self.step - 0.5))
        return root

    def _below(self, point: float, lobes: bool) -> float:
        if self.weighting == "exponential":
            cells = self.strata[0]
            return gamma_sum_below(cells.y - point * cells.x, cells.counts)
        if self.sums is not None:
            law: Law = SeriesMultinomialLaw(self.sums)
            place = law.n_terms * (point - self.sums.centre)
        else:
            parts = [
                _weighted(cells.y - point * cells.x, cells.counts, self.weighting)
                for cells in self.strata
            ]
            law = parts[0] if len(parts) == 1 else IndependentLaws(tuple(parts))
            place = 0.0
        low, high = law.support()
        if high <= place:
            return 1.0
        if low >= place:
            return 0.0
        if law.moments(0.0)[1] > place:
            return upper_tail(
                law.opposite(), -place, reach=self.reach if lobes else 0.0
            ).probability
        return (
            upper_tail(law, place, reach=self.reach if lobes else 0.0)
            .complement()
            .probability
        )

    def _location(self) -> tuple[float, float, float, float, float]:
        """Centre, standard error, skewness and range of the resampled ratio."""
        y = sum(float(np.sum(c.y * c.counts)) for c in self.strata)
        x = sum(float(np.sum(c.x * c.counts)) for c in self.strata)
        centre, variance, third, low, high = y / x, 0.0, 0.0, np.inf, -np.inf
        for cells in self.strata:
            rest = cells.y - centre * cells.x
            rest = rest - float(np.sum(rest * cells.counts)) / cells.n_units
            weighted = rest * rest * cells.counts
            variance += float(np.sum(weighted))
            third += float(np.sum(weighted * rest))
            some = cells.x > 0.0
            ratios = cells.y[some] / cells.x[some]
            low = min(low, float(np.min(ratios, initial=np.inf)))
            high = max(high, float(np.max(ratios, initial=-np.inf)))
        skewness = third / variance**1.5
        return centre, float(np.sqrt(variance)) / x, skewness, low, high


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
    if weighting == "poisson" and mean and len(strata) == 1:
        mixture = poisson_lattice_law(strata[0])
        if mixture is not None:
            return mixture
    if weighting == "multinomial":
        if mean:
            found = lattice_law(strata)
            if isinstance(found, ListedLaw):
                return found
            step = found
        if len(strata) == 1:
            listed = listed_resamples(strata[0], most=LISTED_RESAMPLES)
            if listed is not None:
                drawn, probability = listed
                denominator = strata[0].x @ drawn
                some = denominator > 0.0
                ratio = (strata[0].y @ drawn)[some] / denominator[some]
                kept = probability[some]
                return listed_law(ratio, kept / float(np.sum(kept)))
    sums, halves = None, None
    if weighting == "multinomial" and len(strata) == 1:
        halves = halved_resamples(strata[0])
    many = strata[0].counts.size > SERIES_VALUES
    if weighting == "multinomial" and mean and len(strata) == 1 and many:
        sums = power_sums(strata[0].y, strata[0].counts)
    if weighting != "multinomial" or halves is not None:
        return RatioLaw(strata, weighting, step, sums, halves)
    if mean:
        means = resampled_mean(strata)
        if means.accurate:
            reach = REACH if means.has_lobes else 0.0
            return RatioLaw(strata, weighting, step, sums, reach=reach, means=means)
        if step == 0.0:
            return grid_law(strata)
        return RatioLaw(strata, weighting, step, sums, reach=10.0 * REACH)
    # Lobes look the same at every quantile: of the centred values, then.
    centre = sum(float(np.sum(c.y * c.counts)) for c in strata)
    centre /= sum(float(np.sum(c.x * c.counts)) for c in strata)
    parts = [_weighted(c.y - centre * c.x, c.counts, weighting) for c in strata]
    height = lobe_height(IndependentLaws(tuple(parts)))
    reach = REACH if height <= LOW_LOBES else 10.0 * REACH
    if height <= NO_LOBES:
        reach = 0.0
    return RatioLaw(strata, weighting, step, sums, reach=reach)


def _weighted(moved: FloatArray, counts: IntArray, weighting: str) -> Law:
    if weighting == "poisson":
        return PoissonLaw(moved, counts)
    n = int(np.sum(counts))
    return MultinomialLaw(moved, counts / n, n)
