"""Evidence labels, ranked lists, citations and facts: JSON values -> checked units.

A unit stands in a file as a text (a chunk id, or a document name), as a pair
``[document, page]``, or as an object with ``id``, ``document``, ``page``, ``text``
and, for labels, ``grade``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from onechange.score.fields import TraceFields
from onechange.score.trace import Page, Passages, Unit

__all__ = [
    "FieldError",
    "parse_evidence",
    "parse_facts",
    "parse_passages",
    "parse_units",
]

_PAGE_KEY = re.compile(r"(?i)(?:^|_)page(?:_?(?:num|number|no|index|idx|id))?$")
_LARGEST_GRADE = 1000  # 2^grade must stay a finite number


class FieldError(Exception):
    """A field of a record is not of its form; the caller adds file and question."""


def parse_passages(name: str, value: Any, fields: TraceFields) -> Passages:
    """Read an ordered list of results.

    Parameters
    ----------
    name : str
        Name of the field, for messages.
    value : object
        List of texts, of [document, page] pairs, or of objects; one form a list.
    fields : TraceFields
        Names of the file.

    Returns
    -------
    Passages

    Raises
    ------
    FieldError
        If the list mixes forms or an entry names nothing.
    """
    if type(value) is not list:
        raise FieldError(f"{name} is {value!r:.60}; expected a list")
    if not value:
        return Passages(ids=())
    kinds = set(map(type, value))
    if kinds == {str}:
        return Passages(ids=tuple(value))
    if kinds <= {list, tuple}:
        pages = tuple(
            _page(f"{name}[{i}]", item, fields.page_base)
            for i, item in enumerate(value)
        )
        return Passages(pages=pages, documents=tuple(page[0] for page in pages))
    if kinds == {int}:
        return Passages(ids=tuple(map(str, value)))
    if kinds == {dict}:
        return _objects(name, value, fields)
    raise FieldError(
        f"{name} mixes forms; expected all texts, all [document, page] pairs or all "
        "objects"
    )


def parse_evidence(name: str, value: Any, fields: TraceFields) -> dict[Unit, float]:
    """Read the labelled evidence: a list of units, or an object of unit to grade.

    Parameters
    ----------
    name : str
        Name of the field, for messages.
    value : object
        JSON value.
    fields : TraceFields
        Names of the file.

    Returns
    -------
    dict of unit to float
        Grades; a unit without one has grade 1.

    Raises
    ------
    FieldError
        If an entry names nothing, a grade is not between 0 and 1000, or a unit has
        two grades.
    """
    if isinstance(value, Mapping):
        return {str(k): _grade(f"{name}.{k}", v) for k, v in value.items()}
    if not isinstance(value, list):
        raise FieldError(f"{name} is {value!r:.60}; expected a list of units")
    if set(map(type, value)) == {str} and "" not in value:
        return dict.fromkeys(value, 1.0)
    grades: dict[Unit, float] = {}
    base = fields.evidence_base()
    keys = fields.keys("evidence")
    for i, item in enumerate(value):
        unit = _unit(f"{name}[{i}]", item, keys, base)
        grade = 1.0
        if isinstance(item, Mapping):
            if isinstance(unit, str) and item.get(keys["id"]) is None:
                _refuse_other_page(f"{name}[{i}]", item, keys, "evidence")
            if item.get(keys["grade"]) is not None:
                grade = _grade(f"{name}[{i}].grade", item[keys["grade"]])
        if grades.setdefault(unit, grade) != grade:
            raise FieldError(f"{name}[{i}] gives {unit!r} a second grade")
    return grades


def parse_units(name: str, value: Any, fields: TraceFields) -> tuple[Unit, ...]:
    """Read a list of units, as citations are; repeats are left out.

    Parameters
    ----------
    name : str
        Name of the field, for messages.
    value : object
        JSON value.
    fields : TraceFields
        Names of the file.

    Returns
    -------
    tuple of unit

    Raises
    ------
    FieldError
        If it is not a list or an entry names nothing.
    """
    if not isinstance(value, list):
        raise FieldError(f"{name} is {value!r:.60}; expected a list of units")
    base = fields.page_base
    keys = fields.keys()
    units = (_unit(f"{name}[{i}]", x, keys, base) for i, x in enumerate(value))
    return tuple(dict.fromkeys(units))


def parse_facts(
    name: str, value: Any, fields: TraceFields
) -> frozenset[tuple[str, int]]:
    """Read (title, sentence number) pairs.

    Parameters
    ----------
    name : str
        Name of the field, for messages.
    value : object
        JSON value.
    fields : TraceFields
        Names of the file.

    Returns
    -------
    frozenset of (str, int)

    Raises
    ------
    FieldError
        If an entry is not such a pair.
    """
    if not isinstance(value, list):
        raise FieldError(f"{name} is {value!r:.60}; expected a list of pairs")
    facts = set()
    for i, item in enumerate(value):
        pair = isinstance(item, Sequence) and len(item) == 2
        if not (pair and type(item[0]) is str and type(item[1]) is int):
            raise FieldError(
                f"{name}[{i}] is {item!r:.60}; expected [title, sentence number]"
            )
        facts.add((item[0], item[1]))
    return frozenset(facts)


def _unit(name: str, item: Any, keys: Mapping[str, str], base: int) -> Unit:
    if isinstance(item, str) and item:
        return item
    if type(item) is int:
        return str(item)
    if isinstance(item, list | tuple):
        return _page(name, item, base)
    if isinstance(item, Mapping):
        ident = item.get(keys["id"])
        if ident is not None:
            return _identifier(f"{name}.id", ident)
        document = item.get(keys["document"])
        page = item.get(keys["page"])
        if document is not None and page is not None:
            return _page(name, (document, page), base)
        if document is not None:
            return _identifier(f"{name}.document", document)
    raise FieldError(
        f"{name} is {item!r:.60}; expected an id, a [document, page] pair, or an "
        "object with id or document"
    )


def _refuse_other_page(
    name: str, item: Mapping[str, Any], keys: Mapping[str, str], table: str
) -> None:
    """Refuse to take for a document what names its page by another key."""
    if item.get(keys["page"]) is not None:
        return
    for key, value in item.items():
        if type(value) is int and _PAGE_KEY.search(str(key)):
            raise FieldError(
                f"{name} has no {keys['page']}, but {key}; if that is its page, say "
                f'page = "{key}" under [trace.{table}], else leave it out'
            )


def _page(name: str, item: Sequence[Any], base: int) -> Page:
    if len(item) == 2 and type(item[0]) is str and type(item[1]) is int:
        page = item[1] + 1 - base
        if item[0] and page >= 1:
            return (item[0], page)
    raise FieldError(
        f"{name} is {item!r:.60}; expected [document, page] with pages from {base}"
    )


def _identifier(name: str, value: Any) -> str:
    if isinstance(value, str) and value:
        return value
    if type(value) is int:
        return str(value)
    raise FieldError(f"{name} is {value!r:.60}; expected a text")


def _grade(name: str, value: Any) -> float:
    if isinstance(value, int | float) and 0 <= value <= _LARGEST_GRADE:
        return float(value)
    raise FieldError(
        f"{name} is {value!r:.60}; expected a grade from 0 to {_LARGEST_GRADE}"
    )


def _objects(name: str, value: list[Any], fields: TraceFields) -> Passages:
    keys = fields.keys("results")
    columns = {}
    for key in ("id", "document", "page"):
        own = keys[key]
        given = [item.get(own) for item in value]
        present = [entry is not None for entry in given]
        if any(present) and not all(present):
            raise FieldError(
                f"{name}[{present.index(False)}] has no {own} though other entries have"
            )
        columns[key] = given if any(present) else None
    if columns["id"] is None and columns["document"] is None:
        raise FieldError(f"{name}[0] has neither {keys['id']} nor {keys['document']}")
    ids, documents, pages = columns["id"], columns["document"], columns["page"]
    if ids is None and pages is None:
        _refuse_other_page(f"{name}[0]", value[0], keys, "results")
    if pages is not None and documents is None:
        raise FieldError(f"{name}[0] has a page but no {keys['document']}")
    text = keys["text"]
    texts = tuple(item.get(text) for item in value)
    for i, entry in enumerate(texts):
        if entry is not None and not isinstance(entry, str):
            raise FieldError(f"{name}[{i}].{text} is {entry!r:.60}; expected a text")
    return Passages(
        ids=_named(name, "id", ids),
        documents=_named(name, "document", documents),
        pages=None
        if pages is None or documents is None
        else tuple(
            _page(f"{name}[{i}]", pair, fields.page_base)
            for i, pair in enumerate(zip(documents, pages, strict=True))
        ),
        texts=texts if any(entry is not None for entry in texts) else None,
    )


def _named(name: str, key: str, values: list[Any] | None) -> tuple[str, ...] | None:
    if values is None:
        return None
    return tuple(
        _identifier(f"{name}[{i}].{key}", value) for i, value in enumerate(values)
    )
