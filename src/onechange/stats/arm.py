"""Limits of one arm's own mean: Wilson, guarded t with Hall, clusters as units."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onechange.stats.cluster import guarded_cr2_mean_law
from onechange.stats.cluster_binary import wilson_cluster_limits
from onechange.stats.interval import hall_limits, wider, wilson_limits
from onechange.stats.student import guarded_mean_law

__all__ = ["arm_limits"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def arm_limits(
    values: FloatArray,
    binary: bool,
    clusters: IntArray | None,
    score_range: tuple[float, float] | None,
    tail: float,
) -> tuple[tuple[float, float], str] | None:
    """Limits of an arm's own mean with the name of their method.

    Parameters
    ----------
    values : ndarray of float, shape (n_questions,)
    binary : bool
    clusters : ndarray of int, shape (n_questions,), or None
    score_range : tuple of float or None
        Declared (lowest, highest) score.
    tail : float
        Probability beyond either limit.

    Returns
    -------
    tuple or None
        None without questions, for one cluster, and when all scores are equal
        and no range is declared.
    """
    if values.size == 0:
        return None
    width = None if score_range is None else score_range[1] - score_range[0]
    if binary and clusters is None:
        return wilson_limits(int(np.sum(values)), values.size, tail), "wilson"
    if binary and clusters is not None:
        stretched = wilson_cluster_limits(values, clusters, tail)
        return None if stretched is None else (stretched, "wilson-cluster")
    if clusters is not None:
        law = guarded_cr2_mean_law(values, clusters, width=width)
        return None if law is None else (law.limits(tail), "guarded-cr2-t")
    law, hall = guarded_mean_law(values, width=width), hall_limits(values, tail)
    if law is None:
        return None
    limits = law.limits(tail)
    return (limits if hall is None else wider(limits, hall)), "guarded-t+hall"
