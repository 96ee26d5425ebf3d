"""The decision and its statuses; values only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onechange.compare import Comparison
from onechange.delta import Delta
from onechange.display import (
    TableMixin,
    escape_html,
    escape_terminal,
    format_exact,
    format_interval,
    format_number,
    html_table,
    metric_decimals,
    rule_thresholds,
    text_table,
)
from onechange.plan import Plan
from onechange.sensitivity import Fragility, TippingPoint
from onechange.stats.estimate import Note
from onechange.status import Status

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Decision", "RuleStatus", "exit_code", "rule_name", "rule_names"]

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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decision(TableMixin):
    """``ship``, ``do not ship`` or ``inconclusive``, with everything behind it.

    Prints as the decision, its reason and the table of its statuses, in a notebook as
    well.

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

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary of plain values per status, at full precision."""
        return [_status_row(status) for status in self.statuses]

    def plot(self, kind: str = "deltas", **choices: Any) -> Figure:
        """Draw what was compared against what the plan allows.

        Parameters
        ----------
        kind : str
            As for `Comparison.plot`.
        **choices
            ``metric`` and ``by``, as for `Comparison.plot`.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it; ``savefig`` writes it.
        """
        from onechange.drawings import draw

        return draw(
            self.comparison, kind, plan=self.plan, variant=self.variant_name, **choices
        )

    def __repr__(self) -> str:
        head = escape_terminal(f"{self.decision}: {self.reason}")
        header, rows, align = self._cells()
        return f"{head}\n\n{text_table(header, rows, align)}"

    def _repr_html_(self) -> str:
        head = (
            f"<p><strong>{escape_html(self.decision)}</strong>: "
            f"{escape_html(self.reason)}</p>"
        )
        return head + html_table(*self._cells())

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        decimals = metric_decimals(
            [status.delta for status in self.statuses if status.delta is not None],
            rule_thresholds(self.plan.primary, self.plan.guardrails),
        )
        header = ["role", "metric", "baseline", "variant", "delta", "interval"]
        rows = [_status_cells(status, decimals) for status in self.statuses]
        return [*header, "status"], rows, "llrrrrl"


def _status_row(status: RuleStatus) -> dict[str, Any]:
    delta = status.delta
    interval = None if delta is None else delta.interval
    return {
        "role": status.role,
        "metric": status.metric,
        "statistic": status.statistic,
        "slice": None
        if status.slice is None
        else " × ".join(label for _, label in status.slice),
        "baseline": delta.baseline if delta else None,
        "variant": delta.variant if delta else None,
        "delta": delta.delta if delta else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "min_improvement": status.min_improvement,
        "margin": status.margin,
        "limit": status.limit,
        "rule": status.rule,
        "status": str(status.status),
        "reason": status.reason,
    }


def _status_cells(status: RuleStatus, decimals: Mapping[str, int]) -> list[str]:
    delta, digits = status.delta, decimals.get(status.metric, 3)
    figures = ["–", "–", "not measured", "–"]
    if delta is not None and delta.delta is not None:
        figures = [
            format_number(delta.baseline, digits),
            format_number(delta.variant, digits),
            format_number(delta.delta, digits, signed=True),
            format_interval(delta.interval, digits),
        ]
    part = ""
    if status.slice is not None:
        part = " in " + " × ".join(label for _, label in status.slice)
    named = "" if status.statistic == "mean" else f" {status.statistic}"
    return [
        status.role,
        f"{status.metric}{named}{part}",
        *figures,
        str(status.status),
    ]


def rule_name(status: RuleStatus) -> str:
    """Name what a rule is about: its metric, statistic and slice.

    Examples
    --------
    >>> rule_name(RuleStatus("latency_ms", "guardrail", "p95", Status.PASS, ""))
    'latency_ms p95'
    """
    name = status.metric
    if status.statistic != "mean":
        name += f" {status.statistic}"
    if status.slice is not None:
        name += " in " + ", ".join(dict.fromkeys(label for _, label in status.slice))
    return name


def rule_names(statuses: Sequence[RuleStatus]) -> list[str]:
    """Name every rule so that no two look alike.

    Parameters
    ----------
    statuses : sequence of RuleStatus
        All rules of a decision.

    Returns
    -------
    list of str
        As `rule_name`; rules that share it get their role and, where they share that,
        too, how they decide and what they allow.
    """
    names = [rule_name(status) for status in statuses]
    for detail in (_role, _way, _allowed):
        shared = {name for name in names if names.count(name) > 1}
        names = [
            f"{name}{detail(status)}" if name in shared else name
            for name, status in zip(names, statuses, strict=True)
        ]
    return names


def _role(status: RuleStatus) -> str:
    return f" ({status.role})"


def _way(status: RuleStatus) -> str:
    return " by point value" if status.rule == "estimate" else ""


def _allowed(status: RuleStatus) -> str:
    parts = [("margin", status.margin), ("limit", status.limit)]
    told = [
        f" {word} {value if isinstance(value, str) else format_exact(value)}"
        for word, value in parts
        if value is not None
    ]
    return "," + ",".join(told) if told else ""


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
