"""Scoring traces and auditing question sets from the command line."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook

import onechange as oc
from casefiles import run
from onechange.report.scores import render_scores
from onechange.score import holds_traces, score

EXAMPLE = Path(oc.__file__).parent / "examples" / "rag_top_k"
OPTIONS = """
[score]
k = 5
[trace.fields]
question_id = "financebench_id"
reference = "expected"
[trace.items]
document = "doc_name"
page = "page_num"
"""
FINANCEBENCH: dict[str, Any] = {
    "financebench_id": "financebench_id_03029",
    "question_type": "metrics-generated",
    "question": "What is the FY2018 capital expenditure amount for 3M?",
    "expected": "$1577.00",
    "evidence": [{"doc_name": "3M_2018_10K", "page_num": 60}],
    "retrieved": [
        {"id": "c7", "doc_name": "3M_2018_10K", "page_num": 59},
        {"id": "c9", "doc_name": "3M_2018_10K", "page_num": 60},
    ],
    "selected": [{"id": "c9", "doc_name": "3M_2018_10K", "page_num": 60}],
    "answer": "Capital expenditure was $1,577 in FY2018.",
    "request": {"model": "heron", "messages": 2},
    "claims": [
        {
            "text": "Capital expenditure was $1,577.",
            "label": "supported",
            "cited": [{"doc_name": "3M_2018_10K", "page_num": 60}],
            "supporting": [{"doc_name": "3M_2018_10K", "page_num": 60}],
        }
    ],
    "status": "answered",
    "correct": 1,
    "tokens": {"input": 1200, "output": 35},
    "latency": {"total_ms": 812.5},
}


def _write(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def filing(tmp_path: Path) -> tuple[Path, Path]:
    options = tmp_path / "score.toml"
    options.write_text(OPTIONS)
    return _write(tmp_path / "filing.jsonl", FINANCEBENCH), options


def test_score_writes_rows_and_prints_one_line_a_score(tmp_path: Path) -> None:
    out = tmp_path / "scores.jsonl"
    done = run("score", EXAMPLE / "baseline.traces.jsonl", "--out", out, "-k", "1,5")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 600
    assert {"hit_at_1", "hit_at_5", "faithfulness", "failure_category"} <= set(rows[0])
    assert "hit_at_1" in done.stdout
    assert "no answer was given: 103 rows of" in done.stdout
    assert "600 rows" in done.stderr


def test_the_settings_of_the_arm_travel_from_traces_to_scores(tmp_path: Path) -> None:
    out = tmp_path / "scores.jsonl"
    assert run("score", EXAMPLE / "variant.traces.jsonl", "--out", out).returncode == 0
    written = json.loads((tmp_path / "scores.settings.json").read_text())
    recorded = tomllib.loads((EXAMPLE / "variant.settings.toml").read_text())
    assert {name: written[name] for name in recorded} == recorded
    assert written["score"]["k"] == [5]


def test_scores_of_the_bundled_traces_decide_like_the_bundled_rows(
    tmp_path: Path,
) -> None:
    for arm in ("baseline", "variant"):
        out = tmp_path / f"{arm}.jsonl"
        assert (
            run("score", EXAMPLE / f"{arm}.traces.jsonl", "--out", out).returncode == 0
        )
    plan = EXAMPLE / "plan.toml"
    scored = run(
        "decide",
        tmp_path / "baseline.jsonl",
        tmp_path / "variant.jsonl",
        *("--plan", plan, "--json", "-"),
    )
    bundled = run(
        "decide",
        EXAMPLE / "baseline.jsonl",
        EXAMPLE / "variant.jsonl",
        *("--plan", plan, "--json", "-"),
    )
    assert scored.returncode == bundled.returncode
    ours, theirs = (json.loads(done.stdout)["decision"] for done in (scored, bundled))
    assert ours["decision"] == theirs["decision"]
    assert len(ours["statuses"]) == len(theirs["statuses"])
    for one, other in zip(ours["statuses"], theirs["statuses"], strict=True):
        assert (one["metric"], one["status"]) == (other["metric"], other["status"])
        assert one["reason"] == other["reason"]


def test_a_filing_gives_every_field_of_the_experiment_row(
    filing: tuple[Path, Path], tmp_path: Path
) -> None:
    traces, options = filing
    out = tmp_path / "rows.jsonl"
    done = run("score", traces, "--options", options, "--out", out, "--quiet")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    row = json.loads(out.read_text())
    assert row["question_id"] == FINANCEBENCH["financebench_id"]
    for name in ("question_type", "question", "answer", "request", "status"):
        assert row[name] == FINANCEBENCH[name]
    assert row["reference"] == "$1577.00"
    assert row["evidence"] == [["3M_2018_10K", 60]]
    assert [item["page"] for item in row["retrieved"]] == [
        ["3M_2018_10K", 59],
        ["3M_2018_10K", 60],
    ]
    assert row["page_hit_at_5"] == 1.0
    assert row["page_rr_at_5"] == 0.5
    assert row["cited"] == [["3M_2018_10K", 60]]
    assert row["claims"][0]["label"] == "supported"
    assert row["faithfulness"] == row["citation_precision"] == 1.0
    assert row["correct_and_grounded"] == 1.0
    assert (row["tokens_input"], row["tokens_output"]) == (1200, 35)
    assert row["latency_total_ms"] == 812.5
    assert row["failure_category"] == "SUCCESS"


def test_rows_are_appended_to_a_spreadsheet_beside_what_is_there(
    filing: tuple[Path, Path], tmp_path: Path
) -> None:
    traces, options = filing
    book = Workbook()
    sheet = book.active
    sheet.append(["question_id", "page_hit_at_5", "remark"])
    sheet.append(["earlier", 0, "=1+1"])
    book.save(tmp_path / "table.xlsx")
    words = ("score", traces, "--options", options, "--append", tmp_path / "table.xlsx")
    done = run(*words)
    assert done.returncode == 0, done.stderr
    rows = list(load_workbook(tmp_path / "table.xlsx").active.values)
    assert rows[1][:3] == ("earlier", 0, "=1+1")
    assert rows[2][:3] == (FINANCEBENCH["financebench_id"], 1, None)
    again = run(*words)
    assert again.returncode == 2
    assert "is there already" in again.stderr


def test_the_json_summary_counts_every_row_once(filing: tuple[Path, Path]) -> None:
    traces, options = filing
    done = run("score", traces, "--options", options, "--format", "json")
    summary = json.loads(done.stdout)
    assert summary["rows"] == 1
    for item in summary["scores"]:
        assert item["scored"] + item["unscored"] + item["failed"] == 1
    assert summary["settings"]["unit"] == "page"


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        (("-k", "0"), "positive integer"),
        (("-k", "five"), "positive integer"),
        (("--out", "scores.pdf"), "unknown kind of table"),
        (("--format", "yaml"), "--format"),
        (("--options", "absent.toml"), "cannot be read"),
    ],
)
def test_wrong_words_are_refused_before_anything_is_written(
    words: tuple[str, ...], fact: str, tmp_path: Path
) -> None:
    traces = _write(tmp_path / "t.jsonl", {"question_id": "q1", "answer": "a"})
    done = run("score", traces, *words)
    assert done.returncode == 2
    assert fact in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]


def test_a_trace_that_is_not_valid_names_its_line(tmp_path: Path) -> None:
    traces = _write(
        tmp_path / "t.jsonl",
        {"question_id": "q1", "answer": "a"},
        {"question_id": "q2", "status": "maybe", "answer": "a"},
    )
    done = run("score", traces)
    assert done.returncode == 2
    assert "t.jsonl:2" in done.stderr
    assert len(done.stderr.splitlines()) <= 2


def test_markdown_summaries_are_tables(filing: tuple[Path, Path]) -> None:
    traces, options = filing
    done = run("score", traces, "--options", options, "--format", "markdown")
    assert done.stdout.startswith("## Scores")
    assert "| page_hit_at_5 | 1.000 |" in done.stdout


# ---------------------------------------------------------------- audit of traces


def test_audit_of_traces_shows_the_question_set() -> None:
    traces = EXAMPLE / "baseline.traces.jsonl"
    done = run("audit", traces, "--slice", "question_type")
    assert done.returncode == 0, done.stderr
    assert "600 of 200 questions in 3 trials" in done.stdout
    assert "question_type = lookup" in done.stdout


def test_audit_finds_what_two_sets_share(tmp_path: Path) -> None:
    ours = _write(
        tmp_path / "release.jsonl",
        {"question_id": "q1", "question": "What was capex?", "evidence": ["a"]},
        {"question_id": "q2", "question": "Who is chair?", "evidence": ["b", "c"]},
    )
    other = _write(
        tmp_path / "development.jsonl",
        {"question_id": "d1", "question": "what was the capex", "evidence": ["a"]},
        {"question_id": "q2", "question": "Another one?", "evidence": ["a"]},
    )
    done = run("audit", ours, "--other", other, "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["question_set"]
    assert found["overlap"]["same_id"] == ["q2"]
    assert found["overlap"]["same_text"] == [["q1", "d1"]]
    assert found["multi_evidence"] == 1
    text = run("audit", ours, "--other", other)
    assert "sets-overlap" in text.stdout
    assert "q1 = d1" in text.stdout


def test_rows_are_not_taken_for_traces(tmp_path: Path) -> None:
    traces = EXAMPLE / "baseline.traces.jsonl"
    out = tmp_path / "scores.jsonl"
    assert run("score", traces, "--out", out, "--quiet").returncode == 0
    assert holds_traces(traces)
    assert not holds_traces(out)
    assert not holds_traces(EXAMPLE / "baseline.jsonl")
    done = run("audit", out)
    assert "hit_at_5" in done.stdout
    assert "question set" not in done.stdout.lower()


@pytest.mark.parametrize(
    "text", ["", "[1]\n", "{\n", '{"question_id": "q1"}\n', "\xff"]
)
def test_other_files_are_not_traces(text: str, tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    path.write_bytes(text.encode("latin-1"))
    assert not holds_traces(path)


def test_markdown_of_a_question_set_has_its_own_title() -> None:
    done = run("audit", EXAMPLE / "variant.traces.jsonl", "--format", "markdown")
    assert done.stdout.startswith("## Question set")
    assert run("audit", EXAMPLE / "variant.traces.jsonl", "--quiet").stdout == ""


def test_scoring_is_public_whichever_module_was_imported_first() -> None:
    assert oc.score is score
    rows = oc.score(
        [{"question_id": "q1", "evidence": ["a"], "retrieved": ["a"]}],
        options=oc.ScoreOptions(k=(1,)),
    )
    assert isinstance(rows, oc.ScoredRows)
    assert rows.rows[0]["hit_at_1"] == 1.0


def test_every_computed_score_is_read_as_a_metric(tmp_path: Path) -> None:
    out = tmp_path / "scores.jsonl"
    done = run("score", EXAMPLE / "baseline.traces.jsonl", "--out", out, "--quiet")
    assert done.returncode == 0, done.stderr
    rows = oc.score(EXAMPLE / "baseline.traces.jsonl")
    found = oc.read(out)
    assert set(rows.score_columns) <= set(found.metrics)
    assert {"failure_category", "failure_missing"} <= set(found.labels)


def test_two_runs_share_a_table_and_are_compared_by_name(tmp_path: Path) -> None:
    table = tmp_path / "runs.csv"
    for run_name, arm, verb in (
        ("topk3", "baseline", "--out"),
        ("topk8", "variant", "--append"),
    ):
        traces = EXAMPLE / f"{arm}.traces.jsonl"
        words = (verb, table, "--constant", f"run={run_name}", "--quiet")
        done = run("score", traces, *words)
        assert done.returncode == 0, done.stderr
    before = table.read_bytes()
    again = run("score", EXAMPLE / "baseline.traces.jsonl", "--out", table, "--quiet")
    assert again.returncode == 2
    assert "exists; use --append to add, or --force to replace" in again.stderr
    assert table.read_bytes() == before
    found = run(
        "compare",
        table,
        *("--baseline-name", "topk3", "--variant-name", "topk8"),
        *("--metric", "hit_at_5", "--json", "-"),
    )
    assert found.returncode == 0, found.stderr
    (change,) = json.loads(found.stdout)["audit"]["settings_changed"]
    assert (change["baseline"], change["variant"]) == (3, 8)


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        (("score", "T", "--out", "T"), "is an input"),
        (("score", "T", "--constant", "run"), "expected NAME=VALUE"),
        (("score", "T", "--new-columns", "drop"), "new_columns = 'drop'"),
        (("audit", "T", "T", "--other", "T"), "--other goes with one file of traces"),
    ],
)
def test_words_that_do_not_fit_are_refused(
    words: tuple[str, ...], fact: str, tmp_path: Path
) -> None:
    traces = _write(tmp_path / "t.jsonl", {"question_id": "q1", "answer": "a"})
    before = traces.read_bytes()
    done = run(*(traces if word == "T" else word for word in words))
    assert done.returncode == 2
    assert fact in done.stderr
    assert traces.read_bytes() == before


def test_a_category_that_stays_open_names_the_way_out() -> None:
    record = {"question_id": "q1", "answer": "a", "evidence": ["c1"], "correct": 1}
    lists = {"retrieved": ["c2"], "selected": ["c2"]}
    text = render_scores(score([{**record, **lists}]), title="t.jsonl")
    assert "evidence_in_corpus: 1 row" in text
    assert "assume_indexed = true" in text
    settled = oc.ScoreOptions(assume_indexed=True)
    text = render_scores(score([{**record, **lists}], options=settled), title="t")
    assert "assume_indexed" not in text
