"""Sorting rows by question and trial."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onechange.question_index import sort_rows, trial_order


def _texts(values: list[str]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


IDS = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12
)


@given(st.lists(st.tuples(IDS, st.sampled_from(["1", "10", "9", "b", "a"]))))
def test_rows_are_sorted_as_python_sorts_them(rows: list[tuple[str, str]]) -> None:
    ids, trials = [row[0] for row in rows], [row[1] for row in rows]
    found = sort_rows(_texts(ids), _texts(trials))
    order = np.arange(len(rows)) if found.order is None else found.order
    rank = {"1": 0, "9": 1, "10": 2, "a": 3, "b": 4}
    expected = sorted(range(len(rows)), key=lambda i: (ids[i], rank[trials[i]]))
    assert order.tolist() == expected
    moved = [rows[i] for i in expected]
    repeats = [i for i in range(1, len(rows)) if moved[i] == moved[i - 1]]
    assert found.repeated.tolist() == repeats
    distinct = sorted(set(ids))
    assert found.codes.tolist() == [distinct.index(ids[i]) for i in expected]


@pytest.mark.parametrize("length", [3, 8, 9, 20, 40, 200])
@pytest.mark.parametrize("prefix", ["", "question-", "é", "a-long-common-prefix/"])
def test_any_length_of_id_sorts_as_text(length: int, prefix: str) -> None:
    rng = np.random.default_rng(3)
    numbers = rng.permutation(500)
    ids = [prefix + f"{number:0{length}d}" for number in numbers]
    found = sort_rows(_texts(ids), None)
    assert found.order is not None
    assert [ids[i] for i in found.order] == sorted(ids)


def test_rows_in_order_are_left_alone() -> None:
    assert sort_rows(_texts(["a", "b", "c"]), None).order is None
    assert sort_rows(_texts(["a", "a"]), _texts(["1", "2"])).order is None


def test_trials_go_by_value_and_then_by_text() -> None:
    assert trial_order(["10", "2", "1e1", "x", "2"]) == ("2", "10", "1e1", "x")
