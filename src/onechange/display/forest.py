"""A forest plot made of characters: one line per slice, on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from onechange.display.escaping import escape_terminal, text_width
from onechange.display.lines import interval_line, padded
from onechange.display.numbers import MISSING, format_count, format_exact
from onechange.display.shortening import shorten_middle

__all__ = ["ForestRow", "fitted_forest", "forest_lines", "scale_end"]

MAX_LABEL = 36
WIDEST = 31  # columns of the plotting area beside texts


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One line of the plot; the texts are already rounded.

    `low`/`high` are None without an interval and infinite at an unbounded end;
    `delta` is None for a slice that is not measured. `link` says which questions are
    behind the row, as in `Table.links`. `pvalue_text` and `flags` are the short forms
    of what `remark` says.
    """

    label: str
    n_pairs: int
    delta: float | None
    low: float | None
    high: float | None
    delta_text: str
    interval_text: str = ""
    remark: str = ""
    link: str = ""
    pvalue_text: str = ""
    flags: str = ""


def fitted_forest(
    rows: Sequence[ForestRow], *, direction: str = "higher", columns: int = 100
) -> tuple[str, ...]:
    """Draw a forest plot that is no wider than a terminal.

    Parameters
    ----------
    rows : sequence of ForestRow
        From top to bottom.
    direction : str
        ``higher`` or ``lower``: which side of zero is better.
    columns : int
        Columns of the terminal. The plotting area takes what the texts leave it; where
        that is too little, labels and remarks are shortened, then intervals are left to
        the drawing.

    Returns
    -------
    tuple of str
        As `forest_lines`.
    """
    lines: tuple[str, ...] = ()
    for form in _FORMS:
        shown = [form.of(row) for row in rows]
        for width in range(WIDEST, form.narrowest - 1, -2):
            lines = forest_lines(
                shown, direction=direction, width=width, label=form.label
            )
            excess = max(text_width(line) for line in lines) - columns
            if excess <= 0:
                return lines
            if width - excess < form.narrowest:
                break
    return lines


def forest_lines(
    rows: Sequence[ForestRow],
    *,
    direction: str = "higher",
    width: int = 41,
    label: int = MAX_LABEL,
) -> tuple[str, ...]:
    r"""Draw deltas with their intervals around zero.

    Parameters
    ----------
    rows : sequence of ForestRow
        From top to bottom.
    direction : str
        ``higher`` or ``lower``: which side of zero is better.
    width : int
        Columns of the plotting area.
    label : int
        Columns that a label may take.

    Returns
    -------
    tuple of str
        A head with the scale, then one line per row. ``●`` is the delta, the line
        its interval, ``◂`` and ``▸`` mark ends beyond the scale, ``│`` is zero.

    Examples
    --------
    >>> rows = [ForestRow("hard", 40, -0.12, -0.24, 0.0, "−0.12"),
    ...         ForestRow("easy", 60, 0.13, 0.05, 0.21, "+0.13")]
    >>> print("\n".join(forest_lines(rows, width=21)))
    better →   n  delta  −0.25     0     +0.25
    hard      40  −0.12  ┝━━━━●━━━━┥
    easy      60  +0.13            │ ┝━━●━━┥
    """
    scale = _Scale.of(rows, width)
    labels = [shorten_middle(escape_terminal(row.label), label) for row in rows]
    counts = [format_count(row.n_pairs) for row in rows]
    deltas = [row.delta_text for row in rows]
    intervals = [row.interval_text for row in rows]
    columns = [
        padded([_better(direction), *labels]),
        padded(["n", *counts], right=True),
        padded(["delta", *deltas], right=True),
        [scale.head(), *(_line(row, scale) for row in rows)],
    ]
    if any(intervals):
        columns.append(padded(["", *intervals]))
    columns.append(["", *(row.remark for row in rows)])
    return tuple("  ".join(parts).rstrip() for parts in zip(*columns, strict=True))


def scale_end(rows: Sequence[ForestRow]) -> float:
    """Return the round number at which the scale of a forest plot ends."""
    deltas = [abs(row.delta) for row in rows if row.delta is not None]
    known = [
        [abs(end) for end in (row.low, row.high) if end is not None] for row in rows
    ]
    finite = [list(filter(math.isfinite, ends)) for ends in known]
    reach = sorted(max(ends) for ends in finite if ends)
    # One huge interval, also of two, must not flatten the others.
    typical = 4 * reach[(len(reach) - 1) // 2] if reach else 0.0
    ends = min(reach[-1], typical) if reach else 0.0
    return _round_up(max([ends, *deltas], default=0))


@dataclass(frozen=True, slots=True)
class _Form:
    """How much of its texts a plot shows, and how narrow its drawing may be."""

    label: int
    remark: str
    intervals: bool
    narrowest: int

    def of(self, row: ForestRow) -> ForestRow:
        """Leave out what this form has no room for."""
        parts = {
            "full": (row.remark,),
            "short": (row.pvalue_text, row.flags),
            "flags": (row.flags,),
            "none": (),
        }[self.remark]
        return replace(
            row,
            remark=", ".join(part for part in parts if part),
            interval_text=row.interval_text if self.intervals else "",
        )


# The first that fits: labels shrink first, then remarks, then the written intervals.
_FORMS = (
    _Form(MAX_LABEL, "full", True, 21),
    _Form(24, "full", True, 21),
    _Form(24, "short", True, 17),
    _Form(16, "short", True, 15),
    _Form(16, "flags", True, 15),
    _Form(16, "short", False, 15),
    _Form(16, "flags", False, 15),
    _Form(12, "flags", False, 11),
    _Form(10, "none", False, 11),
)


@dataclass(frozen=True, slots=True)
class _Scale:
    """A symmetric scale around zero that ends at a round number."""

    end: float
    width: int

    @classmethod
    def of(cls, rows: Sequence[ForestRow], width: int) -> _Scale:
        return cls(scale_end(rows), width | 1)

    @property
    def zero(self) -> int:
        return self.width // 2

    def column(self, value: float) -> int:
        """Column of a value; outside the scale it lies outside 0 … width - 1."""
        if math.isinf(value):
            return self.width if value > 0 else -1
        return self.zero + round(value / self.end * self.zero)

    def head(self) -> str:
        """Write the ends of the scale and its zero."""
        low, high = format_exact(-self.end), format_exact(self.end, signed=True)
        left = low + " " * (self.zero - len(low)) + "0"
        return left + " " * (self.width - len(left) - len(high)) + high


def _line(row: ForestRow, scale: _Scale) -> str:
    if row.delta is None:
        return MISSING.center(scale.width)
    cells = [" "] * scale.width
    cells[scale.zero] = "│"
    return interval_line(cells, scale.column, row.low, row.high, row.delta)


def _better(direction: str) -> str:
    return "better →" if direction == "higher" else "← better"


def _round_up(reach: float) -> float:
    """Return the next of 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten."""
    if reach <= 0 or not math.isfinite(reach):
        return 1.0
    power = 10.0 ** math.floor(math.log10(reach))
    for step in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10):
        if step * power >= reach * (1 - 1e-9):
            return float(f"{step * power:.6g}")
    return 10 * power
