"""DeepEval: a test run, wrapped in ``testRunData`` or not."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onechange.cells import label_text
from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.peek import Peek
from onechange.formats.rows import (
    Row,
    number,
    optional_number,
    scalars,
    text_id,
    text_of,
)
from onechange.formats.source import load, parse_json
from onechange.results import Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "deepeval"
LOOKS_FOR = "a JSON object with testCases and metricsScores, or with testRunData"

_POSITIONAL = re.compile(r"(conversational_)?test_case_\d+")
_COSTS = {"tokenCost": "token_cost", "completionTime": "completion_time_s"}


def sniff(seen: Peek) -> bool:
    """Whether a JSON file looks like a DeepEval test run.

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
    inner = seen.value.get("testRunData") if "testRunData" in seen.keys else None
    if isinstance(inner, dict):
        return True
    cases = {"testCases", "conversationalTestCases"} & seen.keys
    marks = {"metricsScores", "testPassed", "conversationalTestCases"} & seen.keys
    return bool(cases and marks)


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read a test run: one row per test case, one metric per name.

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
        One system, named as the run's identifier or its file.

    Raises
    ------
    InputError
        When there are no test cases, or a metric occurs twice in one case.

    Notes
    -----
    A metric whose judge raised has an ``error`` and no score: it is unscored, though
    its ``success`` is false. ``passed`` is 0 when a scored metric failed its
    threshold, 1 when all passed, and unscored when only errors stand in the way.
    Metrics inside ``trace`` repeat those of the case and are not read.
    """
    document = load(path)
    run = parse_json(document.text, name=document.name)
    run = run.get("testRunData", run) if isinstance(run, dict) else run
    if not isinstance(run, dict):
        raise InputError(f"{document.name}: expected an object with testCases.")
    cases = [
        (f"{kind}[{index}]", case)
        for kind in ("testCases", "conversationalTestCases")
        for index, case in enumerate(run.get(kind) or [])
    ]
    if not cases:
        raise InputError(f"{document.name}: the test run has no test cases.")
    key = _key(cases, document.name)
    settings = _settings(run)
    rows = [
        _row(case, place, key, settings, f"{document.name}: {place}")
        for place, case in cases
    ]
    name = str(run.get("identifier") or path.name.split(".json")[0].strip("."))
    results = build(
        name,
        rows,
        files=[document.file],
        settings=settings,
        notes=_notes(rows, cases, key),
        columns=columns,
        quality=_quality(rows),
    )
    return {name: results}


def _key(cases: list[tuple[str, Any]], name: str) -> str:
    """``name`` when the user set names, else ``input``."""
    for place, case in cases:
        if not isinstance(case, Mapping):
            raise InputError(f"{name}: {place}: expected an object.")
    names = [str(case.get("name") or "") for _, case in cases]
    positional = any(not text or _POSITIONAL.fullmatch(text) for text in names)
    return "input" if positional or len(set(names)) < len(names) else "name"


def _row(
    case: Mapping[str, Any],
    place: str,
    key: str,
    settings: dict[str, Any],
    where: str,
) -> Row:
    question = text_of(case.get("input")) or text_of(case.get("scenario"))
    question = question or text_of(case.get("turns"))
    if key == "name":
        question_id = str(case["name"])
    elif question:
        question_id = text_id(question)
    else:
        raise InputError(f"{where}: no name of its own and no input; set the name.")
    row = Row(question_id, place)
    row.labels = {
        "question": question,
        "response": text_of(case.get("actualOutput")),
        "reference": text_of(case.get("expectedOutput")),
        "tags": text_of(case.get("tags")),
    }
    metadata = case.get("metadata") or case.get("additionalMetadata")
    for name, value in scalars(metadata).items():
        row.labels.setdefault(name, label_text(value))
    _add_scores(row, case, settings, where)
    for field, name in _COSTS.items():
        if field in case:
            row.metrics[name] = optional_number(case[field])
    return row


def _add_scores(
    row: Row, case: Mapping[str, Any], settings: dict[str, Any], where: str
) -> None:
    verdicts = []
    errors = 0
    for entry in case.get("metricsData") or []:
        name = str(entry.get("name"))
        if name in row.metrics:
            raise InputError(
                f'{where}: the metric "{name}" occurs twice; give the metrics of one '
                "run different names."
            )
        failed = bool(entry.get("error"))
        score = (
            math.nan if failed else number(entry.get("score"), place=where, what=name)
        )
        row.metrics[name] = score
        errors += failed
        if not failed and not math.isnan(score) and entry.get("success") is not None:
            verdicts.append(bool(entry["success"]))
        for field, setting in (
            ("evaluationModel", "judge"),
            ("threshold", "threshold"),
        ):
            if entry.get(field) is not None:
                settings.setdefault(f"{setting}.{name}", entry[field])
    if verdicts and (not all(verdicts) or not errors):
        row.metrics["passed"] = float(all(verdicts))


def _quality(rows: list[Row]) -> list[str]:
    names = dict.fromkeys(metric for row in rows for metric in row.metrics)
    return [name for name in names if name not in _COSTS.values()]


def _settings(run: Mapping[str, Any]) -> dict[str, Any]:
    found = scalars(run.get("hyperparameters"), "hyperparameters")
    for index, prompt in enumerate(run.get("prompts") or []):
        if isinstance(prompt, Mapping):
            found |= scalars(prompt, f"prompts.{prompt.get('alias') or index}")
    if run.get("datasetAlias"):
        found["dataset"] = run["datasetAlias"]
    return found


def _notes(rows: list[Row], cases: list[tuple[str, Any]], key: str) -> list[Note]:
    found = [
        Note(
            "role-inferred",
            "deepeval: the question id is the test case's "
            + ("name." if key == "name" else "input; names are positions or repeat."),
        )
    ]
    errors: dict[str, int] = {}
    for _, case in cases:
        for entry in case.get("metricsData") or []:
            if entry.get("error"):
                errors[entry["name"]] = errors.get(entry["name"], 0) + 1
    for name, count in errors.items():
        found.append(
            Note(
                "metric-errors",
                f'deepeval: "{name}" raised an error in {count} of {len(rows)} test '
                "cases; they are unscored, not failed.",
            )
        )
    return found
