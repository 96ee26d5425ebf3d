"""Traces -> `ScoredRows`: one row a question and trial, nothing dropped silently."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from onechange.display import TableMixin
from onechange.errors import InputError, PlanError
from onechange.score.families import Scoring, score_finished
from onechange.score.options import ScoreOptions
from onechange.score.outcome import categorise, score_outcome
from onechange.score.source import parse_traces, read_traces
from onechange.score.support import Step, supported_steps, supports_outcome
from onechange.score.texts import FINISHED_NAMES, row_texts
from onechange.score.trace import ROUNDING, Trace, finite_number
from onechange.score.units import label_unit
from onechange.stats.estimate import Note

__all__ = ["ScoreSummary", "ScoredRows", "score"]

_TAIL = ("failure_category", "failure_missing", "unscored_because")


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """How one score came out over all rows; the counts add up to the rows."""

    score: str
    mean: float | None
    n_scored: int
    n_unscored: int
    n_failed: int
    reasons: Mapping[str, int]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScoredRows(TableMixin):
    """Per-question scores of one set of traces.

    Parameters
    ----------
    columns : tuple of str
        Every column, in order.
    rows : tuple of dict
        One row a trace, in the order of the file; an unscored cell is None, and an
        empty text has no key.
    reasons : tuple of mapping
        For each row, score to the reason why it is unscored; the key ``*`` stands
        for all scores of a failed row.
    summaries : tuple of ScoreSummary
        One entry a score column.
    not_scored : mapping of str to str
        Scores that no trace supports, with the reason.
    settings : mapping
        Depths, unit and conventions that shaped the scores.
    notes : tuple of Note
        Every inference.
    """

    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    reasons: tuple[Mapping[str, str], ...]
    summaries: tuple[ScoreSummary, ...]
    not_scored: Mapping[str, str]
    settings: Mapping[str, Any]
    notes: tuple[Note, ...] = ()

    @property
    def score_columns(self) -> tuple[str, ...]:
        """Names of the columns that hold scores."""
        return tuple(summary.score for summary in self.summaries)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one summary a score, as plain values."""
        return [
            {
                "score": item.score,
                "mean": item.mean,
                "n_scored": item.n_scored,
                "n_unscored": item.n_unscored,
                "n_failed": item.n_failed,
            }
            for item in self.summaries
        ]


def score(
    traces: str | Path | Iterable[Mapping[str, Any] | Trace],
    *,
    options: ScoreOptions | None = None,
) -> ScoredRows:
    """Turn recorded traces into per-question scores.

    Parameters
    ----------
    traces : path, or iterable of mapping or Trace
        A JSON Lines file, or records; the fields are described in `docs/scores.md`.
    options : ScoreOptions, optional
        Depths, unit, conventions, names of the fields.

    Returns
    -------
    ScoredRows
        One row a question and trial, with every score that the traces support, and
        the reasons for those that they do not.

    Raises
    ------
    InputError
        If a record is not valid; the message names file, line, question and field.

    Examples
    --------
    >>> rows = score([{"question_id": "q1", "evidence": ["C4", "C11"],
    ...                "retrieved": ["C2", "C11", "C7", "C19", "C4"]}])
    >>> rows.rows[0]["recall_at_5"], rows.rows[0]["rr_at_5"]
    (1.0, 0.5)
    """
    options = ScoreOptions() if options is None else options
    with _collector_paused():
        if isinstance(traces, str | Path):
            records = read_traces(traces, options=options, one_form=True)
        else:
            records = parse_traces(traces, options=options, one_form=True)
        return _score_all(records, options)


def _score_all(records: Sequence[Trace], options: ScoreOptions) -> ScoredRows:
    unit, notes = _unit(records, options)
    notes += _citation_notes(records)
    steps, not_scored = supported_steps(records, options)
    walk = supports_outcome(records, options)
    if not walk:
        not_scored["outcome"] = "no trace records a context, correctness or claims"
    finished = [_finished(trace) for trace in records]
    scorings = [
        _score_one(trace, options, unit, steps, given, walk=walk)
        for trace, given in zip(records, finished, strict=True)
    ]
    return _assemble(scorings, options, unit, not_scored, notes, walk=walk)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Hold the cycle collector: nothing made here is cyclic, and its passes cost time.

    The collector visits every live object again and again while a million small ones
    are made, which doubles the time of a large file.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _unit(
    traces: Sequence[Trace], options: ScoreOptions
) -> tuple[str, tuple[Note, ...]]:
    if options.unit != "auto":
        return options.unit, ()
    unit = label_unit(traces)
    if unit == "chunk":
        return unit, ()
    text = f"Evidence is labelled by {unit}: results and labels are compared by {unit}."
    return unit, (Note("role-inferred", text),)


def _citation_notes(traces: Sequence[Trace]) -> tuple[Note, ...]:
    """Say when an answer cites other units than its claims do."""
    n = 0
    for trace in traces:
        if trace.cited is None or trace.claims is None:
            continue
        made = [claim.cited for claim in trace.claims if claim.cited is not None]
        n += bool(made) and {*trace.cited} != {unit for units in made for unit in units}
    if not n:
        return ()
    text = (
        f"{n} of {len(traces)} traces cite other units as a whole than in their "
        "claims; the citations of the claims are scored."
    )
    return (Note("citations-differ", text),)


def _finished(trace: Trace) -> Mapping[str, float]:
    """Finished scores, also those that stand beside the other fields."""
    if FINISHED_NAMES.isdisjoint(trace.extra):
        return trace.scores
    found = dict(trace.scores)
    for name in sorted(FINISHED_NAMES & trace.extra.keys()):
        value = trace.extra[name]
        if value is None:
            continue
        number = finite_number(value)
        if number is None:
            raise InputError(
                f"question {trace.question_id!r}: {name} is {value!r:.60}; "
                "expected a finite number or null"
            )
        if abs(found.setdefault(name, number) - number) > ROUNDING:
            raise InputError(
                f"question {trace.question_id!r}: {name} is {value!r}, but "
                f"scores.{name} is {found[name]!r}"
            )
    return found


def _score_one(
    trace: Trace,
    options: ScoreOptions,
    unit: str,
    steps: Sequence[Step],
    finished: Mapping[str, float],
    *,
    walk: bool,
) -> Scoring:
    scoring = Scoring.start(trace, options, unit)
    if trace.failed:
        scoring.reasons["*"] = "the run failed"
        return scoring
    for step in steps:
        step(scoring)
    if finished or trace.cosines is not None:
        score_finished(scoring, finished)
    if walk:
        score_outcome(scoring)
    return scoring


def _assemble(
    scorings: Sequence[Scoring],
    options: ScoreOptions,
    unit: str,
    not_scored: dict[str, str],
    notes: tuple[Note, ...],
    *,
    walk: bool,
) -> ScoredRows:
    values = _by_column([scoring.scores for scoring in scorings])
    summaries = []
    for name, column in values.items():
        summary = _summary(name, column, scorings)
        if summary.n_scored:
            summaries.append(summary)
        else:
            not_scored[name] = "; ".join(sorted(summary.reasons))
    columns = [summary.score for summary in summaries]
    reserved = frozenset((*columns, *_TAIL))
    by_row: Iterable[tuple[float | None, ...]] = [()] * len(scorings)
    if columns:
        by_row = zip(*(values[name] for name in columns), strict=True)
    rows = []
    for scoring, scores in zip(scorings, by_row, strict=True):
        row = row_texts(scoring.trace, options)
        if not reserved.isdisjoint(row):
            _refuse_name(scoring.trace, min(reserved & row.keys()))
        row.update(zip(columns, scores, strict=True))
        if walk:
            row["failure_category"], row["failure_missing"] = categorise(scoring)
        if scoring.reasons:
            row["unscored_because"] = _reason_text(scoring.reasons, columns)
        rows.append(row)
    return ScoredRows(
        columns=_used_columns(rows, columns),
        rows=tuple(rows),
        reasons=tuple(scoring.reasons for scoring in scorings),
        summaries=tuple(summaries),
        not_scored=not_scored,
        settings=options.settings(unit=unit),
        notes=notes,
    )


def _refuse_name(trace: Trace, name: str) -> NoReturn:
    way = "map it to category" if name in _TAIL else "put it under scores"
    raise PlanError(
        f"field {name} of question {trace.question_id!r} is also the name of a "
        f"computed column; rename it or {way}"
    )


def _by_column(
    tables: Sequence[Mapping[str, float | None]],
) -> dict[str, Sequence[float | None]]:
    """Turn scores by row into scores by column, a missing one being None."""
    names = _all_keys(tables)
    if all(list(table) == names for table in tables):
        columns = zip(*(table.values() for table in tables), strict=True)
        return dict(zip(names, columns, strict=True))
    return {name: [table.get(name) for table in tables] for name in names}


def _all_keys(mappings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Every key of some mappings, in order of first appearance."""
    seen: dict[str, None] = {}
    for mapping in mappings:
        if not mapping.keys() <= seen.keys():
            seen.update(dict.fromkeys(mapping))
    return list(seen)


def _summary(
    name: str,
    column: Sequence[float | None],
    scorings: Sequence[Scoring],
) -> ScoreSummary:
    values = [value for value in column if value is not None]
    failed = 0
    reasons: dict[str, int] = {}
    if len(values) < len(column):
        for scoring, value in zip(scorings, column, strict=True):
            if value is not None:
                continue
            if "*" in scoring.reasons:
                failed += 1
            else:
                reason = scoring.reasons.get(name, "not supported by this trace")
                reasons[reason] = reasons.get(reason, 0) + 1
    return ScoreSummary(
        score=name,
        mean=math.fsum(values) / len(values) if values else None,
        n_scored=len(values),
        n_unscored=sum(reasons.values()),
        n_failed=failed,
        reasons=reasons,
    )


def _reason_text(reasons: Mapping[str, str], columns: Sequence[str]) -> str | None:
    """Group the columns of one row by reason: "no answer was given: token_f1"."""
    if not reasons:
        return None
    if "*" in reasons:
        return reasons["*"]
    groups: dict[str, list[str]] = {}
    for name in columns:
        if name in reasons:
            groups.setdefault(reasons[name], []).append(name)
    return "; ".join(f"{why}: {', '.join(n)}" for why, n in groups.items()) or None


def _used_columns(
    rows: Sequence[Mapping[str, Any]], scores: Sequence[str]
) -> tuple[str, ...]:
    """Columns in order, without text columns that are empty in every row."""
    kept = [
        name
        for name in _all_keys(rows)
        if any(row.get(name) is not None for row in rows)
    ]
    texts = [name for name in kept if name not in scores]
    return (
        *(name for name in texts if name not in _TAIL),
        *scores,
        *(name for name in texts if name in _TAIL),
    )
