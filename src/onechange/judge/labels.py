"""Human labels: which questions to label, and reading the labels back."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onechange.cells import question_text, score_value
from onechange.errors import InputError, MethodError
from onechange.judge.guard import unguarded

__all__ = [
    "ARMS",
    "DrawnQuestion",
    "HumanLabel",
    "draw_for_audit",
    "label_sheet",
    "outcome_strata",
    "read_labels",
]

FloatArray = NDArray[np.float64]

ARMS = ("baseline", "variant")
NO_STRATUM = "(none)"
_LEAST_PER_STRATUM = 2
_LABEL_COLUMNS = ("label", "human_label", "human")


@dataclass(frozen=True, slots=True)
class HumanLabel:
    """One label by a person.

    Parameters
    ----------
    question_id : str
    arm : {"baseline", "variant"}
    label : float
        On the scale of the judge.
    weight : float or None
        How many questions the labelled one stands for.
    trial : str or None
        Trial of the labelled answer; None for the question as a whole, or its one
        trial.
    """

    question_id: str
    arm: str
    label: float
    weight: float | None = None
    trial: str | None = None


@dataclass(frozen=True, slots=True)
class DrawnQuestion:
    """A question drawn for labelling, and how many it stands for."""

    question_id: str
    stratum: str
    weight: float


def draw_for_audit(
    question_id: Sequence[str],
    n: int,
    *,
    strata: Sequence[str | None] | None = None,
    seed: int = 7,
) -> tuple[DrawnQuestion, ...]:
    """Draw a stratified random sample of questions for labelling.

    Parameters
    ----------
    question_id : sequence of str
        Questions to choose from, without repeats.
    n : int
        How many to draw; all when there are fewer.
    strata : sequence of (str or None), optional
        Stratum of each question; None stands in a stratum of its own.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    tuple of DrawnQuestion
        Sorted by stratum and id; the order of the questions given does not matter.

    Raises
    ------
    MethodError
        If `n` is below 1, an id repeats or the lengths differ.

    Notes
    -----
    Each stratum gets two places (one when it holds a single question), the rest is
    shared in proportion to the sizes by largest remainders. The weight of a question
    is the size of its stratum over the number drawn from it. With more strata than
    places the sample is drawn without strata.

    Examples
    --------
    >>> drawn = draw_for_audit(["q1", "q2", "q3", "q4"], 2, seed=1)
    >>> [question.weight for question in drawn]
    [2.0, 2.0]
    """
    if n < 1:
        raise MethodError(f"{n} questions asked for; expected 1 or more")
    if len(set(question_id)) < len(question_id):
        raise MethodError("a question stands twice among those to draw from")
    names = [NO_STRATUM] * len(question_id)
    if strata is not None:
        if len(strata) != len(question_id):
            raise MethodError("strata must name one stratum a question")
        names = [NO_STRATUM if name is None else name for name in strata]
    members: dict[str, list[str]] = {}
    for name, question in sorted(zip(names, question_id, strict=True)):
        members.setdefault(name, []).append(question)
    least = sum(min(_LEAST_PER_STRATUM, len(ids)) for ids in members.values())
    if least > n:
        members = {NO_STRATUM: sorted(question_id)}
    sizes = {name: len(ids) for name, ids in members.items()}
    places = _places(sizes, min(n, len(question_id)))
    rng = np.random.default_rng(seed)
    drawn = []
    for name, ids in members.items():
        chosen = rng.choice(len(ids), size=places[name], replace=False)
        weight = len(ids) / places[name]
        drawn += [DrawnQuestion(ids[i], name, weight) for i in sorted(chosen)]
    return tuple(drawn)


def outcome_strata(baseline: FloatArray, variant: FloatArray) -> list[str]:
    """Name the strata of a draw by what the judge says: gained, lost, tied.

    Parameters
    ----------
    baseline, variant : ndarray of float, shape (n_questions,)
        Judge scores; NaN is unscored.

    Returns
    -------
    list of str
        ``gained``, ``lost``, ``tied`` or ``unscored`` for each question.

    Examples
    --------
    >>> import numpy as np
    >>> outcome_strata(np.array([0.0, 1.0]), np.array([1.0, 1.0]))
    ['gained', 'tied']
    """
    names = []
    for change in np.asarray(variant, dtype=np.float64) - baseline:
        if math.isnan(change):
            names.append("unscored")
        else:
            names.append("gained" if change > 0 else "lost" if change < 0 else "tied")
    return names


def label_sheet(drawn: Sequence[DrawnQuestion]) -> list[dict[str, Any]]:
    """Return the rows of a sheet to fill in: one a drawn question and arm.

    Parameters
    ----------
    drawn : sequence of DrawnQuestion

    Returns
    -------
    list of dict
        Columns ``question_id``, ``arm``, ``label`` (empty) and ``weight``.

    Examples
    --------
    >>> label_sheet([DrawnQuestion("q1", "tied", 2.5)])[0]
    {'question_id': 'q1', 'arm': 'baseline', 'label': None, 'weight': 2.5}
    """
    return [
        {
            "question_id": question.question_id,
            "arm": arm,
            "label": None,
            "weight": question.weight,
        }
        for question in drawn
        for arm in ARMS
    ]


def read_labels(
    path: str | Path, *, arm_names: Mapping[str, str | None] | None = None
) -> tuple[HumanLabel, ...]:
    """Read human labels from a CSV, TSV or JSON Lines file.

    Parameters
    ----------
    path : str or Path
        Columns ``question_id``, ``arm``, ``label`` (or ``human_label``, ``human``) and
        optional ``trial`` and ``weight``. A row with an empty label is not labelled
        yet and is left out.
    arm_names : mapping of str to (str or None), optional
        Name in the file to ``baseline`` or ``variant``, next to these two words; None
        for an arm whose labels are passed over.

    Returns
    -------
    tuple of HumanLabel

    Raises
    ------
    InputError
        If the file cannot be read, a column is missing, or a cell is not of its form.
    """
    path = Path(path)
    known: dict[str, str | None] = {arm: arm for arm in ARMS}
    known |= arm_names or {}
    labels = []
    for place, row in _rows(path):
        column = next((name for name in _LABEL_COLUMNS if name in row), None)
        if column is None or "question_id" not in row or "arm" not in row:
            raise InputError(
                f"{place}: expected columns question_id, arm and label "
                f"(found: {', '.join(map(str, row))})"
            )
        label = _number(row[column], column, place)
        if label is None:
            continue
        question = question_text(unguarded(row["question_id"]))
        if question is None:
            raise InputError(f"{place}: question_id is {row['question_id']!r}")
        name = str(row["arm"]).strip()
        if name not in known:
            raise InputError(
                f"{place}: arm is {row['arm']!r}; expected {', '.join(known)}"
            )
        arm = known[name]
        if arm is None:
            continue
        weight = _weight(row.get("weight"), place)
        if weight is not None and weight <= 0:
            raise InputError(f"{place}: weight is {weight:g}; expected above 0")
        trial = question_text(unguarded(row.get("trial")))
        labels.append(HumanLabel(question, arm, label, weight, trial))
    if not labels:
        raise InputError(f"{path}: no row has a label")
    return tuple(labels)


def _places(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """Share n places among strata: the least each, then by largest remainders."""
    places = {name: min(_LEAST_PER_STRATUM, size) for name, size in sizes.items()}
    if sum(places.values()) > n:  # a single stratum of more than n < 2 questions
        places = dict.fromkeys(sizes, n)
    total = sum(sizes.values())
    while (left := n - sum(places.values())) > 0:
        open_ = [name for name in sizes if places[name] < sizes[name]]
        lack = {name: n * sizes[name] / total - places[name] for name in open_}
        for name in sorted(open_, key=lambda name: (-lack[name], name))[:left]:
            places[name] += 1
            break
    return places


def _number(value: object, name: str, place: str) -> float | None:
    """Finite number of a cell; None when it is empty."""
    number = score_value(value)
    if number is None or math.isinf(number):
        raise InputError(f"{place}: {name} is {value!r}; expected a finite number")
    return None if math.isnan(number) else number


def _weight(value: object, place: str) -> float | None:
    """Return the sampling weight of a cell; None only when it is empty."""
    weight = _number(value, "weight", place)
    if weight is None and value is not None and str(value).strip():
        raise InputError(
            f"{place}: weight is {value!r}; expected a number above 0, or nothing"
        )
    return weight


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield f"{path.name}:{number}", _object(line, path.name, number)
        return
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
        for row in reader:
            if None in row or None in row.values():
                raise InputError(
                    f"{path.name}:{reader.line_num}: has another number of cells than "
                    "the header"
                )
            yield f"{path.name}:{reader.line_num}", row
    except csv.Error as error:
        raise InputError(f"{path}: not a CSV table ({error})") from error


def _object(line: str, name: str, number: int) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}:{number}: not a JSON object ({error})") from error
    if not isinstance(record, dict):
        raise InputError(f"{name}:{number}: not a JSON object")
    return record
