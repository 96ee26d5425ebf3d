"""Limits of the cluster sign-flip interval from the joint law of sizes and sums."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from onechange.stats.lattice import find_lattice
from onechange.stats.size_and_sum import size_and_sum


def _enumerated(sums: list[int], sizes: list[int], tail: float) -> tuple[float, float]:
    """Limits by listing all non-empty subsets of clusters; sums are in thirds."""
    means = sorted(
        Fraction(sum(s for s, use in zip(sums, chosen, strict=True) if use), 3)
        / sum(k for k, use in zip(sizes, chosen, strict=True) if use)
        for chosen in itertools.product((False, True), repeat=len(sums))
        if any(chosen)
    )
    k = int(2 ** len(sums) * tail)
    return float(means[k - 1]), float(means[-k])


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("share_of_zeros", [0.0, 0.7])
def test_limits_equal_the_enumeration_over_whole_clusters(
    seed: int, share_of_zeros: float
) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(7, 12))
    sizes = rng.integers(1, 7, n)
    thirds = rng.integers(-6, 9, n)
    thirds[rng.random(n) < share_of_zeros] = 0
    if not thirds.any():
        thirds[0] = 1
    lattice = find_lattice(thirds / 3.0)
    table = size_and_sum(lattice, np.ones(n, dtype=np.int64), sizes=sizes)
    right = _enumerated(thirds.tolist(), sizes.tolist(), 0.025)
    assert table.limits(0.025) == pytest.approx(right, abs=1e-9)
