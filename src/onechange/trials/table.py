"""`TrialsTable`: the trials of a comparison, as a tuple that prints as a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, SupportsIndex, overload

from onechange.display import TableMixin
from onechange.trials.arm import ArmTrials
from onechange.trials.metric import MetricTrials

__all__ = ["TrialsTable", "arm_row"]


class TrialsTable(TableMixin, tuple[MetricTrials, ...]):
    """Run-to-run variation of every metric; prints with one line per arm.

    Examples
    --------
    >>> one = ArmTrials(("1", "2"), (0.5, 0.7), 0.1414)
    >>> table = TrialsTable([MetricTrials("correct", one, one)])
    >>> [(row["arm"], row["n_trials"]) for row in table.to_dicts()]
    [('baseline', 2), ('variant', 2)]
    """

    __slots__ = ()

    def __iter__(self) -> Iterator[MetricTrials]:
        return tuple.__iter__(self)

    @overload
    def __getitem__(self, key: SupportsIndex) -> MetricTrials: ...

    @overload
    def __getitem__(self, key: slice) -> TrialsTable: ...

    def __getitem__(self, key: SupportsIndex | slice) -> MetricTrials | TrialsTable:
        if isinstance(key, slice):
            return TrialsTable(tuple(self)[key])
        return tuple(self)[key]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary of plain values per metric and arm."""
        rows = []
        for row in self:
            floor = row.delta.noise_floor if row.delta else None
            for name, arm in (("baseline", row.baseline), ("variant", row.variant)):
                label = row.variant_name if name == "variant" else None
                rows.append(
                    {
                        "metric": row.metric,
                        "arm": label or name,
                        **arm_row(arm),
                        "noise_floor": floor,
                    }
                )
        return rows


def arm_row(arm: ArmTrials) -> dict[str, Any]:
    """Give the main figures of one arm as plain values."""
    return {
        "n_questions": arm.n_questions,
        "n_trials": arm.n_trials,
        "between_trial_sd": arm.between_trial_sd,
        "within_question_sd": arm.within_question_sd,
        "icc": arm.icc,
        "flip_rate": arm.flip_rate,
        "pvalue": arm.trial_test.pvalue if arm.trial_test else None,
    }
