"""One recorded execution of the pipeline on one question: the trace and its parts.

The field names are those of `docs/scores.md`; other names are mapped by
`TraceFields` before a record comes here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "ANSWERED",
    "CLAIM_LABELS",
    "FAILED",
    "INSUFFICIENT_EVIDENCE",
    "ROUNDING",
    "STATUSES",
    "Claim",
    "Page",
    "Passages",
    "Trace",
    "Unit",
    "finite_number",
    "in_range",
]

Page = tuple[str, int]
Unit = str | Page

ANSWERED = "answered"
INSUFFICIENT_EVIDENCE = "insufficient_evidence"
FAILED = "failed"
STATUSES = (ANSWERED, INSUFFICIENT_EVIDENCE, FAILED)

ROUNDING = 1e-6  # what a number that another tool wrote may be off by
CLAIM_LABELS = ("supported", "contradicted", "unsupported")


def in_range(value: float, low: float, high: float) -> float | None:
    """Return a number that lies in a range up to rounding, cut to it; else None.

    Parameters
    ----------
    value, low, high : float

    Returns
    -------
    float or None

    Examples
    --------
    >>> in_range(1.0000001, -1.0, 1.0), in_range(1.001, -1.0, 1.0)
    (1.0, None)
    """
    width = high - low
    slack = ROUNDING * (max(1.0, width) if math.isfinite(width) else 1.0)
    if not low - slack <= value <= high + slack:
        return None
    return min(max(value, low), high)


def finite_number(value: object) -> float | None:
    """Return a JSON number, or true as 1 and false as 0, when it is finite.

    Parameters
    ----------
    value : object

    Returns
    -------
    float or None
        None for anything else, also for an integer beyond the double range.

    Examples
    --------
    >>> [finite_number(value) for value in (2, True, 10**400, float("nan"), "2")]
    [2.0, 1.0, None, None, None]
    """
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


@dataclass(frozen=True, slots=True)
class Passages:
    """An ordered list of results, best first; entry i of each field is result i.

    Parameters
    ----------
    ids : tuple of str or None
        Chunk ids; None when the list names none.
    pages : tuple of (str, int) or None
        Page of each result: document name and one-based page number.
    documents : tuple of str or None
        Document of each result.
    texts : tuple of (str or None), or None
        Text of each result, where recorded.
    """

    ids: tuple[str, ...] | None = None
    pages: tuple[Page, ...] | None = None
    documents: tuple[str, ...] | None = None
    texts: tuple[str | None, ...] | None = None

    def __len__(self) -> int:
        for part in (self.ids, self.pages, self.documents):
            if part is not None:
                return len(part)
        return 0


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of an answer, labelled by a person or a judge.

    Parameters
    ----------
    label : str
        ``supported``, ``contradicted`` or ``unsupported``.
    text : str or None
        The claim itself.
    step : str or None
        Step of a multi-step run that made the claim.
    cited : tuple of unit or None
        What the claim cites, without repeats; None when not recorded.
    supporting : tuple of unit or None
        What supports the claim; None when not recorded.
    needs_citation : bool
        Whether the claim needs a citation.
    """

    label: str
    text: str | None = None
    step: str | None = None
    cited: tuple[Unit, ...] | None = None
    supporting: tuple[Unit, ...] | None = None
    needs_citation: bool = True


# Not frozen: files hold a hundred thousand of them, and a frozen one takes four times
# as long to make. Nothing changes a trace once it is made.
@dataclass(slots=True, eq=False)
class Trace:
    """What the pipeline did on one question in one trial; None = not recorded.

    Parameters
    ----------
    question_id : str
        Identifies the question in both arms.
    trial : str or None
        Label of the repeated execution.
    status : str or None
        ``answered``, ``insufficient_evidence`` or ``failed``; None for a trace of
        retrieval alone.
    error : str or None
        What broke, for a failed trace.
    question, answer : str or None
        Texts.
    reference : tuple of str or None
        Accepted reference answers.
    answerable : bool or None
        Whether the corpus holds an answer.
    evidence : mapping of unit to float, or None
        Labelled units with their grades (a plain label is grade 1, grade 0 is
        labelled irrelevant); None when the question is not labelled.
    candidates, retrieved, selected : Passages or None
        First-stage candidates, ranked results, and the context the model saw.
    claims : tuple of Claim or None
        Labelled claims of the answer.
    reference_claims : tuple of bool or None
        For each claim of the reference: is it attributable to the context?
    cited : tuple of unit or None
        What the answer as a whole cites.
    supporting_facts, reference_facts : frozenset of (str, int), or None
        Predicted and labelled (title, sentence) pairs.
    cosines : tuple of float or None
        Similarity of generated questions with the question.
    correct : float or None
        Correctness as labelled by a person or a judge, 0 to 1.
    scores : mapping of str to float
        Finished scores from elsewhere; a null entry is left out.
    evidence_in_corpus, evidence_in_one_chunk : bool or None
        Whether the corpus holds the evidence, and some chunk holds all of it.
    category : str or None
        Failure category given by a person.
    extra : mapping
        Every further field, as it came.
    """

    question_id: str
    trial: str | None = None
    status: str | None = None
    error: str | None = None
    question: str | None = None
    answer: str | None = None
    reference: tuple[str, ...] | None = None
    answerable: bool | None = None
    evidence: Mapping[Unit, float] | None = None
    candidates: Passages | None = None
    retrieved: Passages | None = None
    selected: Passages | None = None
    claims: tuple[Claim, ...] | None = None
    reference_claims: tuple[bool, ...] | None = None
    cited: tuple[Unit, ...] | None = None
    supporting_facts: frozenset[tuple[str, int]] | None = None
    reference_facts: frozenset[tuple[str, int]] | None = None
    cosines: tuple[float, ...] | None = None
    correct: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    evidence_in_corpus: bool | None = None
    evidence_in_one_chunk: bool | None = None
    category: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def abstained(self) -> bool:
        """True when the system said that the evidence is insufficient."""
        return self.status == INSUFFICIENT_EVIDENCE

    @property
    def failed(self) -> bool:
        """True when the run or the evaluator broke on this question."""
        return self.status == FAILED
