"""Question means of each metric, with the plan's policy for unscored ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onechange.delta import MetricValues
from onechange.errors import PlanError
from onechange.missing import filled_means
from onechange.pairs import Pairs, question_means, rate
from onechange.plan import Metric, Plan

__all__ = ["RATES", "VariantValues", "variant_values"]

RATES = {"failed": "lower", "unscored": "lower", "answered": "higher"}


@dataclass(frozen=True, slots=True, eq=False)
class VariantValues:
    """One variant paired with the baseline: its name, pairs, and values by metric."""

    name: str
    pairs: Pairs
    metrics: dict[str, MetricValues]
    rates: dict[str, MetricValues]


def variant_values(
    name: str, pairs: Pairs, metrics: Sequence[Metric], plan: Plan
) -> VariantValues:
    """Collect the question means of every metric and built-in rate.

    Parameters
    ----------
    name : str
        Name of the variant.
    pairs : Pairs
        The variant and the baseline.
    metrics : sequence of Metric
        Resolved metrics.
    plan : Plan
        Says what stands in for an unscored question.

    Returns
    -------
    VariantValues
        A rate that is not measured (``failed`` without a status) is left out.

    Raises
    ------
    PlanError
        When the policy for unscored questions does not fit a metric.
    """
    rates = {rate_name: _rate_values(pairs, rate_name) for rate_name in RATES}
    return VariantValues(
        name=name,
        pairs=pairs,
        metrics={
            metric.name: _metric_values(pairs, metric, plan) for metric in metrics
        },
        rates={key: value for key, value in rates.items() if value is not None},
    )


def _metric_values(pairs: Pairs, metric: Metric, plan: Plan) -> MetricValues:
    arms = {}
    for name, arm in (("baseline", pairs.baseline), ("variant", pairs.variant)):
        fill = _fill(metric, plan)
        if metric.name not in arm.metrics:
            arms[name] = np.full(pairs.paired.size, np.nan)
        elif fill is None:
            arms[name] = question_means(pairs, name, metric.name)
        else:
            arms[name] = filled_means(arm, metric.name, pairs.paired.size, fill)
    return MetricValues(
        baseline=arms["baseline"],
        variant=arms["variant"],
        paired=pairs.paired,
        clusters=pairs.clusters,
        score_range=metric.range,
        tie=metric.tie,
    )


def _fill(metric: Metric, plan: Plan) -> float | None:
    """Value that stands in for an unscored question; None leaves it out."""
    policy = metric.unscored or plan.analysis.unscored
    if policy == "exclude":
        return None
    if metric.range is None:
        raise PlanError(
            f'unscored = "{policy}" for {metric.name} needs its score range; declare '
            f"it, for example range = [0, 1]."
        )
    low, high = metric.range
    if policy == "zero":
        if metric.direction != "higher" or low != 0:
            raise PlanError(
                f'unscored = "zero" for {metric.name} needs a higher-is-better metric '
                'whose range starts at 0; use "worst" instead.'
            )
        return 0.0
    return low if metric.direction == "higher" else high


def _rate_values(pairs: Pairs, name: str) -> MetricValues | None:
    """Built-in rate of each question; None when it is not measured."""
    arms = [rate(pairs, arm, name) for arm in ("baseline", "variant")]
    if arms[0] is None or arms[1] is None:
        return None
    return MetricValues(
        baseline=arms[0],
        variant=arms[1],
        paired=pairs.paired,
        clusters=pairs.clusters,
        score_range=(0.0, 1.0),
    )
