"""One breakdown -> its slices: which paired questions belong to which."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from onechange.errors import PlanError
from onechange.pairs import Pairs, question_means
from onechange.plan import SliceSpec

__all__ = [
    "NO_LABEL",
    "SMALL_SLICES",
    "Slice",
    "SliceLabel",
    "labels_questions",
    "slice_questions",
    "slice_text",
    "small_label",
]

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
SliceLabel = tuple[tuple[str, str], ...]

NO_LABEL = "(none)"  # the slice of questions without a label
SMALL_SLICES = "(small slices)"  # all slices under the minimum size, joined
MAX_SLICES = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """One slice: its label per column and its paired questions.

    Parameters
    ----------
    label : tuple of (column, label)
        One entry per column of the breakdown.
    questions : ndarray of bool, shape (n_questions,)
        True for the paired questions of the slice.
    """

    label: tuple[tuple[str, str], ...]
    questions: BoolArray


def slice_questions(
    pairs: Pairs, spec: SliceSpec, *, everywhere: bool = False
) -> tuple[Slice, ...]:
    """Divide the paired questions into the slices of one breakdown.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    spec : SliceSpec
        One column, several crossed columns, or one number with cut points.
    everywhere : bool, default False
        Divide all questions, those in one arm only too.

    Returns
    -------
    tuple of Slice
        Every paired question is in exactly one; sorted by label (cut points by
        value). A missing label is the slice ``(none)``.

    Raises
    ------
    PlanError
        When a column is not in the data, with the nearest one that is, or has more
        than `MAX_SLICES` values.
    """
    if spec.cuts:
        columns = [_cut_labels(pairs, spec.columns[0], spec.cuts)]
    else:
        columns = [_labels(pairs, column) for column in spec.columns]
    paired = (
        np.arange(pairs.paired.size) if everywhere else np.flatnonzero(pairs.paired)
    )
    codes = np.zeros(paired.size, dtype=np.int64)
    for labels, names in columns:
        codes = np.unique(codes, return_inverse=True)[1] * len(names) + labels[paired]
    order = np.argsort(codes, kind="stable")
    edges = np.flatnonzero(np.diff(codes[order], prepend=-1))
    if edges.size > MAX_SLICES:
        raise PlanError(
            f'slice "{spec.name}" has {edges.size} values over {paired.size} '
            f"questions; slice by what has at most {MAX_SLICES}."
        )
    slices = []
    for members in np.split(paired[order], edges[1:]) if order.size else ():
        questions = np.zeros(pairs.paired.size, dtype=np.bool_)
        questions[members] = True
        label = tuple(
            (column, names[labels[members[0]]])
            for column, (labels, names) in zip(spec.columns, columns, strict=True)
        )
        slices.append(Slice(label=label, questions=questions))
    return tuple(slices)


def labels_questions(
    pairs: Pairs, spec: SliceSpec, labels: Collection[SliceLabel]
) -> BoolArray:
    """Find the paired questions of some slices taken together.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    spec : SliceSpec
        The breakdown.
    labels : collection of slice labels
        Which of its slices.

    Returns
    -------
    ndarray of bool, shape (n_questions,)
    """
    found = np.zeros(pairs.paired.size, dtype=np.bool_)
    for part in slice_questions(pairs, spec):
        if part.label in labels:
            found |= part.questions
    return found


def small_label(spec: SliceSpec) -> SliceLabel:
    """Return the label of the slices under the minimum size, joined."""
    return tuple((column, SMALL_SLICES) for column in spec.columns)


def slice_text(labels: SliceLabel | None) -> str:
    """Write the labels of a slice, ``multi_hop × hard``; the whole is ``all``.

    Examples
    --------
    >>> slice_text((("question_type", "multi_hop"), ("difficulty", "hard")))
    'multi_hop × hard'
    """
    if labels is None:
        return "all"
    texts = [label for _, label in labels]
    joined = all(text == SMALL_SLICES for text in texts)
    return SMALL_SLICES if joined else " × ".join(texts)


def _labels(pairs: Pairs, column: str) -> tuple[IntArray, list[str]]:
    """Return the label code of each question, and the label of each code."""
    if column not in pairs.labels:
        known = sorted(pairs.labels)
        near = get_close_matches(column, known, n=1)
        hint = f'; did you mean "{near[0]}"?' if near else "."
        if column in pairs.baseline.metrics:
            hint = f'; it holds numbers: give cut points, "{column}:LOW,HIGH".'
        raise PlanError(
            f'slice "{column}" is not a column of labels in the data{hint} '
            f"Columns of labels: {', '.join(known) or 'none'}."
        )
    texts = pairs.labels[column].tolist()
    distinct = dict.fromkeys(texts)  # few, however many questions there are
    names = sorted({NO_LABEL if text is None else str(text) for text in distinct})
    codes = {name: code for code, name in enumerate(names)}
    code_of = {
        text: codes[NO_LABEL if text is None else str(text)] for text in distinct
    }
    return np.fromiter(map(code_of.__getitem__, texts), np.int64, len(texts)), names


def _cut_labels(
    pairs: Pairs, column: str, cuts: tuple[float, ...]
) -> tuple[IntArray, list[str]]:
    """Cut a number, the baseline's question mean, at the stated points."""
    if column not in pairs.baseline.metrics:
        known = sorted(pairs.baseline.metrics)
        near = get_close_matches(column, known, n=1)
        hint = f'; did you mean "{near[0]}"' if near else ""
        raise PlanError(
            f'slice "{column}" with cut points is not a column of numbers in the '
            f"baseline{hint}. Columns of numbers: {', '.join(known) or 'none'}."
        )
    values = question_means(pairs, "baseline", column)
    texts = [f"{cut:g}" for cut in cuts]
    names = [f"< {texts[0]}"]
    names += [f"{a} to < {b}" for a, b in itertools.pairwise(texts)]
    names += [f">= {texts[-1]}", NO_LABEL]
    codes = np.searchsorted(np.asarray(cuts), values, side="right")
    codes[np.isnan(values)] = len(names) - 1
    return codes.astype(np.int64), names
