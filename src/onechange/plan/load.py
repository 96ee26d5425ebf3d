"""Checked plan file -> the parts of a `Plan`, with file and line of each problem."""

from __future__ import annotations

from typing import Any

from onechange.plan.file import PlanFile
from onechange.plan.keys import Key, PlanKeyError, did_you_mean
from onechange.plan.parts import Analysis, Change, Guardrail, Metric, Primary
from onechange.plan.slicing import as_slices
from onechange.results import Columns

__all__ = ["placed", "plan_arguments"]


def plan_arguments(source: PlanFile) -> dict[str, Any]:
    """Build the parts of a plan from its file.

    Parameters
    ----------
    source : PlanFile
        Keys that are known, of the right kind.

    Returns
    -------
    dict
        Keyword arguments of `Plan`.

    Raises
    ------
    PlanError
        With file, line and key of the first value that is not valid.
    """
    return {
        "primary": _listed(source, "primary", Primary),
        "guardrails": _listed(source, "guardrail", Guardrail),
        "metrics": _listed(source, "metric", Metric),
        "analysis": _analysis(source),
        "thresholds": source.tables.get("diagnosis", {}),
        **_data(source),
        **_experiment(source),
    }


def placed(source: PlanFile, prefix: Key, build: Any) -> Any:
    """Build a part of a plan; a problem with one of its keys gets file and line."""
    try:
        return build()
    except PlanKeyError as problem:
        key = (*prefix, *problem.key)
        if key[:1] == ("primary",) and key not in source.lines:
            key = (key[0], *key[2:])  # [primary] stands without an index
        raise source.error(key, problem.text) from problem


def _listed(source: PlanFile, table: str, part: Any) -> tuple[Any, ...]:
    return tuple(
        placed(source, (table, index), lambda values=values: part(**values))
        for index, values in enumerate(source.tables.get(table, ()))
    )


def _analysis(source: PlanFile) -> Analysis:
    data = source.tables.get("data", {})
    moved = {key: data[key] for key in ("min_slice", "trials_paired") if key in data}
    if moved:
        placed(source, ("data",), lambda: Analysis(**moved))
    values = {**source.tables.get("analysis", {}), **moved}
    analysis: Analysis = placed(source, ("analysis",), lambda: Analysis(**values))
    return analysis


def _data(source: PlanFile) -> dict[str, Any]:
    data = source.tables.get("data", {})
    for word, meaning in data.get("statuses", {}).items():
        if meaning not in ("answered", "unscored", "failed"):
            hint = did_you_mean(meaning, ("answered", "unscored", "failed"))
            raise source.error(
                ("data", "statuses"), f'"{word}" is mapped to "{meaning}"; {hint}'
            )
    columns = Columns(
        question_id=data.get("question_id"),
        trial=data.get("trial"),
        judge_trial=data.get("judge_trial"),
        status=data.get("status"),
        cluster=data.get("cluster"),
        metrics=tuple(data.get("metrics", ())),
        settings=tuple(data.get("settings", ())),
        statuses=data.get("statuses", {}),
        missing=tuple(data.get("missing", ())),
    )
    listed = [
        item if isinstance(item, str) else ",".join(item)
        for item in data.get("slices", ())
    ]
    for text in listed:
        if listed.count(text) > 1:
            raise source.error(("data", "slices"), f'"{text}" stands twice; keep one.')
    slices = placed(source, ("data",), lambda: as_slices(data.get("slices", ())))
    return {"columns": columns, "slices": slices, "weights": data.get("weights", {})}


def _experiment(source: PlanFile) -> dict[str, Any]:
    values = dict(source.tables.get("experiment", {}))
    change = values.pop("change", None)
    if change is not None:
        values["change"] = placed(
            source,
            ("experiment", "change"),
            lambda: Change(change["setting"], change.get("from"), change.get("to")),
        )
    return values
