"""What a question set holds, before anything is compared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from onechange import __version__
from onechange.display import format_count, format_percent
from onechange.display.counting import counted
from onechange.errors import OnechangeError
from onechange.report.document import Block, Bullets, Column, Paragraph, Table
from onechange.report.json_output import SCHEMA
from onechange.report.json_values import plain_json
from onechange.report.markdown import block_markdown
from onechange.report.plain_text import block_text
from onechange.score import QuestionSetAudit

__all__ = ["render_question_set"]

FORMATS = ("text", "markdown", "json")
LISTED = 10


def render_question_set(
    audit: QuestionSetAudit, *, title: str, format: str = "text", width: int = 100
) -> str:
    """Write the audit of a set of traces.

    Parameters
    ----------
    audit : QuestionSetAudit
        As `audit_question_set` gives it.
    title : str
        What was audited, usually the name of the file.
    format : str
        ``text``, ``markdown`` or ``json``; JSON lists every id, the others the first
        of each list.
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
            "traces": title,
            "question_set": plain_json(asdict(audit)),
        }
        return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if format not in FORMATS:
        raise OnechangeError(
            f'audit format "{format}" is unknown; choose one of {", ".join(FORMATS)}.'
        )
    blocks = _blocks(audit, title)
    if format == "markdown":
        return "\n\n".join(["## Question set", *map(block_markdown, blocks)]) + "\n"
    return "\n\n".join(block_text(block, width) for block in blocks) + "\n"


def _blocks(audit: QuestionSetAudit, title: str) -> list[Block]:
    statuses = _counts(audit.statuses)
    blocks: list[Block] = [
        Paragraph(
            f"{title}: traces, {format_count(audit.n_traces)} of "
            f"{counted(audit.n_questions, 'question')} in "
            f"{counted(audit.n_trials, 'trial')} ({statuses})."
        ),
        Paragraph(
            f"Labels are given by {_counts(audit.label_units)}; results name "
            f"{_counts(audit.result_units)} (questions)."
        ),
        _table(audit),
    ]
    lists = [line for line in _lists(audit) if line]
    if lists:
        blocks.append(Bullets(tuple(lists)))
    if audit.notes:
        blocks.append(Bullets(tuple(f"{n.code}: {n.text}" for n in audit.notes)))
    return blocks


def _table(audit: QuestionSetAudit) -> Table:
    columns = (Column("check"), Column("count", "r"), Column("share", "r"))
    rows = tuple(
        (str(row["check"]), format_count(row["count"]), format_percent(row["share"]))
        for row in audit.to_dicts()
    )
    return Table(columns, rows)


def _lists(audit: QuestionSetAudit) -> list[str]:
    found = [
        _listed("without labelled evidence", audit.unlabelled),
        _listed("without reference answer", audit.without_reference),
        _listed("without a question text", audit.without_text),
        _listed("changed between trials", audit.changed_text),
        _listed("duplicates", _pairs(audit.duplicates)),
        _listed("near-duplicates", _pairs(audit.near_duplicates)),
        _listed("duplicates with other reference", _pairs(audit.conflicting)),
    ]
    shared = audit.overlap
    if shared is not None:
        found += [
            _listed("ids in both sets", shared.same_id),
            _listed("same text in both sets", _pairs(shared.same_text)),
            _listed("nearly the same text in both sets", _pairs(shared.near_text)),
        ]
    return found


def _pairs(pairs: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{first} = {second}" for first, second in pairs]


def _listed(label: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    more = len(names) - LISTED
    tail = f" and {format_count(more)} more (--format json)" if more > 0 else ""
    return f"{label}: {', '.join(names[:LISTED])}{tail}"


def _counts(counts: object) -> str:
    items = dict(counts).items() if isinstance(counts, dict) else ()
    return ", ".join(f"{name} {format_count(n)}" for name, n in items) or "nothing"
