"""`Pairs`: the rows of both arms over the sorted union of their questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from onechange.question_index import QuestionIndex, sort_rows, trial_order
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
)

__all__ = [
    "ArmTable",
    "Pairs",
    "arm_table",
    "cluster_codes",
    "first_texts",
    "question_means",
    "rate",
    "rate_rows",
    "scored_rows",
    "trial_table",
    "union_of_questions",
]

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ArmTable:
    """All rows of one arm, sorted by question and trial.

    Parameters
    ----------
    question : ndarray of int, shape (n_rows,)
        Index into `Pairs.question_id`.
    trial : ndarray of int, shape (n_rows,)
        Index into `trial_labels` (all 0 when the arm has no trials).
    trial_labels : tuple of str
        Trial labels in order (numbers by value, then text).
    status : ndarray of int8, shape (n_rows,), or None
        As in `Results`.
    metrics : dict of str to ndarray of float, shape (n_rows,)
        As in `Results`.
    texts : dict of str to ndarray of object, shape (n_rows,)
        The label columns of the rows, for the drill-down.
    gradings : dict of str to Gradings
        As in `Results`.
    """

    question: IntArray
    trial: IntArray
    trial_labels: tuple[str, ...]
    status: StatusArray | None
    metrics: dict[str, FloatArray]
    texts: dict[str, TextArray]
    gradings: dict[str, Gradings] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Both arms over the sorted union of their questions.

    Parameters
    ----------
    question_id : ndarray of str, shape (n_questions,)
        Union of the questions of both arms, sorted as text.
    paired : ndarray of bool, shape (n_questions,)
        True where the question is in both arms and comparable.
    baseline, variant : ArmTable
        The rows of each arm.
    labels : dict of str to ndarray of object, shape (n_questions,)
        Slice label of each question (text, or None), the baseline's where both
        arms have one.
    clusters : ndarray of int, shape (n_questions,), or None
        Cluster code of each question; a question without a label is a cluster
        of its own.
    """

    question_id: TextArray
    paired: BoolArray
    baseline: ArmTable
    variant: ArmTable
    labels: dict[str, TextArray]
    clusters: IntArray | None


def question_means(pairs: Pairs, arm: str, metric: str) -> FloatArray:
    """Mean over the scored trials of each question.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    arm : {"baseline", "variant"}
        Which arm.
    metric : str
        Name of the metric.

    Returns
    -------
    ndarray of float, shape (n_questions,)
        Entry i belongs to ``pairs.question_id[i]``; NaN where no trial is scored,
        and everywhere when the arm does not have the metric. Not to be written to:
        with one row per question these are the scores of the arm themselves.

    Examples
    --------
    >>> import pandas as pd
    >>> from onechange.align import align
    >>> from onechange.read import read
    >>> trials = {"question_id": ["q1", "q1", "q2"], "trial": [1, 2, 1]}
    >>> arm = read(pd.DataFrame({**trials, "correct": [1, 0, None]}), name="b")
    >>> pairs, _ = align(arm, arm)
    >>> question_means(pairs, "baseline", "correct").tolist()
    [0.5, nan]
    """
    table = _arm(pairs, arm)
    n_questions = pairs.question_id.size
    if metric not in table.metrics:
        return np.full(n_questions, np.nan)
    return _means(table.question, table.metrics[metric], n_questions)


def trial_table(pairs: Pairs, arm: str, metric: str) -> FloatArray:
    """Scores of a metric as a table of questions by trials.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    arm : {"baseline", "variant"}
        Which arm.
    metric : str
        Name of the metric.

    Returns
    -------
    ndarray of float, shape (n_questions, n_trials)
        Columns in the order of the arm's `trial_labels`; NaN where a question was
        not run or not scored in a trial.
    """
    table = _arm(pairs, arm)
    shape = (pairs.question_id.size, len(table.trial_labels))
    scores = np.full(shape, np.nan)
    if metric in table.metrics:
        scores[table.question, table.trial] = table.metrics[metric]
    return scores


def rate(pairs: Pairs, arm: str, name: str) -> FloatArray | None:
    """Built-in rate: the share of each question's trials with a status.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    arm : {"baseline", "variant"}
        Which arm.
    name : {"failed", "unscored", "answered"}
        Which status.

    Returns
    -------
    ndarray of float, shape (n_questions,), or None
        NaN where the arm lacks the question. Without a status column a row
        without any score is unscored, and ``failed`` is None: not measured.
    """
    rows = rate_rows(_arm(pairs, arm), name)
    if rows is None:
        return None
    return _means(_arm(pairs, arm).question, rows, pairs.question_id.size)


def rate_rows(arm: ArmTable, name: str) -> FloatArray | None:
    """Whether each row has a status, as 0 or 1; None when that is not measured.

    Parameters
    ----------
    arm : ArmTable
        Rows of the arm.
    name : {"failed", "unscored", "answered"}
        Which status.

    Returns
    -------
    ndarray of float, shape (n_rows,), or None
    """
    code = {"failed": FAILED, "unscored": UNSCORED, "answered": ANSWERED}[name]
    status = arm.status
    if status is None:
        if code == FAILED:
            return None
        scored = scored_rows(arm.metrics, arm.question.size)
        status = np.where(scored, ANSWERED, UNSCORED).astype(np.int8)
    rows: FloatArray = (status == code).astype(np.float64)
    return rows


def scored_rows(metrics: Mapping[str, FloatArray], n_rows: int) -> BoolArray:
    """Rows with a score of any metric.

    Parameters
    ----------
    metrics : mapping of str to ndarray of float, shape (n_rows,)
        Scores.
    n_rows : int
        Number of rows.

    Returns
    -------
    ndarray of bool, shape (n_rows,)
    """
    scored = np.zeros(n_rows, dtype=np.bool_)
    for values in metrics.values():
        scored |= ~np.isnan(values)
    return scored


def union_of_questions(
    baseline: QuestionIndex, variant: QuestionIndex
) -> tuple[TextArray, IntArray, IntArray]:
    """Sorted union of the questions of two arms, and where each row stands in it.

    Parameters
    ----------
    baseline, variant : QuestionIndex
        Index of the rows of each arm.

    Returns
    -------
    union : ndarray of str, shape (n_questions,)
        Distinct questions of both arms, sorted as text.
    baseline_question, variant_question : ndarray of int, shape (n_rows,)
        Index of each row's question in the union.
    """
    first = baseline.question_id[baseline.starts]
    second = variant.question_id[variant.starts]
    if _same_questions(baseline, variant, first, second):
        return first, baseline.codes, variant.codes
    both: TextArray = np.concatenate([first, second])
    rows = sort_rows(both, None)
    order = np.arange(both.size) if rows.order is None else rows.order
    position = np.empty(both.size, dtype=np.int64)
    position[order] = rows.codes
    keep = np.ones(both.size, dtype=np.bool_)
    keep[rows.repeated] = False
    return (
        both[order[keep]],
        position[: first.size][baseline.codes],
        position[first.size :][variant.codes],
    )


def _same_questions(
    baseline: QuestionIndex, variant: QuestionIndex, first: TextArray, second: TextArray
) -> bool:
    if first.size != second.size:
        return False
    if baseline.keys is not None and variant.keys is not None:
        return bool(np.array_equal(baseline.keys, variant.keys))
    return bool(np.all(first == second))


def arm_table(results: Results, question: IntArray) -> ArmTable:
    """Rows of an arm with codes in place of ids and trial labels.

    Parameters
    ----------
    results : Results
        Sorted rows.
    question : ndarray of int, shape (n_rows,)
        Index of each row's question.

    Returns
    -------
    ArmTable
    """
    if results.trial is None:
        labels: tuple[str, ...] = ("1",)
        trial = np.zeros(results.n_rows, dtype=np.int64)
    else:
        labels = trial_order(results.trial)
        ranks = {label: rank for rank, label in enumerate(labels)}
        trial = np.fromiter(
            map(ranks.__getitem__, results.trial), np.int64, results.n_rows
        )
    return ArmTable(
        question=question,
        trial=trial,
        trial_labels=labels,
        status=results.status,
        metrics=results.metrics,
        texts=results.labels,
        gradings=results.gradings,
    )


def cluster_codes(labels: TextArray) -> IntArray:
    """Give each question the number of its cluster.

    Parameters
    ----------
    labels : ndarray of object, shape (n_questions,)
        Label of each question's cluster, or None.

    Returns
    -------
    ndarray of int, shape (n_questions,)
        A question without a label is a cluster of its own.
    """
    texts = labels.tolist()
    ranks = {text: rank for rank, text in enumerate(sorted(set(texts) - {None}))}
    codes = np.array([ranks.get(text, -1) for text in texts], dtype=np.int64)
    alone = np.flatnonzero(codes < 0)
    codes[alone] = len(ranks) + np.arange(alone.size)
    return codes


def first_texts(question: IntArray, texts: TextArray, n_questions: int) -> TextArray:
    """First text of each question, in the order of its trials.

    Parameters
    ----------
    question : ndarray of int, shape (n_rows,)
        Index of each row's question, rows sorted.
    texts : ndarray of object, shape (n_rows,)
        Text of each row, or None.
    n_questions : int
        Length of the result.

    Returns
    -------
    ndarray of object, shape (n_questions,)
        None where a question has no text.
    """
    if _one_row_each(question, n_questions):
        return texts
    found = np.full(n_questions, None, dtype=object)
    present = np.flatnonzero(texts.astype(np.bool_))[::-1]
    found[question[present]] = texts[present]  # the first trial is written last
    return found


def _arm(pairs: Pairs, arm: str) -> ArmTable:
    return {"baseline": pairs.baseline, "variant": pairs.variant}[arm]


def _means(question: IntArray, values: FloatArray, n_questions: int) -> FloatArray:
    """Mean of the values that are not NaN; rows are added in their sorted order."""
    if _one_row_each(question, n_questions):
        means = values.view()
        means.flags.writeable = False
        return means
    scored = ~np.isnan(values)
    rows, kept = question[scored], values[scored]
    counts = np.bincount(rows, minlength=n_questions)
    totals = np.bincount(rows, weights=kept, minlength=n_questions)
    means = np.full(n_questions, np.nan)
    np.divide(totals, counts, out=means, where=counts > 0)
    return means


def _one_row_each(question: IntArray, n_questions: int) -> bool:
    """Whether row i belongs to question i (the rows are sorted)."""
    return question.size == n_questions and bool(np.all(question[1:] > question[:-1]))
