"""Whole runs that differ: their variance, the two-way interval, what more would buy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.components import (
    Component,
    MeanSquare,
    TableFit,
    component,
    f_pvalue,
)
from onechange.stats.sample import PairedSample
from onechange.stats.student import StudentLaw, mean

__all__ = [
    "FEWEST_QUESTIONS",
    "RUNS_DIFFER",
    "RunVariance",
    "noise_variance_within",
    "paired_run_variance",
    "run_variance",
    "satterthwaite",
    "two_way_arm_law",
    "two_way_law",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

FEWEST_QUESTIONS = 10  # with two or more trials, to tell runs from answers
RUNS_DIFFER = 0.2  # p of the F test below which runs count as different


@dataclass(frozen=True, slots=True)
class RunVariance:
    """What the trials say about whole runs, pooled over the arms.

    Parameters
    ----------
    trial, residual : MeanSquare
        Pooled mean squares of trials (adjusted for questions) and residual.
    trial_weights : tuple of float
        Σ_k w_k² of each arm: 1/K in a full table. With trials paired by index one
        entry, that of the differences.
    answer_weights : tuple of float
        Σ_i 1/K_i/n² of each arm: 1/(n·K) in a full table.
    sources : tuple of int
        Arms whose trials were used: 0 the baseline, 1 the variant.
    paired : bool
        Whether trial 1 of the baseline belongs to trial 1 of the variant.
    """

    trial: MeanSquare
    residual: MeanSquare
    trial_weights: tuple[float, ...]
    answer_weights: tuple[float, ...]
    sources: tuple[int, ...]
    paired: bool = False

    @property
    def variance(self) -> float:
        """Variance between runs, not truncated."""
        return (self.trial.value - self.residual.value) / self.trial.factor

    @property
    def statistic(self) -> float | None:
        """F of the trials; None without any residual variation."""
        if self.residual.value == 0:
            return None
        return self.trial.value / self.residual.value

    @property
    def pvalue(self) -> float | None:
        """P-value of the F test that runs do not differ; None without variation."""
        return f_pvalue(self.trial, self.residual)

    @property
    def differ(self) -> bool:
        """Whether runs differ enough to count in the decision interval."""
        pvalue = self.pvalue
        return pvalue is not None and pvalue < RUNS_DIFFER

    @property
    def noise_variance(self) -> float:
        """Variance of the delta from runs alone, the questions held fixed.

        h·MS_trial in a full table, h = (1/K_b + 1/K_v)/n.
        """
        answers = sum(self.answer_weights) * self.residual.value
        return max(0.0, answers + sum(self.trial_weights) * self.variance)

    def interval(self, confidence_level: float) -> Component:
        """Variance between runs with its interval."""
        return component(self.trial, self.residual, confidence_level=confidence_level)


def run_variance(baseline: TableFit, variant: TableFit) -> RunVariance | None:
    """Pool the variance between runs over two arms that ran independently.

    Parameters
    ----------
    baseline, variant : TableFit
        Tables of the same questions; one trial is a table of one column.

    Returns
    -------
    RunVariance or None
        None when no arm has two trials of at least 10 questions.

    Notes
    -----
    MS_trial = ΣSS_trial/Σ(K_a - 1) and MS_residual = ΣSS_residual/Σdf over the
    arms that have it; the other arm is taken to vary as much.

    Examples
    --------
    >>> from onechange.stats.components import fit_table
    >>> rng = np.random.default_rng(7)
    >>> arms = [rng.normal(size=(50, 3)) + [0.0, 1.0, 2.0] for _ in range(2)]
    >>> runs = run_variance(*(fit_table(arm) for arm in arms))
    >>> runs.differ, runs.trial.df, runs.residual.df
    (True, 4, 196)
    """
    arms = (baseline, variant)
    sources = tuple(i for i, fit in enumerate(arms) if _tells_of_runs(fit))
    pooled = _pooled([arms[i] for i in sources])
    if pooled is None:
        return None
    return RunVariance(
        *pooled,
        trial_weights=tuple(fit.trial_weight for fit in arms),
        answer_weights=tuple(fit.answer_weight for fit in arms),
        sources=sources,
    )


def paired_run_variance(differences: TableFit) -> RunVariance | None:
    """Variance between paired runs, from the table of differences.

    Parameters
    ----------
    differences : TableFit
        Of variant minus baseline, trial by trial.

    Returns
    -------
    RunVariance or None
        None with fewer than two trials of 10 questions.
    """
    if not _tells_of_runs(differences):
        return None
    pooled = _pooled([differences])
    assert pooled is not None
    return RunVariance(
        *pooled,
        trial_weights=(differences.trial_weight,),
        answer_weights=(differences.answer_weight,),
        sources=(0, 1),
        paired=True,
    )


def two_way_law(sample: PairedSample, runs: RunVariance) -> StudentLaw | None:
    """Law of the mean delta when other questions and other runs might have been drawn.

    Parameters
    ----------
    sample : PairedSample
        Pairs of question means, all of them or those of a slice.
    runs : RunVariance
        Of the whole metric.

    Returns
    -------
    StudentLaw or None
        None without any spread, or for a single question or cluster.

    Notes
    -----
    V = V_q + max(0, h·(MS_trial - MS_residual)), V_q = sd²/n (CR2 with clusters),
    h = (1/K_b + 1/K_v)/n, with Satterthwaite's degrees of freedom
    V²/(V_q²/df_q + (h·MS_trial)²/ν + (h·MS_residual)²/ν_e).
    """
    clusters = sample.clusters
    if clusters is not None and sample.n_clusters == sample.n_pairs:
        clusters = None
    weight = sum(runs.trial_weights)
    return _law(sample.difference, clusters, runs, weight)


def two_way_arm_law(
    values: FloatArray, clusters: IntArray | None, runs: RunVariance, arm: int
) -> StudentLaw | None:
    """As `two_way_law` for one arm's own mean.

    Parameters
    ----------
    values : ndarray of float, shape (n_questions,)
        Question means of the arm.
    clusters : ndarray of int, shape (n_questions,), or None
    runs : RunVariance
        Of unpaired arms.
    arm : int
        0 for the baseline, 1 for the variant.
    """
    if clusters is not None and np.unique(clusters).size == values.size:
        clusters = None
    return _law(values, clusters, runs, runs.trial_weights[arm])


def satterthwaite(
    question: tuple[float, float],
    runs: tuple[float, float],
    answers: tuple[float, float],
) -> float | None:
    """Degrees of freedom of V_q + runs - answers.

    Parameters
    ----------
    question, runs, answers : tuple of float
        Contribution and degrees of freedom of V_q, h·MS_trial and h·MS_residual.

    Returns
    -------
    float or None
        None without any spread.
    """
    total = question[0] + max(0.0, runs[0] - answers[0])
    spread = sum(part**2 / df for part, df in (question, runs, answers) if df > 0)
    return None if spread == 0 else total**2 / spread


def noise_variance_within(
    n_questions: int, arms: Sequence[tuple[float, float]]
) -> float:
    """Variance of the delta over repetitions, by the spread within questions.

    Parameters
    ----------
    n_questions : int
    arms : sequence of (float, float)
        Variance within questions, and trials, of each arm.

    Notes
    -----
    Σ_a s²_a/(K_a·n): the part of the question-only variance that trials make.

    Examples
    --------
    >>> noise_variance_within(10, [(0.02, 2), (0.03, 3)])
    0.002
    """
    return sum(variance / k for variance, k in arms) / n_questions


def _tells_of_runs(fit: TableFit) -> bool:
    return (
        fit.trial is not None
        and fit.residual is not None
        and fit.n_repeated >= FEWEST_QUESTIONS
    )


def _pooled(fits: Sequence[TableFit]) -> tuple[MeanSquare, MeanSquare] | None:
    trials = [fit.trial for fit in fits if fit.trial is not None]
    residuals = [fit.residual for fit in fits if fit.residual is not None]
    if not trials or not residuals:
        return None
    return _pool(trials), _pool(residuals)


def _pool(parts: Sequence[MeanSquare]) -> MeanSquare:
    df = sum(part.df for part in parts)
    return MeanSquare(
        value=sum(part.value * part.df for part in parts) / df,
        df=df,
        factor=sum(part.factor * part.df for part in parts) / df,
    )


def _law(
    values: FloatArray, clusters: IntArray | None, runs: RunVariance, weight: float
) -> StudentLaw | None:
    found = _question_variance(values, clusters)
    if found is None:
        return None
    h = weight / runs.trial.factor
    df = satterthwaite(
        found,
        (h * runs.trial.value, runs.trial.df),
        (h * runs.residual.value, runs.residual.df),
    )
    if df is None:
        return None
    variance = found[0] + max(0.0, weight * runs.variance)
    return StudentLaw(mean(values), math.sqrt(variance), df)


def _question_variance(
    values: FloatArray, clusters: IntArray | None
) -> tuple[float, float] | None:
    """Variance of a mean over questions alone, and its degrees of freedom."""
    if clusters is not None:
        from onechange.stats.cluster import cr2

        found = cr2(values, clusters)
        if found.standard_error is None or found.df is None:
            return None
        return found.standard_error**2, found.df
    if values.size < 2:
        return None
    spread = 0.0 if np.ptp(values) == 0 else float(np.var(values, ddof=1))
    return spread / values.size, values.size - 1
