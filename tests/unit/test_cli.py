"""The command line as a user meets it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import onechange as oc
from casefiles import folder, run

CASE = folder(10)
ARMS = (CASE / "baseline.csv", CASE / "variant.csv")


def test_an_unknown_flag_is_wrong_usage_and_exits_with_2() -> None:
    done = run("compare", *ARMS, "--alpha", "0.05")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "--alpha" in done.stderr


def test_no_command_shows_the_commands() -> None:
    done = run()
    assert done.returncode == 2
    for command in ("audit", "compare", "decide", "demo", "convert"):
        assert command in done.stdout + done.stderr


def test_the_version_is_the_packages() -> None:
    assert run("--version").stdout.strip() == f"onechange {oc.__version__}"


@pytest.mark.parametrize("command", ["audit", "compare", "decide", "convert", "demo"])
def test_every_flag_of_a_command_has_help(command: str) -> None:
    done = run(command, "--help", COLUMNS="200", NO_COLOR="1", TERM="dumb")
    assert done.returncode == 0
    flags = re.findall(
        r"^.\s+(?:\*\s+)?(--[a-z-]+)\s+(.*?)\s*.$", done.stdout, re.MULTILINE
    )
    assert flags
    for flag, rest in flags:
        assert len(rest.split()) >= 2, f"{flag} has no help"


def test_files_are_written_whole_and_stdout_keeps_the_text(tmp_path: Path) -> None:
    names = {form: tmp_path / f"out.{form}" for form in ("markdown", "json", "csv")}
    flags = [word for form, path in names.items() for word in (f"--{form}", path)]
    done = run("compare", *ARMS, *flags)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "out.csv",
        "out.json",
        "out.markdown",
    ]
    assert json.loads(names["json"].read_text())["schema"] == 1
    assert "answer_score" in done.stdout
    assert "answer_score" in names["markdown"].read_text()


def test_a_dash_sends_one_output_to_stdout_alone() -> None:
    done = run("compare", *ARMS, "--json", "-")
    assert json.loads(done.stdout)["deltas"][0]["metric"] == "answer_score"


def test_quiet_prints_nothing(tmp_path: Path) -> None:
    done = run("compare", *ARMS, "--quiet", "--json", tmp_path / "r.json")
    assert (done.stdout, done.stderr) == ("", "")
    assert (tmp_path / "r.json").is_file()


def test_an_error_leaves_an_earlier_report_untouched(tmp_path: Path) -> None:
    report = tmp_path / "report.md"
    report.write_text("earlier")
    done = run("compare", ARMS[0], tmp_path / "absent.csv", "--markdown", report)
    assert done.returncode == 2
    assert report.read_text() == "earlier"
    assert [path.name for path in tmp_path.iterdir()] == ["report.md"]


def test_debug_shows_the_traceback_of_an_error() -> None:
    done = run("--debug", "compare", ARMS[0], "absent.csv")
    assert done.returncode == 2
    assert "Traceback" in done.stderr


def test_audit_exits_with_2_when_nothing_pairs(tmp_path: Path) -> None:
    empty = tmp_path / "unscored.csv"
    empty.write_text("question_id,score\n" + "".join(f"q{i},\n" for i in range(8)))
    scored = tmp_path / "scored.csv"
    scored.write_text(
        "question_id,score\n" + "".join(f"q{i},0.{i}\n" for i in range(8))
    )
    assert run("audit", scored, scored).returncode == 0
    assert run("audit", scored, empty).returncode == 2


def test_audit_of_one_file_lists_what_it_holds() -> None:
    done = run("audit", ARMS[0])
    assert done.returncode == 0
    for word in ("answer_score", "latency_ms", "question_type"):
        assert word in done.stdout
    found = json.loads(run("audit", ARMS[0], "--format=json").stdout)
    system = found["contents"]["systems"][0]
    assert system["n_questions"] == 10
    assert system["metrics"]["latency_ms"] == 10


def test_converted_rows_compare_like_the_original(tmp_path: Path) -> None:
    for arm in ("baseline", "variant"):
        done = run("convert", CASE / f"{arm}.csv", "--out", tmp_path / f"{arm}.jsonl")
        assert done.returncode == 0, done.stderr
        assert done.stdout == ""
    original = json.loads(run("compare", *ARMS, "--format=json").stdout)
    copies = (tmp_path / "baseline.jsonl", tmp_path / "variant.jsonl")
    converted = json.loads(run("compare", *copies, "--format=json").stdout)
    assert converted["deltas"] == original["deltas"]


def test_two_systems_of_one_tidy_file_are_compared_by_name(tmp_path: Path) -> None:
    lines = ["question_id,system,score"]
    lines += [f"q{i},old,0.{i}" for i in range(10)]
    lines += [f"q{i},new,0.{min(i + 1, 9)}" for i in range(10)]
    file = tmp_path / "both.csv"
    file.write_text("\n".join(lines) + "\n")
    names = ("--baseline-name=old", "--variant-name=new")
    done = run("compare", file, *names, "--format=json")
    assert done.returncode == 0, done.stderr
    delta = json.loads(done.stdout)["deltas"][0]
    assert delta["n_pairs"] == 10
    assert delta["delta"] == pytest.approx(0.09)
    refused = run("compare", file)
    assert refused.returncode == 2
    assert "--variant-name" in refused.stderr


def test_the_demo_writes_its_outputs_and_exits_with_0(tmp_path: Path) -> None:
    done = run("demo", "--out", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    assert "Ship" in done.stdout
    written = {path.name for path in (tmp_path / "demo").iterdir()}
    assert {"report.md", "result.json", "deltas.csv", "plan.toml"} <= written
    plan = tmp_path / "demo" / "plan.toml"
    again = run(
        "decide",
        tmp_path / "demo" / "baseline.jsonl",
        tmp_path / "demo" / "variant.jsonl",
        "--plan",
        plan,
    )
    assert again.returncode == 0, again.stderr
    assert again.stdout in done.stdout


def test_the_default_text_of_decide_fits_one_screen(tmp_path: Path) -> None:
    text = run("demo", "--out", tmp_path / "demo").stdout
    lines = text.split("\nIn ")[0].strip().splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100 or lines[-1].startswith("unit:")
