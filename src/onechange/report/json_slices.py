"""JSON of what slices, families of tests and run means say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from onechange.breakdowns import SliceBreakdown
from onechange.composition import Composition
from onechange.families import Family
from onechange.report.json_values import (
    Json,
    interval_json,
    notes_json,
    number_json,
    outcome_json,
    plain_json,
    pvalue_json,
    slice_json,
)
from onechange.slice_effects import Reversal, SliceHeterogeneity
from onechange.slice_weights import WeightedDelta
from onechange.sweep import Sweep

__all__ = ["breakdowns_json", "composition_json", "family_json", "sweep_json"]


def breakdowns_json(
    breakdowns: Sequence[SliceBreakdown], *, several: bool
) -> dict[str, Json]:
    """Write what each breakdown says as a whole, by its name.

    Parameters
    ----------
    breakdowns : sequence of SliceBreakdown
    several : bool
        Whether there are several variants: p-values of heterogeneity then stand by
        metric and variant.
    """
    names = Counter(breakdown.spec.name for breakdown in breakdowns)
    return {
        b.spec.name if names[b.spec.name] == 1 else b.spec.text: _breakdown(b, several)
        for b in breakdowns
    }


def family_json(family: Family) -> Json:
    """Write which tests were adjusted together."""
    return {
        "scope": family.scope,
        "adjust": family.adjust,
        "n_tests": family.n_tests,
        "n_metrics": family.n_metrics,
        "n_slices": family.n_slices,
        "n_variants": family.n_variants,
        "breakdowns": list(family.breakdowns),
        "critical": number_json(family.critical),
        "interval_level": number_json(family.interval_level),
        "n_resamples": family.n_resamples,
        "monte_carlo_error": number_json(family.monte_carlo_error),
        "seed": family.seed,
    }


def composition_json(part: Composition) -> Json:
    """Write the difference of the run means beside the paired delta."""
    return {
        "metric": part.metric,
        "variant_name": part.variant_name,
        "baseline": number_json(part.baseline),
        "variant": number_json(part.variant),
        "n_baseline": part.n_baseline,
        "n_variant": part.n_variant,
        "difference": number_json(part.difference),
        "delta": number_json(part.delta),
        "differs": part.differs,
        "n_one_arm": part.n_one_arm,
        "questions": [
            {
                "question_id": question.question_id,
                "arm": question.arm,
                "score": number_json(question.score),
                "shift": number_json(question.shift),
            }
            for question in part.questions
        ],
        "mixes": {
            name: [
                {
                    "label": row.label,
                    "n_questions": row.n_questions,
                    "n_pairs": row.n_pairs,
                    "n_baseline": row.n_baseline,
                    "n_variant": row.n_variant,
                }
                for row in rows
            ]
            for name, rows in part.mixes
        },
    }


def sweep_json(swept: Sweep | None) -> Json | None:
    """Write what several variants say together; null for one."""
    if swept is None:
        return None
    return {
        "setting": swept.setting,
        "numeric": swept.numeric,
        "baseline_value": plain_json(swept.baseline_value),
        "values": [
            {"variant_name": name, "value": plain_json(value)}
            for name, value in swept.values
        ],
        "best": [
            {
                "metric": best.metric,
                "direction": best.direction,
                "slice": slice_json(best.slice),
                "variant_name": best.variant_name,
                "n_pairs": best.n_pairs,
                "delta": number_json(best.delta),
                "simultaneous_interval": interval_json(best.interval),
                "pvalue_adjusted": pvalue_json(best.pvalue_adjusted),
                "shown": best.shown,
            }
            for best in swept.best
        ],
        "related": {metric: outcome_json(test, None) for metric, test in swept.related},
    }


def _breakdown(breakdown: SliceBreakdown, several: bool) -> Json:
    pvalues: Json = {}
    for found in breakdown.heterogeneity:
        pvalue = pvalue_json(found.test.pvalue)
        if several:
            pvalues.setdefault(found.metric, {})[found.variant_name] = pvalue
        else:
            pvalues[found.metric] = pvalue
    return {
        "columns": list(breakdown.spec.columns),
        "cuts": [number_json(cut) for cut in breakdown.spec.cuts],
        "heterogeneity_pvalue": pvalues,
        "heterogeneity": [_heterogeneity(found) for found in breakdown.heterogeneity],
        "reversals": [_reversal(r) for r in breakdown.reversals if r.shown],
        "opposite_signs": [_reversal(r) for r in breakdown.reversals if not r.shown],
        "weighted": [_weighted(found) for found in breakdown.weighted],
        "notes": notes_json(breakdown.notes),
    }


def _heterogeneity(found: SliceHeterogeneity) -> Json:
    return {
        "metric": found.metric,
        "variant_name": found.variant_name,
        "test": outcome_json(found.test, None),
        "df": found.df,
        "i2": number_json(found.i2),
        "tau2": number_json(found.tau2),
        "between_slice_sd": number_json(found.tau2**0.5),
        "pooled_delta": number_json(found.pooled_delta),
        "shrunken": [
            {"slice": slice_json(label), "delta": number_json(delta)}
            for label, delta in found.shrunken
        ],
    }


def _reversal(reversal: Reversal) -> Json:
    return {
        "metric": reversal.metric,
        "variant_name": reversal.variant_name,
        "slice": slice_json(reversal.slice),
        "delta": number_json(reversal.delta),
        "overall": number_json(reversal.overall),
        "simultaneous_interval": interval_json(reversal.interval),
    }


def _weighted(found: WeightedDelta) -> Json:
    return {
        "metric": found.metric,
        "variant_name": found.variant_name,
        "kind": found.kind,
        "weights": {label: number_json(weight) for label, weight in found.weights},
        "baseline": number_json(found.baseline),
        "variant": number_json(found.variant),
        "delta": number_json(found.delta),
        "interval": interval_json(found.interval),
        "reason": found.reason,
        "left_out": list(found.left_out),
    }
