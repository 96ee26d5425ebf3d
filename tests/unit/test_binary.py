"""McNemar tests and intervals of paired shares, beyond the oracle's tables."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from onechange.errors import MethodError
from onechange.stats.binary import (
    BINARY_LIMITS,
    PairedTable,
    binary_interval,
    binary_table,
    mcnemar_test,
    newcombe_limits,
    tango_limits,
    wald_limits,
)
from onechange.stats.interval import wilson_limits


def _exact(low: int, n: int, *, midp: bool) -> Fraction:
    tail = sum(Fraction(math.comb(n, k), 2**n) for k in range(low + 1))
    point = Fraction(math.comb(n, low), 2**n)
    if 2 * low == n:
        return 1 - point / 2 if midp else Fraction(1)
    return min(2 * tail - (point if midp else 0), Fraction(1))


@pytest.mark.parametrize("midp", [True, False])
@pytest.mark.parametrize(
    ("b", "c"),
    [(5, 5), (0, 1), (3, 2), (500, 460), (700, 650), (800, 800), (1200, 900)],
)
def test_mcnemar_matches_sums_of_fractions(b: int, c: int, midp: bool) -> None:
    method = "mcnemar-midp" if midp else "mcnemar-exact"
    got = mcnemar_test(c, b, method=method)
    assert got.pvalue == pytest.approx(
        float(_exact(min(b, c), b + c, midp=midp)), rel=1e-9
    )
    assert got.log10_pvalue == pytest.approx(math.log10(got.pvalue), abs=1e-12)


def test_mcnemar_below_the_double_range_keeps_its_logarithm() -> None:
    got = mcnemar_test(0, 3000)
    assert got.pvalue == 5e-324
    assert got.log10_pvalue == pytest.approx(-3000 * math.log10(2), rel=1e-12)
    asymptotic = mcnemar_test(0, 3000, method="mcnemar-asymptotic")
    assert asymptotic.pvalue == 5e-324
    assert asymptotic.log10_pvalue == pytest.approx(
        scipy.stats.norm.logsf(math.sqrt(3000)) / math.log(10) + math.log10(2)
    )


def test_as_many_won_as_lost_gives_an_exact_p_of_one() -> None:
    assert mcnemar_test(5, 5, method="mcnemar-exact").pvalue == 1.0


@pytest.mark.parametrize("method", ["mcnemar-midp", "mcnemar-exact"])
def test_no_discordant_question_gives_p_one(method: str) -> None:
    assert mcnemar_test(0, 0, method=method).pvalue == 1.0
    assert mcnemar_test(0, 0, method="mcnemar-asymptotic").pvalue == 1.0


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(MethodError, match="mcnemar-exact"):
        mcnemar_test(1, 2, method="mcnemar")
    with pytest.raises(MethodError, match="bonett-price"):
        binary_interval(PairedTable(1, 1, 1, 1), method="clopper")


def test_table_counts_every_pair_once() -> None:
    baseline = np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    variant = np.array([1.0, 0.0, 1.0, 1.0, 0.0])
    table = binary_table(baseline, variant)
    assert table == PairedTable(1, 1, 2, 1)
    assert table.n == 5
    assert table.delta == 0.2


def test_a_table_of_scores_is_refused() -> None:
    with pytest.raises(MethodError, match="scores of 0 and 1"):
        binary_table(np.array([0.0, 0.5]), np.array([0.0, 1.0]))


def test_tango_solves_the_constrained_score_equation() -> None:
    table, z = PairedTable(30, 3, 9, 8), scipy.stats.norm.isf(0.025)
    n, b, c = table.n, table.only_variant, table.only_baseline

    def score(delta: float) -> float:
        def loss(
            q: float,
        ) -> float:  # q = P(only baseline), q + delta = P(only variant)
            rest = 1 - 2 * q - delta
            return -(
                b * math.log(q + delta) + c * math.log(q) + (n - b - c) * math.log(rest)
            )

        span = (max(0.0, -delta) + 1e-12, (1 - delta) / 2 - 1e-12)
        q = scipy.optimize.minimize_scalar(
            loss, bounds=span, method="bounded", options={"xatol": 1e-13}
        ).x
        return (b - c - n * delta) / math.sqrt(n * (2 * q + delta - delta**2))

    low, high = tango_limits(table, 0.025)
    assert score(low) == pytest.approx(z, rel=1e-6)
    assert score(high) == pytest.approx(-z, rel=1e-6)


@pytest.mark.parametrize("n", [20, 150, 1000])
def test_newcombe_of_a_rate_without_any_event_is_the_wilson_width(n: int) -> None:
    z = scipy.stats.norm.isf(0.025)
    half = z**2 / (n + z**2)
    for table in (PairedTable(0, 0, 0, n), PairedTable(n, 0, 0, 0)):
        assert newcombe_limits(table, 0.025) == pytest.approx((-half, half))


def test_newcombe_with_an_empty_margin_has_no_correlation() -> None:
    table = PairedTable(12, 0, 8, 0)  # the variant is always right
    low_b, high_b = wilson_limits(12, 20, 0.025)
    low_v, _ = wilson_limits(20, 20, 0.025)
    low, high = newcombe_limits(table, 0.025)
    assert low == pytest.approx(0.4 - math.hypot(1 - low_v, high_b - 0.6))
    assert high == pytest.approx(0.4 + 0.6 - low_b)


@pytest.mark.parametrize("method", list(BINARY_LIMITS))
def test_intervals_stay_within_minus_one_and_one(method: str) -> None:
    got = binary_interval(PairedTable(0, 0, 3, 0), method=method)
    assert got is not None
    assert -1 <= got.low <= got.high <= 1
    assert binary_interval(PairedTable(0, 0, 0, 0), method=method) is None


def test_only_wald_collapses_without_a_change() -> None:
    table = PairedTable(14, 0, 0, 6)
    assert wald_limits(table, 0.025) == (0.0, 0.0)
    for method in BINARY_LIMITS:
        got = binary_interval(table, method=method)
        assert got is not None
        assert got.degenerate == (method == "wald")
