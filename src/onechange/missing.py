"""What missing scores could do: filled question means, and bounds on the delta."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onechange.delta import Bounds, Methods, MetricValues, metric_sample
from onechange.pairs import ArmTable, Pairs
from onechange.plan import Metric
from onechange.results import FAILED
from onechange.stats.estimate import Interval

__all__ = ["bounds", "filled_means", "partly_scored", "population"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def filled_means(
    arm: ArmTable, metric: str, n_questions: int, fill: float
) -> FloatArray:
    """Question means of an arm with each missing trial filled before averaging.

    Parameters
    ----------
    arm : ArmTable
        Rows of the arm.
    metric : str
        Name of the metric.
    n_questions : int
        Length of the result.
    fill : float
        Value that stands in for a missing score.

    Returns
    -------
    ndarray of float, shape (n_questions,)
        NaN for a question without any row in the arm.
    """
    scores = arm.metrics[metric]
    values = np.where(np.isnan(scores), fill, scores)
    totals = np.bincount(arm.question, weights=values, minlength=n_questions)
    rows = np.bincount(arm.question, minlength=n_questions)
    return np.where(rows > 0, totals / np.maximum(rows, 1), np.nan)


def population(pairs: Pairs, metric: str, *, everything: bool = False) -> BoolArray:
    """Questions to which the bounds apply.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    metric : str
        Name of the metric.
    everything : bool, default False
        Also questions that are unscored by design in both arms.

    Returns
    -------
    ndarray of bool, shape (n_questions,)
        Paired questions scored in at least one arm or failed in at least one.
    """
    if everything:
        return pairs.paired.copy()
    n = pairs.paired.size
    touched = np.zeros(n, dtype=np.bool_)
    for arm in (pairs.baseline, pairs.variant):
        rows = ~np.isnan(arm.metrics[metric])
        if arm.status is not None:
            rows |= arm.status == FAILED
        touched |= np.bincount(arm.question[rows], minlength=n) > 0
    return np.asarray(pairs.paired & touched, dtype=np.bool_)


def partly_scored(pairs: Pairs, metric: str) -> BoolArray:
    """Questions of which some trial in some arm has a row, but no score.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    metric : str
        Name of the metric.

    Returns
    -------
    ndarray of bool, shape (n_questions,)
    """
    lacking = np.zeros(pairs.paired.size, dtype=np.bool_)
    for arm in (pairs.baseline, pairs.variant):
        lacking[arm.question[np.isnan(arm.metrics[metric])]] = True
    return lacking


def bounds(
    pairs: Pairs,
    metric: Metric,
    values: MetricValues,
    methods: Methods,
    *,
    everything: bool = False,
) -> Bounds:
    """Bound the delta by filling every missing score at its worst and at its best.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    metric : Metric
        Its declared range gives the ends; without one there are no bounds.
    values : MetricValues
        The question means of the metric as analysed.
    methods : Methods
        Level and method names.
    everything : bool, default False
        Fill questions that are unscored by design in both arms, too.

    Returns
    -------
    Bounds
        ``low`` has every missing variant score at the low end and every missing
        baseline score at the high end of the range, ``high`` the reverse; a
        missing trial is filled before averaging. `interval` runs from the low end
        of the decision interval on the pairs of ``low`` to the high end on those
        of ``high`` (Manski 1990; no narrowing, which doubles the false passes).
    """
    questions = population(pairs, metric.name, everything=everything)
    n_questions = int(np.count_nonzero(questions))
    incomplete = int(np.count_nonzero(questions & ~values.complete))
    not_applicable = int(np.count_nonzero(pairs.paired & ~questions))
    partial = questions & values.complete & partly_scored(pairs, metric.name)
    n_partial = int(np.count_nonzero(partial))
    if metric.range is None or n_questions == 0:
        reason = (
            f"no score range is declared for {metric.name}"
            if metric.range is None
            else f"{metric.name} is not measured"
        )
        return Bounds(
            None,
            None,
            n_questions,
            incomplete,
            not_applicable,
            reason=reason,
            n_partial=n_partial,
        )
    lowest, highest = metric.range
    worst = _filled(pairs, metric, values, questions, lowest, highest)
    best = _filled(pairs, metric, values, questions, highest, lowest)
    return Bounds(
        low=_mean_difference(worst, questions),
        high=_mean_difference(best, questions),
        n_questions=n_questions,
        n_incomplete=incomplete,
        n_not_applicable=not_applicable,
        interval=_outer_interval(worst, best, questions, methods),
        n_partial=n_partial,
    )


def _filled(
    pairs: Pairs,
    metric: Metric,
    values: MetricValues,
    questions: BoolArray,
    variant_fill: float,
    baseline_fill: float,
) -> MetricValues:
    n = pairs.paired.size
    return MetricValues(
        baseline=filled_means(pairs.baseline, metric.name, n, baseline_fill),
        variant=filled_means(pairs.variant, metric.name, n, variant_fill),
        paired=questions,
        clusters=values.clusters,
        score_range=values.score_range,
        tie=values.tie,
        runs=values.runs,
    )


def _mean_difference(values: MetricValues, questions: BoolArray) -> float:
    return float(np.mean(metric_sample(values, questions).difference))


def _outer_interval(
    worst: MetricValues, best: MetricValues, questions: BoolArray, methods: Methods
) -> Interval | None:
    from onechange.stats.choose import decision_interval

    ends = [
        decision_interval(
            metric_sample(values, questions),
            name=methods.interval,
            confidence_level=methods.confidence_level,
        ).interval
        for values in (worst, best)
    ]
    if ends[0] is None or ends[1] is None:
        return None
    return Interval(
        low=ends[0].low,
        high=ends[1].high,
        confidence_level=methods.confidence_level,
        method=f"bounds of {ends[0].method}"
        if ends[0].method == ends[1].method
        else f"bounds of {ends[0].method} and {ends[1].method}",
    )
