"""A count with its noun, in the singular for one."""

from __future__ import annotations

from onechange.display.numbers import format_count

__all__ = ["counted"]


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Write a count with its noun.

    Parameters
    ----------
    count : int
    noun : str
        In the singular.
    plural : str, optional
        Where an s does not make it.

    Returns
    -------
    str

    Examples
    --------
    >>> counted(1, "row"), counted(600, "row"), counted(12_000, "query", "queries")
    ('1 row', '600 rows', '12,000 queries')
    """
    return f"{format_count(count)} {noun if count == 1 else plural or f'{noun}s'}"
