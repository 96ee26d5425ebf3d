"""Reading traces: forms of the fields, names of other files, and the messages."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from onechange.errors import InputError, PlanError
from onechange.score import (
    ScoreOptions,
    TraceFields,
    audit_question_set,
    load_options,
    parse_trace,
    read_traces,
    score,
)


def _write(path: Path, records: list[Any]) -> Path:
    lines = [r if isinstance(r, str) else json.dumps(r) for r in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("field", "value", "fact"),
    [
        ("claims", [{"label": "maybe"}], "claims[0].label is 'maybe'; expected supp"),
        ("claims", [{"label": "supported", "step": 1}, {"label": "supported"}], "step"),
        ("scores", {"faithfulness": float("nan")}, "scores.faithfulness is nan, not a"),
        ("scores", {"faithfulness": "high"}, "scores.faithfulness is 'high'; expected"),
        ("correct", 1.5, "correct is 1.5, outside [0, 1]"),
        ("correct", "yes", "correct is 'yes'; expected a number"),
        ("cosines", [0.5, 2.0], "cosines[1] is 2.0, outside [-1, 1]"),
        ("retrieved", ["a", ["doc", 1]], "retrieved mixes forms"),
        ("retrieved", [["doc", 0]], "retrieved[0] is ['doc', 0]; expected [document"),
        ("retrieved", [{"text": "x"}], "retrieved[0] has neither id nor document"),
        ("retrieved", [{"id": "a"}, {"document": "d"}], "retrieved[1] has no id"),
        ("evidence", [""], "evidence[0] is ''; expected an id"),
        ("evidence", {"a": -1}, "evidence.a is -1; expected a grade from 0"),
        (
            "evidence",
            [{"id": "a", "grade": 1}, {"id": "a", "grade": 2}],
            "second grade",
        ),
        ("reference", 12, "reference is 12; expected a text or a list of texts"),
        ("answerable", "yes", "answerable is 'yes'; expected true or false"),
        ("reference_claims", [True, None], "reference_claims[1] is None"),
        ("supporting_facts", [["A", "1"]], "supporting_facts[0]"),
        ("trial", 1.5, "trial is 1.5; expected a text or an integer"),
        ("status", "done", "status is 'done'; expected answered"),
    ],
)
def test_a_bad_field_is_named_with_file_line_and_question(
    tmp_path: Path, field: str, value: object, fact: str
) -> None:
    good = {"question_id": "q1", "answer": "x"}
    path = _write(
        tmp_path / "traces.jsonl",
        [good, {"question_id": "q2", "answer": "y", field: value}],
    )
    with pytest.raises(InputError) as caught:
        read_traces(path)
    message = str(caught.value)
    assert message.startswith("traces.jsonl:2: question 'q2': ")
    assert fact in message


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("{", "traces.jsonl:1: not a JSON object"),
        ("[1]", "traces.jsonl:1: expected a JSON object, found a list"),
        ('{"id": 1}', "traces.jsonl:1: no field question_id (found: id)"),
        ('{"question_id": 1.5}', "question_id is 1.5; expected a text or an integer"),
        ('{"question_id": " "}', "question_id is ' '"),
    ],
)
def test_a_line_that_is_no_trace_is_refused(
    tmp_path: Path, line: str, fact: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_traces(_write(tmp_path / "traces.jsonl", [line]))
    assert fact in str(caught.value)


def test_a_repeated_question_names_both_lines(tmp_path: Path) -> None:
    record = {"question_id": "q1", "answer": "x", "trial": 0}
    path = _write(tmp_path / "t.jsonl", [record, {**record, "trial": 1}, record])
    with pytest.raises(InputError, match=r"t.jsonl:3: .*trial '0' stands at t.jsonl:1"):
        read_traces(path)


def test_a_byte_order_mark_and_empty_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"question_id": 7}\r\n\n')
    assert [trace.question_id for trace in read_traces(path)] == ["7"]


def test_other_encodings_and_empty_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"question_id": "\xff"}\n')
    with pytest.raises(InputError, match="not UTF-8 text"):
        read_traces(path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match="no trace to score"):
        read_traces(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_traces(tmp_path / "absent.jsonl")


def test_the_status_follows_only_where_it_is_certain() -> None:
    assert parse_trace({"question_id": "q", "answer": "x"}).status == "answered"
    assert parse_trace({"question_id": "q", "error": "timeout"}).status == "failed"
    assert parse_trace({"question_id": "q", "retrieved": []}).status is None
    with pytest.raises(InputError, match="answer is empty"):
        parse_trace({"question_id": "q", "answer": " "})
    with pytest.raises(InputError, match="answer is empty"):
        parse_trace({"question_id": "q", "answer": None, "status": "answered"})
    lenient = parse_trace({"question_id": "q", "answer": ""}, empty_answer="failed")
    assert lenient.failed


def test_a_trace_without_answer_among_answered_ones_is_refused() -> None:
    with pytest.raises(InputError, match="'q2': neither answer nor status"):
        score([{"question_id": "q1", "answer": "x"}, {"question_id": "q2"}])


def test_field_names_of_another_tool_are_mapped(tmp_path: Path) -> None:
    toml = tmp_path / "score.toml"
    toml.write_text(
        """
[score]
k = 3
unit = "page"
[trace]
page_base = 0
[trace.fields]
question_id = "financebench_id"
answer = "output.text"
evidence = "evidence_pages"
[trace.items]
document = "doc_name"
page = "page_num"
[trace.statuses]
parse_error = "failed"
""",
        encoding="utf-8",
    )
    records = [
        {
            "financebench_id": "fb1",
            "output": {"text": "x"},
            "evidence_pages": [{"doc_name": "3M", "page_num": 59}],
            "retrieved": [{"doc_name": "3M", "page_num": 59}],
        },
        {"financebench_id": "fb2", "status": "parse_error"},
    ]
    options = load_options(toml)
    rows = score(records, options=options)
    assert rows.rows[0]["page_hit_at_3"] == 1.0
    assert rows.rows[0]["evidence"] == [["3M", 60]]
    assert rows.rows[0]["answer"] == "x"
    assert rows.rows[1]["status"] == "failed"


FINANCEBENCH = """
[score]
k = [5]
[trace]
evidence_page_base = 0
[trace.fields]
question_id = "financebench_id"
answer = "output.text"
reference = "answer"
[trace.items]
document = "doc_name"
[trace.evidence]
page = "evidence_page_num"
[trace.results]
page = "page_num"
"""


def _financebench_row() -> dict[str, Any]:
    return {
        "financebench_id": "financebench_id_03029",
        "answer": "$1577.00",
        "evidence": [{"doc_name": "3M_2018_10K", "evidence_page_num": 59}],
        "retrieved": [
            {"doc_name": "3M_2018_10K", "page_num": 61},
            {"doc_name": "3M_2018_10K", "page_num": 60},
        ],
        "output": {"text": "Capex was $1,577."},
    }


def test_labels_and_results_may_have_keys_of_their_own(tmp_path: Path) -> None:
    toml = tmp_path / "financebench.toml"
    toml.write_text(FINANCEBENCH, encoding="utf-8")
    rows = score([_financebench_row()], options=load_options(toml))
    assert rows.rows[0]["evidence"] == [["3M_2018_10K", 60]]
    assert rows.rows[0]["page_rr_at_5"] == 0.5  # page 60 is the second result
    assert rows.rows[0]["numeric_match"] == 1.0
    citations = TraceFields(items={"document": "doc"}, evidence={"document": "d"})
    trace = parse_trace(
        {"question_id": "q", "evidence": [{"d": "x"}], "cited": [{"doc": "y"}]},
        fields=citations,
    )
    assert (trace.evidence, trace.cited) == ({"x": 1.0}, ("y",))


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        (
            'page = "evidence_page_num"',
            r"evidence\[0\] has no page, but evidence_page_",
        ),
        (
            'page = "page_num"',
            r"retrieved\[0\] has no page, but page_num.*\[trace.resul",
        ),
    ],
)
def test_a_page_under_another_key_does_not_become_a_document(
    tmp_path: Path, line: str, fact: str
) -> None:
    toml = tmp_path / "financebench.toml"
    toml.write_text(FINANCEBENCH.replace(line, ""), encoding="utf-8")
    with pytest.raises(InputError, match=fact):
        score([_financebench_row()], options=load_options(toml))
    counted = {"document": "d", "page_count": 120}
    trace = parse_trace({"question_id": "q", "evidence": [counted]})
    assert trace.evidence == {"d": 1.0}


def test_evidence_may_count_pages_differently() -> None:
    fields = TraceFields(evidence_page_base=0)
    trace = parse_trace(
        {"question_id": "q", "evidence": [["d", 0]], "retrieved": [["d", 1]]},
        fields=fields,
    )
    assert trace.evidence == {("d", 1): 1.0}
    assert trace.retrieved is not None
    assert trace.retrieved.pages == (("d", 1),)


@pytest.mark.parametrize(
    ("section", "fact"),
    [
        ({"fieds": {}}, r"\[trace\] fieds: unknown key; did you mean fields"),
        ({"fields": {"anwser": "a"}}, "anwser: unknown key; did you mean answer"),
        ({"fields": {"answer": 1}}, "answer = 1: expected a field name"),
        ({"fields": "x"}, "fields: expected a table"),
        ({"evidence": "x"}, "evidence: expected a table"),
        ({"results": {"pgae": "p"}}, "pgae: unknown key; did you mean page"),
        ({"statuses": {"x": "bad"}}, "x = 'bad': expected answered"),
        ({"page_base": 2}, "page_base = 2: expected 0 or 1"),
    ],
)
def test_a_wrong_mapping_names_its_key(section: dict[str, Any], fact: str) -> None:
    with pytest.raises(PlanError, match=fact):
        TraceFields.from_dict(section)


@pytest.mark.parametrize(
    ("section", "fact"),
    [
        ({"depth": 5}, "depth: unknown key"),
        ({"k": [0]}, "expected positive integers"),
        ({"k": [True]}, "expected positive integers"),
        ({"k": "5"}, "k: expected a list"),
        ({"unit": "pages"}, "unit = 'pages': expected auto, chunk"),
        ({"correct_from": "bleu"}, "correct_from = 'bleu'"),
        ({"correct_from": "rouge_l"}, "needs rouge_l = true"),
        ({"noise_threshold": 2}, "noise_threshold: expected a number from 0 to 1"),
        ({"noise_threshold": "x"}, "noise_threshold: expected a number"),
        (
            {"relative_tolerance": -0.1},
            "relative_tolerance: expected a finite number",
        ),
        ({"rouge_l": 1}, "rouge_l: expected true or false"),
    ],
)
def test_a_wrong_option_names_its_key(section: dict[str, Any], fact: str) -> None:
    with pytest.raises(PlanError, match=fact):
        ScoreOptions.from_dict(section)


def test_a_file_of_options_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "score.toml"
    path.write_text("[score\n", encoding="utf-8")
    with pytest.raises(PlanError, match="not a TOML file"):
        load_options(path)
    path.write_text("score = 1\n", encoding="utf-8")
    with pytest.raises(PlanError, match=r"score must be a section"):
        load_options(path)
    with pytest.raises(InputError, match="cannot be read"):
        load_options(tmp_path / "absent.toml")


def test_the_chunk_mapping_is_read_from_beside_the_options(tmp_path: Path) -> None:
    (tmp_path / "pages.json").write_text('{"c1": ["d", 2]}', encoding="utf-8")
    path = tmp_path / "score.toml"
    path.write_text('[score]\nchunk_pages = "pages.json"\n', encoding="utf-8")
    options = load_options(path)
    record = {"question_id": "q", "evidence": [["d", 2]], "retrieved": ["c1"]}
    assert score([record], options=options).rows[0]["page_hit_at_5"] == 1.0
    (tmp_path / "pages.json").write_text('{"c1": ["d", 0]}', encoding="utf-8")
    with pytest.raises(InputError, match=r"'c1' is \['d', 0\]; expected"):
        load_options(path)


@pytest.mark.parametrize("nothing", ["", "  ", False, None, 0, [], {}])
def test_an_empty_error_is_no_error(nothing: object) -> None:
    trace = parse_trace({"question_id": "a", "answer": "x", "error": nothing})
    assert (trace.status, trace.error) == ("answered", None)
    assert parse_trace({"question_id": "a", "error": "boom"}).status == "failed"
    assert parse_trace({"question_id": "a", "error": True}).error == "True"


@pytest.mark.parametrize(
    ("fields", "fact"),
    [
        ({"answerable": False, "evidence": ["a"]}, "answerable is false, but evidence"),
        ({"scores": {"correct": 7}}, r"scores.correct is 7.*outside \[0, 1\]"),
        ({"correct": 1, "scores": {"correct": 0}}, "remove one of the two"),
        ({"reference": ["a", 2]}, r"reference\[1\] is 2; expected a text"),
        ({"cosines": []}, "cosines is empty; expected a list of numbers"),
        ({"status": "answered", "answer": "x", "error": "timeout"}, "a run that broke"),
        ({"status": "insufficient_evidence", "error": "timeout"}, "error is 'timeout'"),
    ],
)
def test_a_trace_that_contradicts_itself_is_refused(
    fields: dict[str, object], fact: str
) -> None:
    with pytest.raises(InputError, match=fact):
        parse_trace({"question_id": "a", **fields})
    parse_trace({"question_id": "a", "answerable": False, "evidence": {"a": 0}})


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    for fields in (
        '"answer": "x", "answer": "y"',
        '"answer" : "x", "answer": "y"',
        '"answer": "x", "tokens": {"n": 1, "n": 2}',
    ):
        path.write_text(f'{{"question_id": "a", {fields}}}\n', "utf-8")
        with pytest.raises(InputError, match=r"t\.jsonl:1: .*key '\w+' stands twice"):
            read_traces(path)
    path.write_text('{"question_id": "a", "answer": "\\"x\\": 1"}\n', "utf-8")
    assert read_traces(path)[0].answer == '"x": 1'


@pytest.mark.parametrize("limits", [[1, 0], [0, 0], [0], "01", [0, float("inf")]])
def test_a_range_that_is_none_is_refused(limits: object) -> None:
    with pytest.raises(PlanError, match=r"ranges.style = .*expected \[lowest, h"):
        ScoreOptions.from_dict({"ranges": {"style": limits}})


def test_an_infinite_tolerance_is_refused() -> None:
    with pytest.raises(PlanError, match="expected a finite number, 0 or more"):
        ScoreOptions(relative_tolerance=float("inf"))


def test_a_gzip_file_of_traces_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"question_id": "a", "answer": "x"}\n'))
    assert read_traces(path)[0].answer == "x"
    path.write_bytes(gzip.compress(b"[]")[:-9])
    with pytest.raises(InputError, match="gzip data"):
        read_traces(path)


def test_a_blank_reference_is_no_reference() -> None:
    for blank in ("", "  ", ["", ""], []):
        trace = parse_trace({"question_id": "a", "answer": "x", "reference": blank})
        assert trace.reference == ()
    kept = parse_trace({"question_id": "a", "answer": "x", "reference": ["", "y"]})
    assert kept.reference == ("y",)
    records = [
        {"question_id": "a", "answer": "x", "reference": ""},
        {"question_id": "b", "answer": "x", "reference": "x"},
    ]
    rows = score(records)
    assert rows.rows[0]["exact_match"] is None
    assert rows.reasons[0]["token_f1"] == "no reference answer"
    assert rows.summaries[0].n_scored == 1
    assert audit_question_set(records).without_reference == ("a",)


def test_traces_with_and_without_a_trial_are_no_table(tmp_path: Path) -> None:
    records = [
        {"question_id": "a", "trial": 1, "answer": "x", "reference": "x"},
        {"question_id": "b", "answer": "x", "reference": "x"},
    ]
    path = _write(tmp_path / "t.jsonl", records)
    expected = r"t\.jsonl:2: question 'b' has no trial.*t\.jsonl:1: trial '1'"
    with pytest.raises(InputError, match=expected):
        score(path)
    assert len(read_traces(path)) == 2  # an audit counts them
