"""Retrieval scores: conventions, units and the refusals."""

from __future__ import annotations

import pytest

from onechange.errors import InputError, MethodError
from onechange.score import ScoreOptions, score
from onechange.score.retrieval import answer_in_context, column_name, retrieval_scores

PAGES = [["d", 1], ["d", 1], ["d", 2], ["d", 2], ["d", 3], ["d", 9]]


def test_the_worked_values_of_the_definitions() -> None:
    got = retrieval_scores(["C2", "C11", "C7", "C19", "C4"], {"C4", "C11"}, k=[5])
    assert (got["recall_at_5"], got["precision_at_5"], got["rr_at_5"]) == (1, 0.4, 0.5)
    assert got["evidence_complete_at_5"] == 1.0
    assert got["context_precision_ranked_at_5"] == pytest.approx((1 / 2 + 2 / 5) / 2)


def test_unfilled_positions_are_misses_for_precision_only() -> None:
    got = retrieval_scores(["a"], ["a", "b"], k=[4])
    assert got["precision_at_4"] == 0.25
    assert got["precision_returned_at_4"] == 1.0


def test_a_label_of_grade_zero_is_no_evidence() -> None:
    got = retrieval_scores(["a", "b"], {"a": 0, "b": 2}, k=[1])
    assert got["hit_at_1"] == 0.0
    assert retrieval_scores(["a"], {"a": 0}, k=[1])["recall_at_1"] is None


@pytest.mark.parametrize("k", [[], [0], [-1], [1.5], [True]])
def test_a_depth_that_is_no_positive_integer_is_refused(k: list[object]) -> None:
    with pytest.raises(MethodError, match="k "):
        retrieval_scores(["a"], ["a"], k=k)  # type: ignore[arg-type]


def test_an_unknown_gain_is_refused() -> None:
    with pytest.raises(MethodError, match="gain = 'log'"):
        retrieval_scores(["a"], ["a"], gain="log")


def test_columns_carry_the_unit_when_it_is_not_the_chunk() -> None:
    assert column_name("hit", 5) == "hit_at_5"
    assert column_name("hit", 5, "page") == "page_hit_at_5"
    assert column_name("ndcg", 10, "document") == "document_ndcg_at_10"


def test_k_counts_results_or_distinct_pages_as_stated() -> None:
    record = {"question_id": "q", "evidence": [["d", 9]], "retrieved": PAGES}
    by_result = score([record]).rows[0]
    assert by_result["page_hit_at_5"] == 0.0
    by_page = score([record], options=ScoreOptions(positions="distinct")).rows[0]
    assert by_page["page_hit_at_5"] == 1.0
    assert by_page["page_rr_at_5"] == 0.25


def test_chunks_reach_pages_only_through_a_mapping() -> None:
    record = {"question_id": "q", "evidence": [["d", 2]], "retrieved": ["c1", "c2"]}
    plain = score([record])
    assert plain.score_columns == ()
    assert "do not name a page" in plain.not_scored["page_hit_at_5"]
    options = ScoreOptions(chunk_pages={"c1": ("d", 1), "c2": ("d", 2)})
    assert score([record], options=options).rows[0]["page_rr_at_5"] == 0.5
    partial = ScoreOptions(chunk_pages={"c1": ("d", 1)})
    with pytest.raises(
        InputError, match="'q': retrieved: chunk 'c2' is not in the map"
    ):
        score([record], options=partial)


def test_pages_roll_up_to_documents() -> None:
    record = {
        "question_id": "q",
        "evidence": [["a", 1], ["b", 7]],
        "retrieved": [["x", 1], ["b", 2]],
    }
    row = score([record], options=ScoreOptions(unit="document")).rows[0]
    assert row["document_recall_at_5"] == 0.5
    assert row["document_rr_at_5"] == 0.5


def test_labels_in_two_units_need_a_stated_unit() -> None:
    records = [
        {"question_id": "q1", "evidence": ["c1"], "retrieved": ["c1"]},
        {"question_id": "q2", "evidence": [["d", 1]], "retrieved": ["c1"]},
    ]
    with pytest.raises(InputError, match="'q2' is a page and of question 'q1' an id"):
        score(records)
    rows = score(records, options=ScoreOptions(unit="chunk"))
    assert rows.rows[1]["hit_at_5"] is None
    assert rows.reasons[1]["hit_at_5"] == "the evidence is not labelled by chunk"


def test_an_unanswerable_question_has_no_precision() -> None:
    records = [
        {"question_id": "q1", "evidence": [], "retrieved": ["a"], "answerable": False},
        {"question_id": "q2", "evidence": [], "retrieved": ["a"]},
    ]
    for record in records:
        record["status"] = "insufficient_evidence"
    first, second = score(records).rows
    assert first["precision_at_5"] is None
    assert second["precision_at_5"] == 0.0


def test_nothing_returned_is_zero_and_nothing_recorded_is_unscored() -> None:
    records = [
        {"question_id": "q1", "evidence": ["a"], "retrieved": []},
        {"question_id": "q2", "evidence": ["a"]},
    ]
    rows = score(records)
    assert rows.rows[0]["recall_at_5"] == 0.0
    assert rows.rows[0]["precision_returned_at_5"] == 0.0
    assert rows.rows[1]["recall_at_5"] is None
    assert rows.reasons[1]["recall_at_5"] == "no retrieved results are recorded"


def test_a_reference_answer_is_found_as_whole_words() -> None:
    assert answer_in_context(["in 2012"], ["12"], k=1) == 0.0
    assert answer_in_context(["x", "The 12."], ["12"], k=1) == 0.0
    assert answer_in_context(["x", "The 12."], ["12"], k=2) == 1.0
    assert answer_in_context(["x"], ["the"], k=2) is None


def test_a_depth_beyond_every_list_costs_nothing() -> None:
    scores = retrieval_scores(["b", "a"], {"a": 1.0, "c": 2.0}, k=[10**9])
    short = retrieval_scores(["b", "a"], {"a": 1.0, "c": 2.0}, k=[2])
    assert scores["ndcg_at_1000000000"] == short["ndcg_at_2"]
    assert scores["rr_at_1000000000"] == 0.5
    assert scores["precision_at_1000000000"] == 1e-9
