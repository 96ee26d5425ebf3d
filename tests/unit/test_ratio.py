"""Fieller's limits and ratio metrics, against root search and plain algebra."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from onechange.errors import MethodError
from onechange.stats.choose import (
    ratio_delta,
    relative_interval,
    relative_margin_pvalue,
)
from onechange.stats.cluster import bell_mccaffrey_df, cr2
from onechange.stats.ratio import (
    Moments,
    RatioPair,
    fieller_limits,
    fieller_pvalue,
    linearised,
    mean_moments,
    ratio_limits,
)
from onechange.stats.relative import fieller_margin_pvalue, relative_by_name
from onechange.stats.sample import paired_sample

CASE_05 = Path(__file__).parents[1] / "cases" / "05-zero-baseline-relative-change"
RNG = np.random.default_rng(8)
B = RNG.lognormal(0.3, 0.4, 40)
V = B * RNG.lognormal(0.1, 0.3, 40)
CLUSTERS = np.repeat(np.arange(8), 5)


def _statistic(r: float, b: np.ndarray, v: np.ndarray, extra: float) -> float:
    residual = v - r * b
    variance = residual.var(ddof=1) / residual.size + extra
    return residual.mean() / math.sqrt(variance)


@pytest.mark.parametrize("guarded", [True, False])
def test_fieller_limits_are_where_the_t_statistic_touches(guarded: bool) -> None:
    extra = 2 * np.mean((V - B) ** 2) / B.size**2 if guarded else 0.0
    t = scipy.stats.t.isf(0.025, B.size - 1)
    moments = mean_moments(B, V, guarded=guarded)
    assert moments is not None
    low, high = fieller_limits(moments, 0.025)
    centre = V.mean() / B.mean()

    def excess(r: float, target: float) -> float:
        return _statistic(r, B, V, extra) - target

    expected_low = scipy.optimize.brentq(excess, 0.1, centre, args=(t,))
    expected_high = scipy.optimize.brentq(excess, centre, 5.0, args=(-t,))
    assert (low + 1, high + 1) == pytest.approx((expected_low, expected_high))


def test_clustered_fieller_uses_the_cr2_error_of_the_residual() -> None:
    moments = mean_moments(B, V, clusters=CLUSTERS, guarded=False)
    assert moments is not None
    low, high = fieller_limits(moments, 0.025)
    t = scipy.stats.t.isf(0.025, bell_mccaffrey_df(CLUSTERS))
    for limit, sign in ((low, 1), (high, -1)):
        residual = V - (1 + limit) * B
        error = cr2(residual, CLUSTERS).standard_error
        assert residual.mean() / error == pytest.approx(sign * t, rel=1e-6)


def test_p_at_a_limit_is_the_tail_probability() -> None:
    sample = paired_sample(B, V)
    interval = relative_interval(sample).interval
    assert interval is not None
    assert interval.method == "guarded-fieller"
    assert relative_margin_pvalue(
        sample, interval.low, alternative="greater"
    ) == pytest.approx(0.025)
    assert relative_margin_pvalue(
        sample, interval.high, alternative="less"
    ) == pytest.approx(0.025)


def test_a_zero_baseline_has_no_relative_delta() -> None:
    sample = paired_sample(np.zeros(8), np.tile([0.0, 1.0], 4))
    got = relative_interval(sample)
    assert (got.delta, got.interval) == (None, None)
    assert got.reason == "the baseline mean is 0"
    assert relative_margin_pvalue(sample, -0.1, alternative="greater") is None


def test_relative_deltas_of_case_05() -> None:
    arms = []
    for arm in ("baseline", "variant"):
        with (CASE_05 / f"{arm}.csv").open(encoding="utf-8") as file:
            arms.append(
                sorted(csv.DictReader(file), key=lambda row: row["question_id"])
            )
    expected = json.loads((CASE_05 / "expected.json").read_text(encoding="utf-8"))
    for metric, values in expected.items():
        b, v = (np.array([float(row[metric]) for row in arm]) for arm in arms)
        got = relative_interval(paired_sample(b, v), name="guarded-fieller")
        assert got.delta == values["relative"]
        assert (got.reason is None) == (values["relative"] is not None)


def test_a_negative_baseline_has_no_relative_delta() -> None:
    got = relative_interval(paired_sample(-B, -V))
    assert got.reason == "the baseline mean is below 0"


def test_a_baseline_that_may_be_zero_has_no_relative_delta() -> None:
    b = np.array([5.0, -4.0, 3.0, -2.0, 1.0, -1.0, 2.0])
    got = relative_interval(paired_sample(b, b + 1))
    assert got.delta is None
    assert got.reason == "the baseline mean is not clearly above 0"


def test_a_variant_of_zero_is_minus_one_hundred_percent() -> None:
    b = np.array([1.0, 2, 3, 2, 1, 3])
    got = relative_interval(paired_sample(b, np.zeros(6), score_range=(0.0, 5.0)))
    assert got.delta == -1.0
    assert got.interval is not None
    assert got.interval.low == -1.0


def test_without_change_and_range_there_is_no_relative_interval() -> None:
    got = relative_interval(paired_sample(B, B))
    assert (got.delta, got.interval) == (0.0, None)
    assert "range is not declared" in str(got.reason)
    assert fieller_pvalue(Moments(1, 1, 0, 0, 0, 9), 0.0, "less") is None


def test_without_an_interval_there_is_no_relative_p() -> None:
    same = paired_sample(B, B)
    assert fieller_margin_pvalue(same, -0.1, alternative="greater") is None


def test_an_unchanged_binary_metric_keeps_a_relative_interval_with_width() -> None:
    b = np.repeat([1.0, 0.0], [14, 6])
    got = relative_interval(paired_sample(b, b))
    assert got.interval is not None
    assert got.interval.low < -0.1
    assert got.interval.high > 0.1
    plain = relative_interval(paired_sample(b, b), name="fieller")
    assert plain.interval is None
    assert plain.reason == "the arms show no spread to fieller"
    assert plain.test is None


def test_too_few_questions_or_clusters_have_no_relative_interval() -> None:
    few = paired_sample(B[:5], V[:5])
    assert relative_interval(few).interval is None
    assert "fewer than 6" in str(relative_interval(few).reason)
    assert relative_interval(few, name="fieller").interval is not None
    one = paired_sample(B[:1], V[:1])
    assert "one question" in str(relative_interval(one).reason)
    same = paired_sample(B, V, clusters=np.zeros(B.size, dtype=np.int64))
    assert "one cluster" in str(relative_interval(same).reason)
    empty = paired_sample(np.empty(0), np.empty(0))
    assert relative_interval(empty).reason == "there are no pairs"


def test_other_names_are_refused_for_relative_deltas() -> None:
    with pytest.raises(MethodError, match="guarded-fieller"):
        relative_by_name(paired_sample(B, V), name="newcombe", confidence_level=0.95)


def test_the_test_of_no_relative_change_agrees_with_the_interval() -> None:
    found = relative_interval(paired_sample(B, V), confidence_level=0.9)
    assert found.test is not None
    assert found.interval is not None
    assert (found.test.pvalue <= 0.1) == (found.interval.low > 0)


def test_linearised_values_have_the_ratio_as_mean() -> None:
    arm = RatioPair(V, B)
    assert linearised(arm).mean() == pytest.approx(V.sum() / B.sum())


def test_own_ratio_limits_are_fiellers() -> None:
    low, high = ratio_limits(RatioPair(V, B), 0.025)
    t = scipy.stats.t.isf(0.025, B.size - 1)
    assert _statistic(low, B, V, 0.0) == pytest.approx(t)
    assert _statistic(high, B, V, 0.0) == pytest.approx(-t)


def test_with_equal_denominators_a_ratio_metric_is_a_mean() -> None:
    ones = np.ones(B.size)
    got = ratio_delta(RatioPair(B, ones), RatioPair(V, ones), name="fieller")
    assert got.delta == pytest.approx((V - B).mean())
    error = (V - B).std(ddof=1) / math.sqrt(B.size)
    t = scipy.stats.t.isf(0.025, B.size - 1)
    assert got.interval is not None
    assert got.interval.low == pytest.approx(got.delta - t * error)
    assert got.interval.high == pytest.approx(got.delta + t * error)
    mean_relative = relative_interval(paired_sample(B, V), name="fieller")
    assert got.relative.interval is not None
    assert mean_relative.interval is not None
    assert got.relative.interval.low == pytest.approx(mean_relative.interval.low)


def test_the_standard_error_of_a_ratio_delta_is_that_of_the_linearised_values() -> None:
    ones = np.ones(B.size)
    plain = ratio_delta(RatioPair(B, ones), RatioPair(V, ones))
    error = (V - B).std(ddof=1) / math.sqrt(B.size)
    assert plain.standard_error == pytest.approx(error, rel=1e-12)
    first, second = RatioPair(V, B + 1), RatioPair(B, V + 0.5)
    grouped = ratio_delta(first, second, clusters=CLUSTERS).standard_error
    change = linearised(second) - linearised(first)
    assert grouped == pytest.approx(cr2(change, CLUSTERS).standard_error, rel=1e-9)


def test_the_standard_error_of_a_ratio_delta_is_its_spread_over_samples() -> None:
    rng, n = np.random.default_rng(5), 80
    deltas, errors = [], []
    for _ in range(1500):
        tokens = rng.lognormal(0.0, 0.5, (2, n))
        cost = tokens * (1 + 0.3 * rng.normal(size=(2, n)))
        got = ratio_delta(RatioPair(cost[0], tokens[0]), RatioPair(cost[1], tokens[1]))
        deltas.append(got.delta)
        errors.append(got.standard_error)
    assert np.mean(errors) == pytest.approx(np.std(deltas), rel=0.08)


def test_what_cannot_go_below_zero_cannot_fall_by_more_than_everything() -> None:
    b, v = np.array([5.0, 3.0, 4.0, 6.0, 5.0, 2.0, 4.0, 3.0]), np.zeros(8)
    v[0] = 0.1
    got = relative_interval(paired_sample(b, v)).interval
    assert got is not None
    assert got.low == -1.0
    mixed = relative_interval(paired_sample(b, v - 0.2)).interval
    assert mixed is not None
    assert mixed.low < -1.0
    ranged = paired_sample(b, v, score_range=(-5.0, 10.0))
    assert relative_interval(ranged).interval.low < -1.0
    ratio = ratio_delta(RatioPair(b, np.ones(8)), RatioPair(v, np.ones(8))).relative
    assert ratio.interval is not None
    assert ratio.interval.low == -1.0


def test_swapping_the_arms_mirrors_a_ratio_delta() -> None:
    first, second = RatioPair(V, B + 1), RatioPair(B, V + 0.5)
    there = ratio_delta(first, second, clusters=CLUSTERS).interval
    back = ratio_delta(second, first, clusters=CLUSTERS).interval
    assert there is not None
    assert back is not None
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))


def test_an_unchanged_ratio_metric_never_collapses() -> None:
    arm = RatioPair(V, B)
    assert ratio_delta(arm, arm).interval is None
    assert ratio_delta(arm, arm).reason is not None
    ranged = ratio_delta(arm, arm, score_range=(0.0, 10.0)).interval
    assert ranged is not None
    assert ranged.low < 0 < ranged.high


def test_denominators_that_sum_to_zero_have_no_ratio() -> None:
    got = ratio_delta(RatioPair(B, np.zeros(B.size)), RatioPair(V, B))
    assert got.delta is None
    assert "baseline's denominators" in str(got.reason)


def test_an_unclear_denominator_has_no_interval() -> None:
    denominator = np.where(np.arange(B.size) == 0, 1.0, 0.0)
    assert ratio_limits(RatioPair(B, denominator), 0.025) is None
    got = ratio_delta(RatioPair(B, denominator), RatioPair(V, B))
    assert got.interval is None
    assert got.reason is not None
