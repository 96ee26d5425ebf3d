"""Properties of the scores that hold for every trace."""

from __future__ import annotations

import json
import math

from hypothesis import given
from hypothesis import strategies as st

from onechange.errors import OnechangeError
from onechange.score import parse_trace, score
from onechange.score.answers import exact_match, normalise, token_f1
from onechange.score.numbers import numeric_match, quantities
from onechange.score.retrieval import RETRIEVAL_SCORES, retrieval_scores

UNITS = st.sampled_from([f"d{i}" for i in range(12)])
RANKED = st.lists(UNITS, max_size=15)
GRADES = st.dictionaries(UNITS, st.integers(0, 4), max_size=6)
TEXTS = st.text(max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4)
    ),
    max_leaves=8,
)


@given(RANKED, GRADES, st.sampled_from(["exponential", "linear"]))
def test_scores_lie_between_zero_and_one(
    ranked: list[str], grades: dict[str, int], gain: str
) -> None:
    for value in retrieval_scores(ranked, grades, k=[1, 3, 10], gain=gain).values():
        assert value is None or 0.0 <= value <= 1.0 + 1e-12


@given(RANKED, GRADES)
def test_repeated_results_change_nothing(
    ranked: list[str], grades: dict[str, int]
) -> None:
    distinct = list(dict.fromkeys(ranked))
    assert retrieval_scores(ranked, grades, k=[1, 5]) == retrieval_scores(
        distinct, grades, k=[1, 5]
    )


@given(RANKED, GRADES)
def test_hit_recall_and_rr_never_fall_with_depth(
    ranked: list[str], grades: dict[str, int]
) -> None:
    got = retrieval_scores(ranked, grades, k=range(1, 16))
    for name in ("hit", "recall", "rr", "ap", "evidence_complete"):
        values = [got[f"{name}_at_{k}"] for k in range(1, 16)]
        if None not in values:
            assert values == sorted(values)


@given(RANKED, GRADES, st.integers(1, 15))
def test_both_precisions_agree_when_k_results_are_returned(
    ranked: list[str], grades: dict[str, int], k: int
) -> None:
    got = retrieval_scores(ranked, grades, k=[k])
    returned = min(k, len(set(ranked)))
    if returned == k:
        assert got[f"precision_at_{k}"] == got[f"precision_returned_at_{k}"]
    assert math.isclose(
        got[f"precision_at_{k}"] * k,
        got[f"precision_returned_at_{k}"] * returned,
        abs_tol=1e-9,
    )


@given(RANKED, GRADES, st.integers(1, 15))
def test_positions_of_distinct_results_are_the_plain_ranking(
    ranked: list[str], grades: dict[str, int], k: int
) -> None:
    distinct = list(dict.fromkeys(ranked))
    assert retrieval_scores(distinct, grades, k=[k], keep_positions=True) == (
        retrieval_scores(distinct, grades, k=[k])
    )


@given(RANKED, GRADES, st.integers(1, 8))
def test_repeated_pages_never_push_a_score_over_one(
    ranked: list[str], grades: dict[str, int], k: int
) -> None:
    got = retrieval_scores(ranked, grades, k=[k], keep_positions=True)
    assert all(value is None or value <= 1.0 + 1e-12 for value in got.values())


@given(RANKED, st.integers(1, 8))
def test_empty_labels_leave_all_but_precision_unscored(
    ranked: list[str], k: int
) -> None:
    got = retrieval_scores(ranked, [], k=[k])
    scored = {f"precision_at_{k}", f"precision_returned_at_{k}"}
    assert len(got) == len(RETRIEVAL_SCORES)
    assert {name for name, value in got.items() if value is not None} == scored
    assert set(retrieval_scores(ranked, [], k=[k], unanswerable=True).values()) == {
        None
    }


@given(TEXTS, TEXTS)
def test_token_f1_is_symmetric_and_exact_match_implies_it(a: str, b: str) -> None:
    assert token_f1(a, [b]) == token_f1(b, [a])
    assert 0.0 <= token_f1(a, [b]) <= 1.0
    if exact_match(a, [b]):
        assert token_f1(a, [b]) == 1.0
    assert normalise(normalise(a)) == normalise(a)


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3), TEXTS)
def test_a_further_reference_never_lowers_a_score(
    answer: str, references: list[str], further: str
) -> None:
    more = [*references, further]
    assert token_f1(answer, more) >= token_f1(answer, references)
    assert exact_match(answer, more) >= exact_match(answer, references)
    before, after = numeric_match(answer, references), numeric_match(answer, more)
    assert before is None or (after is not None and after >= before)


@given(TEXTS)
def test_a_text_matches_its_own_numbers(text: str) -> None:
    assert numeric_match(text, [text]) in (None, 1.0)
    assert (numeric_match(text, [text]) is None) == (not quantities(text))


@given(st.integers(-(10**12), 10**12), st.integers(0, 6))
def test_a_number_is_read_back_with_its_sign_and_separators(
    n: int, places: int
) -> None:
    text = f"{n / 10**places:,.{places}f}"
    (found,) = quantities(f"It was {text} in all.")
    assert float(found.value) == float(text.replace(",", ""))


@given(st.dictionaries(st.sampled_from(
    ["question_id", "status", "answer", "reference", "evidence", "retrieved",
     "selected", "claims", "cited", "cosines", "correct", "scores", "answerable",
     "supporting_facts", "reference_facts", "category", "trial", "other"]
), JSON, max_size=8))  # fmt: skip
def test_any_record_gives_rows_or_a_message(record: dict[str, object]) -> None:
    try:
        rows = score([{"question_id": "q1", **record}])
    except OnechangeError:
        return
    assert len(rows.rows) == 1
    json.dumps([rows.rows[0].get(n) for n in rows.score_columns], allow_nan=False)


@given(RANKED, st.sets(UNITS, max_size=4))
def test_counts_of_every_score_add_up_to_the_rows(
    ranked: list[str], labels: set[str]
) -> None:
    records = [
        {"question_id": "a", "evidence": sorted(labels), "retrieved": ranked},
        {"question_id": "b", "retrieved": ranked},
        {"question_id": "c", "status": "failed", "error": "timeout"},
    ]
    for record in records[:2]:
        record["status"] = "insufficient_evidence"
    rows = score(records)
    for summary in rows.summaries:
        assert summary.n_scored + summary.n_unscored + summary.n_failed == 3
        assert summary.n_failed == 1


@given(st.text(min_size=1).filter(str.strip))
def test_an_id_is_never_changed(question_id: str) -> None:
    assert parse_trace({"question_id": question_id}).question_id == question_id
