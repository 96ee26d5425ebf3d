"""SQuAD predictions, scored against the right answers by exact match and F1."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.peek import Peek, first, peek
from onechange.formats.rows import Row, text_of
from onechange.formats.source import Document, load, parse_json
from onechange.results import UNSCORED, Columns, Results
from onechange.stats.estimate import Note

__all__ = ["LOOKS_FOR", "NAME", "exact_match", "f1", "read", "sniff"]

NAME = "squad"
LOOKS_FOR = "a JSON object of id: answer text (or of n-best lists) named *predictions*"

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def sniff(seen: Peek) -> bool:
    """Whether a JSON file looks like SQuAD predictions.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    if seen.kind != "json" or not seen.keys or "prediction" not in seen.path.name:
        return False
    values = list(seen.value.values())
    if all(isinstance(value, str) for value in values):
        return True
    best = first(values[0]) if isinstance(values[0], list) else None
    return isinstance(best, dict) and "text" in best


def read(
    path: Path, *, columns: Columns, gold: Path | None = None
) -> dict[str, Results]:
    """Score predictions: one row per question of the gold file.

    Parameters
    ----------
    path : Path
        Predictions, ``{id: text}`` or ``{id: [{text, ...}, ...]}`` (best first).
    columns : Columns
        Roles of columns.
    gold : Path, optional
        SQuAD file with the right answers; None takes the only one beside the
        predictions.

    Returns
    -------
    dict of str to Results
        One system, named as its file.

    Raises
    ------
    InputError
        When there is no gold file, or it shares no id with the predictions.

    Notes
    -----
    A question without a prediction is unscored; an empty prediction says "no answer"
    and is right when the question has none.
    """
    document = load(path)
    predictions = _predictions(document)
    gold_path, notes = _gold_path(path, gold)
    gold_document = load(gold_path)
    rows = []
    for question, entry in _questions(gold_document).items():
        row = Row(question, f'question "{question}"')
        answers = [str(answer.get("text")) for answer in entry.get("answers") or []]
        row.labels = {
            "question": text_of(entry.get("question")),
            "reference": text_of(answers[0]) if answers else None,
            "response": predictions.get(question),
        }
        if question in predictions:
            row.metrics["exact_match"] = exact_match(predictions[question], answers)
            row.metrics["f1"] = f1(predictions[question], answers)
        else:
            row.status = UNSCORED
        rows.append(row)
    absent = sum(row.status == UNSCORED for row in rows)
    if absent == len(rows):
        raise InputError(
            f"{document.name}: none of its ids is in {gold_path.name}; name the right "
            "answers with --gold."
        )
    if absent:
        notes.append(
            Note(
                "absent-prediction",
                f"squad: {absent} of {len(rows)} questions have no prediction and are "
                "unscored.",
            )
        )
    extra = len(predictions.keys() - {row.question_id for row in rows})
    if extra:
        notes.append(
            Note(
                "absent-question",
                f"squad: {extra} predictions have no question in {gold_path.name}.",
            )
        )
    results = build(
        path.stem,
        rows,
        files=[document.file, gold_document.file],
        notes=notes,
        columns=columns,
    )
    return {path.stem: results}


def exact_match(prediction: str, answers: Sequence[str]) -> float:
    """Whether a prediction equals an answer but for case, articles and punctuation.

    Parameters
    ----------
    prediction : str
        Text; empty means "no answer".
    answers : sequence of str
        Right answers; empty when there is none.

    Returns
    -------
    float
        1.0 or 0.0.

    Examples
    --------
    >>> exact_match("The  Eiffel Tower.", ["eiffel tower"]), exact_match("", [])
    (1.0, 1.0)
    """
    found = _normal(prediction)
    return float(any(found == _normal(answer) for answer in _nonempty(answers)))


def f1(prediction: str, answers: Sequence[str]) -> float:
    """F1 of the words a prediction shares with the nearest answer.

    Parameters
    ----------
    prediction : str
        Text; empty means "no answer".
    answers : sequence of str
        Right answers; empty when there is none.

    Returns
    -------
    float
        Between 0 and 1; 1 or 0 when either side is empty.

    Examples
    --------
    >>> round(f1("tall Eiffel tower", ["the Eiffel tower"]), 3)
    0.8
    """
    return max(_f1(_normal(prediction), _normal(text)) for text in _nonempty(answers))


def _f1(prediction: str, answer: str) -> float:
    words, wanted = prediction.split(), answer.split()
    if not words or not wanted:
        return float(words == wanted)
    shared = (Counter(words) & Counter(wanted)).total()
    return 2 * shared / (len(words) + len(wanted))


def _nonempty(answers: Sequence[str]) -> Sequence[str]:
    return [answer for answer in answers if _normal(answer)] or [""]


def _normal(text: str) -> str:
    bare = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def _predictions(document: Document) -> dict[str, str]:
    whole = parse_json(document.text, name=document.name)
    if not isinstance(whole, dict):
        raise InputError(f"{document.name}: expected an object of id: text.")
    found = {}
    for key, value in whole.items():
        best = first(value) if isinstance(value, list) else value
        text = best.get("text") if isinstance(best, Mapping) else best
        if not isinstance(text, str):
            raise InputError(f'{document.name}: "{key}": expected a text.')
        found[key] = text
    return found


def _questions(document: Document) -> dict[str, Mapping[str, Any]]:
    whole = parse_json(document.text, name=document.name)
    data = whole.get("data") if isinstance(whole, dict) else None
    if not isinstance(data, list):
        raise InputError(f"{document.name}: expected a SQuAD file with data.")
    found: dict[str, Mapping[str, Any]] = {}
    for article in data:
        for paragraph in article.get("paragraphs") or []:
            for entry in paragraph.get("qas") or []:
                key = str(entry.get("id"))
                if key in found:
                    raise InputError(f'{document.name}: the id "{key}" occurs twice.')
                found[key] = entry
    return found


def _gold_path(path: Path, gold: Path | None) -> tuple[Path, list[Note]]:
    if gold is not None:
        return gold, []
    beside = []
    for entry in sorted(path.parent.glob("*.json")):
        if entry != path and entry.is_file():
            data = peek(entry).value
            data = data.get("data") if isinstance(data, dict) else None
            article = first(data)
            if isinstance(article, dict) and "paragraphs" in article:
                beside.append(entry)
    if len(beside) != 1:
        found = ", ".join(entry.name for entry in beside) or "none"
        raise InputError(
            f"{path.name}: predictions need the right answers; name the SQuAD file "
            f"with --gold (beside the predictions: {found})."
        )
    note = Note(
        "role-inferred", f'squad: right answers were taken from "{beside[0].name}".'
    )
    return beside[0], [note]
