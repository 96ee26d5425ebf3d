"""The report as one self-contained HTML page: nothing to load, light and dark."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from onechange import __version__
from onechange.compare import Comparison
from onechange.decide import Decision, Decisions
from onechange.display import escape_invisible, format_count
from onechange.display.shortening import shorten_middle
from onechange.report.content import build_document
from onechange.report.context import (
    Context,
    make_context,
    question_link,
    slice_text,
    split_marks,
)
from onechange.report.document import (
    Block,
    Bullets,
    Document,
    Paragraph,
    Plot,
    Section,
    Table,
)
from onechange.report.glossary import explained
from onechange.report.question_table import question_table
from onechange.report.strips import forest_strips, rule_strip, trial_strips

if TYPE_CHECKING:
    import jinja2

__all__ = ["render_html"]

# What a section unfolds, in words.
_MORE = {
    "compared": "The whole ledger",
    "rules": "Errors, resolution and outlook",
    "metrics": "Further intervals, effect sizes, counts",
    "slices": "Every metric in every slice",
    "questions": "Largest losses and gains",
    "methods": "References, files and hashes",
    "notes": "Notes of single slices",
}

# Words of right-to-left scripts, with the spaces and hyphens between them.
_RIGHT = (
    r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
    r"\U00010800-\U00010fff\U0001e800-\U0001eeff]"
)
_FROM_THE_RIGHT = re.compile(rf"{_RIGHT}+(?:[ -]+{_RIGHT}+)*")
SHOWN_SLICES = 30  # of a forest plot; the others are unfolded

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Notes:
    """How many notes the report lists, so that a raised number is one of them."""

    count: int = 0

    def of(self, cell: str) -> tuple[str, tuple[int, ...]]:
        """Part a cell from the raised numbers behind it."""
        text, numbers = split_marks(cell)
        if not all(1 <= number <= self.count for number in numbers):
            return cell, ()
        return text, numbers


def render_html(result: Comparison | Decision | Decisions) -> str:
    """Write the whole report as one HTML page.

    Parameters
    ----------
    result : Comparison, Decision or Decisions
        What `compare`, `decide` or `decide_each` returned.

    Returns
    -------
    str
        The blocks of the Markdown report with drawings, an explanation of every
        figure, and a table of all questions to sort and filter.

    Notes
    -----
    Every text passes through Jinja's autoescape; the question table is JSON whose
    ``<``, ``>`` and ``&`` are escaped, and is put on the page as text only. A content
    policy forbids the page to load anything.
    """
    document, context = build_document(result), make_context(result)
    notes = _notes(document)
    environment = _environment()
    template = environment.get_template("report.html.j2")
    page = template.render(
        title=f"{document.symbol} {document.headline}".strip(),
        symbol=document.symbol,
        headline=document.headline,
        status=document.status,
        lead=document.lead,
        sections=[_section(section, notes) for section in document.sections],
        strips=_rule_strips(context),
        flows=_flows(context),
        trial_dots=_trial_dots(context),
        signature=document.signature,
        version=__version__,
        style=_safe(_template("report.css")),
        script=_safe(_template("report.js")),
        data=_safe(_json(question_table(context))),
    )
    return page.strip() + "\n"


def _environment() -> jinja2.Environment:
    import jinja2
    from markupsafe import Markup, escape

    def visible(value: object) -> object:
        plain = isinstance(value, str) and not isinstance(value, Markup)
        return escape_invisible(str(value)) if plain else value

    def breakable(text: str) -> Markup:
        """Let a long name break behind its joints, and keep its arrow with it."""
        safe = str(escape(escape_invisible(text)))
        for joint in "_./":
            safe = safe.replace(joint, f"{joint}<wbr>")
        return isolated(Markup(re.sub(" (?=[↑↓])", "\N{NO-BREAK SPACE}", safe)))

    def isolated(text: str) -> Markup:
        """Keep what is written from the right from turning the words around it."""
        safe = text if isinstance(text, Markup) else escape(escape_invisible(text))
        return Markup(_FROM_THE_RIGHT.sub(r"<bdi>\g<0></bdi>", str(safe)))

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=True,
        finalize=visible,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breakable"] = breakable
    environment.filters["isolated"] = isolated
    environment.filters["visible"] = escape_invisible
    environment.filters["middle"] = lambda text, width: shorten_middle(
        escape_invisible(text), width
    )
    return environment


def _template(name: str) -> str:
    folder = files("onechange.report") / "templates"
    return (folder / name).read_text(encoding="utf-8").rstrip("\n")


def _safe(text: str) -> object:
    from markupsafe import Markup

    return Markup(text)  # our own files, and JSON without < > &


def _json(data: Json) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


# ---------------------------------------------------------------- blocks


def _notes(document: Document) -> _Notes:
    section = document.section("notes")
    blocks = (*section.blocks, *section.details) if section else ()
    return _Notes(sum(len(b.items) for b in blocks if isinstance(b, Bullets)))


def _section(section: Section, notes: _Notes) -> Json:
    blocks, details = section.blocks, section.details
    if section.key == "trials":
        # The drawing of the page stands for the one made of characters.
        details = tuple(b for b in details if not isinstance(b, Plot))
    if section.key == "questions":
        # The table of all questions stands for those of the largest changes.
        listed = [isinstance(b, Table) and not b.links for b in details]
        parts = list(zip(details, listed, strict=True))
        blocks = tuple(b for b, is_listed in parts if not is_listed)
        details = tuple(b for b, is_listed in parts if is_listed)
    elif not blocks:
        blocks, details = _opened(details)
    found = [_block(block, notes) for block in blocks]
    if section.key == "rules":
        found = [_with_roles(b) if b["kind"] == "table" else b for b in found]
    return {
        "key": section.key,
        "title": section.title,
        "blocks": found,
        "details": [_block(block, notes) for block in details],
        "more": _MORE.get(section.key, "More"),
    }


def _opened(blocks: Sequence[Block]) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """Part what is read at once, the first table and its sentences, from the rest."""
    tables = [i for i, block in enumerate(blocks) if isinstance(block, Table)]
    end = tables[0] + 1 if tables else 1
    while end < len(blocks) and isinstance(blocks[end], Paragraph):
        end += 1
    return tuple(blocks[:end]), tuple(blocks[end:])


def _block(block: Block, notes: _Notes) -> Json:
    if isinstance(block, Table):
        return _table(block, notes)
    if isinstance(block, Plot):
        return _forest(block)
    if isinstance(block, Bullets):
        if block.start is None:
            return {"kind": "bullets", "entries": block.items}
        items = [
            (block.start + i, *item.split(": ", 1))
            for i, item in enumerate(block.items)
        ]
        return {"kind": "notes", "start": block.start, "entries": items}
    return {"kind": "paragraph", "label": block.label, "text": block.text}


def _table(table: Table, notes: _Notes) -> Json:
    heads = [
        {"title": c.title, "right": c.align == "r", "help": explained(c)}
        for c in table.columns
    ]
    rows = []
    for cells, status, links in zip_longest(
        table.rows, table.row_status, table.links, fillvalue=""
    ):
        row = []
        for head, text, link in zip_longest(heads, cells, links, fillvalue=""):
            plain, marks = notes.of(text)
            row.append(
                {"head": head, "text": plain, "marks": marks, "link": link, "under": ""}
            )
        rows.append({"cells": row, "status": status})
    return {"kind": "table", "caption": table.caption, "heads": heads, "rows": rows}


def _with_roles(table: Json) -> Json:
    """Set the role of a rule under its metric, which leaves room for a drawing."""
    rows = []
    for row in table["rows"]:
        role, metric, *rest = row["cells"]
        rows.append({**row, "cells": [{**metric, "under": role["text"]}, *rest]})
    return {**table, "heads": table["heads"][1:], "rows": rows}


def _forest(plot: Plot) -> Json:
    if not plot.rows:
        text = "\n".join(plot.lines)
        return {"kind": "lines", "caption": plot.caption, "text": text}
    ticks, strips = forest_strips(plot.rows)
    rows = [
        {
            "label": row.label,
            "link": row.link,
            "remark": row.remark,
            "n": format_count(row.n_pairs),
            "delta": row.delta_text,
            "interval": row.interval_text,
            "strip": strip,
        }
        for row, strip in zip(plot.rows, strips, strict=True)
    ]
    side = "right" if plot.direction == "higher" else "left"
    # Very many slices are folded; what stands for all of them is the last row.
    end = len(rows) - (plot.rows[-1].label == slice_text(None))
    parts = [
        {"kind": "", "rows": rows[:end][:SHOWN_SLICES]},
        {"kind": "rest", "rows": rows[:end][SHOWN_SLICES:]},
        {"kind": "whole", "rows": rows[end:]},
    ]
    return {
        "kind": "forest",
        "caption": plot.caption,
        "ticks": ticks,
        "parts": [part for part in parts if part["rows"]],
        "better": f"Better is to the {side}.",
    }


# ---------------------------------------------------------------- drawings


def _rule_strips(context: Context) -> list[Json | None]:
    """Where each rule's interval lies against what is allowed."""
    found: list[Json | None] = []
    for status in context.decision.statuses if context.decision else ():
        direction = status.delta.direction if status.delta else "higher"
        strip = rule_strip(status, direction)
        label = f"{status.metric}: {status.status}"
        found.append(None if strip is None else {"strip": strip, "label": label})
    return found


def _flows(context: Context) -> list[Json]:
    """Shares of questions that got better, stayed the same and got worse."""
    flows = []
    for delta in context.comparison.deltas:
        if delta.metric != context.leading_metric or not delta.counted:
            continue
        if delta.statistic != "mean":
            continue
        counts = {"worse": delta.losses, "same": delta.ties, "better": delta.wins}
        arm = f", {delta.variant_name}" if context.several else ""
        own = [(":variant", delta.variant_name)] if context.several else []
        parts = [
            {
                "name": name,
                "width": round(100 * count / delta.n_pairs, 2),
                "text": f"{format_count(count)} {name}",
                "link": question_link([(":change", name), *own], delta.metric),
            }
            for name, count in counts.items()
        ]
        flows.append(
            {
                "caption": f"{delta.metric}{arm}: questions",
                "label": ", ".join(str(part["text"]) for part in parts),
                "parts": parts,
            }
        )
    return flows


def _trial_dots(context: Context) -> list[Json]:
    """Means of whole trials of the leading metric, where there are several."""
    found = []
    for row in context.comparison.trials:
        arms = (row.baseline, row.variant)
        if row.metric != context.leading_metric:
            continue
        if max(len(arm.labels) for arm in arms) < 2:
            continue
        strips = trial_strips([arm.means for arm in arms])
        found.append(
            {
                "caption": f"{row.metric}: mean of each trial (○) and of all (●)",
                "arms": [
                    {
                        "name": name,
                        "strip": strip,
                        "text": " ".join(
                            context.number(row.metric, mean) for mean in arm.means
                        ),
                    }
                    for name, strip, arm in zip(
                        ("baseline", row.variant_name or "variant"),
                        strips,
                        arms,
                        strict=True,
                    )
                ],
            }
        )
    return found
