"""One choice of decimals per metric, so that all its figures agree."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from onechange.display.numbers import MAX_DECIMALS, HasEnds, decimals_for

__all__ = ["Threshold", "metric_decimals", "rule_thresholds"]

GROWTH = 4  # further decimals that may show on which side of a threshold a figure is
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Threshold:
    """A number of a plan that figures are compared with.

    `improvement` thresholds are met by the delta times its direction, others by the
    variant's own value; `estimate` thresholds by the point value, others by the
    ends of an interval.
    """

    value: float
    improvement: bool
    estimate: bool = False


class DeltaLike(Protocol):
    """The fields of a delta that are printed."""

    @property
    def metric(self) -> str: ...

    @property
    def baseline(self) -> float | None: ...

    @property
    def variant(self) -> float | None: ...

    @property
    def delta(self) -> float | None: ...

    @property
    def interval(self) -> HasEnds | None: ...

    @property
    def variant_interval(self) -> HasEnds | None: ...

    @property
    def direction(self) -> str: ...

    @property
    def slice(self) -> object | None: ...


class PrimaryLike(Protocol):
    """A metric that must improve."""

    @property
    def metric(self) -> str: ...

    @property
    def min_improvement(self) -> float: ...


class GuardrailLike(Protocol):
    """A metric with an allowed worsening or a limit."""

    @property
    def metric(self) -> str: ...

    @property
    def margin(self) -> float | str | None: ...

    @property
    def limit(self) -> float | None: ...

    @property
    def rule(self) -> str: ...


def rule_thresholds(
    primaries: Iterable[PrimaryLike], guardrails: Iterable[GuardrailLike]
) -> dict[str, list[Threshold]]:
    """Collect the numbers of a plan that figures are compared with.

    Parameters
    ----------
    primaries, guardrails : iterable
        The rules of a plan.

    Returns
    -------
    dict of str to list of Threshold
        Metric to thresholds, in the unit of the metric.
    """
    found: dict[str, list[Threshold]] = {}
    for primary in primaries:
        least = Threshold(primary.min_improvement, improvement=True)
        found.setdefault(primary.metric, []).append(least)
    for guardrail in guardrails:
        thresholds = found.setdefault(guardrail.metric, [])
        estimate = guardrail.rule == "estimate"
        if guardrail.margin is not None and not isinstance(guardrail.margin, str):
            thresholds.append(Threshold(-guardrail.margin, True, estimate))
        if guardrail.limit is not None:
            thresholds.append(Threshold(guardrail.limit, False, estimate))
    return found


def metric_decimals(
    deltas: Iterable[DeltaLike],
    thresholds: Mapping[str, Sequence[Threshold]] | None = None,
) -> dict[str, int]:
    """Choose the decimals of every metric.

    Parameters
    ----------
    deltas : iterable of Delta
        Overall deltas, and those of slices that decide a status.
    thresholds : mapping of str to sequence of Threshold, optional
        What the figures of a metric are compared with; see `rule_thresholds`.

    Returns
    -------
    dict of str to int
        Metric to decimals.

    Notes
    -----
    Three significant digits of the larger arm, two of the interval's half-width
    (without an interval: one of the delta), and as many more as it takes, up to
    four, for no figure to look equal to zero or to a threshold that it is compared
    with and is not equal to: a status must be visible in the printed numbers.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from onechange.stats.estimate import Interval
    >>> latency = SimpleNamespace(metric="latency_ms", direction="lower",
    ...     baseline=798.2, variant=831.6, delta=33.4, slice=None,
    ...     interval=Interval(-4.5, 71.3, 0.95, "t"), variant_interval=None)
    >>> metric_decimals([latency])
    {'latency_ms': 0}
    """
    by_metric: dict[str, list[DeltaLike]] = {}
    for delta in deltas:
        by_metric.setdefault(delta.metric, []).append(delta)
    limits = thresholds or {}
    return {
        metric: _decimals(rows, limits.get(metric, ()))
        for metric, rows in by_metric.items()
    }


def _decimals(rows: Sequence[DeltaLike], thresholds: Sequence[Threshold]) -> int:
    overall = [row for row in rows if row.slice is None] or list(rows)
    wanted = max(_wanted(row) for row in overall)
    compared = [(end, 0.0) for row in overall for end in _ends(row.interval)]
    compared += [
        (figure, value)
        for row in rows
        for threshold in thresholds
        for figure, value in _comparisons(row, threshold)
    ]
    most = max(MAX_DECIMALS, *(_level(row) + GROWTH for row in overall))
    for decimals in range(wanted, min(wanted + GROWTH, most) + 1):
        if not any(_looks_equal(figure, value, decimals) for figure, value in compared):
            return decimals
    return wanted


def _wanted(row: DeltaLike) -> int:
    level = _level(row)
    least, most = min(level, 0), max(level, MAX_DECIMALS)
    if row.interval is None:
        return max(level, _significant(row.delta, 1, least, most))
    half = (row.interval.high - row.interval.low) / 2
    precision = _significant(half, 2, least, most)
    # A rare rate needs no more digits than its interval can tell apart.
    return max(min(level, 3), precision) if level > 3 else max(level, precision)


def _level(row: DeltaLike) -> int:
    return decimals_for([row.baseline, row.variant])


def _significant(value: float | None, digits: int, least: int, most: int) -> int:
    if value is None or value == 0 or not math.isfinite(value):
        return least
    place = digits - 1 - math.floor(math.log10(abs(value)))
    return min(max(place, least), most)


def _comparisons(row: DeltaLike, threshold: Threshold) -> list[tuple[float, float]]:
    """Pair the figures of a row with the value that a rule compares them with."""
    if threshold.improvement:
        sign = 1.0 if row.direction == "higher" else -1.0
        point, interval = row.delta, row.interval
    else:
        sign, point, interval = 1.0, row.variant, row.variant_interval
    value = sign * threshold.value
    if threshold.estimate:
        return [] if point is None else [(point, value)]
    return [(end, value) for end in _ends(interval)]


def _ends(interval: HasEnds | None) -> list[float]:
    if interval is None:
        return []
    return [end for end in (interval.low, interval.high) if math.isfinite(end)]


def _looks_equal(figure: float, threshold: float, decimals: int) -> bool:
    if abs(figure - threshold) <= TOLERANCE * max(1.0, abs(threshold)):
        return False
    return round(figure, decimals) == threshold
