"""The blocks a report is made of, before any format: plain texts, already rounded.

Every renderer walks the same `Document`, so that a figure has the same value in
each of them. No text here is escaped; escaping belongs to the renderer.
"""

from __future__ import annotations

from dataclasses import dataclass

from onechange.display.forest import ForestRow

__all__ = [
    "Block",
    "Bullets",
    "Column",
    "Document",
    "Paragraph",
    "Plot",
    "Section",
    "Table",
]


@dataclass(frozen=True, slots=True)
class Column:
    """Head of one column: its title, side (``l`` or ``r``) and a one-line meaning."""

    title: str
    align: str = "l"
    help: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as text; every row has one cell per column.

    `row_status` names the status of each row (``pass``, ``fail``, ``inconclusive``
    or empty), for renderers that have colours; the cells say it in words as well.
    `links` has one text per cell: which questions are behind it, as the filter of the
    question table (``question_type=multi_page``), or empty. `pvalues` has one p per
    row, for renderers that mark small ones; `stars` says which p that is.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    row_status: tuple[str, ...] = ()
    links: tuple[tuple[str, ...], ...] = ()
    pvalues: tuple[float | None, ...] = ()
    stars: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text, with an optional label in front (``Compared``)."""

    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences, numbered from `start` on where it is given."""

    items: tuple[str, ...]
    start: int | None = None


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture made of characters, to be set in a fixed-width font.

    `rows` holds what it shows, for renderers that draw; `direction` is the better
    side of zero.
    """

    lines: tuple[str, ...]
    caption: str = ""
    rows: tuple[ForestRow, ...] = ()
    direction: str = "higher"


Block = Table | Paragraph | Bullets | Plot


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the report: what everybody reads, then `details` to unfold."""

    key: str
    title: str
    blocks: tuple[Block, ...]
    details: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report: the decision first, then sections in a fixed order."""

    symbol: str
    headline: str
    status: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]
    signature: str

    def section(self, key: str) -> Section | None:
        """Return the section with that key, None when the report has none."""
        return next((part for part in self.sections if part.key == key), None)
