"""Differences are cleaned of the rounding noise of binary floats."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import onechange as oc
from onechange.stats.sample import paired_sample, snap
from onechange.stats.signflip import signflip_test


def _exact_pvalue(steps: list[int]) -> float:
    """Two-sided sign-flip p-value of whole numbers, by counting."""
    ways = {0: 1}
    for step in steps:
        further: dict[int, int] = {}
        for total, count in ways.items():
            for end in (total + step, total - step):
                further[end] = further.get(end, 0) + count
        ways = further
    reached = abs(sum(steps))
    beyond = sum(count for end, count in ways.items() if abs(end) >= reached)
    return float(Fraction(beyond, 2 ** len(steps)))


@pytest.mark.parametrize("parts", [1, 3, 10, 1000])
@pytest.mark.parametrize("level", [1e3, 2e4, 1e8])
@pytest.mark.parametrize("n", [9, 60])
def test_ties_of_large_scores_survive_the_noise_of_floats(
    parts: int, level: float, n: int
) -> None:
    rng = np.random.default_rng(n)
    for _ in range(5):
        baseline = rng.integers(int(level * parts) // 2, int(level * parts), n)
        steps = rng.integers(-5, 6, n)
        sample = paired_sample(baseline / parts, (baseline + steps) / parts)
        pvalue = signflip_test(sample.difference).pvalue
        assert pvalue == pytest.approx(_exact_pvalue(steps.tolist()), rel=1e-12)


def test_ties_of_cluster_sums_survive_the_noise_of_floats() -> None:
    rng = np.random.default_rng(4)
    clusters = np.repeat(np.arange(9), 2)
    baseline = rng.integers(15_000, 60_000, 18)
    steps = rng.integers(-5, 6, 18)
    sample = paired_sample(baseline / 3, (baseline + steps) / 3, clusters=clusters)
    pvalue = signflip_test(sample.difference, clusters=sample.clusters).pvalue
    sums = np.bincount(clusters, weights=steps).astype(int)
    assert pvalue == pytest.approx(_exact_pvalue(sums.tolist()), rel=1e-12)


def test_differences_off_any_lattice_stay_as_they_are() -> None:
    rng = np.random.default_rng(2)
    baseline, variant = rng.random((2, 50))
    sample = paired_sample(baseline, variant)
    assert sample.difference.tolist() == (variant - baseline).tolist()


def test_points_of_a_lattice_are_the_decimals_themselves() -> None:
    sample = paired_sample(np.array([1000.1, 0.0, 5.0]), np.array([1000.4, 0.7, 4.9]))
    assert sample.difference.tolist() == [0.3, 0.7, -0.1]


def _snapped_one_by_one(values: list[float], tolerance: float) -> list[float]:
    """Walk up the magnitudes; a gap of at most the tolerance joins a run."""
    known: dict[float, float] = {}
    last = representative = -np.inf
    for size in sorted({abs(value) for value in values}):
        if not known or size - last > tolerance:
            representative = size if size > tolerance else 0.0
        known[size] = representative
        last = size
    return [float(np.copysign(known[abs(v)], v)) + 0.0 for v in values]


def test_runs_of_near_values_become_their_smallest_magnitude() -> None:
    rng = np.random.default_rng(5)
    for _ in range(300):
        n = int(rng.integers(0, 30))
        base = rng.choice([0.0, -0.0, 0.1, 0.3, 1.0, 2.0], n)
        noise = rng.choice([0.0, 1e-13, 2.5e-13, 1e-12, 3e-12], n)
        times = rng.choice([0.0, 1.0, 2.0], n)
        signs = rng.choice([-1.0, 1.0], n)
        values = np.asarray(signs * (base + noise * times), dtype=np.float64)
        for tolerance in (0.0, 1e-13, 1e-12):
            expected = np.array(_snapped_one_by_one(values.tolist(), tolerance))
            sizes = np.sort(np.abs(values))
            for found in (
                snap(values, tolerance),
                snap(values, tolerance, magnitudes=sizes),
            ):
                assert found.tobytes() == expected.astype(float).tobytes()


@pytest.mark.parametrize("n", [8, 40, 400])
@pytest.mark.parametrize("decimals", [2, 16])
@pytest.mark.parametrize("scale", [1e-90, 1e-40, 1e-13, 1e13, 1e26, 1e90])
def test_results_do_not_depend_on_the_unit_of_the_scores(
    n: int, decimals: int, scale: float
) -> None:
    change = np.round(np.random.default_rng(n).normal(0.2, 1.0, n), decimals)
    usual = oc.paired_delta(np.zeros(n), change)
    scaled = oc.paired_delta(np.zeros(n), change * scale)
    assert scaled.test.pvalue == pytest.approx(usual.test.pvalue, rel=1e-6, abs=1e-9)
    for kind in ("interval", "bootstrap_interval", "permutation_interval"):
        first, second = getattr(usual, kind), getattr(scaled, kind)
        limits = second.low / scale, second.high / scale
        assert limits == pytest.approx((first.low, first.high), rel=1e-5)


@pytest.mark.parametrize("score", [1e200, 1e-200])
def test_scores_without_squares_are_refused(score: float) -> None:
    with pytest.raises(oc.OnechangeError, match="give the metric in another unit"):
        oc.paired_delta(np.zeros(8), np.full(8, score))
