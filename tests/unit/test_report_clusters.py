"""Design effect and largest cluster: in the deltas, the JSON and the reports."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from onechange.plan import Guardrail, Metric
from onechange.report.methods import methods_paragraph

SIZES = (1, 2, 3, 4, 5, 9)


def _arms() -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(6)
    n = sum(SIZES)
    before = pd.DataFrame(
        {
            "question_id": [f"q{i:02}" for i in range(n)],
            "doc": np.repeat([f"d{i}" for i in range(len(SIZES))], SIZES),
            "score": rng.uniform(0, 1, n),
            "hits": rng.integers(1, 4, n),
            "asked": rng.integers(4, 8, n),
        }
    )
    shift = np.repeat(rng.normal(0, 0.3, len(SIZES)), SIZES)
    after = before.assign(score=before["score"] + shift + rng.normal(0, 0.1, n))
    after["hits"] = rng.integers(1, 4, n)
    return before, after


def _plan() -> oc.Plan:
    return oc.Plan(
        columns=oc.Columns(cluster="doc", metrics=("score", "rate")),
        metrics=[
            Metric("score", direction="higher"),
            Metric("rate", numerator="hits", denominator="asked", direction="higher"),
        ],
        guardrails=[Guardrail("score", margin=0.5)],
    )


def _by_hand(d: np.ndarray) -> float:
    """CR2 variance Σ R_g²/(1 - n_g/n)/n² over sd²/n, written out."""
    n, start, total = d.size, 0, 0.0
    for size in SIZES:
        rest = sum(d[i] - d.mean() for i in range(start, start + size))
        total += rest**2 / (1 - size / n)
        start += size
    return total / n**2 / (d.var(ddof=1) / n)


def test_design_effect_and_largest_share_stand_in_the_delta() -> None:
    before, after = _arms()
    d = (after["score"] - before["score"]).to_numpy()
    comparison = oc.compare(before, after, _plan())
    delta = next(row for row in comparison.deltas if row.metric == "score")
    assert delta.largest_cluster_share == pytest.approx(9 / 24)
    assert delta.design_effect == pytest.approx(_by_hand(d), rel=1e-10)
    alone = oc.paired_delta(before["score"], after["score"], clusters=before["doc"])
    assert alone.design_effect == pytest.approx(delta.design_effect, rel=1e-12)
    assert alone.to_dicts()[0]["design_effect"] == alone.design_effect


def test_a_ratio_has_the_design_effect_of_its_linearised_values() -> None:
    before, after = _arms()
    comparison = oc.compare(before, after, _plan())
    delta = next(row for row in comparison.deltas if row.statistic == "ratio")

    def linearised(arm: pd.DataFrame) -> np.ndarray:
        top, bottom = arm["hits"].to_numpy(float), arm["asked"].to_numpy(float)
        ratio = top.sum() / bottom.sum()
        return ratio + (top - ratio * bottom) / bottom.mean()

    expected = _by_hand(linearised(after) - linearised(before))
    assert delta.design_effect == pytest.approx(expected, rel=1e-10)


def test_without_clusters_there_is_neither() -> None:
    before, after = _arms()
    delta = oc.paired_delta(before["score"], after["score"])
    assert delta.design_effect is None
    assert delta.largest_cluster_share is None


def test_every_form_of_the_report_shows_them(tmp_path: Path) -> None:
    before, after = _arms()
    comparison = oc.compare(before, after, _plan())
    decision = oc.decide(comparison, _plan())
    delta = next(row for row in comparison.deltas if row.metric == "score")
    effect = f"{delta.design_effect:.2f}"
    for suffix in ("md", "html", "txt"):
        path = tmp_path / f"report.{suffix}"
        if suffix == "txt":
            from onechange.report.terminal import render_text

            text = render_text(decision)
        else:
            oc.write_report(decision, path)
            text = path.read_text(encoding="utf-8")
        assert "37.5 %" in text, suffix
        assert effect in text, suffix
    oc.write_report(decision, tmp_path / "report.json")
    found = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    row = next(d for d in found["deltas"] if d["metric"] == "score")
    assert row["design_effect"] == delta.design_effect
    assert row["largest_cluster_share"] == 9 / 24


def test_the_methods_paragraph_gives_the_value_of_the_design_effect() -> None:
    before, after = _arms()
    comparison = oc.compare(before, after, _plan())
    delta = next(row for row in comparison.deltas if row.metric == "score")
    text = methods_paragraph(comparison).text
    assert "one of 6 clusters, the largest with 37.5 % of the questions" in text
    assert f"{delta.design_effect:.2f} for score" in text
