"""Rows of a foreign file -> `Results`: roles given, duplicates refused."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from onechange.cells import label_text, status_code
from onechange.errors import InputError
from onechange.formats.rows import Row, id_of, number, shown
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

__all__ = ["build"]


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


def _checked(row: Row, name: str) -> Row:
    for metric, score in row.metrics.items():
        if math.isinf(score):
            raise InputError(
                f'{name}: {row.place}: "{metric}" is not finite; leave the cell empty '
                "for unscored."
            )
    return replace(
        row,
        metrics=dict(row.metrics),
        labels={key: text for key, text in row.labels.items() if text},
    )


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
                    f"{name}: {row.place}: unknown status {shown(word)}; map it in "
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
