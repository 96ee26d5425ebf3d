from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

from formatfiles import (
    assert_metric,
    by_question,
    note_codes,
    sample,
    statuses,
    write_lines,
    write_text,
)
from onechange import formats
from onechange.errors import InputError
from onechange.results import Columns


def _raw(path: Path, column: str) -> list[float | None]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        cells = [row[column] for row in csv.DictReader(stream)]
    return [float(cell) if cell else None for cell in cells]


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("multi-hyde-5doc", {"context_precision": 0.415, "context_recall": 0.1}),
        (
            "multi-hyde-5doc-JINArerank",
            {"context_precision": 0.475, "context_recall": 0.13333333},
        ),
    ],
)
def test_a_reranker_pair_reads_with_the_means_of_its_files(
    name: str, means: dict[str, float]
) -> None:
    path = sample("ragas", f"{name}__ragas_results.csv")
    assert formats.sniff(path) == "ragas"
    results = formats.read_as("ragas", path)
    assert results.n_rows == 10
    for metric, mean in means.items():
        assert_metric(results, metric, _raw(path, metric))
        assert results.metrics[metric].mean() == pytest.approx(mean, abs=1e-6)


def test_both_arms_of_the_reranker_pair_share_all_questions() -> None:
    arms = [
        formats.read_as("ragas", sample("ragas", f"{name}__ragas_results.csv"))
        for name in ("multi-hyde-5doc", "multi-hyde-5doc-JINArerank")
    ]
    assert set(arms[0].question_id) == set(arms[1].question_id)


def test_empty_metric_cells_are_unscored_and_n_differs_per_metric() -> None:
    path = sample("ragas", "pulsevent_ragas_results.csv")
    results = formats.read_as("ragas", path)
    for metric in (
        "faithfulness",
        "answer_relevancy",
        "context_precision",
        "context_recall",
    ):
        assert_metric(results, metric, _raw(path, metric))
    assert statuses(results) == (5, 1, 0)


@pytest.mark.parametrize("name", ["baseline", "variant"])
def test_an_experiment_keeps_its_ids_and_reads_pass_and_fail(name: str) -> None:
    path = sample("ragas_experiment", f"{name}.csv")
    results = formats.read_as("ragas", path)
    assert results.name == name
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert set(results.question_id) == {row["id"] for row in rows}
    assert_metric(results, "score", [row["score"] == "pass" for row in rows])
    assert_metric(results, "passed", [row["passed"] == "True" for row in rows])
    assert_metric(results, "correctness", _raw(path, "correctness"))
    assert results.settings == {}


def test_rows_that_raised_are_absent_and_never_matched_by_position() -> None:
    baseline, variant = (
        formats.read_as("ragas", sample("ragas_experiment", f"{name}.csv"))
        for name in ("baseline", "variant")
    )
    assert (baseline.n_rows, variant.n_rows) == (18, 20)
    assert set(baseline.question_id) < set(variant.question_id)


def test_a_score_table_without_questions_is_not_recognised() -> None:
    assert (
        formats.sniff(sample("ragas", "multi-hyde-5doc__latency_results.csv")) is None
    )


def test_latencies_join_by_position_only_when_asked() -> None:
    path = sample("ragas", "multi-hyde-5doc__latency_results.csv")
    results = formats.read_as("positional", path)
    assert list(results.question_id)[:2] == ["01", "02"]
    assert_metric(results, "total_time_s", _raw(path, "total_time_s"))
    assert "position-key" in note_codes(results)


OLD = "question,answer,contexts,ground_truth,faithfulness\n"


def test_old_column_names_read_as_the_new_ones(tmp_path: Path) -> None:
    path = write_text(
        tmp_path, "ragas_results.csv", OLD + "Q1?,a,\"['c']\",g,0.5\nQ2?,b,[],g,\n"
    )
    results = formats.read_as("ragas", path)
    assert sorted(results.labels) == [
        "question",
        "reference",
        "response",
        "retrieved_contexts",
    ]
    assert math.isnan(by_question(results, "faithfulness")["Q2?"])


def test_old_and_new_names_side_by_side_keep_the_new(tmp_path: Path) -> None:
    header = "user_input,question,response,answer,retrieved_contexts,faithfulness\n"
    path = write_text(tmp_path, "r.csv", header + "Q1?,Q1?,new,old,[],1.0\n")
    results = formats.read_as("ragas", path)
    assert results.labels["response"].tolist() == ["new"]
    assert set(results.labels) == {"question", "response", "retrieved_contexts"}


def test_a_repeated_question_text_is_refused_with_its_values(tmp_path: Path) -> None:
    header = "user_input,retrieved_contexts,response,faithfulness\n"
    path = write_text(tmp_path, "r.csv", header + "Q1?,[],a,0.0\nQ1?,[],a,\n")
    with pytest.raises(
        InputError,
        match=r'r\.csv: question "Q1\?" occurs at line 2 and line 3 \(faithfulness 0',
    ):
        formats.read_as("ragas", path)


def test_a_repeated_question_text_reads_with_an_id_column(tmp_path: Path) -> None:
    header = "key,user_input,retrieved_contexts,response,faithfulness\n"
    path = write_text(tmp_path, "r.csv", header + "a,Q1?,[],a,0.0\nb,Q1?,[],a,\n")
    results = formats.read_as("ragas", path, columns=Columns(question_id="key"))
    assert results.question_id.tolist() == ["a", "b"]


def test_responses_that_are_error_messages_are_pointed_out(tmp_path: Path) -> None:
    header = "user_input,retrieved_contexts,response,faithfulness\n"
    path = write_text(
        tmp_path, "r.csv", header + "Q1?,['Error'],Error executing RAG pipeline,0.0\n"
    )
    assert "possible-failures" in note_codes(formats.read_as("ragas", path))


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path: Path) -> None:
    text = "user_input,retrieved_contexts,response,faithfulness\r\nQ1?,[],a,0.5\r\n"
    path = write_text(tmp_path, "r.csv", text, encoding="utf-8-sig")
    assert formats.sniff(path) == "ragas"
    assert by_question(formats.read_as("ragas", path), "faithfulness") == {"Q1?": 0.5}


def test_decomposed_and_composed_texts_are_one_question(tmp_path: Path) -> None:
    header = "user_input,retrieved_contexts,response,faithfulness\n"
    ids = [
        formats.read_as("ragas", write_text(tmp_path, name, header + row)).question_id[
            0
        ]
        for name, row in (
            ("a.csv", "caf\u00e9?,[],a,1\n"),
            ("b.csv", "cafe\u0301?,[],a,1\n"),
        )
    ]
    assert ids[0] == ids[1]


def test_scores_a_hair_off_one_are_kept_as_they_are(tmp_path: Path) -> None:
    header = "user_input,retrieved_contexts,response,answer_relevancy\n"
    path = write_text(tmp_path, "r.csv", header + "Q1?,[],a,1.0000000000000002\n")
    scores = by_question(formats.read_as("ragas", path), "answer_relevancy")
    assert scores == {"Q1?": 1.0000000000000002}


@pytest.mark.parametrize(
    "text",
    [
        "metric,score\nfaithfulness,0.8\ncontext_recall,0.7\n",
        "version,faithfulness,answer_relevancy\nv1,0.8,0.7\nv2,0.9,0.8\n",
        "faithfulness,answer_relevancy\n0.8,0.7\n",
    ],
)
def test_aggregate_files_are_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    path = write_text(tmp_path, "ragas_results.csv", text)
    with pytest.raises(InputError, match=r"ragas_results\.csv: holds one .*mean"):
        formats.sniff(path)


def test_an_experiment_in_json_lines_reads_alike(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path,
        "run.jsonl",
        [
            {
                "id": "1",
                "question": "Q?",
                "response": "r",
                "experiment_name": "x",
                "ok": True,
            },
            {
                "id": "2",
                "question": "R?",
                "response": "r",
                "experiment_name": "x",
                "ok": None,
            },
        ],
    )
    assert formats.sniff(path) == "ragas"
    results = formats.read_as("ragas", path)
    assert results.name == "x"
    assert_metric(results, "ok", [1.0, None])
