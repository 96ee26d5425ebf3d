"""What missing scores could do: filled question means, and bounds on the delta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onechange.delta import Bounds, Methods, MetricValues, metric_sample
from onechange.pairs import ArmTable, Pairs
from onechange.plan import Metric
from onechange.results import FAILED
from onechange.stats.estimate import Interval
from onechange.stats.relative import Relative
from onechange.stats.sample import PairedSample

__all__ = [
    "bounds",
    "counted",
    "filled_means",
    "filled_values",
    "outer",
    "own_population",
    "partly_scored",
    "population",
]

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


def population(pairs: Pairs, *metrics: str, everything: bool = False) -> BoolArray:
    """Questions to which the bounds apply.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    *metrics : str
        Name of the metric; of a ratio metric, its numerator and denominator.
    everything : bool, default False
        Also questions that are unscored by design in both arms.

    Returns
    -------
    ndarray of bool, shape (n_questions,)
        Paired questions scored in at least one arm or failed in at least one.
    """
    if everything:
        return pairs.paired.copy()
    touched = np.zeros(pairs.paired.size, dtype=np.bool_)
    for arm in (pairs.baseline, pairs.variant):
        for metric in metrics:
            touched |= _touched(arm, metric, touched.size)
    return np.asarray(pairs.paired & touched, dtype=np.bool_)


def partly_scored(pairs: Pairs, *metrics: str) -> BoolArray:
    """Questions of which some trial lacks a score in some arm.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    *metrics : str
        Name of the metric; of a ratio metric, its numerator and denominator.

    Returns
    -------
    ndarray of bool, shape (n_questions,)
    """
    lacking = np.zeros(pairs.paired.size, dtype=np.bool_)
    for arm in (pairs.baseline, pairs.variant):
        for metric in metrics:
            lacking[arm.question[np.isnan(arm.metrics[metric])]] = True
    return lacking


def counted(
    pairs: Pairs,
    metrics: Sequence[str],
    complete: BoolArray,
    *,
    reason: str | None = None,
    everything: bool = False,
    questions: BoolArray | None = None,
) -> tuple[Bounds, BoolArray]:
    """Count the questions to be scored, and those among them without a pair.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    metrics : sequence of str
        Name of the metric; of a ratio metric, its numerator and denominator.
    complete : ndarray of bool, shape (n_questions,)
        Questions with a pair.
    reason : str, optional
        Why there are no bounds.
    everything : bool, default False
        Also questions that are unscored by design in both arms.
    questions : ndarray of bool, shape (n_questions,), optional
        The questions of a slice.

    Returns
    -------
    bounds : Bounds
        Counts alone.
    population : ndarray of bool, shape (n_questions,)
    """
    among = pairs.paired if questions is None else pairs.paired & questions
    applies = population(pairs, *metrics, everything=everything) & among
    partial = applies & complete & partly_scored(pairs, *metrics)
    found = Bounds(
        None,
        None,
        n_questions=int(np.count_nonzero(applies)),
        n_incomplete=int(np.count_nonzero(applies & ~complete)),
        n_not_applicable=int(np.count_nonzero(among & ~applies)),
        n_partial=int(np.count_nonzero(partial)),
        reason=reason,
    )
    return found, applies


def bounds(
    pairs: Pairs,
    metric: Metric,
    values: MetricValues,
    methods: Methods,
    *,
    everything: bool = False,
    questions: BoolArray | None = None,
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
    questions : ndarray of bool, shape (n_questions,), optional
        The questions of a slice.

    Returns
    -------
    Bounds
        ``low`` has every missing variant score at the low end and every missing
        baseline score at the high end of the range, ``high`` the reverse; a
        missing trial is filled before averaging. `interval` runs from the low end
        of the decision interval on the pairs of ``low`` to the high end on those
        of ``high`` (Manski 1990; no narrowing, which doubles the false passes).
        The variant's own value is over its questions, paired or not, that are
        scored or failed in it or belong to the population of the delta.
    """
    found, applies = counted(
        pairs,
        [metric.name],
        values.complete,
        everything=everything,
        questions=questions,
    )
    if metric.range is None or found.n_questions == 0:
        reason = (
            f"no score range is declared for {metric.name}"
            if metric.range is None
            else f"{metric.name} is not measured"
        )
        return replace(found, reason=reason)
    lowest, highest = metric.range
    whole = population(pairs, metric.name, everything=everything)
    worst = filled_values(pairs, metric.name, values, whole, lowest, highest)
    best = filled_values(pairs, metric.name, values, whole, highest, lowest)
    samples = [metric_sample(filled, applies) for filled in (worst, best)]
    found = replace(
        found,
        low=float(np.mean(samples[0].difference)),
        high=float(np.mean(samples[1].difference)),
        interval=_outer_interval(samples, methods),
    )
    if found.n_incomplete == 0:
        return found
    own = own_population(pairs.variant, metric.name, applies, everything, questions)
    relative = [_relative(sample, methods) for sample in samples]
    return replace(
        found,
        relative=_point(relative[0].delta, relative[1].delta),
        relative_interval=outer(relative[0].interval, relative[1].interval),
        variant=_point(
            *(float(np.mean(filled.variant[own])) for filled in (worst, best))
        ),
        variant_interval=outer(
            *(_own_interval(filled, own, methods) for filled in (worst, best))
        ),
    )


def filled_values(
    pairs: Pairs,
    metric: str,
    values: MetricValues,
    questions: BoolArray,
    variant_fill: float,
    baseline_fill: float,
) -> MetricValues:
    """Question means of a metric with every missing score filled.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    metric : str
        Name of the metric.
    values : MetricValues
        The question means as analysed.
    questions : ndarray of bool, shape (n_questions,)
        All questions to which the bounds apply, not those of a slice: whether the
        metric is binary is decided once.
    variant_fill, baseline_fill : float
        What stands in for a missing score of each arm.

    Returns
    -------
    MetricValues
    """
    n = pairs.paired.size
    return MetricValues(
        baseline=filled_means(pairs.baseline, metric, n, baseline_fill),
        variant=filled_means(pairs.variant, metric, n, variant_fill),
        paired=questions,
        clusters=values.clusters,
        score_range=values.score_range,
        tie=values.tie,
        runs=values.runs,
        arm_runs=values.arm_runs,
        strata=values.strata,
        resampling=values.resampling,
    )


def own_population(
    arm: ArmTable,
    metric: str,
    applies: BoolArray,
    everything: bool,
    questions: BoolArray | None,
) -> BoolArray:
    """Questions that count for an arm's own value, missing scores filled.

    Parameters
    ----------
    arm : ArmTable
        Rows of the arm.
    metric : str
        Name of the metric.
    applies : ndarray of bool, shape (n_questions,)
        The questions of the delta, from `population`.
    everything : bool
        Also questions that are unscored by design.
    questions : ndarray of bool, shape (n_questions,), or None
        The questions of a slice.

    Returns
    -------
    ndarray of bool, shape (n_questions,)
    """
    n = applies.size
    there = np.bincount(arm.question, minlength=n) > 0
    own = there if everything else there & (_touched(arm, metric, n) | applies)
    return np.asarray(own if questions is None else own & questions, dtype=np.bool_)


def outer(worst: Interval | None, best: Interval | None) -> Interval | None:
    """Run from the low end of one interval to the high end of the other.

    Parameters
    ----------
    worst, best : Interval or None
        On the pairs filled at either end.

    Returns
    -------
    Interval or None
        None where one of them does not exist.
    """
    if worst is None or best is None:
        return None
    return Interval(
        low=worst.low,
        high=best.high,
        confidence_level=worst.confidence_level,
        method=f"bounds of {worst.method}"
        if worst.method == best.method
        else f"bounds of {worst.method} and {best.method}",
    )


def _touched(arm: ArmTable, metric: str, n_questions: int) -> BoolArray:
    """Questions that an arm has a score of, or a failed row."""
    rows = ~np.isnan(arm.metrics[metric])
    if arm.status is not None:
        rows |= arm.status == FAILED
    found = np.bincount(arm.question[rows], minlength=n_questions) > 0
    return np.asarray(found, dtype=np.bool_)


def _outer_interval(
    samples: Sequence[PairedSample], methods: Methods
) -> Interval | None:
    from onechange.stats.choose import decision_interval, fitting_interval

    ends = [
        decision_interval(
            sample,
            name=fitting_interval(methods.interval, sample),
            confidence_level=methods.confidence_level,
            n_resamples=methods.n_resamples,
            seed=methods.seed,
        ).interval
        for sample in samples
    ]
    return outer(ends[0], ends[1])


def _relative(sample: PairedSample, methods: Methods) -> Relative:
    from onechange.stats.choose import relative_interval, relative_name

    return relative_interval(
        sample,
        name=relative_name(methods.interval),
        confidence_level=methods.confidence_level,
    )


def _own_interval(
    values: MetricValues, questions: BoolArray, methods: Methods
) -> Interval | None:
    from onechange.stats.choose import arm_interval

    scores = values.variant[questions]
    found = arm_interval(
        scores,
        binary=values.binary_arms,
        clusters=None if values.clusters is None else values.clusters[questions],
        confidence_level=methods.confidence_level,
        score_range=values.score_range,
        runs=values.arm_runs if methods.interval in ("auto", "two-way") else None,
        arm=1,
    )
    return found.interval if found.enough else None


def _point(low: float | None, high: float | None) -> tuple[float, float] | None:
    return None if low is None or high is None else (low, high)
