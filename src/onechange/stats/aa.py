"""A/A comparisons: every two trials of one arm, in which nothing changed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.binary import PairedTable, newcombe_limits
from onechange.stats.cluster_binary import stretched_limits
from onechange.stats.signflip import n_min, tail_probability
from onechange.stats.student import t_quantile

__all__ = ["FEWEST_TRIALS", "SameArm", "same_arm_deltas"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

FEWEST_TRIALS = 5
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class SameArm:
    """Deltas between single trials of one arm: what a change of nothing looks like.

    Parameters
    ----------
    n_deltas : int
        Pairs of trials with questions in common.
    low, high : float
        Smallest and largest delta, the later minus the earlier trial.
    n_alarms : int or None
        Comparisons whose interval excludes 0; None under 5 trials.
    false_alarm_share : float or None
        `n_alarms` over the comparisons that have an interval; nominally 1 minus the
        confidence level.
    reason : str or None
        Why there is no share.
    """

    n_deltas: int
    low: float
    high: float
    n_alarms: int | None = None
    false_alarm_share: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Deltas:
    """What the comparisons of one trial with later ones come to, one entry each."""

    n: FloatArray
    delta: FloatArray
    squares: FloatArray  # Σ d²
    changed: FloatArray  # d ≠ 0


def same_arm_deltas(
    scores: FloatArray,
    *,
    binary: bool = False,
    clusters: IntArray | None = None,
    confidence_level: float = 0.95,
) -> SameArm | None:
    """Compare every two trials of one arm as if the later one were a variant.

    Parameters
    ----------
    scores : ndarray of float, shape (n_questions, n_trials)
        Scores of one arm; NaN where unscored.
    binary : bool
        Whether all scores are 0 or 1.
    clusters : ndarray of int, shape (n_questions,), optional
        Cluster of each question.
    confidence_level : float
        Two-sided level of the intervals.

    Returns
    -------
    SameArm or None
        None when no two trials share a scored question.

    Notes
    -----
    The intervals are the closed forms behind the decision interval: Newcombe's for
    scores of 0 and 1, the guarded t for others, whole clusters when declared. The
    comparisons share trials and are not independent: the share describes this arm,
    it is no test. One far above 1 - `confidence_level` means that whole runs differ
    and that intervals over questions alone are too narrow.

    Examples
    --------
    >>> correct = np.random.default_rng(7).random((40, 6)) < 0.8
    >>> found = same_arm_deltas(correct.astype(float), binary=True)
    >>> found.n_deltas, found.n_alarms
    (15, 0)
    """
    trials = np.ascontiguousarray(scores.T, dtype=np.float64)
    codes = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
    if codes is not None and int(codes.max(initial=-1)) + 1 == codes.size:
        codes = None
    deltas: list[float] = []
    alarms: list[bool] = []
    share = trials.shape[0] >= FEWEST_TRIALS
    for first in range(trials.shape[0] - 1):
        found = _compared(trials, first)
        deltas += found.delta[found.n > 0].tolist()
        if share:
            alarms += _alarms(trials, first, found, binary, codes, confidence_level)
    if not deltas:
        return None
    low, high = min(deltas), max(deltas)
    if not share:
        reason = (
            f"{trials.shape[0]} trials are too few for a share; {FEWEST_TRIALS} are "
            "needed"
        )
        return SameArm(len(deltas), low, high, reason=reason)
    if not alarms:
        reason = "no comparison of two trials has an interval"
        return SameArm(len(deltas), low, high, reason=reason)
    n_alarms = sum(alarms)
    return SameArm(len(deltas), low, high, n_alarms, n_alarms / len(alarms))


def _compared(trials: FloatArray, first: int) -> _Deltas:
    difference = trials[first + 1 :] - trials[first]
    scored = np.isfinite(difference)
    if not scored.all():
        difference[~scored] = 0.0
    n = scored.sum(axis=1).astype(np.float64)
    noise = ROUNDING * max(float(np.abs(difference).max(initial=0.0)), 1e-300)
    total = difference.sum(axis=1)
    return _Deltas(
        n=n,
        delta=np.divide(total, n, out=np.zeros_like(total), where=n > 0),
        squares=np.einsum("ij,ij->i", difference, difference),
        changed=np.count_nonzero(np.abs(difference) > noise, axis=1).astype(np.float64),
    )


def _alarms(
    trials: FloatArray,
    first: int,
    found: _Deltas,
    binary: bool,
    codes: IntArray | None,
    confidence_level: float,
) -> Iterator[bool]:
    """Whether each comparison that has an interval excludes 0."""
    tail = tail_probability(confidence_level)
    if codes is not None:
        return _cluster_alarms(trials, first, binary, codes, tail)
    enough = found.n >= n_min(confidence_level)
    if binary:
        return _binary_alarms(trials, first, enough, tail)
    return _score_alarms(found, enough, tail)


def _score_alarms(found: _Deltas, enough: BoolArray, tail: float) -> Iterator[bool]:
    for i in np.flatnonzero(enough).tolist():
        if found.changed[i] == 0:
            yield False
            continue
        n, total = found.n[i] + 2, found.n[i] * found.delta[i]
        guard = found.squares[i] / found.changed[i]
        variance = (found.squares[i] + 2 * guard - total**2 / n) / (n - 1)
        half = t_quantile(tail, n - 1) * math.sqrt(variance / n)
        yield bool(abs(found.delta[i]) > half)


def _binary_alarms(
    trials: FloatArray, first: int, enough: BoolArray, tail: float
) -> Iterator[bool]:
    for i in np.flatnonzero(enough).tolist():
        low, high = newcombe_limits(_table(trials[first], trials[first + 1 + i]), tail)
        yield low > 0 or high < 0


def _cluster_alarms(
    trials: FloatArray, first: int, binary: bool, codes: IntArray, tail: float
) -> Iterator[bool]:
    from onechange.stats.cluster import (
        bell_mccaffrey_df,
        design_effect,
        guarded_cr2_law,
    )

    for second in range(first + 1, trials.shape[0]):
        both = np.isfinite(trials[first]) & np.isfinite(trials[second])
        if not both.any():
            continue
        difference, kept = (trials[second] - trials[first])[both], codes[both]
        limits = None
        if binary:
            deff, df = design_effect(difference, kept), bell_mccaffrey_df(kept)
            table = _table(trials[first], trials[second])
            if deff is not None and df is not None:
                base = newcombe_limits(table, tail)
                limits = stretched_limits(
                    base, table.delta, deff=deff, df=df, tail=tail
                )
        else:
            law = guarded_cr2_law(difference, kept, width=None)
            limits = None if law is None else law.limits(tail)
        if limits is not None:
            yield limits[0] > 0 or limits[1] < 0


def _table(before: FloatArray, after: FloatArray) -> PairedTable:
    """Count outcomes; a comparison with NaN is false, so that unscored ones drop."""
    right_b, right_v, wrong_b, wrong_v = (
        before == 1,
        after == 1,
        before == 0,
        after == 0,
    )
    return PairedTable(
        both=int(np.count_nonzero(right_b & right_v)),
        only_baseline=int(np.count_nonzero(right_b & wrong_v)),
        only_variant=int(np.count_nonzero(wrong_b & right_v)),
        neither=int(np.count_nonzero(wrong_b & wrong_v)),
    )
