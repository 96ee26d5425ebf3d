"""The decision and its statuses; values only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onechange.compare import Comparison
from onechange.decide.rule_table import (
    printed_decimals,
    rule_columns,
    rule_direction,
    rule_footnote,
    rule_record,
    rule_row,
)
from onechange.delta import Delta
from onechange.display import (
    TableMixin,
    escape_html,
    escape_terminal,
    format_exact,
    format_percent,
    html_table,
    markdown_table,
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
        """Return one dictionary of plain values per status, at full precision.

        ``low`` and ``high`` are those of the interval that the rule is judged by;
        ``interval_of`` says what it is an interval of.
        """
        return [rule_record(status) for status in self.statuses]

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

    def to_markdown(self) -> str:
        """Return the table of the promises, as the reports show it."""
        table = markdown_table(*self._cells())
        return "\n\n".join(filter(None, (table, rule_footnote(self.statuses))))

    def __repr__(self) -> str:
        head = escape_terminal(f"{self.decision}: {self.reason}")
        table = text_table(*self._cells())
        return "\n\n".join(filter(None, (head, table, rule_footnote(self.statuses))))

    def _repr_html_(self) -> str:
        head = (
            f"<p><strong>{escape_html(self.decision)}</strong>: "
            f"{escape_html(self.reason)}</p>"
        )
        note = escape_html(rule_footnote(self.statuses))
        return head + html_table(*self._cells()) + (f"<p>{note}</p>" if note else "")

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        decimals = printed_decimals(self.comparison, self.plan)
        declared = (*self.comparison.metrics, *self.plan.metrics)
        columns = rule_columns(format_percent(self.plan.analysis.confidence_level))
        rows = [
            list(
                rule_row(
                    status,
                    rule_direction(status, declared),
                    decimals.get(status.metric),
                ).cells
            )
            for status in self.statuses
        ]
        titles = [title for title, _, _ in columns]
        return titles, rows, "".join(side for _, side, _ in columns)


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
