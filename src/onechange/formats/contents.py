"""What a file holds: systems, metrics, slices, trials, statuses and settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from onechange.results import ANSWERED, FAILED, UNSCORED, Results
from onechange.stats.estimate import Note

__all__ = ["Contents", "SystemContents", "describe"]

_MAX_SLICE_VALUES = 30


@dataclass(frozen=True, slots=True)
class SystemContents:
    """One system of a file.

    Parameters
    ----------
    name : str
        Name of the system.
    n_rows, n_questions, n_trials : int
        Rows, different questions, different trial labels (1 when there are none).
    answered, unscored, failed : int
        Rows by status.
    metrics : dict of str to int
        Number of scored rows of each metric.
    means : dict of str to float or None
        Mean over the scored rows; None without any.
    slices : dict of str to int
        Number of different labels of each column that could serve as a slice.
    texts : tuple of str
        Columns with a text of their own for nearly each question.
    settings : dict
        Settings recorded in the file.
    notes : tuple of Note
        Doubtful inferences.
    """

    name: str
    n_rows: int
    n_questions: int
    n_trials: int
    answered: int
    unscored: int
    failed: int
    metrics: dict[str, int]
    means: dict[str, float | None]
    slices: dict[str, int]
    texts: tuple[str, ...]
    settings: dict[str, Any]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Contents:
    """The systems of a file and the format they were read as; None = plain rows."""

    format: str | None
    systems: tuple[SystemContents, ...]


def describe(
    systems: Mapping[str, Results], *, format_name: str | None = None
) -> Contents:
    """Count what each system of a file holds.

    Parameters
    ----------
    systems : mapping of str to Results
        As `read_systems` gives them.
    format_name : str, optional
        Format the file was read as.

    Returns
    -------
    Contents
    """
    found = tuple(_system(name, results) for name, results in systems.items())
    return Contents(format_name, found)


def _system(name: str, results: Results) -> SystemContents:
    n_questions = len(set(results.question_id))
    slices, texts = _split_labels(results, n_questions)
    scored = {
        metric: int(np.count_nonzero(~np.isnan(values)))
        for metric, values in results.metrics.items()
    }
    codes = results.status
    if codes is None:
        codes = np.full(results.n_rows, ANSWERED, dtype=np.int8)
    return SystemContents(
        name=name,
        n_rows=results.n_rows,
        n_questions=n_questions,
        n_trials=1 if results.trial is None else len(set(results.trial)),
        answered=int(np.count_nonzero(codes == ANSWERED)),
        unscored=int(np.count_nonzero(codes == UNSCORED)),
        failed=int(np.count_nonzero(codes == FAILED)),
        metrics=scored,
        means={
            metric: float(np.nanmean(values)) if scored[metric] else None
            for metric, values in results.metrics.items()
        },
        slices=slices,
        texts=texts,
        settings=dict(results.settings),
        notes=results.notes,
    )


def _split_labels(
    results: Results, n_questions: int
) -> tuple[dict[str, int], tuple[str, ...]]:
    slices: dict[str, int] = {}
    texts: list[str] = []
    for label, values in results.labels.items():
        n_values = len({value for value in values if value is not None})
        few = n_values <= _MAX_SLICE_VALUES and n_values <= max(2, n_questions // 2)
        longest = max((len(value) for value in values if value), default=0)
        if few and longest <= 80:
            slices[label] = n_values
        else:
            texts.append(label)
    return slices, tuple(texts)
