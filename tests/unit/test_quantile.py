"""Quantile deltas and limits, against NumPy, SciPy and the oracle's bootstrap."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from onechange.errors import MethodError
from onechange.stats.quantile import (
    fewest_questions,
    order_statistic_limits,
    quantile_arm_interval,
    quantile_delta,
    quantile_margin_pvalue,
)
from onechange.stats.trial_quantile import (
    TrialValues,
    resampled_quantiles,
    trial_quantile,
)

RNG = np.random.default_rng(4)
N = 120
B = RNG.lognormal(0.0, 0.5, N)
V = B * RNG.lognormal(0.1, 0.3, N)


def _single(values: np.ndarray) -> TrialValues:
    return TrialValues(values, np.arange(values.size))


@pytest.mark.parametrize("probability", [0.0, 0.05, 0.5, 0.9, 0.95, 0.99, 1.0])
@pytest.mark.parametrize("n_trials", [1, 3])
def test_equal_trials_give_numpys_quantile(probability: float, n_trials: int) -> None:
    values = RNG.normal(size=31 * n_trials)
    arm = TrialValues(values, np.repeat(np.arange(31), n_trials))
    expected = np.quantile(values, probability)
    assert trial_quantile(arm, probability) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("probability", [0.1, 0.37, 0.5, 0.95])
def test_fewer_trials_weigh_the_same_as_repeated_values(probability: float) -> None:
    values = RNG.normal(size=4 * 10 + 2 * 6 + 5)
    question = np.concatenate(
        [
            np.repeat(np.arange(10), 4),
            np.repeat(np.arange(10, 16), 2),
            16 + np.arange(5),
        ]
    )
    copies = np.repeat([1, 2, 4], [40, 12, 5])
    expected = np.quantile(np.repeat(values, copies), probability)
    got = trial_quantile(TrialValues(values, question), probability)
    assert got == pytest.approx(expected, rel=1e-12)


def test_the_quantile_of_trials_is_not_the_quantile_of_trial_means() -> None:
    values = np.tile([1.0, 1.0, 10.0], 20)
    arm = TrialValues(values, np.repeat(np.arange(20), 3))
    assert trial_quantile(arm, 0.95) == 10.0


def test_resamples_are_quantiles_of_drawn_questions_with_all_trials() -> None:
    question = np.array([0, 0, 1, 1, 2, 2])
    values = np.array([1.0, 2.0, 3.0, 5.0, 8.0, 13.0])
    (draws,) = resampled_quantiles(
        (TrialValues(values, question),), 0.5, None, 4000, seed=1
    )
    exact = {}
    for i in range(3):
        for j in range(3):
            for k in range(3):
                pooled = values.reshape(3, 2)[[i, j, k]].ravel()
                key = round(float(np.median(pooled)), 9)
                exact[key] = exact.get(key, 0.0) + 1 / 27
    seen, counts = np.unique(np.round(draws, 9), return_counts=True)
    assert set(seen) == set(exact)
    for value, count in zip(seen, counts, strict=True):
        spread = np.sqrt(exact[value] * (1 - exact[value]) / 4000)
        assert abs(count / 4000 - exact[value]) < 5 * spread


def test_the_p95_bootstrap_of_the_oracle() -> None:
    oracle = Path(__file__).parents[1] / "oracle" / "bootstrap.json"
    family = json.loads(oracle.read_text(encoding="utf-8"))
    case = next(
        c for c in family["cases"] if c["name"] == "p95_diff_percentile/latency_n40/95"
    )
    data = family["datasets"][case["data"]]
    arms = tuple(_single(np.array(data[a])) for a in ("baseline", "variant"))
    estimate = trial_quantile(arms[1], 0.95) - trial_quantile(arms[0], 0.95)
    assert estimate == pytest.approx(case["params"]["estimate"], rel=1e-10)
    low, high = resampled_quantiles(arms, 0.95, None, 100_000, seed=7)
    draws = np.sort(high - low)
    limits = [draws[2499], draws[-2500]]
    assert limits == pytest.approx(case["value"], abs=case["tolerance"]["abs"])


def test_clusters_are_drawn_whole() -> None:
    clusters = np.repeat(np.arange(3), 2)
    values = np.array([0.0, 0.0, 1.0, 1.0, 2.0, 2.0])
    (draws,) = resampled_quantiles((_single(values),), 1.0, clusters, 3000, seed=2)
    share = np.mean(draws == 2.0)
    assert share == pytest.approx(1 - (2 / 3) ** 3, abs=0.05)


def test_quantile_delta_reports_both_arms_and_its_interval() -> None:
    got = quantile_delta(_single(B), _single(V), 0.9)
    assert got.baseline == pytest.approx(np.quantile(B, 0.9))
    assert got.delta == pytest.approx(np.quantile(V, 0.9) - np.quantile(B, 0.9))
    assert got.interval is not None
    assert got.interval.n_resamples == 9999
    assert got.interval.low < got.delta < got.interval.high
    assert got.relative_delta == pytest.approx(got.variant / got.baseline - 1)
    assert got.relative_interval is not None
    assert got.enough


def test_the_same_seed_gives_the_same_limits_in_any_row_order() -> None:
    order = RNG.permutation(N)
    first = quantile_delta(_single(B), _single(V), 0.5, n_resamples=999)
    shuffled = (TrialValues(B[order], order), TrialValues(V[order], order))
    second = quantile_delta(*shuffled, 0.5, n_resamples=999)
    assert first.interval == second.interval


def test_the_p_at_a_limit_is_the_tail_probability() -> None:
    got = quantile_delta(_single(B), _single(V), 0.5, n_resamples=1999)
    assert got.interval is not None
    p_low = quantile_margin_pvalue(
        got.resamples, got.interval.low, alternative="greater"
    )
    p_high = quantile_margin_pvalue(
        got.resamples, got.interval.high, alternative="less"
    )
    assert p_low == pytest.approx(0.025, abs=0.002)
    assert p_high == pytest.approx(0.025, abs=0.002)
    below = quantile_margin_pvalue(
        got.resamples, got.interval.low - 1e-9, alternative="greater"
    )
    assert below is not None
    assert below <= 0.025


def test_too_few_questions_refuse_an_interval() -> None:
    assert [fewest_questions(p) for p in (0.5, 0.9, 0.95, 0.99)] == [20, 50, 100, 500]
    got = quantile_delta(_single(B[:99]), _single(V[:99]), 0.95)
    assert got.interval is None
    assert not got.enough
    assert got.resamples.size == 0
    assert quantile_margin_pvalue(got.resamples, 0.0, alternative="less") is None
    assert [n.code for n in got.notes] == ["few-questions-for-quantile"]
    assert "100" in got.notes[0].text


def test_a_rough_quantile_is_noted_but_shown() -> None:
    got = quantile_delta(_single(B), _single(V), 0.95, n_resamples=499)
    assert got.interval is not None
    assert [n.code for n in got.notes] == ["few-questions-for-quantile"]
    assert got.enough


def test_few_clusters_are_noted_and_carry_no_status() -> None:
    clusters = np.repeat(np.arange(4), N // 4)
    got = quantile_delta(
        _single(B), _single(V), 0.5, clusters=clusters, n_resamples=499
    )
    assert got.interval is not None
    assert not got.enough
    assert "few-clusters" in [n.code for n in got.notes]


def test_a_zero_baseline_quantile_has_no_relative_delta() -> None:
    zero = quantile_delta(_single(np.zeros(N)), _single(V), 0.5, n_resamples=199)
    assert (zero.relative_delta, zero.relative_interval) == (None, None)
    assert zero.relative_reason == "the baseline quantile is 0"
    near = _single(np.where(np.arange(N) < N * 0.48, 0.0, 1.0))
    got = quantile_delta(near, _single(V), 0.5, n_resamples=199)
    assert got.relative_interval is None
    assert "not clearly above 0" in str(got.relative_reason)


def test_arms_over_different_questions_are_refused() -> None:
    with pytest.raises(MethodError, match="same questions"):
        quantile_delta(_single(B), _single(V[:50]), 0.5)


def test_too_few_resamples_for_the_level_are_refused() -> None:
    with pytest.raises(MethodError, match="at least 39"):
        quantile_delta(_single(B), _single(V), 0.5, n_resamples=38)
    quantile_delta(_single(B), _single(V), 0.5, n_resamples=39)


@pytest.mark.parametrize("probability", [0.5, 0.9, 0.95])
def test_order_statistics_match_scipys_quantile_test(probability: float) -> None:
    low = scipy.stats.quantile_test(V, p=probability, alternative="greater")
    high = scipy.stats.quantile_test(V, p=probability, alternative="less")
    got = order_statistic_limits(V, probability, 0.025)
    assert got == (
        low.confidence_interval(0.975).low,
        high.confidence_interval(0.975).high,
    )


def test_p95_needs_72_questions_for_an_upper_end() -> None:
    values = np.arange(71.0)
    assert order_statistic_limits(values, 0.95, 0.025)[1] == np.inf
    assert order_statistic_limits(np.arange(72.0), 0.95, 0.025)[1] == 71.0
    assert order_statistic_limits(np.arange(3.0), 0.05, 0.025)[0] == -np.inf


def test_own_quantile_is_exact_for_one_trial_and_resampled_for_more() -> None:
    single, _ = quantile_arm_interval(_single(V), 0.95)
    assert single is not None
    assert single.method == "order-statistics"
    assert single.n_resamples is None
    trials = TrialValues(np.concatenate([B, V]), np.tile(np.arange(N), 2))
    double, notes = quantile_arm_interval(trials, 0.95, n_resamples=499)
    assert double is not None
    assert double.method == "percentile"
    assert [n.code for n in notes] == ["few-questions-for-quantile"]
    grouped, _ = quantile_arm_interval(
        _single(V), 0.5, clusters=np.repeat(np.arange(12), 10), n_resamples=499
    )
    assert grouped is not None
    assert grouped.method == "percentile"


def test_own_quantile_of_too_few_questions_with_trials_is_refused() -> None:
    trials = TrialValues(np.concatenate([B[:30], V[:30]]), np.tile(np.arange(30), 2))
    got, notes = quantile_arm_interval(trials, 0.9)
    assert got is None
    assert [n.code for n in notes] == ["few-questions-for-quantile"]
