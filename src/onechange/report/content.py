"""A result -> the whole report as plain blocks, in the order readers need."""

from __future__ import annotations

from onechange.compare import Comparison
from onechange.decide import Decision, Decisions
from onechange.display.shortening import listed_places
from onechange.report.breakdowns import slices_section
from onechange.report.context import SYMBOLS, Context, make_context
from onechange.report.decisions import (
    several_headline,
    several_lead,
    several_sections,
)
from onechange.report.deltas import metrics_section
from onechange.report.diagnosis import diagnosis_section
from onechange.report.document import Bullets, Document, Paragraph, Section
from onechange.report.judge import judge_section
from onechange.report.ledger import compared_section
from onechange.report.methods import methods_section
from onechange.report.questions import questions_section
from onechange.report.rules import headline, lead, rules_section
from onechange.report.runs import runs_section
from onechange.report.slice_findings import composition_section
from onechange.report.unscored import unscored_section
from onechange.report.variants import variants_section

__all__ = ["build_document"]


def build_document(result: Comparison | Decision | Decisions) -> Document:
    """Lay out a comparison or decision as the blocks of a report.

    Parameters
    ----------
    result : Comparison, Decision or Decisions
        What `compare`, `decide` or `decide_each` returned.

    Returns
    -------
    Document
        Every figure already rounded; the same document serves all formats.
    """
    context = make_context(result)
    status = str(context.decision.decision) if context.decision else ""
    n_main = len(context.notes.places)
    ruled: list[Section | None] = [rules_section(context)]
    title, opening = headline(context), lead(context)
    if isinstance(result, Decisions):
        status = result.decision
        ruled = [*several_sections(result, context)]
        title, opening = several_headline(result), several_lead(result)
    sections = [
        compared_section(context),
        *ruled,
        variants_section(context),
        metrics_section(context),
        slices_section(context),
        composition_section(context),
        runs_section(context),
        judge_section(context),
        diagnosis_section(context),
        questions_section(context),
        unscored_section(context),
        methods_section(context),
    ]
    sections.append(_notes_section(context, n_main))
    return Document(
        symbol=SYMBOLS.get(status, ""),
        headline=title,
        status=status,
        lead=opening,
        sections=tuple(part for part in sections if part is not None),
        signature=context.comparison.signature,
    )


def _notes_section(context: Context, n_main: int) -> Section | None:
    """List all notes by number; those of single slices are details."""
    items = []
    for note, places in context.notes.places.items():
        where = f" ({listed_places(places, '; ')})" if places else ""
        items.append(f"{note.code}: {note.text}{where}")
    if not items:
        return None
    intro = Paragraph(
        "Raised numbers in the tables point here. What a code means, and what to do, "
        "is in the documentation of onechange under “Notes”."
    )
    main, rest = tuple(items[:n_main]), tuple(items[n_main:])
    return Section(
        "notes",
        "Notes",
        (intro, Bullets(main, start=1)) if main else (intro,),
        (Bullets(rest, start=n_main + 1),) if rest else (),
    )
