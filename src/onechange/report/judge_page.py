"""The audit of one judged metric as a page of its own."""

from __future__ import annotations

import json

from onechange import __version__
from onechange.errors import OnechangeError
from onechange.judge import LabelledMetric
from onechange.report.document import Block, Bullets
from onechange.report.json_diagnosis import labelled_json
from onechange.report.json_output import SCHEMA, delta_json
from onechange.report.judge import judge_blocks
from onechange.report.markdown import block_markdown
from onechange.report.plain_text import block_text

__all__ = ["render_judge_audit"]

FORMATS = ("text", "markdown", "json")


def render_judge_audit(
    labelled: LabelledMetric, *, format: str = "text", width: int = 100
) -> str:
    """Write the audit of one judged metric.

    Parameters
    ----------
    labelled : LabelledMetric
        As `audit_metric` gives it.
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
            "judge": labelled_json(labelled, delta_json),
        }
        return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if format not in FORMATS:
        raise OnechangeError(
            f'judge audit format "{format}" is unknown; choose one of '
            f"{', '.join(FORMATS)}."
        )
    blocks: list[Block] = [*judge_blocks(labelled)]
    notes = tuple(f"{n.code}: {n.text}" for n in labelled.corrected.notes)
    if notes:
        blocks.append(Bullets(notes))
    if format == "markdown":
        return "\n\n".join(["## Judge audit", *map(block_markdown, blocks)]) + "\n"
    return "\n\n".join(block_text(block, width) for block in blocks) + "\n"
