"""Repeated trials in the JSON output."""

from __future__ import annotations

import json
from collections.abc import Sequence

from onechange import __version__
from onechange.report.json_values import (
    Json,
    interval_json,
    notes_json,
    number_json,
    outcome_json,
    pvalue_json,
)
from onechange.stats.components import Component
from onechange.stats.projection import Contributions
from onechange.stats.runs import RunVariance
from onechange.trials import (
    ArmTrials,
    DeltaTrials,
    MetricTrials,
    SingleMetric,
    TrialsAnalysis,
)

__all__ = ["trials_analysis_json", "trials_json"]

SCHEMA = 1
FACTORS = (1, 2, 4)


def trials_json(rows: Sequence[MetricTrials], confidence_level: float) -> Json:
    """Write the trials of a comparison, metric by metric.

    Parameters
    ----------
    rows : sequence of MetricTrials
        Variant by variant.
    confidence_level : float
        Level of the projected half-widths.

    Returns
    -------
    dict
        With several variants ``variants`` and ``deltas`` hold all of them, in order.
    """
    by_metric: dict[str, list[MetricTrials]] = {}
    for row in rows:
        by_metric.setdefault(row.metric, []).append(row)
    found: Json = {}
    for metric, parts in by_metric.items():
        notes = dict.fromkeys(note for part in parts for note in part.notes)
        deltas = [_delta(part.delta, confidence_level) for part in parts]
        found[metric] = {
            "baseline": _arm(parts[0].baseline),
            "variant": _arm(parts[0].variant),
            "delta": deltas[0],
            "notes": notes_json(notes),
        }
        if len(parts) > 1:
            found[metric]["variants"] = [_arm(part.variant) for part in parts]
            found[metric]["deltas"] = deltas
    return found


def trials_analysis_json(analysis: TrialsAnalysis) -> str:
    """Write the trials of one arm as JSON.

    Parameters
    ----------
    analysis : TrialsAnalysis
        What `analyse_trials` returned.

    Returns
    -------
    str
        Ends with a line break.
    """
    plain = {
        "schema": SCHEMA,
        "version": __version__,
        "inputs": {
            "results": {
                "name": analysis.name,
                "files": [{"name": f.name, "sha256": f.sha256} for f in analysis.files],
                "rows": analysis.n_rows,
                "questions": analysis.n_questions,
                "clusters": analysis.n_clusters,
                "trials": len(analysis.labels),
            }
        },
        "confidence_level": analysis.confidence_level,
        "trials": {
            row.metric.name: _single(row, analysis.confidence_level)
            for row in analysis.metrics
        },
        "notes": notes_json(analysis.notes),
    }
    return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _single(row: SingleMetric, level: float) -> Json:
    return {
        "direction": row.metric.direction,
        "mean": number_json(row.mean),
        "interval": interval_json(row.interval),
        "results": _arm(row.trials),
        "runs": _runs(row.runs, row.run_variance),
        "noise_floor": number_json(row.noise_floor),
        "parts": _parts(row.parts),
        "projection": _projection(row.parts, level),
    }


def _arm(arm: ArmTrials) -> Json:
    return {
        "labels": list(arm.labels),
        "means": [number_json(mean) for mean in arm.means],
        "n_scored": list(arm.n_scored),
        "n_questions": arm.n_questions,
        "between_trial_sd": number_json(arm.between_trial_sd),
        "within_question_sd": number_json(arm.within_question_sd),
        "icc": number_json(arm.icc),
        "flip_rate": number_json(arm.flip_rate),
        "reason": arm.reason,
        "components": {
            "question": _component(arm.components.question),
            "trial": _component(arm.components.trial),
            "residual": _component(arm.components.residual),
            "judge": _component(arm.components.judge),
            "answer": _component(arm.components.answer),
        },
        "iccs": {
            name: {
                "value": number_json(found.value),
                "low": number_json(found.low),
                "high": number_json(found.high),
                "confidence_level": found.confidence_level,
            }
            for name, found in arm.iccs.items()
        },
        "trial_test": outcome_json(arm.trial_test, None),
        "disagreement": number_json(arm.disagreement),
        "flips": [
            {"question_id": question, "right": right, "trials": trials}
            for question, right, trials in arm.flips.rows()
        ],
        "pass_rates": [
            {
                "k": rate.k,
                "pass_at_k": number_json(rate.any_right),
                "pass_hat_k": number_json(rate.all_right),
                "n_questions": rate.n_questions,
            }
            for rate in arm.pass_rates
        ],
        "same_arm": _same_arm(arm),
    }


def _same_arm(arm: ArmTrials) -> Json | None:
    found = arm.same_arm
    if found is None:
        return None
    return {
        "n_deltas": found.n_deltas,
        "low": number_json(found.low),
        "high": number_json(found.high),
        "n_alarms": found.n_alarms,
        "false_alarm_share": number_json(found.false_alarm_share),
        "reason": found.reason,
    }


def _delta(delta: DeltaTrials | None, level: float) -> Json | None:
    if delta is None:
        return None
    return {
        "paired": delta.paired,
        "runs": _runs(delta.runs, delta.run_variance),
        "noise_floor": number_json(delta.noise_floor),
        "delta_to_noise": number_json(delta.delta_to_noise),
        "parts": _parts(delta.parts),
        "projection": _projection(delta.parts, level),
        "reason": delta.reason,
    }


def _component(part: Component | None) -> Json | None:
    if part is None:
        return None
    return {
        "variance": number_json(part.variance),
        "sd": number_json(part.sd),
        "low": number_json(part.low),
        "high": number_json(part.high),
        "confidence_level": part.confidence_level,
    }


def _runs(runs: RunVariance | None, variance: Component | None) -> Json | None:
    if runs is None:
        return None
    return {
        "statistic": number_json(runs.statistic),
        "df": runs.trial.df,
        "df_residual": runs.residual.df,
        "pvalue": pvalue_json(runs.pvalue),
        "differ": runs.differ,
        "component": _component(variance),
        "arms": list(runs.sources),
    }


def _parts(parts: Contributions | None) -> Json | None:
    if parts is None:
        return None
    return {
        "questions": number_json(parts.questions),
        "answers": [number_json(part) for part in parts.answers],
        "runs": [number_json(part) for part in parts.runs],
        "gradings": [number_json(part) for part in parts.gradings],
        "standard_error": number_json(parts.standard_error),
        "shares": parts.shares,
    }


def _projection(parts: Contributions | None, level: float) -> list[Json]:
    """Write expected half-widths with up to four times the questions and trials."""
    if parts is None:
        return []
    designs = [parts.scaled(questions=n, trials=k) for n in FACTORS for k in FACTORS]
    return [
        {
            "n_questions": design.n_questions,
            "n_trials": list(design.n_trials),
            "standard_error": number_json(design.standard_error),
            "half_width": number_json(design.half_width(level)),
        }
        for design in designs
    ]
