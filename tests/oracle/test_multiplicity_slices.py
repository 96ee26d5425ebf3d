"""Right values of adjusted p-values, max-T, heterogeneity and label permutation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from onechange.stats.flips import UnitColumns
from onechange.stats.heterogeneity import label_permutation
from onechange.stats.multiplicity import adjusted_pvalues, max_t
from onechange.stats.pooling import pooled
from onechange.stats.related import cochran_q

ORACLE = json.loads(
    (Path(__file__).parent / "multiplicity_slices.json").read_text(encoding="utf-8")
)
CASES = {case["name"]: case for case in ORACLE["cases"]}
ADJUSTMENTS = {"holm": "holm", "BH": "bh", "BY": "by"}


def named(prefix: str) -> list[str]:
    found = [name for name in CASES if name.startswith(prefix)]
    assert found, prefix
    return found


def data(name: str) -> dict[str, Any]:
    return ORACLE["datasets"][CASES[name]["data"]]


def close(name: str, value: Any) -> Any:
    tolerance = CASES[name]["tolerance"]
    return pytest.approx(value, rel=tolerance["rel"], abs=tolerance["abs"])


@pytest.mark.parametrize("name", named("adjust_"))
def test_adjusted_pvalues(name: str) -> None:
    method = name.removeprefix("adjust_").split("/")[0]
    found = adjusted_pvalues(data(name)["p"], ADJUSTMENTS.get(method, method))
    assert list(found) == close(name, CASES[name]["value"])


@pytest.mark.parametrize("name", named("westfall_young_"))
def test_max_t_by_enumeration(name: str) -> None:
    differences = np.array(data(name)["diffs"])
    columns = UnitColumns(
        np.arange(len(differences)), differences, np.ones_like(differences)
    )
    found = max_t(
        [columns],
        statistic=CASES[name]["params"]["statistic"],
        step_down="stepdown" in name,
    )
    assert found.n_resamples is None
    assert list(found.pvalues) == close(name, CASES[name]["value"])
    observed = CASES[name]["params"].get("observed")
    if observed is not None:
        assert list(found.observed) == pytest.approx(observed, rel=1e-12)


@pytest.mark.parametrize("name", named("cochran_Q/"))
def test_q(name: str) -> None:
    effects = data(name)
    found = pooled(effects["effect"], [se**2 for se in effects["se"]])
    right = CASES[name]["value"]
    assert found.q == close(name, right["Q"])
    assert found.df == right["df"]
    assert chi2.sf(found.q, found.df) == close(name, right["p"])


@pytest.mark.parametrize("name", named("pooled_fixed/"))
def test_pooled_delta(name: str) -> None:
    effects = data(name)
    found = pooled(effects["effect"], [se**2 for se in effects["se"]])
    right = CASES[name]["value"]
    assert found.delta == close(name, right["effect"])
    assert found.standard_error == close(name, right["se"])


@pytest.mark.parametrize("name", named("tau2_I2_DL/"))
def test_variance_between_slices(name: str) -> None:
    effects = data(name)
    found = pooled(effects["effect"], [se**2 for se in effects["se"]])
    right = CASES[name]["value"]
    assert found.tau2 == close(name, right["tau2"])
    assert found.i2 == close(name, right["I2"])


@pytest.mark.parametrize("name", named("interaction_perm/"))
def test_label_permutation(name: str) -> None:
    sample = data(name)
    codes = np.unique(sample["slice"], return_inverse=True)[1]
    found = label_permutation(np.array(sample["diffs"]), codes)
    assert found.exact
    assert found.pvalue == close(name, CASES[name]["value"])


def test_cochran_q_of_related_samples() -> None:
    (name,) = named("cochran_Q_related/")
    found = cochran_q(np.array(data(name)["correct"], dtype=float))
    assert found.statistic == close(name, CASES[name]["value"]["Q"])
    assert found.pvalue == close(name, CASES[name]["value"]["p"])
