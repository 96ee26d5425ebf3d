"""A short run of the calibration benchmark, with limits widened by binomial error."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
REPLICATIONS = 200

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def calibration():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("calibration")
    finally:
        sys.path.remove(str(BENCHMARKS))


def test_every_row_of_the_calibration_benchmark_keeps_its_limit(calibration):
    rows = [row for row in calibration.all_rows() if row.kind != "report"]
    outcomes = calibration.measure(rows, replications=REPLICATIONS, jobs=2)
    broken = [o for o in outcomes if not o.holds(tolerant=True)]
    assert not broken, "\n".join(f"{o.row.name}: {o.rate:.1f} %" for o in broken)


def test_the_benchmark_notices_a_method_that_breaks_its_limit(calibration):
    (row,) = (
        row
        for row in calibration.all_rows()
        if row.kind == "control" and row.method == "percentile" and row.n == 20
    )
    honest = calibration.replace(row, kind="pass", low=94.0, high=100.0)
    (outcome,) = calibration.measure([row], replications=REPLICATIONS)
    assert outcome.holds(tolerant=True)
    judged = calibration.replace(outcome, row=honest)
    assert not judged.holds(tolerant=True)
