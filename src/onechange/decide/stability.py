"""Statuses -> how many missing scores or other answers would change them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onechange.breakdowns import is_small
from onechange.decide.decision import RuleStatus, rule_names
from onechange.decide.findings import Scope
from onechange.delta import Delta, MetricValues
from onechange.missing import filled_means, population
from onechange.pairs import ArmTable, Pairs
from onechange.plan import Analysis, Guardrail, Metric, Primary, parse_slice
from onechange.sensitivity import (
    Fragility,
    Scores,
    TippingPoint,
    fragility,
    mean_status,
    tipping_point,
)
from onechange.slices import labels_questions, small_label
from onechange.status import Status

__all__ = ["slice_mask", "stability_sentences", "with_stability"]

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


def with_stability(
    scope: Scope, rule: Primary | Guardrail, status: RuleStatus
) -> RuleStatus:
    """Add the tipping point and the fragility of a status.

    Parameters
    ----------
    scope : Scope
        What was compared.
    rule : Primary or Guardrail
        The rule behind the status.
    status : RuleStatus
        Its status.

    Returns
    -------
    RuleStatus
        Unchanged for statistics other than the mean, for what was not measured, and
        where the decision interval cannot be had from the question means alone.
    """
    delta = status.delta
    if delta is None or delta.statistic != "mean":
        return status
    values = scope.comparison.values[scope.variant_name, status.metric]
    every_slice = rule.every_slice if isinstance(rule, Guardrail) else None
    questions = slice_mask(scope, delta, every_slice, values.paired.size)
    scores = _scores(values, delta.direction, questions)
    analysis = scope.analysis(delta)
    reported, found = status.status, mean_status(rule, scores, analysis)
    taken_back = reported is Status.INCONCLUSIVE and found is Status.PASS
    if found is not reported and not taken_back:
        return status
    return replace(
        status,
        tipping=_tipping(scope, rule, analysis, scores, reported, values, questions),
        fragility=fragility(rule, scores, reported, analysis),
    )


def slice_mask(
    scope: Scope, delta: Delta, every_slice: str | None, n_questions: int
) -> BoolArray:
    """Return which questions a delta is about.

    Parameters
    ----------
    scope : Scope
        What was compared.
    delta : Delta
        Overall, or of a slice.
    every_slice : str or None
        The breakdown that the slice belongs to.
    n_questions : int
        All questions.

    Returns
    -------
    ndarray of bool, shape (n_questions,)
    """
    if delta.slice is None or every_slice is None:
        return np.ones(n_questions, dtype=np.bool_)
    pairs, spec = scope.comparison.pairs[scope.position], parse_slice(every_slice)
    labels = {delta.slice}
    if delta.slice == small_label(spec):
        rows = scope.slices(delta.metric, "mean", every_slice)
        labels = {row.slice for row in rows if is_small(row) and row.slice}
    return labels_questions(pairs, spec, labels)


def stability_sentences(statuses: Sequence[RuleStatus], decision: str) -> list[str]:
    """Say what would change the decision.

    Parameters
    ----------
    statuses : sequence of RuleStatus
        With their tipping points and fragilities.
    decision : str
        The decision.

    Returns
    -------
    list of str
        The nearest tipping point and the nearest fragility among the statuses that
        decided: all of them for *ship*, else those that fail or are open.
    """
    decisive = {
        "ship": Status.PASS,
        "do not ship": Status.FAIL,
        "inconclusive": Status.INCONCLUSIVE,
    }[decision]
    rows = [
        (row, name)
        for row, name in zip(statuses, rule_names(statuses), strict=True)
        if row.status is decisive
    ]
    sentences = []
    tipped = [(row.tipping, name) for row, name in rows if row.tipping is not None]
    if tipped:
        tipping, name = min(tipped, key=lambda pair: _order(pair[0].questions))
        sentences.append(f"{name}: {_tipping_sentence(tipping)}")
    flipped = [(row.fragility, name) for row, name in rows if row.fragility is not None]
    if flipped:
        fragile, name = min(flipped, key=lambda pair: _order(pair[0].answers))
        sentences.append(f"{name}: {_fragility_sentence(fragile)}")
    if decision == "do not ship" and len(rows) > 1 and sentences:
        sentences.append(
            f"{len(rows)} rules fail, and the decision changes only with all of them."
        )
    return sentences


def _scores(values: MetricValues, direction: str, questions: BoolArray) -> Scores:
    use = values.complete & questions
    others = np.isfinite(values.variant) & questions & ~use
    clusters = values.clusters
    return Scores(
        baseline=values.baseline[use],
        variant=values.variant[use],
        direction=direction,
        clusters=None if clusters is None else clusters[use],
        score_range=values.score_range,
        tie=values.tie,
        binary=values.binary,
        further_variant=values.variant[others],
        further_clusters=None if clusters is None else clusters[others],
        runs=values.runs,
        arm_runs=values.arm_runs,
    )


def _tipping(
    scope: Scope,
    rule: Primary | Guardrail,
    analysis: Analysis,
    scores: Scores,
    reported: Status,
    values: MetricValues,
    questions: BoolArray,
) -> TippingPoint | None:
    """Find the tipping point; None without a declared range or without scores."""
    pairs = scope.comparison.pairs[scope.position]
    metric = _metric(scope, rule.metric)
    arms = (pairs.baseline, pairs.variant)
    if metric is None or metric.range is None:
        return None
    if not all(metric.name in arm.metrics for arm in arms):
        return None
    n = values.paired.size
    rows = np.zeros(n, dtype=np.int64)
    for arm in arms:
        rows += _missing_rows(arm, metric.name, n)
    everything = analysis.bounds == "all"
    counted = population(pairs, metric.name, everything=everything) & questions
    pair = values.complete & questions
    lacking = np.flatnonzero(counted & ((rows > 0) | ~pair))
    clusters = values.clusters
    return tipping_point(
        rule,
        scores,
        replace(
            _filled(pairs, metric, scores, reported, lacking),
            clusters=None if clusters is None else clusters[lacking],
        ),
        rows[lacking],
        reported,
        analysis,
        pair_position=_position(pair)[lacking],
        further_position=_position(np.isfinite(values.variant) & questions & ~pair)[
            lacking
        ],
    )


def _position(members: BoolArray) -> IntArray:
    """Position of each member among the members, −1 for the others."""
    return np.where(members, np.cumsum(members) - 1, -1)


def _filled(
    pairs: Pairs, metric: Metric, scores: Scores, reported: Status, chosen: IntArray
) -> Scores:
    """Fill questions at their worst, or at their best when the status is fail."""
    low, high = metric.range or (0.0, 1.0)
    worst_variant_is_low = scores.direction == "higher"
    if worst_variant_is_low == (reported is Status.FAIL):
        low, high = high, low
    n = pairs.paired.size
    return replace(
        scores,
        baseline=filled_means(pairs.baseline, metric.name, n, high)[chosen],
        variant=filled_means(pairs.variant, metric.name, n, low)[chosen],
    )


def _missing_rows(arm: ArmTable, metric: str, n_questions: int) -> IntArray:
    lacking = np.isnan(arm.metrics[metric])
    return np.bincount(arm.question[lacking], minlength=n_questions)


def _metric(scope: Scope, name: str) -> Metric | None:
    return next((m for m in scope.comparison.metrics if m.name == name), None)


def _order(count: int | None) -> float:
    return float("inf") if count is None else count


def _tipping_sentence(tipping: TippingPoint) -> str:
    count = tipping.n_questions
    if count == 0:
        return "no question lacks a score that could change it."
    whole = (
        "question that lacks a score" if count == 1 else "questions that lack a score"
    )
    rows = f"{tipping.n_rows} row{'s' * (tipping.n_rows != 1)}"
    if tipping.questions is None:
        if count == 1:
            return (
                f"the {whole} does not change it, not even at its {tipping.end} "
                f"({rows})."
            )
        return (
            f"none of the {count} {whole} changes it, not even all ({rows}) at their "
            f"{tipping.end}."
        )
    rows = f"{tipping.rows} row{'s' * (tipping.rows != 1)}"
    if count == 1:
        return f"the {whole} ({rows}), at its {tipping.end}, would make it " + (
            f"{tipping.status}."
        )
    return (
        f"{tipping.questions} of the {count} {whole} ({rows}), at their "
        f"{tipping.end}, would make it {tipping.status}."
    )


def _fragility_sentence(fragile: Fragility) -> str:
    side = fragile.end
    if fragile.answers is None:
        return f"not even the {side} score in all answers changes it."
    plural = "s" * (fragile.answers != 1)
    return (
        f"{fragile.answers} other answer{plural} of the variant, at the {side} score, "
        f"would make it {fragile.status}."
    )
