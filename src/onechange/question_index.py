"""Rows sorted by question and trial: the order, and which question each row is of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onechange.cells import is_number

__all__ = ["QuestionIndex", "SortedRows", "id_keys", "sort_rows", "trial_order"]

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
TextArray = NDArray[np.object_]

_MAX_KEY_LENGTH = 64  # longer ids are sorted as Python text


@dataclass(frozen=True, slots=True, eq=False)
class QuestionIndex:
    """Which of the sorted distinct questions each row is of.

    Parameters
    ----------
    question_id, trial : ndarray of str, shape (n_rows,)
        The very arrays that were indexed (trial: None without trials).
    codes : ndarray of int, shape (n_rows,)
        Rank of each row's question among the distinct ones; never falls.
    keys : ndarray of bytes, shape (n_questions,), or None
        Distinct ids as `id_keys` gives them; None when they were not needed.
    """

    question_id: TextArray
    trial: TextArray | None
    codes: IntArray
    keys: NDArray[Any] | None

    @property
    def starts(self) -> IntArray:
        """First row of each question."""
        new = np.ones(self.codes.size, dtype=np.bool_)
        new[1:] = self.codes[1:] != self.codes[:-1]
        return np.flatnonzero(new)


@dataclass(frozen=True, slots=True, eq=False)
class SortedRows:
    """How rows have to be moved to be sorted, and what they are then.

    Parameters
    ----------
    order : ndarray of int, shape (n_rows,), or None
        Old row number of each new row; None when nothing has to move.
    codes : ndarray of int, shape (n_rows,)
        As in `QuestionIndex`, for the moved rows.
    keys : ndarray of bytes, shape (n_questions,), or None
        As in `QuestionIndex`.
    repeated : ndarray of int
        New row numbers that repeat the question and trial of the row before.
    """

    order: IntArray | None
    codes: IntArray
    keys: NDArray[Any] | None
    repeated: IntArray


def sort_rows(question_id: TextArray, trial: TextArray | None) -> SortedRows:
    """Sort rows by question (as text) and trial (see `trial_order`).

    Parameters
    ----------
    question_id, trial : ndarray of str, shape (n_rows,)
        Question and trial label of each row; None when there are no trials.

    Returns
    -------
    SortedRows

    Examples
    --------
    >>> import numpy as np
    >>> ids = np.array(["b", "a", "a"], dtype=object)
    >>> rows = sort_rows(ids, np.array(["1", "10", "9"], dtype=object))
    >>> rows.order.tolist(), rows.codes.tolist()
    ([2, 1, 0], [0, 0, 1])
    """
    n_rows = question_id.size
    nothing = np.zeros(0, dtype=np.int64)
    if trial is None and bool(np.all(question_id[:-1] < question_id[1:])):
        return SortedRows(None, np.arange(n_rows, dtype=np.int64), None, nothing)
    keys = id_keys(question_id)
    order = _argsort(keys)
    moved = keys[order]
    new = np.ones(n_rows, dtype=np.bool_)
    new[1:] = moved[1:] != moved[:-1]
    codes = np.cumsum(new, dtype=np.int64) - 1
    distinct = None if keys.dtype == object else moved[new]
    if trial is None:
        repeated = np.flatnonzero(~new)
        return SortedRows(_unless_identity(order), codes, distinct, repeated)
    ranks = {label: rank for rank, label in enumerate(trial_order(trial))}
    rank = np.fromiter(map(ranks.__getitem__, trial), np.int64, n_rows)
    both = codes * max(len(ranks), 1) + rank[order]
    within = np.argsort(both, kind="stable")
    both = both[within]
    return SortedRows(
        order=_unless_identity(order[within]),
        codes=codes,  # sorting inside the questions does not move their codes
        keys=distinct,
        repeated=np.flatnonzero(both[1:] == both[:-1]) + 1,
    )


def trial_order(labels: Iterable[str]) -> tuple[str, ...]:
    """Distinct trial labels: numbers by value, then text.

    Parameters
    ----------
    labels : iterable of str
        Trial labels, repeated or not.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> trial_order(["10", "9", "b", "a", "9"])
    ('9', '10', 'a', 'b')
    """

    def key(label: str) -> tuple[bool, float, str]:
        number = is_number(label)
        return not number, float(label) if number else 0.0, label

    return tuple(sorted(set(labels), key=key))


def id_keys(ids: TextArray) -> NDArray[Any]:
    """Ids in the form that sorts fastest; the order is that of the texts.

    Parameters
    ----------
    ids : ndarray of str, shape (n,)
        Question ids, free of NUL characters.

    Returns
    -------
    ndarray of bytes or of str, shape (n,)
        UTF-8 bytes (their order is the order of the code points), or the texts
        themselves where one of them is long.
    """
    if max(map(len, ids), default=0) > _MAX_KEY_LENGTH:
        return ids
    try:
        return ids.astype(np.bytes_)
    except UnicodeEncodeError:
        return np.array([text.encode() for text in ids], dtype=np.bytes_)


def _argsort(keys: NDArray[Any]) -> IntArray:
    if keys.dtype == object:
        texts = keys.tolist()
        order = sorted(range(len(texts)), key=texts.__getitem__)
        return np.array(order, dtype=np.int64)
    words = _varying_words(keys)
    if words is None:
        return np.argsort(keys, kind="stable").astype(np.int64, copy=False)
    return np.argsort(words, kind="stable").astype(np.int64, copy=False)


def _varying_words(keys: NDArray[Any]) -> NDArray[np.uint64] | None:
    """Eight bytes of each key that alone decide the order, or None."""
    n_words = -(-keys.itemsize // 8)
    if keys.size == 0 or n_words > 4:
        return None
    padded = keys.astype(f"S{8 * n_words}").view(">u8").reshape(keys.size, n_words)
    varying = [
        word for word in range(n_words) if np.any(padded[:, word] != padded[0, word])
    ]
    if len(varying) > 1:
        return None
    column = padded[:, varying[0] if varying else 0]
    return column.astype(np.uint64)


def _unless_identity(order: IntArray) -> IntArray | None:
    return None if bool(np.all(order[:-1] < order[1:])) else order
