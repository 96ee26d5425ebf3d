"""Text with separators -> header and rows, with the line of each row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

from onechange.errors import InputError
from onechange.formats.source import MAX_BYTES

__all__ = ["Table", "parse_table"]


@dataclass(frozen=True, slots=True)
class Table:
    """A delimited file: header, rows, and the line each row starts on."""

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]

    def records(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Place and cells of each row; needs a header without repeated names.

        Yields
        ------
        tuple of str and dict of str to str
            ``line 7`` and the cells by column name.

        Raises
        ------
        InputError
            When a column name occurs twice.
        """
        seen: set[str] = set()
        for column in self.header:
            if column in seen:
                raise InputError(
                    f'{self.name}: the column "{column}" occurs twice in the header; '
                    "rename one of them."
                )
            seen.add(column)
        for line, row in zip(self.lines, self.rows, strict=True):
            yield f"line {line}", dict(zip(self.header, row, strict=True))


def parse_table(text: str, *, name: str) -> Table:
    """Header and rows of a delimited text (comma, tab or semicolon).

    Parameters
    ----------
    text : str
        Content.
    name : str
        Name of the file, for messages.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        When a row has more or fewer cells than the header.
    """
    delimiter = _delimiter(text, name)
    rows: list[tuple[str, ...]] = []
    lines: list[int] = []
    before = csv.field_size_limit(MAX_BYTES)  # contexts of 100 kB are common
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        header = tuple(next(reader))
        start = reader.line_num + 1
        for row in reader:
            if row:
                if len(row) != len(header):
                    raise InputError(
                        f"{name}:{start}: {len(row)} cells, the header has "
                        f"{len(header)}; quote cells that hold the separator."
                    )
                rows.append(tuple(row))
                lines.append(start)
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{name}: not a table ({error}).") from error
    finally:
        csv.field_size_limit(before)
    return Table(name, header, tuple(rows), tuple(lines))


def _delimiter(text: str, name: str) -> str:
    if ".tsv" in name.lower():
        return "\t"
    first = text.split("\n", 1)[0]
    counts = {mark: first.count(mark) for mark in ",\t;"}
    return max(counts, key=lambda mark: counts[mark])
