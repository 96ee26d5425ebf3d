"""MLflow: ``eval_results_table.json``, a pandas table in split form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.cellrows import read_cells
from onechange.formats.peek import Peek
from onechange.formats.rows import text_id, text_of
from onechange.formats.source import load, parse_json
from onechange.results import Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "mlflow"
LOOKS_FOR = "a JSON object of columns and data with inputs or <metric>/v1/score"

_QUESTIONS = ("inputs", "request", "question")
_RENAMED = {
    "inputs": "question",
    "request": "question",
    "outputs": "response",
    "ground_truth": "reference",
    "target": "reference",
    "targets": "reference",
}
_SCORE = re.compile(r"(?P<metric>.+)/v\d+/(score|value)")
_COSTS = {"latency", "token_count"}


def sniff(seen: Peek) -> bool:
    """Whether a JSON file looks like an MLflow evaluation table.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    if not {"columns", "data"} <= seen.keys or not isinstance(
        seen.value["columns"], list
    ):
        return False
    names = [name for name in seen.value["columns"] if isinstance(name, str)]
    return "inputs" in names or any(_SCORE.fullmatch(name) for name in names)


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read the table: one row per input.

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
        One system, named as its file.

    Raises
    ------
    InputError
        When a row has not as many cells as there are columns, or there is no column
        of inputs and none is named.

    Notes
    -----
    ``<metric>/v1/score`` becomes ``<metric>``; justifications become labels. The
    table does not say which columns are quality (reading grade levels stand beside
    them) nor which direction is better.
    """
    document = load(path)
    table = parse_json(document.text, name=document.name)
    names = [str(name) for name in table["columns"]]
    records = []
    for index, cells in enumerate(table["data"]):
        if not isinstance(cells, list) or len(cells) != len(names):
            raise InputError(
                f"{document.name}: data[{index}]: expected {len(names)} cells."
            )
        records.append((f"data[{index}]", dict(zip(names, cells, strict=True))))
    key = columns.question_id or next((n for n in _QUESTIONS if n in names), None)
    if key is None:
        raise InputError(
            f"{document.name}: no column of inputs, so rows could only be joined by "
            "position; name an id column with --id."
        )

    def question_id(cells: Mapping[str, object], place: str) -> str:
        text = text_of(cells.get(key))
        if text is None:
            raise InputError(f'{document.name}: {place}: "{key}" is empty.')
        return text_id(text)

    rows, _ = read_cells(
        records,
        texts={*_RENAMED, *(name for name in names if name.endswith("/justification"))},
        question_id=question_id,
        columns=columns,
        always=[name for name in names if _SCORE.fullmatch(name)],
    )
    shorter = _shorter_names(names)
    for row in rows:
        row.metrics = {shorter.get(k, k): value for k, value in row.metrics.items()}
        if not columns.question_id:
            row.labels = {_RENAMED.get(k, k): text for k, text in row.labels.items()}
    notes = [
        Note("role-inferred", f'mlflow: the question id is the text of "{key}".'),
        Note(
            "direction-unknown",
            "mlflow: the table names neither quality columns nor directions; choose "
            "metrics with --metric and --direction.",
        ),
    ]
    quality = [metric for metric in shorter.values() if metric not in _COSTS]
    results = build(
        path.stem,
        rows,
        files=[document.file],
        notes=notes,
        columns=columns,
        quality=quality or None,
    )
    return {path.stem: results}


def _shorter_names(names: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    taken = set(names)
    for name in names:
        match = _SCORE.fullmatch(name)
        if match:
            found[name] = name if match["metric"] in taken else match["metric"]
            taken.add(found[name])
    return found
