"""Rows of scores: zero, unscored and failed; what is carried; the settings."""

from __future__ import annotations

import math
from typing import Any

import pytest

from onechange.errors import InputError, PlanError
from onechange.score import ScoreOptions, score

ANSWERED: dict[str, Any] = {
    "question_id": "fb1",
    "type": "metrics-generated",
    "question": "What was capex?",
    "reference": "$1577.00 million",
    "answer": "Capex was $1,577 million.",
    "evidence": [["3M_2018_10K", 60]],
    "retrieved": [
        {"id": "c1", "document": "3M_2018_10K", "page": 60, "text": "capex 1577"},
        {"id": "c2", "document": "3M_2018_10K", "page": 61, "text": "other"},
    ],
    "selected": [["3M_2018_10K", 60]],
    "request": {"top_k": 5, "messages": [{"role": "user", "content": "…"}]},
    "cited": [["3M_2018_10K", 60]],
    "claims": [
        {
            "text": "Capex was $1,577 million.",
            "label": "supported",
            "cited": [["3M_2018_10K", 60]],
            "supporting": [["3M_2018_10K", 60]],
        }
    ],
    "correct": 1,
    "scores": {"answer_relevance": 0.9},
    "tokens": {"input": 1200, "output": 35},
    "latency_ms": 812.5,
}
ABSTAINED: dict[str, Any] = {
    "question_id": "fb2",
    "status": "insufficient_evidence",
    "reference": "5%",
    "evidence": [["3M_2018_10K", 45]],
    "retrieved": [["3M_2018_10K", 45]],
    "selected": [["3M_2018_10K", 45]],
    "scores": {"faithfulness": 0.0, "context_precision": 0.5},
}
FAILED: dict[str, Any] = {
    "question_id": "fb3",
    "status": "failed",
    "error": "timeout",
    "evidence": [["3M_2018_10K", 45]],
    "retrieved": [["3M_2018_10K", 45]],
    "scores": {"faithfulness": 0.0},
}


def test_a_row_holds_every_field_of_the_experiment() -> None:
    row = score([ANSWERED]).rows[0]
    assert row["question_id"] == "fb1"
    assert row["type"] == "metrics-generated"
    assert row["question"] == ANSWERED["question"]
    assert row["reference"] == ANSWERED["reference"]
    assert row["evidence"] == [["3M_2018_10K", 60]]
    assert [item["page"] for item in row["retrieved"]] == [
        ["3M_2018_10K", 60],
        ["3M_2018_10K", 61],
    ]
    assert row["page_hit_at_5"] == 1.0
    assert row["answer"] == ANSWERED["answer"]
    assert row["request"] == ANSWERED["request"]
    assert row["cited"] == [["3M_2018_10K", 60]]
    assert row["claims"] == ANSWERED["claims"]
    assert row["status"] == "answered"
    assert row["answer_relevance"] == 0.9
    assert row["numeric_match"] == 1.0
    assert row["correct_and_grounded"] == 1.0
    assert row["failure_category"] == "SUCCESS"
    assert (row["tokens_input"], row["tokens_output"]) == (1200, 35)
    assert row["latency_ms"] == 812.5


def test_unscored_answer_is_not_zero() -> None:
    rows = score([ANSWERED, ABSTAINED])
    row, reasons = rows.rows[1], rows.reasons[1]
    for name in ("exact_match", "token_f1", "faithfulness", "correct", "grounded"):
        assert row[name] is None
        assert reasons[name].startswith("no answer was given")
    assert reasons["faithfulness"].endswith("the recorded 0 is not used")
    assert row["page_hit_at_5"] == 1.0
    assert row["context_precision"] == 0.5
    assert "no answer was given: exact_match" in row["unscored_because"]


def test_a_failed_trace_has_no_score_and_keeps_its_error() -> None:
    rows = score([ANSWERED, FAILED])
    row = rows.rows[1]
    assert {row[name] for name in rows.score_columns} == {None}
    assert row["error"] == "timeout"
    assert row["failure_category"] is None
    assert rows.reasons[1] == {"*": "the run failed"}
    counts = {(s.n_scored, s.n_unscored, s.n_failed) for s in rows.summaries}
    assert counts == {(1, 0, 1)}


def test_scores_that_no_trace_supports_are_listed_with_the_reason() -> None:
    rows = score([{"question_id": "q", "evidence": ["a"], "retrieved": ["a"]}])
    assert rows.not_scored == {
        "answers": "no trace has a field answer",
        "abstention": "no trace says whether its question is answerable",
        "supporting facts": "no trace labels supporting facts",
        "claims": "no trace has labelled claims or citations",
        "outcome": "no trace records a context, correctness or claims",
    }
    assert "faithfulness" not in rows.columns


def test_the_settings_travel_with_the_scores() -> None:
    options = ScoreOptions(k=(10, 1), gain="linear", evidence_rule="any")
    rows = score([ANSWERED], options=options)
    assert rows.settings["k"] == [1, 10]
    assert rows.settings["unit"] == "page"
    assert rows.settings["gain"] == "linear"
    assert rows.settings["evidence_rule"] == "any"
    assert [note.code for note in rows.notes] == ["role-inferred"]


@pytest.mark.parametrize(
    ("scores", "fact"),
    [
        ({"faithfulness": 1.2}, "scores.faithfulness is 1.2, outside [0, 1]"),
        ({"answer_relevance": -1.5}, "outside [-1, 1]"),
        ({"exact_match": 1.0}, "is 1.0, but the trace itself gives 0.0"),
    ],
)
def test_a_finished_score_is_checked(scores: dict[str, float], fact: str) -> None:
    with pytest.raises(InputError) as caught:
        score([{**ANSWERED, "scores": scores}])
    assert "question 'fb1'" in str(caught.value)
    assert fact in str(caught.value)


def test_a_declared_range_is_checked_too() -> None:
    record = {**ANSWERED, "scores": {"style": 7}}
    assert score([record]).rows[0]["style"] == 7
    with pytest.raises(InputError, match=r"scores.style is 7.0, outside \[1, 5\]"):
        score([record], options=ScoreOptions(ranges={"style": (1, 5)}))


def test_judged_scores_beside_the_other_fields_are_taken_too() -> None:
    record = {"question_id": "q", "answer": "x", "faithfulness": 0.25}
    assert score([record]).rows[0]["faithfulness"] == 0.25
    with pytest.raises(InputError, match="faithfulness is 'high'"):
        score([{**record, "faithfulness": "high"}])
    with pytest.raises(InputError, match=r"but scores\.faithfulness is 0\.5"):
        score([{**record, "scores": {"faithfulness": 0.5}}])


def test_a_field_with_the_name_of_a_score_is_refused() -> None:
    record = {"question_id": "q", "evidence": ["a"], "retrieved": ["a"], "hit_at_5": 0}
    with pytest.raises(PlanError, match="field hit_at_5 of question 'q' is also"):
        score([record])


def test_a_number_that_is_not_finite_is_refused() -> None:
    with pytest.raises(InputError, match="latency_ms is inf, not a finite number"):
        score([{**ANSWERED, "latency_ms": math.inf}])


def test_a_label_of_the_user_wins() -> None:
    rows = score([{**ANSWERED, "category": "BAD_CITATION"}])
    assert rows.rows[0]["failure_category"] == "BAD_CITATION"
    with pytest.raises(InputError, match="category is 'BAD_LUCK'; expected CORPUS"):
        score([{**ANSWERED, "category": "BAD_LUCK"}])
    options = ScoreOptions(categories=("BAD_LUCK",))
    rows = score([{**ANSWERED, "category": "BAD_LUCK"}], options=options)
    assert rows.rows[0]["failure_category"] == "BAD_LUCK"


@pytest.mark.parametrize(
    ("change", "category"),
    [
        ({"correct": 0}, "GENERATION_ERROR"),
        (
            {"correct": 0, "selected": [["3M_2018_10K", p] for p in range(60, 66)]},
            "CONTEXT_NOISE",
        ),
        ({"claims": [{"label": "unsupported"}]}, "UNFAITHFUL_CLAIM"),
        (
            {"claims": [{"label": "supported", "cited": ["c2"], "supporting": []}]},
            "BAD_CITATION",
        ),
        ({"selected": [["3M_2018_10K", 61]]}, "RERANKING_MISS"),
        ({"answerable": False, "evidence": []}, "FAILED_TO_ABSTAIN"),
        ({"evidence_in_one_chunk": False}, "BAD_CHUNKING"),
        (
            {"retrieved": [], "selected": [], "evidence_in_corpus": False},
            "CORPUS_MISSING",
        ),
        ({"retrieved": [], "selected": []}, "UNDETERMINED"),
    ],
)
def test_the_trace_gives_the_category(change: dict[str, Any], category: str) -> None:
    assert score([{**ANSWERED, **change}]).rows[0]["failure_category"] == category


def test_an_assumed_index_turns_open_cases_into_retrieval_misses() -> None:
    record = {**ANSWERED, "retrieved": [], "selected": []}
    assert score([record]).rows[0]["failure_missing"] == "evidence_in_corpus"
    rows = score([record], options=ScoreOptions(assume_indexed=True))
    assert rows.rows[0]["failure_category"] == "RETRIEVAL_MISS"


def test_evidence_counts_as_present_by_the_stated_rule() -> None:
    record = {**ANSWERED, "evidence": [["3M_2018_10K", 60], ["3M_2018_10K", 99]]}
    assert score([record]).rows[0]["evidence_in_context"] == 0.0
    rows = score([record], options=ScoreOptions(evidence_rule="any"))
    assert rows.rows[0]["evidence_in_context"] == 1.0


def test_correctness_may_stand_on_a_computed_score() -> None:
    record = {name: value for name, value in ANSWERED.items() if name != "correct"}
    assert score([record]).rows[0].get("correct") is None
    rows = score([record], options=ScoreOptions(correct_from="numeric_match"))
    assert rows.rows[0]["correct"] == 1.0
    partial = ScoreOptions(correct_from="token_f1", correct_threshold=0.3)
    assert score([record], options=partial).rows[0]["correct"] == 1.0


def test_steps_of_a_run_are_scored_with_their_minimum() -> None:
    claims = [
        {"label": "supported", "step": 1},
        {"label": "unsupported", "step": 2},
        {"label": "supported", "step": 2},
    ]
    row = score([{"question_id": "q", "answer": "x", "claims": claims}]).rows[0]
    assert row["step_faithfulness_1"] == 1.0
    assert row["step_faithfulness_2"] == 0.5
    assert row["step_faithfulness_min"] == 0.5
    assert row["faithfulness"] == pytest.approx(2 / 3)


def test_hotpot_scores_come_from_the_fact_fields() -> None:
    record = {
        "question_id": "q",
        "answer": "Paris",
        "reference": "Paris",
        "supporting_facts": [["A", 0], ["B", 1]],
        "reference_facts": [["A", 0], ["B", 2]],
    }
    row = score([record]).rows[0]
    assert row["supporting_fact_em"] == 0.0
    assert row["supporting_fact_f1"] == 0.5
    assert row["joint_f1"] == 0.5


def test_rouge_is_computed_only_when_asked_for() -> None:
    pytest.importorskip("rouge_score")
    assert "rouge_l" not in score([ANSWERED]).columns
    rows = score([ANSWERED], options=ScoreOptions(rouge_l=True))
    assert 0 < rows.rows[0]["rouge_l"] <= 1


def test_unanswerable_questions_score_the_abstention() -> None:
    records = [
        {"question_id": "q1", "status": "insufficient_evidence", "answerable": False},
        {"question_id": "q2", "answer": "x", "answerable": False},
        {"question_id": "q3", "status": "insufficient_evidence", "answerable": True},
    ]
    rows = score(records).rows
    assert [row["abstention_correct"] for row in rows] == [1, 0, 0]
    assert [row["false_answer"] for row in rows] == [0, 1, 0]
    assert [row["false_abstention"] for row in rows] == [0, 0, 1]
    assert [row["answerable"] for row in rows][:2] == ["unanswerable"] * 2
    assert [row["failure_category"] for row in rows] == [
        "SUCCESS",
        "FAILED_TO_ABSTAIN",
        "UNDETERMINED",
    ]


def test_constant_columns_and_carried_fields_are_added() -> None:
    options = ScoreOptions(constants={"run": "topk3"}, carry=("meta",))
    row = score([{**ANSWERED, "meta": {"a": 1}, "junk": [1]}], options=options).rows[0]
    assert row["run"] == "topk3"
    assert row["meta"] == {"a": 1}
    assert "junk" not in row
    with pytest.raises(InputError, match="type is a field of the trace and a constant"):
        score([ANSWERED], options=ScoreOptions(constants={"type": "x"}))


def test_the_table_of_scores_is_the_representation() -> None:
    text = repr(score([ANSWERED, ABSTAINED, FAILED]))
    assert text.splitlines()[0].split() == [
        "score",
        "mean",
        "n_scored",
        "n_unscored",
        "n_failed",
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("grounded", 3),
        ("evidence_in_context", 5),
        ("hit_at_10", 2),
        ("recall_at_5", -3),
        ("page_ndcg_at_10", 1.01),
        ("joint_f1", 1.5),
        ("oracle_correct", 2),
        ("oracle_hit_at_5", -1),
    ],
)
def test_a_finished_score_outside_its_range_is_refused(name: str, value: float) -> None:
    record = {"question_id": "q", "answer": "x", "scores": {name: value}}
    with pytest.raises(
        InputError, match=rf"scores.{name} is {value}.*outside \[0, 1\]"
    ):
        score([record])
    declared = ScoreOptions(ranges={name: (-5, 5)})
    assert score([record], options=declared).rows[0][name] == value


def test_finished_outcomes_are_kept_and_must_agree() -> None:
    record = {"question_id": "q", "answer": "x", "answerable": True}
    given = {"correct": 1, "grounded": 1, "evidence_in_context": 1}
    row = score([{**record, "scores": given}]).rows[0]
    assert {name: row[name] for name in given} == given
    assert row["correct_and_grounded"] == 1.0
    claims = [{"label": "unsupported"}]
    with pytest.raises(InputError, match=r"scores\.grounded is 1\.0, but the trace"):
        score([{**record, "claims": claims, "scores": {"grounded": 1}}])


def test_evidence_that_is_not_in_the_corpus_cannot_be_in_the_context() -> None:
    with pytest.raises(InputError, match="evidence_in_corpus is false, but the label"):
        score([{**ANSWERED, "evidence_in_corpus": False}])


def test_one_number_recorded_twice_must_be_one_number() -> None:
    record = {"question_id": "q", "answer": "x", "tokens_prompt": 1}
    with pytest.raises(InputError, match="tokens_prompt is 1 and 2, once in an object"):
        score([{**record, "tokens": {"prompt": 2}}])
    assert score([{**record, "tokens": {"prompt": 1}}]).rows[0]["tokens_prompt"] == 1


def test_citations_that_are_not_used_are_said() -> None:
    claims = [{"label": "supported", "cited": ["a"], "supporting": ["a"]}]
    record = {"question_id": "q", "answer": "x", "claims": claims}
    notes = score([{**record, "cited": ["a", "b"]}]).notes
    assert [note.code for note in notes] == ["citations-differ"]
    assert "1 of 1 traces cite other units" in notes[0].text
    assert score([{**record, "cited": ["a"]}]).notes == ()
