"""The decision and the promises of the plan, one row each."""

from __future__ import annotations

import math

from onechange.decide import RuleStatus
from onechange.decide.sentences import Wording
from onechange.display import (
    MISSING,
    format_count,
    format_exact,
    format_number,
    format_percent,
    format_pvalue,
)
from onechange.plan import BUILT_IN_RATES, relative_margin
from onechange.report.context import (
    SYMBOLS,
    Context,
    delta_notes,
    metric_text,
    slice_text,
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
    blocks: list[Block] = [rules_table(context), Bullets(sentences)]
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
    columns = [
        Column("role"),
        Column("metric", help="↑ higher is better, ↓ lower is better"),
        *([Column("of")] if context.several else []),
        Column("baseline", "r"),
        Column("variant", "r"),
        Column("delta", "r", "variant minus baseline"),
        Column(
            f"{context.level} interval",
            "r",
            "of the delta (relative to the baseline under a margin in percent); "
            "under a limit alone, of the variant itself",
        ),
        Column("allowed", "l", "what the plan asks of the delta or of the variant"),
        *(
            []
            if compact
            else [
                Column(
                    "p",
                    "r",
                    "primary: against no difference, "
                    "two-sided; guardrail: against its margin, one-sided",
                )
            ]
        ),
        Column("status"),
    ]
    rows = []
    for status in statuses:
        row = _rule_cells(context, status, marks=not compact)
        if context.several:
            row.insert(2, status.variant_name)
        if not compact:
            row.insert(-1, _pvalue_text(status))
        rows.append(tuple(row))
    return Table(
        tuple(columns), tuple(rows), row_status=tuple(str(s.status) for s in statuses)
    )


def allowed_text(status: RuleStatus, direction: str) -> str:
    """Write what a rule allows, in terms of the delta or of the variant.

    Examples
    --------
    >>> rule = RuleStatus("latency_ms", "guardrail", "mean", "pass", "", margin=80.0)
    >>> allowed_text(rule, "lower")
    '≤ +80'
    """
    higher = direction == "higher"
    if status.role == "primary":
        least = status.min_improvement or 0.0
        value = format_exact(least if higher else -least, signed=True)
        return ("> " if higher else "< ") + value
    parts = []
    if status.margin is not None:
        if isinstance(status.margin, str):
            size = ("−" if higher else "+") + status.margin
        else:
            size = format_exact(
                -status.margin if higher else status.margin, signed=True
            )
        if status.role == "equivalence":
            parts.append("within ±" + size.lstrip("−+"))
        else:
            parts.append(("≥ " if higher else "≤ ") + size)
    if status.limit is not None:
        parts.append(f"variant {'≥' if higher else '≤'} {format_exact(status.limit)}")
    return ", ".join(parts) or MISSING


def _rule_cells(context: Context, status: RuleStatus, *, marks: bool) -> list[str]:
    delta = status.delta
    direction = delta.direction if delta else _direction(context, status.metric)
    metric = metric_text(status.metric, direction, status.statistic)
    if status.slice is not None:
        metric += ", every " + " × ".join(column for column, _ in status.slice)
    if marks:
        notes = (*status.notes, *(delta_notes(delta) if delta else ()))
        metric += context.marks(notes, status.metric)
    verdict = f"{SYMBOLS[str(status.status)]} {status.status}"
    if status.rule == "estimate":
        verdict += " (estimate)"
    return [
        status.role,
        metric,
        context.number(status.metric, delta.baseline if delta else None),
        context.number(status.metric, delta.variant if delta else None),
        _delta_text(context, status),
        _deciding_interval(context, status),
        allowed_text(status, direction),
        verdict,
    ]


def _delta_text(context: Context, status: RuleStatus) -> str:
    delta = status.delta
    if delta is None or delta.delta is None:
        return "not measured"
    relative = delta.relative
    if isinstance(status.margin, str) and relative and relative.delta is not None:
        text = _share_text(status, relative.delta)
    else:
        text = context.number(status.metric, delta.delta, signed=True)
    return f"{text} ({slice_text(status.slice)})" if status.slice else text


def _deciding_interval(context: Context, status: RuleStatus) -> str:
    """Write the interval that the status was read from."""
    delta = status.delta
    if delta is None:
        return MISSING
    if status.limit is not None and status.margin is None:
        return context.interval(status.metric, delta.variant_interval, signed=False)
    if not isinstance(status.margin, str):
        return context.interval(status.metric, delta.interval)
    interval = delta.relative.interval if delta.relative else None
    if interval is None:
        return MISSING
    ends = (_share_text(status, end) for end in (interval.low, interval.high))
    return " … ".join(ends)


def _share_text(status: RuleStatus, value: float) -> str:
    """Write a change relative to the baseline as the sentence of its status does."""
    if not math.isfinite(value):
        return format_number(value, signed=True)
    margin = relative_margin(status.margin) if isinstance(status.margin, str) else None
    size = Wording("higher", share=margin).size(abs(value))
    if not size.strip("0. %"):
        return size
    return ("−" if value < 0 else "+") + size


def _pvalue_text(status: RuleStatus) -> str:
    if status.role == "primary" and status.pvalue_margin is None:
        test = status.delta.test if status.delta else None
        return format_pvalue(test.pvalue if test else None)
    return format_pvalue(status.pvalue_margin)


def _outlook_table(context: Context) -> Table | None:
    """Say for each rule what so many questions could show, and what it would take."""
    statuses = context.decision.statuses if context.decision else ()
    rows = tuple(
        (
            metric_text(
                status.metric,
                status.delta.direction
                if status.delta
                else _direction(context, status.metric),
                status.statistic,
            ),
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
            "missing scores that change it",
            "r",
            "questions without a score, at their worst (of a fail: at their best), "
            "that would change the status",
        ),
        Column(
            "other answers that change it",
            "r",
            "answers of the variant at the worst score (of a fail: at the best) that "
            "would change the status",
        ),
    )
    return Table(columns, rows)


def _tipping_text(tipping: TippingPoint | None) -> str:
    if tipping is None:
        return MISSING
    if tipping.questions is None:
        return f"none of {format_count(tipping.n_questions)}"
    count = format_count(tipping.questions)
    return f"{count} of {format_count(tipping.n_questions)} → {tipping.status}"


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


def _direction(context: Context, metric: str) -> str:
    """Direction of a metric, also of one that is not measured."""
    declared = (*context.comparison.metrics, *context.plan.metrics)
    known = {m.name: m.direction for m in declared if m.direction}
    return known.get(metric) or BUILT_IN_RATES.get(metric, "higher")


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else text + "."
