"""Two aligned arrays of scores -> one `Delta`, without files or frames."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onechange.delta import (
    Delta,
    FloatArray,
    IntArray,
    Methods,
    MetricValues,
    metric_delta,
)
from onechange.errors import InputError
from onechange.stats.caveats import unlabelled_note
from onechange.stats.estimate import Note
from onechange.stats.names import RESAMPLING_NAMES

__all__ = ["paired_delta"]

FEWEST_RESAMPLES = 99


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
    resampling: str = "multinomial",
    strata: ArrayLike | None = None,
) -> Delta:
    """Compare two aligned arrays of per-question scores.

    Parameters
    ----------
    baseline, variant : array_like, shape (n_questions,)
        One score per question, in the same order in both arms. ``None`` and NaN
        mean unscored: the question leaves the pairs and is counted in a note.
    clusters : array_like, shape (n_questions,), optional
        Label of the cluster of each question (a document, a conversation). A question
        whose label is ``None``, NaN or empty is a cluster of its own; a note counts
        them.
    interval, test : str, default "auto"
        Method names, as in ``--interval`` and ``--test``.
    confidence_level : float, default 0.95
        Two-sided level of the intervals.
    direction : {"higher", "lower"}
        Which values are better.
    score_range : tuple of float, optional
        Declared (lowest, highest) score; a value outside is an error.
    tie : float, optional
        Differences up to this size count as "the same" among better, same and worse;
        delta, interval and test keep them.
    n_resamples, seed : int
        Used only by sampled methods (``studentized``); 99 resamples or more.
    resampling : {"multinomial", "poisson", "stratified"}
        How bootstrap intervals draw questions: n with replacement; each a Poisson(1)
        number of times (from 20 questions or clusters on); or n with replacement
        within each stratum, whose size stays fixed.
    strata : array_like, shape (n_questions,), optional
        Label of the stratum of each question, for ``stratified``.

    Returns
    -------
    Delta
        ``delta`` is mean(variant) - mean(baseline) over the complete pairs.

    Raises
    ------
    InputError
        When the arrays differ in length or have several dimensions, hold a text or
        an infinite value, or when a setting is out of its range.
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
    _check_settings(direction, confidence_level, tie, n_resamples, seed)
    _check_range("score", (b, v), score_range)
    codes, unlabelled = None, 0
    if clusters is not None:
        codes, unlabelled = _codes(clusters, b.size)
    groups = _strata(strata, resampling, b.size, codes)
    values = MetricValues(
        baseline=b,
        variant=v,
        paired=np.ones(b.size, dtype=np.bool_),
        clusters=codes,
        score_range=score_range,
        tie=tie,
        strata=groups,
        resampling=resampling,
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
    notes = list(delta.notes)
    if unlabelled:
        notes.insert(0, unlabelled_note(unlabelled, b.size))
    left_out = int(b.size - delta.n_pairs)
    if left_out:
        note = Note(
            "unscored-rows",
            f"{left_out} of {b.size} questions {'is' if left_out == 1 else 'are'} "
            "unscored in an arm and left out.",
        )
        notes.insert(0, note)
    return replace(delta, notes=tuple(notes))


def _scores(name: str, scores: ArrayLike) -> FloatArray:
    given = _one_dimensional(name, scores, "score")
    numeric = given.dtype.kind in "biuf"
    items = [] if numeric else given.tolist()
    texts = [i for i, item in enumerate(items) if isinstance(item, str | bytes)]
    if texts or not (numeric or given.dtype.kind == "O"):
        where = f"{name}[{texts[0]}] is {given[texts[0]]!r}" if texts else name
        raise InputError(
            f"{where}: not a number; pass numbers, booleans, or None for an unscored "
            "question."
        )
    if not numeric:
        known = [math.nan if _missing(item) else item for item in items]
        given = np.array(known, dtype=object)
    try:
        array = given.astype(np.float64)
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


def _one_dimensional(name: str, values: ArrayLike, what: str) -> NDArray[Any]:
    # A list of mixed kinds would turn into one of texts.
    typed = hasattr(values, "dtype")
    array = np.asarray(values) if typed else np.asarray(values, dtype=object)
    if array.ndim != 1:
        raise InputError(
            f"{name} has {array.ndim} dimensions; pass one {what} per question. Of "
            "several trials, pass the mean of each question."
        )
    return array


def _labels(name: str, labels: ArrayLike, size: int) -> list[Any]:
    given = _one_dimensional(name, labels, "label")
    if given.size != size:
        raise InputError(
            f"{name} has {given.size} labels for {size} questions; pass one label per "
            "question."
        )
    found: list[Any] = given.tolist()
    return found


def _strata(
    strata: ArrayLike | None, resampling: str, size: int, clusters: IntArray | None
) -> IntArray | None:
    """Give each stratum a number; questions without a label are one of them."""
    if resampling not in RESAMPLING_NAMES:
        known = ", ".join(f'"{name}"' for name in RESAMPLING_NAMES)
        raise InputError(f'resampling is "{resampling}"; choose one of {known}.')
    if (strata is None) == (resampling == "stratified"):
        raise InputError(
            'strata go with resampling="stratified" and only with it; pass both or '
            "neither."
        )
    if strata is None:
        return None
    if clusters is not None:
        raise InputError(
            "stratified resampling draws single questions and cannot keep clusters "
            "whole; pass strata or clusters."
        )
    listed = _labels("strata", strata, size)
    texts = ["" if _missing(label) else f"={label}" for label in listed]
    return np.unique(texts, return_inverse=True)[1].astype(np.int64)


def _codes(clusters: ArrayLike, size: int) -> tuple[IntArray, int]:
    """Give each cluster a number, and count the questions without a label."""
    listed = _labels("clusters", clusters, size)
    if isinstance(clusters, np.ndarray) and clusters.dtype.kind in "iub":
        return np.unique(clusters, return_inverse=True)[1].astype(np.int64), 0
    missing = np.array([_missing(label) for label in listed], dtype=np.bool_)
    try:
        known = {label for label in listed if not _missing(label)}
    except TypeError as error:
        raise InputError(
            f"clusters holds a label that is neither text nor number ({error}); pass "
            "one plain label per question."
        ) from error
    ordered = sorted(known, key=lambda label: (type(label).__name__, str(label)))
    number = {label: code for code, label in enumerate(ordered)}
    n_missing = int(np.count_nonzero(missing))
    codes = np.empty(size, dtype=np.int64)
    codes[missing] = len(number) + np.arange(n_missing)
    codes[~missing] = [number[label] for label in listed if not _missing(label)]
    return codes, n_missing


def _missing(label: object) -> bool:
    """Whether it is None, NaN, empty or what pandas writes for a missing value."""
    if isinstance(label, float):
        return math.isnan(label)
    return label is None or type(label).__name__ == "NAType" or label == ""


def _check_settings(
    direction: str,
    confidence_level: float,
    tie: float | None,
    n_resamples: int,
    seed: int,
) -> None:
    if direction not in ("higher", "lower"):
        raise InputError(f'direction is "{direction}"; expected "higher" or "lower".')
    if not 0 < confidence_level < 1:
        raise InputError(
            f"confidence_level is {confidence_level}; pass a number between 0 and 1, "
            "such as 0.95."
        )
    if tie is not None and not 0 <= tie < math.inf:
        raise InputError(f"tie is {tie}; pass a finite number of 0 or more.")
    for name, value, least in (
        ("n_resamples", n_resamples, FEWEST_RESAMPLES),
        ("seed", seed, 0),
    ):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or value < least:
            raise InputError(
                f"{name} is {value}; pass a whole number of {least} or more."
            )


def _check_range(
    name: str,
    arms: tuple[FloatArray, FloatArray],
    score_range: tuple[float, float] | None,
) -> None:
    if score_range is None:
        return
    low, high = score_range
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(
            f"{name}_range is ({low}, {high}); pass two finite numbers, the lower one "
            "first."
        )
    for arm, scores in zip(("baseline", "variant"), arms, strict=True):
        outside = np.flatnonzero((scores < low) | (scores > high))
        if outside.size:
            raise InputError(
                f"{arm}[{outside[0]}] is {scores[outside[0]]}, outside the declared "
                f"{name} range {low} to {high}; mend the score or the range."
            )
