"""The questions of a simulated RAG experiment: their types, documents and texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.errors import InputError

__all__ = ["QUESTION_TYPES", "QuestionSet", "QuestionType", "make_questions"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class QuestionType:
    """How questions of one type behave in both arms.

    Parameters
    ----------
    name : str
        Label in the column ``question_type``.
    share : float
        Relative number of questions of this type.
    n_evidence : int
        Passages that are needed for the answer: 1 or 2; 0 makes the type
        unanswerable.
    findability : float
        Probability that the next rank of the retriever holds a given passage of
        evidence, so that ``1 - (1 - findability)**k`` is found within rank k.
    correct : tuple of float
        Probability of a correct answer in (baseline, variant) once all evidence
        is in the context.
    correct_without : float
        The same in both arms when some evidence is missing from the context.
    declines : tuple of float
        Probability in (baseline, variant) of declining to answer; for
        unanswerable types only.
    template : str
        Text of a question with the fields ``{company}``, ``{year}``, ``{before}``,
        ``{later}``, ``{item}``, ``{other}`` and ``{region}``.
    reference : str
        Text of the reference answer with the field ``{value}``, a whole number.
    """

    name: str
    share: float
    n_evidence: int = 1
    findability: float = 0.5
    correct: tuple[float, float] = (0.88, 0.88)
    correct_without: float = 0.12
    declines: tuple[float, float] = (0.0, 0.0)
    template: str = "What does {company} say about {item} in its {year} report?"
    reference: str = "{value} million"

    @property
    def answerable(self) -> bool:
        """True when the corpus holds an answer."""
        return self.n_evidence > 0


QUESTION_TYPES: tuple[QuestionType, ...] = (
    QuestionType(
        name="lookup",
        share=50,
        findability=0.50,
        correct=(0.92, 0.92),
        template="What {item} did {company} report for {year}?",
    ),
    QuestionType(
        name="multi_page",
        share=50,
        n_evidence=2,
        findability=0.26,
        correct=(0.90, 0.90),
        template="How did {company}'s {item} change from {before} to {year}, and why?",
        reference="It rose by {value} million after new contracts.",
    ),
    QuestionType(
        name="comparison",
        share=30,
        n_evidence=2,
        findability=0.30,
        correct=(0.90, 0.90),
        template="Which grew faster at {company} in {year}: {item} or {other}?",
        reference="The former, by {value} basis points.",
    ),
    QuestionType(
        name="table_cell",
        share=40,
        findability=0.60,
        correct=(0.90, 0.60),
        template="In the {year} report of {company}, what is the {item} of {region}?",
    ),
    QuestionType(
        name="unanswerable",
        share=30,
        n_evidence=0,
        declines=(0.92, 0.90),
        template="What {item} does {company} promise for {later}?",
    ),
)


@dataclass(frozen=True, slots=True, eq=False)
class QuestionSet:
    """The questions of both arms, in the order of their ids.

    Parameters
    ----------
    question_id : tuple of str, length n_questions
        ``q001`` and so on.
    text : tuple of str, length n_questions
        Question texts; no two are the same.
    type_index : ndarray of int, shape (n_questions,)
        Index into the question types.
    document_index : ndarray of int, shape (n_questions,)
        Index into `documents`; never decreasing.
    documents : tuple of str, length n_documents
        Names of the documents.
    """

    question_id: tuple[str, ...]
    text: tuple[str, ...]
    type_index: IntArray
    document_index: IntArray
    documents: tuple[str, ...]


def make_questions(
    types: Sequence[QuestionType],
    *,
    n_questions: int,
    n_documents: int,
    order: FloatArray,
    place: FloatArray,
) -> QuestionSet:
    """Lay out questions over documents and types, and word them.

    Parameters
    ----------
    types : sequence of QuestionType
        The mix of questions.
    n_questions, n_documents : int
        Size of the set; every document has at least one question.
    order, place : ndarray of float, shape (n_questions,)
        Uniform random numbers that shuffle the types and place the questions.

    Returns
    -------
    QuestionSet
    """
    if n_documents < 1 or n_questions < n_documents:
        raise InputError(
            f"simulate: `n_questions` is {n_questions} and `n_documents` "
            f"{n_documents}; give every document at least one question."
        )
    counts = _shares_to_counts([kind.share for kind in types], n_questions)
    type_index = np.repeat(np.arange(len(types)), counts)[np.argsort(order)]
    document_index = np.floor(place * n_documents).astype(np.int64)
    document_index[:n_documents] = np.arange(n_documents)
    document_index.sort()
    width = max(3, len(str(n_questions)))
    ids = tuple(f"q{number:0{width}d}" for number in range(1, n_questions + 1))
    documents = tuple(_document(i) for i in range(n_documents))
    return QuestionSet(
        question_id=ids,
        text=_texts(types, ids, type_index, document_index),
        type_index=type_index.astype(np.int64),
        document_index=document_index,
        documents=documents,
    )


_COMPANIES = (
    "Alder Freight",
    "Bluefin Foods",
    "Cobalt Mining",
    "Dunmore Bank",
    "Eastgate Retail",
    "Fennimore Energy",
    "Glasswing Software",
    "Harrow Chemicals",
    "Ivydale Hotels",
    "Juniper Rail",
    "Kestrel Airways",
    "Larkspur Pharma",
    "Marlow Insurance",
    "Northbeam Solar",
    "Oakhurst Homes",
    "Pinecrest Paper",
    "Quarry Steel",
    "Redfern Media",
    "Silverlake Water",
    "Thornbury Motors",
)
_ITEMS = (
    "net revenue",
    "operating margin",
    "capital expenditure",
    "free cash flow",
    "headcount",
    "inventory",
    "research spending",
    "long-term debt",
    "order backlog",
    "effective tax rate",
    "dividend per share",
)
_REGIONS = ("Europe", "North America", "Asia", "South America", "Africa", "Oceania")
_LAST_YEAR = 2024
_YEARS = 30


def _document(index: int) -> str:
    company, year, edition = _report(index)
    suffix = f"_{edition + 1}" if edition else ""
    return f"{company.lower().replace(' ', '_')}_{year}{suffix}"


def _report(index: int) -> tuple[str, int, int]:
    number = len(_COMPANIES)
    age = index // number
    return _COMPANIES[index % number], _LAST_YEAR - age % _YEARS, age // _YEARS


def _texts(
    types: Sequence[QuestionType],
    ids: tuple[str, ...],
    type_index: IntArray,
    document_index: IntArray,
) -> tuple[str, ...]:
    texts: list[str] = []
    seen: set[str] = set()
    for number, (kind, document) in enumerate(
        zip(type_index.tolist(), document_index.tolist(), strict=True)
    ):
        company, year, _ = _report(document)
        text = types[kind].template.format(
            company=company,
            year=year,
            before=year - 1,
            later=year + 5,
            item=_ITEMS[number % len(_ITEMS)],
            other=_ITEMS[(number + 4) % len(_ITEMS)],
            region=_REGIONS[number % len(_REGIONS)],
        )
        if text in seen:
            text = f"{text} (item {ids[number]})"
        seen.add(text)
        texts.append(text)
    return tuple(texts)


def _shares_to_counts(shares: Sequence[float], total: int) -> IntArray:
    """Whole numbers proportional to `shares` that add up to `total`."""
    weights = np.asarray(shares, dtype=np.float64)
    if weights.size == 0 or np.any(weights < 0) or not weights.sum() > 0:
        raise InputError(
            "simulate: the shares of `question_types` must be 0 or more and not all 0."
        )
    exact = weights / weights.sum() * total
    counts: IntArray = np.floor(exact).astype(np.int64)
    largest = np.argsort(-(exact - counts), kind="stable")
    counts[largest[: total - int(counts.sum())]] += 1
    return counts
