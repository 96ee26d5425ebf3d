"""Metrics of the data + plan -> metrics with a direction, or the misspelt name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from onechange.errors import PlanError
from onechange.plan.directions import infer_direction
from onechange.plan.keys import BUILT_IN_RATES, Key, PlanKeyError, did_you_mean
from onechange.plan.parts import Metric
from onechange.plan.plan import Plan
from onechange.stats.estimate import Note

__all__ = ["resolve_metrics"]


def resolve_metrics(
    plan: Plan, names: Sequence[str], *, texts: Iterable[str] = ()
) -> tuple[tuple[Metric, ...], tuple[Note, ...]]:
    """Complete what the plan says about each metric of the data.

    Parameters
    ----------
    plan : Plan
        Declared metrics, primaries and guardrails.
    names : sequence of str
        Names of the metrics in the data, in their order there. The built-in rates
        are not among them.
    texts : iterable of str
        Columns of the data that hold texts, for the message about a metric that is
        one of them.

    Returns
    -------
    metrics : tuple of Metric
        One per name, in that order, each with a direction; ratio metrics follow.
    notes : tuple of Note
        ``direction-assumed`` with every direction that was not declared.

    Raises
    ------
    PlanError
        When the plan names a metric that is not in the data.

    Examples
    --------
    >>> metrics, notes = resolve_metrics(Plan(), ["latency_ms"])
    >>> metrics[0].direction, notes[0].code
    ('lower', 'direction-assumed')
    """
    declared = {metric.name: metric for metric in plan.metrics}
    ratios = [metric.name for metric in plan.metrics if metric.numerator is not None]
    known = [*names, *(name for name in ratios if name not in names)]
    _check_known(plan, known, names, frozenset(texts))
    metrics = []
    assumed = []
    for name in known:
        metric = declared.get(name, Metric(name))
        if metric.direction is None:
            direction = infer_direction(name)
            metric = _directed(plan, metric, direction)
            assumed.append(metric)
        if metric.unscored is None:
            metric = _with_unscored(plan, metric)
        metrics.append(metric)
    return tuple(metrics), _direction_notes(assumed)


def _check_known(
    plan: Plan, known: Sequence[str], names: Sequence[str], texts: frozenset[str]
) -> None:
    allowed = [*known, *BUILT_IN_RATES]
    for key, name in _named_metrics(plan):
        table = key[0]
        if table == "metric" and name not in known:
            column = _column_of(plan, name)
            if column is not None:
                key, name = (*key[:2], "column"), column
            raise _data_error(plan, key, name, known, texts)
        if table != "metric" and name not in allowed:
            raise _data_error(plan, key, name, allowed, texts)
        if name in BUILT_IN_RATES and name in names and table != "metric":
            raise PlanError(
                f'{plan.place(key)}: "{name}" is a column of the data and a built-in '
                "rate; give the column another name, with [[metric]] name = … and "
                f'column = "{name}".'
            )
    for name in plan.columns.metrics:
        if name not in allowed:
            raise _data_error(plan, ("data", "metrics"), name, known, texts)
    for index, metric in enumerate(plan.metrics):
        for part in ("numerator", "denominator"):
            column = getattr(metric, part)
            if column is not None and column not in names:
                raise _data_error(plan, ("metric", index, part), column, names, texts)


def _column_of(plan: Plan, name: str) -> str | None:
    return next((m.column for m in plan.metrics if m.name == name), None)


def _named_metrics(plan: Plan) -> Iterator[tuple[Key, str]]:
    for index, metric in enumerate(plan.metrics):
        yield ("metric", index, "name"), metric.name
    for index, primary in enumerate(plan.primary):
        yield ("primary", index, "metric"), primary.metric
    for index, rule in enumerate(plan.guardrails):
        yield ("guardrail", index, "metric"), rule.metric


def _data_error(
    plan: Plan, key: Key, name: str, known: Iterable[str], texts: frozenset[str]
) -> PlanError:
    label = ".".join(part for part in key if isinstance(part, str))
    where = f'{plan.place(key)}: {label}: "{name}"'
    if name in texts:
        return PlanError(
            f"{where} holds text in the data; a metric holds numbers, true or false. "
            "Turn its words into 1 and 0 first."
        )
    hint = did_you_mean(name, known)
    if plan.columns.metrics:
        hint += " Only these are read, and those that the rules need."
    return PlanError(f"{where} is not a metric of the data; {hint}")


def _directed(plan: Plan, metric: Metric, direction: str) -> Metric:
    """Give a metric the direction of its name; what that forbids has a place."""
    try:
        return replace(metric, direction=direction)
    except PlanKeyError as problem:
        names = [declared.name for declared in plan.metrics]
        key: Key = ("metric", names.index(metric.name), *problem.key)
        label = ".".join(part for part in key if isinstance(part, str))
        raise PlanError(f"{plan.place(key)}: {label}: {problem.text}") from problem


def _with_unscored(plan: Plan, metric: Metric) -> Metric:
    if plan.analysis.unscored == "exclude":
        return replace(metric, unscored="exclude")
    try:
        return replace(metric, unscored=plan.analysis.unscored)
    except PlanKeyError as problem:
        raise PlanError(f"plan: analysis.unscored: {problem.text}") from problem


def _direction_notes(assumed: Sequence[Metric]) -> tuple[Note, ...]:
    if not assumed:
        return ()
    parts = [
        f"{direction} is better for {', '.join(names)}"
        for direction in ("higher", "lower")
        if (names := [m.name for m in assumed if m.direction == direction])
    ]
    text = (
        f"Directions taken from the names: {'; '.join(parts)}. Declare others in the "
        "plan or with --direction NAME=lower."
    )
    return (Note("direction-assumed", text),)
