"""Terminal-Bench: the ``results.json`` of a run, with one or several trials."""

from __future__ import annotations

import math
import re
from datetime import datetime
from pathlib import Path
from typing import Any

from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.peek import Peek
from onechange.formats.rows import (
    Row,
    id_of,
    number,
    number_trials,
    optional_number,
    text_of,
)
from onechange.formats.source import load, parse_json
from onechange.results import FAILED, Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "terminal-bench"
LOOKS_FOR = "a JSON object with results[].task_id and results[].is_resolved"

_TRIAL = re.compile(r".*\.(?P<trial>\d+)-of-(?P<trials>\d+)(\..*)?")


def sniff(seen: Peek) -> bool:
    """Whether a JSON file looks like a Terminal-Bench run.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    if "results" not in seen.keys or not isinstance(seen.value["results"], list):
        return False
    trials = seen.value["results"]
    first = trials[0] if trials else {}
    return isinstance(first, dict) and {"task_id", "is_resolved"} <= first.keys()


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read a run: one row per task and trial.

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
        When a trial is malformed.

    Notes
    -----
    ``is_resolved: null`` is failed (the harness broke: parse error, test time-out,
    unknown agent error), where the tool's accuracy counts it as not resolved. A
    resolved trial counts whatever its failure mode.
    """
    document = load(path)
    run = parse_json(document.text, name=document.name)
    trials = run.get("results") if isinstance(run, dict) else None
    if not isinstance(trials, list):
        raise InputError(f"{document.name}: expected an object with a results list.")
    rows = [
        _row(trial, f"results[{index}]", document.name)
        for index, trial in enumerate(trials)
    ]
    _label_trials(rows)
    failed = sum(row.status == FAILED for row in rows)
    notes = []
    if failed:
        notes.append(
            Note(
                "counted-differently",
                f"terminal-bench: {failed} of {len(rows)} trials have no outcome "
                "(is_resolved is null) and are failed; the tool's accuracy counts them "
                "as not resolved.",
            )
        )
    results = build(
        path.stem,
        rows,
        files=[document.file],
        notes=notes,
        columns=columns,
        quality=["resolved"],
    )
    return {path.stem: results}


def _row(trial: Any, place: str, name: str) -> Row:
    where = f"{name}: {place}"
    if not isinstance(trial, dict):
        raise InputError(f"{where}: expected an object.")
    row = Row(id_of(trial.get("task_id"), place=where), place)
    match = _TRIAL.fullmatch(str(trial.get("trial_name") or ""))
    row.trial = match["trial"] if match and match["trials"] != "1" else None
    resolved = trial.get("is_resolved")
    row.metrics["resolved"] = number(resolved, place=where, what="is_resolved")
    if resolved is None:
        row.status = FAILED
    tests = trial.get("parser_results")
    if isinstance(tests, dict) and tests:
        passed = sum(outcome == "passed" for outcome in tests.values())
        row.metrics["tests_passed_share"] = passed / len(tests)
    for field in ("total_input_tokens", "total_output_tokens"):
        value = optional_number(trial.get(field))
        row.metrics[field.removeprefix("total_")] = value
    row.metrics["agent_seconds"] = _seconds(
        trial.get("agent_started_at"), trial.get("agent_ended_at")
    )
    row.labels["failure_mode"] = text_of(trial.get("failure_mode"))
    row.labels["question"] = text_of(trial.get("instruction"))
    return row


def _label_trials(rows: list[Row]) -> None:
    """Trials by their name; where a name repeats, in the order of the file."""
    keys = {(row.question_id, row.trial) for row in rows}
    if len(keys) < len(rows) and all(row.trial is None for row in rows):
        number_trials(rows)


def _seconds(start: Any, end: Any) -> float:
    try:
        begin, finish = datetime.fromisoformat(start), datetime.fromisoformat(end)
        return (finish - begin).total_seconds()
    except (TypeError, ValueError):  # not recorded, or a naive and an aware time
        return math.nan
