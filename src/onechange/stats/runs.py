"""Whole runs that differ: the variance between runs, pooled over the arms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from onechange.stats.components import (
    Component,
    MeanSquare,
    TableFit,
    component,
    f_pvalue,
)
from onechange.stats.estimate import Note

__all__ = [
    "FEWEST_QUESTIONS",
    "RUNS_DIFFER",
    "RunVariance",
    "noise_variance_within",
    "paired_run_variance",
    "run_variance",
    "runs_note",
    "uncounted_runs_notes",
]

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
    least_df : int
        Degrees of freedom of the runs in the arm that has fewest of those used: K - 1.
    paired : bool
        Whether trial 1 of the baseline belongs to trial 1 of the variant.
    """

    trial: MeanSquare
    residual: MeanSquare
    trial_weights: tuple[float, ...]
    answer_weights: tuple[float, ...]
    sources: tuple[int, ...]
    least_df: int
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


def run_variance(*arms: TableFit) -> RunVariance | None:
    """Pool the variance between runs over arms that ran independently.

    Parameters
    ----------
    *arms : TableFit
        The baseline and the variant, tables of the same questions, or one arm
        alone; one trial is a table of one column.

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
    >>> import numpy as np
    >>> from onechange.stats.components import fit_table
    >>> rng = np.random.default_rng(7)
    >>> arms = [rng.normal(size=(50, 3)) + [0.0, 1.0, 2.0] for _ in range(2)]
    >>> runs = run_variance(*(fit_table(arm) for arm in arms))
    >>> runs.differ, runs.trial.df, runs.residual.df
    (True, 4, 196)
    """
    sources = tuple(i for i, fit in enumerate(arms) if _tells_of_runs(fit))
    pooled = _pooled([arms[i] for i in sources])
    if pooled is None:
        return None
    return RunVariance(
        *pooled,
        trial_weights=tuple(fit.trial_weight for fit in arms),
        answer_weights=tuple(fit.answer_weight for fit in arms),
        sources=sources,
        least_df=_least_df([arms[i] for i in sources]),
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
        least_df=_least_df([differences]),
        paired=True,
    )


def runs_note(runs: RunVariance) -> Note:
    """Say that whole runs may differ, by how much, and what follows from it.

    Parameters
    ----------
    runs : RunVariance

    Returns
    -------
    Note
        Code ``runs-differ``.
    """
    sd = math.sqrt(max(runs.variance, 0.0))
    if runs.statistic is None or runs.pvalue is None:
        test = "they differ by the same amount on every question"
    else:
        test = (
            f"F = {runs.statistic:.2f} on {runs.trial.df} and {runs.residual.df}, "
            f"p {'< 0.0001' if runs.pvalue < 1e-4 else f'= {runs.pvalue:.4f}'}; "
            f"the limit is p < {RUNS_DIFFER}"
        )
    sure = runs.statistic is None or runs.pvalue is None
    text = (
        f"Whole runs {'' if sure else 'may '}differ ({test}; SD between runs "
        f"{sd:.4g}), so the interval counts runs as well as questions: more questions "
        "will not make up for it, more runs will."
    )
    if len(runs.sources) == 1 and len(runs.trial_weights) == 2:
        known = ("baseline", "variant")[runs.sources[0]]
        text += f" Only the {known} shows it; the other arm is taken to vary as much."
    return Note("runs-differ", text)


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


def uncounted_runs_notes(
    subject: str, runs: Iterable[RunVariance | None]
) -> tuple[Note, ...]:
    """Say of an interval that does not count runs that whole runs may differ.

    Parameters
    ----------
    subject : str
        What the interval is of.
    runs : iterable of RunVariance or None
        How far whole runs differ in the scores behind it.

    Returns
    -------
    tuple of Note
        Code ``runs-not-counted``; empty where no runs differ.

    Examples
    --------
    >>> uncounted_runs_notes("latency_ms p95", [None])
    ()
    """
    if not any(part is not None and part.differ for part in runs):
        return ()
    text = (
        f"Whole runs may differ, and the interval of {subject} counts questions alone: "
        "it is too narrow for what another run would give, and shows no pass."
    )
    return (Note("runs-not-counted", text),)


def _tells_of_runs(fit: TableFit) -> bool:
    return (
        fit.trial is not None
        and fit.residual is not None
        and fit.n_repeated >= FEWEST_QUESTIONS
    )


def _least_df(fits: Sequence[TableFit]) -> int:
    return min(fit.trial.df for fit in fits if fit.trial is not None)


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
