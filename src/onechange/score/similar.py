"""Texts that say nearly the same: all pairs above a similarity, found exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from onechange.errors import MethodError
from onechange.score.answers import normalise

__all__ = ["SimilarPair", "similar_pairs"]

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """Positions of two texts and the share of words they have in common."""

    first: int
    second: int
    similarity: float


def similar_pairs(
    texts: Sequence[str],
    others: Sequence[str] | None = None,
    *,
    threshold: float = 0.8,
) -> list[SimilarPair]:
    """Find all pairs of texts whose words mostly agree.

    Parameters
    ----------
    texts : sequence of str
    others : sequence of str, optional
        Texts to compare with; by default the texts among themselves.
    threshold : float
        Smallest similarity of a pair, above 0 and at most 1.

    Returns
    -------
    list of SimilarPair
        Sorted by position; `second` counts in `others` when given. Texts without a
        word after normalisation are left out.

    Raises
    ------
    MethodError
        If the threshold is out of range.

    Notes
    -----
    Similarity is the Jaccard index of the sets of words after the SQuAD
    normalisation. Two sets that reach the threshold t share a word among the
    |x| − ⌈t|x|⌉ + 1 rarest of either (prefix filtering, Chaudhuri et al. 2006), so
    only such pairs are compared.

    Examples
    --------
    >>> similar_pairs(["What was capex in 2018?", "what was the CAPEX in 2018", "Why?"])
    [SimilarPair(first=0, second=1, similarity=1.0)]
    """
    if not 0 < threshold <= 1:
        raise MethodError(f"threshold = {threshold!r}: expected above 0 and at most 1")
    left = [frozenset(normalise(text).split()) for text in texts]
    within = others is None
    right = (
        left if others is None else [frozenset(normalise(t).split()) for t in others]
    )
    frequency = Counter(word for words in left for word in words)
    if not within:
        frequency.update(word for words in right for word in words)
    index: dict[str, list[int]] = {}
    for at, words in enumerate(right):
        for word in _prefix(words, frequency, threshold):
            index.setdefault(word, []).append(at)
    pairs = []
    for i, words in enumerate(left):
        rare = _prefix(words, frequency, threshold)
        for j in sorted({j for word in rare for j in index.get(word, ())}):
            if within and j <= i:
                continue
            common = len(words & right[j])
            similarity = common / (len(words) + len(right[j]) - common)
            if similarity >= threshold - _ROUNDING:
                pairs.append(SimilarPair(i, j, similarity))
    return pairs


def _prefix(
    words: frozenset[str], frequency: Counter[str], threshold: float
) -> list[str]:
    """Rarest words of a text, one of which any similar text must contain."""
    if not words:
        return []
    needed = -int(-(threshold * len(words) - _ROUNDING) // 1)
    rarest = sorted(words, key=lambda word: (frequency[word], word))
    return rarest[: len(words) - needed + 1]
