"""Scores of the same questions under oracle context, put beside those of an arm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from onechange.errors import InputError
from onechange.results import FloatArray, Results
from onechange.stats.estimate import Note

__all__ = ["ORACLE_PREFIX", "with_oracle_context"]

ORACLE_PREFIX = "oracle_"  # oracle_correct holds `correct` under oracle context


def with_oracle_context(results: Results, oracle: Results) -> Results:
    """Add to an arm the scores of the same system under oracle context.

    With both arms made so, `compare` reports the retrieval gap of each arm (oracle
    less retrieved context) and its change, a difference of differences, with paired
    intervals.

    Parameters
    ----------
    results : Results
        The arm with retrieved context.
    oracle : Results
        The same system on the same questions with the right context given.

    Returns
    -------
    Results
        With one more metric, ``oracle_<name>``, for each metric that both have: the
        mean over the oracle's trials of each question.

    Raises
    ------
    InputError
        When both share no metric or no question.

    Examples
    --------
    >>> import pandas as pd
    >>> import onechange as oc
    >>> ids = ["q1", "q2", "q3"]
    >>> found = oc.read(pd.DataFrame({"question_id": ids, "correct": [0, 1, 0]}))
    >>> given = oc.read(pd.DataFrame({"question_id": ids[:2], "correct": [1, 1]}))
    >>> with_oracle_context(found, given).metrics["oracle_correct"].tolist()
    [1.0, 1.0, nan]
    """
    shared = [name for name in results.metrics if name in oracle.metrics]
    if not shared:
        raise InputError(
            f"{oracle.name}: no metric of {results.name} is scored under oracle "
            f"context; it holds {', '.join(oracle.metrics) or 'none'}, the arm "
            f"{', '.join(results.metrics) or 'none'}."
        )
    questions, row = np.unique(oracle.question_id, return_inverse=True)
    place = np.searchsorted(questions, results.question_id)
    place = np.minimum(place, questions.size - 1)
    known = np.asarray(questions[place] == results.question_id, dtype=np.bool_)
    if not known.any():
        raise InputError(
            f"{oracle.name}: none of its questions is in {results.name}; use results "
            "of the same question set."
        )
    added = {}
    for name in shared:
        means = _means(oracle.metrics[name], row, questions.size)
        added[ORACLE_PREFIX + name] = np.where(known, means[place], np.nan)
    return replace(
        results,
        metrics={**results.metrics, **added},
        files=(*results.files, *oracle.files),
        notes=(*results.notes, *_missing(results, oracle, known)),
    )


def _means(scores: FloatArray, row: np.ndarray, n: int) -> FloatArray:
    use = np.isfinite(scores)
    counts = np.bincount(row[use], minlength=n)
    totals = np.bincount(row[use], weights=scores[use], minlength=n)
    return np.where(counts > 0, totals / np.maximum(counts, 1), np.nan)


def _missing(results: Results, oracle: Results, known: np.ndarray) -> tuple[Note, ...]:
    lacking = sorted(set(results.question_id[~known].tolist()))
    if not lacking:
        return ()
    shown = ", ".join(lacking[:5]) + (" and more" if len(lacking) > 5 else "")
    text = (
        f"{len(lacking)} questions of {results.name} have no score under oracle "
        f"context in {oracle.name}: {shown}."
    )
    return (Note("unmatched-questions", text),)
