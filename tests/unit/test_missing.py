"""Bounds of missing scores: whole questions and single trials are counted apart."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from onechange.delta import Methods
from onechange.missing import bounds
from onechange.report import render
from onechange.report.context import make_context
from onechange.report.unscored import bounds_line

N, K = 20, 3
MEASURED = oc.Metric("score", range=(0.0, 1.0))


def _arm(level: float) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "question_id": [f"q{i:02d}" for i in range(N) for _ in range(K)],
            "trial": list(range(K)) * N,
            "score": [round(level + (i % 3) / 10, 3) for i in range(N * K)],
        }
    )


def _compared(
    *, unscored: dict[str, int], declared: bool = True
) -> tuple[oc.Comparison, oc.Delta]:
    """Compare two arms after taking scores of some questions from the variant."""
    after = _arm(0.5)
    for question, trials in unscored.items():
        rows = after.index[after.question_id == question][:trials]
        after.loc[rows, "score"] = None
    plan = oc.Plan("score", metrics=[MEASURED] if declared else [])
    comparison = oc.compare(_arm(0.4), after, plan)
    return comparison, comparison.deltas[0]


def test_questions_with_some_trials_unscored_are_counted_apart() -> None:
    _, delta = _compared(unscored={"q00": K, "q01": 1, "q02": 2})
    assert delta.bounds is not None
    assert (delta.bounds.n_incomplete, delta.bounds.n_partial) == (1, 2)
    assert delta.bounds.low is not None
    assert delta.bounds.high is not None
    # 6 of the 60 rows of the variant may be anything between 0 and 1
    assert delta.bounds.high - delta.bounds.low == pytest.approx(6 / 60)


@pytest.mark.parametrize(
    ("unscored", "words"),
    [
        (
            {"q00": K, "q01": 1, "q02": 2},
            "score: of 20 questions, 1 lacks a score and 2 have some trials unscored; "
            "with every missing score",
        ),
        (
            {"q00": K, "q03": K, "q01": 1},
            "score: of 20 questions, 2 lack a score and 1 has some trials unscored; ",
        ),
        ({"q00": K}, "score: 1 of 20 questions lacks a score; with every"),
        ({"q01": 1}, "score: 1 of 20 questions has trials unscored; with every"),
        ({"q01": 1, "q02": 1}, "score: 2 of 20 questions have trials unscored; with"),
    ],
)
def test_the_sentence_on_missing_scores_says_whose_they_are(
    unscored: dict[str, int], words: str
) -> None:
    comparison, _ = _compared(unscored=unscored)
    assert bounds_line(make_context(comparison), "score").startswith(words)


def test_without_a_range_the_missing_scores_are_counted_all_the_same() -> None:
    comparison, delta = _compared(unscored={"q00": K, "q01": 1}, declared=False)
    assert delta.bounds is not None
    assert delta.bounds.low is None
    assert (delta.bounds.n_incomplete, delta.bounds.n_partial) == (1, 1)
    assert "no score range is declared" in bounds_line(
        make_context(comparison), "score"
    )


def test_the_table_of_missing_scores_has_both_counts() -> None:
    comparison, _ = _compared(unscored={"q00": K, "q01": 1, "q02": 2})
    text = render(comparison, "markdown")
    (header,) = [line for line in text.splitlines() if "partly scored" in line]
    assert header.index("incomplete") < header.index("partly scored")


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_trials_without_a_score_are_told_where_no_range_is_declared(form: str) -> None:
    comparison, delta = _compared(unscored={"q01": 1, "q02": 2}, declared=False)
    assert delta.bounds is not None
    assert (delta.bounds.n_incomplete, delta.bounds.n_partial) == (0, 2)
    line = bounds_line(make_context(comparison), "score")
    assert line.startswith("score: 2 of 20 questions have trials unscored; no score")
    text = render(comparison, form)
    assert "No score is missing that could change" not in text
    assert "no score range is declared for score" in text


@pytest.mark.parametrize("n_trials", [1, 2])
def test_rows_that_count_as_the_worst_are_said_to_count_so(n_trials: int) -> None:
    ids = [f"q{i:02}" for i in range(40)] * n_trials
    trial = np.repeat(np.arange(n_trials), 40)
    scores = np.random.default_rng(1).uniform(0.3, 0.6, 40 * n_trials)
    before = pd.DataFrame({"question_id": ids, "trial": trial, "m": scores})
    after = before.assign(m=before.m + 0.1)
    after.loc[:7, "m"] = np.nan
    metric = oc.Metric("m", range=(0, 1), unscored="worst")
    comparison = oc.compare(before, after, oc.Plan(metrics=[metric]))
    text = " ".join(render(comparison, "text").split())
    assert "m: 8 of 40 questions have unscored rows, which count as 0.000;" in text
    assert "trials unscored" not in text


def test_bounds_of_a_slice_do_not_decide_anew_whether_the_metric_is_binary() -> None:
    # Slice "a" has scores of 0 and 1 alone; slice "b" has others.
    rng = np.random.default_rng(3)
    n = 40
    ends = rng.integers(0, 2, n // 2).astype(float)
    between = rng.random(n // 2)
    frame = pd.DataFrame(
        {
            "question_id": range(n),
            "kind": ["a"] * (n // 2) + ["b"] * (n // 2),
            "score": np.concatenate((ends, between)),
        }
    )
    other = frame.assign(score=np.roll(frame["score"], 3))
    other.loc[:19, "score"] = np.roll(ends, 3)
    other.loc[2, "score"] = np.nan
    plan = oc.Plan(slices=["kind"], metrics=[oc.Metric("score", range=(0, 1))])
    comparison = oc.compare(frame, other, plan)
    pairs, (metric,) = comparison.pairs[0], comparison.metrics
    (values,) = (v for (_, name), v in comparison.values.items() if name == "score")
    inside = np.array([label == "a" for label in pairs.labels["kind"]])
    found = bounds(pairs, metric, values, Methods(), questions=inside)
    assert (found.n_questions, found.n_incomplete) == (20, 1)
    assert "newcombe" not in found.interval.method
    assert "wilson" not in found.variant_interval.method
