"""The report as GitHub Markdown: readable in a pull request, nothing to load."""

from __future__ import annotations

import re

from onechange.compare import Comparison
from onechange.decide import Decision
from onechange.display import escape_markdown, escape_terminal, markdown_table
from onechange.report.content import build_document
from onechange.report.document import (
    Block,
    Bullets,
    Document,
    Paragraph,
    Plot,
    Section,
    Table,
)

__all__ = ["render_markdown"]

MAX_OPEN_NOTES = 12  # a longer list is folded


def render_markdown(result: Comparison | Decision) -> str:
    """Write the whole report as Markdown.

    Parameters
    ----------
    result : Comparison or Decision
        What `compare` or `decide` returned.

    Returns
    -------
    str
        The decision and its reason, what was compared, the promises of the plan and
        the slices in the open; everything else in collapsible blocks.
    """
    return document_markdown(build_document(result))


def document_markdown(document: Document) -> str:
    """Write a laid-out report as Markdown."""
    title = " ".join(
        filter(None, (document.symbol, escape_markdown(document.headline)))
    )
    parts = [f"## {title}", *(_line(text) for text in document.lead)]
    parts += [text for section in document.sections for text in _section(section)]
    parts.append(_code_span(document.signature))
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> list[str]:
    open_blocks, folded = _split(section)
    parts = []
    if open_blocks:
        parts.append(f"### {escape_markdown(section.title)}")
        parts += [_block(block) for block in open_blocks]
    if folded:
        title = section.title if not open_blocks else f"{section.title}: details"
        parts.append(f"<details><summary>{escape_markdown(title)}</summary>")
        parts += [_block(block) for block in folded]
        parts.append("</details>")
    return parts


def _split(section: Section) -> tuple[list[Block], list[Block]]:
    """Part the blocks into those in the open and those to unfold."""
    blocks = list(section.blocks)
    in_the_open: dict[str, tuple[type, ...]] = {
        "rules": (Table, Paragraph, Bullets, Plot),
        "compared": (Paragraph,),
        "slices": (Paragraph, Plot),
        "notes": (Bullets, Paragraph) if _short(section) else (),
    }
    kinds = in_the_open.get(section.key, ())
    first = [block for block in blocks if isinstance(block, kinds)]
    return first, [block for block in blocks if block not in first]


def _short(section: Section) -> bool:
    lists = [block for block in section.blocks if isinstance(block, Bullets)]
    return sum(len(block.items) for block in lists) <= MAX_OPEN_NOTES


def _block(block: Block) -> str:
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Plot):
        fence = _fence(block.lines)
        body = "\n".join((fence + "text", *block.lines, fence))
        caption = f"**{escape_markdown(block.caption)}**\n\n" if block.caption else ""
        return caption + body
    if isinstance(block, Bullets):
        return "\n".join(
            (f"{i}. " if block.numbered else "- ") + _line(item)
            for i, item in enumerate(block.items, 1)
        )
    if block.label:
        return f"**{escape_markdown(block.label)}**: {escape_markdown(block.text)}"
    return _line(block.text)


def _line(text: str) -> str:
    return escape_markdown(text, starts_line=True)


def _table(table: Table) -> str:
    align = "".join(column.align for column in table.columns)
    text = markdown_table([column.title for column in table.columns], table.rows, align)
    return f"**{escape_markdown(table.caption)}**\n\n{text}" if table.caption else text


def _fence(lines: tuple[str, ...]) -> str:
    """Return a fence longer than any run of backticks inside."""
    runs = [len(run) for line in lines for run in re.findall("`+", line)]
    return "`" * max(3, max(runs, default=0) + 1)


def _code_span(text: str) -> str:
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{escape_terminal(text)}{pad}{fence}"
