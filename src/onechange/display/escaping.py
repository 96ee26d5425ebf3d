"""Texts from outside made harmless for Markdown, HTML, LaTeX, CSV and terminals."""

from __future__ import annotations

import html
import re
import unicodedata

__all__ = [
    "escape_csv",
    "escape_html",
    "escape_invisible",
    "escape_latex",
    "escape_markdown",
    "escape_terminal",
    "shorten",
    "text_width",
]


# What would start a new block when it stands first on a line.
_BLOCK_START = re.compile(r"^(\s*(?:#{0,5}|\d*))([#+=.)-])(?=[\s=-]|$)")
_MARKDOWN_SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
_INVISIBLE = {"Cc", "Cf", "Zl", "Zp", "Cs"}
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "\N{MINUS SIGN}": "$-$",
    "…": r"\ldots{}",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "±": r"$\pm$",
    "∞": r"$\infty$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "→": r"$\rightarrow$",
    "–": "--",
}


def escape_markdown(text: str, *, starts_line: bool = False) -> str:
    r"""Make a text show as it is in GitHub Markdown, also inside a table cell.

    Parameters
    ----------
    text : str
        Any text; line breaks become ``<br>``.
    starts_line : bool
        Whether the text stands first on its line, where ``#``, ``-`` or ``1.`` would
        start a heading or a list.

    Examples
    --------
    >>> escape_markdown("multi|hop *star* latency_ms <b>")
    'multi\\|hop \\*star\\* latency_ms &lt;b&gt;'
    >>> escape_markdown("1. first", starts_line=True)
    '1\\. first'
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _MARKDOWN_SPECIAL.sub(lambda match: "\\" + match.group(), text)
    if starts_line:
        text = _BLOCK_START.sub(r"\1\\\2", text)
    lines = re.split(r"\r\n|\r|\n|\v|\f|\x85|\u2028|\u2029", text)
    return "<br>".join(_visible(line) for line in lines)


def escape_terminal(text: str) -> str:
    r"""Write control and invisible characters as visible escapes, on one line.

    Examples
    --------
    >>> escape_terminal("a\x1b[31mred\nline")
    'a\\x1b[31mred\\nline'
    """
    return _visible(text)


def escape_html(text: str) -> str:
    """Make a text safe inside an HTML element or a quoted attribute.

    Examples
    --------
    >>> escape_html('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return html.escape(escape_invisible(text), quote=True)


def escape_invisible(text: str) -> str:
    r"""Write control, bidirectional and invisible characters as visible escapes.

    Line breaks and tabs stay; nothing else is escaped.

    Examples
    --------
    >>> escape_invisible("a\u202eb")
    'a\\u202eb'
    """
    return _visible(text, keep="\n\t")


def escape_latex(text: str) -> str:
    r"""Make a text print as it is in LaTeX.

    Examples
    --------
    >>> escape_latex("latency_ms ≤ 10 %")
    'latency\\_ms $\\leq$ 10 \\%'
    """
    line = re.sub(r"\s*[\r\n]+\s*", " ", text)
    return "".join(_LATEX.get(char, char) for char in _visible(line))


def escape_csv(text: str) -> str:
    """Keep a spreadsheet from running a text as a formula.

    Examples
    --------
    >>> escape_csv("=1+1"), escape_csv("plain")
    ("'=1+1", 'plain')
    """
    return "'" + text if text[:1] in {"=", "+", "-", "@", "\t", "\r", "\n"} else text


def _visible(text: str, *, keep: str = "") -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode("ascii")
        if unicodedata.category(char) in _INVISIBLE and char not in keep
        else char
        for char in text
    )


def text_width(text: str) -> int:
    """Columns that a text takes on a terminal.

    Examples
    --------
    >>> text_width("abc"), text_width("日本")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.combining(char)
        else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )


def shorten(text: str, width: int) -> str:
    """Cut a text to a number of terminal columns, marking the cut.

    Examples
    --------
    >>> shorten("unanswerable", 8), shorten("short", 8)
    ('unanswe…', 'short')
    """
    if text_width(text) <= width:
        return text
    kept = ""
    for char in text:
        if text_width(kept + char) > width - 1:
            break
        kept += char
    return kept + "…"
