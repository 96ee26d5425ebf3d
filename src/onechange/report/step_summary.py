"""The decision as the Markdown summary of a CI job."""

from __future__ import annotations

from dataclasses import replace

from onechange.decide import Decision, Decisions
from onechange.report.content import build_document
from onechange.report.markdown import document_markdown

__all__ = ["render_step_summary"]

SECTIONS = ("rules", "decisions", "compared", "slices", "notes")
MOST_BYTES = 1_000_000  # GitHub refuses summaries over 1 MiB


def render_step_summary(decision: Decision | Decisions) -> str:
    """Write the decision, its rules, what was compared and the notes.

    Parameters
    ----------
    decision : Decision or Decisions
        What `decide` or `decide_each` returned.

    Returns
    -------
    str
        Markdown without the collapsible details of the full report; for a very long
        one, the decision and its rules alone.
    """
    document = build_document(decision)
    for kept in (SECTIONS, SECTIONS[:1], ()):
        sections = tuple(
            replace(section, details=())
            for section in document.sections
            if section.key.split("-")[0] in kept
        )
        text = document_markdown(replace(document, sections=sections))
        if len(text.encode("utf-8", "backslashreplace")) <= MOST_BYTES:
            return text
    return text[: MOST_BYTES // 4]
