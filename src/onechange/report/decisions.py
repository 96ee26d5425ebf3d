"""The decisions about several variants at the head of one report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onechange.decide import Decisions
from onechange.display import format_count
from onechange.report.context import Context, make_context
from onechange.report.document import Column, Paragraph, Section, Table
from onechange.report.rules import DECISIONS, lead, rules_section

__all__ = ["several_headline", "several_lead", "several_sections"]


def several_headline(decisions: Decisions) -> str:
    """Say how many variants may ship.

    Parameters
    ----------
    decisions : Decisions
        What `decide_each` returned.
    """
    shipping, total = decisions.shipping, format_count(len(decisions))
    text = f"{len(shipping)} of {total} variants may ship"
    if shipping:
        text += f": {', '.join(shipping)}"
    return f"{decisions.plan.name}: {text}" if decisions.plan.name else text


def several_lead(decisions: Decisions) -> tuple[str, ...]:
    """Return the sentences of every decision, each with its variant."""
    told = []
    for decision in decisions:
        title = DECISIONS[decision.decision]
        sentences = " ".join(lead(make_context(decision)))
        told.append(f"{decision.variant_name}: {title}. {sentences}")
    return tuple(told)


def several_sections(decisions: Decisions, context: Context) -> list[Section]:
    """Build the table of decisions, and the rules of every variant.

    Parameters
    ----------
    decisions : Decisions
        What `decide_each` returned.
    context : Context
        That of the whole report, whose notes all sections share.
    """
    statuses: Sequence[str] = [decision.decision for decision in decisions]
    table = Table(
        (Column("variant"), Column("decision")),
        tuple(
            (decision.variant_name, DECISIONS[decision.decision])
            for decision in decisions
        ),
        row_status=tuple(statuses),
    )
    text = "Each variant is decided at the level at which the intervals of all hold."
    found = [Section("decisions", "Decisions", (table, Paragraph(text)))]
    for number, decision in enumerate(decisions, start=1):
        own = replace(make_context(decision), notes=context.notes)
        section = rules_section(own)
        if section is not None:
            title = f"{decision.variant_name}: {section.title[0].lower()}"
            title += section.title[1:]
            found.append(replace(section, key=f"rules-{number}", title=title))
    return found
