"""Where a distribution function, smooth or in steps, first exceeds a probability."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["Bracket", "first_above", "shrink"]

Bracket = tuple[float, float]
Gap = Callable[[float, bool], float]

SOLVED = 1e-10  # in probits; a root this close is as good as exact
ACCURACY = 1e-8  # of the standard error, where the function has steps
WORST = -8.0  # probits, far enough below any probability that is asked for


def first_above(
    share: Callable[[float, bool], float],
    probability: float,
    *,
    start: float,
    spread: float,
    bounds: Bracket,
    smooth: Callable[[float], float] | None = None,
    accuracy: float = ACCURACY,
) -> Bracket:
    """Enclose the first point at which a distribution function exceeds a probability.

    Parameters
    ----------
    share : callable
        Point, and whether the lobes of the characteristic function are searched, to
        the cumulated probability.
    probability : float
    start : float
        First guess.
    spread : float
        Standard deviation of the law.
    bounds : tuple of float
        Points with a share below, and above, the probability.
    smooth : callable, optional
        A cheap approximation of the share, to start from its root.
    accuracy : float
        Width of the result, in spreads, where the function has steps.

    Returns
    -------
    low, high : float
        Equal when the function is smooth there, else at most `accuracy` apart.

    Notes
    -----
    Secant steps on the probit scale, on which the function is nearly a line.
    """
    from scipy.special import ndtri

    target = float(ndtri(probability))

    def probit(value: float) -> float:
        return float(ndtri(min(max(value, 1e-15), 1.0 - 1e-15))) - target

    def gap(point: float, lobes: bool) -> float:
        return probit(share(point, lobes))

    if smooth is not None:

        def rough(point: float, lobes: bool) -> float:
            return probit(smooth(point))

        point, _, _ = _secant(rough, start, 1.0 / spread, bounds, lobes=False)
        low, high = _around(gap, point, 0.4 * accuracy * spread, bounds)
        return _enclosed(gap, low, high, accuracy * spread)
    point, value, slope = _secant(gap, start, 1.0 / spread, bounds, lobes=False)
    if abs(value) <= SOLVED:
        point, value, _ = _secant(gap, point, slope, bounds, lobes=True)
        if abs(value) <= SOLVED:
            return point, point
    low, high = _around(gap, point, 1e-6 * spread, bounds)
    return _enclosed(gap, low, high, accuracy * spread)


def shrink(
    share: Callable[[float, bool], float],
    probability: float,
    bracket: Bracket,
    width: float,
) -> Bracket:
    """Halve a bracket of `first_above` until it is no wider than `width`.

    Parameters
    ----------
    share, probability
        As in `first_above`.
    bracket : tuple of float
    width : float

    Returns
    -------
    low, high : float
    """
    low, high = bracket
    while high - low > width:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if share(middle, True) > probability:
            high = middle
        else:
            low = middle
    return low, high


def _secant(
    gap: Gap, point: float, slope: float, bounds: Bracket, *, lobes: bool
) -> tuple[float, float, float]:
    """Return the last point, its gap, and the slope there."""
    value = gap(point, lobes)
    for _ in range(8):
        if abs(value) <= SOLVED:
            break
        there = float(np.clip(point - value / slope, *bounds))
        if there == point:
            break
        value_there = gap(there, lobes)
        rise = (value_there - value) / (there - point)
        slope = rise if rise > 0.0 else slope
        point, value = there, value_there
    return point, value, slope


def _around(gap: Gap, point: float, width: float, bounds: Bracket) -> Bracket:
    """Enclose the step near a point, in an interval that is not much too wide."""
    below = gap(point, True) <= 0.0
    edge = point
    while True:
        there = float(np.clip(edge + width if below else edge - width, *bounds))
        last = there in bounds
        if last or (gap(there, True) > 0.0) == below:
            return (edge, there) if below else (there, edge)
        edge, width = there, 4.0 * width


def _enclosed(gap: Gap, low: float, high: float, accuracy: float) -> Bracket:
    """Shrink an interval, halving it at least every third step."""
    below, above = WORST, 3.0
    for step in range(200):
        if high - low <= accuracy:
            break
        share = 0.5 if step % 3 == 2 else below / (below - above)
        middle = low + (high - low) * min(max(share, 1e-3), 1.0 - 1e-3)
        if not low < middle < high:
            break
        value = gap(middle, True)
        if value > 0.0:
            high, above = middle, value
        else:
            low, below = middle, value
    return low, high
