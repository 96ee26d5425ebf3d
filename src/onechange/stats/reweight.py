"""Deltas of slices weighted by a stated mix, with their interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from onechange.stats.estimate import Interval
from onechange.stats.student import StudentLaw

__all__ = ["mover_interval", "normalised", "weighted_cr2_law", "weighted_law"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def normalised(weights: Sequence[float]) -> tuple[float, ...]:
    """Divide weights by their sum.

    Parameters
    ----------
    weights : sequence of float
        0 or more, with a sum above 0.

    Examples
    --------
    >>> normalised([1, 3])
    (0.25, 0.75)
    """
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


def mover_interval(
    weights: Sequence[float],
    deltas: Sequence[float],
    intervals: Sequence[Interval],
    *,
    confidence_level: float = 0.95,
) -> Interval:
    """Interval of a weighted sum of independent deltas from their own intervals.

    Parameters
    ----------
    weights : sequence of float
        0 or more.
    deltas : sequence of float
    intervals : sequence of Interval
        One per delta, at `confidence_level`.
    confidence_level : float
        Two-sided level.

    Returns
    -------
    Interval
        Unbounded where an interval with a weight above 0 is.

    Notes
    -----
    Low end: Σ w·δ − √Σ w²(δ − low)², the high end likewise (Zou & Donner 2008). One
    slice with all the weight gives its own interval back.

    Examples
    --------
    >>> part = Interval(0.0, 0.4, 0.95, "t")
    >>> whole = mover_interval([0.5, 0.5], [0.2, 0.2], [part, part])
    >>> round(whole.low, 6), round(whole.high, 6)
    (0.058579, 0.341421)
    """
    used = [
        (w, d, interval)
        for w, d, interval in zip(weights, deltas, intervals, strict=True)
        if w > 0
    ]
    estimate = math.fsum(w * d for w, d, _ in used)
    below = math.sqrt(math.fsum((w * (d - part.low)) ** 2 for w, d, part in used))
    above = math.sqrt(math.fsum((w * (part.high - d)) ** 2 for w, d, part in used))
    return Interval(
        estimate - below,
        estimate + above,
        confidence_level,
        "mover",
        degenerate=below == 0 and above == 0,
    )


def weighted_law(
    weights: Sequence[float],
    deltas: Sequence[float],
    variances: Sequence[tuple[float, float]],
) -> StudentLaw | None:
    """Student law of a weighted sum of independent deltas.

    Parameters
    ----------
    weights, deltas : sequence of float
    variances : sequence of tuple of float
        Variance of each delta, and its degrees of freedom.

    Returns
    -------
    StudentLaw or None
        None without any spread.

    Notes
    -----
    Satterthwaite (1946): V = Σ w²·v, df = V²/Σ (w²·v)²/df.
    """
    parts = [
        (w * w * v, df) for w, (v, df) in zip(weights, variances, strict=True) if w > 0
    ]
    variance = math.fsum(part for part, _ in parts)
    if variance == 0:
        return None
    return StudentLaw(
        math.fsum(w * d for w, d in zip(weights, deltas, strict=True)),
        math.sqrt(variance),
        variance**2 / math.fsum(part**2 / df for part, df in parts),
    )


def weighted_cr2_law(
    difference: FloatArray,
    slices: IntArray,
    weights: FloatArray,
    clusters: IntArray,
) -> StudentLaw | None:
    """Student law of Σ w_s·delta_s when clusters cross slices.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
    slices : ndarray of int, shape (n_pairs,)
        Slice of each question, 0 … n_slices − 1.
    weights : ndarray of float, shape (n_slices,)
        Weight of each slice; the sum is 1.
    clusters : ndarray of int, shape (n_pairs,)

    Returns
    -------
    StudentLaw or None
        None when a slice with a weight lies in one cluster, which shows no variance.

    Notes
    -----
    The CR2 variance of the weighted mean of slice means (a regression on slice
    indicators): Σ_g (Σ_s w_s/n_s·R_gs/√(1 − n_gs/n_s))², R_gs the sum of d − mean over
    the questions of cluster g in slice s; Bell-McCaffrey degrees of freedom. One slice
    gives `cr2_law`.
    """
    n_slices = weights.size
    codes = np.unique(clusters, return_inverse=True)[1]
    shape = (int(codes.max()) + 1, n_slices)
    cell = codes * n_slices + slices
    sizes = np.bincount(cell, minlength=shape[0] * n_slices).reshape(shape)
    n = sizes.sum(axis=0).astype(np.float64)
    used = weights > 0
    if np.any(n[used] == 0) or np.any((sizes == n)[:, used]):
        return None
    totals = np.bincount(slices, weights=difference, minlength=n_slices)
    means = np.divide(totals, n, out=np.zeros(n_slices), where=n > 0)
    residual = np.bincount(
        cell, weights=difference - means[slices], minlength=shape[0] * n_slices
    ).reshape(shape)[:, used]
    n, share = n[used], weights[used] / n[used]
    factor = 1 / np.sqrt(1 - sizes[:, used] / n)
    variance = float(np.sum((residual * factor * share).sum(axis=1) ** 2))
    return StudentLaw(
        math.fsum(weights[used] * means[used]),
        math.sqrt(variance),
        _degrees_of_freedom(sizes[:, used].astype(np.float64), n, share, factor),
    )


def _degrees_of_freedom(
    sizes: FloatArray, n: FloatArray, share: FloatArray, factor: FloatArray
) -> float:
    """Satterthwaite's matching under equal, independent errors, as for one mean."""
    diagonal = np.sum(sizes * share**2, axis=1)
    half = sizes * share * factor / np.sqrt(n)
    squares = float(np.sum((half.T @ half) ** 2)) - float(
        np.sum(np.sum(half**2, axis=1) ** 2)
    )
    return float(diagonal.sum()) ** 2 / (float(np.sum(diagonal**2)) + squares)
