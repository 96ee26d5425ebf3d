"""What missing scores could do to a mean, a ratio metric, or in a slice."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onechange.delta import Methods
from onechange.deltas import Bounds
from onechange.missing import bounds, counted, filled_means, outer
from onechange.pairs import Pairs
from onechange.plan import Metric
from onechange.stats import choose
from onechange.stats.estimate import Interval
from onechange.stats.ratio import RatioPair
from onechange.stats.relative import RatioDelta
from onechange.values import VariantValues

__all__ = ["ratio_bounds", "statistic_bounds"]

BoolArray = NDArray[np.bool_]
Range = tuple[float, float]


def statistic_bounds(
    variant: VariantValues,
    metric: Metric,
    statistic: str,
    *,
    everything: bool = False,
    questions: BoolArray | None = None,
) -> Bounds | None:
    """Bound the delta of a metric, or count what a statistic without bounds lacks.

    Parameters
    ----------
    variant : VariantValues
        The variant with its pairs.
    metric : Metric
        Resolved metric.
    statistic : str
        ``mean`` and ``ratio`` have bounds; of quantiles and loss rates the questions
        are counted.
    everything : bool, default False
        Fill questions that are unscored by design in both arms, too.
    questions : ndarray of bool, shape (n_questions,), optional
        The questions of a slice.

    Returns
    -------
    Bounds or None
        None for a metric that only one arm has.
    """
    asked: dict[str, Any] = {"everything": everything, "questions": questions}
    pairs = variant.pairs
    if metric.numerator is not None:
        return ratio_bounds(variant, metric, **asked)
    if not all(metric.name in arm.metrics for arm in (pairs.baseline, pairs.variant)):
        return None
    values = variant.metrics[metric.name]
    if statistic == "mean":
        return bounds(pairs, metric, values, variant.methods[metric.name], **asked)
    reason = f"what missing scores could do to the {statistic} is not known"
    return counted(pairs, [metric.name], values.complete, reason=reason, **asked)[0]


def ratio_bounds(
    variant: VariantValues,
    metric: Metric,
    *,
    everything: bool = False,
    questions: BoolArray | None = None,
) -> Bounds:
    """Bound the delta of a ratio metric, every missing part at its worst and its best.

    Parameters
    ----------
    variant : VariantValues
        The variant with its pairs; its metrics hold numerator and denominator.
    metric : Metric
        Names both in `numerator` and `denominator`.
    everything : bool, default False
        Fill questions that are unscored by design in both arms, too.
    questions : ndarray of bool, shape (n_questions,), optional
        The questions of a slice.

    Returns
    -------
    Bounds
        A question that lacks a numerator or a denominator in an arm is incomplete.
        Bounds exist when the ranges of both are declared and no filling lets the
        denominators of an arm sum to 0 or less. The variant's own value is over the
        questions of the delta, as it is without bounds.

    Notes
    -----
    A ratio of sums T/D rises with T, and with D it rises or falls throughout. So its
    extremes have all missing numerators at one end and all missing denominators at one
    end, whichever it is: both are tried in each arm, and the outermost values and
    limits count.
    """
    pairs, methods = variant.pairs, variant.methods[metric.numerator or ""]
    names = (metric.numerator or "", metric.denominator or "")
    parts = [variant.metrics[name] for name in names]
    complete = parts[0].complete & parts[1].complete
    if not all(
        name in arm.metrics for name in names for arm in (pairs.baseline, pairs.variant)
    ):
        return Bounds(None, None, 0, 0, 0, reason=f"{metric.name} is not measured")
    found, applies = counted(
        pairs, names, complete, everything=everything, questions=questions
    )
    ranges = [part.score_range for part in parts]
    lacking = [n for n, span in zip(names, ranges, strict=True) if span is None]
    if lacking or found.n_questions == 0:
        reason = f"{metric.name} is not measured"
        if lacking:
            reason = f"no score range is declared for {' and '.join(lacking)}"
        return replace(found, reason=reason)
    spans = [span for span in ranges if span is not None]
    clusters = None if parts[0].clusters is None else parts[0].clusters[applies]
    fillings = _fillings(pairs, names, spans, applies)
    ends = [
        [
            choose.ratio_delta(
                *filled,
                clusters=clusters,
                name=choose.ratio_name(methods.interval),
                confidence_level=methods.confidence_level,
                score_range=metric.range,
            )
            for filled in side
        ]
        for side in fillings
    ]
    if any(row.delta is None for side in ends for row in side):
        reason = "a missing denominator could make those of an arm sum to 0"
        return replace(found, reason=reason)
    return _bounded(found, ends[0], ends[1], methods)


def _fillings(
    pairs: Pairs, names: Sequence[str], spans: Sequence[Range], applies: BoolArray
) -> list[list[tuple[RatioPair, RatioPair]]]:
    """Fill numerators at their worst, then at their best, denominators at each end."""
    n = applies.size

    def means(arm: str, which: int, end: int) -> NDArray[np.float64]:
        table = pairs.baseline if arm == "baseline" else pairs.variant
        filled = filled_means(table, names[which], n, spans[which][end])
        return filled[applies]

    return [
        [
            (
                RatioPair(means("baseline", 0, 1 - end), means("baseline", 1, of_b)),
                RatioPair(means("variant", 0, end), means("variant", 1, of_v)),
            )
            for of_b, of_v in itertools.product((0, 1), repeat=2)
        ]
        for end in (0, 1)
    ]


def _bounded(
    found: Bounds,
    worst: Sequence[RatioDelta],
    best: Sequence[RatioDelta],
    methods: Methods,
) -> Bounds:
    """Take the outermost values and limits of all fillings."""
    relative = None
    shares = [row.relative.delta for row in (*worst, *best)]
    known = [share for share in shares if share is not None]
    if len(known) == len(shares):
        relative = (min(known), max(known))
    return replace(
        found,
        low=min(_value(row.delta) for row in worst),
        high=max(_value(row.delta) for row in best),
        interval=_outermost(
            [row.interval for row in worst], [row.interval for row in best]
        ),
        relative=relative,
        relative_interval=_outermost(
            [row.relative.interval for row in worst],
            [row.relative.interval for row in best],
        ),
        variant=(
            min(_value(row.variant) for row in worst),
            max(_value(row.variant) for row in best),
        ),
        variant_interval=_outermost(
            [row.variant_interval for row in worst],
            [row.variant_interval for row in best],
        ),
    )


def _value(value: float | None) -> float:
    return float("nan") if value is None else value


def _outermost(
    worst: Sequence[Interval | None], best: Sequence[Interval | None]
) -> Interval | None:
    lows = [interval for interval in worst if interval is not None]
    highs = [interval for interval in best if interval is not None]
    if len(lows) < len(worst) or len(highs) < len(best):
        return None
    return outer(
        min(lows, key=lambda interval: interval.low),
        max(highs, key=lambda interval: interval.high),
    )
