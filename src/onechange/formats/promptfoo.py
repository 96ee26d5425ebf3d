"""promptfoo: JSON and JSON Lines output; the table output is in `promptfoo_table`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from onechange.cells import label_text
from onechange.errors import InputError
from onechange.formats import promptfoo_table
from onechange.formats.build import build
from onechange.formats.peek import Peek, first, peek
from onechange.formats.rows import (
    Row,
    number,
    number_trials,
    optional_number,
    scalars,
    text_id,
    text_of,
)
from onechange.formats.source import Document, load, parse_json, parse_lines
from onechange.results import FAILED, Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "promptfoo"
LOOKS_FOR = (
    "a JSON object with results.results and results.prompts, JSON Lines with promptIdx "
    "and testIdx, or a table with blocks of Status, Score, Named Scores"
)

_ERROR = 2  # failureReason: 0 none, 1 assertion, 2 error
_BROKEN_ASSERTION = re.compile(
    r"\s*(custom function threw error|python code execution failed|"
    r"(javascript|python|ruby) assertion .*(error|malformed|failed to)|"
    r"could not parse|error evaluating)",
    re.IGNORECASE,
)
_COSTS = ("latency_ms", "cost_usd", "prompt_tokens", "completion_tokens")
_IDS = ("question_id", "qid", "id")


def sniff(seen: Peek) -> bool:
    """Whether a file looks like promptfoo output.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    if seen.kind == "table":
        return promptfoo_table.sniff(seen)
    if seen.kind == "jsonl":
        return {"promptIdx", "testIdx"} <= seen.item.keys()
    inner = seen.value.get("results") if "results" in seen.keys else None
    if not isinstance(inner, dict):
        return False
    row = first(inner.get("results"))
    named = isinstance(row, dict) and "promptIdx" in row
    return named or ({"prompts", "version"} <= inner.keys() and "config" in seen.keys)


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read promptfoo output: one system per prompt column (provider and prompt).

    Parameters
    ----------
    path : Path
        JSON, JSON Lines or CSV.
    columns : Columns
        Roles of columns.
    gold : Path, optional
        Not used.

    Returns
    -------
    dict of str to Results
        By provider, by prompt, or by both, whichever tells the columns apart.

    Raises
    ------
    InputError
        When there are no results.

    Notes
    -----
    Rows with the same variables and description are trials of one question, in the
    order of ``testIdx``. A row with ``failureReason`` 2 is failed, not 0. A score
    that rests on an assertion that raised is unscored; ``passed`` is then 0 only when
    another assertion failed too. Latency, cost and tokens of cached answers are
    unscored.
    """
    document = load(path)
    if not document.text.lstrip().startswith(("{", "[")):
        return promptfoo_table.read(document, columns)
    entries, prompts, settings, configs = _entries(document)
    if not entries:
        raise InputError(f"{document.name}: no results were found.")
    names = _system_names(entries, prompts)
    questions, notes = _question_ids(entries)
    systems: dict[str, Results] = {}
    for index, name in names.items():
        mine = sorted(
            (entry for entry in entries if entry[1].get("promptIdx", 0) == index),
            key=lambda entry: entry[1].get("testIdx") or 0,
        )
        rows = [
            _row(value, place, questions[place], f"{document.name}: {place}")
            for place, value in mine
        ]
        found = [*notes, *_system_notes(rows, [value for _, value in mine], name)]
        systems[name] = build(
            name,
            rows,
            files=[document.file],
            settings={**settings, **_system_settings(mine[0][1], configs)},
            notes=found,
            columns=columns,
            quality=_quality(rows),
        )
    return systems


def _entries(
    document: Document,
) -> tuple[list[tuple[str, Any]], list[Any], dict[str, Any], list[Any]]:
    if peek(document.path).kind == "jsonl":
        lines = parse_lines(document.text, name=document.name)
        return _checked(((f"line {n}", v) for n, v in lines), document), [], {}, []
    whole = parse_json(document.text, name=document.name)
    inner = whole.get("results") if isinstance(whole, dict) else None
    if not isinstance(inner, dict) or not isinstance(inner.get("results"), list):
        raise InputError(f"{document.name}: no results.results list (promptfoo 3).")
    places = ((f"results[{n}]", value) for n, value in enumerate(inner["results"]))
    config = whole.get("config") or {}
    settings = scalars(config.get("defaultTest"), "defaultTest")
    version = (whole.get("metadata") or {}).get("promptfooVersion")
    if version:
        settings["promptfoo_version"] = version
    providers = config.get("providers")
    configs = providers if isinstance(providers, list) else []
    return _checked(places, document), inner.get("prompts") or [], settings, configs


def _checked(
    values: Iterable[tuple[str, Any]], document: Document
) -> list[tuple[str, Any]]:
    found = list(values)
    for place, value in found:
        if not isinstance(value, dict):
            raise InputError(f"{document.name}: {place}: expected an object.")
    return found


def _system_names(entries: list[tuple[str, Any]], prompts: list[Any]) -> dict[int, str]:
    parts: dict[int, tuple[str, str]] = {}
    for _, entry in entries:
        index = entry.get("promptIdx", 0)
        if index not in parts:
            provider = entry.get("provider") or {}
            if isinstance(provider, str):
                provider = {"id": provider}
            prompt = entry.get("prompt") or {}
            label = provider.get("label") or provider.get("id") or "provider"
            text = prompt.get("label") or prompt.get("raw") or ""
            if isinstance(index, int) and 0 <= index < len(prompts):
                text = prompts[index].get("label") or text
            parts[index] = (str(label), str(text))
    order = sorted(parts)
    named = promptfoo_table.name_systems([parts[index] for index in order])
    return dict(zip(order, named, strict=True))


def _question_ids(entries: list[tuple[str, Any]]) -> tuple[dict[str, str], list[Note]]:
    """Question id per place, from what is the same in all repeats of a test."""
    keys: dict[str, str] = {}
    tests: dict[str, tuple[dict[str, Any], str]] = {}
    for place, entry in entries:
        case = entry.get("testCase") or {}
        variables = entry.get("vars") or case.get("vars") or {}
        description = str(case.get("description") or "")
        key = json.dumps(
            [variables, description, case.get("assert")], sort_keys=True, default=str
        )
        keys[place] = key
        tests.setdefault(key, (variables, description))
    source, ids = _choose_ids(list(tests.values()))
    by_key = dict(zip(tests, ids, strict=True))
    note = Note("role-inferred", f"promptfoo: the question id is {source}.")
    return {place: by_key[key] for place, key in keys.items()}, [note]


def _choose_ids(tests: list[tuple[dict[str, Any], str]]) -> tuple[str, list[str]]:
    for name in _IDS:
        values = [text_of(variables.get(name)) or "" for variables, _ in tests]
        if _distinct(values):
            return f'the variable "{name}"', values
    descriptions = [description for _, description in tests]
    if _distinct(descriptions):
        return "the test's description", descriptions
    texts = [
        text_id(
            str(text_of(first(variables)))
            if len(variables) == 1
            else "; ".join(f"{k}: {text_of(v)}" for k, v in sorted(variables.items()))
        )
        for variables, _ in tests
    ]
    if _distinct(texts):
        return "the test's variables", texts
    both = [
        text_id(f"{text} | {description or number_}")
        for number_, (text, (_, description)) in enumerate(
            zip(texts, tests, strict=True), start=1
        )
    ]
    return "the test's variables and description", both


def _distinct(values: list[str]) -> bool:
    return all(value.strip() for value in values) and len(set(values)) == len(values)


def _row(entry: dict[str, Any], place: str, question_id: str, where: str) -> Row:
    row = Row(question_id, place, trial="")
    response = entry.get("response") or {}
    case = entry.get("testCase") or {}
    for name, value in (entry.get("vars") or case.get("vars") or {}).items():
        row.labels[name] = text_of(value)
    for name, value in scalars(case.get("metadata")).items():
        if not name.startswith("_"):
            row.labels.setdefault(name, label_text(value))
    output = response.get("output") if isinstance(response, dict) else response
    row.labels.setdefault("response", text_of(output))
    row.labels.setdefault("description", text_of(case.get("description")))
    if _errored(entry):
        row.status = FAILED
        row.labels["error"] = text_of(entry.get("error"))
    _add_scores(row, entry, where)
    if not response.get("cached"):
        _add_costs(row, entry, response)
    return row


def _errored(entry: dict[str, Any]) -> bool:
    reason = entry.get("failureReason")
    if reason is not None:
        return bool(reason == _ERROR)
    return bool(entry.get("error")) and not entry.get("gradingResult")


def _add_scores(row: Row, entry: dict[str, Any], where: str) -> None:
    broken, fails = _broken_assertions(entry.get("gradingResult") or {})
    unscored = {str((part.get("assertion") or {}).get("metric")) for part in broken}
    named = entry.get("namedScores") or {}
    undecided = bool(broken) and not fails
    row.metrics["passed"] = math.nan if undecided else float(bool(entry.get("success")))
    overall = "score" if "score" not in named else "overall_score"
    score = number(entry.get("score"), place=where, what="score")
    row.metrics[overall] = math.nan if broken else score
    for name, value in named.items():
        score = number(value, place=where, what=name)
        row.metrics[name] = math.nan if name in unscored else score
    if broken:
        row.labels["broken_assertion"] = "true"


def _broken_assertions(grading: Mapping[str, Any]) -> tuple[list[Any], bool]:
    """Find the assertions that raised, and whether another one failed by itself."""
    parts = [
        part
        for part in grading.get("componentResults") or [grading]
        if isinstance(part, Mapping) and not part.get("pass")
    ]
    broken = [
        part for part in parts if _BROKEN_ASSERTION.match(str(part.get("reason") or ""))
    ]
    return broken, len(parts) > len(broken)


def _add_costs(row: Row, entry: dict[str, Any], response: Mapping[str, Any]) -> None:
    usage = response.get("tokenUsage") or entry.get("tokenUsage") or {}
    values = (
        entry.get("latencyMs"),
        entry.get("cost"),
        usage.get("prompt"),
        usage.get("completion"),
    )
    for name, value in zip(_COSTS, values, strict=True):
        if value is not None and name not in row.metrics:
            row.metrics[name] = optional_number(value)


def _quality(rows: list[Row]) -> list[str]:
    names = dict.fromkeys(metric for row in rows for metric in row.metrics)
    return [name for name in names if name not in _COSTS]


def _system_settings(entry: dict[str, Any], configs: list[Any]) -> dict[str, Any]:
    provider = entry.get("provider") or {}
    if isinstance(provider, str):
        provider = {"id": provider}
    prompt = entry.get("prompt") or {}
    found = {"provider": provider.get("id") or provider.get("label")}
    found["prompt"] = prompt.get("label") or None
    for config in configs:
        if isinstance(config, Mapping) and any(
            provider.get(key) and config.get(key) == provider[key]
            for key in ("id", "label")
        ):
            found |= scalars(config.get("config"), "provider.config")
    return {key: value for key, value in found.items() if value is not None}


def _system_notes(
    rows: list[Row], entries: list[dict[str, Any]], name: str
) -> list[Note]:
    found = []
    if number_trials(rows) > 1:
        found.append(
            Note(
                "trials-inferred",
                f'promptfoo: "{name}": rows with the same variables are read as '
                "trials, in the order of testIdx.",
            )
        )
    broken = sum(row.labels.pop("broken_assertion", None) is not None for row in rows)
    if broken:
        found.append(
            Note(
                "broken-assertion",
                f'promptfoo: "{name}": an assertion raised an error in {broken} of '
                f"{len(rows)} rows; the scores that rest on it are unscored, not 0.",
            )
        )
    cached = sum(bool((entry.get("response") or {}).get("cached")) for entry in entries)
    if cached:
        found.append(
            Note(
                "cached-answers",
                f'promptfoo: "{name}": {cached} of {len(rows)} answers came from the '
                "cache; their latency, cost and tokens are unscored.",
            )
        )
    return found
