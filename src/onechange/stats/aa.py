"""A/A comparisons: every two trials of one arm, in which nothing changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.binary import PairedTable, newcombe_limits
from onechange.stats.cluster_binary import stretched_limits
from onechange.stats.interval import wilson_limits
from onechange.stats.products import products
from onechange.stats.signflip import n_min, tail_probability
from onechange.stats.student import t_quantile

__all__ = ["FEWEST_TRIALS", "SameArm", "same_arm_deltas"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

FEWEST_TRIALS = 5
GUARDED = 2000  # questions beyond which ties do not matter to the guard


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
class _Pairs:
    """Every two trials k < l of an arm: one entry per pair."""

    first: IntArray
    second: IntArray
    n: FloatArray  # questions in common
    delta: FloatArray


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
    scored = np.isfinite(scores)
    pairs = _pairs(scores, scored)
    if not pairs.n.any():
        return None
    deltas = pairs.delta[pairs.n > 0]
    low, high = float(deltas.min()), float(deltas.max())
    if scores.shape[1] < FEWEST_TRIALS:
        reason = (
            f"{scores.shape[1]} trials are too few for a share; {FEWEST_TRIALS} are "
            "needed"
        )
        return SameArm(int(deltas.size), low, high, reason=reason)
    tail = tail_probability(confidence_level)
    codes = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
    if codes is not None and int(codes.max(initial=-1)) + 1 < codes.size:
        alarms = list(_cluster_alarms(scores.T, pairs, binary, codes, tail))
    else:
        enough = pairs.n >= n_min(confidence_level)
        found = _binary_alarms if binary else _score_alarms
        alarms = list(found(scores, scored, pairs, enough, tail))
    if not alarms:
        reason = "no comparison of two trials has an interval"
        return SameArm(int(deltas.size), low, high, reason=reason)
    n_alarms = sum(alarms)
    return SameArm(int(deltas.size), low, high, n_alarms, n_alarms / len(alarms))


def _pairs(scores: FloatArray, scored: BoolArray) -> _Pairs:
    first, second = np.triu_indices(scores.shape[1], 1)
    if scored.all():
        n = np.full(first.size, float(scores.shape[0]))
        means = scores.mean(axis=0) if scores.size else np.zeros(scores.shape[1])
        return _Pairs(first, second, n, means[second] - means[first])
    weights = scored.astype(np.float64)
    shared = products(weights, weights)
    totals = products(np.where(scored, scores, 0.0), weights)
    n = shared[first, second]
    sums = totals[second, first] - totals[first, second]
    return _Pairs(
        first, second, n, np.divide(sums, n, out=np.zeros_like(sums), where=n > 0)
    )


def _score_alarms(
    scores: FloatArray,
    scored: BoolArray,
    pairs: _Pairs,
    enough: BoolArray,
    tail: float,
) -> Iterator[bool]:
    """Whether each guarded t interval excludes 0."""
    squares = _squared_differences(scores, scored, pairs)[enough]
    changed = _changed(scores, pairs)[enough]
    n, delta = pairs.n[enough], pairs.delta[enough]
    guard = np.divide(squares, changed, out=np.zeros_like(squares), where=changed > 0)
    variance = (squares + 2 * guard - (n * delta) ** 2 / (n + 2)) / (n + 1)
    sizes, position = np.unique(n, return_inverse=True)
    quantile = np.array([t_quantile(tail, size + 1) for size in sizes.tolist()])
    half = quantile[position] * np.sqrt(np.maximum(variance, 0.0) / (n + 2))
    yield from ((np.abs(delta) > half) & (changed > 0)).tolist()


def _squared_differences(
    scores: FloatArray, scored: BoolArray, pairs: _Pairs
) -> FloatArray:
    """Σ d² of each pair, by products of the deviations from the question means."""
    k, m = pairs.first, pairs.second
    if scored.all():
        deviation = scores - scores.mean(axis=1, keepdims=True)
        crossed = products(deviation, deviation)
        own = np.diagonal(crossed)
        return np.asarray(own[k] + own[m] - 2 * crossed[k, m])
    weights = scored.astype(np.float64)
    filled = np.where(scored, scores, 0.0)
    centre = filled.sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
    deviation = (filled - centre[:, None]) * weights
    shared = products(deviation**2, weights)
    crossed = products(deviation, deviation)
    return np.asarray(shared[k, m] + shared[m, k] - 2 * crossed[k, m])


def _changed(scores: FloatArray, pairs: _Pairs) -> FloatArray:
    """Questions whose score differs between two trials.

    Only the guard rests on it; over many questions it says nothing any more, and
    all count.
    """
    if scores.shape[0] > GUARDED:
        return pairs.n
    trials = np.ascontiguousarray(scores.T)
    equal = [
        np.count_nonzero(trials[first + 1 :] == trials[first], axis=1)
        for first in range(trials.shape[0] - 1)
    ]
    return np.asarray(pairs.n - np.concatenate(equal), dtype=np.float64)


def _binary_alarms(
    scores: FloatArray,
    scored: BoolArray,
    pairs: _Pairs,
    enough: BoolArray,
    tail: float,
) -> Iterator[bool]:
    """Whether each of Newcombe's intervals excludes 0.

    As `newcombe_limits`, over all pairs at once: only the end next to 0 matters.
    """
    k, m = pairs.first[enough], pairs.second[enough]
    right = (scores == 1).astype(np.float64)
    n, common = pairs.n[enough], products(right, scored.astype(np.float64))
    both = products(right, right)[k, m]
    before, after = common[k, m], common[m, k]
    gain = after >= before  # the better trial takes the part of the variant
    phi = _phi(both, before - both, after - both, n)
    low = np.array(
        [
            wilson_limits(int(c), int(size), tail)[0]
            for c, size in zip(np.maximum(before, after), n, strict=True)
        ]
    )
    high = np.array(
        [
            wilson_limits(int(c), int(size), tail)[1]
            for c, size in zip(np.minimum(before, after), n, strict=True)
        ]
    )
    share_low = np.where(gain, before, after) / n
    share_high = np.where(gain, after, before) / n
    down, up = share_high - low, high - share_low
    distance = np.sqrt(np.maximum(down**2 - 2 * phi * down * up + up**2, 0.0))
    yield from (share_high - share_low > distance).tolist()


def _phi(
    both: FloatArray, only_first: FloatArray, only_second: FloatArray, n: FloatArray
) -> FloatArray:
    """Newcombe's correlation of two trials, lowered by his correction."""
    neither = n - both - only_first - only_second
    numerator = both * neither - only_first * only_second
    corrected = np.where(
        numerator > n / 2, numerator - n / 2, np.minimum(numerator, 0.0)
    )
    first, second = both + only_first, both + only_second
    product = first * second * (n - first) * (n - second)
    root = np.sqrt(product)
    return np.divide(corrected, root, out=np.zeros_like(root), where=root > 0)


def _cluster_alarms(
    trials: FloatArray, pairs: _Pairs, binary: bool, codes: IntArray, tail: float
) -> Iterator[bool]:
    """Whether each interval over whole clusters excludes 0."""
    from onechange.stats.cluster import (
        bell_mccaffrey_df,
        design_effect,
        guarded_cr2_law,
    )

    for first, second in zip(pairs.first, pairs.second, strict=True):
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
