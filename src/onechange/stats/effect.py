"""Paired effect sizes and win/tie/loss counts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from onechange.stats.sample import RELATIVE_TOLERANCE, PairedSample, snap
from onechange.stats.student import mean

__all__ = [
    "cliffs_delta",
    "cohen_dav",
    "cohen_dz",
    "effect_sizes",
    "hedges_gz",
    "rank_biserial",
    "win_tie_loss",
]

FloatArray = NDArray[np.float64]


def effect_sizes(sample: PairedSample) -> dict[str, float | None]:
    """All effect sizes of one paired metric.

    Parameters
    ----------
    sample : PairedSample

    Returns
    -------
    dict
        ``cohen_dz``, ``hedges_gz``, ``d_av``, ``rank_biserial`` and
        ``cliffs_delta``; None where the size is undefined.

    Examples
    --------
    >>> from onechange.stats.sample import paired_sample
    >>> sample = paired_sample(np.array([0.1, 0.2, 0.4]), np.array([0.2, 0.4, 0.7]))
    >>> round(effect_sizes(sample)["cohen_dz"], 6)
    2.0
    """
    return {
        "cohen_dz": cohen_dz(sample.difference),
        "hedges_gz": hedges_gz(sample.difference),
        "d_av": cohen_dav(sample.baseline, sample.variant, sample.difference),
        "rank_biserial": rank_biserial(sample.difference),
        "cliffs_delta": cliffs_delta(sample.baseline, sample.variant),
    }


def cohen_dz(difference: FloatArray) -> float | None:
    """Cohen's d_z: mean over standard deviation of the differences.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)

    Returns
    -------
    float or None
        None when all differences are equal, and for fewer than two pairs.
    """
    if difference.size < 2 or np.ptp(difference) == 0:
        return None
    return mean(difference) / float(np.std(difference, ddof=1))


def hedges_gz(difference: FloatArray) -> float | None:
    """Hedges' g_z: d_z times the exact small-sample factor.

    Notes
    -----
    J = Γ(ν/2)/(√(ν/2)·Γ((ν - 1)/2)), ν = n - 1. None where d_z is, and for two
    pairs, where J is 0/0.
    """
    size, df = cohen_dz(difference), difference.size - 1
    if size is None or df < 2:
        return None
    log_factor = math.lgamma(df / 2) - math.lgamma((df - 1) / 2)
    return size * math.exp(log_factor - math.log(df / 2) / 2)


def cohen_dav(
    baseline: FloatArray, variant: FloatArray, difference: FloatArray
) -> float | None:
    """d_av: mean difference over the root mean variance of both arms.

    None when neither arm varies, and for fewer than two pairs.
    """
    if difference.size < 2 or (np.ptp(baseline) == 0 and np.ptp(variant) == 0):
        return None
    variance = (np.var(baseline, ddof=1) + np.var(variant, ddof=1)) / 2
    return mean(difference) / math.sqrt(float(variance))


def rank_biserial(difference: FloatArray) -> float | None:
    """Matched-pairs rank-biserial correlation, zeros dropped.

    Notes
    -----
    (R+ - R-)/(R+ + R-), the sums of the midranks of |d| over gains and losses.
    None when no difference is non-zero.
    """
    gains = np.sort(difference[difference > 0])
    losses = np.sort(-difference[difference < 0])
    n, m = gains.size, losses.size
    if n + m == 0:
        return None
    # R+ is n(n + 1)/2 and the losses that each gain exceeds, ties by half; R- alike.
    signed = n * (n + 1) - m * (m + 1) + 2 * _dominance(losses, gains)
    return signed / ((n + m) * (n + m + 1))


def cliffs_delta(baseline: FloatArray, variant: FloatArray) -> float | None:
    """Cliff's delta over all n × n comparisons; it ignores the pairing.

    Parameters
    ----------
    baseline, variant : ndarray of float, shape (n_pairs,)

    Returns
    -------
    float or None
        P(variant > baseline) - P(variant < baseline), by sorting in n·log n
        steps; None without pairs.
    """
    if baseline.size == 0:
        return None
    pooled = np.concatenate([np.sort(baseline), np.sort(variant)])
    magnitudes = np.sort(np.abs(pooled), kind="stable")  # a merge of sorted runs
    tolerance = RELATIVE_TOLERANCE * float(magnitudes[-1])
    clean = snap(pooled, tolerance, magnitudes=magnitudes)  # keeps the order
    first, second = clean[: baseline.size], clean[baseline.size :]
    return _dominance(first, second) / (first.size * second.size)


def win_tie_loss(difference: FloatArray) -> tuple[int, int, int]:
    """Numbers of positive, zero and negative differences."""
    return (
        int(np.count_nonzero(difference > 0)),
        int(np.count_nonzero(difference == 0)),
        int(np.count_nonzero(difference < 0)),
    )


def _dominance(first: FloatArray, second: FloatArray) -> int:
    """Over all pairs of two sorted arrays: how often the second is larger, or less."""
    if first.size == 0:
        return 0
    below = np.searchsorted(first, second, side="left")
    total = 2 * int(np.sum(below)) - first.size * second.size
    tied = first[np.minimum(below, first.size - 1)] == second  # most often few
    equal = np.searchsorted(first, second[tied], side="right") - below[tied]
    return total + int(np.sum(equal))
