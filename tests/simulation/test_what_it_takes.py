"""The number of questions that a report names gives the power that it promises."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc

from onechange.decide.decision import RuleStatus
from onechange.decide.goals import NOTHING_CHANGED, Goal, open_parts
from onechange.decide.rules import margin_rule_status
from onechange.delta import Delta, Methods, MetricValues, RelativeDelta, metric_delta
from onechange.sensitivity import questions_needed
from onechange.stats.choose import quantile_delta, ratio_delta
from onechange.stats.ratio import RatioPair
from onechange.stats.trial_quantile import TrialValues
from onechange.status import Status

pytestmark = pytest.mark.slow
RUNS = 600
Arms = tuple[np.ndarray, np.ndarray]


def _at_least(passes: int, power: float, runs: int = RUNS) -> bool:
    """No sign that the power is below this (one-sided, 0.1 %)."""
    return passes == runs or float(bdtr(passes, runs, power)) > 1e-3


def _at_most(passes: int, power: float, runs: int = RUNS) -> bool:
    return passes == 0 or float(bdtrc(passes - 1, runs, power)) > 1e-3


def _scores(rng: np.random.Generator, n: int, change: float) -> Arms:
    before = rng.gamma(20.0, 0.05, n)
    return before, before + change + rng.normal(0, 0.3, n)


def _mean(rng: np.random.Generator, n: int, change: float) -> Delta:
    before, after = _scores(rng, n, change)
    values = MetricValues(before, after, np.ones(n, dtype=bool))
    return metric_delta("score", "higher", values, Methods())


def _median(rng: np.random.Generator, n: int, change: float) -> Delta:
    arms = [TrialValues(x, np.arange(n)) for x in _scores(rng, n, change)]
    found = quantile_delta(*arms, 0.5, n_resamples=999, seed=int(rng.integers(1 << 30)))
    return Delta(
        metric="score",
        direction="higher",
        n_pairs=n,
        baseline=found.baseline,
        delta=found.delta,
        statistic="p50",
        interval=found.interval,
        relative=RelativeDelta(found.relative_delta, found.relative_interval),
    )


def _needed(
    make: Callable[[np.random.Generator, int, float], Delta],
    n: int,
    rule: RuleStatus,
) -> int:
    """Median of the numbers that pilots of n questions without change name."""
    rng, found = np.random.default_rng(3), []
    while len(found) < 40:
        delta = make(rng, n, 0.0)
        for goal in open_parts(rule, delta):
            if isinstance(goal, Goal) and goal.assumption == NOTHING_CHANGED:
                found.append(
                    questions_needed(
                        n, goal.distance, goal.spread, goal.gap, power=goal.power
                    )
                )
    return int(np.median(found))


def _passes(
    make: Callable[[np.random.Generator, int, float], Delta],
    rule: RuleStatus,
    runs: int,
) -> int:
    """How often a rule passes with the questions that pilots of 80 ask for."""
    needed, rng, passes = _needed(make, 80, rule), np.random.default_rng(4), 0
    margin = rule.margin if rule.margin is not None else 0.0
    for _ in range(runs):
        delta = make(rng, needed, 0.0)
        interval = delta.interval
        if isinstance(margin, str):
            interval = delta.relative.interval if delta.relative else None
        assert interval is not None
        found = margin_rule_status(rule.role, margin, interval, "higher")
        passes += found is Status.PASS
    return passes


def _rule(role: str, margin: float | str) -> RuleStatus:
    return RuleStatus("score", role, "mean", Status.INCONCLUSIVE, "", margin=margin)


@pytest.mark.parametrize("role", ["guardrail", "equivalence"])
@pytest.mark.parametrize("margin", [0.05, "5%"])
def test_a_margin_on_a_mean_is_shown_with_the_power_promised(
    role: str, margin: float | str
) -> None:
    passes = _passes(_mean, _rule(role, margin), RUNS)
    assert _at_least(passes, 0.76)
    assert _at_most(passes, 0.86)


@pytest.mark.parametrize("margin", [0.05, "5%"])
def test_a_margin_on_a_median_is_shown_with_the_power_promised_or_more(
    margin: float | str,
) -> None:
    """Resampled limits of a median from so few questions are wide."""
    assert _at_least(_passes(_median, _rule("guardrail", margin), 200), 0.76, 200)


def _ratio(rng: np.random.Generator, n: int, lift: float) -> tuple[float, ...]:
    """Return delta, standard error, low and high of a cost per token."""
    tokens = rng.lognormal(0.0, 0.5, (2, n))
    rate = 1 + 0.3 * rng.normal(size=(2, n)) + 0.2 * rng.normal(size=n)
    cost = tokens * rate * np.array([[1.0], [1 + lift]])
    got = ratio_delta(RatioPair(cost[0], tokens[0]), RatioPair(cost[1], tokens[1]))
    assert got.delta is not None
    assert got.interval is not None
    assert got.standard_error is not None
    return got.delta, got.standard_error, got.interval.low, got.interval.high


def test_a_ratio_metric_is_shown_to_improve_with_the_power_promised() -> None:
    rng, lift, n = np.random.default_rng(1), 0.06, 60
    pilots = [_ratio(rng, n, lift) for _ in range(200)]
    named = [
        questions_needed(n, delta - low, error, lift) for delta, error, low, _ in pilots
    ]
    needed, passes = int(np.median(named)), 0
    for _ in range(RUNS):
        _, _, low, _ = _ratio(rng, needed, lift)
        passes += low > 0
    assert _at_least(passes, 0.76)
    assert _at_most(passes, 0.86)
