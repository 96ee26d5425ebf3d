"""Several `Results`, one per trial file -> the `Results` of the arm."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from onechange.errors import InputError
from onechange.results import (
    ANSWERED,
    UNSCORED,
    FloatArray,
    Gradings,
    Results,
    StatusArray,
    TextArray,
)
from onechange.stats.estimate import Note

__all__ = ["join_trials", "trial_names"]


def join_trials(trials: Sequence[Results], names: Sequence[str], arm: str) -> Results:
    """Put the rows of several files under one another, with their trial labels.

    Parameters
    ----------
    trials : sequence of Results
        One per file.
    names : sequence of str
        Name of each file, for trial labels and messages.
    arm : str
        Name of the arm.

    Returns
    -------
    Results
        Rows not yet in order. Trials are named as in `trial_names`; where a file
        has trials of its own, theirs follow after a point. Settings that differ
        between the files are listed and noted.

    Raises
    ------
    InputError
        When a column is a metric in one file and text in another.
    """
    metrics, labels = _column_names(trials, names)
    settings, notes = _settings(trials, names)
    for results, name in zip(trials, names, strict=True):
        known = {(note.code, note.text) for note in notes}
        for note in results.notes:
            if (note.code, note.text) in known:
                continue
            own = note.code != "role-inferred"
            notes.append(Note(note.code, f"{name}: {note.text}") if own else note)
    sizes = [results.n_rows for results in trials]
    return Results(
        name=arm,
        files=tuple(file for results in trials for file in results.files),
        question_id=np.concatenate([results.question_id for results in trials]),
        trial=_trial_labels(trials, trial_names(names)),
        status=_statuses(trials),
        metrics={
            metric: np.concatenate(
                [
                    results.metrics.get(metric, np.full(size, np.nan))
                    for results, size in zip(trials, sizes, strict=True)
                ]
            )
            for metric in metrics
        },
        labels={
            label: np.concatenate(
                [
                    results.labels.get(label, np.full(size, None, dtype=object))
                    for results, size in zip(trials, sizes, strict=True)
                ]
            )
            for label in labels
        },
        settings=settings,
        notes=tuple(notes),
        gradings=_gradings(trials, metrics),
    )


def trial_names(stems: Sequence[str]) -> tuple[str, ...]:
    """Trial labels of files: the number they end in, else their name.

    Parameters
    ----------
    stems : sequence of str
        File names without folder and suffix.

    Returns
    -------
    tuple of str
        Positions 1, 2, … when the names do not differ.

    Examples
    --------
    >>> trial_names(["base_t1", "base_t2", "base_t10"])
    ('1', '2', '10')
    >>> trial_names(["monday", "tuesday"]), trial_names(["results", "results"])
    (('monday', 'tuesday'), ('1', '2'))
    """
    endings = [re.search(r"[0-9]+$", stem) for stem in stems]
    numbers = [str(int(found.group()[-18:])) for found in endings if found]
    if len(set(numbers)) == len(stems):
        return tuple(numbers)
    if len(set(stems)) == len(stems):
        return tuple(stems)
    return tuple(str(position) for position in range(1, len(stems) + 1))


def _gradings(trials: Sequence[Results], metrics: Sequence[str]) -> dict[str, Gradings]:
    """Spread of the gradings of all files; none where no file has several."""
    if not any(results.gradings for results in trials):
        return {}
    found = {}
    for metric in metrics:
        parts = [
            results.gradings.get(metric)
            or Gradings(
                np.zeros(results.n_rows, dtype=np.int64), np.zeros(results.n_rows)
            )
            for results in trials
        ]
        found[metric] = Gradings(
            np.concatenate([part.counts for part in parts]),
            np.concatenate([part.squares for part in parts]),
        )
    return found


def _column_names(
    trials: Sequence[Results], names: Sequence[str]
) -> tuple[list[str], list[str]]:
    metrics: dict[str, str] = {}
    labels: dict[str, str] = {}
    empty: set[str] = set()
    for results, name in zip(trials, names, strict=True):
        labels.update(dict.fromkeys(results.labels, name))
        for metric, values in results.metrics.items():
            if np.isnan(values).all():
                empty.add(metric)
            else:
                metrics[metric] = name
    for column in metrics.keys() & labels.keys():
        raise InputError(
            f'{labels[column]}: "{column}" holds labels here and scores in '
            f"{metrics[column]}; declare it with --slice {column}, or the metrics with "
            "--metric."
        )
    metrics.update(dict.fromkeys(sorted(empty - labels.keys()), ""))
    return list(metrics), list(labels)


def _settings(
    trials: Sequence[Results], names: Sequence[str]
) -> tuple[dict[str, Any], list[Note]]:
    settings: dict[str, Any] = {}
    notes = []
    for key in sorted({key for results in trials for key in results.settings}):
        values = [results.settings.get(key) for results in trials]
        if all(value == values[0] for value in values[1:]):
            settings[key] = values[0]
        elif not any(key in results.labels for results in trials):
            settings[key] = values
            told = ", ".join(
                f"{value} ({name})"
                for value, name in list(zip(values, names, strict=True))[:8]
            )
            notes.append(
                Note("settings-vary", f"{key} differs between the trial files: {told}.")
            )
    return settings, notes


def _trial_labels(trials: Sequence[Results], names: Sequence[str]) -> TextArray:
    parts: list[TextArray] = []
    own = [set() if r.trial is None else set(r.trial.tolist()) for r in trials]
    distinct = len(set().union(*own)) == sum(map(len, own)) and all(own)
    for results, name, labels in zip(trials, names, own, strict=True):
        if results.trial is not None and distinct:
            parts.append(results.trial)
        elif results.trial is not None and len(labels) > 1:
            parts.append(np.array([f"{name}.{t}" for t in results.trial], dtype=object))
        else:
            parts.append(np.full(results.n_rows, name, dtype=object))
    return np.concatenate(parts)


def _statuses(trials: Sequence[Results]) -> StatusArray | None:
    if all(results.status is None for results in trials):
        return None
    parts = []
    for results in trials:
        if results.status is not None:
            parts.append(results.status)
            continue
        scored = np.zeros(results.n_rows, dtype=np.bool_)
        values: FloatArray
        for values in results.metrics.values():
            scored |= ~np.isnan(values)
        parts.append(np.where(scored, ANSWERED, UNSCORED).astype(np.int8))
    return np.concatenate(parts)
