"""Langfuse exports: the table of scores (one row per score), and that of traces."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from onechange.cells import label_text, score_value
from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.delimited import parse_table
from onechange.formats.peek import Peek, peek
from onechange.formats.rows import Row, id_of, text_of
from onechange.formats.source import Document, load, parse_json, parse_lines
from onechange.results import Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "langfuse"
LOOKS_FOR = "rows with traceId, name and value (an export of scores)"

_MARKS = {"traceId", "name", "value"}
_ITEMS = ("datasetItemId", "dataset_item_id")
_BOOKKEEPING = {
    "id",
    "name",
    "value",
    "stringValue",
    "timestamp",
    "createdAt",
    "updatedAt",
    "observationId",
    "authorUserId",
    "configId",
    "queueId",
    "projectId",
    "traceId",
    *_ITEMS,
}


def sniff(seen: Peek) -> bool:
    """Whether rows look like an export of Langfuse scores.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    names = set(seen.header) if seen.kind == "table" else seen.item.keys()
    return names >= _MARKS


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read an export of scores: one row per dataset item, or per trace.

    Parameters
    ----------
    path : Path
        CSV, JSON or JSON Lines.
    columns : Columns
        Roles of columns; `question_id` names the column that pairs the arms.
    gold : Path, optional
        Not used.

    Returns
    -------
    dict of str to Results
        One system, named as its file.

    Raises
    ------
    InputError
        When a score occurs twice for one key.

    Notes
    -----
    Categorical scores (text values) become labels. Trace ids differ between runs:
    without a dataset item the arms pair only through a column named with ``--id``.
    """
    document = load(path)
    entries = list(_entries(document))
    key = columns.question_id or next(
        (name for name in _ITEMS if all(entry.get(name) for _, entry in entries)),
        "traceId",
    )
    rows: dict[str, Row] = {}
    for place, entry in entries:
        where = f"{document.name}: {place}"
        question = id_of(entry.get(key), place=where)
        row = rows.setdefault(question, Row(question, place))
        _add_score(row, entry, where)
        for name, value in entry.items():
            if name not in _BOOKKEEPING or name == columns.question_id:
                row.labels.setdefault(name, text_of(value))
    notes = [Note("role-inferred", f'langfuse: the question id is "{key}".')]
    if key == "traceId":
        notes.append(
            Note(
                "trace-key",
                "langfuse: trace ids differ between runs; name a column that both "
                "arms share with --id.",
            )
        )
    results = build(
        path.stem,
        list(rows.values()),
        files=[document.file],
        notes=notes,
        columns=columns,
    )
    return {path.stem: results}


def _entries(document: Document) -> Iterable[tuple[str, Mapping[str, Any]]]:
    kind = peek(document.path).kind
    if kind == "table":
        yield from parse_table(document.text, name=document.name).records()
        return
    if kind == "jsonl":
        values = [
            (f"line {line}", value)
            for line, value in parse_lines(document.text, name=document.name)
        ]
    else:
        whole = parse_json(document.text, name=document.name)
        values = [(f"[{index}]", value) for index, value in enumerate(whole)]
    for place, value in values:
        if not isinstance(value, dict):
            raise InputError(f"{document.name}: {place}: expected an object.")
        yield place, value


def _add_score(row: Row, entry: Mapping[str, Any], where: str) -> None:
    name = str(entry.get("name"))
    if name in row.metrics or f"{name} label" in row.labels:
        raise InputError(
            f'{where}: the score "{name}" occurs twice for "{row.question_id}"; keep '
            "one run per file."
        )
    score = score_value(entry.get("value"))
    text = entry.get("stringValue")
    categorical = str(entry.get("dataType") or "").upper() == "CATEGORICAL"
    if score is None or (categorical and text):
        row.labels[f"{name} label"] = label_text(text or entry.get("value"))
    else:
        row.metrics[name] = math.nan if math.isinf(score) else score
