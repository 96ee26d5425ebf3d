"""The same deltas slice by slice: a picture, then the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from onechange.breakdowns import SliceBreakdown
from onechange.delta import Delta
from onechange.display import format_count, format_pvalue
from onechange.display.forest import ForestRow, fitted_forest, forest_lines
from onechange.display.shortening import listed_places
from onechange.report.context import (
    Context,
    delta_notes,
    metric_text,
    place_of,
    question_link,
    slice_text,
)
from onechange.report.deltas import (
    clusters_column,
    counts_text,
    figures,
    marked_by,
)
from onechange.report.document import (
    Block,
    Column,
    Paragraph,
    Plot,
    Section,
    Table,
)
from onechange.report.slice_findings import (
    equals,
    family_text,
    heterogeneity_table,
    heterogeneity_text,
    reversal_blocks,
    weighted_table,
)
from onechange.report.table_text import wrapped
from onechange.slices import SliceLabel

__all__ = ["MAX_DRAWN", "forest_plot", "slices_section"]

_REMARKS = {  # code of a note to its words, in full and in short
    "small-slice": ("few pairs", "few pairs"),
    "reversal": ("reversal", "reversal"),
    "opposite-sign": ("opposite sign, not established", "opposite sign"),
}
MAX_DRAWN = 31  # lines for slices in a plot made of characters


def slices_section(context: Context) -> Section | None:
    """Build the section of all breakdowns: pictures first, tables as details."""
    blocks: list[Block] = []
    details: list[Block] = []
    for breakdown in context.comparison.slices:
        blocks += _breakdown_blocks(context, breakdown)
        details += _breakdown_details(context, breakdown)
    if not details:
        return None
    families = [f for f in context.comparison.families if f.scope == "slices"]
    blocks += [
        Paragraph(family_text(f), "Adjusted p") for f in families if family_text(f)
    ]
    return Section("slices", "Slices", tuple(blocks), tuple(details))


def forest_plot(
    context: Context,
    breakdown: SliceBreakdown,
    metric: str,
    variant_name: str,
    *,
    intervals: bool = True,
    at_most: int = MAX_DRAWN,
    columns: int | None = None,
) -> Plot | None:
    """Draw one metric of one breakdown; None when no slice is measured.

    Parameters
    ----------
    context, breakdown, metric, variant_name
        What to draw.
    intervals : bool
        Whether the intervals are written out as well.
    at_most : int
        Lines for slices, from the worst, those with an interval first; when there are
        more slices the last line counts the others.
    columns : int, optional
        Columns of the terminal; without a terminal nothing is shortened.
    """
    rows = sorted(_of(breakdown.deltas, metric, variant_name), key=_interval_first)
    if not any(row.delta is not None for row in rows):
        return None
    whole = _of(context.comparison.deltas, metric, variant_name)[:1]
    adjusted = any(row.pvalue_adjusted is not None for row in rows)
    name = breakdown.spec.name
    drawn = tuple(
        _forest_row(context, row, adjusted and row.slice is not None, name)
        for row in (*rows, *whole)
    )
    first = len(rows) if len(rows) <= at_most else at_most - 1
    shown = (*drawn[:first], *drawn[len(rows) :])
    direction = rows[0].direction
    if columns is not None:
        lines = fitted_forest(shown, direction=direction, columns=columns)
    else:
        plain = [row if intervals else replace(row, interval_text="") for row in shown]
        lines = forest_lines(plain, direction=direction)
    lines += _hidden_line(context, rows[first:], columns)
    caption = f"{metric} by {breakdown.spec.name}"
    if context.several:
        caption += f", {variant_name}"
    het = heterogeneity_text(breakdown, metric, variant_name)
    caption = f"{caption}; {het}" if het else caption
    return Plot(lines, caption, drawn, direction)


def _interval_first(delta: Delta) -> tuple[bool, bool]:
    return delta.interval is None, delta.delta is None


def _hidden_line(
    context: Context, hidden: Sequence[Delta], columns: int | None
) -> tuple[str, ...]:
    """Count the slices that a plot of characters leaves out."""
    if not hidden:
        return ()
    least = context.plan.analysis.min_slice
    small = sum(row.n_pairs < least for row in hidden)
    few = f" ({format_count(small)} of them with under {least} pairs)" if small else ""
    place = "the table of every slice" if columns is None else "--csv/--html"
    noun = "slice" if len(hidden) == 1 else "slices"
    text = f"… and {format_count(len(hidden))} more {noun}{few}; {place} has all"
    return tuple(wrapped(text, columns or 100))


def _breakdown_blocks(context: Context, breakdown: SliceBreakdown) -> list[Block]:
    blocks: list[Block] = []
    metric = _metrics(context, breakdown)[:1]
    for variant in _variants(breakdown):
        for name in metric:
            plot = forest_plot(context, breakdown, name, variant, intervals=False)
            if plot is not None:
                blocks.append(plot)
    blocks += reversal_blocks(context, breakdown)
    small = _small_slices(breakdown)
    if small:
        names = [f"{label} ({format_count(n)})" for label, n in small.items()]
        blocks.append(Paragraph(listed_places(names), "Slices under the minimum size"))
    mix = weighted_table(context, breakdown)
    return blocks if mix is None else [*blocks, mix]


def _small_slices(breakdown: SliceBreakdown) -> dict[str, int]:
    """Slices under the minimum size, with their largest number of pairs."""
    sizes: dict[str, int] = {}
    for delta in breakdown.deltas:
        label = slice_text(delta.slice)
        sizes[label] = max(sizes.get(label, 0), delta.n_pairs)
    large = {
        slice_text(delta.slice)
        for delta in breakdown.deltas
        if all(note.code != "small-slice" for note in delta.notes) and delta.n_pairs
    }
    return {label: n for label, n in sizes.items() if label not in large}


def _breakdown_details(context: Context, breakdown: SliceBreakdown) -> list[Block]:
    metrics = _metrics(context, breakdown)
    blocks: list[Block] = [
        _slices_table(context, breakdown, metrics, _variants(breakdown))
    ]
    tests = heterogeneity_table(context, breakdown)
    return blocks if tests is None else [*blocks, tests]


def _metrics(context: Context, breakdown: SliceBreakdown) -> list[str]:
    """Metrics of a breakdown, the leading one first."""
    metrics = list(dict.fromkeys(d.metric for d in breakdown.deltas))
    return sorted(metrics, key=lambda name: name != context.leading_metric)


def _variants(breakdown: SliceBreakdown) -> list[str]:
    return list(dict.fromkeys(d.variant_name for d in breakdown.deltas))


def _slices_table(
    context: Context,
    breakdown: SliceBreakdown,
    metrics: Sequence[str],
    variants: Sequence[str],
) -> Table:
    deltas = [
        d
        for metric in metrics
        for variant in variants
        for d in (
            *_of(breakdown.deltas, metric, variant),
            *_of(breakdown.joined, metric, variant),
        )
    ]
    shrunken = _shrunken_deltas(breakdown)
    adjusted = any(d.pvalue_adjusted is not None for d in deltas)
    joint = any(d.simultaneous_interval is not None for d in deltas)
    columns = (
        Column("metric"),
        *([Column("of")] if context.several else []),
        *(Column(column) for column in breakdown.spec.columns),
        Column("n", "r"),
        *clusters_column(deltas),
        Column("baseline", "r"),
        Column("variant", "r"),
        Column("delta", "r"),
        Column(f"{context.level} interval", "r", "of this slice alone"),
        Column("p", "r", "of this slice alone"),
        *([Column("adjusted p", "r", "over all slices")] if adjusted else []),
        *([Column("simultaneous interval", "r", "all at once")] if joint else []),
        *([Column("shrunken", "r", "drawn to the mean of slices")] if shrunken else []),
        Column("better/same/worse", "r"),
    )
    rows = tuple(
        (
            metric_text(d.metric, d.direction, d.statistic)
            + context.marks(delta_notes(d), place_of(context.comparison, d)),
            *([d.variant_name] if context.several else []),
            *(label for _, label in d.slice or ()),
            *figures(context, d, deltas),
            *([format_pvalue(d.pvalue_adjusted)] if adjusted else []),
            *([context.interval(d.metric, d.simultaneous_interval)] if joint else []),
            *([_shrunken(context, d, shrunken)] if shrunken else []),
            counts_text(d),
        )
        for d in deltas
    )
    links = tuple(
        (
            *([""] * (1 + context.several)),
            *(_link(d, breakdown.spec.name) for _ in d.slice or ()),
        )
        for d in deltas
    )
    marked = marked_by(context, deltas, "slices")
    caption = f"Every metric by {breakdown.spec.name}"
    return Table(columns, rows, caption, links=links, **marked)


def _shrunken_deltas(
    breakdown: SliceBreakdown,
) -> dict[tuple[str, str, SliceLabel], float]:
    return {
        (found.metric, found.variant_name, label): delta
        for found in breakdown.heterogeneity
        for label, delta in found.shrunken
    }


def _shrunken(
    context: Context,
    delta: Delta,
    shrunken: Mapping[tuple[str, str, SliceLabel], float],
) -> str:
    value = None
    if delta.statistic == "mean":
        value = shrunken.get((delta.metric, delta.variant_name, delta.slice or ()))
    return context.number(delta.metric, value, signed=True)


def _of(deltas: Sequence[Delta], metric: str, variant_name: str) -> list[Delta]:
    return [d for d in deltas if d.metric == metric and d.variant_name == variant_name]


def _forest_row(
    context: Context, delta: Delta, adjusted: bool, breakdown: str
) -> ForestRow:
    interval = delta.interval
    pvalue = ""
    if adjusted and delta.pvalue_adjusted is not None:
        pvalue = f"adj. p {equals(format_pvalue(delta.pvalue_adjusted))}"
    codes = {note.code for note in delta.notes}
    met = [words for code, words in _REMARKS.items() if code in codes]
    remarks = [pvalue] if pvalue else []
    remarks += [words for words, _ in met]
    return ForestRow(
        label=slice_text(delta.slice),
        n_pairs=delta.n_pairs,
        delta=delta.delta,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        delta_text=context.number(delta.metric, delta.delta, signed=True),
        interval_text=context.interval(delta.metric, interval),
        remark=", ".join(remarks),
        link=_link(delta, breakdown),
        pvalue_text=pvalue,
        flags=", ".join(short for _, short in met),
    )


def _link(delta: Delta, breakdown: str) -> str:
    """Say which questions are behind a row."""
    part = delta.slice
    filters = [] if part is None else [(breakdown, slice_text(part))]
    filters.append((":change", "paired" if delta.n_pairs else "unpaired"))
    return question_link(filters, delta.metric)
