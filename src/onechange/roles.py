"""`Table` -> `Results`: which column plays which role, and what each row then says.

Roles that were not declared are inferred from the cells and told in a note:

- a column whose non-missing cells are all numbers or booleans is a metric;
- a column in which at least half of them are, and the rest is text, is refused:
  either a cell is wrong, or the role has to be declared;
- any other column holds labels; a constant one is a setting of the arm, too, unless
  its name speaks of questions, answers or notes;
- a constant number is a setting when its name says so (``top_k``), else a metric;
- names that end in ``_id``, ``answer`` and the like are labels even when all their
  cells look like numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onechange import cells
from onechange.cells import is_number
from onechange.display import shorten
from onechange.errors import InputError
from onechange.results import Columns, FloatArray
from onechange.stats.estimate import Note
from onechange.tables import Column, Table

__all__ = ["Roles", "find_roles", "setting_value"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ALWAYS_SETTINGS = _words(
    "temp temperature top_p top_k topk seed max_tokens max_new_tokens chunk_size "
    "chunk_overlap n_shots num_fewshot frequency_penalty presence_penalty num_beams "
    "beam_width context_window model model_name model_id model_version"
)
_SETTING_WORDS = _words(
    "k temp temperature seed size overlap depth limit budget version window shots "
    "shot fewshot beams penalty dim dims dimensions epochs top topk topp"
)
_LABEL_ENDINGS = _words(
    "id ids uuid guid hash sha256 timestamp tstamp date datetime index idx"
)
_TEXT_ENDINGS = _words(
    "answer answers response output outputs completion prediction gold gt reference "
    "expected truth target question query input prompt text context contexts "
    "reason reasoning explanation comment comments"
)
_LOOSE_ENDINGS = _TEXT_ENDINGS | _words(
    "note notes name title label labels section type category url tags"
)
# Scores that `onechange score` computes, whatever their last word.
_COMPUTED = _words("evidence_in_context cited_in_context false_answer")
# What a trace holds about one question: never a setting, even when all rows agree.
_OF_QUESTIONS = _words(
    "evidence retrieved selected candidates claims cited citations reference request "
    "reference_claims supporting_facts reference_facts cosines answerable category "
    "error failure_category failure_missing unscored_because"
)
# Endings of labels that may well be settings when they are constant.
_MAYBE_SETTINGS = _words("name type prompt context contexts input output target")
_SHOWN = 8  # names listed in a note


@dataclass(slots=True)
class Roles:
    """Names of the columns by role.

    Parameters
    ----------
    question_id : str
        Column of the ids.
    trial, status, judge_trial : str or None
        Columns of the trial labels, the status words and the gradings.
    metrics : dict of str to str
        Metric name to column name.
    scores : dict of str to ndarray of float, each of shape (n_rows,)
        Scores of each metric; NaN means unscored.
    labels : list of str
        Columns of labels.
    settings : dict
        Settings of the arm that columns hold.
    notes : list of Note
        What was inferred.
    """

    question_id: str
    trial: str | None
    status: str | None
    judge_trial: str | None = None
    metrics: dict[str, str] = field(default_factory=dict)
    scores: dict[str, FloatArray] = field(default_factory=dict)
    labels: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)


def find_roles(table: Table, columns: Columns) -> Roles:
    """Decide the role of every column: the declared ones first, then the rest.

    Parameters
    ----------
    table : Table
        Columns of one arm.
    columns : Columns
        Declared roles.

    Returns
    -------
    Roles

    Raises
    ------
    InputError
        When a declared column is absent, or a metric column holds text.
    """
    if table.n_rows == 0:
        raise InputError(
            f"{table.name}: no questions; it holds a header or nothing at all. "
            "Expected one row per question."
        )
    roles = Roles(
        question_id=_id_column(table, columns.question_id),
        trial=_optional_column(table, columns.trial, "trial"),
        status=_optional_column(table, columns.status, "status"),
    )
    if columns.judge_trial is not None:
        name = _optional_column(table, columns.judge_trial, "judge-trial")
        roles.judge_trial = name
    missing = cells.missing_words(columns.missing)
    declared = [
        name for name in columns.metrics if _source(columns, name) in table.columns
    ]
    for name in declared:
        _add_metric(table, roles, name, _source(columns, name), missing)
    for label in (*columns.slices, columns.cluster):
        if label in table.columns and label not in roles.labels:
            roles.labels.append(str(label))
    for name in columns.settings:
        if name in table.columns:
            _add_setting(table, roles, name)
    taken = {roles.question_id, roles.trial, roles.status, roles.judge_trial}
    taken |= {*roles.labels, *roles.metrics.values(), *columns.settings}
    rest = [name for name in table.columns if name not in taken]
    _infer(table, roles, columns, rest, missing)
    return roles


def setting_value(value: Any) -> Any:
    """Plain value of a setting; text that is a plainly written number becomes one.

    Parameters
    ----------
    value : object
        Cell of a column, or a value of a sidecar file.

    Returns
    -------
    None, bool, int, float, str, list or dict

    Examples
    --------
    >>> [setting_value(text) for text in ("3", "0.01", "1.10", "007", "gpt-4")]
    [3, 0.01, '1.10', '007', 'gpt-4']
    """
    if isinstance(value, str) and is_number(value):
        for number in (int, float):
            try:
                if str(number(value)) == value:
                    return number(value)
            except ValueError:
                continue
        return value
    if isinstance(value, str) and value.casefold() in ("true", "false"):
        return value.casefold() == "true"
    return cells.plain_value(value)


def _id_column(table: Table, declared: str | None) -> str:
    name = declared or "question_id"
    if name in table.columns:
        return name
    raise InputError(
        f'{table.name}: no column "{name}"; found: {_listed(table.columns)}. '
        f"{_unique_columns(table)}{_aggregate_hint(table)}"
    )


def _optional_column(table: Table, declared: str | None, usual: str) -> str | None:
    if declared is None:
        return usual if usual in table.columns else None
    if declared not in table.columns:
        raise InputError(
            f'{table.name}: no {usual} column "{declared}"; found: '
            f"{_listed(table.columns)}. Name another with --{usual}, or leave it out."
        )
    return declared


def _source(columns: Columns, name: str) -> str:
    return columns.metric_columns.get(name, name)


def _unique_columns(table: Table) -> str:
    unique = []
    for name, column in list(table.columns.items())[:200]:
        ids = column.ids().tolist()
        if None not in ids and len(set(ids)) == len(ids):
            unique.append(name)
    if not unique:
        return "No column has a different value in every row."
    return f"Different in every row: {_listed(unique)}. Name the id column with --id."


def _aggregate_hint(table: Table) -> str:
    names = {name.casefold() for name in table.columns}
    if (
        names <= {"metric", "name", "score", "value", "mean", "std"}
        or table.n_rows == 1
    ):
        return (
            " The file seems to hold totals only; a comparison needs the score of "
            "each question."
        )
    return ""


def _add_metric(
    table: Table, roles: Roles, name: str, column: str, missing: frozenset[str]
) -> None:
    scores, refused = table.columns[column].scores(missing)
    if refused.any():
        _refuse_text(table, column, int(np.flatnonzero(refused)[0]), declared=True)
    roles.metrics[name] = column
    roles.scores[name] = scores


def _refuse_text(table: Table, column: str, row: int, *, declared: bool) -> None:
    value = cells.label_text(table.columns[column].value(row)) or ""
    shown = value if len(value) <= 60 else value[:57] + "..."
    way_out = f'if "{shown}" means "unscored", add it to `missing` in the plan'
    if not declared:
        way_out += f"; if {column} is no metric, declare it with --slice {column}"
    raise InputError(
        f'{table.place(row)}: "{column}" is "{shown}"; expected a number, true or '
        f"false, or nothing. Mend the cell; {way_out}."
    )


def _add_setting(table: Table, roles: Roles, name: str) -> None:
    column = table.columns[name]
    tally = column.tally()
    if tally is None:
        distinct = list(dict.fromkeys(column.texts().tolist()))
        values: list[Any] = [column.value(0)] if len(distinct) == 1 else distinct
    else:
        values = list(tally)
    if len(values) == 1:
        roles.settings[name] = setting_value(values[0])
        return
    found = sorted("" if value is None else str(value) for value in values)
    roles.settings[name] = found[:_SHOWN]
    more = ", ..." if len(found) > _SHOWN else ""
    roles.notes.append(
        Note(
            "settings-vary",
            f"{name} has {len(found)} values within the arm: "
            f"{', '.join(found[:_SHOWN])}{more}.",
        )
    )


def _infer(
    table: Table,
    roles: Roles,
    columns: Columns,
    names: Sequence[str],
    missing: frozenset[str],
) -> None:
    metric_names = {column: name for name, column in columns.metric_columns.items()}
    inferred: dict[str, list[str]] = {"metrics": [], "settings": [], "labels": []}
    constant: list[str] = []
    for name in names:
        column = table.columns[name]
        verdict = _verdict(name, column, missing)
        if verdict.first_text is not None and not columns.metrics:
            _refuse_text(table, name, verdict.first_text, declared=False)
        if verdict.setting:
            _add_setting(table, roles, name)
            inferred["settings"].append(name)
        if verdict.scores is not None and not verdict.setting and not columns.metrics:
            metric = metric_names.get(name, name)
            roles.metrics[metric] = name
            roles.scores[metric] = verdict.scores
            inferred["metrics"].append(metric)
            if verdict.constant:
                constant.append(metric)
        elif verdict.label:
            roles.labels.append(name)
            if not verdict.setting:
                inferred["labels"].append(name)
    _note_inferred(roles, inferred, constant)


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What the cells of one undeclared column look like."""

    scores: FloatArray | None = None
    label: bool = False
    setting: bool = False
    constant: bool = False
    first_text: int | None = None


def _verdict(name: str, column: Column, missing: frozenset[str]) -> _Verdict:
    words = [word for word in re.split(r"[^a-z0-9]+", name.casefold()) if word]
    ending = words[-1] if words else ""
    always = "_".join(words) in _ALWAYS_SETTINGS
    about_questions = "question" in words or words in (["qtype"], ["type"])
    could_be = not about_questions and ending not in _LOOSE_ENDINGS - _MAYBE_SETTINGS
    of_question = name.split(".")[0] in _OF_QUESTIONS
    could_be = could_be and not (of_question or _is_list(column.value(0)))
    looks_like_text = cells.score_value(column.value(0), missing) is None
    tally = column.tally() if looks_like_text else None  # quicker for labels
    if tally is not None:
        n_rows = sum(tally.values())
        n_text, n_present = _count_texts(tally, missing)
        if n_text and (2 * n_text > n_present or ending in _LOOSE_ENDINGS or always):
            constant = len(tally) == 1 and n_rows > 1
            return _Verdict(label=True, setting=always or (constant and could_be))
    scores, refused = column.scores(missing)
    present = ~np.isnan(scores)
    n_text, n_numbers = int(refused.sum()), int(present.sum())
    if n_text and (n_text > n_numbers or ending in _LOOSE_ENDINGS or always):
        constant = scores.size > 1 and len(set(column.texts().tolist())) == 1
        return _Verdict(label=True, setting=always or (constant and could_be))
    if n_text:
        return _Verdict(label=True, first_text=int(np.flatnonzero(refused)[0]))
    by_ending = ending in _LABEL_ENDINGS | _TEXT_ENDINGS and name not in _COMPUTED
    empty = of_question and n_numbers == 0
    if name.startswith("(column ") or by_ending or empty:
        return _Verdict(label=True)
    constant = scores.size > 1 and bool(present.all() and np.all(scores == scores[0]))
    odd = constant and scores[0] not in (0.0, 1.0)
    by_name = odd and not _SETTING_WORDS.isdisjoint(words)
    setting = (always and n_numbers > 0) or by_name
    return _Verdict(scores=scores, setting=setting, constant=odd)


def _is_list(value: object) -> bool:
    """Whether a cell holds a list, also when it is written as JSON text."""
    if isinstance(value, str):
        text = value.strip()
        return text.startswith("[") and text.endswith("]")
    return isinstance(value, list | tuple)


def _count_texts(tally: dict[str, int], missing: frozenset[str]) -> tuple[int, int]:
    """Cells that are neither missing nor scores, and cells that are not missing."""
    n_text = n_present = 0
    for text, count in tally.items():
        score = cells.score_value(text, missing)
        if score is None:
            n_text += count
        if score is None or not math.isnan(score):
            n_present += count
    return n_text, n_present


def _note_inferred(
    roles: Roles, inferred: dict[str, list[str]], constant: Iterable[str]
) -> None:
    parts = [f"{role}: {_listed(names)}" for role, names in inferred.items() if names]
    if not parts:
        return
    text = f"Roles read from the columns: {'; '.join(parts)}."
    odd = list(constant)
    if odd:
        text += (
            f" {_listed(odd)}: one value in every row, taken as a metric; declare a "
            "setting with --setting."
        )
    roles.notes.append(Note("role-inferred", text))


def _listed(names: Iterable[str]) -> str:
    found = [shorten(str(name), 60) for name in names]
    shown = ", ".join(found[: 2 * _SHOWN])
    if len(found) > 2 * _SHOWN:
        shown += f" and {len(found) - 2 * _SHOWN} more"
    return shown
