"""The walk through the pipeline: the first step that fell short names the category."""

from __future__ import annotations

from dataclasses import replace

import pytest

from onechange.errors import InputError
from onechange.score import score
from onechange.score.failures import CATEGORIES, FailureFacts, failure_category

PERFECT = FailureFacts(
    answerable=True,
    abstained=False,
    in_corpus=True,
    in_one_chunk=True,
    among_candidates=True,
    in_context=True,
    irrelevant_share=0.5,
    correct=True,
    faithful=True,
    citations_support=True,
)
LOST = replace(PERFECT, in_context=False)


@pytest.mark.parametrize(
    ("facts", "category"),
    [
        (PERFECT, "SUCCESS"),
        (replace(LOST, among_candidates=False, in_corpus=False), "CORPUS_MISSING"),
        (replace(LOST, among_candidates=False, in_one_chunk=False), "BAD_CHUNKING"),
        (replace(LOST, among_candidates=False), "RETRIEVAL_MISS"),
        (LOST, "RERANKING_MISS"),
        (replace(PERFECT, correct=False, irrelevant_share=0.9), "CONTEXT_NOISE"),
        (replace(PERFECT, correct=False, irrelevant_share=0.8), "GENERATION_ERROR"),
        (replace(PERFECT, abstained=True, correct=None), "GENERATION_ERROR"),
        (replace(PERFECT, faithful=False), "UNFAITHFUL_CLAIM"),
        (replace(PERFECT, citations_support=False), "BAD_CITATION"),
        (FailureFacts(answerable=False, abstained=False), "FAILED_TO_ABSTAIN"),
        (FailureFacts(answerable=False, abstained=True), "SUCCESS"),
    ],
)
def test_the_first_step_that_fell_short_counts(
    facts: FailureFacts, category: str
) -> None:
    assert failure_category(facts) == (category, None)
    assert category in CATEGORIES


@pytest.mark.parametrize(
    ("facts", "missing"),
    [
        (FailureFacts(answerable=False), "status"),
        (replace(PERFECT, labelled=False), "evidence"),
        (
            replace(LOST, among_candidates=False, in_corpus=None),
            "evidence_in_corpus",
        ),
        (
            replace(LOST, among_candidates=False, in_one_chunk=None),
            "evidence_in_one_chunk",
        ),
        (replace(LOST, among_candidates=None), "candidates"),
        (replace(PERFECT, in_context=None), "selected"),
        (replace(PERFECT, abstained=None), "status"),
        (replace(PERFECT, correct=None), "correct"),
        (replace(PERFECT, correct=False, irrelevant_share=None), "selected"),
        (replace(PERFECT, faithful=None), "claims"),
        (replace(PERFECT, citations_support=None), "claims.supporting"),
    ],
)
def test_what_is_not_recorded_leaves_the_category_open(
    facts: FailureFacts, missing: str
) -> None:
    assert failure_category(facts) == ("UNDETERMINED", missing)


def test_evidence_in_the_context_settles_the_steps_before() -> None:
    facts = replace(PERFECT, in_corpus=None, in_one_chunk=None, among_candidates=None)
    assert failure_category(facts) == ("SUCCESS", None)


def test_the_noise_threshold_is_the_callers() -> None:
    facts = replace(PERFECT, correct=False, irrelevant_share=0.6)
    assert failure_category(facts, noise_threshold=0.5)[0] == "CONTEXT_NOISE"


def test_the_first_category_that_applies_counts_also_when_evidence_was_seen() -> None:
    assert failure_category(replace(PERFECT, in_one_chunk=False))[0] == "BAD_CHUNKING"
    assert failure_category(replace(LOST, in_one_chunk=False))[0] == "BAD_CHUNKING"
    seen = replace(PERFECT, in_corpus=None, in_one_chunk=False)
    assert failure_category(seen) == ("BAD_CHUNKING", None)


def test_results_are_ranked_from_the_candidates() -> None:
    record = {
        "question_id": "q",
        "answer": "x",
        "correct": 0,
        "evidence": ["a"],
        "candidates": ["b"],
        "retrieved": ["a"],
        "selected": ["b"],
    }
    with pytest.raises(InputError, match="among retrieved but not among candidates"):
        score([record])
    known = {**record, "evidence_in_corpus": True, "evidence_in_one_chunk": True}
    missed = score([{**known, "retrieved": ["b"]}])
    assert missed.rows[0]["failure_category"] == "RETRIEVAL_MISS"
    ranked = score([{**known, "candidates": ["b", "a"]}])
    assert ranked.rows[0]["failure_category"] == "RERANKING_MISS"
