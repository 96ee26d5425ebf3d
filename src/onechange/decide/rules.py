"""One rule of the plan and what was compared -> `RuleStatus`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from onechange.compare import Comparison
from onechange.decide.decision import RuleStatus
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
from onechange.display import format_count, format_exact, format_number, format_percent
from onechange.plan import BUILT_IN_RATES, Guardrail, Plan, Primary, relative_margin
from onechange.plan import parse_slice as parse_slice_text
from onechange.stats.estimate import Interval, Note
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

__all__ = ["Scope", "guardrail_status", "primary_rule_status"]

HIGH_MISSING_SHARE = 0.2
TOO_FEW = ("too-few-questions", "few-clusters")


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """Where a rule is applied: what was compared, for which variant.

    Parameters
    ----------
    comparison : Comparison
        What was computed.
    plan : Plan
        The rules.
    position : int
        Position of the variant among the variants.
    decimals : dict of str to int
        Decimals of each metric's figures.
    """

    comparison: Comparison
    plan: Plan
    position: int
    decimals: dict[str, int]

    @property
    def variant_name(self) -> str:
        """Name of the variant."""
        return self.comparison.variants[self.position].name

    def delta(self, metric: str, statistic: str = "mean") -> Delta | None:
        """Return the overall delta of a metric, or of a built-in rate."""
        rows = (*self.comparison.deltas, *self.comparison.rates)
        for row in rows:
            if (
                (row.metric, row.statistic) == (metric, statistic)
                and row.variant_name == self.variant_name
                and row.slice is None
            ):
                return row
        return None

    def slices(self, metric: str, statistic: str, spec_text: str) -> tuple[Delta, ...]:
        """Return the deltas of a metric in each slice of a breakdown."""
        spec = parse_slice_text(spec_text)
        return tuple(
            row
            for breakdown in self.comparison.slices
            if breakdown.spec == spec
            for row in breakdown.deltas
            if (row.metric, row.statistic) == (metric, statistic)
            and row.variant_name == self.variant_name
        )

    def words(self, metric: str, direction: str, *, relative: bool = False) -> Wording:
        """Return how the numbers of a metric are written."""
        return Wording(direction, self.decimals.get(metric, 3), relative)


@dataclass(frozen=True, slots=True)
class Finding:
    """Status of one part of a rule, and the clause that explains it."""

    status: Status
    clause: str
    notes: tuple[Note, ...] = ()


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
    delta = scope.delta(primary.metric)
    finding = _unmeasured(scope, primary.metric, delta) or _too_few(delta)
    if finding is None and delta is not None and delta.interval is not None:
        words = scope.words(primary.metric, delta.direction)
        least = primary.min_improvement
        status = primary_status(delta.interval, least, delta.direction)
        clause = primary_clause(status, delta.interval, least, words)
        bounds = delta.bounds.interval if delta.bounds else None
        finding = _guarded(
            scope,
            delta,
            Finding(status, clause),
            primary_status(bounds, least, delta.direction),
        )
    finding = finding or _no_interval(delta)
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
        name += " in " + ", ".join(label for _, label in part)
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
    """Findings of the margin and of the limit."""
    return list(_margin_findings(scope, rule, delta)) + list(
        _limit_findings(scope, rule, delta)
    )


def _margin_findings(
    scope: Scope, rule: Guardrail, delta: Delta | None
) -> Iterator[Finding]:
    if rule.margin is None:
        return
    finding = _unmeasured(scope, rule.metric, delta)
    if finding is not None or delta is None:
        yield finding or _no_interval(delta)
        return
    if rule.rule == "estimate":
        yield _guarded(scope, delta, *_estimate_finding(scope, rule.margin, delta))
        return
    relative = isinstance(rule.margin, str)
    interval = delta.interval
    if isinstance(rule.margin, str):
        interval = delta.relative.interval if delta.relative else None
    few = _too_few(delta)
    if few is not None or interval is None:
        yield few or _no_interval(delta, relative=relative)
        return
    words = scope.words(rule.metric, delta.direction, relative=relative)
    status = _margin_status(rule, interval, delta.direction)
    clause = equivalence_clause if rule.role == "equivalence" else margin_clause
    bounds = None if relative or delta.bounds is None else delta.bounds.interval
    yield _guarded(
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
    """Finding by the point value, and the status of the worst bound."""
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
        words = scope.words(delta.metric, direction, relative=True)
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
        yield _unmeasured(scope, rule.metric, delta) or _no_interval(delta)
        return
    words = scope.words(rule.metric, delta.direction)
    if rule.rule == "estimate":
        status = estimate_limit_status(value, rule.limit, delta.direction)
        finding = _no_interval(delta)
        if value is not None:
            clause = estimate_limit_clause(status, value, rule.limit, words)
            finding = Finding(status, clause)
    elif interval is None:
        yield _too_few(delta) or _no_interval(delta)
        return
    else:
        few = _too_few(delta)
        status = limit_status(interval, rule.limit, delta.direction)
        finding = few or Finding(
            status, limit_clause(status, interval, rule.limit, words)
        )
    yield _guarded(scope, delta, finding, Status.INCONCLUSIVE)


def _worst_slice(scope: Scope, rule: Guardrail, spec_text: str) -> RuleStatus:
    rows = scope.slices(rule.metric, rule.statistic, spec_text)
    small = [row for row in rows if _has(row, "small-slice") or row.n_pairs == 0]
    strict = rule.small_slices == "inconclusive"
    judged = [row for row in rows if row not in small]
    statuses = [
        _rule_status(scope, rule, row, _findings(scope, rule, row)) for row in judged
    ]
    if strict:
        statuses += [_small_status(scope, rule, row) for row in small]
    if not statuses:
        finding = Finding(
            Status.INCONCLUSIVE,
            f"no slice of {spec_text} has the {scope.plan.analysis.min_slice} pairs that "
            "a status needs",
        )
        return _rule_status(scope, rule, None, [finding])
    worst = worse_of(status.status for status in statuses)
    among = [status for status in statuses if status.status is worst]
    chosen = max(among, key=_worst_end)
    left_out = [_slice_name(row) for row in small] if small and not strict else []
    reason = chosen.reason
    if len(statuses) > 1:
        reason += f" This is the worst of {len(statuses)} slices."
    if left_out:
        reason += f" Left out as too small: {', '.join(left_out)}."
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


def _unmeasured(scope: Scope, metric: str, delta: Delta | None) -> Finding | None:
    """Finding for a metric without pairs; None when there are some."""
    if delta is not None and delta.n_pairs > 0:
        return None
    audit = scope.comparison.audits[scope.position]
    if metric in BUILT_IN_RATES:
        clause = "not measured: the rows record no status"
    else:
        clause = (
            f"not measured: 0 of {format_count(audit.paired)} paired questions are "
            "scored in both arms"
        )
    text = f"{metric}: {clause}."
    return Finding(Status.INCONCLUSIVE, clause, (Note("not-measured", text),))


def _too_few(delta: Delta | None) -> Finding | None:
    for note in () if delta is None else delta.notes:
        if note.code in TOO_FEW:
            text = note.text[0].lower() + note.text[1:].rstrip(".")
            return Finding(Status.INCONCLUSIVE, f"too few questions: {text}")
    return None


def _no_interval(delta: Delta | None, *, relative: bool = False) -> Finding:
    """Finding for a delta whose interval does not exist, with the reason."""
    reason = "the interval does not exist for these scores"
    if delta is not None:
        for note in delta.notes:
            if note.code == "equal-differences":
                reason = note.text[0].lower() + note.text[1:].rstrip(".")
        if relative and delta.relative is not None and delta.relative.reason:
            reason = f"no relative delta: {delta.relative.reason.rstrip('.')}"
    return Finding(Status.INCONCLUSIVE, reason)


def _guarded(scope: Scope, delta: Delta, finding: Finding, under: Status) -> Finding:
    """Take back a status that a scale mismatch or missing scores do not support.

    `under` is the status under the bounds of missing scores.
    """
    audit = scope.comparison.audits[scope.position]
    if delta.metric in audit.scale_mismatch:
        clause = (
            "the arms seem to be on different scales (0 to 1 against 0 to 100), so the "
            "delta means nothing; rescale one or declare the metric's range"
        )
        return Finding(Status.INCONCLUSIVE, clause)
    share, source = _missing_share(scope, delta)
    if (
        finding.status is Status.PASS
        and share > HIGH_MISSING_SHARE
        and under is not Status.PASS
    ):
        bounds = _bounds_text(scope, delta)
        clause = (
            f"{finding.clause}, but {format_percent(share, 0)} of {source} questions "
            f"lack a score and {bounds}"
        )
        return Finding(Status.INCONCLUSIVE, clause)
    return finding


def _missing_share(scope: Scope, delta: Delta) -> tuple[float, str]:
    """Share of the questions to be scored that have no pair, and their count."""
    if delta.bounds is not None:
        total, lacking = delta.bounds.n_questions, delta.bounds.n_incomplete
    elif delta.slice is None and delta.metric not in BUILT_IN_RATES:
        ledger = scope.comparison.audits[scope.position].metrics.get(delta.metric)
        if ledger is None:
            return 0.0, "0"
        lacking = (
            ledger.unscored_baseline
            + ledger.unscored_variant
            + ledger.failed_baseline
            + ledger.failed_variant
            + ledger.failed_both
        )
        total = ledger.pairs + lacking
    else:
        return 0.0, "0"
    return (lacking / total if total else 0.0), format_count(total)


def _bounds_text(scope: Scope, delta: Delta) -> str:
    bounds = delta.bounds
    if bounds is None or bounds.low is None or bounds.high is None:
        return "without a declared range it cannot be said what they could change"
    decimals = scope.decimals.get(delta.metric, 3)
    ends = [
        format_number(end, decimals, signed=True) for end in (bounds.low, bounds.high)
    ]
    return f"with them the delta could be anything from {ends[0]} to {ends[1]}"


def _has(delta: Delta, code: str) -> bool:
    return any(note.code == code for note in delta.notes)


def _slice_name(delta: Delta) -> str:
    labels = ", ".join(label for _, label in delta.slice or ())
    return f"{labels} ({format_exact(delta.n_pairs)})"


def _measured(delta: Delta | None) -> Delta | None:
    return delta if delta is not None and delta.n_pairs > 0 else None


def _sentence(name: str, finding: Finding) -> str:
    return f"{name}: {finding.status}: {finding.clause}."
