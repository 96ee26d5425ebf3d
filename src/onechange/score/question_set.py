"""What a question set holds, and what is wrong with it, before anything is compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from onechange.display import TableMixin
from onechange.display.counting import counted
from onechange.errors import InputError
from onechange.score.answers import normalise
from onechange.score.options import ScoreOptions
from onechange.score.similar import SimilarPair, similar_pairs
from onechange.score.source import parse_traces, read_traces
from onechange.score.trace import Passages, Trace
from onechange.stats.estimate import Note

__all__ = ["QuestionSetAudit", "SetOverlap", "audit_question_set"]

Source = str | Path | Iterable[Mapping[str, Any] | Trace]

IdPairs = tuple[tuple[str, str], ...]

NEAR = 0.8


@dataclass(frozen=True, slots=True)
class SetOverlap:
    """Questions that two sets share, as (id here, id there).

    Parameters
    ----------
    same_id : tuple of str
        Ids in both sets.
    same_text : tuple of (str, str)
        Same question text after normalisation, under the same id or another.
    near_text : tuple of (str, str)
        Nearly the same words, under the same id or another.
    """

    same_id: tuple[str, ...]
    same_text: tuple[tuple[str, str], ...]
    near_text: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, repr=False)
class QuestionSetAudit(TableMixin):
    """What a set of traces holds, question by question.

    Parameters
    ----------
    n_traces, n_questions, n_trials : int
        Records, distinct questions, distinct trial labels (1 when none is given).
    answerable, unanswerable, answerable_unknown : int
        Questions by whether the corpus holds an answer.
    statuses : mapping of str to int
        Traces by status (``none`` for traces of retrieval alone).
    categories : mapping of str to (mapping of str to int)
        For each column asked for: questions by label, ``(none)`` without.
    unlabelled, without_reference : tuple of str
        Answerable questions without labelled evidence, and without reference answer.
    multi_evidence : int
        Questions with more than one labelled unit.
    label_units, result_units : mapping of str to int
        Questions by unit of their labels, and by what their results name.
    changed_text : tuple of str
        Ids whose question text, reference or evidence differs between trials.
    duplicates, near_duplicates : tuple of (str, str)
        Pairs of ids with the same text, and with nearly the same words.
    conflicting : tuple of (str, str)
        Duplicates with different reference answers; both have one.
    without_text : tuple of str
        Questions whose text is not recorded: they are not looked at for duplicates.
    overlap : SetOverlap or None
        Questions shared with the other set.
    notes : tuple of Note
        What should be mended before a comparison.
    """

    n_traces: int
    n_questions: int
    n_trials: int
    answerable: int
    unanswerable: int
    answerable_unknown: int
    statuses: Mapping[str, int]
    categories: Mapping[str, Mapping[str, int]]
    unlabelled: tuple[str, ...]
    without_reference: tuple[str, ...]
    multi_evidence: int
    label_units: Mapping[str, int]
    result_units: Mapping[str, int]
    changed_text: tuple[str, ...]
    duplicates: tuple[tuple[str, str], ...]
    near_duplicates: tuple[tuple[str, str], ...]
    conflicting: tuple[tuple[str, str], ...]
    overlap: SetOverlap | None = None
    without_text: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one row a check: what, how many, share of the questions."""
        counts = {
            "questions": self.n_questions,
            "answerable": self.answerable,
            "unanswerable": self.unanswerable,
            "answerable not recorded": self.answerable_unknown,
            "more than one labelled unit": self.multi_evidence,
            "without labelled evidence": len(self.unlabelled),
            "without reference answer": len(self.without_reference),
            "without a question text": len(self.without_text),
            "changed between trials": len(self.changed_text),
            "duplicate pairs": len(self.duplicates),
            "near-duplicate pairs": len(self.near_duplicates),
            "duplicates with other reference": len(self.conflicting),
        }
        for column, labels in self.categories.items():
            counts.update({f"{column} = {name}": n for name, n in labels.items()})
        if self.overlap is not None:
            counts["shared ids"] = len(self.overlap.same_id)
            counts["shared texts"] = len(self.overlap.same_text)
            counts["nearly shared texts"] = len(self.overlap.near_text)
        total = self.n_questions
        return [
            {"check": name, "count": n, "share": n / total}
            for name, n in counts.items()
        ]


def audit_question_set(
    traces: Source,
    *,
    other: Source | None = None,
    categories: Sequence[str] = (),
    options: ScoreOptions | None = None,
    near: float = NEAR,
) -> QuestionSetAudit:
    """Audit the questions, labels and results of a set of traces.

    Parameters
    ----------
    traces : path, or iterable of mapping or Trace
        JSON Lines file or records.
    other : path, or iterable of mapping or Trace, optional
        Another set, the development questions say, that should share nothing.
    categories : sequence of str
        Fields to count the questions by.
    options : ScoreOptions, optional
        Names of the fields.
    near : float
        Share of common words from which two questions are near-duplicates.

    Returns
    -------
    QuestionSetAudit

    Raises
    ------
    InputError
        If a trace is not valid, or a field of `categories` is in no trace.

    Examples
    --------
    >>> audit = audit_question_set([
    ...     {"question_id": "q1", "question": "What was capex?", "evidence": ["c1"]},
    ...     {"question_id": "q2", "question": "what was the capex"},
    ... ])
    >>> audit.duplicates, audit.unlabelled
    ((('q1', 'q2'),), ('q2',))
    """
    options = ScoreOptions() if options is None else options
    records = _read(traces, options)
    first = {trace.question_id: trace for trace in reversed(records)}
    questions = [first[question] for question in sorted(first)]
    _require_columns(categories, records)
    duplicates, near_pairs = _similar(questions, near)
    label_units = Counter(map(_label_unit, questions))
    result_units = Counter(map(_result_unit, questions))
    audit = QuestionSetAudit(
        n_traces=len(records),
        n_questions=len(questions),
        n_trials=len({trace.trial for trace in records}),
        answerable=sum(trace.answerable is True for trace in questions),
        unanswerable=sum(trace.answerable is False for trace in questions),
        answerable_unknown=sum(trace.answerable is None for trace in questions),
        statuses=dict(sorted(Counter(t.status or "none" for t in records).items())),
        categories={name: _labels(name, questions) for name in categories},
        unlabelled=_ids(questions, lambda t: not t.evidence),
        without_reference=_ids(questions, lambda t: not t.reference),
        multi_evidence=sum(len(_positive(trace)) > 1 for trace in questions),
        label_units=dict(sorted(label_units.items())),
        result_units=dict(sorted(result_units.items())),
        changed_text=_changed(records, first),
        duplicates=duplicates,
        near_duplicates=near_pairs,
        conflicting=tuple(
            pair
            for pair in duplicates
            if _differ(_reference(first[pair[0]]), _reference(first[pair[1]]))
        ),
        without_text=tuple(t.question_id for t in questions if not _has_text(t)),
        overlap=None if other is None else _overlap(questions, other, options, near),
    )
    return _with_notes(audit, options)


def _read(traces: Source, options: ScoreOptions) -> tuple[Trace, ...]:
    if isinstance(traces, str | Path):
        return read_traces(traces, options=options)
    return parse_traces(traces, options=options)


def _require_columns(categories: Sequence[str], records: Sequence[Trace]) -> None:
    for name in categories:
        if not any(name in trace.extra for trace in records):
            found = sorted({key for trace in records for key in trace.extra})
            raise InputError(
                f"no trace has a field {name} to count by "
                f"(found: {', '.join(found) or 'none'})"
            )


def _labels(name: str, questions: Sequence[Trace]) -> dict[str, int]:
    values = (trace.extra.get(name) for trace in questions)
    counts = Counter("(none)" if value is None else str(value) for value in values)
    return dict(sorted(counts.items()))


def _ids(questions: Sequence[Trace], lacks: Callable[[Trace], bool]) -> tuple[str, ...]:
    """Ids of the questions that may be answerable and lack something."""
    return tuple(
        trace.question_id
        for trace in questions
        if trace.answerable is not False and lacks(trace)
    )


def _positive(trace: Trace) -> list[object]:
    return [unit for unit, grade in (trace.evidence or {}).items() if grade > 0]


def _label_unit(trace: Trace) -> str:
    if not trace.evidence:
        return "none"
    kinds = {isinstance(unit, tuple) for unit in trace.evidence}
    return "mixed" if len(kinds) > 1 else "page" if True in kinds else "id"


def _result_unit(trace: Trace) -> str:
    passages: Passages | None = trace.retrieved or trace.selected or trace.candidates
    if passages is None or not len(passages):
        return "none"
    named = ("id", passages.ids), ("page", passages.pages)
    units = [name for name, values in named if values is not None]
    return " and ".join(units) or "document"


def _changed(records: Sequence[Trace], first: Mapping[str, Trace]) -> tuple[str, ...]:
    changed = set()
    for trace in records:
        same = first[trace.question_id]
        for name in ("question", "reference", "evidence"):
            if getattr(trace, name) != getattr(same, name):
                changed.add(trace.question_id)
    return tuple(sorted(changed))


def _similar(questions: Sequence[Trace], near: float) -> tuple[IdPairs, IdPairs]:
    texts = [trace.question or "" for trace in questions]
    return _by_text(similar_pairs(texts, threshold=near), questions, questions)


def _by_text(
    pairs: Iterable[SimilarPair], left: Sequence[Trace], right: Sequence[Trace]
) -> tuple[IdPairs, IdPairs]:
    """Pairs of ids: those with the same text, and those nearly so."""
    same: list[tuple[str, str]] = []
    alike: list[tuple[str, str]] = []
    for pair in pairs:
        one, other = left[pair.first], right[pair.second]
        equal = normalise(one.question or "") == normalise(other.question or "")
        (same if equal else alike).append((one.question_id, other.question_id))
    return tuple(same), tuple(alike)


def _has_text(trace: Trace) -> bool:
    return bool(trace.question and trace.question.strip())


def _differ(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return bool(one and other) and one != other


def _reference(trace: Trace) -> tuple[str, ...]:
    return tuple(sorted(map(normalise, trace.reference or ())))


def _overlap(
    questions: Sequence[Trace], other: Source, options: ScoreOptions, near: float
) -> SetOverlap:
    there = {trace.question_id: trace for trace in _read(other, options)}
    others = [there[question] for question in sorted(there)]
    ours = [trace.question or "" for trace in questions]
    theirs = [trace.question or "" for trace in others]
    pairs = similar_pairs(ours, theirs, threshold=near)
    same, alike = _by_text(pairs, questions, others)
    shared = (t.question_id for t in questions if t.question_id in there)
    return SetOverlap(tuple(shared), same, alike)


def _with_notes(audit: QuestionSetAudit, options: ScoreOptions) -> QuestionSetAudit:
    notes = []
    if audit.duplicates or audit.near_duplicates:
        n, n_near = len(audit.duplicates), len(audit.near_duplicates)
        text = (
            f"{n} pairs of questions have the same text and {n_near} nearly the same: "
            "they count twice; keep one of each or declare a cluster."
        )
        notes.append(Note("repeated-text", text))
    if audit.without_text:
        text = (
            f"{len(audit.without_text)} of {audit.n_questions} questions have no text: "
            "whether they repeat is not known."
        )
        notes.append(Note("not-measured", text))
    if audit.changed_text:
        text = (
            f"{len(audit.changed_text)} questions change their text, reference or "
            "evidence between trials."
        )
        notes.append(Note("not-comparable", text))
    if audit.unlabelled:
        text = (
            f"{len(audit.unlabelled)} of {audit.n_questions} questions have no "
            "labelled evidence: their retrieval is unscored."
        )
        notes.append(Note("unscored-rows", text))
    if _needs_mapping(audit, options):
        text = (
            "Evidence is labelled by page but results name ids alone; retrieval is "
            "unscored without a mapping of chunks to pages."
        )
        notes.append(Note("label-unit-differs", text))
    shared = audit.overlap
    if shared is not None and (shared.same_id or shared.same_text or shared.near_text):
        text = (
            f"The other set shares {counted(len(shared.same_id), 'id')}, "
            f"{counted(len(shared.same_text), 'text')} and "
            f"{counted(len(shared.near_text), 'near-duplicate')} with this one: it is "
            "not held out."
        )
        notes.append(Note("sets-overlap", text))
    return replace(audit, notes=tuple(notes))


def _needs_mapping(audit: QuestionSetAudit, options: ScoreOptions) -> bool:
    pages = audit.label_units.get("page", 0) > 0
    return pages and audit.result_units.get("id", 0) > 0 and not options.chunk_pages
