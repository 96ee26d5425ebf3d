from __future__ import annotations

import json
import math
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import zstandard

from formatfiles import (
    assert_metric,
    load_json,
    note_codes,
    sample,
    statuses,
    write_json,
)
from onechange import formats
from onechange.errors import InputError
from onechange.results import FAILED

LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0}


def _samples_by_hand(path: Path) -> list[dict[str, Any]]:
    """Samples of an archive, expanded without the reader under test."""
    data = path.read_bytes()
    found = []
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if not info.filename.startswith("samples/"):
                continue
            start = info.header_offset
            name, extra = struct.unpack("<HH", data[start + 26 : start + 30])
            start += 30 + name + extra
            packed = data[start : start + info.compress_size]
            if info.compress_type == 93:
                text = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
            else:
                text = archive.read(info)
            found.append(json.loads(text))
    return found


@pytest.mark.parametrize("name", ["generated_base", "generated_variant"])
def test_an_archive_in_zstandard_reads_with_its_epochs_as_trials(name: str) -> None:
    path = sample("inspect", f"{name}_3epochs.eval")
    assert formats.sniff(path) == "inspect"
    results = formats.read_as("inspect", path)
    raw = _samples_by_hand(path)
    scored = [s["scores"] for s in raw if not s.get("error")]
    assert results.n_rows == len(raw) == 120
    assert set(results.trial) == {"1", "2", "3"}
    assert_metric(results, "match", [LETTERS[s["match"]["value"]] for s in scored])
    assert_metric(
        results,
        "multi.correct",
        [LETTERS[s["multi"]["value"]["correct"]] for s in scored],
    )
    assert_metric(
        results,
        "multi.faithfulness",
        [s["multi"]["value"]["faithfulness"] for s in scored],
    )
    assert_metric(
        results,
        "total_time_s",
        [s["total_time"] for s in raw if not s.get("error")],
    )


@pytest.mark.parametrize("name", ["generated_base", "generated_variant"])
def test_samples_that_errored_are_failed_and_not_zero(name: str) -> None:
    path = sample("inspect", f"{name}_3epochs.eval")
    results = formats.read_as("inspect", path)
    errored = {
        (s["id"], str(s["epoch"])) for s in _samples_by_hand(path) if s.get("error")
    }
    assert statuses(results) == (118, 0, 2)
    failed = results.status == FAILED
    assert (
        set(zip(results.question_id[failed], results.trial[failed], strict=True))
        == errored
    )
    assert all(math.isnan(v) for v in results.metrics["match"][failed])


def test_one_changed_task_argument_is_one_changed_setting() -> None:
    base, variant = (
        formats.read_as("inspect", sample("inspect", f"generated_{name}_3epochs.eval"))
        for name in ("base", "variant")
    )
    keys = base.settings.keys() | variant.settings.keys()
    changed = {k for k in keys if base.settings.get(k) != variant.settings.get(k)}
    assert changed == {"task_args.cfg"}


@pytest.mark.parametrize("name", ["popularity_2epochs", "popularity_scored"])
def test_a_deflated_archive_reads(name: str) -> None:
    path = sample("inspect", f"{name}.eval")
    results = formats.read_as("inspect", path)
    raw = _samples_by_hand(path)
    assert_metric(
        results, "match", [LETTERS[s["scores"]["match"]["value"]] for s in raw]
    )
    tokens = [next(iter(s["model_usage"].values()))["input_tokens"] for s in raw]
    assert_metric(results, "input_tokens", tokens)
    assert set(results.question_id) == {str(s["id"]) for s in raw}


@pytest.mark.parametrize(("name", "n_rows"), [("qwen", 3), ("sonnet", 5)])
def test_a_json_log_reads(name: str, n_rows: int) -> None:
    path = sample("inspect", f"data_arc_{name}.json")
    results = formats.read_as("inspect", path)
    raw = load_json(path)["samples"]
    assert results.n_rows == n_rows
    assert results.trial is None
    assert_metric(
        results, "choice", [LETTERS[s["scores"]["choice"]["value"]] for s in raw]
    )


@pytest.mark.parametrize(
    ("name", "judge"),
    [("claude37", "claude-3-7-sonnet-latest"), ("gpt4o", "gpt-4o")],
)
def test_the_judge_in_a_scorer_name_of_vitals_becomes_a_setting(
    name: str, judge: str
) -> None:
    path = sample("inspect", f"an_r_eval_{name}.json")
    results = formats.read_as("inspect", path)
    metric = "model_graded_qa(partial_credit = TRUE)"
    raw = [
        next(iter(s["scores"].values()))["value"] for s in load_json(path)["samples"]
    ]
    assert_metric(results, metric, [LETTERS[value] for value in raw])
    assert results.settings[f"judge.{metric}"] == judge


def _log(*samples: Mapping[str, Any], **info: Any) -> dict[str, Any]:
    header = {
        "task": "t",
        "model": "m",
        "scorers": [{"name": "qa", "options": {}}],
        **info,
    }
    return {
        "version": 2,
        "status": "success",
        "eval": header,
        "plan": {"steps": []},
        "samples": list(samples),
    }


def _sample(key: Any, value: Any, **changes: Any) -> dict[str, Any]:
    scores = {} if value is None else {"qa": {"value": value}}
    return {
        "id": key,
        "epoch": 1,
        "input": "?",
        "target": "t",
        "scores": scores,
    } | changes


@pytest.mark.parametrize(
    ("value", "score"),
    [
        ("C", 1.0),
        ("P", 0.5),
        ("I", 0.0),
        ("N", 0.0),
        (0.25, 0.25),
        (True, 1.0),
        ("yes", 1.0),
        ("No", 0.0),
        ("true", 1.0),
        ("0.75", 0.75),
    ],
)
def test_score_values_in_all_their_forms(
    tmp_path: Path, value: Any, score: float
) -> None:
    path = write_json(tmp_path, "log.json", _log(_sample(1, value)))
    assert formats.read_as("inspect", path).metrics["qa"].tolist() == [score]


def test_no_answer_counts_zero_and_is_noted(tmp_path: Path) -> None:
    path = write_json(tmp_path, "log.json", _log(_sample(1, "N")))
    assert "no-answer-is-zero" in note_codes(formats.read_as("inspect", path))


def test_a_bare_nan_token_and_an_absent_scorer_are_unscored(tmp_path: Path) -> None:
    log = _log(_sample(1, math.nan), _sample(2, None), _sample(3, "C"))
    results = formats.read_as("inspect", write_json(tmp_path, "log.json", log))
    assert "NaN" in (tmp_path / "log.json").read_text(encoding="utf-8")
    assert_metric(results, "qa", [None, None, 1.0])
    assert statuses(results) == (1, 2, 0)


def test_a_text_score_is_kept_as_a_label(tmp_path: Path) -> None:
    log = _log(_sample(1, "rather good"), _sample(2, "C"))
    results = formats.read_as("inspect", write_json(tmp_path, "log.json", log))
    assert_metric(results, "qa", [None, 1.0])
    assert results.labels["qa"].tolist() == ["rather good", None]
    assert "text-score" in note_codes(results)


def test_two_judges_of_one_scorer_stay_two_metrics(tmp_path: Path) -> None:
    scores = {"qa (gpt)": {"value": "C"}, "qa (claude)": {"value": "I"}}
    log = _log(_sample(1, None, scores=scores))
    results = formats.read_as("inspect", write_json(tmp_path, "log.json", log))
    assert set(results.metrics) == {"qa (gpt)", "qa (claude)"}


def test_the_model_of_a_scorer_is_its_judge(tmp_path: Path) -> None:
    scorers = [{"name": "qa", "options": {"model": "gpt-4o"}}]
    log = _log(_sample(1, "C"), scorers=scorers)
    results = formats.read_as("inspect", write_json(tmp_path, "log.json", log))
    assert results.settings["judge.qa"] == "gpt-4o"


def test_a_header_that_announces_more_epochs_than_there_are_is_noted(
    tmp_path: Path,
) -> None:
    log = _log(
        _sample(1, "C"),
        config={"epochs": 10},
        dataset={"sample_ids": list(range(79))},
    )
    results = formats.read_as("inspect", write_json(tmp_path, "log.json", log))
    assert "header-disagrees" in note_codes(results)


def test_a_cancelled_run_is_noted(tmp_path: Path) -> None:
    log = _log(_sample(1, "C")) | {"status": "cancelled"}
    results = formats.read_as("inspect", write_json(tmp_path, "log.json", log))
    assert "incomplete-run" in note_codes(results)


def test_a_sample_twice_in_one_epoch_is_refused(tmp_path: Path) -> None:
    path = write_json(tmp_path, "log.json", _log(_sample(1, "C"), _sample(1, "I")))
    with pytest.raises(InputError, match=r'question "1" occurs at samples\[0\] and'):
        formats.read_as("inspect", path)


def _archive(folder: Path, members: Mapping[str, bytes]) -> Path:
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def _members(*samples: dict[str, Any]) -> dict[str, bytes]:
    log = _log()
    del log["samples"]
    found = {"header.json": json.dumps(log).encode()}
    for entry in samples:
        name = f"samples/{entry['id']}_epoch_{entry['epoch']}.json"
        found[name] = json.dumps(entry).encode()
    return found


def test_an_interrupted_log_without_header_reads_from_its_journal(
    tmp_path: Path,
) -> None:
    members = _members(_sample(1, "C"))
    members["_journal/start.json"] = members.pop("header.json")
    results = formats.read_as("inspect", _archive(tmp_path, members))
    assert results.metrics["qa"].tolist() == [1.0]
    assert "incomplete-run" in note_codes(results)


@pytest.mark.parametrize(
    "name", ["../../evil.json", "/etc/x.json", "a\\..\\..\\b", "C:\\x"]
)
def test_member_names_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    path = _archive(tmp_path, _members(_sample(1, "C")) | {name: b"{}"})
    with pytest.raises(InputError, match="leads out of the archive"):
        formats.read_as("inspect", path)


def test_a_member_that_expands_without_end_is_refused(tmp_path: Path) -> None:
    bomb = b'{"id": 1, "x": "' + b"0" * (70 << 20) + b'"}'
    path = _archive(tmp_path, _members() | {"samples/1_epoch_1.json": bomb})
    assert path.stat().st_size < 200_000
    with pytest.raises(InputError, match=r"samples/1_epoch_1\.json.* claims 73,400"):
        formats.read_as("inspect", path)


def _with_claimed_size(path: Path, name: str, size: int) -> None:
    """Overwrite the expanded size of a member in the table of contents."""
    data = bytearray(path.read_bytes())
    entry = data.rindex(name.encode()) - 46
    assert data[entry : entry + 4] == b"PK\x01\x02"
    data[entry + 24 : entry + 28] = struct.pack("<I", size)
    path.write_bytes(bytes(data))


def test_a_member_that_claims_two_gigabytes_is_refused(tmp_path: Path) -> None:
    path = _archive(tmp_path, _members(_sample(1, "C")))
    _with_claimed_size(path, "samples/1_epoch_1.json", 2_000_000_000)
    with pytest.raises(InputError, match="claims 2,000,000,000 bytes"):
        formats.read_as("inspect", path)


def test_a_member_that_claims_less_than_it_holds_is_refused(tmp_path: Path) -> None:
    bomb = b'{"id": 1, "x": "' + b"0" * (70 << 20) + b'"}'
    path = _archive(tmp_path, _members() | {"samples/1_epoch_1.json": bomb})
    _with_claimed_size(path, "samples/1_epoch_1.json", 10)
    with pytest.raises(InputError, match="expands to over 67,108,864 bytes"):
        formats.read_as("inspect", path)


def test_a_zstandard_bomb_is_refused(tmp_path: Path) -> None:
    packed = zstandard.ZstdCompressor().compress(b"0" * (70 << 20))
    path = _archive(tmp_path, _members())
    path.write_bytes(_zip_of_method_93(packed, 70 << 20))
    with pytest.raises(InputError, match="claims 73,400,320 bytes"):
        formats.read_as("inspect", path)
    path.write_bytes(_zip_of_method_93(packed, 10))
    with pytest.raises(InputError, match="expands to over 67,108,864 bytes"):
        formats.read_as("inspect", path)


def _zip_of_method_93(packed: bytes, size: int) -> bytes:
    """An archive of one member, header.json, compressed by Zstandard."""
    name = b"header.json"
    local = struct.pack(
        "<4sHHHHHIIIHH",
        b"PK\x03\x04",
        63,
        0,
        93,
        0,
        0,
        0,
        len(packed),
        size,
        len(name),
        0,
    )
    central = struct.pack(
        "<4sHHHHHHIIIHHHHHII",
        *(b"PK\x01\x02", 63, 63, 0, 93, 0, 0, 0, len(packed), size, len(name)),
        *(0, 0, 0, 0, 0, 0),
    )
    start = len(local) + len(name) + len(packed)
    length = len(central) + len(name)
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 1, 1, length, start, 0)
    return local + name + packed + central + name + end


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.95])
def test_an_archive_that_is_cut_short_is_refused(tmp_path: Path, keep: float) -> None:
    path = _archive(tmp_path, _members(_sample(1, "C"), _sample(2, "I")))
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(InputError, match=r"log\.eval: damaged ZIP archive"):
        formats.read_as("inspect", path)


def test_a_damaged_member_is_refused(tmp_path: Path) -> None:
    path = _archive(tmp_path, _members(_sample(1, "C")))
    data = bytearray(path.read_bytes())
    start = data.index(b"samples/1_epoch_1.json") + len("samples/1_epoch_1.json")
    data[start : start + 8] = b"\xff" * 8
    path.write_bytes(bytes(data))
    with pytest.raises(InputError, match=r'member "samples/1_epoch_1\.json": damaged'):
        formats.read_as("inspect", path)


def test_the_same_member_twice_is_refused(tmp_path: Path) -> None:
    members = _members(_sample(1, "C"))
    path = _archive(tmp_path, members)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Dupl"):
        archive.writestr("samples/1_epoch_1.json", members["header.json"])
    with pytest.raises(InputError, match="occurs twice in the archive"):
        formats.read_as("inspect", path)
