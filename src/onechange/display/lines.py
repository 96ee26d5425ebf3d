"""Lines of characters that plots are made of: columns, intervals, dots, bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onechange.display.escaping import text_width
from onechange.display.numbers import format_number

__all__ = ["bar", "dot_line", "dot_scale", "interval_line", "padded"]

EIGHTHS = " ▏▎▍▌▋▊▉█"


def padded(texts: Sequence[str], *, right: bool = False) -> list[str]:
    """Fill texts to the width of the widest, which lines them up.

    Examples
    --------
    >>> padded(["a", "abc"], right=True)
    ['  a', 'abc']
    """
    width = max(text_width(text) for text in texts)
    blanks = [" " * (width - text_width(text)) for text in texts]
    if right:
        return [blank + text for blank, text in zip(blanks, texts, strict=True)]
    return [text + blank for blank, text in zip(blanks, texts, strict=True)]


def interval_line(
    cells: Sequence[str],
    column: Callable[[float], int],
    low: float | None,
    high: float | None,
    point: float,
) -> str:
    """Draw an estimate and its interval over a line of cells.

    Parameters
    ----------
    cells : sequence of str
        What lies behind, one character a column.
    column : callable
        Value to column; outside the scale it lies outside the cells.
    low, high : float or None
        Ends of the interval; None without one.
    point : float
        The estimate.

    Examples
    --------
    >>> interval_line("    │    ", round, 1, 5, 3)
    ' ┝━●━┥   '
    >>> interval_line("    │    ", round, -2, 5, 3)
    '◂━━●━┥   '
    """
    drawn, last_cell = list(cells), len(cells) - 1
    if low is not None and high is not None:
        first, last = column(low), column(high)
        for place in range(max(first, 0), min(last, last_cell) + 1):
            drawn[place] = "━"
        if first >= 0:
            drawn[min(first, last_cell)] = "┝"
        if last <= last_cell:
            drawn[max(last, 0)] = "┥"
        if first < 0:
            drawn[0] = "◂"
        if last > last_cell:
            drawn[-1] = "▸"
    drawn[min(max(column(point), 0), last_cell)] = "●"
    return "".join(drawn)


def dot_line(value: float, low: float, high: float, width: int) -> str:
    """Draw one value on a scale from low to high.

    Examples
    --------
    >>> dot_line(0.5, 0.0, 1.0, 5)
    '  ●  '
    """
    cells = [" "] * width
    share = 0.5 if high == low else (value - low) / (high - low)
    cells[round(share * (width - 1))] = "●"
    return "".join(cells)


def dot_scale(low: float, high: float, decimals: int, width: int) -> str:
    """Write the ends of the scale of `dot_line`.

    Examples
    --------
    >>> dot_scale(0.25, 0.75, 2, 12)
    '0.25    0.75'
    """
    if low == high:
        return format_number(low, decimals).center(width)
    left, right = format_number(low, decimals), format_number(high, decimals)
    return left + " " * max(1, width - len(left) - len(right)) + right


def bar(share: float, width: int) -> str:
    """Draw a share of a width, to an eighth of a column; nothing above 0 is invisible.

    Examples
    --------
    >>> bar(0.5, 5), bar(0.0, 5), bar(1e-9, 5)
    ('██▌', '', '▏')
    """
    eighths = round(8 * width * share)
    if share > 0:
        eighths = max(eighths, 1)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
