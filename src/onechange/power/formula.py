"""Power by formula alone, where an SD or a discordance stands in for a pilot."""

from __future__ import annotations

from onechange.display import format_percent
from onechange.plan import BUILT_IN_RATES, Analysis, Guardrail, Plan, Primary
from onechange.plan.directions import infer_direction
from onechange.power.closed import closed_form, why_impossible
from onechange.power.result import PowerResult
from onechange.power.run import rule_text
from onechange.stats.estimate import Note

__all__ = ["by_formula", "direction_of"]


def direction_of(metric: str, plan: Plan | None) -> str:
    """Direction of a metric: declared, built in, or by its name.

    Parameters
    ----------
    metric : str
    plan : Plan or None

    Examples
    --------
    >>> direction_of("latency_ms", None), direction_of("answered", None)
    ('lower', 'higher')
    """
    for part in () if plan is None else plan.metrics:
        if part.name == metric and part.direction is not None:
            return part.direction
    return BUILT_IN_RATES.get(metric) or infer_direction(metric)


def by_formula(
    rule: Primary | Guardrail,
    delta: float,
    direction: str,
    analysis: Analysis,
    *,
    sd: float | None,
    discordance: float | None,
    n_questions: int | None,
    target: float,
    missing_rate: float,
) -> PowerResult:
    """Find the questions that a rule takes from a formula alone.

    Parameters
    ----------
    rule : Primary or Guardrail
        With an absolute margin.
    delta : float
        True variant minus baseline, in the metric's unit.
    direction : str
        ``higher`` or ``lower`` is better.
    analysis : Analysis
        Its level decides.
    sd, discordance : float or None
        SD of one paired difference, or share of pairs of 0 and 1 that differ.
    n_questions : int or None
        Questions of which the power and the smallest delta are wanted.
    target : float
        Wanted probability to pass.
    missing_rate : float
        Share of the questions that end without a pair.

    Returns
    -------
    PowerResult
        Without simulated points.
    """
    found = closed_form(
        rule,
        delta,
        direction,
        sd=sd,
        discordance=discordance,
        n_questions=n_questions,
        confidence_level=analysis.confidence_level,
        target=target,
        missing_rate=missing_rate,
    )
    reason = why_impossible(rule, delta, direction)
    if found is None and reason is None and discordance is not None:
        reason = (
            f"pairs of which {format_percent(discordance, 1)} differ cannot make a "
            f"delta of {delta:g}"
        )
    return PowerResult(
        metric=rule.metric,
        direction=direction,
        rule=rule_text(rule),
        delta=delta,
        target=target,
        n_pairs=None,
        n_clusters=None,
        n_trials=1,
        pilot_delta=None,
        pilot_sd=sd,
        discordance=discordance,
        same_arm=False,
        missing_rate=missing_rate,
        confidence_level=analysis.confidence_level,
        points=(),
        trial_points=(),
        questions_needed=None if found is None else found.questions,
        trials_needed=None,
        smallest_delta=None if found is None else found.smallest_delta,
        n_questions=n_questions,
        closed_form=found,
        n_simulations=0,
        seed=0,
        notes=(Note("formula-only", "No pilot: the figures are those of a formula."),),
        reason=reason,
    )
