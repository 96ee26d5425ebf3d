"""The paired values of one metric over one set of pairs, with their differences.

Differences are cleaned once, here: what is zero, or equal, up to the rounding
noise of binary floats becomes exactly zero, or exactly equal. Everything after
this module compares differences with plain ``==``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.lattice import find_lattice

if TYPE_CHECKING:
    from onechange.stats.runs import RunVariance

__all__ = ["LARGEST_SCORE", "PairedSample", "paired_sample", "snap"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

RELATIVE_TOLERANCE = 1e-12  # of the spread of the scores
LARGEST_SCORE = 1e100  # its powers, and their sums, are still numbers
ROUNDINGS = 64  # roundings of the largest score that noise may amount to


@dataclass(frozen=True, slots=True, eq=False)
class PairedSample:
    """Question means of one metric in both arms.

    Parameters
    ----------
    baseline, variant : ndarray of float, shape (n_pairs,)
        Trial-averaged score of each question in its arm; finite.
    difference : ndarray of float, shape (n_pairs,)
        ``variant - baseline``, cleaned of rounding noise.
    binary : bool
        True when every value of the *whole* metric is 0 or 1 in both arms
        (never decided anew for a slice).
    clusters : ndarray of int, shape (n_pairs,), or None
        Cluster code of each question, 0 … n_clusters - 1; None without clusters.
    score_range : tuple of float or None
        Declared (lowest, highest) score of the metric.
    runs : RunVariance or None
        How far whole runs of the metric differ; None when that is not known.
    tie : float
        Differences up to this size count as ties in win/tie/loss; they stay in
        every sum.
    attainable : tuple of float or None
        (Lowest, highest) mean of an arm that scores allow: the declared range, or
        (0, 1) where every score is 0 or 1; None when that is not known. Intervals are
        cut to it, and nothing else depends on it.
    strata : ndarray of int, shape (n_pairs,), or None
        Stratum of each question, within which a bootstrap resamples.
    resampling : str
        How a bootstrap without strata weighs questions: ``multinomial`` or
        ``poisson``.
    """

    baseline: FloatArray
    variant: FloatArray
    difference: FloatArray
    binary: bool
    clusters: IntArray | None = None
    score_range: tuple[float, float] | None = None
    runs: RunVariance | None = None
    tie: float = 0.0
    attainable: tuple[float, float] | None = None
    strata: IntArray | None = None
    resampling: str = "multinomial"

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return int(self.difference.size)

    @property
    def n_nonzero(self) -> int:
        """Number of pairs whose score changed."""
        return int(np.count_nonzero(self.difference))

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters, None without clusters."""
        return None if self.clusters is None else int(np.unique(self.clusters).size)


def paired_sample(
    baseline: FloatArray,
    variant: FloatArray,
    *,
    clusters: IntArray | None = None,
    score_range: tuple[float, float] | None = None,
    tie: float | None = None,
    binary: bool | None = None,
    runs: RunVariance | None = None,
    attainable: tuple[float, float] | None = None,
    strata: IntArray | None = None,
    resampling: str = "multinomial",
) -> PairedSample:
    """Pair two aligned arrays of finite question means.

    Parameters
    ----------
    baseline, variant : ndarray of float, shape (n_pairs,)
        Trial-averaged scores; entry i of both belongs to the same question.
    clusters : ndarray of int, shape (n_pairs,), optional
        Cluster label of each question; relabelled 0 … n_clusters - 1.
    score_range : tuple of float, optional
        Declared (lowest, highest) score.
    tie : float, optional
        Differences up to this size count as ties in win/tie/loss; by default only
        rounding noise does.
    binary : bool, optional
        Whether the metric is binary; by default decided from these values.
    runs : RunVariance, optional
        How far whole runs of the metric differ.
    attainable : tuple of float, optional
        (Lowest, highest) mean of an arm that scores allow; by default the declared
        range, or (0, 1) of a binary metric.
    strata : ndarray of int, shape (n_pairs,), optional
        Stratum of each question, for a bootstrap that keeps their sizes.
    resampling : str
        ``multinomial`` or ``poisson``.

    Returns
    -------
    PairedSample

    Raises
    ------
    MethodError
        When squares of the scores would leave the range of floats.

    Notes
    -----
    Differences are rounding noise apart when they differ by at most 1e-12 of the
    spread of the scores (or of the declared range), or by 64 units in the last place
    of the largest score, whichever is more. Differences that are multiples of a
    common unit, up to that noise, become those multiples: sums of them, which tie as
    decimals, then tie as floats, too.
    """
    b = np.ascontiguousarray(baseline, dtype=np.float64)
    v = np.ascontiguousarray(variant, dtype=np.float64)
    _check_size(b, v)
    noise = _noise(b, v, score_range)
    difference = _on_lattice(snap(v - b, noise), noise)
    if binary is None:
        binary = bool(np.all((b == 0) | (b == 1)) and np.all((v == 0) | (v == 1)))
    codes = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
    return PairedSample(
        baseline=b,
        variant=v,
        difference=difference,
        binary=binary,
        clusters=None if codes is None else codes.astype(np.int64),
        score_range=score_range,
        runs=runs,
        tie=0.0 if tie is None else tie,
        attainable=attainable or score_range or ((0.0, 1.0) if binary else None),
        strata=strata,
        resampling=resampling,
    )


def _check_size(baseline: FloatArray, variant: FloatArray) -> None:
    largest = max(
        float(np.max(np.abs(values), initial=0.0)) for values in (baseline, variant)
    )
    if largest > LARGEST_SCORE or 0.0 < largest < 1.0 / LARGEST_SCORE:
        raise MethodError(
            f"the largest score is {largest:.3g}, and squares of such scores are no "
            "numbers any more; give the metric in another unit, or its logarithm"
        )


def _on_lattice(values: FloatArray, noise: float) -> FloatArray:
    """Put values on the lattice that they lie on up to noise, if there is one."""
    found = find_lattice(values, noise=noise)
    return values if found is None else found.points()


def snap(
    values: FloatArray, tolerance: float, *, magnitudes: FloatArray | None = None
) -> FloatArray:
    """Make values that differ by rounding noise exactly equal, and tiny ones zero.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
        Differences of scores.
    tolerance : float
        Largest gap that is still rounding noise, in the unit of the values.
    magnitudes : ndarray of float, shape (n,), optional
        The absolute values in ascending order, when they are known.

    Returns
    -------
    ndarray of float, shape (n,)
        A copy in which each run of values closer than `tolerance` to their
        neighbours is replaced by the run's smallest absolute value (keeping its
        sign), so that d and -d stay exactly opposite.
    """
    ordered = np.sort(np.abs(values)) if magnitudes is None else magnitudes
    noisy, clean = _noisy_magnitudes(ordered, tolerance)
    if noisy.size == 0:
        return values + 0.0  # no zero keeps a sign
    magnitude = np.abs(values)
    place = np.minimum(np.searchsorted(noisy, magnitude), noisy.size - 1)
    hit = noisy[place] == magnitude
    snapped: FloatArray = np.array(values, dtype=np.float64)
    snapped[hit] = np.copysign(clean[place[hit]], snapped[hit])
    return snapped + 0.0


def _noisy_magnitudes(
    ordered: FloatArray, tolerance: float
) -> tuple[FloatArray, FloatArray]:
    """Distinct magnitudes that noise has moved, sorted, and what they should be."""
    smallest = ordered[:1]
    gap = np.diff(ordered, prepend=-np.inf)
    moved = np.flatnonzero((gap > 0.0) & (gap <= tolerance))
    starts = np.flatnonzero(gap > tolerance)
    first = ordered[starts[np.searchsorted(starts, moved, side="right") - 1]]
    first[first <= tolerance] = 0.0
    tiny = smallest[(smallest > 0.0) & (smallest <= tolerance)]
    return (
        np.concatenate([tiny, ordered[moved]]),
        np.concatenate([np.zeros(tiny.size), first]),
    )


def _noise(
    baseline: FloatArray, variant: FloatArray, score_range: tuple[float, float] | None
) -> float:
    if baseline.size == 0:
        return 0.0
    low = float(min(baseline.min(), variant.min()))
    high = float(max(baseline.max(), variant.max()))
    spread = high - low
    if score_range is not None:
        spread = max(spread, score_range[1] - score_range[0])
    magnitude = max(abs(low), abs(high))
    last_place = float(np.finfo(np.float64).eps) * magnitude
    return max(RELATIVE_TOLERANCE * spread, ROUNDINGS * last_place)
