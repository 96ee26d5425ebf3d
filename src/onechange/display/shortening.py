"""Long names and long lists of names made short, with the cut marked."""

from __future__ import annotations

from collections.abc import Sequence

from onechange.display.escaping import text_width
from onechange.display.numbers import format_count

__all__ = ["listed_places", "shorten_middle"]

MAX_PLACES = 8  # named for one note; the JSON output has them all


def listed_places(
    places: Sequence[str], separator: str = ", ", *, at_most: int = MAX_PLACES
) -> str:
    """List names, and count those beyond the first few.

    Parameters
    ----------
    places : sequence of str
        Where a note was met, slices under a size, ...
    separator : str
        What stands between two of them.
    at_most : int
        Names that are written out.

    Examples
    --------
    >>> listed_places(["lookup", "table", "chart"], at_most=2)
    'lookup, table, … and 1 more'
    """
    hidden = len(places) - at_most
    if hidden <= 0:
        return separator.join(places)
    shown = [*places[:at_most], f"… and {format_count(hidden)} more"]
    return separator.join(shown)


def shorten_middle(text: str, width: int) -> str:
    """Cut a long name in its middle: its start and its end tell it from others.

    Parameters
    ----------
    text : str
        The name.
    width : int
        Terminal columns that it may take, at least 3.

    Examples
    --------
    >>> shorten_middle("answer_relevance_of_the_judge", 16)
    'answer_r…e_judge'
    >>> shorten_middle("short", 16)
    'short'
    """
    if text_width(text) <= width:
        return text
    room = width - 1
    start, end = "", ""
    for char in text:
        if text_width(start + char) > room - room // 2:
            break
        start += char
    for char in reversed(text):
        if text_width(char + end) > room - text_width(start):
            break
        end = char + end
    return f"{start}…{end}"
