"""Tests that are read together -> adjusted p-values and simultaneous intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onechange.delta import Delta, metric_sample
from onechange.plan import Analysis, SliceSpec
from onechange.slices import SliceLabel
from onechange.stats.estimate import Interval, Note
from onechange.stats.flips import UnitColumns, unit_columns
from onechange.stats.multiplicity import (
    MaxT,
    adjusted_pvalues,
    max_t,
    simultaneous_level,
)
from onechange.values import VariantValues

__all__ = [
    "Family",
    "FamilyMember",
    "adjust_family",
    "question_units",
    "sampling_notes",
]

ADJUSTED_BY = {
    "max-t": "step-down max-T by sign flips",
    "holm": "Holm's method on the single tests",
    "bh": "the false discovery rate of the single tests",
}

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Family:
    """Tests that were adjusted together.

    Parameters
    ----------
    scope : str
        ``overall`` or ``slices``.
    adjust : str
        ``max-t``, ``holm``, ``bh`` or ``none``.
    n_tests : int
        Tests in the family; undefined ones are not counted.
    n_metrics, n_slices, n_variants : int
        What it is made of.
    breakdowns : tuple of str
        Names of the breakdowns.
    critical : float or None
        Quantile of the largest statistic, behind the simultaneous intervals.
    interval_level : float or None
        Level of each interval at which all of them hold together.
    n_resamples : int or None
        Sampled flips; None when nothing was sampled.
    seed : int or None
        Seed of the flips.
    monte_carlo_error : float or None
        Largest standard error of an adjusted p-value; None when nothing was sampled.
    """

    scope: str
    adjust: str
    n_tests: int
    n_metrics: int
    n_slices: int
    n_variants: int
    breakdowns: tuple[str, ...] = ()
    critical: float | None = None
    interval_level: float | None = None
    n_resamples: int | None = None
    seed: int | None = None
    monte_carlo_error: float | None = None

    @property
    def members(self) -> str:
        """Say what it is made of, ``12 tests: 3 metrics × 4 slices of qtype``."""
        parts = [_count(self.n_metrics, "metric")]
        if self.scope == "slices":
            of = f" of {', '.join(self.breakdowns)}"
            parts.append(_count(self.n_slices, "slice") + of)
        if self.n_variants > 1:
            parts.append(_count(self.n_variants, "variant"))
        product = self.n_metrics * max(self.n_slices, 1) * self.n_variants
        sign = "" if product == self.n_tests else ", of those defined"
        return f"{_count(self.n_tests, 'test')}: {' × '.join(parts)}{sign}"


@dataclass(frozen=True, slots=True, eq=False)
class FamilyMember:
    """One delta of a family, and the questions that it is about.

    Parameters
    ----------
    delta : Delta
        Mean delta with a test.
    variant : int
        Position of its variant.
    spec : SliceSpec or None
        Its breakdown; None over all questions.
    questions : ndarray of bool, shape (n_questions,), or None
        The questions of its slice; None for all.
    """

    delta: Delta
    variant: int
    spec: SliceSpec | None = None
    questions: BoolArray | None = None


def question_units(
    variants: Sequence[VariantValues], cluster_column: str | None
) -> list[IntArray]:
    """Assign numbers to what flips, questions or clusters, alike in all variants.

    Parameters
    ----------
    variants : sequence of VariantValues
        Each variant with its pairs.
    cluster_column : str or None
        Column of the clusters, when they are declared.

    Returns
    -------
    list of ndarray of int, shape (n_questions,)
        Unit of each question, variant by variant.
    """
    first = variants[0].pairs
    if len(variants) == 1:
        own = np.arange(first.paired.size)
        return [own if first.clusters is None else first.clusters]
    numbers: dict[tuple[str, str], int] = {}
    found = []
    for variant in variants:
        ids = variant.pairs.question_id.tolist()
        labels: Sequence[str | None] = [None] * len(ids)
        if cluster_column is not None:
            labels = variant.pairs.labels[cluster_column].tolist()
        keys = (
            ("question", question) if label is None else ("cluster", label)
            for question, label in zip(ids, labels, strict=True)
        )
        codes = (numbers.setdefault(key, len(numbers)) for key in keys)
        found.append(np.fromiter(codes, np.int64, len(ids)))
    return found


def adjust_family(
    members: Sequence[FamilyMember],
    variants: Sequence[VariantValues],
    units: Sequence[IntArray],
    analysis: Analysis,
    *,
    scope: str,
) -> tuple[list[Delta], Family | None]:
    """Adjust the p-values of a family, and widen its intervals to hold together.

    Parameters
    ----------
    members : sequence of FamilyMember
        The family, breakdown by breakdown and slice by slice.
    variants : sequence of VariantValues
        Each variant with its pairs.
    units : sequence of ndarray of int
        From `question_units`.
    analysis : Analysis
        How p-values are adjusted; level, resamples and seed.
    scope : str
        ``overall`` or ``slices``.

    Returns
    -------
    deltas : list of Delta
        Those of the members, in their order.
    family : Family or None
        None when fewer than two tests are defined: there is nothing to adjust.

    Notes
    -----
    Simultaneous intervals come from the flips under every adjustment, as an adjusted
    p-value speaks of zero alone. An adjusted p-value is never below the raw one, which
    another test may have given.
    """
    if sum(_raw_pvalue(member.delta) is not None for member in members) < 2:
        return [member.delta for member in members], None
    flipping = [i for i, member in enumerate(members) if _flips(member.delta)]
    columns, order = _columns([members[i] for i in flipping], variants, units)
    found = max_t(
        columns,
        confidence_level=analysis.confidence_level,
        n_resamples=analysis.n_resamples,
        seed=analysis.seed,
    )
    del columns  # the differences of all members once more
    joint = {flipping[i]: p for i, p in zip(order, found.pvalues, strict=True)}
    pvalues = _adjusted_pvalues(members, joint, analysis.adjust)
    level = _interval_level(found, len(flipping), analysis.confidence_level)
    deltas = []
    for i, (member, pvalue) in enumerate(zip(members, pvalues, strict=True)):
        interval = (
            _interval_at(member, variants, level, analysis) if i in joint else None
        )
        deltas.append(
            replace(
                member.delta,
                pvalue_adjusted=pvalue,
                simultaneous_interval=interval,
                notes=(
                    *member.delta.notes,
                    *_undefined(member, pvalue, analysis),
                    *_disagreement(pvalue, interval, analysis),
                ),
            )
        )
    sampled = found.n_resamples is not None
    return deltas, Family(
        scope=scope,
        adjust=analysis.adjust,
        n_tests=sum(p is not None for p in pvalues),
        n_metrics=len({m.delta.metric for m in members}),
        n_slices=len({(m.spec, m.delta.slice) for m in members if m.spec}),
        n_variants=len({m.variant for m in members}),
        breakdowns=tuple(dict.fromkeys(m.spec.name for m in members if m.spec)),
        critical=found.critical,
        interval_level=level,
        n_resamples=found.n_resamples,
        seed=analysis.seed if sampled else None,
        monte_carlo_error=max(
            (found.monte_carlo_error(p) or 0.0 for p in found.pvalues if p is not None),
            default=0.0,
        )
        if sampled
        else None,
    )


def sampling_notes(families: Sequence[Family]) -> tuple[Note, ...]:
    """Say once what was sampled for the families, and how exact it is."""
    sampled = [family for family in families if family.monte_carlo_error is not None]
    if not sampled:
        return ()
    error = max(family.monte_carlo_error or 0.0 for family in sampled)
    text = (
        "Adjusted p-values and simultaneous intervals are from "
        f"{sampled[0].n_resamples} sign flips (seed {sampled[0].seed}); Monte Carlo "
        f"standard error of the p-values up to {error:.2g}."
    )
    return (Note("sampled", text),)


def _raw_pvalue(delta: Delta) -> float | None:
    return None if delta.test is None else delta.test.pvalue


def _flips(delta: Delta) -> bool:
    """Whether a delta is a mean of differences, whose signs can be flipped."""
    return delta.statistic == "mean" and _raw_pvalue(delta) is not None


def _columns(
    members: Sequence[FamilyMember],
    variants: Sequence[VariantValues],
    units: Sequence[IntArray],
) -> tuple[list[UnitColumns], list[int]]:
    """Collect the differences slice by slice; also the member behind each column."""
    groups: dict[tuple[SliceSpec | None, SliceLabel | None, int], list[int]] = {}
    for i, member in enumerate(members):
        key = (member.spec, member.delta.slice, member.variant)
        groups.setdefault(key, []).append(i)
    differences: dict[tuple[int, str], tuple[FloatArray, BoolArray]] = {}
    columns = []
    for (_, _, position), positions in groups.items():
        variant, questions = variants[position], members[positions[0]].questions
        rows = np.flatnonzero(variant.pairs.paired if questions is None else questions)
        parts = []
        for i in positions:
            metric = members[i].delta.metric
            if (position, metric) not in differences:
                differences[position, metric] = _differences(variant, metric)
            difference, complete = differences[position, metric]
            parts.append((difference[rows], complete[rows]))
        columns.append(
            unit_columns(
                units[position][rows],
                np.column_stack([difference for difference, _ in parts]),
                np.column_stack([complete for _, complete in parts]),
            )
        )
    return columns, [i for positions in groups.values() for i in positions]


def _differences(variant: VariantValues, metric: str) -> tuple[FloatArray, BoolArray]:
    """Differences of a metric over all questions, and where there is one."""
    values = variant.metrics[metric]
    complete = values.complete
    difference = np.zeros(complete.size)
    difference[complete] = metric_sample(values).difference
    return difference, complete


def _adjusted_pvalues(
    members: Sequence[FamilyMember], joint: Mapping[int, float | None], adjust: str
) -> list[float | None]:
    raw = [_raw_pvalue(member.delta) for member in members]
    if adjust == "none":
        return [None for _ in members]
    found = (
        [joint.get(i) for i in range(len(members))]
        if adjust == "max-t"
        else adjusted_pvalues(raw, adjust)
    )
    return [
        None if adjusted is None or own is None else max(adjusted, own)
        for adjusted, own in zip(found, raw, strict=True)
    ]


def _interval_level(found: MaxT, n_intervals: int, level: float) -> float:
    """Level of each interval; by Bonferroni when no column varies."""
    if found.critical is None:
        return 1 - (1 - level) / max(n_intervals, 1)
    return simultaneous_level(found.critical, level)


def _interval_at(
    member: FamilyMember,
    variants: Sequence[VariantValues],
    level: float,
    analysis: Analysis,
) -> Interval | None:
    """Compute the decision interval of a delta at the level of the family."""
    from onechange.stats.choose import INTERVAL_NAMES, decision_interval

    own = member.delta.interval
    if own is None:
        return None
    variant = variants[member.variant]
    sample = metric_sample(variant.metrics[member.delta.metric], member.questions)
    methods = variant.methods[member.delta.metric]
    found = decision_interval(
        sample,
        name=own.method if own.method in INTERVAL_NAMES else methods.interval,
        confidence_level=level,
        n_resamples=methods.n_resamples,
        seed=methods.seed,
    ).interval
    if found is None:
        return None
    return replace(found, confidence_level=analysis.confidence_level)


def _undefined(
    member: FamilyMember, pvalue: float | None, analysis: Analysis
) -> tuple[Note, ...]:
    if pvalue is not None or analysis.adjust == "none":
        return ()
    delta = member.delta
    if delta.statistic != "mean":
        why = "has no differences whose signs can be flipped"
    elif delta.difference_range == (0.0, 0.0):
        why = "has no changed answer"
    else:
        why = "has no p-value"
    text = f"{delta.metric} {why} here, so it is not counted in the family of tests."
    return (Note("test-undefined", text),)


def _disagreement(
    pvalue: float | None, interval: Interval | None, analysis: Analysis
) -> tuple[Note, ...]:
    """Say why an adjusted p and a simultaneous interval tell of different things."""
    if pvalue is None or interval is None:
        return ()
    alpha = round(1 - analysis.confidence_level, 10)
    excluded = interval.low > 0 or interval.high < 0
    if excluded == (pvalue < alpha):
        return ()
    side = "at least" if excluded else "below"
    does = "excludes" if excluded else "contains"
    text = (
        f"The adjusted p is {side} {alpha:g}, and the simultaneous interval {does} 0: "
        f"the p is from {ADJUSTED_BY[analysis.adjust]}, the interval from the method "
        "that decides, at the level at which all intervals hold together. What is "
        "called shown is shown by the interval."
    )
    return (Note("adjusted-p-and-interval-disagree", text),)


def _count(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"
