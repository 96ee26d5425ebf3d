"""Forest plots: deltas with their intervals, against zero and what a plan allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onechange.display import escape_terminal
from onechange.display.shortening import shorten_middle
from onechange.plots.style import (
    BETTER,
    INK,
    QUIET,
    SOFT,
    WORSE,
    ZONE,
    key,
    line_key,
    literal,
    named,
    new_figure,
    plain_axes,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["IntervalRow", "intervals_figure", "limits"]

ROW, WIDTH, LETTER = 0.42, 7.4, 0.075  # inches
USUAL, TITLE = 20, 80  # letters of a label and of a title
CLIPPED = 4.0  # times the median reach: one huge interval must not flatten the others


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """One line of a forest plot.

    Parameters
    ----------
    label : str
        What it is about.
    delta : float or None
        The estimate; None is not measured.
    low, high : float or None
        Ends of the interval; infinite where it is unbounded, None without one.
    text : str
        Figures to write beside it, already rounded.
    direction : str
        ``higher`` or ``lower`` is better; empty where it does not matter.
    allowed : tuple of float, optional
        What a rule tolerates, from low to high; an open end is infinite.
    whole : bool
        Whether it stands for all questions; it is parted from the others.
    """

    label: str
    delta: float | None
    low: float | None = None
    high: float | None = None
    text: str = ""
    direction: str = ""
    allowed: tuple[float, float] | None = None
    whole: bool = False


@styled()
def intervals_figure(
    rows: Sequence[IntervalRow],
    *,
    title: str = "",
    xlabel: str = "",
    one_scale: bool = True,
) -> Figure:
    """Draw intervals under each other.

    Parameters
    ----------
    rows : sequence of IntervalRow
        From top to bottom.
    title, xlabel : str
        Words above and below.
    one_scale : bool
        Whether all rows share one scale (slices of a metric); otherwise every row
        has its own (metrics with different units).

    Returns
    -------
    Figure

    Notes
    -----
    Blue: the whole interval lies on the better side of zero; vermilion: on the worse
    side; dark: zero is inside. The shaded stretch is what a rule tolerates.
    """
    if one_scale:
        figure = new_figure(_width(rows), 1.4 + ROW * len(rows))
        axes = figure.subplots()
        _draw_together(axes, rows)
        axes.set_xlabel(literal(xlabel))
    else:
        figure = new_figure(_width(rows), 0.9 + 0.72 * len(rows))
        stacked = figure.subplots(nrows=max(len(rows), 1), squeeze=False)[:, 0]
        for axes, row in zip(stacked, rows, strict=False):
            _draw_together(axes, [row])
            axes.tick_params(labelsize=8)
        if rows:
            stacked[-1].set_xlabel(literal(xlabel))
    if title:
        short = shorten_middle(escape_terminal(title), TITLE)
        figure.suptitle(literal(short), x=0.01, ha="left", fontsize=11)
    key(figure, _samples(rows))
    return figure


def _width(rows: Sequence[IntervalRow]) -> float:
    """Inches that leave room for the drawing beside labels and figures."""
    longest = max((len(named(row.label)) for row in rows), default=0)
    return WIDTH + LETTER * max(longest - USUAL, 0)


def _samples(rows: Sequence[IntervalRow]) -> list[Artist]:
    """Say what the colours mean that the rows have."""
    from matplotlib.patches import Patch

    colors = {_color(row) for row in rows if row.delta is not None and row.direction}
    words = ((BETTER, "better"), (WORSE, "worse"), (INK, "not shown to differ from 0"))
    found = [line_key(color, text) for color, text in words if color in colors]
    if any(row.allowed is not None for row in rows):
        found.append(Patch(color=ZONE, label="what the plan allows"))
    return found


def _draw_together(axes: Axes, rows: Sequence[IntervalRow]) -> None:
    first, last = limits(rows)
    axes.set_xlim(first, last)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.axvline(0, color=QUIET, linewidth=1, linestyle=(0, (3, 3)), zorder=1)
    for at, row in enumerate(rows):
        if row.allowed is not None:
            _draw_allowed(axes, at, row.allowed, first, last)
        if row.whole and at:
            axes.axhline(at - 0.5, color=QUIET, linewidth=0.8)
        _draw_row(axes, at, row, first, last)
        axes.annotate(
            literal(row.text),
            (1.02, at),
            xycoords=("axes fraction", "data"),
            va="center",
            color=SOFT,
            annotation_clip=False,
        )
    labels = [named(row.label) for row in rows]
    axes.set_yticks(range(len(rows)), labels, color=INK)
    plain_axes(axes)
    axes.tick_params(axis="y", length=0)


def _draw_row(axes: Axes, at: int, row: IntervalRow, first: float, last: float) -> None:
    if row.delta is None:
        axes.annotate("not measured", (0, at), va="center", ha="center", color=SOFT)
        return
    color = _color(row)
    if row.low is not None and row.high is not None:
        ends = (max(row.low, first), min(row.high, last))
        axes.plot(ends, (at, at), color=color, linewidth=1.8, zorder=3)
        for end, beyond, sign in (
            (ends[0], row.low < first, "<"),
            (ends[1], row.high > last, ">"),
        ):
            marker = sign if beyond else "|"
            axes.plot(end, at, marker, color=color, markersize=6, zorder=3)
    axes.plot(row.delta, at, "o", color=color, markersize=6.5, zorder=4)


def _draw_allowed(
    axes: Axes, at: int, allowed: tuple[float, float], first: float, last: float
) -> None:
    low, high = max(allowed[0], first), min(allowed[1], last)
    axes.fill_between((low, high), at - 0.36, at + 0.36, color=ZONE, linewidth=0)
    for edge in allowed:
        if math.isfinite(edge):
            axes.plot((edge, edge), (at - 0.36, at + 0.36), color=BETTER, linewidth=1.4)


def _color(row: IntervalRow) -> str:
    if row.low is None or row.high is None or not row.direction:
        return INK
    sign = 1 if row.direction == "higher" else -1
    if row.low > 0 or row.high < 0:
        return BETTER if sign * (row.low + row.high) > 0 else WORSE
    return INK


def limits(rows: Sequence[IntervalRow]) -> tuple[float, float]:
    """Limits that show every estimate, edge and all but huge intervals."""
    points = [row.delta for row in rows if row.delta is not None]
    found = [
        [end for end in (row.low, row.high) if end is not None and math.isfinite(end)]
        for row in rows
    ]
    ends = [end for pair in found for end in pair]
    edges = [edge for row in rows for edge in row.allowed or () if math.isfinite(edge)]
    reach = sorted(max(map(abs, pair)) for pair in found if pair)
    most = CLIPPED * reach[(len(reach) - 1) // 2] if reach else math.inf
    most = max([most, *map(abs, points), *map(abs, edges)])
    shown = [0.0, *points, *edges, *(max(min(end, most), -most) for end in ends)]
    room = 0.06 * (max(shown) - min(shown) or 1.0)
    return min(shown) - room, max(shown) + room
