"""Planning and margins against R, SciPy and statsmodels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onechange.stats.equivalence import (
    noninferiority_bound,
    noninferiority_pvalue,
    tost,
)
from onechange.stats.power import (
    mcnemar_power,
    mcnemar_questions,
    mcnemar_size,
    normal_questions,
    paired_t_power,
    paired_t_questions,
    paired_t_smallest_delta,
)
from onechange.stats.sample import paired_sample

ORACLE = json.loads(
    (Path(__file__).parent / "noninferiority_power.json").read_text(encoding="utf-8")
)
CASES = {case["name"]: case for case in ORACLE["cases"]}


def differences(case: dict[str, Any]) -> np.ndarray:
    return np.array(ORACLE["datasets"][case["data"]]["diffs"])


def paired_t(case: dict[str, Any]) -> dict[str, float]:
    from onechange.stats.choose import decision_interval, decision_test

    d = differences(case)
    sample = paired_sample(np.zeros_like(d), d)
    interval = decision_interval(sample, name="t").interval
    return {
        "p": decision_test(sample, name="t").pvalue,
        "lower": interval.low,
        "upper": interval.high,
    }


def mcnemar(case: dict[str, Any], method: str, alternative: str) -> dict[str, float]:
    p = case["params"]
    words = {"method": method, "alpha": p["alpha"], "alternative": alternative}
    return {
        "power": mcnemar_power(p["n"], p["p10"], p["p01"], **words),
        "actual_alpha": mcnemar_size(p["n"], p["p10"] + p["p01"], **words),
    }


def got(case: dict[str, Any]) -> Any:
    family, p = case["name"].split("/")[0], case["params"]
    match family:
        case "paired_t":
            return paired_t(case)
        case "noninferiority_t":
            return noninferiority_pvalue(differences(case), p["margin"])
        case "noninferiority_lower_bound":
            return noninferiority_bound(differences(case))
        case "tost":
            return tost(differences(case), p["margin"]).pvalue
        case "n_paired_t":
            return paired_t_questions(p["dz"], power=p["power"], alpha=p["alpha"])
        case "power_paired_t":
            return paired_t_power(p["n"], p["dz"], alpha=p["alpha"])
        case "mde_paired_t":
            return paired_t_smallest_delta(
                p["n"], p["sd_diff"], power=p["power"], alpha=p["alpha"]
            )
        case "n_miller":
            return normal_questions(
                p["omega2"], p["delta"], power=p["power"], alpha=p["alpha"]
            )
        case "mcnemar_exact_power_onesided":
            return mcnemar(case, "mcnemar-exact", "greater")
        case "mcnemar_exact_power":
            return mcnemar(case, "mcnemar-exact", "two-sided")
        case "mcnemar_midp_power":
            return mcnemar(case, "mcnemar-midp", "two-sided")
        case "mcnemar_n_normal":
            return mcnemar_questions(p["discordant"], p["delta"])
    raise AssertionError(f"no function for {family}")


@pytest.mark.parametrize("name", sorted(CASES))
def test_oracle_value(name: str) -> None:
    case = CASES[name]
    value, tolerance = case["value"], case["tolerance"]
    found = got(case)
    if not isinstance(value, dict):
        value, found = {"": value}, {"": found}
    assert found.keys() == value.keys()
    for key, right in value.items():
        assert found[key] == pytest.approx(
            right, rel=tolerance["rel"], abs=tolerance["abs"]
        )


@pytest.mark.parametrize("name", [n for n in sorted(CASES) if n.startswith("tost")])
def test_tost_parts(name: str) -> None:
    params = CASES[name]["params"]
    found = tost(differences(CASES[name]), params["margin"])
    assert found.pvalue_low == pytest.approx(params["p_lower"], rel=1e-8)
    assert found.pvalue_high == pytest.approx(params["p_upper"], rel=1e-8)
    assert [found.low, found.high] == pytest.approx(params["ci90"], rel=1e-8)
