"""Run-to-run variation: what repeating the same questions changes."""

from __future__ import annotations

from onechange.display import (
    MISSING,
    decimals_for,
    format_number,
    format_percent,
)
from onechange.report.context import Context
from onechange.report.document import Column, Paragraph, Section, Table
from onechange.trials import ArmTrials, MetricTrials

__all__ = ["runs_line", "runs_section"]

MAX_MEANS = 8


def runs_section(context: Context) -> Section | None:
    """Build the section on trials."""
    trials = context.comparison.trials
    if not trials:
        return None
    if (
        max(len(arm.labels) for row in trials for arm in (row.baseline, row.variant))
        < 2
    ):
        text = (
            "One trial in each arm: how much a repetition of the same run would move "
            "these figures is not measured."
        )
        return Section("trials", "Trials", (), (Paragraph(text),))
    columns = (
        Column("metric"),
        Column("arm"),
        Column("mean per trial"),
        Column("between-trial SD", "r", "spread of the trial means"),
        Column("within-question SD", "r", "spread of one question's scores"),
        Column("ICC", "r", "share of the variance that lies between questions"),
        Column("flip rate", "r", "questions whose answer changes between trials"),
    )
    rows = [
        _cells(context, row.metric, name, arm)
        for row, names in zip(trials, _names(context), strict=True)
        for name, arm in zip(names, (row.baseline, row.variant), strict=True)
    ]
    return Section("trials", "Trials", (), (Table(columns, tuple(rows)),))


def runs_line(context: Context, metric: str | None) -> str:
    """Say in one line how much the trials of a metric differ."""
    found = [row for row in context.comparison.trials if row.metric == metric]
    if not found:
        return ""
    row = found[0]
    if max(len(row.baseline.labels), len(row.variant.labels)) < 2:
        return "one trial in each arm; run-to-run variation is not measured."
    arms = []
    for name, arm in (("baseline", row.baseline), ("variant", row.variant)):
        sd = _sd_text(context, row.metric, arm)
        arms.append(f"{name} {_means(context, row.metric, arm)} (SD {sd})")
    return f"{row.metric} per trial: {'; '.join(arms)}."


def _cells(context: Context, metric: str, name: str, arm: ArmTrials) -> tuple[str, ...]:
    return (
        metric,
        name,
        _means(context, metric, arm),
        _sd_text(context, metric, arm),
        _spread(context, metric, arm.within_question_sd),
        format_number(arm.icc, 3),
        format_percent(arm.flip_rate, 1),
    )


def _means(context: Context, metric: str, arm: ArmTrials) -> str:
    texts = [context.number(metric, mean) for mean in arm.means]
    if len(texts) > MAX_MEANS:
        known = sorted(mean for mean in arm.means if mean is not None)
        low, high = context.number(metric, known[0]), context.number(metric, known[-1])
        return f"{len(texts)} trials, {low} … {high}"
    return " ".join(texts) or MISSING


def _sd_text(context: Context, metric: str, arm: ArmTrials) -> str:
    if arm.between_trial_sd is None:
        return arm.reason or "not measured"
    return _spread(context, metric, arm.between_trial_sd)


def _spread(context: Context, metric: str, value: float | None) -> str:
    """Write a standard deviation with at least two digits of its own."""
    own = decimals_for([value], significant=2, at_most=6)
    decimals = max(context.decimals.get(metric, 0), own if value else 0)
    return format_number(value, decimals)


def _names(context: Context) -> list[tuple[str, str]]:
    """Arm names of each row of trials; the rows run variant by variant."""
    comparison = context.comparison
    rows: list[MetricTrials] = list(comparison.trials)
    per_variant = max(len(rows) // max(len(comparison.variants), 1), 1)
    names = [arm.name for arm in comparison.variants]
    return [
        (comparison.baseline.name, names[min(i // per_variant, len(names) - 1)])
        for i in range(len(rows))
    ]
