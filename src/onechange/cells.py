"""One cell -> score, status, id, label or setting; strict, and without knowing files.

The rules are the same for every format: a number is what the grammar of `is_number`
says and nothing else ("20200407_2", "1_000", "1,000" and "50%" are text), true and
false count in any letter case, and a few words mean "unscored".
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onechange.plain_values import flatten, plain_value

__all__ = [
    "ANSWERED",
    "FAILED",
    "MISSING_WORDS",
    "STATUS_WORDS",
    "UNSCORED",
    "flatten",
    "is_missing",
    "is_number",
    "label_text",
    "missing_words",
    "plain_value",
    "question_text",
    "score_value",
    "score_values",
    "status_code",
]

ANSWERED, UNSCORED, FAILED = 0, 1, 2  # codes in Results.status

MISSING_WORDS = frozenset({"", "nan", "na", "n/a", "none", "null"})

STATUS_WORDS: Mapping[str, int] = {
    "answered": ANSWERED,
    "ok": ANSWERED,
    "success": ANSWERED,
    "insufficient_evidence": UNSCORED,
    "abstained": UNSCORED,
    "refused": UNSCORED,
    "unscored": UNSCORED,
    "failed": FAILED,
    "error": FAILED,
    "timeout": FAILED,
}

_NUMBERS = (bool, int, float, Decimal, np.bool_, np.integer, np.floating)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INFINITY = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
_NUMBER_BYTES = b"0123456789+-.eE \t"
_PLAIN_MISSING = frozenset(
    {"", "NaN", "nan", "NA", "N/A", "n/a", "None", "none", "null", "NULL"}
)


def is_number(text: str) -> bool:
    """Whether a text is a finite decimal number, blanks around it aside.

    Parameters
    ----------
    text : str
        Text of a cell.

    Returns
    -------
    bool
        True for an optional sign, ASCII digits with at most one point, and an
        optional exponent; nothing else (no underscores, separators or units).

    Examples
    --------
    >>> [is_number(text) for text in ("1e5", " -.5 ", "20200407_2", "1,000", "inf")]
    [True, True, False, False, False]
    """
    return _NUMBER.fullmatch(text.strip()) is not None


def missing_words(extra: Iterable[str] = ()) -> frozenset[str]:
    """Words that mean "unscored", the declared ones included, in lower case.

    Parameters
    ----------
    extra : iterable of str
        Further words, as in `Columns.missing`.

    Returns
    -------
    frozenset of str

    Examples
    --------
    >>> "not_available" in missing_words(["NOT_AVAILABLE"])
    True
    """
    return MISSING_WORDS.union(word.strip().casefold() for word in extra)


def is_missing(value: object, missing: Collection[str] = MISSING_WORDS) -> bool:
    """Whether a cell of a metric column means "unscored".

    Parameters
    ----------
    value : object
        Text of a cell, or a JSON or Python value.
    missing : collection of str
        Words in lower case, see `missing_words`; one that is a number stands for it.

    Returns
    -------
    bool

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), " n/a ", "", 0, "0")]
    [True, True, True, True, False, False]
    """
    if value is None:
        return True
    if isinstance(value, str):
        return value.strip().casefold() in missing
    if isinstance(value, float | np.floating | Decimal) and math.isnan(value):
        return True
    return isinstance(value, _NUMBERS) and value in _sentinels(missing)


def score_value(
    value: object, missing: Collection[str] = MISSING_WORDS
) -> float | None:
    """Score of one cell.

    Parameters
    ----------
    value : object
        Text of a cell, or a JSON or Python value.
    missing : collection of str
        Words in lower case, see `missing_words`.

    Returns
    -------
    float or None
        The number; 1.0 or 0.0 for true or false; NaN for "unscored"; an infinity
        for an infinite number or one beyond the double range; None when the cell
        is neither number, boolean nor missing.

    Examples
    --------
    >>> [score_value(cell) for cell in ("0.5", "FALSE", True, "N/A", "maybe", "1e999")]
    [0.5, 0.0, 1.0, nan, None, inf]
    """
    if is_missing(value, missing):
        return math.nan
    if isinstance(value, str):
        return _score_of_text(value.strip())
    if isinstance(value, _NUMBERS):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return None


def score_values(
    values: Sequence[object] | NDArray[Any],
    missing: Collection[str] = MISSING_WORDS,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Scores of a whole column, each by the rules of `score_value`.

    Parameters
    ----------
    values : sequence or ndarray, shape (n_rows,)
        Cells.
    missing : collection of str
        Words in lower case, see `missing_words`.

    Returns
    -------
    scores : ndarray of float, shape (n_rows,)
        NaN for "unscored" and for cells that are no scores.
    refused : ndarray of bool, shape (n_rows,)
        True for the cells that are neither number, boolean nor missing.

    Examples
    --------
    >>> scores, refused = score_values(["1", "", "maybe"])
    >>> scores.tolist(), refused.tolist()
    ([1.0, nan, nan], [False, False, True])
    """
    scores, refused = _converted(values, missing)
    sentinels = _sentinels(missing)
    if sentinels:
        scores = np.where(np.isin(scores, sentinels), np.nan, scores)
    return scores, refused


def status_code(word: object, statuses: Mapping[str, str] | None = None) -> int | None:
    """Code of a status word.

    Parameters
    ----------
    word : object
        Text of a status cell; letter case and blanks around it do not matter.
    statuses : mapping of str to str, optional
        Further words and the known word each stands for; they win over the known
        ones.

    Returns
    -------
    int or None
        `ANSWERED`, `UNSCORED` or `FAILED`; None for an unknown word.

    Examples
    --------
    >>> status_code("OK"), status_code("parse_error", {"parse_error": "failed"})
    (0, 2)
    >>> status_code("parse_error") is None
    True
    """
    text = label_text(word)
    key = "" if text is None else text.strip().casefold()
    for own, known in (statuses or {}).items():
        if own.strip().casefold() == key:
            return STATUS_WORDS.get(known.strip().casefold())
    return STATUS_WORDS.get(key)


def question_text(value: object) -> str | None:
    """Id as text; the integer 1 is "1", and text stays as it is.

    Parameters
    ----------
    value : object
        Text, or a JSON or Python value.

    Returns
    -------
    str or None
        None when the value cannot be an id: empty, a boolean, a number with a
        fraction part (1.0 may be "1" or "1.0"), a list or an object.

    Examples
    --------
    >>> [question_text(value) for value in ("007", 7, "NA", True, 7.0, "", None)]
    ['007', '7', 'NA', None, None, None, None]
    """
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(value)
    return None


def label_text(value: object) -> str | None:
    """Text of a label, character for character; None for an empty cell.

    Parameters
    ----------
    value : object
        Text, or a JSON or Python value; lists and objects become JSON text.

    Returns
    -------
    str or None

    Examples
    --------
    >>> [label_text(value) for value in ("NA", "007", 1.10, True, None, ["a"], "")]
    ['NA', '007', '1.1', 'true', None, '["a"]', None]
    """
    if isinstance(value, str):
        return str(value) if value else None
    if value is None or (isinstance(value, float | np.floating) and math.isnan(value)):
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        return repr(float(value))
    if isinstance(value, Mapping | list | tuple | np.ndarray):
        return json.dumps(plain_value(value), ensure_ascii=False, default=str)
    return str(value)


def _converted(
    values: Sequence[object] | NDArray[Any], missing: Collection[str]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return values.astype(np.float64, copy=False), np.zeros(values.size, dtype=bool)
    kinds = set(map(type, values))
    if kinds <= {str}:
        return _scores_of_texts(values, missing)
    if kinds <= {int, float, bool, type(None)}:
        try:
            scores = np.array(values, dtype=np.float64)
        except OverflowError:
            pass
        else:
            return scores, np.zeros(len(values), dtype=bool)
    return _split_refused([score_value(value, missing) for value in values])


def _score_of_text(text: str) -> float | None:
    if _NUMBER.fullmatch(text) or _INFINITY.fullmatch(text):
        return float(text)
    lowered = text.casefold()
    return float(lowered == "true") if lowered in {"true", "false"} else None


def _sentinels(missing: Collection[str]) -> list[float]:
    """Numbers that were declared to mean "unscored", such as -1."""
    return [float(word) for word in missing if is_number(word)]


def _scores_of_texts(
    values: Sequence[Any] | NDArray[Any], missing: Collection[str]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    n_rows = len(values)
    empty = np.fromiter(map(_PLAIN_MISSING.__contains__, values), bool, n_rows)
    present: Sequence[Any] | NDArray[Any] = values
    if empty.any():
        present = np.asarray(values, dtype=object)[~empty]
    numbers = _plain_numbers(present)
    if numbers is not None:
        scores = np.full(n_rows, np.nan)
        scores[~empty] = numbers
        return scores, np.zeros(n_rows, dtype=bool)
    known = {text: score_value(text, missing) for text in dict.fromkeys(values)}
    return _split_refused([known[text] for text in values])


def _plain_numbers(
    texts: Sequence[Any] | NDArray[Any],
) -> NDArray[np.float64] | None:
    """All texts as numbers at once, or None when one needs a closer look."""
    joined = "".join(texts)
    if not joined.isascii() or joined.encode().translate(None, _NUMBER_BYTES):
        return None
    try:
        return np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        return None


def _split_refused(
    found: list[float | None],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    refused = np.array([score is None for score in found], dtype=bool)
    return np.array(found, dtype=np.float64), refused  # None becomes NaN
