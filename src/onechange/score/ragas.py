"""Faithfulness judged with Ragas 0.4 and an evaluator of the caller's (an extra).

The contract: an abstention is unscored and the evaluator is not asked; an unknown
status or an empty field is an error before anything is asked; a score that is not
finite or out of range is an error; what the evaluator itself raises makes that trace
failed, with the error kept. Version and evaluator are recorded.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import version
from typing import Any

from onechange.errors import InputError, MethodError
from onechange.score.options import ScoreOptions
from onechange.score.source import parse_traces
from onechange.score.trace import ANSWERED, FAILED, STATUSES, Passages, Trace

__all__ = ["JudgedScore", "JudgedScores", "apply_judged", "ragas_faithfulness"]

SCORED = "scored"
UNSCORED = "unscored"


@dataclass(frozen=True, slots=True)
class JudgedScore:
    """What the evaluator said about one trace.

    Parameters
    ----------
    question_id : str
    trial : str or None
    state : {"scored", "unscored", "failed"}
        Whether there is a score, none by design, or the evaluator broke.
    value : float or None
        The score.
    reason : str or None
        Why there is none.
    """

    question_id: str
    trial: str | None
    state: str
    value: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedScores:
    """Judged scores of several traces, with who judged them.

    Parameters
    ----------
    metric : str
        Name of the score.
    scores : tuple of JudgedScore
        One a trace, in order.
    settings : dict of str to str
        ``library``, ``library_version``, ``evaluator``: to record with the arm.
    """

    metric: str
    scores: tuple[JudgedScore, ...]
    settings: dict[str, str]


async def ragas_faithfulness(
    traces: Iterable[Mapping[str, Any] | Trace],
    *,
    llm: Any,
    evaluator: str,
    context: str = "selected",
    max_concurrency: int = 8,
    options: ScoreOptions | None = None,
) -> JudgedScores:
    """Score the faithfulness of traces with Ragas; a coroutine, to be awaited.

    Parameters
    ----------
    traces : iterable of mapping or Trace
        Records, or traces (`onechange.read_traces` reads a file of them). Answered
        ones need question, answer and the texts of their context.
    llm : ragas.llms.base.InstructorBaseRagasLLM
        The evaluator, made by the caller.
    evaluator : str
        Name and version of the evaluator, to be recorded.
    context : {"selected", "retrieved"}
        Which recorded list the model saw.
    max_concurrency : int
        Traces judged at the same time.
    options : ScoreOptions, optional
        Names of the fields, where records are given.

    Returns
    -------
    JudgedScores
        In the order of the traces.

    Raises
    ------
    InputError
        If a status is unknown or a field empty (before the evaluator is asked), or a
        score is not a finite number between 0 and 1.
    MethodError
        If Ragas is not installed, or an argument is not allowed.
    """
    if context not in ("selected", "retrieved"):
        raise MethodError(f"context = {context!r}: expected selected or retrieved")
    if max_concurrency < 1 or not evaluator:
        raise MethodError("expected a max_concurrency of 1 or more and an evaluator")
    checked = _traces(traces, options)
    inputs = [_inputs(trace, context) for trace in checked]
    metric = _metric(llm)
    gate = asyncio.Semaphore(max_concurrency)

    async def judge(given: dict[str, Any]) -> float:
        async with gate:
            result = await metric.ascore(**given)
        return float(result.value)

    asked = [i for i, given in enumerate(inputs) if given is not None]
    # exceptions come back as values: one broken trace must not lose the others
    answers = await asyncio.gather(
        *(judge(given) for given in inputs if given is not None),
        return_exceptions=True,
    )
    outcome = dict(zip(asked, answers, strict=True))
    return JudgedScores(
        metric="faithfulness",
        scores=tuple(_judged(trace, outcome.get(i)) for i, trace in enumerate(checked)),
        settings={
            "library": "ragas",
            "library_version": version("ragas"),
            "evaluator": evaluator,
        },
    )


def apply_judged(
    traces: Iterable[Mapping[str, Any] | Trace],
    judged: JudgedScores,
    *,
    options: ScoreOptions | None = None,
) -> tuple[Trace, ...]:
    """Put judged scores into their traces, for `onechange.score` to take.

    Parameters
    ----------
    traces : iterable of mapping or Trace
        The traces that were judged.
    judged : JudgedScores
        From the same traces.
    options : ScoreOptions, optional
        Names of the fields, where records are given.

    Returns
    -------
    tuple of Trace
        A trace whose evaluation broke is failed and keeps the error.

    Raises
    ------
    MethodError
        If the scores belong to other traces.
    """
    checked = _traces(traces, options)
    keys = [(trace.question_id, trace.trial) for trace in checked]
    if keys != [(score.question_id, score.trial) for score in judged.scores]:
        raise MethodError("the judged scores belong to other traces")
    result = []
    for trace, score in zip(checked, judged.scores, strict=True):
        if score.state == FAILED and not trace.failed:
            result.append(replace(trace, status=FAILED, error=score.reason))
        elif score.value is not None:
            scores = {**trace.scores, judged.metric: score.value}
            result.append(replace(trace, scores=scores))
        else:
            result.append(trace)
    return tuple(result)


def _traces(
    traces: Iterable[Mapping[str, Any] | Trace], options: ScoreOptions | None
) -> tuple[Trace, ...]:
    """Check records as scoring does; traces that were made already stay as they are."""
    given = tuple(traces)
    if all(isinstance(trace, Trace) for trace in given):
        return tuple(trace for trace in given if isinstance(trace, Trace))
    return parse_traces(given, options=options)


def _inputs(trace: Trace, context: str) -> dict[str, Any] | None:
    """Check and gather what the evaluator is asked; None where it is not asked."""
    place = f"question {trace.question_id!r}"
    if trace.status not in STATUSES:
        raise InputError(
            f"{place}: status is {trace.status!r}; expected {', '.join(STATUSES)}"
        )
    if trace.status != ANSWERED:
        return None
    passages: Passages | None = getattr(trace, context)
    texts = () if passages is None or passages.texts is None else passages.texts
    given = {"question": trace.question, "answer": trace.answer}
    for name, text in given.items():
        if text is None or not text.strip():
            raise InputError(f"{place}: {name} is empty; faithfulness needs it")
    if not texts or any(text is None or not text.strip() for text in texts):
        raise InputError(
            f"{place}: {context} lacks a text; faithfulness needs them all"
        )
    return {
        "user_input": trace.question,
        "response": trace.answer,
        "retrieved_contexts": list(texts),
    }


def _metric(llm: Any) -> Any:
    try:
        collections = import_module("ragas.metrics.collections")
    except ImportError as error:
        raise MethodError(
            f"faithfulness needs Ragas 0.4 ({error}); "
            "install it with: pip install 'onechange[ragas]'"
        ) from error
    try:
        return collections.Faithfulness(llm=llm)
    except ValueError as error:
        raise MethodError(f"llm: {error}") from error


def _judged(trace: Trace, answer: float | BaseException | None) -> JudgedScore:
    judged = JudgedScore(trace.question_id, trace.trial, UNSCORED)
    if answer is None and trace.failed:
        return replace(judged, state=FAILED, reason=trace.error or "the run failed")
    if answer is None:
        return replace(judged, reason="no answer was given")
    if isinstance(answer, asyncio.CancelledError):
        raise answer
    if isinstance(answer, BaseException):
        reason = f"evaluator: {type(answer).__name__}: {answer}"
        return replace(judged, state=FAILED, reason=reason)
    if not (math.isfinite(answer) and 0.0 <= answer <= 1.0):
        raise InputError(
            f"question {trace.question_id!r}: faithfulness is {answer!r}; expected a "
            "finite number between 0 and 1"
        )
    return replace(judged, state=SCORED, value=answer)
