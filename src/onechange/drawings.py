"""What was compared -> pictures: which deltas, questions and trials a picture shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from onechange.breakdowns import SliceBreakdown
from onechange.delta import Delta, MetricValues, metric_sample
from onechange.display import (
    format_interval,
    format_number,
    metric_decimals,
    rule_thresholds,
)
from onechange.errors import OnechangeError
from onechange.plan import Guardrail, Plan, Primary, relative_margin
from onechange.plots import (
    IntervalRow,
    differences_figure,
    flow_figure,
    intervals_figure,
    trials_figure,
)
from onechange.stats.estimate import Interval
from onechange.trials import MetricTrials

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["KINDS", "draw"]

MOST_SLICES = 30  # of one picture
KINDS = ("deltas", "slices", "differences", "trials", "flow")


class Named(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str: ...


class Compared(Protocol):
    """What `compare` found, as far as pictures show it."""

    @property
    def baseline(self) -> Named: ...

    @property
    def plan(self) -> Plan: ...

    @property
    def deltas(self) -> Sequence[Delta]: ...

    @property
    def rates(self) -> Sequence[Delta]: ...

    @property
    def slices(self) -> Sequence[SliceBreakdown]: ...

    @property
    def trials(self) -> Sequence[MetricTrials]: ...

    @property
    def values(self) -> Mapping[tuple[str, str], MetricValues]: ...


def draw(
    compared: Compared,
    kind: str,
    *,
    plan: Plan,
    variant: str,
    metric: str | None = None,
    by: str | None = None,
) -> Figure:
    """Draw one picture of a comparison.

    Parameters
    ----------
    compared : Comparison
        What was compared.
    kind : str
        One of `KINDS`.
    plan : Plan
        Its rules are drawn as what they allow.
    variant : str
        Name of the variant.
    metric : str, optional
        For a picture of one metric; the first primary, or first metric, by default.
    by : str, optional
        Name of the breakdown, for slices; the first by default.

    Returns
    -------
    Figure

    Raises
    ------
    OnechangeError
        When the kind, the metric or the breakdown is not there.
    """
    if kind not in KINDS:
        raise OnechangeError(
            f'plot "{kind}" is unknown; choose one of {", ".join(KINDS)}.'
        )
    decimals = metric_decimals(
        (*compared.deltas, *compared.rates),
        rule_thresholds(plan.primary, plan.guardrails),
    )
    rows = [d for d in compared.deltas if d.variant_name == variant]
    if kind == "deltas":
        return _deltas([*rows, *_ruled_rates(compared, plan, variant)], plan, decimals)
    if kind == "flow":
        counts = [(_name(d), (d.losses, d.ties, d.wins)) for d in rows if d.counted]
        return flow_figure(counts, title="Questions that got worse, stayed, got better")
    chosen = _metric(rows, plan, metric)
    if kind == "slices":
        return _slices(compared.slices, chosen, by, decimals[chosen.metric])
    if kind == "differences":
        return _differences(compared, chosen, decimals[chosen.metric])
    return _trials(compared, chosen)


def _metric(rows: Sequence[Delta], plan: Plan, metric: str | None) -> Delta:
    wanted = metric or next((rule.metric for rule in plan.primary), None)
    measured = [row for row in rows if row.n_pairs]
    found = [row for row in measured if row.metric == wanted] or (
        [] if metric else measured
    )
    if not found:
        known = ", ".join(dict.fromkeys(row.metric for row in measured)) or "none"
        raise OnechangeError(
            f'plot: the metric "{wanted}" is not measured; measured: {known}.'
        )
    return found[0]


def _deltas(rows: Sequence[Delta], plan: Plan, decimals: Mapping[str, int]) -> Figure:
    drawn = [_interval_row(row, plan, decimals[row.metric]) for row in rows]
    return intervals_figure(
        drawn,
        xlabel="delta with its interval, each on a scale of its own",
        one_scale=False,
    )


def _ruled_rates(compared: Compared, plan: Plan, variant: str) -> list[Delta]:
    """Built-in rates, such as `failed`, that a guardrail is about."""
    about = {rule.metric for rule in plan.guardrails}
    return [
        rate
        for rate in compared.rates
        if rate.variant_name == variant and rate.metric in about
    ]


def _slices(
    breakdowns: Sequence[SliceBreakdown], whole: Delta, by: str | None, decimals: int
) -> Figure:
    found = [b for b in breakdowns if by is None or b.spec.name == by]
    if not found:
        known = ", ".join(b.spec.name for b in breakdowns) or "none"
        raise OnechangeError(
            f"plot: no breakdown by {by or 'any column'}; there are: {known}."
        )
    parts = [
        delta
        for delta in found[0].deltas
        if (delta.metric, delta.variant_name, delta.statistic)
        == (whole.metric, whole.variant_name, whole.statistic)
    ]
    parts.sort(key=lambda delta: (delta.interval is None, delta.delta is None))
    rows = [_slice_row(delta, decimals) for delta in parts[:MOST_SLICES]]
    hidden = len(parts) - len(rows)
    title = f"{whole.metric} by {found[0].spec.name}"
    if hidden > 0:
        title += f" ({len(rows)} of {len(parts)} slices)"
    better = "better →" if whole.direction == "higher" else "← better"
    return intervals_figure(
        [*rows, _slice_row(whole, decimals)],
        title=title,
        xlabel=f"delta ({better})",
    )


def _differences(compared: Compared, delta: Delta, decimals: int) -> Figure:
    values = compared.values[delta.variant_name, delta.metric]
    return differences_figure(
        metric_sample(values),
        metric=delta.metric,
        interval=delta.interval,
        direction=delta.direction,
        text=_text(delta, decimals),
        baseline_name=compared.baseline.name,
        variant_name=delta.variant_name,
    )


def _trials(compared: Compared, delta: Delta) -> Figure:
    for row in compared.trials:
        if row.metric == delta.metric and row.variant_name in (
            None,
            delta.variant_name,
        ):
            means = {
                compared.baseline.name: row.baseline.means,
                delta.variant_name: row.variant.means,
            }
            return trials_figure(means, metric=delta.metric)
    raise OnechangeError(f'plot: "{delta.metric}" has no trials.')


# ---------------------------------------------------------------- rows


def _interval_row(delta: Delta, plan: Plan, decimals: int) -> IntervalRow:
    """Draw a delta on the scale of its rule: relative under a margin in percent."""
    for rule in _rules(plan, delta):
        relative = delta.relative
        margin = rule.margin if isinstance(rule, Guardrail) else None
        if isinstance(margin, str):
            if relative is None or relative.delta is None:
                continue
            ends = relative.interval
            return IntervalRow(
                label=f"{_name(delta)} (relative)",
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
            return _row(
                delta, _name(delta), decimals, _allowed(rule, delta.direction, margin)
            )
    return _row(delta, _name(delta), decimals, None)


def _limit_row(delta: Delta, limit: float, decimals: int) -> IntervalRow:
    """Draw the variant's own value, which a limit is about."""
    interval = delta.variant_interval
    text = format_number(delta.variant, decimals)
    if interval is not None:
        text += f"  ({format_interval(interval, decimals, signed=False)})"
    endless = float("inf")
    return IntervalRow(
        label=f"{_name(delta)} (variant)",
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


def _slice_row(delta: Delta, decimals: int) -> IntervalRow:
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
        text=_text(delta, decimals),
        direction=delta.direction,
        allowed=allowed,
        whole=label == "all" and delta.slice is None,
    )


def _name(delta: Delta) -> str:
    named = "" if delta.statistic == "mean" else f" {delta.statistic}"
    return f"{delta.metric}{named} {'↑' if delta.direction == 'higher' else '↓'}"


def _text(delta: Delta, decimals: int) -> str:
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
