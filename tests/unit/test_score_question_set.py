"""The audit of a question set: mix, labels, duplicates, overlap."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onechange.errors import InputError, MethodError
from onechange.score import ScoreOptions, audit_question_set
from onechange.score.answers import normalise
from onechange.score.similar import similar_pairs

RECORDS: list[dict[str, Any]] = [
    {
        "question_id": "q1",
        "trial": 0,
        "question": "What was the capex of 3M in 2018?",
        "reference": "$1577 million",
        "evidence": [["3M_2018", 60], ["3M_2018", 61]],
        "retrieved": ["c1"],
        "answer": "x",
        "answerable": True,
        "type": "metrics",
    },
    {
        "question_id": "q1",
        "trial": 1,
        "question": "What was the capex of 3M in 2018?",
        "reference": "$1577 million",
        "evidence": [["3M_2018", 60]],
        "answer": "x",
        "answerable": True,
        "type": "metrics",
    },
    {
        "question_id": "q2",
        "question": "what was capex of 3M in 2018",
        "reference": "1,600",
        "status": "insufficient_evidence",
        "type": None,
    },
    {
        "question_id": "q3",
        "question": "What was the capex of 3M in 2019?",
        "status": "failed",
        "answerable": False,
    },
]
WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=7).map(" ".join)


def test_the_counts_cover_every_question() -> None:
    audit = audit_question_set(RECORDS, categories=["type"], near=0.7)
    assert (audit.n_traces, audit.n_questions) == (4, 3)
    assert (audit.answerable, audit.unanswerable, audit.answerable_unknown) == (1, 1, 1)
    assert audit.statuses == {"answered": 2, "failed": 1, "insufficient_evidence": 1}
    assert audit.categories == {"type": {"(none)": 2, "metrics": 1}}
    assert audit.unlabelled == ("q2",)
    assert audit.without_reference == ()
    assert audit.multi_evidence == 1
    assert audit.label_units == {"none": 2, "page": 1}
    assert audit.result_units == {"id": 1, "none": 2}
    assert audit.changed_text == ("q1",)
    assert audit.duplicates == audit.conflicting == (("q1", "q2"),)
    assert audit.near_duplicates == (("q1", "q3"), ("q2", "q3"))
    assert [note.code for note in audit.notes] == [
        "repeated-text",
        "not-comparable",
        "unscored-rows",
        "label-unit-differs",
    ]
    shares = {row["check"]: row["share"] for row in audit.to_dicts()}
    assert shares["more than one labelled unit"] == pytest.approx(1 / 3)


def test_a_mapping_of_chunks_settles_the_unit() -> None:
    options = ScoreOptions(chunk_pages={"c1": ("3M_2018", 60)})
    audit = audit_question_set(RECORDS, options=options)
    assert "label-unit-differs" not in [note.code for note in audit.notes]


def test_a_set_that_was_seen_before_is_not_held_out() -> None:
    other = [
        {"question_id": "q3", "question": "Something else"},
        {"question_id": "dev1", "question": "WHAT was the capex of 3M in 2018"},
        {"question_id": "dev2", "question": "What was the capex of 3M in 2020?"},
    ]
    audit = audit_question_set(RECORDS[:3], other=other, near=0.7)
    assert audit.overlap is not None
    assert audit.overlap.same_id == ()
    assert audit.overlap.same_text == (("q1", "dev1"), ("q2", "dev1"))
    assert audit.overlap.near_text == (("q1", "dev2"), ("q2", "dev2"))
    assert audit.notes[-1].code == "sets-overlap"
    clean = audit_question_set(RECORDS[:1], other=other[:1])
    assert "sets-overlap" not in [note.code for note in clean.notes]
    assert {row["check"]: row["count"] for row in clean.to_dicts()}["shared ids"] == 0


def test_a_text_under_the_same_id_is_shared() -> None:
    mine = [
        {"question_id": "d1", "question": "What was revenue in 2020?"},
        {"question_id": "d2", "question": "Who leads the firm of the example?"},
    ]
    theirs = [mine[0], {"question_id": "d2", "question": "How many people work there?"}]
    overlap = audit_question_set(mine, other=theirs).overlap
    assert overlap is not None
    assert overlap.same_id == ("d1", "d2")
    assert overlap.same_text == (("d1", "d1"),)
    assert audit_question_set(mine, other=mine).overlap is not None
    itself = {
        r["check"]: r["count"] for r in audit_question_set(mine, other=mine).to_dicts()
    }
    assert (itself["shared ids"], itself["shared texts"]) == (2, 2)
    assert audit_question_set(mine).duplicates == ()


def test_a_column_that_no_trace_has_is_refused() -> None:
    with pytest.raises(InputError, match=r"no trace has a field topic .*found: type"):
        audit_question_set(RECORDS, categories=["topic"])


@given(st.lists(WORDS, max_size=8), st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_similar_pairs_are_those_of_a_plain_search(
    texts: list[str], threshold: float
) -> None:
    words = [set(normalise(text).split()) for text in texts]
    expected = [
        (i, j)
        for i, j in combinations(range(len(texts)), 2)
        if words[i]
        and words[j]
        and len(words[i] & words[j]) / len(words[i] | words[j]) >= threshold - 1e-9
    ]
    found = similar_pairs(texts, threshold=threshold)
    assert [(pair.first, pair.second) for pair in found] == expected


def test_a_threshold_out_of_range_is_refused() -> None:
    with pytest.raises(MethodError, match="threshold = 0"):
        similar_pairs(["a"], threshold=0)


def test_a_missing_reference_is_no_other_reference_and_missing_texts_are_counted() -> (
    None
):
    audit = audit_question_set(
        [
            {"question_id": "a", "question": "Who?", "reference": "Ana"},
            {"question_id": "b", "question": "who"},
            {"question_id": "c", "question": "Who", "reference": "Ben"},
            {"question_id": "d"},
            {"question_id": "e", "question": " "},
        ]
    )
    assert audit.conflicting == (("a", "c"),)
    assert audit.without_text == ("d", "e")
    rows = {row["check"]: row["count"] for row in audit.to_dicts()}
    assert rows["without a question text"] == 2
    assert any("2 of 5 questions have no text" in note.text for note in audit.notes)
