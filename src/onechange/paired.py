"""Two aligned arrays of scores -> one `Delta`, without files or frames."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from onechange.delta import (
    Delta,
    FloatArray,
    IntArray,
    Methods,
    MetricValues,
    metric_delta,
)
from onechange.errors import InputError
from onechange.stats.estimate import Note

__all__ = ["paired_delta"]


def paired_delta(
    baseline: ArrayLike,
    variant: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    interval: str = "auto",
    test: str = "auto",
    confidence_level: float = 0.95,
    direction: str = "higher",
    score_range: tuple[float, float] | None = None,
    tie: float | None = None,
    n_resamples: int = 9999,
    seed: int = 7,
) -> Delta:
    """Compare two aligned arrays of per-question scores.

    Parameters
    ----------
    baseline, variant : array_like, shape (n_questions,)
        One score per question, in the same order in both arms. ``None`` and NaN
        mean unscored: the question leaves the pairs and is counted in a note.
    clusters : array_like, shape (n_questions,), optional
        Label of the cluster of each question (a document, a conversation).
    interval, test : str, default "auto"
        Method names, as in ``--interval`` and ``--test``.
    confidence_level : float, default 0.95
        Two-sided level of the intervals.
    direction : {"higher", "lower"}
        Which values are better.
    score_range : tuple of float, optional
        Declared (lowest, highest) score; a value outside is an error.
    tie : float, optional
        Differences up to this size count as none.
    n_resamples, seed : int
        Used only by sampled methods.

    Returns
    -------
    Delta
        ``delta`` is mean(variant) - mean(baseline) over the complete pairs.

    Raises
    ------
    InputError
        When the arrays differ in length, or hold a text or an infinite value.
    MethodError
        When a method asked for by name does not fit the data.

    Examples
    --------
    >>> import onechange as oc
    >>> delta = oc.paired_delta([0, 1, 0, 0, 1, 0, 0], [1, 1, 1, 1, 1, None, 1])
    >>> delta.n_pairs, round(delta.delta, 4), delta.wins, delta.ties, delta.losses
    (6, 0.6667, 4, 2, 0)
    >>> delta.test.method, delta.test.pvalue
    ('mcnemar-midp', 0.0625)
    """
    b, v = _scores("baseline", baseline), _scores("variant", variant)
    if b.size != v.size:
        raise InputError(
            f"baseline has {b.size} scores and variant {v.size}; pass aligned arrays, "
            "one entry per question in the same order (None for an unscored one)."
        )
    if direction not in ("higher", "lower"):
        raise InputError(f'direction is "{direction}"; expected "higher" or "lower".')
    _check_level(confidence_level)
    _check_range("score", (b, v), score_range)
    values = MetricValues(
        baseline=b,
        variant=v,
        paired=np.ones(b.size, dtype=np.bool_),
        clusters=None if clusters is None else _codes(clusters, b.size),
        score_range=score_range,
        tie=tie,
    )
    methods = Methods(
        confidence_level=confidence_level,
        interval=interval,
        test=test,
        n_resamples=n_resamples,
        seed=seed,
        strict=True,
    )
    delta = metric_delta("score", direction, values, methods)
    left_out = int(b.size - delta.n_pairs)
    if left_out:
        note = Note(
            "unscored-rows",
            f"{left_out} of {b.size} questions {'is' if left_out == 1 else 'are'} "
            "unscored in an arm and left out.",
        )
        delta = replace(delta, notes=(note, *delta.notes))
    return delta


def _scores(name: str, scores: ArrayLike) -> FloatArray:
    try:
        array = np.array(scores, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} holds a value that is not a number ({error}); pass numbers, "
            "booleans, or None for an unscored question."
        ) from error
    infinite = np.flatnonzero(np.isinf(array))
    if infinite.size:
        raise InputError(
            f"{name}[{infinite[0]}] is infinite; pass finite scores, or None for an "
            "unscored question."
        )
    return array


def _codes(clusters: ArrayLike, size: int) -> IntArray:
    labels = np.asarray(clusters).ravel()
    if labels.size != size:
        raise InputError(
            f"clusters has {labels.size} labels for {size} questions; pass one label "
            "per question."
        )
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _check_level(confidence_level: float) -> None:
    if not 0 < confidence_level < 1:
        raise InputError(
            f"confidence_level is {confidence_level}; pass a number between 0 and 1, "
            "such as 0.95."
        )


def _check_range(
    name: str,
    arms: tuple[FloatArray, FloatArray],
    score_range: tuple[float, float] | None,
) -> None:
    if score_range is None:
        return
    low, high = score_range
    for arm, scores in zip(("baseline", "variant"), arms, strict=True):
        outside = np.flatnonzero((scores < low) | (scores > high))
        if outside.size:
            raise InputError(
                f"{arm}[{outside[0]}] is {scores[outside[0]]}, outside the declared "
                f"{name} range {low} to {high}; mend the score or the range."
            )
