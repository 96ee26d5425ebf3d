"""tau-bench: a list of trials with rewards, and the ``simulations`` of tau2."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.peek import Peek
from onechange.formats.rows import (
    Row,
    id_of,
    number,
    optional_number,
    scalars,
    text_of,
)
from onechange.formats.source import load, parse_json
from onechange.results import FAILED, Columns, Results

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "tau-bench"
LOOKS_FOR = (
    "a JSON list with task_id, reward and trial, or an object with simulations and info"
)


def sniff(seen: Peek) -> bool:
    """Whether a JSON file looks like tau-bench or tau2 trials.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    if seen.kind != "json":
        return False
    if "simulations" in seen.keys:
        return bool({"info", "tasks"} & seen.keys)
    return {"task_id", "reward"} <= seen.item.keys() and bool(
        {"trial", "traj", "info"} & seen.item.keys()
    )


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read the trials: one row per task and trial.

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
        One system, named as its file.

    Raises
    ------
    InputError
        When an entry is malformed.

    Notes
    -----
    A trial whose ``info`` holds an ``error`` raised; it is failed, where the tool
    counts a reward of 0. In tau2 a simulation without a reward is failed.
    """
    document = load(path)
    whole = parse_json(document.text, name=document.name)
    settings: dict[str, Any] = {}
    if isinstance(whole, dict):
        entries, field = whole.get("simulations"), "simulations"
        settings = _tau2_settings(whole.get("info") or {})
    else:
        entries, field = whole, ""
    if not isinstance(entries, list):
        raise InputError(f"{document.name}: expected a list of trials.")
    rows = []
    for index, entry in enumerate(entries):
        place = f"{field}[{index}]"
        if not isinstance(entry, dict):
            raise InputError(f"{document.name}: {place}: expected an object.")
        make = _tau2_row if field else _row
        rows.append(make(entry, place, f"{document.name}: {place}"))
    results = build(
        path.stem,
        rows,
        files=[document.file],
        settings=settings,
        columns=columns,
        quality=["reward"],
    )
    return {path.stem: results}


def _row(entry: dict[str, Any], place: str, where: str) -> Row:
    row = Row(id_of(entry.get("task_id"), place=where), place)
    if entry.get("trial") is not None:
        row.trial = str(entry["trial"])
    row.metrics["reward"] = number(entry.get("reward"), place=where, what="reward")
    info = entry.get("info")
    if isinstance(info, Mapping):
        if "user_cost" in info:
            row.metrics["user_cost"] = optional_number(info["user_cost"])
        if info.get("error"):
            row.status = FAILED
            row.labels["error"] = text_of(info["error"])
        task = info.get("task")
        if isinstance(task, Mapping):
            row.labels["question"] = text_of(task.get("instruction"))
    return row


def _tau2_row(entry: dict[str, Any], place: str, where: str) -> Row:
    row = Row(id_of(entry.get("task_id"), place=where), place)
    if entry.get("trial") is not None:
        row.trial = str(entry["trial"])
    info = entry.get("reward_info")
    reward = info.get("reward") if isinstance(info, Mapping) else None
    row.metrics["reward"] = number(reward, place=where, what="reward")
    if reward is None:
        row.status = FAILED
    for field, name in (
        ("agent_cost", "agent_cost"),
        ("user_cost", "user_cost"),
        ("duration", "duration_s"),
    ):
        if field in entry:
            row.metrics[name] = optional_number(entry[field])
    row.labels["termination_reason"] = text_of(entry.get("termination_reason"))
    return row


def _tau2_settings(info: Mapping[str, Any]) -> dict[str, Any]:
    kept = {
        key: info.get(key)
        for key in ("agent_info", "user_info", "max_steps", "max_errors", "seed")
    }
    environment = info.get("environment_info")
    if isinstance(environment, Mapping):
        kept["environment"] = environment.get("domain_name")
    return scalars(kept)
