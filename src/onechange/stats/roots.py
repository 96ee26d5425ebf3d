"""Where a distribution function, smooth or in steps, first exceeds a probability."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["Bracket", "first_above"]

Bracket = tuple[float, float]
Gap = Callable[[float, bool], float]

SOLVED = 1e-4  # in probits; one more step of the secant squares it
CLOSE = 1e-9
ACCURACY = 1e-8  # of the standard error, where the function has steps


def first_above(
    share: Callable[[float, bool], float],
    probability: float,
    *,
    start: float,
    spread: float,
    bounds: Bracket,
    smooth: Callable[[float], float] | None = None,
    accuracy: float = ACCURACY,
    lobes: bool = True,
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
    lobes : bool
        Whether there may be any; without them the function is smooth.

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

        def rough(point: float) -> float:
            return probit(smooth(point))

        point, _, slope = _secant(rough, start, 1.0 / spread, bounds)
        return _stepped(gap, point, 1.0 / slope, bounds, accuracy * spread)
    point, value, slope = _secant(lambda x: gap(x, False), start, 1.0 / spread, bounds)
    if abs(value) > SOLVED:
        return _stepped(gap, point, 1.0 / slope, bounds, accuracy * spread)
    if not lobes:
        return point, point
    near = 0.5 * accuracy * spread * slope
    for _ in range(2):
        value = gap(point, True)
        there = float(np.clip(point - value / slope, *bounds))
        if abs(value) <= near:
            return there, there
        last, point = point, there
    return _stepped(gap, last, 1.0 / slope, bounds, accuracy * spread, value=value)


def _secant(
    gap: Callable[[float], float], point: float, slope: float, bounds: Bracket
) -> tuple[float, float, float]:
    """Return the next point, the gap of the one before, and the slope there."""
    value = gap(point)
    for _ in range(8):
        there = float(np.clip(point - value / slope, *bounds))
        if there == point:
            break
        if abs(value) <= SOLVED:
            return there, value, slope
        value_there = gap(there)
        rise = (value_there - value) / (there - point)
        slope = rise if rise > 0.0 else slope
        point, value = there, value_there
    return point, value, slope


def _stepped(
    gap: Gap,
    point: float,
    width: float,
    bounds: Bracket,
    accuracy: float,
    *,
    value: float | None = None,
) -> Bracket:
    """Enclose the step near a point; `width` is the distance of one probit."""
    if value is None:
        value = gap(point, True)
    reach = max(0.4 * accuracy, 2.0 * min(abs(value), 0.1) * width)
    sign = -1.0 if value > 0.0 else 1.0
    while True:
        there = float(np.clip(point + sign * reach, *bounds))
        value_there = gap(there, True)
        if (value_there > 0.0) != (value > 0.0) or there in bounds:
            break
        point, value, reach = there, value_there, 4.0 * reach
    ends = sorted(((point, value), (there, value_there)))
    return _enclosed(gap, *ends[0], *ends[1], accuracy)


def _enclosed(
    gap: Gap, low: float, below: float, high: float, above: float, accuracy: float
) -> Bracket:
    """Shrink an interval with the gaps at its ends, halving it every second step."""
    for step in range(200):
        if high - low <= accuracy:
            break
        steep = above > below
        share = below / (below - above) if steep and step % 2 == 0 else 0.5
        middle = low + (high - low) * min(max(share, 0.02), 0.98)
        if not low < middle < high:
            break
        value = gap(middle, True)
        if abs(value) <= CLOSE:
            return middle, middle
        if value > 0.0:
            high, above = middle, value
        else:
            low, below = middle, value
    return low, high
