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
from onechange.plan import relative_margin
from onechange.sensitivity import (
    MarginCheck,
    margin_check,
    normal_quantile,
    questions_needed,
    questions_of_design,
    resampled_margin_check,
    trials_of_design,
)
from onechange.statistic_deltas import loss_values
from onechange.stats.estimate import Note
from onechange.stats.projection import Contributions
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
        Unchanged where the point value decides, and for ratio metrics.
    """
    margin, delta = status.margin, status.delta
    if delta is None or margin is None or status.rule != "interval":
        return status
    check = _check(scope, status, delta, margin, every_slice)
    if check is None:
        return status
    return replace(
        status,
        pvalue_margin=check.pvalue_margin,
        smallest_margin=check.smallest_margin,
        pass_probability_unchanged=check.pass_probability_unchanged,
        notes=(*status.notes, *_resolution_notes(scope, delta, margin, check)),
    )


def _check(
    scope: Scope,
    status: RuleStatus,
    delta: Delta,
    margin: float | str,
    every_slice: str | None,
) -> MarginCheck | None:
    """Check a margin on the statistic of its rule; None where it cannot be."""
    interval, estimate = delta.interval, delta.delta
    if isinstance(margin, str):
        relative = delta.relative
        interval = relative.interval if relative else None
        estimate = relative.delta if relative else None
    both_sides = status.role == "equivalence"
    key = (scope.variant_name, delta.metric, delta.statistic, delta.slice)
    draws = scope.comparison.resamples.get(key)
    if draws is not None and estimate is not None:
        return resampled_margin_check(
            draws.relative if isinstance(margin, str) else draws.absolute,
            estimate,
            margin,
            delta.direction,
            interval=interval,
            both_sides=both_sides,
        )
    corrected = any(row.corrected is delta for row in scope.comparison.labelled)
    if corrected or delta.statistic not in ("mean", "loss_rate"):
        return None
    return margin_check(
        _sample(scope, delta, every_slice),
        margin,
        delta.direction,
        interval=interval,
        standard_error=delta.standard_error,
        analysis=scope.analysis(delta),
        both_sides=both_sides,
    )


def _resolution_notes(
    scope: Scope, delta: Delta, margin: float | str, check: MarginCheck
) -> tuple[Note, ...]:
    """Note a margin that could not pass even if no answer changed."""
    smallest = check.smallest_margin
    size = relative_margin(margin) if isinstance(margin, str) else margin
    if smallest is None or size >= smallest * (1 - 1e-9):
        return ()
    decimals = scope.decimals.get(delta.metric, 3)
    if isinstance(margin, str):
        shown, least = margin, format_percent(smallest)
    else:
        shown, least = format_exact(margin), format_number(smallest, decimals)
    text = (
        f"The margin {shown} of {delta.metric} is below {least}, the smallest that "
        f"{delta.n_pairs} questions could show even if no answer changed."
    )
    return (Note("margin-below-resolution", text),)


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
    if delta.statistic == "corrected":
        return None, (
            f"{status.metric}: label further questions in both arms; the interval of "
            "the corrected delta narrows with the labels first."
        )
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
    return _what_it_takes(scope, delta, goal)


@dataclass(frozen=True, slots=True)
class _Goal:
    """Distances, in the metric's unit, that say how many questions it takes."""

    gap: float  # from the assumed truth to the threshold
    distance: float  # from the estimate to the end of the interval that decides
    spread: float  # standard error of what the interval is about
    assumption: str
    beyond: str = ""
    about_delta: bool = True  # or about the variant's own value


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
        about_delta=False,
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


def _what_it_takes(scope: Scope, delta: Delta, goal: _Goal) -> tuple[int | None, str]:
    """Name the questions, or the trials, that would do."""
    parts = _parts(scope, delta) if goal.about_delta else None
    level = scope.analysis(delta).confidence_level
    runs_count = delta.interval is not None and delta.interval.method == "two-way"
    trials = None
    if parts is not None:
        trials = trials_of_design(
            parts, goal.gap, goal.distance, confidence_level=level
        )
    if parts is not None and runs_count:
        needed = questions_of_design(
            parts, goal.gap, goal.distance, confidence_level=level
        )
    else:
        needed = questions_needed(delta.n_pairs, goal.distance, goal.spread, goal.gap)
    if needed is not None and needed <= delta.n_pairs:
        return 0, (
            f"{delta.metric}: {delta.n_pairs} questions suffice in four runs of five "
            f"if {goal.assumption}; this run is one of the others, or it is not so. "
            "Repeat it, or add questions."
        )
    ways = []
    if needed is not None:
        ways.append(
            f"about {about(needed - delta.n_pairs)} further questions like these"
        )
    if trials is not None and parts is not None:
        ways.append(f"{trials} trials instead of {parts.n_trials[0]}")
    further = None if needed is None else needed - delta.n_pairs
    if not ways:
        return further, f"{delta.metric}: {_no_way(parts)}"
    would = f"would show it with 80 % probability, if {goal.assumption}"
    alone = ""
    if parts is not None and len(ways) == 1:
        other = "trials" if trials is None else "questions"
        alone = f"; more {other} alone would not"
    return (
        further,
        f"{delta.metric}: {' or '.join(ways)} {would}{alone} (approximation).",
    )


def _no_way(parts: Contributions | None) -> str:
    if parts is None:
        return "more questions are needed."
    return "neither more questions nor more trials alone would show it; add both."


def _parts(scope: Scope, delta: Delta) -> Contributions | None:
    """Parts of the variance of an overall delta; None where trials do not tell."""
    rows = [row for row in scope.comparison.trials if row.metric == delta.metric]
    if len(rows) != len(scope.comparison.variants) or delta.slice is not None:
        return None
    found = rows[scope.position].delta
    return None if found is None or delta.statistic != "mean" else found.parts


def _sample(scope: Scope, delta: Delta, every_slice: str | None) -> PairedSample:
    values = scope.comparison.values[scope.variant_name, delta.metric]
    mask = slice_mask(scope, delta, every_slice, values.paired.size)
    if delta.statistic == "loss_rate":
        metrics = scope.comparison.metrics
        metric = next(m for m in metrics if m.name == delta.metric)
        threshold, direction = metric.threshold or 0.0, metric.direction or "higher"
        values = loss_values(values, threshold, direction)
    return metric_sample(values, mask)
