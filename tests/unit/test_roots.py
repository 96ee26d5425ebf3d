"""The search for where a distribution function exceeds a probability."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from onechange.stats.roots import first_above


def smooth(point: float, lobes: bool) -> float:
    return float(ndtr(point))


def stepped(point: float, lobes: bool) -> float:
    """Steps of 0.01 standard deviations."""
    return float(ndtr(np.floor(point * 100.0) / 100.0))


def test_smooth_functions_need_few_evaluations() -> None:
    calls: list[float] = []

    def counted(point: float, lobes: bool) -> float:
        calls.append(point)
        return float(ndtr(point + 0.05 * point**2))

    low, high = first_above(
        counted, 0.025, start=-2.0, spread=1.0, bounds=(-9.0, 9.0), accuracy=1e-8
    )
    assert low == high
    assert counted(low, True) == pytest.approx(0.025, abs=1e-9)
    assert len(calls) < 10


@pytest.mark.parametrize("probability", [0.01, 0.025, 0.52, 0.9])
@pytest.mark.parametrize("start", [-3.0, 0.004, 1.0])
def test_steps_are_enclosed(probability: float, start: float) -> None:
    low, high = first_above(
        stepped, probability, start=start, spread=1.0, bounds=(-9.0, 9.0)
    )
    assert 0.0 <= high - low <= 1e-8
    first = np.ceil(ndtri(probability) * 100.0) / 100.0
    assert low - 1e-12 <= first <= high + 1e-8


def test_a_cheap_approximation_gives_the_start() -> None:
    calls: list[float] = []

    def counted(point: float, lobes: bool) -> float:
        calls.append(point)
        return stepped(point, lobes)

    low, high = first_above(
        counted,
        0.025,
        start=0.0,
        spread=1.0,
        bounds=(-9.0, 9.0),
        smooth=lambda point: smooth(point, True),
        accuracy=1e-3,
    )
    assert high - low <= 1e-3
    assert low <= -1.95 <= high + 1e-12
    assert len(calls) < 20


def test_a_step_at_the_bound_is_found_there() -> None:
    low, high = first_above(
        lambda point, lobes: 0.3, 0.025, start=0.0, spread=1.0, bounds=(-1.0, 1.0)
    )
    assert low == pytest.approx(-1.0, abs=1e-7)
    assert high == pytest.approx(-1.0, abs=1e-7)


def test_neighbouring_numbers_end_the_search() -> None:
    low, high = first_above(
        stepped, 0.025, start=-2.0, spread=1.0, bounds=(-9.0, 9.0), accuracy=0.0
    )
    assert high == pytest.approx(-1.95, abs=1e-12)
    assert high - low < 1e-14
