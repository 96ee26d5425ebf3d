"""Repeated trials of one metric in both arms and in their delta."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.delta import MetricValues
from onechange.errors import PlanError
from onechange.pairs import Pairs, rate_rows
from onechange.stats.components import TableFit, fit_table
from onechange.stats.estimate import Note
from onechange.stats.runs import RunVariance, paired_run_variance, run_variance
from onechange.trials.arm import ArmTrials, arm_trials, without_runs
from onechange.trials.delta import DeltaTrials, delta_trials
from onechange.trials.tables import TrialTable, grading_spread, score_table

__all__ = ["MetricTrials", "metric_trials", "rate_runs"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class MetricTrials:
    """Run-to-run variation of one metric in both arms and in the delta.

    Parameters
    ----------
    metric : str
        Name of the metric.
    baseline, variant : ArmTrials
        Each arm over the pairs of the metric.
    notes : tuple of Note
        ``one-trial`` and ``uneven-trials``.
    delta : DeltaTrials or None
        The delta; None in results made by hand.
    arm_runs : RunVariance or None
        Variance between whole runs of the arms; that of the delta unless trials are
        paired.
    variant_name : str or None
        Name of the variant.
    """

    metric: str
    baseline: ArmTrials
    variant: ArmTrials
    notes: tuple[Note, ...] = ()
    delta: DeltaTrials | None = None
    arm_runs: RunVariance | None = None
    variant_name: str | None = None


def metric_trials(
    pairs: Pairs,
    metric: str,
    values: MetricValues,
    *,
    trials_paired: bool = False,
    confidence_level: float = 0.95,
    fill: float | None = None,
    variant_name: str | None = None,
) -> MetricTrials:
    """Summarise the trials of one metric.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    metric : str
        Name of a metric that both arms have.
    values : MetricValues
        Its question means.
    trials_paired : bool
        Whether trials belong together by their index.
    confidence_level : float
        Two-sided level of all intervals.
    fill : float, optional
        What stands in for a missing score of a row that is there.
    variant_name : str, optional
        Name of the variant.

    Returns
    -------
    MetricTrials

    Raises
    ------
    PlanError
        When trials are to be paired and the arms have different numbers of them.
    """
    complete = values.complete
    ids = pairs.question_id[complete]
    clusters = None if values.clusters is None else values.clusters[complete]
    arms, fits, tables, judged = [], [], [], []
    for arm in (pairs.baseline, pairs.variant):
        table = score_table(arm, arm.metrics[metric], complete, fill=fill)
        gradings = grading_spread(arm, metric, complete)
        found, fit = arm_trials(
            table,
            ids,
            clusters=clusters,
            confidence_level=confidence_level,
            gradings=gradings,
        )
        arms.append(found)
        fits.append(fit)
        tables.append(table)
        judged.append(gradings.value * gradings.factor if gradings else 0.0)
    arm_runs = run_variance(*fits)
    runs = arm_runs
    if trials_paired:
        fits, judged = [_fit_of_differences(*tables)], [sum(judged)]
        runs = paired_run_variance(fits[0])
    return MetricTrials(
        metric=metric,
        baseline=arms[0],
        variant=arms[1],
        notes=_notes(arms[0], arms[1]),
        delta=delta_trials(
            values.variant[complete] - values.baseline[complete],
            clusters,
            fits,
            runs,
            confidence_level=confidence_level,
            judged=judged,
        ),
        arm_runs=arm_runs,
        variant_name=variant_name,
    )


def rate_runs(
    pairs: Pairs, name: str, *, trials_paired: bool = False
) -> tuple[RunVariance | None, RunVariance | None]:
    """Variance between whole runs of a built-in rate.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    name : {"failed", "unscored", "answered"}
        Which rate.
    trials_paired : bool
        Whether trials belong together by their index.

    Returns
    -------
    tuple of RunVariance or None
        For the delta, and for an arm's own mean; None when not estimable.
    """
    arms = (pairs.baseline, pairs.variant)
    if max(len(arm.trial_labels) for arm in arms) < 2:
        return None, None
    tables = []
    for arm in arms:
        rows = rate_rows(arm, name)
        if rows is None:
            return None, None
        tables.append(score_table(arm, rows, pairs.paired))
    own = run_variance(*(_fit(table) for table in tables))
    if not trials_paired:
        return own, own
    return paired_run_variance(_fit_of_differences(*tables)), own


def _fit(table: TrialTable) -> TableFit:
    fit = fit_table(table.scores)
    return fit if table.shared else without_runs(fit)


def _fit_of_differences(baseline: TrialTable, variant: TrialTable) -> TableFit:
    counts = [table.scores.shape[1] for table in (baseline, variant)]
    if counts[0] != counts[1]:
        raise PlanError(
            f"data.trials_paired: the baseline has {counts[0]} trials and the variant "
            f"{counts[1]}; paired trials need as many in each arm."
        )
    fit = fit_table(variant.scores - baseline.scores)
    return fit if baseline.shared and variant.shared else without_runs(fit)


def _notes(baseline: ArmTrials, variant: ArmTrials) -> tuple[Note, ...]:
    arms = {"baseline": baseline, "variant": variant}
    notes = []
    single = [name for name, arm in arms.items() if arm.n_trials == 1]
    if len(single) == 2:
        text = (
            "One trial in each arm: how much a repetition of the same run would move "
            "these figures is unknown."
        )
        notes.append(Note("one-trial", text))
    elif single:
        other = "variant" if single[0] == "baseline" else "baseline"
        text = (
            f"The {single[0]} has one trial: its run-to-run variation is unknown and "
            f"taken to be that of the {other}."
        )
        notes.append(Note("one-trial", text))
    uneven = [name for name, arm in arms.items() if arm.uneven]
    if uneven:
        text = (
            f"Trials of the {' and of the '.join(uneven)} score different numbers of "
            "questions, so their means differ by questions as well; the variance "
            "between runs is free of that."
        )
        notes.append(Note("uneven-trials", text))
    return tuple(notes)
