"""Human and judge scores of both arms, question by question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.ppi import Corrected, corrected_mean

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
    """

    human: FloatArray
    judge: FloatArray
    scores: FloatArray
    weights: FloatArray | None
    clusters: IntArray | None = None

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

    def corrected(
        self, width: float | None, level: float
    ) -> tuple[Corrected, Corrected, Corrected]:
        """Correct the delta, then each arm's mean with the same power tuning.

        Parameters
        ----------
        width : float or None
            Width of the scale of one score.
        level : float
            Two-sided confidence level.

        Returns
        -------
        tuple of Corrected
            Delta, baseline, variant: the delta is the difference of the arms.
        """
        sign = np.array([-1.0, 1.0])
        span = None if width is None else 2 * width
        delta = self._mean(sign, span, level, None)
        baseline, variant = (
            self._mean(arm, width, level, delta.weight) for arm in np.eye(2)
        )
        return delta, baseline, variant

    def favour(self, width: float | None, level: float) -> Corrected | None:
        """Bias of the judge in the variant minus that in the baseline."""
        bias = (self.judge - self.human) @ np.array([-1.0, 1.0])
        return self._labelled_mean(bias, width, level)

    def human_delta(self, width: float | None, level: float) -> Corrected | None:
        """Delta by the labelled pairs alone."""
        return self._labelled_mean(self.human @ np.array([-1.0, 1.0]), width, level)

    def judge_delta(self, width: float | None, level: float) -> Corrected | None:
        """Delta by the judge alone, over all pairs, each counted once."""
        use = self.paired
        clusters = None if self.clusters is None else self.clusters[use]
        values = self.scores[use] @ np.array([-1.0, 1.0])
        span = None if width is None else 2 * width
        return _guarded_mean(values, None, clusters, span, level)

    def bias(self, arm: int, width: float | None, level: float) -> Corrected | None:
        """Judge minus people in one arm, over its labelled questions."""
        bias = self.judge[:, arm] - self.human[:, arm]
        use = np.isfinite(bias)
        return self._alone(bias[use], use, width, level)

    def _labelled_mean(
        self, values: FloatArray, width: float | None, level: float
    ) -> Corrected | None:
        span = None if width is None else 2 * width
        return self._alone(values[self.labelled], self.labelled, span, level)

    def _alone(
        self, values: FloatArray, use: BoolArray, width: float | None, level: float
    ) -> Corrected | None:
        """Weighted mean of labelled questions with its guarded interval."""
        clusters = None if self.clusters is None else self.clusters[use]
        weights = None if self.weights is None else self.weights[use]
        return _guarded_mean(values, weights, clusters, width, level)

    def _mean(
        self,
        contrast: FloatArray,
        width: float | None,
        level: float,
        weight: float | None,
    ) -> Corrected:
        use, rest = self.labelled, self.paired & ~self.labelled
        clusters = self.clusters
        return corrected_mean(
            self.human[use] @ contrast,
            self.judge[use] @ contrast,
            self.scores[rest] @ contrast,
            weight=weight,
            sampling_weights=None if self.weights is None else self.weights[use],
            width=width,
            clusters=None
            if clusters is None
            else np.concatenate([clusters[use], clusters[rest]]),
            confidence_level=level,
        )


def _guarded_mean(
    values: FloatArray,
    weights: FloatArray | None,
    clusters: IntArray | None,
    width: float | None,
    level: float,
) -> Corrected | None:
    """Weighted mean with its guarded interval; None for fewer than two units."""
    n_units = values.size if clusters is None else np.unique(clusters).size
    if n_units < 2:
        return None
    return corrected_mean(
        values,
        np.zeros(values.size),
        np.zeros(0),
        weight=0.0,
        sampling_weights=weights,
        width=width,
        clusters=clusters,
        confidence_level=level,
    )
