"""Exhaustive counts over subsets: the full list, or two halves that meet.

A subset takes every question with probability one half. Equal values are taken
together, so c questions with one value are c + 1 states, not 2^c.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FEW_STATES",
    "LARGEST_HALF",
    "MANY_STATES",
    "binomial_half",
    "count_below",
    "first_mean_above",
    "kth_smallest_mean",
    "n_states",
    "split_in_halves",
    "states_per_half",
    "subset_states",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LOG_TWO = float(np.log(2.0))
FEW_STATES = 1.7e4  # per half: counted in a millisecond or two
MANY_STATES = 3e5  # per half: 36 questions without ties, tenths of a second
LARGEST_HALF = 1.1e6  # 20 questions without ties
LISTED_PAIRS = 150_000


@lru_cache(maxsize=512)
def binomial_half(count: int) -> FloatArray:
    """Probabilities of 0 … count successes in fair trials.

    Parameters
    ----------
    count : int
        Number of trials.

    Returns
    -------
    ndarray of float, shape (count + 1,)

    Notes
    -----
    Powers of two up to 50 trials, so that sums of them carry no rounding.

    Examples
    --------
    >>> binomial_half(2).tolist()
    [0.25, 0.5, 0.25]
    """
    if count <= 50:
        row = np.ones(1)
        for _ in range(count):
            row = np.convolve(row, (0.5, 0.5))
        row.flags.writeable = False  # it is kept for the next call
        return row
    from scipy.special import gammaln

    k = np.arange(count + 1, dtype=np.float64)
    log = gammaln(count + 1.0) - gammaln(k + 1.0) - gammaln(count - k + 1.0)
    law = np.exp(log - count * LOG_TWO)
    symmetric = np.asarray(0.5 * (law + law[::-1]))
    symmetric.flags.writeable = False
    return symmetric


def n_states(counts: IntArray) -> float:
    """Return the number of different (value, count) combinations of a subset.

    Parameters
    ----------
    counts : ndarray of int, shape (n_values,)
        Number of questions per value.

    Returns
    -------
    float
        ``prod(counts + 1)``; ``inf`` when beyond the double range.
    """
    log = float(np.sum(np.log1p(counts)))
    return float(np.exp(log)) if log < 700.0 else float("inf")


def subset_states(
    columns: FloatArray, counts: IntArray
) -> tuple[FloatArray, FloatArray]:
    """List the sums of every subset, with their probabilities.

    Parameters
    ----------
    columns : ndarray of float, shape (n_columns, n_values)
        Quantities to be summed over the subset, such as value and size.
    counts : ndarray of int, shape (n_values,)
        Number of questions per value.

    Returns
    -------
    sums : ndarray of float, shape (n_columns, n_states)
    probability : ndarray of float, shape (n_states,)
        They add up to one.

    Examples
    --------
    >>> import numpy as np
    >>> sums, probability = subset_states(np.array([[1.0, 3.0]]), np.array([2, 1]))
    >>> sums.tolist(), probability.tolist()
    ([[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]], [0.125, 0.125, 0.25, 0.25, 0.125, 0.125])
    """
    sums = np.zeros((columns.shape[0], 1))
    probability = np.ones(1)
    for column, count in zip(columns.T, counts.tolist(), strict=True):
        taken = np.arange(count + 1, dtype=np.float64)
        step = column[:, None] * taken
        sums = (sums[:, :, None] + step[:, None, :]).reshape(columns.shape[0], -1)
        probability = np.outer(probability, binomial_half(count)).ravel()
    return sums, probability


def split_in_halves(counts: IntArray) -> NDArray[np.bool_]:
    """Split values into two sets with numbers of states that are nearly equal.

    Parameters
    ----------
    counts : ndarray of int, shape (n_values,)
        Number of questions per value.

    Returns
    -------
    ndarray of bool, shape (n_values,)
        True for the values of the first half.
    """
    first = np.zeros(counts.size, dtype=bool)
    sizes = [0.0, 0.0]
    for index in np.argsort(-counts, kind="stable").tolist():
        smaller = 0 if sizes[0] <= sizes[1] else 1
        sizes[smaller] += float(np.log1p(counts[index]))
        first[index] = smaller == 0
    return first


def states_per_half(counts: IntArray) -> float:
    """Return the larger number of states when the values are split in two.

    Parameters
    ----------
    counts : ndarray of int, shape (n_values,)
        Number of questions per value.

    Returns
    -------
    float
        ``inf`` when it is certainly above `LARGEST_HALF`.
    """
    if n_states(counts) > LARGEST_HALF**2:
        return float("inf")
    first = split_in_halves(counts)
    return max(n_states(counts[first]), n_states(counts[~first]))


def count_below(
    values: FloatArray, counts: IntArray, threshold: float, tolerance: float
) -> float:
    """Probability that a random subset sums to a threshold at most.

    Parameters
    ----------
    values : ndarray of float, shape (n_values,)
        Distinct values.
    counts : ndarray of int, shape (n_values,)
        Number of questions per value.
    threshold : float
        Largest sum that is counted.
    tolerance : float
        Sums up to this far above the threshold tie with it.

    Returns
    -------
    float
        All terms are positive, so small probabilities keep their relative accuracy.

    Notes
    -----
    Meet in the middle: the sums of one half are sorted, and those of the other
    half are looked up (Horowitz & Sahni 1974).

    Examples
    --------
    >>> import numpy as np
    >>> count_below(np.array([1.0, 3.0]), np.array([2, 1]), 3.0, 0.0)
    0.625
    """
    first = split_in_halves(counts)
    if int(counts.max()) == 1:  # all states weigh the same: no need to carry weights
        ours, theirs = _sorted_sums(values[first]), _sorted_sums(values[~first])
        room = threshold + tolerance - theirs[::-1]
        below = np.searchsorted(ours, room, side="right")
        return float(np.ldexp(float(np.sum(below)), -counts.size))
    left, left_probability = subset_states(values[None, first], counts[first])
    right, right_probability = subset_states(values[None, ~first], counts[~first])
    room = threshold + tolerance - right[0]
    order = np.argsort(left[0], kind="stable")
    cumulated = np.concatenate(([0.0], np.cumsum(left_probability[order])))
    below = np.searchsorted(left[0][order], room, side="right")
    return float(np.sum(right_probability * cumulated[below]))


def _sorted_sums(values: FloatArray) -> FloatArray:
    """List the sums of all subsets in ascending order; a value merges two runs."""
    sums = np.zeros(1)
    for value in values.tolist():
        sums = np.concatenate((sums, sums + value))
        sums.sort(kind="stable")
    return sums


def first_mean_above(
    values: FloatArray,
    sizes: FloatArray,
    counts: IntArray,
    *,
    bracket: tuple[float, float],
    tail: float,
) -> tuple[float | None, float]:
    """Pick the subset mean at which the share exceeds a tail out of a bracket.

    Parameters
    ----------
    values, sizes, counts
        As in `kth_smallest_mean`.
    bracket : tuple of float
        Where the mean is looked for: above the first, up to the second number.
    tail : float
        Half of the error level.

    Returns
    -------
    mean : float or None
        The attained mean itself; None when it lies elsewhere, and when too many lie
        in the bracket.
    excess : float
        How far the share exceeds the tail at the end of the bracket that is nearer
        to the mean; 0 when the mean lies within.
    """
    low, high = bracket
    first = split_in_halves(counts)
    columns = np.vstack((values, sizes))
    left, left_weight = subset_states(columns[:, first], counts[first])
    right, right_weight = subset_states(columns[:, ~first], counts[~first])
    moved, other = left[0] - high * left[1], right[0] - high * right[1]
    order, needles = np.argsort(moved, kind="stable"), np.argsort(-other, kind="stable")
    ordered, other, right_weight = moved[order], other[needles], right_weight[needles]
    noise = 1e-13 * float(np.sum(np.abs(values) * counts))
    stop = np.searchsorted(ordered, -other + noise, side="right")
    cumulated = np.concatenate(([0.0], np.cumsum(left_weight[order])))
    total = float(np.sum(right_weight * cumulated[stop]))
    if total <= tail * (1.0 + 1e-13):
        return None, total - tail
    room = (high - low) * float(np.sum(sizes * counts)) + noise
    start = np.searchsorted(ordered, -other - room, side="left")
    pairs = stop - start
    if int(np.sum(pairs)) > LISTED_PAIRS:
        return None, 0.0
    b = np.repeat(np.arange(pairs.size), pairs)
    offset = np.arange(b.size) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    a = order[np.repeat(start, pairs) + offset]
    size = left[1, a] + right[1, needles][b]
    some = size > 0.0
    means = (left[0, a] + right[0, needles][b])[some] / size[some]
    weight = (left_weight[a] * right_weight[b])[some]
    return _step_within(means, weight, total, tail, bracket)


def _step_within(
    means: FloatArray,
    weight: FloatArray,
    total: float,
    tail: float,
    bracket: tuple[float, float],
) -> tuple[float | None, float]:
    """Return the smallest candidate whose cumulated share exceeds the tail."""
    low, high = bracket
    scale = float(np.max(np.abs(means), initial=abs(high)))
    kept = (means <= high + 1e-13 * scale) & (means > low)
    order = np.argsort(-means[kept], kind="stable")
    means, weight = means[kept][order], weight[kept][order]
    if total - float(np.sum(weight)) > tail * (1.0 + 1e-13):
        return None, total - float(np.sum(weight)) - tail
    # The share at a candidate: all of the total but the candidates above it.
    share = total - (np.cumsum(weight) - weight)
    run = np.flatnonzero(np.append(True, -np.diff(means) > 1e-13 * scale))
    exceeding = run[share[run] > tail * (1.0 + 1e-13)]
    return float(means[exceeding[-1]]), 0.0


def kth_smallest_mean(
    values: FloatArray, sizes: FloatArray, counts: IntArray, *, tail: float
) -> float:
    """Smallest mean at which the share of subsets at or below it exceeds a tail.

    Parameters
    ----------
    values : ndarray of float, shape (n_values,)
        Sum of the differences of a unit (question or cluster).
    sizes : ndarray of float, shape (n_values,)
        Number of questions of that unit, above zero.
    counts : ndarray of int, shape (n_values,)
        Number of units with this value and size.
    tail : float
        Half of the error level.

    Returns
    -------
    float
        ``-inf`` when the empty subset alone exceeds the tail.

    Notes
    -----
    The empty subset counts as at or below every mean, which makes this the k-th
    smallest of the 2^n - 1 means, k = floor(2^n tail) (Hartigan 1969).
    """
    sums, probability = subset_states(np.vstack((values, sizes)), counts)
    empty = float(probability[0])
    if empty > tail:
        return -np.inf
    means = sums[0, 1:] / sums[1, 1:]
    order = np.argsort(means, kind="stable")
    means = means[order]
    share = empty + np.cumsum(probability[1:][order])
    # Means that differ by rounding only are one mean: look at the end of the run.
    noise = 1e-13 * float(np.max(np.abs(means)))
    last_of_run = np.append(np.diff(means) > noise, True)
    index = int(np.flatnonzero(last_of_run & (share > tail))[0])
    return float(means[index])
