"""Comma, semicolon and tab separated tables: rows as text, and an existing table."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onechange.errors import InputError
from onechange.score.files import read_text

__all__ = ["DelimitedTable", "plain_cell", "read_delimited", "text_of_rows"]

_COMMA_NUMBER = re.compile(r"[+-]?[0-9]+,[0-9]+(?:[eE][+-]?[0-9]+)?")
_POINT_NUMBER = re.compile(r"[+-]?[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class DelimitedTable:
    """An existing table as it is written.

    Parameters
    ----------
    text : str
        Content of the file.
    header : tuple of str
        Names of the columns.
    rows : tuple of tuple of str
        Cells under the header.
    delimiter, line_end : str
        Between cells, and between lines.
    decimal_comma : bool
        Whether its numbers have a comma for the point.
    """

    text: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    delimiter: str
    line_end: str
    decimal_comma: bool

    def keys(self, names: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the cells of some columns, row by row; an absent one is empty."""
        places = [self.header.index(n) if n in self.header else None for n in names]
        return [
            tuple("" if at is None or at >= len(row) else row[at] for at in places)
            for row in self.rows
        ]

    def extended(
        self, new_columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> str:
        """Return the text with rows below, and columns at its right where new.

        Parameters
        ----------
        new_columns : sequence of str
            Columns to add; their cells in earlier rows are empty.
        rows : iterable of sequence
            Cells of the new rows, in the order of the whole header.

        Returns
        -------
        str
            What stood in the cells before stands there as it was.
        """
        before = self._widened(new_columns) if new_columns else self.text
        if before and not before.endswith(("\n", "\r")):
            before += self.line_end
        return before + text_of_rows(
            rows,
            delimiter=self.delimiter,
            line_end=self.line_end,
            decimal_comma=self.decimal_comma,
        )

    def _widened(self, names: Sequence[str]) -> str:
        body = self.text.removeprefix("\ufeff")
        lines = list(io.StringIO(body, newline=""))
        reader = csv.reader(iter(lines), delimiter=self.delimiter, strict=True)
        parts = [self.text[: len(self.text) - len(body)]]
        added = text_of_rows([names], delimiter=self.delimiter, line_end="")
        start = 0
        for cells in reader:
            record = "".join(lines[start : reader.line_num])
            start = reader.line_num
            if not cells:
                parts.append(record)
                continue
            kept = record.rstrip("\r\n")
            lacking = len(self.header) - len(cells)
            parts += [kept, self.delimiter * (1 + max(0, lacking)), added]
            parts.append(record[len(kept) :])
            added = self.delimiter * (len(names) - 1)
        return "".join(parts)


def plain_cell(value: Any) -> Any:
    """Return a cell of a table: a text or number as it is, a list as JSON text.

    Examples
    --------
    >>> [plain_cell(value) for value in (True, None, 0.5, "=1+1", ["a", 1])]
    ['true', None, 0.5, '=1+1', '["a", 1]']
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, str | int | float):
        return value
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def text_of_rows(
    rows: Iterable[Sequence[Any]],
    *,
    delimiter: str,
    line_end: str = "\n",
    decimal_comma: bool = False,
) -> str:
    r"""Write cells as lines of a table, every text exactly as it is.

    Parameters
    ----------
    rows : iterable of sequence
        Cells: None, text or number.
    delimiter, line_end : str
        Between cells, and after each row.
    decimal_comma : bool
        Whether numbers get a comma for the point.

    Returns
    -------
    str

    Examples
    --------
    >>> text_of_rows([["q1", 0.5, None]], delimiter=";", decimal_comma=True)
    'q1;0,5;\n'
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator=line_end)
    for cells in rows:
        if decimal_comma:
            cells = [_with_comma(c) if isinstance(c, float) else c for c in cells]
        writer.writerow(cells)
    return buffer.getvalue()


def read_delimited(path: Path, *, numbers: Collection[str] = ()) -> DelimitedTable:
    """Read an existing table, and how it is written.

    Parameters
    ----------
    path : Path
        ``.csv`` or ``.tsv``.
    numbers : collection of str
        Columns that hold numbers: they tell a decimal comma from a point.

    Returns
    -------
    DelimitedTable

    Raises
    ------
    InputError
        If it cannot be read, has no column ``question_id``, or a name stands twice.
    """
    text = read_text(path)
    body = text.removeprefix("\ufeff")
    first = body.split("\n", 1)[0]
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    if delimiter == "," and "," not in first and ";" in first:
        delimiter = ";"
    reader = csv.reader(io.StringIO(body, newline=""), delimiter=delimiter, strict=True)
    try:
        table = [tuple(row) for row in reader]
    except csv.Error as error:
        raise InputError(f"{path}: not a CSV table ({error})") from error
    header = table[0] if table else ()
    if "question_id" not in header:
        found = ", ".join(header) or "nothing"
        raise InputError(f"{path}: no column question_id (found: {found})")
    if len(set(header)) < len(header):
        raise InputError(f"{path}: a column name stands twice in the header")
    rows = tuple(row for row in table[1:] if row)
    return DelimitedTable(
        text=text,
        header=header,
        rows=rows,
        delimiter=delimiter,
        line_end="\r\n" if first.endswith("\r") else "\n",
        decimal_comma=delimiter != "," and _decimal_comma(path, header, rows, numbers),
    )


def _decimal_comma(
    path: Path,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Collection[str],
) -> bool:
    """Whether numbers such as 0,5 stand in the table; a mix cannot be added to."""
    places = [at for at, name in enumerate(header) if name in numbers]
    cells = [row[at] for row in rows for at in places if at < len(row)]
    comma = next((cell for cell in cells if _COMMA_NUMBER.fullmatch(cell)), None)
    point = next((cell for cell in cells if _POINT_NUMBER.fullmatch(cell)), None)
    if comma and point:
        raise InputError(
            f"{path}: holds numbers with a comma ({comma}) and with a point ({point}); "
            "write all of them one way before rows are added"
        )
    return comma is not None


def _with_comma(value: float) -> str:
    return repr(value).replace(".", ",")
