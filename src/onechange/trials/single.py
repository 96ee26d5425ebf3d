"""Repeated trials of one arm alone, without a variant."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from onechange.assemble import in_sorted_order
from onechange.display import TableMixin
from onechange.errors import InputError
from onechange.pairs import ArmTable, arm_table, cluster_codes, first_texts
from onechange.plan import Metric, Plan, resolve_metrics
from onechange.results import IntArray, Results, SourceFile, TextArray
from onechange.stats.arm import arm_interval
from onechange.stats.components import Component
from onechange.stats.estimate import Interval, Note
from onechange.stats.projection import Contributions, contributions
from onechange.stats.runs import RunVariance, run_variance
from onechange.stats.student import mean
from onechange.stats.twoway import variance_of_mean
from onechange.trials.arm import ArmTrials, arm_trials
from onechange.trials.table import arm_row
from onechange.trials.tables import grading_spread, score_table

__all__ = ["SingleMetric", "TrialsAnalysis", "analyse_trials"]


@dataclass(frozen=True, slots=True)
class SingleMetric:
    """One metric of one arm: its mean and what repetitions do to it.

    Parameters
    ----------
    metric : Metric
        Name and direction.
    trials : ArmTrials
        Run-to-run variation.
    mean : float or None
        Mean of the question means; None when nothing is scored.
    interval : Interval or None
        Of the mean; counts runs where they differ.
    runs : RunVariance or None
        Variance between whole runs with its F test.
    run_variance : Component or None
        The same with its interval.
    noise_floor : float or None
        Standard deviation of the mean from runs alone, the questions held fixed.
    parts : Contributions or None
        Parts of the variance of the mean.
    """

    metric: Metric
    trials: ArmTrials
    mean: float | None = None
    interval: Interval | None = None
    runs: RunVariance | None = None
    run_variance: Component | None = None
    noise_floor: float | None = None
    parts: Contributions | None = None


@dataclass(frozen=True, slots=True, repr=False)
class TrialsAnalysis(TableMixin):
    """Repeated trials of one arm, metric by metric; prints as a table.

    Parameters
    ----------
    name : str
        Name of the arm.
    files : tuple of SourceFile
        What was read.
    n_rows, n_questions, n_clusters : int
        Rows, questions and clusters (None without) of the arm.
    labels : tuple of str
        Its trials.
    confidence_level : float
        Two-sided level of all intervals.
    metrics : tuple of SingleMetric
        In the order of the file.
    notes : tuple of Note
        Caveats of reading, and of single trials.
    """

    name: str
    files: tuple[SourceFile, ...]
    n_rows: int
    n_questions: int
    n_clusters: int | None
    labels: tuple[str, ...]
    confidence_level: float
    metrics: tuple[SingleMetric, ...]
    notes: tuple[Note, ...] = ()

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary of plain values per metric."""
        return [
            {
                "metric": row.metric.name,
                "mean": row.mean,
                **arm_row(row.trials),
                "noise_floor": row.noise_floor,
            }
            for row in self.metrics
        ]


def analyse_trials(results: Results, plan: Plan | None = None) -> TrialsAnalysis:
    """Analyse the repeated trials of one arm.

    Parameters
    ----------
    results : Results
        Rows of the arm, as `read` gives them.
    plan : Plan, optional
        Declared metrics, cluster column and confidence level.

    Returns
    -------
    TrialsAnalysis

    Raises
    ------
    OnechangeError
        When the plan names something that is not in the data, or the arm holds no
        row.

    Examples
    --------
    >>> import pandas as pd
    >>> from onechange.read import read
    >>> rows = [(f"q{i}", k, int(i % 4 > k % 2)) for i in range(12) for k in range(3)]
    >>> frame = pd.DataFrame(rows, columns=["question_id", "trial", "correct"])
    >>> found = analyse_trials(read(frame)).metrics[0].trials
    >>> found.means, found.flip_rate
    ((0.75, 0.5, 0.75), 0.25)
    """
    plan = plan or Plan()
    if results.n_rows == 0:
        raise InputError(f"{results.name}: holds no row; give results with trials.")
    ordered = in_sorted_order(results)
    assert ordered.index is not None
    table = arm_table(ordered, ordered.index.codes)
    question_id = ordered.question_id[ordered.index.starts]
    metrics, notes = resolve_metrics(plan, list(ordered.metrics))
    clusters = _clusters(table, plan.columns.cluster, question_id.size, results.name)
    found = tuple(
        _single(table, metric, question_id, clusters, plan.analysis.confidence_level)
        for metric in metrics
        if metric.numerator is None
    )
    if len(table.trial_labels) == 1:
        text = (
            f"{results.name} has one trial: how much a repetition of the same run "
            "would move these figures is unknown."
        )
        notes = (Note("one-trial", text), *notes)
    return TrialsAnalysis(
        name=results.name,
        files=results.files,
        n_rows=results.n_rows,
        n_questions=int(question_id.size),
        n_clusters=None if clusters is None else int(np.unique(clusters).size),
        labels=table.trial_labels,
        confidence_level=plan.analysis.confidence_level,
        metrics=found,
        notes=(*notes, *results.notes),
    )


def _single(
    arm: ArmTable,
    metric: Metric,
    question_id: TextArray,
    clusters: IntArray | None,
    level: float,
) -> SingleMetric:
    scores = arm.metrics[metric.name]
    scored = np.zeros(question_id.size, dtype=np.bool_)
    scored[arm.question[np.isfinite(scores)]] = True
    table = score_table(arm, scores, scored)
    gradings = grading_spread(arm, metric.name, scored)
    kept = None if clusters is None else clusters[scored]
    trials, fit = arm_trials(
        table,
        question_id[scored],
        clusters=kept,
        confidence_level=level,
        gradings=gradings,
    )
    if fit.n_questions == 0:
        return SingleMetric(metric, trials)
    means = np.nanmean(table.scores, axis=1)
    rows = scores[np.isfinite(scores)]
    zero_one = bool(np.all((rows == 0) | (rows == 1)))
    runs = run_variance(fit)
    interval = arm_interval(
        means,
        binary=bool(np.all((means == 0) | (means == 1))),
        clusters=kept,
        confidence_level=level,
        score_range=metric.range,
        runs=runs,
        attainable=metric.range or ((0.0, 1.0) if zero_one else None),
    ).interval
    grouped = kept if kept is None or np.unique(kept).size < kept.size else None
    spread = variance_of_mean(means, grouped)
    return SingleMetric(
        metric=metric,
        trials=trials,
        mean=mean(means),
        interval=interval,
        runs=runs,
        run_variance=None if runs is None else runs.interval(level),
        noise_floor=None if runs is None else math.sqrt(runs.noise_variance),
        parts=None
        if runs is None or spread is None
        else contributions(
            spread, [fit], runs, [gradings.value * gradings.factor] if gradings else ()
        ),
    )


def _clusters(
    arm: ArmTable, column: str | None, n_questions: int, name: str
) -> IntArray | None:
    if column is None:
        return None
    if column not in arm.texts:
        known = ", ".join(sorted(arm.texts)) or "none"
        raise InputError(
            f'no cluster column "{column}" in {name}; columns of labels: {known}.'
        )
    return cluster_codes(first_texts(arm.question, arm.texts[column], n_questions))
