"""Agreement of two raters beyond chance: Cohen's kappa with an interval."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.estimate import Interval
from onechange.stats.interval import wilson_limits
from onechange.stats.student import normal_quantile, t_quantile

__all__ = ["Agreement", "agreement_table", "clustered_kappa", "cohen_kappa"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two raters on the same questions.

    Parameters
    ----------
    n : int
        Number of labelled answers, or the effective number where they are weighted or
        share questions.
    observed : float
        Share of answers to which both give the same label.
    expected : float
        Share expected by chance from the two raters' frequencies.
    kappa : float or None
        (observed − expected)/(1 − expected); None, with `reason`, when both raters
        use one and the same label throughout.
    interval : Interval or None
        Of kappa.
    reason : str or None
        Why kappa is undefined.
    """

    n: int
    observed: float
    expected: float
    kappa: float | None = None
    interval: Interval | None = None
    reason: str | None = None


def agreement_table(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    weights: FloatArray | None = None,
) -> tuple[tuple[Hashable, ...], FloatArray]:
    """Count the pairs of labels of two raters.

    Parameters
    ----------
    first, second : sequence of label, length n
        Labels of the same questions.
    weights : ndarray of float, shape (n,), optional
        Sampling weight of each question; 1 by default.

    Returns
    -------
    tuple of label
        Labels in order.
    ndarray of float, shape (n_labels, n_labels)
        Weight by label of the first (row) and of the second rater (column).

    Raises
    ------
    MethodError
        If the lengths differ.

    Examples
    --------
    >>> agreement_table([1, 1, 0], [1, 0, 0])[1].tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    if len(first) != len(second):
        raise MethodError(
            f"{len(first)} labels of one rater and {len(second)} of the other; "
            "expected labels of the same questions"
        )
    labels = sorted({*first, *second}, key=lambda label: (str(type(label)), label))
    code = {label: i for i, label in enumerate(labels)}
    table = np.zeros((len(labels), len(labels)))
    each = np.ones(len(first)) if weights is None else weights
    for a, b, weight in zip(first, second, each, strict=True):
        table[code[a], code[b]] += weight
    return tuple(labels), table


def cohen_kappa(
    table: IntArray | FloatArray,
    *,
    n: int | None = None,
    confidence_level: float = 0.95,
) -> Agreement:
    """Return Cohen's kappa of a square table of two raters.

    Parameters
    ----------
    table : ndarray, shape (n_labels, n_labels)
        Questions, or sums of their sampling weights, by label of the first and of
        the second rater.
    n : int, optional
        Effective number of questions when the table holds weights; by default the
        sum of the table.
    confidence_level : float
        Two-sided level.

    Returns
    -------
    Agreement

    Raises
    ------
    MethodError
        If the table is empty, not square or has a negative count.

    Notes
    -----
    Cohen 1960. At each end the wider of two intervals: the large-sample one of
    Fleiss, Cohen & Everitt 1969, which collapses when the raters always agree, and
    Wilson's interval of the observed agreement with the expected one held fixed.

    Examples
    --------
    >>> import numpy as np
    >>> round(cohen_kappa(np.array([[20, 5], [10, 15]])).kappa, 3)
    0.4
    """
    counts = np.asarray(table, dtype=np.float64)
    square = counts.ndim == 2 and counts.shape[0] == counts.shape[1]
    if not square or np.any(counts < 0) or counts.sum() == 0:
        raise MethodError("expected a square table of counts with some question")
    n = round(float(counts.sum())) if n is None else n
    p = counts / counts.sum()
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    observed, expected = float(np.trace(p)), float(rows @ columns)
    if 1 - expected < 1e-12:
        reason = "both raters give one and the same label to every question"
        return Agreement(n, observed, expected, reason=reason)
    kappa = (observed - expected) / (1 - expected)
    tail = (1 - confidence_level) / 2
    half = normal_quantile(tail) * _standard_error(p, kappa, n)
    wilson = wilson_limits(round(observed * n), n, tail)
    low, high = ((limit - expected) / (1 - expected) for limit in wilson)
    interval = Interval(
        low=max(-1.0, min(low, kappa - half)),
        high=min(1.0, max(high, kappa + half)),
        confidence_level=confidence_level,
        method="fleiss-cohen-everitt+wilson",
    )
    return Agreement(n, observed, expected, kappa, interval)


def clustered_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    clusters: IntArray,
    *,
    weights: FloatArray | None = None,
    confidence_level: float = 0.95,
) -> Agreement:
    """Return Cohen's kappa of answers that share a question or a cluster.

    Parameters
    ----------
    first, second : sequence of label, length n
        Labels of the same answers by two raters.
    clusters : ndarray of int, shape (n,)
        What each answer belongs to: answers of one are not independent.
    weights : ndarray of float, shape (n,), optional
        Sampling weight of each answer; 1 by default.
    confidence_level : float
        Two-sided level.

    Returns
    -------
    Agreement
        Shares and kappa over the answers; `n` is their effective number.

    Raises
    ------
    MethodError
        If the lengths differ or there is no answer.

    Notes
    -----
    At each end the wider of two intervals: kappa with the standard error of the
    jackknife over clusters, and Student's t with G − 1 degrees of freedom; and
    Wilson's interval of the observed agreement, the expected one held fixed, with n
    over the design effect of agreement, and the number of clusters where all agree.

    Examples
    --------
    >>> import numpy as np
    >>> found = clustered_kappa([1, 1, 0, 0, 1, 0], [1, 1, 0, 1, 1, 0],
    ...                         np.array([0, 0, 1, 1, 2, 2]))
    >>> round(found.observed, 3), round(found.kappa, 3)
    (0.833, 0.667)
    """
    _, code, counts = np.unique(clusters, return_inverse=True, return_counts=True)
    labels, table = agreement_table(first, second, weights)
    each = np.ones(len(first)) if weights is None else np.asarray(weights, np.float64)
    agree = np.array([a == b for a, b in zip(first, second, strict=True)], np.float64)
    n = _effective_number(agree, each, code, counts.size)
    found = cohen_kappa(table, n=n, confidence_level=confidence_level)
    if found.kappa is None or found.interval is None:
        return found
    index = {label: i for i, label in enumerate(labels)}
    parts = np.zeros((counts.size, len(labels), len(labels)))
    rows, columns = (
        np.array([index[label] for label in side]) for side in (first, second)
    )
    np.add.at(parts, (code, rows, columns), each)
    error = _jackknife_error(table, parts)
    tail = (1 - confidence_level) / 2
    wilson = wilson_limits(round(found.observed * n), n, tail)
    low, high = ((x - found.expected) / (1 - found.expected) for x in wilson)
    if error is not None:
        half = t_quantile(tail, counts.size - 1) * error
        low, high = min(low, found.kappa - half), max(high, found.kappa + half)
    interval = replace(
        found.interval,
        low=max(-1.0, low),
        high=min(1.0, high),
        method="cluster-jackknife+wilson",
    )
    return replace(found, interval=interval)


def _effective_number(
    agree: FloatArray, weights: FloatArray, code: IntArray, n_clusters: int
) -> int:
    """Answers over the design effect of their agreement; clusters without spread."""
    if np.ptp(agree) == 0:
        return n_clusters
    shares = weights / weights.sum()
    mean = float(shares @ agree)
    moved = np.bincount(code, weights=shares * (agree - mean), minlength=n_clusters)
    variance = float(np.sum(moved**2)) * n_clusters / max(1, n_clusters - 1)
    largest = float(agree.size)  # as many as there are answers
    n = mean * (1 - mean) / variance if variance > 0 else largest
    return max(1, round(min(largest, n)))


def _jackknife_error(table: FloatArray, parts: FloatArray) -> float | None:
    """Error of kappa, leaving each cluster out in turn; None where undefined."""
    n_clusters = len(parts)
    left = table[None] - parts
    total = left.sum(axis=(1, 2))
    if n_clusters < 2 or np.any(total <= 0):
        return None
    p = left / total[:, None, None]
    observed = np.trace(p, axis1=1, axis2=2)
    expected = np.sum(p.sum(axis=2) * p.sum(axis=1), axis=1)
    defined = 1 - expected > 1e-12
    if not np.all(defined):
        return None
    kappas = (observed - expected) / (1 - expected)
    spread = float(np.sum((kappas - kappas.mean()) ** 2))
    return math.sqrt(spread * (n_clusters - 1) / n_clusters)


def _standard_error(p: FloatArray, kappa: float, n: int) -> float:
    """Large-sample standard error of kappa (Fleiss, Cohen & Everitt 1969)."""
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    expected = float(rows @ columns)
    agree = float(np.diag(p) @ (1 - (rows + columns) * (1 - kappa)) ** 2)
    other = p * (columns[:, None] + rows[None, :]) ** 2
    differ = (1 - kappa) ** 2 * float(other.sum() - np.trace(other))
    shift = (kappa - expected * (1 - kappa)) ** 2
    variance = (agree + differ - shift) / (n * (1 - expected) ** 2)
    return math.sqrt(max(variance, 0.0))
