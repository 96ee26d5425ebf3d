"""Tails of sums with random signs from equally spaced frequencies."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from onechange.stats.enumeration import count_below
from onechange.stats.inversion import upper_tail
from onechange.stats.laws import SignLaw
from onechange.stats.sawtooth import Frequencies, products

FloatArray = NDArray[np.float64]


def tail(sizes: FloatArray, point: float) -> tuple[float, float, float]:
    """P(Σ ±a ≥ x), what lies beyond the main lobe, and the error."""
    counts, points = np.ones(sizes.size), np.array([point])
    some = Frequencies.of(np.array([np.sum(sizes**2)]), points)
    main = some.tails(points, products(sizes[None, :], counts, some.main))
    far, error = some.beyond(sizes, counts, point)
    return float(main[0]) + far, far, error


@pytest.mark.parametrize("seed", range(6))
def test_errors_of_few_values_are_as_large_as_estimated(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 29 + seed
    sizes = np.abs(rng.lognormal(size=n) - 1.0 if seed % 2 else rng.normal(size=n))
    for share in (0.0, 0.8, 2.0):
        point = share * float(np.sqrt(np.sum(sizes**2)))
        room = 0.5 * (float(np.sum(sizes)) - point)
        exact = count_below(sizes, np.ones(n, np.int64), room, 0.0)
        got, _, error = tail(sizes, point)
        assert abs(got - exact) <= 2.0 * error
        assert error < 2e-7


@pytest.mark.parametrize("n", [65, 150, 700])
def test_many_values_agree_with_the_tilted_inversion(n: int) -> None:
    rng = np.random.default_rng(n)
    sizes = np.sort(np.abs(rng.standard_t(3, n)))
    law = SignLaw(sizes, np.ones(n, np.int64))
    for share in (0.3, 1.9, 4.0):
        point = share * float(np.sqrt(np.sum(sizes**2)))
        got, _, _ = tail(sizes, point)
        assert got == pytest.approx(upper_tail(law, point).probability, rel=1e-8)


def test_lobes_of_values_near_a_lattice_are_found() -> None:
    rng = np.random.default_rng(1)
    whole = rng.integers(1, 6, 300).astype(np.float64)
    sizes = whole + rng.normal(0.0, 1e-3, 300)  # every fifth lobe is missing by little
    point = 0.5 * float(np.sqrt(np.sum(sizes**2)))
    got, far, _ = tail(sizes, point)
    exact = upper_tail(SignLaw(np.sort(sizes), np.ones(300, np.int64)), point)
    assert abs(far) > 1e-4
    assert got == pytest.approx(exact.probability, abs=1e-9)


def test_known_lobes_stand_for_a_lattice() -> None:
    # Whole numbers up to 40: 60 root mean squares do not reach the first lobe.
    rng = np.random.default_rng(2)
    whole = rng.integers(1, 41, 80)
    ways = np.ones(1)
    for k in whole.tolist():
        ways = 0.5 * (np.append(ways, np.zeros(k)) + np.append(np.zeros(k), ways))
    total = int(np.sum(whole))
    sizes, counts = whole.astype(np.float64), np.ones(80)
    point = float(total % 2) + 50.4  # between two sums, which differ by two
    exact = float(np.sum(ways[2 * np.arange(total + 1) - total >= point]))
    points = np.array([point])
    some = Frequencies.of(np.array([np.sum(sizes**2)]), points)
    main = some.tails(points, products(sizes[None, :], counts, some.main))
    without, _ = some.beyond(sizes, counts, point)
    lobes = np.pi * np.arange(1.0, 4000.0)
    far, _ = some.beyond(sizes, counts, point, lobes)
    assert abs(float(main[0]) + without - exact) > 1e-5
    assert float(main[0]) + far == pytest.approx(exact, abs=5e-7)


def test_repeated_values_count_as_often_as_they_occur() -> None:
    rng = np.random.default_rng(3)
    sizes, counts = rng.random(20) + 0.2, rng.integers(1, 7, 20)
    t = np.linspace(0.0, 3.0, 9)
    once = products(np.repeat(sizes, counts)[None, :], np.ones(int(counts.sum())), t)
    many = products(sizes[None, :], counts.astype(np.float64), t)
    np.testing.assert_allclose(many, once, atol=1e-14)
