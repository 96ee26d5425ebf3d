"""Rows of a delimited file whose columns a format knows only in part."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

from onechange.cells import is_missing, label_text, missing_words, score_value
from onechange.formats.rows import Row
from onechange.results import Columns

__all__ = ["PASS_WORDS", "read_cells", "score_of_word"]

PASS_WORDS: Mapping[str, float] = {
    "pass": 1.0,
    "passed": 1.0,
    "correct": 1.0,
    "yes": 1.0,
    "fail": 0.0,
    "failed": 0.0,
    "incorrect": 0.0,
    "no": 0.0,
}


def score_of_word(value: object, missing: Collection[str]) -> float | None:
    """Score of a cell that may hold a word such as ``pass`` or ``fail``.

    Parameters
    ----------
    value : object
        Text of a cell, or a JSON value.
    missing : collection of str
        Words that mean "unscored".

    Returns
    -------
    float or None
        None when the cell is neither a score nor such a word.

    Examples
    --------
    >>> [score_of_word(word, {""}) for word in ("pass", "No", "0.5", "good")]
    [1.0, 0.0, 0.5, None]
    """
    score = score_value(value, missing)
    if score is None and isinstance(value, str):
        return PASS_WORDS.get(value.strip().casefold())
    return score


def read_cells(
    records: Sequence[tuple[str, Mapping[str, object]]],
    *,
    texts: Collection[str],
    question_id: Callable[[Mapping[str, object], str], str],
    columns: Columns,
    always: Collection[str] = (),
) -> tuple[list[Row], tuple[str, ...]]:
    """Sort the columns into metrics and labels, and make a row of each record.

    Parameters
    ----------
    records : sequence of (str, mapping)
        Place and cells of each row.
    texts : collection of str
        Columns that are text whatever they look like.
    question_id : callable
        Cells and place -> question id.
    columns : Columns
        Roles of columns; its slices and roles are text, its metrics scores.
    always : collection of str
        Columns that are metrics even when every cell is empty.

    Returns
    -------
    rows : list of Row
    words : tuple of str
        Metrics that were read from words such as ``pass`` and ``fail``.
    """
    missing = missing_words(columns.missing)
    roles = {columns.question_id, columns.trial, columns.status, columns.cluster}
    text_names = {*texts, *columns.slices, *columns.settings, *roles}
    metrics: list[str] = []
    words: list[str] = []
    for name in dict.fromkeys(key for _, cells in records for key in cells):
        kind = _kind([cells.get(name) for _, cells in records], missing)
        if name in text_names or kind == "text":
            continue
        if kind == "empty" and name not in always and name not in columns.metrics:
            continue
        metrics.append(name)
        if kind == "words":
            words.append(name)
    scored = frozenset(metrics)
    return [
        _row(place, cells, scored, question_id(cells, place), missing)
        for place, cells in records
    ], tuple(words)


def _kind(values: Sequence[object], missing: Collection[str]) -> str:
    kind = "empty"
    for value in values:
        if is_missing(value, missing):
            continue
        if score_value(value, missing) is not None:
            kind = "words" if kind == "words" else "numbers"
        elif score_of_word(value, missing) is not None and kind != "numbers":
            kind = "words"
        else:
            return "text"
    return kind


def _row(
    place: str,
    cells: Mapping[str, object],
    metrics: Collection[str],
    question_id: str,
    missing: Collection[str],
) -> Row:
    row = Row(question_id, place)
    for name, value in cells.items():
        if name in metrics:
            score = score_of_word(value, missing)
            row.metrics[name] = math.nan if score is None else score
        else:
            row.labels[name] = label_text(value)
    return row
