"""Quantile deltas over all trial values, and an arm's own quantile."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.caveats import enough_units, unit_notes
from onechange.stats.estimate import Interval, Note
from onechange.stats.resample import quantile_error
from onechange.stats.signflip import tail_probability
from onechange.stats.trial_quantile import (
    TrialValues,
    resampled_quantiles,
    trial_quantile,
)

__all__ = [
    "QuantileDelta",
    "fewest_questions",
    "order_statistic_limits",
    "quantile_arm_interval",
    "quantile_delta",
    "quantile_margin_pvalue",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class QuantileDelta:
    """The delta of a quantile with its percentile bootstrap.

    Parameters
    ----------
    baseline, variant, delta : float
        Quantile of each arm, and variant minus baseline.
    interval : Interval or None
        None when there are too few questions for this quantile.
    relative_delta : float or None
        variant/baseline - 1; None when undefined, see `relative_reason`.
    relative_interval : Interval or None
    relative_reason : str or None
        Why the relative delta or its interval is undefined.
    notes : tuple of Note
    enough : bool
        False when no status may rest on it.
    resamples, relative_resamples : ndarray of float, shape (n_resamples,)
        Sorted bootstrap deltas; empty without an interval.
    """

    baseline: float
    variant: float
    delta: float
    interval: Interval | None
    relative_delta: float | None
    relative_interval: Interval | None
    relative_reason: str | None
    notes: tuple[Note, ...]
    enough: bool
    resamples: FloatArray
    relative_resamples: FloatArray


def fewest_questions(probability: float) -> int:
    """Fewest questions for an interval of this quantile's delta.

    Examples
    --------
    >>> [fewest_questions(p) for p in (0.5, 0.9, 0.95, 0.99)]
    [20, 50, 100, 500]
    """
    return max(20, math.ceil(5 / min(probability, 1 - probability) - 1e-9))


def quantile_delta(
    baseline: TrialValues,
    variant: TrialValues,
    probability: float,
    *,
    clusters: IntArray | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    seed: int = 7,
) -> QuantileDelta:
    """Delta of a quantile; questions (clusters) resampled with all their trials.

    Parameters
    ----------
    baseline, variant : TrialValues
        Over the same questions.
    probability : float
        0.95 for the p95.
    clusters : ndarray of int, shape (n_questions,), optional
        Whole clusters are resampled.
    confidence_level : float
        Two-sided level of the percentile intervals.
    n_resamples, seed : int

    Returns
    -------
    QuantileDelta
        Without interval below `fewest_questions`.

    Raises
    ------
    MethodError
        If there are too few resamples for the level.
    """
    n = baseline.n_questions
    if n != variant.n_questions:
        raise MethodError(
            f"The arms hold {n} and {variant.n_questions} questions; a quantile delta "
            "needs the same questions in both."
        )
    k = _rank_of_limit(confidence_level, n_resamples)
    grouped = clusters if _grouped(clusters, n) else None
    notes = (
        *_quantile_notes(n, probability),
        *_few_clusters(grouped, confidence_level),
    )
    own = (trial_quantile(baseline, probability), trial_quantile(variant, probability))
    empty = np.empty(0)
    draws, relative, reason = empty, empty, None
    if own[0] <= 0:
        reason = f"the baseline quantile is {'0' if own[0] == 0 else 'below 0'}"
    if n >= fewest_questions(probability):
        pair = resampled_quantiles(
            (baseline, variant), probability, grouped, n_resamples, seed=seed
        )
        draws = np.sort(pair[1] - pair[0])
        if reason is None and np.all(pair[0] > 0):
            relative = np.sort(pair[1] / pair[0] - 1)
        elif reason is None:
            reason = "the baseline quantile is not clearly above 0"
    return QuantileDelta(
        baseline=own[0],
        variant=own[1],
        delta=own[1] - own[0],
        interval=_percentile(draws, k, confidence_level, seed),
        relative_delta=own[1] / own[0] - 1 if own[0] > 0 else None,
        relative_interval=_percentile(relative, k, confidence_level, seed),
        relative_reason=reason,
        notes=notes,
        enough=draws.size > 0 and enough_units(notes),
        resamples=draws,
        relative_resamples=relative,
    )


def quantile_margin_pvalue(
    resamples: FloatArray, margin_delta: float, *, alternative: str
) -> float | None:
    """One-sided p-value at a margin, consistent with the percentile interval.

    Parameters
    ----------
    resamples : ndarray of float, shape (n_resamples,)
        `QuantileDelta.resamples`, or the relative ones for a relative margin.
    margin_delta : float
    alternative : str
        ``greater`` or ``less``.

    Returns
    -------
    float or None
        (r + 1)/(n_resamples + 1), r the resamples at the margin or beyond; None
        without resamples.
    """
    if resamples.size == 0:
        return None
    if alternative == "greater":
        beyond = int(np.count_nonzero(resamples <= margin_delta))
    else:
        beyond = int(np.count_nonzero(resamples >= margin_delta))
    return (beyond + 1) / (resamples.size + 1)


def order_statistic_limits(
    values: FloatArray, probability: float, tail: float
) -> tuple[float, float]:
    """Exact limits of a quantile by binomial order statistics.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
        Independent values.
    probability : float
        0.95 for the p95.
    tail : float
        Probability beyond either limit.

    Returns
    -------
    tuple of float
        An end that n values cannot bound is infinite.

    Notes
    -----
    low is the r-th smallest, r the largest with P(X ≤ r - 1) ≤ tail; high is the
    s-th smallest, s the smallest with P(X ≥ s) ≤ tail; X ~ Binomial(n, p).

    Examples
    --------
    >>> order_statistic_limits(np.arange(1.0, 73.0), 0.95, 0.025)
    (64.0, 72.0)
    """
    from scipy.special import bdtr, bdtrc

    n, ordered = values.size, np.sort(values)
    ranks = np.arange(1, n + 1)
    low_ranks = ranks[bdtr(ranks - 1.0, n, probability) <= tail]
    high_ranks = ranks[bdtrc(ranks - 1.0, n, probability) <= tail]
    low = ordered[low_ranks[-1] - 1] if low_ranks.size else -np.inf
    high = ordered[high_ranks[0] - 1] if high_ranks.size else np.inf
    return float(low), float(high)


def quantile_arm_interval(
    arm: TrialValues,
    probability: float,
    *,
    clusters: IntArray | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    seed: int = 7,
) -> tuple[Interval | None, tuple[Note, ...]]:
    """Interval of one arm's own quantile, for limits.

    Parameters
    ----------
    arm : TrialValues
        All questions scored in the arm.
    probability : float
    clusters : ndarray of int, shape (n_questions,), optional
    confidence_level : float
    n_resamples, seed : int
        For the percentile bootstrap only.

    Returns
    -------
    interval : Interval or None
        ``order-statistics`` (exact) for one value per question without clusters;
        else ``percentile``, None below `fewest_questions`.
    notes : tuple of Note
    """
    n = arm.n_questions
    grouped = clusters if _grouped(clusters, n) else None
    if grouped is None and arm.values.size == n:
        tail = tail_probability(confidence_level)
        low, high = order_statistic_limits(arm.values, probability, tail)
        return Interval(low, high, confidence_level, "order-statistics"), ()
    k = _rank_of_limit(confidence_level, n_resamples)
    notes = (
        *_quantile_notes(n, probability),
        *_few_clusters(grouped, confidence_level),
    )
    if n < fewest_questions(probability):
        return None, notes
    (draws,) = resampled_quantiles((arm,), probability, grouped, n_resamples, seed=seed)
    return _percentile(np.sort(draws), k, confidence_level, seed), notes


def _percentile(
    ordered: FloatArray, k: int, confidence_level: float, seed: int
) -> Interval | None:
    if ordered.size == 0:
        return None
    low, high, share = float(ordered[k - 1]), float(ordered[-k]), k / ordered.size
    error = max(quantile_error(ordered, p) for p in (share, 1 - share))
    note = Note(
        "sampled",
        f"Sampled with {ordered.size} resamples (seed {seed}); Monte Carlo standard "
        f"error of the limits {error:.2g}.",
    )
    return Interval(
        low,
        high,
        confidence_level,
        "percentile",
        degenerate=low == high,
        n_resamples=ordered.size,
        notes=(note,),
    )


def _rank_of_limit(confidence_level: float, n_resamples: int) -> int:
    tail = tail_probability(confidence_level)
    k = math.floor((n_resamples + 1) * tail + 1e-9)
    if k < 1:
        raise MethodError(
            f"n_resamples is {n_resamples}; a level of {confidence_level} needs at "
            f"least {math.ceil(1 / tail - 1e-9) - 1}."
        )
    return k


def _grouped(clusters: IntArray | None, n: int) -> bool:
    return clusters is not None and np.unique(clusters).size < n


def _few_clusters(
    clusters: IntArray | None, confidence_level: float
) -> tuple[Note, ...]:
    return () if clusters is None else unit_notes(0, clusters, confidence_level)


def _quantile_notes(n: int, probability: float) -> tuple[Note, ...]:
    name = f"p{100 * probability:g}"
    fewest = fewest_questions(probability)
    if n < fewest:
        text = f"The {name} needs {fewest} questions for an interval; there are {n}."
        return (Note("few-questions-for-quantile", text),)
    beyond = n * min(probability, 1 - probability)
    if beyond < 15:
        text = (
            f"Only about {beyond:.0f} of {n} questions lie beyond the {name}: its "
            "interval is rough."
        )
        return (Note("few-questions-for-quantile", text),)
    return ()
