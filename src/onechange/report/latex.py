r"""The report as LaTeX: booktabs tables, a methods paragraph and its references.

The file compiles by itself, and can be ``\input`` into a paper that loads booktabs
and graphicx; each table stands between two comment lines, to be copied alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from onechange import __version__
from onechange.compare import Comparison
from onechange.decide import Decision, Decisions
from onechange.report.bibtex import bibtex, with_citations
from onechange.report.content import build_document
from onechange.report.context import comparison_of
from onechange.report.document import (
    Block,
    Bullets,
    Document,
    Paragraph,
    Section,
    Table,
)
from onechange.report.latex_tables import section_tables
from onechange.report.latex_text import latex_opening, latex_text, unknown_characters
from onechange.report.methods import methods_paragraph

__all__ = ["render_latex"]

# Shown as sentences, as paragraphs of their own, or not at all in a paper.
WITHOUT_TABLES = {"compared", "questions", "methods", "notes"}

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


def render_latex(result: Comparison | Decision | Decisions) -> str:
    r"""Write the report as LaTeX.

    Parameters
    ----------
    result : Comparison, Decision or Decisions
        What `compare`, `decide` or `decide_each` returned.

    Returns
    -------
    str
        A document that pdfLaTeX compiles: the sentences of the decision, one
        booktabs table per table of the report, the methods paragraph with
        ``\cite`` and the references as BibTeX in a ``filecontents`` block, the notes
        and the signature line.

    Notes
    -----
    ``*``, ``**`` and ``***`` stand behind a delta whose p is below 0.05, 0.01 and
    0.001: the adjusted p in a table that has one, else the two-sided p; the caption
    says which. A table that would shrink below a legible size is turned.
    """
    document = build_document(result)
    methods = methods_paragraph(comparison_of(result))
    body = "\n\n".join(
        [
            r"\begingroup\sloppy\emergencystretch=3em",
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
            r"\par\endgroup",
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
        preamble.replace("%UNKNOWN%", unknown_characters(body)),
    ]
    return "\n".join([*head, "", body, "", _END]) + "\n"


def _opening(document: Document) -> Iterator[str]:
    title = " ".join(filter(None, (document.symbol, document.headline)))
    yield rf"\section*{{{latex_text(title)}}}"
    if document.lead:
        yield "\n".join(latex_text(sentence) for sentence in document.lead)
    compared = document.section("compared")
    for block in compared.blocks if compared else ():
        yield from _sentences(block)


def _section(section: Section) -> Iterator[str]:
    number = 0
    for block in (*section.blocks, *section.details):
        if isinstance(block, Table):
            number += 1
            yield from section_tables(block, section, number)
        elif block in section.blocks:
            yield from _sentences(block)


def _sentences(block: Block) -> Iterator[str]:
    """Write what everybody reads between the tables; drawings are left out."""
    if isinstance(block, Paragraph):
        label = rf"\paragraph{{{latex_text(block.label)}.}} " if block.label else ""
        yield label + latex_text(block.text)
    elif isinstance(block, Bullets):
        items = "\n".join(map(_item, block.items))
        yield f"\\begin{{itemize}}\n{items}\n\\end{{itemize}}"


def _notes(document: Document) -> Iterator[str]:
    section = document.section("notes")
    items = [
        item
        for block in ((*section.blocks, *section.details) if section else ())
        if isinstance(block, Bullets)
        for item in block.items
    ]
    if items:
        yield "\n".join(
            [
                "% ---- notes",
                r"\paragraph{Notes.}",
                r"\begin{enumerate}",
                *map(_item, items),
                r"\end{enumerate}",
            ]
        )


def _item(text: str) -> str:
    return rf"\item {latex_opening(latex_text(text))}"


def _breakable(signature: str) -> str:
    parts = (latex_text(part) for part in signature.split("|"))
    return r"\textbar\allowbreak{}".join(parts)
