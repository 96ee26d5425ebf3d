r"""The report as LaTeX: booktabs tables, a methods paragraph and its references.

The file compiles by itself, and can be ``\input`` into a paper that loads booktabs
and graphicx; each table stands between two comment lines, to be copied alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from onechange import __version__
from onechange.compare import Comparison
from onechange.decide import Decision
from onechange.display import escape_latex
from onechange.report.bibtex import bibtex, with_citations
from onechange.report.content import build_document
from onechange.report.context import comparison_of, split_marks
from onechange.report.document import (
    Block,
    Bullets,
    Column,
    Document,
    Paragraph,
    Section,
    Table,
)
from onechange.report.methods import methods_paragraph

__all__ = ["render_latex"]

ROWS = 40  # of one table on a page
LEVELS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
LEGEND = "* p < 0.05, ** p < 0.01, *** p < 0.001"
# Shown as sentences, as paragraphs of their own, or not at all in a paper.
WITHOUT_TABLES = {"compared", "questions", "methods", "notes"}

_SIGNS = {
    "✔": r"$\surd$",
    "✘": r"$\times$",
    "◐": r"$\circ$",
    "·": r"$\cdot$",
    "−": "$-$",
    "√": r"$\surd$",
}
# What the T1 encoding has beyond Latin-1.
_KNOWN = set("–—‘’“”„‚†‡•…‰‹›€™") | {chr(code) for code in range(0x100, 0x17F)}

_PREAMBLE = r"""
\makeatletter
\ifx\@nodocument\relax\else
%REFERENCES%
\documentclass[10pt]{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage{textcomp}
\usepackage{booktabs}
\usepackage{graphicx}
\usepackage[margin=2.5cm]{geometry}
%UNKNOWN%
\begin{document}
\expandafter\gdef\csname onechange@whole\endcsname{}
\fi
\makeatother
""".strip()
_END = r"""
\makeatletter
\expandafter\ifx\csname onechange@whole\endcsname\relax\else
\bibliographystyle{plain}
\bibliography{\jobname-references}
\end{document}
\fi
\makeatother
""".strip()


def render_latex(result: Comparison | Decision) -> str:
    r"""Write the report as LaTeX.

    Parameters
    ----------
    result : Comparison or Decision
        What `compare` or `decide` returned.

    Returns
    -------
    str
        A document that pdfLaTeX compiles: the sentences of the decision, one
        booktabs table per table of the report, the methods paragraph with
        ``\cite`` and the references as BibTeX in a ``filecontents`` block, the notes
        and the signature line.

    Notes
    -----
    ``*``, ``**`` and ``***`` stand behind a delta whose two-sided p (adjusted, where
    the table has an adjusted one) is below 0.05, 0.01 and 0.001; the caption says so.
    """
    document = build_document(result)
    methods = methods_paragraph(comparison_of(result))
    body = "\n\n".join(
        [
            *_opening(document),
            *(
                text
                for section in document.sections
                if section.key not in WITHOUT_TABLES
                for text in _section(section)
            ),
            "% ---- methods\n\\paragraph{Methods.} " + with_citations(methods.text),
            *_notes(document),
            rf"\noindent\texttt{{\footnotesize {_breakable(document.signature)}}}",
        ]
    )
    references = "\n".join(
        [
            r"\begin{filecontents*}[overwrite]{\jobname-references.bib}",
            bibtex(methods.references),
            r"\end{filecontents*}",
        ]
    )
    preamble = _PREAMBLE.replace("%REFERENCES%", references)
    head = [
        f"% Written by onechange {__version__}. Compiles by itself (pdflatex, bibtex);",
        r"% or \input it in a paper that loads booktabs and graphicx, and copy the",
        "% references below into the paper's own.",
        preamble.replace("%UNKNOWN%", _unknown(body)),
    ]
    return "\n".join([*head, "", body, "", _END]) + "\n"


def _opening(document: Document) -> Iterator[str]:
    title = " ".join(filter(None, (document.symbol, document.headline)))
    yield rf"\section*{{{_text(title)}}}"
    if document.lead:
        yield "\n".join(_text(sentence) for sentence in document.lead)
    compared = document.section("compared")
    for block in compared.blocks if compared else ():
        yield from _sentences(block)


def _section(section: Section) -> Iterator[str]:
    number = 0
    for block in (*section.blocks, *section.details):
        if isinstance(block, Table):
            number += 1
            yield from _floats(block, section, number)
        elif block in section.blocks:
            yield from _sentences(block)


def _floats(table: Table, section: Section, number: int) -> Iterator[str]:
    """Write one table, in several parts when it is longer than a page."""
    name, title = f"{section.key}-{number}", section.title
    detail = table.caption or (table.columns[0].title if number > 1 else "")
    if detail:
        title += f": {detail}"
    for part, rows in enumerate(_pages(table)):
        more = " (continued)" if part else ""
        yield _float(table, rows, f"{title}{more}", f"{name}{'-' * part}")


def _sentences(block: Block) -> Iterator[str]:
    """Write what everybody reads between the tables; drawings are left out."""
    if isinstance(block, Paragraph):
        label = rf"\paragraph{{{_text(block.label)}.}} " if block.label else ""
        yield label + _text(block.text)
    elif isinstance(block, Bullets):
        items = "\n".join(rf"\item {_text(item)}" for item in block.items)
        yield f"\\begin{{itemize}}\n{items}\n\\end{{itemize}}"


def _pages(table: Table) -> Iterator[range]:
    for start in range(0, max(len(table.rows), 1), ROWS):
        yield range(start, min(start + ROWS, len(table.rows)))


def _float(table: Table, rows: range, title: str, name: str) -> str:
    align = "".join(column.align for column in table.columns)
    head = " & ".join(_text(column.title) for column in table.columns)
    body = [" & ".join(_cells(table, row)) + r" \\" for row in rows]
    caption = _text(title) + "."
    if any(_stars(p) for p in table.pvalues):
        caption += f" Two-sided p: {_text(LEGEND)}."
    tabular = "\n".join(
        [
            rf"\begin{{tabular}}{{@{{}}{align}@{{}}}}",
            r"\toprule",
            head + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )
    return "\n".join(
        [
            f"% ---- table: {name}",
            r"\begin{table}[htbp]",
            r"\centering\small",
            rf"\caption{{{caption}}}",
            rf"\label{{tab:onechange-{name}}}",
            # Wide tables shrink to the line, others keep their size.
            r"\setlength{\tabcolsep}{4pt}%",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            tabular + "}",
            r"\end{table}",
            f"% ---- end: {name}",
        ]
    )


def _cells(table: Table, row: int) -> list[str]:
    pvalue = table.pvalues[row] if row < len(table.pvalues) else None
    cells = []
    for column, text in zip_longest(table.columns, table.rows[row], fillvalue=None):
        shown = _marked(text or "")
        if column == _delta_column(table.columns):
            shown += rf"\rlap{{{_stars(pvalue)}}}" if _stars(pvalue) else ""
        cells.append(shown)
    return cells


def _delta_column(columns: Sequence[Column]) -> Column | None:
    return next((column for column in columns if column.title == "delta"), None)


def _stars(pvalue: float | None) -> str:
    if pvalue is None:
        return ""
    return next((stars for level, stars in LEVELS if pvalue < level), "")


def _marked(text: str) -> str:
    """Write a cell; the raised numbers behind it point to the notes."""
    plain, numbers = split_marks(text)
    if not numbers:
        return _text(text)
    return _text(plain) + rf"\textsuperscript{{{','.join(map(str, numbers))}}}"


def _notes(document: Document) -> Iterator[str]:
    section = document.section("notes")
    items = [
        item
        for block in ((*section.blocks, *section.details) if section else ())
        if isinstance(block, Bullets)
        for item in block.items
    ]
    if items:
        lines = [rf"\item {_text(item)}" for item in items]
        yield "\n".join(
            [
                "% ---- notes",
                r"\paragraph{Notes.}",
                r"\begin{enumerate}",
                *lines,
                r"\end{enumerate}",
            ]
        )


def _text(text: str) -> str:
    return "".join(_SIGNS.get(char) or escape_latex(char) for char in _one_line(text))


def _one_line(text: str) -> str:
    return re.sub(r"\s*[\r\n]+\s*", " ", text)


def _breakable(signature: str) -> str:
    parts = (_text(part) for part in signature.split("|"))
    return r"\textbar\allowbreak{}".join(parts)


def _unknown(body: str) -> str:
    """Let pdfLaTeX print characters that its fonts lack as their code points."""
    chars = sorted({c for c in body if ord(c) > 0xFF and c not in _KNOWN})
    lines = [
        rf"\DeclareUnicodeCharacter{{{ord(c):04X}}}{{\texttt{{U+{ord(c):04X}}}}}"
        for c in chars
    ]
    if not lines:
        return "%"
    return "\n".join([r"\ifdefined\DeclareUnicodeCharacter", *lines, r"\fi"])
