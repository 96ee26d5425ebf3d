"""Retrieval scores of one question: ranked units against labelled units.

R_k is the set of distinct units in the first k positions, E the labelled units
(grade above 0). `None` means unscored, never zero.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from onechange.errors import MethodError
from onechange.score.answers import normalise
from onechange.score.trace import Unit

__all__ = [
    "GAINS",
    "RETRIEVAL_SCORES",
    "DepthPlan",
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

_NOTHING_FOUND = (0.0,) * len(RETRIEVAL_SCORES)


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
    for depth in k:
        if type(depth) is not int or depth < 1:
            raise MethodError(f"k = {depth!r}: a depth must be a positive integer")
    if not k:
        raise MethodError("k is empty: give at least one depth, for example [5]")
    if gain not in GAINS:
        raise MethodError(f"gain = {gain!r}: expected one of {', '.join(GAINS)}")
    plan = DepthPlan.make(tuple(k), unit, gain)
    units = retrieved if keep_positions else tuple(dict.fromkeys(retrieved))
    if isinstance(evidence, Mapping):
        grades = {label: grade for label, grade in evidence.items() if grade > 0}
    else:
        grades = dict.fromkeys(evidence, 1.0)
    if not grades:
        return plan.without_evidence(unanswerable=unanswerable)
    return plan.scores(units, grades, distinct=not keep_positions)


@dataclass(frozen=True, slots=True, eq=False)
class DepthPlan:
    """What does not change from question to question: depths, names, gain.

    Parameters
    ----------
    depths : tuple of int
        Depths, ascending.
    names : tuple of str
        Columns: for each depth those of `RETRIEVAL_SCORES`.
    gain : {"exponential", "linear"}
        Gain of nDCG.
    """

    depths: tuple[int, ...]
    names: tuple[str, ...]
    gain: str

    @staticmethod
    @lru_cache(maxsize=64)
    def make(k: tuple[int, ...], unit: str, gain: str) -> DepthPlan:
        """Prepare what every question needs, once for checked depths and gain."""
        depths = tuple(sorted(set(k)))
        return DepthPlan(
            depths=depths,
            names=tuple(
                column_name(score, depth, unit)
                for depth in depths
                for score in RETRIEVAL_SCORES
            ),
            gain=gain,
        )

    def without_evidence(self, *, unanswerable: bool) -> dict[str, float | None]:
        """Scores of a question whose labels are empty: precision alone, if at all."""
        scores: dict[str, float | None] = dict.fromkeys(self.names)
        if not unanswerable:
            width = len(RETRIEVAL_SCORES)
            precision = RETRIEVAL_SCORES.index("precision")
            returned = RETRIEVAL_SCORES.index("precision_returned")
            for start in range(0, len(self.names), width):
                scores[self.names[start + precision]] = 0.0
                scores[self.names[start + returned]] = 0.0
        return scores

    def scores(
        self, units: Sequence[Unit], grades: Mapping[Unit, float], *, distinct: bool
    ) -> dict[str, float | None]:
        """Scores of one ranked list; `distinct` says that no unit repeats in it.

        Parameters
        ----------
        units : sequence of unit
            Ranked units.
        grades : mapping of unit to float
            Labelled units, each above 0; at least one.
        distinct : bool
            Whether each unit stands once.
        """
        hits = _hits(units[: self.depths[-1]], grades, distinct=distinct)
        labels = tuple(sorted(grades.values(), reverse=True))
        n = len(units)
        returned = self.depths
        if not distinct:
            returned = tuple([len({*units[:depth]}) for depth in self.depths])
        elif n < self.depths[-1]:
            returned = tuple([min(depth, n) for depth in self.depths])
        return dict(zip(self.names, _values(self, hits, labels, returned), strict=True))


# Questions share few patterns of ranks and grades: most scores are looked up.
@lru_cache(maxsize=100_000)
def _values(
    plan: DepthPlan,
    hits: tuple[tuple[int, float], ...],
    labels: tuple[float, ...],
    returned: tuple[int, ...],
) -> tuple[float, ...]:
    """Score (rank, grade) of each unit found, at every depth."""
    linear = plan.gain == "linear"
    gains = labels if linear else tuple(map(_exponential, labels))
    values: list[float] = []
    for depth, n_returned in zip(plan.depths, returned, strict=True):
        found = 0
        precisions = gained = 0.0
        for rank, grade in hits:
            if rank > depth:
                break
            found += 1
            precisions += found / rank
            own = grade if linear else _exponential(grade)
            gained += own * _discount(rank)
        if not found:
            values += _NOTHING_FOUND
            continue
        values += (
            1.0,
            found / depth,
            found / n_returned,
            found / len(labels),
            1.0 / hits[0][0],
            precisions / len(labels),
            gained / sum(g * _discount(i) for i, g in enumerate(gains[:depth], 1)),
            precisions / found,
            1.0 if found == len(labels) else 0.0,
        )
    return tuple(values)


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


@lru_cache(maxsize=4096)
def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def _exponential(grade: float) -> float:
    return float(2.0**grade - 1.0)


def _hits(
    units: Sequence[Unit], grades: Mapping[Unit, float], *, distinct: bool
) -> tuple[tuple[int, float], ...]:
    """List (rank, grade) of each labelled unit at its first position."""
    if distinct:
        return tuple([(i, grades[u]) for i, u in enumerate(units, 1) if u in grades])
    first: dict[Unit, int] = {}
    for rank, unit in enumerate(units, 1):
        if unit in grades:
            first.setdefault(unit, rank)
    return tuple([(rank, grades[unit]) for unit, rank in first.items()])
