"""OpenAI evals: the event log of a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onechange.cells import label_text, score_value
from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.peek import Peek
from onechange.formats.rows import (
    Row,
    id_of,
    number,
    number_trials,
    scalars,
    text_of,
)
from onechange.formats.source import load, parse_lines
from onechange.results import FAILED, Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "openai-evals"
LOOKS_FOR = "JSON Lines that begin with a spec (completion_fns, eval_name), then events"


def sniff(seen: Peek) -> bool:
    """Whether a file looks like an event log of OpenAI evals.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    spec = seen.item.get("spec")
    return seen.kind == "jsonl" and isinstance(spec, dict) and "eval_name" in spec


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read the events: one row per sample and match.

    Parameters
    ----------
    path : Path
        JSON Lines file.
    columns : Columns
        Roles of columns.
    gold : Path, optional
        Not used.

    Returns
    -------
    dict of str to Results
        One system, named as its completion function or its file.

    Raises
    ------
    InputError
        When an event is malformed.

    Notes
    -----
    ``match`` gives ``correct``; ``metrics`` events give their numbers. Several scores
    of one name for one sample are trials, in the order of ``event_id``. A sample with
    an ``error`` event and no score is failed; one with neither is unscored.
    """
    document = load(path)
    spec: Mapping[str, Any] = {}
    events: list[tuple[str, dict[str, Any]]] = []
    for line, entry in parse_lines(document.text, name=document.name):
        if not isinstance(entry, dict):
            raise InputError(f"{document.name}:{line}: expected an object.")
        if isinstance(entry.get("spec"), dict):
            spec = entry["spec"]
        elif "sample_id" in entry:
            events.append((f"line {line}", entry))
    events.sort(key=lambda event: event[1].get("event_id") or 0)
    rows = _rows(events, document.name)
    functions = spec.get("completion_fns") or []
    name = str(functions[0]) if functions else path.stem
    results = build(
        name,
        rows,
        files=[document.file],
        settings=_settings(spec),
        notes=_notes(rows),
        columns=columns,
    )
    return {name: results}


def _rows(events: list[tuple[str, dict[str, Any]]], name: str) -> list[Row]:
    samples: dict[str, list[Row]] = {}
    texts: dict[str, dict[str, str | None]] = {}
    errors: dict[str, str | None] = {}
    for place, event in events:
        where = f"{name}: {place}"
        sample = id_of(event.get("sample_id"), place=where)
        rows = samples.setdefault(sample, [])
        data = event.get("data")
        data = data if isinstance(data, dict) else {}
        kind = event.get("type")
        if kind in ("match", "metrics"):
            _add_scores(rows, _scores_row(event, data, place, where))
        elif kind == "sampling":
            texts[sample] = {
                "question": text_of(data.get("prompt")),
                "response": text_of(data.get("sampled")),
            }
        elif kind == "error":
            errors[sample] = text_of(data.get("message"))
    for sample, rows in samples.items():
        if not rows:
            status = FAILED if sample in errors else None
            rows.append(Row(sample, f'sample "{sample}"', status=status))
        for row in rows:
            row.labels |= texts.get(sample, {})
    found = [row for rows in samples.values() for row in rows]
    number_trials(found)
    return found


def _scores_row(
    event: Mapping[str, Any], data: Mapping[str, Any], place: str, where: str
) -> Row:
    row = Row(str(event["sample_id"]), place)
    if event["type"] == "match":
        row.metrics["correct"] = number(
            data.get("correct"), place=where, what="correct"
        )
        row.labels["reference"] = text_of(data.get("expected"))
        return row
    for name, value in data.items():
        score = score_value(value)
        if score is not None:
            row.metrics[name] = score
        elif isinstance(value, str):
            row.labels[name] = label_text(value)
    return row


def _add_scores(rows: list[Row], row: Row) -> None:
    """Join other scores of the same answer; the same score again is a new trial."""
    if rows and rows[-1].metrics.keys().isdisjoint(row.metrics):
        rows[-1].metrics |= row.metrics
        rows[-1].labels |= row.labels
    else:
        rows.append(row)


def _settings(spec: Mapping[str, Any]) -> dict[str, Any]:
    run = spec.get("run_config") or {}
    kept = {key: spec.get(key) for key in ("completion_fns", "eval_name", "split")}
    kept["seed"] = run.get("seed")
    kept["max_samples"] = run.get("max_samples")
    kept["eval_args"] = (run.get("eval_spec") or {}).get("args")
    return scalars(kept)


def _notes(rows: list[Row]) -> list[Note]:
    if all(row.trial == "1" for row in rows):
        return []
    return [
        Note(
            "trials-inferred",
            "openai-evals: several scores of one sample are read as trials, in the "
            "order of event_id.",
        )
    ]
