"""The promises of a plan as rows: the one table that every format shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onechange.compare import Comparison
from onechange.decide.sentences import Wording
from onechange.display import (
    MISSING,
    SYMBOLS,
    format_exact,
    format_interval,
    format_number,
    format_pvalue,
    metric_decimals,
    metric_text,
    rule_thresholds,
)
from onechange.plan import BUILT_IN_RATES, Plan, relative_margin
from onechange.slices import slice_text
from onechange.stats.estimate import Interval

if TYPE_CHECKING:
    from onechange.decide.decision import RuleStatus

__all__ = [
    "OWN_INTERVAL",
    "RuleRow",
    "allowed_text",
    "judged_interval",
    "printed_decimals",
    "rule_columns",
    "rule_direction",
    "rule_footnote",
    "rule_record",
    "rule_row",
]

OWN_INTERVAL = "†"  # behind an interval that is not one of a delta
FOOTNOTE = (
    f"{OWN_INTERVAL} of the variant's own value, which its limit is about; the other "
    "intervals are of the delta"
)
DEGENERATE = " (degenerate)"


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One promise as cells of text, already rounded."""

    role: str
    metric: str
    baseline: str
    variant: str
    delta: str
    interval: str
    allowed: str
    pvalue: str
    status: str

    @property
    def cells(self) -> tuple[str, ...]:
        """All cells, in the order of `rule_columns`."""
        return (
            self.role,
            self.metric,
            self.baseline,
            self.variant,
            self.delta,
            self.interval,
            self.allowed,
            self.pvalue,
            self.status,
        )


def rule_columns(level: str) -> tuple[tuple[str, str, str], ...]:
    """Title, side (``l`` or ``r``) and meaning of every column.

    Parameters
    ----------
    level : str
        Confidence level as text, ``95 %``.
    """
    return (
        ("role", "l", ""),
        ("metric", "l", "↑ higher is better, ↓ lower is better"),
        ("baseline", "r", ""),
        ("variant", "r", ""),
        ("delta", "r", "variant minus baseline"),
        (
            f"{level} interval",
            "r",
            "of the delta (relative to the baseline under a margin in percent); "
            f"with {OWN_INTERVAL}, under a limit alone, of the variant itself",
        ),
        ("allowed", "l", "what the plan asks of the delta or of the variant"),
        (
            "p",
            "r",
            "primary: against no difference, two-sided; guardrail: against its "
            "margin, one-sided",
        ),
        ("status", "l", ""),
    )


def rule_row(
    status: RuleStatus, direction: str, decimals: int | None, *, marks: str = ""
) -> RuleRow:
    """Write one promise as text.

    Parameters
    ----------
    status : RuleStatus
        The rule and the delta that decided it.
    direction : str
        ``higher`` or ``lower`` is better.
    decimals : int or None
        Decimals of the metric's figures.
    marks : str
        Raised numbers of notes, to stand behind the metric.
    """
    delta = status.delta
    metric = metric_text(status.metric, direction, status.statistic)
    if status.slice is not None:
        metric += ", every " + " × ".join(column for column, _ in status.slice)
    verdict = f"{SYMBOLS[str(status.status)]} {status.status}"
    if status.rule == "estimate":
        verdict += " (estimate)"
    return RuleRow(
        role=status.role,
        metric=metric + marks,
        baseline=format_number(delta.baseline if delta else None, decimals),
        variant=format_number(delta.variant if delta else None, decimals),
        delta=_delta_text(status, decimals),
        interval=_interval_text(status, decimals),
        allowed=allowed_text(status, direction),
        pvalue=_pvalue_text(status),
        status=verdict,
    )


def rule_record(status: RuleStatus) -> dict[str, Any]:
    """Return one promise as plain values, at full precision.

    ``low`` and ``high`` are those of the interval that the rule is judged by;
    ``interval_of`` says whether that is one of the ``delta``, of the ``relative
    delta`` or of the ``variant``.
    """
    delta = status.delta
    of, interval = judged_interval(status)
    relative = None if delta is None or delta.relative is None else delta.relative.delta
    direction = delta.direction if delta else None
    return {
        "role": status.role,
        "metric": status.metric,
        "statistic": status.statistic,
        "direction": direction,
        "slice": None if status.slice is None else slice_text(status.slice),
        "baseline": delta.baseline if delta else None,
        "variant": delta.variant if delta else None,
        "delta": delta.delta if delta else None,
        "relative_delta": relative,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "confidence_level": interval.confidence_level if interval else None,
        "interval_of": of if interval else None,
        "allowed": allowed_text(status, direction or rule_direction(status, ())),
        "min_improvement": status.min_improvement,
        "margin": status.margin,
        "limit": status.limit,
        "pvalue": _pvalue(status),
        "rule": status.rule,
        "status": str(status.status),
        "reason": status.reason,
    }


def rule_footnote(statuses: Sequence[RuleStatus]) -> str:
    """Say what the mark behind an interval means; empty where none is marked."""
    marked = any(
        of == "variant" and interval is not None
        for of, interval in map(judged_interval, statuses)
    )
    return FOOTNOTE if marked else ""


def judged_interval(status: RuleStatus) -> tuple[str, Interval | None]:
    """Return the interval that a rule is judged by, and what it is an interval of.

    Parameters
    ----------
    status : RuleStatus
        The rule and the delta that decided it.

    Returns
    -------
    of : str
        ``delta``, ``relative delta`` or ``variant``.
    interval : Interval or None
    """
    delta = status.delta
    if status.limit is not None and status.margin is None:
        return "variant", delta.variant_interval if delta else None
    if isinstance(status.margin, str):
        relative = delta.relative if delta else None
        return "relative delta", relative.interval if relative else None
    return "delta", delta.interval if delta else None


def allowed_text(status: RuleStatus, direction: str) -> str:
    """Write what a rule allows, in terms of the delta or of the variant.

    Examples
    --------
    >>> from onechange.decide import RuleStatus
    >>> rule = RuleStatus("latency_ms", "guardrail", "mean", "pass", "", margin=80.0)
    >>> allowed_text(rule, "lower")
    '≤ +80'
    """
    higher = direction == "higher"
    if status.role == "primary":
        least = status.min_improvement or 0.0
        value = format_exact(least if higher else -least, signed=True)
        return ("> " if higher else "< ") + value
    parts = []
    if status.margin is not None:
        if isinstance(status.margin, str):
            size = ("−" if higher else "+") + status.margin
        else:
            size = format_exact(
                -status.margin if higher else status.margin, signed=True
            )
        if status.role == "equivalence":
            parts.append("within ±" + size.lstrip("−+"))
        else:
            parts.append(("≥ " if higher else "≤ ") + size)
    if status.limit is not None:
        parts.append(f"variant {'≥' if higher else '≤'} {format_exact(status.limit)}")
    return ", ".join(parts) or MISSING


def rule_direction(status: RuleStatus, declared: Iterable[Any]) -> str:
    """Direction of the metric of a rule, also of one that is not measured.

    Parameters
    ----------
    status : RuleStatus
        The rule.
    declared : iterable of Metric
        Metrics with what is known of them.
    """
    if status.delta is not None:
        return status.delta.direction
    known = {m.name: m.direction for m in declared if m.direction}
    return known.get(status.metric) or BUILT_IN_RATES.get(status.metric, "higher")


def printed_decimals(comparison: Comparison, plan: Plan) -> dict[str, int]:
    """Choose the decimals of every metric from its deltas and the plan's rules.

    Parameters
    ----------
    comparison : Comparison
        What was compared.
    plan : Plan
        The rules.

    Returns
    -------
    dict of str to int
        Metric to decimals, the same in every sentence and table.
    """
    spread = {rule.metric for rule in plan.guardrails if rule.every_slice}
    parts = [
        d
        for b in comparison.slices
        for d in (*b.deltas, *b.rates)
        if d.metric in spread
    ]
    return metric_decimals(
        (*comparison.deltas, *comparison.rates, *parts),
        rule_thresholds(plan.primary, plan.guardrails),
    )


# ---------------------------------------------------------------- cells


def _delta_text(status: RuleStatus, decimals: int | None) -> str:
    delta = status.delta
    if delta is None or delta.delta is None:
        return "not measured"
    relative = delta.relative
    if isinstance(status.margin, str) and relative and relative.delta is not None:
        text = _share_text(status, relative.delta)
    else:
        text = format_number(delta.delta, decimals, signed=True)
    return f"{text} ({slice_text(status.slice)})" if status.slice else text


def _interval_text(status: RuleStatus, decimals: int | None) -> str:
    """Write the interval that the status was read from."""
    of, interval = judged_interval(status)
    if interval is None:
        return MISSING
    if of == "relative delta":
        ends = (_share_text(status, end) for end in (interval.low, interval.high))
        return " … ".join(ends)
    signed = of == "delta"
    text = format_interval(interval, 3 if decimals is None else decimals, signed=signed)
    text += DEGENERATE if interval.degenerate else ""
    return text if signed else f"{text} {OWN_INTERVAL}"


def _share_text(status: RuleStatus, value: float) -> str:
    """Write a change relative to the baseline as the sentence of its status does."""
    if not math.isfinite(value):
        return format_number(value, signed=True)
    margin = relative_margin(status.margin) if isinstance(status.margin, str) else None
    size = Wording("higher", share=margin).size(abs(value))
    if not size.strip("0. %"):
        return size
    return ("−" if value < 0 else "+") + size


def _pvalue(status: RuleStatus) -> float | None:
    if status.role == "primary" and status.pvalue_margin is None:
        test = status.delta.test if status.delta else None
        return test.pvalue if test else None
    return status.pvalue_margin


def _pvalue_text(status: RuleStatus) -> str:
    return format_pvalue(_pvalue(status))
