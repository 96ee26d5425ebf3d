"""Shares of subset means, and the limits they give."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from onechange.stats.exact import subset_tail
from onechange.stats.mean_shares import mean_shares, normal_density, smooth_limits
from onechange.stats.sawtooth import Frequencies
from onechange.stats.series import moved_sign_functions, power_sums
from onechange.stats.subset_means import subset_mean_limits, subset_mean_shares

FloatArray = NDArray[np.float64]


def counted_share(values: FloatArray, sizes: FloatArray, delta: float) -> float:
    """Share of subsets with a mean of δ or less: two halves that meet."""
    moved, halves = values - delta * sizes, []
    for half in (moved[::2], moved[1::2]):
        sums = np.zeros(1)
        for value in half.tolist():
            sums = np.concatenate((sums, sums + value))
        halves.append(np.sort(sums))
    below = np.searchsorted(halves[0], -halves[1][::-1], side="right")
    return float(np.sum(below)) / 2.0**values.size


def enclosed(values: FloatArray, sizes: FloatArray, tail: float) -> None:
    """Both limits lie within a millionth of a standard deviation of a step."""
    low, high = subset_mean_limits(values, sizes, tail=tail)
    near = 1e-6 * float(np.std(values / sizes))
    for sign, limit in ((1.0, low), (-1.0, -high)):
        assert counted_share(sign * values, sizes, limit - near) <= tail
        assert counted_share(sign * values, sizes, limit + near) >= tail


@pytest.mark.parametrize("n", [16, 22, 27, 31, 34])
@pytest.mark.parametrize("tail", [0.025, 0.005])
def test_limits_are_subset_means_to_a_millionth(n: int, tail: float) -> None:
    rng = np.random.default_rng(n)
    enclosed(rng.normal(0.2, 1.0, n), np.ones(n), tail)
    enclosed(rng.lognormal(size=n), np.ones(n), tail)


def test_clusters_of_many_sizes_have_exact_limits() -> None:
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 9, 29).astype(np.float64)
    enclosed(rng.normal(size=29) * sizes, sizes, 0.025)


@pytest.mark.parametrize("outliers", [[1e4], [1e3, -2e5]])
@pytest.mark.parametrize("n", [20, 31])
def test_outliers_part_the_shares_into_waves(n: int, outliers: list[float]) -> None:
    rng = np.random.default_rng(n)
    values = np.append(rng.normal(0.5, 1.0, n - len(outliers)), outliers)
    enclosed(values, np.ones(n), 0.025)
    assert not smooth_limits(
        mean_shares(np.sort(values), np.ones(n), np.ones(n, np.int64)), 0.025
    ).accurate


def test_means_that_nearly_agree_are_parted_by_counting() -> None:
    # A far outlier makes millions of the other means fit into a narrow bracket.
    rng = np.random.default_rng(5)
    values = np.append(1e-7 * rng.normal(size=23), 50.0)
    enclosed(values, np.ones(24), 0.3)


def test_an_outlier_among_many_is_split_off() -> None:
    rng = np.random.default_rng(6)
    values = np.append(rng.normal(0.0, 1.0, 60), 1e6)
    low, high = subset_mean_limits(values, np.ones(61), tail=0.025)
    # With the outlier in it a subset's mean is above the limit: one in two is not.
    other, _ = subset_mean_limits(values[:-1], np.ones(60), tail=0.05)
    assert low == pytest.approx(other, abs=1e-6)
    assert high > 1e4


def test_expansion_starts_close_to_the_limits() -> None:
    rng = np.random.default_rng(7)
    values = np.sort(rng.normal(0.1, 1.0, 300))
    some = mean_shares(values, np.ones(300), np.ones(300, np.int64))
    found = smooth_limits(some, 0.025)
    assert found.accurate
    for start, limit in zip(some.starts(0.025), found.limits, strict=True):
        assert start == pytest.approx(limit, abs=1e-4 * some.spread)


def test_a_tail_that_no_normal_limit_has_is_no_start() -> None:
    values = np.array([0.0, 1.0, 3.0, 7.0])
    some = mean_shares(values, np.ones(4), np.ones(4, np.int64))
    assert some.starts(1e-4) == (some.mean, some.mean)


def test_power_sums_serve_all_trial_values_together() -> None:
    rng = np.random.default_rng(8)
    values = np.sort(rng.standard_t(4, 900))
    some = mean_shares(values, np.ones(900), np.ones(900, np.int64))
    assert some.base is not None
    assert some.base.outliers.size > 0
    deltas = some.mean + np.array([-0.1, 0.0, 0.02])
    sizes, square, points = some.laws(deltas)
    frequencies = Frequencies.of(square, points)
    t = frequencies.main
    direct = np.prod(np.cos(sizes[:, :, None] * t), axis=1)
    shifts = some.base.centre - (deltas - some.mean)
    series = moved_sign_functions(some.base, shifts, t)
    assert series is not None
    np.testing.assert_allclose(series, direct, atol=1e-12)
    np.testing.assert_allclose(
        some.shares(frequencies, sizes, points),
        frequencies.tails(points, direct),
        atol=1e-12,
    )


def test_a_shift_too_large_for_the_power_sums_is_taken_directly() -> None:
    rng = np.random.default_rng(9)
    values = np.sort(rng.normal(size=900))
    some = mean_shares(values, np.ones(900), np.ones(900, np.int64))
    deltas = np.array([some.mean + 9.0])
    sizes, square, points = some.laws(deltas)
    frequencies = Frequencies.of(square, points)
    base = power_sums(values, np.ones(900, np.int64))
    assert moved_sign_functions(base, np.array([9.0]), frequencies.main) is None
    # Nine standard deviations above the mean lies no mean of any subset.
    assert some.shares(frequencies, sizes, points)[0] == pytest.approx(1.0, abs=1e-9)


def test_density_is_that_of_the_normal_law() -> None:
    assert normal_density(0.5) == pytest.approx(1.0 / np.sqrt(2.0 * np.pi), rel=1e-15)


def test_a_root_that_moves_far_is_searched_anew() -> None:
    rng = np.random.default_rng(3)
    values = np.sort(np.exp(3.0 * rng.normal(size=60)))
    some = mean_shares(values, np.ones(60), np.ones(60, np.int64))
    assert not smooth_limits(some, 0.25).accurate
    low, high = subset_mean_limits(values, np.ones(60), tail=0.25)
    one = np.ones(60, np.int64)
    for sign, limit in ((1.0, low), (-1.0, -high)):
        near = 1e-6 * float(np.std(values))
        assert subset_tail(sign * values - limit + near, one).probability <= 0.25
        assert subset_tail(sign * values - limit - near, one).probability >= 0.25


@pytest.mark.parametrize("n", [18, 20])
def test_a_bracket_with_too_many_means_is_halved(n: int) -> None:
    rng = np.random.default_rng(n)
    values = np.append(1e-7 * rng.normal(size=n - 1), 50.0)
    enclosed(values, np.ones(n), 0.3)
    low, _ = subset_mean_limits(values, np.ones(n), tail=0.3)
    sums, sizes = np.zeros(1), np.zeros(1)
    for value in values.tolist():
        sums = np.concatenate((sums, sums + value))
        sizes = np.concatenate((sizes, sizes + 1.0))
    means = np.sort(sums[1:] / sizes[1:])
    assert low == pytest.approx(means[int(2**n * 0.3) - 1], abs=1e-12)


def test_sums_on_a_fine_lattice_have_no_table() -> None:
    rng = np.random.default_rng(10)
    sizes = rng.integers(1, 5, 300).astype(np.float64)
    fine = rng.integers(-(10**6), 10**6, 300).astype(np.float64)
    assert subset_mean_shares(fine, sizes, 0.3) is None
    assert subset_mean_shares(rng.normal(size=300), sizes, 0.3) is None


def test_a_hundred_thousand_equal_means_are_one() -> None:
    values = np.arange(1.0, 29.0)
    counted = subset_mean_limits(values, np.ones(28), tail=0.45, largest_table=0)
    tabulated = subset_mean_limits(values, np.ones(28), tail=0.45)
    assert counted == pytest.approx(tabulated, abs=1e-11)


def test_a_bracket_beside_the_limit_is_moved() -> None:
    rng = np.random.default_rng(9)
    n = int(rng.integers(15, 37))
    enclosed(rng.lognormal(0.0, 1.5, n) - 1.0, np.ones(n), 0.005)
