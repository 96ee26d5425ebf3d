"""The result for a terminal: the decision first, and all of it on one screen."""

from __future__ import annotations

import textwrap
from collections.abc import Container, Sequence
from dataclasses import replace

from onechange.compare import Comparison
from onechange.decide import Decision
from onechange.decide.rule_table import rule_footnote
from onechange.display import (
    escape_terminal,
    format_count,
    shorten,
    text_table,
    text_width,
)
from onechange.display.shortening import listed_places
from onechange.report.breakdowns import forest_plot
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
LABEL = 11
MIN_NAME = 10
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
COLORS = {
    "pass": "32",
    "ship": "32",
    "fail": "31",
    "do not ship": "31",
    "inconclusive": "33",
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
        Columns of the terminal; running text is wrapped to it.
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
    slices = _forests(context, width, room=room - len(reasons) - 1)
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
    lines = _first_that_fits(layouts, width, color)
    return lines + (_wrapped(footnote, width) if footnote else [])


def _first_that_fits(
    tables: Sequence[Table], width: int, color: bool = False
) -> list[str]:
    """Lay out the first table that is narrow enough, else the last with names above.

    A name that leaves too little room for the figures gets a line of its own; one
    that is longer than a line is cut, and the cut is marked.
    """
    for table in tables:
        lines = _layout(table)
        if max(text_width(line) for line in lines) <= width:
            return _with_colors(lines, table, color)
    table = tables[-1]
    room = _room(table, width)
    names = [row[0] for row in table.rows]
    above = {i for i, name in enumerate(names) if room < text_width(name) <= width}
    rows = tuple(
        ("" if i in above else shorten(name, room), *row[1:])
        for i, (name, row) in enumerate(zip(names, table.rows, strict=True))
    )
    lines = _with_colors(_layout(replace(table, rows=rows)), table, color)
    found = lines[:2]
    for i, line in enumerate(lines[2:]):
        found += [escape_terminal(names[i]), line] if i in above else [line]
    return found


def _layout(table: Table) -> list[str]:
    align = "".join(column.align for column in table.columns)
    head = [column.title for column in table.columns]
    return text_table(head, table.rows, align).splitlines()


def _room(table: Table, width: int) -> int:
    """Columns that the figures leave to the first column."""
    excess = max(text_width(line) for line in _layout(table)) - width
    return max(max(text_width(row[0]) for row in table.rows) - excess, MIN_NAME)


def _with_colors(lines: list[str], table: Table, color: bool) -> list[str]:
    if not table.row_status:
        return lines
    body = []
    for line, status in zip(lines[2:], table.row_status, strict=True):
        start = max(line.rfind(SYMBOLS[status]), 0)
        body.append(line[:start] + _painted(line[start:], status, color))
    return [*lines[:2], *body]


def _height(lines: Sequence[str], width: int) -> int:
    """Lines that a block takes on a screen; long lines wrap there."""
    return sum(max(-(-text_width(line) // width), 1) for line in lines)


def _headline(context: Context, width: int, color: bool) -> list[str]:
    decision = context.decision
    status = str(decision.decision) if decision else ""
    title = f"{SYMBOLS.get(status, '')} {headline(context)}".strip()
    lines = [_painted(escape_terminal(title), status, color, bold=True)]
    for sentence in lead(context):
        lines += _wrapped(sentence, width)
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
            lines += _wrapped(status.reason, width, first="· ", rest="  ")
    return lines


# ---------------------------------------------------------------- comparison


def _comparison_blocks(context: Context, width: int) -> list[list[str]]:
    head = [escape_terminal(headline(context))]
    if context.several:
        return [head, *_variant_blocks(context, width)]
    whole = metrics_table(context, marks=False)
    shorter = replace(
        whole, columns=whole.columns[:-1], rows=tuple(row[:-1] for row in whole.rows)
    )
    table = _first_that_fits([whole, shorter], width)
    slices = _forests(context, width, room=None)
    notes = _notes(_gathered_notes(context), width, at_most=None)
    signature = [escape_terminal(context.comparison.signature)]
    facts = _facts(context, width) + _tests(context, width)
    return [head, table, *slices, facts, notes, signature]


def _variant_blocks(context: Context, width: int) -> list[list[str]]:
    """Lay out a table per metric, the sweep of the leading one, the best by slice."""
    swept, leading = context.comparison.sweep, context.leading_metric
    names = dict.fromkeys((d.metric, d.statistic) for d in overall(context))
    blocks = [
        _first_that_fits(
            [metric_table(context, *name, narrow=narrow) for narrow in (0, 1, 2)], width
        )
        for name in names
    ]
    plot = sweep_plot(context, leading, width=31) if leading else None
    if plot is not None:
        blocks.append([*_wrapped(plot.caption, width), *plot.lines])
    best = [b for b in swept.best if b.metric == leading] if swept else []
    table = best_table(context, best) if len(best) > 1 else None
    if table is not None:
        shorter = replace(
            table,
            columns=table.columns[1:-1],
            rows=tuple(row[1:-1] for row in table.rows),
        )
        caption = _wrapped(f"{leading}: {table.caption}", width)
        blocks.append([*caption, *_first_that_fits([shorter], width)])
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


def _forests(context: Context, width: int, *, room: int | None) -> list[list[str]]:
    """Draw the leading metric slice by slice, the worst slices first."""
    metric = context.leading_metric
    breakdowns = context.comparison.slices
    if metric is None or not breakdowns:
        return []
    share = None if room is None else max(room // len(breakdowns) - 4, MIN_SLICES)
    blocks = []
    for breakdown in breakdowns:
        for arm in context.comparison.variants:
            plot = forest_plot(
                context,
                breakdown,
                metric,
                arm.name,
                at_most=share,
                width=31,
            )
            if plot is not None:
                caption = _wrapped(plot.caption, width)
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
        wrapped = _wrapped(text, width, first="· ", rest="  ")
        last = i == len(notes) - 1
        if at_most is not None and len(lines) + len(wrapped) + (not last) > at_most + 1:
            more = format_count(len(notes) - i)
            lines.append(f"· {more} more in the report (--markdown FILE)")
            break
        lines += wrapped
    return lines


def _labelled(label: str, text: str, width: int) -> list[str]:
    if not text:
        return []
    return _wrapped(text, width, first=label.ljust(LABEL), rest=" " * LABEL)


def _wrapped(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    return textwrap.wrap(
        escape_terminal(text),
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _painted(text: str, status: str, color: bool, *, bold: bool = False) -> str:
    if not color or status not in COLORS:
        return text
    return f"\x1b[{'1;' if bold else ''}{COLORS[status]}m{text}\x1b[0m"
