"""lm-evaluation-harness: ``samples_*.jsonl`` with the ``results_*.json`` beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onechange.cells import label_text
from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.peek import Peek
from onechange.formats.rows import Row, number, scalars, text_of
from onechange.formats.source import Document, load, parse_json, parse_lines
from onechange.results import Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "lm-eval"
LOOKS_FOR = (
    "JSON Lines with doc_id, doc, resps and filter, or a folder with samples_*.jsonl"
)

_MARKS = {"doc_id", "doc", "resps", "filtered_resps", "target"}
_SAMPLES = re.compile(
    r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d\-.:]+)\.jsonl"
)
_RUN_KEYS = (
    "model",
    "model_args",
    "model_revision",
    "model_sha",
    "gen_kwargs",
    "limit",
    "random_seed",
    "numpy_seed",
    "torch_seed",
    "fewshot_seed",
)
_TASK_KEYS = (
    "dataset_path",
    "dataset_name",
    "num_fewshot",
    "output_type",
    "generation_kwargs",
    "repeats",
    "doc_to_text",
    "doc_to_target",
    "description",
)
_TOP_KEYS = (
    "lm_eval_version",
    "git_hash",
    "system_instruction_sha",
    "chat_template_sha",
    "fewshot_as_multiturn",
)


def sniff(seen: Peek) -> bool:
    """Whether a file or folder looks like samples of lm-evaluation-harness.

    Parameters
    ----------
    seen : Peek
        The file or folder.

    Returns
    -------
    bool
    """
    if seen.kind == "folder":
        return any(_SAMPLES.fullmatch(name) for name in seen.names)
    return seen.kind == "jsonl" and len(_MARKS & seen.item.keys()) >= 4


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read the samples of one run: one row per task and document.

    Parameters
    ----------
    path : Path
        A samples file, or the folder of one run.
    columns : Columns
        Roles of columns.
    gold : Path, optional
        Not used.

    Returns
    -------
    dict of str to Results
        One system, named as the model's folder or its file.

    Raises
    ------
    InputError
        When a folder holds several runs of one task, or a line is no sample.

    Notes
    -----
    The question is ``task/doc_id``. A document occurs once per filter; the filters
    are separate metrics: ``exact_match,strict-match``, as the tool's own tables have
    them (filter ``none``: the name alone). ``doc_hash`` is the question's version:
    where it differs between the arms, the question is not comparable. ``[invalid]``
    answers count 0, as the tool scores them, and a note says how many there are.
    """
    if path.is_dir():
        documents = _folder(path)
    else:
        documents = [(load(path), *_task_and_date(path))]
    rows: dict[tuple[str, str], Row] = {}
    counts: dict[str, int] = {}
    for document, task, _ in documents:
        _read_samples(document, task, rows, counts)
    settings, notes = _settings(documents)
    name = path.name if path.is_dir() else path.stem
    results = build(
        name,
        list(rows.values()),
        files=[document.file for document, _, _ in documents],
        settings=settings,
        notes=[*notes, *_notes(counts)],
        columns=columns,
    )
    return {name: results}


def _folder(path: Path) -> list[tuple[Document, str, str]]:
    found: dict[str, str] = {}
    chosen: list[tuple[Document, str, str]] = []
    for entry in sorted(path.iterdir()):
        match = _SAMPLES.fullmatch(entry.name)
        if not match:
            continue
        task = match["task"]
        if task in found:
            raise InputError(
                f'{path.name}: holds several runs of the task "{task}" ({found[task]} '
                f"and {match['date']}); pass one samples file per run, further runs as "
                "trials."
            )
        found[task] = match["date"]
        chosen.append((load(entry), task, match["date"]))
    if not chosen:
        raise InputError(f"{path.name}: no samples_<task>_<date>.jsonl in the folder.")
    return chosen


def _task_and_date(path: Path) -> tuple[str, str]:
    match = _SAMPLES.fullmatch(path.name.removesuffix(".gz"))
    if match:
        return match["task"], match["date"]
    return path.name.split(".jsonl")[0].removeprefix("samples_"), ""


def _read_samples(
    document: Document,
    task: str,
    rows: dict[tuple[str, str], Row],
    counts: dict[str, int],
) -> None:
    seen: set[tuple[str, str]] = set()
    for line, sample in parse_lines(document.text, name=document.name):
        where = f"{document.name}:{line}"
        if not isinstance(sample, dict) or "doc_id" not in sample:
            raise InputError(f"{where}: expected an object with doc_id.")
        doc_id, filter_name = str(sample["doc_id"]), str(sample.get("filter") or "none")
        if (doc_id, filter_name) in seen:
            raise InputError(
                f"{where}: doc_id {doc_id} occurs twice under the filter "
                f'"{filter_name}"; keep one run per file.'
            )
        seen.add((doc_id, filter_name))
        row = rows.get((task, doc_id))
        if row is None:
            row = rows[task, doc_id] = _row(sample, task, doc_id, f"line {line}")
        _add_scores(row, sample, filter_name, counts, where)


def _row(sample: dict[str, Any], task: str, doc_id: str, place: str) -> Row:
    row = Row(f"{task}/{doc_id}", place)
    doc = sample.get("doc") or {}
    arguments = next(iter((sample.get("arguments") or {}).values()), None)
    prompt = arguments.get("arg_0") if isinstance(arguments, Mapping) else None
    row.labels = {
        "task": task,
        "prompt": text_of(prompt),
        "reference": text_of(sample.get("target")),
        "question_version": text_of(sample.get("doc_hash")),
    }
    if isinstance(doc, Mapping):
        for name, value in doc.items():
            if isinstance(value, str | int | float | bool):
                row.labels.setdefault(str(name), label_text(value))
    return row


def _add_scores(
    row: Row,
    sample: dict[str, Any],
    filter_name: str,
    counts: dict[str, int],
    where: str,
) -> None:
    suffix = "" if filter_name == "none" else f",{filter_name}"
    names = sample.get("metrics") or []
    for name in names:
        value = sample.get(name)
        if isinstance(value, list | dict):
            counts[f"list:{name}"] = counts.get(f"list:{name}", 0) + 1
            continue
        row.metrics[f"{name}{suffix}"] = number(value, place=where, what=str(name))
    answers = sample.get("filtered_resps") or []
    if answers and all(answer == "[invalid]" for answer in answers):
        key = f"invalid:{filter_name}"
        counts[key] = counts.get(key, 0) + 1
    row.labels.setdefault(f"response{suffix}", text_of(answers[:1]))
    responses = sample.get("resps") or []
    repeats = len(responses[0]) if responses and isinstance(responses[0], list) else 1
    if repeats > 1:
        counts["repeats"] = max(repeats, counts.get("repeats", 0))


def _notes(counts: dict[str, int]) -> list[Note]:
    found = [
        Note(
            "position-key",
            "lm-eval: the question id is the task and doc_id, a row number of the data "
            "set; both arms must have read the same version of it.",
        )
    ]
    for key, count in counts.items():
        kind, _, name = key.partition(":")
        if kind == "invalid":
            found.append(
                Note(
                    "unparsed-is-zero",
                    f'lm-eval: {count} answers were "[invalid]" under the filter '
                    f'"{name}"; the tool scored them 0.',
                )
            )
        elif kind == "list":
            found.append(
                Note(
                    "metric-left-out",
                    f'lm-eval: the metric "{name}" holds lists (a log-likelihood and a '
                    "count); it is no score per question and was left out.",
                )
            )
        elif kind == "repeats":
            found.append(
                Note(
                    "one-score-for-repeats",
                    f"lm-eval: {count} responses per document and one score; trials of "
                    "the score need several runs.",
                )
            )
    return found


def _settings(
    documents: list[tuple[Document, str, str]],
) -> tuple[dict[str, Any], list[Note]]:
    found: dict[str, Any] = {}
    notes: list[Note] = []
    for date in dict.fromkeys(date for _, _, date in documents if date):
        beside = documents[0][0].path.parent / f"results_{date}.json"
        if not beside.is_file():
            continue
        document = load(beside)
        whole = parse_json(document.text, name=document.name)
        if not isinstance(whole, dict):
            raise InputError(f"{document.name}: expected an object.")
        tasks = {task for _, task, _ in documents}
        found |= _run_settings(whole, tasks)
        notes += _direction_notes(whole, tasks)
    if not found:
        notes.append(
            Note(
                "settings-unknown",
                "lm-eval: no results_<date>.json beside the samples; the settings of "
                "the run are not known.",
            )
        )
    return found, notes


def _run_settings(whole: dict[str, Any], tasks: set[str]) -> dict[str, Any]:
    config = whole.get("config") or {}
    found = scalars({key: config.get(key) for key in _RUN_KEYS})
    found |= scalars({key: whole.get(key) for key in _TOP_KEYS})
    for task in sorted(tasks):
        settings = (whole.get("configs") or {}).get(task) or {}
        found |= scalars({key: settings.get(key) for key in _TASK_KEYS}, task)
        version = (whole.get("versions") or {}).get(task)
        if version is not None:
            found[f"{task}.version"] = version
    return found


def _direction_notes(whole: dict[str, Any], tasks: set[str]) -> list[Note]:
    recorded = whole.get("higher_is_better") or {}
    lower = {
        metric
        for task in tasks
        for metric, higher in (recorded.get(task) or {}).items()
        if higher is False
    }
    return [
        Note(
            "direction-recorded",
            f'lm-eval: the run records that lower is better for "{metric}"; say so '
            f"with --direction {metric}=lower.",
        )
        for metric in sorted(lower)
    ]
