"""Weighted deltas against the regression that they are."""

from __future__ import annotations

import numpy as np
import pytest

from onechange.stats.cluster import cr2_law
from onechange.stats.estimate import Interval
from onechange.stats.reweight import (
    mover_interval,
    normalised,
    weighted_cr2_law,
    weighted_law,
)


def test_weights_are_divided_by_their_sum() -> None:
    assert normalised([2, 1, 1]) == (0.5, 0.25, 0.25)


def test_all_weight_on_one_slice_gives_its_own_interval() -> None:
    parts = [Interval(-0.1, 0.4, 0.95, "newcombe"), Interval(-9, 9, 0.95, "t")]
    found = mover_interval([1.0, 0.0], [0.1, 3.0], parts)
    assert (found.low, found.high) == pytest.approx((-0.1, 0.4))
    assert found.method == "mover"


def test_the_ends_add_in_squares() -> None:
    parts = [Interval(0.0, 0.5, 0.95, "t"), Interval(-0.3, 0.2, 0.95, "t")]
    found = mover_interval([0.6, 0.4], [0.2, -0.1], parts)
    below = np.hypot(0.6 * 0.2, 0.4 * 0.2)
    above = np.hypot(0.6 * 0.3, 0.4 * 0.3)
    assert found.low == pytest.approx(0.08 - below)
    assert found.high == pytest.approx(0.08 + above)


def test_an_unbounded_slice_leaves_the_mix_unbounded() -> None:
    parts = [Interval(-np.inf, 0.5, 0.95, "sign-flip"), Interval(0, 1, 0.95, "t")]
    assert mover_interval([0.5, 0.5], [0.1, 0.5], parts).low == -np.inf


def regression(
    difference: np.ndarray,
    slices: np.ndarray,
    weights: np.ndarray,
    clusters: np.ndarray,
) -> tuple[float, float, float]:
    """CR2 of a regression on slice indicators, and Bell-McCaffrey df, by matrices."""
    x = (slices[:, None] == np.arange(weights.size)).astype(float)
    inverse = np.linalg.inv(x.T @ x)
    beta = inverse @ x.T @ difference
    residual = difference - x @ beta
    annihilator = np.eye(len(x)) - x @ inverse @ x.T
    variance, rows = 0.0, []
    for cluster in np.unique(clusters):
        own = clusters == cluster
        values, vectors = np.linalg.eigh(annihilator[np.ix_(own, own)])
        root = vectors @ np.diag(values**-0.5) @ vectors.T
        part = x[own].T @ root
        variance += float(weights @ inverse @ part @ residual[own]) ** 2
        rows.append(annihilator[own].T @ root @ x[own] @ inverse @ weights)
    gamma = np.array(rows) @ np.array(rows).T
    df = np.trace(gamma) ** 2 / np.sum(gamma**2)
    return float(weights @ beta), np.sqrt(variance), float(df)


def test_clusters_across_slices_are_the_regression_with_cr2() -> None:
    rng = np.random.default_rng(4)
    clusters = np.repeat(np.arange(9), [2, 3, 4, 2, 5, 3, 4, 2, 3])
    slices = rng.integers(0, 3, size=clusters.size)
    difference = rng.normal(size=clusters.size) + 0.5 * rng.normal(size=9)[clusters]
    weights = np.array([0.5, 0.3, 0.2])
    law = weighted_cr2_law(difference, slices, weights, clusters)
    estimate, error, df = regression(difference, slices, weights, clusters)
    assert law.estimate == pytest.approx(estimate)
    assert law.standard_error == pytest.approx(error)
    assert law.df == pytest.approx(df)


def test_one_slice_is_the_law_of_the_mean() -> None:
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(6), [1, 2, 3, 4, 2, 5])
    difference = rng.normal(size=clusters.size)
    zeros = np.zeros(clusters.size, dtype=np.int64)
    law = weighted_cr2_law(difference, zeros, np.array([1.0]), clusters)
    right = cr2_law(difference, clusters)
    assert (law.estimate, law.standard_error, law.df) == pytest.approx(
        (right.estimate, right.standard_error, right.df)
    )


def test_a_slice_within_one_cluster_shows_no_variance() -> None:
    difference, slices = np.arange(6.0), np.array([0, 0, 1, 1, 1, 1])
    clusters = np.array([0, 0, 1, 1, 2, 2])
    assert weighted_cr2_law(difference, slices, np.array([0.5, 0.5]), clusters) is None


def test_independent_deltas_match_their_moments() -> None:
    law = weighted_law([0.5, 0.5, 0.0], [0.2, 0.4, 9.0], [(0.01, 9), (0.04, 4), (1, 1)])
    assert law.estimate == pytest.approx(0.3)
    assert law.standard_error**2 == pytest.approx(0.25 * 0.05)
    parts = (0.25 * 0.01, 0.25 * 0.04)
    assert law.df == pytest.approx(
        sum(parts) ** 2 / (parts[0] ** 2 / 9 + parts[1] ** 2 / 4)
    )
    assert weighted_law([1.0], [0.0], [(0.0, 3)]) is None
