from __future__ import annotations

from pathlib import Path

import pytest

from formatfiles import (
    assert_metric,
    by_question,
    load_json,
    note_codes,
    sample,
    statuses,
    write_json,
)
from onechange import formats
from onechange.errors import InputError


@pytest.mark.parametrize(
    ("name", "n"), [("claude-4sonnet", 562), ("claude-45sonnet", 730)]
)
def test_a_flat_file_of_flags_reads(name: str, n: int) -> None:
    path = sample("swebench", f"pro_{name}-10132025.eval_results.json")
    assert formats.sniff(path) == "swebench"
    results = formats.read_as("swebench", path)
    raw = load_json(path)
    assert results.n_rows == len(raw) == n
    assert by_question(results, "resolved") == {k: float(v) for k, v in raw.items()}


def test_the_repository_is_taken_from_the_id() -> None:
    path = sample("swebench", "pro_claude-45sonnet-10132025.eval_results.json")
    results = formats.read_as("swebench", path)
    for key, repository in zip(
        results.question_id, results.labels["repo"], strict=True
    ):
        owner, _, name = repository.partition("/")
        assert key.startswith(f"instance_{owner}__{name}-")
    assert "element-hq/element-web" in set(results.labels["repo"])


def test_a_leaderboard_file_holds_several_systems() -> None:
    path = sample("swebench", "leaderboard_per_instance_details.json")
    systems = formats.read_systems(path)
    for name, entry in load_json(path).items():
        details = entry["per_instance_details"].values()
        assert_metric(systems[name], "resolved", [row["resolved"] for row in details])
        assert_metric(systems[name], "cost_usd", [row["cost"] for row in details])
        assert_metric(systems[name], "api_calls", [row["api_calls"] for row in details])
        assert set(systems[name].labels["repo"]) == {"astropy/astropy", "django/django"}


def test_a_headline_that_differs_from_its_rows_is_noted() -> None:
    path = sample("swebench", "leaderboard_per_instance_details.json")
    for results in formats.read_systems(path).values():
        assert "header-disagrees" in note_codes(results)


def test_the_site_file_with_leaderboards_reads(tmp_path: Path) -> None:
    details = {"a__b-1": {"resolved": True, "cost": 0.5, "api_calls": 3}}
    entry = {
        "name": "X",
        "folder": "x",
        "resolved": 100.0,
        "per_instance_details": details,
    }
    boards = {
        "leaderboards": [{"name": "bash-only", "results": [entry, {"name": "Y"}]}]
    }
    systems = formats.read_systems(write_json(tmp_path, "boards.json", boards))
    assert list(systems) == ["x"]
    assert note_codes(systems["x"]) == set()


REPORT = {
    "schema_version": 2,
    "submitted_ids": ["a__b-1", "a__b-2", "a__b-3", "a__b-4"],
    "completed_ids": ["a__b-1", "a__b-2"],
    "resolved_ids": ["a__b-1"],
    "unresolved_ids": ["a__b-2"],
    "error_ids": ["a__b-3"],
    "empty_patch_ids": ["a__b-4"],
    "incomplete_ids": ["a__b-5"],
}


def test_a_harness_report_keeps_errors_apart_from_zeros(tmp_path: Path) -> None:
    path = write_json(tmp_path, "report.json", REPORT)
    assert formats.sniff(path) == "swebench"
    results = formats.read_as("swebench", path)
    assert statuses(results) == (3, 1, 1)
    assert_metric(results, "resolved", [1.0, 0.0, 0.0])
    assert "counted-differently" in note_codes(results)


def test_an_id_that_is_resolved_and_unresolved_is_refused(tmp_path: Path) -> None:
    report = REPORT | {"unresolved_ids": ["a__b-1"]}
    with pytest.raises(InputError, match='"a__b-1" is listed as resolved and as unres'):
        formats.read_as("swebench", write_json(tmp_path, "report.json", report))


def test_resolved_ids_alone_are_refused(tmp_path: Path) -> None:
    path = write_json(tmp_path, "report.json", {"resolved_ids": ["a__b-1"]})
    with pytest.raises(InputError, match="only resolved ids are listed"):
        formats.read_as("swebench", path)


def test_an_id_list_with_the_attempted_ids_reads(tmp_path: Path) -> None:
    lists = {
        "resolved": ["a__b-1"],
        "generated": ["a__b-1", "a__b-2"],
        "no_generation": ["a__b-3"],
    }
    results = formats.read_as("swebench", write_json(tmp_path, "results.json", lists))
    assert_metric(results, "resolved", [1.0, 0.0, 0.0])


def test_the_two_real_files_overlap_only_in_part() -> None:
    one, two = (
        set(
            formats.read_as(
                "swebench", sample("swebench", f"pro_{name}-10132025.eval_results.json")
            ).question_id
        )
        for name in ("claude-4sonnet", "claude-45sonnet")
    )
    assert len(one) == 562
    assert len(two) == 730
    assert 0 < len(one & two) < 730
