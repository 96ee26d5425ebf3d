"""Texts of very many questions, cut so that a page can hold them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onechange.display import format_count

__all__ = ["TEXT_BUDGET", "cut_texts", "limits"]

TEXT_BUDGET = 12_000_000  # characters of all texts that a page may hold
LEAST = 80  # characters that every text keeps
LEAST_SAME = 200  # of questions that did not change, before others get more
MARK = 26  # characters that say how many are missing

Cells = list[Any]
IntArray = NDArray[np.int64]

BEFORE, AFTER, FIGURES, SHARED, BASELINE, VARIANT = range(3, 9)


def cut_texts(questions: Sequence[Cells]) -> tuple[int, int] | None:
    """Cut the texts of a question table, in place, where they are too many.

    Parameters
    ----------
    questions : sequence of list
        Rows of `question_table`, of all variants.

    Returns
    -------
    changed, same : int
        Characters kept of the texts of questions that changed and of those that stayed
        the same in the leading metric; None when all texts are whole.
    """
    changed = [question for question in questions if _changed(question)]
    same = [question for question in questions if not _changed(question)]
    kept = limits(_lengths(changed), _lengths(same), TEXT_BUDGET)
    if kept is None:
        return None
    for part, limit in zip((changed, same), kept, strict=True):
        for texts in _texts(part):
            for place, text in texts.items():
                texts[place] = _cut(text, limit)
    return kept


def limits(changed: IntArray, same: IntArray, budget: int) -> tuple[int, int] | None:
    """Find the largest cuts with which all texts fit.

    Parameters
    ----------
    changed, same : ndarray of int
        Lengths of the texts of questions that changed, and of the others.
    budget : int
        Characters that all texts may have.

    Returns
    -------
    tuple of int, or None
        Texts of changed questions keep as much as fits beside 200 characters of every
        other text; the others keep what is then left.

    Examples
    --------
    >>> import numpy as np
    >>> limits(np.array([3000, 400]), np.array([9000, 100]), budget=5000)
    (3000, 1474)
    """
    both = np.concatenate([changed, same])
    if both.sum() <= budget:
        return None
    spared = _largest(changed, budget - _cost(same, LEAST_SAME))
    if spared < LEAST_SAME:
        spared = rest = max(_largest(both, budget), LEAST)
        return spared, rest
    rest = _largest(same, budget - _cost(changed, spared))
    return spared, min(rest, spared) if changed.size and same.size else rest


def _largest(lengths: IntArray, budget: int) -> int:
    """Return the largest cut with which texts fit; all of them when they do whole."""
    low, high = 0, int(lengths.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        if _cost(lengths, middle) <= budget:
            low = middle
        else:
            high = middle - 1
    return low


def _cost(lengths: IntArray, limit: int) -> int:
    return int(np.minimum(lengths, limit + MARK).sum())


def _cut(text: str, limit: int) -> str:
    """Cut one text, unless the words that say so are as long as what is missing."""
    if len(text) <= limit + MARK:
        return text
    return f"{text[:limit]}… ({format_count(len(text) - limit)} more characters)"


def _changed(question: Cells) -> bool:
    """Whether the leading metric or the status of a question differs between arms."""
    change = question[FIGURES][3] if question[FIGURES] else None
    return change != 0 or question[BEFORE] != question[AFTER]


def _texts(questions: Sequence[Cells]) -> Iterator[dict[int, str]]:
    for question in questions:
        yield question[SHARED]
        for row in (*question[BASELINE], *question[VARIANT]):
            yield row[3]


def _lengths(questions: Sequence[Cells]) -> IntArray:
    found = (len(text) for texts in _texts(questions) for text in texts.values())
    return np.fromiter(found, dtype=np.int64)
