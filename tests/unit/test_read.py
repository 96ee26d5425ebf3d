"""Reading plain sources: places in messages, roles, settings, trials, formats."""

from __future__ import annotations

import gzip
import json
import math
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from casefiles import folder
from onechange.errors import InputError
from onechange.read import read
from onechange.results import ANSWERED, FAILED, UNSCORED, Columns


def _file(path: Path, text: str, name: str = "b.csv") -> Path:
    target = path / name
    target.write_text(text, encoding="utf-8", newline="")
    return target


def _refusal(source: object, **columns: object) -> str:
    with pytest.raises(InputError) as caught:
        read(source, columns=Columns(**columns))
    return str(caught.value)


ROWS = [
    {"question_id": "007", "qtype": "NA", "correct": True, "f1": 0.5, "n": 3},
    {"question_id": "7", "qtype": "x", "correct": False, "f1": None, "n": 12},
    {"question_id": "null", "qtype": "", "correct": None, "f1": 1.0, "n": 5},
]


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json", "parquet", "frame"])
def test_every_format_gives_the_same_results(tmp_path: Path, kind: str) -> None:
    frame = pd.DataFrame(ROWS)
    target = tmp_path / f"arm.{kind}"
    source: object = target
    if kind == "csv":
        frame.to_csv(target, index=False)
    elif kind == "tsv":
        frame.to_csv(target, index=False, sep="\t")
    elif kind == "jsonl":
        target.write_text("\n\n".join(json.dumps(row) for row in ROWS) + "\n")
    elif kind == "json":
        target.write_text(json.dumps(ROWS))
    elif kind == "parquet":
        frame.to_parquet(target)
    else:
        source = frame
    results = read(source, name="arm")
    assert results.question_id.tolist() == ["007", "7", "null"]
    assert results.labels["qtype"].tolist() == ["NA", "x", None]
    np.testing.assert_array_equal(results.metrics["correct"], [1.0, 0.0, np.nan])
    np.testing.assert_array_equal(results.metrics["f1"], [0.5, np.nan, 1.0])
    assert results.metrics["n"].tolist() == [3.0, 12.0, 5.0]
    assert results.name == "arm"
    assert [file.name for file in results.files] == (
        [] if kind == "frame" else [f"arm.{kind}"]
    )


def test_byte_order_mark_and_crlf_leave_no_trace() -> None:
    for name in ("baseline.csv", "variant.jsonl"):
        results = read(folder(21) / name)
        assert results.question_id.tolist() == ["q01", "q02", "q03", "q04"]
        assert list(results.metrics) == ["answer_score"]


def test_quoted_line_breaks_do_not_move_line_numbers(tmp_path: Path) -> None:
    text = 'question_id,note,a\r\nq1,"x\r\ny",1\r\n\r\nq2,z,maybe\r\nq3,z,1\r\n'
    assert _refusal(_file(tmp_path, text)).startswith('b.csv:5: "a" is "maybe"')
    fine = read(_file(tmp_path, text.replace("maybe", "0")))
    assert fine.labels["note"].tolist() == ["x\r\ny", "z", "z"]


def test_text_in_a_metric_column_names_the_place_and_the_value() -> None:
    message = _refusal(folder(22) / "bad_value.jsonl")
    assert message.startswith('bad_value.jsonl:1: "correct" is "maybe"; expected')


def test_a_declared_metric_refuses_text_however_little_it_is(tmp_path: Path) -> None:
    path = _file(tmp_path, "question_id,a\nq1,x\nq2,y\nq3,1\n")
    assert read(path).labels["a"].tolist() == ["x", "y", "1"]
    assert 'b.csv:2: "a" is "x"' in _refusal(path, metrics=("a",))
    missing = read(path, columns=Columns(metrics=("a",), missing=("X", "y")))
    np.testing.assert_array_equal(missing.metrics["a"], [np.nan, np.nan, 1.0])


def test_the_absent_id_column_is_told_with_what_could_be_one(tmp_path: Path) -> None:
    path = _file(tmp_path, "id,kind,score\nq1,a,1\nq2,a,0\nq3,a,0\n")
    assert _refusal(path) == (
        'b.csv: no column "question_id"; found: id, kind, score. '
        "Different in every row: id. Name the id column with --id."
    )
    assert 'no column "key"' in _refusal(path, question_id="key")
    assert read(path, columns=Columns(question_id="id")).n_rows == 3


@pytest.mark.parametrize("role", ["trial", "status"])
def test_a_declared_column_that_is_absent_is_refused(tmp_path: Path, role: str) -> None:
    path = _file(tmp_path, "question_id,a\nq1,1\n")
    assert f'no {role} column "x"; found: question_id, a' in _refusal(
        path, **{role: "x"}
    )


def test_a_header_without_rows_says_that_there_are_no_questions() -> None:
    assert "empty.csv: no questions" in _refusal(folder(26) / "empty.csv")


def test_repeats_name_ids_rows_and_conflicting_scores(tmp_path: Path) -> None:
    message = _refusal(folder(17) / "baseline.csv")
    assert message.startswith(
        'baseline.csv:3 and baseline.csv:4: question "q2" occurs twice '
        "(answer_score 0.4 and 0.8)."
    )
    same = _file(tmp_path, "question_id,a\nq1,1\nq2,0\nq1,1\n")
    assert "(with the same scores)" in _refusal(same)
    text = "question_id,trial,a\nq1,1,1\nq1,2,0\nq1,2,\n"
    assert (
        'b.csv:3 and b.csv:4: question "q1", trial "2" occurs twice (a 0 and nothing)'
    ) in _refusal(_file(tmp_path, text))


def test_number_one_and_text_one_are_the_same_id() -> None:
    message = _refusal(folder(18) / "collision.jsonl")
    assert (
        'collision.jsonl:1 and collision.jsonl:2: question "1" occurs twice' in message
    )


@pytest.mark.parametrize("value", ["true", "1.0", "null", '""', "[1]", '"\\u0000"'])
def test_what_cannot_be_an_id_is_refused(tmp_path: Path, value: str) -> None:
    path = _file(tmp_path, f'{{"question_id": {value}, "a": 1}}\n', "b.jsonl")
    assert _refusal(path).startswith('b.jsonl:1: "question_id"')


def test_labels_that_look_like_numbers_keep_their_characters() -> None:
    for columns in (Columns(slices=("question_type",)), Columns()):
        results = read(folder(33) / "baseline.csv", columns=columns)
        labels = set(results.labels["question_type"].tolist())
        assert labels == {"1e5", "007", "20200407_2", "42924e28", "1.10"}


def test_columns_of_numbers_that_are_slices_are_labels(tmp_path: Path) -> None:
    path = _file(tmp_path, "question_id,level,a\nq1,1.10,1\nq2,1.1,0\n")
    results = read(path, columns=Columns(slices=("level",)))
    assert results.labels["level"].tolist() == ["1.10", "1.1"]
    assert list(results.metrics) == ["a"]


def test_constant_columns_are_settings_and_said_so(tmp_path: Path) -> None:
    text = "question_id,model,top_k,temp,correct,dose\nq1,m,3,0.0,1,5\nq2,m,3,0.0,1,5\n"
    results = read(_file(tmp_path, text))
    assert results.settings == {"model": "m", "temp": 0.0, "top_k": 3}
    assert list(results.metrics) == ["correct", "dose"]
    note = next(note for note in results.notes if note.code == "role-inferred")
    assert "settings: model, top_k, temp" in note.text
    assert "dose: one value in every row" in note.text
    declared = read(_file(tmp_path, text), columns=Columns(settings=("dose",)))
    assert declared.settings["dose"] == 5
    assert "dose" not in declared.metrics


def test_settings_that_vary_within_the_arm_are_noted(tmp_path: Path) -> None:
    text = "question_id,temperature,a\nq1,0,1\nq2,0.7,0\n"
    results = read(_file(tmp_path, text))
    assert results.settings == {"temperature": ["0", "0.7"]}
    assert "settings-vary" in {note.code for note in results.notes}


@pytest.mark.parametrize("ending", ["toml", "json"])
def test_settings_beside_the_file_are_read(tmp_path: Path, ending: str) -> None:
    path = _file(tmp_path, "question_id,a\nq1,1\n")
    content = {"toml": "model = 'm'\n[retriever]\ntop_k = 8\n"}
    content["json"] = '{"model": "m", "retriever": {"top_k": 8}}'
    _file(tmp_path, content[ending], f"b.settings.{ending}")
    results = read(path)
    assert results.settings == {"model": "m", "retriever.top_k": 8}
    assert [file.name for file in results.files] == ["b.csv", f"b.settings.{ending}"]


def test_a_damaged_or_double_settings_file_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, "question_id,a\nq1,1\n")
    _file(tmp_path, "top_k = ", "b.settings.toml")
    assert "b.settings.toml: not TOML" in _refusal(path)
    _file(tmp_path, "{}", "b.settings.json")
    assert "keep one" in _refusal(path)
    (tmp_path / "b.settings.toml").unlink()
    _file(tmp_path, "[]", "b.settings.json")
    assert "expected an object" in _refusal(path)


def test_scores_of_failed_rows_are_not_used(tmp_path: Path) -> None:
    text = "question_id,status,a\nq1,ok,1\nq2,failed,0\nq3,refused,0.5\nq4,timeout,\n"
    results = read(_file(tmp_path, text))
    assert results.status is not None
    assert results.status.tolist() == [ANSWERED, FAILED, UNSCORED, FAILED]
    np.testing.assert_array_equal(results.metrics["a"], [1.0, np.nan, 0.5, np.nan])
    note = next(note for note in results.notes if note.code == "failed-rows")
    assert note.text.startswith("1 of 2 failed rows carry scores")


def test_an_unknown_status_needs_a_map(tmp_path: Path) -> None:
    path = _file(tmp_path, "question_id,status,a\nq1,parse_error,\nq2,,1\nq3,,\n")
    assert _refusal(path).startswith('b.csv:2: "status" is "parse_error"; known words')
    results = read(path, columns=Columns(statuses={"parse_error": "failed"}))
    assert results.status is not None
    assert results.status.tolist() == [FAILED, ANSWERED, UNSCORED]
    assert any("2 rows have no status" in note.text for note in results.notes)


def test_values_outside_a_declared_range_are_refused_with_their_row() -> None:
    message = _refusal(folder(37) / "variant.csv", ranges={"faithfulness": (0.0, 1.0)})
    assert message.startswith(
        'variant.csv:2: "faithfulness" is 82, outside its declared range 0 to 1 '
        "(6 such rows)"
    )


def test_rounding_errors_at_the_end_of_a_range_are_no_errors(tmp_path: Path) -> None:
    path = _file(tmp_path, "question_id,a\nq1,1.0000000000000002\nq2,0.5\n")
    results = read(path, columns=Columns(ranges={"a": (0.0, 1.0)}))
    assert results.metrics["a"].tolist() == [1.0, 0.5]
    assert "out-of-range" in {note.code for note in results.notes}


@pytest.mark.parametrize("value", ["inf", "-Infinity", "1e999"])
def test_infinite_scores_are_refused(tmp_path: Path, value: str) -> None:
    path = _file(tmp_path, f"question_id,a\nq1,1\nq2,{value}\n")
    assert f'b.csv:3: "a" is "{value}", not a finite number' in _refusal(path)


def test_metric_names_may_differ_from_columns(tmp_path: Path) -> None:
    path = _file(tmp_path, "question_id,RAGAS F,other,text\nq1,1,2,x\nq2,0,5,y\n")
    columns = Columns(metrics=("f",), metric_columns={"f": "RAGAS F"})
    results = read(path, columns=columns)
    assert list(results.metrics) == ["f"]
    assert list(results.labels) == ["text"]
    inferred = read(path, columns=Columns(metric_columns={"f": "RAGAS F"}))
    assert list(inferred.metrics) == ["f", "other"]


def test_names_of_texts_and_ids_are_labels_even_when_they_are_numbers(
    tmp_path: Path,
) -> None:
    text = "question_id,doc_id,gold_answer,answer_score\nq1,17,4,1\nq2,18,7,0\n"
    results = read(_file(tmp_path, text))
    assert list(results.metrics) == ["answer_score"]
    assert results.labels["gold_answer"].tolist() == ["4", "7"]
    bad = text.replace("7,0", "7,none of these")
    assert '"answer_score" is "none of these"' in _refusal(_file(tmp_path, bad))


def test_files_of_a_folder_or_glob_or_list_are_trials(tmp_path: Path) -> None:
    for trial, score in (("1", 1), ("2", 0), ("10", 1)):
        text = f"question_id,a,seed\nq2,{score},{trial}\nq1,1,{trial}\n"
        _file(tmp_path, text, f"base_t{trial}.csv")
    _file(tmp_path, "model = 'm'", "base_t1.settings.toml")
    paths = [tmp_path / f"base_t{trial}.csv" for trial in ("10", "1", "2")]
    for source in (tmp_path, str(tmp_path / "base_*"), paths):
        results = read(source, name="base")
        assert results.trial is not None
        assert results.question_id.tolist() == ["q1"] * 3 + ["q2"] * 3
        assert results.trial.tolist() == ["1", "2", "10"] * 2
        assert results.metrics["a"].tolist() == [1, 1, 1, 1, 0, 1]
        assert {"base_t1.csv", "base_t2.csv"} < {file.name for file in results.files}
        varying = [n.text for n in results.notes if n.code == "settings-vary"]
        assert any("model" in text for text in varying)


def test_trial_files_keep_the_trials_they_have(tmp_path: Path) -> None:
    one = _file(tmp_path, "question_id,trial,a\nq1,a,1\nq1,b,0\n", "x.csv")
    two = _file(tmp_path, "question_id,trial,a\nq1,a,1\nq1,b,0\n", "y.csv")
    results = read([one, two])
    assert results.trial is not None
    assert results.trial.tolist() == ["x.a", "x.b", "y.a", "y.b"]


def test_trial_files_may_lack_a_column_or_leave_it_empty(tmp_path: Path) -> None:
    one = _file(tmp_path, "question_id,a,note,status\nq1,1,,ok\n", "x1.csv")
    two = _file(tmp_path, "question_id,note,b\nq1,fine,\n", "x2.csv")
    results = read([one, two])
    np.testing.assert_array_equal(results.metrics["a"], [1.0, np.nan])
    assert np.isnan(results.metrics["b"]).all()
    assert results.labels["note"].tolist() == [None, "fine"]
    assert results.status is not None
    assert results.status.tolist() == [ANSWERED, UNSCORED]
    three = _file(tmp_path, "question_id,a\nq1,x\n", "x3.csv")
    assert "holds labels here and scores in" in _refusal([one, three])


def test_absent_files_are_named(tmp_path: Path) -> None:
    for source in (tmp_path / "no.csv", str(tmp_path / "no*.csv"), [tmp_path / "n"]):
        assert str(tmp_path) in _refusal(source)
    (tmp_path / "empty").mkdir()
    assert "no result files in this folder" in _refusal(tmp_path / "empty")
    assert "no files are given" in _refusal([])


def test_nested_objects_become_dotted_columns(tmp_path: Path) -> None:
    rows = [
        {"question_id": 1, "scores": {"f1": 0.5, "judge": {"ok": True}}, "ctx": ["a"]},
        {"question_id": 2, "scores": {"f1": 1}, "ctx": [{"b": 1}]},
    ]
    path = _file(tmp_path, json.dumps(rows), "b.json")
    results = read(path)
    assert list(results.metrics) == ["scores.f1", "scores.judge.ok"]
    assert math.isnan(results.metrics["scores.judge.ok"][1])
    assert results.labels["ctx"].tolist() == ['["a"]', '[{"b": 1}]']


def test_json_lines_in_a_file_named_json_are_read(tmp_path: Path) -> None:
    text = '{"question_id": "a", "x": 1}\n{"question_id": "b", "x": 0}\n'
    assert read(_file(tmp_path, text, "b.json")).n_rows == 2


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("b.csv", b'question_id,a\nq1,"1\nq2,0\n', "b.csv:3: not a table"),
        ("b.csv", b"question_id,a\nq1\n", "b.csv:2: 1 cells, the header has 2"),
        ("b.csv", b"question_id;a\nq1;1\n", "separate the cells by commas"),
        ("b.csv", b"question_id,a,a\nq1,1,1\n", '"a" occurs twice in the header'),
        ("b.csv", b",,\n1,2,3\n", "no header row"),
        ("b.csv", b"question_id,a\nq\xe9,1\n", "b.csv:2: byte 15 is not UTF-8 text"),
        ("b.csv", b"question_id,a\nq\0,1\n", "NUL"),
        ("b.json", b'{"question_id": 1}', "expected an array of objects"),
        ("b.json", b"[1]", "b.json, item 1: expected an object"),
        ("b.json", b"3", "expected an array"),
        ("b.jsonl", b'{"question_id": 1, "a": 1, "a": 2}', '"a" occurs twice'),
        ("b.json", b"[" * 100_000, "nested too deeply"),
        ("b.json", b'[{"a.b": 1, "a": {"b": 2}}]', "rename one of them"),
        ("b.parquet", b"PAR1 and then nothing", "not a readable Parquet file"),
    ],
)
def test_damaged_files_are_refused_in_one_sentence(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert message in _refusal(tmp_path / name)


def test_too_many_different_keys_are_refused(tmp_path: Path) -> None:
    rows = "\n".join(f'{{"question_id": {i}, "k{i}": 1}}' for i in range(8000))
    assert "different keys" in _refusal(_file(tmp_path, rows, "b.jsonl"))


def test_frames_with_named_index_and_odd_columns() -> None:
    frame = pd.DataFrame(
        {("score", "f1"): [1.0, 0.5], "day": pd.to_datetime(["2024-01-01", None])},
        index=pd.Index(["q1", "q2"], name="question_id"),
    )
    results = read(frame, name="arm")
    assert results.question_id.tolist() == ["q1", "q2"]
    assert results.metrics["score.f1"].tolist() == [1.0, 0.5]
    assert results.labels["day"].tolist()[1] is None
    twice = pd.DataFrame([["q1", 1, 2]], columns=["question_id", "a", "a"])
    assert 'the column "a" occurs twice' in _refusal(twice)


def test_parquet_types_are_read_without_loss(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "question_id": [2**60 + 1, 2**60 + 2],
            "kind": pd.Categorical(["x", None]),
            "right": pd.array([True, None], dtype="boolean"),
            "n": pd.array([None, 3], dtype="Int64"),
            "meta": [{"page": 1}, {"page": 2}],
            "written": ["0.5", "n/a"],
        }
    )
    frame.to_parquet(tmp_path / "b.parquet")
    results = read(tmp_path / "b.parquet")
    assert results.question_id.tolist() == [str(2**60 + 1), str(2**60 + 2)]
    assert results.labels["kind"].tolist() == ["x", None]
    np.testing.assert_array_equal(results.metrics["right"], [1.0, np.nan])
    np.testing.assert_array_equal(results.metrics["n"], [np.nan, 3.0])
    np.testing.assert_array_equal(results.metrics["written"], [0.5, np.nan])
    assert results.metrics["meta.page"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("kind", ["parquet", "frame"])
def test_typed_columns_can_be_ids_and_labels(tmp_path: Path, kind: str) -> None:
    frame = pd.DataFrame(
        {
            "question_id": [2, 1],
            "level": [1, 3],
            "easy": [True, False],
            "price": [Decimal("0.5"), Decimal("1.5")],
            "tags": [["a"], None],
        }
    )
    frame.to_parquet(tmp_path / "b.parquet")
    source = tmp_path / "b.parquet" if kind == "parquet" else frame
    results = read(source, columns=Columns(slices=("level", "easy")))
    assert results.question_id.tolist() == ["1", "2"]
    assert results.labels["level"].tolist() == ["3", "1"]
    assert results.labels["easy"].tolist() == ["false", "true"]
    assert results.labels["tags"].tolist() == [None, '["a"]']
    assert results.metrics["price"].tolist() == [1.5, 0.5]
    floats = frame.assign(question_id=[1.0, 2.0])
    floats.to_parquet(tmp_path / "b.parquet")
    message = _refusal(source if kind == "parquet" else floats)
    assert '"question_id" is 1.0; expected a text or a whole number' in message


@pytest.mark.parametrize("value", [None, " ", "", "a\0b"])
def test_blank_ids_in_parquet_are_refused(tmp_path: Path, value: str | None) -> None:
    frame = pd.DataFrame({"question_id": ["q", value], "a": [1, 0]})
    frame.to_parquet(tmp_path / "b.parquet")
    assert _refusal(tmp_path / "b.parquet").startswith("b.parquet, row 2:")


def test_an_id_with_half_a_character_is_refused() -> None:
    frame = pd.DataFrame({"question_id": ["q", "\ud800"], "a": [1, 0]}, dtype=object)
    assert "holds a character that is no text" in _refusal(frame)


def test_a_missing_trial_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, "question_id,trial,a\nq1,1,1\nq2,,0\n")
    assert _refusal(path).startswith('b.csv:3: "trial" is empty')


def test_one_row_of_totals_is_told_apart(tmp_path: Path) -> None:
    path = _file(tmp_path, "model,f1,recall\nm,0.5,0.6\n")
    assert "seems to hold totals only" in _refusal(path)


def test_the_name_of_the_format_may_be_given(tmp_path: Path) -> None:
    path = _file(tmp_path, "question_id\ta\nq1\t1\n", "b.txt")
    assert read(path, input_format="tsv").metrics["a"].tolist() == [1.0]
    frame = pd.DataFrame({"question_id": ["q1"], "a": [1]})
    frame.to_parquet(tmp_path / "results")
    assert read(tmp_path / "results").n_rows == 1
    with pytest.raises(InputError, match="not a format"):
        read(path, input_format="excel")


def test_a_compressed_table_is_read(tmp_path: Path) -> None:
    path = tmp_path / "b.csv.gz"
    path.write_bytes(gzip.compress(b"question_id,a\nq1,1\n"))
    assert read(path).name == "b"


def test_reading_a_table_imports_neither_pandas_nor_scipy() -> None:
    code = (
        "import sys; from onechange.read import read;"
        "from onechange.align import align;"
        f"x = read({str(folder(15) / 'baseline.csv')!r}); align(x, x);"
        "print([m for m in ('pandas', 'scipy', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_results_are_given_back_as_they_are() -> None:
    results = read(folder(15) / "baseline.csv")
    assert read(results) is results


def test_a_long_name_in_the_note_on_roles_shows_that_it_is_cut() -> None:
    name = "answer_relevance_" * 6
    frame = pd.DataFrame({"question_id": ["a", "b"], name: [0.1, 0.2]})
    (note,) = [n for n in read(frame).notes if n.code == "role-inferred"]
    assert name[:59] + "…" in note.text
    assert name not in note.text
