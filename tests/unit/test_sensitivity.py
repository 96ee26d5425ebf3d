"""Margins, tipping points and fragility against brute force and simulation."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onechange as oc
from onechange.decide import RuleStatus
from onechange.decide.stability import stability_sentences
from onechange.plan import Analysis, Guardrail, Primary
from onechange.sensitivity import (
    Fragility,
    Scores,
    TippingPoint,
    fragility,
    margin_check,
    mean_status,
    questions_needed,
    questions_of_design,
    tipping_point,
    trials_of_design,
)
from onechange.sensitivity.tipping import first_change
from onechange.stats.choose import decision_interval, relative_interval
from onechange.stats.projection import Contributions
from onechange.stats.sample import paired_sample
from onechange.status import Status, margin_status

AUTO = Analysis()
QUICK = Analysis(interval="guarded-t")


def binary_scores(
    both: int,
    only_baseline: int,
    only_variant: int,
    neither: int,
    direction: str = "higher",
) -> Scores:
    table = [(1, 1, both), (1, 0, only_baseline), (0, 1, only_variant), (0, 0, neither)]
    rows = [(b, v) for b, v, count in table for _ in range(count)]
    baseline, variant = np.array(rows, dtype=float).T
    if direction == "lower":
        baseline, variant = 1 - baseline, 1 - variant
    return Scores(
        baseline, variant, direction, score_range=(0.0, 1.0), tie=None, binary=True
    )


def brute_flips(rule, scores: Scores, reported: Status) -> int | None:
    """Smallest number of answers, whichever they are, that changes the status."""
    wanted = 1.0 if (scores.direction == "higher") == (reported is Status.FAIL) else 0.0
    where = np.flatnonzero(scores.variant != wanted)
    before = scores.baseline[where]
    for size in range(1, where.size + 1):
        # only how many were right in the baseline matters
        ones = int(np.sum(before == 1))
        for first in range(max(0, size - (where.size - ones)), min(size, ones) + 1):
            chosen = [
                *where[before == 1][:first],
                *where[before == 0][: size - first],
            ]
            variant = scores.variant.copy()
            variant[chosen] = wanted
            if mean_status(rule, scores.with_variant(variant), AUTO) != reported:
                return size
    return None


TABLES = [
    (30, 2, 12, 6),
    (60, 3, 5, 20),
    (40, 1, 0, 9),
    (10, 12, 1, 17),
    (25, 9, 4, 2),
    (0, 0, 15, 15),
    (22, 8, 8, 2),
    (5, 20, 0, 5),
]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("direction", ["higher", "lower"])
@pytest.mark.parametrize(
    "rule", [Primary("m"), Guardrail("m", margin=0.1), Guardrail("m", margin=0.2)]
)
def test_fragility_of_a_binary_metric_agrees_with_brute_force(
    table: tuple[int, int, int, int], direction: str, rule
) -> None:
    scores = binary_scores(*table, direction)
    reported = mean_status(rule, scores, AUTO)
    found = fragility(rule, scores, reported, AUTO)
    assert found.answers == brute_flips(rule, scores, reported)
    assert found.end == ("best" if reported is Status.FAIL else "worst")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("margin", [0.05, 0.2])
def test_fragility_of_scores_agrees_with_brute_force(seed: int, margin: float) -> None:
    rng = np.random.default_rng(seed)
    before = rng.uniform(0.4, 0.9, 11)
    after = np.clip(before + rng.normal(0.02 * seed - 0.05, 0.04, 11), 0, 1)
    scores = Scores(before, after, "higher", score_range=(0.0, 1.0))
    rule = Guardrail("m", margin=margin)
    reported = mean_status(rule, scores, QUICK)
    wanted = 1.0 if reported is Status.FAIL else 0.0
    right = None
    for size in range(1, 12):
        for chosen in itertools.combinations(range(11), size):
            variant = after.copy()
            variant[list(chosen)] = wanted
            if mean_status(rule, scores.with_variant(variant), QUICK) != reported:
                right = size
                break
        if right is not None:
            break
    found = fragility(rule, scores, reported, QUICK)
    # Largest change first is the smallest number, or one above it where the spread
    # of a change matters as much as its size.
    assert right is not None
    assert right <= found.answers <= right + 1


def test_fragility_needs_a_range_unless_the_metric_is_binary() -> None:
    before = np.linspace(0.2, 0.9, 12)
    scores = Scores(before, before + 0.01, "higher")
    assert fragility(Primary("m"), scores, Status.PASS, QUICK) is None
    rated = Scores(before.round(), before.round(), "higher", binary=True)
    assert fragility(Primary("m"), rated, Status.INCONCLUSIVE, QUICK) is not None


def brute_tipping(
    rule,
    scores: Scores,
    rows: list[tuple[float | None, float | None]],
    reported: Status,
) -> int | None:
    """Smallest number of questions that, filled anyhow, changes the status."""
    for size in range(1, len(rows) + 1):
        for chosen in itertools.combinations(rows, size):
            options = [
                [
                    (b if b is not None else fb, v if v is not None else fv)
                    for fb in (0.0, 1.0)
                    for fv in (0.0, 1.0)
                ]
                for b, v in chosen
            ]
            for assignment in itertools.product(*options):
                b, v = np.array(assignment).T
                joined = Scores(
                    np.concatenate([scores.baseline, b]),
                    np.concatenate([scores.variant, v]),
                    scores.direction,
                    score_range=scores.score_range,
                )
                if mean_status(rule, joined, QUICK) != reported:
                    return size
    return None


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_tipping_point_of_a_pass_or_fail_agrees_with_brute_force(
    seed: int, direction: str
) -> None:
    rng = np.random.default_rng(seed)
    before = rng.uniform(0.3, 0.8, 14)
    step = 0.12 if seed % 2 else -0.12
    after = np.clip(before + rng.normal(step, 0.05, 14), 0, 1)
    scores = Scores(before, after, direction, score_range=(0.0, 1.0))
    rule = Primary("m")
    reported = mean_status(rule, scores, QUICK)
    assert reported is not Status.INCONCLUSIVE
    missing: list[tuple[float | None, float | None]] = [
        (0.7, None),
        (None, 0.6),
        (0.2, None),
        (None, None),
    ]
    up = (direction == "higher") == (reported is Status.FAIL)
    filled = Scores(
        np.array([b if b is not None else float(not up) for b, _ in missing]),
        np.array([v if v is not None else float(up) for _, v in missing]),
        direction,
        score_range=(0.0, 1.0),
    )
    rows = np.array([1, 1, 3, 2])
    found = tipping_point(rule, scores, filled, rows, reported, QUICK)
    assert found.questions == brute_tipping(rule, scores, missing, reported)
    assert (found.n_questions, found.n_rows) == (4, 7)
    if found.questions is not None:
        # the question with nothing known comes first, with its two rows
        assert found.rows >= 2
        assert found.status != reported


def test_no_missing_question_has_no_tipping_point() -> None:
    scores = binary_scores(10, 1, 9, 10)
    none = Scores(np.empty(0), np.empty(0), "higher")
    found = tipping_point(
        Primary("m"), scores, none, np.empty(0, dtype=int), Status.PASS, AUTO
    )
    assert (found.questions, found.n_questions) == (None, 0)


@given(
    threshold=st.integers(1, 300), last=st.integers(0, 300), guess=st.integers(1, 400)
)
def test_first_change_is_exact_from_any_start(
    threshold: int, last: int, guess: int
) -> None:
    calls = []

    def changed(count: int) -> bool:
        assert 1 <= count <= last
        calls.append(count)
        return count >= threshold

    right = threshold if threshold <= last else None
    assert first_change(changed, last, guess=guess) == right
    assert len(calls) <= 4 * max(1, last).bit_length() + 4


@settings(max_examples=40, deadline=None)
@given(
    table=st.tuples(*[st.integers(1, 30)] * 4),
    margin=st.sampled_from([0.02, 0.05, 0.1, 0.3]),
    direction=st.sampled_from(["higher", "lower"]),
)
def test_p_at_the_margin_agrees_with_the_status(
    table: tuple[int, int, int, int], margin: float, direction: str
) -> None:
    scores = binary_scores(*table, direction)
    sample = scores.sample()
    choice = decision_interval(sample)
    if not choice.enough:
        return
    interval = choice.interval
    check = margin_check(
        sample, margin, direction, interval=interval, standard_error=0.1, analysis=AUTO
    )
    status = margin_status(interval, margin, direction)
    if (
        abs(check.pvalue_margin - 0.025) > 1e-6
        and abs(check.pvalue_margin - 0.975) > 1e-6
    ):
        assert (check.pvalue_margin < 0.025) == (status is Status.PASS)
        assert (check.pvalue_margin > 0.975) == (status is Status.FAIL)


def test_the_smallest_margin_of_a_rate_without_events() -> None:
    sample = paired_sample(np.zeros(150), np.zeros(150))
    interval = decision_interval(sample).interval
    z = 1.959963984540054
    for direction in ("higher", "lower"):
        check = margin_check(
            sample,
            0.02,
            direction,
            interval=interval,
            standard_error=0.0,
            analysis=AUTO,
        )
        assert check.smallest_margin == pytest.approx(z**2 / (150 + z**2), abs=1e-9)
        assert check.pass_probability_unchanged == 0.0


def test_the_smallest_margin_passes_unchanged_answers_and_no_smaller_one() -> None:
    scores = binary_scores(90, 6, 9, 45)
    sample = scores.sample()
    interval = decision_interval(sample).interval
    check = margin_check(
        sample, 0.05, "higher", interval=interval, standard_error=0.026, analysis=AUTO
    )
    unchanged = scores.with_variant(scores.baseline)
    smallest = check.smallest_margin
    passes = mean_status(Guardrail("m", margin=smallest), unchanged, AUTO)
    fails = mean_status(Guardrail("m", margin=smallest * 0.999), unchanged, AUTO)
    assert passes is Status.PASS
    assert fails is not Status.PASS


def test_without_a_range_unchanged_scores_show_no_margin() -> None:
    rng = np.random.default_rng(2)
    b, d = rng.uniform(1, 9, 40), rng.normal(0, 0.3, 40)
    sample = paired_sample(b, b + d)
    interval = decision_interval(sample, name="guarded-t").interval
    check = margin_check(
        sample, 0.2, "higher", interval=interval, standard_error=0.05, analysis=QUICK
    )
    assert check.smallest_margin is None
    assert check.pvalue_margin is not None
    assert margin_check(
        sample, 0.2, "higher", interval=None, standard_error=None, analysis=QUICK
    ) == type(check)(None, None, None)


def test_a_relative_margin_has_a_p_value_that_agrees_with_its_interval() -> None:
    rng = np.random.default_rng(4)
    before = rng.lognormal(6, 0.5, 60)
    sample = paired_sample(before, before * rng.lognormal(0.02, 0.1, 60))
    relative = relative_interval(sample).interval
    for direction, end in (("lower", relative.high), ("higher", -relative.low)):
        margin = f"{100 * abs(end):.6f}%"
        check = margin_check(
            sample,
            margin if end > 0 else "0%",
            direction,
            interval=relative,
            standard_error=1.0,
            analysis=AUTO,
        )
        if end > 0:
            assert check.pvalue_margin == pytest.approx(0.025, abs=1e-4)
        else:
            assert check.pvalue_margin < 0.025
        assert 0 < check.pass_probability_unchanged <= 1


def test_the_chance_to_pass_agrees_with_simulation() -> None:
    """Binary, 12 % discordant either way, margin 0.08, n = 200."""
    rng = np.random.default_rng(11)
    shares = [0.6, 0.06, 0.06, 0.28]
    rule = Guardrail("m", margin=0.08)
    passed, told = [], []
    for _ in range(400):
        counts = rng.multinomial(200, shares)
        scores = binary_scores(*counts)
        sample = scores.sample()
        interval = decision_interval(sample).interval
        passed.append(margin_status(interval, rule.margin, "higher") is Status.PASS)
        error = float(np.std(sample.difference, ddof=1)) / math.sqrt(200)
        check = margin_check(
            sample,
            rule.margin,
            "higher",
            interval=interval,
            standard_error=error,
            analysis=AUTO,
        )
        told.append(check.pass_probability_unchanged)
    # Monte Carlo error of 400 draws 0.02; the normal approximation adds little
    assert np.mean(told) == pytest.approx(np.mean(passed), abs=0.06)


def test_questions_needed_follow_the_square_root_law() -> None:
    reach = 1.9599639845 + 0.8416212336  # of a standard error of 1 at 100 questions
    assert questions_needed(100, 1.9599639845, 1.0, reach) == 100
    assert questions_needed(100, 1.9599639845, 1.0, reach / 2) == 400
    assert questions_needed(100, 1.0, 1.0, 0.0) is None
    assert questions_needed(100, math.inf, 1.0, 1.0) is None


PARTS = Contributions(
    questions=0.0001,
    answers=(0.0004, 0.0004),
    runs=(0.0003, 0.0003),
    n_questions=150,
    n_trials=(3, 3),
    df=149,
)


def reach(parts: Contributions) -> float:
    return parts.half_width(0.95) + 0.8416212336 * parts.standard_error


@pytest.mark.parametrize("gap", [0.06, 0.08, 0.1])
def test_trials_of_a_design_are_the_fewest_that_reach(gap: float) -> None:
    distance = PARTS.half_width(0.95)
    found = trials_of_design(PARTS, gap, distance, confidence_level=0.95)
    assert reach(PARTS.scaled(trials=found / 3)) <= gap
    assert reach(PARTS.scaled(trials=(found - 1) / 3)) > gap


def test_questions_of_a_design_are_the_fewest_that_reach() -> None:
    distance = PARTS.half_width(0.95)
    found = questions_of_design(PARTS, 0.12, distance, confidence_level=0.95)
    assert reach(PARTS.scaled(questions=found / 150)) <= 0.12
    assert reach(PARTS.scaled(questions=(found - 1) / 150)) > 0.12


def test_runs_that_differ_are_not_outnumbered_by_questions() -> None:
    distance = PARTS.half_width(0.95)
    assert questions_of_design(PARTS, 0.05, distance, confidence_level=0.95) is None
    assert trials_of_design(PARTS, 0.025, distance, confidence_level=0.95) is None
    uneven = Contributions(0.0001, (0.1, 0.1), (0.0, 0.0), 150, (3, 2), 149)
    assert trials_of_design(uneven, 0.05, distance, confidence_level=0.95) is None


def arms(scores: Scores) -> tuple:
    import pandas as pd

    ids = [f"q{i:03d}" for i in range(scores.n_pairs)]
    return tuple(
        pd.DataFrame({"question_id": ids, "m": values})
        for values in (scores.baseline, scores.variant)
    )


@pytest.mark.parametrize("table", TABLES)
def test_decide_and_rescoring_give_the_same_status(
    table: tuple[int, int, int, int],
) -> None:
    plan = oc.Plan(
        "m",
        [
            Guardrail("m", margin=0.1),
            Guardrail("m", limit=0.5, rule="estimate"),
            Guardrail("answered", limit=0.9),
        ],
        metrics=[oc.Metric("m", direction="higher", range=(0, 1))],
    )
    scores = binary_scores(*table)
    decision = oc.decide(oc.compare(*arms(scores), plan))
    for rule, status in zip(
        (*plan.primary, *plan.guardrails[:2]), decision.statuses, strict=False
    ):
        assert mean_status(rule, scores, AUTO) == status.status
        assert status.fragility is not None
        assert status.tipping.n_questions == 0


def test_tipping_points_travel_with_the_decision() -> None:
    base, variant = arms(binary_scores(40, 2, 30, 28))
    variant["m"] = variant["m"].where(variant.index % 9 != 0)  # 12 unscored
    plan = oc.Plan("m", metrics=[oc.Metric("m", direction="higher", range=(0, 1))])
    decision = oc.decide(oc.compare(base, variant, plan))
    (status,) = decision.statuses
    assert status.status == "pass"
    assert status.tipping.n_questions == 12
    assert status.tipping.n_rows == 12
    first, second = decision.tipping_points
    assert "12 questions with missing scores" in first
    assert f"{status.fragility.answers} other answers of the variant" in second
    bare = oc.decide(oc.compare(base, variant, plan), stability=False)
    assert bare.statuses[0].tipping is None
    assert bare.tipping_points == ()


def _rule(name: str, status: Status, **changes: Any) -> RuleStatus:
    return RuleStatus(name, "guardrail", "mean", status, "", **changes)


def _fragile(answers: int, becomes: Status) -> Fragility:
    return Fragility(answers, 90, "worst", becomes)


def test_the_rule_that_turns_the_decision_soonest_and_worst_is_named_first() -> None:
    statuses = [
        _rule("a", Status.PASS, fragility=_fragile(3, Status.INCONCLUSIVE)),
        _rule("b", Status.PASS, fragility=_fragile(9, Status.FAIL)),
        _rule("c", Status.PASS, fragility=_fragile(3, Status.FAIL)),
    ]
    assert stability_sentences(statuses, "ship") == [
        "c: 3 other answers of the variant, at the worst score, would make it fail; as "
        "few change a."
    ]


def test_a_change_that_leaves_the_decision_is_not_named() -> None:
    statuses = [
        _rule("a", Status.PASS, fragility=_fragile(1, Status.INCONCLUSIVE)),
        _rule("b", Status.PASS, fragility=_fragile(4, Status.FAIL)),
        _rule("c", Status.INCONCLUSIVE, fragility=_fragile(9, Status.FAIL)),
    ]
    (sentence,) = stability_sentences(statuses, "inconclusive")
    assert sentence.startswith("b: 4 other answers")


def test_questions_with_missing_scores_are_told_from_their_rows() -> None:
    tipping = TippingPoint(8, 31, 37, 61, "worst", Status.INCONCLUSIVE)
    (sentence,) = stability_sentences(
        [_rule("m", Status.PASS, tipping=tipping)], "ship"
    )
    assert sentence == (
        "m: 8 of the 37 questions with missing scores (31 of their 61 rows), at their "
        "worst, would make it inconclusive."
    )


def test_a_pass_that_leans_on_missing_scores_says_how_many() -> None:
    base, variant = arms(binary_scores(40, 0, 9, 31))
    losses = variant.index[(base["m"] == 1)][:10]
    variant.loc[losses, "m"] = np.nan
    plan = oc.Plan("m", metrics=[oc.Metric("m", direction="higher", range=(0, 1))])
    (status,) = oc.decide(oc.compare(base, variant, plan)).statuses
    assert status.status == "pass"
    count = status.tipping.questions
    assert status.tipping.rows == count
    filled = variant.copy()
    for given_up, right in ((count, "inconclusive"), (count - 1, "pass")):
        filled = variant.copy()
        filled.loc[losses[:given_up], "m"] = 0.0
        (again,) = oc.decide(oc.compare(base, filled, plan)).statuses
        assert again.status == right


@pytest.mark.parametrize("seed", range(4))
def test_with_missing_trials_all_together_are_the_bounds(seed: int) -> None:
    import pandas as pd

    rng = np.random.default_rng(seed)
    rows = [(f"q{i:02d}", t) for i in range(30) for t in (1, 2)]
    frames = []
    for shift in (0.0, 0.2):
        frame = pd.DataFrame(rows, columns=["question_id", "trial"])
        level = rng.uniform(0.3, 0.6, 30).repeat(2)  # runs that do not differ
        frame["m"] = np.clip(level + shift + np.tile([0.01, -0.01], 30), 0, 1)
        frame.loc[::4, "m"] -= 0.02
        frame.loc[1::4, "m"] += 0.02
        frame.loc[rng.choice(60, 6 + 2 * seed, replace=False), "m"] = np.nan
        frames.append(frame)
    plan = oc.Plan("m", metrics=[oc.Metric("m", direction="higher", range=(0, 1))])
    comparison = oc.compare(*frames, plan)
    (status,) = oc.decide(comparison).statuses
    assert status.status == "pass"
    tipping, limits = status.tipping, comparison.deltas[0].bounds
    lacking = [
        f.groupby("question_id")["m"].agg(lambda m: m.isna().sum()) for f in frames
    ]
    applicable = (lacking[0] < 2) | (lacking[1] < 2)
    assert tipping.n_rows == int((lacking[0] + lacking[1])[applicable].sum())
    assert (tipping.questions is None) == (limits.interval.low > 0)
    if tipping.questions is not None:
        assert 0 < tipping.questions <= tipping.n_questions
        assert tipping.rows <= tipping.n_rows


@pytest.mark.parametrize("rule", ["interval", "estimate"])
@pytest.mark.parametrize(
    "limits",
    [
        {"margin": "10%"},
        {"margin": 0.04},
        {"margin": 0.04, "role": "equivalence"},
        {"limit": 0.55},
    ],
)
def test_rescoring_agrees_with_decide_on_scores(rule: str, limits: dict) -> None:
    rng = np.random.default_rng(8)
    before = rng.uniform(0.4, 0.8, 40)
    after = np.clip(before + rng.normal(-0.01, 0.05, 40), 0, 1)
    scores = Scores(before, after, "higher", score_range=(0.0, 1.0))
    guardrail = Guardrail("m", rule=rule, **limits)
    plan = oc.Plan(
        guardrails=[guardrail],
        metrics=[oc.Metric("m", direction="higher", range=(0, 1))],
    )
    (status,) = oc.decide(oc.compare(*arms(scores), plan)).statuses
    assert mean_status(guardrail, scores, AUTO) == status.status
    assert status.fragility is not None


def clustered(seed: int) -> tuple[Scores, np.ndarray]:
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(12), 4)
    before = rng.uniform(0.4, 0.7, 48)
    after = np.clip(before + 0.1 + 0.03 * rng.normal(size=12)[clusters], 0, 1)
    return Scores(
        before, after, "higher", clusters=clusters, score_range=(0.0, 1.0)
    ), clusters


def test_clusters_join_with_their_questions() -> None:
    scores, _ = clustered(1)
    filled = Scores(
        np.full(6, 0.6),
        np.zeros(6),
        "higher",
        clusters=np.array([0, 0, 5, 5, 12, 13]),
        score_range=(0.0, 1.0),
    )
    rule = Primary("m")
    reported = mean_status(rule, scores, AUTO)
    assert reported is Status.PASS
    found = tipping_point(rule, scores, filled, np.ones(6, dtype=int), reported, AUTO)
    for count in range(1, 7):
        joined = Scores(
            np.append(scores.baseline, filled.baseline[:count]),
            np.append(scores.variant, filled.variant[:count]),
            "higher",
            clusters=np.append(scores.clusters, filled.clusters[:count]),
            score_range=(0.0, 1.0),
        )
        changed = mean_status(rule, joined, AUTO) != reported
        assert changed == (found.questions is not None and count >= found.questions)


def test_a_limit_counts_scores_outside_the_pairs() -> None:
    scores = binary_scores(20, 2, 3, 5)
    more = Scores(
        scores.baseline,
        scores.variant,
        "higher",
        score_range=(0.0, 1.0),
        binary=True,
        further_variant=np.ones(200),
    )
    rule = Guardrail("m", limit=0.85)
    assert mean_status(rule, scores, AUTO) is not Status.PASS
    assert mean_status(rule, more, AUTO) is Status.PASS
    # a question that joins leaves the others: its variant is not counted twice
    filled = Scores(np.ones(1), np.zeros(1), "higher", binary=True)
    found = tipping_point(
        rule,
        more,
        filled,
        np.ones(1, dtype=int),
        Status.PASS,
        AUTO,
        further_position=np.array([3]),
    )
    assert found.questions is None
    clusters = np.arange(30)
    spread = Scores(
        more.baseline,
        more.variant,
        "higher",
        clusters=clusters,
        score_range=(0.0, 1.0),
        binary=True,
        further_variant=np.ones(200),
        further_clusters=np.arange(30, 230),
    )
    assert mean_status(rule, spread, AUTO) is Status.PASS


def test_a_method_that_needs_changes_has_the_smallest_margin_of_the_default() -> None:
    rng = np.random.default_rng(3)
    b, d = rng.uniform(0.2, 0.8, 30), rng.normal(0, 0.05, 30)
    sample = paired_sample(b, b + d, score_range=(0, 1))
    analysis = Analysis(interval="bca")
    interval = decision_interval(sample, name="bca").interval
    check = margin_check(
        sample,
        0.01,
        "higher",
        interval=interval,
        standard_error=0.01,
        analysis=analysis,
    )
    unchanged = paired_sample(b, b, score_range=(0, 1))
    default = decision_interval(unchanged).interval
    assert default is not None
    assert check.smallest_margin == pytest.approx(-default.low, rel=1e-12)


def test_every_slice_has_its_own_margin_check_and_stability() -> None:
    import pandas as pd

    from onechange.decide.findings import Scope
    from onechange.decide.outlook import with_margin_check
    from onechange.decide.rules import guardrail_status
    from onechange.decide.stability import with_stability

    base, variant = arms(binary_scores(40, 4, 20, 36))
    for frame in (base, variant):
        frame["kind"] = pd.Series(["a", "b"] * 50)
    variant.loc[[0, 1, 2, 3], "m"] = np.nan
    plan = oc.Plan(
        guardrails=[Guardrail("m", margin=0.3)],
        slices=["kind"],
        metrics=[oc.Metric("m", direction="higher", range=(0, 1))],
    )
    comparison = oc.compare(base, variant, plan)
    scope = Scope(comparison, plan, 0, {"m": 3})
    rule = Guardrail("m", margin=0.3, every_slice="kind")
    status = guardrail_status(scope, rule)
    assert status.slice is not None
    status = with_stability(scope, rule, with_margin_check(scope, status, "kind"))
    assert status.pvalue_margin is not None
    assert status.tipping.n_questions == 2  # of the four, two are in each slice
    assert status.fragility.n_answers <= 50


def test_a_metric_of_one_arm_only_has_no_tipping_point() -> None:
    base, variant = arms(binary_scores(20, 4, 10, 16))
    base["other"] = 1.0 * (base.index % 3 == 0)
    variant["other"] = 1.0 * (variant.index % 4 == 0)
    plan = oc.Plan(
        "m", metrics=[oc.Metric("m", direction="higher")]
    )  # no range: nothing to fill with
    (status,) = oc.decide(oc.compare(base, variant, plan)).statuses
    assert status.tipping is None
    assert status.fragility is not None
