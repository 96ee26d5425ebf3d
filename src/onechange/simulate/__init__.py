"""Synthetic arms of a RAG experiment with a known truth, their traces, A/A splits."""

from __future__ import annotations

from onechange.simulate.aa import AASplit, aa_split
from onechange.simulate.arms import Simulation, simulate
from onechange.simulate.questions import QUESTION_TYPES, QuestionType
from onechange.simulate.traces import traces

__all__ = [
    "QUESTION_TYPES",
    "AASplit",
    "QuestionType",
    "Simulation",
    "aa_split",
    "simulate",
    "traces",
]
