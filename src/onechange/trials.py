"""Run-to-run variation of each metric in each arm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from onechange.pairs import Pairs
from onechange.stats.estimate import Note

__all__ = ["ArmTrials", "MetricTrials", "metric_trials"]


@dataclass(frozen=True, slots=True)
class ArmTrials:
    """Run-to-run variation of one metric in one arm; None = not estimable.

    `means` is the mean of each trial over the paired questions scored in it
    (None where a trial has no score), in the order of `labels`.
    """

    labels: tuple[str, ...]
    means: tuple[float | None, ...]
    between_trial_sd: float | None
    within_question_sd: float | None = None
    icc: float | None = None
    flip_rate: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class MetricTrials:
    """Run-to-run variation of one metric in both arms."""

    metric: str
    baseline: ArmTrials
    variant: ArmTrials
    notes: tuple[Note, ...] = ()


def metric_trials(pairs: Pairs, metric: str) -> MetricTrials:
    """Summarise the trials of one metric.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    metric : str
        Name of the metric.

    Returns
    -------
    MetricTrials
        Means per trial and their standard deviation (ddof 1); with a single
        trial the run variance is unknown, never 0.
    """
    return MetricTrials(
        metric=metric,
        baseline=_arm_trials(pairs, "baseline", metric),
        variant=_arm_trials(pairs, "variant", metric),
    )


def _arm_trials(pairs: Pairs, arm: str, metric: str) -> ArmTrials:
    table = pairs.baseline if arm == "baseline" else pairs.variant
    n_trials = len(table.trial_labels)
    scores = table.metrics[metric]
    use = np.isfinite(scores) & pairs.paired[table.question]
    totals = np.bincount(table.trial[use], weights=scores[use], minlength=n_trials)
    counts = np.bincount(table.trial[use], minlength=n_trials)
    means = [
        float(total / count) if count else None
        for total, count in zip(totals, counts, strict=True)
    ]
    scored = [mean for mean in means if mean is not None]
    estimable = len(scored) >= 2
    return ArmTrials(
        labels=table.trial_labels,
        means=tuple(means),
        between_trial_sd=float(np.std(scored, ddof=1)) if estimable else None,
        reason=None if estimable else f"not estimable ({_count(len(scored))})",
    )


def _count(n_trials: int) -> str:
    return "1 trial" if n_trials == 1 else f"{n_trials} trials"
