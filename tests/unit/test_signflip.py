"""The sign-flip test and interval."""

from __future__ import annotations

import subprocess
import sys
from math import log10
from typing import Any

import numpy as np
import pytest

from case_differences import case_difference, case_expected
from onechange.errors import MethodError
from onechange.stats.signflip import (
    n_min,
    signflip_interval,
    signflip_test,
    tail_probability,
)

MAIZE = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]) / 8


def test_darwin_is_863_of_16384() -> None:
    assert signflip_test(MAIZE).pvalue == 863 / 16384
    interval = signflip_interval(MAIZE)
    assert interval.low == pytest.approx(-0.0208333, abs=5e-8)
    assert interval.high == 5.125
    assert interval.method == "sign-flip"
    assert interval.n_resamples is None


def test_ties_of_decimals_are_counted() -> None:
    result = signflip_test(case_difference(6))
    assert result.pvalue == case_expected(6)["p_signflip"]


def test_pvalue_is_never_zero() -> None:
    result = signflip_test(case_difference(7))
    assert result.pvalue == pytest.approx(case_expected(7)["p_exact"], rel=1e-12)
    assert result.exact
    assert result.n_resamples is None


@pytest.mark.parametrize(
    ("number", "metric"),
    [(13, None), (15, None), (5, "citation_precision"), (5, "retry_count")],
)
def test_cases_with_a_counted_pvalue(number: int, metric: str | None) -> None:
    expected = case_expected(number)
    value = expected[metric]["p_signflip"] if metric else expected["p_signflip"]
    got = signflip_test(case_difference(number, metric)).pvalue
    assert got == pytest.approx(value, abs=1e-9)


def test_two_hundred_thousand_questions_have_a_pvalue_below_the_doubles() -> None:
    index = np.arange(200_000)
    difference = (10 * ((index * 104_729) % 7 - 2)) / 1000.0
    result = signflip_test(difference)
    assert result.pvalue == 5e-324
    # Bahadur and Rao's formula, good to 1/n; the normal law would say -8686.
    sizes = np.array([1.0, 2.0, 3.0, 4.0])
    counts = np.array([np.sum(np.abs(difference * 100).round() == k) for k in sizes])
    total = round(float(np.sum(difference)) * 100)
    low, high = 0.0, 1.0
    for _ in range(100):
        tilt = 0.5 * (low + high)
        slope = float(np.sum(counts * sizes * np.tanh(tilt * sizes)))
        low, high = (low, tilt) if slope > total else (tilt, high)
    log = float(np.sum(counts * np.log(np.cosh(tilt * sizes)))) - tilt * total
    curvature = float(np.sum(counts * (sizes / np.cosh(tilt * sizes)) ** 2))
    log += np.log(2.0 / -np.expm1(-2.0 * tilt) / np.sqrt(2.0 * np.pi * curvature))
    assert result.log10_pvalue == pytest.approx(
        (log + np.log(2.0)) / np.log(10), abs=1e-4
    )
    assert result.log10_pvalue < -8686.0
    interval = signflip_interval(difference)
    expected = case_expected(11)["ci95"]
    assert interval.low == pytest.approx(expected[0], abs=6e-6)
    assert interval.high == pytest.approx(expected[1], abs=6e-6)


def test_all_zero_differences_have_p_one_and_a_degenerate_interval() -> None:
    difference = np.zeros(20)
    for alternative in ("two-sided", "less", "greater"):
        assert signflip_test(difference, alternative=alternative).pvalue == 1.0
    interval = signflip_interval(difference)
    assert (interval.low, interval.high) == (0.0, 0.0)
    assert interval.degenerate


def test_equal_differences_give_a_degenerate_interval() -> None:
    interval = signflip_interval(np.full(30, 0.25))
    assert (interval.low, interval.high, interval.degenerate) == (0.25, 0.25, True)
    assert signflip_test(np.full(30, 0.25)).pvalue == 2.0**-29


def test_zeros_drop_out_of_the_test_but_not_of_the_interval() -> None:
    some = np.array([0.3, 0.1, 0.4, 0.1, 0.5, -0.2, 0.2, 0.35])
    more = np.append(some, np.zeros(8))
    assert signflip_test(more).pvalue == signflip_test(some).pvalue
    assert signflip_interval(more).high < signflip_interval(some).high


def test_one_difference() -> None:
    assert signflip_test(np.array([0.5])).pvalue == 1.0
    assert signflip_test(np.array([0.5]), alternative="greater").pvalue == 0.5
    interval = signflip_interval(np.array([0.5]))
    assert (interval.low, interval.high, interval.degenerate) == (
        -np.inf,
        np.inf,
        False,
    )


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_interval_is_bounded_from_n_min_on(level: float) -> None:
    rng = np.random.default_rng(1)
    n = n_min(level)
    assert np.isfinite(
        signflip_interval(rng.normal(size=n), confidence_level=level).low
    )
    fewer = signflip_interval(rng.normal(size=n - 1), confidence_level=level)
    assert (fewer.low, fewer.high) == (-np.inf, np.inf)


def test_shift_moves_the_null() -> None:
    rng = np.random.default_rng(2)
    difference = np.round(rng.normal(0.1, 0.3, 30), 2)
    for alternative in ("less", "greater", "two-sided"):
        got = signflip_test(difference, alternative=alternative, shift=-0.05)
        moved = np.round(difference + 0.05, 2)
        assert got.pvalue == pytest.approx(
            signflip_test(moved, alternative=alternative).pvalue, abs=1e-12
        )
        assert got.statistic == pytest.approx(float(np.mean(difference)))


@pytest.mark.parametrize("n", [12, 25, 37, 60, 400])
def test_interval_is_what_the_one_sided_tests_do_not_reject(n: int) -> None:
    rng = np.random.default_rng(n)
    difference = rng.gamma(2.0, 1.0, n) - 1.7
    interval = signflip_interval(difference)
    width = interval.high - interval.low
    for sign, limit, alternative in (
        (1.0, interval.low, "greater"),
        (-1.0, interval.high, "less"),
    ):
        inside = signflip_test(
            difference, shift=limit + sign * 1e-6 * width, alternative=alternative
        )
        outside = signflip_test(
            difference, shift=limit - sign * 1e-6 * width, alternative=alternative
        )
        assert inside.pvalue is not None
        assert outside.pvalue is not None
        assert inside.pvalue > 0.025 - 1e-8
        assert outside.pvalue <= 0.025 + 1e-8


def test_single_question_clusters_change_nothing() -> None:
    rng = np.random.default_rng(3)
    difference = np.round(rng.normal(0.1, 0.3, 14), 2)
    clusters = rng.permutation(14)
    assert signflip_test(difference, clusters=clusters).pvalue == (
        signflip_test(difference).pvalue
    )
    with_clusters = signflip_interval(difference, clusters=clusters)
    without = signflip_interval(difference)
    assert with_clusters.low == pytest.approx(without.low, abs=1e-12)
    assert with_clusters.high == pytest.approx(without.high, abs=1e-12)


def test_many_clusters_agree_with_their_own_test() -> None:
    rng = np.random.default_rng(4)
    clusters = rng.integers(0, 70, 500)
    difference = rng.normal(0.05, 1.0, 500) + rng.normal(0.0, 0.5, 70)[clusters]
    interval = signflip_interval(difference, clusters=clusters)
    at_low = signflip_test(
        difference, clusters=clusters, shift=interval.low, alternative="greater"
    )
    at_high = signflip_test(
        difference, clusters=clusters, shift=interval.high, alternative="less"
    )
    assert at_low.pvalue == pytest.approx(0.025, abs=1e-8)
    assert at_high.pvalue == pytest.approx(0.025, abs=1e-8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alternative": "bigger"}, "alternative is 'bigger'"),
        ({"difference": np.zeros(0)}, "no paired difference"),
    ],
)
def test_bad_questions_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(MethodError, match=message):
        signflip_test(**{"difference": MAIZE, **arguments})


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_bad_levels_are_refused(level: float) -> None:
    with pytest.raises(MethodError, match="must lie between 0 and 1"):
        signflip_interval(MAIZE, confidence_level=level)
    with pytest.raises(MethodError, match="no paired difference"):
        signflip_interval(np.zeros(0))


def test_tail_is_taken_from_the_digits_of_the_level() -> None:
    assert tail_probability(0.95) == 0.025
    assert tail_probability(0.9) == 0.05


@pytest.mark.slow
@pytest.mark.parametrize("n", [150, 1000])
def test_ten_million_sampled_flips_agree(n: int) -> None:
    rng = np.random.default_rng(n)
    difference = rng.gamma(1.5, 1.0, n) - 1.5 + 2.0 / np.sqrt(n)
    total = float(np.sum(difference))
    hits, n_flips, batch = 0, 10_000_000, 20_000
    for _ in range(n_flips // batch):
        signs = rng.integers(0, 2, size=(batch, n), dtype=np.int8)
        sums = (2.0 * signs.astype(np.float32) - 1.0) @ difference.astype(np.float32)
        hits += int(np.count_nonzero(np.abs(sums) >= abs(total)))
    share = hits / n_flips
    exact = signflip_test(difference).pvalue
    assert exact is not None
    error = np.sqrt(exact * (1.0 - exact) / n_flips)
    assert abs(share - exact) < 4.0 * error


def test_no_statistics_package_is_imported() -> None:
    code = (
        "import sys, numpy as np\n"
        "from onechange.stats.signflip import signflip_interval, signflip_test\n"
        "from onechange.stats.bootstrap import bootstrap_interval\n"
        "d = np.random.default_rng(1).normal(size=500)\n"
        "signflip_test(d), signflip_interval(d), bootstrap_interval(d)\n"
        "heavy = {'scipy.stats', 'statsmodels', 'pingouin', 'pandas', 'matplotlib'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_smallest_attainable_pvalue_has_its_logarithm() -> None:
    result = signflip_test(np.full(2000, 1.0))
    assert result.pvalue == 5e-324
    assert result.log10_pvalue == pytest.approx(-1999 * log10(2), rel=1e-12)
