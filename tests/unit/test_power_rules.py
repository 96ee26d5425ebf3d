"""Which rules of a plan a power analysis takes, and which it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from onechange.errors import MethodError
from onechange.plan import Guardrail, Metric
from onechange.power import power

IDS = [f"q{i:02}" for i in range(60)]


def pilot(n_trials: int = 1, shifts: tuple[float, ...] = (0.0,)) -> list[pd.DataFrame]:
    """Scores of 60 questions, each trial moved by its own shift as a whole."""
    rng = np.random.default_rng(3)
    arms = []
    for _ in range(2):
        rows = [
            pd.DataFrame(
                {
                    "question_id": IDS,
                    "trial": trial,
                    "score": rng.uniform(0.3, 0.6, 60) + shifts[trial % len(shifts)],
                    "calls": 1 + np.arange(60) / 100,
                }
            )
            for trial in range(n_trials)
        ]
        arms.append(pd.concat(rows, ignore_index=True))
    return arms


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Guardrail("score", margin="5%"), "has the margin 5% of the baseline"),
        (Guardrail("score", limit=0.4), "has a limit alone"),
        (Guardrail("score", margin=0.1, rule="estimate"), "by the point value"),
        (Guardrail("score", margin=0.1, statistic="p50"), "is about its p50"),
    ],
)
@pytest.mark.parametrize("delta", [None, 0.0, -0.05])
def test_a_guardrail_is_never_replaced_by_another_rule(
    rule: Guardrail, words: str, delta: float | None
) -> None:
    plan = oc.Plan(guardrails=[rule])
    with pytest.raises(MethodError, match=words) as refused:
        power(*pilot(), metric="score", plan=plan, delta=delta)
    assert "--margin" in str(refused.value)


def test_a_guardrail_of_every_slice_is_not_planned_over_all_questions() -> None:
    arms = [frame.assign(kind="a") for frame in pilot()]
    plan = oc.Plan(guardrails=[Guardrail("score", margin=0.1, every_slice="kind")])
    with pytest.raises(MethodError, match="must hold in every slice"):
        power(*arms, metric="score", plan=plan)


def test_a_margin_that_is_given_stands_in_for_the_rule_of_the_plan() -> None:
    plan = oc.Plan(guardrails=[Guardrail("score", margin="5%")])
    found = power(
        *pilot(),
        metric="score",
        plan=plan,
        margin=0.1,
        questions=[60],
        n_simulations=100,
    )
    assert found.rule == "score worsens by at most 0.1"


def test_a_limit_beside_the_margin_is_named_as_not_planned_for() -> None:
    rules = [
        Guardrail("score", margin="5%", statistic="p50"),
        Guardrail("score", margin=0.1, limit=0.4),
    ]
    found = power(
        *pilot(),
        metric="score",
        plan=oc.Plan(guardrails=rules),
        questions=[60],
        n_simulations=100,
    )
    assert found.rule == "score worsens by at most 0.1"
    assert found.delta == 0
    assert [note.code for note in found.notes][:1] == ["limit-not-planned"]
    assert "limit 0.4" in found.notes[0].text


def test_a_ratio_whose_runs_differ_is_not_planned_for() -> None:
    plan = oc.Plan(metrics=[Metric("rate", numerator="score", denominator="calls")])
    arms = pilot(3, (-0.1, 0.0, 0.1))
    with pytest.raises(MethodError, match="runs of score may differ"):
        power(*arms, metric="rate", plan=plan, delta=0.1)
