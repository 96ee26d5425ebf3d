"""Long tables that hold several systems: one row per question, trial and system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.cellrows import read_cells
from onechange.formats.delimited import parse_table
from onechange.formats.peek import Peek, peek
from onechange.formats.rows import Row, id_of
from onechange.formats.source import Document, load, parse_lines
from onechange.results import Columns, Results
from onechange.stats.estimate import Note

__all__ = [
    "LOOKS_FOR",
    "NAME",
    "SYSTEM_COLUMNS",
    "read",
    "records_of",
    "sniff",
    "system_column",
]

NAME = "tidy"
LOOKS_FOR = (
    "a table with a column system, arm, variant, configuration or model of several "
    "values, and a question id (never recognised by itself: ask for it)"
)
SYSTEM_COLUMNS = (
    "system",
    "arm",
    "variant",
    "configuration",
    "config",
    "experiment",
    "model_name",
    "model",
)
_MAX_SYSTEMS = 500

Records = list[tuple[str, dict[str, object]]]


def sniff(seen: Peek) -> bool:
    """Never true: a table with a system column may also be that of one system.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    return False


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Split the rows by system.

    Parameters
    ----------
    path : Path
        CSV, TSV or JSON Lines.
    columns : Columns
        Roles of columns.
    gold : Path, optional
        Not used.

    Returns
    -------
    dict of str to Results
        In the order of their first rows.

    Raises
    ------
    InputError
        When no column tells systems apart, or none holds question ids.
    """
    document = load(path)
    records = records_of(document)
    system = system_column(records)
    if system is None:
        raise InputError(
            f"{document.name}: no column of several systems; looked for "
            f"{', '.join(SYSTEM_COLUMNS)}."
        )
    key = columns.question_id or "question_id"
    if not any(key in cells for _, cells in records):
        candidates = _unique_within(records, system)
        raise InputError(
            f'{document.name}: no column "{key}"; name the question id with --id '
            f"(unique within each {system}: {', '.join(candidates) or 'none'})."
        )

    def question_id(cells: Mapping[str, object], place: str) -> str:
        return id_of(cells.get(key), place=f"{document.name}: {place}")

    names = dict.fromkeys(name for _, cells in records for name in cells)
    roles = replace(
        columns,
        question_id=key,
        trial=columns.trial or ("trial" if "trial" in names else None),
        status=columns.status or ("status" if "status" in names else None),
    )
    rows, _ = read_cells(
        records, texts={system}, question_id=question_id, columns=roles
    )
    systems: dict[str, list[Row]] = {}
    for row in rows:
        name = row.labels.pop(system, None)
        if name is None:
            raise InputError(f'{document.name}: {row.place}: "{system}" is empty.')
        systems.setdefault(name, []).append(row)
    note = Note("role-inferred", f'tidy: "{system}" tells the systems apart.')
    return {
        name: build(name, members, files=[document.file], notes=[note], columns=roles)
        for name, members in systems.items()
    }


def records_of(document: Document) -> Records:
    """Cells of each row of a table or of JSON Lines.

    Parameters
    ----------
    document : Document
        The file.

    Returns
    -------
    list of (str, dict)
        Place and cells; the nameless index column of pandas is left out.

    Raises
    ------
    InputError
        When there are no rows.
    """
    if peek(document.path).kind == "jsonl":
        found: Records = []
        for line, value in parse_lines(document.text, name=document.name):
            if not isinstance(value, dict):
                raise InputError(f"{document.name}:{line}: expected an object.")
            found.append((f"line {line}", dict(value)))
    else:
        table = parse_table(document.text, name=document.name)
        found = [(place, dict(cells)) for place, cells in table.records()]
    if not found:
        raise InputError(f"{document.name}: no rows under the header.")
    for _, cells in found:
        for name in ("", "Unnamed: 0"):
            cells.pop(name, None)
    return found


def system_column(records: Sequence[tuple[str, Mapping[str, object]]]) -> str | None:
    """Find the column that tells systems apart.

    Parameters
    ----------
    records : sequence of (str, mapping)
        Place and cells of each row.

    Returns
    -------
    str or None
        The first of `SYSTEM_COLUMNS` with 2 to 500 different values.
    """
    for name in SYSTEM_COLUMNS:
        values = {str(cells.get(name)) for _, cells in records if cells.get(name)}
        if 2 <= len(values) <= _MAX_SYSTEMS:
            return name
    return None


def _unique_within(
    records: Sequence[tuple[str, Mapping[str, object]]], system: str
) -> list[str]:
    found = []
    for name in dict.fromkeys(key for _, cells in records for key in cells):
        pairs = {(str(cells.get(system)), str(cells.get(name))) for _, cells in records}
        if name != system and len(pairs) == len(records):
            found.append(name)
    return found
