"""Whatever a file holds: results, or one refusal; never a crash, never a lost row."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onechange.align import align
from onechange.errors import OnechangeError
from onechange.read import read
from onechange.results import Results

ROWS = [
    {
        "question_id": f"q{i}",
        "trial": i % 2,
        "status": "ok" if i else "failed",
        "correct": bool(i % 2),
        "f1": None if i == 3 else i / 10,
        "model": "m",
        "note": 'a "quoted"\r\nnote, with é',
        "scores": {"judge": i, "parts": [i, {"x": None}]},
    }
    for i in range(8)
]
SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".parquet")
TOKENS = [
    *(b"\0", b'"', b"'", b"{", b"}", b"[", b"]", b",", b"\t", b";", b"\n", b"\r", b":"),
    *(b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"NaN", b"Infinity", b"-inf", b"1e999"),
    *(b"9" * 400, b"9" * 5000, b"\\ud800", b"\\u0000", b"null", b"true", b"maybe"),
    *(
        b"question_id",
        b'{"a":1,"a":2}',
        b"[" * 5000,
        b'{"a":' * 200,
        b"PAR1",
        b"PK\3\4",
    ),
]


def _seeds() -> dict[str, bytes]:
    flat = pd.DataFrame(ROWS).drop(columns="scores")
    with tempfile.TemporaryDirectory() as place:
        parquet = Path(place) / "seed.parquet"
        nested = [{"judge": row["scores"]["judge"]} for row in ROWS]
        flat.assign(scores=nested).to_parquet(parquet)
        return {
            ".csv": flat.to_csv(index=False).encode(),
            ".tsv": flat.to_csv(index=False, sep="\t").encode("utf-8-sig"),
            ".jsonl": "\n".join(json.dumps(row) for row in ROWS).encode(),
            ".json": json.dumps(ROWS, ensure_ascii=False).encode(),
            ".parquet": parquet.read_bytes(),
        }


SEEDS = _seeds()
EDIT = st.tuples(
    st.sampled_from(["cut", "insert", "replace", "delete", "repeat", "flip"]),
    st.integers(0, 6000),
    st.one_of(st.sampled_from(TOKENS), st.binary(max_size=8)),
    st.integers(0, 60),
)


def _edited(data: bytes, edits: list[tuple[str, int, bytes, int]]) -> bytes:
    for kind, where, token, size in edits:
        at = where % (len(data) + 1)
        if kind == "cut":
            data = data[:at]
        elif kind == "insert":
            data = data[:at] + token + data[at:]
        elif kind == "replace":
            data = data[:at] + token + data[at + size :]
        elif kind == "delete":
            data = data[:at] + data[at + size :]
        elif kind == "repeat":
            data = data[:at] + data[at : at + 3 * size] + data[at:]
        elif at < len(data):
            data = data[:at] + bytes([data[at] ^ (1 << size % 8)]) + data[at + 1 :]
    return data


def _read_or_refusal(path: Path) -> Results | str:
    try:
        return read(path)
    except OnechangeError as error:
        return str(error)


@settings(
    max_examples=250,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    seed=st.sampled_from(SUFFIXES),
    other=st.sampled_from([None, *SUFFIXES]),
    edits=st.lists(EDIT, min_size=1, max_size=4),
)
def test_a_mutated_file_is_read_or_refused(
    tmp_path: Path,
    seed: str,
    other: str | None,
    edits: list[tuple[str, int, bytes, int]],
) -> None:
    path = tmp_path / f"arm{other or seed}"
    path.write_bytes(_edited(SEEDS[seed], edits))
    results = _read_or_refusal(path)
    if isinstance(results, str):
        assert results.strip()
        assert len(results) < 2000
        return
    _, audit = align(results, results)
    assert audit.rows_read == (results.n_rows, results.n_rows)
    assert audit.rows_paired == audit.rows_read
    assert all(row is not None for row in results.question_id)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_seeds_themselves_are_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"arm{suffix}"
    path.write_bytes(SEEDS[suffix])
    results = read(path)
    assert results.n_rows == len(ROWS)
    assert {"correct", "f1"} <= set(results.metrics)
    assert results.settings == {"model": "m"}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_cut_anywhere_is_read_or_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"arm{suffix}"
    data = SEEDS[suffix]
    for end in range(0, len(data), 1 + len(data) // 150):
        path.write_bytes(data[:end])
        results = _read_or_refusal(path)
        if isinstance(results, str):
            assert path.name in results
        else:
            assert results.n_rows <= len(ROWS)


def test_many_columns_are_read_in_seconds(tmp_path: Path) -> None:
    n_columns = 20_000
    path = tmp_path / "wide.csv"
    header = ",".join(["question_id", *(f"m{i}" for i in range(n_columns))])
    rows = [",".join([f"q{row}"] + ["1"] * n_columns) for row in range(3)]
    path.write_text("\n".join([header, *rows]))
    assert len(read(path).metrics) == n_columns
