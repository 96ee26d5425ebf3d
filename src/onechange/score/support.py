"""Which families of scores a set of traces supports, and why the others are left."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onechange.score.families import (
    Scoring,
    score_answer,
    score_claims,
    score_facts,
    score_retrieval,
)
from onechange.score.options import ScoreOptions
from onechange.score.trace import Trace

__all__ = ["Step", "supported_steps", "supports_outcome"]

Step = Callable[[Scoring], None]


def supported_steps(
    traces: Sequence[Trace], options: ScoreOptions
) -> tuple[list[Step], dict[str, str]]:
    """Choose the families that some trace supports.

    Parameters
    ----------
    traces : sequence of Trace
    options : ScoreOptions

    Returns
    -------
    list of callable
        Steps that add the scores of one family to a `Scoring`.
    dict of str to str
        Family that no trace supports, with the reason.
    """

    def some(supports: Callable[[Trace], object]) -> bool:
        return any(supports(trace) for trace in traces)

    steps: list[Step] = []
    absent: dict[str, str] = {}
    has_references = some(lambda t: t.reference)
    has_answers = some(lambda t: t.answer is not None)
    if not some(lambda t: getattr(t, options.ranking) is not None):
        absent["retrieval"] = f"no trace records {options.ranking} results"
    else:
        texts = has_references and some(lambda t: _has_texts(t, options.ranking))
        if not some(lambda t: t.evidence is not None) and not texts:
            absent["retrieval"] = "no trace has labelled evidence"
        else:
            steps.append(lambda scoring: score_retrieval(scoring, texts=texts))
    abstention = some(lambda t: t.answerable is not None)
    if (has_answers and has_references) or abstention:
        steps.append(lambda scoring: score_answer(scoring, abstention=abstention))
    if not (has_answers and has_references):
        missing = "answer" if not has_answers else "reference"
        absent["answers"] = f"no trace has a field {missing}"
    if not abstention:
        absent["abstention"] = "no trace says whether its question is answerable"
    if some(lambda t: t.reference_facts):
        steps.append(score_facts)
    else:
        absent["supporting facts"] = "no trace labels supporting facts"
    references = some(lambda t: t.reference_claims is not None)
    if references or some(lambda t: t.claims is not None or t.cited is not None):
        named = some(lambda t: any(c.step is not None for c in t.claims or ()))
        steps.append(lambda s: score_claims(s, steps=named, references=references))
    else:
        absent["claims"] = "no trace has labelled claims or citations"
    return steps, absent


def supports_outcome(traces: Sequence[Trace], options: ScoreOptions) -> bool:
    """Say whether some trace tells enough to ask what became of its question.

    Parameters
    ----------
    traces : sequence of Trace
    options : ScoreOptions

    Returns
    -------
    bool
    """
    return options.correct_from is not None or any(
        trace.correct is not None
        or trace.claims is not None
        or trace.selected is not None
        or trace.category is not None
        or trace.answerable is not None
        or "faithfulness" in trace.scores
        for trace in traces
    )


def _has_texts(trace: Trace, ranking: str) -> bool:
    passages = getattr(trace, ranking)
    return passages is not None and passages.texts is not None
