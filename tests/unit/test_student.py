"""Student's law of a mean, against exact arithmetic and SciPy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from onechange.stats.student import (
    StudentLaw,
    guard,
    guarded_mean_law,
    guarded_t_law,
    mean,
    normal_quantile,
    t_law,
    t_quantile,
)

D = np.array([0.25, 0.0, -0.5, 0.75, 0.0, 0.25, 1.0])


def test_guarded_t_follows_its_formula_in_exact_arithmetic() -> None:
    d = [Fraction(x) for x in D]
    n = len(d)
    changed = [x for x in d if x]
    c2 = sum(x * x for x in changed) / len(changed)
    big_n = n + 2
    m = sum(d) / big_n
    variance = (sum(x * x for x in d) + 2 * c2 - big_n * m * m) / (big_n - 1)
    law = guarded_t_law(D, width=None)
    assert law is not None
    assert law.estimate == pytest.approx(float(sum(d) / n), rel=1e-14)
    assert law.standard_error == pytest.approx(math.sqrt(variance / big_n), rel=1e-14)
    assert law.df == big_n - 1


def test_guard_is_the_root_mean_square_of_changed_answers() -> None:
    assert guard(np.array([0.0, 3.0, -4.0]), None) == pytest.approx(math.sqrt(12.5))


def test_guard_without_any_change_is_the_declared_width_or_none() -> None:
    assert guard(np.zeros(4), 5.0) == 5.0
    assert guard(np.zeros(4), None) is None
    assert guarded_t_law(np.zeros(4), width=None) is None
    assert guarded_t_law(np.empty(0), width=1.0) is None


def test_guarded_t_of_equal_differences_has_width() -> None:
    law = guarded_t_law(np.full(8, 0.05), width=None)
    assert law is not None
    assert law.limits(0.025) == pytest.approx([0.02737837, 0.07262157], abs=1e-7)


def test_plain_t_matches_scipy() -> None:
    law = t_law(D)
    assert law is not None
    expected = scipy.stats.ttest_1samp(D, 0.0)
    interval = expected.confidence_interval(0.9)
    assert law.limits(0.05) == pytest.approx([interval.low, interval.high], rel=1e-12)
    assert math.exp(law.log_two_sided(0.0)) == pytest.approx(expected.pvalue)
    for side in ("greater", "less"):
        one_sided = scipy.stats.ttest_1samp(D, 0.1, alternative=side)
        assert law.pvalue(0.1, side) == pytest.approx(one_sided.pvalue, rel=1e-12)


def test_one_value_has_no_student_law() -> None:
    assert t_law(np.array([1.0])) is None


def test_equal_values_have_no_spread_and_no_p() -> None:
    law = t_law(np.full(8, 0.1 + 0.2))
    assert law is not None
    assert law.standard_error == 0.0
    assert law.pvalue(0.0, "greater") is None


@pytest.mark.parametrize("df", [3.0, 20.0, 2000.0])
def test_deep_two_sided_tail_follows_the_tail_of_t(df: float) -> None:
    statistic = {3.0: 1e120, 20.0: 1e18, 2000.0: 60.0}[df]
    got = StudentLaw(statistic, 1.0, df).log_two_sided(0.0)
    assert got < math.log(1e-290)
    # the tail beyond t, by quadrature of the density in u = log(x)
    u = np.linspace(0.0, 60.0 / df, 400_001)
    density = (
        -(df + 1) / 2 * np.logaddexp(0.0, 2 * (math.log(statistic) + u) - math.log(df))
    )
    constant = (
        math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    )
    logs = density + u + math.log(statistic)
    peak = logs.max()
    area = math.log(np.trapezoid(np.exp(logs - peak), u)) + peak
    assert got == pytest.approx(math.log(2) + constant + area, rel=1e-7)


def test_guarded_mean_law_moves_with_the_scores() -> None:
    values = np.array([0.2, 0.4, 0.9, 0.4])
    first = guarded_mean_law(values, width=None)
    second = guarded_mean_law(values + 3, width=None)
    assert first is not None
    assert second is not None
    assert second.estimate == pytest.approx(first.estimate + 3)
    assert second.standard_error == pytest.approx(first.standard_error)
    spread = np.sum((values - values.mean()) ** 2)
    expected = math.sqrt((spread + 2 * spread / 4) / 5 / 6)
    assert first.standard_error == pytest.approx(expected)


def test_guarded_mean_law_of_equal_scores_leans_on_the_declared_range() -> None:
    law = guarded_mean_law(np.full(10, 0.7), width=1.0)
    assert law is not None
    assert law.estimate == 0.7
    assert law.standard_error == pytest.approx(math.sqrt(2 / 11 / 12))
    assert guarded_mean_law(np.full(10, 0.7), width=None) is None
    assert guarded_mean_law(np.empty(0), width=1.0) is None


def test_mean_of_equal_values_is_that_value() -> None:
    assert mean(np.full(10, 0.1)) == 0.1


def test_quantiles_match_scipy() -> None:
    assert normal_quantile(0.025) == pytest.approx(scipy.stats.norm.isf(0.025))
    assert t_quantile(0.005, 3.7) == pytest.approx(scipy.stats.t.isf(0.005, 3.7))
