"""An inconclusive rule -> how far it is from a pass, or what stands in the way."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from onechange.decide.decision import RuleStatus
from onechange.decide.rules import margin_rule_status
from onechange.delta import Delta
from onechange.display import format_exact
from onechange.plan import relative_margin
from onechange.sensitivity import POWER, normal_quantile
from onechange.statistic_deltas import QUANTILES
from onechange.stats.estimate import Interval
from onechange.status import (
    TOLERANCE,
    Status,
    improvement_ends,
    limit_status,
    primary_status,
    worsening_ends,
)

__all__ = ["Goal", "Obstacle", "open_parts"]

NOTHING_CHANGED = "nothing changed on average"
HOPELESS = "more data will not help unless the estimate is wrong: "


@dataclass(frozen=True, slots=True)
class Goal:
    """Distances, in the metric's unit, that say how many questions it takes.

    Parameters
    ----------
    part : str
        ``margin``, ``limit`` or ``improvement``.
    gap : float
        From the assumed truth to the threshold.
    distance : float
        From the estimate to the end of the interval that decides.
    spread : float
        Standard error of what the interval is about.
    assumption : str
        What is taken to be true.
    power : float
        Probability with which each end of the interval has to be on its side.
    about_delta : bool
        Whether it is about the delta, or about the variant's own value.
    """

    part: str
    gap: float
    distance: float
    spread: float
    assumption: str
    power: float = POWER
    about_delta: bool = True


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What stands in the way of a part of a rule, and no number of questions helps."""

    part: str
    text: str


def open_parts(status: RuleStatus, delta: Delta) -> Iterator[Goal | Obstacle]:
    """Look at the parts of a rule that its interval leaves open.

    Parameters
    ----------
    status : RuleStatus
        Inconclusive, and decided by an interval.
    delta : Delta
        What it was decided on.

    Yields
    ------
    Goal or Obstacle
        None of them when only missing scores took a pass back.
    """
    if status.role == "primary":
        yield from _improvement(status.min_improvement or 0.0, delta)
    if status.margin is not None:
        yield from _margin(status, status.margin, delta)
    if status.limit is not None:
        yield from _limit(status.limit, delta)


def _improvement(least: float, delta: Delta) -> Iterator[Goal | Obstacle]:
    interval = delta.interval
    if interval is None or delta.delta is None:
        yield Obstacle("improvement", _without_interval(delta))
        return
    if primary_status(interval, least, delta.direction) is not Status.INCONCLUSIVE:
        return
    improvement = _sign(delta) * delta.delta
    gap = improvement - least
    if gap <= 0:
        than = f"the least improvement {format_exact(least)}" if least else "0"
        yield Obstacle("improvement", f"{HOPELESS}the estimate is not above {than}.")
        return
    yield Goal(
        "improvement",
        gap=gap,
        distance=improvement - improvement_ends(interval, delta.direction)[0],
        spread=_spread(delta.standard_error, interval),
        assumption="the delta is as observed",
    )


def _margin(
    status: RuleStatus, margin: float | str, delta: Delta
) -> Iterator[Goal | Obstacle]:
    interval, estimate, error = delta.interval, delta.delta, delta.standard_error
    unit = 1.0
    if isinstance(margin, str):
        relative = delta.relative
        interval = relative.interval if relative else None
        estimate = relative.delta if relative else None
        error, unit = None, delta.baseline or 1.0
    if interval is None or estimate is None:
        share = isinstance(margin, str)
        yield Obstacle("margin", _without_interval(delta, share=share))
        return
    found = margin_rule_status(status.role, margin, interval, delta.direction)
    if found is not Status.INCONCLUSIVE:
        return
    size = relative_margin(margin) if isinstance(margin, str) else float(margin)
    worsening = -_sign(delta) * estimate
    low, high = worsening_ends(interval, delta.direction)
    both_sides = status.role == "equivalence"
    if both_sides and worsening < 0:
        worsening, low, high = -worsening, -high, -low
    noise = TOLERANCE * max(1.0, size)
    if worsening >= size - noise:
        exactly = "exactly at" if worsening <= size + noise else "beyond"
        told = f"{HOPELESS}the estimate itself is {exactly} the margin."
        yield Obstacle("margin", told)
        return
    spread, distance, power = _spread(error, interval), high - worsening, POWER
    if low > 0 or size <= noise:
        gap, assumption = size - worsening, "the delta is as observed"
    else:
        gap, assumption = size, NOTHING_CHANGED
        if both_sides:
            # Both ends must hold, each with half of what may go wrong.
            distance, power = max(distance, worsening - low), (1 + POWER) / 2
    yield Goal("margin", gap * unit, distance * unit, spread * unit, assumption, power)


def _limit(limit: float, delta: Delta) -> Iterator[Goal | Obstacle]:
    interval, value = delta.variant_interval, delta.variant
    if interval is None or value is None:
        yield Obstacle("limit", _without_interval(delta))
        return
    if limit_status(interval, limit, delta.direction) is not Status.INCONCLUSIVE:
        return
    sign = _sign(delta)
    gap = sign * (value - limit)
    if gap <= TOLERANCE * max(1.0, abs(limit)):
        exactly = abs(gap) <= TOLERANCE * max(1.0, abs(limit))
        place = "exactly at" if exactly else "beyond"
        told = f"{HOPELESS}the variant itself is {place} the limit."
        yield Obstacle("limit", told)
        return
    distance = abs(value - (interval.low if sign > 0 else interval.high))
    if math.isinf(distance):
        yield Obstacle("limit", _unbounded(delta, interval, upper=sign < 0))
        return
    yield Goal(
        "limit",
        gap=gap,
        distance=distance,
        spread=distance / normal_quantile((1 + interval.confidence_level) / 2),
        assumption="the variant's value is as observed",
        about_delta=False,
    )


def _sign(delta: Delta) -> float:
    return 1.0 if delta.direction == "higher" else -1.0


def _spread(standard_error: float | None, interval: Interval) -> float:
    """Return the standard error, or what the width of the interval says of it."""
    if standard_error is not None:
        return standard_error
    half = (interval.high - interval.low) / 2
    return half / normal_quantile((1 + interval.confidence_level) / 2)


def _without_interval(delta: Delta, *, share: bool = False) -> str:
    """Say what is missing for an interval to exist."""
    if share and not (delta.baseline is not None and delta.baseline > 0):
        return (
            "give the margin in the metric's unit: of a baseline of 0 or less there "
            "is no share."
        )
    for note in delta.notes:
        if note.code in ("too-few-questions", "few-questions-for-quantile"):
            return f"add questions: {note.text}"
        if note.code == "few-clusters":
            return f"add clusters: {note.text}"
        if note.code == "equal-differences":
            return "declare the metric's range, so that an interval exists."
    if share:
        reason = delta.relative.reason if delta.relative else None
        told = f"; {reason.rstrip('.')}" if reason else ""
        return f"give the margin in the metric's unit, or add questions{told}."
    return "more questions are needed."


def _unbounded(delta: Delta, interval: Interval, *, upper: bool) -> str:
    """Say how many questions it takes to bound a quantile at all."""
    probability = QUANTILES.get(delta.statistic)
    if probability is None:
        return "more questions are needed."
    tail = (1 - interval.confidence_level) / 2
    beyond = probability if upper else 1 - probability
    fewest = math.ceil(math.log(tail) / math.log(beyond) - 1e-9)
    return (
        f"add questions: it takes {fewest} to bound the {delta.statistic} from "
        f"{'above' if upper else 'below'} at all."
    )
