"""A `Table` with its roles -> checked, sorted `Results`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onechange import cells
from onechange.errors import InputError
from onechange.gradings import average_gradings
from onechange.question_index import QuestionIndex, sort_rows
from onechange.results import (
    ANSWERED,
    FAILED,
    UNSCORED,
    Columns,
    FloatArray,
    Results,
    SourceFile,
    StatusArray,
    TextArray,
    ordered,
)
from onechange.roles import Roles, find_roles
from onechange.stats.estimate import Note
from onechange.tables import Table

__all__ = ["assemble", "in_sorted_order"]

_BROKEN = re.compile("[\ud800-\udfff]")
_NAMED = 3  # repeated ids that are named in an error
_ROUNDING = 1e-9  # of the width of a declared range


def assemble(
    table: Table,
    columns: Columns,
    *,
    name: str,
    files: Sequence[SourceFile] = (),
    settings: Mapping[str, Any] | None = None,
    notes: Sequence[Note] = (),
) -> Results:
    """Check the rows of one arm and bring them into order.

    Parameters
    ----------
    table : Table
        Rows of the arm, all its files together.
    columns : Columns
        Declared roles; the rest is inferred and noted.
    name : str
        Name of the arm.
    files : sequence of SourceFile
        What was read.
    settings : mapping, optional
        Settings recorded beside the rows; they win over those of columns.
    notes : sequence of Note
        Caveats from reading the files.

    Returns
    -------
    Results
        Sorted by question and trial.

    Raises
    ------
    InputError
        On a cell that its role does not allow, a score outside its declared range,
        or a (question, trial) that occurs twice.
    """
    roles = find_roles(table, columns)
    question_id = _ids(table, roles.question_id)
    trial = _trials(table, roles.trial)
    status = _statuses(table, roles, columns)
    metrics = dict(roles.scores)
    found = list(notes) + roles.notes
    found += _drop_failed(status, metrics)
    found += _check_scores(table, roles, metrics, columns)
    labels = {label: table.columns[label].texts() for label in roles.labels}
    results = Results(
        name=name,
        files=tuple(files),
        question_id=question_id,
        trial=trial,
        status=status,
        metrics=metrics,
        labels=labels,
        settings=dict(sorted({**roles.settings, **(settings or {})}.items())),
        notes=tuple(found),
    )
    if roles.judge_trial is not None:
        gradings = _trials(table, roles.judge_trial)
        assert gradings is not None
        return in_sorted_order(average_gradings(results, gradings, table.place))
    return in_sorted_order(results, table.place)


def in_sorted_order(
    results: Results, place: Callable[[int], str] | None = None
) -> Results:
    """Sort the rows and refuse any (question, trial) that occurs twice.

    Parameters
    ----------
    results : Results
        Rows in the order of the source.
    place : callable, optional
        Row number from 0 -> where it stands, for the message.

    Returns
    -------
    Results
        With its `index`.

    Raises
    ------
    InputError
        Naming the ids, their rows and the scores in which these differ.
    """
    if results.in_order:
        return results
    rows = sort_rows(results.question_id, results.trial)
    moved = results if rows.order is None else ordered(results, rows.order)
    if rows.repeated.size:
        order = np.arange(results.n_rows) if rows.order is None else rows.order
        where = place or (lambda row: f"{results.name}, row {row + 1}")
        _refuse_repeats(results, where, order, rows.repeated)
    index = QuestionIndex(moved.question_id, moved.trial, rows.codes, rows.keys)
    return replace(moved, index=index)


def _ids(table: Table, column: str) -> TextArray:
    ids = table.columns[column].ids()
    texts = ids.tolist()
    if None in texts:
        row = texts.index(None)
        value = table.columns[column].value(row)
        raise InputError(
            f'{table.place(row)}: "{column}" is {_shown(value)}; expected a text or a '
            "whole number as id. Write ids as text, so that none changes its form."
        )
    joined = "".join(texts)
    if "\0" in joined or (not joined.isascii() and _BROKEN.search(joined)):
        row = next(i for i, t in enumerate(texts) if "\0" in t or _BROKEN.search(t))
        raise InputError(
            f'{table.place(row)}: "{column}" holds a character that is no text '
            f"({texts[row][:40]!a}); remove it."
        )
    return ids


def _shown(value: Any) -> str:
    text = cells.label_text(value)
    if text is None or not text.strip():
        return "empty"
    return f'"{text[:60]}"' if isinstance(value, str) else text[:60]


def _trials(table: Table, column: str | None) -> TextArray | None:
    if column is None:
        return None
    trials = table.columns[column].texts()
    texts = trials.tolist()
    if None in texts:
        row = texts.index(None)
        raise InputError(
            f'{table.place(row)}: "{column}" is empty; every row needs its trial when '
            "the column is there."
        )
    return trials


def _statuses(table: Table, roles: Roles, columns: Columns) -> StatusArray | None:
    if roles.status is None:
        return None
    words = table.columns[roles.status].texts().tolist()
    codes: dict[str | None, int] = {}
    for word in dict.fromkeys(words):
        code = cells.status_code(word, columns.statuses)
        if code is None and word is not None and word.strip():
            row = words.index(word)
            known = ", ".join(cells.STATUS_WORDS)
            raise InputError(
                f'{table.place(row)}: "{roles.status}" is "{word[:60]}"; known words: '
                f"{known}. Map it in the plan, for example statuses = "
                f'{{"{word[:60]}" = "failed"}}.'
            )
        codes[word] = -1 if code is None else code
    status = np.fromiter(map(codes.__getitem__, words), np.int8, len(words))
    silent = status < 0
    if silent.any():
        scored = _scored(roles.scores, status.size)
        status[silent] = np.where(scored[silent], ANSWERED, UNSCORED)
        roles.notes.append(
            Note(
                "role-inferred",
                f"{int(silent.sum())} rows have no {roles.status}; taken as answered "
                "where a score is there, else as unscored.",
            )
        )
    return status


def _scored(scores: Mapping[str, FloatArray], n_rows: int) -> NDArray[np.bool_]:
    scored = np.zeros(n_rows, dtype=np.bool_)
    for values in scores.values():
        scored |= ~np.isnan(values)
    return scored


def _drop_failed(
    status: StatusArray | None, metrics: dict[str, FloatArray]
) -> list[Note]:
    """Blank the scores of failed rows: a stored 0 there is no score."""
    if status is None:
        return []
    failed = status == FAILED
    scored = _scored(metrics, status.size) & failed
    if failed.any():
        for metric, values in metrics.items():
            metrics[metric] = np.where(failed, np.nan, values)
    if not scored.any():
        return []
    text = (
        f"{int(scored.sum())} of {int(failed.sum())} failed rows carry scores; scores "
        "of failed rows are not used."
    )
    return [Note("failed-rows", text)]


def _check_scores(
    table: Table, roles: Roles, metrics: dict[str, FloatArray], columns: Columns
) -> list[Note]:
    notes = []
    for metric, values in list(metrics.items()):
        column = roles.metrics[metric]
        infinite = np.flatnonzero(np.isinf(values))
        if infinite.size:
            row = int(infinite[0])
            raise InputError(
                f'{table.place(row)}: "{column}" is '
                f"{_shown(table.columns[column].value(row))}, not a finite number; "
                "leave the cell empty when there is no score."
            )
        bounds = columns.ranges.get(metric)
        if bounds is not None:
            notes += _check_range(table, column, values, bounds)
            metrics[metric] = np.clip(values, *bounds)
    return notes


def _check_range(
    table: Table, column: str, values: FloatArray, bounds: tuple[float, float]
) -> list[Note]:
    """Refuse values outside the range; tell of those a rounding error away from it."""
    low, high = bounds
    slack = _ROUNDING * max(1.0, high - low)
    outside = (values < low) | (values > high)
    if not outside.any():
        return []
    far = np.flatnonzero((values < low - slack) | (values > high + slack))
    if far.size:
        row = int(far[0])
        more = f" ({far.size} such rows)" if far.size > 1 else ""
        raise InputError(
            f'{table.place(row)}: "{column}" is {values[row]:g}, outside its declared '
            f"range {low:g} to {high:g}{more}. Mend the scores, rescale them, or "
            "declare the range they really have."
        )
    text = (
        f"{column}: {int(outside.sum())} scores lay outside {low:g} to {high:g} by a "
        "rounding error and were set to the limit."
    )
    return [Note("out-of-range", text)]


def _refuse_repeats(
    results: Results,
    place: Callable[[int], str],
    rows: NDArray[np.int64],
    repeated: NDArray[np.int64],
) -> None:
    told = []
    for position in repeated[:_NAMED].tolist():
        first, second = sorted((int(rows[position - 1]), int(rows[position])))
        key = f'question "{results.question_id[second]}"'
        if results.trial is not None:
            key += f', trial "{results.trial[second]}"'
        told.append(
            f"{place(first)} and {place(second)}: {key} occurs twice "
            f"({_conflict(results, first, second)})"
        )
    more = repeated.size - len(told)
    text = "; ".join(told) + (f"; and {more} more" if more else "") + ". "
    if results.trial is None:
        text += (
            "Keep one row per question, or name the column of the repeats (--trial)."
        )
    else:
        text += (
            "Keep one row per question and trial, or name the column of repeated "
            "gradings (--judge-trial)."
        )
    raise InputError(text)


def _conflict(results: Results, first: int, second: int) -> str:
    """Scores in which two rows differ, or that they agree."""
    differing = []
    for metric, values in results.metrics.items():
        a, b = float(values[first]), float(values[second])
        if not (a == b or (np.isnan(a) and np.isnan(b))):
            texts = ("nothing" if np.isnan(x) else f"{x:g}" for x in (a, b))
            differing.append(f"{metric} {' and '.join(texts)}")
    return ", ".join(differing[:_NAMED]) or "with the same scores"
