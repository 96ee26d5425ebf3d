"""One choice of decimals per metric, so that all its figures agree."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from onechange.display.numbers import MAX_DECIMALS, HasEnds, decimals_for

__all__ = ["metric_decimals", "rule_thresholds"]

GROWTH = 4  # further decimals that may show on which side of a threshold a figure is
TOLERANCE = 1e-9


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
    def difference_range(self) -> tuple[float, float] | None: ...

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


def rule_thresholds(
    primaries: Iterable[PrimaryLike], guardrails: Iterable[GuardrailLike]
) -> dict[str, set[float]]:
    """Collect the numbers of a plan that figures are compared with.

    Parameters
    ----------
    primaries, guardrails : iterable
        The rules of a plan.

    Returns
    -------
    dict of str to set of float
        Metric to thresholds, in the unit of the metric, with both signs.
    """
    found: dict[str, set[float]] = {}
    for primary in primaries:
        size = abs(primary.min_improvement)
        found.setdefault(primary.metric, set()).update({size, -size})
    for guardrail in guardrails:
        thresholds = found.setdefault(guardrail.metric, set())
        if guardrail.margin is not None and not isinstance(guardrail.margin, str):
            thresholds.update({guardrail.margin, -guardrail.margin})
        if guardrail.limit is not None:
            thresholds.add(guardrail.limit)
    return found


def metric_decimals(
    deltas: Iterable[DeltaLike],
    thresholds: Mapping[str, Iterable[float]] | None = None,
) -> dict[str, int]:
    """Choose the decimals of every metric.

    Parameters
    ----------
    deltas : iterable of Delta
        Overall deltas, and those of slices that decide a status.
    thresholds : mapping of str to iterable of float, optional
        Margins, limits and least improvements per metric; see `rule_thresholds`.

    Returns
    -------
    dict of str to int
        Metric to decimals.

    Notes
    -----
    Three significant digits of the larger arm, two of the interval's half-width
    (without an interval: one of the delta), and as many more as it takes, up to
    four, for no figure to look equal to zero or to a threshold that it is not equal
    to: a status must be visible in the printed numbers.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from onechange.stats.estimate import Interval
    >>> latency = SimpleNamespace(metric="latency_ms", baseline=798.2, variant=831.6,
    ...     delta=33.4, interval=Interval(-4.5, 71.3, 0.95, "t"), variant_interval=None,
    ...     difference_range=None, slice=None)
    >>> metric_decimals([latency])
    {'latency_ms': 0}
    """
    by_metric: dict[str, list[DeltaLike]] = {}
    for delta in deltas:
        by_metric.setdefault(delta.metric, []).append(delta)
    limits = thresholds or {}
    return {
        metric: _decimals(rows, [t for t in limits.get(metric, ()) if t != 0])
        for metric, rows in by_metric.items()
    }


def _decimals(rows: Sequence[DeltaLike], thresholds: Sequence[float]) -> int:
    overall = [row for row in rows if row.slice is None] or list(rows)
    wanted = max(max(_levels(row), _precision(row)) for row in overall)
    compared = [(end, 0.0) for row in overall for end in _ends(row.interval)]
    compared += [
        (figure, t) for row in rows for figure in _figures(row) for t in thresholds
    ]
    for decimals in range(wanted, min(wanted + GROWTH, MAX_DECIMALS) + 1):
        if not any(_looks_equal(figure, t, decimals) for figure, t in compared):
            return decimals
    return wanted


def _levels(row: DeltaLike) -> int:
    within_one = row.difference_range is not None and row.difference_range[1] <= 1
    return decimals_for([row.baseline, row.variant], at_most=3 if within_one else 12)


def _precision(row: DeltaLike) -> int:
    if row.interval is None:
        return _significant(row.delta, 1)
    half = (row.interval.high - row.interval.low) / 2
    return _significant(half, 2)


def _significant(value: float | None, digits: int) -> int:
    if value is None or value == 0 or not math.isfinite(value):
        return 0
    place = digits - 1 - math.floor(math.log10(abs(value)))
    return min(max(place, 0), MAX_DECIMALS)


def _figures(row: DeltaLike) -> list[float]:
    figures = [value for value in (row.delta, row.variant) if value is not None]
    return figures + _ends(row.interval) + _ends(row.variant_interval)


def _ends(interval: HasEnds | None) -> list[float]:
    if interval is None:
        return []
    return [end for end in (interval.low, interval.high) if math.isfinite(end)]


def _looks_equal(figure: float, threshold: float, decimals: int) -> bool:
    if abs(figure - threshold) <= TOLERANCE * max(1.0, abs(threshold)):
        return False
    return round(figure, decimals) == threshold
