"""A JSON Lines file, or records in memory -> checked traces without repeats."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from onechange.errors import InputError
from onechange.formats.source import expand
from onechange.score.options import ScoreOptions
from onechange.score.parse import parse_trace
from onechange.score.trace import STATUSES, Trace

__all__ = ["parse_traces", "read_traces"]

_GZIP = b"\x1f\x8b"
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")  # an escape that may stand alone


def read_traces(
    path: str | Path,
    *,
    options: ScoreOptions | None = None,
    one_form: bool = False,
) -> tuple[Trace, ...]:
    """Read a JSON Lines file of traces.

    Parameters
    ----------
    path : str or Path
        UTF-8 text with one JSON object a line, gzip or not; empty lines are passed
        over.
    options : ScoreOptions, optional
        Names of the fields and treatment of empty answers.
    one_form : bool
        Whether all traces must have a trial, or none, as the rows of a table do.

    Returns
    -------
    tuple of Trace
        In the order of the file.

    Raises
    ------
    InputError
        If the file cannot be read, a line is not JSON, a record is not valid, or a
        question and trial occurs twice; the message names file and line.
    """
    path = Path(path)
    options = ScoreOptions() if options is None else options
    return _checked(_lines(path), options, one_form=one_form)


def parse_traces(
    records: Iterable[Mapping[str, Any] | Trace],
    *,
    options: ScoreOptions | None = None,
    one_form: bool = False,
) -> tuple[Trace, ...]:
    """Check records that are in memory already.

    Parameters
    ----------
    records : iterable of mapping or Trace
        JSON objects, or traces.
    options : ScoreOptions, optional
        Names of the fields and treatment of empty answers.
    one_form : bool
        Whether all traces must have a trial, or none, as the rows of a table do.

    Returns
    -------
    tuple of Trace

    Raises
    ------
    InputError
        If a record is not valid, or a question and trial occurs twice.
    """
    numbered = ((f"record {i}", record) for i, record in enumerate(records, 1))
    options = ScoreOptions() if options is None else options
    return _checked(numbered, options, one_form=one_form)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Object of its keys and values; refuses a key that stands twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [key for key, _ in pairs]
        twice = next(key for key in found if names.count(key) > 1)
        raise ValueError(f"the key {twice!r:.60} stands twice in one object")
    return found


_DECODE = json.JSONDecoder(object_pairs_hook=_unique).decode


def _lines(path: Path) -> Iterator[tuple[str, Any]]:
    name = path.name
    try:
        with _opened(path) as file:
            for number, line in enumerate(file, 1):
                if not line.isspace():
                    yield f"{name}:{number}", _record(line, name, number)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not UTF-8 text (byte {error.start}); convert the file to UTF-8"
        ) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def _opened(path: Path) -> TextIO:
    """Open a text file; a gzip file is expanded within bounds."""
    with path.open("rb") as start:
        if start.read(2) != _GZIP:
            return path.open(encoding="utf-8-sig", newline="\n")
    data = expand(path.read_bytes(), name=path.name)
    return io.StringIO(data.decode("utf-8-sig"), newline="\n")


def _record(line: str, name: str, number: int) -> Any:
    try:
        record = _DECODE(line)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{name}:{number}: not a JSON object ({error}); "
            "traces are JSON Lines, one object a line"
        ) from error
    if "\\u" in line and _HALF_CHARACTER.search(line):
        try:
            json.dumps(record, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as error:
            half = ascii(error.object[error.start])
            raise InputError(
                f"{name}:{number}: holds half a character ({half}); mend the text"
            ) from error
    return record


def _checked(
    records: Iterable[tuple[str, Any]], options: ScoreOptions, *, one_form: bool
) -> tuple[Trace, ...]:
    traces: list[Trace] = []
    places: dict[tuple[str, str | None], str] = {}
    fields, empty_answer = options.fields, options.empty_answer
    for place, record in records:
        if isinstance(record, Trace):
            trace = record
            if trace.status not in (None, *STATUSES):
                raise InputError(
                    f"{place}: question {trace.question_id!r}: status is "
                    f"{trace.status!r}; expected {', '.join(STATUSES)}"
                )
        else:
            trace = parse_trace(
                record, fields=fields, place=place, empty_answer=empty_answer
            )
        key = (trace.question_id, trace.trial)
        if key in places:
            which = "" if trace.trial is None else f", trial {trace.trial!r}"
            raise InputError(
                f"{place}: question {trace.question_id!r}{which} stands at "
                f"{places[key]} already; give repeated executions a field trial"
            )
        places[key] = place
        traces.append(trace)
    if not traces:
        raise InputError("there is no trace to score; expected at least one record")
    _check_statuses(traces, places)
    if one_form:
        _check_trials(traces, places)
    return tuple(traces)


def _check_statuses(
    traces: list[Trace], places: Mapping[tuple[str, str | None], str]
) -> None:
    """Refuse a trace without answer and status among traces that have them."""
    if all(trace.status is None for trace in traces):
        return
    for trace in traces:
        if trace.status is None:
            place = places[trace.question_id, trace.trial]
            raise InputError(
                f"{place}: question {trace.question_id!r}: neither answer nor status, "
                "though other traces have them; say insufficient_evidence or failed"
            )


def _check_trials(
    traces: list[Trace], places: Mapping[tuple[str, str | None], str]
) -> None:
    """Refuse traces with and without a trial: their rows would be no table."""
    without = [trace for trace in traces if trace.trial is None]
    if not without or len(without) == len(traces):
        return
    place = places[without[0].question_id, None]
    named = next(trace for trace in traces if trace.trial is not None)
    raise InputError(
        f"{place}: question {without[0].question_id!r} has no trial, though other "
        f"traces have one ({places[named.question_id, named.trial]}: trial "
        f"{named.trial!r}); give every trace its trial, or none"
    )
