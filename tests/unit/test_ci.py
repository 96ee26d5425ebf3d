"""What a CI service gets: summary page, JUnit, the action, and an assertion."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import onechange as oc
from casefiles import folder, run
from onechange.report import render

ROOT = Path(__file__).resolve().parents[2]
WORSE = (folder(29) / "baseline.csv", folder(29) / "variant.csv")


def metric_of(paths: tuple[Path, Path]) -> str:
    return oc.compare(*paths).deltas[0].metric


def arms(gain: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    ids = [f"q{i}" for i in range(40)]
    before = pd.DataFrame({"question_id": ids, "correct": [0, 1, 0, 0] * 10})
    after = pd.DataFrame({"question_id": ids, "correct": [gain, 1, gain, 0] * 10})
    return before, after


def test_decide_appends_its_summary_where_the_service_asks(tmp_path: Path) -> None:
    page = tmp_path / "summary.md"
    page.write_text("# Earlier step\n", encoding="utf-8")
    done = run(
        "decide",
        *WORSE,
        f"--primary={metric_of(WORSE)}",
        GITHUB_STEP_SUMMARY=str(page),
    )
    assert done.returncode == 1
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Earlier step\n## ✘ Do not ship")
    assert "| primary |" in text
    assert "<details>" not in text


def test_an_error_leaves_the_summary_alone(tmp_path: Path) -> None:
    page = tmp_path / "summary.md"
    done = run("decide", *WORSE, GITHUB_STEP_SUMMARY=str(page))
    assert done.returncode == 2
    assert not page.exists()


def test_a_summary_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    page = tmp_path / "absent" / "summary.md"
    done = run(
        "decide",
        *WORSE,
        f"--primary={metric_of(WORSE)}",
        GITHUB_STEP_SUMMARY=str(page),
    )
    assert done.returncode == 2
    assert "GITHUB_STEP_SUMMARY" in done.stderr
    assert "Traceback" not in done.stderr


def test_junit_has_one_case_per_status(tmp_path: Path) -> None:
    metric = metric_of(WORSE)
    target = tmp_path / "junit.xml"
    done = run(
        "decide",
        *WORSE,
        f"--primary={metric}",
        f"--guardrail={metric}:0.000001",
        f"--junit={target}",
        "--quiet",
    )
    assert done.returncode == 1
    assert done.stdout == ""
    suite = ElementTree.parse(target).getroot()
    assert suite.attrib["tests"] == "2"
    cases = suite.findall("testcase")
    assert [case.attrib["name"] for case in cases] == [metric, metric]
    failure = cases[0].find("failure")
    assert failure is not None
    assert "fail" in failure.attrib["message"]


def test_junit_is_not_all_green_when_two_settings_changed() -> None:
    before, after = arms(1)
    plan = oc.Plan("correct", change=oc.Change("top_k"))
    settings = [{"top_k": 3, "model": "a"}, {"top_k": 8, "model": "b"}]
    results = [
        replace(oc.read(frame, name=name), settings=values)
        for frame, name, values in zip(
            (before, after), ("baseline", "variant"), settings, strict=True
        )
    ]
    decision = oc.decide(oc.compare(results[0], results[1], plan))
    assert decision.decision == "inconclusive"
    suite = ElementTree.fromstring(render(decision, "junit"))
    assert (suite.attrib["tests"], suite.attrib["errors"]) == ("2", "1")
    assert "model" in suite.findall("testcase")[1][0].attrib["message"]


def test_assert_ships_returns_the_decision() -> None:
    decision = oc.assert_ships(*arms(1), oc.Plan("correct"))
    assert decision.decision == "ship"


def test_assert_ships_raises_with_the_report() -> None:
    with pytest.raises(AssertionError, match=r"^inconclusive") as caught:
        oc.assert_ships(*arms(0), oc.Plan("correct"))
    assert "correct: inconclusive: " in str(caught.value)
    assert "onechange:" in str(caught.value)


def test_assert_ships_takes_the_file_of_a_plan(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text('[primary]\nmetric = "correct"\n', encoding="utf-8")
    assert oc.assert_ships(*arms(1), path).plan.sha256


def test_assert_ships_keeps_errors_apart_from_failures() -> None:
    with pytest.raises(oc.PlanError):
        oc.assert_ships(*arms(1), oc.Plan("corect"))


def _action_script() -> str:
    """Return the script of the action's last step."""
    lines = (ROOT / "action.yml").read_text(encoding="utf-8").splitlines()
    start = max(i for i, line in enumerate(lines) if line.strip() == "run: |")
    return "\n".join(line[8:] for line in lines[start + 1 :])


@pytest.mark.parametrize(
    ("variant", "inconclusive", "code", "decision"),
    [
        ("better", "fail", 0, "ship"),
        ("same", "fail", 3, "inconclusive"),
        ("same", "pass", 0, "inconclusive"),
        ("absent", "pass", 2, None),
    ],
)
def test_the_action_tells_its_decision(
    tmp_path: Path, variant: str, inconclusive: str, code: int, decision: str | None
) -> None:
    before, better = arms(1)
    _, same = arms(0)
    for name, frame in (("base", before), ("better", better), ("same", same)):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "plan.toml").write_text(
        '[primary]\nmetric = "correct"\n', encoding="utf-8"
    )
    environment = {
        **os.environ,
        "BASELINE": "base.csv",
        "VARIANT": f"{variant}.csv",
        "PLAN": "plan.toml",
        "ARGUMENTS": "--seed\n7\n",
        "REPORT": "report.md",
        "JUNIT": "junit.xml",
        "INCONCLUSIVE": inconclusive,
        "GITHUB_OUTPUT": str(tmp_path / "outputs"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", _action_script()],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, done.stderr
    if decision is None:
        assert not (tmp_path / "outputs").exists()
        assert not (tmp_path / "report.md").exists()
    else:
        outputs = (tmp_path / "outputs").read_text(encoding="utf-8")
        assert outputs == f"decision={decision}\n"
        assert (tmp_path / "junit.xml").exists()
