"""TruLens: records with feedback, as the tool or as users export them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.cellrows import read_cells
from onechange.formats.delimited import parse_table
from onechange.formats.peek import Peek
from onechange.formats.rows import Row, text_id, text_of
from onechange.formats.source import load
from onechange.results import Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "trulens"
LOOKS_FOR = (
    "a table with record_id, app_id or app_name and input, or one with Question and "
    "Groundedness, Answer Relevance or Context Relevance"
)

_TRIAD = {"groundedness", "answerrelevance", "contextrelevance"}
_QUESTIONS = ("input", "question", "query", "prompt")
_APPS = ("app_name", "app_version")
_COSTS = {
    "latency",
    "total_tokens",
    "total_cost",
    "eval_cost",
    "num_events",
    "n_tokens",
}
_TEXTS = {
    "app_id",
    "app_name",
    "app_version",
    "record_id",
    "input",
    "output",
    "tags",
    "ts",
    "type",
    "cost_currency",
    "total_cost_currency",
}


def sniff(seen: Peek) -> bool:
    """Whether a table looks like TruLens records.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    names = set(seen.header)
    if "question_id" in names or seen.kind != "table":
        return False
    official = {"record_id", "input"} <= names and bool(
        {"app_id", "app_name", "app_version"} & names
    )
    triad = _TRIAD & {_plain(name) for name in names}
    return official or (len(triad) >= 2 and _question_column(seen.header) is not None)


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read the records: one row per input, one system per app and version.

    Parameters
    ----------
    path : Path
        CSV file.
    columns : Columns
        Roles of columns.
    gold : Path, optional
        Not used.

    Returns
    -------
    dict of str to Results

    Raises
    ------
    InputError
        When no column holds the questions.

    Notes
    -----
    ``record_id`` is new in every run; the key is the text of the input. Columns of
    calls and reasons are not scores.
    """
    document = load(path)
    table = parse_table(document.text, name=document.name)
    key = columns.question_id or _question_column(table.header)
    if key is None:
        raise InputError(
            f"{document.name}: no column of questions (input, Question); name one with "
            "--id."
        )
    records = [
        (place, {name: cell for name, cell in cells.items() if _is_kept(name)})
        for place, cells in table.records()
    ]

    def question_id(cells: Mapping[str, object], place: str) -> str:
        text = text_of(cells.get(key))
        if text is None:
            raise InputError(f'{document.name}: {place}: "{key}" is empty.')
        return text_id(text)

    rows, _ = read_cells(
        records,
        texts={*_TEXTS, key, *(n for n in table.header if _is_reason(n))},
        question_id=question_id,
        columns=columns,
    )
    note = Note("role-inferred", f'trulens: the question id is the text of "{key}".')
    found = {}
    for name, members in _systems(rows, path.stem).items():
        for row in members:
            if key != columns.question_id:
                row.labels["question"] = row.labels.pop(key, None)
        found[name] = build(
            name,
            members,
            files=[document.file],
            notes=[note],
            columns=columns,
            quality=_quality(members),
        )
    return found


def _systems(rows: list[Row], default: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        parts = [row.labels.pop(name, None) for name in _APPS]
        name = " ".join(part for part in parts if part)
        name = name or row.labels.get("app_id") or default
        found.setdefault(name, []).append(row)
    return found


def _quality(rows: list[Row]) -> list[str]:
    names = dict.fromkeys(metric for row in rows for metric in row.metrics)
    return [name for name in names if name not in _COSTS]


def _question_column(header: tuple[str, ...]) -> str | None:
    for wanted in _QUESTIONS:
        for name in header:
            if _plain(name) == wanted:
                return name
    return None


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "").replace(" ", "").replace("-", "")


def _is_reason(name: str) -> bool:
    return _plain(name).endswith(("reason", "reasons"))


def _is_kept(name: str) -> bool:
    left_out = name.endswith("_calls") or name in ("", "Unnamed: 0", "record_id")
    return not left_out
