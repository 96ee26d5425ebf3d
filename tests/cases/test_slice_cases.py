"""Cases about several tests, slices and coverage, through the public interface."""

from __future__ import annotations

import re

import pytest

import onechange as oc
from casefiles import codes, compared, delta_of, expected, folder, run

METRICS_25 = [
    "m_recall",
    "m_faithful",
    "m_citation",
    "m_relevance",
    "m_concise",
    "m_style",
]
SIGN_FLIP = {"test": "sign-flip"}


def by_type(**analysis: object) -> oc.Plan:
    return oc.Plan(slices=["question_type"], analysis=oc.Analysis(**analysis))


def test_case_19_the_report_names_both_numbers_and_the_questions() -> None:
    right = expected(19)
    (found,) = compared(19).compositions
    assert found.difference == pytest.approx(right["forbidden_delta"], abs=1e-9)
    assert found.delta == pytest.approx(right["delta"], abs=1e-9)
    assert found.differs
    alone = {question.question_id for question in found.questions}
    assert alone == {*right["only_baseline"], *right["only_variant"]}
    here = folder(19)
    report = run("compare", here / "baseline.csv", here / "variant.csv")
    text = " ".join(report.stdout.split())
    assert "differ by +0.137, those over the same questions by −0.020" in text
    assert "q09" in text
    assert "q10" in text


@pytest.mark.parametrize("adjust", ["holm", "bh"])
def test_case_25_six_metrics_are_one_family(adjust: str) -> None:
    plan = oc.Plan(analysis=oc.Analysis(adjust=adjust, **SIGN_FLIP))
    comparison, right = compared(25, plan), expected(25)
    (family,) = comparison.families
    assert (family.n_tests, family.members) == (6, "6 tests: 6 metrics")
    for metric in METRICS_25:
        delta = delta_of(comparison, metric)
        assert delta.test.pvalue == pytest.approx(right[metric]["raw"], abs=1e-9)
        assert delta.pvalue_adjusted == pytest.approx(right[metric][adjust], abs=1e-9)
        assert delta.test.pvalue <= delta.pvalue_adjusted <= 1


def test_case_25_what_is_significant_depends_on_the_adjustment() -> None:
    shown = {}
    for adjust in ("holm", "bh", "max-t"):
        plan = oc.Plan(analysis=oc.Analysis(adjust=adjust, **SIGN_FLIP))
        shown[adjust] = {
            d.metric for d in compared(25, plan).deltas if d.pvalue_adjusted <= 0.05
        }
    assert shown["holm"] == {"m_recall", "m_faithful"}
    assert shown["bh"] == {"m_recall", "m_faithful", "m_citation", "m_relevance"}
    assert shown["holm"] <= shown["max-t"]


def test_case_25_the_report_shows_raw_and_adjusted_and_names_the_family() -> None:
    here = folder(25)
    report = run(
        "compare",
        here / "baseline.csv",
        here / "variant.csv",
        "--adjust=holm",
        "--test=sign-flip",
    )
    assert re.search(r"m_relevance ↑ .* 0\.0312 +0\.0938 ", report.stdout)
    assert "Holm over 6 tests: 6 metrics" in report.stdout


def test_case_23_the_macro_average_is_given_when_asked_for() -> None:
    plan = oc.Plan(weights={"question_type": "equal"})
    comparison, right = compared(23, plan), expected(23)
    assert delta_of(comparison).delta == pytest.approx(right["delta"], abs=1e-9)
    (found,) = comparison.slices[0].weighted
    assert (found.kind, found.metric) == ("macro", delta_of(comparison).metric)
    assert found.delta == pytest.approx(right["macro_delta"], abs=1e-9)
    assert found.interval.low < found.delta < found.interval.high
    assert compared(23, by_type()).slices[0].weighted == ()


def test_case_24_a_gate_on_a_tiny_slice_never_passes_alone() -> None:
    for choice, status in (("join", "pass"), ("inconclusive", "inconclusive")):
        rule = oc.Guardrail(
            delta_of(compared(24)).metric,
            margin=0.5,
            every_slice="question_type",
            small_slices=choice,
        )
        decision = oc.decide(compared(24, oc.Plan(guardrails=[rule])))
        (found,) = decision.statuses
        assert found.status == status
        assert "adversarial (2)" in found.reason or "adversarial" in found.reason
    tiny = next(
        d
        for d in compared(24, by_type()).slices[0].deltas
        if d.slice[0][1] == "adversarial"
    )
    assert tiny.pvalue_adjusted is None
    assert "small-slice" in codes(tiny.notes)


def test_case_40_the_family_has_the_two_tests_that_exist() -> None:
    plan = oc.Plan(analysis=oc.Analysis(adjust="holm", **SIGN_FLIP))
    comparison, right = compared(40, plan), expected(40)
    (family,) = comparison.families
    assert family.n_tests == 2
    for metric in ("answer_score", "faithfulness"):
        found = delta_of(comparison, metric).pvalue_adjusted
        assert found == pytest.approx(right[metric]["holm"], abs=1e-9)
    assert delta_of(comparison, "context_recall").pvalue_adjusted is None
