"""The command line as a user meets it."""

from __future__ import annotations

import json
import os
import re
import subprocess
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


def test_outputs_make_their_folders_as_pictures_do(tmp_path: Path) -> None:
    new = tmp_path / "a" / "b"
    done = run("compare", *ARMS, "--markdown", new / "r.md", "--json", new / "r.json")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in new.iterdir()) == ["r.json", "r.md"]


def test_a_refused_call_takes_the_folders_it_made_away_again(tmp_path: Path) -> None:
    words = ("--markdown", tmp_path / "a" / "b" / "r.md", "--pictures", tmp_path / "p")
    done = run("compare", *ARMS, *words, "--slice", "absent")
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_an_output_may_not_replace_an_input_or_another_output(tmp_path: Path) -> None:
    for arm in ARMS:
        (tmp_path / arm.name).write_bytes(arm.read_bytes())
    before = (tmp_path / "variant.csv").read_bytes()
    words = ("compare", "baseline.csv", "variant.csv")
    for flags in (
        ("--markdown", "variant.csv"),
        ("--json", "./baseline.csv"),
        ("--json", "same.out", "--markdown", "same.out"),
    ):
        done = run(*words, *flags, cwd=tmp_path)
        assert done.returncode == 2, flags
        assert "name another" in done.stderr
    done = run("convert", "variant.csv", "--out", "variant.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert (tmp_path / "variant.csv").read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["baseline.csv", "variant.csv"]


def test_a_link_is_followed_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    real, link, pipe = (tmp_path / name for name in ("real.json", "link.json", "pipe"))
    real.write_text("earlier")
    link.symlink_to(real)
    assert run("compare", *ARMS, "--quiet", "--json", link).returncode == 0
    assert link.is_symlink()
    assert json.loads(real.read_text())["schema"] == 1
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
    assert run("compare", *ARMS, "--quiet", "--json", pipe).returncode == 0
    assert json.loads(reader.communicate(timeout=30)[0])["schema"] == 1
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--metric=nope",), '"nope" is not a metric'),
        (("--metric=answer_score", "--metric=latency"), '"latency" is not a metric'),
        (("--metric=question_type",), "question_type"),
    ],
)
def test_a_metric_that_is_not_there_is_refused(flags: tuple, told: str) -> None:
    done = run("compare", *ARMS, *flags)
    assert done.returncode == 2
    assert told in done.stderr


def test_a_primary_that_holds_text_says_so(tmp_path: Path) -> None:
    for arm in ("b", "v"):
        rows = "".join(f"q{i},{'yes' if i % 2 else 'no'},0.{i}\n" for i in range(9))
        (tmp_path / f"{arm}.csv").write_text("question_id,ok,score\n" + rows)
    done = run("decide", "b.csv", "v.csv", "--primary=ok", cwd=tmp_path)
    assert done.returncode == 2
    assert "holds text" in done.stderr


def test_arms_without_any_metric_are_refused(tmp_path: Path) -> None:
    rows = "".join(f"q{i},{'yes' if i % 2 else 'no'}\n" for i in range(9))
    (tmp_path / "b.csv").write_text("question_id,ok\n" + rows)
    done = run("compare", "b.csv", "b.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "no metric in the data" in done.stderr


@pytest.mark.parametrize(
    "flags",
    [
        ("--guardrail=answer_score:0.1", "--guardrail=answer_score:0.2"),
        ("--primary=answer_score", "--primary=latency_ms"),
    ],
)
def test_a_rule_given_twice_is_refused(flags: tuple) -> None:
    done = run("decide", *ARMS, *flags)
    assert done.returncode == 2
    assert "given" in done.stderr


def test_variants_of_the_same_file_name_are_told_apart(tmp_path: Path) -> None:
    for folder_name in ("r1", "r2", "r3"):
        (tmp_path / folder_name).mkdir()
        (tmp_path / folder_name / "results.csv").write_bytes(ARMS[1].read_bytes())
    files = [f"r{i}/results.csv" for i in (1, 2, 3)]
    done = run("compare", *files, "--format=json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    names = [v["name"] for v in json.loads(done.stdout)["inputs"]["variants"]]
    assert names == ["r2/results", "r3/results"]


def test_labels_that_differ_between_the_arms_are_noted(tmp_path: Path) -> None:
    rows = [f"q{i},{'ab'[i % 2]},0.{i}" for i in range(9)]
    (tmp_path / "b.csv").write_text("question_id,kind,score\n" + "\n".join(rows) + "\n")
    rows[3] = rows[3].replace(",b,", ",a,")
    (tmp_path / "v.csv").write_text("question_id,kind,score\n" + "\n".join(rows) + "\n")
    done = run(
        "compare", "b.csv", "v.csv", "--slice=kind", "--format=json", cwd=tmp_path
    )
    notes = json.loads(done.stdout)["audit"]["notes"]
    assert "q3" in next(n["text"] for n in notes if n["code"] == "labels-differ")


def test_scores_too_large_to_sum_are_refused(tmp_path: Path) -> None:
    rows = "".join(f"q{i},{i + 1}e300\n" for i in range(9))
    (tmp_path / "b.csv").write_text("question_id,score\n" + rows)
    done = run("compare", "b.csv", "b.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "score" in done.stderr
    assert "defect" not in done.stderr


@pytest.mark.parametrize("source", [None, 3, [{"question_id": "q1"}]])
def test_what_is_no_source_is_refused_from_python(source: object) -> None:
    with pytest.raises(oc.InputError, match="not a source of results"):
        oc.read(source)


def test_a_plan_without_rules_says_that_it_has_none(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text('[experiment]\nname = "nothing"\n')
    done = run("decide", *ARMS, "--plan", "plan.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "plan.toml: nothing in the plan says what to decide" in done.stderr


def test_the_columns_of_the_terminal_are_honoured_between_60_and_100(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from onechange.cli.output import terminal_columns

    for told, used in (("40", 60), ("72", 72), ("250", 100)):
        monkeypatch.setenv("COLUMNS", told)
        assert terminal_columns() == used
    monkeypatch.delenv("COLUMNS")
    assert terminal_columns() == 100  # not a terminal
