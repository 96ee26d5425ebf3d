r"""Tables of a report as LaTeX floats that fit their page and stay legible."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from onechange.display import text_width
from onechange.report.context import split_marks
from onechange.report.document import Column, Section, Table
from onechange.report.latex_text import latex_cell, latex_opening, latex_text

__all__ = ["section_tables"]

LEVELS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
LEGEND = "* p < 0.05, ** p < 0.01, *** p < 0.001"
LETTER = 4.6  # points, of a digit set small
GAP = 8.0  # points between two columns
LINE = 455.0  # points, of a line on A4 with margins of 2.5 cm
SHRUNK = 1.2  # lines that a table may be wide before it is turned
WORDS = 32  # letters of a text cell on one line
UPRIGHT, TURNED = 40, 28  # lines of a table on a page


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a table is set: which columns are narrowed, starred, and whether it turns."""

    widths: tuple[int, ...]
    starred: int | None
    turned: bool


def section_tables(table: Table, section: Section, number: int) -> Iterator[str]:
    """Write one table of a section, in several parts when it is longer than a page.

    Parameters
    ----------
    table : Table
        Cells as text.
    section : Section
        Where it stands; its title opens the caption.
    number : int
        Its place among the tables of the section, from 1.
    """
    name, title = f"{section.key}-{number}", section.title
    detail = table.caption or (table.columns[0].title if number > 1 else "")
    if detail:
        title += f": {detail}"
    layout = _layout(table)
    for part, rows in enumerate(_pages(table, layout)):
        more = " (continued)" if part else ""
        yield _float(table, layout, rows, f"{title}{more}", f"{name}{'-' * part}")


def _layout(table: Table) -> _Layout:
    widths = tuple(
        min(max(map(_longest, cells)), WORDS) for cells in _columns_of(table)
    )
    starred = next(
        (i for i, column in enumerate(table.columns) if column.title == "delta"), None
    )
    if not any(_stars(p) for p in table.pvalues):
        starred = None
    natural = LETTER * (sum(widths) + 3 * (starred is not None))
    natural += GAP * (len(widths) - 1)
    return _Layout(widths, starred, natural > SHRUNK * LINE)


def _columns_of(table: Table) -> Iterator[list[str]]:
    """Head, broken as it will be, and cells of each column."""
    cells = zip(*table.rows, strict=True) if table.rows else [()] * len(table.columns)
    for column, below in zip(table.columns, cells, strict=True):
        yield [*_head_lines(column.title, below), *below]


def _head_lines(title: str, cells: Sequence[str]) -> list[str]:
    """Break a head that is wider than the cells below it."""
    words = re.findall(r"[^ /]+/?", title)
    room = max([_longest(cell) for cell in cells] + [len(word) for word in words] + [1])
    lines: list[str] = []
    for word in words:
        joint = "" if not lines or lines[-1].endswith("/") else " "
        if lines and len(lines[-1]) + len(joint) + len(word) <= room:
            lines[-1] += joint + word
        else:
            lines.append(word)
    return lines or [""]


def _longest(cell: str) -> int:
    plain, numbers = split_marks(cell)
    return text_width(plain) + len(numbers)


def _pages(table: Table, layout: _Layout) -> Iterator[range]:
    """Part the rows so that the lines of each part fit a page."""
    most = TURNED if layout.turned else UPRIGHT
    start, used = 0, 0
    for i, row in enumerate(table.rows):
        lines = max(-(-_longest(cell) // WORDS) for cell in row) if row else 1
        if used and used + lines > most:
            yield range(start, i)
            start, used = i, 0
        used += lines
    yield range(start, len(table.rows))


def _float(table: Table, layout: _Layout, rows: range, title: str, name: str) -> str:
    caption = latex_text(title) + "."
    if layout.starred is not None:
        caption += f" {latex_text(f'Stars: {table.stars}; {LEGEND}')}."
    inner = [
        rf"\caption{{{caption}}}",
        rf"\label{{tab:onechange-{name}}}",
        # Wide tables shrink to the line, others keep their size.
        r"\setlength{\tabcolsep}{4pt}%",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        _tabular(table, layout, rows) + "}",
    ]
    if layout.turned:
        opening = [r"\begin{table}[p]", r"\centering"]
        box = r"\rotatebox{90}{\begin{minipage}{\textheight}\centering\small"
        inner = [box, *inner, r"\end{minipage}}"]
    else:
        opening = [r"\begin{table}[htbp]", r"\centering\small"]
    return "\n".join(
        [
            f"% ---- table: {name}",
            *opening,
            *inner,
            r"\end{table}",
            f"% ---- end: {name}",
        ]
    )


def _tabular(table: Table, layout: _Layout, rows: range) -> str:
    align = [column.align for column in table.columns]
    head = [
        _head(column, [row[i] for row in table.rows])
        for i, column in enumerate(table.columns)
    ]
    if layout.starred is not None:
        # A column of their own: stars never stand on the figures beside them.
        align[layout.starred] += "@{}l"
        head.insert(layout.starred + 1, "")
    body = [" & ".join(_cells(table, layout, row)) + r" \\" for row in rows]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{@{{}}{''.join(align)}@{{}}}}",
            r"\toprule",
            " & ".join(head) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _head(column: Column, cells: Sequence[str]) -> str:
    lines = [
        latex_opening(latex_text(line)) for line in _head_lines(column.title, cells)
    ]
    if len(lines) == 1:
        return lines[0]
    broken = r"\\".join(lines)
    return rf"\shortstack[{column.align}]{{{broken}}}"


def _cells(table: Table, layout: _Layout, row: int) -> list[str]:
    cells = []
    for i, (column, text) in enumerate(
        zip_longest(table.columns, table.rows[row], fillvalue=None)
    ):
        shown = latex_opening(latex_cell(text or ""))
        narrow = column is None or column.align == "l"
        if narrow and _longest(text or "") > WORDS:
            box = rf"\parbox[t]{{{LETTER * WORDS:.0f}pt}}"
            shown = rf"{box}{{\raggedright\strut {shown}\strut}}"
        cells.append(shown)
        if i == layout.starred:
            cells.append(_stars(table.pvalues[row]))
    return cells


def _stars(pvalue: float | None) -> str:
    if pvalue is None:
        return ""
    return next((stars for level, stars in LEVELS if pvalue < level), "")
