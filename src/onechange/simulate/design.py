"""The knobs of a simulated experiment, and the truth that follows from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.errors import InputError
from onechange.simulate.questions import QuestionType

__all__ = ["CUTOFF", "METRICS", "Design", "check_design", "true_deltas"]

IntArray = NDArray[np.int64]
Pair = tuple[float, float]

CUTOFF = 5  # the k of hit_at_5
METRICS = (
    "hit_at_5",
    "correctness",
    "faithfulness",
    "citation_precision",
    "abstention_correct",
    "latency_ms",
    "input_tokens",
)


@dataclass(frozen=True, slots=True)
class Design:
    """All settings of one simulated experiment; see `simulate` for their meaning."""

    question_types: tuple[QuestionType, ...]
    n_questions: int
    n_documents: int
    n_trials: int
    top_k: tuple[int, int]
    faithfulness: Pair
    citation_precision: Pair
    latency_ms: Pair
    latency_sd: float
    prompt_tokens: float
    passage_tokens: float
    abstention_rate: Pair
    failure_rate: Pair
    document_share: float
    question_share: float
    change_share: float
    run_sd: float
    seed: int

    @property
    def trial_share(self) -> float:
        """Share of the latent variance that is new in every single answer."""
        shared = self.document_share + self.question_share + self.change_share
        return 1.0 - shared - self.run_sd**2


def check_design(design: Design) -> None:
    """Refuse settings that no experiment can have.

    Parameters
    ----------
    design : Design
        The settings.

    Raises
    ------
    InputError
        When a probability, a share or a size is out of its range.
    """
    rates = {
        "faithfulness": design.faithfulness,
        "citation_precision": design.citation_precision,
        "abstention_rate": design.abstention_rate,
        "failure_rate": design.failure_rate,
    }
    for kind in design.question_types:
        rates[f"question_types[{kind.name!r}].correct"] = kind.correct
        rates[f"question_types[{kind.name!r}].declines"] = kind.declines
        rates[f"question_types[{kind.name!r}]"] = (
            kind.correct_without,
            kind.findability,
        )
        if kind.n_evidence not in (0, 1, 2):
            raise InputError(
                f"simulate: question type {kind.name!r} has `n_evidence` "
                f"{kind.n_evidence}; use 0 (unanswerable), 1 or 2."
            )
    for name, (low, high) in rates.items():
        if not (0 <= low <= 1 and 0 <= high <= 1):
            raise InputError(
                f"simulate: `{name}` is ({low}, {high}); both must lie in [0, 1]."
            )
    if min(design.n_trials, *design.top_k) < 1:
        raise InputError("simulate: `n_trials` and `top_k` must be at least 1.")
    if min(design.latency_ms) <= 0 or design.latency_sd < 0:
        raise InputError(
            "simulate: `latency_ms` must be above 0 and `latency_sd` not below 0."
        )
    shares = (design.document_share, design.question_share, design.change_share)
    if min(*shares, design.run_sd) < 0 or design.trial_share <= 0:
        raise InputError(
            "simulate: `document_share`, `question_share`, `change_share` and "
            "`run_sd` squared must be 0 or more and add up to less than 1, not to "
            f"{1 - design.trial_share:.6g}."
        )


def true_deltas(
    design: Design, type_index: IntArray
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Compute the expected delta of each metric, overall and per question type.

    Parameters
    ----------
    design : Design
        The settings.
    type_index : ndarray of int, shape (n_questions,)
        Type of each question.

    Returns
    -------
    overall : dict of str to float
        Metric to true delta over the pairs.
    slices : dict of str to dict of str to float
        Question type to metric to true delta; metrics without pairs are absent.

    Notes
    -----
    The delta is taken over questions that are scored in both arms. Within a type
    scores are missing at random, so a type's delta is that of all its questions;
    over types it is weighted with the expected number of pairs of each.
    """
    counts = np.bincount(type_index, minlength=len(design.question_types)).tolist()
    totals = dict.fromkeys(METRICS, 0.0)
    pairs = dict.fromkeys(METRICS, 0.0)
    slices: dict[str, dict[str, float]] = {}
    for kind, count in zip(design.question_types, counts, strict=True):
        means = [_means(design, kind, arm) for arm in (0, 1)]
        scored = [_scored(design, kind, arm) for arm in (0, 1)]
        row: dict[str, float] = {}
        for metric in METRICS:
            paired = count
            for arm in (0, 1):
                paired *= 1.0 - (1.0 - scored[arm][metric]) ** design.n_trials
            if paired > 0:
                row[metric] = means[1][metric] - means[0][metric]
                totals[metric] += paired * row[metric]
                pairs[metric] += paired
        slices[kind.name] = row
    overall = {name: totals[name] / pairs[name] for name in METRICS if pairs[name] > 0}
    return overall, slices


def _means(design: Design, kind: QuestionType, arm: int) -> dict[str, float]:
    """Give the expected scores of one question of a type in one arm."""
    top_k = design.top_k[arm]
    abstains = design.abstention_rate[arm]
    complete = _all_found(kind, top_k)
    return {
        "hit_at_5": _any_found(kind, min(CUTOFF, top_k)),
        "correctness": complete * kind.correct[arm]
        + (1 - complete) * kind.correct_without,
        "faithfulness": design.faithfulness[arm],
        "citation_precision": design.citation_precision[arm],
        "abstention_correct": 1 - abstains if kind.answerable else kind.declines[arm],
        "latency_ms": design.latency_ms[arm],
        "input_tokens": design.prompt_tokens + design.passage_tokens * top_k,
    }


def _scored(design: Design, kind: QuestionType, arm: int) -> dict[str, float]:
    """Give the probability that one trial of a question has each score."""
    ran = 1.0 - design.failure_rate[arm]
    silent = design.abstention_rate[arm] if kind.answerable else kind.declines[arm]
    answered = ran * (1.0 - silent)
    return {
        "hit_at_5": ran * kind.answerable,
        "correctness": answered * kind.answerable,
        "faithfulness": answered,
        "citation_precision": answered,
        "abstention_correct": ran,
        "latency_ms": ran,
        "input_tokens": ran,
    }


def _any_found(kind: QuestionType, k: int) -> float:
    return 1.0 - (1.0 - kind.findability) ** (k * kind.n_evidence)


def _all_found(kind: QuestionType, k: int) -> float:
    """Probability that all evidence is within rank k.

    Two passages cannot share a rank: the second one moves down by one then, so
    both are within rank k unless they tie at k itself.
    """
    missed = 1.0 - kind.findability
    tie_at_k = kind.findability * missed ** (k - 1)
    if kind.n_evidence == 0:
        return 0.0
    if kind.n_evidence == 1:
        return 1.0 - missed**k
    return (1.0 - missed**k) ** 2 - tie_at_k**2
