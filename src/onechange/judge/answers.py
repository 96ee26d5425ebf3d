"""Human labels put beside the judge's scores of the same answers, arm by arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.errors import InputError
from onechange.judge.labels import HumanLabel

__all__ = ["LabelledArm", "label_arm", "label_weights", "scale_of", "stated_scale"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class LabelledArm:
    """The labels of one arm that belong to an answer with a judge score.

    Parameters
    ----------
    human, judge : ndarray of float, shape (n_questions,)
        Mean label of each question over its labelled answers, and mean judge score of
        these same answers; NaN without a label.
    question : ndarray of int, shape (n_labels,)
        Question of each label.
    label, score : ndarray of float, shape (n_labels,)
        Each label, and the judge score of its answer.
    n_answers : int
        Answers (question and trial) with a label.
    n_differ : int
        Those with several labels that differ.
    n_unused : int
        Labels of answers that the judge did not score, or that are not there.
    """

    human: FloatArray
    judge: FloatArray
    question: IntArray
    label: FloatArray
    score: FloatArray
    n_answers: int
    n_differ: int
    n_unused: int


def label_arm(
    labels: Sequence[HumanLabel],
    row: Mapping[str, int],
    scores: FloatArray,
    trials: Sequence[str] | None,
) -> LabelledArm:
    """Find the answer of each label of one arm.

    Parameters
    ----------
    labels : sequence of HumanLabel
        Labels of the arm.
    row : mapping of str to int
        Question to its row in `scores`.
    scores : ndarray of float, shape (n_questions, n_trials)
        Judge scores; NaN is unscored.
    trials : sequence of str or None
        Labels of the trials; None when there is one.

    Returns
    -------
    LabelledArm

    Notes
    -----
    A label without a trial is one of the question as a whole where there are several
    trials: its score is the mean over them. Several labels of one answer are averaged
    before the answers of a question are.
    """
    place = {trial: at for at, trial in enumerate(trials or ())}
    found: dict[tuple[int, int], list[float]] = {}
    n_unused = 0
    for label in labels:
        at = row.get(label.question_id)
        column = _column(label, place, scores.shape[1])
        if at is None or column is None or np.isnan(_score(scores[at], column)):
            n_unused += 1
            continue
        found.setdefault((at, column), []).append(label.label)
    cells = sorted(found)
    sums = np.zeros((3, len(row)))
    for at, column in cells:
        mean = sum(found[at, column]) / len(found[at, column])
        sums[:, at] += (mean, _score(scores[at], column), 1.0)
    human, judge = (
        np.divide(part, sums[2], out=np.full(len(row), np.nan), where=sums[2] > 0)
        for part in sums[:2]
    )
    each = [(at, value, column) for at, column in cells for value in found[at, column]]
    return LabelledArm(
        human=human,
        judge=judge,
        question=np.array([at for at, _, _ in each], dtype=np.int64),
        label=np.array([value for _, value, _ in each], dtype=np.float64),
        score=np.array([_score(scores[at], c) for at, _, c in each], dtype=np.float64),
        n_answers=len(cells),
        n_differ=sum(len(set(values)) > 1 for values in found.values()),
        n_unused=n_unused,
    )


def label_weights(
    labels: Sequence[HumanLabel], row: Mapping[str, int]
) -> FloatArray | None:
    """Return how many questions each labelled one stands for.

    Parameters
    ----------
    labels : sequence of HumanLabel
        Labels of both arms.
    row : mapping of str to int
        Question to its row.

    Returns
    -------
    ndarray of float, shape (n_questions,), or None
        NaN without a label; None when no label has a weight.

    Raises
    ------
    InputError
        If a question has two weights, or only some have one.
    """
    weights: dict[str, float | None] = {}
    for label in labels:
        if label.question_id not in row:
            continue
        first = weights.setdefault(label.question_id, label.weight)
        if first is None or label.weight is None:
            weights[label.question_id] = first or label.weight
        elif first != label.weight:
            raise InputError(
                f"question {label.question_id!r} has weights {first:g} and "
                f"{label.weight:g}; a question has one weight"
            )
    without = sorted(name for name, weight in weights.items() if weight is None)
    if len(without) == len(weights):
        return None
    if without:
        raise InputError(
            f"label of question {without[0]!r} has no weight though others have; give "
            "a weight to all labels or to none"
        )
    table = np.full(len(row), np.nan)
    for question, weight in weights.items():
        table[row[question]] = weight
    return table


def scale_of(scores: FloatArray) -> tuple[float, float] | None:
    """Return the scale that judge scores show: 0 to 1, or their lowest and highest.

    Parameters
    ----------
    scores : ndarray of float
        NaN is unscored.

    Returns
    -------
    tuple of float, or None
        None without a score.
    """
    known = scores[np.isfinite(scores)]
    if not known.size:
        return None
    low, high = float(known.min()), float(known.max())
    return (0.0, 1.0) if low >= 0.0 and high <= 1.0 else (low, high)


def stated_scale(
    labels: Sequence[HumanLabel],
    declared: tuple[float, float] | None,
    shown: tuple[float, float] | None,
    metric: str,
) -> tuple[float, float] | None:
    """Return the scale of judge and people; refuse a label outside.

    Parameters
    ----------
    labels : sequence of HumanLabel
    declared, shown : tuple of float, or None
        Declared range, and the scale that the judge's scores show.
    metric : str
        For the message.

    Returns
    -------
    tuple of float, or None

    Raises
    ------
    InputError
        If a label is outside.
    """
    scale = declared or shown
    for label in labels if scale else ():
        low, high = scale or (0.0, 0.0)
        if low <= label.label <= high:
            continue
        where = f"label of question {label.question_id!r}, {label.arm}: "
        if declared:
            raise InputError(f"{where}{label.label!r} is outside [{low:g}, {high:g}]")
        raise InputError(
            f"{where}{label.label!r} is not on the judge's scale, whose scores of "
            f"{metric} lie in [{low:g}, {high:g}]; label on that scale, or declare the "
            f"range (--range {metric}=LOW,HIGH)"
        )
    return scale


def _column(label: HumanLabel, place: Mapping[str, int], n_trials: int) -> int | None:
    """Column of the labelled answer; -1 for the question as a whole."""
    if label.trial is None or not any(place):  # no trial is named in the results
        return 0 if n_trials == 1 else -1
    return place.get(label.trial)


def _score(scores: FloatArray, column: int) -> float:
    if column >= 0:
        return float(scores[column])
    known = scores[np.isfinite(scores)]
    return float(known.mean()) if known.size else float("nan")
