"""FinanceBench results: human labels, JSON Lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onechange.cells import label_text
from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.peek import Peek
from onechange.formats.rows import Row, id_of
from onechange.formats.source import load, parse_lines
from onechange.results import Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "scores_of_label", "sniff"]

NAME = "financebench"
LOOKS_FOR = "JSON Lines with financebench_id, model_name, eval_mode and label"

_LABELS = {
    "Correct Answer": (1.0, 0.0),
    "Incorrect Answer": (0.0, 0.0),
    "Refusal": (0.0, 1.0),
}
_TEXTS = {
    "question": "question",
    "gold_answer": "reference",
    "model_answer": "response",
    "label": "label",
}
_SETTINGS = ("model_name", "eval_mode", "temp")


def sniff(seen: Peek) -> bool:
    """Whether a file looks like FinanceBench results.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    return seen.kind == "jsonl" and {"financebench_id", "label"} <= seen.item.keys()


def scores_of_label(label: object) -> dict[str, float] | None:
    """Scores of a human label.

    Parameters
    ----------
    label : object
        ``Correct Answer``, ``Incorrect Answer`` or ``Refusal``.

    Returns
    -------
    dict of str to float, or None
        ``correct`` and ``refused``; None for another label.

    Examples
    --------
    >>> scores_of_label("Refusal")
    {'correct': 0.0, 'refused': 1.0}
    """
    if not isinstance(label, str) or label not in _LABELS:
        return None
    correct, refused = _LABELS[label]
    return {"correct": correct, "refused": refused}


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read the labels: one system per model, mode and temperature.

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

    Raises
    ------
    InputError
        When a label is unknown.

    Notes
    -----
    ``correct`` is 0 for an incorrect answer and for a refusal; ``refused`` tells the
    two apart.
    """
    document = load(path)
    systems: dict[tuple[Any, ...], list[Row]] = {}
    for line, entry in parse_lines(document.text, name=document.name):
        place = f"{document.name}:{line}"
        if not isinstance(entry, dict):
            raise InputError(f"{place}: expected an object.")
        scores = scores_of_label(entry.get("label"))
        if scores is None:
            raise InputError(
                f'{place}: the label is "{entry.get("label")}"; expected '
                f"{', '.join(_LABELS)}."
            )
        row = Row(id_of(entry.get("financebench_id"), place=place), f"line {line}")
        row.metrics = scores
        row.labels = {new: label_text(entry.get(old)) for old, new in _TEXTS.items()}
        key = tuple(entry.get(name) for name in _SETTINGS)
        systems.setdefault(key, []).append(row)
    note = Note(
        "refusal-is-zero",
        'financebench: a refusal counts 0 in "correct"; "refused" counts refusals.',
    )
    found: dict[str, Results] = {}
    for key, rows in systems.items():
        settings = dict(zip(_SETTINGS, key, strict=True))
        name = "_".join(str(part) for part in key[:2])
        name = name if name not in found else f"{name}_{key[2]}"
        found[name] = build(
            name,
            rows,
            files=[document.file],
            settings={k: v for k, v in settings.items() if v is not None},
            notes=[note],
            columns=columns,
        )
    return found
