"""Scores under oracle context beside those of an arm, and the change of the gap."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from casefiles import run
from onechange.diagnosis import oracle_gap
from onechange.errors import InputError

IDS = [f"q{i:02}" for i in range(30)]


def read(scores: object, ids: list[str] = IDS, **columns: object) -> oc.Results:
    return oc.read(pd.DataFrame({"question_id": ids, "correct": scores, **columns}))


def test_oracle_scores_are_joined_by_question() -> None:
    given = read(np.arange(30) % 2, IDS[::-1])
    found = oc.with_oracle_context(read(np.zeros(30)), given)
    right = {question: i % 2 for i, question in enumerate(IDS[::-1])}
    assert found.metrics["oracle_correct"].tolist() == [right[q] for q in IDS]
    assert found.metrics["correct"].tolist() == [0.0] * 30


def test_trials_of_the_oracle_are_averaged() -> None:
    frame = pd.DataFrame(
        {"question_id": ["q1", "q1", "q2"], "trial": [0, 1, 0], "correct": [1, 0, None]}
    )
    found = oc.with_oracle_context(read([0, 0], ["q1", "q2"]), oc.read(frame))
    scores = found.metrics["oracle_correct"]
    assert scores[0] == 0.5
    assert np.isnan(scores[1])


def test_questions_without_oracle_scores_are_counted() -> None:
    found = oc.with_oracle_context(read(np.zeros(30)), read(np.ones(28), IDS[:28]))
    (note,) = [n for n in found.notes if n.code == "unmatched-questions"]
    assert note.text.startswith("2 questions")


def test_results_that_do_not_belong_together_are_refused() -> None:
    other = oc.read(pd.DataFrame({"question_id": IDS, "rouge": np.ones(30)}))
    with pytest.raises(InputError, match="no metric"):
        oc.with_oracle_context(read(np.zeros(30)), other)
    with pytest.raises(InputError, match="none of its questions"):
        oc.with_oracle_context(read(np.zeros(30)), read(np.ones(2), ["x", "y"]))


def test_the_command_line_takes_all_four_results(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    paths = []
    for i, share in enumerate((0.3, 0.5, 0.8, 0.85)):
        path = tmp_path / f"arm{i}.csv"
        scores = (rng.random(30) < share).astype(int)
        pd.DataFrame({"question_id": IDS, "correct": scores}).to_csv(path, index=False)
        paths.append((path, scores))
    (b, b_scores), (v, v_scores), (ob, ob_scores), (ov, ov_scores) = paths
    done = run(
        "compare",
        b,
        v,
        f"--oracle-baseline={ob}",
        f"--oracle-variant={ov}",
        "--format=json",
    )
    assert done.returncode == 0, done.stderr
    deltas = {
        d["metric"]: d["delta"]
        for d in json.loads(done.stdout)["deltas"]
        if d["slice"] is None
    }
    assert deltas["oracle_correct"] == pytest.approx(
        ov_scores.mean() - ob_scores.mean()
    )
    gap = oracle_gap(
        "correct", baseline=(b_scores, ob_scores), variant=(v_scores, ov_scores)
    )
    change = (ov_scores - v_scores) - (ob_scores - b_scores)
    assert gap.difference.delta == pytest.approx(change.mean())
    assert gap.difference.interval.low < change.mean() < gap.difference.interval.high
    alone = run("compare", b, v, f"--oracle-baseline={ob}")
    assert alone.returncode == 2
    assert "go together" in alone.stderr
