"""What was compared -> pictures: which deltas, questions and trials a picture shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from onechange.breakdowns import SliceBreakdown
from onechange.delta import Delta, MetricValues, metric_sample
from onechange.display import (
    escape_terminal,
    format_interval,
    format_number,
    metric_decimals,
    rule_thresholds,
)
from onechange.display.forest import ForestRow, fitted_forest
from onechange.errors import OnechangeError
from onechange.interval_rows import delta_text, interval_row, metric_name, slice_row
from onechange.plan import Plan
from onechange.plots import (
    IntervalRow,
    differences_figure,
    differences_lines,
    flow_figure,
    flow_lines,
    intervals_figure,
    intervals_lines,
    trials_figure,
    trials_lines,
)
from onechange.trials import MetricTrials

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["KINDS", "draw", "draw_text"]

MOST_SLICES = 30  # of one picture
KINDS = ("deltas", "slices", "differences", "trials", "flow")
FLOW = "Questions that got worse, stayed, got better"


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
    _check(kind)
    decimals = _decimals(compared, plan)
    if kind == "deltas":
        xlabel = "delta with its interval, each on a scale of its own"
        rows = _rule_rows(compared, plan, variant, decimals)
        return intervals_figure(rows, xlabel=xlabel, one_scale=False)
    if kind == "flow":
        return flow_figure(_flow(compared, variant), title=FLOW)
    chosen = _metric(compared, plan, variant, metric)
    if kind == "slices":
        title, parts = _slices(compared.slices, chosen, by)
        drawn = [slice_row(d, decimals[d.metric]) for d in (*parts, chosen)]
        better = "better →" if chosen.direction == "higher" else "← better"
        return intervals_figure(drawn, title=title, xlabel=f"delta ({better})")
    if kind == "trials":
        return trials_figure(_trials(compared, chosen), metric=chosen.metric)
    return differences_figure(
        metric_sample(compared.values[variant, chosen.metric]),
        metric=chosen.metric,
        interval=chosen.interval,
        direction=chosen.direction,
        text=delta_text(chosen, decimals[chosen.metric]),
        baseline_name=compared.baseline.name,
        variant_name=variant,
    )


def draw_text(
    compared: Compared,
    kind: str,
    *,
    plan: Plan,
    variant: str,
    metric: str | None = None,
    by: str | None = None,
    columns: int = 100,
) -> str:
    """Draw the same picture with characters.

    Parameters
    ----------
    compared, kind, plan, variant, metric, by
        As in `draw`.
    columns : int
        Columns of the terminal or page.

    Returns
    -------
    str
        Lines, each ending with a line break.

    Raises
    ------
    OnechangeError
        When the kind, the metric or the breakdown is not there.
    """
    _check(kind)
    decimals = _decimals(compared, plan)
    if kind == "deltas":
        rows = _rule_rows(compared, plan, variant, decimals)
        return _joined("", intervals_lines(rows, columns=columns))
    if kind == "flow":
        return _joined(FLOW, flow_lines(_flow(compared, variant), columns=columns))
    chosen = _metric(compared, plan, variant, metric)
    if kind == "slices":
        title, parts = _slices(compared.slices, chosen, by)
        forest = [_forest_row(d, decimals[d.metric]) for d in (*parts, chosen)]
        lines = fitted_forest(forest, direction=chosen.direction, columns=columns)
    elif kind == "trials":
        title = f"{chosen.metric}: mean of each trial"
        lines = trials_lines(_trials(compared, chosen), columns=columns)
    else:
        title = f"{chosen.metric}: {variant} minus {compared.baseline.name}"
        lines = differences_lines(
            metric_sample(compared.values[variant, chosen.metric]),
            interval=chosen.interval,
            direction=chosen.direction,
            text=delta_text(chosen, decimals[chosen.metric]),
            columns=columns,
        )
    return _joined(title, lines)


def _check(kind: str) -> None:
    if kind not in KINDS:
        raise OnechangeError(
            f'plot "{kind}" is unknown; choose one of {", ".join(KINDS)}.'
        )


def _joined(title: str, lines: Sequence[str]) -> str:
    return "\n".join([*([escape_terminal(title)] if title else []), *lines]) + "\n"


def _decimals(compared: Compared, plan: Plan) -> Mapping[str, int]:
    return metric_decimals(
        (*compared.deltas, *compared.rates),
        rule_thresholds(plan.primary, plan.guardrails),
    )


def _of(deltas: Sequence[Delta], variant: str) -> list[Delta]:
    return [delta for delta in deltas if delta.variant_name == variant]


def _rule_rows(
    compared: Compared, plan: Plan, variant: str, decimals: Mapping[str, int]
) -> list[IntervalRow]:
    """Every metric, and the built-in rates, such as `failed`, that a rule is about."""
    about = {rule.metric for rule in plan.guardrails}
    rates = [rate for rate in _of(compared.rates, variant) if rate.metric in about]
    rows = [*_of(compared.deltas, variant), *rates]
    return [interval_row(row, plan, decimals[row.metric]) for row in rows]


def _flow(compared: Compared, variant: str) -> list[tuple[str, tuple[int, int, int]]]:
    rows = [row for row in _of(compared.deltas, variant) if row.counted]
    return [(metric_name(row), (row.losses, row.ties, row.wins)) for row in rows]


def _metric(compared: Compared, plan: Plan, variant: str, metric: str | None) -> Delta:
    wanted = metric or next((rule.metric for rule in plan.primary), None)
    measured = [row for row in _of(compared.deltas, variant) if row.n_pairs]
    found = [row for row in measured if row.metric == wanted] or (
        [] if metric else measured
    )
    if not found:
        known = ", ".join(dict.fromkeys(row.metric for row in measured)) or "none"
        raise OnechangeError(
            f'plot: the metric "{wanted}" is not measured; measured: {known}.'
        )
    return found[0]


def _slices(
    breakdowns: Sequence[SliceBreakdown], whole: Delta, by: str | None
) -> tuple[str, list[Delta]]:
    """Choose the slices to draw, those with an interval first, and say how many."""
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
    title = f"{whole.metric} by {found[0].spec.name}"
    if len(parts) > MOST_SLICES:
        title += f" ({MOST_SLICES} of {len(parts)} slices)"
    return title, parts[:MOST_SLICES]


def _forest_row(delta: Delta, decimals: int) -> ForestRow:
    interval = delta.interval
    return ForestRow(
        label=slice_row(delta, decimals).label,
        n_pairs=delta.n_pairs,
        delta=delta.delta,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        delta_text=format_number(delta.delta, decimals, signed=True),
        interval_text=format_interval(interval, decimals) if interval else "",
    )


def _trials(compared: Compared, delta: Delta) -> Mapping[str, Sequence[float | None]]:
    for row in compared.trials:
        if row.metric == delta.metric and row.variant_name in (
            None,
            delta.variant_name,
        ):
            return {
                compared.baseline.name: row.baseline.means,
                delta.variant_name or "variant": row.variant.means,
            }
    raise OnechangeError(f'plot: "{delta.metric}" has no trials.')
