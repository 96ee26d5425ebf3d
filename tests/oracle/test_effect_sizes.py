"""Every right value of ``effect_sizes.json``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onechange.stats.effect import effect_sizes, win_tie_loss
from onechange.stats.rank import signed_ranks, wilcoxon_test
from onechange.stats.sample import PairedSample, paired_sample

FAMILY = json.loads(
    Path(__file__).with_name("effect_sizes.json").read_text(encoding="utf-8")
)


def _sample(name: str) -> PairedSample:
    data = FAMILY["datasets"][name]
    return paired_sample(np.array(data["baseline"]), np.array(data["variant"]))


def _superiority(sample: PairedSample) -> dict[str, float]:
    win, tie, loss = win_tie_loss(sample.difference)
    share = (win + tie / 2) / sample.n_pairs
    return {"ps": share, "win": win, "tie": tie, "loss": loss}


def _wilcoxon(sample: PairedSample, zeros: str) -> dict[str, float | None]:
    sides = {"greater": "greater", "less": "less", "two_sided": "two-sided"}
    return {
        key: wilcoxon_test(
            sample.difference, zeros=zeros, alternative=alternative
        ).pvalue
        for key, alternative in sides.items()
    }


QUANTITIES: dict[str, Callable[[PairedSample], Any]] = {
    "cohen_dz": lambda s: effect_sizes(s)["cohen_dz"],
    "hedges_gz": lambda s: {"exact": effect_sizes(s)["hedges_gz"]},
    "cohen_dav": lambda s: effect_sizes(s)["d_av"],
    "rank_biserial_matched": lambda s: effect_sizes(s)["rank_biserial"],
    "cliffs_delta": lambda s: effect_sizes(s)["cliffs_delta"],
    "paired_superiority": _superiority,
    "wilcoxon_exact_wilcox": lambda s: _wilcoxon(s, "drop"),
    "wilcoxon_exact_pratt": lambda s: _wilcoxon(s, "pratt"),
}


@pytest.mark.parametrize("case", FAMILY["cases"], ids=lambda case: case["name"])
def test_effect_size_or_rank_test_is_right(case: dict[str, Any]) -> None:
    got = QUANTITIES[case["name"].split("/")[0]](_sample(case["data"]))
    expected = case["value"]
    if case["name"].startswith("hedges_gz"):  # the other entry is an approximation
        expected = {"exact": expected["exact"]}
    tolerance = case["tolerance"]
    assert got == pytest.approx(expected, rel=tolerance["rel"], abs=tolerance["abs"])


@pytest.mark.parametrize(
    "case",
    [c for c in FAMILY["cases"] if c["name"].startswith("wilcoxon")],
    ids=lambda case: case["name"],
)
def test_rank_sum_of_the_gains_is_right(case: dict[str, Any]) -> None:
    zeros = "drop" if "wilcox/" in case["name"] else "pratt"
    signed = signed_ranks(_sample(case["data"]).difference, zeros=zeros)
    assert signed[signed > 0].sum() / 2 == case["params"]["W_plus"]
