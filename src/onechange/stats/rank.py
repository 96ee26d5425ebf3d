"""Wilcoxon's signed-rank test, exact at any n, with ties and zeros."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.estimate import Note, TestResult

__all__ = ["midranks", "signed_ranks", "wilcoxon_test"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def midranks(values: FloatArray) -> FloatArray:
    """Ranks from 1, equal values sharing their average rank.

    Examples
    --------
    >>> midranks(np.array([0.2, 0.1, 0.2])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], dtype=np.float64)


def signed_ranks(difference: FloatArray, *, zeros: str = "drop") -> FloatArray:
    """Doubled midranks of the absolute differences, with the differences' signs.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
        Differences cleaned of rounding noise, so that equal ones are equal.
    zeros : str
        ``drop`` ranks the non-zero differences only (Wilcoxon); ``pratt`` ranks
        all, and then drops the zeros.

    Returns
    -------
    ndarray of float, shape (n_pairs,)
        Whole numbers; 0 for a zero difference.

    Raises
    ------
    MethodError
        If `zeros` has another value.
    """
    if zeros not in ("drop", "pratt"):
        raise MethodError(f'zeros is "{zeros}"; choose "drop" or "pratt".')
    ranks = np.zeros(difference.size)
    ranked = difference != 0 if zeros == "drop" else np.ones(difference.size, bool)
    ranks[ranked] = 2 * midranks(np.abs(difference[ranked]))
    return ranks * np.sign(difference)


def wilcoxon_test(
    difference: FloatArray,
    *,
    zeros: str = "drop",
    clusters: IntArray | None = None,
    alternative: str = "two-sided",
) -> TestResult:
    """Exact Wilcoxon signed-rank test.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
        Differences cleaned of rounding noise.
    zeros : str
        ``drop`` or ``pratt``, see `signed_ranks`.
    clusters : ndarray of int, shape (n_pairs,), optional
        Whole clusters change sign together.
    alternative : str
        ``two-sided``, ``greater`` or ``less``.

    Returns
    -------
    TestResult
        The statistic is the rank sum of the positive differences. Note
        ``tests-another-question``: it is not a test of the mean.

    Notes
    -----
    The sign-flip law of the signed ranks, which is Wilcoxon's law conditional on
    the ties.

    Examples
    --------
    >>> wilcoxon_test(np.array([-0.25, 0, 0.25, 0.5, 0.25])).pvalue
    0.5
    """
    from onechange.stats.signflip import signflip_test

    signed = signed_ranks(difference, zeros=zeros)
    result = signflip_test(signed, clusters=clusters, alternative=alternative)
    note = Note(
        "tests-another-question",
        "Wilcoxon asks whether the signed ranks balance, not whether the mean changed; "
        "equal means with unlike spreads are rejected far too often.",
    )
    return replace(
        result,
        method="wilcoxon",
        statistic=float(np.sum(signed[signed > 0])) / 2,
        notes=(*result.notes, note),
    )
