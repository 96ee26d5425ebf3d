"""The report as GitHub Markdown: readable in a pull request, nothing to load."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from onechange.compare import Comparison
from onechange.decide import Decision, Decisions
from onechange.display import escape_markdown, escape_terminal, markdown_table
from onechange.report.content import build_document
from onechange.report.document import (
    Block,
    Bullets,
    Document,
    Plot,
    Section,
    Table,
)
from onechange.report.pictures import Picture

__all__ = ["block_markdown", "document_markdown", "render_markdown"]


def render_markdown(
    result: Comparison | Decision | Decisions,
    *,
    pictures: Sequence[Picture] = (),
    folder: str = "",
) -> str:
    """Write the whole report as Markdown.

    Parameters
    ----------
    result : Comparison, Decision or Decisions
        What `compare`, `decide` or `decide_each` returned.
    pictures : sequence of Picture
        What `write_pictures` wrote; each is shown in its section.
    folder : str
        Where they are, seen from the report.

    Returns
    -------
    str
        The decision and its reason, what was compared, the promises of the plan and
        the slices in the open; everything else in collapsible blocks.
    """
    return document_markdown(build_document(result), pictures=pictures, folder=folder)


def document_markdown(
    document: Document, *, pictures: Sequence[Picture] = (), folder: str = ""
) -> str:
    """Write a laid-out report as Markdown."""
    title = " ".join(
        filter(None, (document.symbol, escape_markdown(document.headline)))
    )
    parts = [f"## {title}", *(_line(text) for text in document.lead)]
    for section in document.sections:
        shown = [_image(p, folder) for p in pictures if p.section == section.key]
        parts += _section(section, shown)
    parts.append(_code_span(document.signature))
    return "\n\n".join(parts) + "\n"


def _section(section: Section, images: Sequence[str]) -> list[str]:
    parts = []
    title = escape_markdown(section.title)
    if section.blocks or images:
        parts.append(f"### {title}")
        parts += [block_markdown(block) for block in section.blocks]
        parts += images
        title += ": details"
    if section.details:
        parts.append(f"<details><summary>{title}</summary>")
        parts += [block_markdown(block) for block in section.details]
        parts.append("</details>")
    return parts


def block_markdown(block: Block) -> str:
    """Write one block as Markdown."""
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Plot):
        fence = _fence(block.lines)
        body = "\n".join((fence + "text", *block.lines, fence))
        caption = f"**{escape_markdown(block.caption)}**\n\n" if block.caption else ""
        return caption + body
    if isinstance(block, Bullets):
        marks = ["- "] * len(block.items)
        if block.start is not None:
            marks = [f"{block.start + i}. " for i in range(len(block.items))]
        items = zip(marks, block.items, strict=True)
        return "\n".join(mark + _line(item) for mark, item in items)
    if block.label:
        return f"**{escape_markdown(block.label)}**: {escape_markdown(block.text)}"
    return _line(block.text)


def _image(picture: Picture, folder: str) -> str:
    path = quote(f"{folder}/{picture.name}.svg" if folder else f"{picture.name}.svg")
    return f"![{escape_markdown(picture.caption)}]({path})"


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
