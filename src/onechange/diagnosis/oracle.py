"""Oracle context: what the answers would be if retrieval were perfect."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.delta import Delta, Methods, MetricValues, metric_delta

__all__ = ["OracleGap", "oracle_gap"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_DEFAULT = Methods()


@dataclass(frozen=True, slots=True)
class OracleGap:
    """Gain from oracle context in each arm, and how it differs between the arms.

    Parameters
    ----------
    baseline, variant : Delta
        Oracle minus retrieved context within an arm: what retrieval still costs.
    difference : Delta
        Gap of the variant minus gap of the baseline, over questions with all four
        scores: below 0, the variant's retrieval costs less.
    oracle : Delta
        Variant minus baseline, both with oracle context: the part of the change that
        retrieval cannot explain.
    reading : str
        One sentence on where the bottleneck lies.
    """

    baseline: Delta
    variant: Delta
    difference: Delta
    oracle: Delta
    reading: str


def oracle_gap(
    metric: str,
    *,
    baseline: tuple[FloatArray, FloatArray],
    variant: tuple[FloatArray, FloatArray],
    direction: str = "higher",
    score_range: tuple[float, float] | None = None,
    clusters: IntArray | None = None,
    methods: Methods = _DEFAULT,
) -> OracleGap:
    """Compare retrieved with oracle context in both arms, question by question.

    Parameters
    ----------
    metric : str
        Name of the metric.
    baseline, variant : tuple of two ndarray of float, shape (n_questions,)
        Scores with retrieved and with oracle context, trials averaged; NaN is
        unscored.
    direction : {"higher", "lower"}
        Which direction is better.
    score_range : tuple of float, optional
        Declared (lowest, highest) score.
    clusters : ndarray of int, shape (n_questions,), optional
        Cluster of each question.
    methods : Methods
        Level and names of the methods.

    Returns
    -------
    OracleGap

    Notes
    -----
    Each delta and the difference of the two deltas carries its own paired interval.
    """
    width = None if score_range is None else score_range[1] - score_range[0]

    def delta(first: FloatArray, second: FloatArray, *, gap: bool = False) -> Delta:
        limits = score_range
        if gap:
            limits = None if width is None else (-width, width)
        values = MetricValues(
            baseline=np.asarray(first, dtype=np.float64),
            variant=np.asarray(second, dtype=np.float64),
            paired=np.ones(len(first), dtype=np.bool_),
            clusters=clusters,
            score_range=limits,
        )
        return metric_delta(metric, direction, values, methods)

    retrieved_b, oracle_b = (np.asarray(part, dtype=np.float64) for part in baseline)
    retrieved_v, oracle_v = (np.asarray(part, dtype=np.float64) for part in variant)
    within_b, within_v = delta(retrieved_b, oracle_b), delta(retrieved_v, oracle_v)
    return OracleGap(
        baseline=within_b,
        variant=within_v,
        difference=delta(oracle_b - retrieved_b, oracle_v - retrieved_v, gap=True),
        oracle=delta(oracle_b, oracle_v),
        reading=_reading(metric, within_v, score_range, direction),
    )


def _reading(
    metric: str,
    gap: Delta,
    score_range: tuple[float, float] | None,
    direction: str,
) -> str:
    """Compare, for the variant, what oracle context gains with what it leaves."""
    if gap.delta is None or gap.variant is None:
        return f"{metric} has no question with both kinds of context in the variant."
    better = gap.delta if direction == "higher" else -gap.delta
    if score_range is None:
        return (
            f"Oracle context changes {metric} of the variant by {gap.delta:+.4f}; "
            "without a declared range it is open what generation still costs."
        )
    best = score_range[1] if direction == "higher" else score_range[0]
    left = abs(best - gap.variant)
    stage = "retrieval" if better > left else "generation"
    return (
        f"With oracle context {metric} of the variant improves by {better:.4f} and "
        f"stays {left:.4f} below its best value: {stage} is the larger loss."
    )
