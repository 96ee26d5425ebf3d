"""Passes taken back by missing scores, and by questions that the variant lacks."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from onechange.plan import Guardrail, Metric, Primary
from onechange.status import Status


def _missing_frames(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """60 answers of 0 and 1 of which 16 lack a pair, the variant mostly right."""
    rng = np.random.default_rng(seed)
    before = (rng.random(60) < 0.5).astype(float)
    after = np.maximum(before, rng.random(60) < 0.8)
    lacking = rng.random(16) < 0.5
    before[:16][lacking] = np.nan
    after[:16][~lacking] = np.nan
    ids = [f"q{i:02}" for i in range(60)]
    return (
        pd.DataFrame({"question_id": ids, "m": before}),
        pd.DataFrame({"question_id": ids, "m": after}),
    )


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    "rule",
    [
        Guardrail("m", margin=0.25),
        Guardrail("m", margin="40%"),
        Guardrail("m", margin=0.25, rule="estimate"),
        Guardrail("m", limit=0.4),
        Guardrail("m", limit=0.4, rule="estimate"),
        Guardrail("m", margin=0.25, limit=0.4),
        Guardrail("m", margin=0.7, role="equivalence"),
        Primary("m"),
    ],
    ids=repr,
)
def test_fragility_counts_what_missing_scores_take_back(
    rule: Primary | Guardrail, seed: int
) -> None:
    if isinstance(rule, Primary):
        plan = oc.Plan("m", metrics=[Metric("m", range=(0, 1))])
    else:
        plan = oc.Plan(guardrails=[rule], metrics=[Metric("m", range=(0, 1))])
    before, after = _missing_frames(seed)

    def status(wins: int = 0, both: int = 0) -> Status:
        changed = after.copy()
        for value, count in ((0, wins), (1, both)):
            right = np.flatnonzero((before.m == value) & (after.m == 1))
            if right.size < count:
                return reported
            changed.loc[right[:count], "m"] = 0.0
        decided = oc.decide(oc.compare(before, changed, plan), stability=False)
        return decided.statuses[0].status

    found = oc.decide(oc.compare(before, after, plan)).statuses[0]
    reported = found.status
    assert reported is Status.PASS
    answers = found.fragility.answers
    if answers is None:  # not even all of them
        rights = [int(np.sum((before.m == b) & (after.m == 1))) for b in (0, 1)]
        assert status(*rights) is reported
        return
    at = {
        count: {status(wins, count - wins) for wins in range(count + 1)} - {reported}
        for count in (answers - 1, answers)
    }
    assert not at[answers - 1]
    assert found.fragility.status in at[answers]


def _unmatched(n_lost: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """120 questions, all answered better, of which the variant lacks some."""
    rng = np.random.default_rng(5)
    ids = [f"q{i:03}" for i in range(120)]
    before = pd.DataFrame({"question_id": ids, "m": rng.uniform(0.2, 0.6, 120)})
    before["status"] = "answered"
    after = before.assign(m=before.m + rng.uniform(0.05, 0.15, 120))
    return before, after.iloc[n_lost:]


@pytest.mark.parametrize(
    "plan",
    [
        oc.Plan("m"),
        oc.Plan(guardrails=[Guardrail("m", margin=0.1)]),
        oc.Plan(guardrails=[Guardrail("m", margin=0.1, rule="estimate")]),
        oc.Plan(guardrails=[Guardrail("m", limit=0.1)]),
        oc.Plan(guardrails=[Guardrail("m", margin=0.5, statistic="p50")]),
        oc.Plan(guardrails=[Guardrail("failed", limit=0.02, rule="estimate")]),
    ],
    ids=repr,
)
def test_a_variant_that_answered_few_of_the_questions_cannot_ship(
    plan: oc.Plan,
) -> None:
    ranged = dataclasses.replace(plan, metrics=(Metric("m", range=(0, 1)),))
    assert oc.decide(oc.compare(*_unmatched(24), ranged)).decision == "ship"
    for rules in (plan, ranged):
        comparison = oc.compare(*_unmatched(25), rules)
        decision = oc.decide(comparison)
        assert decision.decision == "inconclusive"
        reason = decision.statuses[0].reason
        assert "but 21 % of the 120 questions of the baseline are not in" in reason
        codes = [note.code for note in comparison.audits[0].notes]
        assert codes.count("high-missing-share") == 1
        assert decision.next_steps[0].endswith(
            "run the variant on the 25 questions of the baseline that it lacks."
        )


def test_questions_that_only_the_variant_has_forbid_nothing() -> None:
    after, before = _unmatched(60)
    plan = oc.Plan(guardrails=[Guardrail("m", margin=0.5)])
    assert oc.decide(oc.compare(before, after, plan)).decision == "ship"


def test_unmatched_questions_do_not_soften_a_fail() -> None:
    before, after = _unmatched(60)
    plan = oc.Plan(guardrails=[Guardrail("m", limit=0.9)])
    assert oc.decide(oc.compare(before, after, plan)).decision == "do not ship"
