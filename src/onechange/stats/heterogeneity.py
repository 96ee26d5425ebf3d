"""Do the deltas of slices differ by more than chance, and by how much."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.cluster import guarded_cr2_law
from onechange.stats.estimate import Note, TestResult
from onechange.stats.flips import flips, on_grid, random_groups, unit_columns
from onechange.stats.pooling import Pooled, pooled
from onechange.stats.products import products
from onechange.stats.student import guard, guarded_t_law

__all__ = ["Heterogeneity", "heterogeneity", "label_permutation"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

TIE = 1e-9
BATCH = 256


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """The heterogeneity test of one metric over the slices of one breakdown.

    Parameters
    ----------
    pooled : Pooled
        Over the slices in `slices`.
    slices : tuple of int
        Codes of the slices that have a guarded variance.
    variances : tuple of float
        The guarded variance of the delta of each.
    test : TestResult
        ``statistic`` is Q.
    """

    pooled: Pooled
    slices: tuple[int, ...]
    variances: tuple[float, ...]
    test: TestResult


def heterogeneity(
    difference: FloatArray,
    slices: IntArray,
    *,
    clusters: IntArray | None = None,
    width: float | None = None,
    n_resamples: int = 9999,
    seed: int = 7,
) -> Heterogeneity | None:
    """Test whether all slices have the same delta, by sign flips.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
        Variant minus baseline of each question.
    slices : ndarray of int, shape (n_pairs,)
        Code of the slice of each question.
    clusters : ndarray of int, shape (n_pairs,), optional
        Cluster of each question; whole clusters flip, also across slices.
    width : float, optional
        Width of the score range, for slices in which nothing changed.
    n_resamples, seed : int
        For sampling; few units are enumerated.

    Returns
    -------
    Heterogeneity or None
        None when fewer than two slices have a guarded variance.

    Notes
    -----
    Q with w = 1/guarded variance. Under the null d − delta_w is symmetric around 0 in
    every slice: its signs are flipped, delta_w is added back, and Q with its variances
    is computed anew. Spreads may differ between slices, which breaks the permutation
    of labels. No chi-square law is assumed.

    Examples
    --------
    >>> d = np.array([0.3, 0.2, 0.3, 0.4, 0.2, -0.3, -0.2, -0.3, -0.4, -0.2])
    >>> found = heterogeneity(d, np.repeat([0, 1], 5))
    >>> round(found.pooled.q, 2), round(found.test.pvalue, 4)
    (21.38, 0.002)
    """
    if clusters is not None and np.unique(clusters).size == difference.size:
        clusters = None
    units = np.arange(difference.size, dtype=np.int64)
    if clusters is not None:
        units = np.unique(clusters, return_inverse=True)[1].astype(np.int64)
    group = random_groups(int(units.max()) + 1, seed=seed)
    use = _with_variance(difference, slices, clusters, width)
    if len(use) < 2:
        return None
    found = pooled([s.delta for s in use], [s.variance for s in use])
    parts = [_prepared(s, found.delta, units, group) for s in use]
    stream = flips(
        int(group.max()) + 1, n_resamples=n_resamples, seed=seed, mirrored=False
    )
    extreme = 0
    for signs in stream.batches():
        extreme += int(
            np.count_nonzero(
                _q_of_flips(parts, found.delta, signs) >= found.q * (1 - TIE)
            )
        )
    return Heterogeneity(
        pooled=found,
        slices=tuple(s.code for s in use),
        variances=tuple(s.variance for s in use),
        test=_test(
            stream.pvalue(extreme),
            found.q,
            "sign-flip",
            None if stream.exact else stream.n_flips,
            seed,
        ),
    )


def label_permutation(
    difference: FloatArray,
    slices: IntArray,
    *,
    n_resamples: int = 9999,
    seed: int = 7,
) -> TestResult:
    """Test whether slices differ by permuting their labels over the questions.

    Parameters
    ----------
    difference : ndarray of float, shape (n_pairs,)
    slices : ndarray of int, shape (n_pairs,)
        Code of the slice of each question; at least two slices.
    n_resamples, seed : int
        For sampling; few arrangements are enumerated.

    Returns
    -------
    TestResult
        The statistic is Σ n_s(delta_s − delta)², for two slices as good as the
        absolute difference of their deltas.

    Raises
    ------
    MethodError
        With fewer than two slices.

    Notes
    -----
    The test assumes that slices differ in nothing but their mean. Where spreads
    differ it rejects a true null far too often: `heterogeneity` does not.
    """
    codes, counts = np.unique(slices, return_counts=True)
    if codes.size < 2:
        raise MethodError("slices can only be compared when there are two or more.")
    centred = difference - float(np.mean(difference))
    ordered = centred[np.argsort(slices, kind="stable")]
    edges = np.concatenate([[0], np.cumsum(counts)])
    observed = _between(ordered[None, :], edges)[0]
    arrangements = math.factorial(difference.size)
    for count in counts:
        arrangements //= math.factorial(int(count))
    exact = arrangements <= n_resamples + 1
    extreme = sum(
        int(np.count_nonzero(_between(rows, edges) >= observed * (1 - TIE)))
        for rows in (
            _arrangements(ordered, counts)
            if exact
            else _shuffled(ordered, n_resamples, seed)
        )
    )
    pvalue = extreme / arrangements if exact else (extreme + 1) / (n_resamples + 1)
    return _test(
        pvalue,
        float(observed),
        "label-permutation",
        None if exact else n_resamples,
        seed,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _SliceSample:
    """One slice with its guarded variance."""

    code: int
    rows: IntArray
    difference: FloatArray
    clusters: IntArray | None
    delta: float
    variance: float
    guard2: float


@dataclass(frozen=True, slots=True, eq=False)
class _FlipSlice:
    """What the guarded variance of a flipped slice is made of.

    `sums` holds, per unit, the sum of d − delta_w, and that sum times
    n_g/(1 − n_g/n), which only clusters use; `square` and `sizes_term` are the sums
    of their squares and of squared sizes, weighted by 1/(1 − n_g/n).
    """

    units: IntArray
    sums: FloatArray
    n: int
    square: float
    sizes_term: float
    guard2: float
    clustered: bool


def _with_variance(
    difference: FloatArray,
    slices: IntArray,
    clusters: IntArray | None,
    width: float | None,
) -> list[_SliceSample]:
    found = []
    for code in np.unique(slices):
        rows = np.flatnonzero(slices == code)
        d = difference[rows]
        c = guard(d, width)
        within = None if clusters is None else clusters[rows]
        law = (
            guarded_t_law(d, width=width)
            if within is None
            else guarded_cr2_law(d, within, width=width)
        )
        if law is not None and c is not None:
            variance = law.standard_error**2
            found.append(
                _SliceSample(int(code), rows, d, within, law.estimate, variance, c * c)
            )
    return found


def _prepared(
    part: _SliceSample, mean: float, units: IntArray, group: IntArray
) -> _FlipSlice:
    n = part.difference.size
    clustered = part.clusters is not None
    own, sums, sizes = units[part.rows], part.difference - mean, np.ones(n)
    weight = np.ones(n)
    if clustered:
        own, codes = np.unique(own, return_inverse=True)
        sums = np.bincount(codes, weights=sums).astype(np.float64)
        sizes = np.bincount(codes).astype(np.float64)
        weight = 1 / (1 - sizes / n)
    rows = np.column_stack([sums, sums * weight * sizes])
    joined = unit_columns(group[own], rows, np.ones(rows.shape, dtype=np.bool_))
    return _FlipSlice(
        units=joined.units,
        sums=on_grid(joined.values),
        n=n,
        square=float(np.sum(weight * sums**2)),
        sizes_term=float(np.sum(weight * sizes**2)),
        guard2=part.guard2,
        clustered=clustered,
    )


def _q_of_flips(
    parts: Sequence[_FlipSlice], mean: float, signs: FloatArray
) -> FloatArray:
    """Q of each flip, with the variances of the flipped differences."""
    deltas, variances = [], []
    for part in parts:
        sums = products(part.sums, signs[part.units])
        shift = sums[0] / part.n
        delta, n = shift + mean, part.n
        if part.clustered:
            residual = part.square - 2 * shift * sums[1] + shift**2 * part.sizes_term
            variance = (residual + 2 * part.guard2) / n**2
        else:
            square = part.square + 2 * mean * sums[0] + n * mean**2
            rest = square + 2 * part.guard2 - (n * delta) ** 2 / (n + 2)
            variance = rest / (n + 1) / (n + 2)
        deltas.append(delta)
        variances.append(variance)
    d, w = np.array(deltas), 1 / np.array(variances)
    centre = np.sum(w * d, axis=0) / np.sum(w, axis=0)
    return np.asarray(np.sum(w * (d - centre) ** 2, axis=0))


def _between(rows: FloatArray, edges: IntArray) -> FloatArray:
    """Between-slice sum of squares of centred values, slice after slice in a row."""
    sums = np.add.reduceat(rows, edges[:-1], axis=1)
    return np.asarray(np.sum(sums**2 / np.diff(edges), axis=1))


def _shuffled(values: FloatArray, n_resamples: int, seed: int) -> Iterator[FloatArray]:
    rng = np.random.default_rng(seed)
    for start in range(0, n_resamples, BATCH):
        rows = min(BATCH, n_resamples - start)
        yield rng.permuted(np.tile(values, (rows, 1)), axis=1)


def _arrangements(values: FloatArray, counts: IntArray) -> Iterator[FloatArray]:
    """Every way to deal the values to slices of these sizes."""
    from itertools import combinations

    def deal(
        left: tuple[int, ...], sizes: tuple[int, ...]
    ) -> Iterator[tuple[int, ...]]:
        if len(sizes) == 1:
            yield left
            return
        for chosen in combinations(left, sizes[0]):
            taken = set(chosen)
            rest = tuple(i for i in left if i not in taken)
            for tail in deal(rest, sizes[1:]):
                yield chosen + tail

    everything = deal(tuple(range(values.size)), tuple(int(c) for c in counts))
    yield values[np.array(list(everything), dtype=np.int64)]


def _test(
    pvalue: float, statistic: float, method: str, n_resamples: int | None, seed: int
) -> TestResult:
    if n_resamples is None:
        return TestResult(
            pvalue, method, statistic=statistic, log10_pvalue=math.log10(pvalue)
        )
    error = math.sqrt(pvalue * (1 - pvalue) / n_resamples)
    note = Note(
        "sampled",
        f"Sampled with {n_resamples} flips (seed {seed}); Monte Carlo standard error "
        f"of the p-value {error:.2g}.",
    )
    return TestResult(
        pvalue,
        method,
        statistic=statistic,
        exact=False,
        n_resamples=n_resamples,
        monte_carlo_error=error,
        log10_pvalue=math.log10(pvalue),
        notes=(note,),
    )
