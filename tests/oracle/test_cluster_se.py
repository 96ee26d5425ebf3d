"""Every right value of ``cluster_se.json``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onechange.stats.choose import decision_test
from onechange.stats.cluster import (
    cr0,
    cr1,
    cr2,
    cr2_t_interval,
    icc_anova,
    variance_ratio,
)
from onechange.stats.sample import PairedSample, paired_sample
from onechange.stats.signflip import signflip_interval, signflip_test
from onechange.stats.student import mean, t_law

FAMILY = json.loads(
    Path(__file__).with_name("cluster_se.json").read_text(encoding="utf-8")
)


def _sample(name: str) -> PairedSample:
    data = FAMILY["datasets"][name]
    codes = np.unique(data["cluster"], return_inverse=True)[1]
    return paired_sample(
        np.array(data["baseline"]), np.array(data["variant"]), clusters=codes
    )


def _unpaired(sample: PairedSample) -> float:
    n = sample.n_pairs
    spread = np.var(sample.baseline, ddof=1) + np.var(sample.variant, ddof=1)
    return float(np.sqrt(spread / n))


def _cluster_cr2(sample: PairedSample) -> dict[str, float]:
    variance = cr2(sample.difference, sample.clusters)
    interval = cr2_t_interval(sample.difference, sample.clusters)
    test = decision_test(sample, name="t")
    assert interval is not None
    return {
        "se": variance.standard_error,
        "df": variance.df,
        "lower": interval.low,
        "upper": interval.high,
        "p": test.pvalue,
    }


def _signflip_limits(sample: PairedSample) -> list[float]:
    interval = signflip_interval(sample.difference, clusters=sample.clusters)
    return [interval.low, interval.high]


QUANTITIES: dict[str, Callable[[PairedSample], Any]] = {
    "mean_diff": lambda s: mean(s.difference),
    "se_paired_iid": lambda s: t_law(s.difference).standard_error,
    "se_unpaired": _unpaired,
    "se_cluster_CR0": lambda s: cr0(s.difference, s.clusters),
    "se_cluster_CR1": lambda s: cr1(s.difference, s.clusters),
    "cluster_CR2": _cluster_cr2,
    "icc_anova_clusters": lambda s: icc_anova(s.difference, s.clusters),
    "design_effect": lambda s: variance_ratio(s.difference, s.clusters),
    "cluster_signflip_p": lambda s: (
        signflip_test(s.difference, clusters=s.clusters).pvalue
    ),
    "cluster_signflip_ci": _signflip_limits,
}


@pytest.mark.parametrize("case", FAMILY["cases"], ids=lambda case: case["name"])
def test_clustered_quantity_is_right(case: dict[str, Any]) -> None:
    got = QUANTITIES[case["name"].split("/")[0]](_sample(case["data"]))
    tolerance = case["tolerance"]
    assert got == pytest.approx(
        case["value"], rel=tolerance["rel"], abs=tolerance["abs"]
    )
