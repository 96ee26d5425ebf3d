"""Passes that missing scores take back, if some answers of the variant were others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onechange.decide.findings import HIGH_MISSING_SHARE, Scope, missing_questions
from onechange.delta import Delta, MetricValues
from onechange.missing import filled_values, own_population, population
from onechange.plan import Analysis, Guardrail, Metric, Primary
from onechange.sensitivity import Scores, mean_status
from onechange.status import Status

__all__ = ["Withheld", "scores_of", "withheld_pass"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
Withheld = Callable[[FloatArray, bool], bool]


def withheld_pass(
    scope: Scope,
    rule: Primary | Guardrail,
    delta: Delta,
    values: MetricValues,
    questions: BoolArray,
    analysis: Analysis,
) -> Withheld | None:
    """Say whether the bounds would still agree with a pass, were some answers others.

    Parameters
    ----------
    scope : Scope
        What was compared.
    rule : Primary or Guardrail
        A rule on the mean.
    delta : Delta
        What it was decided on.
    values : MetricValues
        Question means of the metric.
    questions : ndarray of bool, shape (n_questions,)
        The questions that the delta is about.
    analysis : Analysis
        Level and name of the interval.

    Returns
    -------
    callable or None
        Takes other scores of the variant in the pairs, and whether a quick look will
        do; returns whether a pass of theirs is taken back. None where so few scores
        are missing that they take nothing back.

    Notes
    -----
    The bounds run from the low end of one filling to the high end of the other. A
    rule that asks for one end passes with the filling that is worst for it; an
    equivalence with both.
    """
    if scope.comparison.audits[scope.position].share_unmatched > HIGH_MISSING_SHARE:
        return _always
    lacking, total = missing_questions(scope, delta)
    if not total or lacking / total <= HIGH_MISSING_SHARE:
        return None
    metric = next((m for m in scope.comparison.metrics if m.name == delta.metric), None)
    if metric is None or metric.range is None:
        return _always
    fillings = _fillings(scope, rule, delta, metric, values, questions)
    pairs = np.flatnonzero(values.complete & questions)
    original = values.variant[pairs]
    parts = _parts(rule)

    def taken_back(variant: FloatArray, quick: bool) -> bool:
        other = variant != original
        chosen = pairs[other]
        return any(
            mean_status(
                part, filling.of(part, chosen, variant[other]), analysis, quick=quick
            )
            is not Status.PASS
            for filling in fillings
            for part in parts
        )

    return taken_back


def _always(_variant: FloatArray, _quick: bool) -> bool:
    """Unmatched questions, or no range, leave no bounds that could agree."""
    return True


def _parts(rule: Primary | Guardrail) -> Sequence[Primary | Guardrail]:
    """Part the margin from the limit, which have populations of their own."""
    if isinstance(rule, Primary) or rule.margin is None or rule.limit is None:
        return (rule,)
    return replace(rule, limit=None), replace(rule, margin=None)


@dataclass(frozen=True, slots=True, eq=False)
class _Filling:
    """Question means of both arms with what is missing at one end of the range.

    `applies` are the questions of the delta, `own` those of the variant's own value.
    """

    filled: MetricValues
    applies: IntArray
    own: IntArray
    direction: str

    def of(
        self, rule: Primary | Guardrail, chosen: IntArray, scores: FloatArray
    ) -> Scores:
        """Return the scores behind a rule, those of some questions replaced."""
        variant = self.filled.variant.copy()
        variant[chosen] = scores
        if isinstance(rule, Guardrail) and rule.margin is None:
            own = scores_of(self.filled, self.own, self.direction)
            alone, binary = variant[self.own], self.filled.binary_arms
            return replace(own, baseline=alone, variant=alone, binary=binary)
        found = scores_of(self.filled, self.applies, self.direction)
        return replace(found, variant=variant[self.applies])


def scores_of(
    values: MetricValues, use: BoolArray | IntArray, direction: str
) -> Scores:
    """Scores of some questions, with what their analysis needs.

    Parameters
    ----------
    values : MetricValues
        Question means of the metric.
    use : ndarray of bool or int
        The questions.
    direction : str
        ``higher`` or ``lower`` is better.

    Returns
    -------
    Scores
    """
    return Scores(
        baseline=values.baseline[use],
        variant=values.variant[use],
        direction=direction,
        clusters=None if values.clusters is None else values.clusters[use],
        score_range=values.score_range,
        tie=values.tie,
        binary=values.binary,
        runs=values.runs,
        arm_runs=values.arm_runs,
        strata=None if values.strata is None else values.strata[use],
        resampling=values.resampling,
    )


def _fillings(
    scope: Scope,
    rule: Primary | Guardrail,
    delta: Delta,
    metric: Metric,
    values: MetricValues,
    questions: BoolArray,
) -> list[_Filling]:
    pairs = scope.comparison.pairs[scope.position]
    low, high = metric.range or (0.0, 1.0)
    ends = [(low, high) if delta.direction == "higher" else (high, low)]
    if isinstance(rule, Guardrail) and rule.role == "equivalence":
        ends.append((ends[0][1], ends[0][0]))
    name, everything = metric.name, scope.plan.analysis.bounds == "all"
    whole = population(pairs, name, everything=everything)
    applies = whole & questions
    own = own_population(pairs.variant, name, applies, everything, questions)
    return [
        _Filling(
            filled=filled_values(pairs, name, values, whole, of_variant, of_baseline),
            applies=np.flatnonzero(applies),
            own=np.flatnonzero(own),
            direction=delta.direction,
        )
        for of_variant, of_baseline in ends
    ]
