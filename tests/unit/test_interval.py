"""Intervals of one mean or share, against SciPy, statsmodels and their definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from statsmodels.stats.proportion import proportion_confint

from onechange.stats.estimate import Interval
from onechange.stats.interval import (
    clip,
    guarded_t_interval,
    hall_interval,
    skewness,
    t_interval,
    wider,
    wilson_interval,
)

SKEWED = np.array([0.1, 0.2, 0.15, 0.3, 0.25, 2.9, 0.2, 0.1])


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("x", "n"), [(0, 20), (3, 20), (20, 20), (77, 150)])
def test_wilson_matches_statsmodels(x: int, n: int, level: float) -> None:
    got = wilson_interval(x, n, confidence_level=level)
    assert got is not None
    expected = proportion_confint(x, n, alpha=1 - level, method="wilson")
    assert [got.low, got.high] == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("n", [1, 3, 20, 38, 1000])
def test_wilson_never_leaves_0_and_1(n: int) -> None:
    none, all_of_them = wilson_interval(0, n), wilson_interval(n, n)
    assert none is not None
    assert all_of_them is not None
    assert none.low == 0.0
    assert all_of_them.high == 1.0


def test_wilson_at_the_edge_has_the_published_values() -> None:
    got = [wilson_interval(38, 38), wilson_interval(0, 20), wilson_interval(20, 20)]
    assert got[0] is not None
    assert got[1] is not None
    assert got[2] is not None
    assert got[0].low == pytest.approx(0.908190131774416, abs=1e-12)
    assert got[1].high == pytest.approx(0.16112515805281938, abs=1e-12)
    assert got[2].low == pytest.approx(0.8388748419471806, abs=1e-12)


def test_no_questions_have_no_interval() -> None:
    assert wilson_interval(0, 0) is None
    assert t_interval(np.array([0.3])) is None
    assert hall_interval(np.array([0.3])) is None
    assert guarded_t_interval(np.zeros(9)) is None


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_hall_inverts_his_transformation(level: float) -> None:
    got = hall_interval(SKEWED, confidence_level=level)
    assert got is not None
    n, g = SKEWED.size, scipy.stats.skew(SKEWED)
    scale = SKEWED.std(ddof=1) / math.sqrt(n)
    quantile = scipy.stats.t.isf((1 - level) / 2, n - 1)

    def excess(t: float, target: float) -> float:
        a = g / math.sqrt(n)
        return t + a * t**2 / 3 + a**2 * t**3 / 27 + a / 6 - target

    for limit, target in ((got.low, quantile), (got.high, -quantile)):
        t = scipy.optimize.brentq(excess, -100, 100, args=(target,))
        assert limit == pytest.approx(SKEWED.mean() - scale * t, rel=1e-9)


def test_hall_of_symmetric_values_is_the_t_interval() -> None:
    values = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    hall, student = hall_interval(values), t_interval(values)
    assert hall is not None
    assert student is not None
    assert (hall.low, hall.high) == pytest.approx((student.low, student.high))


def test_hall_leans_to_the_side_of_the_tail() -> None:
    hall, student = hall_interval(SKEWED), t_interval(SKEWED)
    assert hall is not None
    assert student is not None
    assert hall.low > student.low
    assert hall.high > student.high


def test_equal_values_mark_plain_intervals_degenerate() -> None:
    for function in (t_interval, hall_interval):
        got = function(np.full(6, 0.3))
        assert got is not None
        assert got.degenerate
        assert (got.low, got.high) == (0.3, 0.3)


def test_guarded_t_leans_on_the_range_when_nothing_changed() -> None:
    got = guarded_t_interval(np.zeros(20), width=1.0)
    assert got is not None
    half = scipy.stats.t.isf(0.025, 21) * math.sqrt(2 / 21 / 22)
    assert (got.low, got.high) == pytest.approx((-half, half))
    assert not got.degenerate


def test_skewness_matches_scipy_and_is_zero_for_equal_values() -> None:
    assert skewness(SKEWED) == pytest.approx(scipy.stats.skew(SKEWED))
    assert skewness(SKEWED * 1e-200) == pytest.approx(scipy.stats.skew(SKEWED))
    assert skewness(np.full(5, 0.1)) == 0.0
    assert skewness(np.empty(0)) == 0.0


def test_wider_takes_each_end_apart() -> None:
    assert wider((-1.0, 2.0), (-0.5, 3.0)) == (-1.0, 3.0)


def test_clip_cuts_to_what_can_be_attained() -> None:
    interval = Interval(-1.5, 0.2, 0.95, "t")
    assert clip(interval, -1.0, 1.0) == Interval(-1.0, 0.2, 0.95, "t")
