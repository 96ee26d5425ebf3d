"""ragas: `EvaluationResult.to_pandas().to_csv()`, old and new, and 0.4 experiments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.cellrows import read_cells
from onechange.formats.delimited import parse_table
from onechange.formats.peek import Peek
from onechange.formats.rows import Row, text_id
from onechange.formats.source import Document, load, parse_lines
from onechange.results import Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "ragas"
LOOKS_FOR = (
    "a table with user_input (or question) beside retrieved_contexts (or contexts), "
    "or an experiment with experiment_name and response"
)

# New name first: when a file has both, the new one counts.
_QUESTION = ("user_input", "question")
_CONTEXTS = ("retrieved_contexts", "contexts")
_RENAMED = {
    "user_input": "question",
    "answer": "response",
    "contexts": "retrieved_contexts",
    "ground_truth": "reference",
    "ground_truths": "reference",
}
_TEXTS = {
    *_QUESTION,
    *_CONTEXTS,
    *_RENAMED,
    "response",
    "reference",
    "reference_contexts",
    "multi_responses",
    "rubrics",
    "grading_notes",
    "persona_name",
    "query_style",
    "query_length",
    "synthesizer_name",
    "experiment_name",
    "log_file",
    "id",
}
_METRICS = {
    "faithfulness",
    "answer_relevancy",
    "answer_correctness",
    "answer_similarity",
    "context_precision",
    "context_recall",
    "context_relevancy",
    "context_entity_recall",
    "semantic_similarity",
    "factual_correctness",
    "llm_context_precision_with_reference",
    "llm_context_precision_without_reference",
    "non_llm_context_recall",
    "noise_sensitivity_relevant",
    "aspect_critic",
}
_BROKEN = re.compile(r"\s*(\[?error\b|exception\b|traceback\b)", re.IGNORECASE)


def sniff(seen: Peek) -> bool:
    """Whether a table looks like a ragas result.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    names = set(seen.header) if seen.kind == "table" else set(seen.item)
    if seen.kind not in ("table", "jsonl") or "question_id" in names:
        return False
    experiment = {"experiment_name", "response"} <= names
    asked = any(name in names for name in _QUESTION)
    contexts = any(name in names for name in _CONTEXTS)
    scored = bool(_METRICS.intersection(names))
    return (
        experiment
        or ("user_input" in names and (contexts or scored))
        or (asked and contexts and scored)
    )


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read a ragas result; the question text is the key unless there is an id.

    Parameters
    ----------
    path : Path
        CSV or JSON Lines.
    columns : Columns
        Roles of columns.
    gold : Path, optional
        Not used.

    Returns
    -------
    dict of str to Results
        One system, named as its experiment or its file.

    Raises
    ------
    InputError
        When no column holds questions, a text occurs in several rows, or the file
        has no rows.

    Notes
    -----
    An empty cell is unscored: ragas leaves it after a failed judge call, and its
    printed mean silently skips it. Old and new names side by side hold the same
    texts; the new ones are kept.
    """
    document = load(path)
    records = _records(document)
    names = dict.fromkeys(key for _, cells in records for key in cells)
    if not records:
        raise InputError(f"{document.name}: no rows under the header.")
    question = next((name for name in _QUESTION if name in names), None)
    if question is None and columns.question_id is None:
        raise InputError(
            f"{document.name}: no column user_input or question, so rows could only be "
            "joined by position; name an id column with --id."
        )
    key = "id" if _is_key("id", records) else None

    def question_id(cells: Mapping[str, object], place: str) -> str:
        value = str(cells.get(columns.question_id or key or question or "") or "")
        if not value.strip():
            raise InputError(f"{document.name}: {place}: the question is empty.")
        return value if key and not columns.question_id else text_id(value)

    rows, words = read_cells(
        records,
        texts=_TEXTS,
        question_id=question_id,
        columns=columns,
        always=_METRICS,
    )
    notes = _notes(rows, key, question, words, columns)
    _rename(rows, columns)
    return {
        name: build(
            name,
            members,
            files=[document.file],
            notes=notes,
            columns=columns,
        )
        for name, members in _experiments(rows, path.stem).items()
    }


def _records(document: Document) -> list[tuple[str, dict[str, object]]]:
    if document.text.lstrip().startswith("{"):
        lines = list(parse_lines(document.text, name=document.name))
        for number, value in lines:
            if not isinstance(value, dict):
                raise InputError(f"{document.name}:{number}: expected an object.")
        found = [(f"line {number}", dict(value)) for number, value in lines]
    else:
        table = parse_table(document.text, name=document.name)
        found = [(place, dict(cells)) for place, cells in table.records()]
    for _, cells in found:
        for name in ("", "Unnamed: 0"):  # the index column of pandas
            cells.pop(name, None)
        if "user_input" in cells:
            for old, new in _RENAMED.items():
                if old != "user_input" and new in cells:
                    cells.pop(old, None)
            cells.pop("question", None)
    return found


def _is_key(name: str, records: list[tuple[str, dict[str, object]]]) -> bool:
    values = [cells.get(name) for _, cells in records]
    return all(values) and len(set(map(str, values))) == len(values)


def _notes(
    rows: list[Row],
    key: str | None,
    question: str | None,
    words: tuple[str, ...],
    columns: Columns,
) -> list[Note]:
    found = []
    if not columns.question_id:
        text = f'the question id is the column "{key or question}"'
        found.append(Note("role-inferred", f"ragas: {text}."))
    if words:
        found.append(
            Note(
                "role-inferred",
                f"ragas: {', '.join(words)}: pass is read as 1 and fail as 0.",
            )
        )
    broken = [
        row.question_id
        for row in rows
        if _BROKEN.match(row.labels.get("response") or row.labels.get("answer") or "")
    ]
    if broken:
        found.append(
            Note(
                "possible-failures",
                f"ragas: the response of {len(broken)} rows begins like an error "
                f'message (first: "{broken[0]}"); their scores are used as they are. '
                "Add a status column (failed) if these runs failed.",
            )
        )
    return found


def _experiments(rows: list[Row], default: str) -> dict[str, list[Row]]:
    """Rows by experiment; the name of an experiment is a name, not a setting."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        name = row.labels.pop("experiment_name", None) or default
        found.setdefault(name, []).append(row)
    return found


def _rename(rows: list[Row], columns: Columns) -> None:
    declared = {columns.question_id, columns.cluster, *columns.slices}
    for row in rows:
        for old, new in _RENAMED.items():
            if old in row.labels and new not in row.labels and old not in declared:
                row.labels[new] = row.labels.pop(old)
