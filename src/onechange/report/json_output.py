"""JSON output, schema 1: full precision, unknown is null, never NaN."""

from __future__ import annotations

import json

from onechange import __version__
from onechange.align import Audit
from onechange.compare import ArmSummary, Comparison
from onechange.decide import Decision, Decisions, RuleStatus
from onechange.delta import Bounds, Delta, RelativeDelta
from onechange.plan import Plan
from onechange.report.context import comparison_of, decision_of
from onechange.report.json_diagnosis import diagnosis_json, labelled_json
from onechange.report.json_slices import (
    breakdowns_json,
    composition_json,
    family_json,
    sweep_json,
)
from onechange.report.json_trials import trials_json
from onechange.report.json_values import (
    Json,
    interval_json,
    notes_json,
    number_json,
    numbers_json,
    outcome_json,
    plain_json,
    pvalue_json,
    slice_json,
)
from onechange.sensitivity import Fragility, TippingPoint

__all__ = ["SCHEMA", "audit_plain", "delta_json", "to_json", "to_plain"]

SCHEMA = 1


def to_json(result: Comparison | Decision | Decisions) -> str:
    """Write a comparison or decision as JSON, schema 1.

    Parameters
    ----------
    result : Comparison, Decision or Decisions
        What `compare`, `decide` or `decide_each` returned.

    Returns
    -------
    str
        Indented JSON that ends with a line break. Equal results give equal bytes.

    Notes
    -----
    Described field by field in ``docs/json-output.md``, as a JSON schema in
    ``docs/schema-1.json``.
    """
    return (
        json.dumps(to_plain(result), indent=2, ensure_ascii=False, allow_nan=False)
        + "\n"
    )


def to_plain(result: Comparison | Decision | Decisions) -> Json:
    """Return the same content as nested dictionaries and lists.

    Parameters
    ----------
    result : Comparison, Decision or Decisions
        What `compare`, `decide` or `decide_each` returned.

    Returns
    -------
    dict
        Plain values only, in the order in which they are written.
    """
    comparison, decision = comparison_of(result), decision_of(result)
    plan = comparison.plan if isinstance(result, Comparison) else result.plan
    decided: Json | list[Json] | None = (
        None if decision is None else _decision(decision)
    )
    if isinstance(result, Decisions):
        decided = [_decision(each) for each in result]
    audits = [audit_plain(audit) for audit in comparison.audits]
    parts = [d for b in comparison.slices for d in (*b.deltas, *b.rates, *b.joined)]
    return {
        "schema": SCHEMA,
        "version": __version__,
        "inputs": {
            "baseline": _arm(comparison.baseline),
            "variants": [_arm(arm) for arm in comparison.variants],
        },
        "plan_sha256": plan.sha256,
        "plan": _plan(plan),
        "audit": audits[0] if len(audits) == 1 else audits,
        "deltas": [
            delta_json(d) for d in (*comparison.deltas, *comparison.rates, *parts)
        ],
        "slices": breakdowns_json(
            comparison.slices, several=len(comparison.variants) > 1
        ),
        "families": [family_json(family) for family in comparison.families],
        "composition": [composition_json(part) for part in comparison.compositions],
        "sweep": sweep_json(comparison.sweep),
        "diagnosis": [diagnosis_json(d, delta_json) for d in comparison.diagnoses],
        "judge": [labelled_json(part, delta_json) for part in comparison.labelled],
        "trials": trials_json(comparison.trials, plan.analysis.confidence_level),
        "decision": decided,
        "notes": notes_json(comparison.notes),
        "signature": comparison.signature,
    }


# ---------------------------------------------------------------- inputs and audit


def _arm(arm: ArmSummary) -> Json:
    return {
        "name": arm.name,
        "files": [{"name": f.name, "sha256": f.sha256} for f in arm.files],
        "rows": arm.n_rows,
        "trials": arm.n_trials,
        "settings": plain_json(arm.settings),
    }


def _plan(plan: Plan) -> Json:
    change = plan.change
    return {
        "name": plan.name,
        "hypothesis": plan.hypothesis,
        "question_set": plan.question_set,
        "stage": plan.stage,
        "change": None
        if change is None
        else {
            "setting": change.setting,
            "from": plain_json(change.before),
            "to": plain_json(change.after),
        },
        "confidence_level": plan.analysis.confidence_level,
        "seed": plan.analysis.seed,
        "resampling": plan.analysis.resampling,
        "strata": plan.analysis.strata,
        "deviations": list(plan.deviations),
    }


def audit_plain(audit: Audit) -> Json:
    """Return the ledger of one variant as plain values."""
    return {
        "baseline": audit.baseline_name,
        "variant": audit.variant_name,
        "rows_read": _by_arm(audit.rows_read),
        "rows_by_status": {k: _by_arm(v) for k, v in audit.rows_by_status.items()},
        "rows_left_out": {k: _by_arm(v) for k, v in audit.rows_left_out.items()},
        "trials": _by_arm(audit.trials),
        "questions": {
            "baseline": audit.questions[0],
            "variant": audit.questions[1],
            "paired": audit.paired,
            "only_baseline": len(audit.only_baseline),
            "only_variant": len(audit.only_variant),
            "not_comparable": len(audit.not_comparable),
        },
        "question_ids": {
            "only_baseline": list(audit.only_baseline),
            "only_variant": list(audit.only_variant),
            "not_comparable": list(audit.not_comparable),
        },
        "metrics": {
            name: {
                "pairs": m.pairs,
                "unscored_baseline": m.unscored_baseline,
                "unscored_variant": m.unscored_variant,
                "unscored_both": m.unscored_both,
                "failed_baseline": m.failed_baseline,
                "failed_variant": m.failed_variant,
                "failed_both": m.failed_both,
            }
            for name, m in audit.metrics.items()
        },
        "settings_recorded": {
            "baseline": audit.settings_recorded[0],
            "variant": audit.settings_recorded[1],
        },
        "settings_changed": [
            {
                "setting": change.setting,
                "baseline": plain_json(change.baseline),
                "variant": plain_json(change.variant),
            }
            for change in audit.settings_changed
        ],
        "notes": notes_json(audit.notes),
    }


def _by_arm(counts: tuple[int, int]) -> Json:
    return {"baseline": counts[0], "variant": counts[1]}


# ---------------------------------------------------------------- deltas


def delta_json(delta: Delta) -> Json:
    """Write a delta with its intervals, test and counts."""
    table = delta.table
    return {
        "metric": delta.metric,
        "slice": slice_json(delta.slice),
        "statistic": delta.statistic,
        "direction": delta.direction,
        "n_pairs": delta.n_pairs,
        "n_clusters": delta.n_clusters,
        "largest_cluster_share": number_json(delta.largest_cluster_share),
        "design_effect": number_json(delta.design_effect),
        "baseline": number_json(delta.baseline),
        "variant": number_json(delta.variant),
        "variant_name": delta.variant_name,
        "delta": number_json(delta.delta),
        "standard_error": number_json(delta.standard_error),
        "difference_range": numbers_json(delta.difference_range),
        "relative": _relative(delta.relative),
        "baseline_interval": interval_json(delta.baseline_interval),
        "variant_interval": interval_json(delta.variant_interval),
        "interval": interval_json(delta.interval),
        "bootstrap_interval": interval_json(delta.bootstrap_interval),
        "permutation_interval": interval_json(delta.permutation_interval),
        "simultaneous_interval": interval_json(delta.simultaneous_interval),
        "test": outcome_json(delta.test, delta.pvalue_adjusted),
        "wins": delta.wins if delta.counted else None,
        "ties": delta.ties if delta.counted else None,
        "losses": delta.losses if delta.counted else None,
        "table": None
        if table is None
        else {
            "both": table.both,
            "only_baseline": table.only_baseline,
            "only_variant": table.only_variant,
            "neither": table.neither,
        },
        "effect_size": None
        if delta.effect_size is None
        else {name: number_json(value) for name, value in delta.effect_size.items()},
        "bounds": _bounds(delta.bounds),
        "notes": notes_json(delta.notes),
    }


def _relative(relative: RelativeDelta | None) -> Json | None:
    if relative is None:
        return None
    return {
        "delta": number_json(relative.delta),
        "interval": interval_json(relative.interval),
        "reason": relative.reason,
    }


def _bounds(bounds: Bounds | None) -> Json | None:
    if bounds is None:
        return None
    return {
        "low": number_json(bounds.low),
        "high": number_json(bounds.high),
        "interval": interval_json(bounds.interval),
        "relative_interval": interval_json(bounds.relative_interval),
        "variant_interval": interval_json(bounds.variant_interval),
        "n_questions": bounds.n_questions,
        "n_incomplete": bounds.n_incomplete,
        "n_partial": bounds.n_partial,
        "n_not_applicable": bounds.n_not_applicable,
        "reason": bounds.reason,
    }


# ---------------------------------------------------------------- decision


def _decision(decision: Decision) -> Json:
    return {
        "decision": str(decision.decision),
        "variant_name": decision.variant_name,
        "reason": decision.reason,
        "statuses": [_status(status) for status in decision.statuses],
        "next_steps": list(decision.next_steps),
        "tipping_points": list(decision.tipping_points),
        "notes": notes_json(decision.notes),
    }


def _status(status: RuleStatus) -> Json:
    margin = status.margin
    return {
        "metric": status.metric,
        "role": status.role,
        "statistic": status.statistic,
        "variant_name": status.variant_name,
        "slice": slice_json(status.slice),
        "rule": status.rule,
        "margin": margin if isinstance(margin, str) else number_json(margin),
        "limit": number_json(status.limit),
        "min_improvement": number_json(status.min_improvement),
        "pvalue_margin": pvalue_json(status.pvalue_margin),
        "smallest_margin": number_json(status.smallest_margin),
        "pass_probability_unchanged": number_json(status.pass_probability_unchanged),
        "further_questions": status.further_questions,
        "tipping": _tipping(status.tipping),
        "fragility": _fragility(status.fragility),
        "status": str(status.status),
        "reason": status.reason,
        "notes": notes_json(status.notes),
    }


def _tipping(tipping: TippingPoint | None) -> Json | None:
    if tipping is None:
        return None
    return {
        "questions": tipping.questions,
        "rows": tipping.rows,
        "n_questions": tipping.n_questions,
        "n_rows": tipping.n_rows,
        "end": tipping.end,
        "status": None if tipping.status is None else str(tipping.status),
    }


def _fragility(fragility: Fragility | None) -> Json | None:
    if fragility is None:
        return None
    return {
        "answers": fragility.answers,
        "n_answers": fragility.n_answers,
        "end": fragility.end,
        "status": None if fragility.status is None else str(fragility.status),
    }
