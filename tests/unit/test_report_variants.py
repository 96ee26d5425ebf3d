"""Reports of several variants: whose a note is, and what tables show."""

from __future__ import annotations

import re

import pandas as pd
import pytest

import onechange as oc
from onechange.report import render
from onechange.report.terminal import render_text

RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹]")
N = 60


def _arm(shift: int, failed: range) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "question_id": [f"q{i:02d}" for i in range(N)],
            "correct": [float((i * 7 + shift) % 3 > 0) for i in range(N)],
            "score": [((i * 5 + shift) % 11) / 10 for i in range(N)],
            "status": ["failed" if i in failed else "answered" for i in range(N)],
        }
    )


def _several() -> oc.Comparison:
    arms = {
        "m_v0": _arm(1, range(2, 5)),
        "m_v1": _arm(2, range(7, 9)),
        "m_v2": _arm(4, range(11, 16)),
    }
    return oc.compare(_arm(0, range(5)), arms, oc.Plan("correct"))


@pytest.mark.parametrize("form", ["text", "markdown", "html", "json"])
def test_a_note_on_rows_of_two_arms_names_both(form: str) -> None:
    text = re.sub(r"\s+", " ", re.sub(r"</?code>", "", render(_several(), form)))
    assert "baseline and m_v2: 5 of 5 failed rows carry scores" in text
    assert "m_v0: 3 of 3 failed rows carry scores" in text
    assert text.count("5 of 5") == text.count(": 5 of 5")


def test_raised_numbers_of_a_terminal_point_to_nothing_and_are_left_out() -> None:
    assert RAISED.search(render(_several(), "markdown"))
    assert not RAISED.search(render_text(_several()))


def _titles(text: str, metric: str) -> str:
    """Titles over the first table of a metric, without its own."""
    head = re.search(rf"^{metric} ↑ (.*)$", text, flags=re.MULTILINE)
    assert head is not None
    return " ".join(head[1].split())


def test_every_metric_shows_the_same_columns_and_its_interval() -> None:
    for width in range(80, 141, 4):
        text = render_text(_several(), width=width)
        assert _titles(text, "correct") == _titles(text, "score")
        assert "delta 95 % interval p adjusted p" in _titles(text, "score")


def test_the_simultaneous_interval_gives_way_before_the_variants_own() -> None:
    wide, narrow = (render_text(_several(), width=width) for width in (140, 84))
    assert "simultaneous interval" in _titles(wide, "correct")
    assert "simultaneous interval" not in _titles(narrow, "correct")
    # Its figures stand beside the drawing then.
    (delta,) = (
        d
        for d in _several().deltas
        if (d.metric, d.variant_name) == ("correct", "m_v1")
    )
    assert delta.simultaneous_interval is not None
    low, high = delta.simultaneous_interval.low, delta.simultaneous_interval.high
    shown = f"−{-low:.3f} … +{high:.3f}"
    assert shown in narrow.split("with simultaneous intervals")[1]


def test_stacked_rows_of_variants_say_whose_metric_they_are() -> None:
    text = render_text(_several(), width=60)
    for metric in ("correct", "score"):
        block = text.split(f"\n{metric} ↑ · m_v1\n")[1].split("m_v2")[0]
        assert "95 % interval" in block
        assert "simultaneous interval" in block
