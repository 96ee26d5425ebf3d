"""`Results` -> our own row format: JSON Lines or CSV, settings beside it."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from onechange.errors import InputError
from onechange.formats.beside import settings_beside
from onechange.plain_values import flatten
from onechange.results import ANSWERED, FAILED, UNSCORED, Results

__all__ = ["convert"]

_WORDS = {ANSWERED: "answered", UNSCORED: "unscored", FAILED: "failed"}


def convert(results: Results, path: Path | str) -> tuple[Path, ...]:
    """Write the rows of one arm, and its settings when it has any.

    Parameters
    ----------
    results : Results
        The arm.
    path : Path or str
        ``.jsonl``, ``.ndjson`` or ``.csv``; written to a temporary file and renamed.

    Returns
    -------
    tuple of Path
        The files written: the rows, and ``<stem>.settings.json`` when there are
        settings.

    Raises
    ------
    InputError
        When the suffix is another one, the file cannot be written, or the settings
        of another file would be replaced.

    Notes
    -----
    Columns: ``question_id``, ``trial`` when there are trials, ``status`` when one
    was recorded, the metrics, the labels. A label with the name of another column
    gets ``_text`` behind it. Unscored is ``null`` or an empty cell, never 0.
    """
    target = Path(path)
    writers: dict[str, Callable[[IO[str], Results], None]] = {
        ".jsonl": _write_lines,
        ".ndjson": _write_lines,
        ".csv": _write_table,
    }
    writer = writers.get(target.suffix.lower())
    if writer is None:
        raise InputError(f"{target.name}: unknown suffix; write to .jsonl or .csv.")
    beside = target.with_suffix(".settings.json")
    known = settings_beside(target)
    same = bool(known.files) and known.of_all() == flatten(results.settings)
    if known.files and not same and not target.exists():
        raise InputError(
            f"{target.name}: {known.files[0].name} beside it holds the settings of "
            "another file; choose another name."
        )
    _replace_file(target, lambda stream: writer(stream, results))
    if not results.settings or same:
        return (target,)
    _replace_file(
        beside,
        lambda stream: stream.write(
            json.dumps(results.settings, indent=2, ensure_ascii=False, sort_keys=True)
            + "\n"
        ),
    )
    return (target, beside)


def _records(results: Results) -> Iterator[dict[str, Any]]:
    names = _label_names(results)
    for index in range(results.n_rows):
        record: dict[str, Any] = {"question_id": results.question_id[index]}
        if results.trial is not None:
            record["trial"] = results.trial[index]
        if results.status is not None:
            record["status"] = _WORDS[int(results.status[index])]
        for metric, values in results.metrics.items():
            value = float(values[index])
            record[metric] = None if math.isnan(value) else value
        for label, texts in results.labels.items():
            record[names[label]] = texts[index]
        yield record


def _label_names(results: Results) -> dict[str, str]:
    taken = {"question_id", "trial", "status", *results.metrics}
    names: dict[str, str] = {}
    for label in results.labels:
        name = label
        while name in taken:
            name += "_text"
        taken.add(name)
        names[label] = name
    return names


def _write_lines(stream: IO[str], results: Results) -> None:
    for record in _records(results):
        stream.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")


def _write_table(stream: IO[str], results: Results) -> None:
    writer: csv.DictWriter[str] | None = None
    for record in _records(results):
        if writer is None:
            writer = csv.DictWriter(stream, list(record), lineterminator="\n")
            writer.writeheader()
        writer.writerow(record)


def _replace_file(target: Path, write: Callable[[IO[str]], Any]) -> None:
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("w", encoding="utf-8", newline="") as stream:
                write(stream)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror}.") from error
