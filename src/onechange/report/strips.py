"""Where an interval lies against what a rule allows, as positions to draw."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from onechange.decide import RuleStatus
from onechange.display import format_exact
from onechange.display.forest import ForestRow, scale_end
from onechange.plan import relative_margin
from onechange.stats.estimate import Interval

__all__ = ["Strip", "forest_strips", "rule_strip", "trial_strips"]

PAD = 0.08  # of the width, left free on either side


@dataclass(frozen=True, slots=True)
class Strip:
    """Positions from 0 to 100 along one line; None is not drawn.

    `open_low` and `open_high` mark ends beyond the line; `allowed` is the stretch that
    a rule tolerates; `points` are further single values.
    """

    low: float | None = None
    high: float | None = None
    point: float | None = None
    zero: float | None = None
    allowed: tuple[float, float] | None = None
    edges: tuple[float, ...] = ()
    open_low: bool = False
    open_high: bool = False
    points: tuple[float, ...] = ()


def rule_strip(status: RuleStatus, direction: str) -> Strip | None:
    """Place the interval of a rule against what the rule allows.

    Parameters
    ----------
    status : RuleStatus
        The rule and its delta.
    direction : str
        ``higher`` or ``lower`` is better.

    Returns
    -------
    Strip or None
        None when nothing was measured.
    """
    found = _decided(status)
    if found is None:
        return None
    point, interval, on_delta = found
    low_edge, high_edge = _allowed(status, direction)
    ends = [] if interval is None else [interval.low, interval.high]
    shown = [point, low_edge, high_edge, *ends, *([0.0] if on_delta else [])]
    place = _Line(shown)
    return Strip(
        low=place(ends[0]) if ends else None,
        high=place(ends[1]) if ends else None,
        point=place(point),
        zero=place(0.0) if on_delta else None,
        allowed=(place(low_edge), place(high_edge)),
        edges=tuple(place(e) for e in (low_edge, high_edge) if math.isfinite(e)),
        open_low=bool(ends) and math.isinf(ends[0]),
        open_high=bool(ends) and math.isinf(ends[1]),
    )


def forest_strips(
    rows: Sequence[ForestRow],
) -> tuple[tuple[tuple[float, str], ...], tuple[Strip, ...]]:
    """Place the rows of a forest plot on one symmetric scale.

    Parameters
    ----------
    rows : sequence of ForestRow
        From top to bottom.

    Returns
    -------
    ticks : tuple of (float, str)
        Positions and labels of the scale.
    strips : tuple of Strip
        One per row.
    """
    end = scale_end(rows)
    ticks = tuple(
        (_at(value, end), format_exact(value, signed=True)) for value in (-end, 0, end)
    )
    return ticks, tuple(_forest_strip(row, end) for row in rows)


def trial_strips(
    arms: Sequence[Sequence[float | None]],
) -> tuple[Strip, ...]:
    """Place the trial means of several arms on one line.

    Parameters
    ----------
    arms : sequence of sequence of (float or None)
        Means per trial of each arm.

    Returns
    -------
    tuple of Strip
        One per arm; its point is the mean of the trials.
    """
    known = [[mean for mean in arm if mean is not None] for arm in arms]
    place = _Line(mean for arm in known for mean in arm)
    return tuple(
        Strip(
            points=tuple(place(mean) for mean in arm),
            point=place(math.fsum(arm) / len(arm)) if arm else None,
        )
        for arm in known
    )


def _decided(
    status: RuleStatus,
) -> tuple[float, Interval | None, bool] | None:
    """Value, interval and whether it is a delta that the rule compares."""
    delta = status.delta
    if delta is None:
        return None
    if status.limit is not None and status.margin is None:
        value, interval, on_delta = delta.variant, delta.variant_interval, False
    elif isinstance(status.margin, str):
        relative = delta.relative
        value = relative.delta if relative else None
        interval, on_delta = (relative.interval if relative else None), True
    else:
        value, interval, on_delta = delta.delta, delta.interval, True
    if value is None:
        return None
    return value, None if status.rule == "estimate" else interval, on_delta


def _allowed(status: RuleStatus, direction: str) -> tuple[float, float]:
    higher = direction == "higher"
    if status.role == "primary":
        least = status.min_improvement or 0.0
        return (least, math.inf) if higher else (-math.inf, -least)
    if status.margin is not None:
        margin = status.margin
        size = relative_margin(margin) if isinstance(margin, str) else margin
        if status.role == "equivalence":
            return (-size, size)
        return (-size, math.inf) if higher else (-math.inf, size)
    limit = status.limit or 0.0
    return (limit, math.inf) if higher else (-math.inf, limit)


def _forest_strip(row: ForestRow, end: float) -> Strip:
    zero = _at(0.0, end)
    if row.delta is None:
        return Strip(zero=zero)
    if row.low is None or row.high is None:
        return Strip(point=_at(row.delta, end), zero=zero)
    return Strip(
        low=_at(row.low, end),
        high=_at(row.high, end),
        point=_at(row.delta, end),
        zero=zero,
        open_low=row.low < -end,
        open_high=row.high > end,
    )


def _at(value: float, end: float) -> float:
    """Position of a value on a symmetric scale."""
    share = min(max(value / end, -1.0), 1.0)
    return _rounded(50 + 50 * (1 - PAD) * share)


class _Line:
    """A scale that holds all its finite values, with some room at either end."""

    def __init__(self, values: Iterable[float]) -> None:
        finite = [value for value in values if math.isfinite(value)]
        self._first = min(finite, default=0.0)
        self._width = max(finite, default=0.0) - self._first

    def __call__(self, value: float) -> float:
        if math.isinf(value):
            return 100.0 if value > 0 else 0.0
        if self._width == 0:
            return 50.0
        share = (value - self._first) / self._width
        return _rounded(100 * (PAD + (1 - 2 * PAD) * share))


def _rounded(position: float) -> float:
    return round(position, 2) + 0.0
