"""Power of runs that differ and of ratios against direct simulation; refusals."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import onechange as oc
from casefiles import run
from onechange.power import Design, Pilot, pass_probability, power
from onechange.power.ratio import simulated_ratios
from onechange.power.tilt import ratio_shares
from onechange.power.units import units_of
from onechange.sensitivity import Scores, mean_status
from onechange.stats.choose import ratio_delta
from onechange.stats.components import fit_table
from onechange.stats.power import mcnemar_questions, paired_t_questions
from onechange.stats.ratio import RatioPair, linearised
from onechange.stats.runs import run_variance
from onechange.status import Status, primary_status

ANALYSIS = oc.Analysis(interval="auto")
SEEN = 2500  # questions of a pilot that is as good as the population


def _exactly(rng: np.random.Generator, size: int, sd: float) -> np.ndarray:
    """Normal numbers whose mean and SD are just those wanted."""
    drawn = rng.normal(size=size)
    drawn -= drawn.mean()
    return sd * drawn / drawn.std(ddof=1)


def _two_way_pilot(trials: int, effect: float, answer: float, between: float) -> Pilot:
    """A pilot whose question, answer and run variances are those of the truth."""
    rng = np.random.default_rng(1)
    level = rng.normal(size=(SEEN, 1))
    arms = []
    for own in (np.zeros(SEEN), _exactly(rng, SEEN, effect)):
        table = level + own[:, None] + answer * rng.normal(size=(SEEN, trials))
        table -= table.mean(axis=0) - table.mean()
        if between:  # the mean square of runs has the answers' part as well
            table += _exactly(rng, trials, math.sqrt(between**2 + answer**2 / SEEN))
        arms.append(table)
    return Pilot(
        metric="m",
        direction="higher",
        baseline=arms[0].mean(axis=1),
        variant=arms[1].mean(axis=1),
        baseline_trials=arms[0],
        variant_trials=arms[1],
    )


def _direct(
    n: int, trials: int, sds: tuple[float, float, float], delta: float, reps: int
) -> float:
    """Share of passes among experiments drawn from the model itself."""
    effect, answer, between = sds
    rng = np.random.default_rng(3)
    passed = 0
    for _ in range(reps):
        level = rng.normal(size=(n, 1))
        before, after = (
            level
            + answer * rng.normal(size=(n, trials))
            + between * rng.normal(size=trials)
            for _ in range(2)
        )
        after = after + delta + effect * rng.normal(size=(n, 1))
        runs = run_variance(fit_table(before), fit_table(after))
        scores = Scores(before.mean(axis=1), after.mean(axis=1), "higher", runs=runs)
        # guarded t in place of the sign-flip end, which is as wide here but slower
        found = mean_status(oc.Primary("m"), scores, ANALYSIS, quick=not _differ(runs))
        passed += found is Status.PASS
    return passed / reps


def _differ(runs: object) -> bool:
    return runs is not None and runs.differ


@pytest.mark.parametrize(
    ("n", "trials", "between", "delta"),
    [(60, 3, 0.05, 0.13), (60, 3, 0.0, 0.1), (60, 1, 0.05, 0.13), (60, 6, 0.06, 0.11)],
)
def test_power_counts_whole_runs_as_the_model_does(
    n: int, trials: int, between: float, delta: float
) -> None:
    pilot = _two_way_pilot(3, 0.15, 0.3, between)
    reps = 500
    found = pass_probability(
        pilot, oc.Primary("m"), Design(n, trials), delta, ANALYSIS, n_simulations=reps
    ).power
    right = _direct(n, trials, (0.15, 0.3, between), delta, reps)
    error = math.sqrt(2 * right * (1 - right) / reps)
    assert abs(found - right) < 3.3 * error


def test_runs_that_differ_hold_power_down_however_many_questions() -> None:
    calm, moved = (_two_way_pilot(2, 0.15, 0.3, sd) for sd in (0.0, 0.15))
    powers = [
        pass_probability(
            pilot, oc.Primary("m"), Design(2000), 0.1, ANALYSIS, n_simulations=100
        ).power
        for pilot in (calm, moved)
    ]
    assert powers[0] > 0.98
    assert powers[1] < 0.6


def _ratio_arms(
    rng: np.random.Generator, n: int, gain: float
) -> tuple[RatioPair, RatioPair]:
    """Numerators of a share of each denominator, which a gain moves."""
    below = rng.integers(1, 6, n).astype(float)
    shares = rng.beta(3, 3, n)
    before = RatioPair(rng.binomial(below.astype(int), shares) * 1.0, below)
    better = np.clip(shares + gain, 0, 1)
    other = rng.integers(1, 6, n).astype(float)
    return before, RatioPair(rng.binomial(other.astype(int), better) * 1.0, other)


def _ratio_pilot(arms: tuple[RatioPair, RatioPair], **more: object) -> Pilot:
    before, after = (linearised(arm) for arm in arms)
    return Pilot(
        metric="precision",
        direction="higher",
        baseline=before,
        variant=after,
        baseline_trials=before[:, None],
        variant_trials=after[:, None],
        parts=arms,
        **more,
    )


def test_the_power_of_a_ratio_is_that_of_the_model() -> None:
    rng = np.random.default_rng(2)
    gain, n, reps = 0.12, 70, 800
    arms = _ratio_arms(rng, SEEN * 4, gain)
    truth = arms[1].ratio - arms[0].ratio
    found = pass_probability(
        _ratio_pilot(arms),
        oc.Primary("precision"),
        Design(n),
        truth,
        ANALYSIS,
        n_simulations=reps,
    ).power
    passed = 0
    for _ in range(reps):
        interval = ratio_delta(*_ratio_arms(rng, n, gain)).interval
        passed += primary_status(interval, 0.0, "higher") is Status.PASS
    right = passed / reps
    assert 0.2 < right < 0.95
    assert abs(found - right) < 3.3 * math.sqrt(2 * right * (1 - right) / reps)


def test_the_trials_of_a_ratio_are_refused() -> None:
    pilot = _ratio_pilot(_ratio_arms(np.random.default_rng(3), 60, 0.1))
    with pytest.raises(oc.MethodError, match="not simulated over trials"):
        pass_probability(pilot, oc.Primary("precision"), Design(50, 3), 0.05, ANALYSIS)


@pytest.mark.parametrize("delta", [-0.1, 0.0, 0.05, 0.2])
@pytest.mark.parametrize("clustered", [False, True])
def test_the_tilt_of_a_ratio_hits_the_difference_of_the_ratios(
    delta: float, clustered: bool
) -> None:
    arms = _ratio_arms(np.random.default_rng(5), 60, 0.1)
    codes = np.arange(60) // 3 if clustered else np.arange(60)
    weights = ratio_shares(arms, codes, delta)[codes]
    before, after = (
        float(weights @ arm.numerator) / float(weights @ arm.denominator)
        for arm in arms
    )
    assert after - before == pytest.approx(delta, abs=1e-9)
    with pytest.raises(oc.MethodError, match="cannot be made"):
        ratio_shares(arms, codes, 5.0)


def test_a_question_keeps_its_numerator_with_its_denominator() -> None:
    arms = _ratio_arms(np.random.default_rng(6), 40, 0.1)
    known = set(zip(arms[1].numerator, arms[1].denominator, strict=True))
    drawn = simulated_ratios(
        _ratio_pilot(arms), 30, 0.05, missing_rate=0.1, n_simulations=5, seed=1
    )
    for one in drawn:
        pairs = zip(one.variant.numerator, one.variant.denominator, strict=True)
        assert set(pairs) <= known


def test_power_of_a_ratio_from_files() -> None:
    arms = _ratio_arms(np.random.default_rng(7), 120, 0.12)
    frames = [
        pd.DataFrame(
            {
                "question_id": [f"q{i}" for i in range(120)],
                "tp": arm.numerator,
                "den": arm.denominator,
                "other": arm.numerator,
            }
        )
        for arm in arms
    ]
    frames[1].loc[:5, "den"] = np.nan
    plan = oc.Plan(
        metrics=[
            oc.Metric("precision", numerator="tp", denominator="den", range=(0, 1)),
            oc.Metric("den", direction="higher"),
        ]
    )
    found = power(
        *frames,
        metric="precision",
        delta=0.1,
        plan=plan,
        questions=[60, 120],
        n_simulations=100,
    )
    assert found.n_pairs == 114
    assert found.missing_rate == pytest.approx(6 / 120)
    comparison = oc.compare(*frames, plan)
    (delta,) = (d for d in comparison.deltas if d.metric == "precision")
    assert found.pilot_delta == pytest.approx(delta.delta)
    assert found.closed_form.method == "paired t"
    assert [point.n_questions for point in found.points] == [60, 120]


def _arms(n: int = 120) -> list[pd.DataFrame]:
    rng = np.random.default_rng(8)
    ids = [f"q{i}" for i in range(n)]
    before = rng.integers(0, 2, n)
    after = np.where(rng.random(n) < 0.4, rng.integers(0, 2, n), before)
    latency = rng.normal(300, 40, n)
    status = ["ok"] * (n - 4) + ["error"] * 4
    return [
        pd.DataFrame(
            {
                "question_id": ids,
                "correct": scores,
                "latency_ms": latency + extra * rng.normal(size=n),
                "status": status,
            }
        )
        for scores, extra in ((before, 0), (after, 30))
    ]


def test_the_formula_is_evaluated_where_the_simulation_is() -> None:
    """Tilting to another delta changes how many pairs differ."""
    found = power(
        *_arms(), metric="correct", delta=0.12, questions=[90, 170], n_simulations=400
    )
    arms = [frame.correct[frame.status == "ok"].to_numpy(float) for frame in _arms()]
    differ = float(np.mean(arms[0] != arms[1]))
    assert found.discordance == pytest.approx(differ)
    assert found.true_discordance != pytest.approx(differ, abs=0.005)
    right = mcnemar_questions(found.true_discordance, 0.12) / (1 - 4 / 120)
    assert found.closed_form.questions == math.ceil(right)
    assert found.questions_needed == pytest.approx(right, rel=0.12)


def test_the_tilted_spread_is_that_of_the_shares() -> None:
    rng = np.random.default_rng(9)
    before = rng.normal(size=80)
    after = before + rng.choice([-1.0, 0.0, 1.0], size=80)
    pilot = Pilot(
        metric="m",
        direction="higher",
        baseline=before,
        variant=after,
        baseline_trials=before[:, None],
        variant_trials=after[:, None],
        score_range=(-10.0, 10.0),
    )
    units = units_of(pilot, 50, 0.3)
    difference = after - before
    law = units.spread(difference)
    mean = np.sum(units.shares * difference)
    assert mean == pytest.approx(0.3)
    spread = np.sum(units.shares * (difference - 0.3) ** 2) * 80 / 79
    assert law.sd == pytest.approx(math.sqrt(spread))
    assert law.share == pytest.approx(units.shares[np.abs(difference) > 0.5].sum())


@pytest.mark.parametrize("rate", [0.1, 0.2])
def test_missing_scores_raise_the_questions_of_a_formula(rate: float) -> None:
    plain = power(None, metric="score", delta=0.1, sd=0.3)
    found = power(
        None, metric="score", delta=0.1, sd=0.3, missing_rate=rate, questions=[100]
    )
    right = paired_t_questions(1 / 3)
    assert plain.questions_needed == math.ceil(right)
    assert found.questions_needed == math.ceil(right / (1 - rate))
    assert found.missing_rate == rate
    n = round(100 * (1 - rate))
    critical = stats.t.ppf(0.975, n - 1)
    reach = math.sqrt(n) / 3
    power_then = stats.nct.sf(critical, n - 1, reach)
    assert found.closed_form.power == pytest.approx(power_then, abs=1e-4)
    both = power(None, metric="score", delta=0.1, discordance=0.3, missing_rate=rate)
    wanted = mcnemar_questions(0.3, 0.1) / (1 - rate)
    assert both.questions_needed == math.ceil(wanted)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"delta": 0.0}, "a delta of 0 is no improvement"),
        ({"delta": -0.1}, "correct is better when higher, so a delta of -0.1"),
        ({"delta": 0.1, "min_improvement": 0.2}, "does not exceed the least"),
        ({"margin": 0.0}, "a worsening of 0 lies exactly at the margin"),
        ({"margin": 0.1, "delta": -0.2}, "a worsening of 0.2 is beyond the margin 0.1"),
        ({"metric": "latency_ms", "delta": 20.0}, "latency_ms is better when lower"),
    ],
)
def test_what_no_number_of_questions_shows_says_why(changes: dict, told: str) -> None:
    found = power(*_arms(), **({"metric": "correct", "n_simulations": 100} | changes))
    assert found.questions_needed is None
    assert found.points == ()
    assert told in found.reason
    alone = {"metric": "correct", "sd": 0.3} | changes
    assert told in power(None, **alone).reason


def test_a_discordance_that_cannot_make_the_delta_says_so() -> None:
    found = power(None, metric="correct", delta=0.1, discordance=0.05)
    assert "5.0 % differ cannot make a delta of 0.1" in found.reason


def test_too_many_missing_scores_are_named_as_the_reason() -> None:
    found = power(
        *_arms(),
        metric="correct",
        delta=0.2,
        missing_rate=0.5,
        n_simulations=100,
        questions=[200, 400],
    )
    assert found.questions_needed is None
    assert "50 % of the questions end without a pair" in found.reason
    assert found.closed_form is None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"variant": True}, "a variant and sd do not go together"),
        ({"trials": [3]}, "trials and sd do not go together"),
        ({"questions": [50, 100]}, "several numbers of questions and sd"),
        ({"discordance": 0.2}, "give an sd, or a discordance"),
        ({"missing_rate": 0.3}, "with over 20 % a pass needs the bounds"),
        ({"plan": oc.Plan(columns=oc.Columns(cluster="doc"))}, "a cluster and sd"),
        ({"questions": [0]}, "questions is 0"),
        ({"metric": "corect"}, 'did you mean "correct"'),
    ],
)
def test_what_needs_a_pilot_is_refused_beside_an_sd(changes: dict, told: str) -> None:
    arms = _arms()
    values = {"metric": "correct", "delta": 0.1, "sd": 0.3} | changes
    variant = arms[1] if values.pop("variant", False) else None
    with pytest.raises(oc.OnechangeError, match=told):
        power(arms[0], variant, **values)


def test_the_smallest_delta_does_not_depend_on_the_one_asked_for() -> None:
    found = {
        power(
            *_arms(), metric="correct", delta=size, questions=[100], n_simulations=100
        ).smallest_delta
        for size in (0.1, 0.15, 0.2)
    }
    assert len(found) == 1
    assert found != {None}


def test_a_built_in_rate_is_planned_for_and_decided_alone(tmp_path: object) -> None:
    arms = _arms()
    found = power(
        *arms, metric="failed", margin=0.1, questions=[100], n_simulations=100
    )
    assert found.pilot_delta == 0.0
    paths = []
    for name, frame in zip(("b", "v"), arms, strict=True):
        paths.append(tmp_path / f"{name}.csv")
        frame.to_csv(paths[-1], index=False)
    done = run("decide", *paths, "--metric=failed", "--guardrail=failed:0.2")
    assert done.returncode == 0, done.stderr
    assert "failed: pass" in done.stdout
    bare = [frame.drop(columns="status") for frame in arms]
    with pytest.raises(oc.MethodError, match="record no status"):
        power(*bare, metric="failed", margin=0.1)
