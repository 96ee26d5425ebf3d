from __future__ import annotations

import csv
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from formatfiles import (
    assert_metric,
    load_json,
    note_codes,
    sample,
    statuses,
    write_json,
    write_text,
)
from onechange import formats
from onechange.errors import InputError
from onechange.results import FAILED, Columns


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
@pytest.mark.parametrize(("name", "index"), [("baseline", 0), ("variant", 1)])
def test_both_systems_read_with_the_means_of_the_file(
    suffix: str, name: str, index: int
) -> None:
    raw = load_json(sample("promptfoo", "generated_repeat2.json"))
    rows = [r for r in raw["results"]["results"] if r["promptIdx"] == index]
    good = [r for r in rows if r["failureReason"] != 2]
    path = sample("promptfoo", f"generated_repeat2.{suffix}")
    assert formats.sniff(path) == "promptfoo"
    systems = formats.read_systems(path)
    assert list(systems) == ["baseline", "variant"]
    results = systems[name]
    assert results.n_rows == 40
    assert set(results.question_id) == {f"q{n:02d}" for n in range(20)}
    assert set(results.trial) == {"1", "2"}
    assert_metric(results, "passed", [r["success"] for r in good])
    assert_metric(results, "score", [r["score"] for r in good])
    assert_metric(results, "correct", [r["namedScores"]["correct"] for r in good])
    assert_metric(results, "latency_ms", [r["latencyMs"] for r in good])
    assert_metric(results, "cost_usd", [r["cost"] for r in good])


def test_provider_errors_are_failed_rows_and_not_zeros() -> None:
    systems = formats.read_systems(sample("promptfoo", "generated_repeat2.json"))
    assert [statuses(results) for results in systems.values()] == [
        (39, 0, 1),
        (38, 0, 2),
    ]
    failed = systems["variant"].status == FAILED
    assert all(
        math.isnan(value)
        for values in systems["variant"].metrics.values()
        for value in values[failed]
    )


def test_repeats_are_trials_in_the_order_of_their_index() -> None:
    path = sample("promptfoo", "generated_repeat2.json")
    results = formats.read_systems(path)["baseline"]
    rows = load_json(path)["results"]["results"]
    for question in ("q00", "q07"):
        mine = sorted(
            (r for r in rows if r["promptIdx"] == 0 and r["vars"]["qid"] == question),
            key=lambda r: r["testIdx"],
        )
        chosen = results.question_id == question
        found = dict(
            zip(results.trial[chosen], results.metrics["score"][chosen], strict=True)
        )
        assert found == {"1": mine[0]["score"], "2": mine[1]["score"]}


@pytest.mark.parametrize("name", ["baseline", "variant"])
def test_the_table_agrees_with_the_json_output(name: str) -> None:
    table = formats.read_systems(sample("promptfoo", "generated_repeat2.csv"))[name]
    whole = formats.read_systems(sample("promptfoo", "generated_repeat2.json"))[name]
    assert statuses(table) == statuses(whole)
    for metric in ("passed", "score", "correct", "length_score"):
        left = Counter(
            zip(table.question_id, table.metrics[metric].astype(str), strict=True)
        )
        right = Counter(
            zip(whole.question_id, whole.metrics[metric].astype(str), strict=True)
        )
        assert left == right
    assert "rounded" in note_codes(table)


def test_repeated_block_names_belong_to_their_own_system() -> None:
    path = sample("promptfoo", "generated_repeat2.csv")
    with path.open(encoding="utf-8", newline="") as stream:
        header, *rows = list(csv.reader(stream))
    second = [i for i, name in enumerate(header) if name == "Status"][1]
    words = Counter(row[second] for row in rows)
    results = formats.read_systems(path)["variant"]
    assert_metric(results, "passed", [1.0] * words["PASS"] + [0.0] * words["FAIL"])


def test_a_real_file_of_two_providers_and_four_prompts_gives_eight_systems() -> None:
    path = sample("promptfoo", "niche_two_providers.json")
    systems = formats.read_systems(path)
    raw = load_json(path)["results"]["results"]
    per_column = Counter(row["promptIdx"] for row in raw)
    assert [r.n_rows for r in systems.values()] == [per_column[i] for i in range(8)]
    assert next(iter(systems)) == "gpt-4o-mini | Pain Scorer v1 (word anchors)"
    assert all("broken-assertion" in note_codes(r) for r in systems.values())


def test_assertions_that_raised_leave_scores_unscored() -> None:
    path = sample("promptfoo", "niche_two_providers.json")
    systems = formats.read_systems(path)
    raw = load_json(path)["results"]["results"]

    def parts(row: dict[str, Any]) -> list[bool]:
        """Of the assertions that did not pass: did they raise?"""
        return [
            part["reason"].startswith("Custom function threw error")
            for part in row["gradingResult"]["componentResults"]
            if not part["pass"]
        ]

    for index, results in enumerate(systems.values()):
        mine = [row for row in raw if row["promptIdx"] == index]
        assert_metric(
            results, "score", [None if any(parts(r)) else r["score"] for r in mine]
        )
        assert_metric(
            results,
            "passed",
            [None if parts(r) and all(parts(r)) else r["success"] for r in mine],
        )
        assert_metric(
            results,
            "latency_ms",
            [None if r["response"].get("cached") else r["latencyMs"] for r in mine],
        )


def test_two_systems_need_a_choice() -> None:
    path = sample("promptfoo", "generated_repeat2.json")
    with pytest.raises(
        InputError, match=r'holds 2 systems: "baseline", "variant"; cho'
    ):
        formats.read_as("promptfoo", path)


def test_a_wanted_system_that_is_absent_is_named_with_the_nearest() -> None:
    path = sample("promptfoo", "generated_repeat2.json")
    with pytest.raises(
        InputError, match=r'no system "varant" \(did you mean "variant"'
    ):
        formats.read_systems(path, systems=("baseline", "varant"))


def _result(**changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "testIdx": 0,
        "promptIdx": 0,
        "provider": {"id": "p", "label": "P"},
        "prompt": {"label": "prompt", "raw": "prompt"},
        "vars": {"text": "A?"},
        "testCase": {"vars": {"text": "A?"}},
        "success": True,
        "score": 1,
        "namedScores": {},
        "gradingResult": {"pass": True, "score": 1, "componentResults": []},
        "response": {"output": "out", "cached": False},
        "latencyMs": 5,
        "failureReason": 0,
    }
    return row | changes


def _file(folder: Path, *rows: dict[str, Any], **config: Any) -> Path:
    results = {"version": 3, "prompts": [{"label": "prompt", "provider": "P"}]}
    results["results"] = list(rows)
    return write_json(folder, "out.json", {"results": results, "config": config})


def test_a_failed_assertion_with_an_error_text_is_not_a_failed_row(
    tmp_path: Path,
) -> None:
    row = _result(
        success=False,
        score=0,
        error="Expected output to contain x",
        failureReason=1,
        gradingResult={
            "pass": False,
            "score": 0,
            "reason": "Expected ...",
            "componentResults": [],
        },
    )
    results = formats.read_as("promptfoo", _file(tmp_path, row))
    assert statuses(results) == (1, 0, 0)
    assert results.metrics["passed"].tolist() == [0.0]


def test_tests_without_repeats_have_no_trials(tmp_path: Path) -> None:
    rows = [_result(), _result(testIdx=1, vars={"text": "B?"})]
    results = formats.read_as("promptfoo", _file(tmp_path, *rows))
    assert results.trial is None
    assert set(results.question_id) == {"A?", "B?"}


def test_a_variable_can_be_named_as_the_question_id(tmp_path: Path) -> None:
    rows = [
        _result(vars={"text": "same", "key": "k1"}),
        _result(testIdx=1, vars={"text": "same", "key": "k2"}),
    ]
    path = _file(tmp_path, *rows)
    results = formats.read_as("promptfoo", path, columns=Columns(question_id="key"))
    assert set(results.question_id) == {"k1", "k2"}


def test_secrets_of_the_configuration_are_not_kept(tmp_path: Path) -> None:
    providers = [
        {"id": "p", "label": "P", "config": {"apiKey": "sk-1", "max_tokens": 5}}
    ]
    path = _file(tmp_path, _result(), providers=providers)
    settings = formats.read_as("promptfoo", path).settings
    assert settings["provider.config.max_tokens"] == 5
    assert "sk-1" not in str(settings)


def test_a_status_that_is_unknown_is_refused(tmp_path: Path) -> None:
    header = "text,[P] prompt,Status,Score,Named Scores\n"
    path = write_text(tmp_path, "out.csv", header + "A?,out,MAYBE,1.00,{}\n")
    with pytest.raises(
        InputError, match=r'out\.csv:2: Status is "MAYBE"; expected PASS'
    ):
        formats.read_as("promptfoo", path)


def test_a_file_without_results_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path)
    with pytest.raises(InputError, match="no results were found"):
        formats.read_as("promptfoo", path)
