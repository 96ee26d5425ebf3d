"""Limits of one arm's own mean: Wilson, guarded t with Hall; both for clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onechange.stats.caveats import enough_units, unit_notes
from onechange.stats.cluster import (
    design_effect,
    guarded_cr2_mean_law,
    skewed_cluster_limits,
)
from onechange.stats.cluster_binary import stretched_limits, wilson_cluster_limits
from onechange.stats.estimate import Choice, Interval
from onechange.stats.interval import clip, hall_limits, wider, wilson_limits
from onechange.stats.runs import RunVariance
from onechange.stats.signflip import tail_probability
from onechange.stats.student import guarded_mean_law, mean, t_quantile
from onechange.stats.twoway import two_way_arm_interval

__all__ = ["arm_interval", "arm_limits", "clustered_mean_limits"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CLUSTERED_MEAN = "guarded-t+hall-cluster"


def arm_interval(
    values: FloatArray,
    *,
    binary: bool,
    clusters: IntArray | None = None,
    confidence_level: float = 0.95,
    score_range: tuple[float, float] | None = None,
    runs: RunVariance | None = None,
    arm: int = 0,
    attainable: tuple[float, float] | None = None,
) -> Choice:
    """Interval of an arm's own mean, for limits.

    Parameters
    ----------
    values : ndarray of float, shape (n_questions,)
        Trial-averaged scores of all questions scored in the arm.
    binary : bool
        Whether the metric is binary.
    clusters : ndarray of int, shape (n_questions,), optional
    confidence_level : float
        Two-sided level.
    score_range : tuple of float, optional
        Declared (lowest, highest) score.
    runs : RunVariance, optional
        How far whole runs differ; used when they do.
    arm : int
        0 for the baseline, 1 for the variant, where `runs` is given.
    attainable : tuple of float, optional
        (Lowest, highest) mean that scores allow; by default the declared range, or
        (0, 1) of a binary metric.

    Returns
    -------
    Choice

    Notes
    -----
    Binary: Wilson; with clusters stretched by design effect and t. Mean: at each
    end the wider of guarded t and Hall; with clusters `clustered_mean_limits`. When
    whole runs differ, at each end the wider of it and the arm's two-way interval.

    Examples
    --------
    >>> choice = arm_interval(np.ones(38), binary=True)
    >>> choice.interval.method, round(choice.interval.low, 6), choice.interval.high
    ('wilson', 0.90819, 1.0)
    """
    tail = tail_probability(confidence_level)
    if clusters is not None and np.unique(clusters).size == values.size:
        clusters = None
    notes = unit_notes(values.size, clusters, confidence_level)
    found = arm_limits(values, binary, clusters, score_range, tail)
    if found is None:
        return Choice(None, notes, enough_units(notes))
    (low, high), method = found
    interval = Interval(low, high, confidence_level, method)
    if runs is not None and runs.differ:
        interval = two_way_arm_interval(interval, values, clusters, runs, arm)
    attainable = attainable or score_range or ((0.0, 1.0) if binary else None)
    if attainable is not None:
        interval = clip(interval, *attainable)
    return Choice(interval, notes, enough_units(notes))


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
        clustered = clustered_mean_limits(values, clusters, width, tail)
        return None if clustered is None else (clustered, CLUSTERED_MEAN)
    limits = _mean_limits(values, width, tail)
    return None if limits is None else (limits, "guarded-t+hall")


def clustered_mean_limits(
    values: FloatArray, clusters: IntArray, width: float | None, tail: float
) -> tuple[float, float] | None:
    """Limits of an arm's own mean when questions share sources.

    Parameters
    ----------
    values : ndarray of float, shape (n_questions,)
    clusters : ndarray of int, shape (n_questions,)
    width : float or None
        Width of the declared score range, used when all scores are equal.
    tail : float
        Probability beyond either limit.

    Returns
    -------
    tuple or None
        None for one cluster, and when all scores are equal and no range is
        declared.

    Notes
    -----
    At each end the widest of three: guarded CR2; CR2 corrected for the skewness of
    the cluster totals (Hall 1992); the limits of independent questions, each
    distance times √max(1, deff)·t_df/t_{n-1}. The first alone is far too short for
    rare events, whose rate and spread are both low when they happen not to occur;
    with a handful of clusters their totals show too little of the skewness, of
    which the questions show more.
    """
    law = guarded_cr2_mean_law(values, clusters, width=width)
    alone = _mean_limits(values, width, tail)
    deff = design_effect(values, clusters)
    skewed = skewed_cluster_limits(values, clusters, tail)
    if law is None or alone is None or deff is None or skewed is None:
        return None
    made_with = t_quantile(tail, values.size - 1)
    stretched = stretched_limits(
        alone, mean(values), deff=deff, df=law.df, tail=tail, quantile=made_with
    )
    return wider(wider(law.limits(tail), skewed), stretched)


def _mean_limits(
    values: FloatArray, width: float | None, tail: float
) -> tuple[float, float] | None:
    """At each end the wider of guarded t and Hall."""
    law, hall = guarded_mean_law(values, width=width), hall_limits(values, tail)
    if law is None:
        return None
    limits = law.limits(tail)
    return limits if hall is None else wider(limits, hall)
