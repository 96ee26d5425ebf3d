"""Limits of subset means beside outliers, against counts of all subsets."""

from __future__ import annotations

import numpy as np
import pytest

from onechange.stats.exact import group
from onechange.stats.parted import parted_limits
from onechange.stats.signflip import signflip_interval
from onechange.stats.subset_means import subset_mean_limits

TAIL = 0.025


def _share(values: np.ndarray, mean: float) -> float:
    """Share of subsets, the empty one included, with a mean of at most so much."""

    def sums(some: np.ndarray) -> np.ndarray:
        found = np.zeros(1)
        for value in some:
            found = np.concatenate((found, found + value))
        return found

    moved = values - mean
    half = values.size // 2
    first, second = np.sort(sums(moved[:half])), sums(moved[half:])
    ways = np.searchsorted(first, -second, side="right").sum()
    return float(ways) / 2.0**values.size


@pytest.mark.parametrize("outliers", [[300.0], [1e4], [-1e6], [200.0, -3e4]])
@pytest.mark.parametrize("n", [34, 37])
def test_limits_beside_outliers_are_those_of_counted_subsets(
    outliers: list[float], n: int
) -> None:
    values = np.random.default_rng(n).normal(0.0, 1.0, n)
    values[: len(outliers)] = outliers
    limits = parted_limits(*group(values), TAIL)
    assert limits is not None
    for limit, some in ((limits[0], values), (-limits[1], -values)):
        near = 1e-7 * max(1.0, abs(limit))
        below, above = _share(some, limit - near), _share(some, limit + near)
        assert below - 2e-8 <= TAIL <= above + 2e-8
        assert above - below < 1e-3


def test_limits_beside_an_outlier_and_a_lattice_are_those_of_the_table() -> None:
    rng = np.random.default_rng(5)
    values = rng.integers(-9, 10, 60) / 10.0
    values[0] = 400.0
    found = parted_limits(*group(values), TAIL)
    table = subset_mean_limits(values, np.ones(60), tail=TAIL)
    # A sum counts as reached from 1e-9 of the unit below.
    assert found == pytest.approx(table, abs=1e-10)


@pytest.mark.parametrize("n", [40, 400])
def test_the_law_beside_an_outlier_scales_with_it(n: int) -> None:
    # Of a subset with the outlier the mean is the outlier's share, but for 1e-4.
    values = np.random.default_rng(n).normal(0.0, 1e-3, n)
    low = signflip_interval(np.append(values, 1e4)).low
    assert low < 0.0
    highs = [signflip_interval(np.append(values, x)).high / x for x in (1e4, 1e7)]
    assert highs[0] == pytest.approx(highs[1], rel=1e-6)


@pytest.mark.parametrize(
    "values",
    [
        np.arange(50.0) ** 2,
        np.append(np.ones(20), 1e6),
        # The second outlier would be one of too few others.
        np.append(np.random.default_rng(1).normal(size=29), [1e3, -2e5]),
    ],
)
def test_nothing_is_parted_without_outliers_or_with_few_others(
    values: np.ndarray,
) -> None:
    assert parted_limits(*group(values), TAIL) is None
