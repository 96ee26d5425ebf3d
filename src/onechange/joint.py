"""Deltas that decide about each of several variants, at the simultaneous level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onechange.breakdowns import SliceBreakdown, slice_deltas
from onechange.deltas import Delta
from onechange.families import Family, FamilyMember, adjust_family, question_units
from onechange.overall import at_level, overall_deltas, rate_deltas
from onechange.plan import BUILT_IN_RATES, Metric, Plan, SliceSpec, parse_slice
from onechange.statistic_deltas import Resamples, ResamplesKey
from onechange.values import VariantValues

__all__ = ["JointDelta", "joint_deltas"]


@dataclass(frozen=True, slots=True)
class JointDelta:
    """One delta with all its intervals at the level of its family.

    Parameters
    ----------
    delta : Delta
    confidence_level : float
        Level of each interval, at which those of all variants hold together.
    spec : SliceSpec or None
        Breakdown of a slice; None over all questions.
    joined : bool
        Whether it is about the joined small slices.
    """

    delta: Delta
    confidence_level: float
    spec: SliceSpec | None = None
    joined: bool = False


def joint_deltas(
    variants: Sequence[VariantValues],
    metrics: Sequence[Metric],
    plan: Plan,
    families: Sequence[Family],
) -> tuple[JointDelta, ...]:
    """Compute what the rules need about several variants, at the simultaneous level.

    Parameters
    ----------
    variants : sequence of VariantValues
        Each variant with its pairs.
    metrics : sequence of Metric
        Resolved metrics.
    plan : Plan
        Without rules nothing is decided, and nothing is computed.
    families : sequence of Family
        Say the levels: overall deltas and slices are families of their own.

    Returns
    -------
    tuple of JointDelta
        For a single variant: those of the primaries of which any may pass, else
        empty.
    """
    if len(variants) < 2:
        return _alternative_primaries(variants, metrics, plan)
    if not plan.has_rules:
        return ()
    levels = {family.scope: family.interval_level for family in families}
    found: list[JointDelta] = []
    overall = levels.get("overall") or plan.analysis.confidence_level
    resamples: dict[ResamplesKey, Resamples] = {}
    strict = at_level(variants, overall)
    found += [
        JointDelta(delta, overall)
        for delta in (
            *overall_deltas(strict, metrics, plan, resamples),
            *rate_deltas(strict, plan),
        )
    ]
    level = levels.get("slices") or plan.analysis.confidence_level
    strict = at_level(variants, level)
    specs = [
        parse_slice(rule.every_slice) for rule in plan.guardrails if rule.every_slice
    ]
    for spec in dict.fromkeys(specs):
        part: SliceBreakdown = slice_deltas(spec, strict, metrics, plan, resamples)
        found += [
            JointDelta(delta, level, spec) for delta in (*part.deltas, *part.rates)
        ]
        found += [JointDelta(delta, level, spec, joined=True) for delta in part.joined]
    return tuple(found)


def _alternative_primaries(
    variants: Sequence[VariantValues], metrics: Sequence[Metric], plan: Plan
) -> tuple[JointDelta, ...]:
    """Compute the primaries at the level at which their intervals hold together."""
    names = {primary.metric for primary in plan.primary}
    if plan.analysis.primaries != "any" or len(names) < 2:
        return ()
    chosen = [metric for metric in metrics if metric.name in names]

    def deltas(of: Sequence[VariantValues]) -> list[Delta]:
        return [
            delta
            for delta in (*overall_deltas(of, chosen, plan, {}), *rate_deltas(of, plan))
            if delta.metric in names and delta.statistic in ("mean", "ratio")
        ]

    members = [FamilyMember(delta, 0) for delta in deltas(variants)]
    units = question_units(variants, plan.columns.cluster)
    _, family = adjust_family(
        [member for member in members if member.delta.metric not in BUILT_IN_RATES],
        variants,
        units,
        plan.analysis,
        scope="overall",
    )
    rates = sum(member.delta.metric in BUILT_IN_RATES for member in members)
    level = family.interval_level if family else None
    if level is None or rates:  # rates are outside the flips: by Bonferroni
        level = 1 - (1 - plan.analysis.confidence_level) / len(names)
    strict = at_level(variants, level)
    return tuple(JointDelta(delta, level) for delta in deltas(strict))
