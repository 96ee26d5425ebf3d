"""`Comparison` + `Plan` -> statuses and `Decision`; no statistics here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onechange.compare import Comparison
from onechange.decide.change import (
    change_notes,
    change_objections,
    change_steps,
    check_question_set,
)
from onechange.decide.decision import Decision, RuleStatus, rule_names
from onechange.decide.findings import Scope
from onechange.decide.next_steps import next_step
from onechange.decide.outlook import with_margin_check
from onechange.decide.rule_table import printed_decimals
from onechange.decide.rules import guardrail_status, primary_rule_status
from onechange.decide.several import Decisions
from onechange.decide.stability import stability_sentences, with_stability
from onechange.display import format_percent
from onechange.errors import PlanError
from onechange.plan import Guardrail, Plan, Primary
from onechange.stats.estimate import Note
from onechange.status import Status

__all__ = ["decide", "decide_each"]


def decide(
    comparison: Comparison,
    plan: Plan | None = None,
    *,
    variant: str | None = None,
    stability: bool = True,
) -> Decision:
    """Apply the plan's rules to a comparison.

    Parameters
    ----------
    comparison : Comparison
        What `compare` computed.
    plan : Plan, optional
        The rules; by default those of the comparison.
    variant : str, optional
        Which variant, when several were compared.
    stability : bool, default True
        Also find tipping points and fragility, which takes most of the time.

    Returns
    -------
    Decision
        Any ``fail``: *do not ship*; all ``pass``: *ship*; else *inconclusive*. A plan
        without a primary is a no-harm check.

    Raises
    ------
    PlanError
        When the plan has no rules, names something that was not compared, or is for
        another question set.

    Examples
    --------
    >>> import pandas as pd
    >>> import onechange as oc
    >>> ids = [f"q{i}" for i in range(40)]
    >>> before = pd.DataFrame({"question_id": ids, "correct": [0, 1, 0, 0] * 10})
    >>> after = pd.DataFrame({"question_id": ids, "correct": [1, 1, 1, 0] * 10})
    >>> plan = oc.Plan("correct")
    >>> oc.decide(oc.compare(before, after, plan)).decision
    'ship'
    """
    rules = comparison.plan if plan is None else plan
    position = _position(comparison, variant)
    _check_plan(comparison, rules)
    check_question_set(comparison, rules, position)
    scope = Scope(comparison, rules, position, printed_decimals(comparison, rules))
    statuses, steps = _outlook(scope, _statuses(scope, stability=stability))
    objections = change_objections(comparison, rules, position)
    word = _decision(rules, statuses, objections)
    return Decision(
        decision=word,
        reason=_reason(word, statuses, objections),
        statuses=tuple(statuses),
        comparison=comparison,
        plan=rules,
        next_steps=(*change_steps(comparison, rules, position), *steps)
        if word == "inconclusive"
        else (),
        tipping_points=tuple(stability_sentences(statuses, word)),
        notes=(
            *(Note("plan-deviation", text) for text in rules.deviations),
            *change_notes(comparison, rules, position),
            *_joint_note(comparison),
        ),
        variant_name=scope.variant_name,
    )


def decide_each(comparison: Comparison, plan: Plan | None = None) -> Decisions:
    """Apply the plan's rules to every variant of a comparison.

    Parameters
    ----------
    comparison : Comparison
        What `compare` computed.
    plan : Plan, optional
        The rules; by default those of the comparison.

    Returns
    -------
    Decisions
        One per variant, in their order, at the level at which all hold together.
    """
    return Decisions(
        decide(comparison, plan, variant=arm.name) for arm in comparison.variants
    )


def _joint_note(comparison: Comparison) -> tuple[Note, ...]:
    """Say at which level each of several variants is decided."""
    levels = sorted({row.confidence_level for row in comparison.joint})
    if not levels:
        return ()
    shown = " and ".join(format_percent(round(level, 4)) for level in levels)
    if len(comparison.variants) == 1:
        text = (
            f"One of {len(comparison.joint)} primaries is enough, so each is decided "
            f"at the level at which all intervals hold together ({shown})."
        )
        return (Note("best-of-many", text),)
    text = (
        f"{len(comparison.variants)} variants are compared with one baseline, so each "
        f"is decided at the level at which all intervals hold together ({shown})."
    )
    return (Note("best-of-many", text),)


def _position(comparison: Comparison, variant: str | None) -> int:
    names = [arm.name for arm in comparison.variants]
    if variant is None and len(names) > 1:
        raise PlanError(
            f"the comparison has several variants ({', '.join(names)}); name one, "
            "or use decide_each."
        )
    if variant is None:
        return 0
    if variant not in names:
        raise PlanError(
            f'"{variant}" is not a variant of the comparison; choose one of '
            f"{', '.join(names)}."
        )
    return names.index(variant)


def _check_plan(comparison: Comparison, plan: Plan) -> None:
    if not plan.has_rules:
        place = plan.places.get(())
        where = f"{place}: " if place else ""
        raise PlanError(
            f"{where}nothing says what to decide; give the plan a primary or a "
            "guardrail."
        )
    if plan is comparison.plan:
        return
    if len(comparison.variants) > 1:
        raise PlanError(
            "several variants are decided at the level at which all hold together, "
            "which needs the rules; call compare(baseline, variants, plan) first."
        )
    if plan.analysis != comparison.plan.analysis:
        raise PlanError(
            "the plan has other analysis settings than the comparison was made with; "
            "call compare(baseline, variant, plan) first."
        )
    labels = [
        {metric.name: metric.labels for metric in rules.metrics if metric.labels}
        for rules in (plan, comparison.plan)
    ]
    if labels[0] != labels[1]:
        raise PlanError(
            "the plan names other human labels than the comparison was made with; "
            "call compare(baseline, variant, plan) first."
        )
    if plan.thresholds != comparison.plan.thresholds:
        raise PlanError(
            "the plan has other thresholds of the diagnosis than the comparison was "
            "made with; call compare(baseline, variant, plan) first."
        )
    if plan.analysis.primaries == "any" and {p.metric for p in plan.primary} != {
        p.metric for p in comparison.plan.primary
    }:
        raise PlanError(
            "primaries of which any may pass are decided at the level at which all "
            "hold together, which the comparison computes; call compare(baseline, "
            "variant, plan) first."
        )
    missing = [spec.name for spec in plan.slices if spec not in comparison.plan.slices]
    if missing:
        raise PlanError(
            f"the slices {', '.join(missing)} of the plan were not compared; call "
            "compare(baseline, variant, plan) first."
        )


def _statuses(scope: Scope, *, stability: bool) -> list[RuleStatus]:
    """Apply every rule: the primaries, then the guardrails."""
    rules: list[tuple[Primary | Guardrail, RuleStatus]] = []
    for primary in scope.plan.primary:
        rules.append((primary, primary_rule_status(scope, primary)))
    for guardrail in scope.plan.guardrails:
        status = guardrail_status(scope, guardrail)
        status = with_margin_check(scope, status, guardrail.every_slice)
        rules.append((guardrail, status))
    if not stability:
        return [status for _, status in rules]
    return [with_stability(scope, rule, status) for rule, status in rules]


def _outlook(
    scope: Scope, statuses: Sequence[RuleStatus]
) -> tuple[list[RuleStatus], list[str]]:
    """Add to each inconclusive status what it would take."""
    found, steps = [], []
    for status, name in zip(statuses, rule_names(statuses), strict=True):
        if status.status is Status.INCONCLUSIVE:
            further, sentence = next_step(scope, status, name)
            steps.append(sentence)
            found.append(replace(status, further_questions=further))
        else:
            found.append(status)
    return found, steps


def _decision(
    plan: Plan, statuses: Sequence[RuleStatus], objections: Sequence[str]
) -> str:
    primaries = [row.status for row in statuses if row.role == "primary"]
    others = [row.status for row in statuses if row.role != "primary"]
    any_will_do = plan.analysis.primaries == "any" and Status.PASS in primaries
    if any_will_do and Status.FAIL not in primaries:
        primaries = [Status.PASS]
    both = (*primaries, *others)
    if Status.FAIL in both:
        return "do not ship"
    if Status.INCONCLUSIVE in both or objections:
        return "inconclusive"
    return "ship"


def _reason(
    word: str, statuses: Sequence[RuleStatus], objections: Sequence[str]
) -> str:
    guardrails = [row for row in statuses if row.role != "primary"]
    held = f"{len(guardrails)} guardrail{'s' * (len(guardrails) != 1)}"
    if word == "ship":
        improved = [row.reason for row in statuses if row.role == "primary"]
        if not improved:
            return f"All of {held} hold." if len(guardrails) > 1 else _first(guardrails)
        rest = f" {_all(held, len(guardrails))}" if guardrails else ""
        return improved[0] + rest
    wanted = Status.FAIL if word == "do not ship" else Status.INCONCLUSIVE
    decisive = [row for row in statuses if row.status is wanted]
    also = ", ".join(_names(statuses, wanted)[1:])
    if word == "do not ship":
        return _first(decisive) + (f" Also failed: {also}." if also else "")
    if objections:
        change = "; ".join(objections)
        text = f"It cannot ship as one change: {change}."
        return text + (f" {_first(decisive)}" if decisive else "")
    text = _first(decisive) + (f" Also inconclusive: {also}." if also else "")
    return text + " No rule is broken."


def _all(held: str, count: int) -> str:
    return f"The {held[2:]} holds." if count == 1 else f"All {held} hold."


def _first(rows: Sequence[RuleStatus]) -> str:
    return rows[0].reason


def _names(statuses: Sequence[RuleStatus], wanted: Status) -> list[str]:
    """Name the rules with a status; a primary is marked as one."""
    return [
        name
        if row.role != "primary" or name.endswith("(primary)")
        else f"{name} (primary)"
        for row, name in zip(statuses, rule_names(statuses), strict=True)
        if row.status is wanted
    ]
