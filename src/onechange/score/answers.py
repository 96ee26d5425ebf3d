"""Scores of an answer against references: SQuAD, ROUGE-L, HotpotQA, abstention."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from onechange.errors import MethodError

__all__ = [
    "FactScores",
    "abstention_scores",
    "exact_match",
    "joint_scores",
    "normalise",
    "rouge_l",
    "supporting_fact_scores",
    "token_f1",
]

Fact = tuple[str, int]

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_CLOSED_ANSWERS = ("yes", "no", "noanswer")


@dataclass(frozen=True, slots=True)
class FactScores:
    """Supporting facts found against those labelled, each between 0 and 1."""

    exact_match: float
    f1: float
    precision: float
    recall: float


def normalise(text: str) -> str:
    """Normalise a text as the SQuAD evaluation does.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        Lower case, without ASCII punctuation and the articles a, an, the, white
        space collapsed.

    Notes
    -----
    Rajpurkar et al. 2016. Punctuation is deleted, not replaced by a space, so
    "state-of-the-art" becomes one word; other than ASCII punctuation stays.

    Examples
    --------
    >>> normalise("The   U.S.A.")
    'usa'
    """
    bare = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def exact_match(answer: str, references: Sequence[str]) -> float:
    """Compare an answer with the references after normalisation.

    Parameters
    ----------
    answer : str
    references : sequence of str
        Accepted answers, at least one.

    Returns
    -------
    float
        1 if the answer equals some reference, else 0.

    Raises
    ------
    MethodError
        Without a reference.

    Examples
    --------
    >>> exact_match("An apple a day", ["apple day"])
    1.0
    """
    _require_references(references)
    given = normalise(answer)
    return float(any(given == normalise(reference) for reference in references))


def token_f1(answer: str, references: Sequence[str]) -> float:
    """Compare the words of an answer with each reference; the best F1 counts.

    Parameters
    ----------
    answer : str
    references : sequence of str
        Accepted answers, at least one.

    Returns
    -------
    float
        Between 0 and 1; 1 when both are empty, 0 when one is.

    Raises
    ------
    MethodError
        Without a reference.

    Notes
    -----
    Words are counted with multiplicity. precision = common / words of the answer,
    recall = common / words of the reference, F1 their harmonic mean.

    Examples
    --------
    >>> token_f1("The thesis is worth 30 ECTS credits", ["30 ECTS"])
    0.5
    """
    _require_references(references)
    given = normalise(answer).split()
    return max(_overlap(given, normalise(r).split())[2] for r in references)


def rouge_l(answer: str, references: Sequence[str]) -> float:
    """Return the best ROUGE-L F-measure over the references.

    Parameters
    ----------
    answer : str
    references : sequence of str
        Accepted answers, at least one.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    MethodError
        Without a reference, or when the package ``rouge-score`` is not installed.

    Notes
    -----
    Longest common subsequence of words without stemming, computed by the
    ``rouge-score`` package (Lin 2004).
    """
    _require_references(references)
    scorer = _rouge_scorer()
    return max(
        float(scorer.score(reference, answer)["rougeL"].fmeasure)
        for reference in references
    )


def supporting_fact_scores(
    predicted: Collection[Fact], gold: Collection[Fact]
) -> FactScores:
    """Compare predicted with labelled supporting facts, as sets.

    Parameters
    ----------
    predicted, gold : collection of (str, int)
        (title, sentence number) pairs.

    Returns
    -------
    FactScores

    Raises
    ------
    MethodError
        When no fact is labelled: the question is unscored.

    Notes
    -----
    The HotpotQA evaluation (Yang et al. 2018).

    Examples
    --------
    >>> supporting_fact_scores([("A", 0), ("B", 1)], [("A", 0), ("B", 2)]).f1
    0.5
    """
    found, wanted = set(predicted), set(gold)
    if not wanted:
        raise MethodError("no supporting fact is labelled; the question is unscored")
    common = len(found & wanted)
    precision = common / len(found) if found else 0.0
    recall = common / len(wanted)
    return FactScores(
        exact_match=float(found == wanted),
        f1=_harmonic(precision, recall),
        precision=precision,
        recall=recall,
    )


def joint_scores(
    answer: str, references: Sequence[str], facts: FactScores
) -> tuple[float, float]:
    """Combine answer and supporting facts into joint exact match and joint F1.

    Parameters
    ----------
    answer : str
    references : sequence of str
        Accepted answers; the one with the best answer F1 counts.
    facts : FactScores
        From `supporting_fact_scores`.

    Returns
    -------
    tuple of float
        Joint exact match and joint F1.

    Notes
    -----
    joint precision = answer precision × fact precision, likewise recall; joint F1
    is their harmonic mean. As in the HotpotQA evaluation, when either text is "yes",
    "no" or "noanswer" the answer part counts only if both agree.

    Examples
    --------
    >>> facts = supporting_fact_scores([("A", 0)], [("A", 0)])
    >>> joint_scores("the city of Paris", ["Paris"], facts)
    (0.0, 0.5)
    """
    _require_references(references)
    given = normalise(answer)
    parts = []
    for reference in map(normalise, references):
        closed = given in _CLOSED_ANSWERS or reference in _CLOSED_ANSWERS
        if closed and given != reference:
            parts.append((0.0, 0.0, 0.0))
        else:
            parts.append(_overlap(given.split(), reference.split()))
    precision, recall, _ = max(parts, key=lambda part: part[2])
    joint_f1 = _harmonic(precision * facts.precision, recall * facts.recall)
    return exact_match(answer, references) * facts.exact_match, joint_f1


def abstention_scores(*, abstained: bool, answerable: bool) -> dict[str, float]:
    """Score whether the system abstained exactly when it had to.

    Parameters
    ----------
    abstained : bool
        Whether the system said that the evidence is insufficient.
    answerable : bool
        Whether the corpus holds an answer.

    Returns
    -------
    dict of str to float
        ``abstention_correct``, ``false_answer`` (answered an unanswerable question)
        and ``false_abstention``; the three add up to 1.

    Examples
    --------
    >>> abstention_scores(abstained=False, answerable=False)["false_answer"]
    1.0
    """
    return {
        "abstention_correct": float(abstained != answerable),
        "false_answer": float(not abstained and not answerable),
        "false_abstention": float(abstained and answerable),
    }


def _overlap(given: list[str], wanted: list[str]) -> tuple[float, float, float]:
    """Precision, recall and F1 of two lists of words."""
    if not given or not wanted:
        both_empty = float(given == wanted)
        return both_empty, both_empty, both_empty
    common = (Counter(given) & Counter(wanted)).total()
    precision, recall = common / len(given), common / len(wanted)
    return precision, recall, _harmonic(precision, recall)


def _harmonic(precision: float, recall: float) -> float:
    total = precision + recall
    return 2.0 * precision * recall / total if total > 0 else 0.0


def _require_references(references: Sequence[str]) -> None:
    if not references:
        raise MethodError("no reference answer is given; the answer is unscored")


@cache
def _rouge_scorer() -> Any:
    try:
        scorers = import_module("rouge_score.rouge_scorer")
    except ImportError as error:
        raise MethodError(
            "rouge_l needs the package rouge-score; "
            "install it with: pip install 'onechange[rouge]'"
        ) from error
    return scorers.RougeScorer(["rougeL"], use_stemmer=False)
