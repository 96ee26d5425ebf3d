"""Statuses, sentences and the decision, from comparisons made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from builders import audit, binary, comparison, delta, empty, interval, latency, sliced
from onechange.align import MetricAudit, SettingChange
from onechange.compare import ArmSummary, Comparison, SliceBreakdown
from onechange.decide import Decision, decide, decide_each, exit_code
from onechange.decide.findings import Scope
from onechange.decide.rules import guardrail_status
from onechange.decide.sentences import about
from onechange.delta import Bounds, Delta, MetricValues, RelativeDelta
from onechange.errors import PlanError
from onechange.joint import JointDelta
from onechange.plan import Analysis, Change, Guardrail, Plan, Primary, SliceSpec
from onechange.stats.estimate import Note
from onechange.stats.projection import Contributions
from onechange.trials import ArmTrials, MetricTrials
from onechange.trials.delta import DeltaTrials

N = 150


def values() -> MetricValues:
    """150 pairs that changed a little, for what is computed from the pairs."""
    rng = np.random.default_rng(1)
    before = rng.uniform(0.3, 0.9, N)
    return MetricValues(
        baseline=before,
        variant=before + rng.normal(0, 0.05, N),
        paired=np.ones(N, dtype=bool),
        score_range=(0.0, 1.0),
    )


def made(plan: Plan, *deltas: Delta, **changes: Any) -> Comparison:
    names = {row.metric for row in deltas}
    return comparison(
        **{
            "plan": plan,
            "deltas": tuple(deltas),
            "rates": (),
            "slices": (),
            "trials": (),
            "audits": (audit(settings_changed=()),),
            "values": {("variant", name): values() for name in names},
            **changes,
        }
    )


def decided(plan: Plan, *deltas: Delta, **changes: Any) -> Decision:
    return decide(made(plan, *deltas, **changes))


def faithfulness(low: float, high: float, **changes: Any) -> Delta:
    return delta(
        "faithfulness",
        **{
            "delta": (low + high) / 2,
            "interval": interval(low, high),
            "bounds": None,
            **changes,
        },
    )


GOOD = delta(interval=interval(0.02, 0.1), bounds=None)
OPEN = delta(interval=interval(-0.001, 0.117), bounds=None)
WORSE = delta(interval=interval(-0.1, -0.02), delta=-0.06, bounds=None)
PRIMARY = Plan("correct")
MARGIN = Plan(guardrails=[Guardrail("faithfulness", margin=0.02)])


def only(decision: Decision) -> str:
    (status,) = decision.statuses
    return status.reason


def test_the_sentence_of_an_open_guardrail() -> None:
    decision = decided(MARGIN, faithfulness(-0.026, -0.007))
    assert only(decision) == (
        "faithfulness: inconclusive: the drop lies between 0.0070 and 0.0260, the "
        "margin 0.02 is inside."
    )
    assert decision.decision == "inconclusive"
    assert exit_code(decision) == 3


@pytest.mark.parametrize(
    ("low", "high", "status", "clause"),
    [
        (-0.015, 0.02, "pass", "the drop is at most 0.015, within the margin 0.02"),
        (0.01, 0.05, "pass", "it is better by at least 0.010; a drop up to the"),
        (-0.08, -0.03, "fail", "the drop is at least 0.030, beyond the margin 0.02"),
        (-0.08, 0.03, "inconclusive", "it lies between a rise of 0.030 and a drop of"),
    ],
)
def test_the_sentences_of_a_margin(
    low: float, high: float, status: str, clause: str
) -> None:
    (found,) = decided(MARGIN, faithfulness(low, high)).statuses
    assert found.status == status
    assert found.reason.startswith(f"faithfulness: {status}: {clause}")


def test_lower_is_better_changes_the_words_and_not_the_numbers() -> None:
    plan = Plan(guardrails=[Guardrail("latency_ms", margin=80.0)])
    (status,) = decided(plan, latency()).statuses
    assert status.status == "pass"
    assert status.reason == (
        "latency_ms: pass: the rise is at most 71, within the margin 80."
    )
    tight = Plan(guardrails=[Guardrail("latency_ms", margin=30.0)])
    assert "between a drop of 4 and a rise of 71" in only(decided(tight, latency()))


@pytest.mark.parametrize(
    ("row", "word", "code", "clause"),
    [
        (GOOD, "ship", 0, "between +0.020 and +0.100, above 0"),
        (OPEN, "inconclusive", 3, "between −0.001 and +0.117, 0 is inside"),
        (WORSE, "do not ship", 1, "below 0: it is shown to be worse"),
    ],
)
def test_the_primary_decides(row: Delta, word: str, code: int, clause: str) -> None:
    decision = decided(PRIMARY, row)
    assert decision.decision == word
    assert exit_code(decision) == code
    assert clause in decision.reason


def test_a_gain_that_is_too_small_is_shown_to_be_smaller_than_needed() -> None:
    plan = Plan(Primary("correct", 0.2))
    decision = decided(plan, GOOD)
    assert decision.decision == "do not ship"
    assert "the least improvement 0.2: it is shown to be smaller" in decision.reason


def test_any_fail_wins_over_what_is_open() -> None:
    plan = Plan("correct", [Guardrail("faithfulness", margin=0.02)])
    decision = decided(plan, OPEN, faithfulness(-0.08, -0.03))
    assert decision.decision == "do not ship"
    assert decision.reason.startswith("faithfulness: fail")
    assert decision.next_steps == ()


def test_all_pass_ships_and_says_how_many_guardrails_hold() -> None:
    plan = Plan(
        "correct",
        [Guardrail("faithfulness", margin=0.02), Guardrail("latency_ms", margin=80)],
    )
    decision = decided(plan, GOOD, faithfulness(-0.01, 0.02), latency())
    assert decision.decision == "ship"
    assert "All 2 guardrails hold." in decision.reason


def test_a_plan_without_primary_is_a_no_harm_check() -> None:
    assert decided(MARGIN, faithfulness(-0.01, 0.02)).decision == "ship"


def test_a_plan_without_rules_decides_nothing() -> None:
    with pytest.raises(PlanError, match="nothing says what to decide"):
        decided(Plan(), GOOD)


@pytest.mark.parametrize("row", [empty("faithfulness"), None])
def test_what_is_not_measured_is_never_a_pass(row: Delta | None) -> None:
    rows = () if row is None else (row,)
    decision = decided(MARGIN, *rows)
    assert decision.decision == "inconclusive"
    assert "not measured: 0 of 150 paired questions" in only(decision)
    assert [note.code for note in decision.statuses[0].notes] == ["not-measured"]


def test_too_few_questions_are_never_a_pass() -> None:
    note = Note("too-few-questions", "5 questions are too few for a status.")
    few = faithfulness(0.1, 0.2, n_pairs=5, interval=None, notes=(note,))
    assert "too few questions: 5 questions" in only(decided(MARGIN, few))
    named = faithfulness(0.1, 0.2, n_pairs=5, notes=(note,))  # an interval by name
    assert decided(MARGIN, named).decision == "inconclusive"


def test_equal_answers_without_a_range_are_open_and_say_why() -> None:
    note = Note("equal-differences", "No answer changed, so there is no interval.")
    same = faithfulness(0, 0, interval=None, notes=(note,))
    decision = decided(MARGIN, same)
    assert "no answer changed" in only(decision)
    assert decision.next_steps == (
        "faithfulness: declare the metric's range, so that an interval exists.",
    )


def test_margin_and_limit_both_count() -> None:
    rule = Guardrail("latency_ms", margin=80.0, limit=850.0)
    (status,) = decided(Plan(guardrails=[rule]), latency()).statuses
    assert status.status == "inconclusive"  # the margin holds, the limit is open
    assert status.reason.startswith(
        "latency_ms: inconclusive: the variant lies between 790 and 876, the limit 850 "
        "is inside; the rise is at most 71"
    )
    beyond = Guardrail("latency_ms", margin=80.0, limit=700.0)
    assert decided(Plan(guardrails=[beyond]), latency()).decision == "do not ship"


def test_built_in_rates_are_guardrails() -> None:
    plan = Plan(guardrails=[Guardrail("failed", limit=0.02, rule="estimate")])
    decision = decided(
        plan, rates=(binary(),), values={("variant", "failed"): values()}
    )
    assert decision.decision == "ship"
    assert "0.007 (point value), within the limit 0.02" in only(decision)
    by_interval = Plan(guardrails=[Guardrail("failed", limit=0.02)])
    rates = {"rates": (binary(),), "values": {("variant", "failed"): values()}}
    assert decided(by_interval, **rates).decision == "inconclusive"
    margin = Plan(guardrails=[Guardrail("failed", margin=0.05)])
    assert decided(margin, **rates).decision == "ship"


def test_a_rate_without_status_column_is_not_measured() -> None:
    plan = Plan(guardrails=[Guardrail("failed", limit=0.02, rule="estimate")])
    assert "the rows record no status" in only(decided(plan))


def test_the_point_rule_is_inclusive_and_says_so() -> None:
    plan = Plan(guardrails=[Guardrail("faithfulness", margin=0.05, rule="estimate")])
    row = faithfulness(-0.2, 0.1, baseline=0.9, variant=0.85, delta=0.85 - 0.9)
    (status,) = decided(plan, row).statuses
    assert status.status == "pass"
    assert "this run shows a drop of 0.05" in status.reason
    assert "(point value), within the margin 0.05" in status.reason


def test_scale_mismatch_allows_no_status() -> None:
    blocked = audit(settings_changed=(), scale_mismatch=("correct",))
    for row in (GOOD, WORSE):
        decision = decided(PRIMARY, row, audits=(blocked,))
        assert decision.decision == "inconclusive"
        assert "rescale one or declare the metric's range" in decision.reason


def bounds(low: float, high: float, incomplete: int, ends: Any) -> Bounds:
    return Bounds(low, high, N, incomplete, 0, ends)


def test_many_missing_scores_take_back_a_pass_unless_the_bounds_agree() -> None:
    agreeing = bounds(0.01, 0.2, 40, interval(0.001, 0.3))
    assert decided(PRIMARY, replace(GOOD, bounds=agreeing)).decision == "ship"
    other = bounds(-0.2, 0.3, 40, interval(-0.3, 0.4))
    decision = decided(PRIMARY, replace(GOOD, bounds=other))
    assert decision.decision == "inconclusive"
    assert "27 % of 150 questions lack a score" in decision.reason
    # the interval of the bounds decided, so it is what the sentence shows
    assert "the improvement lies between −0.300 and +0.400, 0 is" in decision.reason
    (step,) = decision.next_steps
    assert step == (
        "correct: only missing scores stand in the way: score the 40 questions that "
        "lack a score."
    )
    assert decision.statuses[0].further_questions is None
    few = bounds(-0.2, 0.3, 30, interval(-0.3, 0.4))  # 20 % is not over 20 %
    assert decided(PRIMARY, replace(GOOD, bounds=few)).decision == "ship"


def test_many_missing_scores_without_bounds_take_back_a_pass() -> None:
    ledger = {"correct": MetricAudit(100, failed_variant=30, unscored_variant=20)}
    decision = decided(
        PRIMARY, GOOD, audits=(audit(settings_changed=(), metrics=ledger),)
    )
    assert decision.decision == "inconclusive"
    assert "without a declared range" in decision.reason
    by_design = {"correct": MetricAudit(100, unscored_both=50)}
    whole = decided(
        PRIMARY, GOOD, audits=(audit(settings_changed=(), metrics=by_design),)
    )
    assert whole.decision == "ship"


def test_many_missing_scores_do_not_excuse_a_fail() -> None:
    other = bounds(-0.2, 0.3, 40, interval(-0.3, 0.4))
    assert decided(PRIMARY, replace(WORSE, bounds=other)).decision == "do not ship"


CHANGE = Change("retriever.top_k", 3, 8)


def arms(**variant: Any) -> dict[str, Any]:
    before = {"retriever.top_k": 3, "agent.version": 1}
    after = {**before, "retriever.top_k": 8, **variant}
    changed = tuple(
        SettingChange(key, before.get(key), after.get(key))
        for key in sorted({*before, *after})
        if before.get(key) != after.get(key)
    )
    return {
        "baseline": ArmSummary("baseline", (), N, 1, before),
        "variants": (ArmSummary("variant", (), N, 1, after),),
        "audits": (audit(settings_changed=changed),),
    }


def test_the_declared_change_alone_may_ship() -> None:
    plan = Plan("correct", change=CHANGE)
    assert decided(plan, GOOD, **arms()).decision == "ship"


def test_a_second_change_cannot_ship_unless_it_is_accepted() -> None:
    second = arms(**{"agent.version": 2})
    decision = decided(Plan("correct", change=CHANGE), GOOD, **second)
    assert decision.decision == "inconclusive"
    assert "agent.version (1 → 2)" in decision.reason
    accepted = Plan("correct", change=CHANGE, accepted_changes=["agent.version"])
    assert decided(accepted, GOOD, **second).decision == "ship"
    undeclared = decided(Plan("correct"), GOOD, **second)
    assert undeclared.decision == "ship"


def test_a_second_change_does_not_excuse_a_fail() -> None:
    plan = Plan("correct", change=CHANGE)
    decision = decided(plan, WORSE, **arms(**{"agent.version": 2}))
    assert decision.decision == "do not ship"


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        (
            Change("retriever.top_k", 3, 9),
            "declared as 9 in the variant but is recorded",
        ),
        (Change("retriever.top_k", 4, 8), "declared as 4 in the baseline"),
        (Change("agent.version"), "is 1 in both arms"),
    ],
)
def test_the_declared_change_must_be_the_recorded_one(
    declared: Change, words: str
) -> None:
    plan = Plan("correct", change=declared, accepted_changes=["retriever.top_k"])
    decision = decided(plan, GOOD, **arms())
    assert decision.decision == "inconclusive"
    assert words in decision.reason


@pytest.mark.parametrize("after", [8, "8", 8.0])
def test_recorded_values_may_be_text(after: Any) -> None:
    plan = Plan("correct", change=CHANGE)
    found = decided(plan, GOOD, **arms(**{"retriever.top_k": after}))
    assert found.decision == "ship"


def test_settings_that_are_not_recorded_are_not_held_against_the_change() -> None:
    plan = Plan("correct", change=CHANGE)
    assert decided(plan, GOOD).decision == "ship"


def test_another_question_set_is_refused() -> None:
    plan = Plan("correct", question_set="set v2")
    recorded = arms(question_set="set v1")
    with pytest.raises(PlanError, match='"set v2" but variant records "set v1"'):
        decided(plan, GOOD, **recorded)
    assert decided(plan, GOOD, **arms(question_set="set v2")).decision == "ship"


def test_deviations_travel_as_notes() -> None:
    plan = Plan("correct", deviations=["--seed 8 (plan: 7)"])
    (note,) = decided(plan, GOOD).notes
    assert (note.code, note.text) == ("plan-deviation", "--seed 8 (plan: 7)")


def slices_scope(rule: Guardrail, *rows: Delta) -> Any:
    breakdown = SliceBreakdown(SliceSpec(("qtype",)), rows)
    found = made(PRIMARY, GOOD, slices=(breakdown,))
    return guardrail_status(Scope(found, PRIMARY, 0, {"correct": 3}), rule)


SMALL = Note("small-slice", "2 pairs, below the minimum slice size 10.")


def test_the_worst_slice_counts() -> None:
    rule = Guardrail("correct", margin=0.25, every_slice="qtype")
    rows = [
        sliced("factoid", 60, 0.1, interval=interval(0.0, 0.2)),
        sliced("multi_hop", 40, -0.1, interval=interval(-0.24, 0.0)),
        sliced("lookup", 50, -0.1, interval=interval(-0.2, 0.0)),
    ]
    status = slices_scope(rule, *rows)
    assert status.status == "pass"
    assert status.slice == (("qtype", "multi_hop"),)
    assert "in multi_hop: pass" in status.reason
    assert "worst of 3 slices" in status.reason
    broken = sliced("hard", 30, -0.4, interval=interval(-0.5, -0.3))
    status = slices_scope(rule, *rows, broken)
    assert (status.status, status.slice) == ("fail", (("qtype", "hard"),))


def test_small_slices_are_named_or_count_by_the_strict_rule() -> None:
    rule = Guardrail("correct", margin=0.25, every_slice="qtype")
    good = sliced("factoid", 60, 0.1, interval=interval(0.0, 0.2))
    tiny = sliced("rare", 2, 0.4, interval=None, notes=(SMALL,))
    status = slices_scope(rule, good, tiny)
    assert status.status == "pass"
    assert "Left out as too small: rare (2)." in status.reason
    strict = replace(rule, small_slices="inconclusive")
    status = slices_scope(strict, good, tiny)
    assert status.status == "inconclusive"
    assert "2 pairs, fewer than the 10" in status.reason


def test_slices_that_are_all_small_give_no_status() -> None:
    rule = Guardrail("correct", margin=0.25, every_slice="qtype")
    tiny = sliced("rare", 2, 0.4, interval=None, notes=(SMALL,))
    assert slices_scope(rule, tiny).status == "inconclusive"


def direct(rule: Guardrail, row: Delta) -> Any:
    """Status of a rule that the plan may not accept yet."""
    scope = Scope(made(PRIMARY, row), PRIMARY, 0, {row.metric: 3})
    return guardrail_status(scope, rule)


def test_a_relative_margin_is_about_the_relative_interval() -> None:
    rule = Guardrail("latency_ms", margin="10%")
    status = direct(rule, latency())
    assert status.status == "pass"
    assert "the rise is at most 9.0 %, within the margin 10%" in status.reason
    open_row = latency(relative=RelativeDelta(0.08, interval(0.02, 0.14), None))
    assert direct(rule, open_row).status == "inconclusive"
    undefined = latency(relative=RelativeDelta(None, None, "the baseline mean is 0"))
    assert "the baseline mean is 0" in direct(rule, undefined).reason


def test_a_relative_margin_by_the_point_value() -> None:
    rule = Guardrail("latency_ms", margin="10%", rule="estimate")
    row = latency(baseline=1000.0, variant=1100.0, delta=100.0)
    assert direct(rule, row).status == "pass"
    assert "a rise of 10.0 %" in direct(rule, row).reason
    assert direct(replace(rule, margin="9%"), row).status == "fail"


def test_a_percentage_never_looks_like_the_margin_that_it_is_beyond() -> None:
    rule = Guardrail("latency_ms", margin="10%")
    near = latency(relative=RelativeDelta(0.12, interval(0.1003, 0.14), None))
    status = direct(rule, near)
    assert status.status == "fail"
    assert "at least 10.03 %, beyond the margin 10%" in status.reason


def test_equivalence_is_two_sided() -> None:
    rule = Guardrail("faithfulness", margin=0.05, role="equivalence")
    assert direct(rule, faithfulness(-0.02, 0.04)).status == "pass"
    status = direct(rule, faithfulness(0.06, 0.09))
    assert status.status == "fail"
    assert "the rise is at least 0.060, beyond the margin 0.05." in status.reason
    fallen = direct(rule, faithfulness(-0.094, -0.062))
    assert "the drop is at least 0.062, beyond the margin 0.05." in fallen.reason
    partly = direct(rule, faithfulness(-0.094, -0.042))
    assert "the drop lies between 0.042 and 0.094, partly beyond" in partly.reason
    across = direct(rule, faithfulness(-0.02, 0.06))
    assert "between a rise of 0.060 and a drop of 0.020, partly" in across.reason
    assert "the margin 0.05 on either side" in across.reason


def test_what_it_would_take_to_show_equivalence() -> None:
    plan = Plan(guardrails=[Guardrail("faithfulness", margin=0.05, role="equivalence")])
    row = faithfulness(-0.02, 0.06, standard_error=0.02)  # the upper end decides
    (status,) = decided(plan, row).statuses
    assert status.status == "inconclusive"
    # 80 % for both sides is 90 % for each: 150 ((0.04 + 1.2816 · 0.02)/0.05)² = 258
    assert status.further_questions == pytest.approx(258 - 150, abs=1)


def test_every_primary_must_pass() -> None:
    plan = Plan([Primary("correct"), Primary("faithfulness")])
    assert decided(plan, GOOD, faithfulness(0.01, 0.05)).decision == "ship"
    half = decided(plan, GOOD, faithfulness(-0.01, 0.05))
    assert half.decision == "inconclusive"
    assert decided(plan, GOOD, faithfulness(-0.05, -0.01)).decision == "do not ship"


def test_a_ratio_metric_is_judged_by_its_ratio() -> None:
    row = faithfulness(-0.01, 0.02, statistic="ratio", standard_error=None)
    decision = decided(MARGIN, row, values={})
    (status,) = decision.statuses
    assert status.status == "pass"
    assert status.pvalue_margin is None


def test_a_quantile_is_found_by_its_name() -> None:
    plan = Plan(
        guardrails=[
            Guardrail("latency_ms", margin=80.0),
            Guardrail("latency_ms", margin=80.0, statistic="p95"),
        ]
    )
    tail = latency(statistic="p95", interval=interval(60.0, 200.0))
    first, second = decided(plan, latency(), tail).statuses
    assert (first.status, second.status) == ("pass", "inconclusive")
    assert second.reason.startswith("latency_ms p95: inconclusive")


def test_what_it_would_take_for_a_primary() -> None:
    row = delta(
        delta=0.05,
        standard_error=0.03,
        interval=interval(0.05 - 0.0588, 0.05 + 0.0588),
        bounds=None,
    )
    decision = decided(PRIMARY, row)
    (status,) = decision.statuses
    # (1.96 + 0.8416)² (0.03/0.05)² 150 = 423.8 by the normal approximation
    assert status.further_questions == pytest.approx(424 - 150, abs=1)
    (step,) = decision.next_steps
    assert "about 280 further questions like these" in step
    assert "80 % probability, if the delta is as observed" in step
    assert "approximation" in step


def test_more_data_do_not_help_when_the_estimate_is_on_the_wrong_side() -> None:
    row = delta(delta=-0.01, interval=interval(-0.07, 0.05), bounds=None)
    (step,) = decided(PRIMARY, row).next_steps
    assert step.startswith("correct: more data will not help unless the estimate is")


def test_what_it_would_take_for_a_guardrail_assumes_no_change() -> None:
    row = faithfulness(-0.05, 0.03, standard_error=0.02)
    decision = decided(MARGIN, row)
    (status,) = decision.statuses
    # the end lies 0.04 from the estimate: 150 ((0.04 + 0.8416 · 0.02)/0.02)² = 1211
    assert status.further_questions == pytest.approx(1212 - 150, abs=2)
    assert "if nothing changed on average" in decision.next_steps[0]


def with_parts(
    answers: float, runs: float = 0.0, questions: float = 0.0005
) -> dict[str, Any]:
    arm = ArmTrials(("1", "2", "3"), (0.5, 0.5, 0.5), 0.0)
    parts = Contributions(
        questions, (answers, answers), (runs, runs), N, (3, 3), float(N - 1)
    )
    told = DeltaTrials(parts=parts)
    return {"trials": (MetricTrials("correct", arm, arm, delta=told),)}


def test_trials_are_named_where_they_help() -> None:
    # half of the variance, 0.001, comes from answers that vary between trials
    row = delta(
        delta=0.08,
        standard_error=0.001**0.5,
        interval=interval(0.08 - 0.0806, 0.08 + 0.0806),
        bounds=None,
    )
    step = steps(PRIMARY, row, **with_parts(0.00025))
    assert "further questions like these or" in step
    assert "trials instead of 3 would show it" in step
    nearer = replace(row, delta=0.04, interval=interval(-0.0406, 0.1206))
    assert "; more trials alone would not" in steps(
        PRIMARY, nearer, **with_parts(0.00025)
    )


def test_questions_do_not_help_where_whole_runs_differ() -> None:
    row = delta(
        delta=0.08,
        standard_error=0.03,
        interval=interval(-0.02, 0.18, "two-way"),
        bounds=None,
    )
    decision = decided(PRIMARY, row, **with_parts(0.0001, runs=0.0005))
    (step,) = decision.next_steps
    assert "trials instead of 3 would show it" in step
    assert "; more questions alone would not" in step
    assert decision.statuses[0].further_questions is None
    hopeless = replace(row, delta=0.02, interval=interval(-0.08, 0.12, "two-way"))
    assert "neither more questions nor more trials alone" in steps(
        PRIMARY, hopeless, **with_parts(0.0001, runs=0.0005, questions=0.01)
    )


def test_the_margin_check_stands_beside_a_guardrail() -> None:
    (status,) = decided(MARGIN, faithfulness(-0.026, -0.007)).statuses
    assert 0 < status.pvalue_margin < 1
    assert status.smallest_margin > 0
    assert 0 <= status.pass_probability_unchanged <= 1


def test_each_variant_gets_its_own_decision() -> None:
    two = tuple(ArmSummary(name, (), N, 1, {}) for name in ("a", "b"))
    rows = (replace(GOOD, variant_name="a"), replace(WORSE, variant_name="b"))
    found = made(
        PRIMARY,
        *rows,
        variants=two,
        audits=(audit(settings_changed=()),) * 2,
        values={(name, "correct"): values() for name in ("a", "b")},
        joint=tuple(JointDelta(row, 0.97) for row in rows),
    )
    with pytest.raises(PlanError, match="several variants"):
        decide(found)
    with pytest.raises(PlanError, match='"c" is not a variant'):
        decide(found, variant="c")
    assert [d.decision for d in decide_each(found)] == ["ship", "do not ship"]
    assert decide(found, variant="b", stability=False).variant_name == "b"


def test_another_plan_may_decide_if_it_asks_for_nothing_new() -> None:
    found = made(PRIMARY, GOOD, faithfulness(-0.01, 0.02))
    assert decide(found, MARGIN).decision == "ship"
    with pytest.raises(PlanError, match="other analysis settings"):
        decide(found, Plan("correct", analysis=Analysis(confidence_level=0.9)))
    with pytest.raises(PlanError, match="qtype of the plan were not compared"):
        decide(found, Plan("correct", slices=["qtype"]))


def test_rough_counts_are_rounded_up() -> None:
    assert [about(n) for n in (7, 99, 100, 101, 1234, 12301)] == [
        "7",
        "99",
        "100",
        "110",
        "1300",
        "13,000",
    ]


def steps(plan: Plan, *rows: Delta, **changes: Any) -> str:
    (step,) = decided(plan, *rows, **changes).next_steps
    return step


def test_what_to_do_about_a_limit() -> None:
    plan = Plan(guardrails=[Guardrail("latency_ms", limit=850.0)])
    row = latency(variant_interval=interval(790.0, 880.0), variant=835.0)
    # 150 ((45 + 0.8416 · 45/1.96)/15)² = 2756
    assert "about 2700 further questions" in steps(plan, row)
    assert "if the variant's value is as observed" in steps(plan, row)
    beyond = replace(row, variant=860.0, variant_interval=interval(840.0, 880.0))
    assert "the variant itself is beyond the limit" in steps(plan, beyond)
    endless = replace(row, variant_interval=interval(790.0, np.inf))
    assert steps(plan, endless) == "latency_ms: more questions are needed."


def test_a_variant_that_was_not_measured_is_not_within_its_limit() -> None:
    plan = Plan(guardrails=[Guardrail("latency_ms", limit=850.0)])
    row = latency(variant_interval=None)
    assert decided(plan, row).decision == "inconclusive"


def test_what_to_do_about_too_few_clusters() -> None:
    note = Note("few-clusters", "3 clusters are too few for a status, which needs 6.")
    assert "add clusters: 3 clusters" in steps(PRIMARY, replace(GOOD, notes=(note,)))
    few = Note("too-few-questions", "5 questions are too few.")
    row = replace(GOOD, interval=None, notes=(few,))
    assert "add questions: 5 questions" in steps(PRIMARY, row)


def test_a_point_rule_under_many_missing_scores_asks_for_them() -> None:
    plan = Plan(guardrails=[Guardrail("faithfulness", margin=0.05, rule="estimate")])
    row = faithfulness(-0.02, 0.02, baseline=0.9, variant=0.89, delta=-0.01)
    missing = replace(row, bounds=bounds(-0.2, 0.3, 40, interval(-0.3, 0.4)))
    assert "score the 40 questions that lack a score" in steps(plan, missing)
    assert "the delta could be anything from −0.200 to +0.300" in only(
        decided(plan, missing)
    )
    agreeing = replace(row, bounds=bounds(-0.04, 0.3, 40, interval(-0.3, 0.4)))
    assert decided(plan, agreeing).decision == "ship"


def test_enough_questions_that_were_unlucky() -> None:
    row = faithfulness(-0.021, 0.019, delta=-0.001, standard_error=0.001)
    plan = Plan(guardrails=[Guardrail("faithfulness", margin=0.0209)])
    assert "150 questions show it in four of five runs" in steps(plan, row)


def test_an_interval_without_end_needs_more_questions() -> None:
    row = delta(interval=interval(-np.inf, 0.3), bounds=None)
    assert steps(PRIMARY, row) == "correct: more questions are needed."


def test_a_primary_of_several_may_be_enough() -> None:
    both = [Primary("correct"), Primary("faithfulness")]
    rows = (GOOD, faithfulness(-0.01, 0.05))
    found = made(Plan(both), *rows)
    from onechange.decide.verdict import _decision

    any_will_do = replace_analysis(Plan(both), primaries="any")
    statuses = decide(found).statuses
    assert _decision(any_will_do, statuses, []) == "ship"
    worse = decide(made(Plan(both), GOOD, faithfulness(-0.05, -0.01))).statuses
    assert _decision(any_will_do, worse, []) == "do not ship"


def replace_analysis(plan: Plan, **changes: Any) -> Plan:
    """A plan with settings that it may not accept yet."""
    object.__setattr__(plan, "analysis", replace(plan.analysis, **changes))
    return plan


def test_a_share_of_nothing_has_no_status() -> None:
    rule = Guardrail("latency_ms", margin="10%", rule="estimate")
    row = latency(baseline=0.0, variant=5.0, delta=5.0)
    assert "there is no share of it" in direct(rule, row).reason


def test_no_change_at_all_is_called_that() -> None:
    plan = Plan(guardrails=[Guardrail("faithfulness", margin=0.05, rule="estimate")])
    row = faithfulness(0, 0, baseline=0.9, variant=0.9, delta=0.0)
    assert "this run shows no change (point value)" in only(decided(plan, row))


def test_settings_that_are_true_or_false_are_compared_as_words() -> None:
    plan = Plan("correct", change=Change("cache", False, True))
    recorded = {
        "baseline": ArmSummary("baseline", (), N, 1, {"cache": "false"}),
        "variants": (ArmSummary("variant", (), N, 1, {"cache": True}),),
    }
    assert decided(plan, GOOD, **recorded).decision == "ship"
