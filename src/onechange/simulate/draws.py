"""Everything that is random in a simulated experiment, drawn once, row by row.

Only uniform numbers are asked of the generator and turned into what is needed,
and every purpose has a stream of its own: a changed setting moves only what it
touches, and the two arms share what the same questions share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.simulate.design import Design
from onechange.simulate.questions import QuestionSet, make_questions

__all__ = ["MAX_CITATIONS", "MAX_CLAIMS", "ArmDraws", "draw_arms"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

MIN_CLAIMS, MAX_CLAIMS, MAX_CITATIONS = 4, 7, 2
_SECOND_CITATION = 0.3  # probability that a claim cites a second passage


@dataclass(frozen=True, slots=True, eq=False)
class ArmDraws:
    """One arm before it is written as rows.

    Parameters
    ----------
    evidence_rank : ndarray of int, shape (n_questions, 2)
        Rank (from 1) at which the retriever finds each passage of evidence; 0
        where the question needs none.
    failed, silent, correct : ndarray of bool, shape (n_questions, n_trials)
        Whether the run broke, declined to answer, or answered correctly.
    n_claims : ndarray of int, shape (n_questions, n_trials)
        Claims in the answer.
    supported : ndarray of bool, shape (n_questions, n_trials, MAX_CLAIMS)
        Whether the context supports each claim; valid for the first `n_claims`.
    cites : ndarray of bool, shape (n_questions, n_trials, MAX_CLAIMS, MAX_CITATIONS)
        Which citations were made.
    cite_supports : ndarray of bool, same shape
        Whether a citation supports its claim.
    latency_ms : ndarray of float, shape (n_questions, n_trials)
        Milliseconds of each request.
    input_tokens : ndarray of int, shape (n_questions,)
        Tokens of the request.
    """

    evidence_rank: IntArray
    failed: BoolArray
    silent: BoolArray
    correct: BoolArray
    n_claims: IntArray
    supported: BoolArray
    cites: BoolArray
    cite_supports: BoolArray
    latency_ms: FloatArray
    input_tokens: IntArray


def draw_arms(design: Design) -> tuple[QuestionSet, ArmDraws, ArmDraws]:
    """Draw the questions and both arms.

    Parameters
    ----------
    design : Design
        The checked settings.

    Returns
    -------
    questions : QuestionSet
        The questions of both arms.
    baseline, variant : ArmDraws
        The two arms.
    """
    n = design.n_questions
    questions = make_questions(
        design.question_types,
        n_questions=n,
        n_documents=design.n_documents,
        order=_uniform(design, "order", (n,)),
        place=_uniform(design, "place", (n,)),
    )
    ranks = _evidence_ranks(design, questions)
    return (
        questions,
        _draw_arm(design, questions, ranks, 0),
        _draw_arm(design, questions, ranks, 1),
    )


_STREAMS = (
    "order",
    "place",
    "ranks",
    "tokens",
    "failed",
    "silent",
    "correct",
    "claims",
    "support",
    "cites",
    "cite_support",
    "latency",
    "document",
    "question",
    "change",
    "run",
)
_SCORES = ("correct", "support", "cite_support", "latency")


def _uniform(
    design: Design, stream: str, shape: tuple[int, ...], *keys: int
) -> FloatArray:
    key = [design.seed, _STREAMS.index(stream), *keys]
    return np.random.default_rng(key).random(shape)


def _normal(
    design: Design, stream: str, shape: tuple[int, ...], *keys: int
) -> FloatArray:
    from scipy.special import ndtri

    u = _uniform(design, stream, shape, *keys)
    return np.asarray(ndtri(np.maximum(u, 2.0**-54)), dtype=np.float64)


def _evidence_ranks(design: Design, questions: QuestionSet) -> IntArray:
    """Geometric ranks, the same in both arms: one retriever, two cut-offs."""
    kinds = [design.question_types[i] for i in questions.type_index.tolist()]
    findability = np.array([kind.findability for kind in kinds])
    needed = np.array([kind.n_evidence for kind in kinds])
    u = _uniform(design, "ranks", (design.n_questions, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        ranks = 1 + np.floor(np.log1p(-u) / np.log1p(-findability)[:, None])
    ranks = np.where(np.isfinite(ranks), np.minimum(ranks, 10**6), 1).astype(np.int64)
    ranks[:, 1] += ranks[:, 1] == ranks[:, 0]
    return np.where(np.arange(2) < needed[:, None], ranks, 0)


def _shared_latent(
    design: Design, questions: QuestionSet, score: str, arm: int
) -> FloatArray:
    """Document, question, change and run effects; shape (n_questions, n_trials)."""
    number = _SCORES.index(score)
    n, trials = design.n_questions, design.n_trials
    document = _normal(design, "document", (design.n_documents,), number)
    question = _normal(design, "question", (n,), number)
    change = _normal(design, "change", (n,), number, arm)
    run = _normal(design, "run", (trials,), number, arm)
    per_question = (
        design.document_share**0.5 * document[questions.document_index]
        + design.question_share**0.5 * question
        + design.change_share**0.5 * change
    )
    latent: FloatArray = per_question[:, None] + design.run_sd * run
    return latent


def _chance(design: Design, shared: FloatArray, probability: FloatArray) -> FloatArray:
    """Probability in one answer given the shared effects; its mean is `probability`."""
    from scipy.special import ndtr, ndtri

    shift = (ndtri(probability) + shared) / design.trial_share**0.5
    return np.asarray(ndtr(shift), dtype=np.float64)


def _draw_arm(
    design: Design, questions: QuestionSet, ranks: IntArray, arm: int
) -> ArmDraws:
    n, trials = design.n_questions, design.n_trials
    rows, claims = (n, trials), (n, trials, MAX_CLAIMS)
    citations = (*claims, MAX_CITATIONS)
    kinds = [design.question_types[i] for i in questions.type_index.tolist()]
    silent_rate = np.array(
        [
            design.abstention_rate[arm] if kind.answerable else kind.declines[arm]
            for kind in kinds
        ]
    )
    complete = np.all(ranks <= design.top_k[arm], axis=1)
    right = np.where(
        complete,
        [kind.correct[arm] for kind in kinds],
        [kind.correct_without for kind in kinds],
    )

    def latent(score: str) -> FloatArray:
        return _shared_latent(design, questions, score, arm)

    def chance(score: str, probability: FloatArray | float) -> FloatArray:
        level = np.broadcast_to(np.asarray(probability), (n,))[:, None]
        return _chance(design, latent(score), level)

    support = chance("support", design.faithfulness[arm])[:, :, None]
    cite = chance("cite_support", design.citation_precision[arm])[:, :, None, None]
    n_claims = MIN_CLAIMS + np.floor(
        _uniform(design, "claims", rows, arm) * (MAX_CLAIMS - MIN_CLAIMS + 1)
    )
    made = np.arange(MAX_CLAIMS) < n_claims[:, :, None]
    second = _uniform(design, "cites", claims, arm) < _SECOND_CITATION
    noise = _normal(design, "latency", rows, arm) * design.trial_share**0.5
    log_latency = design.latency_sd * (latent("latency") + noise)
    size = 0.7 + 0.6 * _uniform(design, "tokens", (n,))
    return ArmDraws(
        evidence_rank=ranks,
        failed=_uniform(design, "failed", rows, arm) < design.failure_rate[arm],
        silent=_uniform(design, "silent", rows, arm) < silent_rate[:, None],
        correct=_uniform(design, "correct", rows, arm) < chance("correct", right),
        n_claims=n_claims.astype(np.int64),
        supported=_uniform(design, "support", claims, arm) < support,
        cites=np.stack([made, made & second], axis=-1),
        cite_supports=_uniform(design, "cite_support", citations, arm) < cite,
        latency_ms=design.latency_ms[arm]
        * np.exp(log_latency - design.latency_sd**2 / 2),
        input_tokens=np.rint(
            design.prompt_tokens + design.passage_tokens * design.top_k[arm] * size
        ).astype(np.int64),
    )
