"""Statuses -> p-values at their margins, and the margins that could be shown."""

from __future__ import annotations

from dataclasses import replace

from onechange.decide.decision import RuleStatus
from onechange.decide.findings import Scope
from onechange.decide.stability import slice_mask
from onechange.delta import Delta, metric_sample
from onechange.display import format_exact, format_number, format_percent
from onechange.plan import relative_margin
from onechange.sensitivity import (
    MarginCheck,
    margin_check,
    resampled_margin_check,
)
from onechange.statistic_deltas import loss_values
from onechange.stats.estimate import Note
from onechange.stats.sample import PairedSample
from onechange.status import Status

__all__ = ["with_margin_check"]


def with_margin_check(
    scope: Scope, status: RuleStatus, every_slice: str | None
) -> RuleStatus:
    """Add the p-value at the margin and the margins that could be shown.

    Parameters
    ----------
    scope : Scope
        What was compared.
    status : RuleStatus
        Of a guardrail.
    every_slice : str or None
        The breakdown of an every-slice guardrail.

    Returns
    -------
    RuleStatus
        Unchanged where the point value decides, and for ratio metrics.
    """
    margin, delta = status.margin, status.delta
    if delta is None or margin is None or status.rule != "interval":
        return status
    check = _check(scope, status, delta, margin, every_slice)
    if check is None:
        return status
    return replace(
        status,
        pvalue_margin=check.pvalue_margin,
        smallest_margin=check.smallest_margin,
        pass_probability_unchanged=check.pass_probability_unchanged,
        notes=status.notes
        if status.status is Status.PASS
        else (*status.notes, *_resolution_notes(scope, delta, margin, check)),
    )


def _check(
    scope: Scope,
    status: RuleStatus,
    delta: Delta,
    margin: float | str,
    every_slice: str | None,
) -> MarginCheck | None:
    """Check a margin on the statistic of its rule; None where it cannot be."""
    interval, estimate = delta.interval, delta.delta
    if isinstance(margin, str):
        relative = delta.relative
        interval = relative.interval if relative else None
        estimate = relative.delta if relative else None
    both_sides = status.role == "equivalence"
    key = (scope.variant_name, delta.metric, delta.statistic, delta.slice)
    draws = scope.comparison.resamples.get(key)
    if draws is not None and estimate is not None:
        return resampled_margin_check(
            draws.relative if isinstance(margin, str) else draws.absolute,
            estimate,
            margin,
            delta.direction,
            interval=interval,
            both_sides=both_sides,
        )
    corrected = any(row.corrected is delta for row in scope.comparison.labelled)
    if corrected or delta.statistic not in ("mean", "loss_rate"):
        return None
    return margin_check(
        _sample(scope, delta, every_slice),
        margin,
        delta.direction,
        interval=interval,
        standard_error=delta.standard_error,
        analysis=scope.analysis(delta),
        both_sides=both_sides,
    )


def _resolution_notes(
    scope: Scope, delta: Delta, margin: float | str, check: MarginCheck
) -> tuple[Note, ...]:
    """Note a margin that would not pass if no answer changed at all."""
    smallest = check.smallest_margin
    size = relative_margin(margin) if isinstance(margin, str) else margin
    if smallest is None or size >= smallest * (1 - 1e-9):
        return ()
    decimals = scope.decimals.get(delta.metric, 3)
    if isinstance(margin, str):
        shown, least = margin, format_percent(smallest)
    else:
        shown, least = format_exact(margin), format_number(smallest, decimals)
    text = (
        f"The margin {shown} of {delta.metric} is below {least}, what the interval of "
        f"{delta.n_pairs} questions reaches if no answer changes at all."
    )
    return (Note("margin-below-resolution", text),)


def _sample(scope: Scope, delta: Delta, every_slice: str | None) -> PairedSample:
    values = scope.comparison.values[scope.variant_name, delta.metric]
    mask = slice_mask(scope, delta, every_slice, values.paired.size)
    if delta.statistic == "loss_rate":
        metrics = scope.comparison.metrics
        metric = next(m for m in metrics if m.name == delta.metric)
        threshold, direction = metric.threshold or 0.0, metric.direction or "higher"
        values = loss_values(values, threshold, direction)
    return metric_sample(values, mask)
