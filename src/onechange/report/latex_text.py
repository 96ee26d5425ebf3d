r"""Texts of a report as LaTeX: escaped, and breakable where a word is long."""

from __future__ import annotations

import re

from onechange.display import escape_latex
from onechange.report.context import split_marks

__all__ = ["latex_cell", "latex_opening", "latex_text", "unknown_characters"]

LONG_WORD = 24  # letters; TeX sets shorter words on one line
UNBROKEN = 8  # letters of a long word between two places where it may break

_SIGNS = {
    "✔": r"$\surd$",
    "✘": r"$\times$",
    "◐": r"$\circ$",
    "·": r"$\cdot$",
    "−": "$-$",
    "√": r"$\surd$",
    "†": r"\textdagger{}",
}
# What the T1 encoding has beyond Latin-1.
_KNOWN = set("–—‘’“”„‚†‡•…‰‹›€™") | {chr(code) for code in range(0x100, 0x17F)}


def latex_text(text: str) -> str:
    r"""Write running text; a line may break inside a long word.

    Examples
    --------
    >>> latex_text("latency_ms ≤ 10 %")
    'latency\\_ms $\\leq$ 10 \\%'
    >>> latex_text("retrieval_precision_at_5")
    'retrieval\\_precision\\_at\\_5'
    >>> latex_text("a_b/" * 3 + "c" * 13)[:37]
    'a\\_\\allowbreak{}b/\\allowbreak{}a\\_\\al'
    """
    line = re.sub(r"\s*[\r\n]+\s*", " ", text)
    return "".join(
        _breakable(word) if len(word) > LONG_WORD else _escaped(word)
        for word in re.split("( +)", line)
    )


def latex_cell(text: str) -> str:
    r"""Write a cell; the raised numbers behind it point to the notes.

    Examples
    --------
    >>> latex_cell("latency_ms ↓ ¹,¹²")
    'latency\\_ms $\\downarrow$\\textsuperscript{1,12}'
    """
    plain, numbers = split_marks(text)
    if not numbers:
        return latex_text(text)
    return latex_text(plain) + rf"\textsuperscript{{{','.join(map(str, numbers))}}}"


def latex_opening(shown: str) -> str:
    r"""Keep a command before a text from taking its first sign for an option.

    Parameters
    ----------
    shown : str
        LaTeX that follows ``\\``, ``\midrule`` or ``\item``.

    Returns
    -------
    str
        The same, behind an empty group when it opens with a bracket or a star.

    Examples
    --------
    >>> latex_opening("[table]"), latex_opening("*bold*"), latex_opening("plain")
    ('{}[table]', '{}*bold*', 'plain')
    """
    return "{}" + shown if shown.startswith(("[", "*")) else shown


def unknown_characters(body: str) -> str:
    """Let pdfLaTeX print characters that its fonts lack as their code points.

    Parameters
    ----------
    body : str
        The LaTeX that will be set.

    Returns
    -------
    str
        Lines for the head of the document.
    """
    chars = sorted({c for c in body if ord(c) > 0xFF and c not in _KNOWN})
    lines = [
        rf"\DeclareUnicodeCharacter{{{ord(c):04X}}}{{\texttt{{U+{ord(c):04X}}}}}"
        for c in chars
    ]
    if not lines:
        return "%"
    return "\n".join([r"\ifdefined\DeclareUnicodeCharacter", *lines, r"\fi"])


def _escaped(text: str) -> str:
    return "".join(_SIGNS.get(char) or escape_latex(char) for char in text)


def _breakable(word: str) -> str:
    parts, run = [], 0
    for position, char in enumerate(word):
        parts.append(_escaped(char))
        run += 1
        if position + 1 < len(word) and (not char.isalnum() or run >= UNBROKEN):
            parts.append(r"\allowbreak{}")
            run = 0
    return "".join(parts)
