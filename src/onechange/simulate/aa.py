"""A/A comparisons of an arm's own trials: what a change of nothing looks like."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from onechange.errors import InputError
from onechange.stats.choose import decision_interval
from onechange.stats.sample import paired_sample

__all__ = ["FEWEST_TRIALS", "AASplit", "aa_split"]

FEWEST_TRIALS = 5


@dataclass(frozen=True, slots=True)
class AASplit:
    """The deltas between single trials of one arm, in which nothing changed.

    Parameters
    ----------
    deltas : tuple of float
        Later minus earlier trial, for every two trials with questions in common.
    low, high : float
        Smallest and largest of the deltas.
    n_alarms : int or None
        How many of these comparisons exclude 0; None under 5 trials.
    false_alarm_share : float or None
        `n_alarms` over the comparisons that have an interval; nominally 1 minus
        the confidence level.
    reason : str or None
        Why there is no share.
    """

    deltas: tuple[float, ...]
    low: float
    high: float
    n_alarms: int | None = None
    false_alarm_share: float | None = None
    reason: str | None = None


def aa_split(
    scores: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    confidence_level: float = 0.95,
    score_range: tuple[float, float] | None = None,
) -> AASplit:
    """Compare every two trials of one arm as if the later one were a variant.

    Parameters
    ----------
    scores : array_like, shape (n_questions, n_trials)
        Scores of one arm; NaN means unscored.
    clusters : array_like, shape (n_questions,), optional
        Cluster of each question.
    confidence_level : float
        Two-sided level of the decision interval.
    score_range : tuple of float, optional
        Declared (lowest, highest) score.

    Returns
    -------
    AASplit

    Raises
    ------
    InputError
        With fewer than two trials, or when no two trials share a question.

    Notes
    -----
    The comparisons share trials and are not independent: the share describes this
    arm, it is no test. A share far above 1 - `confidence_level` means that whole
    runs differ and that intervals over questions alone are too narrow.

    Examples
    --------
    >>> import numpy as np
    >>> correct = np.random.default_rng(7).random((40, 6)) < 0.8
    >>> result = aa_split(correct)
    >>> len(result.deltas), result.n_alarms
    (15, 0)
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2:
        raise InputError(
            "aa_split: `scores` must be questions × trials with at least two trials; "
            f"its shape is {table.shape}."
        )
    codes = None if clusters is None else np.asarray(clusters)
    deltas: list[float] = []
    alarms: list[bool] = []
    for first, second in combinations(range(table.shape[1]), 2):
        both = np.isfinite(table[:, first]) & np.isfinite(table[:, second])
        if not both.any():
            continue
        sample = paired_sample(
            table[both, first],
            table[both, second],
            clusters=None if codes is None else codes[both],
            score_range=score_range,
        )
        deltas.append(float(np.mean(sample.difference)))
        interval = decision_interval(sample, confidence_level=confidence_level).interval
        if interval is not None:
            alarms.append(interval.low > 0 or interval.high < 0)
    if not deltas:
        raise InputError(
            "aa_split: no two trials have a scored question in common; "
            "run the same questions in every trial."
        )
    return _summary(deltas, alarms, table.shape[1])


def _summary(deltas: list[float], alarms: list[bool], n_trials: int) -> AASplit:
    low, high = min(deltas), max(deltas)
    reason = None
    if n_trials < FEWEST_TRIALS:
        reason = (
            f"{n_trials} trials are too few for a share; {FEWEST_TRIALS} are needed"
        )
    elif not alarms:
        reason = "no comparison of two trials has an interval"
    if reason is not None:
        return AASplit(tuple(deltas), low, high, reason=reason)
    return AASplit(
        tuple(deltas),
        low,
        high,
        n_alarms=sum(alarms),
        false_alarm_share=sum(alarms) / len(alarms),
    )
