"""Whole runs that differ: pooling, the two-way interval, what it flows into."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from onechange.errors import MethodError
from onechange.stats.arm import arm_interval
from onechange.stats.choose import decision_interval, margin_pvalue, relative_interval
from onechange.stats.cluster import cr2
from onechange.stats.components import fit_table
from onechange.stats.estimate import Interval
from onechange.stats.runs import (
    RunVariance,
    paired_run_variance,
    run_variance,
    runs_note,
)
from onechange.stats.sample import PairedSample, paired_sample
from onechange.stats.twoway import (
    two_way_arm_interval,
    two_way_arm_law,
    two_way_law,
)


def _arms(
    seed: int = 0, n: int = 40, trials: tuple[int, int] = (3, 3), run: float = 0.3
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    level = rng.normal(size=(n, 1))
    first, second = (
        level + 0.2 * rng.normal(size=(n, k)) + run * rng.normal(size=k) for k in trials
    )
    return first, second + 0.3 * rng.normal(size=(n, 1))


def _runs(*arms: np.ndarray) -> RunVariance | None:
    return run_variance(*(fit_table(arm) for arm in arms))


def _sample(baseline: np.ndarray, variant: np.ndarray, **more: object) -> PairedSample:
    return paired_sample(baseline.mean(axis=1), variant.mean(axis=1), **more)


def _anova(scores: np.ndarray) -> tuple[float, float]:
    n = scores.shape[0]
    row, column = scores.mean(1, keepdims=True), scores.mean(0, keepdims=True)
    rest = scores - row - column + scores.mean()
    trial = n * np.sum((column - scores.mean()) ** 2)
    return trial, float(np.sum(rest**2))


@pytest.mark.parametrize("trials", [(3, 3), (2, 5), (10, 6)])
def test_the_law_is_the_formula_of_the_methods(trials: tuple[int, int]) -> None:
    baseline, variant = _arms(1, trials=trials)
    n, (k_b, k_v) = baseline.shape[0], trials
    (t_b, e_b), (t_v, e_v) = _anova(baseline), _anova(variant)
    nu = k_b + k_v - 2
    ms_t = (t_b + t_v) / nu
    ms_e = ((k_b - 1) * e_b / ((n - 1) * (k_b - 1))) / nu
    ms_e += ((k_v - 1) * e_v / ((n - 1) * (k_v - 1))) / nu
    h = (1 / k_b + 1 / k_v) / n
    sample = _sample(baseline, variant)
    v_q = np.var(sample.difference, ddof=1) / n
    variance = v_q + max(0.0, h * (ms_t - ms_e))
    df = variance**2 / (
        v_q**2 / (n - 1) + (h * ms_t) ** 2 / nu + (h * ms_e) ** 2 / ((n - 1) * nu)
    )
    runs = _runs(baseline, variant)
    law = two_way_law(sample, runs)
    assert law.standard_error == pytest.approx(math.sqrt(variance))
    assert law.df == pytest.approx(df)
    assert law.estimate == pytest.approx(variant.mean() - baseline.mean())
    assert runs.pvalue == pytest.approx(stats.f.sf(ms_t / ms_e, nu, (n - 1) * nu))
    assert runs.noise_variance == pytest.approx(h * ms_t)


def test_one_trial_takes_the_run_variance_of_the_other_arm() -> None:
    baseline, variant = _arms(2, trials=(4, 1))
    runs = _runs(baseline, variant)
    assert runs.sources == (0,)
    assert runs.trial_weights == (0.25, 1.0)
    trial, _ = _anova(baseline)
    assert runs.trial.value == pytest.approx(trial / 3)
    assert "Only the baseline shows it" in runs_note(runs).text


def test_nothing_is_known_with_one_trial_each_or_under_ten_questions() -> None:
    assert _runs(*_arms(trials=(1, 1))) is None
    assert _runs(*_arms(n=9)) is None
    assert _runs(*_arms(n=10)) is not None


def test_an_arm_with_too_few_repeated_questions_is_left_to_the_other() -> None:
    baseline, variant = _arms(3, n=12, trials=(3, 3))
    baseline[3:, 1:] = np.nan  # three questions with several trials
    assert _runs(baseline, variant).sources == (1,)


def test_paired_trials_use_the_table_of_differences() -> None:
    rng = np.random.default_rng(4)
    shared = rng.normal(size=3)  # what both arms meet in the same trial
    baseline, variant = (arm + shared for arm in _arms(4, run=0.0))
    unpaired, paired = (
        _runs(baseline, variant),
        paired_run_variance(fit_table(variant - baseline)),
    )
    assert unpaired.variance > 0.1
    assert abs(paired.variance) < 0.01
    n, k = baseline.shape
    trial, residual = _anova(variant - baseline)
    h = 1 / (n * k)
    sample = _sample(baseline, variant)
    law = two_way_law(sample, paired)
    v_q = np.var(sample.difference, ddof=1) / n
    extra = h * (trial / (k - 1) - residual / ((n - 1) * (k - 1)))
    assert law.standard_error == pytest.approx(math.sqrt(v_q + max(0, extra)))
    assert paired_run_variance(fit_table((variant - baseline)[:, :1])) is None


def test_clusters_enter_through_their_own_variance() -> None:
    baseline, variant = _arms(5)
    clusters = np.repeat(np.arange(10), 4)
    runs = _runs(baseline, variant)
    sample = _sample(baseline, variant, clusters=clusters, runs=runs)
    whole = cr2(sample.difference, sample.clusters)
    law = two_way_law(sample, runs)
    extra = sum(runs.trial_weights) * runs.variance
    assert law.standard_error**2 == pytest.approx(whole.standard_error**2 + extra)
    single = _sample(baseline, variant, clusters=np.arange(40))
    alone = _sample(baseline, variant)
    assert two_way_law(single, runs) == two_way_law(alone, runs)


def test_the_decision_interval_is_the_wider_at_each_end_when_runs_differ() -> None:
    baseline, variant = _arms(6)
    runs = _runs(baseline, variant)
    assert runs.differ
    sample = _sample(baseline, variant)
    questions = decision_interval(sample).interval
    found = decision_interval(replace(sample, runs=runs)).interval
    low, high = two_way_law(sample, runs).limits(0.025)
    assert found.method == "two-way"
    assert found.low == min(low, questions.low)
    assert found.high == max(high, questions.high)


def test_runs_that_do_not_differ_leave_the_interval_alone() -> None:
    baseline, variant = _arms(13, run=0.0)
    runs = _runs(baseline, variant)
    assert runs.pvalue > 0.2
    sample = replace(_sample(baseline, variant), runs=runs)
    assert decision_interval(sample).interval.method == "sign-flip+guarded-t"
    named = decision_interval(sample, name="two-way").interval
    assert named.method == "two-way"
    assert decision_interval(sample, name="t").interval.method == "t"
    with pytest.raises(MethodError, match="two or more trials"):
        decision_interval(_sample(baseline, variant), name="two-way")


def test_the_p_value_at_a_margin_touches_the_interval() -> None:
    baseline, variant = _arms(6)
    sample = replace(_sample(baseline, variant), runs=_runs(baseline, variant))
    interval = decision_interval(sample).interval
    pvalue = margin_pvalue(sample, interval.low, alternative="greater")
    assert pvalue == pytest.approx(0.025, abs=1e-6)


def test_a_slice_keeps_its_own_question_variance() -> None:
    baseline, variant = _arms(9, n=60)
    runs = _runs(baseline, variant)
    part = _sample(baseline[:15], variant[:15])
    law = two_way_law(part, runs)
    own = np.var(part.difference, ddof=1) / 15
    extra = sum(runs.trial_weights) * runs.variance
    assert law.standard_error**2 == pytest.approx(own + extra)


def test_an_arms_own_interval_and_the_relative_delta_count_runs() -> None:
    baseline, variant = _arms(6)
    runs = _runs(baseline, variant)
    values = variant.mean(axis=1)
    plain = arm_interval(values, binary=False).interval
    found = arm_interval(values, binary=False, runs=runs, arm=1).interval
    low, high = two_way_arm_law(values, None, runs, 1).limits(0.025)
    assert found.low == min(low, plain.low)
    assert found.high == max(high, plain.high)
    sample = _sample(baseline + 10, variant + 10)
    narrow = relative_interval(sample).interval
    wide = relative_interval(replace(sample, runs=runs)).interval
    assert wide.low < narrow.low
    assert wide.high > narrow.high


def test_an_arms_interval_stays_within_the_range() -> None:
    scores = np.zeros((30, 3))
    scores[:29, 0] = 1.0
    runs = run_variance(fit_table(scores))
    found = arm_interval(
        scores.mean(axis=1), binary=False, score_range=(0, 1), runs=runs
    ).interval
    assert (found.method, found.low) == ("two-way", 0)


def test_equal_answers_in_every_trial_say_nothing_of_runs() -> None:
    scores = np.repeat(np.array([[1.0], [0.0]] * 10), 3, axis=1)
    runs = _runs(scores, scores)
    assert runs.pvalue is None
    assert not runs.differ
    assert two_way_law(_sample(scores, scores), runs) is None


def test_a_shift_of_whole_runs_without_other_noise_counts() -> None:
    scores = np.repeat(np.array([[1.0], [0.0]] * 10), 3, axis=1)
    runs = _runs(scores + np.array([0.0, 0.5, 0.0]), scores)
    assert runs.differ
    assert runs.statistic is None
    assert "by the same amount" in runs_note(runs).text


def test_a_single_question_or_cluster_has_no_law() -> None:
    baseline, variant = _arms(6)
    runs = _runs(baseline, variant)
    assert two_way_law(_sample(baseline[:1], variant[:1]), runs) is None
    values, one = variant.mean(axis=1), np.zeros(40, dtype=np.int64)
    assert two_way_arm_law(values[:1], None, runs, 1) is None
    assert two_way_arm_law(values, one, runs, 1) is None
    alone = two_way_arm_law(values, np.arange(40), runs, 1)
    assert alone == two_way_arm_law(values, None, runs, 1)
    plain = Interval(0.0, 1.0, 0.95, "guarded-t")
    assert two_way_arm_interval(plain, values[:1], None, runs, 1) is plain


def test_missing_cells_are_used_as_far_as_they_go() -> None:
    rng = np.random.default_rng(10)
    held = {"all cells": 0, "questions": 0}
    n_draws = 250
    for _ in range(n_draws):
        arms = []
        for _ in range(2):
            scores = rng.normal(size=(100, 1)) * 0.1 + 0.03 * rng.normal(size=6)
            scores = scores + 0.2 * rng.normal(size=(100, 6))
            gone = rng.random(scores.shape) < 0.3
            gone[gone.all(axis=1), 0] = False
            scores[gone] = np.nan
            arms.append(scores)
        sample = paired_sample(*(np.nanmean(arm, axis=1) for arm in arms))
        law = two_way_law(sample, _runs(*arms))
        low, high = law.limits(0.025)
        held["all cells"] += low <= 0 <= high
        half = 1.984 * np.std(sample.difference, ddof=1) / 10
        held["questions"] += abs(law.estimate) <= half
    assert held["all cells"] / n_draws > 0.91
    assert held["questions"] / n_draws < 0.89
