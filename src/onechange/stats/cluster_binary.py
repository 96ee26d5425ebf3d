"""Limits of independent questions, stretched for clusters: shares and means.

The stretch is the root of the design effect times the quantile with the clusters'
degrees of freedom over the quantile that the limits were made with.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from onechange.stats.binary import PairedTable, newcombe_limits
from onechange.stats.cluster import bell_mccaffrey_df, design_effect
from onechange.stats.estimate import Interval
from onechange.stats.interval import wilson_limits
from onechange.stats.signflip import tail_probability
from onechange.stats.student import (
    mean,
    normal_quantile,
    t_quantile,
)

__all__ = ["newcombe_cluster_interval", "stretched_limits", "wilson_cluster_limits"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def stretched_limits(
    limits: tuple[float, float],
    estimate: float,
    *,
    deff: float,
    df: float,
    tail: float,
    quantile: float | None = None,
) -> tuple[float, float]:
    """Limits of independent questions, each distance stretched for clusters.

    Notes
    -----
    Each distance from the estimate times √max(1, deff)·t_df/z, z the quantile that
    the limits were made with (the normal one by default).
    """
    used = normal_quantile(tail) if quantile is None else quantile
    stretch = math.sqrt(max(1.0, deff)) * t_quantile(tail, df) / used
    return (
        estimate - stretch * (estimate - limits[0]),
        estimate + stretch * (limits[1] - estimate),
    )


def newcombe_cluster_interval(
    table: PairedTable,
    difference: FloatArray,
    clusters: IntArray,
    *,
    confidence_level: float = 0.95,
) -> Interval | None:
    """Newcombe's interval stretched by design effect and Bell-McCaffrey t.

    Parameters
    ----------
    table : PairedTable
    difference : ndarray of float, shape (n_pairs,)
    clusters : ndarray of int, shape (n_pairs,)
    confidence_level : float
        Two-sided level.

    Returns
    -------
    Interval or None
        None for one cluster; cut to [-1, 1].

    Notes
    -----
    See `stretched_limits` and `design_effect`.
    """
    tail = tail_probability(confidence_level)
    deff, df = design_effect(difference, clusters), bell_mccaffrey_df(clusters)
    if deff is None or df is None:
        return None
    limits = newcombe_limits(table, tail)
    low, high = stretched_limits(limits, table.delta, deff=deff, df=df, tail=tail)
    low, high = max(low, -1.0), min(high, 1.0)
    return Interval(low, high, confidence_level, "newcombe-cluster")


def wilson_cluster_limits(
    values: FloatArray, clusters: IntArray, tail: float
) -> tuple[float, float] | None:
    """Wilson's limits of a share stretched for clusters; None for one cluster."""
    deff, df = design_effect(values, clusters), bell_mccaffrey_df(clusters)
    if deff is None or df is None:
        return None
    limits = wilson_limits(int(np.sum(values)), values.size, tail)
    low, high = stretched_limits(limits, mean(values), deff=deff, df=df, tail=tail)
    return max(low, 0.0), min(high, 1.0)
