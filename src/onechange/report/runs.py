"""Run-to-run variation: what repeating the same questions changes."""

from __future__ import annotations

from collections.abc import Sequence

from onechange.display import (
    MISSING,
    format_interval,
    format_number,
    format_percent,
    format_pvalue,
)
from onechange.report.context import Context
from onechange.report.document import Block, Column, Paragraph, Section, Table
from onechange.report.trial_figures import (
    ArmRow,
    arms_table,
    components_table,
    flips_list,
    means_text,
    part_cells,
    part_columns,
    pass_table,
    projection_table,
    same_arm_table,
    spread,
    spread_text,
    strip_plot,
)
from onechange.trials import DeltaTrials, MetricTrials

__all__ = ["runs_line", "runs_section", "trials_blocks"]

ALONE = (
    "One trial in each arm: how much a repetition of the same run would move these "
    "figures is not measured."
)


def runs_section(context: Context) -> Section | None:
    """Build the section on trials."""
    trials = context.comparison.trials
    if not trials:
        return None
    if _most_trials(trials) < 2:
        return Section("trials", "Trials", (), (Paragraph(ALONE),))
    return Section("trials", "Trials", (), trials_blocks(context))


def trials_blocks(
    context: Context, *, compact: bool = False, columns: int | None = None
) -> tuple[Block, ...]:
    """Lay out everything that repeated trials tell about a comparison.

    Parameters
    ----------
    context : Context
        The comparison.
    compact : bool
        Fewer columns, for a terminal.
    columns : int, optional
        Columns of the terminal.
    """
    rows = _arm_rows(context)
    leading = [row for row in rows if row.metric == context.leading_metric]
    found: list[Block | None] = [
        arms_table(rows, compact=compact),
        strip_plot(leading, columns=columns),
        _deltas_table(context, compact=compact),
        *(Paragraph(text) for text in _sentences(context)),
        _projection(context),
        flips_list(rows),
        pass_table(leading),
        same_arm_table(rows, context.level),
        components_table(rows, compact=compact),
    ]
    return tuple(block for block in found if block is not None)


def runs_line(context: Context, metric: str | None) -> str:
    """Say in one line how much the trials of a metric differ."""
    found = [row for row in context.comparison.trials if row.metric == metric]
    if not found:
        return ""
    row = found[0]
    if _most_trials([row]) < 2:
        return "one trial in each arm; run-to-run variation is not measured."
    decimals = context.decimals.get(row.metric, 3)
    arms = []
    for name, arm in (("baseline", row.baseline), ("variant", row.variant)):
        sd = spread_text(arm, decimals)
        arms.append(f"{name} {means_text(arm, decimals)} (SD {sd})")
    text = f"{row.metric} per trial: {'; '.join(arms)}."
    if row.delta is None or row.delta.noise_floor is None:
        return text
    text += f" Noise floor of the delta {spread(row.delta.noise_floor, decimals)}"
    if row.delta.delta_to_noise is not None:
        text += (
            f", the delta is {format_number(row.delta.delta_to_noise, 1)} times that"
        )
    return text + "."


def _most_trials(trials: Sequence[MetricTrials]) -> int:
    return max(len(arm.labels) for row in trials for arm in (row.baseline, row.variant))


def _arm_rows(context: Context) -> list[ArmRow]:
    return [
        ArmRow(row.metric, name, arm, context.decimals.get(row.metric, 3))
        for row, names in zip(context.comparison.trials, _names(context), strict=True)
        for name, arm in zip(names, (row.baseline, row.variant), strict=True)
    ]


def _deltas_table(context: Context, *, compact: bool) -> Table | None:
    """Give the noise floor of each delta, and what its variance is made of."""
    cells = []
    judged = any(
        row.delta and row.delta.parts and any(row.delta.parts.gradings)
        for row in context.comparison.trials
    )
    for row, (_, variant) in zip(
        context.comparison.trials, _names(context), strict=True
    ):
        found = row.delta
        if found is None or found.runs is None:
            continue
        cells.append(
            (
                f"{row.metric} ({variant})" if context.several else row.metric,
                *_delta_cells(
                    found, context.decimals.get(row.metric, 3), judged=judged
                ),
            )
        )
    if not cells:
        return None
    columns = (
        Column("delta of"),
        Column("noise floor", "r", "SD of the delta from runs alone"),
        Column("delta / noise", "r"),
        *part_columns("delta", judged=judged),
        Column("SE with runs", "r", "standard error that counts all three"),
        Column("SD between runs", "r"),
        Column("p, runs equal", "r", "F test over both arms"),
    )
    keep = len(columns) - 2 * compact  # the last two stand in the first table's place
    return Table(
        columns[:keep],
        tuple(row[:keep] for row in cells),
        "What makes the delta uncertain",
    )


def _delta_cells(found: DeltaTrials, decimals: int, *, judged: bool) -> tuple[str, ...]:
    between = found.run_variance
    sd = MISSING
    if between is not None:
        sd = spread(between.sd, decimals)
        places = len(sd.rpartition(".")[2]) if "." in sd else 0
        ends = format_interval(between.sd_interval, places, signed=False)
        sd = f"{sd} ({ends})"
    return (
        spread(found.noise_floor, decimals),
        format_number(found.delta_to_noise, 1),
        *part_cells(found.parts, judged=judged),
        spread(None if found.parts is None else found.parts.standard_error, decimals),
        sd,
        format_pvalue(found.runs.pvalue if found.runs else None),
    )


def _sentences(context: Context) -> list[str]:
    """Say which interval decided and what more questions or trials would buy."""
    texts = []
    for row, (_, variant) in zip(
        context.comparison.trials, _names(context), strict=True
    ):
        if row.metric != context.leading_metric or row.delta is None:
            continue
        name = f"{row.metric} of {variant}" if context.several else row.metric
        if row.delta.reason is not None:
            texts.append(f"{name}: run-to-run variation is {row.delta.reason}.")
            continue
        texts += [f"{name}: {text}" for text in _verdict(context, row.delta)]
    return texts


def _verdict(context: Context, found: DeltaTrials) -> list[str]:
    runs, parts = found.runs, found.parts
    texts = []
    if runs is not None and runs.differ:
        texts.append(
            "whole runs differ, so the interval counts runs as well as questions "
            "(two-way); more questions will not help against that part, more runs will."
        )
    elif runs is not None:
        texts.append(
            "whole runs are not shown to differ, so the interval is over questions, "
            "each question's trials averaged first."
        )
    if parts is None or parts.shares is None:
        return texts
    level = context.plan.analysis.confidence_level
    widths = [
        parts.scaled(questions=n, trials=k).half_width(level)
        for n, k in ((1, 1), (2, 1), (1, 2))
    ]
    if all(widths) and widths[0]:
        saved = [format_percent(1 - (w or 0) / widths[0], 0) for w in widths[1:]]
        texts.append(
            f"twice the questions would narrow the interval by about {saved[0]}, twice "
            f"the trials by about {saved[1]}."
        )
    return texts


def _projection(context: Context) -> Table | None:
    for row in context.comparison.trials:
        if row.metric == context.leading_metric and row.delta and row.delta.parts:
            return projection_table(
                row.delta.parts,
                row.metric,
                context.plan.analysis.confidence_level,
                context.decimals.get(row.metric, 3),
            )
    return None


def _names(context: Context) -> list[tuple[str, str]]:
    """Arm names of each row of trials; the rows run variant by variant."""
    comparison = context.comparison
    rows = comparison.trials
    per_variant = max(len(rows) // max(len(comparison.variants), 1), 1)
    names = [arm.name for arm in comparison.variants]
    return [
        (
            comparison.baseline.name,
            row.variant_name or names[min(i // per_variant, len(names) - 1)],
        )
        for i, row in enumerate(rows)
    ]
