"""`Results`: the checked rows of one arm; `Columns`: which column plays which role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onechange.cells import ANSWERED, FAILED, UNSCORED
from onechange.question_index import QuestionIndex
from onechange.stats.estimate import Note

__all__ = [
    "ANSWERED",
    "FAILED",
    "UNSCORED",
    "Columns",
    "Gradings",
    "Results",
    "SourceFile",
    "ordered",
]

FloatArray = NDArray[np.float64]
StatusArray = NDArray[np.int8]
TextArray = NDArray[np.object_]
IntArray = NDArray[np.int64]


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
    judge_trial : str or None
        Column that tells gradings of the same answer apart; never assumed.
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
    judge_trial: str | None = None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file that was read: its name without folders, and its SHA-256."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True, eq=False)
class Gradings:
    """How far several gradings of the same answer differ, row by row.

    Parameters
    ----------
    counts : ndarray of int, shape (n_rows,)
        Gradings with a score.
    squares : ndarray of float, shape (n_rows,)
        Sum of their squared deviations from their mean.
    """

    counts: IntArray
    squares: FloatArray


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
    index : QuestionIndex or None
        Made when the rows were sorted by question and trial and found free of
        repeats; None for rows as they come.
    gradings : dict of str to Gradings
        By metric, where several gradings of each answer were averaged.
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
    index: QuestionIndex | None = None
    gradings: dict[str, Gradings] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows read."""
        return int(self.question_id.size)

    @property
    def in_order(self) -> bool:
        """Whether `index` still belongs to these rows."""
        return (
            self.index is not None
            and self.index.question_id is self.question_id
            and self.index.trial is self.trial
        )


def ordered(results: Results, order: IntArray) -> Results:
    """Put the rows into another order.

    Parameters
    ----------
    results : Results
        Rows in any order.
    order : ndarray of int, shape (n_rows,)
        Old row number of each new row.

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
        gradings={
            name: Gradings(found.counts[order], found.squares[order])
            for name, found in results.gradings.items()
        },
    )
