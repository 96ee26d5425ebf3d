"""Quantiles of resampled means from their characteristic function."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import bdtr

from onechange.stats.drawn import halved_resamples
from onechange.stats.exact import group
from onechange.stats.ideal import RatioLaw, resampled_law
from onechange.stats.listed import Cells, ListedLaw, grid_law, half_width, whole_power
from onechange.stats.resampled_means import resampled_mean

FloatArray = NDArray[np.float64]


def cells(values: FloatArray) -> Cells:
    distinct, counts = group(values)
    return Cells(distinct, np.ones(distinct.size), counts)


@pytest.mark.parametrize("n", [25, 40, 90, 400])
def test_quantiles_agree_with_the_tilted_inversion(n: int) -> None:
    rng = np.random.default_rng(n)
    for values in (rng.normal(size=n), rng.lognormal(size=n)):
        some = (cells(values * np.sqrt(2.0)),)
        law, tilted = resampled_mean(some), RatioLaw(some)
        assert law.accurate
        for probability in (0.012, 0.3, 0.975):
            found = law.quantile(probability)
            assert found is not None
            assert law.at_most(found) == pytest.approx(probability, abs=1e-9)
            # The tilted inversion leaves out what lies beyond the first lobes.
            below, _ = tilted.tails(found)
            assert below == pytest.approx(probability, abs=3e-7 if n < 50 else 1e-9)


def test_zeros_and_ones_give_the_binomial_law() -> None:
    values = np.repeat([0.0, 1.0], [70, 30])
    law = resampled_mean((cells(values),))
    for k in (20, 30, 37):
        # Between two attainable means, where lobes left out cancel each other.
        below = float(bdtr(k, 100, 0.3))
        assert law.at_most((k + 0.5) / 100) == pytest.approx(below, abs=1e-6)
    assert law.centre == pytest.approx(0.3)
    assert law.spread == pytest.approx(np.sqrt(0.21 / 100))
    assert law.has_lobes


def test_strata_are_resampled_apart() -> None:
    rng = np.random.default_rng(1)
    parts = (rng.normal(size=60), rng.lognormal(size=90), np.full(4, 7.0))
    some = tuple(cells(part) for part in parts)
    law = resampled_mean(some)
    found = law.quantile(0.025)
    assert found is not None
    below, _ = RatioLaw(some).tails(found)
    assert below == pytest.approx(0.025, abs=1e-9)


def test_quantiles_far_out_are_left_to_the_tilted_inversion() -> None:
    rng = np.random.default_rng(2)
    some = (cells(rng.normal(size=80)),)
    assert resampled_mean(some).quantile(1e-9) is None
    law = resampled_law(some, weighting="multinomial", mean=True)
    point = law.quantile(1e-9)
    assert law.tails(point)[0] == pytest.approx(1e-9, rel=1e-6)


@pytest.mark.parametrize("kind", ["distinct", "unchanged"])
def test_few_questions_have_quantiles_to_a_millionth(kind: str) -> None:
    rng = np.random.default_rng(3)
    n = 16 if kind == "distinct" else 24
    values = rng.normal(size=n)
    if kind == "unchanged":
        values[9:] = 0.0
    some = cells(values)
    law = resampled_law((some,), weighting="multinomial", mean=True)
    halves = halved_resamples(some)
    if kind == "distinct":
        assert halves is None
        assert isinstance(law, ListedLaw)
        exact = listed_by_hand(values)
    else:
        assert halves is not None
        exact = halves.at_most
    near = 2e-6 * float(np.std(values))
    for probability in (0.0125, 0.9875):
        found = law.quantile(probability)
        assert exact(found - near) <= probability <= exact(found + near)


def listed_by_hand(values: FloatArray):  # type: ignore[no-untyped-def]
    """P(mean of a resample ≤ x) by pairing two halves of the values."""
    from math import comb

    n = values.size

    def ways(some: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """Sums and probabilities of all multisets, by their number of draws."""
        table = [(np.zeros(0), np.zeros(0)) for _ in range(n + 1)]
        table[0] = (np.zeros(1), np.ones(1))
        for value in some.tolist():
            longer = []
            for m in range(n + 1):
                sums = [table[m - k][0] + k * value for k in range(m + 1)]
                weights = [table[m - k][1] * comb(m, k) for k in range(m + 1)]
                longer.append((np.concatenate(sums), np.concatenate(weights)))
            table = longer
        return table

    left, right = ways(values[: n // 2]), ways(values[n // 2 :])
    ordered = []
    for sums, weights in left:
        order = np.argsort(sums)
        ordered.append((sums[order], np.append(0.0, np.cumsum(weights[order]))))

    def at_most(mean: float) -> float:
        total = 0.0
        for m in range(n + 1):
            sums, cumulated = ordered[m]
            other, weights = right[n - m]
            place = np.searchsorted(sums, n * mean - other, side="right")
            total += comb(n, m) * float(np.sum(weights * cumulated[place]))
        return total / float(n) ** n

    return at_most


def test_half_width_holds_nearly_all_mass() -> None:
    # A single outlier is drawn a Poisson number of times: 17 times with 1e-15.
    values, share = np.array([0.0, 1.0]), np.array([0.99, 0.01])
    assert 15.0 < half_width([(values, share, 100)]) < 25.0
    normal = half_width([(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 10_000)])
    assert 800.0 < normal < 900.0


def test_whole_powers_are_products() -> None:
    base = np.array([1.5 + 0.5j, -0.3j])
    for exponent in (0, 1, 7, 12):
        np.testing.assert_allclose(whole_power(base, exponent), base**exponent)


def test_ten_units_are_counted_point_by_point() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(size=10)
    some = cells(values)
    law = resampled_law((some,), weighting="multinomial", mean=True)
    exact = listed_by_hand(values)
    for point in np.quantile(values, (0.317, 0.523, 0.611)).tolist():
        least, most = law.tails(point)
        assert least == pytest.approx(exact(point), abs=1e-12)
        assert most == pytest.approx(1.0 - exact(point), abs=1e-12)
        assert law.below(point) == pytest.approx(exact(point), abs=1e-12)


def test_tails_of_many_values_are_relative() -> None:
    rng = np.random.default_rng(5)
    some = (cells(rng.lognormal(size=900)),)
    law = resampled_law(some, weighting="multinomial", mean=True)
    estimate = float(np.mean(some[0].y))
    for aside in (0.02, 0.2):
        point = estimate - aside
        assert law.tails(point)[0] == pytest.approx(
            RatioLaw(some).tails(point)[0], rel=1e-8
        )


def test_a_lattice_too_fine_to_be_listed_attains_its_quantile() -> None:
    rng = np.random.default_rng(6)
    values = np.zeros(40)
    values[:10] = rng.integers(-(10**6), 10**6, 10)
    some = (cells(values),)
    law = resampled_law(some, weighting="multinomial", mean=True)
    assert isinstance(law, RatioLaw)
    assert law.step == pytest.approx(1.0 / 40.0)
    for probability in (0.02, 0.98):
        found = law.quantile(probability)
        assert found * 40.0 == pytest.approx(round(found * 40.0), abs=1e-6)
        least, most = law.tails(found)
        assert least >= probability - 1e-6
        assert least + most > 1.0  # an attained value counts in both
        near = grid_law(some).quantile(probability)
        assert found == pytest.approx(near, abs=1e-5 * float(np.std(values)))
