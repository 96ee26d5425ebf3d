"""The same `Delta` for each slice of a breakdown, and what slices say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onechange.delta import Delta, metric_delta
from onechange.display import metric_decimals, rule_thresholds
from onechange.families import Family, FamilyMember, adjust_family
from onechange.plan import Guardrail, Metric, Plan, SliceSpec, parse_slice
from onechange.score_bounds import statistic_bounds
from onechange.slice_effects import (
    reversals,
    slice_heterogeneity,
)
from onechange.slice_sizes import is_small, joined_slice, marked_small
from onechange.slice_tables import SliceBreakdown, SliceTable
from onechange.slice_weights import weighted_delta
from onechange.slices import Slice, SliceLabel, slice_questions
from onechange.statistic_deltas import (
    Resamples,
    ResamplesKey,
    asked_statistics,
    further_deltas,
    ratio_metric_delta,
)
from onechange.values import RATES, VariantValues

__all__ = ["SliceBreakdown", "SliceTable", "break_down", "slice_deltas"]

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


def break_down(
    variants: Sequence[VariantValues],
    metrics: Sequence[Metric],
    plan: Plan,
    overall: Sequence[Delta],
    units: Sequence[IntArray],
    resamples: dict[ResamplesKey, Resamples],
) -> tuple[SliceTable, Family | None]:
    """Compute every breakdown of the plan, and adjust all slices together.

    Parameters
    ----------
    variants : sequence of VariantValues
        Each variant with its pairs.
    metrics : sequence of Metric
        Resolved metrics.
    plan : Plan
        Slices with fewer pairs than its minimum are shown but marked; further
        statistics are computed where an every-slice guardrail asks for them.
    overall : sequence of Delta
        The deltas over all questions.
    units : sequence of ndarray of int
        From `question_units`.
    resamples : dict
        Gains the resamples of each quantile.

    Returns
    -------
    breakdowns : SliceTable
        In the order of the plan.
    family : Family or None
        All slices at or above the minimum size × all metrics × all variants.
    """
    members: list[FamilyMember] = []
    raw: list[SliceBreakdown] = []
    parts = {}
    for spec in plan.slices:
        parts[spec] = [slice_questions(v.pairs, spec) for v in variants]
        raw.append(slice_deltas(spec, variants, metrics, plan, resamples, parts[spec]))
        members += _members(raw[-1], variants, parts[spec])
    adjusted, family = adjust_family(
        members, variants, units, plan.analysis, scope="slices"
    )
    decimals = _decimals(plan, overall, raw)
    of = {_key(m.spec, m.delta): d for m, d in zip(members, adjusted, strict=True)}
    found = []
    for breakdown in raw:
        deltas = [of.get(_key(breakdown.spec, d), d) for d in breakdown.deltas]
        found.append(
            _finished(
                replace(breakdown, deltas=tuple(deltas)),
                variants,
                metrics,
                plan,
                overall,
                parts[breakdown.spec],
                decimals,
            )
        )
    return SliceTable(found), family


def _key(
    spec: SliceSpec | None, delta: Delta
) -> tuple[SliceSpec | None, str, str, str, SliceLabel | None]:
    return spec, delta.metric, delta.statistic, delta.variant_name, delta.slice


def slice_deltas(
    spec: SliceSpec,
    variants: Sequence[VariantValues],
    metrics: Sequence[Metric],
    plan: Plan,
    resamples: dict[ResamplesKey, Resamples],
    parts: Sequence[Sequence[Slice]] | None = None,
) -> SliceBreakdown:
    """Compute the deltas of one breakdown, nothing adjusted.

    Parameters
    ----------
    spec : SliceSpec
    variants : sequence of VariantValues
    metrics : sequence of Metric
    plan : Plan
    resamples : dict
        Gains the resamples of each quantile.
    parts : sequence of sequence of Slice, optional
        The slices of each variant, where they are at hand.

    Returns
    -------
    SliceBreakdown
        With the joined small slices of metrics that must hold in every slice.
    """
    if parts is None:
        parts = [slice_questions(variant.pairs, spec) for variant in variants]
    rules = _rules_of(plan, spec)
    asked = asked_statistics(rules)
    joined_metrics = {rule.metric for rule in rules}
    deltas: list[Delta] = []
    joined: list[Delta] = []
    for metric in metrics:
        statistics = ("mean", *asked.get(metric.name, ()))
        for variant, slices in zip(variants, parts, strict=True):
            found = [
                marked_small(delta, plan.analysis.min_slice)
                for statistic in statistics
                for part in slices
                for delta in _deltas(variant, metric, statistic, part, resamples)
            ]
            if metric.name in joined_metrics:
                found = _with_bounds(found, variant, metric, plan, slices)
            deltas.extend(sorted(found, key=_worst_first))
            if metric.name in joined_metrics:
                small = joined_slice(spec, slices, found, plan.analysis.min_slice)
                together = [
                    marked_small(delta, plan.analysis.min_slice)
                    for statistic in statistics
                    if small is not None
                    for delta in _deltas(variant, metric, statistic, small, resamples)
                ]
                if small is not None:
                    joined += _with_bounds(together, variant, metric, plan, [small])
    rates, joined_rates = _slice_rates(spec, variants, plan, joined_metrics, parts)
    return SliceBreakdown(
        spec=spec,
        deltas=tuple(deltas),
        joined=(*joined, *joined_rates),
        rates=rates,
    )


def _slice_rates(
    spec: SliceSpec,
    variants: Sequence[VariantValues],
    plan: Plan,
    asked: AbstractSet[str],
    parts: Sequence[Sequence[Slice]],
) -> tuple[tuple[Delta, ...], tuple[Delta, ...]]:
    """Compute the built-in rates in every slice, and in the small ones joined."""
    least = plan.analysis.min_slice
    found: list[Delta] = []
    joined: list[Delta] = []
    for variant, slices in zip(variants, parts, strict=True):
        for name in sorted(asked & variant.rates.keys()):
            rows = [_slice_rate(variant, name, part, least) for part in slices]
            found += sorted(rows, key=_worst_first)
            small = joined_slice(spec, slices, rows, least)
            if small is not None:
                joined.append(_slice_rate(variant, name, small, least))
    return tuple(found), tuple(joined)


def _slice_rate(variant: VariantValues, name: str, part: Slice, least: int) -> Delta:
    delta = metric_delta(
        name,
        RATES[name],
        variant.rates[name],
        variant.methods[name],
        questions=part.questions,
        slice_label=part.label,
        variant_name=variant.name,
    )
    return marked_small(delta, least)


def _rules_of(plan: Plan, spec: SliceSpec) -> list[Guardrail]:
    """Keep the guardrails that must hold in every slice of this breakdown."""
    return [
        rule
        for rule in plan.guardrails
        if rule.every_slice is not None and parse_slice(rule.every_slice) == spec
    ]


def _deltas(
    variant: VariantValues,
    metric: Metric,
    statistic: str,
    part: Slice,
    resamples: dict[ResamplesKey, Resamples],
) -> list[Delta]:
    if statistic != "mean":
        return further_deltas(
            variant,
            metric,
            [statistic],
            resamples,
            questions=part.questions,
            slice_label=part.label,
        )
    if metric.numerator is not None:
        return [
            ratio_metric_delta(
                variant, metric, questions=part.questions, slice_label=part.label
            )
        ]
    return [
        metric_delta(
            metric.name,
            metric.direction or "higher",
            variant.metrics[metric.name],
            variant.methods[metric.name],
            questions=part.questions,
            slice_label=part.label,
            variant_name=variant.name,
        )
    ]


def _with_bounds(
    deltas: Sequence[Delta],
    variant: VariantValues,
    metric: Metric,
    plan: Plan,
    slices: Sequence[Slice],
) -> list[Delta]:
    """Add what missing scores could do, for rules that must hold in every slice."""
    masks = {part.label: part.questions for part in slices}
    whole = plan.analysis.bounds == "all"
    found = []
    for delta in deltas:
        mask, statistic = masks[delta.slice or ()], delta.statistic
        limits = statistic_bounds(
            variant, metric, statistic, everything=whole, questions=mask
        )
        found.append(replace(delta, bounds=limits))
    return found


def _members(
    breakdown: SliceBreakdown,
    variants: Sequence[VariantValues],
    parts: Sequence[Sequence[Slice]],
) -> list[FamilyMember]:
    """Collect the tests of all slices that are large enough, slice by slice."""
    position = {variant.name: i for i, variant in enumerate(variants)}
    masks = [{part.label: part.questions for part in slices} for slices in parts]
    members = [
        FamilyMember(d, i, breakdown.spec, masks[i][d.slice or ()])
        for d in breakdown.deltas
        for i in [position[d.variant_name]]
        if d.statistic in ("mean", "ratio") and d.n_pairs and not is_small(d)
    ]
    return sorted(members, key=lambda m: (m.variant, m.delta.slice or ()))


def _finished(
    breakdown: SliceBreakdown,
    variants: Sequence[VariantValues],
    metrics: Sequence[Metric],
    plan: Plan,
    overall: Sequence[Delta],
    parts: Sequence[Sequence[Slice]],
    decimals: Mapping[str, int],
) -> SliceBreakdown:
    """Add what the slices say together."""
    heterogeneity, weighted = [], []
    weights = plan.weights.get(breakdown.spec.text)
    for variant, slices in zip(variants, parts, strict=True):
        for metric in metrics:
            if metric.numerator is not None:
                continue
            rows = [
                d
                for d in breakdown.deltas
                if d.metric == metric.name
                and d.variant_name == variant.name
                and d.statistic == "mean"
                and d.n_pairs
            ]
            if not rows:
                continue
            masks = {part.label: part.questions for part in slices}
            large = [
                (d.slice or (), masks[d.slice or ()]) for d in rows if not is_small(d)
            ]
            found = slice_heterogeneity(variant, metric.name, large, plan.analysis)
            heterogeneity += [] if found is None else [found]
            if weights is not None:
                weighted.append(weighted_delta(variant, metric, rows, masks, weights))
    shown = reversals(breakdown.deltas, overall)
    notes = {
        (r.metric, r.variant_name, r.slice): r.note(
            decimals[r.metric], several=len(variants) > 1
        )
        for r in shown
    }
    marked = []
    for d in breakdown.deltas:
        note = notes.get((d.metric, d.variant_name, d.slice or ()))
        on = note is not None and d.statistic == "mean"
        marked.append(replace(d, notes=(*d.notes, note)) if on and note else d)
    return replace(
        breakdown,
        deltas=tuple(marked),
        heterogeneity=tuple(heterogeneity),
        reversals=shown,
        weighted=tuple(weighted),
    )


def _decimals(
    plan: Plan, overall: Sequence[Delta], raw: Sequence[SliceBreakdown]
) -> dict[str, int]:
    """Choose the decimals that the report will use."""
    spread = {rule.metric for rule in plan.guardrails if rule.every_slice}
    parts = [d for b in raw for d in b.deltas if d.metric in spread]
    thresholds = rule_thresholds(plan.primary, plan.guardrails)
    return metric_decimals((*overall, *parts), thresholds)


def _worst_first(delta: Delta) -> tuple[bool, str, float, SliceLabel]:
    """Sort the means first, then each further statistic, by worsening."""
    gain = float("inf")
    if delta.delta is not None:
        gain = delta.delta if delta.direction == "higher" else -delta.delta
    further = delta.statistic not in ("mean", "ratio")
    return further, delta.statistic, gain, delta.slice or ()
