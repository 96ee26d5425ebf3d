"""Several variants: the swept setting, the best of them, decisions about each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.contingency_tables import cochrans_q

import onechange as oc
from onechange.decide import decide_each
from onechange.errors import PlanError
from onechange.report import render

N = 120
IDS = [f"q{i:03}" for i in range(N)]
KIND = ["one", "many"] * 60


def arm(k: int | None, gain: tuple[float, float], seed: int = 1) -> pd.DataFrame:
    """Share of right answers per kind: 0.5 plus a gain; larger k for column top_k."""
    luck = np.random.default_rng(0).random(N) * 0.7
    luck += 0.3 * np.random.default_rng(seed).random(N)
    share = np.where(np.arange(N) % 2 == 0, 0.5 + gain[0], 0.5 + gain[1])
    columns = {"question_id": IDS, "kind": KIND, "correct": (luck < share).astype(int)}
    if k is not None:
        columns["top_k"] = k
    return pd.DataFrame(columns)


ARMS = {
    "k3": arm(3, (0.2, 0.1), 2),
    "k5": arm(5, (0.3, 0.1), 3),
    "k10": arm(10, (-0.3, 0.4), 4),
}


def swept(**more: object) -> oc.Comparison:
    return oc.compare(arm(1, (0, 0)), ARMS, oc.Plan(slices=["kind"], **more))


def test_the_only_setting_that_differs_is_the_sweep() -> None:
    found = swept().sweep
    assert found.setting == "top_k"
    assert found.numeric
    assert found.baseline_value == 1
    assert found.values == (("k3", 3), ("k5", 5), ("k10", 10))


def test_a_declared_setting_wins() -> None:
    found = swept(change=oc.Change("retriever")).sweep
    assert found.setting == "retriever"
    assert not found.numeric


def test_one_variant_is_no_sweep() -> None:
    assert oc.compare(arm(1, (0, 0)), ARMS["k3"]).sweep is None


def test_the_best_of_each_slice_comes_with_its_simultaneous_interval() -> None:
    comparison = swept()
    best = {b.slice: b for b in comparison.sweep.best}
    by_slice = {
        label: max(
            (d for d in comparison.slices[0].deltas if d.slice == label),
            key=lambda d: d.delta,
        )
        for label in best
        if label is not None
    }
    assert {label: best[label].variant_name for label in by_slice} == {
        label: d.variant_name for label, d in by_slice.items()
    }
    assert {d.variant_name for d in by_slice.values()} == {"k5", "k10"}
    for label, delta in by_slice.items():
        assert best[label].interval == delta.simultaneous_interval
        assert best[label].shown == (delta.simultaneous_interval.low > 0)


def test_no_variant_better_than_the_baseline_is_said() -> None:
    worse = {"v1": arm(3, (-0.2, -0.2), 2), "v2": arm(5, (-0.3, -0.3), 3)}
    comparison = oc.compare(arm(1, (0, 0)), worse)
    (best,) = comparison.sweep.best
    assert best.variant_name is None
    assert not best.shown
    assert "baseline" in render(comparison, "markdown").split("Best variant")[1]


def test_picking_the_best_is_noted() -> None:
    comparison = swept()
    (note,) = [n for n in comparison.notes if n.code == "best-of-many"]
    assert note.text.startswith("3 variants were compared on the same questions")
    assert "held-out" in note.text


def test_whether_all_arms_differ_is_cochrans_q() -> None:
    ((metric, test),) = swept().sweep.related
    scores = np.column_stack(
        [part.correct for part in (arm(1, (0, 0)), *ARMS.values())]
    )
    right = cochrans_q(scores)
    assert metric == "correct"
    assert test.statistic == pytest.approx(right.statistic)
    assert test.pvalue == pytest.approx(right.pvalue)


def test_the_picture_is_in_the_order_of_the_setting_with_the_baseline() -> None:
    shuffled = {name: ARMS[name] for name in ("k10", "k3", "k5")}
    comparison = oc.compare(arm(1, (0, 0)), shuffled)
    text = render(comparison, "text")
    picture = text.split("correct over top_k")[1].split("\n\n")[0].splitlines()[2:]
    assert [line.split()[0] for line in picture] == ["baseline", "k3", "k5", "k10"]


def test_every_metric_has_a_table_with_a_row_per_variant() -> None:
    text = render(swept(), "markdown")
    table = text.split("| correct ↑ |")[1].split("\n\n")[0]
    rows = [line for line in table.splitlines() if line.startswith("| k")]
    assert [row.split()[1] for row in rows] == ["k3", "k5", "k10"]
    assert "simultaneous interval" in table.splitlines()[0]


def test_each_variant_has_its_own_change_check() -> None:
    text = render(swept(), "text")
    for name, k in (("k3", 3), ("k5", 5), ("k10", 10)):
        assert f"{name}: top_k from 1 to {k}" in text


def test_each_variant_is_decided_at_the_joint_level() -> None:
    rules = oc.Plan(
        primary="correct",
        guardrails=[oc.Guardrail("correct", margin=0.3, every_slice="kind")],
        slices=["kind"],
    )
    comparison = oc.compare(arm(1, (0, 0)), ARMS, rules)
    overall = comparison.families[0].interval_level
    decisions = decide_each(comparison)
    assert [d.variant_name for d in decisions] == ["k3", "k5", "k10"]
    for decision, delta in zip(decisions, comparison.deltas, strict=True):
        found = decision.statuses[0].delta.interval
        joint = delta.simultaneous_interval
        assert (found.low, found.high) == pytest.approx((joint.low, joint.high))
        assert found.confidence_level == overall
        assert "best-of-many" in {note.code for note in decision.notes}
        shown = render(decision, "markdown")
        low = f"+{found.low:.3f}" if found.low > 0 else f"−{-found.low:.3f}"
        assert shown.count(low) >= 2  # the rules and all metrics agree


def test_rules_that_came_later_cannot_decide_about_several() -> None:
    comparison = swept()
    with pytest.raises(PlanError, match=r"call compare\(baseline, variants, plan\)"):
        decide_each(comparison, oc.Plan("correct", slices=["kind"]))
