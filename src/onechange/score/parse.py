"""One record with canonical names -> a checked `Trace`; errors name the field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from onechange.errors import InputError
from onechange.score.fields import TraceFields
from onechange.score.items import (
    FieldError,
    parse_evidence,
    parse_facts,
    parse_passages,
    parse_units,
)
from onechange.score.trace import (
    ANSWERED,
    CLAIM_LABELS,
    FAILED,
    ROUNDING,
    STATUSES,
    Claim,
    Trace,
    finite_number,
    in_range,
)

__all__ = ["EMPTY_ANSWERS", "parse_trace"]

EMPTY_ANSWERS = ("error", "insufficient_evidence", "failed")

_NO_FIELDS = TraceFields()
_Parser = Callable[[str, Any, TraceFields], Any]


def parse_trace(
    record: Mapping[str, Any],
    *,
    fields: TraceFields = _NO_FIELDS,
    place: str = "trace",
    empty_answer: str = "error",
) -> Trace:
    """Check one record and turn it into a trace.

    Parameters
    ----------
    record : mapping
        One JSON object.
    fields : TraceFields
        Names of the file.
    place : str
        Where the record stands, for messages: file and line.
    empty_answer : {"error", "insufficient_evidence", "failed"}
        What an answered trace with an empty answer is.

    Returns
    -------
    Trace

    Raises
    ------
    InputError
        If a field is missing or not of its form; the message names place, question
        and field.

    Examples
    --------
    >>> parse_trace({"question_id": 7, "answer": "30 ECTS"}).status
    'answered'
    """
    if not isinstance(record, Mapping):
        raise InputError(f"{place}: expected a JSON object, found {_kind(record)}")
    names = fields.apply(record) if fields.fields else record
    question_id = _question_id(names.get("question_id"), names, place)
    try:
        values: dict[str, Any] = {}
        extra: dict[str, Any] = {}
        for name, value in names.items():
            parser = _PARSERS.get(name)
            if parser is None:
                extra[name] = value
            elif value is not None:
                values[name] = parser(name, value, fields)
        del extra["question_id"]
        _settle_correct(values)
        _settle_answerable(values)
        _settle_status(values, names, empty_answer)
        return Trace(question_id=question_id, extra=extra, **values)
    except FieldError as error:
        raise InputError(f"{place}: question {question_id!r}: {error}") from None


def _question_id(value: object, names: Mapping[str, Any], place: str) -> str:
    if type(value) is str and value.strip():
        return value
    if type(value) is int:
        return str(value)
    if "question_id" not in names:
        raise InputError(
            f"{place}: no field question_id (found: {', '.join(map(str, names))}); "
            "map it with [trace.fields] question_id = NAME"
        )
    raise InputError(
        f"{place}: question_id is {value!r}; expected a text or an integer"
    )


def _settle_status(
    values: dict[str, Any], names: Mapping[str, Any], empty_answer: str
) -> None:
    """Fill the status where it follows, and refuse an answer that is none."""
    status = values.get("status")
    answer = values.get("answer")
    error = values.get("error")
    if error is not None and status not in (None, FAILED):
        raise FieldError(
            f"status is {status!r}, but error is {error!r:.60}; a run that broke is "
            "failed, and one that did not has no error"
        )
    if status is None and error is not None:
        values["status"] = status = FAILED
    if status is None and answer is not None and answer.strip():
        values["status"] = ANSWERED
    elif status in (None, ANSWERED) and "answer" in names:
        if answer is not None and answer.strip():
            return
        if empty_answer == "error":
            raise FieldError(
                "answer is empty; give the status insufficient_evidence or failed, "
                "or set empty_answer"
            )
        values["status"] = empty_answer


def _settle_correct(values: dict[str, Any]) -> None:
    """Take `scores.correct` for the field `correct`, which it is."""
    scores = values.get("scores")
    if not scores or "correct" not in scores:
        return
    number = _unit_interval("scores.correct", scores["correct"], _NO_FIELDS)
    if abs(values.setdefault("correct", number) - number) > ROUNDING:
        raise FieldError(
            f"correct is {values['correct']!r}, but scores.correct is {number!r}; "
            "remove one of the two"
        )
    values["scores"] = {name: x for name, x in scores.items() if name != "correct"}


def _settle_answerable(values: dict[str, Any]) -> None:
    """Refuse labelled evidence of a question that has none by its own word."""
    if values.get("answerable") is not False:
        return
    if any(grade > 0 for grade in (values.get("evidence") or {}).values()):
        raise FieldError(
            "answerable is false, but evidence is labelled; correct one of the two "
            "(grade 0 is labelled irrelevant)"
        )


def _text(name: str, value: Any, fields: TraceFields) -> str:
    if isinstance(value, str):
        return value
    raise FieldError(f"{name} is {_kind(value)}; expected a text")


def _trial(name: str, value: Any, fields: TraceFields) -> str:
    if isinstance(value, str) and value.strip():
        return value
    if type(value) is int:
        return str(value)
    raise FieldError(f"{name} is {value!r}; expected a text or an integer")


def _status(name: str, value: Any, fields: TraceFields) -> str:
    word = _text(name, value, fields)
    word = fields.statuses.get(word, word)
    if word not in STATUSES:
        raise FieldError(
            f"{name} is {value!r}; expected {', '.join(STATUSES)}, "
            "or map the word under [trace.statuses]"
        )
    return word


def _error(name: str, value: Any, fields: TraceFields) -> str | None:
    """Text of an error; empty, blank and false say that there is none."""
    if isinstance(value, str):
        return value if value.strip() else None
    return repr(value) if value else None


def _flag(name: str, value: Any, fields: TraceFields) -> bool:
    if isinstance(value, bool):
        return value
    if value in (0, 1) and isinstance(value, int | float):
        return bool(value)
    raise FieldError(f"{name} is {value!r}; expected true or false")


def _reference(name: str, value: Any, fields: TraceFields) -> tuple[str, ...]:
    """Read accepted answers; a blank one is none: nothing can be measured by it."""
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    if not isinstance(value, list):
        raise FieldError(
            f"{name} is {_kind(value)}; expected a text or a list of texts"
        )
    for i, text in enumerate(value):
        if not isinstance(text, str):
            raise FieldError(f"{name}[{i}] is {_kind(text)}; expected a text")
    return tuple(text for text in value if text.strip())


def _unit_interval(name: str, value: Any, fields: TraceFields) -> float:
    number = in_range(_number(name, value), 0.0, 1.0)
    if number is None:
        raise FieldError(f"{name} is {value!r}, outside [0, 1]")
    return number


def _cosines(name: str, value: Any, fields: TraceFields) -> tuple[float, ...]:
    if not isinstance(value, list) or not value:
        found = "empty" if value == [] else _kind(value)
        raise FieldError(f"{name} is {found}; expected a list of numbers")
    numbers = []
    for i, cosine in enumerate(value):
        number = in_range(_number(f"{name}[{i}]", cosine), -1.0, 1.0)
        if number is None:
            raise FieldError(f"{name}[{i}] is {cosine!r}, outside [-1, 1]")
        numbers.append(number)
    return tuple(numbers)


def _scores(name: str, value: Any, fields: TraceFields) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise FieldError(f"{name} is {_kind(value)}; expected an object of numbers")
    return {
        str(key): _number(f"{name}.{key}", score)
        for key, score in value.items()
        if score is not None
    }


def _number(name: str, value: Any) -> float:
    number = finite_number(value)
    if number is not None:
        return number
    if isinstance(value, int | float):
        raise FieldError(f"{name} is {value!r:.60}, not a finite number")
    raise FieldError(f"{name} is {value!r:.60}; expected a number or null")


def _claims(name: str, value: Any, fields: TraceFields) -> tuple[Claim, ...]:
    if not isinstance(value, list):
        raise FieldError(f"{name} is {_kind(value)}; expected a list of claims")
    claims = tuple(_claim(f"{name}[{i}]", raw, fields) for i, raw in enumerate(value))
    steps = [claim.step is not None for claim in claims]
    if any(steps) and not all(steps):
        raise FieldError(
            f"{name}[{steps.index(False)}] has no step though other claims have one"
        )
    return claims


def _claim(name: str, raw: Any, fields: TraceFields) -> Claim:
    if not isinstance(raw, Mapping):
        raise FieldError(f"{name} is {_kind(raw)}; expected an object with a label")
    keys = fields.claims
    label = raw.get(keys.get("label", "label"))
    if label not in CLAIM_LABELS:
        raise FieldError(
            f"{name}.label is {label!r}; expected {', '.join(CLAIM_LABELS)}"
        )
    if raw.get(keys.get("step", "step")) == "min":
        raise FieldError(f"{name}.step is 'min', the name of the lowest step's score")
    parts: dict[str, Any] = {}
    for key, parser in _CLAIM_PARSERS.items():
        value = raw.get(keys.get(key, key))
        if value is not None:
            parts[key] = parser(f"{name}.{key}", value, fields)
    return Claim(label=label, **parts)


def _attributable(name: str, value: Any, fields: TraceFields) -> tuple[bool, ...]:
    if not isinstance(value, list):
        raise FieldError(f"{name} is {_kind(value)}; expected a list of true and false")
    flags = []
    for i, item in enumerate(value):
        raw = item.get("attributable") if isinstance(item, Mapping) else item
        flags.append(_flag(f"{name}[{i}]", raw, fields))
    return tuple(flags)


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", type(None): "null"}
    return names.get(type(value), repr(value))


_CLAIM_PARSERS: dict[str, _Parser] = {
    "text": _text,
    "step": _trial,
    "cited": parse_units,
    "supporting": parse_units,
    "needs_citation": _flag,
}
_PARSERS: dict[str, _Parser] = {
    "trial": _trial,
    "status": _status,
    "error": _error,
    "question": _text,
    "reference": _reference,
    "answer": _text,
    "answerable": _flag,
    "evidence": parse_evidence,
    "candidates": parse_passages,
    "retrieved": parse_passages,
    "selected": parse_passages,
    "claims": _claims,
    "reference_claims": _attributable,
    "cited": parse_units,
    "supporting_facts": parse_facts,
    "reference_facts": parse_facts,
    "cosines": _cosines,
    "correct": _unit_interval,
    "scores": _scores,
    "evidence_in_corpus": _flag,
    "evidence_in_one_chunk": _flag,
    "category": _text,
}
