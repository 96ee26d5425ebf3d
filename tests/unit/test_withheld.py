"""Fragility where more than 20 % of the scores are missing, against brute force."""

from __future__ import annotations

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
