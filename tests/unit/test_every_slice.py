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


def lost_scores(
    scored: int, small_slices: str | None = None, **rule: object
) -> tuple[oc.Decision, RuleStatus]:
    """All slices are as good as before, but the variant lost scores of "middle"."""
    base, other = frames()
    middle = np.flatnonzero(base.kind == "middle")
    other.loc[middle[scored:], "score"] = np.nan
    plan = oc.Plan(
        guardrails=[
            oc.Guardrail("score", every_slice="kind", small_slices=small_slices, **rule)
        ]
    )
    decision = oc.decide(oc.compare(base, other, plan))
    return decision, decision.statuses[0]


@pytest.mark.parametrize("scored", [0, 1, 5, 9, 10, 15])
@pytest.mark.parametrize("small", ["join", "inconclusive"])
def test_a_slice_does_not_escape_its_rule_by_losing_scores(
    scored: int, small: str
) -> None:
    decision, found = lost_scores(scored, small, margin=0.1)
    assert (decision.decision, found.status) == ("inconclusive", "inconclusive")
    if small == "join":
        assert found.slice == (("kind", "middle"),)
        assert "too small" not in found.reason.replace("(small slices)", "")


@pytest.mark.parametrize(
    "rule", [{"margin": 0.1, "rule": "estimate"}, {"limit": 0.3}, {"margin": "40%"}]
)
def test_no_kind_of_rule_lets_a_slice_without_scores_pass(rule: dict) -> None:
    decision, found = lost_scores(0, **rule)
    assert found.status == "inconclusive"
    assert "0 of its 20 questions have a pair, fewer than the 10" in found.reason
    (step,) = decision.next_steps
    assert step.endswith("score the 20 questions of this slice that lack a score.")


def test_a_slice_of_which_few_questions_are_scored_asks_for_the_scores() -> None:
    decision, found = lost_scores(9, margin=0.1)
    assert "9 of its 20 questions have a pair" in found.reason
    (step,) = decision.next_steps
    assert step.endswith("score the 11 questions of this slice that lack a score.")


def test_the_joined_slice_does_not_escape_by_losing_scores() -> None:
    base, other = frames()
    other.loc[base.kind.isin(["tiny", "few", "two"]), "score"] = np.nan
    rule = oc.Guardrail("score", margin=0.1, every_slice="kind")
    decision = oc.decide(oc.compare(base, other, oc.Plan(guardrails=[rule])))
    (found,) = decision.statuses
    assert found.slice == (("kind", "(small slices)"),)
    assert "0 of its 13 questions have a pair" in found.reason


def failures(n_variants: int = 1, **counts: int) -> list[pd.DataFrame]:
    """So many questions of each slice fail in the variant, none in the baseline."""
    base, other = frames()
    base["status"] = other["status"] = "answered"
    for kind, count in counts.items():
        chosen = np.flatnonzero(other.kind == kind)[:count]
        other.loc[chosen, "status"] = "failed"
        other.loc[chosen, "score"] = np.nan
    return [base, *[other] * n_variants]


@pytest.mark.parametrize(
    "rule",
    [
        oc.Guardrail("failed", limit=0.25, rule="estimate", every_slice="kind"),
        oc.Guardrail("failed", limit=0.25, every_slice="kind"),
        oc.Guardrail("failed", margin=0.25, every_slice="kind"),
        oc.Guardrail("answered", limit=0.75, rule="estimate", every_slice="kind"),
    ],
)
def test_a_built_in_rate_must_hold_in_every_slice(rule: oc.Guardrail) -> None:
    plan = oc.Plan(guardrails=[rule])
    broken = oc.decide(oc.compare(*failures(middle=18), plan)).statuses[0]
    assert (broken.status, broken.slice) == ("fail", (("kind", "middle"),))
    assert broken.delta.variant == pytest.approx(
        0.9 if rule.metric == "failed" else 0.1
    )
    assert "This is the worst of 3 slices. Joined as" in broken.reason
    together = oc.decide(oc.compare(*failures(tiny=6, few=5, two=2), plan)).statuses[0]
    assert together.slice == (("kind", "(small slices)"),)
    assert together.status == "fail"


def test_a_built_in_rate_passes_where_no_slice_breaks_it() -> None:
    rule = oc.Guardrail("failed", limit=0.05, rule="estimate", every_slice="kind")
    plan = oc.Plan(guardrails=[rule])
    assert oc.decide(oc.compare(*failures(large=2), plan)).decision == "ship"
    assert oc.decide(oc.compare(*failures(large=3), plan)).decision == "do not ship"


def test_a_rate_that_is_not_measured_says_so_in_every_slice() -> None:
    rule = oc.Guardrail("failed", limit=0.05, every_slice="kind")
    decision = oc.decide(oc.compare(*frames(), oc.Plan(guardrails=[rule])))
    (found,) = decision.statuses
    assert "not measured: the rows record no status" in found.reason


def test_a_rate_in_every_slice_is_decided_for_several_variants_and_reported() -> None:
    import json

    from onechange.decide import decide_each
    from onechange.report import render

    rule = oc.Guardrail("failed", limit=0.05, rule="estimate", every_slice="kind")
    base, *others = failures(2, middle=18)
    named = dict(zip(("first", "second"), others, strict=True))
    decisions = decide_each(oc.compare(base, named, oc.Plan(guardrails=[rule])))
    assert [d.decision for d in decisions] == ["do not ship"] * 2
    single = oc.decide(oc.compare(base, others[0], oc.Plan(guardrails=[rule])))
    rows = json.loads(render(single, "json"))["deltas"]
    rates = {
        row["slice"]["kind"]: row["variant"]
        for row in rows
        if row["metric"] == "failed" and row["slice"]
    }
    assert rates["middle"] == pytest.approx(0.9)
    assert rates["(small slices)"] == 0
