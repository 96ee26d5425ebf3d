"""Repeated trials of real results against pandas, statsmodels and pingouin."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

import onechange as oc
from casefiles import DATA, codes, delta_of, run
from onechange.read import read
from onechange.trials import analyse_trials

REPEATED = DATA / "repeated"
COMMON = DATA / "common"

pytestmark = pytest.mark.skipif(
    not REPEATED.is_dir(),
    reason=f"no real results in {DATA}; set ONECHANGE_DATA to their folder",
)

BEFORE = REPEATED / "terminal_bench" / "20250902_orchestrator_claude-4-sonnet.csv"
AFTER = REPEATED / "terminal_bench" / "20250906_orchestrator_claude-4.1-opus.csv"
STABLE = REPEATED / "llm_stability"
TASKS = oc.Columns(question_id="task_id")


def _means(path: Path, metric: str, by: str) -> pd.Series:
    rows = pd.read_csv(path, dtype={by: str})
    return rows[metric].astype(float).groupby(rows[by]).mean()


def test_terminal_bench_question_means_and_run_effects() -> None:
    plan = oc.Plan(columns=TASKS, metrics=[oc.Metric("is_resolved")])
    comparison = oc.compare(BEFORE, AFTER, plan)
    before, after = (_means(p, "is_resolved", "task_id") for p in (BEFORE, AFTER))
    both = pd.concat([before, after], axis=1).dropna()
    delta = delta_of(comparison, "is_resolved")
    assert delta.n_pairs == len(both) == 79
    assert delta.delta == pytest.approx((both.iloc[:, 1] - both.iloc[:, 0]).mean())
    row = next(r for r in comparison.trials if r.metric == "is_resolved")
    assert row.baseline.n_trials == row.variant.n_trials == 5
    assert row.variant.trial_test.pvalue < 0.01  # its fifth run solved far less
    assert delta.interval.method == "two-way"
    assert "runs-differ" in codes(delta.notes)


@pytest.mark.parametrize("path", [BEFORE, AFTER])
def test_terminal_bench_mean_squares_with_missing_trials(path: Path) -> None:
    plan = oc.Plan(columns=TASKS, metrics=[oc.Metric("is_resolved")])
    found = analyse_trials(read(path, columns=plan.columns), plan)
    row = next(r for r in found.metrics if r.metric.name == "is_resolved")
    rows = pd.read_csv(path).dropna(subset="is_resolved")
    rows = rows.assign(score=rows["is_resolved"].astype(float))
    right = sm.stats.anova_lm(
        smf.ols("score ~ C(task_id) + C(trial)", rows).fit(), typ=2
    )
    assert row.trials.trial_test.statistic == pytest.approx(
        right.loc["C(trial)", "F"], rel=1e-9
    )
    assert row.trials.trial_test.pvalue == pytest.approx(
        right.loc["C(trial)", "PR(>F)"], rel=1e-9
    )
    assert row.trials.components.residual.variance == pytest.approx(
        right.loc["Residual", "sum_sq"] / right.loc["Residual", "df"], rel=1e-9
    )
    assert row.trials.means == pytest.approx(
        rows.groupby("trial")["score"].mean().tolist()
    )


def test_terminal_bench_tokens_are_lower_is_better_and_compared() -> None:
    comparison = oc.compare(BEFORE, AFTER, oc.Plan(columns=TASKS))
    delta = delta_of(comparison, "output_tokens")
    both = pd.concat(
        [_means(p, "output_tokens", "task_id") for p in (BEFORE, AFTER)], axis=1
    ).dropna()
    assert (delta.direction, delta.n_pairs) == ("lower", len(both))
    assert delta.delta == pytest.approx((both.iloc[:, 1] - both.iloc[:, 0]).mean())


def test_llm_stability_with_ten_against_six_or_seven_trials() -> None:
    plan = oc.Plan(
        columns=oc.Columns(trial="run", metrics=("correct",)), slices=["task"]
    )
    before, after = STABLE / "gpt-3.5-turbo.csv", STABLE / "gpt-3.5-turbo-finetuned.csv"
    comparison = oc.compare(before, after, plan)
    means = [
        pd.read_csv(p).groupby("question_id")["correct"].mean() for p in (before, after)
    ]
    delta = delta_of(comparison)
    assert delta.n_pairs == 500
    assert delta.delta == pytest.approx((means[1] - means[0]).mean())
    row = comparison.trials[0]
    assert (row.baseline.n_trials, row.variant.n_trials) == (10, 7)
    assert row.variant.uneven  # the seventh trial has one of the two tasks
    assert row.delta.runs.trial.df == 9 + 6
    # the raw spread of the trial means is that of the tasks, not that of runs
    assert row.variant.between_trial_sd > 0.03
    assert row.variant.components.trial.sd < 0.002
    assert {"unequal-trials", "identical-trials"} <= codes(comparison.audits[0].notes)


@pytest.mark.filterwarnings("ignore")
def test_taubench_correlations_and_pass_rates() -> None:
    import pingouin

    path = REPEATED / "taubench_airline" / "gpt-4o.csv"
    found = analyse_trials(read(path, columns=TASKS), oc.Plan(columns=TASKS))
    row = next(r for r in found.metrics if r.metric.name == "reward")
    rows = pd.read_csv(path)
    right = pingouin.intraclass_corr(
        rows, targets="task_id", raters="trial", ratings="reward"
    )["ICC"].to_numpy()
    iccs = row.trials.iccs
    names = ("icc_1_1", "icc_2_1", None, "icc_1_k", "icc_2_k", None)
    for name, value in zip(names, right, strict=True):
        if name is not None:
            assert iccs[name].value == pytest.approx(value, rel=1e-8)
    right_answers = rows.groupby("task_id")["reward"].sum()
    assert row.trials.pass_rates[3].any_right == pytest.approx(
        (right_answers > 0).mean()
    )
    assert row.trials.pass_rates[3].all_right == pytest.approx(
        (right_answers == 4).mean()
    )
    flips = ((right_answers > 0) & (right_answers < 4)).mean()
    assert row.trials.flip_rate == pytest.approx(flips)


def test_the_common_data_counts_trials_per_question() -> None:
    comparison = oc.compare(COMMON / "baseline_long.csv", COMMON / "variant_long.csv")
    delta = delta_of(comparison, "correct")
    assert delta.n_pairs == 150
    assert round(delta.delta, 6) == 0.057778
    assert round(delta.test.pvalue, 8) == 0.05959126
    row = comparison.trials[0]
    assert row.baseline.n_questions == 150
    assert row.delta.parts.shares["answers"] > 0.3


def test_the_command_reads_all_of_them() -> None:
    for words in (
        (BEFORE, AFTER, "--id=task_id"),
        (STABLE / "gpt-3.5-turbo.csv", "--trial=run"),
        (REPEATED / "taubench_airline" / "gpt-4o.csv", "--id=task_id"),
    ):
        done = run("trials", *words, "--format=json")
        assert done.returncode == 0, done.stderr
        plain = json.loads(done.stdout)
        floors = [
            (row.get("delta") or row)["noise_floor"] for row in plain["trials"].values()
        ]
        assert any(floor is not None and np.isfinite(floor) for floor in floors)
