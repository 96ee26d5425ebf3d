"""The heterogeneity test against enumeration through the guarded laws themselves."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from onechange.errors import MethodError
from onechange.stats.cluster import cr2_law
from onechange.stats.heterogeneity import heterogeneity, label_permutation
from onechange.stats.pooling import pooled
from onechange.stats.student import guard


def guarded_variance(
    difference: np.ndarray, c: float, clusters: np.ndarray | None
) -> float:
    """As the method section states it, with the pseudo-differences ±c."""
    n = difference.size
    if clusters is None:
        total = n + 2
        mean = difference.sum() / total
        square = (difference**2).sum() + 2 * c * c - total * mean**2
        return square / (total - 1) / total
    law = cr2_law(difference, clusters)
    return law.standard_error**2 + 2 * c * c / n**2


def q(
    difference: np.ndarray,
    slices: np.ndarray,
    guards: dict[int, float],
    clusters: np.ndarray | None,
) -> tuple[float, float]:
    deltas, weights = [], []
    for code in np.unique(slices):
        part = difference[slices == code]
        own = None if clusters is None else clusters[slices == code]
        deltas.append(part.mean())
        weights.append(1 / guarded_variance(part, guards[code], own))
    d, w = np.array(deltas), np.array(weights)
    mean = (w * d).sum() / w.sum()
    return float((w * (d - mean) ** 2).sum()), float(mean)


def by_enumeration(
    difference: np.ndarray, slices: np.ndarray, clusters: np.ndarray | None
) -> tuple[float, float]:
    guards = {
        int(code): guard(difference[slices == code], None) for code in np.unique(slices)
    }
    observed, mean = q(difference, slices, guards, clusters)
    units = np.arange(difference.size) if clusters is None else clusters
    n_units = int(units.max()) + 1
    extreme = 0
    for signs in itertools.product((1.0, -1.0), repeat=n_units):
        flipped = np.array(signs)[units] * (difference - mean) + mean
        extreme += q(flipped, slices, guards, clusters)[0] >= observed * (1 - 1e-9)
    return observed, extreme / 2**n_units


def test_independent_questions_by_enumeration() -> None:
    rng = np.random.default_rng(3)
    slices = np.repeat([0, 1, 2], [3, 4, 4])
    difference = np.round(rng.normal(0.2, 0.4, size=slices.size), 2)
    difference[4] = 0.0
    right_q, right_p = by_enumeration(difference, slices, None)
    found = heterogeneity(difference, slices)
    assert found.test.exact
    assert found.pooled.q == pytest.approx(right_q, rel=1e-10)
    assert found.test.pvalue == pytest.approx(right_p, abs=1e-12)


def test_clusters_across_slices_by_enumeration() -> None:
    rng = np.random.default_rng(9)
    clusters = np.repeat(np.arange(8), 3)
    slices = np.tile([0, 1, 1], 8)
    difference = rng.normal(0.1, 0.3, size=clusters.size) + 0.2 * slices
    right_q, right_p = by_enumeration(difference, slices, clusters)
    found = heterogeneity(difference, slices, clusters=clusters)
    assert found.pooled.q == pytest.approx(right_q, rel=1e-10)
    assert found.test.pvalue == pytest.approx(right_p, abs=1e-12)


def test_clusters_of_one_question_are_no_clusters() -> None:
    rng = np.random.default_rng(8)
    difference, slices = rng.normal(size=11), np.repeat([0, 1], [5, 6])
    alone = heterogeneity(difference, slices, clusters=np.arange(11))
    assert alone == heterogeneity(difference, slices)


def test_sampling_agrees_with_enumeration() -> None:
    rng = np.random.default_rng(1)
    slices = np.repeat([0, 1], 6)
    difference = rng.normal(0.1, 0.5, size=12) + 0.35 * slices
    exact = heterogeneity(difference, slices)
    sampled = heterogeneity(difference, slices, n_resamples=3999)
    assert exact.test.exact
    assert sampled.test.n_resamples == 3999
    assert [note.code for note in sampled.test.notes] == ["sampled"]
    assert sampled.test.pvalue == pytest.approx(exact.test.pvalue, abs=0.03)


def test_many_questions_are_flipped_in_groups() -> None:
    rng = np.random.default_rng(2)
    slices = np.repeat([0, 1], 10_000)
    difference = rng.normal(size=20_000)
    found = heterogeneity(difference, slices, n_resamples=999)
    means = [difference[slices == code].mean() for code in (0, 1)]
    z = abs(means[0] - means[1]) / np.sqrt(2 / 10_000)
    from scipy.stats import norm

    assert found.test.pvalue == pytest.approx(2 * norm.sf(z), abs=0.05)


def test_a_slice_without_any_change_needs_a_range() -> None:
    difference = np.concatenate([np.zeros(10), np.full(10, 0.3), np.zeros(10)])
    slices = np.repeat([0, 1, 2], 10)
    assert heterogeneity(difference, slices) is None
    found = heterogeneity(difference, slices, width=1.0)
    assert found.slices == (0, 1, 2)


def test_equal_deltas_show_no_heterogeneity() -> None:
    found = pooled([0.1, 0.1, 0.1], [0.01, 0.02, 0.03])
    assert (found.q, found.i2, found.tau2) == (pytest.approx(0), 0, 0)
    assert found.shrunken == pytest.approx((0.1, 0.1, 0.1))


def test_shrunken_deltas_lie_between_the_slice_and_the_mean() -> None:
    deltas, variances = [0.3, -0.2, 0.1], [0.001, 0.002, 0.05]
    found = pooled(deltas, variances)
    assert found.tau2 > 0
    weights = [1 / (v + found.tau2) for v in variances]
    mean = sum(w * d for w, d in zip(weights, deltas, strict=True)) / sum(weights)
    for raw, v, shrunk in zip(deltas, variances, found.shrunken, strict=True):
        keep = found.tau2 / (found.tau2 + v)
        assert shrunk == pytest.approx(mean + keep * (raw - mean))


def test_labels_are_sampled_where_arrangements_are_many() -> None:
    rng = np.random.default_rng(7)
    slices = np.repeat([0, 1], 8)
    difference = rng.normal(size=16) + 0.8 * slices
    exact = label_permutation(difference, slices, n_resamples=20_000)
    sampled = label_permutation(difference, slices, n_resamples=1999)
    assert exact.exact
    assert not sampled.exact
    assert sampled.pvalue == pytest.approx(exact.pvalue, abs=0.03)


def test_labels_of_one_slice_cannot_be_permuted() -> None:
    with pytest.raises(MethodError, match="two or more"):
        label_permutation(np.arange(4.0), np.zeros(4, dtype=np.int64))


def rate(draw: Callable, test: Callable, n: int) -> float:
    rng = np.random.default_rng(12)
    return sum(test(*draw(rng), seed=i) <= 0.05 for i in range(n)) / n


def unequal_spreads(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    sizes, spreads = (60, 20, 20, 10), (0.1, 0.2, 0.4, 0.6)
    parts = [
        0.1 + sd * rng.normal(size=n) for n, sd in zip(sizes, spreads, strict=True)
    ]
    return np.concatenate(parts), np.repeat(np.arange(4), sizes)


@pytest.mark.slow
def test_unequal_spreads_are_no_heterogeneity() -> None:
    def by_flips(d: np.ndarray, s: np.ndarray, *, seed: int) -> float:
        return heterogeneity(d, s, n_resamples=399, seed=seed).test.pvalue

    def by_labels(d: np.ndarray, s: np.ndarray, *, seed: int) -> float:
        return label_permutation(d, s, n_resamples=399, seed=seed).pvalue

    assert rate(unequal_spreads, by_flips, 1000) <= 0.09
    assert rate(unequal_spreads, by_labels, 300) >= 0.20  # the test that is not used
