"""Interval and margin -> status, on exact values."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onechange.stats.estimate import Interval
from onechange.status import (
    Status,
    equivalence_status,
    estimate_limit_status,
    estimate_margin_status,
    estimate_relative_status,
    limit_status,
    margin_status,
    primary_status,
    worse_of,
    worsening_ends,
)

PASS, FAIL, OPEN = Status.PASS, Status.FAIL, Status.INCONCLUSIVE


def ends(low: float, high: float) -> Interval:
    return Interval(low, high, 0.95, "t")


@pytest.mark.parametrize(
    ("low", "high", "least", "status"),
    [
        (0.01, 0.2, 0.0, PASS),
        (0.0, 0.2, 0.0, OPEN),  # an interval that ends at 0 does not exclude it
        (5e-17, 0.2, 0.0, OPEN),  # nor does one that ends there but for rounding
        (-0.2, -0.01, 0.0, FAIL),
        (-0.2, 0.0, 0.0, OPEN),
        (0.01, 0.2, 0.01, OPEN),
        (0.02, 0.2, 0.01, PASS),
        (0.001, 0.005, 0.01, FAIL),  # better, but by less than needed
        (1e-7, 3e-7, 0.0, PASS),  # costs of a token are small numbers
        (-math.inf, math.inf, 0.0, OPEN),
        (0.01, math.inf, 0.0, PASS),
    ],
)
def test_primary_needs_the_whole_interval_above(
    low: float, high: float, least: float, status: Status
) -> None:
    assert primary_status(ends(low, high), least, "higher") is status
    assert primary_status(ends(-high, -low), least, "lower") is status


@pytest.mark.parametrize(
    ("low", "high", "margin", "status"),
    [
        (-0.02, 0.05, 0.03, PASS),
        (-0.03, 0.05, 0.03, PASS),  # a worsening of the margin itself is tolerated
        (-0.1, -0.03, 0.03, OPEN),
        (-0.1, -0.031, 0.03, FAIL),
        (-0.026, -0.007, 0.02, OPEN),
        (-0.05 - 1e-16, 0.0, 0.05, PASS),
        (-0.05 - 1e-8, 0.0, 0.05, OPEN),
        (0.0, 0.0, 0.0, PASS),
        (-math.inf, 0.0, 0.03, OPEN),
        (-math.inf, -0.1, 0.03, FAIL),
    ],
)
def test_margin_is_inclusive(
    low: float, high: float, margin: float, status: Status
) -> None:
    assert margin_status(ends(low, high), margin, "higher") is status
    assert margin_status(ends(-high, -low), margin, "lower") is status


def test_limit_is_about_the_variants_own_interval() -> None:
    assert limit_status(ends(2100, 2900), 3000, "lower") is PASS
    assert limit_status(ends(2100, 3000), 3000, "lower") is PASS
    assert limit_status(ends(2900, 3100), 3000, "lower") is OPEN
    assert limit_status(ends(3001, 3100), 3000, "lower") is FAIL
    assert limit_status(ends(0.9, 0.95), 0.9, "higher") is PASS
    assert limit_status(ends(0.8, 0.89), 0.9, "higher") is FAIL
    assert limit_status(ends(2100, math.inf), 3000, "lower") is OPEN


@pytest.mark.parametrize("bad", [None, ends(math.nan, 0.1), ends(-0.1, math.nan)])
def test_what_is_not_measured_never_passes(bad: Interval | None) -> None:
    assert primary_status(bad, 0.0, "higher") is OPEN
    assert margin_status(bad, 0.5, "higher") is OPEN
    assert limit_status(bad, 0.5, "lower") is OPEN
    assert equivalence_status(bad, 0.5) is OPEN


@pytest.mark.parametrize("bad", [None, math.nan])
def test_a_point_that_is_not_measured_never_passes(bad: float | None) -> None:
    assert estimate_margin_status(bad, 0.5, 1.0, "higher") is OPEN
    assert estimate_margin_status(0.5, bad, 1.0, "higher") is OPEN
    assert estimate_limit_status(bad, 1.0, "lower") is OPEN
    assert estimate_relative_status(bad, 1.0, 0.1, "lower") is OPEN


def test_equivalence_needs_both_sides() -> None:
    assert equivalence_status(ends(-0.02, 0.03), 0.03) is PASS
    assert equivalence_status(ends(-0.04, 0.02), 0.03) is OPEN
    assert equivalence_status(ends(0.04, 0.08), 0.03) is FAIL
    assert equivalence_status(ends(-0.08, -0.04), 0.03) is FAIL


@pytest.mark.parametrize(
    ("baseline", "variant", "margin"),
    [(0.9, 0.85, 0.05), (4.2, 4.1, 0.1), (18 / 20, 17 / 20, 0.05), (0.3, 0.2, 0.1)],
)
def test_point_rule_is_free_of_binary_noise(
    baseline: float, variant: float, margin: float
) -> None:
    assert estimate_margin_status(baseline, variant, margin, "higher") is PASS
    assert estimate_margin_status(variant, baseline, margin, "lower") is PASS
    smaller = margin * (1 - 1e-6)
    assert estimate_margin_status(baseline, variant, smaller, "higher") is FAIL


@given(
    n=st.integers(1, 400),
    right=st.integers(0, 400),
    lost=st.integers(0, 400),
    thousandths=st.integers(0, 1000),
)
def test_point_rule_agrees_with_exact_fractions(
    n: int, right: int, lost: int, thousandths: int
) -> None:
    right = min(right, n)
    lost = min(lost, right)
    margin = Fraction(thousandths, 1000)
    wanted = PASS if Fraction(lost, n) <= margin else FAIL
    found = estimate_margin_status(
        right / n, (right - lost) / n, thousandths / 1000, "higher"
    )
    assert found is wanted


def test_relative_point_rule() -> None:
    assert estimate_relative_status(2 / 3, 0.6, 0.1, "higher") is PASS
    assert estimate_relative_status(2 / 3, 0.599999, 0.1, "higher") is FAIL
    assert estimate_relative_status(1000.0, 1100.0, 0.1, "lower") is PASS
    assert estimate_relative_status(1000.0, 1100.001, 0.1, "lower") is FAIL
    assert estimate_relative_status(0.0, 0.0, 0.1, "lower") is OPEN


def test_limit_by_the_point_value() -> None:
    assert estimate_limit_status(3 / 150, 0.02, "lower") is PASS
    assert estimate_limit_status(4 / 150, 0.02, "lower") is FAIL
    assert estimate_limit_status(0.1 + 0.2, 0.3, "lower") is PASS
    assert estimate_limit_status(0.3, 0.1 + 0.2, "higher") is FAIL
    assert estimate_limit_status(0.0, 0.0, "lower") is PASS


def test_the_worst_status_counts() -> None:
    assert worse_of([PASS, OPEN]) is OPEN
    assert worse_of([FAIL, OPEN]) is FAIL
    assert worse_of([PASS]) is PASS


finite = st.floats(-1e6, 1e6)


@given(a=finite, b=finite, margin=st.floats(0, 1e6))
def test_swapping_the_direction_mirrors_the_interval(
    a: float, b: float, margin: float
) -> None:
    low, high = min(a, b), max(a, b)
    mirrored = ends(-high, -low)
    assert worsening_ends(ends(low, high), "higher") == worsening_ends(
        mirrored, "lower"
    )
    assert margin_status(ends(low, high), margin, "higher") is margin_status(
        mirrored, margin, "lower"
    )


@given(a=finite, b=finite, small=st.floats(0, 1e6), more=st.floats(0, 1e6))
def test_a_wider_margin_never_makes_a_status_worse(
    a: float, b: float, small: float, more: float
) -> None:
    interval = ends(min(a, b), max(a, b))
    narrow = margin_status(interval, small, "higher")
    wide = margin_status(interval, small + more, "higher")
    assert worse_of([narrow, wide]) is narrow
