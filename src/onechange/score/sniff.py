"""Whether a file holds traces, or rows that were scored already."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

__all__ = ["holds_traces"]

_LINES = 20  # records that are looked at
_LISTS = ("candidates", "retrieved", "selected", "evidence", "claims", "cosines")
_COMPUTED = re.compile(r".+_at_\d+|failure_category|unscored_because")


def holds_traces(path: str | Path) -> bool:
    """Say whether a file looks like traces under their own field names.

    Parameters
    ----------
    path : str or Path
        Any file.

    Returns
    -------
    bool
        True for JSON Lines whose first records name a ``question_id``, hold a list of
        passages, evidence or claims, and no column that scoring computes.

    Examples
    --------
    >>> holds_traces("absent.csv")
    False
    """
    path = Path(path)
    if path.suffix.lower() not in (".jsonl", ".ndjson") or not path.is_file():
        return False
    records = _first_records(path)
    return (
        bool(records)
        and all("question_id" in record for record in records)
        and not any(_COMPUTED.fullmatch(key) for r in records for key in r)
        and any(
            isinstance(r.get(name), list | dict) for r in records for name in _LISTS
        )
    )


def _first_records(path: Path) -> list[dict[str, Any]]:
    """First records of a file; none when it is not JSON Lines of objects."""
    records: list[dict[str, Any]] = []
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            for line in file:
                if line.isspace():
                    continue
                record = json.loads(line)
                if not isinstance(record, dict):
                    return []
                records.append(record)
                if len(records) == _LINES:
                    break
    except (OSError, ValueError, RecursionError):
        return []
    return records
