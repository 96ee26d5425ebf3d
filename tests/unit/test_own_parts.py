"""What it takes where a limit is open and whole runs differ."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import onechange as oc

N, ANSWER = 100, 0.02


def arm(
    rng: np.random.Generator, shifts: np.ndarray, spread: float, mean: float
) -> pd.DataFrame:
    """Trials that differ by their shifts; question means have just that spread."""
    level = rng.normal(size=N)
    level = mean + spread * (level - level.mean()) / level.std(ddof=1)
    noise = rng.normal(0, ANSWER, (len(shifts), N))
    noise -= noise.mean(axis=1, keepdims=True)
    rows = [
        pd.DataFrame(
            {
                "question_id": [f"q{i:03}" for i in range(N)],
                "trial": trial,
                "kind": ["a", "b"] * (N // 2),
                "score": level + shift + noise[trial],
            }
        )
        for trial, shift in enumerate(shifts)
    ]
    return pd.concat(rows, ignore_index=True)


def decided(
    shifts: np.ndarray, limit: float, *, spread: float = 0.1, every: str | None = None
) -> oc.Decision:
    rng = np.random.default_rng(1)
    frames = [arm(rng, shifts, spread, 0.5) for _ in range(2)]
    rule = oc.Guardrail("score", limit=limit, every_slice=every)
    return oc.decide(oc.compare(*frames, oc.Plan(guardrails=[rule])), stability=False)


UNSTEADY = np.array([-0.04, 0.0, 0.04])


@pytest.mark.parametrize("every", [None, "kind"])
def test_no_number_of_questions_makes_up_for_runs_that_differ(
    every: str | None,
) -> None:
    decision = decided(UNSTEADY, 0.455, every=every)
    assert decision.statuses[0].status == "inconclusive"
    (step,) = decision.next_steps
    assert re.search(r"\d+ trials instead of 3 would show it", step), step
    assert "further questions like these" not in step
    assert "; more questions alone would not" in step
    assert decision.statuses[0].further_questions is None


def test_neither_alone_may_be_enough() -> None:
    (step,) = decided(UNSTEADY, 0.495, spread=0.3).next_steps
    assert "neither more questions nor more trials alone" in step


def test_questions_are_counted_as_before_where_runs_do_not_differ() -> None:
    (step,) = decided(np.zeros(3), 0.485).next_steps
    assert "further questions like these would show it" in step


def test_the_trials_that_are_named_show_it_about_as_often_as_said() -> None:
    (step,) = decided(UNSTEADY, 0.45, spread=0.05).next_steps
    trials = int(re.search(r"(\d+) trials instead of 3", step)[1])
    rng = np.random.default_rng(9)
    passed = 0
    plan = oc.Plan(guardrails=[oc.Guardrail("score", limit=0.45)])
    for _ in range(60):
        frames = [arm(rng, rng.normal(0, 0.04, trials), 0.05, 0.5) for _ in range(2)]
        decision = oc.decide(oc.compare(*frames, plan), stability=False)
        passed += decision.decision == "ship"
    assert 0.6 <= passed / 60 <= 0.97


def test_a_rate_whose_runs_differ_asks_for_trials() -> None:
    rng = np.random.default_rng(3)
    frames = []
    for shares in ((0.02, 0.1, 0.2), (0.02, 0.1, 0.2)):
        frame = arm(rng, np.zeros(3), 0.1, 0.5)
        share = np.array(shares)[frame.trial]
        failed = rng.random(len(frame)) < share
        frame["status"] = np.where(failed, "failed", "answered")
        frames.append(frame.assign(score=frame.score.mask(failed)))
    plan = oc.Plan(guardrails=[oc.Guardrail("failed", margin=0.02)])
    decision = oc.decide(oc.compare(*frames, plan), stability=False)
    assert decision.statuses[0].delta.interval.method == "two-way"
    (step,) = decision.next_steps
    assert "run more trials: whole runs differ" in step
