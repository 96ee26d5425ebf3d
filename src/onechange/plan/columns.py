"""Columns that a plan names -> an error with its place where the data lack one."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from onechange.errors import PlanError
from onechange.plan.keys import Key, did_you_mean
from onechange.plan.plan import Plan
from onechange.plan.slicing import parse_slice

__all__ = ["check_columns"]


def check_columns(
    plan: Plan,
    *,
    labels: Collection[str],
    numbers: Collection[str],
    settings: Collection[str],
) -> None:
    """Refuse slices, a cluster and settings that are not in the data.

    Parameters
    ----------
    plan : Plan
    labels : collection of str
        Columns of labels of any arm.
    numbers : collection of str
        Metrics of any arm.
    settings : collection of str
        Recorded settings of any arm, nested ones with dots.

    Raises
    ------
    PlanError
        With the place in the plan file, the key, and the nearest name.
    """
    for key, column in _label_columns(plan):
        if column in labels:
            continue
        kind = "cluster" if key[-1] == "cluster" else "slice"
        hint = did_you_mean(column, labels)
        hint = f". {hint}" if hint.startswith("Valid") else f"; {hint}"
        if kind == "slice" and column in numbers:
            hint = f'; it holds numbers: give cut points, "{column}:LOW,HIGH".'
        hint = hint.replace("Valid:", "Columns of labels:")
        raise PlanError(
            f'{_where(plan, key)}{kind} "{column}" is not a column of labels in the '
            f"data{hint}"
        )
    for name in plan.columns.settings:
        if not any(key == name or key.startswith(f"{name}.") for key in settings):
            raise PlanError(
                f'{_where(plan, ("data", "settings"))}no column "{name}" holds a '
                f"setting in the data; {did_you_mean(name, settings)}"
            )


def _label_columns(plan: Plan) -> Iterator[tuple[Key, str]]:
    """Yield every column of labels with the key that names it."""
    if plan.columns.cluster is not None:
        yield ("data", "cluster"), plan.columns.cluster
    ruled: dict[str, Key] = {}
    for index, rule in enumerate(plan.guardrails):
        if rule.every_slice is not None:
            for column in parse_slice(rule.every_slice).columns:
                ruled.setdefault(column, ("guardrail", index, "every_slice"))
    mixed = {column for text in plan.weights for column in parse_slice(text).columns}
    for spec in plan.slices:
        for column in spec.columns if not spec.cuts else ():
            key: Key = ("data", "slices")
            if column in ruled:
                key = ruled[column]
            elif column in mixed:
                key = ("data", "weights")
            yield key, column


def _where(plan: Plan, key: Key) -> str:
    """Return file, line and key; nothing for what no file names."""
    place = plan.place(key)
    if place == "plan":
        return ""
    label = ".".join(part for part in key if isinstance(part, str))
    return f"{place}: {label}: "
