"""Margins of every kind: p at the margin, smallest margin, chance if unchanged."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from onechange.report import render
from onechange.sensitivity import margin_check, resampled_margin_check
from onechange.stats.equivalence import tost
from onechange.stats.estimate import Interval
from onechange.stats.sample import paired_sample

rng = np.random.default_rng(11)
BASELINE = rng.uniform(0.3, 0.9, 60)
VARIANT = np.clip(BASELINE + rng.normal(0.01, 0.08, 60), 0, 1)
LATENCY = rng.lognormal(6, 0.4, (2, 60))


def arms(**columns: tuple[np.ndarray, np.ndarray]) -> list[pd.DataFrame]:
    ids = [f"q{i:03d}" for i in range(60)]
    return [
        pd.DataFrame(
            {"question_id": ids, **{name: pair[arm] for name, pair in columns.items()}}
        )
        for arm in (0, 1)
    ]


def decided(
    rule: oc.Guardrail, *, analysis: oc.Analysis | None = None, **columns: object
) -> oc.RuleStatus:
    plan = oc.Plan(
        guardrails=[rule],
        metrics=[
            oc.Metric("score", range=(0, 1), threshold=0.1),
            oc.Metric("latency_ms", direction="lower"),
        ],
        analysis=analysis,
    )
    frames = arms(score=(BASELINE, VARIANT), latency_ms=(LATENCY[0], LATENCY[1]))
    (status,) = oc.decide(oc.compare(*frames, plan), plan, stability=False).statuses
    return status


def test_equivalence_has_the_p_of_two_one_sided_tests() -> None:
    rule = oc.Guardrail("score", margin=0.04, role="equivalence")
    status = decided(rule, analysis=oc.Analysis(interval="t"))
    right = tost(VARIANT - BASELINE, 0.04)
    assert status.pvalue_margin == pytest.approx(right.pvalue, rel=1e-9)
    # the plan's interval is two-sided: each side is tested at half of its error
    assert (status.status == oc.Status.PASS) == (right.pvalue < 0.025)


def test_equivalence_seldom_passes_with_a_narrow_margin() -> None:
    wide, narrow = (
        decided(oc.Guardrail("score", margin=margin, role="equivalence"))
        for margin in (0.2, 0.005)
    )
    assert wide.pass_probability_unchanged > 0.999
    assert narrow.pass_probability_unchanged == 0
    assert wide.smallest_margin == narrow.smallest_margin > 0
    assert "margin-below-resolution" in {note.code for note in narrow.notes}


@pytest.mark.parametrize("role", ["guardrail", "equivalence"])
@pytest.mark.parametrize("margin", ["3%", "25%"])
def test_a_relative_margin_has_a_p_that_agrees_with_its_status(
    margin: str, role: str
) -> None:
    status = decided(oc.Guardrail("score", margin=margin, role=role))
    assert status.pvalue_margin is not None
    assert (status.pvalue_margin < 0.025) == (status.status == oc.Status.PASS)
    assert 0 <= status.pass_probability_unchanged <= 1


@pytest.mark.parametrize("margin", [400.0, 60.0, "60%", "5%"])
def test_a_quantile_has_a_p_counted_in_its_resamples(margin: float | str) -> None:
    rule = oc.Guardrail("latency_ms", margin=margin, statistic="p90")
    status = decided(rule)
    assert status.pvalue_margin is not None
    # no count of 9999 resamples is below one in ten thousand
    assert status.pvalue_margin >= 1 / 10_000
    if abs(status.pvalue_margin - 0.025) > 0.002:
        assert (status.pvalue_margin < 0.025) == (status.status == oc.Status.PASS)
    assert status.smallest_margin is None
    assert 0 <= status.pass_probability_unchanged <= 1


def test_a_loss_rate_has_the_margin_of_an_event_free_sample() -> None:
    status = decided(oc.Guardrail("score", margin=0.2, statistic="loss_rate"))
    z = 1.959963984540054
    assert status.smallest_margin == pytest.approx(z**2 / (60 + z**2))
    assert status.pvalue_margin is not None
    assert (status.pvalue_margin < 0.025) == (status.status == oc.Status.PASS)


def test_a_point_value_has_no_p() -> None:
    status = decided(oc.Guardrail("score", margin=0.02, rule="estimate"))
    assert status.pvalue_margin is None


def test_the_chance_to_pass_unchanged_is_that_of_simulation() -> None:
    sample = paired_sample(BASELINE, BASELINE + rng.normal(0, 0.1, 60))
    error = float(sample.difference.std(ddof=1) / math.sqrt(60))
    mean = float(sample.difference.mean())
    ends = Interval(mean - 1.96 * error, mean + 1.96 * error, 0.95, "t")
    for both, margin in ((False, 0.03), (True, 0.035)):
        check = margin_check(
            sample,
            margin,
            "higher",
            interval=ends,
            standard_error=error,
            analysis=oc.Analysis(interval="t"),
            both_sides=both,
        )
        means = np.random.default_rng(3).normal(0, error, 40_000)
        passes = means - 1.96 * error > -margin
        if both:
            passes &= means + 1.96 * error < margin
        found = check.pass_probability_unchanged
        assert found == pytest.approx(passes.mean(), abs=0.01)


def test_without_resamples_there_is_nothing_to_check() -> None:
    check = resampled_margin_check(np.empty(0), 0.0, 1.0, "lower", interval=None)
    assert check.pvalue_margin is None


def test_the_report_prints_a_relative_smallest_margin_in_percent() -> None:
    plan = oc.Plan(
        guardrails=[oc.Guardrail("score", margin="0.1%")],
        metrics=[oc.Metric("score", range=(0, 1))],
    )
    comparison = oc.compare(*arms(score=(BASELINE, VARIANT)), plan)
    decision = oc.decide(comparison, plan)
    (status,) = decision.statuses
    text = render(decision, "markdown")
    if status.smallest_margin is not None:
        assert "margin-below-resolution" in text
    assert "chance to pass if nothing changed" in text


def two_primaries(primaries: str, shift: float) -> oc.Decision:
    plan = oc.Plan(
        primary=[oc.Primary("first"), oc.Primary("second")],
        analysis=oc.Analysis(primaries=primaries),
    )
    source = np.random.default_rng(5)
    first, second = source.normal(0, 1, (2, 60))
    noise = source.normal(0, 0.3, (2, 60))
    frames = arms(
        first=(first, first + shift + noise[0]), second=(second, second + noise[1])
    )
    return oc.decide(oc.compare(*frames, plan), plan)


def test_one_of_several_primaries_is_enough_under_any() -> None:
    assert two_primaries("all", 0.3).decision == "inconclusive"
    assert two_primaries("any", 0.3).decision == "ship"


def test_a_primary_that_is_worse_forbids_ship_under_any() -> None:
    plan = oc.Plan(
        primary=[oc.Primary("first"), oc.Primary("second")],
        analysis=oc.Analysis(primaries="any"),
    )
    noise = rng.normal(0, 0.1, (2, 60))
    frames = arms(
        first=(BASELINE, BASELINE + 0.3 + noise[0]),
        second=(BASELINE, BASELINE - 0.3 + noise[1]),
    )
    assert oc.decide(oc.compare(*frames, plan), plan).decision == "do not ship"


def test_under_any_each_primary_has_the_wider_joint_interval() -> None:
    one, other = two_primaries("all", 0.05), two_primaries("any", 0.05)
    for plain, joint in zip(one.statuses, other.statuses, strict=True):
        assert joint.delta.interval.low < plain.delta.interval.low
        # two nearly independent tests: about the level of Bonferroni, not beyond
        assert 0.974 < joint.delta.interval.confidence_level <= 0.9755
    assert "best-of-many" in {note.code for note in other.notes}
    assert "best-of-many" not in {note.code for note in one.notes}


def test_under_any_the_error_over_both_primaries_is_held() -> None:
    """Without any effect one of two passes in 2.5 % of the runs, not in 5 %."""
    passed = 0
    for seed in range(120):
        source = np.random.default_rng([9, seed])
        scores = source.integers(0, 2, (2, 2, 60)).astype(float)
        frames = arms(first=(scores[0, 0], scores[0, 1]), second=tuple(scores[1]))
        plan = oc.Plan(
            primary=[oc.Primary("first"), oc.Primary("second")],
            analysis=oc.Analysis(primaries="any", n_resamples=199),
        )
        comparison = oc.compare(*frames, plan)
        decision = oc.decide(comparison, plan, stability=False)
        passed += any(row.status == oc.Status.PASS for row in decision.statuses)
    # 2.5 % of the runs with three standard errors
    assert passed <= 120 * 0.025 + 3 * math.sqrt(120 * 0.025)


def test_other_primaries_than_compared_are_refused_under_any() -> None:
    decision = two_primaries("any", 0.1)
    other = oc.Plan(
        primary=[oc.Primary("first")], analysis=oc.Analysis(primaries="any")
    )
    with pytest.raises(oc.PlanError, match="compare"):
        oc.decide(decision.comparison, other)


def scored(scores: np.ndarray) -> pd.DataFrame:
    ids = [f"q{i}" for i in range(scores.size)]
    return pd.DataFrame({"question_id": ids, "score": scores})


def test_a_margin_that_passes_is_not_called_too_small_to_show() -> None:
    rng = np.random.default_rng(5)
    before = np.round(rng.random(150), 2)
    after = np.clip(before + rng.normal(0, 0.02, 150), 0, 1)
    told = {}
    for margin in (0.01, 0.001):
        plan = oc.Plan(
            guardrails=[oc.Guardrail("score", margin=margin)],
            metrics=[oc.Metric("score", range=(0, 1))],
        )
        frames = [scored(before), scored(after)]
        (status,) = oc.decide(oc.compare(*frames, plan)).statuses
        assert status.smallest_margin > margin
        told[str(status.status)] = [note.code for note in status.notes]
    assert told == {"pass": [], "inconclusive": ["margin-below-resolution"]}


def test_the_smallest_margin_is_the_reach_of_the_interval_without_changes() -> None:
    before = np.round(np.random.default_rng(5).random(150), 2)
    plan = oc.Plan(
        guardrails=[oc.Guardrail("score", margin=0.001)],
        metrics=[oc.Metric("score", range=(0, 1))],
    )
    (status,) = oc.decide(oc.compare(scored(before), scored(before), plan)).statuses
    assert status.smallest_margin == pytest.approx(-status.delta.interval.low)
    assert "if no answer changes at all" in status.notes[0].text
