"""Any supported source -> `Results`: one file, several (trials), a folder, a frame."""

from __future__ import annotations

import glob
import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onechange import formats
from onechange.assemble import assemble, in_sorted_order
from onechange.errors import InputError
from onechange.formats.beside import is_settings, settings_beside
from onechange.formats.source import MAX_BYTES, Document, load, refuse_pointer
from onechange.formats.workbook import read_sheet
from onechange.json_tables import json_table, lines_table
from onechange.results import Columns, Results, SourceFile
from onechange.roles import setting_value
from onechange.tables import ListColumn, Table, csv_table
from onechange.trial_files import join_trials

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PLAIN_FORMATS", "Source", "read"]

Source = "str | Path | Sequence[str | Path] | pd.DataFrame | Results"

PLAIN_FORMATS = ("csv", "tsv", "jsonl", "json", "parquet", "xlsx")

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
}
_PARQUET = b"PAR1"


def read(
    source: str | Path | Sequence[str | Path] | pd.DataFrame | Results,
    *,
    columns: Columns | None = None,
    input_format: str | None = None,
    name: str | None = None,
) -> Results:
    """Read the per-question results of one arm.

    Parameters
    ----------
    source : path, sequence of paths, pandas.DataFrame or Results
        A file (CSV, TSV, JSON Lines, JSON array, Parquet, .xlsx, or the native file of
        an evaluation tool); a folder or glob, or several paths: one file per trial.
        `Results` are given back as they are.
    columns : Columns, optional
        Which column plays which role; the rest is inferred and noted.
    input_format : str, optional
        Name of the format, when it cannot be told from the file.
    name : str, optional
        Name of the arm; by default that of the file.

    Returns
    -------
    Results
        Rows sorted by question and trial, each (question, trial) once.

    Raises
    ------
    InputError
        When the source cannot be read as per-question results; the message says
        where, what was found, and what to do.

    Notes
    -----
    Settings are taken from columns that are constant within the arm and from
    ``<stem>.settings.toml`` or ``<stem>.settings.json`` beside the file.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"question_id": ["007", "7"], "correct": [True, None]})
    >>> results = read(frame, name="baseline")
    >>> results.question_id.tolist(), results.metrics["correct"].tolist()
    (['007', '7'], [1.0, nan])
    """
    columns = columns or Columns()
    if isinstance(source, Results):
        return source
    try:
        if isinstance(source, str | Path):
            return _read_path(Path(source), columns, input_format, name)
        if hasattr(source, "iloc"):
            return _read_frame(source, columns, name or "frame")
        if not isinstance(source, Sequence) or not all(
            isinstance(path, str | Path) for path in source
        ):
            raise InputError(
                f"{type(source).__name__} is not a source of results; pass a path, a "
                "list of paths (one per trial), a pandas DataFrame or Results."
            )
        paths = [Path(path) for path in source]
        return _read_trials(paths, columns, input_format, name)
    except RecursionError:
        raise InputError(f"{source}: its content is nested too deeply.") from None


def _read_frame(frame: Any, columns: Columns, name: str) -> Results:
    from onechange.typed_tables import frame_table

    return assemble(frame_table(frame, name=name), columns, name=name)


def _read_path(
    path: Path, columns: Columns, input_format: str | None, name: str | None
) -> Results:
    if not path.exists() and glob.has_magic(str(path)):
        anchor = Path(path.anchor) if path.anchor else Path()
        matches = sorted(anchor.glob(str(path.relative_to(anchor))))
        paths = [match for match in matches if not is_settings(match)]
        if not paths:
            raise InputError(f"{path}: no file matches; look at the pattern.")
        return _read_trials(paths, columns, input_format, name or _stem(path.parent))
    if not path.exists():
        raise InputError(f"{path}: no such file; look at the path.")
    if not path.is_dir():
        return _read_file(path, columns, input_format, name)
    if input_format is None and formats.sniff(path) is None:
        return _read_trials(_files_of(path), columns, input_format, name or path.name)
    if input_format in PLAIN_FORMATS:
        return _read_trials(_files_of(path), columns, input_format, name or path.name)
    return _read_foreign(path, columns, input_format or formats.sniff(path), name)


def _files_of(folder: Path) -> list[Path]:
    """List the result files of a folder, one per trial."""
    found = [
        path
        for path in sorted(folder.iterdir())
        if path.is_file()
        and not path.name.startswith(".")
        and not is_settings(path)
        and (_suffix(path) in _SUFFIXES or formats.sniff(path) is not None)
    ]
    if not found:
        known = ", ".join(_SUFFIXES)
        raise InputError(
            f"{folder}: no result files in this folder; expected one per trial, with "
            f"one of {known}."
        )
    return found


def _read_trials(
    paths: Sequence[Path],
    columns: Columns,
    input_format: str | None,
    name: str | None,
) -> Results:
    if not paths:
        raise InputError("no files are given; expected one path per trial.")
    for path in paths:
        if not path.is_file() and not path.is_dir():
            raise InputError(f"{path}: no such file; look at the path.")
    arm = name or _stem(paths[0])
    trials = [_read_file(path, columns, input_format, None) for path in paths]
    if len(trials) == 1:
        return replace(trials[0], name=arm)
    return in_sorted_order(join_trials(trials, [_stem(path) for path in paths], arm))


def _read_file(
    path: Path, columns: Columns, input_format: str | None, name: str | None
) -> Results:
    arm = name or _stem(path)
    known = input_format or formats.sniff(path)
    if known is not None and known not in PLAIN_FORMATS:
        return _read_foreign(path, columns, known, arm)
    table, file = _plain_table(path, known)
    settings, beside = _settings_beside(path)
    return assemble(table, columns, name=arm, files=(file, *beside), settings=settings)


def _read_foreign(
    path: Path, columns: Columns, known: str | None, name: str | None
) -> Results:
    if columns.judge_trial is not None:
        raise InputError(
            f"{path.name}: repeated gradings (judge_trial) are read from rows only; "
            "write them with `onechange convert` first, or leave judge_trial out."
        )
    results = formats.read_as(str(known), path, columns=columns)
    settings, beside = _settings_beside(path)
    if beside:
        results = replace(
            results,
            files=(*results.files, *beside),
            settings=dict(sorted({**results.settings, **settings}.items())),
        )
    return in_sorted_order(replace(results, name=name or _stem(path)))


def _plain_table(path: Path, known: str | None) -> tuple[Table, SourceFile]:
    kind = known or _SUFFIXES.get(_suffix(path))
    if kind == "parquet" or (kind is None and _starts_with(path, _PARQUET)):
        return _read_parquet(path)
    if kind == "xlsx":
        return _read_workbook(path)
    document = load(path)
    text, name = document.text, document.name
    if kind in (None, "json"):
        kind = _kind_of_text(document, kind or "csv")
    if kind == "jsonl":
        return lines_table(text, name=name), document.file
    if kind == "json":
        return json_table(text, name=name), document.file
    delimiter = "\t" if kind == "tsv" else ","
    return csv_table(text, name=name, delimiter=delimiter), document.file


def _kind_of_text(document: Document, otherwise: str) -> str:
    """Tell JSON Lines from JSON, whatever the suffix says."""
    start = document.text.lstrip()
    if not start.startswith(("{", "[")):
        return otherwise
    first, _, rest = start.partition("\n")
    several = first.rstrip().endswith("}") and rest.lstrip().startswith("{")
    return "jsonl" if start.startswith("{") and several else "json"


def _read_parquet(path: Path) -> tuple[Table, SourceFile]:
    from onechange.typed_tables import parquet_table

    data = _bytes(path)
    refuse_pointer(data[:200], name=path.name)
    file = SourceFile(path.name, hashlib.sha256(data).hexdigest())
    return parquet_table(data, name=path.name), file


def _read_workbook(path: Path) -> tuple[Table, SourceFile]:
    sheet = read_sheet(path)
    by_column = (
        zip(*sheet.rows, strict=True) if sheet.rows else [()] * len(sheet.header)
    )
    columns = {
        name: ListColumn(cells)
        for name, cells in zip(sheet.header, by_column, strict=True)
    }

    def place(row: int) -> str:
        return f"{path.name}: row {sheet.numbers[row]}"

    return Table(path.name, columns, len(sheet.rows), place), sheet.file


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(
                f"{path.name}: {path.stat().st_size:,} bytes; at most {MAX_BYTES:,} "
                "are read. Split the file."
            )
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error


def _starts_with(path: Path, mark: bytes) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(len(mark)) == mark
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error


def _settings_beside(path: Path) -> tuple[dict[str, Any], tuple[SourceFile, ...]]:
    """Read ``<stem>.settings.toml|json``: flat settings, and the file itself."""
    beside = settings_beside(path)
    flat = {key: setting_value(item) for key, item in beside.of_all().items()}
    return flat, beside.files


def _suffix(path: Path) -> str:
    return Path(re.sub(r"\.gz$", "", path.name.lower())).suffix


def _stem(path: Path) -> str:
    name = re.sub(r"\.gz$", "", path.name)
    return Path(name).stem if name else "results"
