"""LangSmith: the table of ``ExperimentResults.to_pandas``, written as CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from onechange.cells import is_missing, label_text, score_value
from onechange.formats.build import build
from onechange.formats.cellrows import PASS_WORDS
from onechange.formats.delimited import parse_table
from onechange.formats.peek import Peek
from onechange.formats.rows import (
    Row,
    id_of,
    number_trials,
    optional_number,
)
from onechange.formats.source import load
from onechange.results import FAILED, Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "langsmith"
LOOKS_FOR = "a table with example_id and columns inputs.*, outputs.*, feedback.*"

_PREFIXES = ("inputs.", "outputs.", "feedback.", "reference.")


def sniff(seen: Peek) -> bool:
    """Whether a table looks like a LangSmith experiment.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    prefixes = [p for p in _PREFIXES if any(n.startswith(p) for n in seen.header)]
    return "example_id" in seen.header and len(prefixes) >= 2


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read an experiment: one row per example and repetition.

    Parameters
    ----------
    path : Path
        CSV file.
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
        When a row has no example_id.

    Notes
    -----
    Rows of one example are trials, in the order of their run ids (the rows stand in
    completion order). A row with an ``error`` is failed. A feedback column holds the
    score or, when there is none, the value's text: texts are kept as labels and are
    unscored, but for pass and fail and their like.
    """
    document = load(path)
    table = parse_table(document.text, name=document.name)
    records = list(table.records())
    feedback = [name for name in table.header if name.startswith("feedback.")]
    kinds = {name: _kind([cells[name] for _, cells in records]) for name in feedback}
    rows = []
    for place, cells in records:
        row = _row(cells, place, f"{document.name}: {place}", kinds)
        rows.append((cells.get("id") or "", row))
    rows.sort(key=lambda pair: pair[0])
    found = [row for _, row in rows]
    notes = [
        Note(
            "text-score",
            f'langsmith: "{name.removeprefix("feedback.")}" holds '
            f"{'text' if kind == 'text' else 'scores and text'}; the text is kept as a "
            "label and is unscored.",
        )
        for name, kind in kinds.items()
        if kind in ("text", "mixed")
    ]
    if number_trials(found) > 1:
        notes.append(
            Note(
                "trials-inferred",
                "langsmith: rows of one example are read as trials, in the order of "
                "their run ids.",
            )
        )
    results = build(
        path.stem,
        found,
        files=[document.file],
        notes=notes,
        columns=columns,
        quality=[name.removeprefix("feedback.") for name in feedback],
    )
    return {path.stem: results}


def _kind(values: list[str]) -> str:
    present = [value for value in values if not is_missing(value)]
    numeric = [score_value(value) is not None for value in present]
    if all(numeric):
        return "numbers"
    if all(value.strip().casefold() in PASS_WORDS for value in present):
        return "words"
    return "mixed" if any(numeric) else "text"


def _row(
    cells: Mapping[str, str], place: str, where: str, kinds: Mapping[str, str]
) -> Row:
    row = Row(id_of(cells["example_id"], place=where), place)
    inputs = [name for name in cells if name.startswith("inputs.")]
    for name, value in cells.items():
        if name in kinds:
            _add_feedback(row, name.removeprefix("feedback."), value, kinds[name])
        elif name == "execution_time":
            row.metrics["execution_time_s"] = optional_number(value)
        elif name.strip() and name not in ("id", "example_id", "Unnamed: 0"):
            row.labels[name] = label_text(value)
    if len(inputs) == 1:
        row.labels["question"] = row.labels.pop(inputs[0])
    if cells.get("error", "").strip():
        row.status = FAILED
    return row


def _add_feedback(row: Row, name: str, value: str, kind: str) -> None:
    score = score_value(value)
    if score is None and kind == "words":
        score = PASS_WORDS[value.strip().casefold()]
    if score is None:
        row.labels[name] = label_text(value)
    if kind != "text":
        row.metrics[name] = math.nan if score is None else score
