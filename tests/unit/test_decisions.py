"""Decisions about several variants: one report, one exit code."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pandas as pd
import pytest

import onechange as oc
from casefiles import run
from onechange.decide import Decisions
from onechange.report import FORMATS, render, write_report
from onechange.report.step_summary import render_step_summary

SCHEMA = Path(__file__).parents[2] / "docs" / "schema-1.json"
PLAN = oc.Plan(
    "correct",
    name="two settings",
    guardrails=[oc.Guardrail("correct", margin=0.1, every_slice="kind")],
    slices=["kind"],
)


def _arms() -> dict[str, pd.DataFrame]:
    n = 120
    rng = np.random.default_rng(4)
    base = (rng.random(n) < 0.4).astype(int)
    better = np.where(rng.random(n) < 0.6, 1, base)
    worse = np.where(rng.random(n) < 0.6, 0, base)
    frames = {}
    for name, scores in (("base", base), ("good", better), ("bad", worse)):
        ids = [f"q{i}" for i in range(n)]
        kind = ["a", "b"] * (n // 2)
        frames[name] = pd.DataFrame(
            {"question_id": ids, "kind": kind, "correct": scores}
        )
    return frames


@pytest.fixture(scope="module")
def decisions() -> Decisions:
    frames = _arms()
    variants = {name: frames[name] for name in ("good", "bad")}
    return oc.decide_each(oc.compare(frames["base"], variants, PLAN), PLAN)


def test_every_variant_has_a_decision_and_the_worst_counts(
    decisions: Decisions,
) -> None:
    assert [d.variant_name for d in decisions] == ["good", "bad"]
    assert [d.decision for d in decisions] == ["ship", "do not ship"]
    assert decisions.shipping == ("good",)
    assert (decisions.decision, decisions.exit_code) == ("do not ship", 1)
    assert decisions[:1].exit_code == 0
    assert isinstance(decisions, tuple)
    assert "do not ship" in repr(decisions)
    assert "<table" in decisions._repr_html_()
    with pytest.raises(oc.PlanError, match="no variant"):
        Decisions([])


@pytest.mark.parametrize("format", FORMATS)
def test_one_report_holds_all_decisions(
    decisions: Decisions, format: str, tmp_path: Path
) -> None:
    text = render(decisions, format)
    assert "good" in text
    assert "bad" in text
    target = tmp_path / "report"
    write_report(tuple(decisions), target, format=format)
    assert target.read_text(encoding="utf-8") == text
    # one variant alone is the report of its decision
    assert render(decisions[:1], format) == render(decisions[0], format)


@pytest.mark.parametrize("format", ["text", "markdown", "html"])
def test_the_report_says_how_many_may_ship_and_why(
    decisions: Decisions, format: str
) -> None:
    text = render(decisions, format)
    assert "1 of 2 variants may ship: good" in text
    for decision in decisions:
        for status in decision.statuses:
            told = status.reason.split(":")[1].strip()
            assert told in text


def test_markdown_lays_the_rules_of_every_variant_out(decisions: Decisions) -> None:
    text = render(decisions, "markdown")
    assert text.count("### good: primary and guardrails") == 1
    assert text.count("### bad: primary and guardrails") == 1
    assert text.count("### What was compared") == 1
    summary = render_step_summary(decisions)
    assert "good: primary and guardrails" in summary
    assert "<details>" not in summary


def test_html_has_no_anchor_twice(decisions: Decisions) -> None:
    page = render(decisions, "html")
    ids = [part.split('"')[0] for part in page.split(' id="')[1:]]
    assert len(ids) == len(set(ids))


def test_json_has_a_list_of_decisions_that_fits_the_schema(
    decisions: Decisions,
) -> None:
    content = json.loads(render(decisions, "json"))
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.validate(content, schema, cls=jsonschema.Draft202012Validator)
    assert [part["variant_name"] for part in content["decision"]] == ["good", "bad"]
    assert len(content["audit"]) == 2


def test_junit_has_a_suite_per_variant(decisions: Decisions) -> None:
    root = ElementTree.fromstring(render(decisions, "junit"))
    assert root.tag == "testsuites"
    suites = root.findall("testsuite")
    assert [suite.attrib["name"] for suite in suites] == [
        "two settings (good)",
        "two settings (bad)",
    ]
    counts = [suites[1].attrib[name] for name in ("tests", "failures", "errors")]
    assert counts == ["2", "1", "1"]


def test_a_rule_in_every_slice_is_one_case_whichever_slice_is_worst() -> None:
    frames = _arms()
    names = set()
    for worst in ("a", "b"):
        after = frames["good"].copy()
        after.loc[after.kind == worst, "correct"] = 0
        decision = oc.decide(oc.compare(frames["base"], after, PLAN), PLAN)
        assert decision.statuses[1].slice == (("kind", worst),)
        suite = ElementTree.fromstring(render(decision, "junit"))
        primary, guardrail = suite.findall("testcase")
        names.add((primary.attrib["name"], guardrail.attrib["name"]))
        assert f"correct in {worst}:" in guardrail[0].attrib["message"]
    assert names == {("correct", "correct in every slice of kind")}


def test_two_guardrails_on_one_metric_have_names_of_their_own() -> None:
    frames = _arms()
    plan = oc.Plan(
        guardrails=[
            oc.Guardrail("correct", margin=0.1),
            oc.Guardrail("correct", margin=0.2, rule="estimate"),
            oc.Guardrail("correct", margin=0.1, every_slice="kind"),
        ]
    )
    decision = oc.decide(oc.compare(frames["base"], frames["good"], plan), plan)
    suite = ElementTree.fromstring(render(decision, "junit"))
    cases = [case.attrib["name"] for case in suite.findall("testcase")]
    assert len(set(cases)) == 3


def test_the_command_decides_about_every_variant(tmp_path: Path) -> None:
    for name, frame in _arms().items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    paths = [tmp_path / f"{name}.csv" for name in ("base", "good", "bad")]
    report, data = tmp_path / "r.md", tmp_path / "r.json"
    done = run(
        "decide",
        *paths,
        "--primary=correct",
        f"--markdown={report}",
        f"--json={data}",
        f"--junit={tmp_path / 'r.xml'}",
        f"--pictures={tmp_path / 'pictures'}",
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("1 of 2 variants may ship: good.")
    assert "── good ──" in done.stdout
    assert "1 of 2 variants may ship" in report.read_text(encoding="utf-8")
    decided = json.loads(data.read_text(encoding="utf-8"))["decision"]
    assert [part["decision"] for part in decided] == ["ship", "do not ship"]
    both = run("decide", paths[0], paths[1], paths[1], "--primary=correct")
    assert both.returncode == 2  # the same name twice
    assert run("decide", *paths[:2], "--primary=correct").returncode == 0


def _any_of_two(margin: float) -> oc.Decision:
    """The first of two primaries passes, of which any may; the other is open."""
    rng = np.random.default_rng(2)
    first = rng.uniform(0.2, 0.6, 100)
    base = pd.DataFrame({"question_id": [f"q{i}" for i in range(100)], "first": first})
    base["second"] = rng.uniform(0.2, 0.6, 100)
    other = base.assign(
        first=first + rng.uniform(0.05, 0.15, 100),
        second=base.second + rng.normal(0, 0.05, 100),
    )
    plan = oc.Plan(
        [oc.Primary("first"), oc.Primary("second")],
        guardrails=[oc.Guardrail("second", margin=margin)],
        analysis=oc.Analysis(primaries="any"),
    )
    return oc.decide(oc.compare(base, other, plan))


def test_a_primary_that_need_not_pass_is_skipped_in_junit() -> None:
    decision = _any_of_two(margin=0.2)
    assert decision.decision == "ship"
    suite = ElementTree.fromstring(render(decision, "junit"))
    counts = [suite.get(key) for key in ("tests", "failures", "errors", "skipped")]
    assert counts == ["3", "0", "0", "1"]
    (skipped,) = suite.findall("testcase/skipped")
    assert skipped.get("message").startswith("another primary passes")
    assert "second: inconclusive" in skipped.get("message")


def test_what_withholds_ship_stays_an_error_beside_a_skipped_primary() -> None:
    decision = _any_of_two(margin=0.0001)
    assert decision.decision == "inconclusive"
    suite = ElementTree.fromstring(render(decision, "junit"))
    assert [suite.get(key) for key in ("errors", "skipped")] == ["1", "1"]
    (error,) = suite.findall("testcase[error]")
    assert error.get("classname") == "onechange.guardrail"
