"""The same `Delta` for each slice of a breakdown."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from onechange.delta import Delta, metric_delta
from onechange.errors import PlanError
from onechange.pairs import Pairs, question_means
from onechange.plan import Guardrail, Metric, Plan, SliceSpec, parse_slice
from onechange.statistic_deltas import (
    Resamples,
    ResamplesKey,
    asked_statistics,
    further_deltas,
    ratio_metric_delta,
)
from onechange.stats.estimate import Note
from onechange.values import VariantValues

__all__ = ["NO_LABEL", "Slice", "SliceBreakdown", "break_down", "slice_questions"]

BoolArray = NDArray[np.bool_]
TextArray = NDArray[np.object_]

NO_LABEL = "(none)"  # the slice of questions without a label


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """One slice: its label per column and its paired questions.

    Parameters
    ----------
    label : tuple of (column, label)
        One entry per column of the breakdown.
    questions : ndarray of bool, shape (n_questions,)
        True for the paired questions of the slice.
    """

    label: tuple[tuple[str, str], ...]
    questions: BoolArray


@dataclass(frozen=True, slots=True)
class SliceBreakdown:
    """One breakdown: deltas of every metric in every slice, worst change first."""

    spec: SliceSpec
    deltas: tuple[Delta, ...]
    small: tuple[tuple[str, int], ...] = ()
    heterogeneity_pvalue: dict[str, float | None] | None = None
    reversals: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


def break_down(
    spec: SliceSpec,
    variants: Sequence[VariantValues],
    metrics: Sequence[Metric],
    plan: Plan,
    resamples: dict[ResamplesKey, Resamples],
) -> SliceBreakdown:
    """Compute the delta of every metric and variant in every slice.

    Parameters
    ----------
    spec : SliceSpec
        The breakdown.
    variants : sequence of VariantValues
        Each variant with its pairs.
    metrics : sequence of Metric
        Resolved metrics.
    plan : Plan
        Slices with fewer pairs than its minimum are shown but marked; further
        statistics are computed where an every-slice guardrail asks for them.
    resamples : dict
        Gains the resamples of each quantile.

    Returns
    -------
    SliceBreakdown
    """
    asked = asked_statistics(_rules_of(plan, spec))
    deltas: list[Delta] = []
    for metric in metrics:
        for variant in variants:
            parts = slice_questions(variant.pairs, spec)
            found = [_slice_delta(variant, metric, part) for part in parts]
            for statistic in asked.get(metric.name, ()):
                for part in parts:
                    found += further_deltas(
                        variant,
                        metric,
                        [statistic],
                        resamples,
                        questions=part.questions,
                        slice_label=part.label,
                    )
            marked = [_marked_small(delta, plan.analysis.min_slice) for delta in found]
            deltas.extend(sorted(marked, key=_worst_first))
    return SliceBreakdown(spec=spec, deltas=tuple(deltas))


def _rules_of(plan: Plan, spec: SliceSpec) -> list[Guardrail]:
    """Keep the guardrails that must hold in every slice of this breakdown."""
    return [
        rule
        for rule in plan.guardrails
        if rule.every_slice is not None and parse_slice(rule.every_slice) == spec
    ]


def _slice_delta(variant: VariantValues, metric: Metric, part: Slice) -> Delta:
    if metric.numerator is not None:
        return ratio_metric_delta(
            variant, metric, questions=part.questions, slice_label=part.label
        )
    return metric_delta(
        metric.name,
        metric.direction or "higher",
        variant.metrics[metric.name],
        variant.methods[metric.name],
        questions=part.questions,
        slice_label=part.label,
        variant_name=variant.name,
    )


def slice_questions(pairs: Pairs, spec: SliceSpec) -> tuple[Slice, ...]:
    """Divide the paired questions into the slices of one breakdown.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    spec : SliceSpec
        One column, several crossed columns, or one number with cut points.

    Returns
    -------
    tuple of Slice
        Every paired question is in exactly one; sorted by label (cut points by
        value). A missing label is the slice ``(none)``.

    Raises
    ------
    PlanError
        When a column is not in the data, with the nearest one that is.
    """
    if spec.cuts:
        columns = [_cut_labels(pairs, spec.columns[0], spec.cuts)]
    else:
        columns = [_labels(pairs, column) for column in spec.columns]
    paired = np.flatnonzero(pairs.paired)
    codes = np.zeros(paired.size, dtype=np.int64)
    for labels, _ in columns:
        codes = codes * (int(labels.max(initial=0)) + 1) + labels[paired]
    slices = []
    for code in np.unique(codes):
        members = paired[codes == code]
        questions = np.zeros(pairs.paired.size, dtype=np.bool_)
        questions[members] = True
        label = tuple(
            (column, names[labels[members[0]]])
            for column, (labels, names) in zip(spec.columns, columns, strict=True)
        )
        slices.append(Slice(label=label, questions=questions))
    return tuple(slices)


def _labels(pairs: Pairs, column: str) -> tuple[NDArray[np.int64], list[str]]:
    """Return the label code of each question, and the label of each code."""
    if column not in pairs.labels:
        known = sorted(pairs.labels)
        near = get_close_matches(column, known, n=1)
        hint = f'; did you mean "{near[0]}"' if near else ""
        if column in pairs.baseline.metrics:
            hint = f'; it holds numbers: give cut points, "{column}:LOW,HIGH"'
        raise PlanError(
            f'slice "{column}" is not a column of labels in the data{hint}. '
            f"Columns of labels: {', '.join(known) or 'none'}."
        )
    texts = np.array(
        [NO_LABEL if text is None else str(text) for text in pairs.labels[column]],
        dtype=object,
    )
    names, codes = np.unique(texts, return_inverse=True)
    return codes.astype(np.int64), [str(name) for name in names]


def _cut_labels(
    pairs: Pairs, column: str, cuts: tuple[float, ...]
) -> tuple[NDArray[np.int64], list[str]]:
    """Cut a number, the baseline's question mean, at the stated points."""
    if column not in pairs.baseline.metrics:
        known = sorted(pairs.baseline.metrics)
        near = get_close_matches(column, known, n=1)
        hint = f'; did you mean "{near[0]}"' if near else ""
        raise PlanError(
            f'slice "{column}" with cut points is not a column of numbers in the '
            f"baseline{hint}. Columns of numbers: {', '.join(known) or 'none'}."
        )
    values = question_means(pairs, "baseline", column)
    texts = [f"{cut:g}" for cut in cuts]
    names = [f"< {texts[0]}"]
    names += [f"{a} to < {b}" for a, b in itertools.pairwise(texts)]
    names += [f">= {texts[-1]}", NO_LABEL]
    codes = np.searchsorted(np.asarray(cuts), values, side="right")
    codes[np.isnan(values)] = len(names) - 1
    return codes.astype(np.int64), names


def _marked_small(delta: Delta, min_slice: int) -> Delta:
    if not 0 < delta.n_pairs < min_slice:
        return delta
    text = f"{delta.n_pairs} pairs, below the minimum slice size {min_slice}."
    return replace(delta, notes=(*delta.notes, Note("small-slice", text)))


def _worst_first(delta: Delta) -> tuple[bool, str, float, tuple[tuple[str, str], ...]]:
    """Sort the means first, then each further statistic, by worsening."""
    gain = float("inf")
    if delta.delta is not None:
        gain = delta.delta if delta.direction == "higher" else -delta.delta
    further = delta.statistic not in ("mean", "ratio")
    return further, delta.statistic, gain, delta.slice or ()
