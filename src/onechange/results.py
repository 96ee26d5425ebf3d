"""`Results`: the checked rows of one arm; `Columns`: which column plays which role."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onechange.cells import ANSWERED, FAILED, UNSCORED, is_number
from onechange.stats.estimate import Note

__all__ = [
    "ANSWERED",
    "FAILED",
    "UNSCORED",
    "Columns",
    "Results",
    "SourceFile",
    "id_keys",
    "ordered",
    "repeated_rows",
    "row_order",
    "trial_order",
]

FloatArray = NDArray[np.float64]
StatusArray = NDArray[np.int8]
TextArray = NDArray[np.object_]
IntArray = NDArray[np.int64]

_MAX_KEY_LENGTH = 64  # ids above it are sorted as Python text


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column of a file plays which role.

    Parameters
    ----------
    question_id, trial, status, cluster : str or None
        Column names; None means the column of that very name (``question_id``,
        ``trial``, ``status``) when present. A cluster is never assumed.
    slices : tuple of str
        Columns to read as text labels, whatever they look like ("007", "NA").
    metrics : tuple of str
        Columns to read as metrics; empty means every numeric or boolean column.
    metric_columns : mapping of str to str
        Metric name to column name, where the two differ.
    settings : tuple of str
        Columns that hold a setting of the arm (constant within it).
    statuses : mapping of str to str
        Further status words, mapped to ``answered``, ``unscored`` or ``failed``.
    missing : tuple of str
        Further texts that mean "unscored" in a metric column.
    ranges : mapping of str to tuple of float
        Declared (lowest, highest) score per metric; a value outside is an error.
    """

    question_id: str | None = None
    trial: str | None = None
    status: str | None = None
    cluster: str | None = None
    slices: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    metric_columns: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[str, ...] = ()
    statuses: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file that was read: its name without folders, and its SHA-256."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """The rows of one arm, checked: one row per question and trial.

    Parameters
    ----------
    name : str
        Name of the arm, shown in reports.
    files : tuple of SourceFile
        What was read, in the order given; empty for a DataFrame.
    question_id : ndarray of str, shape (n_rows,)
        Question of each row; always text.
    trial : ndarray of str, shape (n_rows,), or None
        Trial label of each row; None when the source has no trials.
    status : ndarray of int8, shape (n_rows,), or None
        `ANSWERED`, `UNSCORED` or `FAILED`; None when no status was recorded.
    metrics : dict of str to ndarray of float, each of shape (n_rows,)
        Scores; NaN means unscored. Failed rows hold NaN everywhere.
    labels : dict of str to ndarray of object, each of shape (n_rows,)
        Text columns (slices, clusters, question and answer texts); None = empty.
    settings : dict
        Settings of the arm, flattened to dotted keys; plain Python values.
    notes : tuple of Note
        Every doubtful inference made while reading.
    in_order : bool
        True when the rows are sorted by question and trial and none is repeated
        (see `ordered`).
    """

    name: str
    files: tuple[SourceFile, ...]
    question_id: TextArray
    trial: TextArray | None
    status: StatusArray | None
    metrics: dict[str, FloatArray]
    labels: dict[str, TextArray]
    settings: dict[str, Any]
    notes: tuple[Note, ...] = ()
    in_order: bool = False

    @property
    def n_rows(self) -> int:
        """Number of rows read."""
        return int(self.question_id.size)


def ordered(results: Results, order: IntArray) -> Results:
    """Put the rows into another order.

    Parameters
    ----------
    results : Results
        Rows in any order.
    order : ndarray of int, shape (n_rows,)
        Old row number of each new row, see `row_order`.

    Returns
    -------
    Results
    """
    trial, status = results.trial, results.status
    return replace(
        results,
        question_id=results.question_id[order],
        trial=None if trial is None else trial[order],
        status=None if status is None else status[order],
        metrics={name: values[order] for name, values in results.metrics.items()},
        labels={name: texts[order] for name, texts in results.labels.items()},
    )


def row_order(question_id: TextArray, trial: TextArray | None) -> IntArray | None:
    """Order that sorts rows by question and trial.

    Parameters
    ----------
    question_id, trial : ndarray of str, shape (n_rows,)
        Question and trial label of each row; None when there are no trials.

    Returns
    -------
    ndarray of int, shape (n_rows,), or None
        None when the rows stand in that order already.

    Examples
    --------
    >>> import numpy as np
    >>> ids = np.array(["b", "a", "a"], dtype=object)
    >>> row_order(ids, np.array(["1", "10", "9"], dtype=object)).tolist()
    [2, 1, 0]
    """
    keys = id_keys(question_id)
    order = _argsort(keys)
    if trial is None:
        return None if _is_identity(order) else order
    ranks = {label: rank for rank, label in enumerate(trial_order(trial))}
    rank = np.fromiter(map(ranks.__getitem__, trial), np.int64, len(trial))
    new_question = np.ones(order.size, dtype=np.int64)
    new_question[1:] = keys[order[1:]] != keys[order[:-1]]
    question = np.empty(order.size, dtype=np.int64)
    question[order] = np.cumsum(new_question)
    order = np.argsort(question * max(len(ranks), 1) + rank, kind="stable")
    return None if _is_identity(order) else order


def repeated_rows(question_id: TextArray, trial: TextArray | None) -> NDArray[np.bool_]:
    """Rows that repeat the question and trial of the row before.

    Parameters
    ----------
    question_id, trial : ndarray of str, shape (n_rows,)
        Sorted rows, see `row_order`.

    Returns
    -------
    ndarray of bool, shape (n_rows,)
    """
    repeated = np.zeros(question_id.size, dtype=np.bool_)
    repeated[1:] = question_id[1:] == question_id[:-1]
    if trial is not None:
        repeated[1:] &= trial[1:] == trial[:-1]
    return repeated


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
        keys = ids.astype(np.bytes_)
    except UnicodeEncodeError:
        keys = np.array([text.encode() for text in ids], dtype=np.bytes_)
    return keys


def _argsort(keys: NDArray[Any]) -> IntArray:
    if keys.dtype == object:
        texts = keys.tolist()
        order = sorted(range(len(texts)), key=texts.__getitem__)
        return np.array(order, dtype=np.int64)
    if np.all(keys[:-1] <= keys[1:]):
        return np.arange(keys.size, dtype=np.int64)
    return np.argsort(keys, kind="stable").astype(np.int64, copy=False)


def _is_identity(order: IntArray) -> bool:
    return bool(np.all(order[:-1] < order[1:]))
