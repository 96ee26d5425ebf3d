"""The decision and its statuses; values only."""

from __future__ import annotations

from dataclasses import dataclass

from onechange.compare import Comparison
from onechange.delta import Delta
from onechange.plan import Plan
from onechange.sensitivity import Fragility, TippingPoint
from onechange.stats.estimate import Note
from onechange.status import Status

__all__ = ["Decision", "RuleStatus", "exit_code"]

EXIT_CODES = {"ship": 0, "do not ship": 1, "inconclusive": 3}


@dataclass(frozen=True, slots=True)
class RuleStatus:
    """Status of the primary or of one guardrail, with the sentence that explains it.

    Parameters
    ----------
    metric : str
        Metric of the rule.
    role : str
        ``primary``, ``guardrail`` or ``equivalence``.
    statistic : str
        ``mean``, a quantile such as ``p95``, or ``loss_rate``.
    status : Status
        ``pass``, ``fail`` or ``inconclusive``.
    reason : str
        One plain sentence with the numbers that decided it.
    rule : str
        ``interval``, or ``estimate`` for the point value.
    slice : tuple of (column, label), optional
        The slice that decided an every-slice guardrail.
    margin, limit, min_improvement
        What the plan allows or asks for.
    pvalue_margin, smallest_margin, pass_probability_unchanged : float, optional
        As in `MarginCheck`.
    further_questions : int, optional
        Questions like these, beyond those at hand, for 80 % power to pass.
    tipping : TippingPoint, optional
        How many questions without a pair would change it.
    fragility : Fragility, optional
        How many other answers of the variant would change it.
    delta : Delta, optional
        The row that decided it (of the worst slice); None is not measured.
    variant_name : str
        The variant.
    notes : tuple of Note
        Caveats of this status.
    """

    metric: str
    role: str
    statistic: str
    status: Status
    reason: str
    rule: str = "interval"
    slice: tuple[tuple[str, str], ...] | None = None
    margin: float | str | None = None
    limit: float | None = None
    min_improvement: float | None = None
    pvalue_margin: float | None = None
    smallest_margin: float | None = None
    pass_probability_unchanged: float | None = None
    further_questions: int | None = None
    tipping: TippingPoint | None = None
    fragility: Fragility | None = None
    delta: Delta | None = None
    variant_name: str = "variant"
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """``ship``, ``do not ship`` or ``inconclusive``, with everything behind it.

    Parameters
    ----------
    decision : str
        The decision.
    reason : str
        One plain sentence.
    statuses : tuple of RuleStatus
        The primary first, then the guardrails in the order of the plan.
    comparison : Comparison
        What was compared.
    plan : Plan
        The rules.
    next_steps : tuple of str
        What it would take, when inconclusive.
    tipping_points : tuple of str
        How many missing scores, and how many other answers, would change it.
    notes : tuple of Note
        Caveats of the decision.
    variant_name : str
        The variant it is about.
    """

    decision: str
    reason: str
    statuses: tuple[RuleStatus, ...]
    comparison: Comparison
    plan: Plan
    next_steps: tuple[str, ...] = ()
    tipping_points: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    variant_name: str = "variant"


def exit_code(decision: Decision) -> int:
    """Return the exit code of a decision.

    Parameters
    ----------
    decision : Decision

    Returns
    -------
    int
        0 ship, 1 do not ship, 3 inconclusive.
    """
    return EXIT_CODES[decision.decision]
