"""AlpacaEval annotations: each output against that of a fixed reference system."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from onechange.cells import label_text, score_value
from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.peek import Peek
from onechange.formats.rows import Row, text_id, text_of
from onechange.formats.source import load, parse_json
from onechange.results import Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "alpaca-eval"
LOOKS_FOR = "a JSON list with instruction, generator_1, generator_2 and preference"


def sniff(seen: Peek) -> bool:
    """Whether a JSON file looks like AlpacaEval annotations.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    marks = {"instruction", "generator_1", "generator_2", "preference"}
    return seen.kind == "json" and marks <= seen.item.keys()


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read annotations: one row per instruction, one system per second generator.

    Parameters
    ----------
    path : Path
        JSON file.
    columns : Columns
        Roles of columns.
    gold : Path, optional
        Not used.

    Returns
    -------
    dict of str to Results

    Raises
    ------
    InputError
        When a preference lies outside 1 to 2 (0 and null are unscored).

    Notes
    -----
    ``win_share`` is the preference minus 1: the share with which the second output,
    that of the system, wins against the reference system. Two systems are compared
    by two files. The price and time of the annotation are the judge's and not read.
    """
    document = load(path)
    entries = parse_json(document.text, name=document.name)
    if not isinstance(entries, list):
        raise InputError(f"{document.name}: expected a list of annotations.")
    systems: dict[str, list[tuple[Row, dict[str, Any]]]] = {}
    for index, entry in enumerate(entries):
        place = f"[{index}]"
        if not isinstance(entry, dict):
            raise InputError(f"{document.name}: {place}: expected an object.")
        row = _row(entry, place, f"{document.name}: {place}")
        systems.setdefault(str(entry.get("generator_2")), []).append((row, entry))
    found = {}
    for name, members in systems.items():
        rows = [row for row, _ in members]
        found[name] = build(
            name,
            rows,
            files=[document.file],
            settings=_settings([entry for _, entry in members]),
            notes=_notes(rows),
            columns=columns,
        )
    return found


def _row(entry: dict[str, Any], place: str, where: str) -> Row:
    instruction = text_of(entry.get("instruction"))
    if instruction is None:
        raise InputError(f"{where}: the instruction is empty.")
    row = Row(text_id(instruction), place)
    preference = score_value(entry.get("preference"))
    if preference is None or not (
        math.isnan(preference) or preference == 0 or 1 <= preference <= 2
    ):
        raise InputError(
            f"{where}: the preference is {entry.get('preference')!r}; expected 1 to 2."
        )
    row.metrics["win_share"] = math.nan if preference == 0 else preference - 1
    row.labels = {
        "question": instruction,
        "response": text_of(entry.get("output_2")),
        "reference_output": text_of(entry.get("output_1")),
        "dataset": label_text(entry.get("dataset")),
    }
    return row


def _settings(entries: list[dict[str, Any]]) -> dict[str, Any]:
    found = {}
    for field, setting in (
        ("generator_2", "system"),
        ("generator_1", "reference_system"),
        ("annotator", "judge"),
    ):
        values = sorted({str(entry[field]) for entry in entries if entry.get(field)})
        if values:
            found[setting] = values[0] if len(values) == 1 else ", ".join(values)
    return found


def _notes(rows: list[Row]) -> list[Note]:
    found = [
        Note("role-inferred", "alpaca-eval: the question id is the instruction's text.")
    ]
    unscored = sum(math.isnan(row.metrics["win_share"]) for row in rows)
    if unscored:
        found.append(
            Note(
                "no-preference",
                f"alpaca-eval: {unscored} preferences are 0 or null (a tie or an "
                "unreadable verdict); they are unscored.",
            )
        )
    return found
