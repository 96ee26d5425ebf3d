"""Answers that are right or wrong, over repeated trials: flips, pass@k, pass^k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["PassRate", "disagreement", "flipping", "pass_rates"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PassRate:
    """Chances that k trials of a question hold a success, and successes only.

    Parameters
    ----------
    k : int
        Number of trials drawn.
    any_right : float
        pass@k: at least one of k is right.
    all_right : float
        pass^k: all k are right.
    n_questions : int
        Questions with at least k scored trials, over which both are averaged.
    """

    k: int
    any_right: float
    all_right: float
    n_questions: int


def flipping(right: IntArray, trials: IntArray) -> BoolArray:
    """Questions whose answer is right in some trials and wrong in others.

    Parameters
    ----------
    right, trials : ndarray of int, shape (n_questions,)
        Right answers and scored trials of each question.

    Returns
    -------
    ndarray of bool, shape (n_questions,)
    """
    return np.asarray((right > 0) & (right < trials), dtype=np.bool_)


def disagreement(right: IntArray, trials: IntArray) -> float | None:
    """Share of pairs of trials that disagree about a question, averaged over questions.

    Parameters
    ----------
    right, trials : ndarray of int, shape (n_questions,)
        Right answers and scored trials of each question.

    Returns
    -------
    float or None
        Mean of 2c(K - c)/(K(K - 1)) over the questions with two or more trials;
        None without any.

    Examples
    --------
    >>> disagreement(np.array([1, 3]), np.array([3, 3]))
    0.3333333333333333
    """
    repeated = trials > 1
    if not repeated.any():
        return None
    kinds, weights = _counted(right[repeated], trials[repeated])
    c, k = kinds[:, 0], kinds[:, 1]
    return float(np.sum(weights * 2 * c * (k - c) / (k * (k - 1))) / weights.sum())


def pass_rates(right: IntArray, trials: IntArray) -> tuple[PassRate, ...]:
    """pass@k and pass^k for every k up to the largest number of trials.

    Parameters
    ----------
    right, trials : ndarray of int, shape (n_questions,)
        Right answers and scored trials of each question.

    Returns
    -------
    tuple of PassRate
        Averaged over the questions with at least k trials.

    Notes
    -----
    Unbiased over the draws of k among a question's K trials with c right ones:
    1 - C(K - c, k)/C(K, k) (Chen et al. 2021) and C(c, k)/C(K, k).

    Examples
    --------
    >>> [(r.any_right, r.all_right) for r in pass_rates(np.array([1]), np.array([2]))]
    [(0.5, 0.5), (1.0, 0.0)]
    """
    rates = []
    kinds, weights = _counted(right, trials)
    c, total = kinds[:, 0], kinds[:, 1]
    none_right, all_right = np.ones(c.size), np.ones(c.size)
    for k in range(1, int(trials.max(initial=0)) + 1):
        enough = total >= k
        if not enough.all():
            c, total, weights = c[enough], total[enough], weights[enough]
            none_right, all_right = none_right[enough], all_right[enough]
        left = total - (k - 1)
        none_right = none_right * np.maximum(left - c, 0.0) / left
        all_right = all_right * np.maximum(c - (k - 1), 0.0) / left
        n = float(weights.sum())
        rates.append(
            PassRate(
                k=k,
                any_right=1.0 - float(np.sum(weights * none_right)) / n,
                all_right=float(np.sum(weights * all_right)) / n,
                n_questions=int(n),
            )
        )
    return tuple(rates)


def _counted(right: IntArray, trials: IntArray) -> tuple[FloatArray, FloatArray]:
    """Distinct (right, trials) and the number of questions of each."""
    most = int(trials.max(initial=0)) + 1
    counts = np.bincount(trials * most + right)
    found = np.flatnonzero(counts)
    kinds = np.stack([found % most, found // most], axis=1).astype(np.float64)
    return kinds, counts[found].astype(np.float64)
