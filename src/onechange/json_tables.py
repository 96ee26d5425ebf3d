"""JSON arrays and JSON Lines -> `Table`; nested objects become dotted columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from onechange.errors import InputError
from onechange.formats.source import parse_json
from onechange.tables import Column, ListColumn, Table

__all__ = ["json_table", "lines_table"]

_MAX_CELLS = 50_000_000  # of objects with differing keys
_MAX_DEPTH = 8  # levels of nested objects that become dotted columns


def json_table(text: str, *, name: str) -> Table:
    """Columns of a JSON array of objects.

    Parameters
    ----------
    text : str
        Content.
    name : str
        Name of the file, for messages.

    Returns
    -------
    Table
        Nested objects become columns with dotted names.

    Raises
    ------
    InputError
        When the text is not JSON, or not an array of objects.

    Examples
    --------
    >>> table = json_table('[{"question_id": 1, "scores": {"f1": 0.5}}]', name="b.json")
    >>> list(table.columns), table.place(0)
    (['question_id', 'scores.f1'], 'b.json, item 1')
    """
    value = parse_json(text, name=name)
    if isinstance(value, Mapping):
        keys = ", ".join(f'"{key[:40]}"' for key in list(value)[:10])
        raise InputError(
            f"{name}: one object with the keys {keys or 'none'}; expected an array of "
            "objects, one per question. Name a known format with --input-format."
        )
    if not isinstance(value, list):
        raise InputError(f"{name}: expected an array of objects, one per question.")

    def place(row: int) -> str:
        return f"{name}, item {row + 1}"

    return Table(name, _object_columns(value, name, place), len(value), place)


def lines_table(text: str, *, name: str) -> Table:
    """Columns of a JSON Lines text, one object a line.

    Parameters
    ----------
    text : str
        Content; blank lines are skipped.
    name : str
        Name of the file, for messages.

    Returns
    -------
    Table
        Nested objects become columns with dotted names.

    Raises
    ------
    InputError
        When a line is not a JSON object, or repeats a key.

    Examples
    --------
    >>> table = lines_table('{"question_id": "q1", "correct": true}', name="b.jsonl")
    >>> list(table.columns), table.place(0)
    (['question_id', 'correct'], 'b.jsonl:1')
    """
    numbers: list[int] = []
    values: list[Any] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            numbers.append(number)
            values.append(parse_json(line, name=name, line=number))

    def place(row: int) -> str:
        return f"{name}:{numbers[row]}"

    return Table(name, _object_columns(values, name, place), len(values), place)


def _object_columns(
    values: Sequence[Any], name: str, place: Callable[[int], str]
) -> dict[str, Column]:
    for row, value in enumerate(values):
        if not isinstance(value, dict):
            raise InputError(
                f"{place(row)}: expected an object with the cells of one row, found "
                f"{str(value)[:40]}."
            )
    columns = _spread(values, name)
    for _ in range(_MAX_DEPTH):
        nested = [
            key for key, found in columns.items() if dict in set(map(type, found))
        ]
        if not nested:
            break
        columns = _opened(columns, nested, name)
    return {key: ListColumn(found) for key, found in columns.items()}


def _spread(values: Sequence[dict[str, Any]], name: str) -> dict[str, Sequence[Any]]:
    if not values:
        return {}
    keys = dict.fromkeys(key for key in values[0])
    if all(value.keys() == keys.keys() for value in values):
        return {key: [value[key] for value in values] for key in keys}
    for value in values:
        keys.update(dict.fromkeys(value))
    if len(keys) * len(values) > _MAX_CELLS:
        raise InputError(
            f"{name}: {len(keys):,} different keys over {len(values):,} rows; keep the "
            "keys that matter."
        )
    return {key: [value.get(key) for value in values] for key in keys}


def _opened(
    columns: Mapping[str, Sequence[Any]], nested: Collection[str], name: str
) -> dict[str, Sequence[Any]]:
    """Columns in which one level of nested objects is opened to dotted names."""
    found: dict[str, Sequence[Any]] = {}
    for key, values in columns.items():
        parts: dict[str, Sequence[Any]] = {key: values}
        if key in nested:
            rows = [value if isinstance(value, dict) else {} for value in values]
            inner = _spread(rows, name)
            parts = {f"{key}.{part}": found_part for part, found_part in inner.items()}
            rest = [None if isinstance(value, dict) else value for value in values]
            if any(value is not None for value in rest):
                parts[key] = rest
        for part, part_values in parts.items():
            if part in found or (part in columns and part != key):
                raise InputError(
                    f'{name}: "{part}" is a key of its own and a key inside an object; '
                    "rename one of them."
                )
            found[part] = part_values
    return found
