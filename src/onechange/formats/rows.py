"""One row of a foreign file, and how its cells become ids, texts, scores, settings."""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from onechange.cells import flatten, label_text, question_text, score_value
from onechange.errors import InputError

__all__ = [
    "Row",
    "id_of",
    "number",
    "number_trials",
    "optional_number",
    "scalars",
    "shown",
    "text_id",
    "text_of",
]

_LONGEST_ID = 120
_SECRET = re.compile(
    r"(^|[._-])(api[_-]?keys?|apikey|secrets?|passwords?|passwd|authorization|bearer"
    r"|credentials?|(access|auth|api)[_-]?token)($|[._-])",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Row:
    """One row while a file is being read.

    Parameters
    ----------
    question_id : str
        Question.
    place : str
        Where the row stands in its file, for messages: ``line 7``.
    trial : str or None
        Trial label.
    status : int or None
        Code as in `Results.status`; None lets the scores decide.
    metrics : dict of str to float
        Scores; NaN or absent means unscored.
    labels : dict of str to str or None
        Texts and slice labels.
    """

    question_id: str
    place: str
    trial: str | None = None
    status: int | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    labels: dict[str, str | None] = field(default_factory=dict)


def text_id(text: str) -> str:
    r"""Id of a question that has no other key than its text.

    Parameters
    ----------
    text : str
        The question.

    Returns
    -------
    str
        The text in Unicode form NFC with single blanks; when longer than 120
        characters, its first 80 and ten digits of its SHA-256.

    Examples
    --------
    >>> text_id("What  is\na bond?")
    'What is a bond?'
    >>> text_id("word " * 40)[-14:]
    ' … #b880a24679'
    """
    plain = unicodedata.normalize("NFC", " ".join(text.split()))
    if len(plain) <= _LONGEST_ID:
        return plain
    digest = hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()
    return f"{plain[:80].rstrip()} … #{digest[:10]}"


def id_of(value: object, *, place: str) -> str:
    """Question id of a cell, or a refusal.

    Parameters
    ----------
    value : object
        Text or integer.
    place : str
        File and row, for the message.

    Returns
    -------
    str

    Raises
    ------
    InputError
        When the value cannot be an id.
    """
    found = question_text(value)
    if found is None:
        raise InputError(f"{place}: the question id is {shown(value)}; expected text.")
    return found


def text_of(value: object) -> str | None:
    """Readable text of a cell, list, message or object; None when empty.

    Parameters
    ----------
    value : object
        JSON value.

    Returns
    -------
    str or None
        Texts as they are; of a list of chat messages the last user's text; of an
        object with one entry that entry; else JSON text.

    Examples
    --------
    >>> text_of([{"role": "system", "content": "s"}, {"role": "user", "content": "q"}])
    'q'
    >>> text_of({"question": "q"}), text_of(["a", "b"]), text_of([])
    ('q', 'a, b', None)
    """
    if isinstance(value, Mapping):
        if len(value) == 1:
            return text_of(next(iter(value.values())))
        return label_text(value) if value else None
    if isinstance(value, list):
        asked = [
            item.get("content")
            for item in value
            if isinstance(item, Mapping) and item.get("role") == "user"
        ]
        if asked:
            return text_of(asked[-1])
        if value and all(isinstance(item, str | int | float) for item in value):
            return ", ".join(str(item) for item in value)
        return label_text(value) if value else None
    return label_text(value)


def number(value: object, *, place: str, what: str) -> float:
    """Score of a cell, or a refusal that names the place.

    Parameters
    ----------
    value : object
        JSON value or text of a cell.
    place : str
        File and row.
    what : str
        Name of the metric.

    Returns
    -------
    float
        NaN for "unscored".

    Raises
    ------
    InputError
        When the value is neither number, boolean nor missing.
    """
    score = score_value(value)
    if score is None:
        raise InputError(
            f'{place}: "{what}" is {shown(value)}; expected a number, true, false '
            "or nothing."
        )
    return score


def optional_number(value: object) -> float:
    """Take the number of a cost-like field; NaN for anything else.

    Parameters
    ----------
    value : object
        JSON value or text of a cell.

    Returns
    -------
    float

    Examples
    --------
    >>> optional_number(1.5), optional_number(None), optional_number({"total": 1})
    (1.5, nan, nan)
    """
    score = score_value(value)
    return math.nan if score is None or math.isinf(score) else score


def scalars(values: object, prefix: str = "") -> dict[str, Any]:
    """Flatten the settings of an object, without empty values and secrets.

    Parameters
    ----------
    values : object
        A mapping; anything else gives nothing.
    prefix : str
        What stands before every key.

    Returns
    -------
    dict

    Examples
    --------
    >>> scalars({"model": "m", "api_key": "s", "max_tokens": 5, "stop": None}, "c")
    {'c.max_tokens': 5, 'c.model': 'm'}
    """
    if not isinstance(values, Mapping):
        return {}
    return {
        key: value
        for key, value in flatten(values, prefix).items()
        if value is not None and value not in ({}, [], "") and not _SECRET.search(key)
    }


def number_trials(rows: Iterable[Row]) -> int:
    """Label the rows of each question "1", "2", ... in the order given.

    Parameters
    ----------
    rows : iterable of Row
        Rows whose `trial` is set.

    Returns
    -------
    int
        The largest number of rows of one question.
    """
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.question_id] = counts.get(row.question_id, 0) + 1
        row.trial = str(counts[row.question_id])
    return max(counts.values(), default=0)


def shown(value: object) -> str:
    """Text of a value for a message: JSON, cut at 60 characters.

    Parameters
    ----------
    value : object
        JSON value.

    Returns
    -------
    str

    Examples
    --------
    >>> shown("yes"), shown(None)
    ('"yes"', 'null')
    """
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."
