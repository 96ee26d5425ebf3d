"""Synthetic arms of a RAG experiment with a known truth, and their traces."""

from __future__ import annotations

from onechange.simulate.arms import Simulation, simulate
from onechange.simulate.questions import QUESTION_TYPES, QuestionType
from onechange.simulate.traces import traces

__all__ = ["QUESTION_TYPES", "QuestionType", "Simulation", "simulate", "traces"]
