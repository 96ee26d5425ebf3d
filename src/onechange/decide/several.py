"""The decisions about several variants of one comparison, together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, SupportsIndex, overload

from onechange.compare import Comparison
from onechange.decide.decision import EXIT_CODES, Decision
from onechange.display import TableMixin
from onechange.errors import PlanError
from onechange.plan import Plan

__all__ = ["Decisions"]

WORST_FIRST = ("do not ship", "inconclusive", "ship")


class Decisions(TableMixin, tuple[Decision, ...]):
    """One decision per variant: a tuple that prints as a table.

    Parameters
    ----------
    decisions : iterable of Decision
        Of the variants of one comparison, by one plan, in their order.

    Raises
    ------
    PlanError
        When there is none.
    """

    __slots__ = ()

    def __new__(cls, decisions: Iterable[Decision] = ()) -> Decisions:
        """Refuse to be empty: there is nothing to be said of no decision."""
        found = super().__new__(cls, decisions)
        if not found:
            raise PlanError("no variant was decided on; compare at least one.")
        return found

    def __iter__(self) -> Iterator[Decision]:
        return tuple.__iter__(self)

    @overload
    def __getitem__(self, key: SupportsIndex) -> Decision: ...

    @overload
    def __getitem__(self, key: slice) -> Decisions: ...

    def __getitem__(self, key: SupportsIndex | slice) -> Decision | Decisions:
        if isinstance(key, slice):
            return Decisions(tuple(self)[key])
        return tuple(self)[key]

    @property
    def decision(self) -> str:
        """The worst of the decisions: *ship* when every variant may ship."""
        return min((d.decision for d in self), key=WORST_FIRST.index)

    @property
    def exit_code(self) -> int:
        """Exit code of the worst decision."""
        return EXIT_CODES[self.decision]

    @property
    def comparison(self) -> Comparison:
        """What was compared."""
        return self[0].comparison

    @property
    def plan(self) -> Plan:
        """The rules."""
        return self[0].plan

    @property
    def shipping(self) -> tuple[str, ...]:
        """Names of the variants that may ship."""
        return tuple(d.variant_name for d in self if d.decision == "ship")

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary of plain values per variant."""
        return [
            {
                "variant_name": decision.variant_name,
                "decision": decision.decision,
                "reason": decision.reason,
            }
            for decision in self
        ]

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[row["variant_name"], row["decision"]] for row in self.to_dicts()]
        return ["variant", "decision"], rows, "ll"
