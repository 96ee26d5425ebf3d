"""Which questions of the pilot a simulated experiment asks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.power.pilot import Pilot
from onechange.power.tilt import ratio_shares, tilted_shares

__all__ = ["Spread", "Units", "units_of"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Questions, or whole clusters of them, and how often each is drawn.

    Parameters
    ----------
    members : list of ndarray of int
        Questions of each unit.
    shares : ndarray of float, shape (n_units,)
        Probability of each unit.
    n_drawn : int
        Units of one experiment.
    clustered : bool
        Whether the units are clusters.
    """

    members: list[IntArray]
    shares: FloatArray
    n_drawn: int
    clustered: bool

    def draw(self, rng: np.random.Generator) -> tuple[IntArray, IntArray | None]:
        """Draw the questions of an experiment, and their clusters if there are some."""
        units = rng.choice(len(self.members), size=self.n_drawn, p=self.shares)
        if not self.clustered:
            return units, None
        chosen = np.concatenate([self.members[unit] for unit in units])
        sizes = [self.members[unit].size for unit in units]
        return chosen, np.repeat(np.arange(self.n_drawn), sizes)

    def spread(self, difference: FloatArray) -> Spread:
        """How the differences of drawn questions vary.

        Parameters
        ----------
        difference : ndarray of float, shape (n_pairs,)
            Differences of the pilot's questions.

        Returns
        -------
        Spread
            SD with n - 1, as of the pilot itself when all units are drawn alike.
        """
        weights = np.empty(difference.size)
        for unit, share in zip(self.members, self.shares, strict=True):
            weights[unit] = share
        weights /= weights.sum()
        mean = float(weights @ difference)
        variance = float(weights @ (difference - mean) ** 2)
        n = difference.size
        return Spread(
            sd=math.sqrt(variance * n / (n - 1)),
            share=float(weights[difference != 0].sum()),
        )


@dataclass(frozen=True, slots=True)
class Spread:
    """SD of one paired difference, and the share of differences that are not 0."""

    sd: float
    share: float


def units_of(pilot: Pilot, n_questions: int, delta: float) -> Units:
    """Weigh the pilot's units so that their mean difference is the true delta.

    Parameters
    ----------
    pilot : Pilot
    n_questions : int
        Questions of one experiment; with clusters about as many.
    delta : float
        True variant minus baseline. Without a declared range the shares are equal.

    Returns
    -------
    Units
    """
    codes = np.arange(pilot.n_pairs) if pilot.clusters is None else pilot.clusters
    codes = np.unique(codes, return_inverse=True)[1]
    sizes = np.bincount(codes).astype(np.float64)
    order = np.argsort(codes, kind="stable")
    members = np.split(order, np.cumsum(sizes.astype(np.int64))[:-1])
    shares = np.full(sizes.size, 1.0 / sizes.size)
    if pilot.parts is not None:
        shares = ratio_shares(pilot.parts, codes, delta)
    elif pilot.score_range is not None:
        totals = np.bincount(codes, weights=pilot.difference).astype(np.float64)
        shares = tilted_shares(totals, sizes, delta)
    n_drawn = max(1, round(n_questions / float(shares @ sizes)))
    return Units(members, shares, n_drawn, pilot.clusters is not None)
