"""Retrieval scores of one question: ranked units against labelled units.

R_k is the set of distinct units in the first k positions, E the labelled units
(grade above 0). `None` means unscored, never zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache

from onechange.errors import MethodError
from onechange.score.answers import normalise
from onechange.score.trace import Unit

__all__ = [
    "GAINS",
    "RETRIEVAL_SCORES",
    "answer_in_context",
    "column_name",
    "retrieval_scores",
]

RETRIEVAL_SCORES = (
    "hit",
    "precision",
    "precision_returned",
    "recall",
    "rr",
    "ap",
    "ndcg",
    "context_precision_ranked",
    "evidence_complete",
)
GAINS = ("exponential", "linear")


def retrieval_scores(
    retrieved: Sequence[Unit],
    evidence: Mapping[Unit, float] | Collection[Unit],
    *,
    k: Sequence[int] = (5,),
    unit: str = "chunk",
    gain: str = "exponential",
    unanswerable: bool = False,
    keep_positions: bool = False,
) -> dict[str, float | None]:
    """Score one ranked list against the labelled evidence.

    Parameters
    ----------
    retrieved : sequence of unit
        Ranked units, best first: chunk ids, (document, page) pairs or documents.
    evidence : mapping of unit to grade, or collection of units
        Labelled units; a plain collection means grade 1 each, grade 0 means
        labelled irrelevant.
    k : sequence of int
        Depths, each at least 1.
    unit : {"chunk", "page", "document"}
        Prefix of the column names (none for chunks).
    gain : {"exponential", "linear"}
        Gain of nDCG: 2^grade - 1 or the grade itself.
    unanswerable : bool
        Whether nothing could have been relevant: precision is then unscored.
    keep_positions : bool
        False removes repeated units before ranking (first position kept). True
        keeps positions as they are, for pages or documents of distinct chunks: k
        then counts chunks, and a repeated unit fills a position without counting
        again.

    Returns
    -------
    dict of str to (float or None)
        Column name to score; None means unscored.

    Raises
    ------
    MethodError
        If a depth is not a positive integer or `gain` is unknown.

    Notes
    -----
    With rel_i = 1 where position i holds a labelled unit for the first time and
    P_i = |R_i ∩ E| / i: hit = [R_k ∩ E ≠ ∅]; precision = |R_k ∩ E| / k;
    precision_returned = |R_k ∩ E| / |R_k|; recall = |R_k ∩ E| / |E|; rr = 1 / first
    rank; ap = Σ P_i rel_i / |E|; context_precision_ranked = Σ P_i rel_i / Σ rel_i
    (the form of Es et al. 2024); ndcg = Σ g_i / log2(i + 1) over its best value
    for the labelled units cut at k (Järvelin & Kekäläinen 2002).

    Examples
    --------
    >>> retrieval_scores(["C2", "C11", "C7", "C19", "C4"], {"C4", "C11"})["rr_at_5"]
    0.5
    """
    depths = _depths(tuple(k))
    gain_of = _gain_function(gain)
    grades = _positive_grades(evidence)
    units = retrieved if keep_positions else list(dict.fromkeys(retrieved))
    names = _names(depths, unit)
    scores: dict[str, float | None] = {}
    if not grades:
        for row in names:
            scores.update(dict.fromkeys(row))
            if not unanswerable:
                scores[row[1]] = scores[row[2]] = 0.0
        return scores
    hits = _hits(units, grades, depths[-1])
    ideal = sorted((gain_of(g) for g in grades.values()), reverse=True)
    for depth, row in zip(depths, names, strict=True):
        distinct = len(set(units[:depth])) if keep_positions else min(depth, len(units))
        values = _at_depth(depth, hits, gain_of, ideal, len(grades), distinct)
        scores.update(zip(row, values, strict=True))
    return scores


def answer_in_context(
    texts: Sequence[str], references: Sequence[str], *, k: int
) -> float | None:
    """Say whether a reference answer occurs in the text of the first k units.

    Parameters
    ----------
    texts : sequence of str
        Texts of the ranked units, best first.
    references : sequence of str
        Accepted reference answers.
    k : int
        Depth.

    Returns
    -------
    float or None
        1 or 0; None when every reference is empty after normalisation.

    Notes
    -----
    Both sides go through the SQuAD normalisation, and whole words are matched:
    "12" does not occur in "2012". It is an approximation of relevance.

    Examples
    --------
    >>> answer_in_context(["Worth 30 ECTS credits."], ["30 ECTS"], k=5)
    1.0
    """
    wanted = [f" {text} " for text in map(normalise, references) if text]
    if not wanted:
        return None
    for text in texts[:k]:
        haystack = f" {normalise(text)} "
        if any(needle in haystack for needle in wanted):
            return 1.0
    return 0.0


@lru_cache(maxsize=1024)
def column_name(score: str, k: int, unit: str = "chunk") -> str:
    """Return the column of a score at depth k.

    Parameters
    ----------
    score : str
        Name of the score without its depth.
    k : int
        Depth.
    unit : {"chunk", "page", "document"}
        Unit of the labels; chunks have no prefix.

    Returns
    -------
    str

    Examples
    --------
    >>> column_name("hit", 5), column_name("hit", 5, "page")
    ('hit_at_5', 'page_hit_at_5')
    """
    name = f"{score}_at_{k}"
    return name if unit == "chunk" else f"{unit}_{name}"


@lru_cache(maxsize=64)
def _depths(k: tuple[int, ...]) -> tuple[int, ...]:
    for depth in k:
        if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
            raise MethodError(f"k = {depth!r}: a depth must be a positive integer")
    if not k:
        raise MethodError("k is empty: give at least one depth, for example [5]")
    return tuple(sorted(set(k)))


@lru_cache(maxsize=64)
def _names(depths: tuple[int, ...], unit: str) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(column_name(score, depth, unit) for score in RETRIEVAL_SCORES)
        for depth in depths
    )


def _gain_function(gain: str) -> Callable[[float], float]:
    if gain == "exponential":
        return _exponential
    if gain == "linear":
        return float
    raise MethodError(f"gain = {gain!r}: expected one of {', '.join(GAINS)}")


def _exponential(grade: float) -> float:
    return float(2.0**grade - 1.0)


def _positive_grades(
    evidence: Mapping[Unit, float] | Collection[Unit],
) -> dict[Unit, float]:
    if isinstance(evidence, Mapping):
        return {unit: grade for unit, grade in evidence.items() if grade > 0}
    return dict.fromkeys(evidence, 1.0)


def _hits(
    units: Sequence[Unit], grades: dict[Unit, float], depth: int
) -> list[tuple[int, float]]:
    """List (rank, grade) of each labelled unit at its first position."""
    found: set[Unit] = set()
    hits = []
    for rank, unit in enumerate(units[:depth], 1):
        if unit in grades and unit not in found:
            found.add(unit)
            hits.append((rank, grades[unit]))
    return hits


def _at_depth(
    depth: int,
    hits: list[tuple[int, float]],
    gain_of: Callable[[float], float],
    ideal: list[float],
    n_labelled: int,
    n_distinct: int,
) -> tuple[float, ...]:
    """Score the first `depth` positions, in the order of `RETRIEVAL_SCORES`."""
    discount = _discounts(max(depth, 1))
    found = 0
    precisions = 0.0
    gained = 0.0
    for rank, grade in hits:
        if rank > depth:
            break
        found += 1
        precisions += found / rank
        gained += gain_of(grade) * discount[rank]
    if not found:
        return (0.0,) * len(RETRIEVAL_SCORES)
    best = sum(map(float.__mul__, ideal[:depth], discount[1:]))
    return (
        1.0,
        found / depth,
        found / n_distinct,
        found / n_labelled,
        1.0 / hits[0][0],
        precisions / n_labelled,
        gained / best,
        precisions / found,
        1.0 if found == n_labelled else 0.0,
    )


@lru_cache(maxsize=64)
def _discounts(depth: int) -> tuple[float, ...]:
    """1 / log2(rank + 1) at index `rank`; index 0 is not used."""
    return (0.0, *(1.0 / math.log2(rank + 1) for rank in range(1, depth + 1)))
