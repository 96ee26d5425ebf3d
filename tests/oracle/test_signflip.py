"""Every right value of ``signflip.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onechange.stats.signflip import signflip_interval, signflip_test

FAMILY = json.loads(
    Path(__file__).with_name("signflip.json").read_text(encoding="utf-8")
)
ALTERNATIVES = {"greater": "greater", "less": "less", "two_sided": "two-sided"}


def _close(got: float, value: float, tolerance: dict[str, Any]) -> bool:
    return abs(got - value) <= tolerance["abs"] + tolerance["rel"] * abs(value)


@pytest.mark.parametrize("case", FAMILY["cases"], ids=lambda case: case["name"])
def test_right_value(case: dict[str, Any]) -> None:
    difference = np.array(FAMILY["datasets"][case["data"]]["diffs"])
    value, tolerance = case["value"], case["tolerance"]
    if case["name"].startswith("signflip_p/"):
        assert set(value) == set(ALTERNATIVES)
        for key, alternative in ALTERNATIVES.items():
            got = signflip_test(difference, alternative=alternative).pvalue
            assert got is not None
            assert _close(got, value[key], tolerance)
        return
    level = 1.0 - case["params"]["alpha"]
    interval = signflip_interval(difference, confidence_level=level)
    if isinstance(value, dict):
        assert value == {"lower": None, "upper": None}
        assert (interval.low, interval.high) == (-np.inf, np.inf)
        return
    assert _close(interval.low, value[0], tolerance)
    assert _close(interval.high, value[1], tolerance)
