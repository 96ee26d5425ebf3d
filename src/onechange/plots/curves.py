"""Curves over a setting or a number of questions: sweeps and power."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from onechange.plots.style import (
    INK,
    QUIET,
    literal,
    named,
    new_figure,
    plain_axes,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["curve_figure"]

# Okabe and Ito's colours, and a mark each, so that no curve is told by colour alone.
LOOKS = (
    ("#0072B2", "o"),
    ("#D55E00", "s"),
    ("#009E73", "^"),
    ("#CC79A7", "D"),
    ("#56B4E9", "v"),
    ("#E69F00", "P"),
)


@styled()
def curve_figure(
    x: Sequence[float],
    curves: Mapping[str, Sequence[float]],
    *,
    xlabel: str,
    ylabel: str,
    bands: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    target: float | None = None,
    title: str = "",
) -> Figure:
    """Draw one or several curves over the same points.

    Parameters
    ----------
    x : sequence of float
        Values of a setting, or numbers of questions.
    curves : mapping of str to sequence of float
        Name to the height at each point: a delta of a sweep, a power.
    xlabel, ylabel : str
        What the axes show.
    bands : mapping of str to sequence of (float, float), optional
        Interval of a curve at each point.
    target : float, optional
        A height to mark, such as 0.8 of a power.
    title : str
        Words above.

    Returns
    -------
    Figure
    """
    figure = new_figure(6.4, 3.8)
    axes = figure.subplots()
    if target is not None:
        axes.axhline(target, color=QUIET, linewidth=1, linestyle=(0, (3, 3)))
    for at, (name, heights) in enumerate(curves.items()):
        color, mark = LOOKS[at % len(LOOKS)]
        axes.plot(x, heights, marker=mark, color=color, label=named(name))
        ends = (bands or {}).get(name)
        if ends is not None:
            low, high = zip(*ends, strict=True)
            axes.fill_between(x, low, high, color=color, alpha=0.15, linewidth=0)
    axes.set_xlabel(literal(xlabel))
    axes.set_ylabel(literal(ylabel))
    plain_axes(axes, keep="left bottom")
    if len(curves) > 1:
        axes.legend(frameon=False, labelcolor=INK)
    if title:
        figure.suptitle(literal(title), x=0.01, ha="left", fontsize=11)
    return figure
