"""The pictures of this package made of characters, for a terminal or a text file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from onechange.display import (
    decimals_for,
    escape_terminal,
    format_count,
    format_exact,
    format_number,
    text_width,
)
from onechange.display.lines import bar, dot_line, dot_scale, interval_line, padded
from onechange.display.shortening import shorten_middle
from onechange.plots.differences import bootstrap_density
from onechange.plots.intervals import IntervalRow, limits
from onechange.stats.estimate import Interval
from onechange.stats.sample import PairedSample

__all__ = ["differences_lines", "flow_lines", "intervals_lines", "trials_lines"]

WIDEST, NARROWEST = 41, 15  # columns of a drawing
LABEL, LEAST = 28, 10
DISTINCT = 13  # differences that have a line each
BINS = 5  # on either side of no difference
HEIGHTS = " ▁▂▃▄▅▆▇█"

FloatArray = NDArray[np.float64]


def intervals_lines(
    rows: Sequence[IntervalRow], *, columns: int = 100
) -> tuple[str, ...]:
    r"""Draw intervals under each other, each on a scale of its own.

    Parameters
    ----------
    rows : sequence of IntervalRow
        From top to bottom.
    columns : int
        Columns of the terminal.

    Returns
    -------
    tuple of str
        ``●`` is the estimate, the line its interval, ``│`` no difference, ``░`` what a
        rule tolerates; the last line says so.

    Examples
    --------
    >>> rows = [IntervalRow("f1", 0.1, 0.0, 0.2, "+0.1", "", (-0.1, float("inf")))]
    >>> print("\n".join(intervals_lines(rows, columns=40)[:1]))
    f1  +0.1    ░░░░░░░░┝━━━━━━━●━━━━━━━┥░░
    """
    texts = padded([row.text for row in rows])
    room = columns - text_width(texts[0]) - NARROWEST - 4
    labels = padded([_name(row.label, max(room, LEAST)) for row in rows])
    width = _left(columns, labels, texts)
    drawn = [
        "  ".join((label, text, _on_own_scale(row, width))).rstrip()
        for label, text, row in zip(labels, texts, rows, strict=True)
    ]
    allowed = any(row.allowed is not None for row in rows)
    words = ["│ no difference", *(["░ what the plan allows"] if allowed else [])]
    return (*drawn, ", ".join(words), "Each line has a scale of its own.")


def flow_lines(
    counts: Sequence[tuple[str, tuple[int, int, int]]], *, columns: int = 100
) -> tuple[str, ...]:
    r"""Draw how many questions of each metric got worse, stayed and got better.

    Parameters
    ----------
    counts : sequence of (str, (int, int, int))
        Metric, and questions that are worse, the same and better.
    columns : int
        Columns of the terminal.

    Examples
    --------
    >>> print("\n".join(flow_lines([("f1", (1, 2, 1))], columns=40)))
        worse  same  better
    f1      1     2       1  ▒▒▒▒·······████
    ▒ worse, · same, █ better
    """
    heads = ("worse", "same", "better")
    texts = [
        padded(["", *(_name(name) for name, _ in counts)]),
        *(
            padded([head, *(format_count(parts[i]) for _, parts in counts)], right=True)
            for i, head in enumerate(heads)
        ),
    ]
    width = _left(columns, *texts)
    bars = ["", *(_stacked(parts, width) for _, parts in counts)]
    lines = ("  ".join(line).rstrip() for line in zip(*texts, bars, strict=True))
    return (*lines, "▒ worse, · same, █ better")


def trials_lines(
    means: Mapping[str, Sequence[float | None]], *, columns: int = 100
) -> tuple[str, ...]:
    r"""Draw the mean of every trial, arm by arm, on one scale.

    Parameters
    ----------
    means : mapping of str to sequence of (float or None)
        Arm to the mean of each of its trials; None is a trial without a score.
    columns : int
        Columns of the terminal.

    Examples
    --------
    >>> means = {"old": (0.5, None), "new": (0.75,)}
    >>> print("\n".join(trials_lines(means, columns=30)))
    trial   mean  0.500     0.750
    old 1  0.500  ●
    old 2      –
    new 1  0.750                ●
    """
    rows = [
        (f"{_name(arm)} {i}", mean)
        for arm, found in means.items()
        for i, mean in enumerate(found, start=1)
    ]
    known = [mean for _, mean in rows if mean is not None]
    decimals = decimals_for(known)
    texts = [
        padded(["trial", *(name for name, _ in rows)]),
        padded(["mean", *(format_number(m, decimals) for _, m in rows)], right=True),
    ]
    width = _left(columns, *texts)
    low, high = min(known, default=0.0), max(known, default=0.0)
    dots = ["" if m is None else dot_line(m, low, high, width) for _, m in rows]
    scale = [dot_scale(low, high, decimals, width), *dots]
    return tuple("  ".join(line).rstrip() for line in zip(*texts, scale, strict=True))


def differences_lines(
    sample: PairedSample,
    *,
    interval: Interval | None = None,
    direction: str = "higher",
    text: str = "",
    columns: int = 100,
) -> tuple[str, ...]:
    """Draw how many questions differ by how much, and the law of the delta.

    Parameters
    ----------
    sample : PairedSample
        The pairs.
    interval : Interval, optional
        Decision interval of the delta.
    direction : str
        ``higher`` or ``lower`` is better.
    text : str
        The delta and its interval in words, already rounded.
    columns : int
        Columns of the terminal.

    Returns
    -------
    tuple of str
        A line per difference (or range of differences) with the number of questions,
        then the exact bootstrap law of the mean difference over the delta and its
        interval.
    """
    rows = _counted(sample.difference)
    sign = 1.0 if direction == "higher" else -1.0
    words = ["worse", "same", "better"]
    texts = [
        padded(["difference", *(name for name, _, _ in rows)], right=True),
        padded(["", *(words[int(np.sign(sign * at)) + 1] for _, at, _ in rows)]),
        padded(["questions", *(format_count(n) for *_, n in rows)], right=True),
    ]
    width = _left(columns, *texts)
    most = max(count for *_, count in rows)
    bars = ["", *(bar(count / most, width) for *_, count in rows)]
    drawn = ["  ".join(line).rstrip() for line in zip(*texts, bars, strict=True)]
    return (*drawn, "", *_law(sample, interval, text, min(columns, 2 * WIDEST)))


def _name(text: str, most: int = LABEL) -> str:
    return shorten_middle(escape_terminal(text), min(most, LABEL))


def _left(columns: int, *texts: Sequence[str]) -> int:
    """Columns that texts leave to a drawing; odd, so that it has a middle."""
    left = columns - sum(text_width(column[0]) + 2 for column in texts)
    return (min(max(left, NARROWEST), WIDEST) - 1) | 1


def _on_own_scale(row: IntervalRow, width: int) -> str:
    if row.delta is None:
        return "not measured"
    first, last = limits([row])

    def column(value: float) -> int:
        return _column(value, first, last, width)

    cells = [" "] * width
    if row.allowed is not None:
        start, end = (column(edge) for edge in row.allowed)
        inside = range(max(start, 0), min(end, width - 1) + 1)
        for place in inside:
            cells[place] = "░"
    if 0 <= column(0.0) < width:
        cells[column(0.0)] = "│"
    return interval_line(cells, column, row.low, row.high, row.delta)


def _column(value: float, first: float, last: float, width: int) -> int:
    """Column of a value on a scale; an unbounded one lies outside."""
    if np.isinf(value):
        return width if value > 0 else -1
    return round((value - first) / (last - first) * (width - 1))


def _stacked(parts: Sequence[int], width: int) -> str:
    """Divide a bar by counts; the ends of the parts are rounded, not the parts."""
    total = max(sum(parts), 1)
    ends = [round(width * sum(parts[: i + 1]) / total) for i in range(len(parts))]
    starts = [0, *ends[:-1]]
    pieces = zip("▒·█", starts, ends, strict=True)
    return "".join(char * (end - start) for char, start, end in pieces)


def _counted(difference: FloatArray) -> list[tuple[str, float, int]]:
    """Count differences, or ranges of them: words, a value inside, questions."""
    values, counts = np.unique(np.round(difference, 9) + 0.0, return_counts=True)
    if values.size <= DISTINCT:
        return [
            (format_exact(round(value, 4), signed=True), value, count)
            for value, count in zip(values.tolist(), counts.tolist(), strict=True)
        ]
    step = float(np.max(np.abs(values))) / BINS
    decimals = decimals_for([step * BINS])
    place = np.sign(values) * np.minimum(np.ceil(np.abs(values) / step), BINS)
    found = []
    for at in range(-BINS, BINS + 1):
        count = int(counts[place == at].sum())
        ends = sorted((at * step, (at - np.sign(at)) * step))
        low, high = (format_number(float(e), decimals, signed=True) for e in ends)
        found.append((f"{low} … {high}" if at else "0", float(at), count))
    return found


def _law(
    sample: PairedSample, interval: Interval | None, text: str, width: int
) -> list[str]:
    """Draw the bootstrap law of the delta, and the delta with its interval below."""
    point, density = bootstrap_density(sample)
    delta = float(np.mean(sample.difference))
    ends = [] if interval is None else [interval.low, interval.high]
    finite = [end for end in ends if np.isfinite(end)]
    shown = [0.0, delta, *point[:1].tolist(), *point[-1:].tolist(), *finite]
    first, last = min(shown), max(shown)
    if first == last:
        first, last = first - 1.0, last + 1.0

    def column(value: float) -> int:
        return _column(value, first, last, width)

    lines = [f"law of the delta  {text}".rstrip()]
    if point.size:
        grid = first + (last - first) * np.arange(width) / (width - 1)
        height = np.interp(grid, point, density, left=0.0, right=0.0) / density.max()
        steps = np.ceil(height * (len(HEIGHTS) - 1) - 1e-9).astype(int)
        lines.append("".join(HEIGHTS[max(step, 0)] for step in steps).rstrip())
    cells = [" "] * width
    cells[column(0.0)] = "│"
    low, high = ends or (None, None)
    lines.append(interval_line(cells, column, low, high, delta).rstrip())
    lines.append(dot_scale(first, last, decimals_for([last - first]), width))
    return lines
