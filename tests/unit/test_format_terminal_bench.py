from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from formatfiles import (
    DATA,
    assert_metric,
    load_json,
    note_codes,
    sample,
    statuses,
    write_json,
)
from onechange import formats
from onechange.results import FAILED

FILES = [
    "20250829_goose_claude-4-opus__2025-08-27__22-13-13_results.json",
    "20250829_goose_claude-4-opus__2025-08-29__07-37-19_results.json",
    "20250829_goose_claude-4-sonnet__2025-08-25__12-29-38__results.json",
    "20250829_goose_claude-4-sonnet__2025-08-25__13-35-43__results.json",
]


@pytest.mark.parametrize("name", FILES)
def test_a_run_reads_with_null_outcomes_as_failed(name: str) -> None:
    path = sample("terminal_bench", name)
    assert formats.sniff(path) == "terminal-bench"
    results = formats.read_as("terminal-bench", path)
    trials = load_json(path)["results"]
    known = [trial for trial in trials if trial["is_resolved"] is not None]
    assert results.n_rows == len(trials) == 80
    assert results.trial is None
    assert_metric(results, "resolved", [trial["is_resolved"] for trial in known])
    assert_metric(results, "input_tokens", [t["total_input_tokens"] for t in known])
    assert_metric(results, "output_tokens", [t["total_output_tokens"] for t in known])
    assert statuses(results)[2] == 80 - len(known)


def test_the_share_with_null_as_zero_is_that_of_the_tool() -> None:
    path = sample("terminal_bench", FILES[2])
    results = formats.read_as("terminal-bench", path)
    resolved = results.metrics["resolved"]
    assert (resolved == 1).sum() / 80 == pytest.approx(load_json(path)["accuracy"])


def test_a_failure_mode_with_a_resolved_task_is_no_failure(tmp_path: Path) -> None:
    path = write_json(
        tmp_path, "results.json", _run(_trial("a", True, failure_mode="agent_timeout"))
    )
    results = formats.read_as("terminal-bench", path)
    assert statuses(results) == (1, 0, 0)
    assert results.metrics["resolved"].tolist() == [1.0]


def _trial(task: str, resolved: bool | None, **changes: Any) -> dict[str, Any]:
    return {"task_id": task, "is_resolved": resolved, "trial_name": task} | changes


def _run(*trials: dict[str, Any]) -> dict[str, Any]:
    return {"id": "x", "results": list(trials), "accuracy": 0.5}


def test_trials_are_numbered_by_their_names(tmp_path: Path) -> None:
    trials = [_trial("a", n == 2, trial_name=f"a.{n}-of-3") for n in (3, 1, 2)]
    results = formats.read_as(
        "terminal-bench", write_json(tmp_path, "results.json", _run(*trials))
    )
    found = dict(zip(results.trial, results.metrics["resolved"], strict=True))
    assert found == {"1": 0.0, "2": 1.0, "3": 0.0}


def test_an_outcome_of_null_is_noted(tmp_path: Path) -> None:
    path = write_json(
        tmp_path, "results.json", _run(_trial("a", None), _trial("b", False))
    )
    results = formats.read_as("terminal-bench", path)
    assert results.status.tolist().count(FAILED) == 1
    assert "counted-differently" in note_codes(results)


def test_the_tidy_trials_of_one_system_are_left_to_the_plain_reader() -> None:
    path = DATA / "repeated" / "terminal_bench" / "20250829_goose_claude-4-opus.csv"
    if not path.exists():
        pytest.skip(f"no sample {path}")
    assert formats.sniff(path) is None
