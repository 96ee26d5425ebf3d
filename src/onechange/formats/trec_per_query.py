"""Retrieval measures per query: pytrec_eval and BEIR JSON, ``trec_eval -q`` text."""

from __future__ import annotations

import re
from pathlib import Path

from onechange.cells import score_value
from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.peek import Peek, first
from onechange.formats.rows import Row, number
from onechange.formats.source import load, parse_json
from onechange.results import Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "trec-per-query"
LOOKS_FOR = (
    "a JSON object of topics with measures such as map or ndcg_cut_10, or trec_eval -q "
    "lines: measure, topic, value"
)

_MEASURE = re.compile(
    r"(map|gm_map|recip_rank|mrr|bpref|Rprec|infAP|ndcg|ap|rr|set_\w+|success_\d+"
    r"|(P|recall|precision|map_cut|ndcg_cut|ndcg|mrr|iprec_at_recall|relative_P)"
    r"[_@.]\d[\d.]*)",
    re.IGNORECASE,
)
_SUMMARIES = {"all", "amean"}


def sniff(seen: Peek) -> bool:
    """Whether a file looks like measures per query.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    if seen.kind == "json":
        measures = first(seen.value) if isinstance(seen.value, dict) else None
        return (
            isinstance(measures, dict)
            and bool(measures)
            and all(isinstance(value, int | float) for value in measures.values())
            and any(_MEASURE.fullmatch(name) for name in measures)
        )
    if seen.kind not in ("text", "table"):
        return False
    lines = [line.split() for line in seen.head.split("\n")[:40] if line.strip()]
    return (
        bool(lines)
        and all(len(parts) == 3 for parts in lines[:-1])
        and any(_MEASURE.fullmatch(parts[0]) for parts in lines)
    )


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read measures per query: one row per topic.

    Parameters
    ----------
    path : Path
        JSON or text.
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
        When a value is no number, or a measure occurs twice for one topic.

    Notes
    -----
    The summary rows of ``trec_eval`` (``all``) and its counts (``num_ret``, ...) are
    left out. A topic that is absent is not paired; ``trec_eval`` without ``-c``
    leaves out topics without retrieved documents.
    """
    document = load(path)
    if document.text.lstrip().startswith("{"):
        topics = parse_json(document.text, name=document.name)
        rows = [
            _json_row(topic, values, document.name) for topic, values in topics.items()
        ]
    else:
        rows = _text_rows(document.text, document.name)
    rows = [row for row in rows if row.question_id not in _SUMMARIES]
    for row in rows:
        row.metrics = {
            name: value
            for name, value in row.metrics.items()
            if not name.startswith("num_")
        }
    name = path.name.split(".")[0]
    note = Note(
        "topics-may-be-absent",
        "trec-per-query: a topic for which nothing was retrieved may be absent; count "
        "it 0 by scoring the run itself (--input-format trec).",
    )
    results = build(name, rows, files=[document.file], notes=[note], columns=columns)
    return {name: results}


def _json_row(topic: str, values: object, name: str) -> Row:
    if not isinstance(values, dict):
        raise InputError(f'{name}: topic "{topic}": expected an object of measures.')
    place = f'topic "{topic}"'
    row = Row(topic, place)
    for measure, value in values.items():
        row.metrics[measure] = number(value, place=f"{name}: {place}", what=measure)
    return row


def _text_rows(text: str, name: str) -> list[Row]:
    rows: dict[str, Row] = {}
    for line_number, line in enumerate(text.split("\n"), start=1):
        parts = line.split()
        if not parts:
            continue
        if len(parts) != 3:
            raise InputError(
                f"{name}:{line_number}: {len(parts)} columns; trec_eval -q writes "
                "three: measure, topic, value."
            )
        measure, topic, value = parts
        if topic in _SUMMARIES:
            continue
        score = score_value(value)
        if score is None:
            raise InputError(f'{name}:{line_number}: "{value}" is not a number.')
        row = rows.setdefault(topic, Row(topic, f"line {line_number}"))
        if measure in row.metrics:
            raise InputError(
                f'{name}:{line_number}: "{measure}" occurs twice for topic "{topic}".'
            )
        row.metrics[measure] = score
    return list(rows.values())
