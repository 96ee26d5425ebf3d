"""Cells: the strict grammar of numbers, missing words, ids, labels, statuses."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onechange import cells
from onechange.cells import ANSWERED, FAILED, UNSCORED


@pytest.mark.parametrize("text", ["0", "-1", "+.5", "1.", "1e5", "1E-3", " 2 ", "007"])
def test_a_plain_decimal_is_a_number(text: str) -> None:
    assert cells.score_value(text) == float(text)


@pytest.mark.parametrize(
    "text",
    [
        "20200407_2",
        "1_000",
        "1,000",
        "50%",
        "$3",
        "0x10",
        "1e",
        ".",
        "+",
        "١٢",
        "½",
        "1 2",
    ],
)
def test_what_only_resembles_a_number_is_text(text: str) -> None:
    assert cells.score_value(text) is None
    assert cells.score_values([text, "1"])[1].tolist() == [True, False]


@pytest.mark.parametrize("text", ["true", "True", "TRUE", " true "])
def test_true_counts_in_any_letter_case(text: str) -> None:
    assert cells.score_value(text) == 1.0


@pytest.mark.parametrize("text", ["false", "False", "FALSE"])
def test_false_text_is_zero_and_never_true(text: str) -> None:
    assert cells.score_value(text) == 0.0


@pytest.mark.parametrize(
    "value",
    [
        None,
        math.nan,
        "",
        "  ",
        "NaN",
        "nan",
        "NA",
        "n/a",
        "N/A",
        "None",
        "NONE",
        "null",
    ],
)
def test_every_dress_of_missing_is_unscored(value: object) -> None:
    assert math.isnan(cells.score_value(value) or 0.0)
    scores, refused = cells.score_values([value, 1.0])
    assert math.isnan(scores[0])
    assert not refused.any()


def test_declared_words_and_numbers_are_unscored() -> None:
    missing = cells.missing_words(["NOT_AVAILABLE", "-1"])
    scores, refused = cells.score_values(["not_available", "-1", "-1.0", "2"], missing)
    assert np.isnan(scores).tolist() == [True, True, True, False]
    assert not refused.any()
    assert np.isnan(cells.score_values(np.array([-1.0, 2.0]), missing)[0][0])
    assert math.isnan(cells.score_value(-1, missing) or 0.0)


@pytest.mark.parametrize("value", ["inf", "-Infinity", "1e999", 10**400, math.inf])
def test_what_a_double_cannot_hold_is_infinite_and_not_missing(value: object) -> None:
    assert math.isinf(cells.score_value(value) or 0.0)
    assert np.isinf(cells.score_values([value])[0]).all()


CELL = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=6),
    st.from_regex(r"\A[ +-]?[0-9_.eE]{1,6}\Z"),
    st.sampled_from(["true", "FALSE", "NaN", "n/a", "inf", "", " "]),
)


@given(st.lists(CELL, max_size=30))
def test_a_column_is_converted_as_its_cells_are(values: list[object]) -> None:
    scores, refused = cells.score_values(values)
    for value, score, refusal in zip(values, scores, refused, strict=True):
        alone = cells.score_value(value)
        assert refusal == (alone is None)
        assert alone is None or score == alone or (math.isnan(score) and alone != alone)


@given(st.lists(st.from_regex(r"\A[0-9+.eE_-]{1,7}\Z"), max_size=20))
def test_the_fast_path_follows_the_grammar(values: list[str]) -> None:
    grammar = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
    expected = [grammar.fullmatch(text) is None for text in values]
    assert cells.score_values(values)[1].tolist() == expected


def test_ids_are_text_and_only_whole_numbers_become_text() -> None:
    assert cells.question_text("007") == "007"
    assert cells.question_text(7) == "7"
    assert cells.question_text(np.int64(7)) == "7"
    for value in (True, 7.0, math.nan, None, "", " ", [1], {"a": 1}):
        assert cells.question_text(value) is None


def test_labels_stay_character_for_character() -> None:
    for text in ("NA", "None", "null", "nan", "n/a", "1e5", "007", "1.10", " x "):
        assert cells.label_text(text) == text
    assert cells.label_text(["a", 1]) == '["a", 1]'
    assert cells.label_text("") is None


def test_status_words_are_known_mapped_or_unknown() -> None:
    for word in ("answered", "OK", " success "):
        assert cells.status_code(word) == ANSWERED
    for word in ("insufficient_evidence", "abstained", "refused", "unscored"):
        assert cells.status_code(word) == UNSCORED
    for word in ("failed", "error", "timeout"):
        assert cells.status_code(word) == FAILED
    assert cells.status_code("weird") is None
    assert cells.status_code("Weird", {"weird": "failed"}) == FAILED
    assert cells.status_code("ok", {"ok": "unscored"}) == UNSCORED


def test_flattened_settings_have_dotted_keys() -> None:
    nested = {"retriever": {"top_k": np.int64(3), "tags": ["a"]}, "empty": {}}
    assert cells.flatten(nested) == {
        "empty": {},
        "retriever.tags": ["a"],
        "retriever.top_k": 3,
    }
