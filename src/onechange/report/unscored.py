"""Missing scores: how many, and what they could do to the delta."""

from __future__ import annotations

from onechange.delta import Bounds, Delta
from onechange.display import MISSING, format_count
from onechange.report.context import Context, metric_text
from onechange.report.document import Block, Column, Paragraph, Section, Table

__all__ = ["bounds_line", "unscored_section"]


def unscored_section(context: Context) -> Section | None:
    """Build the section on unscored and failed rows."""
    bounded = [d for d in context.comparison.deltas if d.bounds is not None]
    if not bounded:
        return None
    incomplete = [d for d in bounded if d.bounds and _moves(d.bounds)]
    if not incomplete:
        text = "No score is missing that could change a delta."
        return Section("unscored", "Unscored and failed", (), (Paragraph(text),))
    columns = (
        Column("metric"),
        *([Column("variant")] if context.several else []),
        Column("questions", "r", "questions that the metric applies to"),
        Column("incomplete", "r", "without any score in one of the arms"),
        Column("partly scored", "r", "counted in both arms, but not every row scored"),
        Column("not applicable", "r", "unscored in both arms"),
        Column("delta of the pairs", "r"),
        Column("delta if all were scored", "r", "worst … best"),
        Column(f"{context.level} interval of these bounds", "r"),
    )
    rows = tuple(_cells(context, delta) for delta in incomplete)
    blocks: list[Block] = [
        Paragraph(
            "The delta uses the questions scored in both arms. The bounds put every "
            "missing score at its worst and at its best end of the declared range."
        ),
        Table(columns, rows),
    ]
    return Section("unscored", "Unscored and failed", (), tuple(blocks))


def bounds_line(context: Context, metric: str | None) -> str:
    """Say in one sentence where the missing scores could take a metric's delta."""
    for delta in context.comparison.deltas:
        bounds = delta.bounds
        if delta.metric != metric or bounds is None or not _moves(bounds):
            continue
        lacking = _counted_as(context, delta) or _lacking(bounds)
        if bounds.low is None or bounds.high is None:
            return f"{metric}: {lacking}; {bounds.reason}."
        low = context.number(delta.metric, bounds.low, signed=True)
        high = context.number(delta.metric, bounds.high, signed=True)
        reach = (
            "with every missing score at its worst and at its best, the delta is "
            f"{low} … {high}"
        )
        return f"{metric}: {lacking + '; ' if lacking else ''}{reach}."
    return ""


def _counted_as(context: Context, delta: Delta) -> str:
    """Say what stands in for unscored rows, where the plan says so; else nothing."""
    values = context.comparison.values.get((delta.variant_name, delta.metric))
    if values is None or values.fill is None or delta.bounds is None:
        return ""
    count, total = delta.bounds.n_partial, format_count(delta.bounds.n_questions)
    verb = "has" if count == 1 else "have"
    fill = context.number(delta.metric, values.fill)
    return (
        f"{format_count(count)} of {total} questions {verb} unscored rows, which count "
        f"as {fill}"
    )


def _lacking(bounds: Bounds) -> str:
    """Count the questions without a score, and those with some trials unscored."""
    whole, partial = bounds.n_incomplete, bounds.n_partial
    total = format_count(bounds.n_questions)
    if whole and partial:
        return (
            f"of {total} questions, {format_count(whole)} "
            f"{'lacks' if whole == 1 else 'lack'} a score and {format_count(partial)} "
            f"{'has' if partial == 1 else 'have'} some trials unscored"
        )
    if partial:
        verb = "has" if partial == 1 else "have"
        return f"{format_count(partial)} of {total} questions {verb} trials unscored"
    if whole:
        verb = "lacks" if whole == 1 else "lack"
        return f"{format_count(whole)} of {total} questions {verb} a score"
    return ""


def _moves(bounds: Bounds) -> bool:
    """Whether missing scores (of whole questions or single trials) matter."""
    lacking = bounds.n_incomplete > 0 or bounds.n_partial > 0
    return lacking or bounds.low != bounds.high


def _cells(context: Context, delta: Delta) -> tuple[str, ...]:
    bounds = delta.bounds
    if bounds is None:
        return ()
    if bounds.low is None or bounds.high is None:
        reach = bounds.reason or MISSING
    else:
        low = context.number(delta.metric, bounds.low, signed=True)
        reach = f"{low} … {context.number(delta.metric, bounds.high, signed=True)}"
    return (
        metric_text(delta.metric, delta.direction, delta.statistic),
        *([delta.variant_name] if context.several else []),
        format_count(bounds.n_questions),
        format_count(bounds.n_incomplete),
        format_count(bounds.n_partial),
        format_count(bounds.n_not_applicable),
        context.number(delta.metric, delta.delta, signed=True),
        reach,
        context.interval(delta.metric, bounds.interval),
    )
