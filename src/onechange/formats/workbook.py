"""The first sheet of an `.xlsx` workbook, as header and typed cells."""

from __future__ import annotations

import datetime
import hashlib
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onechange.errors import InputError
from onechange.results import SourceFile

__all__ = ["Sheet", "is_workbook", "open_workbook", "read_sheet"]

_LARGEST_BOOK = 512 * 2**20  # bytes of all members, unpacked
# What a damaged or encrypted member makes zipfile, the XML parser and openpyxl raise.
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, SyntaxError),
    *(KeyError, ValueError, TypeError, AttributeError, IndexError),
)
_FORMULA = "f"  # openpyxl's type of such a cell


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows of the first sheet of a workbook.

    Parameters
    ----------
    file : SourceFile
        The workbook.
    header : tuple of str
        Names of the columns.
    rows : tuple of tuple
        Cells: None, text, number or boolean; dates as text.
    numbers : tuple of int
        Row of the sheet in which each stands, from 1.
    """

    file: SourceFile
    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    numbers: tuple[int, ...]


def is_workbook(path: Path) -> bool:
    """Say whether a file is an ``.xlsx`` workbook, by its name."""
    return path.suffix.lower() == ".xlsx"


def open_workbook(path: Path, *, values: bool = False) -> Any:
    """Open a workbook, its unpacked size bounded.

    Parameters
    ----------
    path : Path
    values : bool
        Whether formulas give the value that was last computed for them; otherwise
        they stay formulas.

    Returns
    -------
    openpyxl.Workbook

    Raises
    ------
    InputError
        If it cannot be read or is too large.
    """
    from openpyxl import load_workbook

    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > _LARGEST_BOOK:
            raise InputError(f"{path}: unpacks to {size} bytes; use a CSV table")
        return load_workbook(path, data_only=values)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except _BROKEN as error:
        raise InputError(f"{path}: not an .xlsx workbook ({error})") from error


def read_sheet(path: Path) -> Sheet:
    """Read the first sheet: a header row, then one row a question and trial.

    Parameters
    ----------
    path : Path
        ``.xlsx`` file.

    Returns
    -------
    Sheet
        Without empty rows, and without columns that have neither name nor cells.

    Raises
    ------
    InputError
        If it cannot be read, a column has cells and no name or a name stands twice,
        or a formula was never computed.
    """
    book, computed = open_workbook(path), open_workbook(path, values=True)
    if not book.worksheets:
        raise InputError(f"{path.name}: has no sheet with cells.")
    sheet, shown = book.worksheets[0], computed.worksheets[0]
    rows, numbers = [], []
    cells = zip(sheet.iter_rows(), shown.iter_rows(values_only=True), strict=True)
    for number, (written, values) in enumerate(cells, 1):
        for cell, value in zip(written, values, strict=True):
            if cell.data_type == _FORMULA and value is None:
                raise InputError(
                    f"{path.name}: cell {cell.coordinate} holds a formula without a "
                    "computed value; open and save the file in a spreadsheet program, "
                    "or save the sheet as CSV."
                )
        if any(value is not None for value in values):
            rows.append(tuple(map(_plain, values)))
            numbers.append(number)
    if not rows:
        raise InputError(f"{path.name}: the first sheet is empty.")
    header, places = _header(rows, path.name)
    file = SourceFile(path.name, hashlib.sha256(path.read_bytes()).hexdigest())
    kept = tuple(tuple(row[at] for at in places) for row in rows[1:])
    return Sheet(file, header, kept, tuple(numbers[1:]))


def _header(
    rows: list[tuple[Any, ...]], name: str
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    found: dict[str, int] = {}
    for at, cell in enumerate(rows[0]):
        title = "" if cell is None else str(cell).strip()
        if not title:
            if any(row[at] is not None for row in rows[1:]):
                raise InputError(f"{name}: column {at + 1} has cells but no name.")
        elif title in found:
            raise InputError(
                f'{name}: the column "{title}" occurs twice in the first row; rename '
                "one of them."
            )
        else:
            found[title] = at
    return tuple(found), tuple(found.values())


def _plain(value: Any) -> Any:
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)
