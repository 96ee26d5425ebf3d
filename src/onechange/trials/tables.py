"""Rows of an arm -> a table of questions by trials."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.pairs import ArmTable
from onechange.stats.components import MeanSquare

__all__ = ["TrialTable", "grading_spread", "score_table"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

MOST_CELLS_PER_ROW = 20


@dataclass(frozen=True, slots=True, eq=False)
class TrialTable:
    """Scores of one metric in one arm, questions by trials.

    Parameters
    ----------
    scores : ndarray of float, shape (n_questions, n_trials)
        NaN where a question was not run or not scored in a trial.
    labels : tuple of str
        Label of each trial; numbers from 1 where the labels are not shared.
    shared : bool
        False when nearly every row has a trial label of its own, so that columns
        are only each question's first, second, … row.
    """

    scores: FloatArray
    labels: tuple[str, ...]
    shared: bool = True


def score_table(
    arm: ArmTable,
    scores: FloatArray,
    questions: BoolArray,
    *,
    fill: float | None = None,
) -> TrialTable:
    """Arrange the scores of some questions as questions by trials.

    Parameters
    ----------
    arm : ArmTable
        Rows of the arm, sorted by question and trial.
    scores : ndarray of float, shape (n_rows,)
        Score of each row.
    questions : ndarray of bool, shape (n_questions,)
        Which questions to keep.
    fill : float, optional
        What stands in for a missing score of a row that is there.

    Returns
    -------
    TrialTable
    """
    if fill is not None:
        scores = np.where(np.isnan(scores), fill, scores)
    n_trials = len(arm.trial_labels)
    n_rows = arm.question.size
    if _one_row_per_cell(arm, questions.size, n_trials):
        table = scores.reshape(questions.size, n_trials)
        kept = table if questions.all() else table[questions]
        return TrialTable(kept, arm.trial_labels)
    number = np.cumsum(questions) - 1
    use = questions[arm.question]
    row, column, values = number[arm.question[use]], arm.trial[use], scores[use]
    n_kept = int(np.count_nonzero(questions))
    labels, shared = arm.trial_labels, True
    if n_trials > 2 and n_kept * n_trials > MOST_CELLS_PER_ROW * max(n_rows, 1000):
        column = _rank_within(row)
        labels = tuple(str(k + 1) for k in range(int(column.max(initial=0)) + 1))
        shared = False
    found = np.full((n_kept, len(labels)), np.nan)
    found[row, column] = values
    return TrialTable(found, labels, shared)


def grading_spread(
    arm: ArmTable, metric: str, questions: BoolArray
) -> MeanSquare | None:
    """Spread of several gradings of the same answer.

    Parameters
    ----------
    arm : ArmTable
        Rows of the arm.
    metric : str
        Name of the metric.
    questions : ndarray of bool, shape (n_questions,)
        Which questions to keep.

    Returns
    -------
    MeanSquare or None
        Pooled variance of gradings around their answer's mean; `factor` is the mean
        of 1/J over the answers, J their number of gradings. None where no answer
        has two gradings with a score.
    """
    found = arm.gradings.get(metric)
    if found is None:
        return None
    use = questions[arm.question] & (found.counts > 0)
    counts = found.counts[use]
    df = int(np.sum(counts - 1))
    if df <= 0:
        return None
    value = float(np.sum(found.squares[use])) / df
    return MeanSquare(value, df, float(np.mean(1 / counts)))


def _one_row_per_cell(arm: ArmTable, n_questions: int, n_trials: int) -> bool:
    """Whether row i·K + k is that of question i in trial k."""
    if arm.question.size != n_questions * n_trials or n_trials == 0:
        return False
    by_question = arm.trial.reshape(n_questions, n_trials)
    return bool(
        np.array_equal(
            by_question, np.broadcast_to(np.arange(n_trials), by_question.shape)
        )
    )


def _rank_within(row: NDArray[np.int64]) -> NDArray[np.int64]:
    """Position of each row among those of its question; rows are sorted."""
    start = np.ones(row.size, dtype=np.bool_)
    start[1:] = row[1:] != row[:-1]
    first = np.flatnonzero(start)
    return np.arange(row.size) - np.repeat(first, np.diff(np.append(first, row.size)))
