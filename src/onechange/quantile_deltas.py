"""Quantiles over all trial values of the pairs, and their deltas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onechange.delta import (
    Delta,
    Methods,
    MetricValues,
    RelativeDelta,
    not_measured,
)
from onechange.pairs import ArmTable
from onechange.plan import Metric
from onechange.stats import choose
from onechange.stats.cluster import cluster_figures
from onechange.stats.estimate import Interval, Note
from onechange.stats.runs import uncounted_runs_notes
from onechange.stats.trial_quantile import TrialValues
from onechange.values import VariantValues

__all__ = [
    "QUANTILES",
    "Resamples",
    "ResamplesKey",
    "quantile_metric_delta",
    "shared_delta",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
SliceLabel = tuple[tuple[str, str], ...]
QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
ResamplesKey = tuple[str, str, str, "SliceLabel | None"]


@dataclass(frozen=True, slots=True, eq=False)
class Resamples:
    """Sorted bootstrap deltas of a quantile, absolute and relative to the baseline."""

    absolute: FloatArray
    relative: FloatArray


def quantile_metric_delta(
    variant: VariantValues,
    metric: Metric,
    statistic: str,
    *,
    questions: BoolArray | None = None,
    slice_label: SliceLabel | None = None,
) -> tuple[Delta, Resamples]:
    """Delta of a quantile over all trial values of the pairs.

    Parameters
    ----------
    variant : VariantValues
        The variant with its pairs.
    metric : Metric
        Resolved metric.
    statistic : str
        One of `QUANTILES`.
    questions : ndarray of bool, shape (n_questions,), optional
        The questions of a slice.
    slice_label : tuple of (column, label), optional
        Which slice it is.

    Returns
    -------
    delta : Delta
        Its arm intervals are over all questions scored in the arm; there is no test.
    resamples : Resamples
        What one-sided p-values at a margin are counted in.
    """
    values, methods = variant.metrics[metric.name], variant.methods[metric.name]
    probability = QUANTILES[statistic]
    use = values.complete if questions is None else values.complete & questions
    shared = shared_delta(variant, metric, statistic, use, slice_label)
    if not use.any():
        empty = np.empty(0)
        return shared, Resamples(empty, empty)
    arms = (variant.pairs.baseline, variant.pairs.variant)
    scores = [_trial_scores(arm, metric.name, values) for arm in arms]
    found = choose.quantile_delta(
        _trial_values(arms[0], scores[0], use),
        _trial_values(arms[1], scores[1], use),
        probability,
        clusters=None if values.clusters is None else values.clusters[use],
        confidence_level=methods.confidence_level,
        n_resamples=methods.n_resamples,
        seed=methods.seed,
    )
    limits = [
        _quantile_limits(arm, row_scores, values, probability, methods, questions)
        for arm, row_scores in zip(arms, scores, strict=True)
    ]
    delta = replace(
        shared,
        baseline=found.baseline,
        variant=found.variant,
        delta=found.delta,
        interval=found.interval,
        relative=RelativeDelta(
            found.relative_delta, found.relative_interval, found.relative_reason
        ),
        **cluster_figures(
            None, None if values.clusters is None else values.clusters[use]
        ),
        baseline_interval=limits[0],
        variant_interval=limits[1],
        notes=(*_notes(values, methods, metric.name, statistic), *found.notes),
    )
    return delta, Resamples(found.resamples, found.relative_resamples)


def shared_delta(
    variant: VariantValues,
    metric: Metric,
    statistic: str,
    use: BoolArray,
    slice_label: SliceLabel | None,
) -> Delta:
    """Say what a delta of any statistic says before it is worked out.

    Parameters
    ----------
    variant, metric, statistic, slice_label
        As for `quantile_metric_delta`.
    use : ndarray of bool, shape (n_questions,)
        The pairs.

    Returns
    -------
    Delta
        All that can be said, with a note, when there is no pair.
    """
    return Delta(
        metric=metric.name,
        direction=metric.direction or "higher",
        n_pairs=int(np.count_nonzero(use)),
        slice=slice_label,
        statistic=statistic,
        variant_name=variant.name,
        notes=() if use.any() else (not_measured(metric.name),),
    )


def _notes(
    values: MetricValues, methods: Methods, metric: str, statistic: str
) -> Iterator[Note]:
    """Tell what the interval of a quantile leaves out."""
    yield from choose.statistic_misfits(
        metric,
        statistic,
        methods.interval,
        methods.test,
        resampling=values.resampling,
    )
    runs = values.runs, values.arm_runs
    yield from uncounted_runs_notes(f"{metric} {statistic}", runs)


def _trial_scores(arm: ArmTable, metric: str, values: MetricValues) -> FloatArray:
    """Scores of every row, what stands in for a missing one put in."""
    scores = arm.metrics[metric]
    if values.fill is None:
        return scores
    return np.where(np.isnan(scores), values.fill, scores)


def _trial_values(arm: ArmTable, scores: FloatArray, use: BoolArray) -> TrialValues:
    """All trial values of some questions, numbered 0, 1, … in their order."""
    number = np.cumsum(use) - 1
    rows = np.isfinite(scores) & use[arm.question]
    return TrialValues(scores[rows], number[arm.question[rows]].astype(np.int64))


def _quantile_limits(
    arm: ArmTable,
    scores: FloatArray,
    values: MetricValues,
    probability: float,
    methods: Methods,
    questions: BoolArray | None,
) -> Interval | None:
    scored = arm.question[np.isfinite(scores)]
    use = np.bincount(scored, minlength=values.paired.size) > 0
    if questions is not None:
        use &= questions
    if not use.any():
        return None
    return choose.quantile_arm_interval(
        _trial_values(arm, scores, use),
        probability,
        clusters=None if values.clusters is None else values.clusters[use],
        confidence_level=methods.confidence_level,
        n_resamples=methods.n_resamples,
        seed=methods.seed,
    )[0]
