"""References as BibTeX entries; the citations of a paragraph as LaTeX ones."""

from __future__ import annotations

import re
from collections.abc import Iterable

from onechange.display import escape_latex
from onechange.report.latex_text import latex_text
from onechange.report.references import REFERENCES, Reference

__all__ = ["bibtex", "with_citations"]

_VENUE = re.compile(r"(?P<journal>.*?) (?P<volume>\d+)(?:\((?P<number>\d+)\))?$")
_CITED = re.compile(r" \(([^()]*\d{4}(?:; [^()]*\d{4})*)\)")


def bibtex(references: Iterable[Reference]) -> str:
    r"""Write references as BibTeX entries.

    Parameters
    ----------
    references : iterable of Reference
        Works, in the order in which they are written.

    Returns
    -------
    str
        One entry a work, keyed as in `REFERENCES`.

    Examples
    --------
    >>> print(bibtex([REFERENCES["mcnemar1947"]]))
    @article{mcnemar1947,
      author = {McNemar, Q.},
      title = {{Note on the sampling error of the difference between correlated proportions or percentages}},
      journal = {Psychometrika},
      volume = {12},
      number = {2},
      pages = {153--157},
      year = {1947},
    }
    """  # noqa: E501 - printed as it is
    return "\n\n".join(_entry(reference) for reference in references)


def with_citations(text: str) -> str:
    r"""Turn the citations of a methods paragraph into ``\cite``, the rest into LaTeX.

    Examples
    --------
    >>> with_citations("a test (McNemar 1947; Fagerland et al. 2013) of 5 %")
    'a test~\\cite{mcnemar1947,fagerland2013} of 5 \\%'
    """
    keys = {work.citation: key for key, work in REFERENCES.items()}
    parts, end = [], 0
    for match in _CITED.finditer(text):
        works = match[1].split("; ")
        if all(work in keys for work in works):
            parts.append(latex_text(text[end : match.start()]))
            parts.append(rf"~\cite{{{','.join(keys[work] for work in works)}}}")
            end = match.end()
    return "".join([*parts, latex_text(text[end:])])


def _entry(reference: Reference) -> str:
    key = next(key for key, work in REFERENCES.items() if work == reference)
    fields = {
        "author": _authors(reference.authors),
        "title": "{" + escape_latex(reference.title) + "}",
        **_venue(reference),
        "year": str(reference.year),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{reference.kind}{{{key},", *lines, "}"])


def _venue(reference: Reference) -> dict[str, str]:
    venue, pages = escape_latex(reference.venue), escape_latex(reference.pages)
    if reference.kind == "book":
        return {"publisher": venue}
    if reference.kind == "misc":
        return {"howpublished": venue}
    match = _VENUE.match(reference.venue)
    if match is None:
        return {"journal": venue, "pages": pages}
    return {
        "journal": escape_latex(match["journal"]),
        "volume": match["volume"],
        "number": match["number"] or "",
        "pages": pages,
    }


def _authors(names: str) -> str:
    """Join authors as BibTeX does, by ``and`` alone: ``A, B. and C, D. and E, F.``."""
    names = names.replace(" et al.", " and others")
    people: list[str] = []
    for part in names.split(" and "):
        pieces = part.split(", ")
        people += [", ".join(pieces[i : i + 2]) for i in range(0, len(pieces), 2)]
    return escape_latex(" and ".join(people))
