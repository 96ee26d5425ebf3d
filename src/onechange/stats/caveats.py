"""What has to be said about a sample before any interval: too few, skewed, clumped."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from onechange.stats.cluster import largest_share
from onechange.stats.estimate import Note
from onechange.stats.fitting import clustered
from onechange.stats.interval import skewness
from onechange.stats.sample import PairedSample
from onechange.stats.signflip import n_min

__all__ = [
    "cluster_notes",
    "enough_units",
    "sample_notes",
    "unit_notes",
    "unlabelled_note",
]

IntArray = NDArray[np.int64]

FEW_CHANGED = 10


def enough_units(notes: tuple[Note, ...]) -> bool:
    """Whether no note says that a status is out of reach."""
    return not any(n.code in ("too-few-questions", "few-clusters") for n in notes)


def sample_notes(
    sample: PairedSample, confidence_level: float, *, interval: bool = True
) -> tuple[Note, ...]:
    """Caveats of a paired sample.

    Parameters
    ----------
    sample : PairedSample
    confidence_level : float
        Two-sided level of the decision.
    interval : bool, default True
        Whether there is an interval for the last two caveats to be about.

    Returns
    -------
    tuple of Note
        ``too-few-questions`` or ``few-clusters``, ``dominant-cluster``,
        ``few-changed-answers`` (fewer than 10), and ``skewed``
        (|skewness|/√n above 0.2, for scores that are not binary).
    """
    n, m = sample.n_pairs, sample.n_nonzero
    clusters = sample.clusters if clustered(sample) else None
    notes = list(unit_notes(n, clusters, confidence_level))
    if not interval:
        return tuple(notes)
    if n > 0 and m < FEW_CHANGED:
        notes.append(Note("few-changed-answers", _few_changed(m, n)))
    ratio = 0.0
    if n > 0 and not sample.binary:
        ratio = abs(skewness(sample.difference)) / math.sqrt(n)
    if ratio > 0.2:
        text = (
            f"The differences are skewed for {n} questions (skewness/√n {ratio:.2f}): "
            "the interval may miss more often than its level says."
        )
        notes.append(Note("skewed", text))
    return tuple(notes)


def unit_notes(
    n_questions: int, clusters: IntArray | None, confidence_level: float
) -> tuple[Note, ...]:
    """Caveats of the number of independent units, questions or clusters."""
    fewest = n_min(confidence_level)
    if clusters is not None:
        return cluster_notes(clusters, fewest=fewest)
    if n_questions >= fewest:
        return ()
    text = (
        f"{_count(n_questions, 'question')} too few for a status, which needs "
        f"{fewest}: the smallest attainable p is {_smallest_p(n_questions):.4g}."
    )
    return (Note("too-few-questions", text),)


def cluster_notes(clusters: IntArray, *, fewest: int) -> tuple[Note, ...]:
    """Caveats of a clustered sample: too few clusters, or one that dominates.

    Parameters
    ----------
    clusters : ndarray of int, shape (n_pairs,)
    fewest : int
        Number of clusters below which no exact test can reach the level.

    Returns
    -------
    tuple of Note
        ``few-clusters`` and ``dominant-cluster`` (over a quarter of the
        questions, and over twice an equal share).
    """
    n_clusters, share = int(np.unique(clusters).size), largest_share(clusters)
    notes = []
    if n_clusters < fewest:
        text = (
            f"{_count(n_clusters, 'cluster')} too few for a status, which needs "
            f"{fewest}: the smallest attainable p is {_smallest_p(n_clusters):.4g}."
        )
        notes.append(Note("few-clusters", text))
    if share > 0.25 and share * n_clusters > 2:
        text = f"One of the {n_clusters} clusters holds {share:.0%} of the questions."
        notes.append(Note("dominant-cluster", text))
    return tuple(notes)


def unlabelled_note(n_unlabelled: int, n_questions: int) -> Note:
    """Note questions without a cluster label, each of which is one of its own.

    Parameters
    ----------
    n_unlabelled, n_questions : int

    Returns
    -------
    Note
        With code ``cluster-unlabelled``.
    """
    have = "has" if n_unlabelled == 1 else "have"
    text = (
        f"{n_unlabelled} of {n_questions} questions {have} no cluster label; each "
        "counts as a cluster of its own."
    )
    return Note("cluster-unlabelled", text)


def _few_changed(changed: int, n: int) -> str:
    if changed == 0:
        return (
            f"None of {n} questions changed: the interval shows only what so many "
            "questions can exclude."
        )
    if changed == n:
        return f"All {n} questions changed, but {n} are few for an interval."
    return (
        f"Only {changed} of {n} questions changed: the interval leans on few answers."
    )


def _count(n: int, unit: str) -> str:
    return f"{n} {unit} is" if n == 1 else f"{n} {unit}s are"


def _smallest_p(n: int) -> float:
    return min(1.0, 2.0 ** (1 - n))
