from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import onechange as oc
from formatfiles import sample, write_json
from onechange import formats
from onechange.errors import InputError
from onechange.results import Results

LOG = {
    "version": 2,
    "status": "success",
    "eval": {"task": "t", "model": "m", "scorers": [{"name": "qa", "options": {}}]},
    "plan": {"steps": []},
    "samples": [
        {
            "id": "a",
            "epoch": 1,
            "input": '1, "2"\n3',
            "target": "x",
            "scores": {"qa": {"value": "C"}},
        },
        {
            "id": "a",
            "epoch": 2,
            "input": "NA",
            "target": "",
            "scores": {"qa": {"value": math.nan}},
        },
        {
            "id": "007",
            "epoch": 1,
            "input": "q",
            "target": "é",
            "scores": {"qa": {"value": 0.1}},
        },
        {
            "id": "b",
            "epoch": 1,
            "input": "q",
            "target": "t",
            "scores": {},
            "error": {"message": "no"},
        },
    ],
}


def _read(folder: Path) -> Results:
    return formats.read_as("inspect", write_json(folder, "log.json", LOG))


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_converted_rows_read_back_as_they_were(tmp_path: Path, suffix: str) -> None:
    results = oc.read(write_json(tmp_path, "log.json", LOG))
    written = formats.convert(results, tmp_path / f"rows{suffix}")
    assert [path.name for path in written] == [f"rows{suffix}", "rows.settings.json"]
    columns = oc.Columns(slices=("question", "reference", "error"))
    again = oc.read(written[0], columns=columns)
    assert again.question_id.tolist() == results.question_id.tolist()
    assert again.trial.tolist() == results.trial.tolist()
    assert again.status.tolist() == results.status.tolist()
    np.testing.assert_array_equal(again.metrics["qa"], results.metrics["qa"])
    for label in ("question", "reference", "error"):
        assert again.labels[label].tolist() == results.labels[label].tolist()
    assert again.settings == results.settings


def test_unscored_is_written_as_null_and_never_as_zero(tmp_path: Path) -> None:
    formats.convert(_read(tmp_path), tmp_path / "rows.jsonl")
    text = (tmp_path / "rows.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row["qa"] for row in rows] == [1.0, None, 0.1, None]
    assert "NaN" not in text


def test_a_label_named_as_a_metric_gets_another_name(tmp_path: Path) -> None:
    log = json.loads(json.dumps(LOG))
    log["samples"][0]["scores"]["qa"]["value"] = "a text"
    results = formats.read_as("inspect", write_json(tmp_path, "log.json", log))
    formats.convert(results, tmp_path / "rows.jsonl")
    first = json.loads((tmp_path / "rows.jsonl").read_text("utf-8").split("\n")[0])
    assert first["qa"] is None
    assert first["qa_text"] == "a text"


def test_an_unknown_suffix_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    results = _read(tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(InputError, match=r"rows\.xlsx: unknown suffix"):
        formats.convert(results, tmp_path / "rows.xlsx")
    assert sorted(tmp_path.iterdir()) == before


def test_a_path_that_cannot_be_written_leaves_no_part_behind(tmp_path: Path) -> None:
    results = _read(tmp_path)
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(InputError, match="cannot be written: File exists"):
        formats.convert(results, tmp_path / "file" / "rows.jsonl")
    assert sorted(tmp_path.iterdir()) == before


def test_the_folder_of_the_rows_is_made(tmp_path: Path) -> None:
    results = _read(tmp_path)
    formats.convert(results, tmp_path / "a" / "b" / "rows.jsonl")
    assert (tmp_path / "a" / "b" / "rows.jsonl").stat().st_size > 0


def test_the_contents_of_a_file_with_two_systems_are_listed() -> None:
    contents = formats.list_contents(sample("promptfoo", "generated_repeat2.json"))
    assert contents.format == "promptfoo"
    assert [system.name for system in contents.systems] == ["baseline", "variant"]
    variant = contents.systems[1]
    assert (variant.n_rows, variant.n_questions, variant.n_trials) == (40, 20, 2)
    assert (variant.answered, variant.unscored, variant.failed) == (38, 0, 2)
    assert variant.metrics["correct"] == 38
    assert variant.slices["question_type"] == 2
    assert "question" in variant.texts


def test_settings_of_another_file_are_not_replaced(tmp_path: Path) -> None:
    for name, depth in (("a", 3), ("b", 8)):
        (tmp_path / f"{name}.csv").write_text("question_id,correct\nq1,1\nq2,0\n")
        (tmp_path / f"{name}.settings.json").write_text(f'{{"top_k": {depth}}}')
    with pytest.raises(InputError, match="holds the settings of another file"):
        formats.convert(oc.read(tmp_path / "a.csv"), tmp_path / "b.jsonl")
    assert not (tmp_path / "b.jsonl").exists()
    assert json.loads((tmp_path / "b.settings.json").read_text()) == {"top_k": 8}
    written = formats.convert(oc.read(tmp_path / "b.csv"), tmp_path / "b.jsonl")
    assert written == (tmp_path / "b.jsonl",)
    assert oc.read(tmp_path / "b.jsonl").settings == {"top_k": 8}
