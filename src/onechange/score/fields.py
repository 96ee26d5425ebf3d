"""Names of the fields of a trace: which name in a file plays which role.

The mapping is the ``[trace]`` section of a TOML file::

    [trace]
    page_base = 0                      # pages of the file count from 0
    [trace.fields]
    question_id = "financebench_id"
    answer = "output.text"             # a dot reaches into an object
    [trace.items]                      # keys inside evidence, ranked lists, citations
    id = "chunk_id"
    [trace.evidence]                   # where labels have other keys than the rest
    page = "evidence_page_num"
    [trace.claims]
    label = "verdict"
    [trace.statuses]
    parse_error = "failed"
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from onechange.errors import PlanError
from onechange.score.trace import STATUSES

__all__ = [
    "CLAIM_KEYS",
    "ITEM_KEYS",
    "TRACE_FIELDS",
    "TraceFields",
    "require_known",
]

TRACE_FIELDS = (
    "question_id",
    "trial",
    "status",
    "error",
    "question",
    "reference",
    "answer",
    "answerable",
    "evidence",
    "candidates",
    "retrieved",
    "selected",
    "claims",
    "reference_claims",
    "cited",
    "supporting_facts",
    "reference_facts",
    "cosines",
    "correct",
    "scores",
    "evidence_in_corpus",
    "evidence_in_one_chunk",
    "category",
)
ITEM_KEYS = ("id", "document", "page", "text", "grade")
_TABLES = ("fields", "items", "evidence", "results", "claims", "statuses")
CLAIM_KEYS = ("text", "label", "step", "cited", "supporting", "needs_citation")


@dataclass(frozen=True, slots=True)
class TraceFields:
    """How the names in a file map to the fields of a trace.

    Parameters
    ----------
    fields : mapping of str to str
        Field of `TRACE_FIELDS` to the name in the file; a dot reaches into an
        object. A field not named here has its own name.
    items : mapping of str to str
        Key of `ITEM_KEYS` to the name inside evidence, ranked lists and citations.
    evidence, results : mapping of str to str
        The same for the labelled evidence alone, and for the ranked lists
        (candidates, retrieved, selected) alone; what they do not name is as in
        `items`.
    claims : mapping of str to str
        Key of `CLAIM_KEYS` to the name inside a claim.
    statuses : mapping of str to str
        Status word of the file to ``answered``, ``insufficient_evidence`` or
        ``failed``.
    page_base : {0, 1}
        Number of the first page in the file; pages are one-based inside.
    evidence_page_base : {0, 1} or None
        The same for the labelled evidence, where it differs.

    Raises
    ------
    PlanError
        If a key is unknown, a name is not text, or a status or base is not allowed.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    items: Mapping[str, str] = field(default_factory=dict)
    evidence: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[str, str] = field(default_factory=dict)
    claims: Mapping[str, str] = field(default_factory=dict)
    statuses: Mapping[str, str] = field(default_factory=dict)
    page_base: int = 1
    evidence_page_base: int | None = None

    def __post_init__(self) -> None:
        _check_names("trace.fields", self.fields, TRACE_FIELDS)
        for table in ("items", "evidence", "results"):
            _check_names(f"trace.{table}", getattr(self, table), ITEM_KEYS)
        _check_names("trace.claims", self.claims, CLAIM_KEYS)
        for word, status in self.statuses.items():
            if status not in STATUSES:
                raise PlanError(
                    f"[trace.statuses] {word} = {status!r}: "
                    f"expected {', '.join(STATUSES)}"
                )
        for name in ("page_base", "evidence_page_base"):
            base = getattr(self, name)
            if base not in (0, 1, None) or isinstance(base, bool):
                raise PlanError(f"[trace] {name} = {base!r}: expected 0 or 1")

    @classmethod
    def from_dict(cls, section: Mapping[str, Any]) -> TraceFields:
        """Read the ``[trace]`` section of a TOML file.

        Parameters
        ----------
        section : mapping
            Keys ``fields``, ``items``, ``evidence``, ``results``, ``claims``,
            ``statuses``, ``page_base``, ``evidence_page_base``.

        Returns
        -------
        TraceFields

        Raises
        ------
        PlanError
            If a key is unknown or a value is not allowed.

        Examples
        --------
        >>> TraceFields.from_dict({"fields": {"reference": "gold_answer"}}).fields
        {'reference': 'gold_answer'}
        """
        require_known("trace", section, cls.__dataclass_fields__)
        for name in _TABLES:
            if not isinstance(section.get(name, {}), Mapping):
                raise PlanError(f"[trace] {name}: expected a table of names")
        return cls(**section)

    def evidence_base(self) -> int:
        """Return the number of the first page in the labelled evidence."""
        base = self.evidence_page_base
        return self.page_base if base is None else base

    def keys(self, table: str = "items") -> dict[str, str]:
        """Return the name of each key inside the entries of one kind.

        Parameters
        ----------
        table : {"items", "evidence", "results"}
            Entries in general (citations), of labels, or of ranked lists.

        Returns
        -------
        dict of str to str
            Key of `ITEM_KEYS` to the name in the file.

        Examples
        --------
        >>> fields = TraceFields(items={"page": "p"}, evidence={"id": "e"})
        >>> keys = fields.keys("evidence")
        >>> keys["id"], keys["page"], keys["document"]
        ('e', 'p', 'document')
        """
        own = {} if table == "items" else getattr(self, table)
        return {**dict(zip(ITEM_KEYS, ITEM_KEYS, strict=True)), **self.items, **own}

    def apply(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Rename the fields of one record.

        Parameters
        ----------
        record : mapping
            One record as it stands in the file.

        Returns
        -------
        dict
            The record under the names of `TRACE_FIELDS`; what is not mapped keeps
            its name, and a mapped top-level name is not kept twice.
        """
        if not self.fields:
            return dict(record)
        renamed = {
            name: value
            for name, value in record.items()
            if name not in self.fields and name not in self.fields.values()
        }
        for name, path in self.fields.items():
            value = _reach(record, path)
            if value is not None:
                renamed[name] = value
        return renamed


def require_known(
    place: str, section: Mapping[str, Any], known: Collection[str]
) -> None:
    """Refuse an unknown key, naming the nearest valid one.

    Parameters
    ----------
    place : str
        Name of the section, for the message.
    section : mapping
        Keys to check.
    known : collection of str
        Valid keys.

    Raises
    ------
    PlanError
        If a key is not among `known`.
    """
    for key in section:
        if key not in known:
            near = difflib.get_close_matches(str(key), list(known), n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
            raise PlanError(f"[{place}] {key}: unknown key; {hint}")


def _check_names(place: str, names: Mapping[str, str], known: tuple[str, ...]) -> None:
    require_known(place, names, known)
    for key, name in names.items():
        if not isinstance(name, str) or not name:
            raise PlanError(f"[{place}] {key} = {name!r}: expected a field name")


def _reach(record: Mapping[str, Any], path: str) -> Any:
    if path in record:
        return record[path]
    value: Any = record
    for part in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value
