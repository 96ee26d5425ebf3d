"""Slices, families and sweeps of real results (read from ONECHANGE_DATA)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from casefiles import DATA, delta_of, run, slices_of
from onechange.stats.binary import mcnemar_test

FINANCEBENCH, COMMON = DATA / "financebench", DATA / "common"
LIVEBENCH, SWEBENCH = DATA / "livebench", DATA / "swebench"

pytestmark = pytest.mark.skipif(
    not FINANCEBENCH.is_dir(),
    reason=f"no real results in {DATA}; set ONECHANGE_DATA to their folder",
)


def test_common_trial_1_by_question_type() -> None:
    comparison = oc.compare(
        COMMON / "baseline_t1.csv", COMMON / "variant_t1.csv", oc.Plan(slices=["qtype"])
    )
    found = slices_of(comparison, "correct")
    assert {label: (round(d.delta, 3), d.n_pairs) for label, d in found.items()} == {
        "factoid": (0.086, 58),
        "comparison": (0.088, 34),
        "unanswerable": (0.2, 15),
        "multi_hop": (-0.111, 36),
    }
    for delta in found.values():
        assert delta.interval.low < delta.delta < delta.interval.high
        joint = delta.simultaneous_interval
        assert joint.low < delta.interval.low < delta.interval.high < joint.high
        assert delta.test.pvalue <= delta.pvalue_adjusted <= 1
    (opposite,) = [r for r in comparison.slices[0].reversals if r.metric == "correct"]
    assert opposite.slice == (("qtype", "multi_hop"),)
    assert not opposite.shown


def test_swebench_by_repository() -> None:
    rows = pd.read_csv(SWEBENCH / "long.csv")
    columns = ["instance_id", "repo", "resolved"]
    before, after = (
        rows.loc[rows.system.str.contains(name), columns]
        for name in ("claude-sonnet-4-2", "sonnet-4-5")
    )
    plan = oc.Plan(slices=["repo"], columns=oc.Columns(question_id="instance_id"))
    comparison = oc.compare(before, after, plan)
    found = slices_of(comparison, "resolved")
    sizes = before.groupby("repo").size().to_dict()
    assert {label: d.n_pairs for label, d in found.items()} == sizes
    assert len(sizes) == 12
    both = before.merge(after, on="instance_id", suffixes=("_b", "_v"))
    for label, delta in found.items():
        part = both[both.repo_b == label]
        lost = int(((part.resolved_b == 1) & (part.resolved_v == 0)).sum())
        gained = int(((part.resolved_b == 0) & (part.resolved_v == 1)).sum())
        assert delta.delta == pytest.approx((gained - lost) / len(part))
        if len(part) >= 10:
            right = mcnemar_test(lost, gained, method="mcnemar-midp").pvalue
            assert delta.test.pvalue == pytest.approx(right)
        small = len(part) < 10
        undefined = gained + lost == 0
        assert (delta.pvalue_adjusted is None) == (small or undefined)
        assert (delta.simultaneous_interval is None) == small
    family = comparison.families[-1]
    large = [d for d in found.values() if d.n_pairs >= 10 and d.wins + d.losses]
    assert family.n_tests == len(large)


def test_livebench_by_category_and_task_over_shared_questions() -> None:
    plan = oc.Plan(
        slices=["category", "task"],
        columns=oc.Columns(metrics=("score",)),
        metrics=[oc.Metric("score", range=(0, 1))],
    )
    before = LIVEBENCH / "mistral-large-2402.csv"
    after = LIVEBENCH / "mistral-large-2407.csv"
    comparison = oc.compare(before, after, plan)
    both = pd.read_csv(before).merge(
        pd.read_csv(after), on="question_id", suffixes=("_b", "_v")
    )
    both = both.dropna(subset=["score_b", "score_v"])
    assert delta_of(comparison).n_pairs == len(both)
    assert len(comparison.audits[0].only_variant) == 136
    both["change"] = both.score_v - both.score_b
    for breakdown in comparison.slices:
        column = breakdown.spec.name
        right = both.groupby(f"{column}_b").change.agg(["mean", "size"])
        for delta in breakdown.deltas:
            mean, size = right.loc[delta.slice[0][1]]
            assert delta.n_pairs == size
            assert delta.delta == pytest.approx(mean, abs=1e-9)
        weighted = sum(d.delta * d.n_pairs for d in breakdown.deltas)
        assert weighted / len(both) == pytest.approx(delta_of(comparison).delta)
    (overall,) = [f for f in comparison.families if f.scope == "slices"]
    assert overall.breakdowns == ("category", "task")


SWEEP = ("sharedStore", "singleStore", "oracle")


def test_financebench_sweep_against_the_closed_book() -> None:
    name = "gpt-4-1106-preview_{}"
    arms = {mode: FINANCEBENCH / f"{name.format(mode)}.csv" for mode in SWEEP}
    columns = oc.Columns(question_id="financebench_id", metrics=("correct",))
    plan = oc.Plan(columns=columns, slices=["question_type"])
    comparison = oc.compare(
        FINANCEBENCH / f"{name.format('closedBook')}.csv", arms, plan
    )
    right = {"sharedStore": 29, "singleStore": 75, "oracle": 128}
    counted = {
        mode: int(pd.read_csv(path).correct.sum()) for mode, path in arms.items()
    }
    assert counted == right
    for delta in comparison.deltas:
        assert delta.variant * 150 == pytest.approx(right[delta.variant_name])
        assert delta.simultaneous_interval.low > 0
        assert delta.pvalue_adjusted < 0.05
    assert comparison.sweep.setting == "eval_mode"
    assert not comparison.sweep.numeric
    assert {b.variant_name for b in comparison.sweep.best} == {"oracle"}
    assert all(b.shown for b in comparison.sweep.best)
    for audit, mode in zip(comparison.audits, SWEEP, strict=True):
        (change,) = audit.settings_changed
        assert (change.baseline, change.variant) == ("closedBook", mode)


def test_financebench_retrieval_gap_of_two_models() -> None:
    """Oracle less shared store within each model, and the change of that gap."""
    from onechange.diagnosis import oracle_gap

    columns = oc.Columns(question_id="financebench_id", metrics=("correct",))
    arms = []
    for model in ("gpt-4", "gpt-4-1106-preview"):
        found, given = (
            oc.read(FINANCEBENCH / f"{model}_{mode}.csv", columns=columns)
            for mode in ("sharedStore", "oracle")
        )
        arms.append(oc.with_oracle_context(found, given))
    b, v = ((arm.metrics["correct"], arm.metrics["oracle_correct"]) for arm in arms)
    gap = oracle_gap("correct", baseline=b, variant=v)
    assert gap.baseline.delta * 150 == pytest.approx(126 - 25)
    assert gap.variant.delta * 150 == pytest.approx(128 - 29)
    assert gap.difference.delta * 150 == pytest.approx((128 - 29) - (126 - 25))
    change = (v[1] - v[0]) - (b[1] - b[0])
    half = 1.976 * np.std(change, ddof=1) / np.sqrt(150)
    assert gap.difference.interval.low == pytest.approx(change.mean() - half, abs=0.003)


def test_the_sweep_prints_one_table_per_metric() -> None:
    stem = FINANCEBENCH / "gpt-4-1106-preview_"
    done = run(
        "compare",
        *(f"{stem}{mode}.csv" for mode in ("closedBook", *SWEEP)),
        "--id=financebench_id",
        "--slice=question_type",
    )
    assert done.returncode == 0, done.stderr
    assert "correct ↑" in done.stdout
    assert "refused" in done.stdout
    assert "simultaneous interval" in done.stdout
    assert "best-of-many" in done.stdout
