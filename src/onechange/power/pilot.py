"""What a pilot says about one metric: pairs, clusters, trials, missing scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.compare import Comparison
from onechange.errors import MethodError, PlanError
from onechange.missing import population
from onechange.pairs import rate_rows, trial_table
from onechange.plan import BUILT_IN_RATES, Metric, did_you_mean
from onechange.stats.ratio import RatioPair, linearised

__all__ = ["Pilot", "make_pilot"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Pilot:
    """The pairs of one metric that further questions are taken to be like.

    Parameters
    ----------
    metric, direction : str
        The metric; ``higher`` or ``lower`` is better.
    baseline, variant : ndarray of float, shape (n_pairs,)
        Question means.
    baseline_trials, variant_trials : ndarray of float, shape (n_pairs, n_trials)
        Scores of each trial, NaN where unscored.
    clusters : ndarray of int, shape (n_pairs,), or None
        Cluster of each pair.
    score_range : tuple of float or None
        Declared (lowest, highest) score; (0, 1) for a binary metric.
    tie : float or None
        Largest difference that counts as none.
    binary : bool
        Whether every score of every trial is 0 or 1.
    missing_rate : float
        Share of the questions to be scored that lack a pair.
    same_arm : bool
        Whether two trials of the baseline stand in for the arms.
    parts : tuple of RatioPair or None
        Of a ratio metric, numerators and denominators of each arm; its scores are
        then the linearised ones, whose mean is the ratio.
    """

    metric: str
    direction: str
    baseline: FloatArray
    variant: FloatArray
    baseline_trials: FloatArray
    variant_trials: FloatArray
    clusters: IntArray | None = None
    score_range: tuple[float, float] | None = None
    tie: float | None = None
    binary: bool = False
    missing_rate: float = 0.0
    same_arm: bool = False
    parts: tuple[RatioPair, RatioPair] | None = None

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return int(self.baseline.size)

    @property
    def difference(self) -> FloatArray:
        """Variant minus baseline of each pair."""
        return self.variant - self.baseline

    @property
    def n_trials(self) -> int:
        """Trials of the arm that has fewer."""
        tables = (self.baseline_trials, self.variant_trials)
        return min(int(table.shape[1]) for table in tables)


def make_pilot(comparison: Comparison, metric: str, *, same_arm: bool = False) -> Pilot:
    """Take one metric of a comparison as a pilot.

    Parameters
    ----------
    comparison : Comparison
        Of a baseline and one variant, or of the baseline with itself.
    metric : str
        A metric, or a built-in rate.
    same_arm : bool, default False
        Take the first two trials of the baseline for the two arms (A/A).

    Returns
    -------
    Pilot

    Raises
    ------
    PlanError
        When the metric is not in the data.
    MethodError
        When fewer than two questions are scored in both arms, or `same_arm` is asked
        for and there is one trial.
    """
    rows = (*comparison.deltas, *comparison.rates)
    delta = next((row for row in rows if row.metric == metric), None)
    if delta is None and metric in BUILT_IN_RATES:
        raise MethodError(
            f"{metric} is not measured: the rows record no status; name its column "
            "with --status."
        )
    if delta is None:
        known = [*(row.metric for row in comparison.deltas), *BUILT_IN_RATES]
        raise PlanError(
            f'"{metric}" is not a metric of the data; {did_you_mean(metric, known)}'
        )
    declared = next((m for m in comparison.metrics if m.name == metric), None)
    if declared is not None and declared.numerator is not None:
        return _ratio_pilot(comparison, declared, delta.direction, same_arm=same_arm)
    pairs = comparison.pairs[0]
    values = comparison.values[comparison.variants[0].name, metric]
    tables = _tables(comparison, metric)
    before, after = values.baseline, values.variant
    if same_arm:
        before, after = _two_trials(tables[0])
        tables = (before[:, None], after[:, None])
    complete = pairs.paired & np.isfinite(before) & np.isfinite(after)
    _check_pairs(metric, complete)
    counted = pairs.paired
    if metric not in BUILT_IN_RATES:
        counted = population(pairs, metric)
    scores = np.concatenate([table[complete].ravel() for table in tables])
    scores = scores[np.isfinite(scores)]
    binary = bool(np.all((scores == 0) | (scores == 1)))
    return Pilot(
        metric=metric,
        direction=delta.direction,
        baseline=before[complete],
        variant=after[complete],
        baseline_trials=tables[0][complete],
        variant_trials=tables[1][complete],
        clusters=None if values.clusters is None else values.clusters[complete],
        score_range=values.score_range or ((0.0, 1.0) if binary else None),
        tie=values.tie,
        binary=binary,
        missing_rate=_missing(complete, counted),
        same_arm=same_arm,
    )


def _ratio_pilot(
    comparison: Comparison, metric: Metric, direction: str, *, same_arm: bool
) -> Pilot:
    """Take the questions with numerator and denominator in both arms."""
    pairs, name = comparison.pairs[0], comparison.variants[0].name
    names = (metric.numerator or "", metric.denominator or "")
    values = [comparison.values[name, part] for part in names]
    arms = [
        (values[0].baseline, values[1].baseline),
        (values[0].variant, values[1].variant),
    ]
    if same_arm:
        top, bottom = (_two_trials(_tables(comparison, part)[0]) for part in names)
        arms = [(top[0], bottom[0]), (top[1], bottom[1])]
    complete = pairs.paired.copy()
    for arm in arms:
        complete &= np.isfinite(arm[0]) & np.isfinite(arm[1])
    _check_pairs(metric.name, complete)
    parts = [RatioPair(top[complete], bottom[complete]) for top, bottom in arms]
    if not all(float(part.denominator.sum()) > 0 for part in parts):
        raise MethodError(
            f"{metric.name}: the pilot's denominators do not sum to more than 0 in an "
            "arm; give a pilot that has them."
        )
    before, after = (linearised(part) for part in parts)
    clusters = values[0].clusters
    return Pilot(
        metric=metric.name,
        direction=direction,
        baseline=before,
        variant=after,
        baseline_trials=before[:, None],
        variant_trials=after[:, None],
        clusters=None if clusters is None else clusters[complete],
        score_range=metric.range,
        missing_rate=_missing(complete, population(pairs, *names)),
        same_arm=same_arm,
        parts=(parts[0], parts[1]),
    )


def _missing(complete: BoolArray, counted: BoolArray) -> float:
    return float(1 - complete[counted].mean()) if counted.any() else 0.0


def _check_pairs(metric: str, complete: BoolArray) -> None:
    if int(complete.sum()) < 2:
        raise MethodError(
            f"{metric}: {int(complete.sum())} questions are scored in both arms; a "
            "pilot needs at least two."
        )


def _two_trials(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Take the first two trials of the baseline for the two arms."""
    if table.shape[1] < 2:
        raise MethodError(
            "the baseline has one trial, so it says nothing about how scores "
            "differ between runs; name a VARIANT, add trials, or give --sd (or "
            "--discordance for scores of 0 and 1)."
        )
    return table[:, 0], table[:, 1]


def _tables(comparison: Comparison, metric: str) -> tuple[FloatArray, FloatArray]:
    """Scores by question and trial, of a built-in rate its zeros and ones."""
    pairs = comparison.pairs[0]
    if metric not in BUILT_IN_RATES:
        return (
            trial_table(pairs, "baseline", metric),
            trial_table(pairs, "variant", metric),
        )
    found = []
    for arm in (pairs.baseline, pairs.variant):
        table = np.full((pairs.question_id.size, len(arm.trial_labels)), np.nan)
        rows = rate_rows(arm, metric)
        if rows is not None:
            table[arm.question, arm.trial] = rows
        found.append(table)
    return found[0], found[1]
