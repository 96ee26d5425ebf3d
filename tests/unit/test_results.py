"""`Results`: whether an index still belongs to its rows."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from onechange.assemble import in_sorted_order
from onechange.errors import InputError
from onechange.read import read
from onechange.results import Results


def _results() -> Results:
    frame = pd.DataFrame({"question_id": ["b", "a"], "score": [1, 0]})
    return read(frame, name="arm")


def test_rows_that_were_replaced_are_sorted_anew() -> None:
    results = _results()
    assert results.in_order
    turned = replace(results, question_id=results.question_id[::-1].copy())
    assert not turned.in_order
    again = in_sorted_order(turned)
    assert again.question_id.tolist() == ["a", "b"]
    assert again.metrics["score"].tolist() == [1.0, 0.0]


def test_a_repeat_in_results_made_elsewhere_is_refused() -> None:
    results = _results()
    ids = results.question_id.copy()
    ids[:] = "a"
    with pytest.raises(InputError, match='arm, row 1 and arm, row 2: question "a"'):
        in_sorted_order(replace(results, question_id=ids))


def test_the_number_of_rows_is_that_of_the_ids() -> None:
    assert _results().n_rows == 2
