"""One rule of the plan and what was compared -> `RuleStatus`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from onechange.decide.decision import RuleStatus, rule_name
from onechange.decide.findings import (
    OWN_VALUE,
    Finding,
    Scope,
    guarded,
    no_interval,
    too_few,
    too_few_pairs,
    unmeasured,
)
from onechange.decide.sentences import (
    Wording,
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
from onechange.slice_sizes import few_questions, slice_size
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

__all__ = ["guardrail_status", "margin_rule_status", "primary_rule_status"]

DELTA = "delta"
SHARE_OF_BASELINE = "delta as a share of the baseline"


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
        bounds, under = delta.bounds.interval if delta.bounds else None, None
        if bounds is not None:
            found = primary_status(bounds, least, delta.direction)
            under = Finding(found, primary_clause(found, bounds, least, words))
        finding = guarded(scope, delta, Finding(status, clause), under, DELTA)
    finding = finding or no_interval(delta)
    return RuleStatus(
        metric=primary.metric,
        role="primary",
        statistic=_statistic(scope, primary.metric, "mean"),
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
    found = RuleStatus(
        metric=rule.metric,
        role=rule.role,
        statistic=_statistic(scope, rule.metric, rule.statistic),
        status=status,
        reason="",
        rule=rule.rule,
        slice=None if delta is None else delta.slice,
        margin=rule.margin,
        limit=rule.limit,
        delta=_measured(delta),
        variant_name=scope.variant_name,
        notes=merged.notes,
    )
    return replace(found, reason=_sentence(rule_name(found), merged))


def _statistic(scope: Scope, metric: str, asked: str) -> str:
    """Name the statistic of a rule: the mean of a ratio metric is its ratio."""
    ratios = {m.name for m in scope.comparison.metrics if m.numerator is not None}
    return "ratio" if asked == "mean" and metric in ratios else asked


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
        few = too_few_pairs(scope, delta)
        found = _estimate_finding(scope, rule.margin, delta)
        yield few or guarded(scope, delta, *found, by_interval=False)
        return
    relative = isinstance(rule.margin, str)
    interval = delta.interval
    if isinstance(rule.margin, str):
        interval = delta.relative.interval if delta.relative else None
    few = too_few(delta)
    if few is not None or interval is None:
        yield few or no_interval(delta, relative=relative)
        return
    bounds = None
    if delta.bounds is not None:
        limits = delta.bounds
        bounds = limits.relative_interval if relative else limits.interval
    yield guarded(
        scope,
        delta,
        _margin_finding(scope, rule, rule.margin, interval, delta.direction),
        None
        if bounds is None
        else _margin_finding(scope, rule, rule.margin, bounds, delta.direction),
        SHARE_OF_BASELINE if relative else DELTA,
    )


def _margin_finding(
    scope: Scope,
    rule: Guardrail,
    margin: float | str,
    interval: Interval,
    direction: str,
) -> Finding:
    status = margin_rule_status(rule.role, margin, interval, direction)
    clause = equivalence_clause if rule.role == "equivalence" else margin_clause
    words = scope.words(rule.metric, direction, margin)
    return Finding(status, clause(status, interval, margin, words))


def margin_rule_status(
    role: str, margin: float | str, interval: Interval, direction: str
) -> Status:
    """Compare an interval with a margin, on both sides for an equivalence.

    Parameters
    ----------
    role : str
        ``guardrail`` or ``equivalence``.
    margin : float or str
        In the metric's unit; or as ``"10%"``, with an interval of the relative delta.
    interval : Interval
        The interval that decides.
    direction : str
        ``higher`` or ``lower`` is better.

    Returns
    -------
    Status
    """
    size = relative_margin(margin) if isinstance(margin, str) else float(margin)
    if role == "equivalence":
        return equivalence_status(interval, size)
    return margin_status(interval, size, direction)


def _estimate_finding(
    scope: Scope, margin: float | str, delta: Delta
) -> tuple[Finding, Finding | None, str]:
    """Return the finding by the point value, that of the worst bound, the subject."""
    before, after, direction = delta.baseline, delta.variant, delta.direction
    sign = -1.0 if direction == "higher" else 1.0
    change = sign * (delta.delta or 0.0)
    limits, under = delta.bounds, None
    if isinstance(margin, str):
        share = relative_margin(margin)
        status = estimate_relative_status(before, after, share, direction)
        if status is Status.INCONCLUSIVE:
            reason = "the baseline is 0 or less, so there is no share of it"
            return Finding(status, reason), None, SHARE_OF_BASELINE
        words = scope.words(delta.metric, direction, margin)
        shown = change / before if before else 0.0
        clause = estimate_margin_clause(status, shown, margin, words)
        if limits is not None and limits.relative is not None:
            worst = limits.relative[0 if direction == "higher" else 1]
            # of a baseline of 1 the share is a difference
            found = estimate_margin_status(1.0, 1.0 + worst, share, direction)
            ends = [words.change(sign * end) for end in limits.relative]
            under = Finding(found, f"it could be anything from {ends[0]} to {ends[1]}")
        return Finding(status, clause), under, SHARE_OF_BASELINE
    status = estimate_margin_status(before, after, margin, direction)
    words = scope.words(delta.metric, direction)
    clause = estimate_margin_clause(status, change, margin, words)
    if limits is not None and limits.low is not None and limits.high is not None:
        worst = limits.low if direction == "higher" else limits.high
        ends = [scope.number(delta.metric, end) for end in (limits.low, limits.high)]
        under = Finding(
            estimate_margin_status(0.0, worst, margin, direction),
            f"the delta could be anything from {ends[0]} to {ends[1]}",
        )
    return Finding(status, clause), under, DELTA


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
        few = too_few_pairs(scope, delta)
        finding = few or no_interval(delta)
        if value is not None and few is None:
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
    under = _limit_under_bounds(rule, rule.limit, delta, words)
    counts = rule.rule != "estimate"
    yield guarded(scope, delta, finding, under, OWN_VALUE, by_interval=counts)


def _limit_under_bounds(
    rule: Guardrail, limit: float, delta: Delta, words: Wording
) -> Finding | None:
    """Hold the variant's own value against its limit, missing scores filled."""
    bounds = delta.bounds
    if bounds is None:
        return None
    if rule.rule == "estimate":
        if bounds.variant is None:
            return None
        worst = bounds.variant[0 if delta.direction == "higher" else 1]
        status = estimate_limit_status(worst, limit, delta.direction)
        return Finding(status, estimate_limit_clause(status, worst, limit, words))
    if bounds.variant_interval is None:
        return None
    status = limit_status(bounds.variant_interval, limit, delta.direction)
    return Finding(status, limit_clause(status, bounds.variant_interval, limit, words))


def _worst_slice(scope: Scope, rule: Guardrail, spec_text: str) -> RuleStatus:
    rows = scope.slices(rule.metric, rule.statistic, spec_text)
    least = scope.plan.analysis.min_slice
    small = [row for row in rows if few_questions(row, least)]
    strict = rule.small_slices == "inconclusive"
    joined = () if strict else scope.joined(rule.metric, rule.statistic, spec_text)
    joined = tuple(row for row in joined if not few_questions(row, least))
    judged = [*(row for row in rows if not few_questions(row, least)), *joined]
    statuses = [_slice_status(scope, rule, row) for row in judged]
    if strict:
        statuses += [_small_status(scope, rule, row) for row in small]
    if not statuses:
        clause = f"no slice of {spec_text} has the {least} pairs that a status needs"
        finding = Finding(Status.INCONCLUSIVE, clause)
        if not rows:
            finding = unmeasured(scope, rule.metric, None) or finding
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


def _slice_status(scope: Scope, rule: Guardrail, row: Delta) -> RuleStatus:
    """Apply a rule to a slice that has questions enough; it may lack the scores."""
    least, total = scope.plan.analysis.min_slice, slice_size(row)
    if row.n_pairs >= least:
        return _rule_status(scope, rule, row, _findings(scope, rule, row))
    have = "has" if row.n_pairs == 1 else "have"
    finding = Finding(
        Status.INCONCLUSIVE,
        f"{format_count(row.n_pairs)} of its {format_count(total)} questions {have} a "
        f"pair, fewer than the {least} that a slice needs",
    )
    return _rule_status(scope, rule, row, [finding])


def _small_status(scope: Scope, rule: Guardrail, row: Delta) -> RuleStatus:
    finding = Finding(
        Status.INCONCLUSIVE,
        f"{format_count(row.n_pairs)} pair{'s' * (row.n_pairs != 1)}, fewer than the "
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


def _slice_name(delta: Delta) -> str:
    labels = ", ".join(label for _, label in delta.slice or ())
    return f"{labels} ({format_count(slice_size(delta))})"


def _measured(delta: Delta | None) -> Delta | None:
    return delta if delta is not None and delta.n_pairs > 0 else None


def _sentence(name: str, finding: Finding) -> str:
    return f"{name}: {finding.status}: {finding.clause}."
