"""Two `Results` -> `Pairs` plus `Audit`; nothing leaves without being counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onechange.results import Columns, FloatArray, Results, StatusArray, TextArray
from onechange.stats.estimate import Note

__all__ = ["ArmTable", "Audit", "MetricAudit", "Pairs", "SettingChange", "align"]

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ArmTable:
    """All rows of one arm, sorted by question and trial.

    Parameters
    ----------
    question : ndarray of int, shape (n_rows,)
        Index into `Pairs.question_id`.
    trial : ndarray of int, shape (n_rows,)
        Index into `trial_labels` (all 0 when the arm has no trials).
    trial_labels : tuple of str
        Trial labels in order (numbers by value, then text).
    status : ndarray of int8, shape (n_rows,), or None
        As in `Results`.
    metrics : dict of str to ndarray of float, shape (n_rows,)
        As in `Results`.
    texts : dict of str to ndarray of object, shape (n_rows,)
        The label columns of the rows, for the drill-down.
    """

    question: IntArray
    trial: IntArray
    trial_labels: tuple[str, ...]
    status: StatusArray | None
    metrics: dict[str, FloatArray]
    texts: dict[str, TextArray]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Both arms over the sorted union of their questions.

    Parameters
    ----------
    question_id : ndarray of str, shape (n_questions,)
        Union of the questions of both arms, sorted as text.
    paired : ndarray of bool, shape (n_questions,)
        True where the question is in both arms and comparable.
    baseline, variant : ArmTable
        The rows of each arm.
    labels : dict of str to ndarray of object, shape (n_questions,)
        Slice label of each question (text, or None), the baseline's where both
        arms have one.
    clusters : ndarray of int, shape (n_questions,), or None
        Cluster code of each question; a question without a label is a cluster
        of its own.
    """

    question_id: TextArray
    paired: BoolArray
    baseline: ArmTable
    variant: ArmTable
    labels: dict[str, TextArray]
    clusters: IntArray | None


@dataclass(frozen=True, slots=True)
class MetricAudit:
    """Where the paired questions of one metric went; the counts add up.

    Every paired question is in exactly one field. `failed_*` wins over
    `unscored_*`: a question without a score whose rows include a failed one.
    """

    pairs: int
    unscored_baseline: int = 0
    unscored_variant: int = 0
    unscored_both: int = 0
    failed_baseline: int = 0
    failed_variant: int = 0
    failed_both: int = 0


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One recorded setting that differs between the arms; None = not recorded."""

    setting: str
    baseline: Any
    variant: Any


@dataclass(frozen=True, slots=True)
class Audit:
    """The ledger: rows read, questions paired and left out, scores per metric."""

    baseline_name: str
    variant_name: str
    rows_read: tuple[int, int]
    rows_by_status: dict[str, tuple[int, int]]
    rows_left_out: dict[str, tuple[int, int]]
    trials: tuple[int, int]
    questions: tuple[int, int]
    paired: int
    only_baseline: tuple[str, ...]
    only_variant: tuple[str, ...]
    not_comparable: tuple[str, ...]
    metrics: dict[str, MetricAudit]
    settings_changed: tuple[SettingChange, ...]
    settings_recorded: tuple[bool, bool]
    notes: tuple[Note, ...] = ()


def align(
    baseline: Results, variant: Results, *, columns: Columns | None = None
) -> tuple[Pairs, Audit]:
    """Pair two arms question by question and account for every row."""
    raise NotImplementedError
