"""Arize Phoenix: an experiment's runs, downloaded as JSON or CSV."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from onechange.cells import label_text
from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.delimited import parse_table
from onechange.formats.peek import Peek
from onechange.formats.rows import (
    Row,
    id_of,
    number,
    optional_number,
    scalars,
    text_of,
)
from onechange.formats.source import Document, load, parse_json
from onechange.results import FAILED, Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "phoenix"
LOOKS_FOR = "example_id and repetition_number, in a JSON list or a table"

_MARKS = {"example_id", "repetition_number"}
_ANNOTATION = re.compile(r"annotation_(?P<name>.+)_(?P<field>score|label|error)")
_COSTS = {
    "latency_ms": "latency_ms",
    "prompt_token_count": "prompt_tokens",
    "completion_token_count": "completion_tokens",
}


def sniff(seen: Peek) -> bool:
    """Whether a file looks like the runs of a Phoenix experiment.

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
    """Read an experiment: one row per example and repetition.

    Parameters
    ----------
    path : Path
        JSON or CSV.
    columns : Columns
        Roles of columns.
    gold : Path, optional
        Not used.

    Returns
    -------
    dict of str to Results
        One system, named as its file.

    Raises
    ------
    InputError
        When an annotation occurs twice in one run.

    Notes
    -----
    A run with an ``error`` is failed. An annotation with an error, or with a label
    and no score, is unscored; labels are kept beside the scores.
    """
    document = load(path)
    runs = list(_runs(document))
    rows = []
    quality: dict[str, None] = {}
    for place, run in runs:
        where = f"{document.name}: {place}"
        row = _row(run, place, where)
        _add_annotations(row, run.get("annotations") or [], quality, where)
        rows.append(row)
    results = build(
        path.stem,
        rows,
        files=[document.file],
        notes=_notes(rows, quality),
        columns=columns,
        quality=list(quality),
    )
    return {path.stem: results}


def _runs(document: Document) -> Iterable[tuple[str, dict[str, Any]]]:
    if document.text.lstrip().startswith("["):
        for index, item in enumerate(parse_json(document.text, name=document.name)):
            if not isinstance(item, dict):
                raise InputError(f"{document.name}: [{index}]: expected an object.")
            yield f"[{index}]", item
        return
    table = parse_table(document.text, name=document.name)
    for place, cells in table.records():
        run: dict[str, Any] = dict(cells)
        for field in ("input", "output", "reference_output", "metadata"):
            text = cells.get(field, "").strip()
            if text.startswith(("{", "[")):
                run[field] = parse_json(text, name=f"{document.name}: {place} {field}")
        found: dict[str, dict[str, Any]] = {}
        for name, value in cells.items():
            match = _ANNOTATION.fullmatch(name)
            if match:
                entry = found.setdefault(match["name"], {"name": match["name"]})
                entry[match["field"]] = value or None
        run["annotations"] = list(found.values())
        yield place, run


def _row(run: Mapping[str, Any], place: str, where: str) -> Row:
    row = Row(id_of(run.get("example_id"), place=where), place)
    row.trial = str(run.get("repetition_number") or 1)
    row.labels = {
        "question": text_of(run.get("input")),
        "reference": text_of(run.get("reference_output")),
        "response": text_of(run.get("output")),
    }
    for name, value in scalars(run.get("metadata")).items():
        row.labels.setdefault(name, label_text(value))
    for field, name in _COSTS.items():
        if field in run:
            row.metrics[name] = optional_number(run[field])
    if str(run.get("error") or "").strip():
        row.status = FAILED
        row.labels["error"] = text_of(run.get("error"))
    return row


def _add_annotations(
    row: Row, entries: list[Any], quality: dict[str, None], where: str
) -> None:
    seen: set[str] = set()
    for entry in entries:
        name = str(entry.get("name"))
        if name in seen:
            raise InputError(
                f'{where}: the annotation "{name}" occurs twice; keep one annotator '
                "per name."
            )
        seen.add(name)
        quality[name] = None
        score = number(entry.get("score"), place=where, what=name)
        row.metrics[name] = math.nan if entry.get("error") else score
        row.labels[f"{name}_label"] = label_text(entry.get("label"))


def _notes(rows: list[Row], quality: Iterable[str]) -> list[Note]:
    found = []
    for name in quality:
        count = sum(
            math.isnan(row.metrics.get(name, math.nan))
            and bool(row.labels.get(f"{name}_label"))
            for row in rows
        )
        if count:
            found.append(
                Note(
                    "text-score",
                    f'phoenix: "{name}" has a label and no score in {count} of '
                    f"{len(rows)} runs; they are unscored.",
                )
            )
    return found
