"""What was compared: the change, the settings, and where every row went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onechange.align import Audit, SettingChange
from onechange.display import MISSING, format_count
from onechange.plain_values import same_value
from onechange.plan import Change, Plan
from onechange.report.context import Context
from onechange.report.document import Block, Bullets, Column, Paragraph, Section, Table

__all__ = ["audit_blocks", "change_text", "compared_section", "ledger_text"]

MAX_LISTED = 5
LEFT_OUT = {
    "unmatched": "question only in this arm",
    "not_comparable": "question not comparable",
}


def compared_section(context: Context) -> Section:
    """Build the section that says what was compared."""
    blocks: list[Block] = []
    details: list[Block] = []
    if context.plan.hypothesis:
        blocks.append(Paragraph(context.plan.hypothesis, "Hypothesis"))
    for audit in context.comparison.audits:
        suffix = f" of {audit.variant_name}" if context.several else ""
        blocks.append(Paragraph(change_text(audit, context.plan), "Change" + suffix))
        blocks.append(Paragraph(ledger_text(audit), "Compared" + suffix))
    if context.plan.question_set:
        blocks.append(Paragraph(context.plan.question_set, "Question set"))
    for audit in context.comparison.audits:
        details += audit_blocks(audit)
    if context.plan.deviations:
        blocks.append(Paragraph("; ".join(context.plan.deviations), "Deviations"))
    return Section("compared", "What was compared", tuple(blocks), tuple(details))


def change_text(audit: Audit, plan: Plan | None = None) -> str:
    """Say which settings differ and whether only the declared one does."""
    declared = plan.change if plan else None
    accepted = plan.accepted_changes if plan else ()
    if not all(audit.settings_recorded):
        return _declared_text(declared) + _unrecorded_text(audit)
    differing = {change.setting: change for change in audit.settings_changed}
    parts = []
    if declared is not None:
        found = differing.pop(declared.setting, None)
        parts.append(_expected_text(declared, found))
    parts += [
        f"{_move(change.setting, change.baseline, change.variant)}"
        + _standing(change.setting, declared, accepted)
        for change in differing.values()
    ]
    if not differing:
        parts.append(f"no {'other ' if declared else ''}recorded setting differs")
    return "; ".join(parts) + "."


def _declared_text(declared: Change | None) -> str:
    return "" if declared is None else f"declared: {_declared_move(declared)}; "


def _unrecorded_text(audit: Audit) -> str:
    arms = zip(
        (audit.baseline_name, audit.variant_name), audit.settings_recorded, strict=True
    )
    silent = " and ".join(name for name, recorded in arms if not recorded)
    return (
        f"no settings are recorded for {silent}, so nothing shows that only one thing "
        "changed."
    )


def _expected_text(declared: Change, found: SettingChange | None) -> str:
    wanted = _declared_move(declared)
    if found is None:
        return f"{wanted} is declared, but not recorded as different"
    recorded = _move(found.setting, found.baseline, found.variant)
    ends = ((declared.before, found.baseline), (declared.after, found.variant))
    if all(want is None or same_value(want, end) for want, end in ends):
        return f"{recorded}, as declared"
    return f"{recorded}; declared: {wanted}"


def _declared_move(declared: Change) -> str:
    """Write the declared change with the values that the plan gives."""
    parts = [declared.setting]
    for word, value in (("from", declared.before), ("to", declared.after)):
        parts += [] if value is None else [f"{word} {_value(value)}"]
    return " ".join(parts)


def _standing(setting: str, declared: Change | None, accepted: Sequence[str]) -> str:
    if setting in accepted:
        return " (accepted)"
    return " (not declared)" if declared else ""


def _move(setting: str, before: Any, after: Any) -> str:
    return f"{setting} from {_value(before)} to {_value(after)}"


def ledger_text(audit: Audit) -> str:
    """Say in one sentence how many questions are paired and what was left out."""
    total = audit.paired + len(audit.only_baseline) + len(audit.only_variant)
    total += len(audit.not_comparable)
    left = [f"{format_count(len(ids))} {reason}" for reason, ids in _left_out(audit)]
    sentence = f"{format_count(audit.paired)} of {format_count(total)} questions paired"
    if left:
        sentence += f" ({', '.join(left)})"
    sentence += f"; {_trials(audit)}; {_rows(audit)}."
    return sentence


def _left_out(audit: Audit) -> list[tuple[str, tuple[str, ...]]]:
    """Questions that are not paired, by reason."""
    reasons = (
        ("only in the baseline", audit.only_baseline),
        ("only in the variant", audit.only_variant),
        ("not comparable", audit.not_comparable),
    )
    return [(reason, ids) for reason, ids in reasons if ids]


def _trials(audit: Audit) -> str:
    base, variant = audit.trials
    if base != variant:
        return f"{base} trials of the baseline, {variant} of the variant"
    return "one trial each" if base == 1 else f"{base} trials each"


def _rows(audit: Audit) -> str:
    total = audit.rows_read[0] + audit.rows_read[1]
    text = f"{format_count(total)} rows"
    special = [
        f"{status} {format_count(sum(counts))}"
        for status, counts in audit.rows_by_status.items()
        if status != "answered" and counts[0] + counts[1]
    ]
    return f"{text} (status {', '.join(special)})" if special else f"{text} read"


def audit_blocks(audit: Audit) -> list[Block]:
    """Build the ledger: rows and questions, scores per metric, what was left out."""
    tables: list[Block] = [_rows_table(audit)]
    if audit.metrics:
        tables.append(_metrics_table(audit))
    named = tuple(f"{reason}: {_listed(ids)}" for reason, ids in _left_out(audit))
    return [*tables, Bullets(named)] if named else tables


def _rows_table(audit: Audit) -> Table:
    rows: list[tuple[str, int, int]] = [("rows read", *audit.rows_read)]
    rows += [
        (f"· status {name}", *counts) for name, counts in audit.rows_by_status.items()
    ]
    rows += [
        (f"· left out: {LEFT_OUT.get(name, name)}", *counts)
        for name, counts in audit.rows_left_out.items()
        if sum(counts)
    ]
    rows.append(("trials", *audit.trials))
    rows.append(("questions", *audit.questions))
    rows.append(("· paired", audit.paired, audit.paired))
    rows.append(
        ("· only in this arm", len(audit.only_baseline), len(audit.only_variant))
    )
    excluded = len(audit.not_comparable)
    rows.append(("· not comparable", excluded, excluded))
    return Table(
        (
            Column("ledger"),
            Column(audit.baseline_name, "r", "Rows or questions of this arm."),
            Column(audit.variant_name, "r", "Rows or questions of this arm."),
        ),
        tuple((str(name), format_count(b), format_count(v)) for name, b, v in rows),
    )


def _metrics_table(audit: Audit) -> Table:
    arms = "baseline / variant / both"
    columns = (
        Column("paired questions"),
        Column("scored in both", "r"),
        Column(f"unscored in {arms}", "r"),
        Column(f"failed in {arms}", "r"),
    )
    rows = tuple(
        (
            name,
            format_count(m.pairs),
            _three(m.unscored_baseline, m.unscored_variant, m.unscored_both),
            _three(m.failed_baseline, m.failed_variant, m.failed_both),
        )
        for name, m in audit.metrics.items()
    )
    return Table(columns, rows)


def _three(*counts: int) -> str:
    return " / ".join(format_count(count) for count in counts)


def _listed(ids: tuple[str, ...]) -> str:
    shown = ", ".join(ids[:MAX_LISTED])
    more = len(ids) - MAX_LISTED
    return f"{shown} and {format_count(more)} more" if more > 0 else shown


def _value(value: Any) -> str:
    return MISSING if value is None else str(value)
