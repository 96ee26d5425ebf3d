from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from formatfiles import (
    assert_metric,
    by_question,
    load_lines,
    note_codes,
    sample,
    write_json,
    write_lines,
)
from onechange import formats
from onechange.errors import InputError

RUNS = {
    "generated_run1": "2026-11-30T04-03-40.091316",
    "generated_run2": "2026-11-30T04-03-45.665980",
}


@pytest.mark.parametrize("run", list(RUNS))
def test_a_folder_reads_both_tasks_with_the_means_of_the_lines(run: str) -> None:
    folder = sample("lm_eval", run)
    assert formats.sniff(folder) == "lm-eval"
    results = formats.read_as("lm-eval", folder)
    choice = load_lines(folder / f"samples_toy_mc_{RUNS[run]}.jsonl")
    free = load_lines(folder / f"samples_toy_gen_{RUNS[run]}.jsonl")
    assert results.n_rows == 80
    assert set(results.question_id) == {
        f"{task}/{n}" for task in ("toy_mc", "toy_gen") for n in range(40)
    }
    assert_metric(results, "acc", [line["acc"] for line in choice])
    assert_metric(results, "acc_norm", [line["acc_norm"] for line in choice])
    for name in ("strict-match", "flexible-extract"):
        raw = [line["exact_match"] for line in free if line["filter"] == name]
        assert len(raw) == 40
        assert_metric(results, f"exact_match,{name}", raw)


def test_the_pair_differs_in_its_seeds_alone() -> None:
    one, two = (formats.read_as("lm-eval", sample("lm_eval", run)) for run in RUNS)
    keys = one.settings.keys() | two.settings.keys()
    changed = {k for k in keys if one.settings.get(k) != two.settings.get(k)}
    assert changed == {"random_seed", "numpy_seed", "torch_seed", "fewshot_seed"}
    assert one.settings["toy_gen.repeats"] == 3
    categories = {line["doc"]["category"] for line in _choice_lines("generated_run1")}
    assert set(one.labels["category"]) == categories


def _choice_lines(run: str) -> list[Any]:
    return load_lines(sample("lm_eval", run, f"samples_toy_mc_{RUNS[run]}.jsonl"))


def test_a_real_samples_file_takes_the_settings_of_its_results_file() -> None:
    path = sample(
        "lm_eval", "samples_math_perturbed_full_2026-01-21T03-44-18.458309.jsonl"
    )
    assert formats.sniff(path) == "lm-eval"
    results = formats.read_as("lm-eval", path)
    lines = load_lines(path)
    assert_metric(results, "exact_match", [line["exact_match"] for line in lines])
    assert results.settings["math_perturbed_full.num_fewshot"] == 0
    assert results.settings["model"] == "hf"
    assert set(results.labels["level"]) == {line["doc"]["level"] for line in lines}


def test_the_results_file_alone_is_refused_as_an_aggregate() -> None:
    path = sample("lm_eval", "results_2026-01-21T03-44-18.458309.json")
    with pytest.raises(InputError, match="the aggregate of an lm-evaluation-harness"):
        formats.sniff(path)


def _line(doc_id: int, value: Any = 1.0, **changes: Any) -> dict[str, Any]:
    line = {
        "doc_id": doc_id,
        "doc": {"question": f"Q{doc_id}?"},
        "target": "t",
        "resps": [["r"]],
        "filtered_resps": ["r"],
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": f"h{doc_id}",
        "acc": value,
    }
    return line | changes


def test_answers_that_were_not_parsed_stay_zero_and_are_noted(tmp_path: Path) -> None:
    lines = [_line(0), _line(1, 0.0, filtered_resps=["[invalid]"])]
    path = write_lines(tmp_path, "samples_t_2026-01-01T00-00-00.0.jsonl", lines)
    results = formats.read_as("lm-eval", path)
    assert by_question(results, "acc") == {"t/0": 1.0, "t/1": 0.0}
    assert {"unparsed-is-zero", "settings-unknown"} <= note_codes(results)


def test_a_metric_that_holds_lists_is_left_out_and_noted(tmp_path: Path) -> None:
    lines = [_line(0, metrics=["acc", "word_perplexity"], word_perplexity=[-5.0, 3])]
    path = write_lines(tmp_path, "samples_t_2026-01-01T00-00-00.0.jsonl", lines)
    results = formats.read_as("lm-eval", path)
    assert set(results.metrics) == {"acc"}
    assert "metric-left-out" in note_codes(results)


def test_the_same_document_twice_under_one_filter_is_refused(tmp_path: Path) -> None:
    name = "samples_t_2026-01-01T00-00-00.0.jsonl"
    path = write_lines(tmp_path, name, [_line(0, 1.0), _line(0, 0.0)])
    with pytest.raises(InputError, match=r":2: doc_id 0 occurs twice under the filter"):
        formats.read_as("lm-eval", path)


def test_two_runs_of_a_task_in_one_folder_are_refused(tmp_path: Path) -> None:
    for second in ("00", "01"):
        name = f"samples_t_2026-01-01T00-00-{second}.0.jsonl"
        write_lines(tmp_path, name, [_line(0)])
    with pytest.raises(InputError, match='several runs of the task "t"'):
        formats.read_as("lm-eval", tmp_path)


def test_a_recorded_direction_is_noted(tmp_path: Path) -> None:
    date = "2026-01-01T00-00-00.0"
    path = write_lines(tmp_path, f"samples_t_{date}.jsonl", [_line(0)])
    recorded = {"config": {"model": "m"}, "higher_is_better": {"t": {"acc": False}}}
    write_json(tmp_path, f"results_{date}.json", recorded)
    notes = formats.read_as("lm-eval", path).notes
    assert any("--direction acc=lower" in note.text for note in notes)
