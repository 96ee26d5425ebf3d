"""Deltas -> the lines of forest plots, each with what its rule allows."""

from __future__ import annotations

from collections.abc import Iterator

from onechange.delta import Delta
from onechange.display import format_interval, format_number
from onechange.plan import Guardrail, Plan, Primary, relative_margin
from onechange.plots import IntervalRow
from onechange.stats.estimate import Interval

__all__ = ["delta_text", "interval_row", "metric_name", "slice_row"]


def interval_row(delta: Delta, plan: Plan, decimals: int) -> IntervalRow:
    """Draw a delta on the scale of its rule: relative under a margin in percent."""
    for rule in _rules(plan, delta):
        relative = delta.relative
        margin = rule.margin if isinstance(rule, Guardrail) else None
        if isinstance(margin, str):
            if relative is None or relative.delta is None:
                continue
            ends = relative.interval
            return IntervalRow(
                label=f"{metric_name(delta)} (relative)",
                delta=100 * relative.delta,
                low=100 * ends.low if ends else None,
                high=100 * ends.high if ends else None,
                text=_percent_text(relative.delta, ends),
                direction=delta.direction,
                allowed=_allowed(rule, delta.direction, 100 * relative_margin(margin)),
            )
        if isinstance(rule, Guardrail) and margin is None and rule.limit is not None:
            return _limit_row(delta, rule.limit, decimals)
        if isinstance(rule, Primary) or isinstance(margin, float | int):
            allowed = _allowed(rule, delta.direction, margin)
            return _row(delta, metric_name(delta), decimals, allowed)
    return _row(delta, metric_name(delta), decimals, None)


def _limit_row(delta: Delta, limit: float, decimals: int) -> IntervalRow:
    """Draw the variant's own value, which a limit is about."""
    interval = delta.variant_interval
    text = format_number(delta.variant, decimals)
    if interval is not None:
        text += f"  ({format_interval(interval, decimals, signed=False)})"
    endless = float("inf")
    return IntervalRow(
        label=f"{metric_name(delta)} (variant)",
        delta=delta.variant,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        text=text,
        allowed=(limit, endless) if delta.direction == "higher" else (-endless, limit),
    )


def _rules(plan: Plan, delta: Delta) -> Iterator[Primary | Guardrail]:
    for primary in plan.primary:
        if primary.metric == delta.metric and delta.statistic in ("mean", "ratio"):
            yield primary
    for rule in plan.guardrails:
        same = (rule.metric, rule.statistic) == (delta.metric, delta.statistic)
        if same and rule.every_slice is None:
            yield rule


def _allowed(
    rule: Primary | Guardrail, direction: str, margin: float | None
) -> tuple[float, float]:
    endless = float("inf")
    higher = direction == "higher"
    if isinstance(rule, Primary):
        least = rule.min_improvement
        return (least, endless) if higher else (-endless, -least)
    size = margin or 0.0
    if rule.role == "equivalence":
        return -size, size
    return (-size, endless) if higher else (-endless, size)


def slice_row(delta: Delta, decimals: int) -> IntervalRow:
    """Draw the delta of a slice, or of all questions."""
    part = delta.slice
    label = "all" if part is None else " × ".join(label for _, label in part)
    return _row(delta, label, decimals, None)


def _row(
    delta: Delta,
    label: str,
    decimals: int,
    allowed: tuple[float, float] | None,
) -> IntervalRow:
    interval = delta.interval
    return IntervalRow(
        label=label,
        delta=delta.delta,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        text=delta_text(delta, decimals),
        direction=delta.direction,
        allowed=allowed,
        whole=label == "all" and delta.slice is None,
    )


def metric_name(delta: Delta) -> str:
    """Write a metric with its statistic and the arrow of its better direction."""
    named = "" if delta.statistic == "mean" else f" {delta.statistic}"
    return f"{delta.metric}{named} {'↑' if delta.direction == 'higher' else '↓'}"


def delta_text(delta: Delta, decimals: int) -> str:
    """Write a delta and its interval."""
    value = format_number(delta.delta, decimals, signed=True)
    if delta.interval is None:
        return value
    return f"{value}  ({format_interval(delta.interval, decimals)})"


def _percent_text(share: float, interval: Interval | None) -> str:
    value = format_number(100 * share, 1, signed=True)
    if interval is None:
        return f"{value} %"
    ends = (100 * interval.low, 100 * interval.high)
    low, high = (format_number(end, 1, signed=True) for end in ends)
    return f"{value} %  ({low} … {high} %)"
