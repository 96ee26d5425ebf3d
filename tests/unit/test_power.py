"""Closed forms of planning against enumeration, other packages and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from casefiles import compared, delta_of, expected
from onechange.errors import MethodError
from onechange.stats.binary import mcnemar_test
from onechange.stats.equivalence import noninferiority_pvalue, tost
from onechange.stats.power import (
    mcnemar_power,
    mcnemar_questions,
    mcnemar_size,
    normal_questions,
    paired_t_power,
    paired_t_questions,
    paired_t_smallest_delta,
)


def test_case_39_power_takes_the_spread_of_the_differences() -> None:
    delta, right = delta_of(compared(39)), expected(39)
    effect = delta.effect_size["cohen_dz"]
    assert effect == pytest.approx(right["dz"], abs=1e-4)
    power = paired_t_power(delta.n_pairs, effect)
    assert power == pytest.approx(right["power_dz"], abs=1e-9)
    assert abs(power - right["forbidden_power"]) > 0.5


@pytest.mark.parametrize(("n", "effect"), [(5, 1.2), (40, 0.45), (400, 0.1)])
def test_paired_t_power_agrees_with_statsmodels(n: int, effect: float) -> None:
    from statsmodels.stats.power import TTestPower

    right = TTestPower().power(effect, n, 0.05, alternative="two-sided")
    assert paired_t_power(n, effect) == pytest.approx(right, abs=1e-9)
    assert paired_t_power(n, -effect) == pytest.approx(right, abs=1e-9)


def test_questions_power_and_smallest_delta_are_inverse() -> None:
    n = paired_t_questions(0.3, power=0.9, alpha=0.01)
    assert paired_t_power(n, 0.3, alpha=0.01) == pytest.approx(0.9, abs=1e-9)
    delta = paired_t_smallest_delta(80, 0.25, power=0.9)
    assert paired_t_power(80, delta / 0.25) == pytest.approx(0.9, abs=1e-9)


def test_two_questions_are_the_fewest() -> None:
    assert paired_t_questions(1e6) == 2.0


def test_power_without_effect_is_the_level() -> None:
    assert paired_t_power(30, 0.0) == pytest.approx(0.05, abs=1e-9)


def enumerated(n: int, gain: float, loss: float, method: str, alpha: float) -> float:
    """Power by summing over every table, with the test itself."""
    total = 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            if mcnemar_test(b, c, method=method).pvalue <= alpha:
                ways = math.comb(n, b) * math.comb(n - b, c)
                total += ways * loss**b * gain**c * (1 - gain - loss) ** (n - b - c)
    return total


@pytest.mark.parametrize("method", ["mcnemar-exact", "mcnemar-midp"])
@pytest.mark.parametrize(("gain", "loss"), [(0.3, 0.1), (0.2, 0.2), (0.0, 0.5)])
def test_mcnemar_power_agrees_with_enumeration(
    method: str, gain: float, loss: float
) -> None:
    right = enumerated(18, gain, loss, method, 0.05)
    assert mcnemar_power(18, gain, loss, method=method) == pytest.approx(
        right, abs=1e-12
    )


def test_mcnemar_power_in_one_direction() -> None:
    up = mcnemar_power(60, 0.25, 0.1, alternative="greater")
    assert up == pytest.approx(
        mcnemar_power(60, 0.1, 0.25, alternative="less"), abs=1e-12
    )
    assert mcnemar_power(60, 0.25, 0.1, alternative="less") < 0.001 < up


def test_the_normal_form_inverts_the_number_of_questions() -> None:
    n = mcnemar_questions(0.3, 0.1)
    power = mcnemar_power(round(n), 0.2, 0.1, method="normal")
    assert power == pytest.approx(0.8, abs=0.002)
    assert mcnemar_power(round(n), 0.2, 0.1) == pytest.approx(0.8, abs=0.03)


def test_no_discordance_is_never_found() -> None:
    assert mcnemar_power(50, 0.0, 0.0) == 0.0
    assert mcnemar_power(50, 0.0, 0.0, method="normal") == 0.0
    assert mcnemar_size(50, 0.0) == 0.0


def test_the_exact_test_keeps_its_level() -> None:
    for discordant in (0.1, 0.4, 1.0):
        assert mcnemar_size(80, discordant, method="mcnemar-exact") <= 0.05


def test_simulated_power_agrees_with_the_closed_form() -> None:
    rng = np.random.default_rng(5)
    d = rng.normal(0.1, 0.4, size=(4000, 60))
    t = d.mean(axis=1) / (d.std(axis=1, ddof=1) / math.sqrt(60))
    found = np.mean(np.abs(t) > 2.0009953780882688)  # t quantile, 59 df
    right = paired_t_power(60, 0.25)
    assert abs(found - right) < 3.3 * math.sqrt(right * (1 - right) / 4000)


@pytest.mark.parametrize(
    "call",
    [
        lambda: paired_t_power(1, 0.3),
        lambda: paired_t_power(10, 0.3, alpha=0),
        lambda: paired_t_questions(0.0),
        lambda: paired_t_questions(1e-9),
        lambda: paired_t_questions(0.3, power=1.0),
        lambda: normal_questions(1.0, 0.0),
        lambda: mcnemar_questions(0.1, 0.2),
        lambda: mcnemar_questions(0.1, 0.0),
        lambda: mcnemar_power(10, 0.7, 0.7),
        lambda: mcnemar_power(0, 0.1, 0.1),
        lambda: mcnemar_power(10, 0.1, 0.1, method="chi2"),
        lambda: mcnemar_power(10, 0.1, 0.1, alternative="up"),
        lambda: mcnemar_power(10, 0.1, 0.1, method="normal", alternative="less"),
        lambda: tost(np.zeros(8), 0.1),
        lambda: noninferiority_pvalue(np.arange(5.0), -0.1),
        lambda: noninferiority_pvalue(np.arange(5.0), math.nan),
    ],
)
def test_what_cannot_be_planned_is_refused(call) -> None:
    with pytest.raises(MethodError):
        call()


def test_a_tiny_sample_needs_a_huge_delta() -> None:
    delta = paired_t_smallest_delta(3, 1.0)
    assert delta > 1
    assert paired_t_power(3, delta) == pytest.approx(0.8, abs=1e-9)


def test_all_discordant_pairs_gained_are_found_for_sure() -> None:
    assert mcnemar_power(20, 1.0, 0.0, method="normal") == 1.0
    assert mcnemar_power(20, 1.0, 0.0) == pytest.approx(1.0, abs=1e-12)
