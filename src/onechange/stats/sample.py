"""The paired values of one metric over one set of pairs, with their differences.

Differences are cleaned once, here: what is zero, or equal, up to the rounding
noise of binary floats becomes exactly zero, or exactly equal. Everything after
this module compares differences with plain ``==``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onechange.stats.runs import RunVariance

__all__ = ["PairedSample", "paired_sample", "snap"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

RELATIVE_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class PairedSample:
    """Question means of one metric in both arms.

    Parameters
    ----------
    baseline, variant : ndarray of float, shape (n_pairs,)
        Trial-averaged score of each question in its arm; finite.
    difference : ndarray of float, shape (n_pairs,)
        ``variant - baseline``, cleaned of rounding noise.
    binary : bool
        True when every value of the *whole* metric is 0 or 1 in both arms
        (never decided anew for a slice).
    clusters : ndarray of int, shape (n_pairs,), or None
        Cluster code of each question, 0 … n_clusters - 1; None without clusters.
    score_range : tuple of float or None
        Declared (lowest, highest) score of the metric.
    runs : RunVariance or None
        How far whole runs of the metric differ; None when that is not known.
    """

    baseline: FloatArray
    variant: FloatArray
    difference: FloatArray
    binary: bool
    clusters: IntArray | None = None
    score_range: tuple[float, float] | None = None
    runs: RunVariance | None = None

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return int(self.difference.size)

    @property
    def n_nonzero(self) -> int:
        """Number of pairs whose score changed."""
        return int(np.count_nonzero(self.difference))

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters, None without clusters."""
        return None if self.clusters is None else int(np.unique(self.clusters).size)


def paired_sample(
    baseline: FloatArray,
    variant: FloatArray,
    *,
    clusters: IntArray | None = None,
    score_range: tuple[float, float] | None = None,
    tie: float | None = None,
    binary: bool | None = None,
    runs: RunVariance | None = None,
) -> PairedSample:
    """Pair two aligned arrays of finite question means.

    Parameters
    ----------
    baseline, variant : ndarray of float, shape (n_pairs,)
        Trial-averaged scores; entry i of both belongs to the same question.
    clusters : ndarray of int, shape (n_pairs,), optional
        Cluster label of each question; relabelled 0 … n_clusters - 1.
    score_range : tuple of float, optional
        Declared (lowest, highest) score.
    tie : float, optional
        Differences up to this size count as zero; the default is 1e-12 of the
        score scale.
    binary : bool, optional
        Whether the metric is binary; by default decided from these values.
    runs : RunVariance, optional
        How far whole runs of the metric differ.

    Returns
    -------
    PairedSample

    Notes
    -----
    The score scale is the larger of the declared width and the largest absolute
    score of both arms.
    """
    b = np.ascontiguousarray(baseline, dtype=np.float64)
    v = np.ascontiguousarray(variant, dtype=np.float64)
    scale = max(
        float(np.max(np.abs(b), initial=0.0)),
        float(np.max(np.abs(v), initial=0.0)),
        0.0 if score_range is None else score_range[1] - score_range[0],
    )
    difference = snap(v - b, RELATIVE_TOLERANCE * scale)
    if tie is not None:
        difference[np.abs(difference) <= tie] = 0.0
    if binary is None:
        binary = bool(np.all((b == 0) | (b == 1)) and np.all((v == 0) | (v == 1)))
    codes = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
    return PairedSample(
        baseline=b,
        variant=v,
        difference=difference,
        binary=binary,
        clusters=None if codes is None else codes.astype(np.int64),
        score_range=score_range,
        runs=runs,
    )


def snap(values: FloatArray, tolerance: float) -> FloatArray:
    """Make values that differ by rounding noise exactly equal, and tiny ones zero.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
        Differences of scores.
    tolerance : float
        Largest gap that is still rounding noise, in the unit of the values.

    Returns
    -------
    ndarray of float, shape (n,)
        A copy in which each run of values closer than `tolerance` to their
        neighbours is replaced by the run's smallest absolute value (keeping its
        sign), so that d and -d stay exactly opposite.
    """
    magnitude = np.abs(values)
    order = np.argsort(magnitude, kind="stable")
    ordered = magnitude[order]
    new_run = np.empty(ordered.size, dtype=bool)
    if ordered.size:
        new_run[0] = True
        new_run[1:] = np.diff(ordered) > tolerance
    starts = np.flatnonzero(new_run)
    representative = ordered[starts][np.cumsum(new_run) - 1]
    representative[representative <= tolerance] = 0.0
    snapped = np.empty_like(values, dtype=np.float64)
    snapped[order] = representative
    return np.where(snapped == 0.0, 0.0, np.copysign(snapped, values))
