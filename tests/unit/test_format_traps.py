"""The fifteen traps of real result files, met through the public reading.

Each trap names what goes wrong when files are joined by hand; the formats' own tests
hold further cases of the same trap.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import onechange as oc
from formatfiles import (
    DATA,
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


def _data(*parts: str) -> Path:
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"no sample {path}; set ONECHANGE_DATA to the folder of the data")
    return path


def _audit(baseline: Path, variant: Path, plan: oc.Plan | None = None) -> oc.Audit:
    comparison = oc.compare(baseline, variant, *([] if plan is None else [plan]))
    return comparison.audits[0]


def test_trap_1_rows_in_completion_order_are_joined_by_id() -> None:
    base, variant = (
        sample("ragas_experiment", f"{n}.csv") for n in ("baseline", "variant")
    )
    audit = _audit(base, variant)
    assert (audit.paired, audit.questions) == (18, (18, 20))
    assert len(audit.only_variant) == 2


def test_trap_2_different_question_sets_are_reported_and_not_zipped() -> None:
    paths = [
        sample("swebench", f"pro_{name}-10132025.eval_results.json")
        for name in ("claude-4sonnet", "claude-45sonnet")
    ]
    keys = [set(load_json(path)) for path in paths]
    audit = _audit(*paths)
    assert audit.questions == (562, 730)
    assert audit.paired == len(keys[0] & keys[1])
    assert set(audit.only_variant) == keys[1] - keys[0]


def test_trap_3_failures_are_neither_zero_nor_lost() -> None:
    path = sample(
        "terminal_bench",
        "20250829_goose_claude-4-sonnet__2025-08-25__12-29-38__results.json",
    )
    results = oc.read(path)
    nulls = sum(t["is_resolved"] is None for t in load_json(path)["results"])
    assert nulls > 0
    assert statuses(results) == (80 - nulls, 0, nulls)
    assert np.isnan(results.metrics["resolved"]).sum() == nulls


def test_trap_4_nothing_in_every_dress_is_unscored(tmp_path: Path) -> None:
    cells = ["", "NaN", "N/A", "NA", "None", "null", "-", "NOT_AVAILABLE"]
    rows = "".join(f"q{i},{cell},1\n" for i, cell in enumerate(cells))
    path = write_text(tmp_path, "r.csv", f"question_id,score,other\n{rows}q9,0.5,\n")
    columns = oc.Columns(missing=("-", "NOT_AVAILABLE"))
    results = oc.read(path, columns=columns)
    assert_metric(results, "score", [*[None] * len(cells), 0.5])
    assert_metric(results, "other", [*[1.0] * len(cells), None])


def test_trap_5_conflicting_duplicates_are_refused_with_their_values() -> None:
    path = _data("common", "variant_dup.csv")
    with pytest.raises(InputError, match=r'"q010" occurs twice \(score 0 and 1\)'):
        oc.read(path, columns=oc.Columns(question_id="id"))


def test_trap_6_texts_that_look_like_numbers_stay_text(tmp_path: Path) -> None:
    line = {
        "financebench_id": "007",
        "model_name": "m",
        "eval_mode": "x",
        "gold_answer": "$1577.00",
        "model_answer": 12.5,
        "label": "Correct Answer",
    }
    path = tmp_path / "r.jsonl"
    path.write_text(f"{json.dumps(line)}\n", encoding="utf-8")
    results = oc.read(path)
    assert results.question_id.tolist() == ["007"]
    assert results.labels["reference"].tolist() == ["$1577.00"]
    assert results.labels["response"].tolist() == ["12.5"]


def test_trap_7_a_judge_that_changed_with_the_system_is_noted() -> None:
    audit = _audit(
        sample("inspect", "an_r_eval_claude37.json"),
        sample("inspect", "an_r_eval_gpt4o.json"),
    )
    codes = {note.code for note in audit.notes}
    assert {"judge-changed", "more-than-one-change"} <= codes


def test_trap_8_unequal_and_selective_trials_are_noted() -> None:
    plan = oc.Plan(columns=oc.Columns(trial="run"))
    audit = _audit(
        _data("repeated", "llm_stability", "gpt-3.5-turbo.csv"),
        _data("repeated", "llm_stability", "gpt-3.5-turbo-finetuned.csv"),
        plan,
    )
    assert {"unequal-trials", "selective-rerun"} <= {note.code for note in audit.notes}


def test_trap_9_a_headline_that_its_rows_contradict_is_noted() -> None:
    path = sample("swebench", "leaderboard_per_instance_details.json")
    for results in formats.read_systems(path).values():
        assert "header-disagrees" in note_codes(results)


def test_trap_10_one_file_of_two_systems_and_two_files_of_one() -> None:
    both = formats.read_systems(sample("promptfoo", "generated_repeat2.json"))
    assert set(both) == {"baseline", "variant"}
    names = ("2025-08-27__22-13-13", "2025-08-29__07-37-19")
    files = [
        sample("terminal_bench", f"20250829_goose_claude-4-opus__{name}_results.json")
        for name in names
    ]
    results = oc.read(files)
    assert results.n_rows == 160
    assert len(set(results.trial)) == 2


@pytest.mark.parametrize("name", ["a|b:c=d,e>f.csv", "Ergebnis é ü.csv", "x y.csv"])
def test_trap_11_encodings_line_ends_and_file_names(tmp_path: Path, name: str) -> None:
    text = (
        "user_input,retrieved_contexts,response,faithfulness\r\nক\u09bc?,[],a,0.5\r\n"
    )
    results = oc.read(write_text(tmp_path, name, text, encoding="utf-8-sig"))
    assert results.files[0].name == name
    assert results.metrics["faithfulness"].tolist() == [0.5]


def test_trap_12_zstandard_in_zip_and_storage_pointers(tmp_path: Path) -> None:
    results = oc.read(sample("inspect", "generated_base_3epochs.eval"))
    assert results.n_rows == 120
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"
    with pytest.raises(InputError, match="storage pointer"):
        oc.read(write_text(tmp_path, "details.parquet", pointer))


def test_trap_13_scores_a_hair_off_are_neither_refused_nor_rounded(
    tmp_path: Path,
) -> None:
    values = (0.9999999999, 1.0000000000000002)
    rows = "".join(f"Q{v}?,[],a,{v!r}\n" for v in values)
    header = "user_input,retrieved_contexts,response,context_precision\n"
    path = write_text(tmp_path, "r.csv", header + rows)
    assert sorted(oc.read(path).metrics["context_precision"]) == sorted(values)


def test_trap_14_aggregates_under_the_usual_name_are_refused(tmp_path: Path) -> None:
    path = write_text(tmp_path, "ragas_results.csv", "metric,score\nfaithfulness,0.8\n")
    with pytest.raises(InputError, match="one mean per metric; questions cannot be"):
        oc.read(path)
    with pytest.raises(InputError, match="an MTEB result"):
        oc.read(sample("mteb", "intfloat__e5-base-v2__SciFact.json"))


def test_trap_15_costs_do_not_make_a_row_scored(tmp_path: Path) -> None:
    case = {
        "name": "a",
        "input": "Q?",
        "completionTime": 2.5,
        "metricsData": [{"name": "Bias", "success": False, "error": "x"}],
    }
    run = {"testCases": [case], "metricsScores": []}
    results = oc.read(write_json(tmp_path, "run.json", run))
    assert statuses(results) == (0, 1, 0)
    assert results.metrics["completion_time_s"].tolist() == [2.5]
    assert math.isnan(results.metrics["Bias"][0])
