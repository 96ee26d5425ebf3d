"""Exact sums, against fractions and `math.fsum`."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from onechange.stats.sums import exact_sum


def test_a_sum_is_the_double_nearest_to_the_exact_one() -> None:
    rng = np.random.default_rng(1)
    for size in (0, 1, 300, 16_384, 20_001):
        values = rng.normal(size=size) * 10.0 ** rng.integers(-20, 20, size)
        exact = sum((Fraction(x) for x in values.tolist()), Fraction(0))
        assert exact_sum(values) == float(exact)


def test_cancellation_leaves_the_small_rest() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=30_000) * 1e12
    both = rng.permutation(np.concatenate([values, -values, [1e-9]]))
    assert exact_sum(both) == 1e-9


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1.0, 1e300])
def test_scales_from_the_smallest_to_the_largest_double(scale: float) -> None:
    values = scale * np.random.default_rng(3).integers(-9, 10, 5_000).astype(float)
    assert exact_sum(values) == math.fsum(values)


def test_an_unscored_value_stays_visible_in_a_sum() -> None:
    assert math.isnan(exact_sum(np.append(np.zeros(1_000), np.nan)))
