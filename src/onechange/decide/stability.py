"""Statuses -> how many missing scores or other answers would change them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onechange.decide.decision import RuleStatus, rule_names
from onechange.decide.findings import Scope
from onechange.decide.withheld import scores_of, withheld_pass
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
from onechange.slice_sizes import few_questions
from onechange.slices import labels_questions, small_label
from onechange.status import Status

__all__ = ["slice_mask", "stability_sentences", "with_stability"]

DECISIVE = {
    "ship": Status.PASS,
    "do not ship": Status.FAIL,
    "inconclusive": Status.INCONCLUSIVE,
}

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
        fragility=fragility(
            rule,
            scores,
            reported,
            analysis,
            withheld=withheld_pass(scope, rule, delta, values, questions, analysis),
        ),
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
        least = scope.plan.analysis.min_slice
        labels = {row.slice for row in rows if few_questions(row, least) and row.slice}
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
        The smallest number of questions with missing scores, and the smallest number
        of other answers, whose rule would change the decision; of equal numbers the
        one with the worst outcome, and then the first, is named first.
    """
    named = list(zip(statuses, rule_names(statuses), strict=True))
    tipped = [
        _Change(status.status, name, tipping.questions, tipping.status, tipping)
        for status, name in named
        if (tipping := status.tipping) is not None
    ]
    flipped = [
        _Change(status.status, name, fragile.answers, fragile.status, fragile)
        for status, name in named
        if (fragile := status.fragility) is not None
    ]
    sentences = []
    for changes in (tipped, flipped):
        found = _first_named(changes, decision)
        if found is not None:
            sentences.append(found)
    failing = sum(status.status is Status.FAIL for status in statuses)
    if decision == "do not ship" and failing > 1 and sentences:
        sentences.append(
            f"{failing} rules fail, and the decision changes only with all of them."
        )
    return sentences


@dataclass(frozen=True, slots=True)
class _Change:
    """How many of something change the status of one rule, and to what."""

    status: Status
    name: str
    count: int | None
    becomes: Status | None
    found: TippingPoint | Fragility

    @property
    def rank(self) -> tuple[float, bool]:
        """Small numbers first; of equal ones those that end in a fail."""
        count = float("inf") if self.count is None else self.count
        return count, self.becomes is not Status.FAIL


def _first_named(changes: Sequence[_Change], decision: str) -> str | None:
    """Write the change that is nearest to changing the decision, and its equals."""
    decisive = DECISIVE[decision]
    able = [change for change in changes if _changes(decision, change)]
    able = able or [change for change in changes if change.status is decisive]
    if not able:
        return None
    first = min(able, key=lambda change: change.rank)
    found = first.found
    if isinstance(found, TippingPoint):
        sentence = _tipping_sentence(found)
    else:
        sentence = _fragility_sentence(found)
    equals = [c.name for c in able if c is not first and c.count == first.count]
    if first.count is not None and equals:
        sentence = f"{sentence.rstrip('.')}; as few change {_listed(equals)}."
    return f"{first.name}: {sentence}"


def _changes(decision: str, change: _Change) -> bool:
    """Whether a rule that changes so would, by itself, change the decision."""
    if change.becomes is None:
        return False
    if decision == "inconclusive":
        return change.becomes is Status.FAIL
    return change.status is DECISIVE[decision]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _scores(values: MetricValues, direction: str, questions: BoolArray) -> Scores:
    use = values.complete & questions
    others = np.isfinite(values.variant) & questions & ~use
    clusters = values.clusters
    return replace(
        scores_of(values, use, direction),
        further_variant=values.variant[others],
        further_clusters=None if clusters is None else clusters[others],
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
            strata=None if values.strata is None else values.strata[lacking],
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


def _tipping_sentence(tipping: TippingPoint) -> str:
    count = tipping.n_questions
    if count == 0:
        return "no score is missing that could change it."
    whole = f"question{'s' * (count != 1)} with missing scores"
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
    if count == 1:
        end = f"at its {tipping.end}"
        return f"the {whole} ({rows}), {end}, would make it {tipping.status}."
    return (
        f"{tipping.questions} of the {count} {whole} ({tipping.rows} of their {rows}), "
        f"at their {tipping.end}, would make it {tipping.status}."
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
