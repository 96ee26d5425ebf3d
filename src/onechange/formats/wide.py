"""Wide tables: one row per question, one column of scores per system."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from onechange.cells import label_text, missing_words
from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.cellrows import score_of_word
from onechange.formats.financebench import scores_of_label
from onechange.formats.peek import Peek
from onechange.formats.rows import Row, id_of
from onechange.formats.source import load
from onechange.formats.tidy import Records, records_of
from onechange.results import Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "wide"
LOOKS_FOR = (
    "a table with one column of scores per system (never recognised by itself: ask for "
    "it)"
)
_MAX_SYSTEMS = 1000
_ID_WORDS = ("question_id", "id")


def sniff(seen: Peek) -> bool:
    """Never true: columns of scores may be metrics of one system.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    return False


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Read each column of scores as one system.

    Parameters
    ----------
    path : Path
        CSV, TSV or JSON Lines.
    columns : Columns
        Roles of columns; `question_id` names the id (else ``question_id`` or ``id``,
        else the row number).
    gold : Path, optional
        Not used.

    Returns
    -------
    dict of str to Results
        One metric, ``score``, each; ``correct`` and ``refused`` for columns of
        FinanceBench labels.

    Raises
    ------
    InputError
        When no column holds scores.
    """
    document = load(path)
    records = records_of(document)
    names = list(dict.fromkeys(name for _, cells in records for name in cells))
    key = columns.question_id or next((n for n in _ID_WORDS if n in names), None)
    if columns.question_id and columns.question_id not in names:
        raise InputError(
            f'{document.name}: no column "{columns.question_id}"; found '
            f"{', '.join(names[:12])}."
        )
    texts = {key, columns.trial, columns.cluster, *columns.slices}
    scores = {
        name: found
        for name in names
        if name not in texts and (found := _scores(records, name, columns)) is not None
    }
    if not scores:
        raise InputError(f"{document.name}: no column holds scores in every row.")
    if len(scores) > _MAX_SYSTEMS:
        raise InputError(
            f"{document.name}: {len(scores):,} columns of scores; at most 1,000 are "
            "read as systems."
        )
    ids = _ids(records, key, document.name)
    labels = [name for name in names if name not in scores and name != key]
    systems = {}
    for system, found in scores.items():
        rows = []
        for (place, cells), question, metrics in zip(records, ids, found, strict=True):
            row = Row(question, place, metrics=dict(metrics))
            row.labels = {name: label_text(cells.get(name)) for name in labels}
            if columns.question_id:
                row.labels[columns.question_id] = question
            rows.append(row)
        systems[system] = build(
            system,
            rows,
            files=[document.file],
            notes=_notes(key, len(scores)),
            columns=columns,
        )
    return systems


def _scores(
    records: Records, name: str, columns: Columns
) -> list[Mapping[str, float]] | None:
    """Scores of a column, or None when it holds other text or nothing at all."""
    missing = missing_words(columns.missing)
    found: list[Mapping[str, float]] = []
    for _, cells in records:
        value = cells.get(name)
        score = score_of_word(value, missing)
        metrics = {"score": score} if score is not None else scores_of_label(value)
        if metrics is None:
            return None
        found.append(metrics)
    values = [value for metrics in found for value in metrics.values()]
    return found if any(not math.isnan(value) for value in values) else None


def _ids(records: Records, key: str | None, name: str) -> list[str]:
    if key is None:
        width = len(str(len(records)))
        return [str(number).zfill(width) for number in range(1, len(records) + 1)]
    return [id_of(cells.get(key), place=f"{name}: {place}") for place, cells in records]


def _notes(key: str | None, n_systems: int) -> Sequence[Note]:
    found = [
        Note(
            "role-inferred", f"wide: {n_systems} columns of scores are read as systems."
        )
    ]
    if key is None:
        found.append(
            Note(
                "position-key",
                "wide: the table has no id; the question is the row number, which "
                "pairs the columns of this file and no others.",
            )
        )
    return found
