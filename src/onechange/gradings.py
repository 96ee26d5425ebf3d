"""Several gradings of the same answer -> one row per answer, and their spread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from onechange.errors import InputError
from onechange.question_index import sort_rows
from onechange.results import (
    ANSWERED,
    FAILED,
    UNSCORED,
    FloatArray,
    Gradings,
    IntArray,
    Results,
    StatusArray,
    TextArray,
    ordered,
)
from onechange.stats.estimate import Note

__all__ = ["average_gradings"]


def average_gradings(
    results: Results, judge_trial: TextArray, place: Callable[[int], str]
) -> Results:
    """Average the gradings of each answer, and keep how far they differ.

    Parameters
    ----------
    results : Results
        One row per question, trial and grading, in the order of the source.
    judge_trial : ndarray of str, shape (n_rows,)
        Label of each row's grading.
    place : callable
        Row number from 0 -> where it stands, for the message.

    Returns
    -------
    Results
        One row per question and trial. A score is the mean of the gradings that
        have one; a row is answered when any grading is; labels are the first found.

    Raises
    ------
    InputError
        When the same grading of an answer occurs twice.
    """
    empty = np.full(results.n_rows, "", dtype=object)
    trial = empty if results.trial is None else results.trial
    gradings = np.array(
        [f"{t}\t{j}" for t, j in zip(trial, judge_trial, strict=True)], dtype=object
    )
    rows = sort_rows(results.question_id, gradings)
    order = np.arange(results.n_rows) if rows.order is None else rows.order
    if rows.repeated.size:
        after = int(rows.repeated[0])
        first, second = sorted((int(order[after - 1]), int(order[after])))
        raise InputError(
            f"{place(first)} and {place(second)}: the same grading "
            f'"{judge_trial[second]}" of question "{results.question_id[second]}" '
            "occurs twice. Keep one row per question, trial and grading."
        )
    moved = ordered(results, order)
    starts = _starts(rows.codes, trial[order])
    answer = np.cumsum(starts) - 1
    first_row = np.flatnonzero(starts)
    means, spread = {}, {}
    for metric, scores in moved.metrics.items():
        means[metric], spread[metric] = _averaged(scores, answer, first_row.size)
    return replace(
        moved,
        question_id=moved.question_id[first_row],
        trial=None if moved.trial is None else moved.trial[first_row],
        status=None
        if moved.status is None
        else _status(moved.status, answer, first_row.size),
        metrics=means,
        labels={
            name: _first_labels(texts, answer, first_row.size)
            for name, texts in moved.labels.items()
        },
        gradings=spread,
        notes=(*moved.notes, _note(results.n_rows, first_row.size)),
    )


def _starts(codes: IntArray, trial: TextArray) -> np.ndarray[tuple[int], np.dtype]:
    """Whether each sorted row begins a new answer."""
    starts = np.ones(codes.size, dtype=np.bool_)
    starts[1:] = (codes[1:] != codes[:-1]) | (trial[1:] != trial[:-1])
    return starts


def _note(n_rows: int, n_answers: int) -> Note:
    text = (
        f"{n_rows} gradings of {n_answers} answers were averaged, answer by answer; "
        "rows count answers."
    )
    return Note("gradings-averaged", text)


def _averaged(
    scores: FloatArray, answer: IntArray, n_answers: int
) -> tuple[FloatArray, Gradings]:
    scored = ~np.isnan(scores)
    rows, values = answer[scored], scores[scored]
    counts = np.bincount(rows, minlength=n_answers)
    totals = np.bincount(rows, weights=values, minlength=n_answers)
    means = np.full(n_answers, np.nan)
    np.divide(totals, counts, out=means, where=counts > 0)
    deviations = (values - means[rows]) ** 2
    squares = np.bincount(rows, weights=deviations, minlength=n_answers)
    spread = np.asarray(squares, dtype=np.float64)
    return means, Gradings(counts.astype(np.int64), spread)


def _status(status: StatusArray, answer: IntArray, n_answers: int) -> StatusArray:
    found = np.full(n_answers, FAILED, dtype=np.int8)
    for code in (UNSCORED, ANSWERED):  # the better word of any grading wins
        found[answer[status == code]] = code
    return found


def _first_labels(texts: TextArray, answer: IntArray, n_answers: int) -> TextArray:
    found = np.full(n_answers, None, dtype=object)
    present = np.flatnonzero(texts.astype(np.bool_))[::-1]
    found[answer[present]] = texts[present]  # the first grading is written last
    return found
