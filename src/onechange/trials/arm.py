"""Repeated trials of one metric in one arm."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from onechange.stats.aa import SameArm, same_arm_deltas
from onechange.stats.components import (
    Component,
    MeanSquare,
    TableFit,
    component,
    f_pvalue,
    fit_table,
    residual_component,
)
from onechange.stats.estimate import TestResult
from onechange.stats.icc import Correlation, intraclass
from onechange.stats.passrates import PassRate, disagreement, flipping, pass_rates
from onechange.trials.tables import TrialTable

__all__ = ["ArmTrials", "Components", "Flips", "arm_trials", "without_runs"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
TextArray = NDArray[np.object_]

SAMPLE = 100  # questions that mostly tell scores from 0/1 answers
UNEVEN = 0.9  # share of the questions a trial must score to be like the others


@dataclass(frozen=True, slots=True)
class Flips:
    """Questions that are right in some trials and wrong in others.

    Parameters
    ----------
    question_id : tuple of str
        The least settled first.
    right, trials : tuple of int
        Right answers and scored trials of each.
    """

    question_id: tuple[str, ...] = ()
    right: tuple[int, ...] = ()
    trials: tuple[int, ...] = ()

    def __len__(self) -> int:
        """Return the number of questions."""
        return len(self.question_id)

    def rows(self) -> Iterator[tuple[str, int, int]]:
        """Id, right answers and trials, question by question."""
        return zip(self.question_id, self.right, self.trials, strict=True)


@dataclass(frozen=True, slots=True)
class Components:
    """Variance components of an arm's scores, in squared units of the metric.

    Parameters
    ----------
    question : Component or None
        Between questions.
    trial : Component or None
        Between whole runs.
    residual : Component or None
        What is left within a question, runs aside: answers that vary, and where an
        answer was graded several times the gradings, divided by their number.
    judge : Component or None
        Between gradings of the same answer.
    answer : Component or None
        The residual less the gradings' part, where `judge` is known.
    """

    question: Component | None = None
    trial: Component | None = None
    residual: Component | None = None
    judge: Component | None = None
    answer: Component | None = None


@dataclass(frozen=True, slots=True)
class ArmTrials:
    """Run-to-run variation of one metric in one arm; None = not estimable.

    Parameters
    ----------
    labels : tuple of str
        Trials in order.
    means : tuple of float or None
        Mean of each trial over the questions scored in it; None where it has none.
    between_trial_sd : float or None
        Standard deviation of the means (ddof 1).
    within_question_sd : float or None
        Pooled standard deviation of a question's scores over its trials.
    icc : float or None
        ICC(1,1): share of the variance of single scores that lies between
        questions. All four stand in `iccs`.
    flip_rate : float or None
        Share of the questions with two or more trials whose 0/1 answer is not the
        same in all of them.
    reason : str or None
        Why run-to-run variation is not estimable.
    n_questions : int
        Questions with a score.
    n_scored : tuple of int
        Questions scored in each trial.
    components : Components
        Question, trial, residual and judge variance.
    iccs : dict of str to Correlation
        ``icc_1_1``, ``icc_1_k``, ``icc_2_1``, ``icc_2_k``.
    trial_test : TestResult or None
        F test of "whole runs do not differ".
    disagreement : float or None
        Share of pairs of trials that disagree on a 0/1 answer.
    flips : Flips
        Questions that flip.
    pass_rates : tuple of PassRate
        pass@k and pass^k of 0/1 answers.
    same_arm : SameArm or None
        Deltas between single trials of this arm.
    """

    labels: tuple[str, ...]
    means: tuple[float | None, ...]
    between_trial_sd: float | None
    within_question_sd: float | None = None
    icc: float | None = None
    flip_rate: float | None = None
    reason: str | None = None
    n_questions: int = 0
    n_scored: tuple[int, ...] = ()
    components: Components = Components()
    iccs: dict[str, Correlation] = field(default_factory=dict)
    trial_test: TestResult | None = None
    disagreement: float | None = None
    flips: Flips = Flips()
    pass_rates: tuple[PassRate, ...] = ()
    same_arm: SameArm | None = None

    @property
    def n_trials(self) -> int:
        """Trials with a score."""
        return sum(mean is not None for mean in self.means)

    @property
    def uneven(self) -> bool:
        """Whether some trial scores clearly fewer questions than there are."""
        scored = [count for count in self.n_scored if count]
        return len(scored) > 1 and min(scored) < UNEVEN * self.n_questions


def arm_trials(
    table: TrialTable,
    question_id: TextArray,
    *,
    clusters: IntArray | None = None,
    confidence_level: float = 0.95,
    gradings: MeanSquare | None = None,
) -> tuple[ArmTrials, TableFit]:
    """Summarise the trials of one metric in one arm.

    Parameters
    ----------
    table : TrialTable
        Scores, questions by trials.
    question_id : ndarray of str, shape (n_questions,)
        Id of each row.
    clusters : ndarray of int, shape (n_questions,), optional
        Cluster of each question.
    confidence_level : float
        Two-sided level of all intervals.
    gradings : MeanSquare, optional
        What `grading_spread` found.

    Returns
    -------
    ArmTrials, TableFit
        With a single trial the run variance is unknown, never 0.
    """
    scores = table.scores
    means, counts = _trial_means(scores)
    fit = fit_table(scores)
    if not table.shared:
        fit = without_runs(fit)
    scored = [mean for mean in means if mean is not None]
    if len(scored) < 2 or fit.within is None:
        one = ArmTrials(
            labels=table.labels,
            means=means,
            between_trial_sd=None,
            reason=_why_not(len(scored)),
            n_questions=fit.n_questions,
            n_scored=counts,
            components=_judged(Components(), fit, gradings, confidence_level),
        )
        return one, fit
    binary = _is_binary(scores)
    answers = _answers(scores, question_id) if binary else _Answers()
    iccs = intraclass(fit, confidence_level=confidence_level)
    return (
        ArmTrials(
            labels=table.labels,
            means=means,
            between_trial_sd=float(np.std(scored, ddof=1)) if table.shared else None,
            within_question_sd=math.sqrt(fit.within.value),
            icc=iccs["icc_1_1"].value if "icc_1_1" in iccs else None,
            flip_rate=answers.flip_rate,
            reason=None if fit.trial else _no_runs(table),
            n_questions=fit.n_questions,
            n_scored=counts,
            components=_judged(
                _components(fit, confidence_level), fit, gradings, confidence_level
            ),
            iccs=iccs,
            trial_test=_trial_test(fit),
            disagreement=answers.disagreement,
            flips=answers.flips,
            pass_rates=answers.pass_rates,
            same_arm=same_arm_deltas(
                scores,
                binary=binary,
                clusters=clusters,
                confidence_level=confidence_level,
            )
            if table.shared
            else None,
        ),
        fit,
    )


def without_runs(fit: TableFit) -> TableFit:
    """Forget the trials of a table whose columns are no runs."""
    return replace(fit, question=None, trial=None, residual=None)


@dataclass(frozen=True, slots=True)
class _Answers:
    flip_rate: float | None = None
    disagreement: float | None = None
    flips: Flips = Flips()
    pass_rates: tuple[PassRate, ...] = ()


def _answers(scores: FloatArray, question_id: TextArray) -> _Answers:
    """Flips and pass rates of 0/1 answers."""
    scored = np.isfinite(scores)
    if scored.all():
        trials = np.full(scores.shape[0], scores.shape[1], dtype=np.int64)
        right = scores.sum(axis=1).astype(np.int64)
    else:
        trials = np.count_nonzero(scored, axis=1)
        right = np.count_nonzero(scores == 1, axis=1)
    some = trials > 0
    flips = flipping(right, trials)
    n_repeated = int(np.count_nonzero(trials > 1))
    settled = np.abs(2 * right[flips] - trials[flips]) / trials[flips]
    # whole numbers sort fastest; equally settled questions stay in the order of ids
    order = np.argsort((10_000 * settled).astype(np.int16), kind="stable")
    return _Answers(
        flip_rate=int(np.count_nonzero(flips)) / n_repeated if n_repeated else None,
        disagreement=disagreement(right, trials),
        flips=Flips(
            tuple(question_id[flips][order].tolist()),
            tuple(right[flips][order].tolist()),
            tuple(trials[flips][order].tolist()),
        ),
        pass_rates=pass_rates(right[some], trials[some]),
    )


def _trial_means(
    scores: FloatArray,
) -> tuple[tuple[float | None, ...], tuple[int, ...]]:
    scored = np.isfinite(scores)
    if scored.all():
        counts = [scores.shape[0]] * scores.shape[1]
        totals = scores.sum(axis=0)
    else:
        counts = scored.sum(axis=0).tolist()
        totals = np.where(scored, scores, 0.0).sum(axis=0)
    means = tuple(
        total / count if count else None
        for total, count in zip(totals.tolist(), counts, strict=True)
    )
    return means, tuple(counts)


def _components(fit: TableFit, level: float) -> Components:
    if fit.question and fit.trial and fit.residual:
        return Components(
            question=component(fit.question, fit.residual, confidence_level=level),
            trial=component(fit.trial, fit.residual, confidence_level=level),
            residual=residual_component(fit.residual, confidence_level=level),
        )
    if fit.between and fit.within:
        return Components(
            question=component(fit.between, fit.within, confidence_level=level),
            residual=residual_component(fit.within, confidence_level=level),
        )
    return Components()


def _judged(
    found: Components, fit: TableFit, gradings: MeanSquare | None, level: float
) -> Components:
    """Part the gradings of the same answer from the answers themselves."""
    if gradings is None:
        return found
    judge = residual_component(gradings, confidence_level=level)
    left = fit.residual or fit.within
    if left is None:
        return replace(found, judge=judge)
    share = MeanSquare(gradings.value * gradings.factor, gradings.df)
    answers = MeanSquare(left.value, left.df, 1.0)
    answer = component(answers, share, confidence_level=level)
    return replace(found, judge=judge, answer=answer)


def _trial_test(fit: TableFit) -> TestResult | None:
    if fit.trial is None or fit.residual is None:
        return None
    pvalue = f_pvalue(fit.trial, fit.residual)
    statistic = fit.trial.value / fit.residual.value if fit.residual.value > 0 else None
    return TestResult(pvalue, "f-trials", statistic=statistic, exact=False)


def _is_binary(scores: FloatArray) -> bool:
    def answers(part: FloatArray) -> bool:
        return bool(np.all((part == 0) | (part == 1) | np.isnan(part)))

    return answers(scores[:SAMPLE]) and answers(scores)


def _why_not(n_trials: int) -> str:
    if n_trials == 0:
        return "not measured"
    if n_trials == 1:
        return "not estimable (1 trial)"
    return "not estimable (no question has two scored trials)"


def _no_runs(table: TrialTable) -> str:
    if not table.shared:
        return "not estimable (trial labels differ from question to question)"
    return "not estimable (the trials share too few questions)"
