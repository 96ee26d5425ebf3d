"""JSON output, schema 1: full precision, unknown is null, never NaN."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from onechange import __version__
from onechange.align import Audit
from onechange.compare import ArmSummary, Comparison
from onechange.decide import Decision, RuleStatus
from onechange.delta import Bounds, Delta, RelativeDelta
from onechange.plan import Plan
from onechange.report.context import comparison_of, decision_of
from onechange.stats.estimate import Interval, Note, TestResult
from onechange.trials import ArmTrials, MetricTrials

__all__ = ["SCHEMA", "audit_plain", "to_json", "to_plain"]

SCHEMA = 1
SMALLEST_DOUBLE = 5e-324

Json = dict[str, Any]


def to_json(result: Comparison | Decision) -> str:
    """Write a comparison or decision as JSON, schema 1.

    Parameters
    ----------
    result : Comparison or Decision
        What `compare` or `decide` returned.

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


def to_plain(result: Comparison | Decision) -> Json:
    """Return the same content as nested dictionaries and lists.

    Parameters
    ----------
    result : Comparison or Decision
        What `compare` or `decide` returned.

    Returns
    -------
    dict
        Plain values only, in the order in which they are written.
    """
    comparison, decision = comparison_of(result), decision_of(result)
    plan = decision.plan if decision else comparison.plan
    audits = [audit_plain(audit) for audit in comparison.audits]
    parts = [d for breakdown in comparison.slices for d in breakdown.deltas]
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
        "deltas": [_delta(d) for d in (*comparison.deltas, *comparison.rates, *parts)],
        "slices": {b.spec.name: _breakdown(b) for b in comparison.slices},
        "trials": _trials(comparison),
        "decision": None if decision is None else _decision(decision),
        "notes": _notes(comparison.notes),
        "signature": comparison.signature,
    }


# ---------------------------------------------------------------- inputs and audit


def _arm(arm: ArmSummary) -> Json:
    return {
        "name": arm.name,
        "files": [{"name": f.name, "sha256": f.sha256} for f in arm.files],
        "rows": arm.n_rows,
        "trials": arm.n_trials,
        "settings": _plain(arm.settings),
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
            "from": _plain(change.before),
            "to": _plain(change.after),
        },
        "confidence_level": plan.analysis.confidence_level,
        "seed": plan.analysis.seed,
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
                "baseline": _plain(change.baseline),
                "variant": _plain(change.variant),
            }
            for change in audit.settings_changed
        ],
        "notes": _notes(audit.notes),
    }


def _by_arm(counts: tuple[int, int]) -> Json:
    return {"baseline": counts[0], "variant": counts[1]}


# ---------------------------------------------------------------- deltas


def _delta(delta: Delta) -> Json:
    table = delta.table
    return {
        "metric": delta.metric,
        "slice": _slice(delta.slice),
        "statistic": delta.statistic,
        "direction": delta.direction,
        "n_pairs": delta.n_pairs,
        "n_clusters": delta.n_clusters,
        "baseline": _number(delta.baseline),
        "variant": _number(delta.variant),
        "variant_name": delta.variant_name,
        "delta": _number(delta.delta),
        "standard_error": _number(delta.standard_error),
        "difference_range": _numbers(delta.difference_range),
        "relative": _relative(delta.relative),
        "baseline_interval": _interval(delta.baseline_interval),
        "variant_interval": _interval(delta.variant_interval),
        "interval": _interval(delta.interval),
        "bootstrap_interval": _interval(delta.bootstrap_interval),
        "permutation_interval": _interval(delta.permutation_interval),
        "simultaneous_interval": _interval(delta.simultaneous_interval),
        "test": _test(delta.test, delta.pvalue_adjusted),
        "wins": delta.wins if delta.n_pairs else None,
        "ties": delta.ties if delta.n_pairs else None,
        "losses": delta.losses if delta.n_pairs else None,
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
        else {name: _number(value) for name, value in delta.effect_size.items()},
        "bounds": _bounds(delta.bounds),
        "notes": _notes(delta.notes),
    }


def _slice(labels: tuple[tuple[str, str], ...] | None) -> dict[str, str] | None:
    return None if labels is None else dict(labels)


def _interval(interval: Interval | None) -> Json | None:
    if interval is None:
        return None
    return {
        "low": _number(interval.low),
        "high": _number(interval.high),
        "confidence_level": interval.confidence_level,
        "method": interval.method,
        "degenerate": interval.degenerate,
        "n_resamples": interval.n_resamples,
        "notes": _notes(interval.notes),
    }


def _test(test: TestResult | None, adjusted: float | None) -> Json | None:
    if test is None:
        return None
    return {
        "pvalue": _pvalue(test.pvalue),
        "pvalue_adjusted": _pvalue(adjusted),
        "method": test.method,
        "alternative": test.alternative,
        "statistic": _number(test.statistic),
        "exact": test.exact,
        "n_resamples": test.n_resamples,
        "monte_carlo_error": _number(test.monte_carlo_error),
        "log10_pvalue": _number(test.log10_pvalue),
        "notes": _notes(test.notes),
    }


def _relative(relative: RelativeDelta | None) -> Json | None:
    if relative is None:
        return None
    return {
        "delta": _number(relative.delta),
        "interval": _interval(relative.interval),
        "reason": relative.reason,
    }


def _bounds(bounds: Bounds | None) -> Json | None:
    if bounds is None:
        return None
    return {
        "low": _number(bounds.low),
        "high": _number(bounds.high),
        "interval": _interval(bounds.interval),
        "n_questions": bounds.n_questions,
        "n_incomplete": bounds.n_incomplete,
        "n_not_applicable": bounds.n_not_applicable,
        "reason": bounds.reason,
    }


def _breakdown(breakdown: Any) -> Json:
    pvalues: Mapping[str, float | None] = breakdown.heterogeneity_pvalue or {}
    return {
        "columns": list(breakdown.spec.columns),
        "cuts": [_number(cut) for cut in breakdown.spec.cuts],
        "heterogeneity_pvalue": {k: _pvalue(v) for k, v in pvalues.items()},
        "reversals": list(breakdown.reversals),
        "small": [{"label": label, "n_pairs": n} for label, n in breakdown.small],
        "notes": _notes(breakdown.notes),
    }


# ---------------------------------------------------------------- trials and decision


def _trials(comparison: Comparison) -> Json:
    by_metric: dict[str, list[MetricTrials]] = {}
    for trials in comparison.trials:
        by_metric.setdefault(trials.metric, []).append(trials)
    found: Json = {}
    for metric, rows in by_metric.items():
        found[metric] = {
            "baseline": _arm_trials(rows[0].baseline),
            "variant": _arm_trials(rows[0].variant),
            "notes": _notes(note for row in rows for note in row.notes),
        }
        if len(rows) > 1:
            found[metric]["variants"] = [_arm_trials(row.variant) for row in rows]
    return found


def _arm_trials(trials: ArmTrials) -> Json:
    return {
        "labels": list(trials.labels),
        "means": [_number(mean) for mean in trials.means],
        "between_trial_sd": _number(trials.between_trial_sd),
        "within_question_sd": _number(trials.within_question_sd),
        "icc": _number(trials.icc),
        "flip_rate": _number(trials.flip_rate),
        "reason": trials.reason,
    }


def _decision(decision: Decision) -> Json:
    return {
        "decision": str(decision.decision),
        "variant_name": decision.variant_name,
        "reason": decision.reason,
        "statuses": [_status(status) for status in decision.statuses],
        "next_steps": list(decision.next_steps),
        "notes": _notes(decision.notes),
    }


def _status(status: RuleStatus) -> Json:
    margin = status.margin
    return {
        "metric": status.metric,
        "role": status.role,
        "statistic": status.statistic,
        "variant_name": status.variant_name,
        "slice": _slice(status.slice),
        "rule": status.rule,
        "margin": margin if isinstance(margin, str) else _number(margin),
        "limit": _number(status.limit),
        "min_improvement": _number(status.min_improvement),
        "pvalue_margin": _pvalue(status.pvalue_margin),
        "smallest_margin": _number(status.smallest_margin),
        "pass_probability_unchanged": _number(status.pass_probability_unchanged),
        "further_questions": status.further_questions,
        "status": str(status.status),
        "reason": status.reason,
        "notes": _notes(status.notes),
    }


# ---------------------------------------------------------------- plain values


def _notes(notes: Iterable[Note]) -> list[Json]:
    return [{"code": note.code, "text": note.text} for note in notes]


def _number(value: float | None) -> float | int | None:
    if value is None or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, int) else float(value) + 0.0


def _numbers(values: Iterable[float] | None) -> list[float | int | None] | None:
    return None if values is None else [_number(value) for value in values]


def _pvalue(pvalue: float | None) -> float | int | None:
    """Write a p below the double range as the smallest double, never as 0."""
    value = _number(pvalue)
    return None if value is None else max(value, SMALLEST_DOUBLE)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return _number(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)
