"""Both arms of a simulated RAG experiment as tables of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onechange.simulate.design import CUTOFF, METRICS, Design, check_design, true_deltas
from onechange.simulate.draws import ArmDraws, draw_arms
from onechange.simulate.questions import QUESTION_TYPES, QuestionSet, QuestionType

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COLUMNS", "DECIMALS", "Simulation", "simulate"]

FloatArray = NDArray[np.float64]

COLUMNS = (
    "question_id",
    "document",
    "question_type",
    "trial",
    "status",
    "question",
    *METRICS,
)
DECIMALS = {
    "hit_at_5": 0,
    "correctness": 0,
    "faithfulness": 6,
    "citation_precision": 6,
    "abstention_correct": 0,
    "latency_ms": 1,
    "input_tokens": 0,
}


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """Both arms of a simulated experiment, and the truth behind them.

    Parameters
    ----------
    baseline, variant : DataFrame
        One row per question and trial, as `compare` takes them.
    baseline_settings, variant_settings : dict
        Settings of each arm; they differ in ``retriever.top_k`` alone.
    true_deltas : dict of str to float
        Metric to the true delta (variant - baseline).
    true_slice_deltas : dict of str to dict of str to float
        Question type to metric to true delta.
    design : Design
        The settings of the simulation.
    questions : QuestionSet
        The questions of both arms.
    draws : tuple of ArmDraws
        What was drawn for the baseline and for the variant; traces need it.
    """

    baseline: pd.DataFrame
    variant: pd.DataFrame
    baseline_settings: dict[str, Any]
    variant_settings: dict[str, Any]
    true_deltas: dict[str, float]
    true_slice_deltas: dict[str, dict[str, float]]
    design: Design = field(repr=False)
    questions: QuestionSet = field(repr=False)
    draws: tuple[ArmDraws, ArmDraws] = field(repr=False)


def simulate(
    *,
    n_questions: int = 200,
    n_documents: int = 60,
    n_trials: int = 3,
    question_types: Sequence[QuestionType] = QUESTION_TYPES,
    top_k: tuple[int, int] = (3, 8),
    faithfulness: tuple[float, float] = (0.960, 0.954),
    citation_precision: tuple[float, float] = (0.88, 0.86),
    latency_ms: tuple[float, float] = (1150.0, 1330.0),
    latency_sd: float = 0.35,
    prompt_tokens: float = 420.0,
    passage_tokens: float = 170.0,
    abstention_rate: tuple[float, float] = (0.02, 0.02),
    failure_rate: tuple[float, float] = (0.004, 0.006),
    document_share: float = 0.08,
    question_share: float = 0.42,
    change_share: float = 0.10,
    run_sd: float = 0.0,
    seed: int = 7,
) -> Simulation:
    """Simulate a RAG experiment with a known truth: more passages per question.

    One retriever ranks the passages; the arms hand the first `top_k` of them to
    the same model. Evidence that ranks between the two cut-offs reaches only the
    variant. Pairs of values below are (baseline, variant).

    Parameters
    ----------
    n_questions, n_documents, n_trials : int
        Size of the experiment; questions about one document form a cluster.
    question_types : sequence of QuestionType
        The mix of questions, with the effects of each type.
    top_k : tuple of int
        Passages in the context of each arm.
    faithfulness, citation_precision : tuple of float
        Probability that a claim, or a citation, is supported.
    latency_ms : tuple of float
        Mean milliseconds of a request.
    latency_sd : float
        Standard deviation of the logarithm of the latency.
    prompt_tokens, passage_tokens : float
        Tokens of the request without passages, and of one passage on average.
    abstention_rate : tuple of float
        Probability of declining to answer an answerable question.
    failure_rate : tuple of float
        Probability that a run breaks and leaves no score.
    document_share, question_share, change_share : float
        Shares of the latent variance of every score that belong to the document,
        to the question, and to the question within its arm; the rest is new in
        every trial.
    run_sd : float
        Standard deviation of an effect shared by a whole trial of an arm, in
        units of the latent standard deviation.
    seed : int
        Seed; the same settings and seed give the same rows.

    Returns
    -------
    Simulation

    Raises
    ------
    InputError
        When a setting is out of its range.

    Notes
    -----
    A 0/1 outcome is a latent normal value below a threshold; document, question,
    arm and run effects add to that value, and its variance is 1 whatever the
    shares, so the stated probabilities hold exactly. ``hit_at_5`` depends on the
    ranks alone and is the same in all trials. Abstentions have status
    ``insufficient_evidence`` and no answer scores; unanswerable questions have no
    ``hit_at_5`` and no ``correctness``, only ``abstention_correct`` tells how they
    were treated; failed runs have no scores at all.

    Examples
    --------
    >>> from onechange.simulate import simulate
    >>> experiment = simulate(n_questions=40, n_documents=10, n_trials=2, seed=1)
    >>> len(experiment.baseline), len(experiment.variant)
    (80, 80)
    >>> experiment.variant_settings["retriever"]["top_k"]
    8
    >>> round(experiment.true_deltas["latency_ms"], 6)
    180.0
    """
    design = Design(
        question_types=tuple(question_types),
        n_questions=n_questions,
        n_documents=n_documents,
        n_trials=n_trials,
        top_k=top_k,
        faithfulness=faithfulness,
        citation_precision=citation_precision,
        latency_ms=latency_ms,
        latency_sd=latency_sd,
        prompt_tokens=prompt_tokens,
        passage_tokens=passage_tokens,
        abstention_rate=abstention_rate,
        failure_rate=failure_rate,
        document_share=document_share,
        question_share=question_share,
        change_share=change_share,
        run_sd=run_sd,
        seed=seed,
    )
    check_design(design)
    questions, baseline, variant = draw_arms(design)
    overall, slices = true_deltas(design, questions.type_index)
    return Simulation(
        baseline=_frame(design, questions, baseline, 0),
        variant=_frame(design, questions, variant, 1),
        baseline_settings=_settings(design, 0),
        variant_settings=_settings(design, 1),
        true_deltas=overall,
        true_slice_deltas=slices,
        design=design,
        questions=questions,
        draws=(baseline, variant),
    )


def _settings(design: Design, arm: int) -> dict[str, Any]:
    return {
        "question_set": f"filings-{design.n_questions} v1",
        "retriever": {
            "top_k": design.top_k[arm],
            "index": "filings-2024-06",
            "embedding": "minnow-embed-2",
        },
        "generator": {
            "model": "heron-large-2024-05",
            "temperature": 0.3,
            "prompt": "answer-with-citations v4",
        },
        "judge": {"model": "osprey-judge-1", "prompt": "claims v2"},
    }


def _frame(
    design: Design, questions: QuestionSet, draws: ArmDraws, arm: int
) -> pd.DataFrame:
    import pandas as pd

    n, trials = design.n_questions, design.n_trials
    kinds = [design.question_types[i] for i in questions.type_index.tolist()]
    documents = [questions.documents[i] for i in questions.document_index.tolist()]
    table: dict[str, Any] = {
        "question_id": np.repeat(questions.question_id, trials),
        "document": np.repeat(documents, trials),
        "question_type": np.repeat([kind.name for kind in kinds], trials),
        "trial": np.tile(np.arange(1, trials + 1), n),
        "status": _statuses(draws).reshape(-1),
        "question": np.repeat(questions.text, trials),
    }
    scores = _scores(design, kinds, draws, arm)
    for metric in METRICS:
        values = np.where(draws.failed, np.nan, scores[metric])
        table[metric] = np.round(values, DECIMALS[metric]).reshape(-1)
    return pd.DataFrame(table)


def _statuses(draws: ArmDraws) -> NDArray[np.str_]:
    return np.where(
        draws.failed,
        "failed",
        np.where(draws.silent, "insufficient_evidence", "answered"),
    )


def _scores(
    design: Design, kinds: Sequence[QuestionType], draws: ArmDraws, arm: int
) -> dict[str, FloatArray]:
    """Scores of all rows as if no run had failed; shape (n_questions, n_trials)."""
    answerable = np.array([[kind.answerable] for kind in kinds])
    ranks = draws.evidence_rank
    seen = (ranks > 0) & (ranks <= min(CUTOFF, design.top_k[arm]))
    hit = np.broadcast_to(seen.any(axis=1, keepdims=True), draws.failed.shape)
    made = draws.cites.sum(axis=(2, 3))
    claims = draws.cites[..., 0]  # every claim has a first citation
    supported = (draws.supported & claims).sum(axis=2)
    supporting = (draws.cite_supports & draws.cites).sum(axis=(2, 3))

    def where(mask: NDArray[np.bool_], values: NDArray[Any]) -> FloatArray:
        return np.where(mask, values.astype(np.float64), np.nan)

    return {
        "hit_at_5": where(np.broadcast_to(answerable, hit.shape), hit),
        "correctness": where(answerable & ~draws.silent, draws.correct),
        "faithfulness": where(~draws.silent, supported / draws.n_claims),
        "citation_precision": where(~draws.silent, supporting / made),
        "abstention_correct": (draws.silent != answerable).astype(np.float64),
        "latency_ms": draws.latency_ms,
        "input_tokens": np.broadcast_to(
            draws.input_tokens[:, None].astype(np.float64), hit.shape
        ),
    }
