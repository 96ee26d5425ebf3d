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

__all__ = ["ClosedForm", "closed_form", "gap_to_threshold"]

LEAST_POWER_SEARCH = 1e-6


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
        For the target power.
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


def closed_form(
    rule: Primary | Guardrail,
    delta: float,
    direction: str,
    *,
    sd: float | None,
    discordance: float | None,
    n_pairs: int | None,
    confidence_level: float,
    target: float,
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
    n_pairs : int or None
        Questions at hand.
    confidence_level : float
        Two-sided level of the deciding interval.
    target : float
        Wanted power.

    Returns
    -------
    ClosedForm or None
        None where the truth is not on the passing side, or nothing varies.
    """
    gap = gap_to_threshold(rule, delta, direction)
    alpha = 1 - confidence_level
    if not gap > 0:
        return None
    plain = isinstance(rule, Primary) and rule.min_improvement == 0
    if discordance is not None and plain:
        if abs(delta) > discordance:
            return None
        return ClosedForm(
            "McNemar (mid-p)",
            _mcnemar(n_pairs, discordance, abs(delta), alpha),
            math.ceil(mcnemar_questions(discordance, delta, power=target, alpha=alpha)),
            None
            if n_pairs is None
            else _smallest_mcnemar(n_pairs, discordance, alpha, target),
        )
    if sd is None and discordance is not None:
        sd = math.sqrt(max(discordance - delta**2, 0.0))
    if not sd:
        return None
    enough = n_pairs is not None and n_pairs >= 2
    return ClosedForm(
        "paired t",
        paired_t_power(n_pairs, gap / sd, alpha=alpha) if enough and n_pairs else None,
        math.ceil(paired_t_questions(gap / sd, power=target, alpha=alpha)),
        paired_t_smallest_delta(n_pairs, sd, power=target, alpha=alpha)
        if enough and n_pairs
        else None,
    )


def _mcnemar(
    n_pairs: int | None, discordance: float, delta: float, alpha: float
) -> float | None:
    if n_pairs is None:
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
