"""The decision and the promises of the plan, one row each."""

from __future__ import annotations

from onechange.decide import RuleStatus
from onechange.decide.rule_table import (
    rule_columns,
    rule_direction,
    rule_footnote,
    rule_row,
)
from onechange.display import (
    MISSING,
    format_count,
    format_percent,
)
from onechange.report.context import (
    Context,
    delta_notes,
    metric_text,
)
from onechange.report.document import (
    Block,
    Bullets,
    Column,
    Paragraph,
    Section,
    Table,
)
from onechange.sensitivity import Fragility, TippingPoint

__all__ = ["headline", "lead", "rules_section", "rules_table"]

DECISIONS = {
    "ship": "Ship",
    "do not ship": "Do not ship",
    "inconclusive": "Inconclusive",
}


def headline(context: Context) -> str:
    """Return the decision in words, or what was compared."""
    decision = context.decision
    if decision is not None:
        title = DECISIONS[str(decision.decision)]
        return f"{title}: {context.plan.name}" if context.plan.name else title
    comparison = context.comparison
    variants = ", ".join(arm.name for arm in comparison.variants)
    return f"{comparison.baseline.name} → {variants}"


def lead(context: Context) -> tuple[str, ...]:
    """Return the sentences that stand before any table."""
    decision = context.decision
    if decision is None:
        return ()
    sentences = [_sentence(decision.reason)]
    if context.plan.stage == "development":
        sentences.append(
            "Decided on development questions: confirm on held-out questions."
        )
    return (*sentences, *(_sentence(step) for step in decision.next_steps))


def rules_section(context: Context) -> Section | None:
    """Build the section of the primary and the guardrails."""
    decision = context.decision
    if decision is None or not decision.statuses:
        return None
    sentences = tuple(_sentence(status.reason) for status in decision.statuses)
    blocks: list[Block] = [rules_table(context)]
    footnote = rule_footnote(decision.statuses)
    if footnote:
        blocks.append(Paragraph(footnote))
    blocks.append(Bullets(sentences))
    if decision.tipping_points:
        told = " ".join(decision.tipping_points)
        blocks.append(Paragraph(told, "Tipping points"))
    details: list[Block] = [Paragraph(_errors_sentence(context))]
    outlook = _outlook_table(context)
    if outlook is not None:
        details.append(outlook)
    return Section("rules", "Primary and guardrails", tuple(blocks), tuple(details))


def rules_table(context: Context, *, compact: bool = False) -> Table:
    """Build the table of promises.

    Parameters
    ----------
    context : Context
        A context with a decision.
    compact : bool
        Leave out the p-values and the numbers of notes.
    """
    statuses = context.decision.statuses if context.decision else ()
    kept = [c for c in rule_columns(context.level) if not (compact and c[0] == "p")]
    rows = []
    for status in statuses:
        row = rule_row(
            status,
            _direction(context, status),
            context.decimals.get(status.metric),
            marks="" if compact else _marks(context, status),
        )
        cells = row.cells
        rows.append((*cells[:-2], cells[-1]) if compact else cells)
    return Table(
        tuple(Column(*column) for column in kept),
        tuple(rows),
        row_status=tuple(str(s.status) for s in statuses),
    )


def _marks(context: Context, status: RuleStatus) -> str:
    notes = (*status.notes, *(delta_notes(status.delta) if status.delta else ()))
    return context.marks(notes, status.metric)


def _outlook_table(context: Context) -> Table | None:
    """Say for each rule what so many questions could show, and what it would take."""
    statuses = context.decision.statuses if context.decision else ()
    rows = tuple(
        (
            metric_text(status.metric, _direction(context, status), status.statistic),
            format_percent(status.smallest_margin)
            if isinstance(status.margin, str)
            else context.number(status.metric, status.smallest_margin),
            format_percent(status.pass_probability_unchanged, 0),
            format_count(status.further_questions),
            _tipping_text(status.tipping),
            _fragility_text(status.fragility),
        )
        for status in statuses
    )
    if all(cell == MISSING for row in rows for cell in row[1:]):
        return None
    columns = (
        Column("rule"),
        Column("smallest margin that could pass", "r", "if no answer changed"),
        Column("chance to pass if nothing changed", "r"),
        Column("further questions for 80 % power", "r"),
        Column(
            "questions with missing scores that change it",
            "r",
            "unscored or failed in some row, filled at their worst (of a fail: at "
            "their best), that would change the status; in brackets the rows",
        ),
        Column(
            "other answers that change it",
            "r",
            "answers of the variant at the worst score (of a fail: at the best) that "
            "would change the status",
        ),
    )
    return Table(
        columns, rows, caption="What could pass, and what would change a status"
    )


def _tipping_text(tipping: TippingPoint | None) -> str:
    if tipping is None:
        return MISSING
    if tipping.questions is None:
        return f"none of {format_count(tipping.n_questions)}"
    count = format_count(tipping.questions)
    rows = f"{format_count(tipping.rows)} of {format_count(tipping.n_rows)} rows"
    return f"{count} of {format_count(tipping.n_questions)} ({rows}) → {tipping.status}"


def _fragility_text(fragility: Fragility | None) -> str:
    if fragility is None:
        return MISSING
    if fragility.answers is None:
        return f"none of {format_count(fragility.n_answers)}"
    return f"{format_count(fragility.answers)} → {fragility.status}"


def _errors_sentence(context: Context) -> str:
    level = context.plan.analysis.confidence_level
    error = format_percent((1 - level) / 2)
    decision = context.decision
    count = len(decision.statuses) if decision else 0
    text = (
        f"Each pass and each fail carries a one-sided error of {error}. Ship needs "
        "every status to pass, so it needs no correction for their number"
    )
    if count > 1:
        text += (
            f"; the chance of some false fail among the {format_count(count)} rules is "
            "not controlled"
        )
    text += "."
    text += (
        " The p of a guardrail is one-sided, against its margin; that of the primary "
        "two-sided, against no difference."
    )
    return text


def _direction(context: Context, status: RuleStatus) -> str:
    declared = (*context.comparison.metrics, *context.plan.metrics)
    return rule_direction(status, declared)


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else text + "."
