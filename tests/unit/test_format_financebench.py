from __future__ import annotations

from pathlib import Path

import pytest

from formatfiles import assert_metric, load_lines, note_codes, sample, write_lines
from onechange import formats
from onechange.errors import InputError


@pytest.mark.parametrize("mode", ["sharedStore", "singleStore"])
def test_labels_become_correct_and_refused(mode: str) -> None:
    path = sample("financebench", f"gpt-4_{mode}.jsonl")
    assert formats.sniff(path) == "financebench"
    results = formats.read_as("financebench", path)
    labels = [line["label"] for line in load_lines(path)]
    assert_metric(results, "correct", [label == "Correct Answer" for label in labels])
    assert_metric(results, "refused", [label == "Refusal" for label in labels])
    assert results.settings == {"model_name": "gpt-4", "eval_mode": mode, "temp": 0.01}
    assert "refusal-is-zero" in note_codes(results)


def test_the_pair_changes_one_setting_and_shares_its_questions() -> None:
    one, two = (
        formats.read_as("financebench", sample("financebench", f"gpt-4_{mode}.jsonl"))
        for mode in ("sharedStore", "singleStore")
    )
    changed = {k for k in one.settings if one.settings[k] != two.settings[k]}
    assert changed == {"eval_mode"}
    assert set(one.question_id) == set(two.question_id)


def _line(key: str, label: str, mode: str = "oracle") -> dict[str, object]:
    return {
        "financebench_id": key,
        "model_name": "m",
        "eval_mode": mode,
        "temp": 0.0,
        "question": "?",
        "label": label,
    }


def test_two_modes_in_one_file_are_two_systems(tmp_path: Path) -> None:
    lines = [_line("1", "Refusal"), _line("1", "Correct Answer", "closedBook")]
    systems = formats.read_systems(write_lines(tmp_path, "r.jsonl", lines))
    assert list(systems) == ["m_oracle", "m_closedBook"]


def test_an_unknown_label_is_refused_with_its_line(tmp_path: Path) -> None:
    path = write_lines(tmp_path, "r.jsonl", [_line("1", "Perhaps")])
    with pytest.raises(
        InputError, match=r'r\.jsonl:1: the label is "Perhaps"; expected'
    ):
        formats.read_as("financebench", path)
