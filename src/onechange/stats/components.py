"""Question, trial and residual variance from a questions × trials table."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.estimate import Interval
from onechange.stats.products import products

__all__ = [
    "Component",
    "MeanSquare",
    "TableFit",
    "component",
    "f_pvalue",
    "fit_table",
    "residual_component",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

ROUNDING = 1e-12  # of the largest score: deviations up to it are no variation


@dataclass(frozen=True, slots=True)
class MeanSquare:
    """A mean square, and how often its own component counts in its expectation.

    Parameters
    ----------
    value : float
        Sum of squares over degrees of freedom, in squared units of the score.
    df : int
        Degrees of freedom.
    factor : float
        E(value) = residual variance + factor · component; 0 for the residual.
    """

    value: float
    df: int
    factor: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class TableFit:
    """Mean squares of a questions × trials table, unscored cells left out.

    Parameters
    ----------
    n_questions : int
        Questions with a score.
    n_trials : int
        Trials with a score.
    n_scores : int
        Scored cells.
    n_repeated : int
        Questions with two or more scores; only they tell of trials.
    between, within : MeanSquare or None
        One-way: questions, and scores within questions.
    question, trial, residual : MeanSquare or None
        Two-way, each adjusted for the other; None where the trials cannot be told
        from the questions (too few scores, or trials that share no question).
    trial_weight : float
        Σ_k w_k², w_k the weight of trial k in the mean of the question means; 1/K
        in a full table.
    answer_weight : float
        Σ_i 1/K_i / n_questions²; 1/(n·K) in a full table.
    """

    n_questions: int
    n_trials: int
    n_scores: int
    n_repeated: int
    between: MeanSquare | None
    within: MeanSquare | None
    question: MeanSquare | None
    trial: MeanSquare | None
    residual: MeanSquare | None
    trial_weight: float
    answer_weight: float


@dataclass(frozen=True, slots=True)
class Component:
    """A variance component with its interval.

    Parameters
    ----------
    variance : float
        Moment estimate, not truncated: a negative one says that nothing is seen.
    low, high : float
        Limits of the variance, cut at 0; `high` may be infinite.
    confidence_level : float
        Two-sided level.
    """

    variance: float
    low: float
    high: float
    confidence_level: float

    @property
    def sd(self) -> float:
        """Standard deviation, 0 for a negative estimate."""
        return math.sqrt(max(self.variance, 0.0))

    @property
    def sd_interval(self) -> Interval:
        """Interval of the standard deviation."""
        ends = math.sqrt(self.low), math.sqrt(self.high)
        return Interval(*ends, self.confidence_level, "moments")


def fit_table(scores: FloatArray) -> TableFit:
    """Compute the mean squares of a questions × trials table.

    Parameters
    ----------
    scores : ndarray of float, shape (n_questions, n_trials)
        Rows are questions, columns trials; NaN where unscored.

    Returns
    -------
    TableFit

    Notes
    -----
    With K_i scores of question i, n_k of trial k, N in all, the additive model
    score = mean + question + trial + residual is fitted by least squares. The sum
    of squares of trials adjusted for questions is b'C⁺b with
    C = diag(n_k) - M'·diag(1/K_i)·M, M the table of what is scored and b the sums
    of the scores less their question's mean. Then (Henderson's method 3)
    E(MS_trial) = σ²_e + σ²_t·(N - n)/(K - 1), E(MS_question) alike with
    (N - K)/(n - 1). A full table gives the usual mean squares, factors n and K.

    Examples
    --------
    >>> fit = fit_table(np.array([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]]))
    >>> fit.within.value, fit.trial.value, fit.residual.value
    (0.8333333333333334, 1.5, 0.5)
    """
    scored = np.isfinite(scores)
    full = bool(scored.all())
    if not full:
        scores, scored = _without_empty(scores, scored)
    n, n_trials = scores.shape
    if n == 0 or n_trials == 0:
        return TableFit(0, 0, 0, 0, None, None, None, None, None, 0.0, 0.0)
    cells = _cells(scores, scored, full=full)
    largest = max(float(cells.scores.max()), -float(cells.scores.min()))
    noise = (ROUNDING * largest) ** 2
    n_scores = int(cells.counts.sum())
    ss_within = _sum_of_squares(cells.deviation)
    question, trial, residual = _two_way(cells, noise)
    return TableFit(
        n_questions=n,
        n_trials=n_trials,
        n_scores=n_scores,
        n_repeated=int(np.count_nonzero(cells.counts > 1)),
        between=_between(cells.means, cells.counts, noise),
        within=_mean_square(ss_within, n_scores - n, noise),
        question=question,
        trial=trial,
        residual=residual,
        trial_weight=_trial_weight(cells),
        answer_weight=float(np.sum(1 / cells.counts)) / n**2,
    )


def component(
    first: MeanSquare, second: MeanSquare, *, confidence_level: float = 0.95
) -> Component:
    """Estimate the component of a mean square over another one, with an interval.

    Parameters
    ----------
    first : MeanSquare
        That of the questions or trials.
    second : MeanSquare
        That of the residual.
    confidence_level : float
        Two-sided level.

    Returns
    -------
    Component
        (first - second)/factor with the modified large-sample interval of Ting et
        al. (1990), whose low end is 0 exactly where the F test is on its level.

    Examples
    --------
    >>> found = component(MeanSquare(3.5, 2, 2.0), MeanSquare(0.5, 2))
    >>> round(found.variance, 6), found.low
    (1.5, 0.0)
    """
    tail = (1 - confidence_level) / 2
    low, high = _difference_limits(first, second, tail)
    return Component(
        variance=(first.value - second.value) / first.factor,
        low=max(low, 0.0) / first.factor,
        high=max(high, 0.0) / first.factor,
        confidence_level=confidence_level,
    )


def residual_component(
    residual: MeanSquare, *, confidence_level: float = 0.95
) -> Component:
    """Residual variance with its chi-square interval."""
    tail = (1 - confidence_level) / 2
    low = residual.value / _chi2_ratio(1 - tail, residual.df)
    high = residual.value / _chi2_ratio(tail, residual.df)
    return Component(residual.value, low, high, confidence_level)


def f_pvalue(first: MeanSquare, second: MeanSquare) -> float | None:
    """Upper tail of F = first/second; None without any variation.

    Parameters
    ----------
    first, second : MeanSquare

    Examples
    --------
    >>> round(f_pvalue(MeanSquare(3.0, 2), MeanSquare(1.0, 12)), 6)
    0.087791
    """
    from scipy.special import fdtrc

    if second.value == 0:
        return None if first.value == 0 else 5e-324
    return max(float(fdtrc(first.df, second.df, first.value / second.value)), 5e-324)


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """A table without empty rows and columns; unscored cells hold 0."""

    scores: FloatArray
    scored: FloatArray  # 1 where scored, else 0: products are cheaper than masks
    counts: FloatArray  # scores per question
    means: FloatArray  # of each question
    deviation: FloatArray  # scores less their question's mean
    full: bool


def _without_empty(
    scores: FloatArray, scored: BoolArray
) -> tuple[FloatArray, BoolArray]:
    """Leave out questions and trials without any score."""
    keep, used = scored.any(axis=1), scored.any(axis=0)
    if keep.all() and used.all():
        return scores, scored
    return scores[keep][:, used], scored[keep][:, used]


def _cells(scores: FloatArray, scored: BoolArray, *, full: bool) -> _Cells:
    if full:
        n, k = scores.shape
        means = scores.sum(axis=1) / k
        ones = np.broadcast_to(1.0, scores.shape)
        counts = np.full(n, float(k))
        return _Cells(scores, ones, counts, means, scores - means[:, None], full)
    weights = scored.astype(np.float64)
    counts = weights.sum(axis=1)
    filled = np.where(scored, scores, 0.0)
    means = filled.sum(axis=1) / counts
    deviation = (filled - means[:, None]) * weights
    return _Cells(filled, weights, counts, means, deviation, full)


def _mean_square(
    total: float, df: int, noise: float, factor: float = 0.0
) -> MeanSquare | None:
    if df <= 0:
        return None
    value = total / df
    return MeanSquare(0.0 if value <= noise else value, df, factor)


def _between(
    means: FloatArray, per_question: FloatArray, noise: float
) -> MeanSquare | None:
    """One-way mean square of the questions."""
    n, n_scores = means.size, float(per_question.sum())
    if n < 2:
        return None
    grand = float(np.sum(per_question * means)) / n_scores
    total = float(np.sum(per_question * (means - grand) ** 2))
    factor = (n_scores - float(np.sum(per_question**2)) / n_scores) / (n - 1)
    return _mean_square(total, n - 1, noise, factor)


def _two_way(
    cells: _Cells, noise: float
) -> tuple[MeanSquare | None, MeanSquare | None, MeanSquare | None]:
    """Mean squares of questions, trials and residual, each adjusted."""
    n, n_trials = cells.scores.shape
    n_scores = int(cells.counts.sum())
    df_residual = n_scores - n - n_trials + 1
    if n < 2 or n_trials < 2 or df_residual <= 0:
        return None, None, None
    sums = cells.deviation.sum(axis=0)
    effects = sums / n if cells.full else _trial_effects(cells, sums)
    if effects is None:
        return None, None, None
    residual = cells.deviation - effects
    if not cells.full:
        # the mean effect of a question's own trials went with its mean
        own = np.einsum("ik,k->i", cells.scored, effects) / cells.counts
        residual += own[:, None]
        residual *= cells.scored
    ss_residual = _sum_of_squares(residual)
    ss_trial = float(sums @ effects)
    if cells.full:
        grand = cells.means.mean()
        ss_question = n_trials * float(np.sum((cells.means - grand) ** 2))
    else:
        ss_question = _ss_around_trials(cells) - ss_residual
    k_factor = (n_scores - n_trials) / (n - 1)
    n_factor = (n_scores - n) / (n_trials - 1)
    return (
        _mean_square(ss_question, n - 1, noise, k_factor),
        _mean_square(ss_trial, n_trials - 1, noise, n_factor),
        _mean_square(ss_residual, df_residual, noise),
    )


def _ss_around_trials(cells: _Cells) -> float:
    """Sum of squares of the scores around the means of their trials."""
    around = cells.scores - cells.scores.sum(axis=0) / cells.scored.sum(axis=0)
    around *= cells.scored
    return _sum_of_squares(around)


def _sum_of_squares(table: FloatArray) -> float:
    return float(np.einsum("ik,ik->", table, table))


def _per_question_weight(
    cells: _Cells, count: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Sum a count over the questions, each divided by its number of scores."""
    groups = np.unique(cells.counts)
    parts = [count(cells.scored[cells.counts == k]) / k for k in groups]
    return np.asarray(np.sum(parts, axis=0), dtype=np.float64)


def _trial_weight(cells: _Cells) -> float:
    """Sum of the squared weights of the trials in the mean of the question means."""
    if cells.full:
        return 1.0 / int(cells.scores.shape[1])
    shares = _per_question_weight(cells, lambda table: table.sum(axis=0))
    return float(np.sum((shares / cells.counts.size) ** 2))


def _trial_effects(cells: _Cells, sums: FloatArray) -> FloatArray | None:
    """Least-squares effects of the trials; None when they share no questions."""
    shared = _per_question_weight(cells, lambda table: products(table, table))
    information = np.diag(cells.scored.sum(axis=0)) - shared
    values, vectors = np.linalg.eigh(information)
    positive = values > 1e-9 * max(float(values[-1]), 1.0)
    if int(np.count_nonzero(positive)) < sums.size - 1:
        return None
    kept = vectors[:, positive]
    effects: FloatArray = kept @ ((kept.T @ sums) / values[positive])
    return effects


def _difference_limits(
    first: MeanSquare, second: MeanSquare, tail: float
) -> tuple[float, float]:
    """Return modified large-sample limits of E(first) - E(second)."""
    from scipy.special import fdtri

    a, b = first.value, second.value
    upper = float(fdtri(first.df, second.df, 1 - tail))
    lower = float(fdtri(first.df, second.df, tail))
    first_up = 1 - 1 / _chi2_ratio(1 - tail, first.df)
    first_down = 1 / _chi2_ratio(tail, first.df) - 1
    second_up = 1 - 1 / _chi2_ratio(1 - tail, second.df)
    second_down = 1 / _chi2_ratio(tail, second.df) - 1
    cross = ((upper - 1) ** 2 - (first_up * upper) ** 2 - second_down**2) / upper
    below = (first_up * a) ** 2 + (second_down * b) ** 2 + cross * a * b
    cross = ((1 - lower) ** 2 - (first_down * lower) ** 2 - second_up**2) / lower
    above = (first_down * a) ** 2 + (second_up * b) ** 2 + cross * a * b
    return a - b - math.sqrt(max(below, 0.0)), a - b + math.sqrt(max(above, 0.0))


def _chi2_ratio(probability: float, df: int) -> float:
    """Return a quantile of chi-square, divided by its degrees of freedom."""
    from scipy.special import chdtri

    return float(chdtri(df, 1 - probability)) / df
