"""Inputs that broke other gates: the right decision through the public interface."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import onechange as oc
from casefiles import codes, compared, delta_of, expected, folder, run, slices_of

LOWER = [
    oc.Metric("latency_ms", direction="lower"),
    oc.Metric("hallucination_rate", direction="lower"),
]


@pytest.mark.parametrize("metric", ["answer_score", "latency_ms", "hallucination_rate"])
def test_case_10_deltas_are_variant_minus_baseline(metric: str) -> None:
    delta = delta_of(compared(10, oc.Plan(metrics=LOWER)), metric)
    right = expected(10)[metric]
    assert delta.delta == pytest.approx(right["delta"], abs=1e-9)
    assert delta.test.pvalue == pytest.approx(right["p"], abs=1e-9)
    better = delta.wins > delta.losses
    assert better == (right["word"] == "better")


def test_case_10_a_guardrail_fails_in_spite_of_two_improvements() -> None:
    plan = oc.Plan(
        primary="answer_score",
        guardrails=[
            oc.Guardrail("hallucination_rate", margin=0.02),
            oc.Guardrail("latency_ms", margin=10),
        ],
        metrics=LOWER,
    )
    decision = oc.decide(compared(10, plan))
    found = {row.metric: row.status for row in decision.statuses}
    assert found == {
        "answer_score": "pass",
        "latency_ms": "pass",
        "hallucination_rate": "fail",
    }
    assert decision.decision == "do not ship"
    assert "hallucination_rate: fail: the rise is at least" in decision.reason
    assert "margin 0.02" in decision.reason


def test_case_10_swapped_files_swap_signs_and_statuses() -> None:
    plan = oc.Plan(primary="answer_score", metrics=LOWER)
    forward = compared(10, plan)
    backward = compared(10, plan, baseline="variant.csv", variant="baseline.csv")
    for one, other in zip(forward.deltas, backward.deltas, strict=True):
        assert one.delta == pytest.approx(-other.delta, abs=1e-12)
        assert one.test.pvalue == other.test.pvalue
        assert (one.wins, one.losses) == (other.losses, other.wins)
    assert oc.decide(forward).decision == "ship"
    assert oc.decide(backward).decision == "do not ship"


def test_case_24_a_tiny_slice_has_numbers_but_no_interval() -> None:
    comparison = compared(24, oc.Plan(slices=["question_type"]))
    right = expected(24)["slices"]
    for label, delta in slices_of(comparison).items():
        assert delta.n_pairs == right[label]["n"]
        assert delta.delta == pytest.approx(right[label]["delta"], abs=1e-9)
        assert delta.test.pvalue == pytest.approx(right[label]["p"], abs=1e-9)
    tiny = slices_of(comparison)["adversarial"]
    assert tiny.interval is None
    assert {"too-few-questions", "small-slice"} <= codes(tiny.notes)


def test_case_24_the_minimum_slice_size_can_be_set() -> None:
    plan = oc.Plan(slices=["question_type"], analysis=oc.Analysis(min_slice=20))
    assert "small-slice" in codes(slices_of(compared(24, plan))["lookup"].notes)


GUARDED = oc.Plan(
    guardrails=[
        oc.Guardrail("answer_score", margin=0.02),
        oc.Guardrail("faithfulness", margin=0.02),
    ]
)


def test_case_26_a_guardrail_that_was_not_measured_does_not_pass() -> None:
    comparison, right = compared(26, GUARDED), expected(26)
    decision = oc.decide(comparison)
    found = {row.metric: row for row in decision.statuses}
    assert found["faithfulness"].status == right["faithfulness"]["status"]
    assert right["faithfulness"]["reason_contains"] in found["faithfulness"].reason
    assert "0 of 7" in found["faithfulness"].reason
    assert found["faithfulness"].delta is None
    assert decision.decision == "inconclusive"
    delta = delta_of(comparison, "answer_score")
    assert delta.delta == pytest.approx(right["answer_score"]["delta"], abs=1e-9)
    assert delta.test.pvalue == right["answer_score"]["p_signflip"]
    assert found["answer_score"].status == "pass"


def test_case_26_the_exit_code_of_not_measured_is_inconclusive() -> None:
    here = folder(26)
    words = (here / "baseline.csv", here / "variant.csv", "--guardrail")
    done = run("decide", *words, "faithfulness:0.02")
    assert done.returncode == 3, done.stderr
    assert "not measured" in done.stdout
    assert "beyond" not in done.stdout


def test_case_26_a_file_without_rows_is_an_error() -> None:
    here = folder(26)
    done = run(
        "decide",
        here / "baseline.csv",
        here / "empty.csv",
        "--guardrail=answer_score:1",
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "empty.csv" in done.stderr


@pytest.mark.parametrize("margin", ["nan", "inf", "-0.02"])
def test_case_26_a_margin_that_is_no_margin_is_refused(
    margin: str, tmp_path: Path
) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(
        f'[[guardrail]]\nmetric = "answer_score"\nmargin = {margin}\n', encoding="utf-8"
    )
    with pytest.raises(oc.PlanError, match=rf"plan\.toml:3: .*{margin}"):
        oc.Plan.load(path)
    with pytest.raises(oc.PlanError, match=margin):
        oc.Guardrail("answer_score", margin=float(margin))


def test_case_26_a_margin_that_is_no_margin_stops_the_command() -> None:
    here = folder(26)
    arms = (here / "baseline.csv", here / "variant.csv")
    done = run("decide", *arms, "--guardrail=answer_score:nan")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "nan" in done.stderr


@pytest.mark.parametrize("kind", ["pass", "judge"])
def test_case_27_a_drop_of_exactly_the_margin(kind: str) -> None:
    right = expected(27)[kind]
    files = {"baseline": f"baseline_{kind}.csv", "variant": f"variant_{kind}.csv"}
    sign_flip = oc.Plan(analysis=oc.Analysis(test="sign-flip"))
    delta = delta_of(compared(27, sign_flip, **files))
    assert delta.delta == pytest.approx(right["delta"], abs=1e-12)
    assert delta.test.pvalue == 1
    statuses = {}
    for rule in ("interval", "estimate"):
        guardrail = oc.Guardrail(delta.metric, margin=right["margin"], rule=rule)
        decision = oc.decide(compared(27, oc.Plan(guardrails=[guardrail]), **files))
        (statuses[rule],) = decision.statuses
    assert statuses["estimate"].status == "pass"
    assert "point value" in statuses["estimate"].reason
    assert statuses["interval"].status == "inconclusive"
    assert "is inside" in statuses["interval"].reason


def test_case_28_an_underpowered_guardrail_is_inconclusive() -> None:
    right = expected(28)
    found = compared(28)
    metric = delta_of(found).metric
    plan = oc.Plan(guardrails=[oc.Guardrail(metric, margin=0.02)])
    comparison = compared(28, plan)
    delta = delta_of(comparison)
    assert delta.delta == pytest.approx(right["delta"], abs=1e-9)
    assert delta.test.pvalue == pytest.approx(right["p_signflip"], abs=1e-9)
    decision = oc.decide(comparison)
    assert decision.decision == "inconclusive"
    (status,) = decision.statuses
    assert status.status == right["guardrail"]
    assert "margin 0.02" in status.reason
    (step,) = decision.next_steps
    # the drop seen, 0.03, is itself beyond the margin
    assert "more data will not help unless the estimate is wrong" in step


def test_case_28_by_the_oracles_own_interval() -> None:
    metric = delta_of(compared(28)).metric
    plan = oc.Plan(
        guardrails=[oc.Guardrail(metric, margin=0.02)],
        analysis=oc.Analysis(interval="t"),
    )
    (status,) = oc.decide(compared(28, plan)).statuses
    assert [status.delta.interval.low, status.delta.interval.high] == pytest.approx(
        expected(28)["t_ci95"], abs=1e-9
    )
    assert status.status == "inconclusive"


def test_case_29_exit_codes_tell_regression_from_error(tmp_path: Path) -> None:
    here, report = folder(29), tmp_path / "report.md"
    metric = delta_of(compared(29)).metric
    rule = f"--primary={metric}"
    worse = run(
        "decide",
        here / "baseline.csv",
        here / "variant.csv",
        rule,
        f"--markdown={report}",
    )
    assert worse.returncode == 1
    assert "Do not ship" in report.read_text(encoding="utf-8")
    better = run("decide", here / "variant.csv", here / "baseline.csv", rule)
    assert better.returncode == 0
    broken = run("decide", here / "baseline.csv", here / "no_such_file.csv", rule)
    assert broken.returncode == 2
    assert broken.stdout == ""
    assert "no_such_file.csv" in broken.stderr
    assert "Traceback" not in broken.stderr


def test_case_29_the_json_decision_holds_the_right_values() -> None:
    here, right = folder(29), expected(29)
    metric = delta_of(compared(29)).metric
    done = run(
        "decide",
        here / "baseline.csv",
        here / "variant.csv",
        f"--primary={metric}",
        "--format=json",
    )
    found = json.loads(done.stdout)
    assert found["decision"]["decision"] == "do not ship"
    (status,) = found["decision"]["statuses"]
    assert (status["role"], status["status"]) == ("primary", "fail")
    assert found["deltas"][0]["delta"] == pytest.approx(right["delta"], abs=1e-9)
    assert found["deltas"][0]["test"]["pvalue"] == pytest.approx(
        right["p_signflip"], abs=1e-9
    )


def test_case_37_different_scales_give_no_ship_verdict() -> None:
    plan = oc.Plan(
        primary="faithfulness", guardrails=[oc.Guardrail("faithfulness", margin=0.02)]
    )
    comparison = compared(37, plan)
    assert "scale-mismatch" in codes(comparison.audits[0].notes)
    decision = oc.decide(comparison)
    assert decision.decision == "inconclusive"
    for status in decision.statuses:
        assert status.status == "inconclusive"
        assert "rescale" in status.reason
        assert "declare" in status.reason


def test_case_37_a_declared_range_makes_it_an_error() -> None:
    plan = oc.Plan(metrics=[oc.Metric("faithfulness", range=(0, 1))])
    with pytest.raises(oc.InputError, match=r"variant\.csv.*faithfulness.*82"):
        compared(37, plan)


RELATIVE = oc.Plan(
    guardrails=[
        oc.Guardrail("citation_precision", margin="10%"),
        oc.Guardrail("retry_count", margin="10%"),
    ],
    metrics=[oc.Metric("retry_count", direction="lower")],
)


def test_case_05_a_relative_delta_of_a_zero_baseline_is_undefined() -> None:
    comparison, right = compared(5, RELATIVE), expected(5)
    for metric in ("citation_precision", "retry_count"):
        relative = delta_of(comparison, metric).relative
        assert relative is not None
        if right[metric]["relative"] is None:
            assert relative.delta is None
            assert "0" in (relative.reason or "")
        else:
            assert relative.delta == pytest.approx(right[metric]["relative"], abs=1e-9)


def test_case_05_a_relative_guardrail_of_a_zero_baseline_does_not_pass() -> None:
    decision = oc.decide(compared(5, RELATIVE))
    found = {row.metric: row for row in decision.statuses}
    assert found["citation_precision"].status == "inconclusive"
    assert "no relative delta" in found["citation_precision"].reason
    assert found["citation_precision"].pvalue_margin is None
    assert found["retry_count"].status != "fail"
    assert decision.decision == "inconclusive"
    here = folder(5)
    done = run(
        "decide",
        here / "baseline.csv",
        here / "variant.csv",
        "--guardrail=citation_precision:10%",
    )
    assert done.returncode == 3, done.stderr
    for wrong in ("inf", "nan", "100 %"):
        assert wrong not in done.stdout.split("Compared")[0]


def test_case_39_power_goes_by_the_paired_effect_size() -> None:
    right = expected(39)
    delta = delta_of(compared(39))
    assert delta.effect_size["cohen_dz"] == pytest.approx(right["dz"], abs=1e-4)
    sd = delta.delta / right["dz"]
    planned = oc.power(
        None, metric=delta.metric, delta=delta.delta, sd=sd, questions=[8]
    )
    assert planned.closed_form is not None
    assert planned.closed_form.power == pytest.approx(right["power_dz"], abs=1e-4)
    assert planned.closed_form.power != pytest.approx(
        right["forbidden_power"], abs=1e-3
    )
