"""Guardrails that must hold in every slice, with small slices joined or strict."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from onechange.decide import RuleStatus

SIZES = {"large": 40, "middle": 20, "tiny": 6, "few": 5, "two": 2}


def frames(**changes: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A score per question; each slice changes by its own amount, ± a little."""
    rng = np.random.default_rng(4)
    kind = np.repeat(list(SIZES), list(SIZES.values()))
    n = kind.size
    score = rng.uniform(0.45, 0.7, n)
    change = np.array([changes.get(k, 0.0) for k in kind]) + rng.uniform(-0.02, 0.02, n)
    ids = [f"q{i:02}" for i in range(n)]
    return (
        pd.DataFrame({"question_id": ids, "kind": kind, "score": score}),
        pd.DataFrame({"question_id": ids, "kind": kind, "score": score + change}),
    )


def status(
    small_slices: str | None = None, margin: float = 0.1, **changes: float
) -> tuple[oc.Decision, RuleStatus]:
    rule = oc.Guardrail(
        "score", margin=margin, every_slice="kind", small_slices=small_slices
    )
    plan = oc.Plan(guardrails=[rule], metrics=[oc.Metric("score", range=(0, 1))])
    decision = oc.decide(oc.compare(*frames(**changes), plan))
    return decision, decision.statuses[0]


def test_all_slices_must_hold() -> None:
    decision, found = status()
    assert found.status == "pass"
    assert decision.decision == "ship"
    decision, found = status(middle=-0.3)
    assert (found.status, found.slice) == ("fail", (("kind", "middle"),))
    assert decision.decision == "do not ship"


def test_slices_under_the_minimum_are_joined_and_count_together() -> None:
    decision, found = status(tiny=-0.4, few=-0.4, two=-0.4)
    assert found.status == "fail"
    assert found.slice == (("kind", "(small slices)"),)
    assert found.delta.n_pairs == 13
    assert "in (small slices)" in found.reason
    assert "Joined as (small slices): " in found.reason
    assert all(part in found.reason for part in ("tiny (6)", "few (5)", "two (2)"))
    (joined,) = decision.comparison.slices[0].joined
    assert joined.delta == found.delta.delta == pytest.approx(-0.4, abs=0.02)


def test_the_joined_slice_is_recomputed_over_its_own_questions() -> None:
    decision, found = status(tiny=-0.4, few=-0.4, two=-0.4, margin=0.4)
    base, other = frames(tiny=-0.4, few=-0.4, two=-0.4)
    small = base.kind.isin(["tiny", "few", "two"])
    right = (other.score - base.score)[small]
    assert found.delta.delta == pytest.approx(right.mean())
    assert found.fragility is not None
    assert decision.comparison.families[0].n_slices == 2  # joined ones are no test


def test_a_join_under_the_minimum_is_named_and_left_out() -> None:
    rule = oc.Guardrail("score", margin=0.1, every_slice="kind")
    base, other = frames(two=-0.4)
    keep = ~base.kind.isin(["tiny", "few"])
    decision = oc.decide(
        oc.compare(base[keep], other[keep], oc.Plan(guardrails=[rule]))
    )
    (found,) = decision.statuses
    assert found.status == "pass"
    assert "Left out as too small: two (2)." in found.reason


def test_the_strict_rule_leaves_small_slices_open() -> None:
    _, found = status("inconclusive")
    assert found.status == "inconclusive"
    assert "fewer than the 10 that a slice needs" in found.reason
    _, found = status("inconclusive", middle=-0.3)
    assert found.status == "fail"


def test_the_joined_slice_stands_in_every_table_of_slices() -> None:
    import json

    from onechange.report import render

    decision, _ = status(tiny=-0.4, few=-0.4, two=-0.4)
    assert "| (small slices) | 13 |" in render(decision, "markdown")
    rows = json.loads(render(decision, "json"))["deltas"]
    assert {"kind": "(small slices)"} in [row["slice"] for row in rows]
    assert "(small slices)" in render(decision, "csv")


def test_crossed_small_slices_have_one_name() -> None:
    rule = oc.Guardrail("score", margin=0.1, every_slice="kind,half")
    base, other = frames(tiny=-0.4, few=-0.4, two=-0.4)
    for frame in (base, other):
        frame["half"] = np.where(np.arange(len(frame)) % 2, "odd", "even")
    decision = oc.decide(oc.compare(base, other, oc.Plan(guardrails=[rule])))
    (found,) = decision.statuses
    assert "score in (small slices): " in found.reason
    assert found.delta.n_pairs == 13
