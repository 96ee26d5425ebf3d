"""Blocks of a report as plain text for a terminal."""

from __future__ import annotations

import textwrap

from onechange.display import escape_terminal
from onechange.report.document import Block, Bullets, Paragraph, Table
from onechange.report.table_text import fitted_table

__all__ = ["block_text"]

LABEL = 11


def block_text(block: Block, width: int) -> str:
    """Write one block as text.

    Parameters
    ----------
    block : Block
        A table, paragraph, list or plot.
    width : int
        Columns to which running text is wrapped; a table that is wider is stacked.

    Returns
    -------
    str
        Lines without a final line break.
    """
    if isinstance(block, Paragraph):
        return _wrapped(block.text, width, block.label.ljust(LABEL * bool(block.label)))
    if isinstance(block, Bullets):
        return "\n".join(_wrapped(item, width, "· ") for item in block.items)
    if isinstance(block, Table):
        body = "\n".join(fitted_table([block], width))
    else:
        body = "\n".join(block.lines)
    if not block.caption:
        return body
    return f"{_wrapped(block.caption, width, '')}\n{body}"


def _wrapped(text: str, width: int, first: str) -> str:
    return textwrap.fill(
        escape_terminal(text),
        width,
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )
