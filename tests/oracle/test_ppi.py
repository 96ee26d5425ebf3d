"""Every right value of ``ppi.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onechange.stats.ppi import Corrected, corrected_mean

FAMILY = json.loads(Path(__file__).with_name("ppi.json").read_text(encoding="utf-8"))
CASES = FAMILY["cases"]


def _corrected(case: dict[str, Any], weight: float | None) -> Corrected:
    data = FAMILY["datasets"][case["data"]]
    human, judge, rest = (
        np.array(data[name]) for name in ("Y", "Yhat", "Yhat_unlabeled")
    )
    return corrected_mean(human, judge, rest, weight=weight, method="ppi++")


def _value(case: dict[str, Any]) -> Any:
    kind = case["name"].split("/")[0]
    if kind.startswith("ppi_pp") or kind == "ppi_lambda":
        found = _corrected(case, None)
    elif kind.startswith("ppi_"):
        found = _corrected(case, 1.0)
    else:
        found = _corrected(case, 0.0)
    values = {
        "estimate": found.estimate,
        "ci": [found.interval.low, found.interval.high],
        "lambda": found.weight,
        "pval": found.pvalue(),
    }
    return values[kind.split("_")[-1]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_corrected_mean_is_right(case: dict[str, Any]) -> None:
    tolerance = case["tolerance"]
    assert _value(case) == pytest.approx(
        case["value"], rel=tolerance["rel"], abs=tolerance["abs"]
    )
