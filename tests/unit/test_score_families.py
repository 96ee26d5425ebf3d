"""Why a score is missing: each family gives its reason, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from onechange.errors import InputError
from onechange.score import ScoreOptions, Trace, score

FULL: dict[str, Any] = {
    "question_id": "full",
    "answer": "Paris",
    "reference": "Paris",
    "answerable": True,
    "evidence": ["a"],
    "retrieved": [{"id": "a", "text": "Paris it is"}],
    "selected": ["a"],
    "supporting_facts": [["A", 0]],
    "reference_facts": [["A", 0]],
    "claims": [
        {"label": "supported", "step": "1", "cited": ["a"], "supporting": ["a"]}
    ],
    "reference_claims": [{"attributable": True}, False],
    "cosines": [0.5, 0.7],
    "correct": 1,
}


def _reasons(**change: Any) -> dict[str, str]:
    """Reasons of a trace that differs from the full one; None takes a field away."""
    other = {**FULL, "question_id": "other", **change}
    other = {name: value for name, value in other.items() if value is not None}
    return dict(score([FULL, other]).reasons[1])


def test_a_full_trace_has_every_score() -> None:
    rows = score([FULL])
    assert rows.reasons[0].keys() == {"numeric_match"}
    assert rows.not_scored == {"numeric_match": "the reference holds no number"}
    assert rows.rows[0]["answer_relevance"] == pytest.approx(0.6)
    assert rows.rows[0]["context_recall"] == 0.5
    assert rows.rows[0]["joint_f1"] == 1.0


@pytest.mark.parametrize(
    ("change", "column", "reason"),
    [
        ({"reference": None}, "exact_match", "no reference answer"),
        ({"reference": None}, "answer_in_context_at_5", "no reference answer"),
        ({"reference": None}, "joint_f1", "no reference answer"),
        (
            {"reference": "the"},
            "answer_in_context_at_5",
            "the reference is empty after",
        ),
        ({"retrieved": ["a"]}, "answer_in_context_at_5", "the results have no text"),
        (
            {"retrieved": [{"id": "a", "text": "x"}, {"id": "b"}]},
            "answer_in_context_at_5",
            "a result has no text",
        ),
        ({"retrieved": None}, "hit_at_5", "no retrieved results are recorded"),
        ({"evidence": None}, "hit_at_5", "no labelled evidence"),
        ({"evidence": None}, "evidence_in_context", "no labelled evidence"),
        ({"selected": None}, "evidence_in_context", "no selected context is recorded"),
        ({"selected": None}, "cited_in_context", "no selected context is recorded"),
        ({"selected": [["d", 1]]}, "evidence_in_context", "does not name a chunk"),
        ({"answerable": None}, "false_answer", "answerable is not recorded"),
        ({"reference_facts": None}, "joint_em", "no supporting fact is labelled"),
        ({"supporting_facts": None}, "supporting_fact_f1", "no supporting facts are"),
        ({"claims": []}, "faithfulness", "no claims are labelled"),
        ({"claims": []}, "step_faithfulness_min", "no claims are labelled"),
        ({"claims": []}, "cited_in_context", "no citations are recorded"),
        (
            {"claims": [{"label": "supported"}]},
            "step_faithfulness_min",
            "the claims name no step",
        ),
        (
            {"claims": [{"label": "supported", "cited": []}]},
            "citation_precision",
            "nothing is cited",
        ),
        (
            {"claims": [{"label": "supported", "cited": ["a"]}]},
            "citation_precision",
            "no claim says what supports it",
        ),
        ({"reference_claims": None}, "context_recall", "no reference claims are"),
        ({"correct": None}, "correct", "correctness is not recorded"),
    ],
)
def test_the_reason_names_what_is_missing(
    change: dict[str, Any], column: str, reason: str
) -> None:
    assert reason in _reasons(**change)[column]


def test_an_abstention_keeps_facts_and_retrieval() -> None:
    abstained = {
        **FULL,
        "question_id": "other",
        "status": "insufficient_evidence",
        "answer": "I cannot tell.",
    }
    rows = score([FULL, abstained])
    row, reasons = rows.rows[1], rows.reasons[1]
    assert row["supporting_fact_f1"] == 1.0
    assert row["hit_at_5"] == 1.0
    for name in ("joint_f1", "answer_relevance", "faithfulness", "cited_in_context"):
        assert row[name] is None
        assert reasons[name] == "no answer was given"


def test_nothing_returned_cannot_hold_the_answer() -> None:
    rows = score([FULL, {**FULL, "question_id": "other", "retrieved": []}])
    assert rows.rows[1]["answer_in_context_at_5"] == 0.0


def test_retrieval_traces_are_scored_without_answers() -> None:
    records = [
        {"question_id": "q", "retrieved": ["a"], "answerable": True},
        {"question_id": "r", "retrieved": ["a"], "answerable": False},
    ]
    rows = score(records)
    assert rows.not_scored["retrieval"] == "no trace has labelled evidence"
    assert rows.not_scored["abstention_correct"] == "no answer is recorded"
    missing = [row["failure_missing"] for row in rows.rows]
    assert missing == ["evidence", "status"]


def test_citations_of_the_whole_answer_are_checked_for_membership() -> None:
    record = {"question_id": "q", "answer": "x", "cited": ["a", "b"], "selected": ["a"]}
    rows = score([record])
    assert rows.rows[0]["cited_in_context"] == 0.5
    assert rows.rows[0]["cited"] == ["a", "b"]


def test_labels_by_chunk_reach_documents_through_the_mapping() -> None:
    options = ScoreOptions(
        unit="document", chunk_pages={"c1": ("d", 1), "c2": ("e", 1)}
    )
    record = {"question_id": "q", "evidence": ["c1"], "retrieved": ["c2", "c1", "c1"]}
    assert score([record], options=options).rows[0]["document_rr_at_5"] == 0.5
    named = {"question_id": "q", "evidence": ["d"], "retrieved": ["e", "d"]}
    plain = ScoreOptions(unit="document")
    assert score([named], options=plain).rows[0]["document_rr_at_5"] == 0.5
    listed = {
        "question_id": "q",
        "evidence": [{"document": "d"}],
        "retrieved": [{"document": "e"}, {"document": "d"}],
    }
    rows = score([listed], options=plain)
    assert rows.rows[0]["document_rr_at_5"] == 0.5
    assert rows.rows[0]["retrieved"] == ["e", "d"]


def test_a_repeated_chunk_keeps_its_first_place_with_its_page_and_text() -> None:
    record = {
        "question_id": "q",
        "reference": "yes",
        "evidence": [["d", 2]],
        "retrieved": [
            {"id": "c1", "document": "d", "page": 1, "text": "no"},
            {"id": "c1", "document": "d", "page": 1, "text": "no"},
            {"id": "c2", "document": "d", "page": 2, "text": "yes"},
        ],
    }
    row = score([record], options=ScoreOptions(k=(2,))).rows[0]
    assert row["page_rr_at_2"] == 0.5
    assert row["page_answer_in_context_at_2"] == 1.0


def test_graded_labels_and_integer_ids_are_read() -> None:
    record = {
        "question_id": "q",
        "evidence": {"1": 2, "2": 0},
        "retrieved": [2, 1],
        "trial": 3,
    }
    row = score([record]).rows[0]
    assert row["rr_at_5"] == 0.5
    assert row["evidence"] == [{"unit": "1", "grade": 2.0}, {"unit": "2", "grade": 0.0}]
    assert row["trial"] == "3"
    graded = {
        "question_id": "q",
        "evidence": [7, {"id": "x", "grade": 3}],
        "retrieved": ["7"],
    }
    assert score([graded]).rows[0]["recall_at_5"] == 0.5


def test_a_status_of_a_hand_made_trace_is_checked_too() -> None:
    assert score([Trace("q", status="answered", answer="x", correct=1.0)]).rows
    with pytest.raises(InputError, match="status is 'done'; expected answered"):
        score([Trace("q", status="done")])


@pytest.mark.parametrize(
    ("field", "value", "fact"),
    [
        ("claims", [{"label": "supported", "step": "min"}], "step is 'min'"),
        ("claims", ["x"], r"claims\[0\] is a text; expected an object with a label"),
        ("claims", {}, "claims is an object; expected a list of claims"),
        ("scores", [1], "scores is a list; expected an object of numbers"),
        ("scores", {"x": 10**400}, "not a finite number"),
        ("cosines", [], "cosines is empty; expected a list of numbers"),
        ("reference_claims", {}, "expected a list of true and false"),
        ("answer", 5, "answer is 5; expected a text"),
        ("retrieved", {}, "retrieved is {}; expected a list"),
        ("retrieved", [{"id": "a", "page": 1}], "has a page but no document"),
        ("retrieved", [{"id": "a", "text": 1}], r"retrieved\[0\].text is 1"),
        ("retrieved", [{"id": 1.5}], r"retrieved\[0\].id is 1.5; expected a text"),
        ("evidence", "a", "evidence is 'a'; expected a list of units"),
        ("evidence", [{"x": 1}], "expected an id, a"),
        ("cited", "a", "cited is 'a'; expected a list of units"),
        ("supporting_facts", "a", "expected a list of pairs"),
        ("supporting_facts", [3], r"supporting_facts\[0\] is 3"),
    ],
)
def test_a_form_that_is_not_known_is_named(field: str, value: Any, fact: str) -> None:
    with pytest.raises(InputError, match=fact):
        score([{"question_id": "q", "answer": "x", field: value}])


def test_other_forms_of_the_same_value_are_read() -> None:
    record = {
        "question_id": "q",
        "answer": "x",
        "answerable": 1,
        "error": None,
        "scores": {"a": None},
        "evidence": [{"document": "d", "page": 2}, {"id": 7}],
        "cited": [{"document": "d"}],
    }
    rows = score([record], options=ScoreOptions(unit="chunk"))
    assert rows.rows[0]["answerable"] == "answerable"
    assert rows.rows[0]["evidence"] == [["d", 2], "7"]
    failed = {"question_id": "q", "error": {"code": 500}}
    assert score([failed]).rows[0]["error"] == "{'code': 500}"


def test_rounding_by_another_tool_is_no_contradiction() -> None:
    claims = [
        {"label": "supported"},
        {"label": "unsupported"},
        {"label": "unsupported"},
    ]
    record = {
        "question_id": "q",
        "answer": "x",
        "claims": claims,
        "cosines": [1.0000001, -1.0000001],
        "correct": 1.0000001,
        "scores": {"faithfulness": 0.33333333, "style": 5.0000004},
        "answer_relevance": 0.0000004,
    }
    rows = score([record], options=ScoreOptions(ranges={"style": (1.0, 5.0)}))
    row = rows.rows[0]
    assert row["faithfulness"] == 1 / 3
    assert row["answer_relevance"] == pytest.approx(0.0, abs=1e-6)
    assert (row["correct"], row["style"]) == (1.0, 5.0)
    for wrong in ({"scores": {"faithfulness": 0.3333}}, {"cosines": [1.00001]}):
        with pytest.raises(InputError):
            score([{**record, **wrong}])
