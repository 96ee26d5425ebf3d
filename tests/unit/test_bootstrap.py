"""Bootstrap intervals: the ideal law, its routes, and what stays sampled."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from case_differences import case_difference, case_expected
from onechange.errors import MethodError
from onechange.stats.bootstrap import (
    BOOTSTRAP_METHODS,
    bca_parts,
    bootstrap_interval,
    bootstrap_standard_error,
    ratio_of_sums_interval,
)
from onechange.stats.gamma import gamma_sum_below
from onechange.stats.ideal import RatioLaw, resampled_law
from onechange.stats.listed import Cells, ListedLaw, grid_law, lattice_law
from onechange.stats.ratio_bootstrap import ratio_bootstrap_interval
from onechange.stats.resample import (
    draw_batches,
    expanded_tail,
    resample_statistic,
    sampled_pvalue,
)

FloatArray = NDArray[np.float64]


def cells(values: FloatArray, sizes: FloatArray | None = None) -> Cells:
    x = np.ones(values.size) if sizes is None else sizes
    return Cells(values, x, np.ones(values.size, dtype=np.int64))


def limits(difference: FloatArray, method: str, **options: Any) -> list[float]:
    interval = bootstrap_interval(difference, method=method, **options)
    assert interval.method == method
    return [interval.low, interval.high]


def test_standard_error_and_percentile_of_six_questions() -> None:
    difference, expected = case_difference(12), case_expected(12)
    assert bootstrap_standard_error(difference) == pytest.approx(expected["boot_se"])
    for level, key in ((0.95, "95"), (0.9, "90")):
        got = limits(difference, "percentile", confidence_level=level)
        assert got == pytest.approx(expected[f"boot_percentile{key}_exact"], abs=1e-9)


def test_percentile_and_basic_differ_on_skewed_differences() -> None:
    difference, expected = case_difference(13), case_expected(13)
    assert limits(difference, "percentile") == pytest.approx(
        expected["percentile95"], abs=1e-9
    )
    assert limits(difference, "basic") == pytest.approx(expected["basic95"], abs=1e-9)


def test_bca_uses_the_acceleration() -> None:
    difference, expected = case_difference(14), case_expected(14)
    z0, acceleration = bca_parts(difference)
    assert acceleration == pytest.approx(expected["a"], abs=1e-6)
    assert z0 == pytest.approx(0.0692, abs=0.02)
    low, high = limits(difference, "bca")
    assert [low, high] == pytest.approx(expected["bca95"], abs=0.004)
    without = expected["bc_noacc95"][1]
    assert abs(high - expected["bca95"][1]) < abs(high - without)


@pytest.mark.parametrize("method", BOOTSTRAP_METHODS)
@pytest.mark.parametrize("n", [8, 40, 700])
def test_only_studentized_may_depend_on_the_seed(method: str, n: int) -> None:
    rng = np.random.default_rng(n)
    difference = rng.gamma(2.0, 1.0, n) - 1.5
    here = bootstrap_interval(difference, method=method, seed=1, n_resamples=999)
    there = bootstrap_interval(difference, method=method, seed=2, n_resamples=999)
    sampled = method == "studentized" and n > 11
    assert (here == there) is not sampled
    assert (here.n_resamples == 999) is sampled
    shuffled = rng.permutation(difference)
    assert bootstrap_interval(shuffled, method=method, seed=1, n_resamples=999) == here


@pytest.mark.parametrize("n", [13, 30, 400])
def test_exact_limits_agree_with_sampled_resamples(n: int) -> None:
    rng = np.random.default_rng(n)
    difference = rng.lognormal(0.0, 1.0, n) - 1.5
    means = np.concatenate(
        [difference[rng.integers(0, n, size=(4000, n))].mean(axis=1) for _ in range(50)]
    )
    spread = float(np.std(means))
    for method, tail in (
        ("percentile", 0.025),
        ("expanded-percentile", expanded_tail(n, 0.025)),
    ):
        low, high = limits(difference, method)
        # Monte Carlo error of a 2.5 % quantile of 200,000 draws: 0.006 spreads.
        assert low == pytest.approx(np.quantile(means, tail), abs=0.04 * spread)
        assert high == pytest.approx(np.quantile(means, 1 - tail), abs=0.04 * spread)


def test_bayesian_limits_agree_with_sampled_dirichlet_weights() -> None:
    rng = np.random.default_rng(3)
    difference = rng.lognormal(0.0, 1.0, 25) - 1.5
    weight = rng.exponential(size=(200_000, 25))
    means = (weight @ difference) / weight.sum(axis=1)
    spread = float(np.std(means))
    low, high = limits(difference, "bayesian")
    assert low == pytest.approx(np.quantile(means, 0.025), abs=0.03 * spread)
    assert high == pytest.approx(np.quantile(means, 0.975), abs=0.03 * spread)


def test_dirichlet_weights_of_two_values_are_a_beta_law() -> None:
    # Three questions at 0 and two at 1: the weighted mean has a Beta(2, 3) law.
    difference = np.array([0.0, 0.0, 0.0, 1.0, 1.0])
    interval = bootstrap_interval(difference, method="bayesian", confidence_level=0.9)

    def beta(x: float) -> float:
        return sum(comb(4, k) * x**k * (1 - x) ** (4 - k) for k in range(2, 5))

    assert beta(interval.low) == pytest.approx(0.05, abs=1e-10)
    assert beta(interval.high) == pytest.approx(0.95, abs=1e-10)


def test_sums_of_exponentials_have_their_closed_form() -> None:
    rng = np.random.default_rng(4)
    values = np.array([-2.0, -0.7, 0.4, 1.1, 3.0])
    one = np.ones(5, dtype=np.int64)
    # P(Σ w v > 0) = Σ over v > 0 of Π v / (v - others).
    above = sum(
        np.prod([v / (v - u) for u in values if u != v]) for v in values if v > 0
    )
    assert gamma_sum_below(values, one) == pytest.approx(1.0 - above, abs=1e-12)
    assert gamma_sum_below(np.abs(values), one) == 0.0
    assert gamma_sum_below(-np.abs(values), one) == 1.0
    many = rng.normal(size=5000)
    assert 0.0 < gamma_sum_below(many, np.ones(5000, dtype=np.int64)) < 1.0


def test_poisson_weights_agree_with_sampling() -> None:
    rng = np.random.default_rng(5)
    difference = rng.lognormal(0.0, 1.0, 40) - 1.5
    weight = rng.poisson(1.0, size=(200_000, 40))
    means = (weight @ difference) / weight.sum(axis=1)
    spread = float(np.std(means))
    low, high = limits(difference, "percentile", resampling="poisson")
    assert low == pytest.approx(np.quantile(means, 0.025), abs=0.03 * spread)
    assert high == pytest.approx(np.quantile(means, 0.975), abs=0.03 * spread)


def test_strata_keep_their_sizes() -> None:
    rng = np.random.default_rng(6)
    difference = rng.normal(size=60) + np.repeat([0.0, 3.0], 30)
    strata = np.repeat([0, 1], 30)
    draws = [
        difference[part][rng.integers(0, 30, size=(100_000, 30))].mean(axis=1)
        for part in (slice(0, 30), slice(30, 60))
    ]
    means = 0.5 * (draws[0] + draws[1])
    low, high = limits(difference, "percentile", strata=strata)
    spread = float(np.std(means))
    assert low == pytest.approx(np.quantile(means, 0.025), abs=0.04 * spread)
    assert high == pytest.approx(np.quantile(means, 0.975), abs=0.04 * spread)
    plain = limits(difference, "percentile")
    assert high - low < 0.7 * (plain[1] - plain[0])
    # On a lattice the strata convolve; the law is the same.
    coarse = np.round(difference, 1)
    got = limits(coarse, "percentile", strata=strata)
    assert got == pytest.approx([low, high], abs=0.05)


def test_weights_make_a_ratio_of_sums() -> None:
    rng = np.random.default_rng(7)
    difference, weight = rng.normal(size=50), rng.uniform(0.5, 2.0, 50)
    index = rng.integers(0, 50, size=(200_000, 50))
    means = (difference * weight)[index].sum(axis=1) / weight[index].sum(axis=1)
    spread = float(np.std(means))
    low, high = limits(difference, "percentile", weights=weight)
    assert low == pytest.approx(np.quantile(means, 0.025), abs=0.03 * spread)
    assert high == pytest.approx(np.quantile(means, 0.975), abs=0.03 * spread)
    equal = limits(difference, "percentile", weights=np.full(50, 2.0))
    assert equal == pytest.approx(limits(difference, "percentile"), abs=1e-12)


def test_whole_clusters_are_resampled() -> None:
    rng = np.random.default_rng(8)
    clusters = rng.integers(0, 12, 60)
    difference = np.round(rng.normal(size=60) + rng.normal(size=12)[clusters], 3)
    sums, sizes = np.bincount(clusters, weights=difference), np.bincount(clusters)
    drawn = rng.integers(0, sums.size, size=(200_000, sums.size))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    spread = float(np.std(means))
    low, high = limits(difference, "percentile", clusters=clusters)
    assert low == pytest.approx(np.quantile(means, 0.025), abs=0.04 * spread)
    assert high == pytest.approx(np.quantile(means, 0.975), abs=0.04 * spread)
    error = bootstrap_standard_error(difference, clusters=clusters)
    assert error == pytest.approx(spread, rel=0.05)


@pytest.mark.parametrize("n", [6, 9, 12])
def test_routes_of_few_units_agree(n: int) -> None:
    rng = np.random.default_rng(n)
    values = np.sort(np.round(rng.normal(size=n), 2))
    listed = lattice_law((cells(values),))
    assert isinstance(listed, ListedLaw)
    nudged = values + 1e-9 * rng.normal(size=n)
    other = resampled_law((cells(nudged),), weighting="multinomial", mean=True)
    assert isinstance(other, RatioLaw) is (n == 12)
    for probability in (0.005, 0.025, 0.5, 0.975):
        assert other.quantile(probability) == pytest.approx(
            listed.quantile(probability), abs=1e-6
        )


def test_lattice_and_inversion_agree() -> None:
    rng = np.random.default_rng(9)
    values = np.round(rng.lognormal(0.0, 1.0, 1500), 2)
    distinct, counts = np.unique(values, return_counts=True)
    whole = Cells(distinct, np.ones(distinct.size), counts.astype(np.int64))
    listed = lattice_law((whole,))
    assert isinstance(listed, ListedLaw)
    inverted = RatioLaw((whole,))
    cumulated = np.cumsum(listed.probability)
    for probability in (0.001, 0.025, 0.4, 0.9, 0.995):
        i = int(np.searchsorted(cumulated, probability))
        between = 0.5 * (listed.points[i] + listed.points[i + 1])
        assert inverted.below(between) == pytest.approx(cumulated[i], abs=1e-8)


@pytest.mark.parametrize("n_changed", [4, 9])
def test_few_changed_questions_are_put_on_a_fine_grid(n_changed: int) -> None:
    rng = np.random.default_rng(n_changed)
    values = np.append(0.0, np.round(rng.normal(size=n_changed), 3))
    counts = np.append(200 - n_changed, np.ones(n_changed)).astype(np.int64)
    some = Cells(values, np.ones(values.size), counts)
    listed, grid = lattice_law((some,)), grid_law((some,))
    assert isinstance(listed, ListedLaw)
    spread = float(np.sqrt(np.sum(values**2) / 200))
    for probability in (0.005, 0.025, 0.975, 0.995):
        assert grid.quantile(probability) == pytest.approx(
            listed.quantile(probability), abs=1e-5 * spread
        )


def test_the_fine_grid_is_chosen_when_inversion_is_not_good_enough() -> None:
    rng = np.random.default_rng(12)
    few = np.append(np.zeros(140), rng.normal(size=10))
    distinct, counts = np.unique(few, return_counts=True)
    some = Cells(distinct, np.ones(distinct.size), counts.astype(np.int64))
    law = resampled_law((some,), weighting="multinomial", mean=True)
    assert isinstance(law, ListedLaw)
    many = np.sort(rng.normal(size=150))
    law = resampled_law((cells(many),), weighting="multinomial", mean=True)
    assert isinstance(law, RatioLaw)


def test_fine_lattices_snap_to_attainable_means() -> None:
    rng = np.random.default_rng(13)
    difference = np.round(1000 * rng.lognormal(0.0, 1.0, 900), 2)
    for limit in limits(difference, "percentile"):
        steps = limit * 900 * 100
        assert steps == pytest.approx(round(steps), abs=1e-5)


def test_equal_differences_are_degenerate_and_bca_refuses_them() -> None:
    difference = np.full(12, 0.25)
    for method in BOOTSTRAP_METHODS:
        if method == "bca":
            with pytest.raises(MethodError, match="not all equal"):
                bootstrap_interval(difference, method=method)
            continue
        interval = bootstrap_interval(difference, method=method)
        assert (interval.low, interval.high, interval.degenerate) == (0.25, 0.25, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bootstrap"}, "bootstrap method is 'bootstrap'"),
        ({"resampling": "jackknife"}, "resampling is 'jackknife'"),
        ({"weights": np.array([1.0, -1.0, 1.0])}, "weights must be zero or more"),
        ({"weights": np.zeros(3)}, "weights must be zero or more"),
        ({"method": "bca", "strata": np.array([0, 0, 1])}, "bca with strata"),
        (
            {"clusters": np.array([0, 1, 1]), "strata": np.array([0, 0, 1])},
            "with strata and clusters",
        ),
        ({"method": "studentized", "resampling": "poisson"}, "no poisson form"),
    ],
)
def test_unsuitable_choices_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(MethodError, match=message):
        bootstrap_interval(np.array([0.1, 0.2, 0.4]), **options)


def test_no_differences_are_refused() -> None:
    with pytest.raises(MethodError, match="no paired difference"):
        bootstrap_interval(np.zeros(0))


def test_negative_or_missing_denominators_are_refused() -> None:
    y = np.array([1.0, 2.0, 3.0])
    for x in (np.array([1.0, -1.0, 1.0]), np.zeros(3)):
        with pytest.raises(MethodError, match="denominators of zero or more"):
            ratio_of_sums_interval(y, x)
        with pytest.raises(MethodError, match="denominators of zero or more"):
            ratio_bootstrap_interval(y, x, y, np.abs(x) + 1.0)


def test_resamples_without_a_denominator_are_reported() -> None:
    y, x = np.array([0.0, 1.0, 2.0, 1.0]), np.array([0.0, 1.0, 1.0, 1.0])
    interval = ratio_of_sums_interval(y, x, method="percentile")
    assert [note.code for note in interval.notes] == ["empty-resamples"]
    assert "0.0039" in interval.notes[0].text


def test_ratio_limits_are_those_of_all_resamples() -> None:
    y, x = np.array([3.0, 1.0, 4.0, 1.0, 5.0]), np.array([2.0, 1.0, 3.0, 1.0, 2.0])
    ratios: list[Fraction] = []
    index = np.stack(np.meshgrid(*[np.arange(5)] * 5), axis=-1).reshape(-1, 5)
    for top, bottom in zip(y[index].sum(axis=1), x[index].sum(axis=1), strict=True):
        ratios.append(Fraction(int(top), int(bottom)))
    ratios.sort()
    interval = ratio_of_sums_interval(y, x, method="percentile")
    rank = -(-len(ratios) * 25 // 1000)
    assert interval.low == pytest.approx(float(ratios[rank - 1]), abs=1e-12)
    upper = -(-len(ratios) * 975 // 1000)
    assert interval.high == pytest.approx(float(ratios[upper - 1]), abs=1e-12)


def test_change_of_two_ratios_is_exact_with_common_denominators_only() -> None:
    rng = np.random.default_rng(14)
    x = rng.integers(1, 6, 50).astype(float)
    y, y_variant = rng.poisson(2 * x).astype(float), rng.poisson(2.2 * x).astype(float)
    exact = ratio_bootstrap_interval(y, x, y_variant, x)
    assert exact.n_resamples is None
    sampled = ratio_bootstrap_interval(y, x, y_variant, x + 1e-12, n_resamples=20_000)
    assert sampled.n_resamples == 20_000
    width = exact.high - exact.low
    assert sampled.low == pytest.approx(exact.low, abs=0.03 * width)
    assert sampled.high == pytest.approx(exact.high, abs=0.03 * width)
    relative = ratio_bootstrap_interval(
        y, x, y_variant, x + 1e-12, relative=True, n_resamples=20_000
    )
    closed = ratio_bootstrap_interval(y, x, y_variant, x, relative=True)
    assert relative.low == pytest.approx(closed.low, abs=0.02)
    assert relative.high == pytest.approx(closed.high, abs=0.02)
    with pytest.raises(MethodError, match="bca is not available"):
        ratio_bootstrap_interval(y, x, y_variant, x + 1.0, method="bca")


def test_sampled_ratios_need_a_denominator_in_every_resample() -> None:
    x = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    with pytest.raises(MethodError, match="no denominator left"):
        ratio_bootstrap_interval(x, x, x, np.ones(5), n_resamples=9999)


def test_sampled_clusters_do_not_depend_on_row_order() -> None:
    rng = np.random.default_rng(15)
    clusters = rng.integers(0, 20, 100)
    columns = [rng.uniform(1.0, 2.0, 100) for _ in range(4)]
    here = ratio_bootstrap_interval(*columns, clusters=clusters, n_resamples=499)
    order = rng.permutation(100)
    there = ratio_bootstrap_interval(
        *(column[order] for column in columns),
        clusters=clusters[order],
        n_resamples=499,
    )
    assert here == there


def test_user_statistic_is_sampled_with_its_error() -> None:
    rng = np.random.default_rng(16)
    difference = rng.normal(size=80)

    def mean(drawn: NDArray[np.int64]) -> FloatArray:
        return np.asarray(difference[drawn].mean(axis=1))

    for method in ("percentile", "expanded-percentile", "basic"):
        sampled = resample_statistic(
            mean, n_units=80, method=method, n_resamples=20_000
        )
        exact = limits(difference, method)
        assert [sampled.low, sampled.high] == pytest.approx(exact, abs=0.012)
        assert sampled.notes[0].code == "sampled"
        assert "20000 resamples (seed 7)" in sampled.notes[0].text


def test_batches_are_one_stream() -> None:
    whole = np.concatenate(list(draw_batches(1000, 3000, seed=5)))
    assert whole.shape == (3000, 1000)
    again = np.random.default_rng(5).integers(
        0, 1000, size=(3000, 1000), dtype=np.int64
    )
    assert np.array_equal(whole, again)


def test_sampling_refuses_what_it_cannot_do() -> None:
    with pytest.raises(MethodError, match="use percentile"):
        resample_statistic(lambda drawn: drawn[:, 0] * 1.0, n_units=5, method="bca")
    with pytest.raises(MethodError, match="needs 39 or more"):
        resample_statistic(lambda drawn: drawn[:, 0] * 1.0, n_units=5, n_resamples=19)


def test_sampled_pvalue_counts_the_observed_value() -> None:
    result = sampled_pvalue(9.0, np.zeros(999), method="x", seed=7)
    assert result.pvalue == 0.001
    assert not result.exact
    assert result.monte_carlo_error == pytest.approx(0.001, rel=0.01)
    tie = sampled_pvalue(0.3, np.array([0.1 + 0.2, 0.0, 0.1]), method="x", seed=7)
    assert tie.pvalue == 0.5
