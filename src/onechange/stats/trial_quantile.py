"""The quantile of all trial values of an arm, and its resamples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.resample import draw_batches

__all__ = ["TrialValues", "resampled_quantiles", "trial_quantile"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
CELLS_PER_BATCH = 2_000_000  # bounds the memory of a batch of resamples to ~50 MB


@dataclass(frozen=True, slots=True, eq=False)
class TrialValues:
    """All trial values of one metric in one arm.

    Parameters
    ----------
    values : ndarray of float, shape (n_values,)
        Finite values, one per question and trial.
    question : ndarray of int, shape (n_values,)
        Question of each value, 0 … n_questions - 1; every question has a value.
    """

    values: FloatArray
    question: IntArray

    @property
    def n_questions(self) -> int:
        """Number of questions."""
        return int(self.question.max()) + 1 if self.question.size else 0


def trial_quantile(arm: TrialValues, probability: float) -> float:
    """Type-7 quantile over all trial values, each question weighing the same.

    Parameters
    ----------
    arm : TrialValues
    probability : float
        0.95 for the p95.

    Notes
    -----
    Each of a question's K values weighs 1/K. With u the smallest weight and S the
    running sum of weights over the sorted values, the quantile is the value at
    position probability·(S_total - u), values holding the positions from
    S_before to S_after - u, with straight lines between. When all K are equal it
    is the ordinary type-7 quantile of all values.

    Examples
    --------
    >>> arm = TrialValues(np.array([1.0, 2.0, 3.0, 10.0]), np.array([0, 1, 2, 3]))
    >>> trial_quantile(arm, 0.5)
    2.5
    """
    ordered = _ordered(arm)
    everyone = np.ones((1, arm.n_questions))
    return float(_quantiles(ordered, everyone, probability)[0])


def resampled_quantiles(
    arms: tuple[TrialValues, ...],
    probability: float,
    clusters: IntArray | None,
    n_resamples: int,
    *,
    seed: int,
) -> list[FloatArray]:
    """Quantiles of every arm over one shared stream of resampled questions.

    Parameters
    ----------
    arms : tuple of TrialValues
        Over the same questions.
    probability : float
    clusters : ndarray of int, shape (n_questions,), or None
        Whole clusters are drawn.
    n_resamples, seed : int

    Returns
    -------
    list of ndarray of float, each of shape (n_resamples,)
        One per arm, resample by resample; bounded memory.
    """
    ordered = [_ordered(arm) for arm in arms]
    n = arms[0].n_questions
    widest = max(arm.values.size for arm in arms)
    rows = max(1, CELLS_PER_BATCH // widest)
    found: list[list[FloatArray]] = [[] for _ in arms]
    for counts in _counts(n, clusters, n_resamples, rows=rows, seed=seed):
        for column, arm in zip(found, ordered, strict=True):
            column.append(_quantiles(arm, counts, probability))
    return [np.concatenate(column) for column in found]


@dataclass(frozen=True, slots=True, eq=False)
class _Ordered:
    """Values in ascending order, with their questions and weights."""

    values: FloatArray
    question: IntArray
    weight: FloatArray
    unit: float


def _ordered(arm: TrialValues) -> _Ordered:
    order = np.argsort(arm.values, kind="stable")
    trials = np.bincount(arm.question)
    weight = 1.0 / trials[arm.question[order]]
    return _Ordered(arm.values[order], arm.question[order], weight, float(weight.min()))


def _quantiles(arm: _Ordered, counts: FloatArray, probability: float) -> FloatArray:
    """Quantile of each resample; counts has shape (n_resamples, n_questions)."""
    running = np.cumsum(counts[:, arm.question] * arm.weight, axis=1)
    position = probability * (running[:, -1] - arm.unit)
    last = arm.values.size - 1
    first = np.sum(running <= position[:, None], axis=1)
    second = np.sum(running <= (position + arm.unit)[:, None], axis=1)
    first, second = np.minimum(first, last), np.minimum(second, last)
    start = running[np.arange(first.size), first] - arm.unit
    share = np.clip((position - start) / arm.unit, 0.0, 1.0)
    low, high = arm.values[first], arm.values[second]
    return np.asarray(low + share * (high - low), dtype=np.float64)


def _counts(
    n: int, clusters: IntArray | None, n_resamples: int, *, rows: int, seed: int
) -> Iterator[FloatArray]:
    """How often each question is drawn, some rows of resamples at a time."""
    code = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
    units = n if code is None else int(code.max()) + 1
    for drawn in draw_batches(units, n_resamples, seed=seed):
        for start in range(0, drawn.shape[0], rows):
            part = drawn[start : start + rows]
            shifted = part + np.arange(part.shape[0])[:, None] * units
            counts = np.bincount(shifted.ravel(), minlength=part.size)
            table = np.asarray(counts.reshape(part.shape), dtype=np.float64)
            yield table if code is None else table[:, code]
