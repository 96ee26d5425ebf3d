"""Tables of cells, and the mixin that gives every result the same renderings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from onechange.display.escaping import (
    escape_html,
    escape_markdown,
    escape_terminal,
    text_width,
)
from onechange.display.numbers import (
    MISSING,
    decimals_for,
    format_count,
    format_number,
    format_percent,
    format_pvalue,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TableMixin", "html_table", "markdown_table", "table_cells", "text_table"]


def text_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], align: str = ""
) -> str:
    """Lay out cells in columns for a terminal; no cell is read as a number.

    Parameters
    ----------
    header : sequence of str
        Column heads.
    rows : sequence of sequence of str
        Cells, already written as text.
    align : str
        One letter a column: ``l`` or ``r``; left by default.

    Returns
    -------
    str
        Lines without trailing blanks.
    """
    from tabulate import tabulate

    sides = {"r": "right", "l": "left"}
    cells = [[escape_terminal(cell) for cell in row] for row in (header, *rows)]
    table = tabulate(
        cells,
        tablefmt="plain",
        disable_numparse=True,
        colalign=[sides[letter] for letter in align.ljust(len(header), "l")],
    )
    lines = [line.rstrip() for line in str(table).splitlines()]
    rule = "─" * max(text_width(line) for line in lines)
    return "\n".join([lines[0], rule, *lines[1:]])


def markdown_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], align: str = ""
) -> str:
    """Write a GitHub table whose every row has as many cells as its header.

    Parameters
    ----------
    header : sequence of str
        Column heads, not yet escaped.
    rows : sequence of sequence of str
        Cells, not yet escaped.
    align : str
        One letter a column: ``l`` or ``r``; left by default.
    """
    letters = align.ljust(len(header), "l")
    rules = ["---:" if letter == "r" else "---" for letter in letters]
    lines = [_markdown_row(header), "| " + " | ".join(rules) + " |"]
    lines += [_markdown_row(row) for row in rows]
    return "\n".join(lines)


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(escape_markdown(cell) for cell in cells) + " |"


class TableMixin:
    """Every rendering of a result that defines ``to_dicts()``.

    `to_dicts` returns one flat dictionary a row, with plain values; the prompt, a
    notebook and the reports then show the same table. A frozen dataclass that uses
    this class must be declared with ``repr=False``.
    """

    __slots__ = ()

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries of plain values."""
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a pandas data frame, at full precision."""
        import pandas as pd

        return pd.DataFrame(self.to_dicts())

    def to_markdown(self) -> str:
        """Return the rows as a Markdown table, rounded for reading."""
        header, rows, align = self._cells()
        return markdown_table(header, rows, align)

    def __repr__(self) -> str:
        header, rows, align = self._cells()
        return text_table(header, rows, align) if rows else "(no rows)"

    def _repr_html_(self) -> str:
        return html_table(*self._cells())

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        """Return the header, the rows as text and the side of every column."""
        return table_cells(self.to_dicts())


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> str:
    """Write cells as a plain HTML table, as a notebook shows it.

    Parameters
    ----------
    header : sequence of str
        Column heads, not yet escaped.
    rows : sequence of sequence of str
        Cells, not yet escaped.
    align : str
        One letter a column: ``l`` or ``r``.
    """
    sides = [
        ' style="text-align:right"' if letter == "r" else ""
        for letter in align.ljust(len(header), "l")
    ]

    def line(tag: str, cells: Sequence[str]) -> str:
        parts = zip(sides, cells, strict=True)
        written = (f"<{tag}{side}>{escape_html(cell)}</{tag}>" for side, cell in parts)
        return f"<tr>{''.join(written)}</tr>"

    body = "".join(line("td", row) for row in rows)
    return f"<table><thead>{line('th', header)}</thead><tbody>{body}</tbody></table>"


def table_cells(
    dicts: Sequence[Mapping[str, Any]],
) -> tuple[list[str], list[list[str]], str]:
    """Turn rows of plain values into text cells.

    Parameters
    ----------
    dicts : sequence of mapping
        Rows; keys of all rows make the columns, in order of appearance.

    Returns
    -------
    header : list of str
    rows : list of list of str
        One row shares its decimals: the figures of one metric agree.
    align : str
        ``r`` for columns that hold numbers, else ``l``.
    """
    header = list(dict.fromkeys(key for row in dicts for key in row))
    rows = []
    for row in dicts:
        shown = [v for k, v in row.items() if _is_float(v) and not _own_format(k)]
        decimals = decimals_for(shown)
        rows.append([_cell(key, row.get(key), decimals) for key in header])
    numeric = [any(_is_number(row.get(key)) for row in dicts) for key in header]
    return header, rows, "".join("r" if is_n else "l" for is_n in numeric)


def _cell(key: str, value: Any, decimals: int) -> str:
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return format_count(value)
    if isinstance(value, float):
        if "pvalue" in key:
            return format_pvalue(value)
        if key == "confidence_level":
            return format_percent(value)
        return format_number(value, decimals, signed="delta" in key)
    if isinstance(value, tuple | list):
        return ", ".join(_cell(key, item, decimals) for item in value)
    return str(value)


def _own_format(key: str) -> bool:
    return "pvalue" in key or key == "confidence_level"


def _is_float(value: Any) -> bool:
    return isinstance(value, float)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
