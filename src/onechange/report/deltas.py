"""All metrics, and the same deltas slice by slice."""

from __future__ import annotations

from collections.abc import Sequence

from onechange.compare import SliceBreakdown
from onechange.delta import Delta
from onechange.display import (
    MISSING,
    format_count,
    format_number,
    format_percent,
    format_pvalue,
)
from onechange.report.context import Context, delta_notes, metric_text, slice_text
from onechange.report.document import (
    Block,
    Bullets,
    Column,
    Paragraph,
    Plot,
    Section,
    Table,
)
from onechange.report.forest import ForestRow, forest_lines

__all__ = [
    "forest_plot",
    "heterogeneity_text",
    "metrics_section",
    "metrics_table",
    "slices_section",
]

EFFECT_NAMES = {
    "cohen_dz": "d_z",
    "hedges_gz": "g_z",
    "rank_biserial": "rank-biserial",
    "cliffs_delta": "Cliff's delta",
}


# ---------------------------------------------------------------- all metrics


def metrics_section(context: Context) -> Section:
    """Build the section of all metrics."""
    blocks: list[Block] = [metrics_table(context)]
    blocks.append(
        Paragraph(
            "p is two-sided, against no difference between the arms; better, same and "
            "worse count questions."
        )
    )
    measured = [d for d in _overall(context) if d.n_pairs]
    if measured:
        blocks += [_methods_table(context, measured)]
    tables = [d for d in measured if d.table is not None]
    if tables:
        blocks.append(_binary_table(context, tables))
    return Section("metrics", "All metrics", tuple(blocks))


def metrics_table(context: Context, *, marks: bool = True) -> Table:
    """Build the table of every overall delta, the built-in rates last."""
    deltas = _overall(context)
    effects = list(dict.fromkeys(name for d in deltas for name in d.effect_size or {}))
    columns = (
        Column("metric", help="↑ higher is better, ↓ lower is better"),
        *([Column("variant")] if context.several else []),
        Column("n", "r", "pairs: questions scored in both arms"),
        *_clusters_column(deltas),
        Column("baseline", "r"),
        Column("variant", "r"),
        Column("delta", "r", "variant minus baseline"),
        Column(f"{context.level} interval", "r"),
        Column("p", "r", "two-sided, against no difference"),
        Column("better/same/worse", "r", "questions"),
        *(Column(EFFECT_NAMES.get(name, name), "r") for name in effects),
    )
    rows = []
    for delta in deltas:
        name = metric_text(delta.metric, delta.direction, delta.statistic)
        if marks:
            name += context.marks(delta_notes(delta), delta.metric)
        sizes = delta.effect_size or {}
        rows.append(
            (
                name,
                *([delta.variant_name] if context.several else []),
                *_figures(context, delta, deltas),
                _counts(delta),
                *(format_number(sizes.get(e), 2, signed=True) for e in effects),
            )
        )
    return Table(columns, tuple(rows))


def _overall(context: Context) -> list[Delta]:
    return [*context.comparison.deltas, *context.comparison.rates]


def _figures(
    context: Context, delta: Delta, column: Sequence[Delta]
) -> tuple[str, ...]:
    """Cells from n to p, the same for a metric and for a slice."""
    return (
        format_count(delta.n_pairs),
        *([format_count(delta.n_clusters)] if _clusters_column(column) else []),
        context.number(delta.metric, delta.baseline),
        context.number(delta.metric, delta.variant),
        "not measured"
        if delta.delta is None
        else context.number(delta.metric, delta.delta, signed=True),
        context.interval(delta.metric, delta.interval),
        format_pvalue(delta.test.pvalue if delta.test else None),
    )


def _clusters_column(deltas: Sequence[Delta]) -> list[Column]:
    if all(delta.n_clusters is None for delta in deltas):
        return []
    return [Column("clusters", "r", "sources that are resampled whole")]


def _counts(delta: Delta) -> str:
    if not delta.n_pairs:
        return MISSING
    gained, lost = delta.wins, delta.losses
    return " / ".join(format_count(count) for count in (gained, delta.ties, lost))


def _methods_table(context: Context, deltas: Sequence[Delta]) -> Table:
    columns = (
        Column("metric"),
        *([Column("variant")] if context.several else []),
        Column("decision interval"),
        Column("bootstrap interval", "r"),
        Column("permutation interval", "r"),
        Column("test"),
        Column("relative delta", "r", "mean of the variant over the baseline's, − 1"),
    )
    rows = tuple(
        (
            metric_text(d.metric, d.direction, d.statistic),
            *([d.variant_name] if context.several else []),
            d.interval.method if d.interval else MISSING,
            context.interval(d.metric, d.bootstrap_interval),
            context.interval(d.metric, d.permutation_interval),
            _test_text(d),
            _relative_text(d),
        )
        for d in deltas
    )
    return Table(columns, rows)


def _test_text(delta: Delta) -> str:
    test = delta.test
    if test is None:
        return MISSING
    if test.monte_carlo_error is not None:
        error = format_number(test.monte_carlo_error)
        return f"{test.method}, Monte Carlo error {error}"
    return test.method


def _relative_text(delta: Delta) -> str:
    relative = delta.relative
    if relative is None or relative.delta is None:
        reason = relative.reason if relative else None
        return f"undefined: {reason}" if reason else MISSING
    text = _signed_percent(relative.delta)
    if relative.interval is None:
        return text
    low, high = relative.interval.low, relative.interval.high
    return f"{text} ({_signed_percent(low)} … {_signed_percent(high)})"


def _signed_percent(share: float) -> str:
    return format_number(share * 100, 1, signed=True) + " %"


def _binary_table(context: Context, deltas: Sequence[Delta]) -> Table:
    columns = (
        Column("0/1 metric"),
        *([Column("variant")] if context.several else []),
        Column("1 in both", "r"),
        Column("only baseline", "r"),
        Column("only variant", "r"),
        Column("0 in both", "r"),
    )
    rows = []
    for d in deltas:
        if d.table is None:
            continue
        t = d.table
        counts = (t.both, t.only_baseline, t.only_variant, t.neither)
        rows.append(
            (
                metric_text(d.metric, d.direction, d.statistic),
                *([d.variant_name] if context.several else []),
                *(format_count(count) for count in counts),
            )
        )
    return Table(columns, tuple(rows))


# ---------------------------------------------------------------- slices


def slices_section(context: Context) -> Section | None:
    """Build the section of all breakdowns."""
    blocks: list[Block] = []
    for breakdown in context.comparison.slices:
        blocks += _breakdown_blocks(context, breakdown)
    return Section("slices", "Slices", tuple(blocks)) if blocks else None


def forest_plot(
    context: Context,
    breakdown: SliceBreakdown,
    metric: str,
    variant_name: str,
    *,
    intervals: bool = True,
    at_most: int | None = None,
    width: int = 41,
) -> Plot | None:
    """Draw one metric of one breakdown; None when no slice is measured.

    Parameters
    ----------
    context, breakdown, metric, variant_name
        What to draw.
    intervals : bool
        Whether the intervals are written out as well.
    at_most : int, optional
        Number of slices to draw, from the worst; the caption counts the others.
    width : int
        Columns of the plotting area.
    """
    rows = _of(breakdown.deltas, metric, variant_name)
    if not any(row.delta is not None for row in rows):
        return None
    shown = rows[:at_most]
    whole = _of(context.comparison.deltas, metric, variant_name)[:1]
    adjusted = any(row.pvalue_adjusted is not None for row in shown)
    lines = forest_lines(
        [_forest_row(context, row, intervals, adjusted) for row in (*shown, *whole)],
        direction=rows[0].direction,
        width=width,
    )
    caption = f"{metric} by {breakdown.spec.name}"
    if context.several:
        caption += f", {variant_name}"
    hidden = len(rows) - len(shown)
    if hidden:
        caption += f" (the {len(shown)} worst of {len(rows)} slices)"
    het = heterogeneity_text(breakdown, metric)
    return Plot(lines, f"{caption}; {het}" if het else caption)


def heterogeneity_text(breakdown: SliceBreakdown, metric: str) -> str:
    """Say how likely the slices are to differ this much by chance; may be empty."""
    pvalue = (breakdown.heterogeneity_pvalue or {}).get(metric)
    return "" if pvalue is None else f"heterogeneity p {_equals(format_pvalue(pvalue))}"


def _breakdown_blocks(context: Context, breakdown: SliceBreakdown) -> list[Block]:
    metrics = list(dict.fromkeys(d.metric for d in breakdown.deltas))
    leading = context.leading_metric
    metrics.sort(key=lambda name: name != leading)
    variants = list(dict.fromkeys(d.variant_name for d in breakdown.deltas))
    blocks: list[Block] = []
    for variant in variants:
        for metric in metrics[:1]:
            plot = forest_plot(context, breakdown, metric, variant, intervals=False)
            if plot is not None:
                blocks.append(plot)
    blocks.append(_slices_table(context, breakdown, metrics, variants))
    if breakdown.reversals:
        text = "; ".join(breakdown.reversals)
        blocks.append(Paragraph(text, "Reversals"))
    if breakdown.small:
        text = ", ".join(f"{label} ({format_count(n)})" for label, n in breakdown.small)
        blocks.append(Paragraph(text, "Slices under the minimum size"))
    tested = [name for name in metrics[1:] if heterogeneity_text(breakdown, name)]
    if tested:
        blocks.append(
            Bullets(
                tuple(
                    f"{name}: {heterogeneity_text(breakdown, name)}" for name in tested
                )
            )
        )
    context.notes.add(breakdown.notes, breakdown.spec.name)
    return blocks


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
        for d in _of(breakdown.deltas, metric, variant)
    ]
    adjusted = any(d.pvalue_adjusted is not None for d in deltas)
    joint = any(d.simultaneous_interval is not None for d in deltas)
    columns = (
        Column("metric"),
        *([Column("variant")] if context.several else []),
        *(Column(column) for column in breakdown.spec.columns),
        Column("n", "r"),
        *_clusters_column(deltas),
        Column("baseline", "r"),
        Column("variant", "r"),
        Column("delta", "r"),
        Column(f"{context.level} interval", "r", "of this slice alone"),
        Column("p", "r", "of this slice alone"),
        *([Column("adjusted p", "r", "over all slices")] if adjusted else []),
        *([Column("simultaneous interval", "r", "all at once")] if joint else []),
        Column("better/same/worse", "r"),
    )
    rows = tuple(
        (
            metric_text(d.metric, d.direction, d.statistic)
            + context.marks(delta_notes(d), f"{d.metric}, {slice_text(d.slice)}"),
            *([d.variant_name] if context.several else []),
            *(label for _, label in d.slice or ()),
            *_figures(context, d, deltas),
            *([format_pvalue(d.pvalue_adjusted)] if adjusted else []),
            *([context.interval(d.metric, d.simultaneous_interval)] if joint else []),
            _counts(d),
        )
        for d in deltas
    )
    return Table(columns, rows)


def _of(deltas: Sequence[Delta], metric: str, variant_name: str) -> list[Delta]:
    return [d for d in deltas if d.metric == metric and d.variant_name == variant_name]


def _forest_row(
    context: Context, delta: Delta, intervals: bool, adjusted: bool
) -> ForestRow:
    interval = delta.interval
    remarks = []
    if adjusted and delta.pvalue_adjusted is not None:
        remarks.append(f"adj. p {_equals(format_pvalue(delta.pvalue_adjusted))}")
    codes = {note.code for note in delta.notes}
    remarks += [
        words
        for code, words in (
            ("small-slice", "few pairs"),
            ("reversal", "reversal"),
            ("opposite-sign", "opposite sign, not established"),
        )
        if code in codes
    ]
    return ForestRow(
        label=slice_text(delta.slice),
        n_pairs=delta.n_pairs,
        delta=delta.delta,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        delta_text=context.number(delta.metric, delta.delta, signed=True),
        interval_text=context.interval(delta.metric, interval) if intervals else "",
        remark=", ".join(remarks),
    )


def _equals(text: str) -> str:
    return text if text.startswith("<") else f"= {text}"


def share_text(share: float | None) -> str:
    """Write a share with one decimal, ``12.5 %``."""
    return format_percent(share, 1)
