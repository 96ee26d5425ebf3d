"""Resamples of a few units, counted by meeting in the middle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.listed import Cells

__all__ = ["HalvedResamples", "halved_resamples"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MOST_STATES = 5e5  # of a half: 15 units without ties, 30 with nine values
MOST_OF_A_RATIO = 1e5  # 13 units
NEGLIGIBLE = 1e-17  # probability of a half that is left out


@dataclass(frozen=True, slots=True, eq=False)
class _Half:
    """All ways to draw from some cells, in blocks of equally many draws."""

    y: FloatArray
    x: FloatArray
    weight: FloatArray
    starts: IntArray

    def block(self, draws: int) -> slice:
        return slice(int(self.starts[draws]), int(self.starts[draws + 1]))


@dataclass(frozen=True, slots=True, eq=False)
class HalvedResamples:
    """All ways to draw from either half of the cells.

    Parameters
    ----------
    left, right : object
        The ways of each half with their weights Π p^k / k!.
    n_units : int
        Number of draws.
    scale : float
        n!, which turns products of weights into probabilities.
    mean : bool
        Whether all denominators are one; blocks are then in ascending order.
    """

    left: _Half
    right: _Half
    n_units: int
    scale: float
    mean: bool

    def at_most(self, ratio: float) -> float:
        """Probability that a resampled ratio of sums is at most so much.

        Parameters
        ----------
        ratio : float

        Returns
        -------
        float
        """
        left = self.left.y - ratio * self.left.x
        right = self.right.y - ratio * self.right.x
        noise = 1e-13 * float(max(np.max(np.abs(left)), np.max(np.abs(right))))
        total = 0.0
        for draws in range(self.n_units + 1):
            ours, theirs = (
                self.left.block(draws),
                self.right.block(self.n_units - draws),
            )
            sums, weight = left[ours], self.left.weight[ours]
            if not self.mean:
                order = np.argsort(sums, kind="stable")
                sums, weight = sums[order], weight[order]
            cumulated = np.concatenate(([0.0], np.cumsum(weight)))
            below = np.searchsorted(sums, noise - right[theirs], side="right")
            total += float(np.sum(self.right.weight[theirs] * cumulated[below]))
        return min(1.0, total * self.scale)


def halved_resamples(cells: Cells) -> HalvedResamples | None:
    """Prepare the resamples of a few units.

    Parameters
    ----------
    cells : Cells

    Returns
    -------
    HalvedResamples or None
        None where a half has too many ways.

    Notes
    -----
    A resample takes k draws from the first half of the cells and n - k from the
    second; for each k the sums of one half are looked up among those of the other.
    """
    from scipy.special import gammaln

    n = cells.n_units
    mean = bool(np.all(cells.x == 1.0))
    middle = (cells.counts.size + 1) // 2
    log_states = gammaln(n + middle + 1.0) - gammaln(n + 1.0) - gammaln(middle + 1.0)
    if log_states > np.log(MOST_STATES if mean else MOST_OF_A_RATIO):
        return None
    left, right = _half(cells, slice(0, middle)), _half(cells, slice(middle, None))
    return HalvedResamples(left, right, n, float(np.exp(gammaln(n + 1.0))), mean)


def _half(cells: Cells, part: slice) -> _Half:
    from scipy.special import gammaln

    n = cells.n_units
    log_factorial = gammaln(np.arange(n + 1) + 1.0)
    share = cells.counts[part] / n
    total = np.zeros(1, dtype=np.int64)
    y, x, log = np.zeros(1), np.zeros(1), np.zeros(1)
    for cell_y, cell_x, log_share in zip(
        cells.y[part], cells.x[part], np.log(share), strict=True
    ):
        repeats = n - total + 1
        source = np.repeat(np.arange(total.size), repeats)
        taken = np.arange(source.size) - np.repeat(
            np.cumsum(repeats) - repeats, repeats
        )
        total = total[source] + taken
        y, x = y[source] + taken * cell_y, x[source] + taken * cell_x
        log = log[source] + taken * log_share - log_factorial[taken]
    # Probability of the half's part of a resample, whatever the other half does.
    rest = max(1.0 - float(np.sum(share)), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        others = np.where(total == n, 0.0, (n - total) * np.log(rest))
    probability = np.exp(log_factorial[n] + log + others - log_factorial[n - total])
    order = np.lexsort((y, total))
    order = order[probability[order] > NEGLIGIBLE]
    starts = np.searchsorted(total[order], np.arange(n + 2))
    return _Half(y[order], x[order], np.exp(log[order]), starts)
