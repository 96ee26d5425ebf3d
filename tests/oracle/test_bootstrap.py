"""Every right value of ``bootstrap.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from onechange.stats.bootstrap import (
    bca_parts,
    bootstrap_interval,
    bootstrap_standard_error,
)
from onechange.stats.ratio_bootstrap import ratio_bootstrap_interval
from onechange.stats.resample import resample_statistic

FAMILY = json.loads(
    Path(__file__).with_name("bootstrap.json").read_text(encoding="utf-8")
)
METHODS = {
    "boot_percentile": "percentile",
    "boot_percentile_expanded": "expanded-percentile",
    "boot_basic": "basic",
    "boot_bca": "bca",
    "boot_studentized": "studentized",
    "boot_percentile_lattice": "percentile",
    "boot_basic_lattice": "basic",
    "boot_bca_lattice": "bca",
}


def _family(case: dict[str, Any]) -> str:
    return str(case["name"]).split("/")[0]


CASES = {
    kind: [case for case in FAMILY["cases"] if _family(case) in names]
    for kind, names in {
        "mean": set(METHODS),
        "error": {"boot_se"},
        "relative": {"rel_change_bca", "rel_change_percentile"},
        "quantile": {"p95_diff_percentile"},
        "estimate": {"p95_diff_estimate"},
    }.items()
}


def _data(case: dict[str, Any], key: str = "diffs") -> NDArray[np.float64]:
    return np.array(FAMILY["datasets"][case["data"]][key], dtype=np.float64)


def _assert_close(got: Any, case: dict[str, Any]) -> None:
    tolerance = case["tolerance"]
    np.testing.assert_allclose(
        got, case["value"], rtol=tolerance["rel"], atol=tolerance["abs"]
    )


def test_no_case_is_left_out() -> None:
    assert sum(len(cases) for cases in CASES.values()) == len(FAMILY["cases"])


@pytest.mark.parametrize("case", CASES["mean"], ids=lambda case: case["name"])
def test_interval_of_the_mean(case: dict[str, Any]) -> None:
    interval = bootstrap_interval(
        _data(case),
        method=METHODS[_family(case)],
        confidence_level=1.0 - case["params"]["alpha"],
    )
    _assert_close([interval.low, interval.high], case)
    # The values are the ideal bootstrap, and so are ours: no need for the tolerance.
    np.testing.assert_allclose([interval.low, interval.high], case["value"], atol=1e-11)
    assert interval.n_resamples is None


@pytest.mark.parametrize("case", CASES["mean"], ids=lambda case: case["name"])
def test_bias_and_acceleration(case: dict[str, Any]) -> None:
    z0, acceleration = case["params"].get("z0"), case["params"].get("acceleration")
    got = bca_parts(_data(case))
    if z0 is not None:
        assert got[0] == pytest.approx(z0, abs=5e-6)  # the file's own rounding of ties
    if acceleration is not None:
        assert got[1] == pytest.approx(acceleration, abs=1e-12)


@pytest.mark.parametrize("case", CASES["error"], ids=lambda case: case["name"])
def test_standard_error(case: dict[str, Any]) -> None:
    _assert_close(bootstrap_standard_error(_data(case)), case)


@pytest.mark.parametrize("case", CASES["relative"], ids=lambda case: case["name"])
def test_relative_change_of_means(case: dict[str, Any]) -> None:
    baseline, variant = _data(case, "baseline"), _data(case, "variant")
    one = np.ones(baseline.size)
    interval = ratio_bootstrap_interval(
        baseline,
        one,
        variant,
        one,
        relative=True,
        method=_family(case).removeprefix("rel_change_"),
        confidence_level=1.0 - case["params"]["alpha"],
    )
    _assert_close([interval.low, interval.high], case)
    assert interval.n_resamples is None


@pytest.mark.parametrize("case", CASES["quantile"], ids=lambda case: case["name"])
def test_difference_of_quantiles_is_sampled(case: dict[str, Any]) -> None:
    baseline, variant = _data(case, "baseline"), _data(case, "variant")

    def difference(drawn: NDArray[np.int64]) -> NDArray[np.float64]:
        after, before = (
            np.quantile(a[drawn], 0.95, axis=1) for a in (variant, baseline)
        )
        return np.asarray(after - before)

    interval = resample_statistic(
        difference,
        n_units=baseline.size,
        confidence_level=1.0 - case["params"]["alpha"],
        n_resamples=20_000,
    )
    _assert_close([interval.low, interval.high], case)
    assert interval.n_resamples == 20_000


@pytest.mark.parametrize("case", CASES["estimate"], ids=lambda case: case["name"])
def test_difference_of_quantiles(case: dict[str, Any]) -> None:
    baseline, variant = _data(case, "baseline"), _data(case, "variant")
    _assert_close(np.quantile(variant, 0.95) - np.quantile(baseline, 0.95), case)
