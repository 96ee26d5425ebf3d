"""One file or frame of rows -> a `Table` of columns, before any column has a role.

Text stays text until a role asks for numbers. Cells of typed sources (Parquet,
frames) keep their type, so that whole columns are converted at once.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onechange import cells
from onechange.errors import InputError
from onechange.formats.source import MAX_BYTES

__all__ = ["Column", "ListColumn", "Table", "csv_table", "objects"]

_CHUNK = 1 << 9  # rows turned into columns at a time

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
TextArray = NDArray[np.object_]


class Column(Protocol):
    """The cells of one column; how they are stored is the column's own affair."""

    def scores(self, missing: Collection[str]) -> tuple[FloatArray, BoolArray]:
        """Scores, and which cells are no scores; see `cells.score_values`."""

    def texts(self) -> TextArray:
        """Labels, see `cells.label_text`; None for an empty cell."""

    def ids(self) -> TextArray:
        """Ids, see `cells.question_text`; None where a cell cannot be an id."""

    def value(self, row: int) -> Any:
        """Return the cell as it was read."""

    def tally(self) -> dict[str, int] | None:
        """Count each distinct text; None when the cells are not all text."""


@dataclass(frozen=True, slots=True, eq=False)
class ListColumn:
    """A column of Python values, as CSV and JSON give them.

    Parameters
    ----------
    values : sequence, length n_rows
        Cells.
    """

    values: Sequence[Any]

    def scores(self, missing: Collection[str]) -> tuple[FloatArray, BoolArray]:
        """Scores, and which cells are no scores; see `cells.score_values`."""
        return cells.score_values(self.values, missing)

    def texts(self) -> TextArray:
        """Labels, see `cells.label_text`; None for an empty cell."""
        if set(map(type, self.values)) <= {str}:
            texts = objects(self.values)
            empty = texts == ""
            if np.any(empty):
                texts[empty] = None
            return texts
        return objects([cells.label_text(value) for value in self.values])

    def ids(self) -> TextArray:
        """Ids, see `cells.question_text`; None where a cell cannot be an id."""
        if set(map(type, self.values)) <= {str} and all(map(str.strip, self.values)):
            return objects(self.values)
        return objects([cells.question_text(value) for value in self.values])

    def value(self, row: int) -> Any:
        """Return the cell as it was read."""
        return self.values[row]

    def tally(self) -> dict[str, int] | None:
        """Count each distinct text; None when the cells are not all text."""
        if set(map(type, self.values)) != {str}:
            return None
        return Counter(self.values)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of one source, with the place of each row for messages.

    Parameters
    ----------
    name : str
        Name of the source, for messages.
    columns : mapping of str to Column
        Columns in the order of the source.
    n_rows : int
        Number of rows.
    place : callable
        Row number from 0 -> where it stands, such as ``baseline.csv:17``.
    """

    name: str
    columns: Mapping[str, Column]
    n_rows: int
    place: Callable[[int], str]


def csv_table(text: str, *, name: str, delimiter: str = ",") -> Table:
    r"""Columns of a delimited text.

    Parameters
    ----------
    text : str
        Content with a header row.
    name : str
        Name of the file, for messages.
    delimiter : str
        Character between the cells.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        When the header is empty or repeats a name, a row has more or fewer cells
        than the header, or a quote is never closed.

    Examples
    --------
    >>> table = csv_table("question_id,correct\nq1,1\nq2,0\n", name="b.csv")
    >>> list(table.columns), table.n_rows, table.place(1)
    (['question_id', 'correct'], 2, 'b.csv:3')
    """
    before = csv.field_size_limit(MAX_BYTES)  # contexts of 100 kB are common
    try:
        reader = _reader(text, delimiter)
        header = _header(next((row for row in reader if row), []), name, delimiter)
        collected: list[list[str]] = [[] for _ in header]
        n_rows = 0
        for rows in _chunks(reader):
            if not set(map(len, rows)) <= {len(header)}:
                _refuse_width(rows, len(header), name, text, delimiter, n_rows)
            for cells_so_far, more in zip(
                collected, zip(*rows, strict=True), strict=False
            ):
                cells_so_far.extend(more)
            n_rows += len(rows)
    except csv.Error as error:
        raise InputError(
            f"{name}:{reader.line_num}: not a table ({error}); "
            "the file may be cut short, or a quote is not closed."
        ) from error
    finally:
        csv.field_size_limit(before)
    columns = {
        column: ListColumn(values)
        for column, values in zip(header, collected, strict=True)
    }
    return Table(
        name=name,
        columns=columns,
        n_rows=n_rows,
        place=lambda row: f"{name}:{_csv_line(text, delimiter, row)}",
    )


def _reader(text: str, delimiter: str) -> Any:
    stream = io.StringIO(text, newline="")
    return csv.reader(stream, delimiter=delimiter, strict=True)


def _header(row: Sequence[str], name: str, delimiter: str) -> list[str]:
    header = [column.strip() for column in row]
    if not any(header):
        raise InputError(
            f"{name}: no header row; the first line must name the columns."
        )
    if len(header) == 1 and delimiter == ",":
        other = max(";\t|", key=header[0].count)
        if header[0].count(other):
            shown = {"\t": "tabs"}.get(other, f'"{other}"')
            raise InputError(
                f"{name}:1: one column only, its name holds {shown}; separate the "
                "cells by commas, or by tabs in a file named .tsv."
            )
    seen: set[str] = set()
    for position, column in enumerate(header, start=1):
        if not column:
            header[position - 1] = f"(column {position})"
        elif column in seen:
            raise InputError(
                f'{name}:1: the column "{column}" occurs twice in the header; '
                "rename one of them."
            )
        seen.add(column)
    return header


def _chunks(reader: Iterator[list[str]]) -> Iterator[list[list[str]]]:
    """Rows in lots that fit the processor's cache, without the blank ones."""
    while rows := list(islice(reader, _CHUNK)):
        yield rows if all(rows) else [row for row in rows if row]


def _refuse_width(
    rows: Sequence[Sequence[str]],
    width: int,
    name: str,
    text: str,
    delimiter: str,
    start: int,
) -> None:
    offset = next(i for i, row in enumerate(rows) if len(row) != width)
    line = _csv_line(text, delimiter, start + offset)
    raise InputError(
        f"{name}:{line}: {len(rows[offset])} cells, the header has {width}; quote "
        "cells that hold the separator, and look whether the file is cut short."
    )


def _csv_line(text: str, delimiter: str, row: int) -> int:
    """Line on which a row starts, found by reading once more."""
    before = csv.field_size_limit(MAX_BYTES)
    try:
        reader = _reader(text, delimiter)
        start, seen = 1, -2  # the header comes first
        for cells_of_row in reader:
            seen += bool(cells_of_row)
            if seen == row:
                break
            start = reader.line_num + 1
        return start
    finally:
        csv.field_size_limit(before)


def objects(values: Sequence[Any]) -> TextArray:
    """Array of Python objects, whatever they are (lists stay single cells).

    Parameters
    ----------
    values : sequence, length n

    Returns
    -------
    ndarray of object, shape (n,)
    """
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
