"""The status that a rule would have if some scores were others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onechange.plan import (
    BUILT_IN_RATES,
    Analysis,
    Guardrail,
    Primary,
    relative_margin,
)
from onechange.stats import choose
from onechange.stats.estimate import Interval
from onechange.stats.fitting import sample_resampling
from onechange.stats.runs import RunVariance
from onechange.stats.sample import PairedSample, paired_sample
from onechange.stats.signflip import n_min
from onechange.status import (
    Status,
    equivalence_status,
    estimate_limit_status,
    estimate_margin_status,
    estimate_relative_status,
    limit_status,
    margin_status,
    primary_status,
    worse_of,
)

__all__ = ["Scores", "mean_status"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Question means of the pairs of one metric, with what their analysis needs.

    Parameters
    ----------
    baseline, variant : ndarray of float, shape (n_pairs,)
        Scores of the pairs.
    direction : str
        ``higher`` or ``lower`` is better.
    clusters : ndarray of int, shape (n_pairs,), or None
        Cluster code of each question.
    score_range : tuple of float or None
        Declared (lowest, highest) score.
    tie : float or None
        Largest difference that counts as none.
    binary : bool
        Whether the whole metric is binary.
    further_variant : ndarray of float, shape (n_others,)
        Scores of the variant outside the pairs: they count for its limit.
    further_clusters : ndarray of int, shape (n_others,), or None
        Their clusters.
    runs, arm_runs : RunVariance or None
        How far whole runs differ, for the delta and for the variant's own mean.
    strata : ndarray of int, shape (n_pairs,), or None
        Stratum of each question, when a bootstrap resamples within strata.
    resampling : str
        ``multinomial``, ``poisson`` or ``stratified``.
    """

    baseline: FloatArray
    variant: FloatArray
    direction: str
    clusters: IntArray | None = None
    score_range: tuple[float, float] | None = None
    tie: float | None = None
    binary: bool = False
    further_variant: FloatArray | None = None
    further_clusters: IntArray | None = None
    runs: RunVariance | None = None
    arm_runs: RunVariance | None = None
    strata: IntArray | None = None
    resampling: str = "multinomial"

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return int(self.baseline.size)

    def sample(self) -> PairedSample:
        """Return the pairs as a sample; filled scores may end its being binary."""
        return paired_sample(
            self.baseline,
            self.variant,
            clusters=self.clusters,
            score_range=self.score_range,
            tie=self.tie,
            binary=None if self.binary else False,
            runs=self.runs,
            strata=self.strata,
            resampling=sample_resampling(self.resampling, self.n_pairs, self.clusters),
        )

    def with_variant(self, variant: FloatArray) -> Scores:
        """Return the same pairs with other scores of the variant."""
        return replace(self, variant=variant)


def mean_status(
    rule: Primary | Guardrail,
    scores: Scores,
    analysis: Analysis,
    *,
    quick: bool = False,
) -> Status:
    """Apply a rule on the mean to scores as they are given.

    Parameters
    ----------
    rule : Primary or Guardrail
        The rule; of a guardrail the statistic is taken to be the mean.
    scores : Scores
        What to apply it to.
    analysis : Analysis
        Level and name of the interval.
    quick : bool, default False
        Leave out the sign-flip end of the interval, which takes most of the time and
        seldom decides: for finding the neighbourhood of an answer only.

    Returns
    -------
    Status
    """
    if isinstance(rule, Primary):
        interval = _interval(scores, analysis, quick=quick)
        return primary_status(interval, rule.min_improvement, scores.direction)
    if rule.rule == "estimate" and _too_few(rule, scores, analysis):
        return Status.INCONCLUSIVE
    found = []
    if rule.margin is not None:
        found.append(_margin_status(rule, scores, analysis, quick=quick))
    if rule.limit is not None:
        found.append(_limit_status(rule, rule.limit, scores, analysis))
    return worse_of(found)


def _too_few(rule: Guardrail, scores: Scores, analysis: Analysis) -> bool:
    """Whether too few questions forbid a status; a count of this run needs none."""
    if rule.metric in BUILT_IN_RATES:
        return False
    return scores.n_pairs < n_min(analysis.confidence_level)


def _margin_status(
    rule: Guardrail, scores: Scores, analysis: Analysis, *, quick: bool
) -> Status:
    margin, direction = rule.margin, scores.direction
    if rule.rule == "estimate":
        before, after = float(np.mean(scores.baseline)), float(np.mean(scores.variant))
        if isinstance(margin, str):
            share = relative_margin(margin)
            return estimate_relative_status(before, after, share, direction)
        return estimate_margin_status(before, after, float(margin or 0), direction)
    if isinstance(margin, str):
        relative = choose.relative_interval(
            scores.sample(),
            name=choose.relative_name(analysis.interval),
            confidence_level=analysis.confidence_level,
        )
        size, interval = relative_margin(margin), relative.interval
    else:
        size, interval = float(margin or 0), _interval(scores, analysis, quick=quick)
    if rule.role == "equivalence":
        return equivalence_status(interval, size)
    return margin_status(interval, size, direction)


def _limit_status(
    rule: Guardrail, limit: float, scores: Scores, analysis: Analysis
) -> Status:
    if rule.rule == "estimate":
        value = float(np.mean(scores.variant)) if scores.n_pairs else None
        return estimate_limit_status(value, limit, scores.direction)
    values, clusters = scores.variant, scores.clusters
    if scores.further_variant is not None:
        values = np.concatenate([values, scores.further_variant])
    if clusters is not None and scores.further_clusters is not None:
        clusters = np.concatenate([clusters, scores.further_clusters])
    found = choose.arm_interval(
        values,
        binary=scores.binary and bool(np.all((values == 0) | (values == 1))),
        clusters=clusters,
        confidence_level=analysis.confidence_level,
        score_range=scores.score_range,
        runs=scores.arm_runs if analysis.interval in ("auto", "two-way") else None,
        arm=1,
    )
    interval = found.interval if found.enough else None
    return limit_status(interval, limit, scores.direction)


def _interval(scores: Scores, analysis: Analysis, *, quick: bool) -> Interval | None:
    sample = scores.sample()
    name = choose.fitting_interval(analysis.interval, sample)
    runs_differ = sample.runs is not None and sample.runs.differ
    if quick and name == "auto" and not runs_differ:
        chosen = choose.automatic_interval(
            sample, confidence_level=analysis.confidence_level
        )
        name = "guarded-t" if chosen == "sign-flip+guarded-t" else name
    found = choose.decision_interval(
        sample,
        name=name,
        confidence_level=analysis.confidence_level,
        n_resamples=analysis.n_resamples,
        seed=analysis.seed,
    )
    return found.interval if found.enough else None
