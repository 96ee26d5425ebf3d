from __future__ import annotations

import math

import numpy as np
import pytest

import builders
import onechange as oc
from onechange.display import text_width
from onechange.plots import (
    IntervalRow,
    differences_lines,
    flow_lines,
    intervals_lines,
    trials_lines,
)
from onechange.stats.estimate import Interval
from onechange.stats.sample import paired_sample

KINDS = ("deltas", "slices", "differences", "trials", "flow")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("columns", [60, 80, 100])
def test_every_picture_is_there_as_text_no_wider_than_asked(
    kind: str, columns: int
) -> None:
    text = builders.comparison().plot(kind, text=True, columns=columns)
    assert text.endswith("\n")
    assert max(text_width(line) for line in text.splitlines()) <= columns


def test_text_and_picture_refuse_the_same_words() -> None:
    for text in (True, False):
        with pytest.raises(oc.OnechangeError, match="is unknown; choose one of"):
            builders.comparison().plot("pie", text=text)
        with pytest.raises(oc.OnechangeError, match="is not measured"):
            builders.comparison().plot("slices", metric="no such", text=text)


def test_text_needs_no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    for kind in KINDS:
        assert builders.comparison().plot(kind, text=True)


def test_an_interval_lies_where_its_numbers_say() -> None:
    row = IntervalRow("m", 0.0, -1.0, 1.0, "0", "higher", (-1.0, math.inf))
    line, legend, _ = intervals_lines([row], columns=60)
    start, point, end = (line.index(char) for char in "┝●┥")
    assert point - start == end - point > 5
    assert "░" not in line[: line.index("┝")]
    assert line.endswith("░")
    assert "what the plan allows" in legend


def test_bars_share_their_width_as_the_questions_do() -> None:
    _, line, _ = flow_lines([("m", (10, 20, 10))], columns=100)
    assert [line.count(char) for char in "▒·█"] == [10, 21, 10]  # of 41 columns


def test_every_difference_is_counted_once() -> None:
    rng = np.random.default_rng(3)
    for values in (rng.integers(-1, 2, 50), rng.normal(0, 2, 200), np.zeros(4)):
        sample = paired_sample(np.zeros(values.size), values.astype(float))
        lines = differences_lines(sample, interval=Interval(-1, 1, 0.95, "t"))
        rows = lines[1 : lines.index("")]
        counts = [
            int(next(w for w in row.split()[::-1] if w.isdigit())) for row in rows
        ]
        assert sum(counts) == values.size
        better = sum(n for row, n in zip(rows, counts, strict=True) if "better" in row)
        assert better == np.count_nonzero(values > 0)


def test_a_trial_without_a_score_has_no_dot() -> None:
    _, first, second = trials_lines({"arm": (0.5, None)})
    assert "●" in first
    assert "●" not in second
