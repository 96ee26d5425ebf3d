"""Calls the parts for every metric -> `Comparison`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from onechange import __version__, display
from onechange.align import Audit, Pairs, align
from onechange.breakdowns import SliceBreakdown, break_down
from onechange.comparison import ArmSummary, Comparison
from onechange.composition import compositions
from onechange.delta import MetricValues
from onechange.deltas import Delta, DeltaTable
from onechange.errors import PairingError
from onechange.evidence import diagnoses, labelled_metrics
from onechange.families import Family, question_units, sampling_notes
from onechange.joint import joint_deltas
from onechange.judge import LabelledMetric
from onechange.overall import (
    adjust_overall,
    overall_deltas,
    rate_deltas,
    with_compositions,
)
from onechange.plan import Analysis, Plan, check_columns, resolve_metrics
from onechange.read import read
from onechange.results import Results
from onechange.statistic_deltas import Resamples, ResamplesKey
from onechange.sweep import sweep
from onechange.trials import ArmTrials, MetricTrials, TrialsTable
from onechange.values import VariantValues, variant_values

if TYPE_CHECKING:
    import pandas as pd

    Source = str | Path | Results | pd.DataFrame

__all__ = [
    "ArmSummary",
    "ArmTrials",
    "Comparison",
    "MetricTrials",
    "SliceBreakdown",
    "compare",
]


def compare(
    baseline: Source,
    variant: Source | Sequence[Source] | Mapping[str, Source],
    plan: Plan | None = None,
    *,
    baseline_name: str | None = None,
    variant_name: str | None = None,
) -> Comparison:
    """Compare the per-question results of a baseline with those of a variant.

    Parameters
    ----------
    baseline, variant : path, DataFrame or Results
        One arm each, as `read` takes it. A sequence, or a mapping from name to
        source, as `variant` compares several variants with the one baseline.
    plan : Plan, optional
        Metrics, slices, guardrails and settings of the analysis.
    baseline_name, variant_name : str, optional
        Names of the arms in reports.

    Returns
    -------
    Comparison

    Raises
    ------
    OnechangeError
        When a source cannot be read, the arms share no question, or the plan names
        something that is not in the data.

    Examples
    --------
    >>> import pandas as pd
    >>> import onechange as oc
    >>> ids = [f"q{i}" for i in range(8)]
    >>> before = pd.DataFrame({"question_id": ids, "correct": [0, 1, 0, 0, 1, 0, 0, 1]})
    >>> after = pd.DataFrame({"question_id": ids, "correct": [1, 1, 1, 0, 1, 1, 1, 1]})
    >>> comparison = oc.compare(before, after)
    >>> delta = comparison.deltas[0]
    >>> delta.metric, delta.n_pairs, delta.delta
    ('correct', 8, 0.5)
    """
    plan = plan or Plan()
    base = _arm(baseline, plan, baseline_name or "baseline")
    arms = _variants(variant, plan, variant_name)
    _check_columns(plan, (base, *arms))
    aligned = [align(base, arm, columns=plan.columns) for arm in arms]
    audits = tuple(audit for _, audit in aligned)
    summary, summaries = _summary(base, audits[0].trials[0]), _summaries(arms, audits)
    del base, arms  # a million ids take much room; from here on the pairs are enough
    texts = {label for pairs, _ in aligned for label in pairs.labels}
    metrics, notes = resolve_metrics(plan, _metric_names(audits), texts=texts)
    _check_measured(audits, texts)
    variants = [
        variant_values(arm.name, pairs, metrics, plan)
        for arm, (pairs, _) in zip(summaries, aligned, strict=True)
    ]
    resamples: dict[ResamplesKey, Resamples] = {}
    units = question_units(variants, plan.columns.cluster)
    adjusted, overall_family = adjust_overall(
        overall_deltas(variants, metrics, plan, resamples), variants, units, plan
    )
    breakdowns, slice_family = break_down(
        variants, metrics, plan, adjusted, units, resamples
    )
    families = tuple(f for f in (overall_family, slice_family) if f is not None)
    mixes = compositions(variants, adjusted, plan.slices)
    deltas = with_compositions(adjusted, mixes, plan)
    settings = [arm.settings for arm in (summary, *summaries)]
    swept = sweep(variants, settings, deltas, breakdowns, plan)
    told = (*notes, *([] if swept is None else [swept.note]))
    labelled = labelled_metrics(variants, metrics, plan, summary.name)
    return Comparison(
        baseline=summary,
        variants=summaries,
        audits=audits,
        pairs=tuple(pairs for pairs, _ in aligned),
        metrics=metrics,
        plan=plan,
        deltas=DeltaTable(deltas),
        rates=DeltaTable(rate_deltas(variants, plan)),
        slices=breakdowns,
        trials=TrialsTable(t for part in variants for t in part.trials.values()),
        notes=(*told, *sampling_notes(families)),
        signature=_signature(*aligned[0], deltas, plan, families, labelled),
        families=families,
        compositions=mixes,
        sweep=swept,
        joint=joint_deltas(variants, metrics, plan, families),
        resamples=resamples,
        diagnoses=diagnoses(variants, metrics, plan),
        labelled=labelled,
        values=_values_by_name(variants),
    )


def _check_columns(plan: Plan, arms: Sequence[Results]) -> None:
    check_columns(
        plan,
        labels={name for arm in arms for name in arm.labels},
        numbers={name for arm in arms for name in arm.metrics},
        settings={name for arm in arms for name in arm.settings},
    )


def _values_by_name(
    variants: Sequence[VariantValues],
) -> dict[tuple[str, str], MetricValues]:
    return {
        (part.name, name): values
        for part in variants
        for name, values in (*part.metrics.items(), *part.rates.items())
    }


def _arm(source: Source, plan: Plan, name: str) -> Results:
    if isinstance(source, Results):
        return source
    return read(source, columns=plan.columns, name=name)


def _variants(
    variant: Source | Sequence[Source] | Mapping[str, Source],
    plan: Plan,
    name: str | None,
) -> list[Results]:
    named: list[tuple[str, Any]]
    if isinstance(variant, Mapping):
        named = list(variant.items())
    elif isinstance(variant, (list, tuple)):
        named = [(_source_name(source, i), source) for i, source in enumerate(variant)]
    else:
        named = [(name or "variant", variant)]
    arms = [_arm(source, plan, label) for label, source in named]
    names = [arm.name for arm in arms]
    if not names:
        raise PairingError("no variant is given; pass at least one to compare with.")
    if len(set(names)) < len(names):
        raise PairingError(
            f"the variants are named {', '.join(names)}; pass a mapping with one "
            "distinct name per variant."
        )
    return arms


def _source_name(source: Source, position: int) -> str:
    if isinstance(source, (str, Path)):
        return Path(source).stem
    return source.name if isinstance(source, Results) else f"variant {position + 1}"


def _check_measured(audits: Sequence[Audit], texts: set[str]) -> None:
    """Refuse arms in which nothing is measured."""
    if not _metric_names(audits):
        raise PairingError(
            "no metric in the data: no column holds numbers, true or false. Columns "
            f"of text: {', '.join(sorted(texts)) or 'none'}; turn words such as yes "
            "and no into 1 and 0 first."
        )


def _metric_names(audits: Sequence[Audit]) -> list[str]:
    """Metrics of every pair of arms, in the order of their first appearance."""
    return list(dict.fromkeys(name for audit in audits for name in audit.metrics))


def _summaries(
    arms: Sequence[Results], audits: Sequence[Audit]
) -> tuple[ArmSummary, ...]:
    return tuple(
        _summary(arm, audit.trials[1]) for arm, audit in zip(arms, audits, strict=True)
    )


def _summary(arm: Results, n_trials: int) -> ArmSummary:
    return ArmSummary(
        name=arm.name,
        files=arm.files,
        n_rows=arm.n_rows,
        n_trials=n_trials,
        settings=arm.settings,
    )


def _signature(
    pairs: Pairs,
    audit: Audit,
    deltas: Sequence[Delta],
    plan: Plan,
    families: Sequence[Family],
    labelled: Sequence[LabelledMetric],
) -> str:
    # What human labels correct comes first: rules apply to it.
    ruled = [one.corrected for one in labelled]
    computed = [delta for delta in (*ruled, *deltas) if delta.delta is not None]
    intervals = _interval_methods(computed, plan)
    tests = [delta.test for delta in computed if delta.test]
    drawn = [
        *(test.n_resamples for test in tests),
        *(delta.interval.n_resamples for delta in computed if delta.interval),
        *(family.n_resamples for family in families),
    ]
    clusters = pairs.clusters
    return display.signature(
        n=audit.paired,
        trials=audit.trials,
        clusters=None
        if clusters is None
        else int(np.unique(clusters[pairs.paired]).size),
        intervals=intervals,
        confidence_level=plan.analysis.confidence_level,
        tests=[test.method for test in tests],
        statistics=_statistics(computed, plan),
        seed=plan.analysis.seed if any(drawn) else None,
        resampling=_resampling(plan.analysis),
        plan_sha256=plan.sha256,
        version=__version__,
    )


def _interval_methods(deltas: Sequence[Delta], plan: Plan) -> list[str]:
    """Names of the intervals; those of margins in percent are relative ones."""
    shares = {
        (rule.metric, rule.statistic)
        for rule in plan.guardrails
        if isinstance(rule.margin, str)
    }
    found = [delta.interval for delta in deltas]
    for delta in deltas:
        asked = "mean" if delta.statistic == "ratio" else delta.statistic
        if (delta.metric, asked) in shares and delta.relative is not None:
            found.append(delta.relative.interval)
    return [interval.method for interval in found if interval is not None]


def _resampling(analysis: Analysis) -> str | None:
    """Name how bootstrap intervals resample, where that is not the usual way."""
    if analysis.resampling == "multinomial":
        return None
    of = "" if analysis.strata is None else f"({analysis.strata})"
    return analysis.resampling + of


def _statistics(deltas: Sequence[Delta], plan: Plan) -> list[str]:
    """Statistics of the deltas; those that a rule of the plan is about come first."""
    asked = {(rule.metric, "mean") for rule in plan.primary}
    asked |= {(rule.metric, rule.statistic) for rule in plan.guardrails}
    asked |= {(metric, "ratio") for metric, statistic in asked if statistic == "mean"}
    asked |= {(delta.metric, "corrected") for delta in deltas}
    ruled = [d.statistic for d in deltas if (d.metric, d.statistic) in asked]
    return [*ruled, *(delta.statistic for delta in deltas)] or ["mean"]
