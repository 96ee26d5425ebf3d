"""Which label columns look like sources that questions share, and which like slices."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from onechange.pairs import Pairs
from onechange.results import TextArray

__all__ = [
    "QUESTION_TEXTS",
    "Source",
    "label_counts",
    "name_words",
    "possible_sources",
]

QUESTION_TEXTS = ("question", "question_text", "query", "user_input", "instruction")
_SOURCE_WORDS = frozenset(
    {"doc", "document", "source", "conversation", "session", "context", "passage"}
    | {"article", "page", "url", "file", "thread"}
)
_TIME_WORDS = frozenset({"time", "timestamp", "tstamp", "date", "datetime"})
_SAMPLE = 4096
_MIN_SOURCES = 20  # distinct labels of a column that may name sources


@dataclass(frozen=True, slots=True)
class Source:
    """A column that may name the source of each question.

    Parameters
    ----------
    column : str
        The column.
    n_values : int
        Distinct labels among the paired questions.
    n_labelled : int
        Paired questions that have a label.
    """

    column: str
    n_values: int
    n_labelled: int


def possible_sources(pairs: Pairs, declared: Iterable[str | None]) -> list[Source]:
    """Find undeclared columns that repeat like the ids of documents.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    declared : iterable of str or None
        Columns that have a declared role.

    Returns
    -------
    list of Source
        In the order of the columns.
    """
    known = {*declared, *QUESTION_TEXTS}
    n_paired = int(pairs.paired.sum())
    found = []
    for column, labels in pairs.labels.items():
        if column in known or _is_slice(column, labels):
            continue
        source = Source(column, *label_counts(pairs, column))
        if _like_documents(source, n_paired):
            found.append(source)
    return found


def label_counts(pairs: Pairs, column: str) -> tuple[int, int]:
    """Count the distinct labels of a column, and the paired questions that have one.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    column : str
        A column of labels.

    Returns
    -------
    n_values, n_labelled : int
    """
    labels = pairs.labels[column][pairs.paired].tolist()
    values = [text for text in labels if text is not None]
    return len(set(values)), len(values)


def name_words(name: str) -> set[str]:
    """Return the words of a name, parted by anything but letters and digits.

    Examples
    --------
    >>> sorted(name_words("Judge.model_name"))
    ['judge', 'model', 'name']
    """
    return set(re.split(r"[^a-z0-9]+", name.casefold()))


def _is_slice(column: str, labels: TextArray) -> bool:
    """Whether a sample of a long column has too few values to be ids of sources."""
    sample = labels[:: max(1, labels.size // _SAMPLE)].tolist()
    few = labels.size > _SAMPLE and len(set(sample)) < _MIN_SOURCES
    return few and _SOURCE_WORDS.isdisjoint(name_words(column))


def _like_documents(source: Source, n_paired: int) -> bool:
    """Whether labels repeat as ids of a source would, and not as a slice does."""
    n_values, n_labelled = source.n_values, source.n_labelled
    if n_values < 2 or n_labelled < n_paired / 2 or n_values > 0.95 * n_labelled:
        return False
    words = name_words(source.column)
    if not _SOURCE_WORDS.isdisjoint(words):
        return True
    return (
        words.isdisjoint(_TIME_WORDS)
        and n_values >= _MIN_SOURCES
        and n_values <= 0.7 * n_labelled
    )
