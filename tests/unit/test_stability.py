"""Runs that differ, and what missing scores or other answers do to a status."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import onechange as oc
from onechange.plan import Analysis, Guardrail
from onechange.sensitivity import Scores, fragility, margin_check, mean_status
from onechange.stats.choose import decision_interval
from onechange.stats.components import fit_table
from onechange.stats.runs import RunVariance, paired_run_variance, run_variance
from onechange.stats.sample import paired_sample
from onechange.stats.twoway import two_way_law
from onechange.status import Status, worse_of

UNPAIRED = Analysis()


def _answers(seed: int, n: int = 60, trials: int = 3, run: float = 0.06) -> np.ndarray:
    """Answers of 0 and 1 of one arm, some runs luckier than others."""
    rng = np.random.default_rng(seed)
    level = rng.beta(1.5, 1.5, size=(n, 1)) + run * rng.normal(size=trials)
    return (rng.random((n, trials)) < level).astype(float)


def _differing(seed: int, **how: object) -> tuple[np.ndarray, RunVariance]:
    """Answers whose runs differ enough to count, from some later seed on."""
    while True:
        answers = _answers(seed, **how)
        runs = run_variance(fit_table(answers), fit_table(answers))
        if runs is not None and runs.differ and runs.pvalue > 0.02:
            return answers, runs
        seed += 1000


def _scores(before: np.ndarray, after: np.ndarray, runs: RunVariance) -> Scores:
    return Scores(
        before.mean(axis=1),
        after.mean(axis=1),
        "higher",
        score_range=(0.0, 1.0),
        runs=runs,
    )


@pytest.mark.parametrize("trials", [2, 3, 6])
@pytest.mark.parametrize("spread", [0.0, 0.02, 0.3])
def test_a_sum_of_variances_knows_no_less_than_its_least_known_part(
    trials: int, spread: float
) -> None:
    rng = np.random.default_rng(trials)
    for seed in range(20):
        before = rng.normal(size=(40, trials)) + 0.15 * rng.normal(size=trials)
        after = before + spread * rng.normal(size=(40, 1))
        sample = paired_sample(before.mean(axis=1), after.mean(axis=1))
        for runs in (
            run_variance(fit_table(before), fit_table(after)),
            paired_run_variance(fit_table(rng.normal(size=(40, trials)))),
        ):
            law = two_way_law(sample, runs)
            assert law is None or law.df >= trials - 1, seed


def test_the_arm_with_fewest_runs_of_those_used_is_the_floor() -> None:
    rng = np.random.default_rng(3)
    same = rng.normal(size=(40, 1))
    before, after, single = (same + rng.normal(size=(40, k)) for k in (5, 2, 1))
    assert run_variance(fit_table(before), fit_table(after)).least_df == 1
    assert run_variance(fit_table(before), fit_table(single)).least_df == 4
    assert paired_run_variance(fit_table(before)).least_df == 4


def test_few_clusters_may_know_less_than_the_runs() -> None:
    rng = np.random.default_rng(4)
    before = rng.normal(size=(30, 6)) + 0.5 * rng.normal(size=6)
    clusters = np.repeat([0, 1, 2], [26, 2, 2])
    after = before.mean(axis=1) + rng.normal(size=3)[clusters]
    sample = paired_sample(before.mean(axis=1), after, clusters=clusters)
    runs = run_variance(fit_table(before), fit_table(before))
    without = two_way_law(sample, replace(runs, least_df=0))
    assert two_way_law(sample, runs).df == pytest.approx(without.df)
    assert without.df < 5 == runs.least_df


@pytest.mark.parametrize("seed", range(4))
def test_the_smallest_margin_is_a_lower_bound_of_what_passes(seed: int) -> None:
    answers, runs = _differing(seed)
    means = answers.mean(axis=1)
    unchanged = paired_sample(means, means, score_range=(0.0, 1.0))
    least = -decision_interval(unchanged).interval.low
    for after in (answers, _answers(seed + 50)):
        sample = paired_sample(
            means, after.mean(axis=1), score_range=(0.0, 1.0), runs=runs
        )
        interval = decision_interval(sample).interval
        assert interval.method == "two-way"
        check = margin_check(
            sample,
            0.25,
            "higher",
            interval=interval,
            standard_error=0.01,
            analysis=UNPAIRED,
        )
        # no answer changed: then no run moved either, and questions alone count
        assert check.smallest_margin == pytest.approx(least)
        if interval.low + interval.high <= 0:
            assert check.smallest_margin <= -interval.low


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("margin", [0.02, 0.1, 0.15, 0.2, 0.3])
def test_worst_answers_never_make_a_status_better(seed: int, margin: float) -> None:
    answers, runs = _differing(seed)
    rule = Guardrail("correct", margin=margin)
    scores = _scores(answers, answers, runs)
    reported = mean_status(rule, scores, UNPAIRED)
    found = fragility(rule, scores, reported, UNPAIRED)
    assert found is not None
    assert found.end == "worst"
    assert found.status is None or found.status is not reported
    assert found.status is None or worse_of((reported, found.status)) is found.status


def test_the_chance_to_pass_counts_runs_that_differ() -> None:
    answers, _ = _differing(1)
    ids = [f"q{i}" for i in range(len(answers))]
    arms = []
    for values in (answers, _answers(77)):
        rows = pd.DataFrame(values, index=ids).stack().reset_index()
        arms.append(rows.set_axis(["question_id", "trial", "correct"], axis=1))
    plan = oc.Plan(
        metrics=[oc.Metric("correct", range=(0, 1))],
        guardrails=[oc.Guardrail("correct", margin=0.12)],
    )
    (status,) = oc.decide(oc.compare(*arms, plan), plan).statuses
    assert status.delta.interval.method == "two-way"
    trial, rest = np.zeros(2), np.zeros(2)
    for arm, values in enumerate((answers, _answers(77))):
        column = values.mean(axis=0) - values.mean()
        trial[arm] = 60 * np.sum(column**2)
        own = values - values.mean(axis=1, keepdims=True) - column
        rest[arm] = np.sum(own**2)
    difference = _answers(77).mean(axis=1) - answers.mean(axis=1)
    of_runs = (2 / 3) / 60 * (trial.sum() / 4 - rest.sum() / (4 * 59))
    spread = math.sqrt(np.var(difference, ddof=1) / 60 + of_runs)
    width = difference.mean() - status.delta.interval.low
    expected = stats.norm.cdf((0.12 - width) / spread)
    assert status.pass_probability_unchanged == pytest.approx(expected, rel=1e-6)


def test_a_pass_taken_back_has_the_tipping_point_of_what_is_reported() -> None:
    """The hidden pass would tip after two questions; what is reported does not."""
    n = 40
    before = pd.DataFrame({"question_id": range(n), "m": [0.3, 0.5] * (n // 2)})
    after = before.assign(m=before.m + [0.1, 0.14] * (n // 2))
    after.loc[: n // 4, "m"] = np.nan
    after["question_id"] = before["question_id"] = before.question_id.astype(str)
    plan = oc.Plan("m", metrics=[oc.Metric("m", range=(0, 1))])
    decision = oc.decide(oc.compare(before, after, plan), plan)
    (status,) = decision.statuses
    assert status.status is Status.INCONCLUSIVE
    assert status.delta.interval.low > 0
    assert status.tipping.n_questions == n // 4 + 1
    for told in (status.tipping, status.fragility):
        assert told.status is None or told.status is Status.FAIL
    assert not any("make it inconclusive" in text for text in decision.tipping_points)
