"""SWE-bench: harness reports, id lists, flat ``{id: bool}``, leaderboard entries."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.peek import Peek, first
from onechange.formats.rows import Row, number, optional_number, scalars
from onechange.formats.source import Document, load, parse_json
from onechange.results import FAILED, UNSCORED, Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "swebench"
LOOKS_FOR = (
    "a JSON object of id: true or false, a report with resolved_ids, a list of "
    "resolved ids beside those attempted, or entries with per_instance_details"
)

_RESOLVED = ("resolved_ids", "resolved")
_UNRESOLVED = ("unresolved_ids", "empty_patch_ids")
_ERRORS = ("error_ids", "infra_failure_ids", "ambiguous_failure_ids")
_NOT_RUN = ("incomplete_ids",)
_ATTEMPTED = ("submitted_ids", "completed_ids", "generated", "applied", "no_logs")
_NOTHING = ("no_generation", "no_apply")
_REPOSITORY = re.compile(
    r"(?:instance_)?(?P<owner>.+?)__(?P<name>.+?)-[0-9a-f]+(?:-.*)?"
)


def sniff(seen: Peek) -> bool:
    """Whether a JSON file looks like a SWE-bench result.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    if seen.kind != "json" or not isinstance(seen.value, dict):
        return False
    value = seen.value
    if "resolved_ids" in value:
        return "results" not in value  # Terminal-Bench has both
    if isinstance(value.get("resolved"), list):
        return bool({*_ATTEMPTED, *_NOTHING} & value.keys())
    if isinstance(value.get("leaderboards"), list):
        return True
    inner = first(value)
    if isinstance(inner, dict):
        return "per_instance_details" in inner
    return bool(value) and all(isinstance(item, bool | None) for item in value.values())


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read which instances were resolved: one row per instance.

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
        One system, or one per entry of a leaderboard file.

    Raises
    ------
    InputError
        When an id is in two lists, or only resolved ids are given.

    Notes
    -----
    Ids in an error list are failed and ids in ``incomplete_ids`` are unscored; the
    harness counts both as not resolved. An empty patch is 0. The repository is a
    label, taken from the id.
    """
    document = load(path)
    whole = parse_json(document.text, name=document.name)
    if not isinstance(whole, dict):
        raise InputError(f"{document.name}: expected an object.")
    entries = _leaderboard(whole)
    if entries:
        return {
            name: _entry(name, entry, document, columns)
            for name, entry in entries.items()
        }
    if any(isinstance(whole.get(key), list) for key in _RESOLVED):
        rows, notes = _from_lists(whole, document.name)
    else:
        rows, notes = _from_flags(whole, document.name), []
    name = path.name.split(".json")[0]
    return {
        name: build(name, rows, files=[document.file], notes=notes, columns=columns)
    }


def _from_flags(whole: Mapping[str, Any], name: str) -> list[Row]:
    rows = []
    for key, value in whole.items():
        row = _row(key, f'"{key}"')
        row.metrics["resolved"] = number(value, place=f"{name}: {key}", what="resolved")
        rows.append(row)
    return rows


def _from_lists(whole: Mapping[str, Any], name: str) -> tuple[list[Row], list[Note]]:
    resolved = _ids(whole, _RESOLVED)
    errors = _ids(whole, _ERRORS) - resolved
    not_run = _ids(whole, _NOT_RUN) - resolved
    unresolved = _ids(whole, _UNRESOLVED) | _ids(whole, _NOTHING)
    attempted = _ids(whole, _ATTEMPTED)
    both = sorted(resolved & unresolved)
    if both:
        raise InputError(
            f'{name}: "{both[0]}" is listed as resolved and as unresolved '
            f"({len(both)} such ids); the report contradicts itself."
        )
    if not unresolved and not attempted:
        raise InputError(
            f"{name}: only resolved ids are listed; the ids that were attempted and "
            "not resolved are needed too (submitted_ids or unresolved_ids)."
        )
    rows = []
    for key in sorted(resolved | unresolved | errors | not_run | attempted):
        row = _row(key, f'"{key}"')
        row.metrics["resolved"] = float(key in resolved)
        if key in errors and key not in unresolved:
            row.status = FAILED
        elif key in not_run:
            row.status, row.metrics["resolved"] = UNSCORED, math.nan
        rows.append(row)
    return rows, _list_notes(rows)


def _list_notes(rows: list[Row]) -> list[Note]:
    failed = sum(row.status == FAILED for row in rows)
    not_run = sum(row.status == UNSCORED for row in rows)
    if not failed and not not_run:
        return []
    return [
        Note(
            "counted-differently",
            f"swebench: {failed} instances with errors are failed and {not_run} that "
            "were not run are unscored; the harness counts them as not resolved.",
        )
    ]


def _ids(whole: Mapping[str, Any], keys: Iterable[str]) -> set[str]:
    return {str(key) for name in keys for key in whole.get(name) or []}


def _leaderboard(whole: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Entries by folder or name: a mapping of entries, or the site's own file."""
    found: dict[str, Mapping[str, Any]] = {}
    if isinstance(whole.get("leaderboards"), list):
        for board in whole["leaderboards"]:
            for entry in board.get("results") or []:
                if entry.get("per_instance_details"):
                    name = str(entry.get("folder") or entry.get("name"))
                    if name in found:
                        name = f"{board.get('name')}/{name}"
                    found[name] = entry
        return found
    for name, entry in whole.items():
        if isinstance(entry, Mapping) and entry.get("per_instance_details"):
            found[name] = entry
    return found


def _entry(
    name: str, entry: Mapping[str, Any], document: Document, columns: Columns
) -> Results:
    rows = []
    for key, details in entry["per_instance_details"].items():
        place = f'{document.name}: "{name}", "{key}"'
        row = _row(key, f'"{key}"')
        if not isinstance(details, Mapping):
            raise InputError(f"{place}: expected an object with resolved.")
        resolved = details.get("resolved")
        row.metrics["resolved"] = number(resolved, place=place, what="resolved")
        for field, metric in (("cost", "cost_usd"), ("api_calls", "api_calls")):
            if field in details:
                row.metrics[metric] = optional_number(details[field])
        rows.append(row)
    notes = []
    headline = optional_number(entry.get("resolved"))
    flags = [row.metrics["resolved"] for row in rows]
    share = 100 * sum(flag == 1 for flag in flags) / len(flags)
    if not math.isnan(headline) and abs(headline - share) > 0.5:
        notes.append(
            Note(
                "header-disagrees",
                f'swebench: the headline of "{name}" is {headline:g} % resolved; the '
                f"{len(flags)} flags give {share:.1f} %.",
            )
        )
    kept = {
        key: value
        for key, value in entry.items()
        if key in ("name", "tags", "mini-swe-agent_version", "agent_version")
    }
    kept["system"] = kept.pop("name", None)
    return build(
        name,
        rows,
        files=[document.file],
        settings=scalars(kept),
        notes=notes,
        columns=columns,
        quality=["resolved"],
    )


def _row(key: str, place: str) -> Row:
    row = Row(key, place)
    match = _REPOSITORY.fullmatch(key)
    if match:
        row.labels["repo"] = f"{match['owner']}/{match['name']}"
    return row
