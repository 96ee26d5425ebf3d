"""Wide, tidy and positional tables: files that say nothing about their format."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from formatfiles import (
    DATA,
    assert_metric,
    by_question,
    note_codes,
    sample,
    write_lines,
    write_text,
)
from onechange import formats
from onechange.errors import InputError
from onechange.results import Columns


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def _data(*parts: str) -> Path:
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"no sample {path}")
    return path


def test_a_wide_table_without_ids_pairs_its_own_columns_by_row() -> None:
    path = sample("adhoc", "langchain_tool_use_wide.csv")
    assert formats.sniff(path) is None
    wanted = ("gpt-3.5-turbo-1106 (functions)", "gpt-4-1106-preview (functions)")
    systems = formats.read_systems(path, systems=wanted)
    assert tuple(systems) == wanted
    for name, results in systems.items():
        assert_metric(results, "score", [float(row[name]) for row in _rows(path)])
        assert "position-key" in note_codes(results)


def test_a_wide_table_of_labels_gives_the_known_counts() -> None:
    path = _data("financebench", "labels_wide.csv")
    columns = Columns(question_id="financebench_id")
    systems = formats.read_systems(
        path, columns=columns, systems=("gpt-4_sharedStore", "gpt-4_singleStore")
    )
    before, after = (by_question(r, "correct") for r in systems.values())
    assert (sum(before.values()), sum(after.values())) == (25, 63)
    assert sum(after[key] > before[key] for key in before) == 42
    assert sum(after[key] < before[key] for key in before) == 4
    assert "question_type" in systems["gpt-4_sharedStore"].labels


def test_a_wide_table_with_ids_and_slices_reads() -> None:
    path = _data("swebench", "resolved_wide.csv")
    columns = Columns(question_id="instance_id", slices=("repo",))
    systems = formats.read_systems(path, name="wide", columns=columns)
    rows = _rows(path)
    assert len(systems) == 6
    for name, results in systems.items():
        assert_metric(results, "score", [float(row[name]) for row in rows])
        assert set(results.labels["repo"]) == {row["repo"] for row in rows}


def test_a_tidy_table_is_split_by_system_with_the_known_counts() -> None:
    path = _data("swebench", "long.csv")
    columns = Columns(question_id="instance_id")
    systems = formats.read_systems(path, columns=columns)
    rows = _rows(path)
    assert len(systems) == 6
    for name, results in systems.items():
        mine = [row for row in rows if row["system"] == name]
        assert_metric(results, "resolved", [float(row["resolved"]) for row in mine])
        assert_metric(results, "cost_usd", [float(row["cost_usd"]) for row in mine])
    resolved = {name: r.metrics["resolved"].sum() for name, r in systems.items()}
    assert resolved["20250726_mini-v1.0.0_claude-sonnet-4-20250514"] == 324
    assert resolved["20250929_mini-v1.13.3_sonnet-4-5-20250929"] == 353


def test_a_tidy_table_without_an_id_lists_the_columns_that_could_be() -> None:
    path = _data("swebench", "long.csv")
    with pytest.raises(InputError, match=r'no column "question_id"; .*instance_id'):
        formats.read_systems(path)


def test_what_a_tidy_file_holds_is_listed() -> None:
    path = _data("swebench", "long.csv")
    contents = formats.list_contents(path, columns=Columns(question_id="instance_id"))
    assert contents.format == "tidy"
    first = contents.systems[0]
    assert (first.n_rows, first.n_questions, first.n_trials) == (500, 500, 1)
    assert first.metrics == {"resolved": 500, "cost_usd": 500, "api_calls": 500}
    assert first.slices == {"repo": 12}


def test_trials_and_statuses_of_a_tidy_table_are_used(tmp_path: Path) -> None:
    lines = [
        {"question_id": "a", "trial": t, "system": s, "status": "ok", "score": 1}
        for s in ("x", "y")
        for t in (1, 2)
    ]
    lines[0]["status"] = "timeout"
    systems = formats.read_systems(write_lines(tmp_path, "r.jsonl", lines))
    assert set(systems["x"].trial) == {"1", "2"}
    assert_metric(systems["x"], "score", [1.0])
    assert_metric(systems["y"], "score", [1.0, 1.0])


def test_conflicting_duplicates_are_refused_with_the_ids_named(tmp_path: Path) -> None:
    header = "question_id,task,model,score\n"
    rows = "q1,math,m1,1\nq2,math,m1,1\nq1,math,m1,0\nq2,math,m1,1\nq1,math,m2,1\n"
    path = write_text(tmp_path, "livebench.csv", header + rows)
    with pytest.raises(
        InputError,
        match=r'"q1" occurs at line 2 and line 4 \(score 1 and 0\); 2 questions repeat',
    ):
        formats.read_systems(path)


def test_a_table_of_one_system_is_not_tidy(tmp_path: Path) -> None:
    path = write_text(tmp_path, "r.csv", "question_id,model,score\nq1,m,1\nq2,m,0\n")
    assert formats.sniff(path) is None
    with pytest.raises(InputError, match="not recognised as one of"):
        formats.read_systems(path)


def test_a_column_of_text_is_no_system(tmp_path: Path) -> None:
    path = write_text(tmp_path, "r.csv", "id,a,b,c\n1,1,0,x\n2,pass,fail,y\n")
    systems = formats.read_systems(path, name="wide")
    assert list(systems) == ["a", "b"]
    assert_metric(systems["a"], "score", [1.0, 1.0])
    assert systems["a"].labels["c"].tolist() == ["x", "y"]


def test_an_id_named_for_a_positional_table_is_refused(tmp_path: Path) -> None:
    path = write_text(tmp_path, "r.csv", "a\n1\n")
    with pytest.raises(InputError, match="a positional table has no ids"):
        formats.read_as("positional", path, columns=Columns(question_id="a"))
