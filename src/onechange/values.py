"""Question means of each metric, with the plan's policy for unscored ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onechange.delta import Methods, MetricValues, metric_sample
from onechange.errors import InputError, PlanError
from onechange.missing import filled_means
from onechange.pairs import Pairs, question_means, rate
from onechange.plan import Analysis, Metric, Plan
from onechange.stats import choose
from onechange.stats.fitting import check_fit
from onechange.stats.names import BINARY_NAMES
from onechange.stats.sample import LARGEST_SCORE
from onechange.trials import MetricTrials, metric_trials, rate_runs

__all__ = ["RATES", "VariantValues", "asked_methods", "variant_values"]

IntArray = NDArray[np.int64]

# Names of methods for one kind of data; those for relative deltas suit every run.
KIND_NAMES = BINARY_NAMES | {"cr2-t", "guarded-cr2-t", "two-way", "hall", "wilson"}
RESAMPLING_KINDS = {"bca", "studentized", "bayesian"}
RATES = {"failed": "lower", "unscored": "lower", "answered": "higher"}


@dataclass(frozen=True, slots=True, eq=False)
class VariantValues:
    """One variant paired with the baseline, with what each delta is computed from.

    `metrics` and `rates` hold the question means by name, `methods` the methods that
    were asked for, `trials` the run-to-run variation of each metric that both arms
    have.
    """

    name: str
    pairs: Pairs
    metrics: dict[str, MetricValues]
    rates: dict[str, MetricValues]
    methods: dict[str, Methods]
    trials: dict[str, MetricTrials]


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
    MethodError
        When a method that is asked for by name is for another kind of data than any
        of the metrics.
    """
    values = {metric.name: _metric_values(pairs, metric, plan) for metric in metrics}
    _check_size(values)
    trials = {
        metric.name: _metric_trials(name, pairs, metric, values[metric.name], plan)
        for metric in metrics
        if _in_both_arms(pairs, metric)
    }
    for key, found in trials.items():
        runs = found.delta.runs if found.delta else None
        values[key] = replace(values[key], runs=runs, arm_runs=found.arm_runs)
    measured = {rate_name: _rate_values(pairs, rate_name, plan) for rate_name in RATES}
    rates = {key: value for key, value in measured.items() if value is not None}
    asked = asked_methods(plan)
    _check_methods(values, asked)
    return VariantValues(
        name=name,
        pairs=pairs,
        metrics=values,
        rates=rates,
        methods=dict.fromkeys((*rates, *values), asked),
        trials=trials,
    )


def asked_methods(plan: Plan) -> Methods:
    """Methods and level that the plan asks for."""
    return Methods(
        confidence_level=plan.analysis.confidence_level,
        interval=plan.analysis.interval,
        test=plan.analysis.test,
        n_resamples=plan.analysis.n_resamples,
        seed=plan.analysis.seed,
    )


def _check_methods(values: Mapping[str, MetricValues], asked: Methods) -> None:
    """Refuse a method for another kind of data than any metric of the run.

    One call names one method for all metrics. Where it suits some metric, the others
    get the default with a note.
    """
    plain = all(metric.resampling == "multinomial" for metric in values.values())
    for kind, name, misfit_of in (
        ("interval", asked.interval, choose.misfit_of_interval),
        ("test", asked.test, choose.misfit_of_test),
    ):
        kinds = KIND_NAMES if plain else KIND_NAMES | RESAMPLING_KINDS
        if name not in kinds:
            continue
        samples = [metric_sample(metric) for metric in values.values()]
        misfits = [misfit_of(name, sample) for sample in samples if sample.n_pairs]
        if misfits and all(misfit and misfit.by_kind for misfit in misfits):
            check_fit(kind, name, misfits[0])


def _check_size(values: Mapping[str, MetricValues]) -> None:
    """Refuse scores whose squares would leave the range of numbers."""
    for name, metric in values.items():
        largest = max(
            float(np.max(np.abs(scores), initial=0.0, where=~np.isnan(scores)))
            for scores in (metric.baseline, metric.variant)
        )
        if largest > LARGEST_SCORE or 0.0 < largest < 1.0 / LARGEST_SCORE:
            raise InputError(
                f"{name}: the largest score is {largest:.3g}; scores beyond "
                f"{LARGEST_SCORE:g}, or all below {1.0 / LARGEST_SCORE:g}, cannot be "
                "squared and summed safely. Rescale the metric."
            )


def _metric_values(pairs: Pairs, metric: Metric, plan: Plan) -> MetricValues:
    arms, fill = {}, _fill(metric, plan)
    for name, arm in (("baseline", pairs.baseline), ("variant", pairs.variant)):
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
        strata=_strata(pairs, plan.analysis),
        resampling=plan.analysis.resampling,
        attainable=_attainable(pairs, metric.name),
        fill=fill,
    )


def _strata(pairs: Pairs, analysis: Analysis) -> IntArray | None:
    """Return the stratum of each question; one without a label is in "(none)"."""
    column = analysis.strata
    if column is None:
        return None
    if pairs.clusters is not None:
        raise PlanError(
            'resampling = "stratified" draws single questions within strata and cannot '
            "keep clusters whole; leave out the strata or the cluster."
        )
    if column not in pairs.labels:
        raise PlanError(
            f'strata "{column}" is not a column of labels in the data. Columns of '
            f"labels: {', '.join(sorted(pairs.labels)) or 'none'}."
        )
    texts = [str(text or "(none)") for text in pairs.labels[column].tolist()]
    return np.unique(texts, return_inverse=True)[1].astype(np.int64)


def _attainable(pairs: Pairs, metric: str) -> tuple[float, float] | None:
    """Know the range of a metric whose every score, trial by trial, is 0 or 1."""
    arms = (pairs.baseline, pairs.variant)
    rows = [arm.metrics[metric] for arm in arms if metric in arm.metrics]
    known = [scores[~np.isnan(scores)] for scores in rows]
    if not any(scores.size for scores in known):
        return None
    binary = all(bool(np.all((s == 0) | (s == 1))) for s in known)
    return (0.0, 1.0) if binary else None


def _in_both_arms(pairs: Pairs, metric: Metric) -> bool:
    return metric.numerator is None and all(
        metric.name in arm.metrics for arm in (pairs.baseline, pairs.variant)
    )


def _metric_trials(
    name: str, pairs: Pairs, metric: Metric, values: MetricValues, plan: Plan
) -> MetricTrials:
    return metric_trials(
        pairs,
        metric.name,
        values,
        trials_paired=plan.analysis.trials_paired,
        confidence_level=plan.analysis.confidence_level,
        fill=_fill(metric, plan),
        variant_name=name,
    )


def _fill(metric: Metric, plan: Plan) -> float | None:
    """Value that stands in for an unscored question; None leaves it out."""
    policy = metric.unscored or plan.analysis.unscored
    if policy == "exclude":
        return None
    names = [declared.name for declared in plan.metrics]
    place = plan.place(("analysis", "unscored"))
    if metric.name in names:
        key = ("metric", names.index(metric.name), "unscored")
        place = plan.place(key, ("analysis", "unscored"))
    where = "" if place == "plan" else f"{place}: "
    if metric.range is None:
        raise PlanError(
            f'{where}unscored = "{policy}" for {metric.name} needs its score range; '
            "declare it, for example range = [0, 1]."
        )
    low, high = metric.range
    if policy == "zero":
        if metric.direction != "higher" or low != 0:
            raise PlanError(
                f'{where}unscored = "zero" for {metric.name} needs a higher-is-better '
                'metric whose range starts at 0; use "worst" instead.'
            )
        return 0.0
    return low if metric.direction == "higher" else high


def _rate_values(pairs: Pairs, name: str, plan: Plan) -> MetricValues | None:
    """Built-in rate of each question; None when it is not measured."""
    arms = [rate(pairs, arm, name) for arm in ("baseline", "variant")]
    if arms[0] is None or arms[1] is None:
        return None
    runs, arm_runs = rate_runs(pairs, name, trials_paired=plan.analysis.trials_paired)
    return MetricValues(
        baseline=arms[0],
        variant=arms[1],
        paired=pairs.paired,
        clusters=pairs.clusters,
        score_range=(0.0, 1.0),
        strata=_strata(pairs, plan.analysis),
        resampling=plan.analysis.resampling,
        runs=runs,
        arm_runs=arm_runs,
    )
