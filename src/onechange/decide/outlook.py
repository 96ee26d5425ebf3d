"""Statuses + how firm they are -> margins that could be shown, and what to do next."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from onechange.decide.decision import RuleStatus
from onechange.decide.findings import Scope
from onechange.decide.sentences import about
from onechange.decide.stability import slice_mask
from onechange.delta import Delta, metric_sample
from onechange.display import format_exact, format_number, format_percent
from onechange.sensitivity import (
    margin_check,
    normal_quantile,
    questions_needed,
    trials_needed,
)
from onechange.stats.estimate import Note
from onechange.stats.sample import PairedSample

__all__ = ["next_step", "with_margin_check"]


def with_margin_check(
    scope: Scope, status: RuleStatus, every_slice: str | None
) -> RuleStatus:
    """Add the p-value at the margin and the margins that could be shown.

    Parameters
    ----------
    scope : Scope
        What was compared.
    status : RuleStatus
        Of a guardrail.
    every_slice : str or None
        The breakdown of an every-slice guardrail.

    Returns
    -------
    RuleStatus
        Unchanged unless the margin is one on the mean.
    """
    margin, delta = status.margin, status.delta
    kind = (status.rule, status.role)
    if delta is None or margin is None or kind != ("interval", "guardrail"):
        return status
    if delta.statistic != "mean":
        return status
    interval = delta.interval
    if isinstance(margin, str):
        interval = delta.relative.interval if delta.relative else None
    check = margin_check(
        _sample(scope, delta, every_slice),
        margin,
        delta.direction,
        interval=interval,
        standard_error=delta.standard_error,
        analysis=scope.analysis(delta),
    )
    notes = status.notes
    smallest = check.smallest_margin
    if (
        smallest is not None
        and not isinstance(margin, str)
        and margin < smallest * (1 - 1e-9)
    ):
        decimals = scope.decimals.get(status.metric, 3)
        text = (
            f"The margin {format_exact(margin)} of {status.metric} is below "
            f"{format_number(smallest, decimals)}, the smallest that {delta.n_pairs} "
            "questions could show even if no answer changed."
        )
        notes = (*notes, Note("margin-below-resolution", text))
    return replace(
        status,
        pvalue_margin=check.pvalue_margin,
        smallest_margin=smallest,
        pass_probability_unchanged=check.pass_probability_unchanged,
        notes=notes,
    )


def next_step(scope: Scope, status: RuleStatus) -> tuple[int | None, str]:
    """Say what it would take for an inconclusive status to become a pass.

    Parameters
    ----------
    scope : Scope
        What was compared.
    status : RuleStatus
        An inconclusive one.

    Returns
    -------
    further_questions : int or None
        For 80 % power; None where more questions are no answer.
    sentence : str
    """
    delta = status.delta
    if delta is None:
        return None, f"{status.metric}: score it in both arms; nothing can be said yet."
    if delta.metric in scope.comparison.audits[scope.position].scale_mismatch:
        return None, f"{status.metric}: rescale one arm, or declare the metric's range."
    if status.rule == "estimate":
        return None, f"{status.metric}: score the questions that lack a score."
    few = any(
        note.code in ("too-few-questions", "few-clusters") for note in delta.notes
    )
    goal = None if few else _goal(status, delta)
    if goal is None:
        return None, f"{status.metric}: {_without_goal(delta)}"
    if goal.gap <= 0:
        return None, (
            f"{status.metric}: more data will not help unless the estimate is wrong: "
            f"{goal.beyond}."
        )
    needed = questions_needed(delta.n_pairs, goal.distance, goal.spread, goal.gap)
    if needed is None:
        return None, f"{status.metric}: more questions are needed."
    further = max(0, needed - delta.n_pairs)
    if further == 0:
        return 0, (
            f"{status.metric}: {delta.n_pairs} questions suffice in four runs of five "
            f"if {goal.assumption}; this run is one of the others, or it is not so. "
            "Repeat it, or add questions."
        )
    sentence = (
        f"{status.metric}: about {about(further)} further questions like these "
        f"would show it with 80 % probability, if {goal.assumption}"
    )
    trials = _trials(scope, delta, delta.n_pairs / needed)
    return further, f"{sentence}{trials} (approximation)."


@dataclass(frozen=True, slots=True)
class _Goal:
    """Distances, in the metric's unit, that say how many questions it takes."""

    gap: float  # from the assumed truth to the threshold
    distance: float  # from the estimate to the end of the interval that decides
    spread: float  # standard error of what the interval is about
    assumption: str
    beyond: str = ""


def _goal(status: RuleStatus, delta: Delta) -> _Goal | None:
    sign = 1.0 if delta.direction == "higher" else -1.0
    spread = delta.standard_error
    if status.role == "primary" and delta.interval is not None:
        improvement = sign * (delta.delta or 0.0)
        least = status.min_improvement or 0.0
        end = delta.interval.low if sign > 0 else -delta.interval.high
        gap = improvement - least
        return _Goal(
            gap=gap,
            distance=improvement - end,
            spread=spread or 0.0,
            assumption="the delta is as observed",
            beyond="the estimate is not above "
            + (f"the least improvement {format_exact(least)}" if least else "0"),
        )
    if isinstance(status.margin, float | int) and delta.interval is not None:
        worsening = -sign * (delta.delta or 0.0)
        end = -delta.interval.low if sign > 0 else delta.interval.high
        if status.role == "equivalence":
            worsening = abs(worsening)
            end = max(abs(delta.interval.low), abs(delta.interval.high))
        if status.margin <= worsening:
            return _Goal(0, 0, 0, "", "the estimate itself is beyond the margin")
        if end > status.margin:
            return _Goal(
                gap=float(status.margin),
                distance=end - worsening,
                spread=spread or 0.0,
                assumption="nothing changed on average",
            )
    return _limit_goal(status, delta, sign)


def _limit_goal(status: RuleStatus, delta: Delta, sign: float) -> _Goal | None:
    interval, value = delta.variant_interval, delta.variant
    if status.limit is None or interval is None or value is None:
        return None
    gap = sign * (value - status.limit)
    end = interval.low if sign > 0 else interval.high
    distance = abs(value - end)
    if not math.isfinite(distance):
        return None
    if gap <= 0:
        return _Goal(0, 0, 0, "", "the variant itself is beyond the limit")
    return _Goal(
        gap=gap,
        distance=distance,
        spread=distance / normal_quantile((1 + interval.confidence_level) / 2),
        assumption="the variant's value is as observed",
    )


def _without_goal(delta: Delta) -> str:
    for note in delta.notes:
        if note.code == "too-few-questions":
            return f"add questions: {note.text}"
        if note.code == "few-clusters":
            return f"add clusters: {note.text}"
        if note.code == "equal-differences":
            return "declare the metric's range, so that an interval exists."
    return "more questions are needed."


def _trials(scope: Scope, delta: Delta, factor: float) -> str:
    """Say how many trials would do instead; empty where they would not."""
    rows = [row for row in scope.comparison.trials if row.metric == delta.metric]
    if len(rows) != len(scope.comparison.variants) or delta.slice is not None:
        return ""
    row = rows[scope.position]
    arms = (row.baseline, row.variant)
    counts = [sum(mean is not None for mean in arm.means) for arm in arms]
    deviations = [arm.within_question_sd for arm in arms]
    if min(counts) < 2 or counts[0] != counts[1] or not delta.standard_error:
        return ""
    variance = 0.0
    for deviation, count in zip(deviations, counts, strict=True):
        if deviation is None:
            return ""
        variance += deviation**2 / count / delta.n_pairs
    share = min(1.0, variance / delta.standard_error**2)
    wanted = trials_needed(counts[0], share, factor)
    if wanted is None:
        of_it = format_percent(share, 0)
        return f"; more trials alone would not (runs make {of_it} of the variance)"
    return f", or {wanted} trials instead of {counts[0]}"


def _sample(scope: Scope, delta: Delta, every_slice: str | None) -> PairedSample:
    values = scope.comparison.values[scope.variant_name, delta.metric]
    mask = slice_mask(scope, delta, every_slice, values.paired.size)
    return metric_sample(values, mask)
