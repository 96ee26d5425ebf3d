from __future__ import annotations

import gzip
import time
from pathlib import Path

import pytest

from formatfiles import write_text
from onechange import formats
from onechange.errors import InputError
from onechange.formats.delimited import parse_table
from onechange.formats.peek import outline
from onechange.formats.source import decode, load, parse_json


def test_ten_to_the_six_nested_lists_are_refused_at_once(tmp_path: Path) -> None:
    path = write_text(tmp_path, "deep.json", "[" * 1_000_000 + "]" * 1_000_000)
    start = time.perf_counter()
    assert formats.sniff(path) is None
    for name in ("deepeval", "promptfoo", "inspect", "tau-bench", "swebench"):
        with pytest.raises(
            InputError, match=r"deep\.json: the JSON is nested too deep"
        ):
            formats.read_as(name, path)
    assert time.perf_counter() - start < 5


def test_nested_objects_are_refused_too() -> None:
    with pytest.raises(InputError, match="nested too deeply"):
        parse_json('{"a":' * 200_000 + "1" + "}" * 200_000, name="x.json")


def test_a_key_twice_in_one_object_is_refused_with_both_values(tmp_path: Path) -> None:
    path = write_text(tmp_path, "r.json", '{"a__b-1": true, "a__b-1": false}')
    with pytest.raises(
        InputError, match=r'r\.json: the key "a__b-1" occurs twice .*\(True and False\)'
    ):
        formats.read_as("swebench", path)


def test_a_number_of_absurd_length_is_refused() -> None:
    with pytest.raises(InputError, match="a number is too long"):
        parse_json("[" + "9" * 10_000 + "]", name="x.json")


def test_a_truncated_file_is_refused_with_its_line(tmp_path: Path) -> None:
    path = write_text(tmp_path, "run.json", '{"testCases": [\n{"name": "a", ')
    with pytest.raises(InputError, match=r"run\.json:2: not JSON .*may be cut short"):
        formats.read_as("deepeval", path)


def test_bytes_that_are_not_utf_8_are_refused_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(b"user_input,response\nQ1,caf\xe9\n")
    with pytest.raises(InputError, match=r"r\.csv:2: byte 26 is not UTF-8 text"):
        formats.read_as("ragas", path)


def test_marked_utf_16_is_read() -> None:
    assert decode("é,ü".encode("utf-16"), name="x") == "é,ü"


@pytest.mark.parametrize(
    "head",
    [
        b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n",
        b"../../.git/annex/objects/xx/yy\n",
        b"/annex/objects/MD5E-s12--00.parquet\n",
    ],
)
@pytest.mark.parametrize("name", ["r.json", "r.csv", "r.eval", "r.parquet"])
def test_a_storage_pointer_is_refused_in_one_sentence(
    tmp_path: Path, head: bytes, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(head)
    with pytest.raises(InputError, match="this is a storage pointer and not the data"):
        formats.sniff(path)


def test_a_gzip_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(b" " * (80 << 20)))
    with pytest.raises(InputError, match=r"run\.gz: expands to over 67,108,864 bytes"):
        load(path)


def test_gzip_text_is_read(tmp_path: Path) -> None:
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(b"a b") + gzip.compress(b" c"))
    assert load(path).text == "a b c"


@pytest.mark.parametrize("cut", [5, 15])
def test_damaged_gzip_data_is_refused(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(b"one two three four")[:cut])
    with pytest.raises(InputError, match=r"run\.gz: (damaged|the) gzip data"):
        load(path)


@pytest.mark.parametrize("data", [b"", b" \n", b"a,b\n\x00,1\n"])
def test_empty_and_binary_files_are_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"empty|NUL"):
        load(path)


def test_an_absent_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        formats.sniff(tmp_path / "absent.json")


def test_a_row_with_too_many_cells_is_refused_with_its_line() -> None:
    with pytest.raises(InputError, match=r"x\.csv:4: 3 cells, the header has 2"):
        parse_table('a,b\n1,"two\nlines"\n1,2,3\n', name="x.csv")


def test_cells_far_above_the_usual_limit_are_read() -> None:
    table = parse_table("a,b\n1," + "x" * 300_000 + "\n", name="x.csv")
    assert len(table.rows[0][1]) == 300_000


def test_an_outline_of_a_cut_text_keeps_what_was_seen() -> None:
    text = (
        '{"results": {"prompts": [{"label": "x"}], "results": [{"promptIdx": 0, "vars'
    )
    assert outline(text) == {
        "results": {"prompts": [{"label": "x"}], "results": [{"promptIdx": 0}]}
    }


def test_unknown_format_names_get_the_nearest_one(tmp_path: Path) -> None:
    path = write_text(tmp_path, "r.csv", "a,b\n1,2\n")
    with pytest.raises(InputError, match=r'"ragass" is not a format.* mean "ragas"'):
        formats.read_as("ragass", path)


def test_an_unknown_file_says_what_was_looked_for(tmp_path: Path) -> None:
    path = write_text(tmp_path, "r.csv", "a,b\n1,2\n")
    with pytest.raises(
        InputError, match=r"not recognised as one of ragas, deepeval.*--id"
    ):
        formats.read_systems(path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\ud800"', "\ufffd"),
        (r'"\udc00x"', "\ufffdx"),
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'"\\ud800"', r"\ud800"),
        (r'"\\\ud800"', "\\\ufffd"),
    ],
)
def test_half_characters_become_readable_text(text: str, value: str) -> None:
    assert parse_json(text, name="x.json") == value


def test_a_hundred_thousand_columns_are_read_in_seconds(tmp_path: Path) -> None:
    names = ",".join(f"m{n}" for n in range(100_000))
    cells = ",".join("1" for _ in range(100_000))
    header = f"user_input,retrieved_contexts,response,{names}\n"
    path = write_text(
        tmp_path, "r.csv", f"{header}Q1?,[],a,{cells}\nQ2?,[],b,{cells}\n"
    )
    start = time.perf_counter()
    assert len(formats.read_as("ragas", path).metrics) == 100_000
    with pytest.raises(InputError, match="100,000 columns of scores; at most 1,000"):
        formats.read_systems(path, name="wide")
    assert time.perf_counter() - start < 20
