"""Scored rows -> JSON Lines, CSV or a spreadsheet, whole or appended to a table."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from onechange.display import escape_csv
from onechange.errors import InputError
from onechange.score import spreadsheet
from onechange.score.files import (
    arm_settings,
    read_text,
    replace_file,
    settings_path,
    write_settings,
)
from onechange.score.options import ScoreOptions
from onechange.score.rows import ScoredRows, score

__all__ = ["append_rows", "score_file", "write_rows"]

_SUFFIXES = (".jsonl", ".ndjson", ".csv", ".tsv", ".xlsx")


def score_file(
    traces_path: str | Path,
    out_path: str | Path | None = None,
    *,
    options: ScoreOptions | None = None,
    append_to: str | Path | None = None,
) -> ScoredRows:
    """Score a file of traces, and write or append the rows.

    Parameters
    ----------
    traces_path : str or Path
        JSON Lines file of traces. Settings of the arm beside it
        (``<stem>.settings.toml`` or ``.json``) are carried over.
    out_path : str or Path, optional
        New table: ``.jsonl``, ``.csv``, ``.tsv`` or ``.xlsx``. The settings are
        written beside it as ``<stem>.settings.json``.
    options : ScoreOptions, optional
        Depths, unit, conventions, names of the fields.
    append_to : str or Path, optional
        Existing table to which the rows are added; its rows stay as they are.

    Returns
    -------
    ScoredRows

    Raises
    ------
    InputError
        If a file cannot be read or written, a trace is not valid, or the rows do not
        fit the table.
    """
    options = ScoreOptions() if options is None else options
    for path in (out_path, append_to):
        if path is not None:
            _suffix(Path(path))
    rows = score(traces_path, options=options)
    if append_to is not None:
        append_rows(rows, append_to, options=options)
    if out_path is not None:
        recorded = arm_settings(Path(traces_path))
        write_rows(rows, out_path, settings=recorded)
    return rows


def write_rows(
    rows: ScoredRows,
    path: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Write rows as a new table, and the settings of the scores beside it.

    Parameters
    ----------
    rows : ScoredRows
    path : str or Path
        ``.jsonl``, ``.csv``, ``.tsv`` or ``.xlsx``; replaced as a whole.
    settings : mapping, optional
        Settings of the arm to write with those of the scores.

    Raises
    ------
    InputError
        If the suffix is unknown or the file cannot be written.
    """
    path = Path(path)
    suffix = _suffix(path)
    content: bytes | str
    if suffix == ".xlsx":
        content = spreadsheet.new_workbook(rows.columns, _cell_rows(rows, rows.columns))
    elif suffix in (".csv", ".tsv"):
        content = _csv_text(rows, rows.columns, header=True, dialect=_dialect(suffix))
    else:
        content = _jsonl_text(rows)
    replace_file(path, content)
    write_settings(path, {**(settings or {}), "score": dict(rows.settings)})


def append_rows(
    rows: ScoredRows, path: str | Path, *, options: ScoreOptions | None = None
) -> ScoredRows:
    """Add rows to an existing table without touching those that are there.

    Parameters
    ----------
    rows : ScoredRows
    path : str or Path
        ``.jsonl``, ``.csv``, ``.tsv`` or ``.xlsx`` table with a column
        ``question_id``. A spreadsheet gets missing columns at its right, on its
        first sheet.
    options : ScoreOptions, optional
        `new_columns` says what happens when a CSV table lacks a column; `constants`
        join question and trial in telling rows apart.

    Returns
    -------
    ScoredRows
        The rows as they were added.

    Raises
    ------
    InputError
        If the table cannot be read, lacks a column, has one of the rows already, or
        was scored with other settings.
    """
    path = Path(path)
    suffix = _suffix(path)
    options = ScoreOptions() if options is None else options
    _check_settings(path, rows)
    keys = ("question_id", "trial", *options.constants)
    content: bytes | str
    if suffix == ".xlsx":
        book = spreadsheet.open_workbook(path)
        known = spreadsheet.header(book, path)
        existing = spreadsheet.key_rows(book, known, keys)
    elif suffix in (".csv", ".tsv"):
        known, existing, dialect = _csv_table(path, keys, suffix)
    else:
        known, existing = _jsonl_table(path, keys)
    _refuse_repeats(rows, existing, keys, path)
    if suffix == ".xlsx":
        new = [name for name in rows.columns if name not in known]
        columns = (*known, *new)
        content = spreadsheet.extended(book, new, _cell_rows(rows, columns), len(known))
    elif suffix in (".csv", ".tsv"):
        rows = _fit_columns(rows, known, path, options)
        before = read_text(path)
        text = _csv_text(rows, known, header=False, dialect=dialect)
        content = _on_new_line(before, dialect.lineterminator) + text
    else:
        content = _on_new_line(read_text(path), "\n") + _jsonl_text(rows)
    replace_file(path, content)
    if not settings_path(path).exists():
        write_settings(path, {"score": dict(rows.settings)})
    return rows


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError(
            f"{path}: unknown kind of table {suffix!r}; "
            f"use one of {', '.join(_SUFFIXES)}"
        )
    return suffix


def _jsonl_text(rows: ScoredRows) -> str:
    columns = rows.columns
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    lines = [encode({name: row.get(name) for name in columns}) for row in rows.rows]
    return "\n".join(lines) + "\n"


def _cell_rows(rows: ScoredRows, columns: Sequence[str]) -> Iterable[list[Any]]:
    for row in rows.rows:
        yield [_cell(row.get(name)) for name in columns]


def _cell(value: Any) -> Any:
    """Plain cell of a table: lists and objects as JSON text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, str | int | float):
        return value
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _dialect(suffix: str) -> type[csv.Dialect]:
    class Dialect(csv.excel):
        delimiter = "\t" if suffix == ".tsv" else ","
        lineterminator = "\n"

    return Dialect


def _csv_text(
    rows: ScoredRows,
    columns: Sequence[str],
    *,
    header: bool,
    dialect: type[csv.Dialect],
) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, dialect)
    if header:
        writer.writerow([escape_csv(name) for name in columns])
    for cells in _cell_rows(rows, columns):
        writer.writerow(
            [escape_csv(cell) if isinstance(cell, str) else cell for cell in cells]
        )
    return buffer.getvalue()


def _csv_table(
    path: Path, keys: Sequence[str], suffix: str
) -> tuple[tuple[str, ...], list[tuple[str, ...]], type[csv.Dialect]]:
    """Header, keys of the rows, and the dialect of an existing table."""
    text = read_text(path).removeprefix("\ufeff")
    dialect = _dialect(suffix)
    first = text.split("\n", 1)[0]
    if suffix == ".csv" and "," not in first and ";" in first:
        dialect.delimiter = ";"
    if first.endswith("\r"):
        dialect.lineterminator = "\r\n"
    try:
        table = list(csv.reader(io.StringIO(text, newline=""), dialect, strict=True))
    except csv.Error as error:
        raise InputError(f"{path}: not a CSV table ({error})") from error
    if not table or "question_id" not in table[0]:
        found = ", ".join(table[0]) if table else "nothing"
        raise InputError(f"{path}: no column question_id (found: {found})")
    header = tuple(table[0])
    if len(set(header)) < len(header):
        raise InputError(f"{path}: a column name stands twice in the header")
    places = [header.index(name) if name in header else None for name in keys]
    existing = [
        tuple("" if at is None or at >= len(row) else row[at] for at in places)
        for row in table[1:]
        if row
    ]
    return header, existing, dialect


def _jsonl_table(
    path: Path, keys: Sequence[str]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    known: dict[str, None] = {}
    existing = []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}:{number}: not a JSON object ({error})") from error
        if not isinstance(record, dict) or "question_id" not in record:
            raise InputError(f"{path}:{number}: no question_id")
        known.update(dict.fromkeys(record))
        existing.append(tuple(_key_text(record.get(name)) for name in keys))
    return tuple(known), existing


def _key_text(value: Any) -> str:
    return "" if value is None else str(value)


def _refuse_repeats(
    rows: ScoredRows,
    existing: Iterable[tuple[str, ...]],
    keys: Sequence[str],
    path: Path,
) -> None:
    present = set(existing)
    for row in rows.rows:
        key = tuple(_key_text(row.get(name)) for name in keys)
        escaped = tuple(escape_csv(part) for part in key)
        if key in present or escaped in present:
            which = ", ".join(
                f"{name} {part!r}" for name, part in zip(keys, key, strict=True) if part
            )
            raise InputError(
                f"{path}: a row with {which} is there already; to keep several runs in "
                "one table add a constant column that names the run"
            )


def _fit_columns(
    rows: ScoredRows, known: Sequence[str], path: Path, options: ScoreOptions
) -> ScoredRows:
    new = [name for name in rows.columns if name not in known]
    if not new:
        return rows
    if options.new_columns == "refuse":
        raise InputError(
            f"{path}: has no column {', '.join(new)}; set new_columns = 'leave out', "
            "or write a new table"
        )
    kept = tuple(name for name in rows.columns if name in known)
    return replace(rows, columns=kept)


def _check_settings(path: Path, rows: ScoredRows) -> None:
    recorded = arm_settings(path).get("score")
    if not isinstance(recorded, Mapping):
        return
    names = sorted({*recorded, *rows.settings})
    differ = [
        f"{name} {recorded.get(name)!r}, now {rows.settings.get(name)!r}"
        for name in names
        if recorded.get(name) != rows.settings.get(name)
    ]
    if differ:
        raise InputError(
            f"{path}: was scored with other settings ({'; '.join(differ)}); "
            "score with the same settings, or write a new table"
        )


def _on_new_line(text: str, line_end: str) -> str:
    return text if not text or text.endswith(("\n", "\r")) else text + line_end
