"""The columns of a row that are not scores: id, status, texts, lists, plain fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onechange.errors import InputError
from onechange.score.options import ScoreOptions
from onechange.score.trace import Claim, Passages, Trace, Unit, finite_number

__all__ = ["FINISHED_NAMES", "row_texts"]

# Judged scores that are taken as finished also outside of the field `scores`.
FINISHED_NAMES = frozenset(
    {
        "faithfulness",
        "answer_relevance",
        "context_precision",
        "context_recall",
        "contradiction_rate",
        "citation_precision",
        "citation_recall",
        "correctness",
    }
)
_ALWAYS_CARRIED = ("request",)
_FLATTENED = ("tokens", "latency", "cost")


def row_texts(trace: Trace, options: ScoreOptions) -> dict[str, Any]:
    """Return the cells of one row that are not scores.

    Parameters
    ----------
    trace : Trace
        What was recorded.
    options : ScoreOptions
        Constant columns, and the fields to carry.

    Returns
    -------
    dict
        Column to cell; lists stay lists.

    Raises
    ------
    InputError
        When a number is not finite, or a constant column is also a field.
    """
    row: dict[str, Any] = {"question_id": trace.question_id}
    if trace.trial is not None:
        row["trial"] = trace.trial
    if trace.status is not None:
        row["status"] = trace.status
    for name, value in options.constants.items():
        if name in row or name in trace.extra:
            raise InputError(
                f"question {trace.question_id!r}: {name} is a field of the trace and "
                "a constant column; give the column another name"
            )
        row[name] = value
    if trace.question is not None:
        row["question"] = trace.question
    if trace.reference:
        row["reference"] = _single(trace.reference)
    if trace.answer is not None:
        row["answer"] = trace.answer
    if trace.answerable is not None:  # words, so that it is read as a slice
        row["answerable"] = "answerable" if trace.answerable else "unanswerable"
    if trace.error is not None:
        row["error"] = trace.error
    if trace.evidence is not None:
        row["evidence"] = _labels(trace.evidence)
    if trace.retrieved is not None:
        row["retrieved"] = _passages(trace.retrieved)
    if trace.claims is not None:
        row["claims"] = [*map(_claim, trace.claims)]
    if (cited := _cited(trace)) is not None:
        row["cited"] = cited
    for name, value in trace.extra.items():
        if name not in FINISHED_NAMES:
            _carry(row, name, value, trace, options)
    return row


def _carry(
    row: dict[str, Any], name: str, value: Any, trace: Trace, options: ScoreOptions
) -> None:
    if value is None:
        return
    if isinstance(value, int | float) and finite_number(value) is None:
        raise InputError(
            f"question {trace.question_id!r}: {name} is {value!r:.60}, not a finite "
            "number"
        )
    if isinstance(value, Mapping) and name in _FLATTENED:
        for key, part in value.items():
            _carry(row, f"{name}_{key}", part, trace, options)
    elif (
        isinstance(value, str | int | float)
        or name in _ALWAYS_CARRIED
        or name in options.carry
    ):
        if row.get(name, value) != value:
            raise InputError(
                f"question {trace.question_id!r}: {name} is {row[name]!r:.60} and "
                f"{value!r:.60}, once in an object and once beside it; remove one"
            )
        row[name] = value


def _single(reference: tuple[str, ...]) -> str | list[str]:
    return reference[0] if len(reference) == 1 else list(reference)


def _labels(evidence: Mapping[Unit, float]) -> list[Any]:
    return [
        _plain(unit) if grade == 1.0 else {"unit": _plain(unit), "grade": grade}
        for unit, grade in evidence.items()
    ]


def _plain(unit: Unit) -> str | list[Any]:
    return list(unit) if isinstance(unit, tuple) else unit


def _passages(passages: Passages) -> Sequence[Any]:
    """Ids and pages of a list, without its texts."""
    ids, pages, documents = passages.ids, passages.pages, passages.documents
    if ids is not None and pages is None and documents is None:
        return ids
    if ids is None:
        named: tuple[Unit, ...] = pages or documents or ()
        return [_plain(unit) for unit in named]
    places: tuple[Unit, ...] = pages or documents or ()
    return [
        {"id": chunk, "page" if pages else "document": _plain(place)}
        for chunk, place in zip(ids, places, strict=True)
    ]


def _cited(trace: Trace) -> list[Any] | None:
    if trace.cited is not None:
        return [_plain(unit) for unit in trace.cited]
    recorded = [c.cited for c in trace.claims or () if c.cited is not None]
    if not recorded:
        return None
    return [_plain(unit) for unit in dict.fromkeys(u for c in recorded for u in c)]


def _claim(claim: Claim) -> dict[str, Any]:
    record: dict[str, Any] = {"label": claim.label}
    if claim.text is not None:
        record["text"] = claim.text
    if claim.step is not None:
        record["step"] = claim.step
    if claim.cited is not None:
        record["cited"] = [_plain(unit) for unit in claim.cited]
    if claim.supporting is not None:
        record["supporting"] = [_plain(unit) for unit in claim.supporting]
    return record
