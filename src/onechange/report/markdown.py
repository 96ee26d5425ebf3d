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

# What a reviewer sees without opening anything.
OPEN_SECTIONS = {"rules", "slices"}


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
    parts = [f"## {title}", *(escape_markdown(text) for text in document.lead)]
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
    blocks = list(section.blocks)
    if section.key in OPEN_SECTIONS:
        return blocks, []
    if section.key == "compared":
        open_blocks: list[Block] = [b for b in blocks if isinstance(b, Paragraph)]
        return open_blocks, [block for block in blocks if block not in open_blocks]
    return [], blocks


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
            (f"{i}. " if block.numbered else "- ") + escape_markdown(item)
            for i, item in enumerate(block.items, 1)
        )
    text = escape_markdown(block.text)
    return f"**{escape_markdown(block.label)}**: {text}" if block.label else text


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
