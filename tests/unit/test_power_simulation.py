"""Power by simulation against formulas and enumeration, and the search around it."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onechange as oc
from casefiles import run
from onechange.power import Design, Pilot, make_pilot, pass_probability, power
from onechange.power.search import crossing
from onechange.power.simulate import _passes, simulated_scores
from onechange.power.tilt import tilted_shares
from onechange.sensitivity import mean_status
from onechange.stats.power import paired_t_power, paired_t_smallest_delta
from onechange.status import Status

ANALYSIS = oc.Analysis()
EXAMPLE = Path(oc.__file__).parent / "examples" / "rag_top_k"
ARMS = (EXAMPLE / "baseline.jsonl", EXAMPLE / "variant.jsonl")


def frame(scores: np.ndarray) -> pd.DataFrame:
    ids = [f"q{i:05d}" for i in range(scores.size)]
    return pd.DataFrame({"question_id": ids, "score": scores})


def pilot_of(baseline: np.ndarray, variant: np.ndarray, **more: object) -> Pilot:
    values: dict = {
        "metric": "score",
        "direction": "higher",
        "baseline": baseline,
        "variant": variant,
        "baseline_trials": baseline[:, None],
        "variant_trials": variant[:, None],
    }
    return Pilot(**(values | more))


def normal_pilot() -> Pilot:
    rng = np.random.default_rng(1)
    baseline = rng.normal(0, 1, 4000)
    return pilot_of(baseline, baseline + rng.normal(0, 0.5, 4000))


def binary_pilot(gains: int, losses: int, both: int, neither: int) -> Pilot:
    cells = np.repeat(
        [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]],
        [gains, losses, both, neither],
        axis=0,
    )
    return pilot_of(cells[:, 0], cells[:, 1], binary=True, score_range=(0.0, 1.0))


@pytest.mark.parametrize("n", [20, 60])
def test_a_normal_pilot_has_the_power_of_the_paired_t_test(n: int) -> None:
    pilot = normal_pilot()
    sd = float(pilot.difference.std())
    analysis = oc.Analysis(interval="t")
    found = pass_probability(
        pilot, oc.Primary("score"), Design(n), 0.2, analysis, n_simulations=1500
    )
    # a pass is one-sided: the two-sided power leaves out the wrong side, below 1e-4
    right = paired_t_power(n, 0.2 / sd)
    assert abs(found.power - right) < 3.5 * math.sqrt(right * (1 - right) / 1500)


def newcombe_low(gains: int, losses: int, both: int, neither: int) -> float:
    """Lower limit of Newcombe's method 10, written out from the paper."""
    z = 1.959963984540054
    n = gains + losses + both + neither
    wins, base = both + gains, both + losses

    def wilson(x: int) -> tuple[float, float]:
        root = z * math.sqrt(x * (n - x) / n + z * z / 4)
        return (x + z * z / 2 - root) / (n + z * z), (x + z * z / 2 + root) / (
            n + z * z
        )

    p1, p0 = wins / n, base / n
    (low1, _), (_, high0) = wilson(wins), wilson(base)
    margin = wins * (n - wins) * base * (n - base)
    phi = 0.0
    if margin:
        top = both * neither - gains * losses
        if top > n / 2:
            top -= n / 2
        elif top >= 0:
            top = 0
        phi = top / math.sqrt(margin)
    inside = (p1 - low1) ** 2 - 2 * phi * (p1 - low1) * (high0 - p0) + (high0 - p0) ** 2
    return p1 - p0 - math.sqrt(max(inside, 0.0))


def test_mcnemar_cells_have_the_power_of_all_tables() -> None:
    """Every table of 24 questions, weighed by its multinomial probability."""
    n, shares = 24, (0.30, 0.06, 0.34, 0.30)
    logs = [math.lgamma(k + 1) for k in range(n + 1)]
    right = 0.0
    for gains, losses, both in itertools.product(range(n + 1), repeat=3):
        neither = n - gains - losses - both
        if neither < 0:
            continue
        counts = (gains, losses, both, neither)
        if newcombe_low(*counts) > 0:
            log = logs[n] - sum(logs[k] for k in counts)
            log += sum(k * math.log(p) for k, p in zip(counts, shares, strict=True))
            right += math.exp(log)
    pilot = binary_pilot(30, 6, 34, 30)
    found = pass_probability(
        pilot, oc.Primary("score"), Design(n), 0.24, ANALYSIS, n_simulations=2000
    )
    assert abs(found.power - right) < 3.5 * math.sqrt(right * (1 - right) / 2000)


def test_without_an_effect_a_primary_seldom_passes() -> None:
    found = pass_probability(
        binary_pilot(15, 7, 60, 18),
        oc.Primary("score"),
        Design(80),
        0.0,
        ANALYSIS,
        n_simulations=2000,
    )
    assert found.power <= 0.035


@pytest.mark.parametrize("kind", ["scores", "clusters"])
@pytest.mark.parametrize("role", ["primary", "guardrail", "equivalence"])
def test_a_simulated_experiment_is_judged_as_decide_judges_it(
    kind: str, role: str
) -> None:
    rng = np.random.default_rng(4)
    baseline = rng.integers(0, 4, 60) / 3
    variant = np.clip(baseline + rng.choice([-1, 0, 0, 1, 1], 60) / 3, 0, 1)
    clusters = np.repeat(np.arange(20), 3) if kind == "clusters" else None
    pilot = pilot_of(baseline, variant, clusters=clusters, score_range=(0.0, 1.0))
    rule = {
        "primary": oc.Primary("score"),
        "guardrail": oc.Guardrail("score", margin=0.02),
        "equivalence": oc.Guardrail("score", margin=0.25, role="equivalence"),
    }[role]
    columns = oc.Columns(cluster="doc") if kind == "clusters" else oc.Columns()
    plan = oc.Plan(
        primary=rule if role == "primary" else None,
        guardrails=[] if role == "primary" else [rule],
        metrics=[oc.Metric("score", range=(0, 1))],
        columns=columns,
    )
    drawn = simulated_scores(pilot, Design(45), 0.08, n_simulations=12, seed=1)
    seen = set()
    for scores, _ in drawn:
        arms = []
        for values in (scores.baseline, scores.variant):
            arm = frame(values)
            if scores.clusters is not None:
                arm["doc"] = [f"d{code}" for code in scores.clusters]
            arms.append(arm)
        decision = oc.decide(oc.compare(arms[0], arms[1], plan), plan, stability=False)
        (status,) = decision.statuses
        assert _passes(rule, scores, None, ANALYSIS) == (status.status == Status.PASS)
        assert mean_status(rule, scores, ANALYSIS) == status.status
        seen.add(status.status)
    assert seen


def test_missing_scores_cost_power() -> None:
    pilot = binary_pilot(15, 7, 60, 18)
    powers = [
        pass_probability(
            pilot,
            oc.Primary("score"),
            Design(200, missing_rate=rate),
            0.08,
            ANALYSIS,
            n_simulations=400,
        ).power
        for rate in (0.0, 0.15, 0.4)
    ]
    assert powers[0] > powers[1] > powers[2]
    # over a fifth missing, the worst case would have to pass as well
    assert powers[2] == 0


def test_whole_clusters_are_drawn() -> None:
    rng = np.random.default_rng(2)
    shared = np.repeat(rng.normal(0, 0.3, 30), 4)
    baseline = rng.normal(0, 1, 120)
    variant = baseline + shared + rng.normal(0, 0.1, 120)
    alone = pilot_of(baseline, variant)
    together = pilot_of(baseline, variant, clusters=np.repeat(np.arange(30), 4))
    found = [
        pass_probability(
            pilot, oc.Primary("score"), Design(60), 0.12, ANALYSIS, n_simulations=300
        ).power
        for pilot in (alone, together)
    ]
    assert found[0] > found[1] + 0.2


def test_fewer_trials_have_the_variance_of_theory() -> None:
    rng = np.random.default_rng(3)
    effect = rng.normal(0, 0.2, 3000)
    tables = [rng.normal(0, 0.6, (3000, 4)) for _ in range(2)]
    tables[1] += effect[:, None]
    pilot = pilot_of(
        tables[0].mean(axis=1),
        tables[1].mean(axis=1),
        baseline_trials=tables[0],
        variant_trials=tables[1],
    )
    for trials in (1, 2, 4, 8):
        spreads = [
            float(np.var(scores.variant - scores.baseline, ddof=1))
            for scores, _ in simulated_scores(
                pilot, Design(3000, trials), 0.0, n_simulations=10, seed=2
            )
        ]
        right = 0.2**2 + 2 * 0.6**2 / trials
        assert np.mean(spreads) == pytest.approx(right, rel=0.07)


def test_more_trials_than_one_need_a_pilot_with_trials() -> None:
    with pytest.raises(oc.MethodError, match="one trial"):
        pass_probability(
            normal_pilot(), oc.Primary("score"), Design(50, 3), 0.1, ANALYSIS
        )


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-10, 10), min_size=3, max_size=30),
    st.floats(0.02, 0.98),
)
def test_tilting_hits_the_mean_and_keeps_every_score_possible(
    tenths: list[int], place: float
) -> None:
    totals = np.array(tenths) / 10
    if np.ptp(totals) == 0:
        return
    wanted = float(totals.min() + place * np.ptp(totals))
    shares = tilted_shares(totals, np.ones(totals.size), wanted)
    assert shares.sum() == pytest.approx(1)
    assert float(shares @ totals) == pytest.approx(wanted, abs=1e-9)
    assert np.all(shares >= 0)


def test_a_delta_outside_the_differences_is_refused() -> None:
    with pytest.raises(oc.MethodError, match="cannot be made"):
        tilted_shares(np.array([-0.5, 0.0, 0.5]), np.ones(3), 0.6)


def test_clusters_of_several_sizes_are_tilted_per_question() -> None:
    totals, sizes = np.array([1.0, -0.5, 0.2]), np.array([2.0, 5.0, 1.0])
    shares = tilted_shares(totals, sizes, 0.1)
    assert float(shares @ totals) / float(shares @ sizes) == pytest.approx(0.1)


def test_the_needed_questions_agree_with_the_formula() -> None:
    pilot = normal_pilot()
    found = power(
        frame(pilot.baseline[:200]),
        frame(pilot.variant[:200]),
        metric="score",
        delta=0.25,
        questions=[20, 40, 60],
        n_simulations=300,
    )
    assert found.closed_form is not None
    assert found.questions_needed == pytest.approx(found.closed_form.questions, rel=0.2)
    assert [p.n_questions for p in found.points] == sorted(
        p.n_questions for p in found.points
    )


def test_the_smallest_margin_agrees_with_the_formula() -> None:
    pilot = normal_pilot()
    found = power(
        frame(pilot.baseline[:100]),
        frame(pilot.variant[:100]),
        metric="score",
        margin=0.2,
        questions=[100],
        n_simulations=300,
    )
    sd = float(np.std(pilot.difference[:100], ddof=1))
    right = paired_t_smallest_delta(100, sd)
    assert found.smallest_delta == pytest.approx(right, rel=0.1)
    assert found.delta == 0.0


def test_two_trials_of_the_baseline_stand_in_for_a_variant() -> None:
    found = power(
        ARMS[0],
        metric="correctness",
        margin=0.1,
        questions=[100],
        n_simulations=100,
    )
    assert found.same_arm
    assert {note.code for note in found.notes} >= {"same-arm-pilot"}


def test_without_a_pilot_the_formula_stands_alone() -> None:
    found = power(None, metric="score", delta=0.1, discordance=0.2)
    assert found.questions_needed == 155  # Connor 1987: 154.6
    assert found.points == ()
    assert "McNemar (mid-p)" in repr(found)


def test_a_delta_on_the_wrong_side_needs_no_number_of_questions() -> None:
    pilot = normal_pilot()
    found = power(
        frame(pilot.baseline[:80]),
        frame(pilot.variant[:80]),
        metric="score",
        delta=-0.1,
        questions=[80],
        n_simulations=100,
    )
    assert found.questions_needed is None
    assert {note.code for note in found.notes} >= {"beyond-threshold"}


def test_several_comparisons_are_decided_at_a_higher_level() -> None:
    found = power(None, metric="score", delta=0.1, sd=0.3, comparisons=5)
    assert found.confidence_level == pytest.approx(0.99)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"delta": None}, "which delta"),
        ({"target": 1.0}, "wanted power"),
        ({"comparisons": 0}, "comparisons"),
        ({"n_simulations": 5}, "n_simulations"),
        ({"missing_rate": 1.0}, "missing_rate"),
        ({"sd": 0.0}, "sd is"),
        ({"discordance": 2.0}, "discordance"),
        ({"margin": 0.1, "min_improvement": 0.1}, "not both"),
        ({"delta": math.nan}, "finite"),
        ({"metric": "scor"}, 'did you mean "score"'),
    ],
)
def test_impossible_wishes_are_refused(changes: dict, told: str) -> None:
    arms = [frame(np.arange(20) % 2 * 1.0), frame(np.arange(20) % 3 / 2)]
    values = {"metric": "score", "delta": 0.1} | changes
    with pytest.raises(oc.OnechangeError, match=told):
        power(*arms, **values)


def test_crossing_needs_a_power_that_reaches_the_target() -> None:
    assert crossing([1, 2], [0.1, 0.3], 0.8) is None
    assert crossing([1, 2], [0.9, 0.95], 0.8) == 1.0
    assert crossing([], [], 0.8) is None


def test_the_command_prints_a_curve_and_writes_json(tmp_path: Path) -> None:
    target = tmp_path / "power.json"
    done = run(
        "power",
        *ARMS,
        "--metric=hit_at_5",
        "--delta=0.05",
        "--questions=100",
        "--questions=200",
        "--trials=1",
        "--simulations=100",
        f"--json={target}",
        f"--picture={tmp_path / 'curve.svg'}",
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "hit_at_5 improves, if the true delta is +0.0500" in done.stdout
    assert "█" in done.stdout
    content = json.loads(target.read_text(encoding="utf-8"))["power"]
    assert [point["n_questions"] for point in content["points"]] == [100, 200]
    assert (tmp_path / "curve.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_the_command_needs_one_metric() -> None:
    done = run("power", *ARMS, "--delta=0.05")
    assert done.returncode == 2
    assert "--metric NAME" in done.stderr


def test_the_figure_of_a_pilot_is_that_of_the_comparison() -> None:
    plan = oc.Plan(metrics=[oc.Metric("correctness", range=(0, 1))])
    comparison = oc.compare(*ARMS, plan)
    pilot = make_pilot(comparison, "correctness")
    (delta,) = (d for d in comparison.deltas if d.metric == "correctness")
    assert float(np.mean(pilot.difference)) == pytest.approx(delta.delta, abs=1e-12)
    assert (pilot.n_pairs, pilot.n_trials) == (delta.n_pairs, 3)
