"""`power`: pilot files and an alternative -> questions and trials it takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from onechange.compare import compare
from onechange.errors import MethodError, PlanError
from onechange.plan import (
    BUILT_IN_RATES,
    Analysis,
    Guardrail,
    Plan,
    Primary,
    did_you_mean,
)
from onechange.power.closed import HIGH_MISSING_SHARE
from onechange.power.formula import by_formula, direction_of
from onechange.power.pilot import Pilot, make_pilot
from onechange.power.result import PowerResult
from onechange.power.run import PowerRun, Progress
from onechange.read import read
from onechange.results import Results
from onechange.stats.estimate import Note

if TYPE_CHECKING:
    import pandas as pd

    from onechange.comparison import Comparison

    Source = str | Path | Results | pd.DataFrame

__all__ = ["power"]


def power(
    baseline: Source | None,
    variant: Source | None = None,
    *,
    metric: str,
    delta: float | None = None,
    plan: Plan | None = None,
    min_improvement: float | None = None,
    margin: float | None = None,
    target: float = 0.8,
    questions: Sequence[int] = (),
    trials: Sequence[int] = (),
    missing_rate: float | None = None,
    comparisons: int = 1,
    sd: float | None = None,
    discordance: float | None = None,
    n_simulations: int = 1000,
    seed: int = 7,
    progress: Progress | None = None,
) -> PowerResult:
    """Find how many questions and trials a rule takes to pass.

    Parameters
    ----------
    baseline, variant : path, DataFrame or Results, optional
        The pilot. Without a variant, two trials of the baseline stand in for it
        (A/A), unless `sd` or `discordance` is given.
    metric : str
        The metric of the rule.
    delta : float, optional
        True variant minus baseline, in the metric's unit; 0 for a guardrail.
    plan : Plan, optional
        Columns, ranges, level and rules; the rule on `metric` is taken from it.
    min_improvement, margin : float, optional
        A rule in place of that of the plan: a primary, or a guardrail.
    target : float
        Wanted probability to pass.
    questions, trials : sequence of int
        Designs to simulate; by default around what the formula names.
    missing_rate : float, optional
        Share of questions that end without a pair; by default as in the pilot.
    comparisons : int
        Rules or variants that must hold together: each is decided at the level
        1 − (1 − level)/comparisons.
    sd, discordance : float, optional
        SD of one paired difference, or share of pairs of 0 and 1 that differ, in
        place of a pilot: formulas alone, for one number of questions, without trials.
    n_simulations, seed : int
        Experiments per design, and the seed of all.
    progress : callable, optional
        Called with the designs done and the designs in all.

    Returns
    -------
    PowerResult

    Raises
    ------
    OnechangeError
        When a source cannot be read, the metric is not there, or the alternative
        cannot be made of the pilot.

    Notes
    -----
    The decision rule of `decide` is applied to experiments drawn from the pilot, see
    `onechange.power.pass_probability`; the number of questions is interpolated
    between the simulated ones on the probit scale.

    Examples
    --------
    >>> planned = power(None, metric="score", delta=0.1, sd=0.35)
    >>> planned.questions_needed
    99
    """
    rule, true_delta = _rule(metric, plan, delta, min_improvement, margin)
    _check(target, comparisons, n_simulations, missing_rate, sd, discordance)
    asked = (plan or Plan()).analysis
    _check_resampling(asked)
    analysis = _shared_level(asked, comparisons)
    _check_designs(questions, trials)
    if sd is not None or discordance is not None:
        _check_formula(variant, plan, sd, discordance, questions, trials, missing_rate)
        if baseline is not None:
            _only(_arm(baseline, plan or Plan(), "baseline"), _columns(metric, plan))
        return by_formula(
            rule,
            true_delta,
            direction_of(metric, plan),
            analysis,
            sd=sd,
            discordance=discordance,
            n_questions=questions[0] if questions else None,
            target=target,
            missing_rate=missing_rate or 0.0,
        )
    if baseline is None:
        raise MethodError(
            "there is no pilot; give a baseline, or sd= (discordance= for scores of 0 "
            "and 1)."
        )
    pilot = _pilot(baseline, variant, metric, plan)
    run = PowerRun(
        pilot=pilot,
        rule=rule,
        delta=true_delta,
        analysis=analysis,
        target=target,
        missing_rate=pilot.missing_rate if missing_rate is None else missing_rate,
        n_simulations=n_simulations,
        seed=seed,
        progress=progress,
    )
    found = run.result(tuple(questions), tuple(trials))
    told = _limit_notes(rule, plan, margin)
    return replace(found, notes=(*told, *found.notes)) if told else found


def _shared_level(analysis: Analysis, comparisons: int) -> Analysis:
    """Share the error level among comparisons (Bonferroni)."""
    level = 1 - (1 - analysis.confidence_level) / comparisons
    return replace(analysis, confidence_level=level)


def _rule(
    metric: str,
    plan: Plan | None,
    delta: float | None,
    min_improvement: float | None,
    margin: float | None,
) -> tuple[Primary | Guardrail, float]:
    if margin is not None and min_improvement is not None:
        raise MethodError("give a margin or a min_improvement, not both.")
    rule: Primary | Guardrail
    if margin is not None:
        rule = Guardrail(metric, margin=margin)
    elif min_improvement is not None:
        rule = Primary(metric, min_improvement)
    else:
        rule = _planned(metric, plan) or Primary(metric)
    if delta is None and isinstance(rule, Primary):
        raise MethodError(
            f"which delta of {metric} is to be found? Give delta= (--delta), variant "
            "minus baseline in the metric's unit."
        )
    if delta is not None and not math.isfinite(delta):
        raise MethodError(f"delta is {delta}; give a finite number.")
    return rule, 0.0 if delta is None else float(delta)


def _planned(metric: str, plan: Plan | None) -> Primary | Guardrail | None:
    if plan is None:
        return None
    for primary in plan.primary:
        if primary.metric == metric:
            return primary
    rules = [rule for rule in plan.guardrails if rule.metric == metric]
    for rule in rules:
        if _not_planned(rule) is None:
            return replace(rule, limit=None)
    if rules:
        place = plan.place(("guardrail", plan.guardrails.index(rules[0]), "metric"))
        where = "" if place == "plan" else f"{place}: "
        raise MethodError(
            f"{where}the guardrail on {metric} {_not_planned(rules[0])}, and power "
            "plans for a margin of the mean over all questions, in the metric's unit; "
            "give one with margin= (--margin)."
        )
    return None


def _not_planned(rule: Guardrail) -> str | None:
    """Say why a guardrail cannot be planned for; None when its margin can."""
    if rule.statistic != "mean":
        return f"is about its {rule.statistic}"
    if rule.rule == "estimate":
        return "is decided by the point value"
    if rule.every_slice is not None:
        return "must hold in every slice"
    if rule.margin is None:
        return "has a limit alone"
    if isinstance(rule.margin, str):
        return f"has the margin {rule.margin} of the baseline"
    return None


def _limit_notes(
    rule: Primary | Guardrail, plan: Plan | None, margin: float | None
) -> tuple[Note, ...]:
    """Say that a limit beside the margin of a plan is not planned for."""
    if plan is None or margin is not None or isinstance(rule, Primary):
        return ()
    limits = [
        other.limit
        for other in plan.guardrails
        if replace(other, limit=None) == rule and other.limit is not None
    ]
    if not limits:
        return ()
    text = (
        f"The guardrail on {rule.metric} has the limit {limits[0]:g} too: it is not "
        "planned for, and may take more questions than the margin."
    )
    return (Note("limit-not-planned", text),)


def _check(
    target: float,
    comparisons: int,
    n_simulations: int,
    missing_rate: float | None,
    sd: float | None,
    discordance: float | None,
) -> None:
    if not 0 < target < 1:
        raise MethodError(f"the wanted power is {target}; give one between 0 and 1.")
    if comparisons < 1:
        raise MethodError(f"comparisons is {comparisons}; give 1 or more.")
    if n_simulations < 100:
        raise MethodError(f"n_simulations is {n_simulations}; give 100 or more.")
    if missing_rate is not None and not 0 <= missing_rate < 1:
        raise MethodError(f"missing_rate is {missing_rate}; give 0 or more, below 1.")
    if sd is not None and not sd > 0:
        raise MethodError(f"sd is {sd}; give a number above 0.")
    if discordance is not None and not 0 < discordance <= 1:
        raise MethodError(f"discordance is {discordance}; give a share above 0.")


def _check_resampling(analysis: Analysis) -> None:
    if analysis.resampling != "multinomial":
        raise MethodError(
            f'resampling is "{analysis.resampling}", and power is simulated with '
            '"multinomial" only; leave it out of the plan.'
        )


def _check_designs(questions: Sequence[int], trials: Sequence[int]) -> None:
    for name, counts, least in (("questions", questions, 2), ("trials", trials, 1)):
        for count in counts:
            if count < least:
                raise MethodError(f"{name} is {count}; give {least} or more.")


def _check_formula(
    variant: Source | None,
    plan: Plan | None,
    sd: float | None,
    discordance: float | None,
    questions: Sequence[int],
    trials: Sequence[int],
    missing_rate: float | None,
) -> None:
    """Refuse what only a pilot could tell beside an SD or a discordance."""
    name = "discordance" if sd is None else "sd"
    if sd is not None and discordance is not None:
        raise MethodError("give an sd, or a discordance for scores of 0 and 1.")
    for asked, what in (
        (variant is not None, "a variant"),
        (bool(trials), "trials"),
        (len(questions) > 1, "several numbers of questions"),
        (plan is not None and plan.columns.cluster is not None, "a cluster"),
    ):
        if asked:
            raise MethodError(
                f"{what} and {name} do not go together: {name} (--{name}) is for "
                f"planning by formula, without a pilot; leave one of them out."
            )
    if (missing_rate or 0.0) > HIGH_MISSING_SHARE:
        raise MethodError(
            f"missing_rate is {missing_rate:g}: with over 20 % a pass needs the bounds "
            "of the missing scores to agree, of which no formula knows; give a pilot."
        )


def _pilot(
    baseline: Source, variant: Source | None, metric: str, plan: Plan | None
) -> Pilot:
    given, wanted = plan or Plan(), _columns(metric, plan)
    plain = Plan(
        metrics=[m for m in given.metrics if m.name in (metric, *wanted)],
        columns=replace(given.columns, slices=()),
        analysis=given.analysis,
    )
    arms = [
        _only(_arm(source, plain, name), wanted)
        for source, name in ((baseline, "baseline"), (variant, "variant"))
        if source is not None
    ]
    comparison = compare(arms[0], arms[-1], plain)
    if len(wanted) > 1:
        _check_runs(comparison, metric)
    return make_pilot(comparison, metric, same_arm=variant is None)


def _check_runs(comparison: Comparison, metric: str) -> None:
    """Refuse a ratio whose runs may differ: no rule on it passes then."""
    for (_, name), values in comparison.values.items():
        if values.runs is not None and values.runs.differ:
            raise MethodError(
                f"{metric}: runs of {name} may differ, and the interval of a ratio "
                "does not count runs, so no rule on it passes; plan for a mean."
            )


def _columns(metric: str, plan: Plan | None) -> list[str]:
    """Name the columns that a metric is made of."""
    for part in () if plan is None else plan.metrics:
        if part.name == metric and part.numerator and part.denominator:
            return [part.numerator, part.denominator]
    return [metric]


def _arm(source: Source, plan: Plan, name: str) -> Results:
    if isinstance(source, Results):
        return source
    return read(source, columns=plan.columns, name=name)


def _only(results: Results, wanted: Sequence[str]) -> Results:
    """Leave the metrics out that are not asked for; a rate is of all rows' scores."""
    if wanted[0] in BUILT_IN_RATES:
        return results
    for metric in wanted:
        if metric not in results.metrics:
            known = [*results.metrics, *BUILT_IN_RATES]
            raise PlanError(
                f'{results.name}: "{metric}" is not a metric of the data; '
                f"{did_you_mean(metric, known)}"
            )
    return replace(results, metrics={name: results.metrics[name] for name in wanted})
