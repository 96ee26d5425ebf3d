"""The settings file beside a table: which tables and runs it is about."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onechange.errors import InputError
from onechange.plain_values import flatten, plain_value
from onechange.score.files import arm_settings, settings_path, write_settings

__all__ = ["TABLE_SUFFIXES", "merged_settings", "record_settings"]

TABLE_SUFFIXES = (".jsonl", ".ndjson", ".csv", ".tsv", ".xlsx")
_OWN = "onechange"  # key of what the file says about itself, not about the arm
_SCORE = "score"


def merged_settings(
    path: Path,
    score: Mapping[str, Any],
    arm: Mapping[str, Any],
    *,
    run: Mapping[str, str],
    new: bool,
) -> dict[str, Any]:
    """Join the settings of new rows with those beside a table, or refuse to.

    Parameters
    ----------
    path : Path
        The table that is written or added to.
    score : mapping
        Settings of the scores.
    arm : mapping
        Settings recorded beside the traces.
    run : mapping of str to str
        Constant columns that name the run; the settings of the arm are kept for it.
    new : bool
        Whether the table is written anew: then only other tables with the same stem
        can disagree.

    Returns
    -------
    dict
        Content of ``<stem>.settings.json``: the settings of the arm, ``score``, and
        under ``onechange`` the tables that it is about and the settings of each run.

    Raises
    ------
    InputError
        If the settings beside it are those of something else, or differ.
    """
    arm = {name: part for name, part in arm.items() if name not in (_OWN, _SCORE)}
    known = _known(path, new=new)
    own = known.get(_OWN, {})
    others = _other_tables(path, known)
    if new and not others:
        known, own = {}, {}
    if isinstance(known.get(_SCORE), Mapping):
        _refuse_differences(path, known[_SCORE], score, others, new=new)
    before = {k: part for k, part in known.items() if k not in (_OWN, _SCORE)}
    runs = [dict(entry) for entry in own.get("runs", ())]
    if run:
        runs = _with_run(path, runs, run, arm)
    elif (new and others) or (arm and before):
        _refuse_differences(path, before, arm, others, new=new)
    elif new:
        before = dict(arm)
    tables = sorted({*others, path.name})
    about: dict[str, Any] = {"tables": tables}
    if runs:
        about["runs"] = runs
    return {**before, _SCORE: dict(score), _OWN: about}


def record_settings(path: Path, settings: Mapping[str, Any]) -> None:
    """Write merged settings beside a table, unless they stand there already.

    Parameters
    ----------
    path : Path
        The table.
    settings : mapping
        As `merged_settings` gives them.
    """
    if not settings_path(path).exists() or arm_settings(path) != settings:
        write_settings(path, settings)


def _known(path: Path, *, new: bool) -> dict[str, Any]:
    """Read what stands beside the table; refuse settings that cannot be joined."""
    toml = path.with_name(f"{path.stem}.settings.toml")
    if toml.exists():
        raise InputError(
            f"{path}: {toml.name} beside it holds settings already, and those of the "
            "scores cannot be written there; choose another name for the table, or "
            "turn that file into .settings.json"
        )
    if not settings_path(path).exists():
        return {}
    known = arm_settings(path)
    if new and not known.keys() & {_OWN, _SCORE}:
        raise InputError(
            f"{path}: {settings_path(path).name} beside it holds the settings of "
            "something else, and would be replaced; choose another name for the table"
        )
    return known


def _other_tables(path: Path, known: Mapping[str, Any]) -> list[str]:
    """Name the other tables that the settings are about and that still exist."""
    if not known:
        return []
    own = known.get(_OWN)
    if isinstance(own, Mapping) and isinstance(own.get("tables"), list):
        named = [str(name) for name in own["tables"]]
    else:
        named = [f"{path.stem}{suffix}" for suffix in TABLE_SUFFIXES]
    return [n for n in named if n != path.name and path.with_name(n).exists()]


def _refuse_differences(
    path: Path,
    recorded: Mapping[str, Any],
    now: Mapping[str, Any],
    others: list[str],
    *,
    new: bool,
) -> None:
    first, second = flatten(recorded), flatten(now)
    differ = [
        f"{name} {first.get(name)!r}, now {second.get(name)!r}"
        for name in sorted({*first, *second})
        if plain_value(first.get(name)) != plain_value(second.get(name))
    ]
    if not differ:
        return
    listed = "; ".join(differ)
    if new:
        raise InputError(
            f"{path}: {settings_path(path).name} beside it holds other settings, "
            f"those of {', '.join(others)} ({listed}); choose another name"
        )
    raise InputError(
        f"{path}: was scored with other settings ({listed}); score with the same "
        "settings, name the runs apart with a constant column, or write a new table"
    )


def _with_run(
    path: Path,
    runs: list[dict[str, Any]],
    run: Mapping[str, str],
    arm: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Add the settings of a run; another batch of it must have the same."""
    where = {name: str(value) for name, value in run.items()}
    for entry in runs:
        if entry.get("where") == where:
            recorded = entry.get("settings", {})
            if arm and recorded:
                _refuse_differences(path, recorded, arm, [], new=False)
            entry["settings"] = recorded or dict(arm)
            return runs
    return [*runs, {"where": where, "settings": dict(arm)}]
