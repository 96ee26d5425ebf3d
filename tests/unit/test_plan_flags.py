"""Flags alone, and flags over a plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from onechange.errors import PlanError
from onechange.plan import (
    Analysis,
    Guardrail,
    Metric,
    Plan,
    Primary,
    SliceSpec,
    plan_from_flags,
)
from onechange.plan.metrics import resolve_metrics
from onechange.results import Columns


def test_flags_alone_make_a_plan_without_deviations() -> None:
    plan = plan_from_flags(
        primary="correct:0.01",
        guardrails=["faithfulness:0.03", "latency_ms:150"],
        slices=["qtype,level", "tokens:100,300"],
        metrics=["correct"],
        directions=["refused=lower"],
        ranges=["faithfulness=0,1"],
        settings=["model"],
        columns={"question_id": "id", "trial": None},
        analysis={"confidence_level": 0.9, "seed": None},
    )
    assert plan.primary == (Primary("correct", 0.01),)
    assert plan.guardrails == (
        Guardrail("faithfulness", margin=0.03),
        Guardrail("latency_ms", margin=150),
    )
    assert plan.slices[0] == SliceSpec(("qtype", "level"))
    assert plan.slices[1].cuts == (100.0, 300.0)
    assert {m.name: m.direction for m in plan.metrics}["refused"] == "lower"
    assert plan.columns.question_id == "id"
    assert plan.columns.settings == ("model",)
    assert set(plan.columns.metrics) >= {"correct", "faithfulness", "latency_ms"}
    assert plan.analysis == Analysis(confidence_level=0.9)
    assert plan.deviations == ()


def test_flags_win_over_the_plan_and_are_listed() -> None:
    plan = Plan(
        "correct",
        [Guardrail("faithfulness", margin=0.03, limit=0.5), Guardrail("lag", margin=9)],
        metrics=[Metric("lag", direction="lower")],
        columns=Columns(question_id="id"),
        sha256="00",
    )
    changed = plan_from_flags(
        plan,
        primary="correct:0.02",
        guardrails=["faithfulness:0.05", "cost:1"],
        slices=["qtype"],
        directions=["lag=higher"],
        columns={"question_id": "qid"},
        analysis={"seed": 8, "confidence_level": 0.95},
    )
    assert changed.primary == (Primary("correct", 0.02),)
    assert changed.guardrails == (
        Guardrail("faithfulness", margin=0.05, limit=0.5),
        Guardrail("lag", margin=9),
        Guardrail("cost", margin=1),
    )
    assert changed.sha256 == "00"
    assert changed.deviations == (
        "--primary correct:0.02 (plan: correct)",
        "--guardrail faithfulness:0.05 (plan: margin 0.03)",
        "--guardrail cost:1 (plan: none for cost)",
        "--slice qtype (plan: not among its slices)",
        "--direction lag=higher (plan: lower)",
        "--id qid (plan: id)",
        "--seed 8 (plan: 7)",
    )


def test_a_flag_that_repeats_the_plan_is_no_deviation() -> None:
    plan = Plan("correct", [Guardrail("f", margin=0.03)], ["q"])
    same = plan_from_flags(
        plan,
        primary="correct",
        guardrails=["f:0.03"],
        slices=["q"],
        analysis={"seed": 7},
    )
    assert same == plan


def test_a_metric_of_a_flag_is_not_blamed_on_the_plan_file() -> None:
    plan = Plan("correct", places={("primary", "metric"): "plan.toml:3"})
    with pytest.raises(PlanError) as refused:
        resolve_metrics(plan_from_flags(plan, primary="corect"), ["correct"])
    assert "plan.toml" not in str(refused.value)


def test_a_primary_of_a_flag_replaces_that_of_a_plan_file(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text('[primary]\nmetric = "correct"\n')
    plan = plan_from_flags(Plan.load(file), primary="correct:0.1")
    assert plan.primary == (Primary("correct", 0.1),)
    assert plan.places == {(): "plan.toml"}
    assert plan.deviations == ("--primary correct:0.1 (plan: correct)",)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"guardrails": ["faithfulness"]}, ["--guardrail", "NAME:MARGIN", "0.02"]),
        ({"guardrails": ["f:x"]}, ["--guardrail", '"x"', "number"]),
        ({"guardrails": ["f:-0.1"]}, ["--guardrail", "-0.1", "0 or more"]),
        ({"guardrails": ["f:nan"]}, ["--guardrail", '"nan"']),
        ({"guardrails": ["f:-5%"]}, ["--guardrail", "10%"]),
        ({"guardrails": [":0.1"]}, ["--guardrail"]),
        ({"primary": "correct:x"}, ["--primary", '"x"']),
        ({"primary": "correct:-1"}, ["--primary", "0 or more"]),
        ({"primary": ""}, ["--primary", "empty"]),
        ({"directions": ["refused"]}, ["--direction", "refused=lower"]),
        ({"directions": ["refused=down"]}, ["--direction", "NAME=higher"]),
        ({"ranges": ["f=0"]}, ["--range", "NAME=LOW,HIGH"]),
        ({"ranges": ["f=1,0"]}, ["--range", "[lowest, highest]"]),
        ({"ranges": ["f=0,x"]}, ["--range", '"x"']),
        ({"slices": ["a:x"]}, ["--slice", '"x"']),
        ({"analysis": {"confidence_level": 95}}, ["--confidence-level", "0.95"]),
        ({"analysis": {"interval": "newcomb"}}, ["--interval", '"newcombe"']),
        ({"analysis": {"min_slice": 0}}, ["--min-slice", "1 or more"]),
    ],
)
def test_a_malformed_flag_is_named_with_the_way_out(
    flags: dict, words: list[str]
) -> None:
    with pytest.raises(PlanError) as refused:
        plan_from_flags(**flags)
    for word in words:
        assert word in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_metric_name_may_hold_a_colon() -> None:
    plan = plan_from_flags(guardrails=["hit:5:0.1"])
    assert plan.guardrails == (Guardrail("hit:5", margin=0.1),)
