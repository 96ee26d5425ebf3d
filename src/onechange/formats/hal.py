"""HAL uploads: rewards, latencies and costs in three objects keyed by task."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onechange.cells import score_value
from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.peek import Peek
from onechange.formats.rows import Row, number, optional_number, scalars
from onechange.formats.source import load, parse_json
from onechange.results import Columns, Results

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "hal"
LOOKS_FOR = "a JSON object with raw_eval_results and results"

_SCORES = ("reward", "score", "resolved", "success", "correct")


def sniff(seen: Peek) -> bool:
    """Whether a JSON file looks like a HAL upload.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    return {"raw_eval_results", "results"} <= seen.keys


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read an upload: one row per task.

    Parameters
    ----------
    path : Path
        JSON file.
    columns : Columns
        Roles of columns.
    gold : Path, optional
        Not used.

    Returns
    -------
    dict of str to Results
        One system, named as its run id or its file.

    Raises
    ------
    InputError
        When ``raw_eval_results`` is not keyed by task.

    Notes
    -----
    A task that has a latency or a cost and no evaluation is unscored.
    """
    document = load(path)
    whole = parse_json(document.text, name=document.name)
    if not isinstance(whole, dict) or not isinstance(
        whole.get("raw_eval_results"), dict
    ):
        raise InputError(
            f"{document.name}: raw_eval_results is not an object keyed by task; the "
            "upload holds no result per task."
        )
    evaluations = whole["raw_eval_results"]
    results = whole.get("results") or {}
    latencies = _by_task(results.get("latencies"))
    costs = _by_task(results.get("costs"))
    rows = []
    for task in dict.fromkeys([*evaluations, *latencies, *costs]):
        row = Row(str(task), f'task "{task}"')
        _add_scores(row, evaluations.get(task), f'{document.name}: task "{task}"')
        latency = latencies.get(task)
        if isinstance(latency, Mapping):
            latency = latency.get("total_time")
        if latencies:
            row.metrics["latency_s"] = optional_number(latency)
        if costs:
            row.metrics["cost_usd"] = optional_number(costs.get(task))
        rows.append(row)
    metadata = whole.get("metadata") or {}
    settings = scalars(metadata.get("agent_args"), "agent_args")
    settings |= scalars(_config(whole.get("config")))
    name = str(metadata.get("run_id") or path.stem)
    quality = [metric for metric in _metrics(rows) if metric in _SCORES]
    found = build(
        name,
        rows,
        files=[document.file],
        settings=settings,
        columns=columns,
        quality=quality or None,
    )
    return {name: found}


def _add_scores(row: Row, evaluation: Any, where: str) -> None:
    if isinstance(evaluation, Mapping):
        for field, value in evaluation.items():
            if field == "cost" or isinstance(value, Mapping | list):
                continue
            score = score_value(value)
            if score is None:
                row.labels[str(field)] = str(value)
            else:
                row.metrics[str(field)] = score
    else:
        row.metrics["score"] = number(evaluation, place=where, what="score")


def _metrics(rows: list[Row]) -> list[str]:
    found = dict.fromkeys(metric for row in rows for metric in row.metrics)
    return [
        metric
        for metric in found
        if any(not math.isnan(row.metrics.get(metric, math.nan)) for row in rows)
    ]


def _by_task(values: Any) -> dict[str, Any]:
    return dict(values) if isinstance(values, Mapping) else {}


def _config(config: Any) -> dict[str, Any]:
    """Leave out the names and times of the run."""
    if not isinstance(config, Mapping):
        return {}
    left_out = {"run_id", "date", "timestamp"}
    return {key: value for key, value in config.items() if key not in left_out}
