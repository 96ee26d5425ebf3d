"""The engine: laws of random sums, by enumeration, on lattices, and by inversion."""

from __future__ import annotations

from fractions import Fraction
from math import comb, log, log10

import numpy as np
import pytest
from numpy.typing import NDArray

from onechange.stats.enumeration import (
    count_below,
    first_mean_above,
    kth_smallest_mean,
    states_per_half,
)
from onechange.stats.exact import (
    Route,
    group,
    on_coarse_lattice,
    sign_law,
    subset_tail,
)
from onechange.stats.inversion import Tail, lobe_height, upper_tail
from onechange.stats.lattice import Lattice, find_lattice
from onechange.stats.laws import (
    IndependentLaws,
    MultinomialLaw,
    PoissonLaw,
    SignLaw,
)
from onechange.stats.series import (
    SeriesMultinomialLaw,
    SeriesSignLaw,
    power_sums,
)
from onechange.stats.size_and_sum import size_and_sum
from onechange.stats.subset_means import subset_mean_limits

FloatArray = NDArray[np.float64]


def counted_log10(integers: list[int]) -> float:
    """log10 of the share of subsets with a sum of zero or less, in whole numbers."""
    room = -sum(k for k in integers if k < 0)
    ways = [1] + [0] * room
    for k in map(abs, integers):
        for total in range(room, k - 1, -1):
            ways[total] += ways[total - k]
    return log10(sum(ways)) - len(integers) * log10(2)


def ones(values: FloatArray) -> NDArray[np.int64]:
    return np.ones(values.size, dtype=np.int64)


@pytest.mark.parametrize(
    ("n", "mean"), [(150, 1.2), (200, 1.5), (400, 1.0), (300, 3.0)]
)
def test_deep_tails_keep_their_relative_accuracy(n: int, mean: float) -> None:
    rng = np.random.default_rng(n)
    integers = np.rint(rng.normal(mean, 1.5, n) * 4).astype(int)
    tail = subset_tail(*group(integers * 0.25))
    expected = counted_log10(integers.tolist()) * log(10)
    assert expected < -30.0
    assert tail.log == pytest.approx(expected, abs=1e-9)


def test_inversion_on_a_lattice_agrees_with_exact_counts_at_1e_minus_40() -> None:
    rng = np.random.default_rng(5)
    integers = np.rint(rng.normal(2.0, 1.4, 290) * 4).astype(int)
    sizes, counts = group(np.abs(integers[integers != 0]).astype(float))
    room = -int(integers[integers < 0].sum())
    point = float(np.sum(sizes * counts)) - 2.0 * room
    tail = upper_tail(SignLaw(sizes, counts), point, step=2.0)
    expected = counted_log10(integers[integers != 0].tolist()) * log(10)
    assert -130.0 < expected / log(10) < -36.0
    assert tail.log == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("n", [36, 40])
@pytest.mark.parametrize("kind", ["normal", "skewed", "shifted"])
def test_inversion_agrees_with_enumeration(n: int, kind: str) -> None:
    rng = np.random.default_rng(n)
    values = {
        "normal": rng.normal(0.1, 1.0, n),
        "skewed": rng.lognormal(0.0, 1.0, n) - 1.3,
        "shifted": rng.normal(0.5, 1.0, n),
    }[kind]
    sizes, counts = group(np.abs(values))
    exact = count_below(sizes, counts, -values[values < 0].sum(), 1e-12)
    inverted = subset_tail(values, ones(values), Route(False, most_states=0.0))
    assert inverted.probability == pytest.approx(exact, abs=1e-7)


def test_a_fine_lattice_counts_its_ties() -> None:
    rng = np.random.default_rng(11)
    integers = np.rint(100.0 * (rng.lognormal(0.0, 0.5, 900) - 1.13)).astype(np.int64)
    # Adding the values one by one; all terms are positive.
    room = -int(integers[integers < 0].sum())
    mass = np.zeros(room + 1)
    mass[0] = 1.0
    for k in np.abs(integers[integers != 0]).tolist():
        mass[k:] = 0.5 * mass[k:] + 0.5 * mass[: mass.size - k]
        mass[: min(k, mass.size)] *= 0.5
    assert mass[room] > 1e-6  # the tie that a continuous law would halve
    got = subset_tail(*group(integers / 100.0))
    assert got.probability == pytest.approx(float(np.sum(mass)), abs=1e-9)
    assert got.probability == pytest.approx(float(np.sum(mass)), rel=1e-9)


def test_values_that_cannot_fit_cost_one_half_each() -> None:
    values = np.array([100.0] * 2000 + [-1.0])
    tail = subset_tail(*group(values))
    assert tail.probability == 0.0
    assert tail.log == pytest.approx(-2000 * log(2), rel=1e-14)


def test_a_dominating_value_is_split_off() -> None:
    rng = np.random.default_rng(2)
    values = np.append(rng.normal(0.1, 1.0, 60), -1e6)
    tail = subset_tail(values, ones(values), Route(lattice=False))
    rest = subset_tail(values[:-1], ones(values[:-1]), Route(lattice=False))
    assert tail.probability == pytest.approx(0.5 + 0.5 * rest.probability, abs=1e-9)


def test_tails_add_halve_and_complement() -> None:
    tail = Tail.of(0.25)
    assert tail.halved(1).probability == 0.125
    assert tail.halved(2000).log == pytest.approx(log(0.25) - 2000 * log(2))
    assert tail.plus(Tail.of(0.5)).probability == 0.75
    assert tail.complement().probability == 0.75
    assert Tail.of(0.0).log == -np.inf
    assert Tail.of(1.0).complement().log == -np.inf


def test_power_sums_reproduce_the_direct_sign_law() -> None:
    rng = np.random.default_rng(3)
    values, counts = group(rng.standard_t(4, 4000))
    base = power_sums(values, counts)
    assert base.outliers.size > 0
    t = np.linspace(0.0, 9.0, 12) / np.sqrt(np.sum(values**2))
    for shift in (0.0, 0.03, base.centre):
        series = SeriesSignLaw.of(base, shift)
        assert series is not None
        sizes = np.abs(values - base.centre + shift)
        direct = SignLaw(sizes, counts)
        tilt = 2.5 * float(t[-1]) / 9.0
        assert series.moments(tilt) == pytest.approx(direct.moments(tilt), rel=1e-11)
        np.testing.assert_allclose(
            series.tilted(tilt, t), direct.tilted(tilt, t), atol=1e-12
        )
        np.testing.assert_allclose(  # beyond the reach of the power sums
            series.tilted(30.0 * tilt, t), direct.tilted(30.0 * tilt, t), atol=1e-12
        )
    assert SeriesSignLaw.of(base, 1e3) is None


def test_power_sums_reproduce_the_direct_resampling_law() -> None:
    rng = np.random.default_rng(4)
    values, counts = group(rng.lognormal(0.0, 1.0, 3000))
    base = power_sums(values, counts)
    direct = MultinomialLaw(values - base.centre, counts / 3000, 3000)
    series = SeriesMultinomialLaw(base)
    t = np.linspace(0.0, 9.0, 12) / np.sqrt(np.sum((values - base.centre) ** 2))
    for law, other in ((series, direct), (series.opposite(), direct.opposite())):
        tilt = float(t[3])
        assert law.moments(tilt) == pytest.approx(
            other.moments(tilt), rel=1e-9, abs=1e-9
        )
        np.testing.assert_allclose(
            law.tilted(tilt, t), other.tilted(tilt, t), atol=1e-11
        )
        assert law.support() == pytest.approx(other.support())


def test_poisson_weights_sum_to_a_poisson_law() -> None:
    law = PoissonLaw(np.array([1.0]), np.array([4]))
    # P(N ≥ 7) with N Poisson of mean 4, on its lattice.
    expected = 1.0 - sum(
        np.exp(-4.0) * 4.0**k / float(np.prod(range(1, k + 1))) for k in range(7)
    )
    assert upper_tail(law, 7.0, step=1.0).probability == pytest.approx(
        expected, abs=1e-12
    )
    assert law.support() == (0.0, np.inf)
    assert law.opposite().support() == (-np.inf, 0.0)


def test_independent_laws_add_up() -> None:
    rng = np.random.default_rng(6)
    values, counts = group(rng.normal(size=60))
    sizes, counts = group(np.abs(values))
    both = IndependentLaws(
        (SignLaw(sizes[:30], counts[:30]), SignLaw(sizes[30:], counts[30:]))
    )
    whole = SignLaw(sizes, counts)
    assert both.n_terms == whole.n_terms == 60
    assert both.support() == pytest.approx(whole.support())
    assert upper_tail(both.opposite(), 5.0).log == pytest.approx(
        upper_tail(whole, 5.0).log, abs=1e-9
    )


def test_lobes_tell_lattices_from_continuous_values() -> None:
    rng = np.random.default_rng(7)
    few = np.append(np.ones(20), 0.5)
    assert lobe_height(SignLaw(*group(few))) > 1e-3
    assert lobe_height(SignLaw(*group(rng.random(300)))) < 1e-9
    assert lobe_height(SignLaw(*group(rng.random(150)))) < 1e-9


@pytest.mark.parametrize(
    ("values", "integers"),
    [
        ([0.0, 0.0], [0, 0]),
        ([0.5, -0.25], [2, -1]),
        ([1 / 3, 0.2, -2 / 7], [35, 21, -30]),
        ([np.pi, 2 * np.pi, -3 * np.pi], [1, 2, -3]),
        ([1234.567, 0.001], [1234567, 1]),
    ],
)
def test_lattices_are_found(values: list[float], integers: list[int]) -> None:
    found = find_lattice(np.array(values))
    assert found is not None
    assert found.integers.tolist() == integers


@pytest.mark.parametrize(
    "values",
    [[1.0, np.sqrt(2.0)], [np.pi, np.e, 1.0], [1e-12, 1.0, np.sqrt(2.0) * 1e-3]],
)
def test_incommensurable_values_have_no_lattice(values: list[float]) -> None:
    assert find_lattice(np.array(values)) is None


def test_lattice_serves_all_values() -> None:
    thirds = np.append(np.arange(1.0, 400.0), 1.0 / 3.0)
    found = find_lattice(thirds)
    assert found is not None
    assert found.unit == pytest.approx(1.0 / 3.0)
    rng = np.random.default_rng(1)
    assert find_lattice(np.append(np.arange(1.0, 400.0), rng.random(5))) is None


@pytest.mark.parametrize("counts", [(3, 5, 9), (30, 50, 90)])  # added, transformed
def test_table_of_sizes_and_sums_is_the_binomial_law(
    counts: tuple[int, int, int],
) -> None:
    lattice = Lattice(np.array([-1, 0, 1]), 1.0)
    table = size_and_sum(lattice, np.array(counts))
    assert table is not None
    ways = 0
    for losses in range(counts[0] + 1):
        for wins in range(counts[2] + 1):
            for zeros in range(counts[1] + 1):
                if 10 * (wins - losses) <= wins + losses + zeros:
                    drawn = comb(counts[0], losses) * comb(counts[2], wins)
                    ways += drawn * comb(counts[1], zeros)
    share = float(Fraction(ways, 2 ** sum(counts)))
    assert table.share(0.1) == pytest.approx(share, rel=1e-11)


@pytest.mark.parametrize("n", [15, 24])
def test_table_of_a_fine_lattice_has_the_limits_of_counted_subsets(n: int) -> None:
    values = np.round(np.random.default_rng(n).normal(0.05, 0.3, n), 3)
    low, high = subset_mean_limits(values, np.ones(n), tail=0.025)
    counted = subset_mean_limits(values, np.ones(n), tail=0.025, largest_table=0)
    assert (low, high) == pytest.approx(counted, abs=1e-12)


def test_large_tables_are_left_to_inversion() -> None:
    rng = np.random.default_rng(8)
    values, counts = group(np.round(rng.normal(size=900), 3))
    lattice = find_lattice(values)
    assert lattice is not None
    assert size_and_sum(lattice, counts) is None


def test_table_of_sizes_and_sums_counts_subsets() -> None:
    rng = np.random.default_rng(9)
    integers = rng.integers(-4, 5, 60) * (rng.random(60) < 0.6)
    ways = np.zeros((61, 481))  # size, sum + 240
    ways[0, 240] = 1.0
    for k in integers.tolist():
        taken = np.zeros_like(ways)
        taken[1:] = np.roll(ways, k, axis=1)[:-1]
        ways = ways + taken
    sizes, sums = np.arange(61)[:, None], np.arange(481)[None, :] - 240
    values, counts = group(integers / 4.0)
    lattice = find_lattice(values)
    assert lattice is not None
    table = size_and_sum(lattice, counts)
    assert table is not None
    assert table.unit == 0.25
    for mean in (-0.75, -0.5, -1 / 3, 0.0, 0.21, 2 / 7):
        below = float(np.sum(ways[sums <= mean * sizes + 1e-12])) / 2.0**60
        above = float(np.sum(ways[sums >= mean * sizes - 1e-12])) / 2.0**60
        assert table.share(mean) == pytest.approx(below, abs=1e-13)
        assert table.share_above(mean) == pytest.approx(above, abs=1e-13)
    low, high = table.limits(0.025)
    for limit, share in ((low, table.share), (-high, lambda m: table.share_above(-m))):
        assert share(limit / 0.25) > 0.025 >= share(limit / 0.25 - 1e-9)


def test_table_and_inversion_find_the_same_limits() -> None:
    rng = np.random.default_rng(9)
    values = rng.integers(-20, 21, 500) * (rng.random(500) < 0.6) / 10.0
    low, high = subset_mean_limits(values, np.ones(500), tail=0.025)
    other = subset_mean_limits(values, np.ones(500), tail=0.025, largest_table=0)
    spread = float(np.std(values))
    assert low == pytest.approx(other[0], abs=1e-6 * spread)
    assert high == pytest.approx(other[1], abs=1e-6 * spread)


def test_states_are_counted_before_they_are_made() -> None:
    assert states_per_half(np.full(10_000, 1)) == np.inf
    assert states_per_half(np.array([1, 1, 1, 1])) == 4.0


def test_many_values_take_the_series() -> None:
    rng = np.random.default_rng(10)
    sizes, counts = group(rng.random(1000) + 0.1)
    assert isinstance(sign_law(sizes, counts), SeriesSignLaw)
    assert isinstance(sign_law(sizes[:50], counts[:50]), SignLaw)


def test_nested_dominating_values_are_split_off_in_turn() -> None:
    rng = np.random.default_rng(12)
    small = np.round(rng.normal(0.1, 1.0, 40), 9) * np.sqrt(2.0)
    values = np.concatenate((small, [-1e6, 3e4]))
    route = Route(lattice=False, most_states=0.0)
    tail = subset_tail(values, ones(values), route)
    # With -1e6 every choice of the others fits; without it 3e4 must stay out.
    rest = subset_tail(small, ones(small), route)
    assert tail.probability == pytest.approx(0.5 + 0.25 * rest.probability, abs=1e-9)


def test_counting_replaces_inversion_that_is_not_accurate() -> None:
    rng = np.random.default_rng(13)
    values = np.append(rng.normal(size=33), np.full(60, -0.01)) * np.sqrt(2.0)
    distinct, counts = group(values)
    exact = Route(lattice=False, most_states=1e7)
    here = subset_tail(distinct, counts, Route(lattice=False)).probability
    assert here == pytest.approx(
        subset_tail(distinct, counts, exact).probability, abs=1e-7
    )


def test_the_empty_subset_alone_may_exceed_the_tail() -> None:
    values, counts = np.array([1.0, 2.0]), np.array([1, 1])
    assert kth_smallest_mean(values, np.ones(2), counts, tail=0.2) == -np.inf
    assert kth_smallest_mean(values, np.ones(2), counts, tail=0.25) == 1.0


def test_subset_means_are_picked_out_of_a_bracket() -> None:
    rng = np.random.default_rng(14)
    values, counts = group(rng.normal(size=19))
    one = np.ones(19)
    exact = kth_smallest_mean(values, one, counts, tail=0.025)
    bracket = (exact - 1e-5, exact + 1e-5)
    got, excess = first_mean_above(values, one, counts, bracket=bracket, tail=0.025)
    assert got == pytest.approx(exact, abs=1e-14)
    assert excess == 0.0
    sums, sizes = np.zeros(1), np.zeros(1)
    for value in values:
        sums, sizes = np.append(sums, sums + value), np.append(sizes, sizes + 1)
    for below, above in ((-2e-4, -1e-4), (1e-4, 2e-4)):
        bracket = exact + below, exact + above
        end = bracket[1] if below < 0.0 else bracket[0]
        got, excess = first_mean_above(values, one, counts, bracket=bracket, tail=0.025)
        assert got is None
        share = np.count_nonzero(sums - end * sizes <= 0.0) / sums.size
        assert excess == pytest.approx(share - 0.025, abs=1e-12)


def test_a_slow_main_lobe_is_followed_further() -> None:
    # Six values only: their function falls off slowly.
    values = np.array([1.0, 1.3, 0.7, 2.9, 0.2, 1.9]) * np.sqrt(2.0)
    law = SignLaw(*group(values))
    short = upper_tail(law, 3.0, reach=0.0)
    assert short.probability == pytest.approx(
        upper_tail(law, 3.0).probability, abs=0.02
    )
    coarse = SignLaw(np.array([1.0, 2.0]), np.array([3, 2]))
    tail = upper_tail(coarse, 3.0, step=2.0, reach=0.0)
    ways = sum(
        comb(3, i) * comb(2, j)
        for i in range(4)
        for j in range(3)
        if 2 * i - 3 + 2 * (2 * j - 2) >= 3
    )
    assert tail.probability == pytest.approx(ways / 32, abs=1e-12)


@pytest.mark.parametrize("value", [1e-4 + 1e-9, 0.1234567])
def test_unwieldy_denominators_are_no_lattice(value: float) -> None:
    assert find_lattice(np.array([value, 1.0, np.pi])) is None
    assert find_lattice(np.array([1.0, 1.0 / 99991.0, 1.0 / 99989.0])) is None


def test_a_shift_beyond_the_power_sums_is_taken_directly() -> None:
    rng = np.random.default_rng(15)
    values = rng.normal(size=400)
    low, high = subset_mean_limits(values * 1e-4 + 1e3, np.ones(400), tail=0.025)
    other = subset_mean_limits(values, np.ones(400), tail=0.025)
    assert low == pytest.approx(1e3 + 1e-4 * other[0], abs=1e-10)
    assert high == pytest.approx(1e3 + 1e-4 * other[1], abs=1e-10)


def test_a_lattice_of_few_points_is_summed_whole() -> None:
    coarse = SignLaw(np.array([1.0, 2.0]), np.array([1, 1]))
    assert upper_tail(coarse, 1.0, step=2.0).probability == pytest.approx(
        0.5, abs=1e-12
    )
    assert upper_tail(coarse, 3.0 - 1e-9, step=2.0).probability == pytest.approx(
        0.25, abs=1e-8
    )


def test_power_sums_answer_for_their_law_beyond_their_reach() -> None:
    rng = np.random.default_rng(16)
    values, counts = group(rng.normal(size=500))
    series = SeriesSignLaw.of(power_sums(values, counts, centre=0.0), 0.0)
    assert series is not None
    direct = SignLaw(np.abs(values), counts)
    assert series.moments(3.0) == pytest.approx(direct.moments(3.0), rel=1e-12)
    assert series.support() == pytest.approx(direct.support())
    assert series.opposite() is series
    drawn = SeriesMultinomialLaw(power_sums(values, counts))
    t = np.array([5.0, 9.0])
    other = MultinomialLaw(values - np.mean(values), counts / 500, 500)
    assert drawn.moments(3.0) == pytest.approx(other.moments(3.0), rel=1e-9)
    np.testing.assert_allclose(
        drawn.log_envelope(0.1, t), other.log_envelope(0.1, t), rtol=1e-9
    )


@pytest.mark.parametrize(("n", "error"), [(30, 1e-12), (38, 5e-7), (420, 1e-9)])
def test_limits_of_a_fine_lattice_are_those_of_its_own_test(
    n: int, error: float
) -> None:
    rng = np.random.default_rng(n)
    values = np.round(rng.lognormal(0.0, 0.6, n) - 1.0, 3)
    low, high = subset_mean_limits(values, np.ones(n), tail=0.025)
    for sign, limit in ((1.0, low), (-1.0, -high)):
        above = subset_tail(*group(sign * values - limit - 2e-6))
        below = subset_tail(*group(sign * values - limit + 2e-6))
        assert below.probability <= 0.025 + error
        assert above.probability > 0.025 - error


def test_an_outlier_does_not_hide_the_limit_of_the_rest() -> None:
    rng = np.random.default_rng(18)
    values = np.append(rng.normal(0.6, 1.0, 19), 1e6)
    low, high = subset_mean_limits(values, np.ones(20), tail=0.025)
    sums, sizes = np.zeros(1), np.zeros(1)
    for value in values:
        sums = np.concatenate((sums, sums + value))
        sizes = np.concatenate((sizes, sizes + 1.0))
    means = np.sort(sums[1:] / sizes[1:])
    k = int(2**20 * 0.025)
    assert low == pytest.approx(means[k - 1], abs=1e-8)
    assert high == pytest.approx(means[-k], rel=1e-12)


@pytest.mark.parametrize("share", [0.2, 4.8, 7.0, 15.0])
def test_tails_of_many_values_are_those_of_the_direct_law(share: float) -> None:
    rng = np.random.default_rng(19)
    values = np.abs(rng.standard_t(5, 700))
    # As many negative ones as put the sum at some standard deviations.
    order = rng.permutation(700)
    room = 0.5 * (float(np.sum(values)) - share * float(np.sqrt(np.sum(values**2))))
    negative = order[np.cumsum(values[order]) <= room]
    values[negative] *= -1.0
    tail = subset_tail(*group(values))
    sizes, counts = group(np.abs(values))
    direct = upper_tail(SignLaw(sizes, counts), float(np.sum(values)))
    assert tail.log == pytest.approx(direct.log, abs=1e-8)


def test_sums_below_the_middle_of_a_fine_lattice_are_counted() -> None:
    rng = np.random.default_rng(20)
    integers = np.rint(1000.0 * rng.normal(-0.05, 1.0, 300)).astype(np.int64)
    tail = subset_tail(*group(integers / 1000.0))
    opposite = subset_tail(*group(-integers / 1000.0))
    assert tail.probability > 0.5
    # Both count the subsets with a sum of zero, which few have.
    assert tail.probability + opposite.probability == pytest.approx(1.0, abs=1e-5)
    assert tail.probability + opposite.probability > 1.0


def test_few_subsets_need_no_lattice() -> None:
    assert on_coarse_lattice(np.array([np.pi, np.e]), np.array([1, 1]))
    rng = np.random.default_rng(21)
    tenths, counts = group(np.round(rng.normal(size=200), 1))
    assert on_coarse_lattice(tenths, counts)
    values, counts = group(rng.normal(size=200))
    assert not on_coarse_lattice(values, counts)


def test_nothing_may_be_left_of_a_tail_by_the_main_lobe_alone() -> None:
    # Twelve equal values and an outlier: the law is a few far atoms.
    values = np.append(np.full(12, -1.0), 20.0)
    law = MultinomialLaw(values - np.mean(values), np.full(13, 1.0 / 13.0), 13)
    points = np.linspace(0.05, 0.99, 60) * law.support()[1]
    tails = [upper_tail(law, point, reach=0.0) for point in points.tolist()]
    empty = [tail for tail in tails if tail.error == np.inf]
    assert empty
    assert all(tail.probability == 0.0 for tail in empty)


def test_values_near_a_lattice_are_counted() -> None:
    rng = np.random.default_rng(23)
    values = rng.integers(-5, 8, 36) + 1e-4 * rng.normal(size=36)
    inverted = subset_tail(values, ones(values), Route(fallback=False))
    assert inverted.error * inverted.probability > 1e-7
    halves = []
    for half in (values[::2], values[1::2]):
        sums = np.zeros(1)
        for value in half.tolist():
            sums = np.concatenate((sums, sums + value))
        halves.append(np.sort(sums))
    below = np.searchsorted(halves[0], -halves[1][::-1], side="right")
    exact = float(np.sum(below)) / 2.0**36
    got = subset_tail(values, ones(values)).probability
    # Some of the sums are within rounding noise of zero, and tie with it.
    assert got == pytest.approx(exact, abs=1e-9)


def test_one_distance_on_a_lattice_is_not_all() -> None:
    rng = np.random.default_rng(24)
    values = rng.normal(0.1, 1.0, 150)
    values[0] = 30.0
    for _ in range(20):  # half of the widest distance from the middle value
        nearest = values[np.argmin(np.abs(values - np.mean(values)))]
        values[50] = nearest + 0.5 * (30.0 - nearest)
    direct = subset_tail(values, ones(values), Route(lattice=False))
    got = subset_tail(values, ones(values))
    assert got.probability == pytest.approx(direct.probability, abs=1e-12)


def test_power_sums_are_left_where_the_tilt_is_deep() -> None:
    rng = np.random.default_rng(22)
    values, counts = group(rng.normal(size=600))
    base = power_sums(values, counts)
    drawn = SeriesMultinomialLaw(base)
    direct = MultinomialLaw(values - np.mean(values), counts / 600, 600)
    t = np.linspace(0.1, 1.5, 8) * base.radius  # some within, some beyond
    for law, other in (
        (drawn, direct),
        (SeriesSignLaw.of(base, 0.0), SignLaw(np.abs(values - base.centre), counts)),
    ):
        assert law is not None
        assert law.n_terms == 600
        np.testing.assert_allclose(
            law.tilted(0.5 * base.radius, t),
            other.tilted(0.5 * base.radius, t),
            atol=1e-11,
        )
        np.testing.assert_allclose(
            law.log_envelope(0.0, t), other.log_envelope(0.0, t), rtol=1e-9
        )


def test_lobes_of_a_coarser_lattice_are_looked_for() -> None:
    rng = np.random.default_rng(25)
    integers = 2 * np.rint(450.0 * rng.normal(0.05, 1.0, 500)).astype(np.int64)
    integers[:4] += 1  # all but four are even
    room = -int(integers[integers < 0].sum())
    mass = np.zeros(room + 1)
    mass[0] = 1.0
    for k in np.abs(integers[integers != 0]).tolist():
        mass[k:] = 0.5 * mass[k:] + 0.5 * mass[: mass.size - k]
        mass[: min(k, mass.size)] *= 0.5
    got = subset_tail(*group(integers / 1000.0))
    assert got.probability == pytest.approx(float(np.sum(mass)), abs=1e-9)
