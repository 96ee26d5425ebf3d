"""The questions of both arms, paired, beside the bootstrap law of their delta."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onechange.plots.style import (
    BETTER,
    INK,
    QUIET,
    SOFT,
    WORSE,
    key,
    line_key,
    literal,
    named,
    new_figure,
    plain_axes,
    styled,
)
from onechange.stats.bootstrap import bootstrap_standard_error
from onechange.stats.estimate import Interval
from onechange.stats.ideal import resampled_law
from onechange.stats.sample import PairedSample
from onechange.stats.units import units

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["bootstrap_density", "differences_figure"]

FloatArray = NDArray[np.float64]

POINTS = 121  # of the law
REACH = 4.0  # standard errors on either side


@styled()
def differences_figure(
    sample: PairedSample,
    *,
    metric: str,
    interval: Interval | None = None,
    direction: str = "higher",
    text: str = "",
    baseline_name: str = "baseline",
    variant_name: str = "variant",
) -> Figure:
    """Draw every question as a line between its scores, and the law of the delta.

    Parameters
    ----------
    sample : PairedSample
        The pairs.
    metric : str
        Name of the metric.
    interval : Interval, optional
        Decision interval of the delta.
    direction : str
        ``higher`` or ``lower`` is better.
    text : str
        The delta and its interval in words, already rounded.
    baseline_name, variant_name : str
        Names of the arms.

    Returns
    -------
    Figure

    Notes
    -----
    Equal pairs of scores are one line whose width grows with their number. On the
    right, on a scale of its own, the exact bootstrap law of the mean difference, the
    delta and its decision interval (Gardner and Altman's arrangement).
    """
    figure = new_figure(6.6, 4.2)
    left, right = figure.subplots(ncols=2, width_ratios=(1.5, 1))
    _draw_pairs(left, sample, direction)
    left.set_xticks((0, 1), (named(baseline_name), named(variant_name)))
    left.set_ylabel(named(metric))
    _draw_law(right, sample, interval)
    right.set_ylabel("delta")
    if text:
        right.set_xlabel(literal(text))
    change = np.sign(sample.difference) * (1 if direction == "higher" else -1)
    shown = ((1, BETTER, "better"), (-1, WORSE, "worse"), (0, QUIET, "same"))
    samples = [
        line_key(c, w, marker="") for sign, c, w in shown if (change == sign).any()
    ]
    key(figure, [*samples, line_key(INK, "mean; delta with its interval")])
    return figure


def bootstrap_density(sample: PairedSample) -> tuple[FloatArray, FloatArray]:
    """Return points and the height of the bootstrap law of the mean difference.

    Parameters
    ----------
    sample : PairedSample
        The pairs; whole clusters are resampled.

    Returns
    -------
    point, density : ndarray of float, shape (n_points - 1,)
        Share of the resamples between neighbouring points, by their distance; both
        empty when every resample has the same mean.
    """
    difference = sample.difference
    ones = np.ones(difference.size)
    parts = units(difference, ones, sample.clusters, None)
    if parts.constant:
        return np.empty(0), np.empty(0)
    law = resampled_law(parts.strata, weighting="multinomial", mean=parts.mean)
    spread = bootstrap_standard_error(difference, clusters=sample.clusters)
    width = _bin_width(difference, 2 * REACH * spread / POINTS)
    mean = float(np.mean(difference))
    n_bins = math.ceil(2 * REACH * spread / width)
    grid = mean + width * (np.arange(n_bins + 1) - n_bins / 2)
    below = np.array([law.below(float(point)) for point in grid])
    share = np.clip(np.diff(below), 0.0, None)
    return (grid[1:] + grid[:-1]) / 2, share / width


def _bin_width(difference: FloatArray, wanted: float) -> float:
    """Return a width near the wanted one that holds whole steps of a lattice.

    Means of scores on a lattice lie on a finer lattice; bins that hold now two and now
    three of its points would draw a comb.
    """
    sizes = np.unique(np.abs(difference))
    sizes = sizes[sizes > 0]
    step = float(sizes[0]) if sizes.size else 0.0
    for size in sizes[1:]:
        step = _common_step(step, float(size))
        if step < 1e-3 * sizes[-1]:
            return wanted  # no lattice to be seen
    step /= difference.size
    return step * max(round(wanted / step), 1) if step > 0 else wanted


def _common_step(a: float, b: float) -> float:
    """Euclid's greatest common divisor of two floats, up to rounding noise."""
    tiny = 1e-6 * b
    while b > tiny:
        a, b = b, a - b * math.floor(a / b + 1e-9)
    return a


def _draw_pairs(axes: Axes, sample: PairedSample, direction: str) -> None:
    pairs = np.column_stack([sample.baseline, sample.variant])
    lines, counts = np.unique(pairs, axis=0, return_counts=True)
    sign = 1.0 if direction == "higher" else -1.0
    widths = 0.7 + 6.0 * np.sqrt(counts / counts.max()) * (counts.max() > 1)
    alpha = 0.25 if len(lines) > 60 else 0.6
    for (before, after), width in zip(lines, widths, strict=True):
        change = sign * (after - before)
        color = BETTER if change > 0 else WORSE if change < 0 else QUIET
        axes.plot(
            (0, 1),
            (before, after),
            color=color,
            linewidth=float(width),
            alpha=alpha,
            solid_capstyle="round",
        )
    means = (float(np.mean(sample.baseline)), float(np.mean(sample.variant)))
    axes.plot((0, 1), means, "o-", color=INK, linewidth=2.2, markersize=7)
    axes.set_xlim(-0.2, 1.2)
    plain_axes(axes, keep="left bottom")


def _draw_law(axes: Axes, sample: PairedSample, interval: Interval | None) -> None:
    point, density = bootstrap_density(sample)
    delta = float(np.mean(sample.difference))
    axes.axhline(0, color=QUIET, linewidth=1, linestyle=(0, (3, 3)))
    if point.size:
        height = density / density.max()
        axes.fill_betweenx(point, 0, height, color=QUIET, alpha=0.55, linewidth=0)
        axes.plot(height, point, color=SOFT, linewidth=1)
    if interval is not None and np.isfinite([interval.low, interval.high]).all():
        axes.plot((0, 0), (interval.low, interval.high), color=INK, linewidth=2.2)
    axes.plot(0, delta, "o", color=INK, markersize=7)
    axes.set_xlim(-0.25, 1.1)
    axes.set_xticks(())
    plain_axes(axes, keep="right")
    axes.yaxis.tick_right()
    axes.yaxis.set_label_position("right")
