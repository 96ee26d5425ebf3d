"""Transitions, stage attribution and oracle gaps from per-question outcomes."""

from onechange.diagnosis.attribution import (
    ArmStages,
    StageAttribution,
    stage_attribution,
)
from onechange.diagnosis.diagnose import Diagnosis, diagnose
from onechange.diagnosis.oracle import OracleGap, oracle_gap
from onechange.diagnosis.reading import STAGE_THRESHOLDS, StageFinding, stage_reading
from onechange.diagnosis.transitions import (
    CORRECT_GROUNDED,
    EVIDENCE_SUPPORT,
    Transitions,
    correct_grounded,
    evidence_support,
    question_categories,
    transitions,
)

__all__ = [
    "CORRECT_GROUNDED",
    "EVIDENCE_SUPPORT",
    "STAGE_THRESHOLDS",
    "ArmStages",
    "Diagnosis",
    "OracleGap",
    "StageAttribution",
    "StageFinding",
    "Transitions",
    "correct_grounded",
    "diagnose",
    "evidence_support",
    "oracle_gap",
    "question_categories",
    "stage_attribution",
    "stage_reading",
    "transitions",
]
