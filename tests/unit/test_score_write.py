"""Writing scored rows, and appending them without touching earlier rows."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pytest

import onechange as oc
from onechange.errors import InputError
from onechange.formats import read_systems
from onechange.score import ScoreOptions, append_rows, score, score_file, write_rows

RECORDS = [
    {"question_id": "q1", "evidence": ["a"], "retrieved": ["a", "b"], "note": "=1+1"},
    {"question_id": "007", "evidence": ["a"], "retrieved": ["b"], "note": 'x,"y"\nz'},
]
LATER = [{"question_id": "q3", "evidence": ["a"], "retrieved": ["a"], "note": "–"}]


def _traces(path: Path, records: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


def _csv_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_json_lines_keep_null_and_lists(tmp_path: Path) -> None:
    traces = _traces(tmp_path / "traces.jsonl", [*RECORDS, {"question_id": "q9"}])
    out = tmp_path / "results.jsonl"
    score_file(traces, out)
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row["question_id"] for row in rows] == ["q1", "007", "q9"]
    assert rows[0]["evidence"] == ["a"]
    assert rows[1]["recall_at_5"] == 0.0
    assert rows[2]["recall_at_5"] is None


def test_a_csv_table_keeps_every_text_as_it_is(tmp_path: Path) -> None:
    out = tmp_path / "results.csv"
    write_rows(score([*RECORDS, {**LATER[0], "question_id": "=1+1"}]), out)
    rows = _csv_rows(out)
    assert rows[0]["note"] == "=1+1"
    assert rows[2]["question_id"] == "=1+1"
    assert rows[1]["note"] == 'x,"y"\nz'
    assert rows[0]["evidence"] == '["a"]'
    assert rows[1]["question_id"] == "007"


def test_a_spreadsheet_keeps_texts_as_texts(tmp_path: Path) -> None:
    out = tmp_path / "results.xlsx"
    write_rows(score(RECORDS), out)
    sheet = openpyxl.load_workbook(out).worksheets[0]
    names = [cell.value for cell in sheet[1]]
    note = sheet.cell(2, names.index("note") + 1)
    assert (note.value, note.data_type) == ("=1+1", "s")
    assert sheet.cell(3, 1).value == "007"
    assert sheet.cell(2, names.index("hit_at_5") + 1).value == 1


def test_the_settings_of_scores_and_arm_stand_beside_the_table(tmp_path: Path) -> None:
    traces = _traces(tmp_path / "traces.jsonl", RECORDS)
    (tmp_path / "traces.settings.toml").write_text(
        "[retriever]\ntop_k = 3\n", encoding="utf-8"
    )
    out = tmp_path / "baseline.jsonl"
    score_file(traces, out, options=ScoreOptions(k=(1, 5)))
    path = tmp_path / "baseline.settings.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    assert settings["retriever"] == {"top_k": 3}
    assert settings["score"]["k"] == [1, 5]
    assert settings["score"]["unit"] == "chunk"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_appending_to_csv_leaves_earlier_bytes_alone(
    tmp_path: Path, ending: str
) -> None:
    table = tmp_path / "all.csv"
    write_rows(score(RECORDS), table)
    before = table.read_bytes().rstrip(b"\n").replace(b"\r\n", b"\n")
    before = before.replace(b"\n", ending.encode())
    table.write_bytes(before)
    append_rows(score(LATER), table)
    after = table.read_bytes()
    assert after.startswith(before + ending.encode())
    assert after.endswith(ending.encode())
    assert [row["question_id"] for row in _csv_rows(table)] == ["q1", "007", "q3"]


def test_appending_to_json_lines_leaves_earlier_bytes_alone(tmp_path: Path) -> None:
    table = tmp_path / "all.jsonl"
    table.write_text('{"question_id": "old", "human": 1}', encoding="utf-8")
    before = table.read_bytes()
    append_rows(score(LATER), table)
    lines = table.read_bytes().splitlines()
    assert lines[0] == before
    assert json.loads(lines[1])["question_id"] == "q3"


def test_appending_to_a_spreadsheet_leaves_earlier_cells_alone(tmp_path: Path) -> None:
    path = tmp_path / "experiment.xlsx"
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["question_id", "reviewer", "twice", "hit_at_5"])
    sheet.append(["old", "Ana", "=2*D2", 1])
    book.create_sheet("notes")["A1"] = "keep me"
    book.save(path)
    append_rows(score(LATER), path)
    book = openpyxl.load_workbook(path)
    sheet = book.worksheets[0]
    names = [cell.value for cell in sheet[1]]
    assert names[:4] == ["question_id", "reviewer", "twice", "hit_at_5"]
    assert [cell.value for cell in sheet[2]][:4] == ["old", "Ana", "=2*D2", 1]
    added = dict(zip(names, [cell.value for cell in sheet[3]], strict=True))
    assert added["question_id"] == "q3"
    assert added["reviewer"] is None
    assert added["hit_at_5"] == 1
    assert added["recall_at_5"] == 1
    assert book["notes"]["A1"].value == "keep me"
    assert sheet.max_row == 3


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".xlsx"])
def test_a_row_that_is_there_already_is_refused(tmp_path: Path, suffix: str) -> None:
    table = tmp_path / f"all{suffix}"
    write_rows(score(RECORDS), table)
    before = table.read_bytes()
    with pytest.raises(
        InputError, match="a row with question_id 'q1' is there already"
    ):
        append_rows(score(RECORDS[:1]), table)
    assert table.read_bytes() == before


def test_a_constant_column_keeps_runs_apart(tmp_path: Path) -> None:
    table = tmp_path / "all.csv"
    first, second = (ScoreOptions(constants={"run": run}) for run in ("a", "b"))
    write_rows(score(RECORDS, options=first), table)
    append_rows(score(RECORDS, options=second), table, options=second)
    assert [row["run"] for row in _csv_rows(table)] == ["a", "a", "b", "b"]
    with pytest.raises(InputError, match="question_id 'q1', run 'b'"):
        append_rows(score(RECORDS, options=second), table, options=second)


def test_a_csv_table_without_a_column_is_not_changed_silently(tmp_path: Path) -> None:
    table = tmp_path / "all.csv"
    table.write_text("question_id,hit_at_5\nold,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="has no column evidence, retrieved, note"):
        append_rows(score(LATER), table)
    options = ScoreOptions(new_columns="leave out")
    added = append_rows(score(LATER), table, options=options)
    assert added.columns == ("question_id", "hit_at_5")
    assert table.read_text(encoding="utf-8") == (
        "question_id,hit_at_5\nold,1\nq3,1.0\n"
    )


def test_scores_of_other_settings_do_not_join_a_table(tmp_path: Path) -> None:
    table = tmp_path / "all.jsonl"
    write_rows(score(RECORDS), table)
    rows = score(LATER, options=ScoreOptions(gain="linear"))
    with pytest.raises(InputError, match="gain 'exponential', now 'linear'"):
        append_rows(rows, table)


@pytest.mark.parametrize(
    ("name", "content", "fact"),
    [
        ("t.csv", "id,x\n1,2\n", "no column question_id"),
        ("t.csv", "", "no column question_id"),
        ("t.csv", "question_id,x,x\n", "stands twice"),
        ("t.csv", 'question_id\n"a\n', "not a CSV table"),
        ("t.jsonl", "{\n", "t.jsonl:1: not a JSON object"),
        ("t.jsonl", "[]\n", "t.jsonl:1: no question_id"),
        ("t.xlsx", "no workbook", "not an .xlsx workbook"),
        ("t.parquet", "", "unknown kind of table"),
    ],
)
def test_a_table_that_cannot_take_rows_is_refused(
    tmp_path: Path, name: str, content: str, fact: str
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=fact):
        append_rows(score(LATER), path)
    assert path.read_text(encoding="utf-8") == content


def test_a_table_that_is_absent_or_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        append_rows(score(LATER), tmp_path / "absent.csv")
    assert list(tmp_path.iterdir()) == []
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written"):
        write_rows(score(LATER), file / "out.csv")
    assert file.read_text(encoding="utf-8") == "mine"


def test_the_folder_of_a_new_table_is_made(tmp_path: Path) -> None:
    write_rows(score(LATER), tmp_path / "a" / "b" / "out.csv")
    assert (tmp_path / "a" / "b" / "out.csv").stat().st_size > 0


def test_the_same_traces_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        write_rows(score(RECORDS), tmp_path / name)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_a_line_separator_inside_a_text_does_not_end_a_row(tmp_path: Path) -> None:
    table = tmp_path / "all.jsonl"
    records = [{**RECORDS[0], "note": "one\u2028two"}]
    write_rows(score(records), table)
    append_rows(score(LATER), table)
    assert len(table.read_text(encoding="utf-8").split("\n")) == 3


def test_half_a_character_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    traces = tmp_path / "t.jsonl"
    traces.write_text('{"question_id": "q", "note": "\\ud83d"}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"t\.jsonl:1: holds half a character"):
        score_file(traces, tmp_path / "out.jsonl")
    traces.write_text(
        '{"question_id": "q", "evidence": [], "note": "\\ud83d\\ude00"}\n', "utf-8"
    )
    score_file(traces, tmp_path / "out.jsonl")
    with pytest.raises(InputError, match="a text holds half a character"):
        write_rows(score([{**RECORDS[0], "note": "\ud83d"}]), tmp_path / "bad.jsonl")
    assert not (tmp_path / "bad.jsonl").exists()


def test_semicolons_and_tabs_of_a_table_are_kept(tmp_path: Path) -> None:
    options = ScoreOptions(new_columns="leave out")
    table = tmp_path / "all.csv"
    table.write_text("question_id;hit_at_5\n", encoding="utf-8")
    append_rows(score(LATER), table, options=options)
    assert table.read_text(encoding="utf-8") == "question_id;hit_at_5\nq3;1.0\n"
    table = tmp_path / "all.tsv"
    table.write_text("question_id\thit_at_5\n", encoding="utf-8")
    append_rows(score(LATER), table, options=options)
    assert table.read_text(encoding="utf-8") == "question_id\thit_at_5\nq3\t1.0\n"


def test_truth_values_and_long_texts_fit_into_cells(tmp_path: Path) -> None:
    record = {**LATER[0], "flag": True, "note": "x" * 40_000 + "\x00"}
    write_rows(score([record]), tmp_path / "t.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").worksheets[0]
    names = [cell.value for cell in sheet[1]]
    note = sheet.cell(2, names.index("note") + 1).value
    assert (len(note), note[-1]) == (32767, "…")
    assert sheet.cell(2, names.index("flag") + 1).value == "true"


def test_a_spreadsheet_without_the_id_column_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    for header, fact in (
        (["id"], r"no column question_id in the first row of sheet .*found: id"),
        (["question_id", "x", "x"], "stands twice"),
    ):
        book = openpyxl.Workbook()
        book.active.append(header)
        book.save(path)
        with pytest.raises(InputError, match=fact):
            append_rows(score(LATER), path)


def test_blank_rows_and_numbers_as_ids_of_a_spreadsheet_are_understood(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["question_id", "hit_at_5"])
    book.active.append([7, 1])
    book.active.append([8.0, 1])
    book.active.cell(6, 1).value = None
    book.save(path)
    for question in ("7", "8"):
        with pytest.raises(InputError, match=f"question_id '{question}' is there"):
            append_rows(score([{**LATER[0], "question_id": question}]), path)
    append_rows(score(LATER), path)
    sheet = openpyxl.load_workbook(path).worksheets[0]
    assert sheet.cell(4, 1).value == "q3"


def test_settings_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    traces = _traces(tmp_path / "t.jsonl", RECORDS)
    settings = tmp_path / "t.settings.json"
    settings.write_text("[1]", encoding="utf-8")
    with pytest.raises(InputError, match="expected an object of settings"):
        score_file(traces, tmp_path / "out.csv")
    settings.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="its settings cannot be read"):
        score_file(traces, tmp_path / "out.csv")
    (tmp_path / "t.settings.toml").write_text("a = 1\n", encoding="utf-8")
    with pytest.raises(InputError, match="both exist"):
        score_file(traces, tmp_path / "out.csv")


def test_scoring_can_append_and_write_at_once(tmp_path: Path) -> None:
    traces = _traces(tmp_path / "t.jsonl", RECORDS)
    table = tmp_path / "all.jsonl"
    table.write_text("", encoding="utf-8")
    rows = score_file(traces, tmp_path / "out.csv", append_to=table)
    assert len(rows.rows) == 2
    assert len(table.read_text(encoding="utf-8").splitlines()) == 2
    with pytest.raises(InputError, match="unknown kind of table"):
        score_file(tmp_path / "absent.jsonl", tmp_path / "out.parquet")


def test_an_existing_table_is_replaced_only_when_forced(tmp_path: Path) -> None:
    traces = _traces(tmp_path / "t.jsonl", RECORDS)
    for name in ("out.csv", "out.jsonl", "out.xlsx"):
        table = tmp_path / name
        table.write_text("question_id,remark\nold,by hand\n", encoding="utf-8")
        with pytest.raises(InputError, match="exists; use --append to add, or --force"):
            score_file(traces, table)
        assert "by hand" in table.read_text(encoding="utf-8")
    score_file(traces, tmp_path / "out.csv", force=True)
    assert len(_csv_rows(tmp_path / "out.csv")) == 2


def test_the_traces_are_never_the_table(tmp_path: Path) -> None:
    traces = _traces(tmp_path / "t.jsonl", RECORDS)
    before = traces.read_bytes()
    with pytest.raises(InputError, match="is the file of traces"):
        score_file(traces, traces, force=True)
    with pytest.raises(InputError, match="is the file of traces"):
        score_file(traces, append_to=traces)
    with pytest.raises(InputError, match="written and added to at once"):
        score_file(traces, tmp_path / "a.csv", append_to=tmp_path / "a.csv")
    assert traces.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]


def test_two_tables_with_one_settings_file_have_the_same_settings(
    tmp_path: Path,
) -> None:
    first = _traces(tmp_path / "a.jsonl", RECORDS)
    later = _traces(tmp_path / "z.jsonl", LATER)
    linear = ScoreOptions(gain="linear")
    score_file(first, tmp_path / "N.csv")
    fact = r"N\.settings\.json .* N\.csv .*gain 'exponential', now 'linear'"
    with pytest.raises(InputError, match=fact):
        score_file(first, tmp_path / "N.xlsx", options=linear)
    assert not (tmp_path / "N.xlsx").exists()
    with pytest.raises(InputError, match="was scored with other settings"):
        score_file(later, append_to=tmp_path / "N.csv", options=linear)
    score_file(first, tmp_path / "N.xlsx")
    settings = json.loads((tmp_path / "N.settings.json").read_text(encoding="utf-8"))
    assert settings["onechange"]["tables"] == ["N.csv", "N.xlsx"]
    with pytest.raises(InputError, match=r"those of N\.xlsx"):
        score_file(first, tmp_path / "N.csv", options=linear, force=True)
    (tmp_path / "N.xlsx").unlink()
    score_file(first, tmp_path / "N.csv", options=linear, force=True)
    settings = json.loads((tmp_path / "N.settings.json").read_text(encoding="utf-8"))
    assert settings["score"]["gain"] == "linear"
    assert settings["onechange"]["tables"] == ["N.csv"]


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_settings_of_something_else_are_not_replaced(
    tmp_path: Path, suffix: str
) -> None:
    traces = _traces(tmp_path / "run.traces.jsonl", RECORDS)
    beside = tmp_path / f"run.settings.{suffix}"
    beside.write_text({"toml": "top_k = 3\n", "json": '{"top_k": 3}'}[suffix], "utf-8")
    before = beside.read_bytes()
    with pytest.raises(InputError, match="choose another name"):
        score_file(traces, tmp_path / "run.jsonl")
    assert beside.read_bytes() == before
    assert not (tmp_path / "run.jsonl").exists()


def test_settings_of_an_own_table_are_kept_when_scores_join_it(tmp_path: Path) -> None:
    table = tmp_path / "own.jsonl"
    table.write_text('{"question_id": "old", "human": 1}\n', encoding="utf-8")
    beside = tmp_path / "own.settings.json"
    beside.write_text('{"retriever": {"top_k": 3}}', encoding="utf-8")
    append_rows(score(LATER), table, settings={"retriever": {"top_k": 3}})
    settings = json.loads(beside.read_text(encoding="utf-8"))
    assert settings["retriever"] == {"top_k": 3}
    assert settings["score"]["gain"] == "exponential"
    more = score([{**LATER[0], "question_id": "q4"}])
    with pytest.raises(InputError, match=r"retriever\.top_k 3, now 8"):
        append_rows(more, table, settings={"retriever": {"top_k": 8}})


def test_a_table_with_decimal_commas_gets_decimal_commas(tmp_path: Path) -> None:
    options = ScoreOptions(new_columns="leave out")
    table = tmp_path / "all.csv"
    before = "question_id;recall_at_5;note\nq1;0,5;v 1.5\n"
    table.write_text(before, encoding="utf-8")
    append_rows(score([{**LATER[0], "evidence": ["a", "z"]}]), table, options=options)
    assert table.read_text(encoding="utf-8") == f"{before}q3;0,5;–\n"
    table.write_text(f"{before}q2;0.5;\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"with a comma \(0,5\) and with a point"):
        append_rows(score(LATER), table, options=options)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".xlsx"])
def test_a_row_without_a_trial_does_not_join_rows_with_trials(
    tmp_path: Path, suffix: str
) -> None:
    with_trial = score([{**LATER[0], "trial": 1}])
    for name, first, second in (
        ("a", with_trial, score(LATER)),
        ("b", score(LATER), with_trial),
    ):
        table = tmp_path / f"{name}{suffix}"
        write_rows(first, table)
        options = ScoreOptions(new_columns="add")
        with pytest.raises(InputError, match="question 'q3' is there already"):
            append_rows(second, table, options=options)


def test_columns_can_be_added_to_a_csv_table(tmp_path: Path) -> None:
    table = tmp_path / "all.csv"
    table.write_bytes(b'question_id,remark\r\nold,"two\r\nlines, yes"\r\n\r\nolder,=1')
    added = score([{"question_id": "q3", "evidence": ["a"], "retrieved": ["a"]}])
    append_rows(added, table, options=ScoreOptions(new_columns="add"))
    rows = _csv_rows(table)
    assert [row["question_id"] for row in rows] == ["old", "older", "q3"]
    assert rows[0]["remark"] == "two\r\nlines, yes"
    assert rows[0]["hit_at_5"] == ""
    assert rows[1]["remark"] == "=1"
    assert rows[2]["hit_at_5"] == "1.0"
    assert b'old,"two\r\nlines, yes",' in table.read_bytes()


def test_a_later_batch_with_a_failed_run_fits_the_csv_table(tmp_path: Path) -> None:
    table = tmp_path / "all.csv"
    write_rows(score(RECORDS), table)
    failed = {"question_id": "q9", "status": "failed", "error": "timeout"}
    append_rows(score([failed]), table)
    rows = _csv_rows(table)
    assert (rows[2]["status"], rows[2]["error"]) == ("failed", "timeout")
    assert rows[0]["error"] == ""


def test_runs_in_one_table_compare_by_the_column_that_names_them(
    tmp_path: Path,
) -> None:
    for suffix in (".jsonl", ".csv", ".xlsx"):
        table = tmp_path / f"runs{suffix[1:]}{suffix}"
        for depth, found in ((3, "b"), (8, "a")):
            records = [
                {"question_id": f"q{i}", "evidence": ["a"], "retrieved": [found]}
                for i in range(8)
            ]
            traces = _traces(tmp_path / f"topk{depth}.jsonl", records)
            (tmp_path / f"topk{depth}.settings.toml").write_text(
                f"[retriever]\ntop_k = {depth}\n", encoding="utf-8"
            )
            options = ScoreOptions(constants={"run": f"topk{depth}"})
            if depth == 3:
                score_file(traces, table, options=options)
            else:
                score_file(traces, options=options, append_to=table)
        found = read_systems(table, systems=["topk3", "topk8"])
        assert [arm.metrics["hit_at_5"].mean() for arm in found.values()] == [0, 1]
        tops = [arm.settings["retriever.top_k"] for arm in found.values()]
        assert tops == [3, 8]
        assert all(arm.settings["score.k"] == [5] for arm in found.values())
        assert not any(
            "onechange" in key for arm in found.values() for key in arm.settings
        )


def test_a_batch_of_the_same_run_must_have_its_settings(tmp_path: Path) -> None:
    table = tmp_path / "runs.jsonl"
    options = ScoreOptions(constants={"run": "a"})
    rows = score(RECORDS, options=options)
    write_rows(rows, table, settings={"top_k": 3}, run=options.constants)
    more = score(LATER, options=options)
    with pytest.raises(InputError, match="top_k 3, now 8"):
        append_rows(more, table, options=options, settings={"top_k": 8})
    append_rows(more, table, options=options, settings={"top_k": 3})
    assert oc.read(table).settings["top_k"] == 3


def test_a_workbook_of_scores_is_read_like_the_text_tables(tmp_path: Path) -> None:
    records = [{**RECORDS[0], "answer": "=1+1", "reference": "2"}, RECORDS[1]]
    records[1] = {**records[1], "status": "failed"}
    paths = [tmp_path / f"{kind}.{kind}" for kind in ("jsonl", "csv", "xlsx")]
    for path in paths:
        write_rows(score(records), path)
    first, *others = [oc.read(path) for path in paths]
    for arm in others:
        assert arm.question_id.tolist() == first.question_id.tolist() == ["007", "q1"]
        assert arm.metrics.keys() == first.metrics.keys()
        for name, values in first.metrics.items():
            np.testing.assert_array_equal(arm.metrics[name], values)
        assert arm.status is not None
        assert first.status is not None
        assert arm.status.tolist() == first.status.tolist()
        assert arm.labels["answer"].tolist() == first.labels["answer"].tolist()


def test_a_formula_without_a_value_is_not_read_as_unscored(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["question_id", "correct"])
    book.active.append(["q1", "=1+0"])
    book.save(path)
    with pytest.raises(InputError, match="cell B2 holds a formula without a computed"):
        oc.read(path)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".xlsx"])
def test_labels_of_a_question_are_no_settings_of_the_arm(
    tmp_path: Path, suffix: str
) -> None:
    records = [
        {
            "question_id": f"q{i}",
            "evidence": ["a"],
            "retrieved": ["a"],
            "selected": ["a"],
            "reference": "yes",
            "answer": "yes",
            "request": {"model": "heron"},
            "tags": ["x"],
        }
        for i in range(3)
    ]
    table = tmp_path / f"t{suffix}"
    write_rows(score(records, options=ScoreOptions(carry=("tags",))), table)
    found = oc.read(table)
    assert {name for name in found.settings if not name.startswith("score.")} == set()
    names = {name.split(".")[0] for name in found.labels}
    assert {"evidence", "reference", "request", "tags"} <= names


def _with_computed_formulas(path: Path, formulas: dict[str, tuple[str, str]]) -> None:
    """Write formulas with values, as a spreadsheet program does."""
    book = openpyxl.load_workbook(path)
    for place, (formula, _) in formulas.items():
        book.worksheets[0][place] = formula
    book.worksheets[0]["M3"].number_format = "yyyy-mm-dd"
    book.save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = "xl/worksheets/sheet1.xml"
    text = parts[name].decode()
    for place, (_, value) in formulas.items():
        kind, _, shown = value.rpartition(":")
        start = text.index(f'<c r="{place}"')
        end = text.index("</c>", start)
        cell = re.sub(r"<v ?/>|<v></v>", f"<v>{shown}</v>", text[start:end])
        if kind:
            cell = cell.replace("><f>", f' t="{kind}"><f>', 1)
        text = text[:start] + cell + text[end:]
    parts[name] = text.encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


def test_formulas_of_a_spreadsheet_keep_their_values(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    first = [{"question_id": q, "answer": "x", "reference": "x"} for q in ("a", "b")]
    write_rows(score(first), path)
    formulas = {
        "J1": ('="dou"&"ble"', "str:double"),
        "J2": ("=1/3*2", "0.66666666666666663"),
        "J3": ("=1+1", "2"),
        "K1": ('="word"', "str:word"),
        "K2": ('="a<b & c"', "str:a&lt;b &amp; c"),
        "K3": ("=1/0", "e:#DIV/0!"),
        "L1": ('="good"', "str:good"),
        "L2": ("=1=1", "b:1"),
        "L3": ("=1=2", "b:0"),
        "M1": ('="day"', "str:day"),
        "M3": ("=DATE(2026,2,3)", "46056"),
    }
    _with_computed_formulas(path, formulas)
    before = openpyxl.load_workbook(path, data_only=True).worksheets[0]
    assert [before[place].value for place in ("J2", "K2", "L3")] == [
        pytest.approx(2 / 3),
        "a<b & c",
        False,
    ]
    append_rows(score([{**first[0], "question_id": "c"}]), path)
    after = openpyxl.load_workbook(path, data_only=True).worksheets[0]
    written = openpyxl.load_workbook(path).worksheets[0]
    for place, (formula, _) in formulas.items():
        assert written[place].value == formula
        assert after[place].value == before[place].value, place
        assert after[place].data_type == before[place].data_type
    assert after["J4"].value is None
    read = oc.read(path)
    assert read.question_id.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(read.metrics["double"], [2 / 3, 2, np.nan])


def test_a_spreadsheet_computes_its_formulas_again_on_opening(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    record = {"question_id": "a", "answer": "x", "reference": "x"}
    write_rows(score([record]), path)
    append_rows(score([{**record, "question_id": "b"}]), path)
    with zipfile.ZipFile(path) as archive:
        assert b'fullCalcOnLoad="1"' in archive.read("xl/workbook.xml")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".xlsx"])
def test_rows_with_and_without_trials_do_not_join_one_run(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"t{suffix}"
    record = {"question_id": "a", "answer": "x", "reference": "x"}
    write_rows(score([{**record, "trial": 1}]), path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"have trial '1' \(question 'a'\), unlike"):
        append_rows(score([{**record, "question_id": "b"}]), path)
    assert path.read_bytes() == before
    append_rows(score([{**record, "question_id": "b", "trial": 1}]), path)


def test_a_text_that_a_cell_cannot_hold_is_said(tmp_path: Path) -> None:
    record = {"question_id": "a", "answer": "x\x07y", "reference": "x" * 40_000}
    traces = tmp_path / "t.jsonl"
    traces.write_text(json.dumps(record) + "\n")
    rows = score_file(traces, tmp_path / "t.xlsx")
    (note,) = [note for note in rows.notes if note.code == "text-altered"]
    assert note.text.startswith("2 texts could not be written")
    plain = score_file(traces, tmp_path / "t.csv")
    assert "text-altered" not in [note.code for note in plain.notes]
