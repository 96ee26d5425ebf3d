"""One rule of the plan and what was compared -> `RuleStatus`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from onechange.decide.decision import RuleStatus
from onechange.decide.findings import (
    Finding,
    Scope,
    guarded,
    no_interval,
    too_few,
    unmeasured,
)
from onechange.decide.sentences import (
    equivalence_clause,
    estimate_limit_clause,
    estimate_margin_clause,
    limit_clause,
    margin_clause,
    primary_clause,
)
from onechange.delta import Delta
from onechange.display import format_count
from onechange.plan import Guardrail, Primary, relative_margin
from onechange.slices import SMALL_SLICES
from onechange.stats.estimate import Interval
from onechange.status import (
    Status,
    equivalence_status,
    estimate_limit_status,
    estimate_margin_status,
    estimate_relative_status,
    limit_status,
    margin_status,
    primary_status,
    worse_of,
    worsening_ends,
)

__all__ = ["guardrail_status", "primary_rule_status"]


def primary_rule_status(scope: Scope, primary: Primary) -> RuleStatus:
    """Apply the primary.

    Parameters
    ----------
    scope : Scope
        What was compared.
    primary : Primary
        The metric that must improve.

    Returns
    -------
    RuleStatus
    """
    delta = scope.primary_delta(primary.metric)
    finding = unmeasured(scope, primary.metric, delta) or too_few(delta)
    if finding is None and delta is not None and delta.interval is not None:
        words = scope.words(primary.metric, delta.direction)
        least = primary.min_improvement
        status = primary_status(delta.interval, least, delta.direction)
        clause = primary_clause(status, delta.interval, least, words)
        bounds = delta.bounds.interval if delta.bounds else None
        finding = guarded(
            scope,
            delta,
            Finding(status, clause),
            primary_status(bounds, least, delta.direction),
        )
    finding = finding or no_interval(delta)
    return RuleStatus(
        metric=primary.metric,
        role="primary",
        statistic="mean",
        status=finding.status,
        reason=_sentence(primary.metric, finding),
        min_improvement=primary.min_improvement,
        delta=_measured(delta),
        variant_name=scope.variant_name,
        notes=finding.notes,
    )


def guardrail_status(scope: Scope, rule: Guardrail) -> RuleStatus:
    """Apply a guardrail, overall or in every slice.

    Parameters
    ----------
    scope : Scope
        What was compared.
    rule : Guardrail
        The guardrail.

    Returns
    -------
    RuleStatus
        For every slice: that of the worst slice.
    """
    if rule.every_slice is not None:
        return _worst_slice(scope, rule, rule.every_slice)
    delta = scope.delta(rule.metric, rule.statistic)
    return _rule_status(scope, rule, delta, _findings(scope, rule, delta))


def _rule_status(
    scope: Scope, rule: Guardrail, delta: Delta | None, findings: Sequence[Finding]
) -> RuleStatus:
    status = worse_of(finding.status for finding in findings)
    # The clause that decided comes first; of equal ones, the margin's.
    ordered = sorted(findings, key=lambda finding: finding.status is not status)
    merged = Finding(
        status,
        "; ".join(dict.fromkeys(finding.clause for finding in ordered)),
        tuple(dict.fromkeys(note for finding in ordered for note in finding.notes)),
    )
    name = (
        rule.metric if rule.statistic == "mean" else f"{rule.metric} {rule.statistic}"
    )
    part = None if delta is None else delta.slice
    if part is not None:
        name += " in " + ", ".join(dict.fromkeys(label for _, label in part))
    return RuleStatus(
        metric=rule.metric,
        role=rule.role,
        statistic=rule.statistic,
        status=status,
        reason=_sentence(name, merged),
        rule=rule.rule,
        slice=part,
        margin=rule.margin,
        limit=rule.limit,
        delta=_measured(delta),
        variant_name=scope.variant_name,
        notes=merged.notes,
    )


def _findings(scope: Scope, rule: Guardrail, delta: Delta | None) -> list[Finding]:
    """Collect the findings of the margin and of the limit."""
    return list(_margin_findings(scope, rule, delta)) + list(
        _limit_findings(scope, rule, delta)
    )


def _margin_findings(
    scope: Scope, rule: Guardrail, delta: Delta | None
) -> Iterator[Finding]:
    if rule.margin is None:
        return
    finding = unmeasured(scope, rule.metric, delta)
    if finding is not None or delta is None:
        yield finding or no_interval(delta)
        return
    if rule.rule == "estimate":
        yield guarded(scope, delta, *_estimate_finding(scope, rule.margin, delta))
        return
    relative = isinstance(rule.margin, str)
    interval = delta.interval
    if isinstance(rule.margin, str):
        interval = delta.relative.interval if delta.relative else None
    few = too_few(delta)
    if few is not None or interval is None:
        yield few or no_interval(delta, relative=relative)
        return
    words = scope.words(rule.metric, delta.direction, rule.margin)
    status = _margin_status(rule, interval, delta.direction)
    clause = equivalence_clause if rule.role == "equivalence" else margin_clause
    bounds = None if relative or delta.bounds is None else delta.bounds.interval
    yield guarded(
        scope,
        delta,
        Finding(status, clause(status, interval, rule.margin, words)),
        Status.INCONCLUSIVE
        if bounds is None
        else _margin_status(rule, bounds, delta.direction),
    )


def _margin_status(rule: Guardrail, interval: Interval, direction: str) -> Status:
    margin = rule.margin
    size = relative_margin(margin) if isinstance(margin, str) else float(margin or 0)
    if rule.role == "equivalence":
        return equivalence_status(interval, size)
    return margin_status(interval, size, direction)


def _estimate_finding(
    scope: Scope, margin: float | str, delta: Delta
) -> tuple[Finding, Status]:
    """Return the finding by the point value, and the status of the worst bound."""
    before, after, direction = delta.baseline, delta.variant, delta.direction
    sign = -1.0 if direction == "higher" else 1.0
    change = sign * (delta.delta or 0.0)
    if isinstance(margin, str):
        status = estimate_relative_status(
            before, after, relative_margin(margin), direction
        )
        if status is Status.INCONCLUSIVE:
            reason = "the baseline is 0 or less, so there is no share of it"
            return Finding(status, reason), status
        words = scope.words(delta.metric, direction, margin)
        shown = change / before if before else 0.0
        clause = estimate_margin_clause(status, shown, margin, words)
        return Finding(status, clause), Status.INCONCLUSIVE
    status = estimate_margin_status(before, after, margin, direction)
    words = scope.words(delta.metric, direction)
    clause = estimate_margin_clause(status, change, margin, words)
    worst = None
    if delta.bounds is not None:
        worst = delta.bounds.low if direction == "higher" else delta.bounds.high
    under = (
        Status.INCONCLUSIVE
        if worst is None
        else estimate_margin_status(0.0, worst, margin, direction)
    )
    return Finding(status, clause), under


def _limit_findings(
    scope: Scope, rule: Guardrail, delta: Delta | None
) -> Iterator[Finding]:
    if rule.limit is None:
        return
    value = delta.variant if delta is not None else None
    interval = delta.variant_interval if delta is not None else None
    if delta is None or (value is None and interval is None):
        yield unmeasured(scope, rule.metric, delta) or no_interval(delta)
        return
    words = scope.words(rule.metric, delta.direction)
    if rule.rule == "estimate":
        status = estimate_limit_status(value, rule.limit, delta.direction)
        finding = no_interval(delta)
        if value is not None:
            clause = estimate_limit_clause(status, value, rule.limit, words)
            finding = Finding(status, clause)
    elif interval is None:
        yield too_few(delta) or no_interval(delta)
        return
    else:
        few = too_few(delta)
        status = limit_status(interval, rule.limit, delta.direction)
        finding = few or Finding(
            status, limit_clause(status, interval, rule.limit, words)
        )
    yield guarded(scope, delta, finding, Status.INCONCLUSIVE)


def _worst_slice(scope: Scope, rule: Guardrail, spec_text: str) -> RuleStatus:
    rows = scope.slices(rule.metric, rule.statistic, spec_text)
    small = [row for row in rows if _has(row, "small-slice") or row.n_pairs == 0]
    strict = rule.small_slices == "inconclusive"
    joined = () if strict else scope.joined(rule.metric, rule.statistic, spec_text)
    joined = tuple(row for row in joined if not _has(row, "small-slice"))
    judged = [*(row for row in rows if row not in small), *joined]
    statuses = [
        _rule_status(scope, rule, row, _findings(scope, rule, row)) for row in judged
    ]
    if strict:
        statuses += [_small_status(scope, rule, row) for row in small]
    if not statuses:
        finding = Finding(
            Status.INCONCLUSIVE,
            f"no slice of {spec_text} has the {scope.plan.analysis.min_slice} pairs "
            "that a status needs",
        )
        return _rule_status(scope, rule, None, [finding])
    worst = worse_of(status.status for status in statuses)
    among = [status for status in statuses if status.status is worst]
    chosen = max(among, key=_worst_end)
    named = [_slice_name(row) for row in small] if not strict else []
    reason = chosen.reason
    if len(statuses) > 1:
        reason += f" This is the worst of {len(statuses)} slices."
    if named and joined:
        reason += f" Joined as {SMALL_SLICES}: {', '.join(named)}."
    elif named:
        reason += f" Left out as too small: {', '.join(named)}."
    return replace(chosen, reason=reason)


def _small_status(scope: Scope, rule: Guardrail, row: Delta) -> RuleStatus:
    finding = Finding(
        Status.INCONCLUSIVE,
        f"{format_count(row.n_pairs)} pairs, fewer than the "
        f"{scope.plan.analysis.min_slice} that a slice needs",
    )
    return _rule_status(scope, rule, row, [finding])


def _worst_end(status: RuleStatus) -> float:
    """How large the worsening may be: by the interval, else by the point value."""
    delta = status.delta
    if delta is None:
        return float("inf")
    if delta.interval is not None:
        return worsening_ends(delta.interval, delta.direction)[1]
    value = delta.delta or 0.0
    return -value if delta.direction == "higher" else value


def _has(delta: Delta, code: str) -> bool:
    return any(note.code == code for note in delta.notes)


def _slice_name(delta: Delta) -> str:
    labels = ", ".join(label for _, label in delta.slice or ())
    return f"{labels} ({format_count(delta.n_pairs)})"


def _measured(delta: Delta | None) -> Delta | None:
    return delta if delta is not None and delta.n_pairs > 0 else None


def _sentence(name: str, finding: Finding) -> str:
    return f"{name}: {finding.status}: {finding.clause}."
