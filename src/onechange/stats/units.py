"""What the bootstrap resamples: questions or clusters, with their two sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.exact import group
from onechange.stats.listed import Cells

__all__ = ["Units", "units"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Units that are resampled, equal ones taken together per stratum.

    Parameters
    ----------
    strata : tuple of Cells
        One per stratum.
    mean : bool
        Whether all denominators are one.
    """

    strata: tuple[Cells, ...]
    mean: bool

    @property
    def estimate(self) -> float:
        """Ratio of the sums."""
        y = sum(float(np.sum(cells.y * cells.counts)) for cells in self.strata)
        if self.mean:
            return y / self.n_units
        return y / sum(float(np.sum(cells.x * cells.counts)) for cells in self.strata)

    @property
    def n_units(self) -> int:
        """Number of units."""
        return sum(cells.n_units for cells in self.strata)

    @property
    def constant(self) -> bool:
        """Whether every resample has the same value."""
        if all(cells.counts.size == 1 for cells in self.strata):
            return True
        cells = self.strata[0]
        proportional = bool(np.all(cells.y * cells.x[0] == cells.y[0] * cells.x))
        positive = bool(np.all(cells.x > 0.0))
        return len(self.strata) == 1 and proportional and positive


def units(
    y: FloatArray,
    x: FloatArray,
    clusters: IntArray | None,
    strata: IntArray | None,
) -> Units:
    """Add up the questions of each cluster and take equal units together.

    Parameters
    ----------
    y, x : ndarray of float, shape (n_pairs,)
        Numerator and denominator of each question.
    clusters, strata : ndarray of int, shape (n_pairs,), or None

    Returns
    -------
    Units
    """
    if clusters is not None:
        codes = np.unique(clusters, return_inverse=True)[1]
        order = np.lexsort((x, y, codes))  # so that row order changes no rounding
        y = np.bincount(codes[order], weights=y[order]).astype(np.float64)
        x = np.bincount(codes[order], weights=x[order]).astype(np.float64)
    if strata is None:
        parts = [np.arange(y.size)]
    else:
        parts = [np.flatnonzero(strata == s) for s in np.unique(strata)]
    same = bool(np.all(x == x[0]))
    scale = float(x[0]) if same else 1.0
    cells = tuple(_cells(y[part] / scale, x[part] / scale, same) for part in parts)
    return Units(cells, mean=same)


def _cells(y: FloatArray, x: FloatArray, same: bool) -> Cells:
    if same:
        values, counts = group(y)
        return Cells(values, np.ones(values.size), counts)
    pairs, counts = np.unique(np.column_stack((y, x)), axis=0, return_counts=True)
    return Cells(
        np.ascontiguousarray(pairs[:, 0]),
        np.ascontiguousarray(pairs[:, 1]),
        counts.astype(np.int64),
    )
