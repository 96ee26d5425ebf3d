"""The ledger alone: what can be paired, what differs, what was left out and why."""

from __future__ import annotations

import json

from onechange import __version__
from onechange.align import Audit
from onechange.errors import OnechangeError
from onechange.report.document import Bullets, Paragraph
from onechange.report.json_output import SCHEMA, audit_plain
from onechange.report.ledger import audit_blocks, change_text, ledger_text
from onechange.report.markdown import block_markdown
from onechange.report.plain_text import block_text

__all__ = ["render_audit"]

FORMATS = ("text", "markdown", "json")


def render_audit(audit: Audit, *, format: str = "text", width: int = 100) -> str:
    """Write the ledger of a baseline and a variant.

    Parameters
    ----------
    audit : Audit
        What `align` counted.
    format : str
        ``text``, ``markdown`` or ``json``.
    width : int
        Columns to which running text is wrapped.

    Returns
    -------
    str
        Ends with a line break.

    Raises
    ------
    OnechangeError
        When the format is unknown.
    """
    if format == "json":
        plain = {
            "schema": SCHEMA,
            "version": __version__,
            "audit": audit_plain(audit),
        }
        return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if format not in FORMATS:
        raise OnechangeError(
            f'audit format "{format}" is unknown; choose one of {", ".join(FORMATS)}.'
        )
    blocks = [
        Paragraph(ledger_text(audit), "Compared"),
        Paragraph(change_text(audit), "Change"),
        *audit_blocks(audit),
    ]
    notes = tuple(f"{note.code}: {note.text}" for note in audit.notes)
    if notes:
        blocks.append(Bullets(notes))
    if format == "markdown":
        title = "## Audit"
        return "\n\n".join([title, *map(block_markdown, blocks)]) + "\n"
    return "\n\n".join(block_text(block, width) for block in blocks) + "\n"
