"""What it would take, in words and numbers that are true of the rule at hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from builders import audit, binary, comparison, delta, interval, latency
from onechange.compare import Comparison
from onechange.decide import Decision, decide
from onechange.delta import Bounds, Delta, MetricValues, RelativeDelta
from onechange.plan import Guardrail, Metric, Plan, Primary
from onechange.stats.estimate import Note
from onechange.stats.quantile import order_statistic_limits

N = 150


def values() -> MetricValues:
    """150 pairs that changed a little, for what is computed from the pairs."""
    before = np.linspace(0.3, 0.9, N)
    return MetricValues(
        baseline=before,
        variant=before + 0.05 * np.sin(np.arange(N)),
        paired=np.ones(N, dtype=bool),
        score_range=(0.0, 1.0),
    )


def decided(plan: Plan, *rows: Delta, **changes: Any) -> Decision:
    names = {row.metric for row in rows} | {"correct", "latency_ms", "faithfulness"}
    found: dict[str, Any] = {
        "plan": plan,
        "deltas": tuple(rows),
        "rates": (),
        "slices": (),
        "trials": (),
        "audits": (audit(settings_changed=()),),
        "values": {("variant", name): values() for name in names},
    }
    return decide(comparison(**(found | changes)))


def guarded(*rows: Delta, metric: str = "faithfulness", **rule: Any) -> Decision:
    return decided(Plan(guardrails=[Guardrail(metric, **rule)]), *rows)


def step(decision: Decision) -> str:
    (found,) = decision.next_steps
    return found


def faithfulness(low: float, high: float, **changes: Any) -> Delta:
    made: dict[str, Any] = {
        "delta": (low + high) / 2,
        "interval": interval(low, high),
        "bounds": None,
    }
    return delta("faithfulness", **(made | changes))


# ---------------------------------------------------------------- exactly at


def test_a_variant_exactly_at_its_limit_is_not_called_beyond_it() -> None:
    row = faithfulness(
        -0.02, 0.02, variant=0.85, variant_interval=interval(0.8, 0.9, "hall")
    )
    told = step(guarded(row, limit=0.85))
    assert told == (
        "faithfulness: more data will not help unless the estimate is wrong: the "
        "variant itself is exactly at the limit."
    )
    below = faithfulness(
        -0.02, 0.02, variant=0.849, variant_interval=interval(0.8, 0.9, "hall")
    )
    assert "the variant itself is beyond the limit" in step(guarded(below, limit=0.85))


@pytest.mark.parametrize("role", ["guardrail", "equivalence"])
def test_a_drop_of_exactly_the_margin_is_not_called_beyond_it(role: str) -> None:
    row = faithfulness(-0.06, 0.0, delta=0.87 - 0.9)
    told = step(guarded(row, margin=0.03, role=role))
    assert "the estimate itself is exactly at the margin." in told
    more = faithfulness(-0.07, 0.0, delta=-0.031)
    told = step(guarded(more, margin=0.03, role=role))
    assert "the estimate itself is beyond the margin." in told


# ---------------------------------------------------------------- percent margins


def relative(rise: float, low: float, high: float, **changes: Any) -> Delta:
    found = RelativeDelta(rise, interval(low, high, "guarded-fieller"), None)
    made: dict[str, Any] = {"baseline": 800.0, "relative": found}
    return latency(**(made | changes))


def test_more_data_do_not_help_an_estimate_beyond_a_margin_in_percent() -> None:
    row = relative(0.148, 0.05, 0.246)
    told = step(guarded(row, metric="latency_ms", margin="10%"))
    assert "more data will not help unless the estimate is wrong" in told
    assert "the estimate itself is beyond the margin" in told


def test_a_margin_in_percent_gets_a_number_of_questions() -> None:
    row = relative(0.02, -0.078, 0.118)
    decision = guarded(row, metric="latency_ms", margin="10%")
    # half-width 0.098, standard error 0.05: 150 ((0.098 + 0.8416 · 0.05)/0.1)² = 295
    assert decision.statuses[0].further_questions == pytest.approx(295 - N, abs=1)
    assert "if nothing changed on average" in step(decision)


@pytest.mark.parametrize("margin", [60.0, "8%"])
def test_a_quantile_rule_gets_a_number_of_questions(margin: float | str) -> None:
    row = relative(
        0.0,
        -0.0784,
        0.0984,
        delta=0.0,
        statistic="p95",
        standard_error=None,
        interval=interval(-62.7, 78.7, "percentile"),
    )
    rule = Guardrail("latency_ms", margin=margin, statistic="p95")
    decision = decided(Plan(guardrails=[rule]), row)
    assert decision.statuses[0].further_questions > 0
    assert step(decision).startswith("latency_ms p95: about ")


@pytest.mark.parametrize("rule", ["interval", "estimate"])
@pytest.mark.parametrize("baseline", [0.0, -3.0])
def test_a_share_of_a_baseline_that_is_not_positive_needs_an_absolute_margin(
    baseline: float, rule: str
) -> None:
    place = "0" if baseline == 0 else "below 0"
    row = latency(
        baseline=baseline,
        variant=5.0,
        delta=5.0 - baseline,
        relative=RelativeDelta(None, None, f"the baseline mean is {place}"),
    )
    told = step(guarded(row, metric="latency_ms", margin="10%", rule=rule))
    assert told == (
        "latency_ms: give the margin in the metric's unit: of a baseline of 0 or less "
        "there is no share."
    )


def test_a_baseline_near_zero_may_need_an_absolute_margin_or_more_questions() -> None:
    reason = "the baseline mean is not clearly above 0"
    row = latency(baseline=0.1, relative=RelativeDelta(None, None, reason))
    told = step(guarded(row, metric="latency_ms", margin="10%"))
    assert told.endswith(f"or add questions; {reason}.")


# ---------------------------------------------------------------- which need


def test_the_worse_of_two_needs_is_told() -> None:
    row = latency(
        delta=0.0,
        interval=interval(-100.0, 100.0),
        standard_error=50.0,
        variant=830.0,
        variant_interval=interval(780.0, 880.0, "hall"),
    )
    decision = guarded(row, metric="latency_ms", margin=95.0, limit=850.0)
    # margin: 150 ((100 + 42)/95)² = 336; limit: 150 ((50 + 21.5)/20)² = 1915
    assert decision.statuses[0].further_questions == pytest.approx(1915 - N, abs=3)
    told = step(decision)
    assert "would show the limit with 80 % probability" in told
    assert told.endswith("(approximation); the margin needs fewer.")


def test_a_limit_that_no_data_can_show_is_told_before_a_margin_that_more_can() -> None:
    row = latency(
        delta=0.0,
        interval=interval(-100.0, 100.0),
        variant=860.0,
        variant_interval=interval(780.0, 940.0, "hall"),
    )
    decision = guarded(row, metric="latency_ms", margin=95.0, limit=850.0)
    assert decision.statuses[0].further_questions is None
    assert "the variant itself is beyond the limit" in step(decision)


def test_a_part_that_holds_needs_nothing() -> None:
    row = latency(
        interval=interval(-4.5, 71.3), variant_interval=interval(790.0, 880.0, "hall")
    )
    told = step(guarded(row, metric="latency_ms", margin=80.0, limit=850.0))
    assert "the variant's value is as observed" in told
    assert "margin" not in told


def test_a_shown_worsening_is_not_taken_for_no_change() -> None:
    row = faithfulness(-0.026, -0.007, standard_error=0.0048)
    decision = guarded(row, margin=0.02)
    # as observed: 150 ((0.0095 + 0.8416 · 0.0048)/0.0035)² = 2247
    assert decision.statuses[0].further_questions == pytest.approx(2247 - N, abs=5)
    assert "if the delta is as observed" in step(decision)
    assert "nothing changed" not in step(decision)
    around = faithfulness(-0.026, 0.002, standard_error=0.007)
    assert "if nothing changed on average" in step(guarded(around, margin=0.02))


def test_a_margin_of_zero_asks_for_the_improvement_that_was_seen() -> None:
    row = faithfulness(-0.01, 0.05, standard_error=0.015)
    told = step(guarded(row, margin=0.0))
    assert "if the delta is as observed" in told


# ---------------------------------------------------------------- missing scores


def test_missing_scores_are_asked_for_beside_more_questions() -> None:
    bounds = Bounds(-0.3, 0.3, N, 40, 0, interval(-0.4, 0.4))
    row = faithfulness(-0.05, 0.03, standard_error=0.02, bounds=bounds)
    told = step(guarded(row, margin=0.02))
    assert "further questions like these" in told
    assert told.endswith("Also score the 40 questions that lack a score.")


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"limit": 0.5}, "the variant's own value that they bound does not exist"),
        (
            {"margin": "20%"},
            "as a share of the baseline that they bound does not exist",
        ),
    ],
)
def test_bounds_of_the_delta_are_not_said_to_decide_about_something_else(
    rule: dict[str, Any], words: str
) -> None:
    row = faithfulness(
        -0.01,
        0.03,
        bounds=Bounds(-0.01, 0.05, N, 40, 0, interval(-0.02, 0.06)),
        relative=RelativeDelta(0.02, interval(-0.02, 0.05), None),
    )
    decision = guarded(row, **rule)
    assert decision.decision == "inconclusive"
    assert words in decision.reason
    assert "only missing scores stand in the way" in step(decision)


def test_a_real_comparison_shows_the_interval_that_the_missing_scores_leave() -> None:
    rng = np.random.default_rng(2)
    ids = [f"q{i:03d}" for i in range(60)]
    before = pd.DataFrame({"question_id": ids, "score": rng.uniform(0.2, 0.5, 60)})
    after = before.assign(score=before.score + rng.uniform(0.1, 0.4, 60))
    after.loc[rng.permutation(60)[:18], "score"] = None
    plan = oc.Plan("score", metrics=[oc.Metric("score", range=(0, 1))])
    decision = oc.decide(oc.compare(before, after, plan))
    bounds = decision.comparison.deltas[0].bounds
    assert bounds is not None
    assert bounds.interval is not None
    shown = f"{bounds.interval.low:+.3f}".replace("-", "−")
    assert f"the improvement lies between {shown} and" in decision.reason
    assert step(decision).endswith("score the 18 questions that lack a score.")


# ---------------------------------------------------------------- too few


def few(n: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    ids = [f"q{i}" for i in range(n)]
    before = pd.DataFrame(
        {"question_id": ids, "score": [0.5] * n, "status": ["answered"] * n}
    )
    return before, before.assign(score=0.6)


@pytest.mark.parametrize("rule", [{"margin": 0.02}, {"limit": 0.3}])
def test_one_question_does_not_ship_by_its_point_value(rule: dict[str, float]) -> None:
    plan = oc.Plan(guardrails=[oc.Guardrail("score", rule="estimate", **rule)])
    decision = oc.decide(oc.compare(*few(1), plan))
    assert decision.decision == "inconclusive"
    assert "too few questions: 1 question is too few for a status" in decision.reason
    assert step(decision).startswith("score: add questions: 1 question is too few")
    assert oc.decide(oc.compare(*few(6), plan)).decision == "ship"


def test_a_count_of_this_run_needs_no_number_of_questions() -> None:
    rule = oc.Guardrail("failed", limit=0.02, rule="estimate")
    decision = oc.decide(oc.compare(*few(1), oc.Plan(guardrails=[rule])))
    assert decision.decision == "ship"


def test_a_quantile_that_so_few_questions_cannot_bound_says_how_many_can() -> None:
    row = latency(
        statistic="p95",
        interval=None,
        variant=820.0,
        variant_interval=interval(700.0, np.inf, "order-statistics"),
    )
    rule = Guardrail("latency_ms", limit=900.0, statistic="p95")
    assert step(decided(Plan(guardrails=[rule]), row)) == (
        "latency_ms p95: add questions: it takes 72 to bound the p95 from above at all."
    )
    for n, bounded in ((71, False), (72, True)):
        high = order_statistic_limits(np.arange(float(n)), 0.95, 0.025)[1]
        assert np.isfinite(high) == bounded


def test_a_small_slice_asks_for_questions_of_its_kind() -> None:
    note = Note("small-slice", "2 pairs, below the minimum slice size 10.")
    row = faithfulness(-0.05, 0.05, n_pairs=2, notes=(note,))
    told = step(guarded(row, margin=0.02))
    assert told.endswith("it has 2 pairs, and a status needs 10.")


# ---------------------------------------------------------------- names


def test_several_rules_on_one_metric_are_told_apart() -> None:
    plan = Plan(
        guardrails=[
            Guardrail("latency_ms", margin=30.0),
            Guardrail("latency_ms", margin=30.0, statistic="p95"),
            Guardrail("latency_ms", margin=50.0, role="equivalence"),
        ]
    )
    tail = latency(statistic="p95", interval=interval(-60.0, 200.0, "percentile"))
    decision = decided(plan, latency(), tail)
    assert "Also inconclusive: latency_ms p95, latency_ms (equivalence)." in (
        decision.reason
    )
    starts = [sentence.split(":")[0] for sentence in decision.next_steps]
    assert starts == [
        "latency_ms (guardrail)",
        "latency_ms p95",
        "latency_ms (equivalence)",
    ]


def test_rules_that_share_their_role_are_told_apart_by_what_they_allow() -> None:
    plan = Plan(
        guardrails=[
            Guardrail("correct", limit=0.7, rule="estimate"),
            Guardrail("correct", margin=0.01),
        ]
    )
    decision = decided(plan, delta(variant=0.5844, bounds=None))
    assert decision.decision == "do not ship"
    names = [sentence.split(":")[0] for sentence in decided(plan).next_steps]
    assert names == ["correct (guardrail) by point value", "correct (guardrail)"]


def test_a_primary_that_is_a_guardrail_as_well_is_marked() -> None:
    plan = Plan(Primary("correct", 0.5), [Guardrail("correct", limit=0.9)])
    decision = decided(plan, delta(bounds=None, variant_interval=interval(0.5, 0.6)))
    assert "Also failed: correct (guardrail)." in decision.reason


# ---------------------------------------------------------------- wording


def test_a_value_without_width_is_not_between_two_equal_numbers() -> None:
    row = faithfulness(0.0, 0.0, variant=1.0, variant_interval=interval(1.0, 1.0))
    assert "the variant is at 1.000, within the limit 0.9" in (
        guarded(row, limit=0.9).reason
    )


def test_a_ratio_rule_says_that_it_is_about_a_ratio() -> None:
    row = delta("pace", statistic="ratio", bounds=None)
    found: Comparison = comparison(
        plan=Plan("pace"),
        deltas=(row,),
        rates=(),
        slices=(),
        trials=(),
        audits=(audit(settings_changed=()),),
        metrics=(Metric("pace", numerator="seconds", denominator="calls"),),
    )
    (status,) = decide(found).statuses
    assert status.statistic == "ratio"


def test_a_rate_that_is_open_gets_its_number() -> None:
    row = binary(variant=0.0067)
    plan = Plan(guardrails=[Guardrail("failed", limit=0.02)])
    found = decided(plan, rates=(row,), values={("variant", "failed"): values()})
    assert "further questions like these would show it" in step(found)
