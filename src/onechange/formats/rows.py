"""Rows of a foreign file -> `Results`: roles given, duplicates refused."""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from onechange.cells import flatten, label_text, question_text, score_value, status_code
from onechange.errors import InputError
from onechange.results import (
    ANSWERED,
    FAILED,
    UNSCORED,
    Columns,
    Results,
    SourceFile,
    TextArray,
)
from onechange.stats.estimate import Note

__all__ = [
    "Row",
    "build",
    "id_of",
    "number",
    "number_trials",
    "optional_number",
    "scalars",
    "text_id",
    "text_of",
]

_LONGEST_ID = 120
_SECRET = re.compile(
    r"(^|[._-])(api[_-]?keys?|apikey|secrets?|passwords?|passwd|authorization|bearer"
    r"|credentials?|(access|auth|api)[_-]?token)($|[._-])",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Row:
    """One row while a file is being read.

    Parameters
    ----------
    question_id : str
        Question.
    place : str
        Where the row stands in its file, for messages: ``line 7``.
    trial : str or None
        Trial label.
    status : int or None
        Code as in `Results.status`; None lets the scores decide.
    metrics : dict of str to float
        Scores; NaN or absent means unscored.
    labels : dict of str to str or None
        Texts and slice labels.
    """

    question_id: str
    place: str
    trial: str | None = None
    status: int | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    labels: dict[str, str | None] = field(default_factory=dict)


def build(
    name: str,
    rows: Sequence[Row],
    *,
    files: Iterable[SourceFile],
    settings: Mapping[str, Any] | None = None,
    notes: Iterable[Note] = (),
    columns: Columns | None = None,
    quality: Sequence[str] | None = None,
) -> Results:
    """Check the rows of one system and put them into columns.

    Parameters
    ----------
    name : str
        Name of the arm.
    rows : sequence of Row
        At least one row.
    files : iterable of SourceFile
        What was read.
    settings : mapping, optional
        Settings of the system, flat.
    notes : iterable of Note
        Doubtful inferences made so far.
    columns : Columns, optional
        Roles declared by the user; they win over what the format says.
    quality : sequence of str, optional
        Metrics that decide whether a row is scored; None means all of them. (A row
        with a latency and without any score is unscored.)

    Returns
    -------
    Results

    Raises
    ------
    InputError
        When there are no rows, a (question, trial) occurs twice, a score is not
        finite or outside its declared range, or a declared column is absent.
    """
    sources = tuple(files)
    place = sources[0].name if sources else name
    if not rows:
        raise InputError(f"{place}: no rows with results were found.")
    columns = columns or Columns()
    settings = dict(settings or {})
    kept, found = list(notes), [_checked(row, place) for row in rows]
    found = _with_roles(found, columns, place)
    _move_settings(found, columns, settings, place)
    found = _without_single_trial(found)
    _refuse_duplicates(found, place)
    names = _metric_names(found, columns, place)
    if quality is not None and not columns.metrics:
        names.sort(key=lambda metric: metric not in quality)  # costs come last
    _check_ranges(found, columns, place)
    status = np.array([_status(row, quality) for row in found], dtype=np.int8)
    failed = status == FAILED
    metrics = {
        metric: np.array(
            [row.metrics.get(metric, math.nan) for row in found], dtype=np.float64
        )
        for metric in names
    }
    for values in metrics.values():
        values[failed] = np.nan
    return Results(
        name=name,
        files=sources,
        question_id=_texts([row.question_id for row in found]),
        trial=None if found[0].trial is None else _texts([row.trial for row in found]),
        status=status,
        metrics=metrics,
        labels=_labels(found),
        settings=settings,
        notes=tuple(dict.fromkeys(kept)),
    )


def text_id(text: str) -> str:
    r"""Id of a question that has no other key than its text.

    Parameters
    ----------
    text : str
        The question.

    Returns
    -------
    str
        The text in Unicode form NFC with single blanks; when longer than 120
        characters, its first 80 and ten digits of its SHA-256.

    Examples
    --------
    >>> text_id("What  is\na bond?")
    'What is a bond?'
    >>> text_id("word " * 40)[-14:]
    ' … #b880a24679'
    """
    plain = unicodedata.normalize("NFC", " ".join(text.split()))
    if len(plain) <= _LONGEST_ID:
        return plain
    digest = hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()
    return f"{plain[:80].rstrip()} … #{digest[:10]}"


def id_of(value: object, *, place: str) -> str:
    """Question id of a cell, or a refusal.

    Parameters
    ----------
    value : object
        Text or integer.
    place : str
        File and row, for the message.

    Returns
    -------
    str

    Raises
    ------
    InputError
        When the value cannot be an id.
    """
    found = question_text(value)
    if found is None:
        raise InputError(f"{place}: the question id is {_short(value)}; expected text.")
    return found


def text_of(value: object) -> str | None:
    """Readable text of a cell, list, message or object; None when empty.

    Parameters
    ----------
    value : object
        JSON value.

    Returns
    -------
    str or None
        Texts as they are; of a list of chat messages the last user's text; of an
        object with one entry that entry; else JSON text.

    Examples
    --------
    >>> text_of([{"role": "system", "content": "s"}, {"role": "user", "content": "q"}])
    'q'
    >>> text_of({"question": "q"}), text_of(["a", "b"]), text_of([])
    ('q', 'a, b', None)
    """
    if isinstance(value, Mapping):
        if len(value) == 1:
            return text_of(next(iter(value.values())))
        return label_text(value) if value else None
    if isinstance(value, list):
        asked = [
            item.get("content")
            for item in value
            if isinstance(item, Mapping) and item.get("role") == "user"
        ]
        if asked:
            return text_of(asked[-1])
        if value and all(isinstance(item, str | int | float) for item in value):
            return ", ".join(str(item) for item in value)
        return label_text(value) if value else None
    return label_text(value)


def number(value: object, *, place: str, what: str) -> float:
    """Score of a cell, or a refusal that names the place.

    Parameters
    ----------
    value : object
        JSON value or text of a cell.
    place : str
        File and row.
    what : str
        Name of the metric.

    Returns
    -------
    float
        NaN for "unscored".

    Raises
    ------
    InputError
        When the value is neither number, boolean nor missing.
    """
    score = score_value(value)
    if score is None:
        raise InputError(
            f'{place}: "{what}" is {_short(value)}; expected a number, true, false '
            "or nothing."
        )
    return score


def optional_number(value: object) -> float:
    """Take the number of a cost-like field; NaN for anything else.

    Parameters
    ----------
    value : object
        JSON value or text of a cell.

    Returns
    -------
    float

    Examples
    --------
    >>> optional_number(1.5), optional_number(None), optional_number({"total": 1})
    (1.5, nan, nan)
    """
    score = score_value(value)
    return math.nan if score is None or math.isinf(score) else score


def scalars(values: object, prefix: str = "") -> dict[str, Any]:
    """Flatten the settings of an object, without empty values and secrets.

    Parameters
    ----------
    values : object
        A mapping; anything else gives nothing.
    prefix : str
        What stands before every key.

    Returns
    -------
    dict

    Examples
    --------
    >>> scalars({"model": "m", "api_key": "s", "max_tokens": 5, "stop": None}, "c")
    {'c.max_tokens': 5, 'c.model': 'm'}
    """
    if not isinstance(values, Mapping):
        return {}
    return {
        key: value
        for key, value in flatten(values, prefix).items()
        if value is not None and value not in ({}, [], "") and not _SECRET.search(key)
    }


def number_trials(rows: Iterable[Row]) -> int:
    """Label the rows of each question "1", "2", ... in the order given.

    Parameters
    ----------
    rows : iterable of Row
        Rows whose `trial` is set.

    Returns
    -------
    int
        The largest number of rows of one question.
    """
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.question_id] = counts.get(row.question_id, 0) + 1
        row.trial = str(counts[row.question_id])
    return max(counts.values(), default=0)


def _checked(row: Row, name: str) -> Row:
    for metric, score in row.metrics.items():
        if math.isinf(score):
            raise InputError(
                f'{name}: {row.place}: "{metric}" is not finite; leave the cell empty '
                "for unscored."
            )
    return replace(
        row,
        question_id=_clean(row.question_id),
        metrics=dict(row.metrics),
        labels={key: _clean(text) for key, text in row.labels.items() if text},
    )


def _clean(text: str | None) -> str:
    """Text that can be written as UTF-8: lone surrogates are replaced."""
    return (text or "").encode("utf-8", "replace").decode("utf-8")


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _with_roles(rows: list[Row], columns: Columns, name: str) -> list[Row]:
    """Give the declared columns their roles."""
    present = {key for row in rows for key in row.labels}
    scored = {key for row in rows for key in row.metrics}
    wanted = [columns.question_id, columns.trial, columns.status, columns.cluster]
    for column in (*wanted, *columns.slices):
        standard = column in ("question_id", "trial", "status")
        if column and not standard and column not in present | scored:
            raise InputError(
                f'{name}: no column "{column}"; the file has '
                f"{_listed(present | scored)}."
            )
    for row in rows:
        if columns.question_id in present:
            value = row.labels.get(columns.question_id or "")
            row.question_id = id_of(value, place=f"{name}: {row.place}")
        if columns.trial in present:
            row.trial = row.labels.get(columns.trial or "")
        if columns.status in present:
            word = row.labels.get(columns.status or "")
            row.status = status_code(word, columns.statuses)
            if row.status is None:
                raise InputError(
                    f"{name}: {row.place}: unknown status {_short(word)}; map it in "
                    "the plan under [data] statuses."
                )
        for column in (*columns.slices, columns.cluster):
            if column in row.metrics and column not in row.labels:
                row.labels[column] = label_text(row.metrics.pop(column))
    return rows


def _move_settings(
    rows: list[Row], columns: Columns, settings: dict[str, Any], name: str
) -> None:
    for column in columns.settings:
        values = {row.labels.get(column) for row in rows}
        if column in settings and values == {None}:
            continue
        if len(values) != 1 or values == {None}:
            raise InputError(
                f'{name}: the setting "{column}" has {len(values)} values in one arm, '
                "or is absent; a setting is constant within an arm."
            )
        settings[column] = values.pop()
        for row in rows:
            del row.labels[column]


def _without_single_trial(rows: list[Row]) -> list[Row]:
    trials = {row.trial for row in rows}
    if len(trials) == 1:
        for row in rows:
            row.trial = None
    elif None in trials:
        for row in rows:
            row.trial = row.trial or "1"
    return rows


def _refuse_duplicates(rows: list[Row], name: str) -> None:
    seen: dict[tuple[str, str | None], Row] = {}
    repeated: dict[str, None] = {}
    message = ""
    for row in rows:
        key = (row.question_id, row.trial)
        earlier = seen.setdefault(key, row)
        if earlier is not row:
            repeated[row.question_id] = None
            message = message or (
                f'question "{row.question_id}"'
                + (f" trial {row.trial}" if row.trial else "")
                + f" occurs at {earlier.place} and {row.place} "
                f"({_difference(earlier, row)})"
            )
    if repeated:
        more = f"; {len(repeated)} questions repeat: {_listed(repeated)}"
        raise InputError(
            f"{name}: {message}{more if len(repeated) > 1 else ''}. Keep one row, or "
            "name the column of an id (--id) or of trials (--trial)."
        )


def _difference(one: Row, other: Row) -> str:
    for metric in one.metrics.keys() | other.metrics.keys():
        first = one.metrics.get(metric, math.nan)
        second = other.metrics.get(metric, math.nan)
        if first != second and not (math.isnan(first) and math.isnan(second)):
            return f"{metric} {first:g} and {second:g}"
    return "same scores"


def _listed(names: Iterable[str]) -> str:
    found = sorted(names)
    text = ", ".join(f'"{name}"' for name in found[:8])
    return f"{text} and {len(found) - 8} more" if len(found) > 8 else text or "none"


def _metric_names(rows: list[Row], columns: Columns, name: str) -> list[str]:
    renamed = {column: metric for metric, column in columns.metric_columns.items()}
    if renamed:
        for row in rows:
            row.metrics = {
                renamed.get(metric, metric): score
                for metric, score in row.metrics.items()
            }
    names = dict.fromkeys(metric for row in rows for metric in row.metrics)
    if not columns.metrics:
        return list(names)
    for metric in columns.metrics:
        if metric not in names:
            _label_to_metric(rows, metric, renamed, names, name)
    return list(columns.metrics)


def _label_to_metric(
    rows: list[Row],
    metric: str,
    renamed: dict[str, str],
    names: dict[str, None],
    name: str,
) -> None:
    column = next((key for key, new in renamed.items() if new == metric), metric)
    if not any(column in row.labels for row in rows):
        raise InputError(
            f'{name}: no metric "{metric}"; the file has {_listed(names)}.'
        )
    for row in rows:
        row.metrics[metric] = number(
            row.labels.pop(column, None), place=f"{name}: {row.place}", what=column
        )


def _check_ranges(rows: list[Row], columns: Columns, name: str) -> None:
    for metric, (low, high) in columns.ranges.items():
        for row in rows:
            score = row.metrics.get(metric, math.nan)
            if score < low or score > high:
                raise InputError(
                    f'{name}: {row.place}: "{metric}" is {score!r}, outside the '
                    f"declared range {low:g} to {high:g}."
                )


def _status(row: Row, quality: Sequence[str] | None) -> int:
    if row.status is not None:
        return row.status
    names = row.metrics if quality is None else quality
    scored = any(not math.isnan(row.metrics.get(metric, math.nan)) for metric in names)
    return ANSWERED if scored else UNSCORED


def _labels(rows: list[Row]) -> dict[str, TextArray]:
    names = dict.fromkeys(key for row in rows for key in row.labels)
    return {key: _texts([row.labels.get(key) for row in rows]) for key in names}


def _texts(values: Sequence[str | None]) -> TextArray:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found
