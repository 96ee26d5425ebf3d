from __future__ import annotations

from pathlib import Path

import pytest

from formatfiles import assert_metric, load_json, sample, statuses, write_json
from onechange import formats
from onechange.errors import InputError


@pytest.mark.parametrize("name", ["baseline", "fault"])
def test_three_objects_are_joined_by_task(name: str) -> None:
    path = sample("hal", f"{name}_UPLOAD.json")
    assert formats.sniff(path) == "hal"
    results = formats.read_as("hal", path)
    raw = load_json(path)
    evaluations = raw["raw_eval_results"]
    assert set(results.question_id) == set(evaluations)
    assert_metric(results, "reward", [row["reward"] for row in evaluations.values()])
    assert_metric(results, "latency_s", raw["results"]["latencies"].values())
    assert_metric(results, "cost_usd", raw["results"]["costs"].values())


def test_a_task_without_evaluation_is_unscored(tmp_path: Path) -> None:
    upload = {
        "config": {},
        "metadata": {},
        "results": {
            "latencies": {"0": 1.5, "1": {"total_time": 2.0}},
            "costs": {"0": 1},
        },
        "raw_eval_results": {"0": {"reward": 1.0, "cost": 0.1, "note": "fine"}},
    }
    results = formats.read_as("hal", write_json(tmp_path, "x_UPLOAD.json", upload))
    assert statuses(results) == (1, 1, 0)
    assert_metric(results, "latency_s", [1.5, 2.0])
    assert results.labels["note"].tolist() == ["fine", None]


def test_an_upload_without_results_per_task_is_refused(tmp_path: Path) -> None:
    upload = {"results": {}, "raw_eval_results": 0.5}
    with pytest.raises(InputError, match="no result per task"):
        formats.read_as("hal", write_json(tmp_path, "x_UPLOAD.json", upload))
