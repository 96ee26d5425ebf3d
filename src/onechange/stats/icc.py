"""Intraclass correlations: how much of the variation lies between questions."""

from __future__ import annotations

from dataclasses import dataclass

from onechange.stats.components import MeanSquare, TableFit

__all__ = ["Correlation", "intraclass"]


@dataclass(frozen=True, slots=True)
class Correlation:
    """An intraclass correlation with its interval.

    Parameters
    ----------
    value : float
        Not truncated; a negative one says that questions do not differ.
    low, high : float
        Limits.
    confidence_level : float
        Two-sided level.
    """

    value: float
    low: float
    high: float
    confidence_level: float


def intraclass(
    fit: TableFit, *, confidence_level: float = 0.95
) -> dict[str, Correlation]:
    """Intraclass correlations of a questions × trials table.

    Parameters
    ----------
    fit : TableFit
    confidence_level : float
        Two-sided level.

    Returns
    -------
    dict of str to Correlation
        ``icc_1_1`` and ``icc_1_k`` (a single score, the mean of a question's
        scores; trials interchangeable), ``icc_2_1`` and ``icc_2_k`` (trials as a
        crossed random factor). Those that cannot be estimated, or are 0/0, are
        left out.

    Notes
    -----
    Shrout & Fleiss (1979), with F intervals for ICC(1,·) and their Satterthwaite
    approximation for ICC(2,·). With unequal numbers of trials, k is the factor of
    the questions' component in their mean square.

    Examples
    --------
    >>> import numpy as np
    >>> from onechange.stats.components import fit_table
    >>> scores = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8],
    ...                    [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float)
    >>> found = intraclass(fit_table(scores))
    >>> [round(found[name].value, 2) for name in ("icc_1_1", "icc_2_1")]
    [0.17, 0.29]
    """
    found: dict[str, Correlation] = {}
    if fit.between is not None and fit.within is not None:
        single = _one_way(fit.between, fit.within, confidence_level)
        if single is not None:
            found["icc_1_1"] = single
            found |= _of_mean("icc_1_k", single, fit.between.factor)
    if fit.question and fit.trial and fit.residual:
        parts = (fit.question, fit.trial, fit.residual)
        single = _crossed(*parts, fit.n_questions, confidence_level)
        if single is not None:
            found["icc_2_1"] = single
            found |= _of_mean("icc_2_k", single, fit.question.factor)
    return found


def _one_way(
    between: MeanSquare, within: MeanSquare, confidence_level: float
) -> Correlation | None:
    from scipy.special import fdtri

    k = between.factor
    total = between.value + (k - 1) * within.value
    if total == 0:
        return None
    value = (between.value - within.value) / total
    if within.value == 0:
        return Correlation(value, value, value, confidence_level)
    level = 1 - (1 - confidence_level) / 2
    ratio = between.value / within.value
    below = ratio / float(fdtri(between.df, within.df, level))
    above = ratio * float(fdtri(within.df, between.df, level))
    return Correlation(
        value,
        (below - 1) / (below + k - 1),
        (above - 1) / (above + k - 1),
        confidence_level,
    )


def _crossed(
    question: MeanSquare,
    trial: MeanSquare,
    residual: MeanSquare,
    n: int,
    confidence_level: float,
) -> Correlation | None:
    from scipy.special import fdtri

    q, t, e, k = question.value, trial.value, residual.value, question.factor
    total = q + (k - 1) * e + k * (t - e) / trial.factor
    if total <= 0:
        return None
    value = (q - e) / total
    if value >= 1 or e == 0:
        return Correlation(value, value, value, confidence_level)
    level = 1 - (1 - confidence_level) / 2
    on_trial = k * value / (n * (1 - value))
    on_residual = 1 + k * value * (n - 1) / (n * (1 - value))
    df = (on_trial * t + on_residual * e) ** 2 / (
        (on_trial * t) ** 2 / trial.df + (on_residual * e) ** 2 / residual.df
    )
    noise = k * t + (k * n - k - n) * e
    below = float(fdtri(question.df, df, level))
    above = float(fdtri(df, question.df, level))
    return Correlation(
        value,
        n * (q - below * e) / (below * noise + n * q),
        n * (above * q - e) / (noise + n * above * q),
        confidence_level,
    )


def _of_mean(name: str, single: Correlation, k: float) -> dict[str, Correlation]:
    """Spearman-Brown: from one score to the mean of k.

    Empty where question means vary so little that it has no lower end.
    """
    values = (single.value, single.low, single.high)
    if any(1 + (k - 1) * value <= 0 for value in values):
        return {}
    value, low, high = (k * part / (1 + (k - 1) * part) for part in values)
    return {name: Correlation(value, low, high, single.confidence_level)}
