"""`SliceBreakdown` and `SliceTable`: the deltas of slices, printed as tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, SupportsIndex, overload

from onechange.delta import Delta, DeltaTable
from onechange.display import TableMixin
from onechange.plan import SliceSpec
from onechange.slice_effects import Reversal, SliceHeterogeneity
from onechange.slice_weights import WeightedDelta
from onechange.stats.estimate import Note

__all__ = ["SliceBreakdown", "SliceTable"]


@dataclass(frozen=True, slots=True, repr=False)
class SliceBreakdown(TableMixin):
    """One breakdown: deltas of every metric in every slice, worst change first.

    Prints as the table of its deltas, in a notebook as well.

    Parameters
    ----------
    spec : SliceSpec
        What it is by.
    deltas : tuple of Delta
        Metric by metric, variant by variant, from the worst slice to the best.
    joined : tuple of Delta
        The slices under the minimum size, joined, for guardrails that must hold in
        every slice.
    rates : tuple of Delta
        Built-in rates in every slice, where a guardrail asks for them.
    heterogeneity : tuple of SliceHeterogeneity
        Per metric and variant.
    reversals : tuple of Reversal
        Slices on the other side of zero from the overall delta, the shown ones first.
    weighted : tuple of WeightedDelta
        Deltas of the stated mix, per metric and variant.
    notes : tuple of Note
        Caveats of the whole breakdown.
    """

    spec: SliceSpec
    deltas: tuple[Delta, ...]
    joined: tuple[Delta, ...] = ()
    rates: tuple[Delta, ...] = ()
    heterogeneity: tuple[SliceHeterogeneity, ...] = ()
    reversals: tuple[Reversal, ...] = ()
    weighted: tuple[WeightedDelta, ...] = ()
    notes: tuple[Note, ...] = ()

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary of plain values a delta, at full precision."""
        return DeltaTable(self.deltas).to_dicts()

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        return DeltaTable(self.deltas)._cells()

    def of_variant(self, name: str) -> SliceBreakdown:
        """Keep what is about one variant."""
        return replace(
            self,
            deltas=tuple(d for d in self.deltas if d.variant_name == name),
            joined=tuple(d for d in self.joined if d.variant_name == name),
            rates=tuple(d for d in self.rates if d.variant_name == name),
            heterogeneity=tuple(
                h for h in self.heterogeneity if h.variant_name == name
            ),
            reversals=tuple(r for r in self.reversals if r.variant_name == name),
            weighted=tuple(w for w in self.weighted if w.variant_name == name),
        )


class SliceTable(TableMixin, tuple[SliceBreakdown, ...]):
    """All breakdowns: a tuple that prints as the table of their deltas.

    Examples
    --------
    >>> part = Delta("correct", "higher", 0, slice=(("kind", "lookup"),))
    >>> table = SliceTable([SliceBreakdown(SliceSpec(("kind",)), (part,))])
    >>> len(table), table[0].spec.name, table.to_dicts()[0]["slice"]
    (1, 'kind', 'lookup')
    """

    __slots__ = ()

    def __iter__(self) -> Iterator[SliceBreakdown]:
        return tuple.__iter__(self)

    @overload
    def __getitem__(self, key: SupportsIndex) -> SliceBreakdown: ...

    @overload
    def __getitem__(self, key: slice) -> SliceTable: ...

    def __getitem__(self, key: SupportsIndex | slice) -> SliceBreakdown | SliceTable:
        if isinstance(key, slice):
            return SliceTable(tuple(self)[key])
        return tuple(self)[key]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary of plain values a delta, breakdown by breakdown."""
        return self._deltas().to_dicts()

    def _deltas(self) -> DeltaTable:
        return DeltaTable(delta for breakdown in self for delta in breakdown.deltas)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        return self._deltas()._cells()
