"""Limits of one arm's own mean: Wilson, guarded t with Hall, clusters as units."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onechange.stats.caveats import enough_units, unit_notes
from onechange.stats.cluster import guarded_cr2_mean_law
from onechange.stats.cluster_binary import wilson_cluster_limits
from onechange.stats.estimate import Choice, Interval
from onechange.stats.interval import clip, hall_limits, wider, wilson_limits
from onechange.stats.runs import RunVariance
from onechange.stats.signflip import tail_probability
from onechange.stats.student import guarded_mean_law
from onechange.stats.twoway import two_way_arm_interval

__all__ = ["arm_interval", "arm_limits"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def arm_interval(
    values: FloatArray,
    *,
    binary: bool,
    clusters: IntArray | None = None,
    confidence_level: float = 0.95,
    score_range: tuple[float, float] | None = None,
    runs: RunVariance | None = None,
    arm: int = 0,
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

    Returns
    -------
    Choice

    Notes
    -----
    Binary: Wilson. Mean: at each end the wider of guarded t and Hall. Clusters:
    Wilson stretched by design effect and t; guarded CR2. When whole runs differ, at
    each end the wider of it and the arm's two-way interval.

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
    attainable = score_range or ((0.0, 1.0) if binary else None)
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
        law = guarded_cr2_mean_law(values, clusters, width=width)
        return None if law is None else (law.limits(tail), "guarded-cr2-t")
    law, hall = guarded_mean_law(values, width=width), hall_limits(values, tail)
    if law is None:
        return None
    limits = law.limits(tail)
    return (limits if hall is None else wider(limits, hall)), "guarded-t+hall"
