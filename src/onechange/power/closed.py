"""Textbook power of a rule: paired t, or McNemar for scores of 0 and 1."""

from __future__ import annotations

import math
from dataclasses import dataclass

from onechange.errors import MethodError
from onechange.plan import Guardrail, Primary
from onechange.stats.power import (
    mcnemar_power,
    mcnemar_questions,
    paired_t_power,
    paired_t_questions,
    paired_t_smallest_delta,
)

__all__ = ["ClosedForm", "closed_form", "gap_to_threshold", "why_impossible"]

LEAST_POWER_SEARCH = 1e-6
HIGH_MISSING_SHARE = 0.2  # above it a pass needs bounds, of which no formula knows


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """Figures of a formula.

    Parameters
    ----------
    method : str
        ``paired t`` or ``McNemar (mid-p)``.
    power : float or None
        With the questions at hand.
    questions : int
        For the target power, those that end without a pair among them.
    smallest_delta : float or None
        Distance between truth and threshold that the questions at hand find.
    """

    method: str
    power: float | None
    questions: int
    smallest_delta: float | None


def gap_to_threshold(rule: Primary | Guardrail, delta: float, direction: str) -> float:
    """Return how far the truth is on the passing side of a rule's threshold.

    Parameters
    ----------
    rule : Primary or Guardrail
        With an absolute margin.
    delta : float
        True variant minus baseline.
    direction : str
        ``higher`` or ``lower`` is better.

    Returns
    -------
    float
        In the metric's unit; 0 or less where no number of questions is enough.

    Examples
    --------
    >>> gap_to_threshold(Guardrail("latency_ms", margin=80.0), 20.0, "lower")
    60.0
    """
    improvement = delta if direction == "higher" else -delta
    if isinstance(rule, Primary):
        return improvement - rule.min_improvement
    if not isinstance(rule.margin, float | int):
        raise MethodError(
            "power needs a margin in the metric's unit; give --margin as a number."
        )
    if rule.role == "equivalence":
        return float(rule.margin) - abs(improvement)
    return float(rule.margin) + improvement


def why_impossible(
    rule: Primary | Guardrail, delta: float, direction: str
) -> str | None:
    """Say why no number of questions makes a rule pass; None where some may.

    Parameters
    ----------
    rule, delta, direction
        As for `gap_to_threshold`.

    Returns
    -------
    str or None
        A clause.

    Examples
    --------
    >>> why_impossible(Primary("latency_ms"), 20.0, "lower")
    'latency_ms is better when lower, so a delta of +20 is a worsening'
    """
    if gap_to_threshold(rule, delta, direction) > 0:
        return None
    improvement = delta if direction == "higher" else -delta
    if isinstance(rule, Primary):
        if improvement == 0:
            return "a delta of 0 is no improvement"
        if improvement < 0:
            return (
                f"{rule.metric} is better when {direction}, so a delta of {delta:+g} "
                "is a worsening"
            )
        return (
            f"an improvement of {improvement:g} does not exceed the least improvement "
            f"{rule.min_improvement:g}"
        )
    change = abs(delta) if rule.role == "equivalence" else 0.0 - improvement
    kind = "change" if rule.role == "equivalence" else "worsening"
    if change == rule.margin:
        return f"a {kind} of {change:g} lies exactly at the margin, which seldom passes"
    return f"a {kind} of {change:g} is beyond the margin {rule.margin:g}"


def closed_form(
    rule: Primary | Guardrail,
    delta: float,
    direction: str,
    *,
    sd: float | None,
    discordance: float | None,
    n_questions: int | None,
    confidence_level: float,
    target: float,
    missing_rate: float = 0.0,
) -> ClosedForm | None:
    """Evaluate the formula that fits a rule.

    Parameters
    ----------
    rule, delta, direction
        As for `gap_to_threshold`.
    sd : float or None
        SD of one paired difference; of clustered questions, times the root of the
        design effect.
    discordance : float or None
        Share of pairs that differ, for scores of 0 and 1.
    n_questions : int or None
        Questions at hand.
    confidence_level : float
        Two-sided level of the deciding interval.
    target : float
        Wanted power.
    missing_rate : float
        Share of the questions that end without a pair; so many more are needed.

    Returns
    -------
    ClosedForm or None
        None where the truth is not on the passing side, nothing varies, or so many
        scores are missing that a pass needs bounds.
    """
    gap = gap_to_threshold(rule, delta, direction)
    alpha = 1 - confidence_level
    if not gap > 0 or missing_rate > HIGH_MISSING_SHARE:
        return None
    paired = 1 - missing_rate
    n_pairs = None if n_questions is None else round(n_questions * paired)
    plain = isinstance(rule, Primary) and rule.min_improvement == 0
    if discordance is not None and plain:
        if abs(delta) > discordance * (1 + 1e-9):
            return None
        discordance = max(discordance, abs(delta))
        return ClosedForm(
            "McNemar (mid-p)",
            _mcnemar(n_pairs, discordance, abs(delta), alpha),
            math.ceil(
                mcnemar_questions(discordance, delta, power=target, alpha=alpha)
                / paired
            ),
            None
            if n_pairs is None
            else _smallest_mcnemar(max(n_pairs, 1), discordance, alpha, target),
        )
    if sd is None and discordance is not None:
        sd = math.sqrt(max(discordance - delta**2, 0.0))
    if not sd:
        return None
    enough = n_pairs is not None and n_pairs >= 2
    return ClosedForm(
        "paired t",
        paired_t_power(n_pairs, gap / sd, alpha=alpha) if enough and n_pairs else None,
        math.ceil(paired_t_questions(gap / sd, power=target, alpha=alpha) / paired),
        paired_t_smallest_delta(n_pairs, sd, power=target, alpha=alpha)
        if enough and n_pairs
        else None,
    )


def _mcnemar(
    n_pairs: int | None, discordance: float, delta: float, alpha: float
) -> float | None:
    if n_pairs is None or n_pairs < 1:
        return None
    better, worse = (discordance + delta) / 2, (discordance - delta) / 2
    # one-sided at half the level: a pass is an improvement that is shown
    return mcnemar_power(
        n_pairs, better, max(worse, 0.0), alpha=alpha / 2, alternative="greater"
    )


def _smallest_mcnemar(
    n_pairs: int, discordance: float, alpha: float, target: float
) -> float | None:
    from scipy.optimize import brentq

    def gap(delta: float) -> float:
        return (_mcnemar(n_pairs, discordance, delta, alpha) or 0.0) - target

    if gap(discordance) < 0:
        return None
    return float(brentq(gap, 0.0, discordance, xtol=LEAST_POWER_SEARCH))
