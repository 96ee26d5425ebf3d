"""Results and labels in one unit: chunks, pages or documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from onechange.errors import InputError
from onechange.score.trace import Page, Passages, Trace, Unit

__all__ = ["EvidenceUnits", "label_unit", "project_evidence", "ranked_units"]

EvidenceUnits = Mapping[Unit, float]


def label_unit(traces: Iterable[Trace]) -> str:
    """Return the unit of the evidence labels of all traces.

    Parameters
    ----------
    traces : iterable of Trace

    Returns
    -------
    str
        ``page`` when the labels are (document, page) pairs, else ``chunk``.

    Raises
    ------
    InputError
        When some labels are pages and others are not.

    Examples
    --------
    >>> label_unit([Trace("q1", evidence={("10-K", 45): 1.0})])
    'page'
    """
    first: dict[bool, Trace] = {}
    for trace in traces:
        for unit in trace.evidence or ():
            first.setdefault(isinstance(unit, tuple), trace)
        if len(first) == 2:
            raise InputError(
                f"evidence of question {first[True].question_id!r} is a page and of "
                f"question {first[False].question_id!r} an id; set unit to chunk, page "
                "or document"
            )
    return "page" if True in first else "chunk"


def project_evidence(
    evidence: Mapping[Unit, float], unit: str, chunk_pages: Mapping[str, Page]
) -> EvidenceUnits | None:
    """Express labelled evidence in a unit; the highest grade of a unit counts.

    Parameters
    ----------
    evidence : mapping of unit to float
        Labels with grades.
    unit : {"chunk", "page", "document"}
        A text label is a chunk id, or for documents a document unless the mapping
        knows it as a chunk.
    chunk_pages : mapping of str to (str, int)
        Page of each chunk.

    Returns
    -------
    mapping of unit to float, or None
        None when a label cannot be expressed in this unit.
    """
    if unit == "chunk" and tuple not in set(map(type, evidence)):
        return evidence
    projected: dict[Unit, float] = {}
    for label, grade in evidence.items():
        known: Unit | None = label
        if unit == "chunk":
            known = label if isinstance(label, str) else None
        elif isinstance(label, str):
            page = chunk_pages.get(label)
            if unit == "page":
                known = page
            elif page is not None:
                known = page[0]
        elif unit == "document":
            known = label[0]
        if known is None:
            return None
        projected[known] = max(grade, projected.get(known, 0.0))
    return projected


def ranked_units(
    passages: Passages,
    unit: str,
    chunk_pages: Mapping[str, Page],
    *,
    place: str,
) -> tuple[tuple[Unit, ...] | None, tuple[str | None, ...] | None]:
    """Express a ranked list in a unit, one entry a distinct chunk.

    Parameters
    ----------
    passages : Passages
        Results, best first.
    unit : {"chunk", "page", "document"}
        Unit wanted.
    chunk_pages : mapping of str to (str, int)
        Page of each chunk, for results that name none.
    place : str
        Question and field, for messages.

    Returns
    -------
    tuple of unit, or None
        Units in order; a repeated chunk id keeps its first position only. None when
        the results do not name this unit.
    tuple of (str or None), or None
        Texts of the same entries.

    Raises
    ------
    InputError
        When a chunk is not in the mapping.
    """
    ids, texts = passages.ids, passages.texts
    units: tuple[Unit, ...] | None
    if unit == "chunk":
        units = ids
    elif unit == "page":
        units = passages.pages
    else:
        units = passages.documents
    if units is None and unit != "chunk" and ids is not None and chunk_pages:
        units = tuple(
            _page_of(chunk, chunk_pages, place, whole=unit == "page") for chunk in ids
        )
    if units is None and unit == "document":
        units = ids  # plain texts name documents when no mapping knows better
    if units is None and not len(passages):
        units = ()
    if ids is None or len(set(ids)) == len(ids) or units is None:
        return units, texts
    first = list({chunk: i for i, chunk in reversed(list(enumerate(ids)))}.values())
    first.sort()
    return (
        tuple(units[i] for i in first),
        None if texts is None else tuple(texts[i] for i in first),
    )


def _page_of(
    chunk: str, chunk_pages: Mapping[str, Page], place: str, *, whole: bool
) -> Unit:
    page = chunk_pages.get(chunk)
    if page is None:
        raise InputError(
            f"{place}: chunk {chunk!r} is not in the mapping of chunks to pages; "
            "complete chunk_pages"
        )
    return page if whole else page[0]
