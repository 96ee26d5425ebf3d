"""Texts of a sheet that a spreadsheet program must not run as formulas."""

from __future__ import annotations

import re

__all__ = ["guarded", "unguarded"]

# With or without quotes before it: so that taking one off always gives the text back.
_RUNS = re.compile(r"'*[=+\-@\t\r\n]")


def guarded(text: str) -> str:
    """Put a quote before a text that would be run as a formula.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        `unguarded` gives the text back.

    Examples
    --------
    >>> [guarded(text) for text in ("=1+1", "'=1+1", "it's", "'quoted'")]
    ["'=1+1", "''=1+1", "it's", "'quoted'"]
    """
    return f"'{text}" if _RUNS.match(text) else text


def unguarded(value: object) -> object:
    """Take off the quote that `guarded` put before a text.

    Parameters
    ----------
    value : object
        Anything but a text is given back.

    Returns
    -------
    object

    Examples
    --------
    >>> [unguarded(text) for text in ("'=1+1", "''=1+1", "it's", 7)]
    ['=1+1', "'=1+1", "it's", 7]
    """
    if isinstance(value, str) and value[:1] == "'" and _RUNS.match(value):
        return value[1:]
    return value
