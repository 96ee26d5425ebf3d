"""Every right value of ``paired_binary.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from onechange.stats.binary import PairedTable, binary_interval, mcnemar_test

FAMILY = json.loads(
    Path(__file__).with_name("paired_binary.json").read_text(encoding="utf-8")
)
CASES = FAMILY["cases"]
TESTS = [case for case in CASES if case["name"].startswith("mcnemar_")]
INTERVALS = [case for case in CASES if case["name"].startswith("paired_diff_ci_")]


def _table(case: dict[str, Any]) -> PairedTable:
    cells = FAMILY["datasets"][case["data"]]
    return PairedTable(
        both=cells["n11"],
        only_baseline=cells["n01"],
        only_variant=cells["n10"],
        neither=cells["n00"],
    )


def test_every_case_is_covered() -> None:
    assert len(TESTS) + len(INTERVALS) == len(CASES)


@pytest.mark.parametrize("case", TESTS, ids=lambda case: case["name"])
def test_mcnemar_p_is_right(case: dict[str, Any]) -> None:
    table, kind = _table(case), case["name"].split("/")[0]
    got = mcnemar_test(
        table.only_baseline,
        table.only_variant,
        method=kind.removesuffix("_cc").replace("_", "-"),
        continuity=kind.endswith("_cc"),
    )
    tolerance = case["tolerance"]
    assert got.pvalue == pytest.approx(
        case["value"], rel=tolerance["rel"], abs=tolerance["abs"]
    )


@pytest.mark.parametrize("case", INTERVALS, ids=lambda case: case["name"])
def test_interval_of_the_difference_is_right(case: dict[str, Any]) -> None:
    method = case["name"].split("/")[0].removeprefix("paired_diff_ci_")
    got = binary_interval(
        _table(case),
        method=method.replace("_", "-"),
        confidence_level=1 - case["params"]["alpha"],
    )
    assert got is not None
    tolerance = case["tolerance"]
    assert [got.low, got.high] == pytest.approx(
        case["value"], rel=tolerance["rel"], abs=tolerance["abs"]
    )
