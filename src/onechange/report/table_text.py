"""Tables for a terminal of any width: laid out, with names above, or stacked."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence
from dataclasses import replace

from onechange.display import escape_terminal, shorten, text_table, text_width
from onechange.report.context import SYMBOLS
from onechange.report.document import Table

__all__ = ["fitted_alike", "fitted_table", "painted", "without_columns", "wrapped"]

MIN_NAME = 10
COLORS = {
    "pass": "32",
    "ship": "32",
    "fail": "31",
    "do not ship": "31",
    "inconclusive": "33",
}


def fitted_table(
    tables: Sequence[Table],
    width: int,
    *,
    color: bool = False,
    stacked: Table | None = None,
) -> list[str]:
    """Lay out the first of several tables that is narrow enough.

    Parameters
    ----------
    tables : sequence of Table
        The same rows with fewer and fewer columns; the first column names the row.
    width : int
        Columns of the terminal.
    color : bool
        Whether statuses are coloured.
    stacked : Table, optional
        What is stacked when none fits; the first of the tables by default.

    Returns
    -------
    list of str
        Where no table fits, heads are broken in two; else names that leave too little
        room for the figures get a line of their own; where the figures alone are too
        wide, every row becomes its name and, below it, each title with its cell. A name
        that is longer than a line is cut, and the cut is marked.
    """
    for table in tables:
        lines = _layout(table)
        if _fits(lines, width):
            return _with_colors(lines, table, color)
    broken = _broken_heads(tables[-1])
    if _fits(broken, width):
        return _with_colors(broken, tables[-1], color)
    for least in (MIN_NAME, 0):
        lines = _names_above(tables[-1], width, least, color=False)
        if _fits(lines, width):
            return _names_above(tables[-1], width, least, color=color)
    return _stacked(stacked or tables[0], width, color)


def fitted_alike(groups: Sequence[Sequence[Table]], width: int) -> list[list[str]]:
    """Lay out several tables that lose the same columns.

    Parameters
    ----------
    groups : sequence of sequence of Table
        For each table, itself with fewer and fewer columns: the same ones in every
        group.
    width : int
        Columns of the terminal.

    Returns
    -------
    list of list of str
        The lines of each table; where not all fit with the fewest columns, each row
        with all of them, one below the other, under the title of the first.
    """
    for tables in zip(*groups, strict=True):
        layouts = [_layout(table) for table in tables]
        if all(_fits(lines, width) for lines in layouts):
            return layouts
    return [_stacked(_titled(group[0]), width, color=False) for group in groups]


def without_columns(table: Table, titles: Collection[str]) -> Table:
    """Leave out columns by their titles."""
    keep = [i for i, column in enumerate(table.columns) if column.title not in titles]
    return replace(
        table,
        columns=tuple(table.columns[i] for i in keep),
        rows=tuple(tuple(row[i] for i in keep) for row in table.rows),
    )


def painted(text: str, status: str, color: bool, *, bold: bool = False) -> str:
    """Give a text the colour of a status, where colours are wanted."""
    if not color or status not in COLORS:
        return text
    return f"\x1b[{'1;' if bold else ''}{COLORS[status]}m{text}\x1b[0m"


def wrapped(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Break a text into lines, after making it harmless."""
    return textwrap.wrap(
        escape_terminal(text),
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _fits(lines: Sequence[str], width: int) -> bool:
    return max(text_width(line) for line in lines) <= width


def _layout(table: Table) -> list[str]:
    align = "".join(column.align for column in table.columns)
    head = [column.title for column in table.columns]
    return text_table(head, table.rows, align).splitlines()


def _broken_heads(table: Table) -> list[str]:
    """Break the heads that are wider than their cells in two lines."""
    cells = zip(*table.rows, strict=True) if table.rows else [()] * len(table.columns)
    heads = [
        _broken(column.title, max((text_width(cell) for cell in below), default=0))
        for column, below in zip(table.columns, cells, strict=True)
    ]
    align = "".join(column.align for column in table.columns)
    first, second = ([head[i] for head in heads] for i in (0, 1))
    if not any(first):
        return _layout(table)
    top, rule, below, *body = text_table(
        first, [second, *table.rows], align
    ).splitlines()
    return [top, below, rule, *body]


def _broken(title: str, room: int) -> tuple[str, str]:
    """Break a title in two, as evenly as its words allow; short ones stay below."""
    words = title.split(" ")
    if text_width(title) <= room or len(words) == 1:
        return "", title
    halves = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))]
    return min(halves, key=lambda half: max(map(text_width, half)))


def _names_above(table: Table, width: int, least: int, *, color: bool) -> list[str]:
    """Set names that leave too little room above their figures.

    At `least` 0 every name and the title of their column stand above.
    """
    names = [row[0] for row in table.rows]
    widest = max(text_width(name) for name in names)
    excess = max(text_width(line) for line in _layout(table)) - width
    room = max(widest - excess, least)
    above = {
        i
        for i, name in enumerate(names)
        if not least or room < text_width(name) <= width
    }
    rows = tuple(
        ("" if i in above else shorten(name, room), *row[1:])
        for i, (name, row) in enumerate(zip(names, table.rows, strict=True))
    )
    title = table.columns[0].title if least else ""
    columns = (replace(table.columns[0], title=title), *table.columns[1:])
    figures = replace(table, columns=columns, rows=rows)
    lines = _with_colors(_layout(figures), figures, color)
    found = lines[:2]
    for i, line in enumerate(lines[2:]):
        found += [shorten(escape_terminal(names[i]), width)] if i in above else []
        found.append(line)
    return found


def _stacked(table: Table, width: int, color: bool) -> list[str]:
    """Write every row as its name and, below it, each title with its cell."""
    lines = []
    statuses = table.row_status or ("",) * len(table.rows)
    for row, status in zip(table.rows, statuses, strict=True):
        lines.append(shorten(escape_terminal(row[0]), width))
        parts = [
            f"{column.title} {cell}"
            for column, cell in zip(table.columns[1:], row[1:], strict=True)
        ]
        lines += [_status_painted(s, status, color) for s in _joined(parts, width)]
    return lines


def _titled(table: Table) -> Table:
    """Put the title of the first column into each of its cells."""
    title = table.columns[0].title
    rows = tuple((f"{title} · {row[0]}", *row[1:]) for row in table.rows)
    return replace(table, rows=rows)


def _joined(parts: Sequence[str], width: int) -> list[str]:
    """Join parts with dots, as many on a line as it holds."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]} · {part}" if lines else ""
        if lines and text_width(longer) <= width:
            lines[-1] = longer
        else:
            lines += wrapped(part, width, first="  ", rest="    ")
    return lines


def _with_colors(lines: list[str], table: Table, color: bool) -> list[str]:
    if not table.row_status:
        return lines
    head = len(lines) - len(table.rows)
    body = [
        _status_painted(line, status, color)
        for line, status in zip(lines[head:], table.row_status, strict=True)
    ]
    return [*lines[:head], *body]


def _status_painted(line: str, status: str, color: bool) -> str:
    """Colour a line from the symbol of its status on."""
    start = line.rfind(SYMBOLS[status]) if status else -1
    if start < 0:
        return line
    return line[:start] + painted(line[start:], status, color)
