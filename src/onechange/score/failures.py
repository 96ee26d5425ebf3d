"""Failure category of one question: the first step of the pipeline that fell short."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "BAD_CHUNKING",
    "BAD_CITATION",
    "CATEGORIES",
    "CONTEXT_NOISE",
    "CORPUS_MISSING",
    "FAILED_TO_ABSTAIN",
    "GENERATION_ERROR",
    "NOISE_THRESHOLD",
    "RERANKING_MISS",
    "RETRIEVAL_MISS",
    "SUCCESS",
    "UNDETERMINED",
    "UNFAITHFUL_CLAIM",
    "FailureFacts",
    "failure_category",
]

CORPUS_MISSING = "CORPUS_MISSING"
BAD_CHUNKING = "BAD_CHUNKING"
RETRIEVAL_MISS = "RETRIEVAL_MISS"
RERANKING_MISS = "RERANKING_MISS"
CONTEXT_NOISE = "CONTEXT_NOISE"
GENERATION_ERROR = "GENERATION_ERROR"
UNFAITHFUL_CLAIM = "UNFAITHFUL_CLAIM"
BAD_CITATION = "BAD_CITATION"
FAILED_TO_ABSTAIN = "FAILED_TO_ABSTAIN"
SUCCESS = "SUCCESS"
UNDETERMINED = "UNDETERMINED"

CATEGORIES = (
    CORPUS_MISSING,
    BAD_CHUNKING,
    RETRIEVAL_MISS,
    RERANKING_MISS,
    CONTEXT_NOISE,
    GENERATION_ERROR,
    UNFAITHFUL_CLAIM,
    BAD_CITATION,
    FAILED_TO_ABSTAIN,
    SUCCESS,
    UNDETERMINED,
)

NOISE_THRESHOLD = 0.8


@dataclass(frozen=True, slots=True)
class FailureFacts:
    """What is known about one question; None = not recorded.

    Parameters
    ----------
    answerable : bool or None
        Whether the corpus holds an answer; None is read as answerable once evidence
        is labelled.
    labelled : bool
        Whether evidence is labelled at all.
    abstained : bool or None
        Whether the system said that the evidence is insufficient.
    in_corpus, in_one_chunk : bool or None
        Whether the corpus holds the evidence, and some chunk holds all of it.
    among_candidates, in_context : bool or None
        Whether the evidence is among the first-stage candidates, and in the context.
    irrelevant_share : float or None
        Share of the context that is not labelled evidence.
    correct : bool or None
        Whether the answer is right.
    faithful : bool or None
        Whether every claim of the answer is supported.
    citations_support : bool or None
        Whether each citation supports its claim; True when nothing is cited.
    """

    answerable: bool | None = None
    labelled: bool = True
    abstained: bool | None = None
    in_corpus: bool | None = None
    in_one_chunk: bool | None = None
    among_candidates: bool | None = None
    in_context: bool | None = None
    irrelevant_share: float | None = None
    correct: bool | None = None
    faithful: bool | None = None
    citations_support: bool | None = None


def failure_category(
    facts: FailureFacts, *, noise_threshold: float = NOISE_THRESHOLD
) -> tuple[str, str | None]:
    """Walk the pipeline and name the first step that fell short.

    Parameters
    ----------
    facts : FailureFacts
        What is known.
    noise_threshold : float
        A wrong answer over a context whose irrelevant share is above this is
        ``CONTEXT_NOISE``.

    Returns
    -------
    tuple of str and (str or None)
        The category, one of `CATEGORIES`, and for ``UNDETERMINED`` the field of the
        trace that is missing.

    Notes
    -----
    The first category that applies counts: evidence that no chunk holds as a whole is
    ``BAD_CHUNKING`` also when its pieces were retrieved. Evidence seen at a later step
    settles an earlier one that was not recorded: what is in the context is in the
    corpus, and was a candidate. For an unanswerable question only the abstention
    counts. An abstention on an answerable question is a wrong answer.

    Examples
    --------
    >>> failure_category(FailureFacts(in_context=True, abstained=False, correct=False,
    ...                               irrelevant_share=0.5))
    ('GENERATION_ERROR', None)
    >>> failure_category(FailureFacts(answerable=False, abstained=True))
    ('SUCCESS', None)
    """
    if facts.answerable is False:
        if facts.abstained is None:
            return UNDETERMINED, "status"
        return (SUCCESS if facts.abstained else FAILED_TO_ABSTAIN), None
    if not facts.labelled:
        return UNDETERMINED, "evidence"
    return _evidence_step(facts) or _answer_step(facts, noise_threshold)


def _evidence_step(facts: FailureFacts) -> tuple[str, str | None] | None:
    """Category of a question whose evidence did not reach the context whole."""
    if facts.in_corpus is False:
        return CORPUS_MISSING, None
    seen = facts.in_context or facts.among_candidates
    if facts.in_corpus is None and not seen:
        return UNDETERMINED, "evidence_in_corpus"
    if facts.in_one_chunk is False:
        return BAD_CHUNKING, None
    if facts.in_context:
        return None
    if not facts.among_candidates:
        if facts.in_one_chunk is None:
            return UNDETERMINED, "evidence_in_one_chunk"
        if facts.among_candidates is None:
            return UNDETERMINED, "candidates"
        return RETRIEVAL_MISS, None
    if facts.in_context is None:
        return UNDETERMINED, "selected"
    return RERANKING_MISS, None


def _answer_step(facts: FailureFacts, noise_threshold: float) -> tuple[str, str | None]:
    """Category of a question whose evidence is in the context."""
    if facts.abstained is None:
        return UNDETERMINED, "status"
    correct = False if facts.abstained else facts.correct
    if correct is None:
        return UNDETERMINED, "correct"
    if not correct:
        if facts.irrelevant_share is None:
            return UNDETERMINED, "selected"
        noisy = facts.irrelevant_share > noise_threshold
        return (CONTEXT_NOISE if noisy else GENERATION_ERROR), None
    if facts.faithful is None:
        return UNDETERMINED, "claims"
    if not facts.faithful:
        return UNFAITHFUL_CLAIM, None
    if facts.citations_support is None:
        return UNDETERMINED, "claims.supporting"
    return (SUCCESS if facts.citations_support else BAD_CITATION), None
