"""The result for a terminal: the decision first, and all of it on one screen."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from onechange.compare import Comparison
from onechange.decide import Decision
from onechange.decide.rule_table import rule_footnote
from onechange.display import (
    escape_terminal,
    format_count,
    text_width,
)
from onechange.display.shortening import listed_places
from onechange.report.breakdowns import MAX_DRAWN, forest_plot
from onechange.report.clusters import clusters_line
from onechange.report.context import (
    SYMBOLS,
    Context,
    make_context,
)
from onechange.report.deltas import metrics_table, overall
from onechange.report.diagnosis import diagnosis_line
from onechange.report.document import Column, Table
from onechange.report.ledger import change_text, ledger_text
from onechange.report.rules import headline, lead, rules_table
from onechange.report.runs import runs_line
from onechange.report.slice_findings import family_text, mix_sentences
from onechange.report.table_text import (
    fitted_alike,
    fitted_table,
    painted,
    without_columns,
    wrapped,
)
from onechange.report.unscored import bounds_line
from onechange.report.variants import (
    best_table,
    metric_table,
    related_text,
    setting_text,
    sweep_plot,
)
from onechange.stats.estimate import Note
from onechange.status import Status

__all__ = ["render_text"]

LINES = 40
MIN_SLICES = 3
MIN_NOTES = 5
SHORT_NOTES = 4  # lines of notes that slices leave: the head, one note, a count
LABEL = 11
# Said first: each can overturn the decision or the way to read it.
SERIOUS = (
    "identical-arms",
    "more-than-one-change",
    "scale-mismatch",
    "judge-changed",
    "not-comparable",
    "metric-only-in-one-arm",
    "plan-deviation",
    "too-few-questions",
    "few-clusters",
    "high-missing-share",
    "possible-cluster",
    "runs-differ",
    "selective-rerun",
    "identical-trials",
    "best-of-many",
    "reversal",
    "composition",
    "interval-and-test-disagree",
    "method-does-not-fit",
)
# Said last, and first to give way: they describe the reading, not the result.
ROUTINE = {
    "direction-assumed",
    "role-inferred",
    "trials-inferred",
    "unmatched-questions",
    "unscored-rows",
    "sampled",
}


def render_text(
    result: Comparison | Decision, *, width: int = 100, color: bool = False
) -> str:
    """Write a result for a terminal.

    Parameters
    ----------
    result : Comparison or Decision
        What `compare` or `decide` returned.
    width : int
        Columns of the terminal: text is wrapped to it, plots are drawn to it, and
        tables lose the columns needed least, or stack what is left.
    color : bool
        Whether statuses are coloured; the words carry them in any case.

    Returns
    -------
    str
        For a decision at most 40 lines as long as the promises of the plan leave
        room: slices and notes that do not fit are counted, never dropped silently.
    """
    context = make_context(result)
    if context.decision is None:
        blocks = _comparison_blocks(context, width)
    else:
        blocks = _decision_blocks(context, width, color)
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


# ---------------------------------------------------------------- decision


def _decision_blocks(context: Context, width: int, color: bool) -> list[list[str]]:
    head = _headline(context, width, color)
    table = _rule_lines(context, width, color)
    reasons = _reasons(context, width, {Status.FAIL, Status.INCONCLUSIVE})
    facts = _facts(context, width)
    signature = [escape_terminal(context.comparison.signature)]
    every = _reasons(context, width, set(Status))
    fixed = sum(_height(b, width) + 1 for b in (head, table, facts, signature))
    room = LINES - fixed - MIN_NOTES
    # Sentences of what passed give way to slices; notes take what is left.
    wanted = _slice_lines(context)
    if room - len(every) - 1 >= wanted:
        reasons = every
    told = len(reasons) + 1 if reasons else 0
    slices = _fitting_forests(context, width, LINES - fixed - told - SHORT_NOTES)
    used = fixed + sum(len(block) + 1 for block in (reasons, *slices) if block)
    notes = _notes(_gathered_notes(context), width, at_most=LINES - used - 1)
    return [head, table, reasons, *slices, facts, notes, signature]


def _slice_lines(context: Context) -> int:
    """Lines that show the worst slices of every breakdown, up to six of each."""
    metric = context.leading_metric
    return sum(
        min(sum(d.metric == metric for d in breakdown.deltas), 6) + 4
        for breakdown in context.comparison.slices
    )


def _rule_lines(context: Context, width: int, color: bool) -> list[str]:
    """Lay out the promises; where the roles do not fit, the head says their order."""
    table = rules_table(context, compact=True)
    roles = ", ".join(dict.fromkeys(row[0] for row in table.rows))
    rows = tuple(row[1:] for row in table.rows)
    layouts = [table] + [
        replace(table, columns=(Column(head), *table.columns[2:]), rows=rows)
        for head in (roles, "rule")
    ]
    statuses = context.decision.statuses if context.decision else ()
    footnote = rule_footnote(statuses)
    lines = fitted_table(layouts, width, color=color, stacked=_metric_first(table))
    return lines + (wrapped(footnote, width) if footnote else [])


def _metric_first(table: Table) -> Table:
    """Let the metric name a row, and its role follow."""
    role, metric, *others = table.columns
    return replace(
        table,
        columns=(metric, role, *others),
        rows=tuple((row[1], row[0], *row[2:]) for row in table.rows),
    )


def _height(lines: Sequence[str], width: int) -> int:
    """Lines that a block takes on a screen; long lines wrap there."""
    return sum(max(-(-text_width(line) // width), 1) for line in lines)


def _headline(context: Context, width: int, color: bool) -> list[str]:
    decision = context.decision
    status = str(decision.decision) if decision else ""
    title = f"{SYMBOLS.get(status, '')} {headline(context)}".strip()
    lines = [painted(escape_terminal(title), status, color, bold=True)]
    for sentence in lead(context):
        lines += wrapped(sentence, width)
    return lines


def _reasons(context: Context, width: int, statuses: Container[str]) -> list[str]:
    """Sentences of the statuses that the headline has not yet given."""
    decision = context.decision
    if decision is None:
        return []
    lines = []
    for status in decision.statuses:
        told = status.reason.rstrip(".") in decision.reason
        if status.status in statuses and not told:
            lines += wrapped(status.reason, width, first="· ", rest="  ")
    return lines


# ---------------------------------------------------------------- comparison


def _comparison_blocks(context: Context, width: int) -> list[list[str]]:
    head = [escape_terminal(headline(context))]
    if context.several:
        return [head, *_variant_blocks(context, width)]
    whole = metrics_table(context, marks=False)
    table = fitted_table(_narrower(whole), width)
    slices = _forests(context, width)
    notes = _notes(_gathered_notes(context), width, at_most=None)
    signature = [escape_terminal(context.comparison.signature)]
    facts = _facts(context, width) + _tests(context, width)
    return [head, table, *slices, facts, notes, signature]


def _narrower(table: Table) -> list[Table]:
    """Leave out what is needed least, column by column."""
    tables = [table]
    least = ("d_z", "better/same/worse", "simultaneous interval", "clusters")
    for title in least:
        tables.append(without_columns(tables[-1], {title}))
    return tables


def _variant_blocks(context: Context, width: int) -> list[list[str]]:
    """Lay out a table per metric, the sweep of the leading one, the best by slice."""
    swept, leading = context.comparison.sweep, context.leading_metric
    names = dict.fromkeys((d.metric, d.statistic) for d in overall(context))
    whole = [metric_table(context, *name, marks=False) for name in names]
    blocks = fitted_alike([_narrower(table) for table in whole], width)
    plot = sweep_plot(context, leading, columns=width) if leading else None
    if plot is not None:
        blocks.append([*wrapped(plot.caption, width), *plot.lines])
    best = [b for b in swept.best if b.metric == leading] if swept else []
    table = best_table(context, best) if len(best) > 1 else None
    if table is not None:
        shorter = replace(
            table,
            columns=table.columns[1:-1],
            rows=tuple(row[1:-1] for row in table.rows),
        )
        caption = wrapped(f"{leading}: {table.caption}", width)
        blocks.append([*caption, *fitted_table([shorter], width)])
    facts = _facts(context, width) + _tests(context, width)
    if swept is not None:
        facts = _labelled("Setting", setting_text(swept), width) + facts
        facts += _labelled("All arms", related_text(swept), width)
    notes = _notes(_gathered_notes(context), width, at_most=None)
    return [*blocks, facts, notes, [escape_terminal(context.comparison.signature)]]


# ---------------------------------------------------------------- parts


def _facts(context: Context, width: int) -> list[str]:
    lines = []
    for audit in context.comparison.audits:
        of = f"{audit.variant_name}: " if context.several else ""
        lines += _labelled("Compared", of + ledger_text(audit), width)
        lines += _labelled("Change", of + change_text(audit, context.plan), width)
    metric = context.leading_metric
    lines += _labelled("Clusters", clusters_line(context, metric), width)
    lines += _labelled("Missing", bounds_line(context, metric), width)
    if context.decision is not None:
        told = " ".join(context.decision.tipping_points)
        lines += _labelled("Tipping", told, width)
    lines += _labelled("Runs", runs_line(context, metric), width)
    lines += _labelled("Diagnosis", diagnosis_line(context), width)
    return lines


def _tests(context: Context, width: int) -> list[str]:
    """Say how p-values are adjusted, and what a stated mix of slices gives."""
    lines = []
    for family in context.comparison.families:
        lines += _labelled("Adjusted", family_text(family), width)
    for sentence in mix_sentences(context, context.leading_metric):
        lines += _labelled("Mix", sentence, width)
    return lines


def _fitting_forests(context: Context, width: int, room: int) -> list[list[str]]:
    """Draw as many slices as fit a number of lines, but never too few."""
    breakdowns = context.comparison.slices
    most = max((len({d.slice for d in b.deltas}) for b in breakdowns), default=0)
    for share in range(min(most, MAX_DRAWN), MIN_SLICES, -1):
        blocks = _forests(context, width, share)
        if sum(len(block) + 1 for block in blocks) <= room:
            return blocks
    return _forests(context, width, MIN_SLICES)


def _forests(context: Context, width: int, share: int = MAX_DRAWN) -> list[list[str]]:
    """Draw the leading metric slice by slice, the worst slices first."""
    metric = context.leading_metric
    breakdowns = context.comparison.slices
    if metric is None or not breakdowns:
        return []
    blocks = []
    for breakdown in breakdowns:
        for arm in context.comparison.variants:
            plot = forest_plot(
                context,
                breakdown,
                metric,
                arm.name,
                at_most=share,
                columns=width,
            )
            if plot is not None:
                caption = wrapped(plot.caption, width)
                blocks.append([*caption, *plot.lines])
    return blocks


def _gathered_notes(context: Context) -> list[tuple[Note, str]]:
    """List notes with the metrics they were met at, the serious ones first."""
    found = [(n, listed_places(places)) for n, places in context.notes.places.items()]
    return sorted(found, key=lambda pair: _rank(pair[0].code))


def _rank(code: str) -> int:
    if code in SERIOUS:
        return SERIOUS.index(code)
    return len(SERIOUS) + (code in ROUTINE)


def _notes(
    notes: Sequence[tuple[Note, str]], width: int, *, at_most: int | None
) -> list[str]:
    """Write notes, one code after the other; what does not fit is counted."""
    if not notes:
        return []
    lines = ["Notes"]
    for i, (note, place) in enumerate(notes):
        where = f" ({place})" if place and place not in note.text else ""
        text = f"{note.code}{where}: {note.text}"
        own = wrapped(text, width, first="· ", rest="  ")
        last = i == len(notes) - 1
        if at_most is not None and len(lines) + len(own) + (not last) > at_most + 1:
            more = format_count(len(notes) - i)
            lines.append(f"· {more} more in the report (--markdown FILE)")
            break
        lines += own
    return lines


def _labelled(label: str, text: str, width: int) -> list[str]:
    if not text:
        return []
    return wrapped(text, width, first=label.ljust(LABEL), rest=" " * LABEL)
