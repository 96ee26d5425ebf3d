"""Tables without any id, joined by row position because the user said so."""

from __future__ import annotations

from pathlib import Path

from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.cellrows import read_cells
from onechange.formats.peek import Peek
from onechange.formats.source import load
from onechange.formats.tidy import records_of
from onechange.results import Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "read", "sniff"]

NAME = "positional"
LOOKS_FOR = "a table without ids, joined by row number (never recognised: ask for it)"


def sniff(seen: Peek) -> bool:
    """Never true: a join by position is only made when it is asked for.

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
    """Read a table with the row number as the question id.

    Parameters
    ----------
    path : Path
        CSV, TSV or JSON Lines.
    columns : Columns
        Roles of columns, but no `question_id`.
    gold : Path, optional
        Not used.

    Returns
    -------
    dict of str to Results
        One system, named as its file.

    Raises
    ------
    InputError
        When an id column is named, or there are no rows.
    """
    if columns.question_id:
        raise InputError(
            f"{path.name}: a positional table has no ids; leave out --input-format, "
            f'or --id "{columns.question_id}".'
        )
    document = load(path)
    records = records_of(document)
    width = len(str(len(records)))
    places = {
        place: str(number).zfill(width)
        for number, (place, _) in enumerate(records, start=1)
    }
    rows, _ = read_cells(
        records,
        texts=(),
        question_id=lambda _, place: places[place],
        columns=columns,
    )
    note = Note(
        "position-key",
        f"positional: {len(rows)} rows are joined by their number; the pairs are wrong "
        "when a row is missing or the order differs in the other arm.",
    )
    results = build(
        path.stem, rows, files=[document.file], notes=[note], columns=columns
    )
    return {path.stem: results}
