"""The plan in Python: normalised, checked, completed from the data."""

from __future__ import annotations

import math
from typing import Any

import pytest

from onechange.errors import PlanError
from onechange.plan import (
    NOT_BUILT,
    Analysis,
    Change,
    Guardrail,
    Metric,
    Plan,
    Primary,
    SliceSpec,
    parse_slice,
    relative_margin,
    resolve_metrics,
)
from onechange.plan.directions import infer_direction
from onechange.results import Columns


def test_simple_forms_are_normalised() -> None:
    plan = Plan("correct", [Guardrail("faithfulness", margin=0.02)], ["qtype"])
    assert plan.primary == (Primary("correct"),)
    assert plan.slices == (SliceSpec(("qtype",)),)
    assert Plan(Primary("correct", 0.01)).primary == (Primary("correct", 0.01),)
    assert Plan().primary == ()
    assert not Plan().has_rules


def test_slices_take_every_form_and_stand_once() -> None:
    plan = Plan(slices=["a", ["a", "b"], "a,b", "n:1,2", SliceSpec(("c",)), "a"])
    assert plan.slices == (
        SliceSpec(("a",)),
        SliceSpec(("a", "b")),
        SliceSpec(("n",), (1.0, 2.0)),
        SliceSpec(("c",)),
    )
    assert plan.columns.slices == ("a", "b", "c")  # cut points need a number


def test_a_column_with_a_comma_is_named_in_a_list() -> None:
    assert Plan(slices=[["a,b"]]).slices == (SliceSpec(("a,b",)),)


def test_columns_are_completed_by_the_metrics() -> None:
    plan = Plan(
        primary="hit",
        guardrails=[Guardrail("failed", limit=0.02), Guardrail("lag", margin=1)],
        metrics=[Metric("hit", column="hit@5", range=(0, 1))],
        columns=Columns(metrics=("cost",)),
    )
    assert plan.columns.metrics == ("cost", "hit", "lag")
    assert plan.columns.metric_columns == {"hit": "hit@5"}
    assert plan.columns.ranges == {"hit": (0.0, 1.0)}
    assert Plan("hit").columns.metrics == ()  # every column


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Guardrail("f", margin=-0.01), ["margin", '"f"', "-0.01", "0 or more"]),
        (lambda: Guardrail("f", margin=math.nan), ["margin", "nan"]),
        (lambda: Guardrail("f", margin=math.inf), ["margin", "inf"]),
        (lambda: Guardrail("f", margin=True), ["margin", "True"]),
        (lambda: Guardrail("f", margin="10"), ["margin", '"10"', '"10%"']),
        (lambda: Guardrail("f", margin="-1%"), ["margin", '"-1%"']),
        (lambda: Guardrail("f", limit=math.inf), ["limit", "inf"]),
        (lambda: Guardrail("f"), ['"f"', "margin, a limit or both"]),
        (lambda: Guardrail("f", margin=1, statistic="maen"), ["maen", '"mean"']),
        (lambda: Guardrail("f", margin=1, rule="estimat"), ['"estimate"']),
        (lambda: Guardrail("f", limit=1, role="equivalence"), ["needs a margin"]),
        (lambda: Guardrail("failed", limit=0, statistic="p95"), ["rate"]),
        (lambda: Guardrail("f", margin=1, small_slices="join"), ["every_slice"]),
        (lambda: Primary("c", -0.1), ["min_improvement", "-0.1"]),
        (lambda: Primary(""), ["metric", "empty"]),
        (lambda: Metric("m", direction="up"), ["direction", '"up"', "higher"]),
        (lambda: Metric("m", range=(1, 0)), ["range", "[1, 0]"]),
        (lambda: Metric("m", range=(0, math.nan)), ["range", "nan"]),
        (lambda: Metric("m", tie=-1), ["tie", "-1"]),
        (lambda: Metric("m", unscored="worst"), ["range"]),
        (lambda: Metric("m", unscored="zero", range=(1, 5)), ["starts at 0"]),
        (lambda: Metric("m", numerator="a"), ["denominator"]),
        (lambda: Analysis(confidence_level=95), ["95", "0.95"]),
        (lambda: Analysis(interval="newcomb"), ['"newcombe"']),
        (lambda: Analysis(test="wilcoxn"), ['"wilcoxon"']),
        (lambda: Analysis(adjust="bonferroni"), ["holm"]),
        (lambda: Analysis(seed=-1), ["seed", "-1"]),
        (lambda: Analysis(n_resamples=0), ["n_resamples", "0"]),
        (lambda: Analysis(min_slice=0), ["min_slice", "0"]),
        (lambda: SliceSpec(()), ["column"]),
        (lambda: SliceSpec(("a", "a")), ["itself"]),
        (lambda: SliceSpec(("a",), (2, 1)), ["rising", "2, 1"]),
        (lambda: SliceSpec(("a", "b"), (1,)), ["one column"]),
        (lambda: parse_slice("tokens:100,many"), ["many", "COLUMN:CUT"]),
        (lambda: parse_slice("a,,b"), ["no column"]),
        (lambda: Change(""), ["setting"]),
        (lambda: Plan(stage="relase"), ["stage", '"release"']),
        (lambda: Plan(metrics=[Metric("a"), Metric("a")]), ['"a"', "twice"]),
        (
            lambda: Plan(
                guardrails=[Guardrail("a", margin=1), Guardrail("a", limit=2)]
            ),
            ["twice", "its margin and its limit"],
        ),
    ],
)
def test_what_is_not_valid_is_refused_with_the_way_out(
    build: Any, words: list[str]
) -> None:
    with pytest.raises(PlanError) as refused:
        build()
    for word in words:
        assert word in str(refused.value)


USES: dict[str, dict[str, Any]] = {
    "data.cluster": {"columns": Columns(cluster="doc")},
    "data.weights": {"weights": {"qtype": {"easy": 1.0}}},
    "data.trials_paired": {"analysis": Analysis(trials_paired=True)},
    "metric.threshold": {"metrics": [Metric("m", threshold=0.5)]},
    "metric.numerator": {"metrics": [Metric("m", numerator="a", denominator="b")]},
    "guardrail.statistic": {"guardrails": [Guardrail("m", margin=1, statistic="p95")]},
    "guardrail.margin": {"guardrails": [Guardrail("m", margin="10%")]},
    "guardrail.role": {"guardrails": [Guardrail("m", margin=1, role="equivalence")]},
    "guardrail.every_slice": {
        "guardrails": [Guardrail("m", margin=1, every_slice="q")]
    },
    "analysis.primaries": {"analysis": Analysis(primaries="any")},
}


@pytest.mark.parametrize("feature", sorted(NOT_BUILT))
def test_a_key_that_is_not_built_is_never_accepted_and_ignored(feature: str) -> None:
    with pytest.raises(PlanError) as refused:
        Plan(**USES[feature])
    assert NOT_BUILT[feature] in str(refused.value)
    assert "not built yet" in NOT_BUILT[feature] or "is built yet" in NOT_BUILT[feature]


@pytest.mark.parametrize("feature", sorted(set(USES) - set(NOT_BUILT)))
def test_a_key_that_is_built_is_accepted(feature: str) -> None:
    Plan(**USES[feature])


@pytest.mark.parametrize("mix", [{"a": -1.0}, {"a": 0.0}, {"a": math.nan}])
def test_weights_are_shares(mix: dict[str, float]) -> None:
    with pytest.raises(PlanError, match="0 or more"):
        Plan(weights={"qtype": mix})


def test_relative_margins() -> None:
    assert relative_margin("10%") == pytest.approx(0.1)
    assert relative_margin(" 2.5 % ") == pytest.approx(0.025)


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("latency_ms", "lower"),
        ("input_tokens", "lower"),
        ("outputTokens", "lower"),
        ("cost_usd", "lower"),
        ("hallucination_rate", "lower"),
        ("error", "lower"),
        ("toxicity", "lower"),
        ("tokens_per_second", "higher"),
        ("error_free", "higher"),
        ("faithfulness", "higher"),
        ("correct", "higher"),
        ("terror", "higher"),  # words, not parts of words
        ("refused", "higher"),  # right for some questions: it must be declared
        ("metacost", "higher"),
    ],
)
def test_directions_come_from_whole_words_of_well_known_names(
    name: str, direction: str
) -> None:
    assert infer_direction(name) == direction


def test_declared_directions_win_and_assumed_ones_are_noted() -> None:
    plan = Plan(metrics=[Metric("refused", direction="lower", range=(0, 1))])
    metrics, notes = resolve_metrics(plan, ["correct", "refused", "latency_ms"])
    assert [m.name for m in metrics] == ["correct", "refused", "latency_ms"]
    assert [m.direction for m in metrics] == ["higher", "lower", "lower"]
    assert metrics[1].range == (0.0, 1.0)
    (note,) = notes
    assert note.code == "direction-assumed"
    assert "correct" in note.text
    assert "latency_ms" in note.text
    assert "refused" not in note.text


def test_nothing_is_noted_when_all_is_declared() -> None:
    plan = Plan(metrics=[Metric("a", direction="higher")])
    assert resolve_metrics(plan, ["a"])[1] == ()


@pytest.mark.parametrize(
    "plan",
    [
        Plan("corect"),
        Plan(guardrails=[Guardrail("corect", margin=0.1)]),
        Plan(metrics=[Metric("corect")]),
    ],
)
def test_a_misspelt_metric_is_named_with_the_nearest_one(plan: Plan) -> None:
    with pytest.raises(PlanError, match=r'"corect".*did you mean "correct"') as refused:
        resolve_metrics(plan, ["correct", "faithfulness"])
    assert "faithfulness" in str(refused.value)


def test_built_in_rates_need_no_column() -> None:
    plan = Plan(guardrails=[Guardrail("failed", limit=0.02)])
    metrics, _ = resolve_metrics(plan, ["correct"])
    assert [m.name for m in metrics] == ["correct"]


def test_a_column_named_like_a_built_in_rate_is_ambiguous() -> None:
    plan = Plan(guardrails=[Guardrail("failed", limit=0.02)])
    with pytest.raises(PlanError, match='"failed" is a column of the data'):
        resolve_metrics(plan, ["failed"])


def test_the_unscored_policy_of_the_analysis_needs_a_range_everywhere() -> None:
    plan = Plan(
        metrics=[Metric("a", direction="higher", range=(0, 1))],
        analysis=Analysis(unscored="worst"),
    )
    metrics, _ = resolve_metrics(plan, ["a"])
    assert metrics[0].unscored == "worst"
    with pytest.raises(PlanError, match='"b" needs a declared range'):
        resolve_metrics(plan, ["a", "b"])


def test_several_primaries_stand_side_by_side() -> None:
    plan = Plan([Primary("a"), Primary("b", 0.1)])
    assert [primary.metric for primary in plan.primary] == ["a", "b"]
    with pytest.raises(PlanError, match='"a" is declared twice'):
        Plan([Primary("a"), Primary("a", 0.1)])
