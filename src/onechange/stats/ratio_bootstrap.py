"""Bootstrap intervals of two ratios of sums, one per arm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.bootstrap import ratio_of_sums_interval
from onechange.stats.estimate import Interval
from onechange.stats.resample import resample_statistic

__all__ = ["ratio_bootstrap_interval"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

SAMPLED = ("percentile", "expanded-percentile", "basic")


def ratio_bootstrap_interval(
    numerator_baseline: FloatArray,
    denominator_baseline: FloatArray,
    numerator_variant: FloatArray,
    denominator_variant: FloatArray,
    *,
    relative: bool = False,
    method: str = "expanded-percentile",
    clusters: IntArray | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    seed: int = 7,
) -> Interval:
    """Bootstrap interval of the change of a ratio Σ numerator / Σ denominator.

    Parameters
    ----------
    numerator_baseline, denominator_baseline : ndarray of float, shape (n_pairs,)
        Of the baseline, per question.
    numerator_variant, denominator_variant : ndarray of float, shape (n_pairs,)
        Of the variant.
    relative : bool
        The ratio of the two ratios minus one, instead of their difference.
    method : str
        As in `bootstrap_interval`; ``percentile``, ``expanded-percentile`` or
        ``basic`` where it has to be sampled.
    clusters : ndarray of int, shape (n_pairs,), optional
        Whole clusters are resampled.
    confidence_level : float
        Two-sided level.
    n_resamples, seed : int
        Used only when the denominators of the arms differ.

    Returns
    -------
    Interval
        Exact (``n_resamples`` is None) when both arms have the same denominators,
        as for a relative change of means.

    Raises
    ------
    MethodError
        When a denominator (for a relative change also a baseline numerator) is
        negative or all are zero, or the method has no sampled form.

    Notes
    -----
    With common denominators the change is a single ratio of sums: Σ (y' - y) / Σ x,
    or Σ y' / Σ y - 1.

    Examples
    --------
    >>> import numpy as np
    >>> b, v, one = np.array([1.0, 2.0, 4.0]), np.array([2.0, 2.0, 5.0]), np.ones(3)
    >>> interval = ratio_bootstrap_interval(
    ...     b, one, v, one, relative=True, method="percentile"
    ... )
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0, 1.0)
    """
    if np.array_equal(denominator_baseline, denominator_variant):
        if not relative:
            top, bottom = numerator_variant - numerator_baseline, denominator_baseline
        else:
            top, bottom = numerator_variant, numerator_baseline
        interval = ratio_of_sums_interval(
            top,
            bottom,
            method=method,
            clusters=clusters,
            confidence_level=confidence_level,
            n_resamples=n_resamples,
            seed=seed,
        )
        moved = 1.0 if relative else 0.0
        return replace(interval, low=interval.low - moved, high=interval.high - moved)
    if method not in SAMPLED:
        raise MethodError(
            f"{method} is not available when the denominators of the arms differ; use "
            f"one of {', '.join(SAMPLED)}"
        )
    columns = np.vstack(
        (
            numerator_baseline,
            denominator_baseline,
            numerator_variant,
            denominator_variant,
        )
    )
    positive = columns[[0, 1, 3] if relative else [1, 3]]
    if np.min(positive) < 0.0 or np.any(np.sum(positive, axis=1) <= 0.0):
        raise MethodError(
            "a bootstrap of a ratio needs denominators of zero or more, not all zero; "
            "report the difference of means instead"
        )
    columns = _summed(columns, clusters)
    return resample_statistic(
        lambda drawn: _change(columns, drawn, relative=relative),
        n_units=columns.shape[1],
        method=method,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        seed=seed,
    )


def _change(columns: FloatArray, drawn: IntArray, *, relative: bool) -> FloatArray:
    y, x, y_variant, x_variant = (np.sum(c[drawn], axis=1) for c in columns)
    bottom = (y, x, x_variant) if relative else (x, x_variant)
    if min(float(np.min(part)) for part in bottom) <= 0.0:
        raise MethodError(
            "a resample has no denominator left; there are too few questions with one "
            "for a bootstrap of the ratio"
        )
    if relative:
        return np.asarray((y_variant / x_variant) / (y / x) - 1.0)
    return np.asarray(y_variant / x_variant - y / x)


def _summed(columns: FloatArray, clusters: IntArray | None) -> FloatArray:
    """Sum within clusters, in an order that does not depend on that of the rows."""
    order = np.lexsort(columns[::-1])
    if clusters is None:
        return np.asarray(columns[:, order])
    codes = np.unique(clusters, return_inverse=True)[1]
    summed = [np.bincount(codes[order], weights=column[order]) for column in columns]
    units: FloatArray = np.vstack(summed).astype(np.float64)
    return np.asarray(units[:, np.lexsort(units[::-1])])
