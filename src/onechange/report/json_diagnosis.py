"""Diagnoses and judge audits in the JSON output."""

from __future__ import annotations

from collections.abc import Callable

from onechange.deltas import Delta
from onechange.diagnosis import Diagnosis, StageAttribution, StageFinding, Transitions
from onechange.diagnosis.attribution import ArmStages
from onechange.judge import (
    ArmAgreement,
    JudgeAudit,
    LabelledMetric,
    shown_interval,
)
from onechange.report.json_values import (
    Json,
    interval_json,
    notes_json,
    number_json,
    outcome_json,
)
from onechange.stats.ppi import Corrected

__all__ = ["diagnosis_json", "judge_audit_json", "labelled_json"]

DeltaJson = Callable[[Delta], Json]


def diagnosis_json(diagnosis: Diagnosis, delta_json: DeltaJson) -> Json:
    """Write the diagnosis of one variant.

    Parameters
    ----------
    diagnosis : Diagnosis
    delta_json : callable
        Writes a delta.
    """
    return {
        "variant_name": diagnosis.variant_name,
        "evidence_support": _transitions(diagnosis.evidence_support),
        "correct_grounded": _transitions(diagnosis.correct_grounded),
        "failure_categories": _transitions(diagnosis.failures),
        "missing_fields": [
            {"field": name, "baseline": b, "variant": v}
            for name, b, v in diagnosis.missing_fields
        ],
        "attribution": _attribution(diagnosis.attribution, diagnosis.correct_column),
        "oracle": [
            {
                "metric": metric,
                "baseline_gap": delta_json(gap.baseline),
                "variant_gap": delta_json(gap.variant),
                "difference": delta_json(gap.difference),
                "oracle_delta": delta_json(gap.oracle),
                "reading": gap.reading,
            }
            for metric, gap in diagnosis.oracle
        ],
        "stages": [
            {"baseline": _finding(before), "variant": _finding(after)}
            for before, after in zip(*diagnosis.readings, strict=True)
        ]
        if diagnosis.readings
        else [],
        "notes": notes_json(diagnosis.notes),
    }


def labelled_json(labelled: LabelledMetric, delta_json: DeltaJson) -> Json:
    """Write a judge audit with its labels and the corrected delta.

    Parameters
    ----------
    labelled : LabelledMetric
    delta_json : callable
        Writes a delta.
    """
    return {
        "variant_name": labelled.variant_name,
        "labels": {"name": labelled.file.name, "sha256": labelled.file.sha256},
        **judge_audit_json(labelled.audit),
        "corrected_delta": delta_json(labelled.corrected),
    }


def judge_audit_json(audit: JudgeAudit) -> Json:
    """Write agreement, favour and estimates of a judge audit."""
    return {
        "metric": audit.metric,
        "direction": audit.direction,
        "n_pairs": audit.n_pairs,
        "n_labelled": audit.n_labelled,
        "n_one_arm": audit.n_one_arm,
        "n_unused": audit.n_unused,
        "agreement": {
            "baseline": _agreement(audit.baseline),
            "variant": _agreement(audit.variant),
        },
        "favour": number_json(audit.favour),
        "favour_interval": interval_json(audit.favour_interval),
        "uncorrected": number_json(audit.uncorrected),
        "uncorrected_interval": interval_json(audit.uncorrected_interval),
        "human_only": _estimate(audit.human_only),
        "corrected": _estimate(audit.corrected),
        "notes": notes_json(audit.notes),
    }


def _agreement(arm: ArmAgreement) -> Json:
    found = arm.agreement
    return {
        "n_labelled": arm.n_labelled,
        "n_answers": arm.n_answers,
        "human": number_json(arm.human),
        "judge": number_json(arm.judge),
        "bias": number_json(arm.bias),
        "bias_interval": interval_json(arm.bias_interval),
        "observed": None if found is None else number_json(found.observed),
        "expected": None if found is None else number_json(found.expected),
        "kappa": None if found is None else number_json(found.kappa),
        "kappa_interval": None if found is None else interval_json(found.interval),
    }


def _estimate(found: Corrected | None) -> Json | None:
    if found is None:
        return None
    return {
        "estimate": number_json(found.estimate),
        "standard_error": number_json(found.standard_error),
        "judge_weight": number_json(found.weight),
        "interval": interval_json(shown_interval(found)),
    }


def _transitions(found: Transitions | None) -> Json | None:
    if found is None:
        return None
    return {
        "categories": list(found.categories),
        "baseline": list(found.baseline),
        "variant": list(found.variant),
        "counts": [list(row) for row in found.counts],
        "unknown": {
            "baseline": found.n_unknown_baseline,
            "variant": found.n_unknown_variant,
            "both": found.n_unknown_both,
        },
        "cells": [
            {"from": before, "to": after, "question_ids": list(ids)}
            for (before, after), ids in found.questions.items()
        ],
        "homogeneity": outcome_json(found.homogeneity, None),
        "symmetry": outcome_json(found.symmetry, None),
    }


def _attribution(found: StageAttribution | None, column: str | None) -> Json | None:
    if found is None:
        return None
    return {
        "metric": column,
        "n_pairs": found.n_pairs,
        "n_clusters": found.n_clusters,
        "delta": number_json(found.delta),
        "retrieval": number_json(found.retrieval),
        "retrieval_interval": interval_json(found.retrieval_interval),
        "generation": number_json(found.generation),
        "generation_interval": interval_json(found.generation_interval),
        "baseline": _stages(found.baseline),
        "variant": _stages(found.variant),
        "n_redrawn": found.n_redrawn,
        "reason": found.reason,
        "notes": notes_json(found.notes),
    }


def _stages(arm: ArmStages | None) -> Json | None:
    if arm is None:
        return None
    return {
        "evidence_share": number_json(arm.evidence_share),
        "correct_with": number_json(arm.correct_with),
        "correct_without": number_json(arm.correct_without),
        "n_with": arm.n_with,
        "n_without": arm.n_without,
    }


def _finding(finding: StageFinding) -> Json:
    return {
        "metric": finding.metric,
        "column": finding.column,
        "value": number_json(finding.value),
        "threshold": number_json(finding.threshold),
        "low": finding.low,
        "stage": finding.stage,
    }
