"""Deltas of other statistics than a mean: quantiles, loss rate, ratio metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onechange.delta import (
    Delta,
    MetricValues,
    RelativeDelta,
    metric_delta,
    metric_sample,
)
from onechange.errors import PlanError
from onechange.plan import Guardrail, Metric
from onechange.quantile_deltas import (
    QUANTILES,
    Resamples,
    ResamplesKey,
    quantile_metric_delta,
    shared_delta,
)
from onechange.stats import choose
from onechange.stats.caveats import unit_notes
from onechange.stats.cluster import cluster_figures
from onechange.stats.estimate import Note
from onechange.stats.ratio import RatioPair
from onechange.stats.runs import uncounted_runs_notes
from onechange.values import VariantValues

__all__ = [
    "QUANTILES",
    "Resamples",
    "ResamplesKey",
    "asked_statistics",
    "further_deltas",
    "loss_rate_delta",
    "loss_values",
    "quantile_metric_delta",
    "ratio_metric_delta",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
SliceLabel = tuple[tuple[str, str], ...]


def asked_statistics(rules: Sequence[Guardrail]) -> dict[str, tuple[str, ...]]:
    """Statistics other than the mean that guardrails ask for, by metric."""
    asked: dict[str, dict[str, None]] = {}
    for rule in rules:
        if rule.statistic != "mean":
            asked.setdefault(rule.metric, {})[rule.statistic] = None
    return {metric: tuple(statistics) for metric, statistics in asked.items()}


def further_deltas(
    variant: VariantValues,
    metric: Metric,
    statistics: Sequence[str],
    resamples: dict[ResamplesKey, Resamples],
    *,
    questions: BoolArray | None = None,
    slice_label: SliceLabel | None = None,
) -> list[Delta]:
    """Compute the deltas of a metric beyond its mean.

    Parameters
    ----------
    variant : VariantValues
        The variant with its pairs.
    metric : Metric
        Resolved metric.
    statistics : sequence of str
        Names in `QUANTILES`, or ``loss_rate``.
    resamples : dict
        Gains the resamples of each quantile, by variant, metric, statistic, slice.
    questions, slice_label
        As for `quantile_metric_delta`.

    Returns
    -------
    list of Delta

    Raises
    ------
    PlanError
        When a loss rate has no threshold.
    """
    deltas = []
    for statistic in statistics:
        if statistic == "loss_rate":
            if metric.threshold is None:
                raise PlanError(
                    f"guardrail.statistic: the loss rate of {metric.name} needs the "
                    "loss that counts; add threshold = … to its [[metric]]."
                )
            delta = loss_rate_delta(
                variant,
                metric,
                metric.threshold,
                questions=questions,
                slice_label=slice_label,
            )
        else:
            delta, draws = quantile_metric_delta(
                variant,
                metric,
                statistic,
                questions=questions,
                slice_label=slice_label,
            )
            resamples[variant.name, metric.name, statistic, slice_label] = draws
        deltas.append(delta)
    return deltas


def loss_values(values: MetricValues, threshold: float, direction: str) -> MetricValues:
    """Turn a metric into the 0/1 metric "this question lost more than the threshold".

    Parameters
    ----------
    values : MetricValues
        Question means of the metric.
    threshold : float
        A loss counts when it exceeds this, in the metric's unit.
    direction : str
        ``higher`` or ``lower`` is better.

    Returns
    -------
    MetricValues
        0 in the baseline; 1 in the variant where the question lost.
    """
    complete = values.complete
    worsening = np.full(values.baseline.shape, np.nan)
    sample = metric_sample(values)
    sign = -1.0 if direction == "higher" else 1.0
    worsening[complete] = sign * sample.difference
    noise = 1e-9 * max(1.0, threshold)
    lost = np.where(complete, (worsening > threshold + noise).astype(float), np.nan)
    return MetricValues(
        baseline=np.where(complete, 0.0, np.nan),
        variant=lost,
        paired=values.paired,
        clusters=values.clusters,
        score_range=(0.0, 1.0),
        strata=values.strata,
        resampling=values.resampling,
    )


def loss_rate_delta(
    variant: VariantValues,
    metric: Metric,
    threshold: float,
    *,
    questions: BoolArray | None = None,
    slice_label: SliceLabel | None = None,
) -> Delta:
    """Share of questions that lost more than the threshold, as a delta from 0.

    Parameters
    ----------
    variant : VariantValues
        The variant with its pairs.
    metric : Metric
        Resolved metric.
    threshold : float
        A loss counts when it exceeds this, in the metric's unit.
    questions, slice_label
        As for `quantile_metric_delta`.

    Returns
    -------
    Delta
        ``statistic`` is ``loss_rate`` and lower is better.
    """
    direction = metric.direction or "higher"
    lost = loss_values(variant.metrics[metric.name], threshold, direction)
    delta = metric_delta(
        metric.name,
        "lower",
        lost,
        variant.methods[metric.name],
        questions=questions,
        slice_label=slice_label,
        variant_name=variant.name,
    )
    scores = variant.metrics[metric.name]
    told = uncounted_runs_notes(f"{metric.name} loss_rate", (scores.runs,))
    return replace(
        delta, statistic="loss_rate", relative=None, notes=(*told, *delta.notes)
    )


def ratio_metric_delta(
    variant: VariantValues,
    metric: Metric,
    *,
    questions: BoolArray | None = None,
    slice_label: SliceLabel | None = None,
) -> Delta:
    """Delta of a ratio metric, Σ numerator / Σ denominator per arm.

    Parameters
    ----------
    variant : VariantValues
        The variant with its pairs; `metrics` holds numerator and denominator.
    metric : Metric
        Names both in `numerator` and `denominator`.
    questions, slice_label
        As for `quantile_metric_delta`.

    Returns
    -------
    Delta
        Over the questions with both parts in both arms; ``statistic`` is ``ratio``.
    """
    top = variant.metrics[metric.numerator or ""]
    bottom = variant.metrics[metric.denominator or ""]
    methods = variant.methods[metric.numerator or ""]
    use = top.complete & bottom.complete
    if questions is not None:
        use = use & questions
    shared = shared_delta(variant, metric, "ratio", use, slice_label)
    if not use.any():
        return shared
    clusters = None if top.clusters is None else top.clusters[use]
    found = choose.ratio_delta(
        RatioPair(top.baseline[use], bottom.baseline[use]),
        RatioPair(top.variant[use], bottom.variant[use]),
        clusters=clusters,
        name=choose.ratio_name(methods.interval),
        confidence_level=methods.confidence_level,
        score_range=metric.range,
    )
    relative, n = found.relative, shared.n_pairs
    few = unit_notes(n, clusters, methods.confidence_level)
    enough = clusters is not None or not few
    asked = (metric.name, "ratio", methods.interval, methods.test)
    runs = (top.runs, bottom.runs, top.arm_runs, bottom.arm_runs)
    notes = (
        *few,
        *choose.statistic_misfits(*asked),
        *uncounted_runs_notes(metric.name, runs),
    )
    if found.reason is not None:
        notes = (*notes, Note("test-undefined", f"{metric.name}: {found.reason}."))
    return replace(
        shared,
        baseline=found.baseline,
        variant=found.variant,
        delta=found.delta,
        standard_error=found.standard_error,
        **cluster_figures(found.differences, clusters),
        interval=found.interval if enough else None,
        baseline_interval=found.baseline_interval,
        variant_interval=found.variant_interval,
        relative=RelativeDelta(
            relative.delta, relative.interval if enough else None, relative.reason
        ),
        test=relative.test,
        notes=notes,
    )
