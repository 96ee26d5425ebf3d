"""Human and judge scores of both arms, question by question."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onechange.stats.interval import clip
from onechange.stats.ppi import Corrected, corrected_mean, effective_number

__all__ = ["LabelledScores"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class LabelledScores:
    """Human and judge scores of both arms, and which questions have which.

    Parameters
    ----------
    human, judge : ndarray of float, shape (n_questions, 2)
        Baseline and variant: mean label of each question, and mean judge score of the
        labelled answers; NaN where there is none.
    scores : ndarray of float, shape (n_questions, 2)
        Judge scores, averaged over all trials.
    weights : ndarray of float, shape (n_questions,), or None
        How many questions each labelled question stands for.
    clusters : ndarray of int, shape (n_questions,), or None
        Cluster of each question.
    scale : tuple of float, or None
        Lowest and highest score and label: no mean lies outside, and no interval.
    """

    human: FloatArray
    judge: FloatArray
    scores: FloatArray
    weights: FloatArray | None
    clusters: IntArray | None = None
    scale: tuple[float, float] | None = None

    @property
    def paired(self) -> BoolArray:
        """Questions that the judge scored in both arms."""
        return np.asarray(np.isfinite(self.scores).all(axis=1), dtype=np.bool_)

    @property
    def labelled(self) -> BoolArray:
        """Pairs that a person labelled in both arms."""
        return self.paired & np.asarray(np.isfinite(self.human).all(axis=1))

    @property
    def n_units(self) -> int:
        """Labelled pairs, or the clusters that they lie in."""
        if self.clusters is None:
            return int(self.labelled.sum())
        return int(np.unique(self.clusters[self.labelled]).size)

    @property
    def n_effective(self) -> float:
        """Equally weighted pairs that tell as much as the labelled ones."""
        if self.weights is None or not self.labelled.any():
            return float(self.labelled.sum())
        return effective_number(self.weights[self.labelled])

    @property
    def n_effective_units(self) -> float:
        """Clusters of equal weight that tell as much as the labelled ones."""
        if self.clusters is None:
            return self.n_effective
        if self.weights is None or not self.labelled.any():
            return float(self.n_units)
        use = self.labelled
        codes = np.unique(self.clusters[use], return_inverse=True)[1]
        sizes = np.bincount(codes, weights=self.weights[use])
        return effective_number(sizes.astype(np.float64))

    def corrected(self, level: float) -> tuple[Corrected, Corrected, Corrected]:
        """Correct the delta, then each arm's mean with the same power tuning.

        Parameters
        ----------
        level : float
            Two-sided confidence level.

        Returns
        -------
        tuple of Corrected
            Delta, baseline, variant: the delta is the difference of the arms.
        """
        delta = self._mean(np.array([-1.0, 1.0]), level, None)
        baseline, variant = (self._mean(arm, level, delta.weight) for arm in np.eye(2))
        return delta, baseline, variant

    def favour(self, level: float) -> Corrected | None:
        """Bias of the judge in the variant minus that in the baseline."""
        bias = (self.judge - self.human) @ np.array([-1.0, 1.0])
        return self._alone(bias, self.labelled, 2, level, reach=2)

    def human_delta(self, level: float) -> Corrected | None:
        """Delta by the labelled pairs alone."""
        values = self.human @ np.array([-1.0, 1.0])
        return self._alone(values, self.labelled, 2, level)

    def judge_delta(self, level: float) -> Corrected | None:
        """Delta by the judge alone, over all pairs, each counted once."""
        values = self.scores @ np.array([-1.0, 1.0])
        unweighted = replace(self, weights=None)
        return unweighted._alone(values, self.paired, 2, level)

    def bias(self, arm: int, level: float) -> Corrected | None:
        """Judge minus people in one arm, over its labelled questions."""
        bias = self.judge[:, arm] - self.human[:, arm]
        return self._alone(bias, np.isfinite(bias), 1, level)

    def _alone(
        self,
        values: FloatArray,
        use: BoolArray,
        n_scores: int,
        level: float,
        reach: int = 1,
    ) -> Corrected | None:
        """Weighted mean of labelled questions with its guarded interval.

        The guard is `n_scores` times as wide as the scale; the mean of what is a
        difference of deltas reaches `reach` = 2 times as far as a score can fall.
        """
        clusters = None if self.clusters is None else self.clusters[use]
        n_units = int(use.sum()) if clusters is None else np.unique(clusters).size
        if n_units < 2:
            return None
        found = corrected_mean(
            values[use],
            np.zeros(int(use.sum())),
            np.zeros(0),
            weight=0.0,
            sampling_weights=None if self.weights is None else self.weights[use],
            width=self._width(n_scores),
            clusters=clusters,
            confidence_level=level,
        )
        furthest = self._width(reach)
        return found if furthest is None else _cut(found, -furthest, furthest)

    def _mean(
        self, contrast: FloatArray, level: float, weight: float | None
    ) -> Corrected:
        use, rest = self.labelled, self.paired & ~self.labelled
        clusters = self.clusters
        found = corrected_mean(
            self.human[use] @ contrast,
            self.judge[use] @ contrast,
            self.scores[rest] @ contrast,
            weight=weight,
            sampling_weights=None if self.weights is None else self.weights[use],
            width=self._width(int(np.count_nonzero(contrast))),
            clusters=None
            if clusters is None
            else np.concatenate([clusters[use], clusters[rest]]),
            confidence_level=level,
        )
        if self.scale is None:
            return found
        ends = np.outer(contrast, self.scale)
        return _cut(found, ends.min(axis=1).sum(), ends.max(axis=1).sum())

    def _width(self, times: int) -> float | None:
        return None if self.scale is None else times * (self.scale[1] - self.scale[0])


def _cut(found: Corrected, lowest: float, highest: float) -> Corrected:
    return replace(found, interval=clip(found.interval, lowest, highest))
