"""Questions that got better, stayed the same or got worse; means of whole trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from onechange.plots.style import (
    BETTER,
    INK,
    QUIET,
    SOFT,
    WORSE,
    literal,
    named,
    new_figure,
    plain_axes,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["flow_figure", "trials_figure"]

PARTS = (("worse", WORSE), ("same", QUIET), ("better", BETTER))
ROOM = 0.045  # share of a bar below which its count is not written


@styled()
def flow_figure(
    counts: Sequence[tuple[str, tuple[int, int, int]]], *, title: str = ""
) -> Figure:
    """Draw how many questions of each metric got worse, stayed and got better.

    Parameters
    ----------
    counts : sequence of (str, (int, int, int))
        Metric, and questions that are worse, the same and better.
    title : str
        Words above.

    Returns
    -------
    Figure
    """
    figure = new_figure(7.4, 0.9 + 0.38 * len(counts))
    axes = figure.subplots()
    for at, (_, parts) in enumerate(counts):
        start, total = 0.0, max(sum(parts), 1)
        for (name, color), count in zip(PARTS, parts, strict=True):
            share = count / total
            label = name if at == 0 else None
            axes.barh(at, share, left=start, color=color, height=0.68, label=label)
            if share >= ROOM:
                ink = INK if name == "same" else "white"
                middle = start + share / 2
                axes.text(middle, at, str(count), ha="center", va="center", color=ink)
            start += share
    names = [named(name) for name, _ in counts]
    axes.set_yticks(range(len(counts)), names, color=INK)
    axes.set_ylim(len(counts) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xticks(())
    plain_axes(axes, keep="")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    if title:
        figure.suptitle(literal(title), x=0.01, ha="left", fontsize=11)
    return figure


@styled()
def trials_figure(
    means: Mapping[str, Sequence[float | None]], *, metric: str, title: str = ""
) -> Figure:
    """Draw the mean of every trial, arm by arm.

    Parameters
    ----------
    means : mapping of str to sequence of (float or None)
        Arm to the mean of each of its trials; None is a trial without a score.
    metric : str
        Name of the metric.
    title : str
        Words above.

    Returns
    -------
    Figure
    """
    figure = new_figure(7.4, 1.2 + 0.55 * len(means))
    axes = figure.subplots()
    for at, values in enumerate(means.values()):
        known = [value for value in values if value is not None]
        if not known:
            continue
        axes.plot(known, [at] * len(known), "o", color=BETTER, alpha=0.65, markersize=8)
        mean = sum(known) / len(known)
        axes.plot((mean, mean), (at - 0.28, at + 0.28), color=INK, linewidth=2.2)
    axes.set_yticks(range(len(means)), [named(name) for name in means], color=INK)
    axes.set_ylim(len(means) - 0.5, -0.5)
    axes.set_xlabel(f"{named(metric)}: mean of each trial (dots) and of all (line)")
    axes.margins(x=0.08)
    axes.grid(axis="x", color=QUIET, linewidth=0.5, alpha=0.6)
    axes.tick_params(axis="y", colors=SOFT)
    plain_axes(axes)
    if title:
        figure.suptitle(literal(title), x=0.01, ha="left", fontsize=11)
    return figure
