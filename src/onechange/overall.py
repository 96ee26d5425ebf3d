"""The deltas over all questions: metrics, rates, adjusted together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onechange import display
from onechange.composition import Composition
from onechange.delta import metric_delta
from onechange.deltas import Bounds, Delta
from onechange.families import Family, FamilyMember, adjust_family
from onechange.ledger import HIGH_MISSING_SHARE
from onechange.plan import Metric, Plan
from onechange.score_bounds import statistic_bounds
from onechange.statistic_deltas import (
    Resamples,
    ResamplesKey,
    asked_statistics,
    further_deltas,
    ratio_metric_delta,
)
from onechange.stats import choose
from onechange.stats.estimate import Note
from onechange.values import RATES, VariantValues

__all__ = [
    "adjust_overall",
    "at_level",
    "overall_deltas",
    "rate_deltas",
    "with_compositions",
]


def overall_deltas(
    variants: Sequence[VariantValues],
    metrics: Sequence[Metric],
    plan: Plan,
    resamples: dict[ResamplesKey, Resamples],
) -> list[Delta]:
    """Compute every metric over all questions, with the statistics rules ask for.

    Parameters
    ----------
    variants : sequence of VariantValues
        Each variant with its pairs.
    metrics : sequence of Metric
        Resolved metrics.
    plan : Plan
        Its guardrails may ask for quantiles and loss rates.
    resamples : dict
        Gains the resamples of each quantile.

    Returns
    -------
    list of Delta
        Metric by metric, variant by variant.
    """
    asked = asked_statistics(plan.guardrails)
    return [
        _with_margin_note(delta, plan)
        for metric in metrics
        for part in variants
        for delta in (
            _overall_delta(part, metric, everything=plan.analysis.bounds == "all"),
            *further_deltas(part, metric, asked.get(metric.name, ()), resamples),
        )
    ]


def rate_deltas(variants: Sequence[VariantValues], plan: Plan) -> list[Delta]:
    """Compute the built-in rates of every variant."""
    return [
        _with_margin_note(
            metric_delta(
                name,
                RATES[name],
                variant.rates[name],
                variant.methods[name],
                variant_name=variant.name,
            ),
            plan,
        )
        for variant in variants
        for name in variant.rates
    ]


def at_level(
    variants: Sequence[VariantValues], confidence_level: float
) -> list[VariantValues]:
    """Ask for all intervals at another level.

    Parameters
    ----------
    variants : sequence of VariantValues
    confidence_level : float
        Two-sided level of each interval.
    """
    return [
        replace(
            variant,
            methods={
                name: replace(methods, confidence_level=confidence_level)
                for name, methods in variant.methods.items()
            },
        )
        for variant in variants
    ]


def adjust_overall(
    deltas: list[Delta],
    variants: Sequence[VariantValues],
    units: Sequence[NDArray[np.int64]],
    plan: Plan,
) -> tuple[list[Delta], Family | None]:
    """Adjust the deltas of all metrics and variants over all questions together.

    Parameters
    ----------
    deltas : list of Delta
        From `overall_deltas`.
    variants : sequence of VariantValues
    units : sequence of ndarray of int
        From `question_units`.
    plan : Plan

    Returns
    -------
    deltas : list of Delta
    family : Family or None
        None when there is a single test.
    """
    position = {variant.name: i for i, variant in enumerate(variants)}
    tested = [i for i, d in enumerate(deltas) if d.statistic in ("mean", "ratio")]
    found, family = adjust_family(
        [FamilyMember(deltas[i], position[deltas[i].variant_name]) for i in tested],
        variants,
        units,
        plan.analysis,
        scope="overall",
    )
    adjusted = list(deltas)
    for i, delta in zip(tested, found, strict=True):
        adjusted[i] = delta
    return adjusted, family


def with_compositions(
    deltas: Sequence[Delta], mixes: Sequence[Composition], plan: Plan
) -> tuple[Delta, ...]:
    """Add a note where run means tell another story than the paired delta.

    Parameters
    ----------
    deltas : sequence of Delta
    mixes : sequence of Composition
    plan : Plan
        Its rules have a say in how figures are rounded.

    Returns
    -------
    tuple of Delta
    """
    decimals = display.metric_decimals(
        deltas, display.rule_thresholds(plan.primary, plan.guardrails)
    )
    notes = {
        (mix.metric, mix.variant_name): mix.note(decimals[mix.metric])
        for mix in mixes
        if mix.differs
    }
    found = []
    for delta in deltas:
        note = notes.get((delta.metric, delta.variant_name))
        means = note is not None and delta.statistic == "mean"
        found.append(
            replace(delta, notes=(*delta.notes, note)) if note and means else delta
        )
    return tuple(found)


def _with_margin_note(delta: Delta, plan: Plan) -> Delta:
    """Note an interval that was asked for and is not for margins in percent."""
    name = plan.analysis.interval
    if delta.statistic not in ("mean", "loss_rate") or delta.relative is None:
        return delta
    if choose.relative_name(name) == name:
        return delta
    margins = [
        rule.margin
        for rule in plan.guardrails
        if (rule.metric, rule.statistic) == (delta.metric, delta.statistic)
        and isinstance(rule.margin, str)
        and rule.rule == "interval"
    ]
    if not margins:
        return delta
    subject = f"The margin {margins[0]} of {delta.metric}"
    reason = "is not for relative deltas"
    note = choose.misfit_note(subject, "interval", name, reason)
    return replace(delta, notes=(*delta.notes, note))


def _overall_delta(
    variant: VariantValues, metric: Metric, *, everything: bool
) -> Delta:
    if metric.numerator is not None:
        delta = ratio_metric_delta(variant, metric)
    else:
        delta = metric_delta(
            metric.name,
            metric.direction or "higher",
            variant.metrics[metric.name],
            variant.methods[metric.name],
            variant_name=variant.name,
        )
    limits = statistic_bounds(variant, metric, "mean", everything=everything)
    return delta if limits is None else _with_bounds(delta, limits)


def _with_bounds(delta: Delta, limits: Bounds) -> Delta:
    """Add the bounds, and note that many questions lack a score."""
    notes = delta.notes
    if limits.share_incomplete > HIGH_MISSING_SHARE:
        text = (
            f"{display.format_percent(limits.share_incomplete, 0)} of "
            f"{display.format_count(limits.n_questions)} questions lack a score of "
            f"{delta.metric} in an arm."
        )
        notes = (*notes, Note("high-missing-share", text))
    return replace(delta, bounds=limits, notes=notes)
