"""Several variants against one baseline: a table per metric, the sweep, the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from onechange.deltas import Delta
from onechange.display import MISSING, format_count, format_number, format_pvalue
from onechange.display.forest import ForestRow, fitted_forest, forest_lines
from onechange.report.context import (
    Context,
    delta_notes,
    metric_text,
    place_of,
    slice_text,
)
from onechange.report.deltas import clusters_column, counts_text, figures, overall
from onechange.report.document import (
    Block,
    Column,
    Paragraph,
    Plot,
    Section,
    Table,
)
from onechange.report.slice_findings import equals, family_text
from onechange.sweep import BestVariant, Sweep, number

__all__ = [
    "best_table",
    "metric_table",
    "related_text",
    "setting_text",
    "sweep_plot",
    "variant_tables",
    "variants_section",
]


def variants_section(context: Context) -> Section | None:
    """Build the section of several variants; None for one."""
    swept = context.comparison.sweep
    if swept is None or not context.several:
        return None
    metric = context.leading_metric
    blocks: list[Block] = [Paragraph(swept.note.text, "Best of several")]
    text = setting_text(swept)
    if text:
        blocks.append(Paragraph(text, "Setting"))
    if metric is not None:
        plot = sweep_plot(context, metric)
        blocks += [] if plot is None else [plot]
    tables = variant_tables(context)
    blocks += tables
    families = [f for f in context.comparison.families if f.scope == "overall"]
    blocks += [
        Paragraph(family_text(f), "Adjusted p") for f in families if family_text(f)
    ]
    related = related_text(swept)
    if related:
        blocks.append(Paragraph(related))
    leading = best_table(context, [b for b in swept.best if b.metric == metric])
    others = best_table(context, [b for b in swept.best if b.metric != metric])
    blocks += [] if leading is None else [leading]
    details = () if others is None else (others,)
    return Section("variants", "Variants", tuple(blocks), details)


def variant_tables(context: Context) -> list[Table]:
    """Lay out one table per metric, a row per variant."""
    names = dict.fromkeys((d.metric, d.statistic) for d in overall(context))
    return [metric_table(context, metric, statistic) for metric, statistic in names]


def metric_table(
    context: Context, metric: str, statistic: str = "mean", *, marks: bool = True
) -> Table:
    """Lay out one metric, a row per variant.

    Parameters
    ----------
    context : Context
        The result.
    metric, statistic : str
        What to show.
    marks : bool
        Whether the numbers of the notes are put behind the variants.
    """
    rows = [
        d for d in overall(context) if d.metric == metric and d.statistic == statistic
    ]
    adjusted = any(d.pvalue_adjusted is not None for d in rows)
    joint = any(d.simultaneous_interval is not None for d in rows)
    name = metric_text(metric, rows[0].direction, statistic)
    clusters = clusters_column(rows)
    columns = (
        Column(name),
        Column("n", "r", "pairs: questions scored in both arms"),
        *clusters,
        Column("baseline", "r"),
        Column("variant", "r"),
        Column("delta", "r", "variant minus baseline"),
        Column(f"{context.level} interval", "r", "of this variant alone"),
        Column("p", "r", "two-sided, against no difference"),
        *([Column("adjusted p", "r", "over all metrics and variants")] * adjusted),
        *([Column("simultaneous interval", "r", "all at once")] * joint),
        Column("better/same/worse", "r", "questions"),
    )
    cells = []
    for d in rows:
        label = _label(context, d.variant_name)
        if marks:
            label += context.marks(delta_notes(d), place_of(context.comparison, d))
        cells.append(
            (
                label,
                *figures(context, d, rows),
                *([format_pvalue(d.pvalue_adjusted)] * adjusted),
                *([context.interval(metric, d.simultaneous_interval)] * joint),
                counts_text(d),
            )
        )
    return Table(columns, tuple(cells))


def sweep_plot(
    context: Context, metric: str, *, columns: int | None = None
) -> Plot | None:
    """Draw a metric over the variants, in the order of a numeric setting.

    The baseline stands among them, at zero; the lines are simultaneous intervals.
    """
    swept = context.comparison.sweep
    rows = [d for d in context.comparison.deltas if d.metric == metric]
    rows = [d for d in rows if d.statistic in ("mean", "ratio")]
    if swept is None or not any(d.delta is not None for d in rows):
        return None
    values = dict(swept.values)
    drawn = [(values.get(d.variant_name), _row(context, d)) for d in rows]
    if swept.numeric:
        name = context.comparison.baseline.name
        base = ForestRow(
            label=f"{name} ({_value(swept.baseline_value)})",
            n_pairs=max(d.n_pairs for d in rows),
            delta=0.0,
            low=None,
            high=None,
            delta_text=context.number(metric, 0.0),
        )
        drawn.append((swept.baseline_value, base))
        drawn.sort(key=lambda pair: number(pair[0]) or 0.0)
    forest = tuple(row for _, row in drawn)
    direction = rows[0].direction
    if columns is None:  # a table beside it has the figures
        plain = [replace(row, interval_text="") for row in forest]
        lines = forest_lines(plain, direction=direction)
    else:
        lines = fitted_forest(forest, direction=direction, columns=columns)
    over = f"over {swept.setting}" if swept.numeric else "by variant"
    return Plot(
        lines,
        f"{metric} {over}, with simultaneous intervals",
        forest,
        rows[0].direction,
    )


def best_table(context: Context, best: Sequence[BestVariant]) -> Table | None:
    """Lay out the best variant of each slice; None without any."""
    if not best:
        return None
    columns = (
        Column("metric"),
        Column("where"),
        Column("n", "r"),
        Column("best variant", help="the largest observed improvement"),
        Column("delta", "r"),
        Column("simultaneous interval", "r", "it allows for the choice"),
        Column("adjusted p", "r"),
        Column("improvement shown"),
    )
    rows = tuple(
        (
            metric_text(b.metric, b.direction),
            _where(b),
            format_count(b.n_pairs),
            "baseline" if b.variant_name is None else _label(context, b.variant_name),
            MISSING
            if b.variant_name is None
            else context.number(b.metric, b.delta, signed=True),
            MISSING
            if b.variant_name is None
            else context.interval(b.metric, b.interval),
            MISSING if b.variant_name is None else format_pvalue(b.pvalue_adjusted),
            "yes" if b.shown else "no",
        )
        for b in best
    )
    return Table(columns, rows, caption="Best variant, over all questions and by slice")


def setting_text(swept: Sweep) -> str:
    """Write the value of the swept setting in each arm; empty when not recorded."""
    if swept.setting is None:
        return ""
    arms = [("the baseline", swept.baseline_value), *swept.values]
    parts = [f"{_value(value)} in {name}" for name, value in arms]
    return f"{swept.setting}: {', '.join(parts)}."


def related_text(swept: Sweep) -> str:
    """Say whether the arms differ at all, for 0/1 metrics; may be empty."""
    parts = [
        f"{metric} Q = {format_number(test.statistic, 1)}, "
        f"p {equals(format_pvalue(test.pvalue))}"
        for metric, test in swept.related
        if test.pvalue is not None
    ]
    if not parts:
        return ""
    return f"Whether all arms have one share (Cochran's Q): {'; '.join(parts)}."


def _label(context: Context, name: str) -> str:
    """Write a variant with its value of the setting, where that says more."""
    swept = context.comparison.sweep
    value = None if swept is None else dict(swept.values).get(name)
    text = _value(value)
    return name if value is None or text == name else f"{name} ({text})"


def _value(value: Any) -> str:
    return "not recorded" if value is None else str(value)


def _where(best: BestVariant) -> str:
    if best.slice is None:
        return slice_text(None)
    columns = " × ".join(column for column, _ in best.slice)
    return f"{columns}: {slice_text(best.slice)}"


def _row(context: Context, delta: Delta) -> ForestRow:
    interval = delta.simultaneous_interval or delta.interval
    remark = ""
    if delta.pvalue_adjusted is not None:
        remark = f"adj. p {equals(format_pvalue(delta.pvalue_adjusted))}"
    return ForestRow(
        label=_label(context, delta.variant_name),
        n_pairs=delta.n_pairs,
        delta=delta.delta,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        delta_text=context.number(delta.metric, delta.delta, signed=True),
        interval_text=context.interval(delta.metric, interval),
        remark=remark,
    )
