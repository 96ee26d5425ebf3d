"""What scoring some traces came to: one line a score, and what was not scored."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from onechange import __version__
from onechange.display import format_count, format_number
from onechange.display.counting import counted
from onechange.errors import OnechangeError
from onechange.report.document import Block, Bullets, Column, Paragraph, Table
from onechange.report.json_output import SCHEMA
from onechange.report.json_values import number_json, plain_json
from onechange.report.markdown import block_markdown
from onechange.report.plain_text import block_text
from onechange.score import ScoredRows

__all__ = ["render_scores"]

_OF_CORPUS = ("evidence_in_corpus", "evidence_in_one_chunk")
_ASSUMED = " (or take it as given: [score] assume_indexed = true)"
FORMATS = ("text", "markdown", "json")


def render_scores(
    rows: ScoredRows, *, title: str, format: str = "text", width: int = 100
) -> str:
    """Write the summary of scored traces.

    Parameters
    ----------
    rows : ScoredRows
        As `score` gives them.
    title : str
        What was scored, usually the name of the file.
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
        return _json(rows, title)
    if format not in FORMATS:
        raise OnechangeError(
            f'score format "{format}" is unknown; choose one of {", ".join(FORMATS)}.'
        )
    blocks = _blocks(rows, title)
    if format == "markdown":
        return "\n\n".join(["## Scores", *map(block_markdown, blocks)]) + "\n"
    return "\n\n".join(block_text(block, width) for block in blocks) + "\n"


def _blocks(rows: ScoredRows, title: str) -> list[Block]:
    questions = {row["question_id"] for row in rows.rows}
    counts = (
        f"{counted(len(rows.rows), 'trace')} of {counted(len(questions), 'question')}"
    )
    depths = ", ".join(str(k) for k in rows.settings["k"])
    blocks: list[Block] = [
        Paragraph(
            f"{title}: {counts}; depths k = {depths}, unit {rows.settings['unit']}."
        )
    ]
    if rows.summaries:
        blocks.append(_table(rows))
    absent = tuple(f"{name}: {why}" for name, why in rows.not_scored.items())
    notes = tuple(f"{note.code}: {note.text}" for note in rows.notes)
    for label, items in (
        ("Unscored rows, by reason", _reasons(rows)),
        ("Not scored at all", absent),
        ("Failure category open, by the field that lacks", _open_categories(rows)),
        ("Notes", notes),
    ):
        if items:
            blocks += [Paragraph(f"{label}:"), Bullets(items)]
    return blocks


def _table(rows: ScoredRows) -> Table:
    columns = (
        Column("score"),
        Column("mean", "r"),
        Column("scored", "r"),
        Column("unscored", "r"),
        Column("failed", "r"),
    )
    cells = tuple(
        (
            item.score,
            format_number(item.mean),
            format_count(item.n_scored),
            format_count(item.n_unscored),
            format_count(item.n_failed),
        )
        for item in rows.summaries
    )
    return Table(columns, cells)


def _reasons(rows: ScoredRows) -> tuple[str, ...]:
    """Say why scores are missing; those that miss it equally often share a line."""
    alike: dict[tuple[str, int], list[str]] = {}
    for item in rows.summaries:
        for reason, n in item.reasons.items():
            alike.setdefault((reason, n), []).append(item.score)
    return tuple(
        f"{reason}: {counted(n, 'row')} of {', '.join(names)}"
        for (reason, n), names in alike.items()
    )


def _open_categories(rows: ScoredRows) -> tuple[str, ...]:
    """Count the rows whose failure category stayed open, and say the way out."""
    counts = Counter(row["failure_missing"] for row in rows.rows if _is_open(row))
    return tuple(
        f"{field}: {counted(n, 'row')}{_ASSUMED if field in _OF_CORPUS else ''}"
        for field, n in sorted(counts.items())
    )


def _is_open(row: Mapping[str, Any]) -> bool:
    return row.get("failure_missing") is not None


def _json(rows: ScoredRows, title: str) -> str:
    plain = {
        "schema": SCHEMA,
        "version": __version__,
        "traces": title,
        "rows": len(rows.rows),
        "settings": plain_json(rows.settings),
        "scores": [
            {
                "score": item.score,
                "mean": number_json(item.mean),
                "scored": item.n_scored,
                "unscored": item.n_unscored,
                "failed": item.n_failed,
                "reasons": dict(item.reasons),
            }
            for item in rows.summaries
        ],
        "not_scored": dict(rows.not_scored),
        "notes": [{"code": note.code, "text": note.text} for note in rows.notes],
    }
    return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
