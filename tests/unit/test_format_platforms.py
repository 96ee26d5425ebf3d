"""Tables of MLflow, LangSmith, Phoenix, Langfuse and TruLens."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from formatfiles import (
    assert_metric,
    by_question,
    load_json,
    note_codes,
    sample,
    statuses,
    write_json,
    write_text,
)
from onechange import formats
from onechange.errors import InputError
from onechange.results import Columns


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _numbers(cells: list[str]) -> list[float | None]:
    return [float(cell) if cell else None for cell in cells]


def test_an_mlflow_table_reads_with_shorter_metric_names() -> None:
    path = sample("mlflow", "eval_results_table.json")
    assert formats.sniff(path) == "mlflow"
    results = formats.read_as("mlflow", path)
    raw = load_json(path)
    columns = {
        name: [row[i] for row in raw["data"]] for i, name in enumerate(raw["columns"])
    }
    assert results.question_id.tolist() == columns["inputs"]
    for metric in (
        "answer_correctness",
        "ari_grade_level",
        "flesch_kincaid_grade_level",
    ):
        assert_metric(results, metric, columns[f"{metric}/v1/score"])
    assert_metric(results, "latency", columns["latency"])
    assert "direction-unknown" in note_codes(results)


def test_an_mlflow_table_without_inputs_is_refused(tmp_path: Path) -> None:
    table = {"columns": ["toxicity/v1/score"], "data": [[0.5]]}
    with pytest.raises(InputError, match="no column of inputs"):
        formats.read_as("mlflow", write_json(tmp_path, "t.json", table))


@pytest.mark.parametrize("name", ["baseline", "variant"])
def test_a_langsmith_table_reads_with_errors_as_failed(name: str) -> None:
    path = sample("langsmith", f"constructed_{name}.csv")
    assert formats.sniff(path) == "langsmith"
    results = formats.read_as("langsmith", path)
    rows = _rows(path)
    good = [row for row in rows if not row["error"]]
    assert set(results.question_id) == {row["example_id"] for row in rows}
    assert statuses(results) == (14, 0, 1)
    assert_metric(
        results, "correctness", _numbers([row["feedback.correctness"] for row in good])
    )
    assert_metric(
        results, "execution_time_s", _numbers([row["execution_time"] for row in good])
    )
    assert "text-score" in note_codes(results)
    assert {"good", "bad"} <= set(results.labels["helpfulness"])


LANGSMITH = "inputs.question,outputs.a,error,feedback.ok,example_id,id\n"


def test_langsmith_repetitions_are_trials_in_the_order_of_their_runs(
    tmp_path: Path,
) -> None:
    text = LANGSMITH + "Q?,x,,1.0,e1,r2\nQ?,x,,0.0,e1,r1\n"
    results = formats.read_as("langsmith", write_text(tmp_path, "e.csv", text))
    found = dict(zip(results.trial, results.metrics["ok"], strict=True))
    assert found == {"1": 0.0, "2": 1.0}


def test_langsmith_scores_and_texts_in_one_column_do_not_mix(tmp_path: Path) -> None:
    text = LANGSMITH + "Q?,x,,1.0,e1,r1\nR?,x,,unsure,e2,r2\n"
    results = formats.read_as("langsmith", write_text(tmp_path, "e.csv", text))
    assert_metric(results, "ok", [1.0, None])
    assert results.labels["ok"].tolist() == [None, "unsure"]


@pytest.mark.parametrize("name", ["baseline", "variant"])
@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_a_phoenix_experiment_reads_from_both_downloads(name: str, suffix: str) -> None:
    raw = load_json(sample("phoenix", f"constructed_{name}.json"))
    path = sample("phoenix", f"constructed_{name}.{suffix}")
    assert formats.sniff(path) == "phoenix"
    results = formats.read_as("phoenix", path)
    good = [run for run in raw if not run["error"]]
    assert statuses(results)[2] == len(raw) - len(good)
    assert set(results.trial) == {"1", "2"}
    for metric in ("correctness", "relevance"):
        scores = [
            entry["score"]
            for run in good
            for entry in run["annotations"]
            if entry["name"] == metric
        ]
        assert_metric(results, metric, scores)
    assert_metric(results, "latency_ms", [run["latency_ms"] for run in good])


def _phoenix(**annotation: Any) -> dict[str, Any]:
    entry = {"name": "a", "label": None, "score": 1.0, "error": None} | annotation
    return {
        "example_id": "e1",
        "repetition_number": 1,
        "input": {"question": "Q?"},
        "output": "x",
        "error": None,
        "annotations": [entry],
    }


def test_a_phoenix_annotation_with_an_error_is_unscored(tmp_path: Path) -> None:
    runs = [_phoenix(error="boom", score=0.0), _phoenix() | {"example_id": "e2"}]
    results = formats.read_as("phoenix", write_json(tmp_path, "e.json", runs))
    assert_metric(results, "a", [None, 1.0])
    assert statuses(results) == (1, 1, 0)


def test_a_phoenix_label_without_score_is_unscored_and_noted(tmp_path: Path) -> None:
    path = write_json(tmp_path, "e.json", [_phoenix(label="fine", score=None)])
    results = formats.read_as("phoenix", path)
    assert_metric(results, "a", [None])
    assert results.labels["a_label"].tolist() == ["fine"]
    assert "text-score" in note_codes(results)


def test_langfuse_scores_are_turned_into_one_row_per_item(tmp_path: Path) -> None:
    text = (
        "id,traceId,name,value,stringValue,dataType,datasetItemId\n"
        "1,t1,correct,1,,NUMERIC,i1\n"
        "2,t1,tone,,warm,CATEGORICAL,i1\n"
        "3,t2,correct,0,,NUMERIC,i2\n"
    )
    path = write_text(tmp_path, "scores.csv", text)
    assert formats.sniff(path) == "langfuse"
    results = formats.read_as("langfuse", path)
    assert by_question(results, "correct") == {"i1": 1.0, "i2": 0.0}
    assert results.labels["tone label"].tolist() == ["warm", None]


def test_langfuse_traces_need_a_shared_key_and_say_so(tmp_path: Path) -> None:
    rows = [{"traceId": "t1", "name": "correct", "value": 1, "question": "Q?"}]
    path = write_json(tmp_path, "scores.json", rows)
    assert "trace-key" in note_codes(formats.read_as("langfuse", path))
    results = formats.read_as("langfuse", path, columns=Columns(question_id="question"))
    assert results.question_id.tolist() == ["Q?"]


def test_a_langfuse_score_twice_for_one_item_is_refused(tmp_path: Path) -> None:
    rows = [{"traceId": "t1", "name": "correct", "value": value} for value in (0, 1)]
    with pytest.raises(InputError, match='the score "correct" occurs twice for "t1"'):
        formats.read_as("langfuse", write_json(tmp_path, "scores.json", rows))


def test_a_trulens_table_of_a_user_reads() -> None:
    path = sample("trulens", "trulens_results.csv")
    assert formats.sniff(path) == "trulens"
    results = formats.read_as("trulens", path)
    rows = _rows(path)
    assert results.question_id.tolist() == [row["Question"] for row in rows]
    for metric in ("Groundedness", "Answer_Relevance", "Context_Relevance"):
        assert_metric(results, metric, _numbers([row[metric] for row in rows]))


def test_trulens_records_pair_by_input_and_split_by_version(tmp_path: Path) -> None:
    text = (
        "app_name,app_version,record_id,input,output,latency,Groundedness,"
        "Groundedness_calls\n"
        'rag,v1,r1,Q?,a,1.5,0.5,"[{}]"\n'
        'rag,v2,r2,Q?,b,2.5,,"[{}]"\n'
    )
    path = write_text(tmp_path, "records.csv", text)
    assert formats.sniff(path) == "trulens"
    systems = formats.read_systems(path)
    assert list(systems) == ["rag v1", "rag v2"]
    assert systems["rag v1"].question_id.tolist() == ["Q?"]
    assert statuses(systems["rag v2"]) == (0, 1, 0)
