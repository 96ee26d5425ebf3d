"""Long tables that hold several systems: one row per question, trial and system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from onechange.cells import label_text
from onechange.errors import InputError
from onechange.formats.beside import settings_beside
from onechange.formats.build import build
from onechange.formats.cellrows import read_cells
from onechange.formats.delimited import parse_table
from onechange.formats.peek import Peek, peek
from onechange.formats.rows import Row, id_of
from onechange.formats.source import Document, load, parse_lines
from onechange.formats.workbook import is_workbook, read_sheet
from onechange.results import Columns, Results, SourceFile
from onechange.stats.estimate import Note

__all__ = [
    "LOOKS_FOR",
    "NAME",
    "SYSTEM_COLUMNS",
    "read",
    "records_in",
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
    path: Path,
    *,
    columns: Columns,
    gold: Path | None = None,
    systems: Sequence[str] = (),
) -> dict[str, Results]:
    """Split the rows by system.

    Parameters
    ----------
    path : Path
        CSV, TSV, JSON Lines or .xlsx.
    columns : Columns
        Roles of columns.
    gold : Path, optional
        Not used.
    systems : sequence of str
        Names that are asked for: any column that holds all of them may tell the
        systems apart.

    Returns
    -------
    dict of str to Results
        In the order of their first rows.

    Raises
    ------
    InputError
        When no column tells systems apart, or none holds question ids.
    """
    file, records = records_in(path)
    beside = settings_beside(path)
    system = beside.run_column(frozenset(systems))
    system = system or system_column(records, systems, name=file.name)
    if system is None:
        raise InputError(
            f"{file.name}: no column of several systems; looked for "
            f"{', '.join(SYSTEM_COLUMNS)}, and for a column that holds the names "
            "asked for."
        )
    key = columns.question_id or "question_id"
    if not any(key in cells for _, cells in records):
        candidates = _unique_within(records, system)
        raise InputError(
            f'{file.name}: no column "{key}"; name the question id with --id '
            f"(unique within each {system}: {', '.join(candidates) or 'none'})."
        )

    def question_id(cells: Mapping[str, object], place: str) -> str:
        return id_of(cells.get(key), place=f"{file.name}: {place}")

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
    by_system: dict[str, list[Row]] = {}
    for row in rows:
        name = row.labels.pop(system, None)
        if name is None:
            raise InputError(f'{file.name}: {row.place}: "{system}" is empty.')
        by_system.setdefault(name, []).append(row)
    note = Note("role-inferred", f'tidy: "{system}" tells the systems apart.')
    return {
        name: build(
            name,
            members,
            files=[file, *beside.files],
            settings=beside.of_run(system, name),
            notes=[note],
            columns=roles,
        )
        for name, members in by_system.items()
    }


def records_in(path: Path) -> tuple[SourceFile, Records]:
    """Cells of each row of a table, of JSON Lines or of a workbook.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    SourceFile
        The file.
    list of (str, dict)
        Place and cells; the nameless index column of pandas is left out.

    Raises
    ------
    InputError
        When there are no rows.
    """
    if not is_workbook(path):
        document = load(path)
        return document.file, records_of(document)
    sheet = read_sheet(path)
    found: Records = [
        (f"row {number}", dict(zip(sheet.header, cells, strict=True)))
        for number, cells in zip(sheet.numbers, sheet.rows, strict=True)
    ]
    return sheet.file, _usable(found, path.name)


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
    return _usable(found, document.name)


def system_column(
    records: Sequence[tuple[str, Mapping[str, object]]],
    systems: Sequence[str] = (),
    *,
    name: str = "table",
) -> str | None:
    """Find the column that tells systems apart.

    Parameters
    ----------
    records : sequence of (str, mapping)
        Place and cells of each row.
    systems : sequence of str
        Names that are asked for.
    name : str
        Name of the file, for the message.

    Returns
    -------
    str or None
        The first of `SYSTEM_COLUMNS` with 2 to 500 different values, among them those
        asked for; else the one column that holds all names asked for.

    Raises
    ------
    InputError
        When several other columns hold all of them.
    """
    wanted = set(systems)
    for column in SYSTEM_COLUMNS:
        values = {str(cells.get(column)) for _, cells in records if cells.get(column)}
        if 2 <= len(values) <= _MAX_SYSTEMS and wanted <= values:
            return column
    if len(wanted) < 2:
        return None
    holding = [
        column
        for column in dict.fromkeys(key for _, cells in records for key in cells)
        if wanted <= {label_text(cells.get(column)) for _, cells in records}
    ]
    if len(holding) > 1:
        raise InputError(
            f"{name}: {' and '.join(holding)} both hold {', '.join(systems)}; rename "
            'the one that tells the systems apart to "system".'
        )
    return holding[0] if holding else None


def _usable(found: Records, name: str) -> Records:
    if not found:
        raise InputError(f"{name}: no rows under the header.")
    for _, cells in found:
        for index in ("", "Unnamed: 0"):
            cells.pop(index, None)
    return found


def _unique_within(
    records: Sequence[tuple[str, Mapping[str, object]]], system: str
) -> list[str]:
    found = []
    for name in dict.fromkeys(key for _, cells in records for key in cells):
        pairs = {(str(cells.get(system)), str(cells.get(name))) for _, cells in records}
        if name != system and len(pairs) == len(records):
            found.append(name)
    return found
