"""Several arms on the same questions at once: do they differ at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.estimate import Note, TestResult

__all__ = ["cochran_q"]

FloatArray = NDArray[np.float64]


def cochran_q(scores: FloatArray) -> TestResult:
    """Test whether several arms have one share of 1s, on the same questions.

    Parameters
    ----------
    scores : ndarray of float, shape (n_questions, n_arms)
        0 or 1; at least two arms.

    Returns
    -------
    TestResult
        The statistic is Q; pvalue None, with note ``test-undefined``, where every
        question has the same score in all arms.

    Raises
    ------
    MethodError
        With fewer than two arms, or scores other than 0 and 1.

    Notes
    -----
    Q = (k − 1)(k Σ C_j² − N²)/(k N − Σ R_i²), C_j the total of arm j, R_i of question
    i, N of all; chi-square with k − 1 degrees of freedom for many questions (Cochran
    1950). For two arms it is McNemar's test without correction.

    Examples
    --------
    >>> arms = np.array([[0, 1, 1], [0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 1]])
    >>> found = cochran_q(arms)
    >>> round(found.statistic, 4), round(found.pvalue, 4)
    (6.0, 0.0498)
    """
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise MethodError("Cochran's Q needs the scores of two or more arms.")
    if not np.all((scores == 0) | (scores == 1)):
        raise MethodError("Cochran's Q is for scores of 0 and 1.")
    from scipy.special import chdtrc

    k = scores.shape[1]
    arms, questions = scores.sum(axis=0), scores.sum(axis=1)
    total = float(arms.sum())
    spread = k * total - float(np.sum(questions**2))
    if spread == 0:
        text = "Every question has the same score in all arms."
        note = Note("test-undefined", text)
        return TestResult(None, "cochran-q", exact=False, notes=(note,))
    q = (k - 1) * (k * float(np.sum(arms**2)) - total**2) / spread
    pvalue = max(float(chdtrc(k - 1, q)), 5e-324)
    return TestResult(pvalue, "cochran-q", statistic=q, exact=False)
