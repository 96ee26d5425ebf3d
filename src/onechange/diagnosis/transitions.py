"""From what to what: per-question categories of both arms, and their transitions.

The tables say which records to read; they do not name a cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onechange.display import TableMixin
from onechange.errors import MethodError
from onechange.stats.estimate import TestResult
from onechange.stats.symmetry import bowker_test, stuart_maxwell_test

__all__ = [
    "CORRECT_GROUNDED",
    "EVIDENCE_SUPPORT",
    "Transitions",
    "correct_grounded",
    "evidence_support",
    "question_categories",
    "transitions",
]

FloatArray = NDArray[np.float64]

EVIDENCE_SUPPORT = (
    "evidence and supported",
    "evidence but unsupported",
    "no evidence but supported",
    "no evidence and unsupported",
)
CORRECT_GROUNDED = (
    "correct and grounded",
    "correct but ungrounded",
    "grounded but wrong",
    "wrong and ungrounded",
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Transitions(TableMixin):
    """Questions by category in the baseline (row) and in the variant (column).

    Parameters
    ----------
    categories : tuple of str
        Categories in order.
    counts : tuple of tuple of int
        ``counts[i][j]`` questions go from category i to category j.
    questions : mapping of (str, str) to tuple of str
        Ids of the questions in each non-empty cell, sorted.
    baseline, variant : tuple of int
        Questions of each category in an arm, whatever is known of the other arm.
    n_unknown_baseline, n_unknown_variant, n_unknown_both : int
        Questions without a category in that arm alone, or in both.
    symmetry, homogeneity : TestResult
        Bowker's test of symmetry, the Stuart–Maxwell test of equal margins.
    """

    categories: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    questions: Mapping[tuple[str, str], tuple[str, ...]]
    baseline: tuple[int, ...]
    variant: tuple[int, ...]
    n_unknown_baseline: int
    n_unknown_variant: int
    n_unknown_both: int
    symmetry: TestResult
    homogeneity: TestResult

    @property
    def n_questions(self) -> int:
        """Questions with a category in both arms."""
        return sum(map(sum, self.counts))

    @property
    def n_changed(self) -> int:
        """Questions whose category differs between the arms."""
        return self.n_questions - sum(row[i] for i, row in enumerate(self.counts))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one row a baseline category: its questions by variant category."""
        return [
            {"baseline": name, **dict(zip(self.categories, row, strict=True))}
            for name, row in zip(self.categories, self.counts, strict=True)
        ]


def transitions(
    question_id: Sequence[str],
    baseline: Sequence[str | None],
    variant: Sequence[str | None],
    *,
    categories: Sequence[str] = (),
) -> Transitions:
    """Count the transitions between the categories of two arms.

    Parameters
    ----------
    question_id : sequence of str, length n_questions
        Questions that are in both arms.
    baseline, variant : sequence of (str or None), length n_questions
        Category of each question in each arm; None is not known.
    categories : sequence of str
        Order of the known categories; one that never occurs is left out, others
        follow by name.

    Returns
    -------
    Transitions

    Raises
    ------
    MethodError
        If the lengths differ.

    Examples
    --------
    >>> table = transitions(["q1", "q2", "q3"], ["MISS", "MISS", "SUCCESS"],
    ...                     ["SUCCESS", "MISS", "SUCCESS"])
    >>> table.counts, table.questions["MISS", "SUCCESS"]
    (((1, 1), (0, 1)), ('q1',))
    """
    if not len(question_id) == len(baseline) == len(variant):
        raise MethodError(
            f"{len(question_id)} questions, {len(baseline)} baseline and "
            f"{len(variant)} variant categories; the lengths must agree"
        )
    found = {name for name in (*baseline, *variant) if name is not None}
    order = [name for name in categories if name in found]
    order += sorted(found.difference(order))
    pairs = list(zip(question_id, baseline, variant, strict=True))
    cells: dict[tuple[str, str], list[str]] = {}
    for question, before, after in pairs:
        if before is not None and after is not None:
            cells.setdefault((before, after), []).append(question)
    counts = np.array(
        [[len(cells.get((i, j), ())) for j in order] for i in order], dtype=np.int64
    ).reshape(len(order), len(order))
    padded = counts if order else np.zeros((1, 1), dtype=np.int64)
    known = [Counter(arm) for arm in (baseline, variant)]
    return Transitions(
        categories=tuple(order),
        counts=tuple(tuple(map(int, row)) for row in counts),
        questions={cell: tuple(sorted(ids)) for cell, ids in sorted(cells.items())},
        baseline=tuple(known[0][name] for name in order),
        variant=tuple(known[1][name] for name in order),
        n_unknown_baseline=sum(b is None and v is not None for _, b, v in pairs),
        n_unknown_variant=sum(b is not None and v is None for _, b, v in pairs),
        n_unknown_both=sum(b is None and v is None for _, b, v in pairs),
        symmetry=bowker_test(padded),
        homogeneity=stuart_maxwell_test(padded),
    )


def question_categories(
    question: Sequence[int] | NDArray[np.int64],
    category: Sequence[str | None],
    n_questions: int,
    *,
    worst_first: Sequence[str] = (),
) -> list[str | None]:
    """Reduce the rows of an arm to one category a question: that of most trials.

    Parameters
    ----------
    question : sequence of int, length n_rows
        Index of the question of each row.
    category : sequence of (str or None), length n_rows
        Category of each row; None is not known.
    n_questions : int
        Number of questions.
    worst_first : sequence of str
        Order of the categories: of those that equally many trials have, the first
        counts. Others stand before them, by name.

    Returns
    -------
    list of (str or None)
        None when no trial has a known category.

    Examples
    --------
    >>> question_categories([0, 0, 0, 1, 1], ["A", "B", "B", "A", "B"], 3,
    ...                     worst_first=["A", "B"])
    ['B', 'A', None]
    """
    rank = {name: at for at, name in enumerate(worst_first)}
    counts: list[Counter[str]] = [Counter() for _ in range(n_questions)]
    for at, name in zip(question, category, strict=True):
        if name is not None:
            counts[at][name] += 1
    return [
        min(found, key=lambda name: (-found[name], rank.get(name, -1), name))
        if found
        else None
        for found in counts
    ]


def evidence_support(
    question_id: Sequence[str],
    baseline: tuple[FloatArray, FloatArray],
    variant: tuple[FloatArray, FloatArray],
) -> Transitions:
    """Cross evidence in the context with support of the answer, in both arms.

    Parameters
    ----------
    question_id : sequence of str, length n_questions
        Questions that are in both arms.
    baseline, variant : tuple of two ndarray of float, shape (n_questions, n_trials)
        Evidence present and answer supported (every claim is), each 0 or 1; NaN is
        not known. One column a trial, or shape (n_questions,).

    Returns
    -------
    Transitions
        Over the categories of `EVIDENCE_SUPPORT`; a question has that of most of its
        trials, and of equally many the worse one.
    """
    return _crossed(question_id, baseline, variant, EVIDENCE_SUPPORT)


def correct_grounded(
    question_id: Sequence[str],
    baseline: tuple[FloatArray, FloatArray],
    variant: tuple[FloatArray, FloatArray],
) -> Transitions:
    """Cross correctness with groundedness, in both arms.

    Parameters
    ----------
    question_id : sequence of str, length n_questions
        Questions that are in both arms.
    baseline, variant : tuple of two ndarray of float, shape (n_questions, n_trials)
        Answer correct and answer grounded, each 0 or 1; NaN is not known. One column a
        trial, or shape (n_questions,).

    Returns
    -------
    Transitions
        Over the categories of `CORRECT_GROUNDED`; a question has that of most of its
        trials, and of equally many the worse one.

    Examples
    --------
    >>> import numpy as np
    >>> table = correct_grounded(["q1"], (np.array([1.0]), np.array([0.0])),
    ...                          (np.array([1.0]), np.array([1.0])))
    >>> list(table.questions)
    [('correct but ungrounded', 'correct and grounded')]
    """
    return _crossed(question_id, baseline, variant, CORRECT_GROUNDED)


def _crossed(
    question_id: Sequence[str],
    baseline: tuple[FloatArray, FloatArray],
    variant: tuple[FloatArray, FloatArray],
    names: tuple[str, str, str, str],
) -> Transitions:
    arms = [_majority(arm, names) for arm in (baseline, variant)]
    return transitions(question_id, *arms, categories=names)


def _majority(
    arm: tuple[FloatArray, FloatArray], names: tuple[str, str, str, str]
) -> list[str | None]:
    first, second = (
        np.asarray(part, np.float64).reshape(len(part), -1) for part in arm
    )
    question = np.repeat(np.arange(len(first)), first.shape[1])
    cells = [
        _cell(float(a), float(b), names)
        for a, b in zip(first.ravel(), second.ravel(), strict=True)
    ]
    return question_categories(question, cells, len(first), worst_first=names[::-1])


def _cell(first: float, second: float, names: tuple[str, ...]) -> str | None:
    """Category of one answer: both, the first alone, the second alone, neither."""
    if not (np.isfinite(first) and np.isfinite(second)):
        return None
    return names[2 * (first == 0.0) + (second == 0.0)]
