"""Scores from claims and citations."""

from __future__ import annotations

import pytest

from onechange.errors import MethodError
from onechange.score import Claim, Passages
from onechange.score.answers import (
    abstention_scores,
    exact_match,
    joint_scores,
    supporting_fact_scores,
)
from onechange.score.claims import (
    citation_precision,
    citation_recall,
    cited_in_context,
    context_recall,
    contradiction_rate,
    correct_and_grounded,
    faithfulness,
    step_faithfulness,
)


def test_no_claims_is_unscored_not_zero() -> None:
    assert faithfulness([]) is None
    assert contradiction_rate([]) is None
    assert context_recall([]) is None
    assert step_faithfulness([]) == {}


def test_no_citation_leaves_precision_unscored_and_recall_zero() -> None:
    claims = [Claim("supported", cited=(), supporting=("p1",))]
    assert citation_precision(claims) is None
    assert citation_recall(claims) == 0.0


def test_a_claim_that_needs_no_citation_does_not_count_for_recall() -> None:
    claims = [
        Claim("supported", cited=("p1",), supporting=("p1",)),
        Claim("supported", cited=(), needs_citation=False),
    ]
    assert citation_recall(claims) == 1.0


def test_citations_without_a_verdict_are_unscored() -> None:
    claims = [Claim("supported", cited=("p1",))]
    assert citation_precision(claims) is None
    assert citation_recall(claims) is None
    assert citation_recall([Claim("supported")]) is None


def test_membership_looks_at_ids_pages_and_documents() -> None:
    context = Passages(ids=("c1",), pages=(("d", 3),), documents=("d",))
    cited = ["c1", ("d", 3), "d", ("d", 4)]
    assert cited_in_context(cited, context) == 0.75
    assert cited_in_context([], context) is None


def test_correct_but_ungrounded_is_not_success() -> None:
    assert correct_and_grounded(1.0, 1.0) == 1.0
    assert correct_and_grounded(1.0, 0.99) == 0.0
    assert correct_and_grounded(0.0, None) == 0.0
    assert correct_and_grounded(None, 1.0) is None


@pytest.mark.parametrize("abstained", [True, False])
@pytest.mark.parametrize("answerable", [True, False])
def test_the_abstention_scores_add_up_to_one(abstained: bool, answerable: bool) -> None:
    scores = abstention_scores(abstained=abstained, answerable=answerable)
    assert sum(scores.values()) == 1.0
    assert scores["abstention_correct"] == float(abstained != answerable)
    assert scores["false_answer"] == float(not abstained and not answerable)


def test_a_closed_answer_counts_only_whole_in_the_joint_score() -> None:
    facts = supporting_fact_scores([("A", 0)], [("A", 0)])
    assert joint_scores("yes it is", ["yes"], facts) == (0.0, 0.0)
    assert joint_scores("Yes.", ["yes"], facts) == (1.0, 1.0)


def test_nothing_to_compare_with_is_an_error() -> None:
    with pytest.raises(MethodError, match="no reference answer"):
        exact_match("x", [])
    with pytest.raises(MethodError, match="no supporting fact is labelled"):
        supporting_fact_scores([("A", 0)], [])
