"""Command-line flags -> `Plan`, alone or over a plan file (the flags win)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from onechange.errors import PlanError
from onechange.plan.keys import PlanKeyError
from onechange.plan.parts import (
    Analysis,
    Guardrail,
    Metric,
    Primary,
    relative_margin,
)
from onechange.plan.plan import Plan
from onechange.plan.slicing import SliceSpec, parse_slice
from onechange.results import Columns

__all__ = [
    "parse_direction",
    "parse_guardrail",
    "parse_primary",
    "parse_range",
    "plan_from_flags",
]


def plan_from_flags(
    plan: Plan | None = None,
    *,
    primary: str | None = None,
    guardrails: Sequence[str] = (),
    slices: Sequence[str] = (),
    metrics: Sequence[str] = (),
    directions: Sequence[str] = (),
    ranges: Sequence[str] = (),
    settings: Sequence[str] = (),
    columns: Mapping[str, str | None] | None = None,
    analysis: Mapping[str, Any] | None = None,
) -> Plan:
    """Build a plan from flags, or override a plan with them.

    Parameters
    ----------
    plan : Plan, optional
        The plan that the flags override; without one, a plan of flags alone.
    primary : str, optional
        ``NAME`` or ``NAME:MIN_IMPROVEMENT``; replaces the primary of the plan.
    guardrails : sequence of str
        ``NAME:MARGIN``; replaces a guardrail of that metric's mean, else adds one.
    slices : sequence of str
        Breakdowns as for `parse_slice`, added to those of the plan.
    metrics : sequence of str
        Only these metrics (and those the rules need).
    directions, ranges : sequence of str
        ``NAME=higher`` or ``NAME=lower``; ``NAME=LOW,HIGH``.
    settings : sequence of str
        Columns that hold a setting of the arm.
    columns : mapping of str to str or None
        ``question_id``, ``trial``, ``judge_trial``, ``status``, ``cluster``; None is
        not given.
    analysis : mapping of str to value or None
        Fields of `Analysis`; None is not given.

    Returns
    -------
    Plan
        With one line in `deviations` for each flag that changed the given plan.

    Raises
    ------
    PlanError
        When a flag is malformed; the message starts with the flag.

    Examples
    --------
    >>> plan = plan_from_flags(primary="correct", guardrails=["faithfulness:0.03"])
    >>> plan.guardrails[0].margin
    0.03
    """
    base = Plan() if plan is None else plan
    changes: dict[str, Any] = {}
    told: list[str] = []
    if primary is not None:
        changes["primary"] = (parse_primary(primary),)
        if changes["primary"] != base.primary:
            before = ", ".join(_primary_text(p) for p in base.primary) or "none"
            told.append(f"--primary {primary} (plan: {before})")
            changes["places"] = {
                key: place
                for key, place in base.places.items()
                if key[:1] != ("primary",)
            }
    changes["guardrails"] = _merge_guardrails(base.guardrails, guardrails, told)
    changes["slices"] = _merge_slices(base.slices, slices, told)
    changes["metrics"] = _merge_metrics(base.metrics, directions, ranges, told)
    changes["columns"] = _merge_columns(
        base.columns, columns or {}, tuple(metrics), tuple(settings), told
    )
    changes["analysis"] = _merge_analysis(base.analysis, analysis or {}, told)
    if plan is not None:
        changes["deviations"] = (*plan.deviations, *told)
    return replace(base, **changes)


def parse_primary(text: str) -> Primary:
    """Read ``NAME`` or ``NAME:MIN_IMPROVEMENT``.

    Examples
    --------
    >>> parse_primary("correct:0.01")
    Primary(metric='correct', min_improvement=0.01)
    """
    name, colon, rest = text.rpartition(":")
    if not colon:
        name, rest = text, "0"
    form = "write --primary NAME or NAME:MIN_IMPROVEMENT such as correct:0.01."
    number = _number("--primary", text, rest, form)
    part: Primary = _part("--primary", text, lambda: Primary(name, number))
    return part


def parse_guardrail(text: str) -> Guardrail:
    """Read ``NAME:MARGIN``, the margin a number or a percentage of the baseline.

    Examples
    --------
    >>> parse_guardrail("latency_ms:10%").margin
    '10%'
    """
    name, colon, rest = text.rpartition(":")
    form = "write --guardrail NAME:MARGIN such as faithfulness:0.02 or latency_ms:10%."
    if not colon or not name or not rest:
        raise PlanError(f'--guardrail "{text}": has no margin; {form}')
    margin: float | str = rest
    if "%" in rest:
        _part("--guardrail", text, lambda: relative_margin(rest))
    else:
        margin = _number("--guardrail", text, rest, form)
    rule: Guardrail = _part("--guardrail", text, lambda: Guardrail(name, margin=margin))
    return rule


def parse_direction(text: str) -> tuple[str, str]:
    """Read ``NAME=higher`` or ``NAME=lower``.

    Examples
    --------
    >>> parse_direction("refused=lower")
    ('refused', 'lower')
    """
    name, _, direction = text.rpartition("=")
    if not name or direction not in ("higher", "lower"):
        raise PlanError(
            f'--direction "{text}": write NAME=higher or NAME=lower such as '
            "refused=lower."
        )
    return name, direction


def parse_range(text: str) -> tuple[str, tuple[float, float]]:
    """Read ``NAME=LOW,HIGH``.

    Examples
    --------
    >>> parse_range("faithfulness=0,1")
    ('faithfulness', (0.0, 1.0))
    """
    name, _, rest = text.rpartition("=")
    ends = rest.split(",")
    form = "write NAME=LOW,HIGH such as faithfulness=0,1."
    if not name or len(ends) != 2:
        raise PlanError(f'--range "{text}": {form}')
    low, high = (_number("--range", text, end, form) for end in ends)
    _part("--range", text, lambda: Metric(name, range=(low, high)))
    return name, (low, high)


def _merge_guardrails(
    planned: tuple[Guardrail, ...], texts: Sequence[str], told: list[str]
) -> tuple[Guardrail, ...]:
    merged = list(planned)
    given: dict[str, str] = {}
    for text in texts:
        rule = parse_guardrail(text)
        if rule.metric in given:
            raise PlanError(
                f'--guardrail "{text}": "{given[rule.metric]}" is given for '
                f"{rule.metric} too; keep one."
            )
        given[rule.metric] = text
        same = [
            index
            for index, other in enumerate(merged)
            if (other.metric, other.statistic) == (rule.metric, "mean")
            and other.every_slice is None
            and other.role == "guardrail"
        ]
        if not same:
            merged.append(rule)
            told.append(f"--guardrail {text} (plan: none for {rule.metric})")
        elif merged[same[0]].margin != rule.margin:
            told.append(f"--guardrail {text} (plan: margin {merged[same[0]].margin})")
            merged[same[0]] = replace(merged[same[0]], margin=rule.margin)
    return tuple(merged)


def _merge_slices(
    planned: tuple[SliceSpec, ...], texts: Sequence[str], told: list[str]
) -> tuple[SliceSpec, ...]:
    merged = list(planned)
    for text in texts:
        spec = _part("--slice", text, lambda text=text: parse_slice(text))
        if spec not in merged:
            merged.append(spec)
            told.append(f"--slice {text} (plan: not among its slices)")
    return tuple(merged)


def _merge_metrics(
    planned: tuple[Metric, ...],
    directions: Sequence[str],
    ranges: Sequence[str],
    told: list[str],
) -> tuple[Metric, ...]:
    merged = {metric.name: metric for metric in planned}
    given: list[tuple[str, str, Any, str]] = []
    for text in directions:
        name, direction = parse_direction(text)
        given.append((name, "direction", direction, f"--direction {text}"))
    for text in ranges:
        name, ends = parse_range(text)
        given.append((name, "range", ends, f"--range {text}"))
    for name, field, value, flag in given:
        metric = merged.get(name, Metric(name))
        before = getattr(metric, field)
        if before != value:
            merged[name] = replace(metric, **{field: value})
            told.append(f"{flag} (plan: {_shown(before)})")
    return tuple(merged.values())


_COLUMN_FLAGS = {
    "question_id": "--id",
    "trial": "--trial",
    "judge_trial": "--judge-trial",
    "status": "--status",
    "cluster": "--cluster",
}


def _merge_columns(
    planned: Columns,
    named: Mapping[str, str | None],
    metrics: tuple[str, ...],
    settings: tuple[str, ...],
    told: list[str],
) -> Columns:
    changes: dict[str, Any] = {}
    for field, value in named.items():
        before = getattr(planned, field)
        if value is not None and value != before:
            changes[field] = value
            told.append(f"{_COLUMN_FLAGS[field]} {value} (plan: {_shown(before)})")
    for field, values in (("metrics", metrics), ("settings", settings)):
        before = getattr(planned, field)
        if values and values != before:
            changes[field] = values
            flag = "--metric" if field == "metrics" else "--setting"
            told.append(f"{flag} {' '.join(values)} (plan: {_shown(before)})")
    return replace(planned, **changes)


def _merge_analysis(
    planned: Analysis, given: Mapping[str, Any], told: list[str]
) -> Analysis:
    known = {field.name for field in fields(Analysis)}
    changes = {}
    for field, value in given.items():
        if field not in known:
            raise TypeError(f"Analysis has no field {field!r}")
        before = getattr(planned, field)
        if value is not None and value != before:
            changes[field] = value
            flag = "--" + field.replace("_", "-")
            told.append(f"{flag} {value} (plan: {_shown(before)})")
    try:
        return replace(planned, **changes)
    except PlanKeyError as problem:
        flag = "--" + str(problem.key[0]).replace("_", "-")
        raise PlanError(f"{flag}: {problem.text}") from problem


def _number(flag: str, text: str, number: str, form: str) -> float:
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise PlanError(f'{flag} "{text}": "{number}" is not a finite number; {form}')
    return value


def _part(flag: str, text: str, build: Any) -> Any:
    """Build a part; a problem with it is told as one of the flag."""
    try:
        return build()
    except PlanKeyError as problem:
        label = ".".join(str(part) for part in problem.key) or "it"
        raise PlanError(f'{flag} "{text}": {label} {problem.text}') from problem


def _primary_text(primary: Primary) -> str:
    least = f":{primary.min_improvement:g}" if primary.min_improvement else ""
    return primary.metric + least


def _shown(value: object) -> str:
    if value is None or value == ():
        return "not given"
    if isinstance(value, tuple):
        return ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in value)
    return str(value)
