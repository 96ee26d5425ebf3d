"""Human and judge scores of both arms, question by question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.stats.ppi import Corrected, corrected_mean

__all__ = ["LabelledScores"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class LabelledScores:
    """Human and judge scores of both arms, and which questions have which.

    Parameters
    ----------
    human, scores : ndarray of float, shape (n_questions, 2)
        Baseline and variant; NaN where there is none.
    weights : ndarray of float, shape (n_questions,), or None
        How many questions each labelled question stands for.
    """

    human: FloatArray
    scores: FloatArray
    weights: FloatArray | None

    @property
    def paired(self) -> BoolArray:
        """Questions that the judge scored in both arms."""
        return np.asarray(np.isfinite(self.scores).all(axis=1), dtype=np.bool_)

    @property
    def labelled(self) -> BoolArray:
        """Pairs that a person labelled in both arms."""
        return self.paired & np.asarray(np.isfinite(self.human).all(axis=1))

    @property
    def weight(self) -> FloatArray | None:
        """Sampling weights of the labelled pairs."""
        return None if self.weights is None else self.weights[self.labelled]

    def parts(
        self, human: FloatArray, scores: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Labels and scores of the labelled pairs, scores of the other pairs."""
        rest = self.paired & ~self.labelled
        return human[self.labelled], scores[self.labelled], scores[rest]

    def corrected(
        self, width: float | None, span: float | None, level: float
    ) -> tuple[Corrected, Corrected, Corrected]:
        """Correct the delta, then each arm's mean with the same power tuning."""
        human, scores = self.human, self.scores
        delta = corrected_mean(
            *self.parts(human[:, 1] - human[:, 0], scores[:, 1] - scores[:, 0]),
            sampling_weights=self.weight,
            width=span,
            confidence_level=level,
        )
        baseline, variant = (
            corrected_mean(
                *self.parts(human[:, i], scores[:, i]),
                weight=delta.weight,
                sampling_weights=self.weight,
                width=width,
                confidence_level=level,
            )
            for i in range(2)
        )
        return delta, baseline, variant
