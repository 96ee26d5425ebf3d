"""Four scores, four stages: which part of the pipeline to look at first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["STAGE_THRESHOLDS", "StageFinding", "is_read", "stage_reading"]

STAGE_THRESHOLDS: Mapping[str, float] = {
    "context_recall": 0.7,
    "context_precision": 0.7,
    "faithfulness": 0.7,
    "answer_relevance": 0.7,
}
# Columns that stand in for a score when it is not measured itself, best first.
_STAND_INS: Mapping[str, tuple[str, ...]] = {
    "context_recall": ("recall_at_",),
    "context_precision": ("context_precision_ranked_at_", "precision_returned_at_"),
    "faithfulness": (),
    "answer_relevance": ("answer_relevancy",),
}
_STAGES: Mapping[str, tuple[str, str]] = {
    "context_recall": (
        "retrieval",
        "evidence is missing from the context; look at corpus, chunking, query, depth",
    ),
    "context_precision": (
        "ranking",
        "relevant passages are few or stand low; look at reranking and depth",
    ),
    "faithfulness": (
        "generation",
        "answers say more than the context holds; look at prompt, model, context",
    ),
    "answer_relevance": (
        "generation",
        "answers miss the question; look at prompt and understanding of the query",
    ),
}


@dataclass(frozen=True, slots=True)
class StageFinding:
    """One score against its threshold.

    Parameters
    ----------
    metric : str
        Name of the score that was asked for.
    column : str or None
        Column that stood for it; None when there is none.
    value : float or None
        Mean of the column.
    threshold : float
        Values below are low.
    low : bool or None
        Whether it is low; None when not measured.
    stage : str
        Part of the pipeline that the score watches.
    sentence : str
        The finding in words.
    """

    metric: str
    column: str | None
    value: float | None
    threshold: float
    low: bool | None
    stage: str
    sentence: str


def stage_reading(
    means: Mapping[str, float | None],
    *,
    thresholds: Mapping[str, float] = STAGE_THRESHOLDS,
) -> tuple[StageFinding, ...]:
    """Read the four means of one arm, in the order of the pipeline.

    Parameters
    ----------
    means : mapping of str to (float or None)
        Column to mean over the scored questions. Where ``context_recall`` or
        ``context_precision`` is not measured, ``recall_at_k`` and
        ``context_precision_ranked_at_k`` stand in, with the smallest k.
    thresholds : mapping of str to float
        Values below are low; 0.7 each by default, a convention and not a norm.

    Returns
    -------
    tuple of StageFinding

    Examples
    --------
    >>> findings = stage_reading({"faithfulness": 0.62, "recall_at_5": 0.9})
    >>> [(f.metric, f.low) for f in findings if f.low is not None]
    [('context_recall', False), ('faithfulness', True)]
    """
    findings = []
    for metric, (stage, meaning) in _STAGES.items():
        limit = thresholds.get(metric, STAGE_THRESHOLDS[metric])
        column = _column(metric, means)
        value = None if column is None else means[column]
        if value is None:
            sentence = f"{metric} is not measured: nothing is said about {stage}."
            low = None
        else:
            low = value < limit
            verdict = f"below {limit:g}: {meaning}" if low else f"at least {limit:g}"
            sentence = f"{column} is {value:.3f}, {verdict}."
        findings.append(
            StageFinding(metric, column, value, limit, low, stage, sentence)
        )
    return tuple(findings)


def is_read(column: str) -> bool:
    """Whether a column is one of the four scores, or may stand in for one.

    Examples
    --------
    >>> is_read("page_recall_at_5"), is_read("latency_ms")
    (True, False)
    """
    stems = tuple(stem for names in _STAND_INS.values() for stem in names)
    return column in _STAGES or _without_unit(column).startswith(stems)


def _without_unit(column: str) -> str:
    return column.removeprefix("page_").removeprefix("document_")


def _column(metric: str, means: Mapping[str, float | None]) -> str | None:
    """Column that stands for a score: itself, else a stand-in of smallest depth."""
    measured = [
        name
        for name, value in means.items()
        if value is not None and math.isfinite(value)
    ]
    if metric in measured:
        return metric
    for stem in _STAND_INS[metric]:
        fits = [name for name in measured if _without_unit(name).startswith(stem)]
        if fits:
            return min(fits, key=lambda name: (len(name), name))
    return None
