"""Which slices are small: by their pairs to be shown, by their questions to decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from onechange.delta import Delta
from onechange.plan import SliceSpec
from onechange.slices import Slice, small_label
from onechange.stats.estimate import Note

__all__ = ["few_questions", "is_small", "joined_slice", "marked_small", "slice_size"]


def is_small(delta: Delta) -> bool:
    """Whether a slice rests on fewer pairs than the minimum size.

    Parameters
    ----------
    delta : Delta
        Of a slice in a breakdown.
    """
    return any(note.code == "small-slice" for note in delta.notes)


def slice_size(delta: Delta) -> int:
    """Count the questions of a slice that are to be scored, scored or not.

    Parameters
    ----------
    delta : Delta
        Of a slice, for a rule that must hold in every slice.
    """
    return delta.n_pairs if delta.bounds is None else delta.bounds.n_questions


def few_questions(delta: Delta, least: int) -> bool:
    """Whether a slice is too small for a status by its questions.

    By its pairs it would become so through losing scores, and escape its rule.

    Parameters
    ----------
    delta : Delta
        Of a slice, for a rule that must hold in every slice.
    least : int
        The minimum size.
    """
    return slice_size(delta) < least


def joined_slice(
    spec: SliceSpec, slices: Sequence[Slice], found: Sequence[Delta], least: int
) -> Slice | None:
    """Join the slices that have fewer questions than the minimum.

    Parameters
    ----------
    spec : SliceSpec
        The breakdown.
    slices : sequence of Slice
        Its slices.
    found : sequence of Delta
        Their rows.
    least : int
        The minimum size.

    Returns
    -------
    Slice or None
        None where none is small.
    """
    small = {
        delta.slice
        for delta in found
        if delta.statistic in ("mean", "ratio") and 0 < slice_size(delta) < least
    }
    if not small:
        return None
    masks = [part.questions for part in slices if part.label in small]
    return Slice(small_label(spec), np.logical_or.reduce(masks))


def marked_small(delta: Delta, min_slice: int) -> Delta:
    """Note fewer pairs than the minimum, with which numbers show but no status.

    Parameters
    ----------
    delta : Delta
        Of a slice.
    min_slice : int
        The minimum size.
    """
    if not 0 < delta.n_pairs < min_slice:
        return delta
    pairs = f"{delta.n_pairs} pair{'s' * (delta.n_pairs != 1)}"
    text = f"{pairs}, below the minimum slice size {min_slice}."
    return replace(delta, notes=(*delta.notes, Note("small-slice", text)))
