"""Tables in `.xlsx` workbooks, through openpyxl: new ones, and rows added to one."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from onechange.errors import InputError
from onechange.score.formulas import with_values

__all__ = ["altered", "extended", "header", "key_rows", "new_workbook"]

_LONGEST_CELL = 32767  # characters that a spreadsheet cell can hold


def new_workbook(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Make a workbook with one sheet.

    Parameters
    ----------
    columns : sequence of str
        Header.
    rows : iterable of sequence
        Cells: None, text or number.

    Returns
    -------
    bytes
        Content of the file.
    """
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    for at, name in enumerate(columns, 1):
        _set(sheet, 1, at, name)
    _fill(sheet, rows, 2)
    return _saved(book)


def altered(rows: Iterable[Sequence[Any]]) -> int:
    """Count the texts that a cell cannot hold as they are.

    Parameters
    ----------
    rows : iterable of sequence
        Cells: None, text or number.

    Returns
    -------
    int
    """
    return sum(
        isinstance(cell, str) and _cell_text(cell) != cell
        for cells in rows
        for cell in cells
    )


def header(book: Any, path: Path) -> tuple[str, ...]:
    """Return the column names in the first row of the first sheet.

    Parameters
    ----------
    book : openpyxl.Workbook
    path : Path
        For messages.

    Returns
    -------
    tuple of str
        One entry a used column; an unnamed one is empty.

    Raises
    ------
    InputError
        If there is no column ``question_id``, or a name stands twice.
    """
    if not book.worksheets:
        raise InputError(f"{path}: has no sheet with cells")
    sheet = book.worksheets[0]
    cells = [sheet.cell(1, at).value for at in range(1, sheet.max_column + 1)]
    names = tuple("" if cell is None else str(cell) for cell in cells)
    if "question_id" not in names:
        found = ", ".join(filter(None, names)) or "nothing"
        raise InputError(
            f"{path}: no column question_id in the first row of sheet "
            f"{sheet.title!r} (found: {found})"
        )
    named = [name for name in names if name]
    if len(set(named)) < len(named):
        raise InputError(f"{path}: a column name stands twice in the first row")
    return names


def key_rows(
    book: Any, names: Sequence[str], keys: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return what tells the rows apart, as text.

    Parameters
    ----------
    book : openpyxl.Workbook
    names : sequence of str
        Header.
    keys : sequence of str
        Columns to read; one that is not there is empty.

    Returns
    -------
    list of tuple of str
    """
    sheet = book.worksheets[0]
    places = [names.index(name) if name in names else None for name in keys]
    return [
        tuple("" if at is None else _text(row[at]) for at in places)
        for row in sheet.iter_rows(min_row=2, values_only=True)
    ]


def extended(
    book: Any,
    computed: Any,
    new_columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    n_known: int,
) -> bytes:
    """Add columns at the right and rows below the last used row.

    Formulas keep the value that was last computed for them, so that the table can be
    read; a spreadsheet program computes all of them again when it opens the file.

    Parameters
    ----------
    book : openpyxl.Workbook
        Changed in place.
    computed : openpyxl.Workbook
        The same, with the values of its formulas.
    new_columns : sequence of str
        Names to add to the header.
    rows : iterable of sequence
        Cells in the order of the whole header.
    n_known : int
        Number of columns that were there.

    Returns
    -------
    bytes
        Content of the file.
    """
    sheet = book.worksheets[0]
    last = sheet.max_row
    while last > 1 and all(cell.value is None for cell in sheet[last]):
        last -= 1
    for at, name in enumerate(new_columns, n_known + 1):
        _set(sheet, 1, at, name)
    _fill(sheet, rows, last + 1)
    book.calculation.fullCalcOnLoad = True
    return with_values(_saved(book), book, computed)


def _fill(sheet: Any, rows: Iterable[Sequence[Any]], first: int) -> None:
    for number, cells in enumerate(rows, first):
        for at, value in enumerate(cells, 1):
            if value is not None:
                _set(sheet, number, at, value)


def _set(sheet: Any, row: int, column: int, value: Any) -> None:
    """Write one cell; a text stays a text, also when it begins with "="."""
    if isinstance(value, str):
        value = _cell_text(value)
    cell = sheet.cell(row, column)
    cell.value = value
    if isinstance(value, str):
        cell.data_type = "s"


def _cell_text(value: str) -> str:
    """Return a text as a cell can hold it."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if len(value) > _LONGEST_CELL:
        value = value[: _LONGEST_CELL - 1] + "…"
    return str(ILLEGAL_CHARACTERS_RE.sub("\ufffd", value))


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return str(int(value))
    return str(value)


def _saved(book: Any) -> bytes:
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()
