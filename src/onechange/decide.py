"""`Comparison` + `Plan` -> statuses and `Decision`; no statistics here."""

from __future__ import annotations

from dataclasses import dataclass

from onechange.compare import Comparison
from onechange.delta import Delta
from onechange.plan import Plan
from onechange.stats.estimate import Note

__all__ = ["Decision", "RuleStatus", "decide"]


@dataclass(frozen=True, slots=True)
class RuleStatus:
    """Status of the primary or of one guardrail, with the sentence that explains it.

    `status` is ``pass``, ``fail`` or ``inconclusive``; `delta` is the row that
    decided it (the worst slice for an every-slice guardrail; None = not measured).
    """

    metric: str
    role: str  # primary | guardrail | equivalence
    statistic: str
    status: str
    reason: str
    rule: str = "interval"
    slice: tuple[tuple[str, str], ...] | None = None
    margin: float | str | None = None
    limit: float | None = None
    min_improvement: float | None = None
    pvalue_margin: float | None = None
    smallest_margin: float | None = None
    pass_probability_unchanged: float | None = None
    delta: Delta | None = None
    variant_name: str = "variant"
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """``ship``, ``do not ship`` or ``inconclusive``, with everything behind it."""

    decision: str
    reason: str
    statuses: tuple[RuleStatus, ...]
    comparison: Comparison
    plan: Plan
    next_steps: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


def decide(comparison: Comparison, plan: Plan | None = None) -> Decision:
    """Apply the plan's rules to a comparison."""
    raise NotImplementedError
