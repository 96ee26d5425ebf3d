"""Deltas reweighted to a stated mix of slices, and the macro average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onechange.delta import Delta, Methods, MetricValues, metric_sample
from onechange.plan import Metric
from onechange.slices import SliceLabel
from onechange.stats.estimate import Interval
from onechange.stats.fitting import clustered
from onechange.stats.interval import clip, student_interval, wider
from onechange.stats.methods import score_width
from onechange.stats.reweight import (
    mover_interval,
    normalised,
    weighted_cr2_law,
    weighted_law,
)
from onechange.stats.runs import RunVariance
from onechange.stats.sample import PairedSample
from onechange.stats.student import StudentLaw, guarded_t_law
from onechange.stats.twoway import question_variance, with_runs
from onechange.values import VariantValues

__all__ = ["WeightedDelta", "weighted_delta"]

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
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

    Returns
    -------
    WeightedDelta

    Notes
    -----
    Σ w·delta of the slices. Its limits follow from the slices' decision intervals
    (MOVER), a slice of fewer than six pairs giving its guarded t. Where clusters cross
    slices these are not independent, and the weighted CR2 law is used. Where runs
    differ as wholes they move all slices together: the wider of this and the two-way
    interval counts.
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
        left_out=tuple(sorted(label for label in by_label if label not in shares)),
    )
    used = {label: share for label, share in shares.items() if share > 0}
    absent = [label for label in used if label not in by_label]
    if absent:
        listed = ", ".join(f'"{label}"' for label in absent)
        known = ", ".join(by_label)
        why = f"no pair in {listed}; slices with pairs: {known}"
        return replace(shell, reason=why)
    rows = [by_label[label] for label in used]
    interval, reason = _Mix(
        variant.metrics[metric.name],
        variant.methods[metric.name],
        tuple(rows),
        tuple(used.values()),
        tuple(masks[row.slice or ()] for row in rows),
    ).interval()

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


@dataclass(frozen=True, slots=True, eq=False)
class _Mix:
    """Slices with their shares, as the interval needs them."""

    values: MetricValues
    methods: Methods
    rows: tuple[Delta, ...]
    shares: tuple[float, ...]
    masks: tuple[BoolArray, ...]

    def interval(self) -> tuple[Interval | None, str | None]:
        """Interval of the weighted delta, or the reason why there is none."""
        code = np.full(self.values.paired.size, -1, dtype=np.int64)
        for number, mask in enumerate(self.masks):
            code[mask & self.values.complete] = number
        whole = metric_sample(self.values, code >= 0)
        level = self.methods.confidence_level
        crossing = clustered(whole) and _cross(whole.clusters, code[code >= 0])
        if crossing and whole.clusters is not None:
            law = weighted_cr2_law(
                whole.difference,
                code[code >= 0],
                np.array(self.shares),
                whole.clusters,
            )
            if law is None:
                return None, "a slice lies in a single cluster"
            if law.standard_error == 0:
                return None, "the clusters do not differ"
            found = student_interval(law, level, "cr2-t")
        else:
            parts = [self._part(i) for i in range(len(self.rows))]
            lacking = [i for i, part in enumerate(parts) if part is None]
            if lacking:
                text = _text(self.rows[lacking[0]].slice)
                return None, f"{text} has no interval of its own"
            found = mover_interval(
                self.shares,
                [row.delta or 0.0 for row in self.rows],
                [part for part in parts if part is not None],
                confidence_level=level,
            )
            law = self._law()
        if found is not None and self._runs_count(whole) and whole.runs and law:
            found = _with_runs(found, law, whole.runs)
        if found is not None and whole.attainable is not None:
            width = whole.attainable[1] - whole.attainable[0]
            found = clip(found, -width, width)
        return found, None

    def _runs_count(self, whole: PairedSample) -> bool:
        """Whether the decision intervals of this metric count whole runs."""
        from onechange.stats.choose import fitting_interval

        name = fitting_interval(self.methods.interval, whole)
        differ = whole.runs is not None and whole.runs.differ
        return name == "two-way" or (name == "auto" and differ)

    def _part(self, position: int) -> Interval | None:
        """Interval of one slice over questions alone."""
        from onechange.stats.choose import decision_interval

        own = self.rows[position].interval
        sample = replace(metric_sample(self.values, self.masks[position]), runs=None)
        level = self.methods.confidence_level
        if own is None or sample.n_pairs < MIN_PAIRS:
            law = guarded_t_law(sample.difference, width=score_width(sample))
            return student_interval(law, level, "guarded-t")
        if own.method != "two-way":
            return own
        return decision_interval(sample, confidence_level=level).interval

    def _law(self) -> StudentLaw | None:
        """Law of the weighted delta over questions alone."""
        variances = [
            question_variance(metric_sample(self.values, mask)) for mask in self.masks
        ]
        return weighted_law(
            self.shares,
            [row.delta or 0.0 for row in self.rows],
            [part or (0.0, 1.0) for part in variances],
        )


def _cross(clusters: IntArray | None, slices: IntArray) -> bool:
    """Whether some cluster has questions in several slices."""
    if clusters is None:
        return False
    cells = np.unique(np.stack([clusters, slices]), axis=1)
    return bool(np.unique(cells[0]).size < cells.shape[1])


def _with_runs(found: Interval, law: StudentLaw, runs: RunVariance) -> Interval:
    whole = with_runs(law, runs)
    if whole is None:
        return found
    tail = (1 - found.confidence_level) / 2
    low, high = wider((found.low, found.high), whole.limits(tail))
    return replace(found, low=low, high=high, method="two-way", degenerate=False)


def _text(label: SliceLabel | None) -> str:
    return ",".join(text for _, text in label or ())
