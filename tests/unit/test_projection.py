"""Parts of the variance, and what more questions or trials would buy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from onechange.stats.components import component, fit_table
from onechange.stats.projection import (
    Contributions,
    cheapest_design,
    contributions,
    projected_variance,
)
from onechange.stats.runs import run_variance
from onechange.stats.sample import paired_sample
from onechange.stats.twoway import question_variance, two_way_law


def _design(
    run: float = 0.2,
) -> tuple[Contributions, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    level, effect = rng.normal(size=(80, 1)), rng.normal(size=(80, 1))
    baseline, variant = (
        mean + 0.4 * rng.normal(size=(80, 4)) + run * rng.normal(size=4)
        for mean in (level, level + effect)
    )
    fits = [fit_table(baseline), fit_table(variant)]
    sample = paired_sample(baseline.mean(axis=1), variant.mean(axis=1))
    runs = run_variance(*fits)
    return contributions(question_variance(sample), fits, runs), baseline, variant


def test_the_parts_add_up_to_the_two_way_variance() -> None:
    parts, baseline, variant = _design()
    runs = run_variance(fit_table(baseline), fit_table(variant))
    sample = paired_sample(baseline.mean(axis=1), variant.mean(axis=1))
    law = two_way_law(sample, runs)
    assert parts.standard_error == pytest.approx(law.standard_error)
    assert parts.half_width(0.95) == pytest.approx(law.limits(0.025)[1] - law.estimate)
    assert sum(parts.shares.values()) == pytest.approx(1)


def test_more_questions_and_trials_follow_the_projection() -> None:
    parts, baseline, variant = _design()
    fits = [fit_table(baseline), fit_table(variant)]
    runs = run_variance(*fits)
    answers = [fit.residual.value for fit in fits]
    question = parts.questions * 80
    for n, k in ((80, 4), (160, 4), (80, 12), (320, 2)):
        scaled = parts.scaled(questions=n / 80, trials=k / 4)
        right = projected_variance(
            question, [(a, runs.variance, k) for a in answers], n
        )
        assert scaled.variance == pytest.approx(right)
        assert (scaled.n_questions, scaled.n_trials) == (n, (k, k))


def test_answers_never_exceed_what_varies() -> None:
    rng = np.random.default_rng(2)
    arms = [rng.normal(size=(30, 3)) for _ in range(2)]
    fits = [fit_table(arm) for arm in arms]
    sample = paired_sample(*(arm.mean(axis=1) for arm in arms))
    spread = question_variance(sample)
    parts = contributions((spread[0] / 4, spread[1]), fits, run_variance(*fits))
    assert parts.questions == 0
    assert sum(parts.answers) == pytest.approx(spread[0] / 4)


def test_one_trial_each_has_no_width_when_runs_count() -> None:
    counted = Contributions(1e-4, (1e-4, 1e-4), (1e-4, 1e-4), 50, (1, 1), 49)
    assert counted.half_width(0.95) is None
    uncounted = Contributions(1e-4, (1e-4, 1e-4), (0.0, 0.0), 50, (1, 1), 49)
    assert uncounted.half_width(0.95) == pytest.approx(2.00958 * 3e-4**0.5, rel=1e-5)
    assert replace(uncounted, df=0).half_width(0.95) is None
    nothing = Contributions(0.0, (0.0,), (0.0,), 50, (3,), 49)
    assert nothing.shares is None


@pytest.mark.parametrize(("question_cost", "trial_cost"), [(5, 0.1), (0.1, 5), (1, 1)])
def test_the_cheapest_design_is_the_cheapest_of_all(
    question_cost: float, trial_cost: float
) -> None:
    now, *_ = _design(run=0.1)
    target = 0.9 * now.half_width(0.95)
    found = cheapest_design(
        now, target, question_cost=question_cost, trial_cost=trial_cost
    )
    best = min(
        (n - 80) * question_cost + (2 * n * k - 640) * trial_cost
        for n in range(80, 400)
        for k in range(4, 54)
        if now.scaled(questions=n / 80, trials=k / 4).half_width(0.95) <= target
    )
    assert found.cost == pytest.approx(best)
    assert found.half_width <= target


def test_a_design_that_suffices_costs_nothing_further() -> None:
    now, *_ = _design()
    found = cheapest_design(now, 10.0, question_cost=1, trial_cost=1)
    assert (found.n_questions, found.n_trials, found.cost) == (80, (4, 4), 0)


def test_runs_alone_can_put_a_target_out_of_reach() -> None:
    now = Contributions(0.0, (0.0, 0.0), (1.0, 1.0), 50, (3, 3), 49)
    assert cheapest_design(now, 0.01, question_cost=1, trial_cost=1) is None


def test_unequal_arms_grow_together() -> None:
    now = Contributions(1e-4, (1e-3, 1e-3), (0.0, 0.0), 50, (2, 4), 49)
    found = cheapest_design(now, 0.07, question_cost=100, trial_cost=1)
    assert found.n_trials[1] == 2 * found.n_trials[0]
    uneven = replace(now, n_trials=(4, 6))
    found = cheapest_design(uneven, 0.07, question_cost=100, trial_cost=1)
    assert found.n_trials[0] % 2 == 0
    assert 2 * found.n_trials[1] == 3 * found.n_trials[0]


def test_the_moments_of_a_single_arm() -> None:
    _, baseline, _ = _design()
    fit = fit_table(baseline)
    means = baseline.mean(axis=1)
    spread = (np.var(means, ddof=1) / 80, 79.0)
    parts = contributions(spread, [fit], run_variance(fit))
    question = component(fit.question, fit.residual).variance
    between = component(fit.trial, fit.residual).variance
    right = projected_variance(question, [(fit.residual.value, between, 4)], 80)
    assert parts.variance == pytest.approx(right)
