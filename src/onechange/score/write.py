"""Scored rows -> JSON Lines, CSV or a spreadsheet, whole or appended to a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from onechange.display import escape_csv
from onechange.display.counting import counted
from onechange.errors import InputError
from onechange.formats.workbook import open_workbook
from onechange.score import spreadsheet
from onechange.score.delimited import (
    DelimitedTable,
    plain_cell,
    read_delimited,
    text_of_rows,
)
from onechange.score.files import arm_settings, read_text, replace_file
from onechange.score.options import ScoreOptions
from onechange.score.rows import ScoredRows, score
from onechange.score.settings import (
    TABLE_SUFFIXES,
    merged_settings,
    record_settings,
)
from onechange.stats.estimate import Note

__all__ = ["append_rows", "score_file", "write_rows"]

# Columns that a later batch may fill: a new CSV table has them from the beginning.
_LATER_TEXTS = ("status", "error", "unscored_because")


def score_file(
    traces_path: str | Path,
    out_path: str | Path | None = None,
    *,
    options: ScoreOptions | None = None,
    append_to: str | Path | None = None,
    force: bool = False,
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
    force : bool
        Whether `out_path` may replace an existing table.

    Returns
    -------
    ScoredRows

    Raises
    ------
    InputError
        If a file cannot be read or written, a table exists or is an input, a trace is
        not valid, or the rows do not fit the table.
    """
    options = ScoreOptions() if options is None else options
    _check_places(Path(traces_path), out_path, append_to, force=force)
    rows = score(traces_path, options=options)
    recorded = arm_settings(Path(traces_path))
    if append_to is not None:
        append_rows(rows, append_to, options=options, settings=recorded)
    if out_path is not None:
        run = options.constants
        write_rows(rows, out_path, settings=recorded, run=run, force=force)
    return _with_cell_note(rows, [p for p in (out_path, append_to) if p is not None])


def write_rows(
    rows: ScoredRows,
    path: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    run: Mapping[str, str] | None = None,
    force: bool = False,
) -> None:
    """Write rows as a new table, and the settings of the scores beside it.

    Parameters
    ----------
    rows : ScoredRows
    path : str or Path
        ``.jsonl``, ``.csv``, ``.tsv`` or ``.xlsx``.
    settings : mapping, optional
        Settings of the arm to write with those of the scores.
    run : mapping of str to str, optional
        Constant columns that name the run: its settings are kept apart from those of
        other runs in the table.
    force : bool
        Whether an existing table may be replaced, as a whole.

    Raises
    ------
    InputError
        If the suffix is unknown, the file exists or cannot be written, or other
        settings stand beside it.
    """
    path = Path(path)
    suffix = _suffix(path)
    _refuse_existing(path, force=force)
    beside = merged_settings(
        path, rows.settings, settings or {}, run=run or {}, new=True
    )
    content: bytes | str
    if suffix == ".xlsx":
        content = spreadsheet.new_workbook(rows.columns, _cell_rows(rows, rows.columns))
    elif suffix in (".csv", ".tsv"):
        columns = _stable_columns(rows)
        table = [columns, *_cell_rows(rows, columns)]
        content = text_of_rows(table, delimiter="\t" if suffix == ".tsv" else ",")
    else:
        content = _jsonl_text(rows)
    replace_file(path, content)
    record_settings(path, beside)


def append_rows(
    rows: ScoredRows,
    path: str | Path,
    *,
    options: ScoreOptions | None = None,
    settings: Mapping[str, Any] | None = None,
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
    settings : mapping, optional
        Settings of the arm, to be those beside the table, or of the run that
        `constants` name.

    Returns
    -------
    ScoredRows
        The rows as they were added.

    Raises
    ------
    InputError
        If the table cannot be read, lacks a column, has one of the rows already, has
        trials where the rows have none, or was scored with other settings.
    """
    path = Path(path)
    suffix = _suffix(path)
    options = ScoreOptions() if options is None else options
    beside = merged_settings(
        path, rows.settings, settings or {}, run=options.constants, new=False
    )
    keys = ("question_id", "trial", *options.constants)
    content: bytes | str
    if suffix == ".xlsx":
        book = open_workbook(path)
        known = spreadsheet.header(book, path)
        _refuse_repeats(rows, spreadsheet.key_rows(book, known, keys), keys, path)
        new = [name for name in rows.columns if name not in known]
        cells = _cell_rows(rows, (*known, *new))
        computed = open_workbook(path, values=True)
        content = spreadsheet.extended(book, computed, new, cells, len(known))
    elif suffix in (".csv", ".tsv"):
        table = read_delimited(path, numbers=rows.score_columns)
        _refuse_repeats(rows, table.keys(keys), keys, path)
        rows, new = _fit_columns(rows, table, path, options)
        content = table.extended(new, _cell_rows(rows, (*table.header, *new)))
    else:
        _refuse_repeats(rows, _jsonl_keys(path, keys), keys, path)
        content = _on_new_line(read_text(path)) + _jsonl_text(rows)
    replace_file(path, content)
    record_settings(path, beside)
    return rows


def _check_places(
    traces: Path, out: str | Path | None, append: str | Path | None, *, force: bool
) -> None:
    """Refuse a table that cannot be written, before any work."""
    for path in (out, append):
        if path is None:
            continue
        _suffix(Path(path))
        if Path(path).resolve() == traces.resolve():
            raise InputError(f"{path}: is the file of traces; name another table")
    if out is None:
        return
    if append is not None and Path(out).resolve() == Path(append).resolve():
        raise InputError(f"{out}: is written and added to at once; choose one")
    _refuse_existing(Path(out), force=force)


def _with_cell_note(rows: ScoredRows, paths: Sequence[str | Path]) -> ScoredRows:
    """Say which texts a spreadsheet could not hold as they are."""
    if not any(Path(path).suffix.lower() == ".xlsx" for path in paths):
        return rows
    n = spreadsheet.altered(_cell_rows(rows, rows.columns))
    if not n:
        return rows
    text = (
        f"{counted(n, 'text')} could not be written to the spreadsheet as recorded: "
        "control characters are replaced by \ufffd, and a cell holds 32,767 characters."
    )
    return replace(rows, notes=(*rows.notes, Note("text-altered", text)))


def _refuse_existing(path: Path, *, force: bool) -> None:
    if path.exists() and not force:
        raise InputError(f"{path}: exists; use --append to add, or --force to replace")


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in TABLE_SUFFIXES:
        raise InputError(
            f"{path}: unknown kind of table {suffix!r}; "
            f"use one of {', '.join(TABLE_SUFFIXES)}"
        )
    return suffix


def _jsonl_text(rows: ScoredRows) -> str:
    columns = rows.columns
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    lines = [encode({name: row.get(name) for name in columns}) for row in rows.rows]
    return "\n".join(lines) + "\n"


def _cell_rows(rows: ScoredRows, columns: Sequence[str]) -> Iterable[list[Any]]:
    for row in rows.rows:
        yield [plain_cell(row.get(name)) for name in columns]


def _stable_columns(rows: ScoredRows) -> tuple[str, ...]:
    """Columns of a new text table, with those that a later batch may fill."""
    missing = [name for name in _LATER_TEXTS if name not in rows.columns]
    scores = set(rows.score_columns)
    place = next(
        (at for at, name in enumerate(rows.columns) if name in scores),
        len(rows.columns),
    )
    before = [name for name in missing if name != "unscored_because"]
    last = [name for name in missing if name == "unscored_because"]
    return (*rows.columns[:place], *before, *rows.columns[place:], *last)


def _jsonl_keys(path: Path, keys: Sequence[str]) -> list[tuple[str, ...]]:
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
        existing.append(tuple(_key_text(record.get(name)) for name in keys))
    return existing


def _key_text(value: Any) -> str:
    return "" if value is None else str(value)


def _refuse_repeats(
    rows: ScoredRows,
    existing: Iterable[tuple[str, ...]],
    keys: Sequence[str],
    path: Path,
) -> None:
    present = set(existing)
    trials = {(key[0], *key[2:]): key[1] for key in present}
    runs = {key[2:]: key for key in sorted(present)}
    for row in rows.rows:
        key = tuple(_key_text(row.get(name)) for name in keys)
        escaped = tuple(escape_csv(part) for part in key)
        which = ", ".join(
            f"{name} {part!r}" for name, part in zip(keys, key, strict=True) if part
        )
        if key in present or escaped in present:
            raise InputError(
                f"{path}: a row with {which} is there already; to keep several runs in "
                "one table add a constant column that names the run (--constant "
                "run=NAME)"
            )
        trial = trials.get((key[0], *key[2:]))
        if trial is not None and bool(trial) != bool(key[1]):
            there = f"as trial {trial!r}" if trial else "without a trial"
            raise InputError(
                f"{path}: question {key[0]!r} is there already, {there}; the new row "
                f"({which}) would be another trial of it only if both name theirs"
            )
        other = runs.get(key[2:])
        if other is not None and bool(other[1]) != bool(key[1]):
            there = f"trial {other[1]!r}" if other[1] else "no trial"
            raise InputError(
                f"{path}: its rows have {there} (question {other[0]!r}), unlike the "
                f"new row ({which}); rows of one run all name their trial, or none does"
            )


def _fit_columns(
    rows: ScoredRows, table: DelimitedTable, path: Path, options: ScoreOptions
) -> tuple[ScoredRows, list[str]]:
    """Rows as they fit the table, and the columns to add to it."""
    new = [name for name in rows.columns if name not in table.header]
    if not new or options.new_columns == "add":
        return rows, new
    if options.new_columns == "refuse":
        raise InputError(
            f"{path}: has no column {', '.join(new)}; add them (--new-columns add), "
            "leave them out (--new-columns leave-out), or write a new table"
        )
    kept = tuple(name for name in rows.columns if name in table.header)
    return replace(rows, columns=kept), []


def _on_new_line(text: str) -> str:
    return text if not text or text.endswith(("\n", "\r")) else text + "\n"
