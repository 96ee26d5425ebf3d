"""What makes up the variance of a mean, and what more questions or trials would buy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from onechange.stats.components import TableFit
from onechange.stats.runs import RunVariance
from onechange.stats.student import t_quantile
from onechange.stats.twoway import satterthwaite

__all__ = [
    "Contributions",
    "Purchase",
    "cheapest_design",
    "contributions",
    "projected_variance",
]

MOST_TRIALS = 50
MOST_QUESTIONS = 10**7


@dataclass(frozen=True, slots=True)
class Contributions:
    """Parts of the variance of a delta, or of an arm's mean, in squared units.

    Parameters
    ----------
    questions : float
        From which questions were drawn.
    answers : tuple of float
        From answers that vary between trials, by arm (one entry when trials are
        paired, or for a single arm).
    runs : tuple of float
        From runs that differ as wholes, by arm.
    gradings : tuple of float
        From gradings of the same answer that differ, by arm; 0 where each answer
        was graded once, when they are part of the answers.
    n_questions : int
        Questions behind them.
    n_trials : tuple of int
        Trials of each arm.
    df : float
        Degrees of freedom of the question-only variance.
    """

    questions: float
    answers: tuple[float, ...]
    runs: tuple[float, ...]
    n_questions: int
    n_trials: tuple[int, ...]
    df: float
    gradings: tuple[float, ...] = ()

    @property
    def variance(self) -> float:
        """All of it."""
        within = sum(self.answers) + sum(self.gradings)
        return self.questions + within + sum(self.runs)

    @property
    def standard_error(self) -> float:
        """Root of `variance`."""
        return math.sqrt(self.variance)

    @property
    def shares(self) -> dict[str, float] | None:
        """Shares of the parts, by name; None when nothing varies."""
        if self.variance == 0:
            return None
        return {
            "questions": self.questions / self.variance,
            "answers": sum(self.answers) / self.variance,
            "gradings": sum(self.gradings) / self.variance,
            "runs": sum(self.runs) / self.variance,
        }

    def scaled(self, *, questions: float = 1.0, trials: float = 1.0) -> Contributions:
        """Parts with `questions` times the questions and `trials` times the trials.

        Notes
        -----
        Var(n, K) = (σ²_D + σ²_e,b/K_b + σ²_e,v/K_v)/n + σ²_t,b/K_b + σ²_t,v/K_v.
        """
        return Contributions(
            questions=self.questions / questions,
            answers=tuple(part / questions / trials for part in self.answers),
            runs=tuple(part / trials for part in self.runs),
            n_questions=round(self.n_questions * questions),
            n_trials=tuple(round(k * trials) for k in self.n_trials),
            df=self.df * questions,
            gradings=tuple(part / questions / trials for part in self.gradings),
        )

    def half_width(self, confidence_level: float) -> float | None:
        """Half the width of the interval; None where runs count and cannot be seen."""
        answers, runs = sum(self.answers) + sum(self.gradings), sum(self.runs)
        df_runs = sum(k - 1 for k in self.n_trials)
        if runs > 0 and df_runs == 0:
            return None
        df: float | None = self.df
        if runs > 0:
            df = satterthwaite(
                (self.questions + answers, self.df),
                (answers + runs, df_runs),
                (answers, df_runs * (self.n_questions - 1)),
                least_df=min(k - 1 for k in self.n_trials if k > 1),
            )
        if df is None or df <= 0:
            return None
        return t_quantile((1 - confidence_level) / 2, df) * self.standard_error


@dataclass(frozen=True, slots=True)
class Purchase:
    """A design that reaches a half-width, and what it costs beyond what there is.

    Parameters
    ----------
    n_questions : int
    n_trials : tuple of int
        Trials of each arm.
    half_width : float
        Expected half-width of the interval.
    cost : float
        Of the new questions and of the answers still to be had.
    """

    n_questions: int
    n_trials: tuple[int, ...]
    half_width: float
    cost: float


def projected_variance(
    question: float,
    arms: Sequence[tuple[float, float, int]],
    n_questions: int,
) -> float:
    """Variance of a mean (one arm) or of a delta (two arms) with n questions.

    Parameters
    ----------
    question : float
        Variance between questions; for a delta, of their true differences.
    arms : sequence of (float, float, int)
        Residual variance, variance between runs, and trials of each arm.
    n_questions : int

    Notes
    -----
    (σ²_D + Σ σ²_e,a/K_a)/n + Σ σ²_t,a/K_a.

    Examples
    --------
    >>> projected_variance(0.02, [(0.04, 0.0, 4), (0.04, 0.0, 4)], 100)
    0.0004
    """
    answers = sum(residual / k for residual, _, k in arms)
    return (question + answers) / n_questions + sum(run / k for _, run, k in arms)


def contributions(
    question_variance: tuple[float, float],
    fits: Sequence[TableFit],
    runs: RunVariance,
    judged: Sequence[float] = (),
) -> Contributions:
    """Part the variance of a mean or delta into questions, answers and runs.

    Parameters
    ----------
    question_variance : tuple of float
        Question-only variance of the mean, and its degrees of freedom.
    fits : sequence of TableFit
        Of the arms; of the differences when trials are paired.
    runs : RunVariance
        Its variance between runs is used for each arm, as in the two-way interval.
    judged : sequence of float
        Variance of an answer's mean grading, by table; empty when answers were
        graded once.

    Notes
    -----
    The answers' part is each arm's own residual variance (the pooled one where an
    arm has a single trial) and is taken out of the question-only variance; no part
    is let below 0.
    """
    between = max(0.0, runs.variance)
    variance, df = question_variance
    within = [(fit.residual or runs.residual).value * fit.answer_weight for fit in fits]
    excess = sum(within) / variance if variance > 0 else 0.0
    if excess > 1:
        within = [part / excess for part in within]
    owns = judged or [0.0] * len(fits)
    gradings = [
        min(part, own * fit.answer_weight)
        for part, own, fit in zip(within, owns, fits, strict=True)
    ]
    return Contributions(
        questions=max(0.0, variance - sum(within)),
        answers=tuple(a - g for a, g in zip(within, gradings, strict=True)),
        runs=tuple(between * fit.trial_weight for fit in fits),
        n_questions=fits[0].n_questions,
        n_trials=tuple(fit.n_trials for fit in fits),
        df=df,
        gradings=tuple(gradings),
    )


def cheapest_design(
    now: Contributions,
    half_width: float,
    *,
    question_cost: float,
    trial_cost: float,
    confidence_level: float = 0.95,
) -> Purchase | None:
    """Cheapest numbers of questions and trials that reach a half-width.

    Parameters
    ----------
    now : Contributions
        Of the design at hand; it is only added to.
    half_width : float
        Half-width wanted, in the metric's unit.
    question_cost : float
        Cost of a new question, before it is answered.
    trial_cost : float
        Cost of one answer to one question by one arm, grading included.
    confidence_level : float
        Two-sided level.

    Returns
    -------
    Purchase or None
        None when no design with up to 50 times the trials reaches it.

    Examples
    --------
    >>> now = Contributions(4e-4, (1e-4, 1e-4), (0.0, 0.0), 100, (2, 2), 99)
    >>> found = cheapest_design(now, 0.04, question_cost=1.0, trial_cost=0.01)
    >>> found.n_questions, found.n_trials
    (111, (8, 8))
    """
    best: Purchase | None = None
    for extra in range(MOST_TRIALS):
        trials = (now.n_trials[0] + extra) / now.n_trials[0]
        if any(k * trials % 1 > 1e-9 for k in now.n_trials) and extra:
            continue
        found = _fewest_questions(now, trials, half_width, confidence_level)
        if found is None:
            continue
        per_question = sum(found.n_trials) * trial_cost
        answered = now.n_questions * sum(now.n_trials) * trial_cost
        cost = (
            (found.n_questions - now.n_questions) * question_cost
            + found.n_questions * per_question
            - answered
        )
        width = found.half_width(confidence_level)
        assert width is not None, "a design that was found has a width"
        if best is None or cost < best.cost - 1e-12:
            best = Purchase(found.n_questions, found.n_trials, width, cost)
    return best


def _fewest_questions(
    now: Contributions, trials: float, half_width: float, confidence_level: float
) -> Contributions | None:
    """Fewest questions, at least those at hand, that reach the half-width."""

    def design(n: int) -> Contributions:
        return now.scaled(questions=n / now.n_questions, trials=trials)

    def enough(n: int) -> bool:
        width = design(n).half_width(confidence_level)
        return width is not None and width <= half_width

    low, high = now.n_questions, now.n_questions
    while not enough(high):
        if high > MOST_QUESTIONS:
            return None
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return design(low if enough(low) else high)
