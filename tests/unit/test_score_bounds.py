"""Bounds of ratio metrics, shares, own values and slices, by trying every filling."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from onechange.report.json_output import to_plain
from onechange.stats.arm import arm_interval
from onechange.stats.choose import relative_interval
from onechange.stats.sample import paired_sample
from onechange.status import Status

GRID = (0.0, 0.5, 1.0)


def _frame(**columns: object) -> pd.DataFrame:
    n = len(next(iter(columns.values())))
    return pd.DataFrame({"question_id": [f"q{i:03d}" for i in range(n)], **columns})


def _plan(*rules: oc.Guardrail, den_range: bool = True, **more: object) -> oc.Plan:
    metrics = [
        oc.Metric("tp", range=(0, 1)),
        oc.Metric("den", direction="higher", range=(0.5, 3) if den_range else None),
        oc.Metric("precision", numerator="tp", denominator="den", range=(0, 2)),
    ]
    return oc.Plan(metrics=metrics, guardrails=list(rules), **more)


def _ratio_arms(seed: int, n: int = 12) -> list[pd.DataFrame]:
    rng = np.random.default_rng(seed)
    arms = []
    for _ in range(2):
        tp = rng.integers(0, 2, n).astype(float)
        den = rng.integers(1, 4, n).astype(float)
        tp[rng.integers(0, n, 2)] = np.nan
        den[rng.integers(0, n, 1)] = np.nan
        arms.append(_frame(tp=tp, den=den))
    return arms


def _extremes(arms: list[pd.DataFrame]) -> tuple[float, float]:
    """Smallest and largest delta of the ratios over a grid of fillings."""
    deltas = []
    ratios = []
    for arm in arms:
        lacking_tp, lacking_den = arm.tp.isna(), arm.den.isna()
        found = []
        for tops in itertools.product(GRID, repeat=int(lacking_tp.sum())):
            top = arm.tp.to_numpy().copy()
            top[lacking_tp] = tops
            for bottoms in itertools.product((0.5, 2.0, 3.0), repeat=lacking_den.sum()):
                bottom = arm.den.to_numpy().copy()
                bottom[lacking_den] = bottoms
                found.append(top.sum() / bottom.sum())
        ratios.append(found)
    deltas = [v - b for b in ratios[0] for v in ratios[1]]
    return min(deltas), max(deltas)


@pytest.mark.parametrize("seed", range(8))
def test_the_bounds_of_a_ratio_are_the_extremes_of_all_fillings(seed: int) -> None:
    arms = _ratio_arms(seed)
    comparison = oc.compare(*arms, _plan())
    (delta,) = [d for d in comparison.deltas if d.metric == "precision"]
    complete = np.logical_and.reduce(
        [arm[name].notna() for arm in arms for name in ("tp", "den")]
    )
    assert delta.n_pairs == complete.sum()
    assert delta.bounds.n_incomplete == 12 - complete.sum()
    assert (delta.bounds.low, delta.bounds.high) == pytest.approx(_extremes(arms))
    assert delta.bounds.interval.low <= delta.bounds.low
    assert delta.bounds.interval.high >= delta.bounds.high


def _thin() -> list[pd.DataFrame]:
    """A ratio of which 30 of 60 questions are complete, all without a change."""
    n = 60
    before = _frame(tp=np.tile([1.0, 0.0, 1.0], 20), den=np.ones(n))
    after = before.copy()
    after.loc[30:, "tp"] = np.nan
    return [before, after]


@pytest.mark.parametrize("den_range", [True, False])
def test_a_ratio_with_most_parts_missing_does_not_pass(den_range: bool) -> None:
    plan = _plan(oc.Guardrail("precision", margin=0.4), den_range=den_range)
    decision = oc.decide(oc.compare(*_thin(), plan), plan)
    (status,) = decision.statuses
    assert status.delta.n_pairs == 30
    assert status.status is Status.INCONCLUSIVE
    assert "50 % of 60 questions lack a score" in status.reason
    worst = "with each of them at its worst" in status.reason
    assert worst is den_range
    if not den_range:
        assert "no score range is declared for den" in status.reason
    assert "high-missing-share" in [note.code for note in status.delta.notes]


def test_a_ratio_passes_when_its_bounds_do() -> None:
    plan = _plan(oc.Guardrail("precision", margin=2))
    (status,) = oc.decide(oc.compare(*_thin(), plan), plan).statuses
    assert status.status is Status.PASS


def test_a_denominator_that_may_vanish_leaves_no_bounds() -> None:
    before = _frame(tp=np.ones(10), den=[1.0, *[0.0] * 9])
    after = before.copy()
    after.loc[0, "den"] = np.nan
    plan = oc.Plan(
        metrics=[
            oc.Metric("tp", range=(0, 1)),
            oc.Metric("den", range=(0, 1)),
            oc.Metric("precision", numerator="tp", denominator="den"),
        ]
    )
    comparison = oc.compare(before, after, plan)
    (delta,) = [d for d in comparison.deltas if d.metric == "precision"]
    assert delta.bounds.low is None
    assert "sum to 0" in delta.bounds.reason


def _scored(missing: int, n: int = 80) -> list[pd.DataFrame]:
    rng = np.random.default_rng(missing)
    before = _frame(m=np.round(rng.uniform(0.4, 0.6, n), 2))
    after = before.assign(m=before.m + 0.02)
    after.loc[: missing - 1, "m"] = np.nan
    return [before, after]


def _decided(rule: oc.Guardrail, arms: list[pd.DataFrame]) -> oc.decide.RuleStatus:
    plan = oc.Plan(metrics=[oc.Metric("m", range=(0.3, 0.7))], guardrails=[rule])
    (status,) = oc.decide(oc.compare(*arms, plan), plan).statuses
    return status


@pytest.mark.parametrize("rule", ["interval", "estimate"])
@pytest.mark.parametrize(("margin", "passes"), [("5%", False), ("30%", True)])
def test_a_percent_margin_is_held_against_the_bounds_of_the_share(
    rule: str, margin: str, passes: bool
) -> None:
    arms = _scored(24)
    status = _decided(oc.Guardrail("m", margin=margin, rule=rule), arms)
    before, after = arms[0].m, arms[1].m
    ends = [paired_sample(before, after.fillna(fill)) for fill in (0.3, 0.7)]
    shares = [float(np.sum(s.variant) / np.sum(s.baseline) - 1) for s in ends]
    limits = status.delta.bounds
    assert limits.relative == pytest.approx(tuple(shares))
    assert limits.relative_interval.low == relative_interval(ends[0]).interval.low
    assert limits.relative_interval.high == relative_interval(ends[1]).interval.high
    assert status.status is (Status.PASS if passes else Status.INCONCLUSIVE)


@pytest.mark.parametrize("rule", ["interval", "estimate"])
@pytest.mark.parametrize(("limit", "passes"), [(0.48, False), (0.4, True)])
def test_a_limit_is_held_against_the_bounds_of_the_variants_own_value(
    rule: str, limit: float, passes: bool
) -> None:
    arms = _scored(24)
    # a question of the variant alone counts for its own value, not for the delta
    extra = pd.DataFrame({"question_id": ["x"], "m": [0.55]})
    arms[1] = pd.concat([arms[1], extra])
    status = _decided(oc.Guardrail("m", limit=limit, rule=rule), arms)
    own = [arms[1].m.fillna(fill).to_numpy() for fill in (0.3, 0.7)]
    limits = status.delta.bounds
    assert limits.variant == pytest.approx(tuple(np.mean(values) for values in own))
    ends = [
        arm_interval(values, binary=False, score_range=(0.3, 0.7)).interval
        for values in own
    ]
    assert limits.variant_interval.low == pytest.approx(ends[0].low)
    assert limits.variant_interval.high == pytest.approx(ends[1].high)
    assert status.status is (Status.PASS if passes else Status.INCONCLUSIVE)


@pytest.mark.parametrize("statistic", ["mean", "loss_rate", "p50"])
def test_missing_scores_of_one_slice_take_back_its_pass(statistic: str) -> None:
    n = 160
    kind = np.repeat(["a", "b"], n // 2)
    before = _frame(m=np.tile([0.5, 0.6], n // 2), kind=kind)
    after = before.copy()
    after.loc[:29, "m"] = np.nan  # 30 of the 80 of slice a, 19 % of all
    rule = oc.Guardrail("m", statistic=statistic, margin=0.2, every_slice="kind")
    plan = oc.Plan(
        metrics=[oc.Metric("m", range=(0, 1), threshold=0.1)],
        guardrails=[rule],
        slices=["kind"],
    )
    (status,) = oc.decide(oc.compare(before, after, plan), plan).statuses
    assert status.status is Status.INCONCLUSIVE
    assert status.slice == (("kind", "a"),)
    assert "38 % of 80 questions lack a score" in status.reason
    whole = oc.Plan(
        metrics=plan.metrics,
        guardrails=[oc.Guardrail("m", statistic=statistic, margin=0.2)],
    )
    (status,) = oc.decide(oc.compare(before, after, whole), whole).statuses
    assert status.status is Status.PASS


def test_bounds_over_all_questions_fill_those_unscored_in_both_arms() -> None:
    before, after = _scored(4)
    before.loc[:1, "m"] = np.nan
    plans = [
        oc.Plan(
            metrics=[oc.Metric("m", range=(0.3, 0.7))],
            analysis=oc.Analysis(bounds=which),
        )
        for which in ("applicable", "all")
    ]
    found = [oc.compare(before, after, plan).deltas[0].bounds for plan in plans]
    assert [limits.n_questions for limits in found] == [78, 80]
    assert [limits.n_not_applicable for limits in found] == [2, 0]
    assert found[1].low < found[0].low


@pytest.mark.parametrize(("n", "enough"), [(3, False), (5, False), (6, True)])
@pytest.mark.parametrize("margin", [1.0, "90%"])
def test_a_ratio_of_too_few_questions_has_no_status(
    n: int, enough: bool, margin: float | str
) -> None:
    """Under six questions no test can reach the level, of a ratio as of a mean."""
    before = _frame(a=np.arange(1.0, n + 1), d=np.arange(2.0, n + 2))
    after = before.assign(a=before.a + 0.1)
    plan = oc.Plan(
        metrics=[oc.Metric("r", numerator="a", denominator="d", direction="higher")],
        guardrails=[oc.Guardrail("r", margin=margin)],
    )
    (status,) = oc.decide(oc.compare(before, after, plan), plan).statuses
    codes = [note.code for note in status.delta.notes]
    assert (status.status is Status.PASS) is enough
    assert ("too-few-questions" in codes) is not enough
    assert (status.delta.interval is not None) is enough
    if not enough:
        assert "too few questions" in status.reason


def test_the_json_holds_the_bounds_that_rules_are_held_against() -> None:
    plan = oc.Plan(metrics=[oc.Metric("m", range=(0.3, 0.7))])
    comparison = oc.compare(*_scored(24), plan)
    found = comparison.deltas[0].bounds
    shown = to_plain(comparison)["deltas"][0]["bounds"]
    for name in ("interval", "relative_interval", "variant_interval"):
        assert shown[name]["low"] == getattr(found, name).low
        assert shown[name]["high"] == getattr(found, name).high
