"""Deltas reweighted to a stated mix of slices, and the macro average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onechange.delta import Delta, MetricValues, metric_sample
from onechange.plan import Analysis, Metric
from onechange.slices import SliceLabel
from onechange.stats.estimate import Interval
from onechange.stats.interval import clip, student_interval
from onechange.stats.methods import clustered, score_width
from onechange.stats.reweight import mover_interval, normalised, weighted_cr2_law
from onechange.stats.student import guarded_t_law
from onechange.values import VariantValues

__all__ = ["WeightedDelta", "weighted_delta"]

BoolArray = NDArray[np.bool_]
MIN_PAIRS = 6  # below, a slice's share of the interval is that of the guarded t


@dataclass(frozen=True, slots=True)
class WeightedDelta:
    """The delta of a stated mix of slices; never the overall delta.

    Parameters
    ----------
    metric, variant_name, direction : str
    kind : str
        ``reweighted`` to a stated mix, or ``macro``: all slices count the same.
    weights : tuple of (label, weight)
        Normalised to a sum of 1.
    baseline, variant, delta : float or None
        Weighted means of the slices' means; None when undefined.
    interval : Interval or None
    reason : str or None
        Why there is no delta, or no interval.
    left_out : tuple of str
        Slices of the data without a declared weight.
    """

    metric: str
    variant_name: str
    direction: str
    kind: str
    weights: tuple[tuple[str, float], ...]
    baseline: float | None = None
    variant: float | None = None
    delta: float | None = None
    interval: Interval | None = None
    reason: str | None = None
    left_out: tuple[str, ...] = ()


def weighted_delta(
    variant: VariantValues,
    metric: Metric,
    deltas: Sequence[Delta],
    masks: Mapping[SliceLabel, BoolArray],
    weights: Mapping[str, float] | str,
    analysis: Analysis,
) -> WeightedDelta:
    """Weight the slices of a breakdown by a stated mix.

    Parameters
    ----------
    variant : VariantValues
        The variant with its pairs.
    metric : Metric
    deltas : sequence of Delta
        Of the metric in each slice with pairs, of any size.
    masks : mapping of slice label to ndarray of bool, shape (n_questions,)
        Questions of each slice.
    weights : mapping of label to float, or ``"equal"``
        The mix; a declared slice without pairs makes the delta undefined.
    analysis : Analysis
        Level.

    Returns
    -------
    WeightedDelta

    Notes
    -----
    Σ w·delta of the slices. Its limits follow from the slices' decision intervals
    (MOVER), a slice of fewer than six pairs giving its guarded t. Where clusters cross
    slices these are not independent, and the weighted CR2 law is used; where runs
    differ as wholes, half-widths add up.
    """
    by_label = {_text(d.slice): d for d in deltas}
    equal = isinstance(weights, str)
    mix = dict.fromkeys(by_label, 1.0) if isinstance(weights, str) else dict(weights)
    shares = dict(zip(mix, normalised(list(mix.values())), strict=True))
    shell = WeightedDelta(
        metric=metric.name,
        variant_name=variant.name,
        direction=metric.direction or "higher",
        kind="macro" if equal else "reweighted",
        weights=tuple(shares.items()),
        left_out=tuple(label for label in by_label if label not in shares),
    )
    used = {label: share for label, share in shares.items() if share > 0}
    absent = [label for label in used if label not in by_label]
    if absent:
        listed = ", ".join(f'"{label}"' for label in absent)
        known = ", ".join(by_label)
        why = f"no pair in {listed}; slices with pairs: {known}"
        return replace(shell, reason=why)
    rows = [by_label[label] for label in used]
    interval, reason = _interval(
        variant.metrics[metric.name], rows, list(used.values()), masks, analysis
    )

    def total(name: str) -> float:
        shares_and_rows = zip(used.values(), rows, strict=True)
        return float(sum(share * getattr(row, name) for share, row in shares_and_rows))

    return replace(
        shell,
        baseline=total("baseline"),
        variant=total("variant"),
        delta=total("delta"),
        interval=interval,
        reason=reason,
    )


def _interval(
    values: MetricValues,
    rows: Sequence[Delta],
    shares: Sequence[float],
    masks: Mapping[SliceLabel, BoolArray],
    analysis: Analysis,
) -> tuple[Interval | None, str | None]:
    code = np.full(values.paired.size, -1, dtype=np.int64)
    for number, row in enumerate(rows):
        code[masks[row.slice or ()] & values.complete] = number
    sample = metric_sample(values, code >= 0)
    level = analysis.confidence_level
    if clustered(sample) and sample.clusters is not None:
        cells = np.unique(np.stack([sample.clusters, code[code >= 0]]), axis=1)
        if np.unique(cells[0]).size < cells.shape[1]:
            law = weighted_cr2_law(
                sample.difference, code[code >= 0], np.array(shares), sample.clusters
            )
            if law is None:
                return None, "a slice lies in a single cluster"
            if law.standard_error == 0:
                return None, "the clusters do not differ"
            return student_interval(law, level, "cr2-t"), None
    parts = []
    for row in rows:
        own = row.interval
        if own is None or row.n_pairs < MIN_PAIRS:
            part = metric_sample(values, masks[row.slice or ()])
            law = guarded_t_law(part.difference, width=score_width(part))
            own = student_interval(law, level, "guarded-t")
        if own is None:
            return None, f"{_text(row.slice)} has no interval of its own"
        parts.append(own)
    deltas = [row.delta or 0.0 for row in rows]
    together = any(part.method == "two-way" for part in parts)
    found = mover_interval(
        shares, deltas, parts, confidence_level=level, independent=not together
    )
    width = score_width(sample)
    return (found if width is None else clip(found, -width, width)), None


def _text(label: SliceLabel | None) -> str:
    return ",".join(text for _, text in label or ())
