"""What reports and JSON say about slices, mixes, run means and several variants."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest

import onechange as oc
from onechange.report import render

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "schema-1.json").read_text(encoding="utf-8")
)
N = 90
KIND = np.repeat(["up", "down", "few"], [50, 34, 6])


def arm(change: float = 0.0, drop: int = 0, **columns: Any) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    score = rng.uniform(0.3, 0.5, N)
    noise = rng.uniform(-0.03, 0.03, N) if change else 0.0
    moved = np.where(KIND == "up", change, -change / 2) + noise
    frame = pd.DataFrame(
        {
            "question_id": [f"q{i:02}" for i in range(N)],
            "kind": KIND,
            "score": score + moved,
            "right": ((score + moved) > 0.42).astype(int),
            **columns,
        }
    )
    frame.loc[frame.index[N - drop :], "score"] = np.nan
    return frame


def closed(node: Any) -> Any:
    """The schema without room for keys that it does not describe."""
    if isinstance(node, dict):
        node = {key: closed(value) for key, value in node.items()}
        if "properties" in node and "additionalProperties" not in node:
            node["additionalProperties"] = False
    elif isinstance(node, list):
        node = [closed(value) for value in node]
    return node


def plain(result: oc.Comparison | oc.Decision) -> dict[str, Any]:
    found = json.loads(render(result, "json"))
    jsonschema.validate(
        found, closed(deepcopy(SCHEMA)), cls=jsonschema.Draft202012Validator
    )
    return found


def test_json_of_slices_says_what_they_say_together() -> None:
    plan = oc.Plan(slices=["kind"], weights={"kind": {"up": 1, "down": 3}})
    found = plain(oc.compare(arm(), arm(0.2, drop=5), plan))
    breakdown = found["slices"]["kind"]
    assert breakdown["heterogeneity_pvalue"]["score"] < 0.01
    assert {tuple(r["slice"].items()) for r in breakdown["reversals"]} == {
        (("kind", "down"),)
    }
    (mix,) = [w for w in breakdown["weighted"] if w["metric"] == "score"]
    assert mix["weights"] == {"up": 0.25, "down": 0.75}
    assert mix["left_out"] == ["few"]
    assert [family["scope"] for family in found["families"]] == ["overall", "slices"]
    (mean,) = [c for c in found["composition"] if c["metric"] == "score"]
    assert mean["n_one_arm"] == 5
    sliced = [d for d in found["deltas"] if d["slice"] == {"kind": "down"}]
    assert all(d["test"]["pvalue_adjusted"] is not None for d in sliced)
    assert found["sweep"] is None


def test_json_of_several_variants_has_p_by_variant_and_the_sweep() -> None:
    variants = {"v2": arm(0.1, top_k=2), "v5": arm(0.2, top_k=5)}
    found = plain(oc.compare(arm(top_k=1), variants, oc.Plan(slices=["kind"])))
    assert found["sweep"]["setting"] == "top_k"
    assert found["sweep"]["numeric"]
    pvalues = found["slices"]["kind"]["heterogeneity_pvalue"]["score"]
    assert set(pvalues) == {"v2", "v5"}


def test_two_cuts_of_one_column_keep_their_own_entries() -> None:
    tokens = np.arange(N, dtype=float)
    plan = oc.Plan(slices=["tokens:30", "tokens:45,60"])
    found = plain(oc.compare(arm(tokens=tokens), arm(0.2, tokens=tokens), plan))
    assert set(found["slices"]) == {"tokens:30", "tokens:45,60"}


def test_the_report_has_heterogeneity_shrunken_deltas_and_the_mix() -> None:
    plan = oc.Plan(slices=["kind"], weights={"kind": "equal"})
    text = render(oc.compare(arm(), arm(0.2), plan), "markdown")
    assert "**Reversals**: " in text
    assert "| slices differ in |" in text
    assert "| shrunken |" in text
    assert "kind: all slices counting the same" in text
    assert "**Slices under the minimum size**: few (6)" in text
    assert "max-T over 4 tests: 2 metrics × 2 slices of kind" in text


def test_an_undefined_mix_says_why() -> None:
    plan = oc.Plan(weights={"kind": {"up": 1, "gone": 1}})
    for form in ("text", "markdown"):
        text = " ".join(render(oc.compare(arm(), arm(0.2), plan), form).split())
        assert 'no pair in "gone"' in text


@pytest.mark.parametrize("adjust", ["holm", "bh", "none"])
def test_the_way_of_adjusting_is_named(adjust: str) -> None:
    plan = oc.Plan(slices=["kind"], analysis=oc.Analysis(adjust=adjust))
    text = render(oc.compare(arm(), arm(0.2), plan), "markdown")
    words = {"holm": "Holm over 2 tests", "bh": "Benjamini–Hochberg", "none": ""}
    assert words[adjust] in text
    assert ("| adjusted p |" in text) == (adjust != "none")
    assert "simultaneous intervals hold together" in text
