"""Inspect AI logs: ``.eval`` archives and ``.json``, those of R's vitals included."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onechange.cells import label_text, score_value
from onechange.errors import InputError
from onechange.formats.archive import Archive, open_archive
from onechange.formats.build import build
from onechange.formats.inspect_header import (
    header_notes,
    header_settings,
    split_scorers,
)
from onechange.formats.peek import Peek
from onechange.formats.rows import (
    Row,
    id_of,
    optional_number,
    scalars,
    text_of,
)
from onechange.formats.source import decode, load, parse_json
from onechange.results import FAILED, Columns, Results, SourceFile
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "inspect"
LOOKS_FOR = (
    "a .eval archive with header.json or _journal/start.json, or a JSON object with "
    "eval, plan and samples"
)

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "no": 0.0}
_COSTS = ("input_tokens", "output_tokens", "total_time_s", "working_time_s")
_WHOLE_SAMPLES = 1 << 30  # above this the summaries are read instead
_SAMPLE = re.compile(r"samples/.*\.json")


@dataclass(frozen=True, slots=True)
class _Log:
    file: SourceFile
    header: Mapping[str, Any]
    samples: Iterator[tuple[str, Any]]
    notes: tuple[Note, ...] = ()


def sniff(seen: Peek) -> bool:
    """Whether a file looks like an Inspect log.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    if seen.kind == "zip":
        return bool({"header.json", "_journal/start.json"} & set(seen.names))
    marks = {"eval", "plan", "samples", "results", "status", "version"} & seen.keys
    return "eval" in seen.keys and len(marks) >= 4


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read a log: one row per sample and epoch, one metric per score.

    Parameters
    ----------
    path : Path
        ``.eval`` or ``.json``.
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
        When the archive is damaged or hostile, or holds no samples.

    Notes
    -----
    ``C``, ``P``, ``I`` and ``N`` are 1, 0.5, 0 and 0; yes, true and no, false are 1
    and 0; a dict of values is one metric per entry (``scorer.entry``). A sample with
    an ``error`` is failed; ``NaN`` and a scorer that is absent are unscored. A judge's
    name behind the scorer's (``qa (gpt-4o)``) is split off into the settings.
    """
    log = _open(path)
    model = str((log.header.get("eval") or {}).get("model") or "")
    rows: list[Row] = []
    scores: list[dict[str, Any]] = []
    for place, sample in log.samples:
        rows.append(_row(sample, place, model, f"{log.file.name}: {place}"))
        scores.append(_values(sample, rows[-1]))
    metrics, judges = split_scorers(
        log.header, [key for found in scores for key in found]
    )
    texts: dict[str, int] = {}
    for row, found in zip(rows, scores, strict=True):
        for scorer, value in found.items():
            _add_score(row, metrics[scorer], value, texts)
    n_no_answer = sum(value == "N" for found in scores for value in found.values())
    if not rows:
        status = log.header.get("status")
        raise InputError(f"{log.file.name}: the log has no samples (status {status}).")
    notes = [*log.notes, *header_notes(log.header, rows, n_no_answer)]
    notes += [
        Note(
            "text-score",
            f'inspect: "{name}" holds text in {count} of {len(rows)} samples; the text '
            "is kept as a label and those samples are unscored.",
        )
        for name, count in texts.items()
    ]
    results = build(
        path.stem,
        rows,
        files=[log.file],
        settings={**header_settings(log.header), **judges},
        notes=notes,
        columns=columns,
        quality=_quality(rows),
    )
    return {path.stem: results}


def _open(path: Path) -> _Log:
    with path.open("rb") as stream:
        zipped = stream.read(4) == b"PK\x03\x04"
    if zipped:
        return _open_archive(open_archive(path))
    document = load(path)
    whole = parse_json(document.text, name=document.name)
    if not isinstance(whole, dict) or not isinstance(whole.get("eval"), dict):
        raise InputError(f"{document.name}: expected an object with eval and samples.")
    samples = (
        (f"samples[{index}]", _object(sample, f"{document.name}: samples[{index}]"))
        for index, sample in enumerate(whole.get("samples") or [])
    )
    return _Log(document.file, whole, samples)


def _open_archive(archive: Archive) -> _Log:
    names = archive.names
    member = "header.json" if "header.json" in names else "_journal/start.json"
    header = _member(archive, member)
    notes: list[Note] = []
    if member != "header.json":
        notes.append(
            Note(
                "incomplete-run",
                "inspect: the log has no header.json: the run was interrupted.",
            )
        )
    if archive.claimed_size("samples/") > _WHOLE_SAMPLES and "summaries.json" in names:
        notes.append(
            Note(
                "summaries-read",
                "inspect: the samples are larger than 1 GiB; scores were read from "
                "summaries.json.",
            )
        )
        found = _member(archive, "summaries.json", list)
        samples = iter([(f"summaries[{n}]", value) for n, value in enumerate(found)])
        return _Log(archive.file, header, samples, tuple(notes))
    wanted = (name for name in names if _SAMPLE.fullmatch(name))
    return _Log(archive.file, header, _samples(archive, wanted), tuple(notes))


def _samples(archive: Archive, names: Iterator[str]) -> Iterator[tuple[str, Any]]:
    for name, data in archive.read_all(names):
        place = f"{archive.path.name}: {name}"
        value = parse_json(decode(data, name=place), name=place)
        yield name, _object(value, place)


def _member(archive: Archive, name: str, kind: type = dict) -> Any:
    place = f"{archive.path.name}: {name}"
    value = parse_json(decode(archive.read(name), name=place), name=place)
    if not isinstance(value, kind):
        raise InputError(
            f"{place}: expected {'an object' if kind is dict else 'a list'}."
        )
    return value


def _object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{place}: expected an object.")
    return value


def _row(sample: dict[str, Any], place: str, model: str, where: str) -> Row:
    row = Row(id_of(sample.get("id"), place=where), place)
    row.trial = str(sample.get("epoch") or 1)
    output = sample.get("output") or {}
    row.labels = {
        "question": text_of(sample.get("input")),
        "reference": text_of(sample.get("target")),
    }
    if output.get("completion"):
        row.labels["response"] = text_of(output["completion"])
    for name, value in (sample.get("metadata") or {}).items():
        if not isinstance(value, Mapping):
            text = text_of(value) if isinstance(value, list) else label_text(value)
            row.labels.setdefault(str(name), text)
    if sample.get("error"):
        row.status = FAILED
        error = sample["error"]
        message = error.get("message") if isinstance(error, Mapping) else error
        row.labels["error"] = text_of(message)
    if sample.get("limit"):
        row.labels["limit"] = text_of(scalars(sample["limit"]).get("type"))
    _add_costs(row, sample, model)
    return row


def _values(sample: dict[str, Any], row: Row) -> dict[str, Any]:
    """Value of each scorer; the first answer becomes the response when none is kept."""
    found = {}
    for scorer, score in (sample.get("scores") or {}).items():
        found[scorer] = score.get("value") if isinstance(score, Mapping) else score
        if isinstance(score, Mapping) and score.get("answer") is not None:
            row.labels.setdefault("response", text_of(score["answer"]))
    return found


def _add_score(row: Row, name: str, value: Any, texts: dict[str, int]) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _add_score(row, f"{name}.{key}", inner, texts)
        return
    if isinstance(value, str) and value in _LETTERS:
        row.metrics[name] = _LETTERS[value]
        return
    score = score_value(value)
    if score is None and isinstance(value, str):
        score = _WORDS.get(value.strip().casefold())
    if score is None:
        texts[name] = texts.get(name, 0) + 1
        row.labels[name] = text_of(value)
        score = math.nan
    row.metrics[name] = score


def _add_costs(row: Row, sample: dict[str, Any], model: str) -> None:
    usage = sample.get("model_usage") or {}
    used = [usage[model]] if model in usage else list(usage.values())
    for key in ("input_tokens", "output_tokens"):
        counts = [optional_number(item.get(key)) for item in used]
        if counts:
            row.metrics[key] = math.fsum(counts)
    for key in ("total_time", "working_time"):
        if sample.get(key) is not None:
            row.metrics[f"{key}_s"] = optional_number(sample[key])


def _quality(rows: list[Row]) -> list[str]:
    names = dict.fromkeys(metric for row in rows for metric in row.metrics)
    return [name for name in names if name not in _COSTS]
