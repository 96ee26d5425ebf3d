"""The exact laws against enumeration in whole numbers, on data made by Hypothesis."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from onechange.stats.bootstrap import bootstrap_interval
from onechange.stats.signflip import signflip_interval, signflip_test

FloatArray = NDArray[np.float64]
Draw = st.DrawFn

TENTHS = st.integers(-30, 30)
THOUSANDTHS = st.integers(-5000, 5000)
WIDE = st.integers(-(10**9), 10**9)  # no common unit that a search would find


@st.composite
def differences(draw: Draw, largest: int = 13) -> tuple[list[int], int]:
    """Whole numbers and the divisor that makes differences of them."""
    kind = draw(st.sampled_from(["lattice", "ties", "fine", "wide", "outlier", "loss"]))
    size = draw(st.integers(1, largest))
    if kind == "lattice":
        return draw(st.lists(TENTHS, min_size=size, max_size=size)), 10
    if kind == "ties":
        values = st.sampled_from([-1, 0, 0, 0, 1, 2])
        return draw(st.lists(values, min_size=size, max_size=size)), 3
    if kind == "fine":
        return draw(st.lists(THOUSANDTHS, min_size=size, max_size=size)), 1000
    numbers = draw(st.lists(WIDE, min_size=size, max_size=size))
    if kind == "outlier":  # a million standard deviations away
        numbers = [number - number % 10**6 for number in numbers]
        numbers[0] = draw(st.sampled_from([-1, 1])) * 10**15 + numbers[0]
    if kind == "loss":
        numbers = [-abs(number) - 1 for number in numbers]
    return numbers, 987654321


def subsets(numbers: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sums and sizes of all subsets, the empty one first."""
    sums, sizes = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for number in numbers:
        sums = np.concatenate((sums, sums + number))
        sizes = np.concatenate((sizes, sizes + 1))
    return sums, sizes


def kth_mean(numbers: list[int], tail: Fraction) -> Fraction | None:
    """k-th smallest mean of the non-empty subsets, k = floor(2^n tail)."""
    k = int(2 ** len(numbers) * tail)
    if k == 0:
        return None
    sums, sizes = subsets(numbers)
    order = np.argsort(sums[1:] / sizes[1:], kind="stable") + 1
    # Floats order all but near ties; those are put right by exact fractions.
    near = order[max(0, k - 40) : k + 40]
    means = sorted(Fraction(int(sums[i]), int(sizes[i])) for i in near)
    return means[k - 1 - max(0, k - 40)]


@given(differences(largest=16))
@settings(max_examples=150, deadline=None)
def test_pvalues_are_the_counted_shares(case: tuple[list[int], int]) -> None:
    numbers, divisor = case
    sums, _ = subsets(numbers)
    total = sum(numbers)
    n = 2 ** len(numbers)
    expected = {
        "greater": np.count_nonzero(sums <= 0) / n,
        "less": np.count_nonzero(sums >= 0) / n,
        "two-sided": np.count_nonzero(np.abs(total - 2 * sums) >= abs(total)) / n,
    }
    difference = np.array(numbers) / divisor
    for alternative, share in expected.items():
        got = signflip_test(difference, alternative=alternative)
        assert got.pvalue == pytest.approx(share, abs=1e-12), alternative
        assert got.log10_pvalue == pytest.approx(np.log10(share), abs=1e-9)


@given(differences(largest=16), st.sampled_from(["0.95", "0.9", "0.5", "0.75"]))
@settings(max_examples=150, deadline=None)
def test_limits_are_the_counted_subset_means(
    case: tuple[list[int], int], level: str
) -> None:
    numbers, divisor = case
    tail = (1 - Fraction(level)) / 2
    low = kth_mean(numbers, tail)
    opposite = kth_mean([-number for number in numbers], tail)
    interval = signflip_interval(
        np.array(numbers) / divisor, confidence_level=float(level)
    )
    if low is None or opposite is None:
        assert (interval.low, interval.high) == (-np.inf, np.inf)
        return
    spread = float(np.std(numbers)) + float(np.max(np.abs(numbers))) * 1e-6
    assert abs(interval.low - float(low / divisor)) <= 1e-6 * spread / divisor
    assert abs(interval.high + float(opposite / divisor)) <= 1e-6 * spread / divisor


@given(
    st.lists(st.tuples(THOUSANDTHS, st.integers(1, 5)), min_size=6, max_size=12),
)
@settings(max_examples=60, deadline=None)
def test_whole_clusters_flip(units: list[tuple[int, int]]) -> None:
    difference = np.concatenate([np.full(n, s / 1000.0 / n) for s, n in units])
    clusters = np.repeat(np.arange(len(units)), [n for _, n in units])
    sums, sizes = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for s, n in units:
        sums = np.concatenate((sums, sums + s))
        sizes = np.concatenate((sizes, sizes + n))
    share = np.count_nonzero(sums <= 0) / sums.size
    got = signflip_test(difference, clusters=clusters, alternative="greater")
    assert got.pvalue == pytest.approx(share, abs=1e-12)
    k = int(sums.size * Fraction(1, 40))
    means = sorted(
        Fraction(int(a), 1000 * int(b))
        for a, b in zip(sums[1:], sizes[1:], strict=True)
    )
    interval = signflip_interval(difference, clusters=clusters)
    if k:
        assert interval.low == pytest.approx(float(means[k - 1]), abs=1e-9)
        assert interval.high == pytest.approx(float(means[-k]), abs=1e-9)


def resampled_means(numbers: list[int]) -> dict[int, Fraction]:
    """Sums of all n^n resamples with their probabilities."""
    n, law = len(numbers), {0: Fraction(1)}
    for _ in range(n):
        following: dict[int, Fraction] = {}
        for (total, weight), number in product(law.items(), numbers):
            key = total + number
            following[key] = following.get(key, Fraction(0)) + weight / n
        law = following
    return law


@given(differences(largest=7), st.sampled_from([0.95, 0.9]))
@settings(max_examples=60, deadline=None)
def test_percentile_limits_are_quantiles_of_all_resamples(
    case: tuple[list[int], int], level: float
) -> None:
    numbers, divisor = case
    n, law = len(numbers), resampled_means(numbers)
    interval = bootstrap_interval(
        np.array(numbers) / divisor, method="percentile", confidence_level=level
    )
    tail = (1 - Fraction(str(level))) / 2
    for limit, probability in ((interval.low, tail), (interval.high, 1 - tail)):
        cumulated = Fraction(0)
        for total in sorted(law):
            cumulated += law[total]
            if cumulated >= probability:
                break
        scale = max(abs(number) for number in numbers) + 1
        assert limit == pytest.approx(total / n / divisor, abs=1e-9 * scale / divisor)


@given(differences(), st.randoms(use_true_random=False), st.integers(-8, 8))
@settings(max_examples=60, deadline=None)
def test_order_and_scale_do_not_matter(
    case: tuple[list[int], int], random: object, power: int
) -> None:
    numbers, divisor = case
    difference = np.array(numbers) / divisor
    shuffled = list(numbers)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    other = np.array(shuffled) / divisor
    assert signflip_test(difference) == signflip_test(other)
    assert signflip_interval(difference) == signflip_interval(other)
    assert bootstrap_interval(difference) == bootstrap_interval(other)
    scaled = signflip_test(difference * 2.0**power)
    assert scaled.pvalue == pytest.approx(signflip_test(difference).pvalue, rel=1e-9)


@given(differences())
@settings(max_examples=60, deadline=None)
def test_exchanged_arms_mirror_everything(case: tuple[list[int], int]) -> None:
    numbers, divisor = case
    difference = np.array(numbers) / divisor
    here, there = signflip_interval(difference), signflip_interval(-difference)
    assert here.low == pytest.approx(-there.high, abs=1e-12, rel=1e-9)
    assert here.high == pytest.approx(-there.low, abs=1e-12, rel=1e-9)
    greater = signflip_test(difference, alternative="greater").pvalue
    assert signflip_test(-difference, alternative="less").pvalue == greater


@given(st.integers(0, 400), st.integers(0, 400))
@settings(max_examples=80, deadline=None)
def test_binary_differences_give_the_binomial_law(wins: int, losses: int) -> None:
    difference = np.repeat([1.0, -1.0, 0.0], [wins, losses, 5])
    m = wins + losses
    count = sum(comb(m, k) for k in range(losses + 1))
    got = signflip_test(difference, alternative="greater")
    expected = Fraction(count, 2**m)
    assert got.pvalue == pytest.approx(float(expected), rel=1e-9)


@st.composite
def moved_lattices(draw: Draw) -> tuple[list[int], float]:
    """Whole numbers, and a shift that puts them off every lattice or onto one."""
    size = draw(st.integers(39, 50))
    largest = draw(st.sampled_from([1, 4, 20, 100, 400]))
    numbers = st.integers(-largest, largest)
    shift = st.sampled_from([0.5, 1 / 3, 0.1 * 2**0.5, -np.pi / 7, 0.123456789012, 0.3])
    times = draw(st.sampled_from([1.0, 0.05 * largest]))
    return draw(st.lists(numbers, min_size=size, max_size=size)), draw(shift) * times


def share_of_moved(numbers: list[int], shift: float) -> float:
    """Share of subsets whose sum, with a shift per question, is at most zero."""
    least = sum(k for k in numbers if k < 0)
    span = sum(abs(k) for k in numbers) + 1
    ways = np.zeros((len(numbers) + 1, span), np.int64)  # size, sum - least
    ways[0, -least] = 1
    for taken, k in enumerate(numbers):
        before = ways[: taken + 1].copy()
        moved = before[:, : span - k] if k >= 0 else before[:, -k:]
        ways[1 : taken + 2, max(k, 0) : span + min(k, 0)] += moved
    sums = np.arange(span) + least
    return sum(
        int(np.sum(row[sums + shift * size <= 1e-10])) for size, row in enumerate(ways)
    ) / 2 ** len(numbers)


@given(moved_lattices())
@settings(max_examples=40, deadline=None)
def test_a_moved_lattice_keeps_its_counted_share(
    case: tuple[list[int], float],
) -> None:
    numbers, shift = case
    got = signflip_test(np.array(numbers) + shift, alternative="greater")
    expected = share_of_moved(numbers, shift)
    assert got.pvalue == pytest.approx(expected, abs=1e-9)
    moved = signflip_test(np.array(numbers, float), alternative="greater", shift=-shift)
    assert moved.pvalue == pytest.approx(expected, abs=1e-9)


@given(
    st.lists(
        st.tuples(st.integers(-20, 20), st.integers(1, 4)), min_size=33, max_size=45
    ),
    st.sampled_from([0.05 * 2**0.5, -np.pi / 40, 0.3, -0.123456789]),
)
@settings(max_examples=25, deadline=None)
def test_moved_clusters_keep_their_counted_share(
    units: list[tuple[int, int]], shift: float
) -> None:
    n = sum(size for _, size in units)
    least = sum(k for k, _ in units if k < 0)
    span = sum(abs(k) for k, _ in units) + 1
    ways = np.zeros((n + 1, span), np.int64)
    ways[0, -least] = 1
    for k, size in units:
        before = ways[: n + 1 - size].copy()
        moved = before[:, : span - k] if k >= 0 else before[:, -k:]
        ways[size:, max(k, 0) : span + min(k, 0)] += moved
    excess = (np.arange(span) + least) / 10.0 - shift * np.arange(n + 1)[:, None]
    below = int(np.sum(ways[excess <= 1e-11])) / 2 ** len(units)
    above = int(np.sum(ways[excess >= -1e-11])) / 2 ** len(units)
    difference = np.concatenate([np.full(size, k / 10 / size) for k, size in units])
    clusters = np.repeat(np.arange(len(units)), [size for _, size in units])
    total = sum(k for k, _ in units) / 10.0 - shift * n
    both = min(1.0, 2.0 * (below if total > 0 else above))
    for alternative, share in (
        ("greater", below),
        ("less", above),
        ("two-sided", both),
    ):
        got = signflip_test(
            difference, clusters=clusters, shift=shift, alternative=alternative
        )
        assert got.pvalue == pytest.approx(share, abs=1e-9), alternative
