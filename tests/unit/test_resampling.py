"""Poisson and stratified resampling: the exact laws, from arrays to commands."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import onechange as oc
from casefiles import run
from onechange.plan import Analysis, Guardrail, Metric
from onechange.power import power
from onechange.stats.bootstrap import bootstrap_interval
from onechange.stats.bootstrap_pvalue import bootstrap_pvalue
from onechange.stats.fitting import misfit_of_interval
from onechange.stats.poisson import poisson_lattice_law
from onechange.stats.sample import paired_sample
from onechange.stats.units import units


def _quantile(values: np.ndarray, weights: np.ndarray, p: float) -> float:
    """Smallest value whose cumulated probability reaches p."""
    order = np.argsort(values, kind="stable")
    cumulated = np.cumsum(weights[order]) / np.sum(weights)
    return float(values[order][np.searchsorted(cumulated, p - 1e-12)])


def _poisson_shares(gained: int, same: int) -> tuple[np.ndarray, np.ndarray]:
    """All shares X/(X + Y) of two independent Poisson counts, with their weights."""
    x, y = np.meshgrid(np.arange(120), np.arange(200), indexing="ij")
    weight = stats.poisson.pmf(x, gained) * stats.poisson.pmf(y, same)
    some = (x + y) > 0
    return (x[some] / (x[some] + y[some])), weight[some]


@pytest.mark.parametrize(("gained", "same"), [(5, 15), (3, 40), (20, 20)])
def test_poisson_resampling_of_shares_is_exact(gained: int, same: int) -> None:
    d = np.repeat([1.0, 0.0], [gained, same])
    shares, weight = _poisson_shares(gained, same)
    for level in (0.8, 0.95, 0.99):
        found = bootstrap_interval(
            d, method="percentile", resampling="poisson", confidence_level=level
        )
        tail = (1 - level) / 2
        assert found.low == pytest.approx(_quantile(shares, weight, tail), abs=1e-12)
        high = _quantile(shares, weight, 1 - tail)
        assert found.high == pytest.approx(high, abs=1e-12)


def test_the_law_of_a_lattice_is_that_of_the_counts() -> None:
    cells = units(np.repeat([1.0, 0.0], [4, 18]), np.ones(22), None, None).strata[0]
    law = poisson_lattice_law(cells)
    assert law is not None
    shares, weight = _poisson_shares(4, 18)
    weight = weight / weight.sum()
    for point in (0.0, 0.1, 0.25, 1 / 3, 0.6):
        expected = float(weight[shares <= point + 1e-12].sum())
        assert law.tails(point)[0] == pytest.approx(expected, abs=1e-12)


def test_values_on_no_lattice_agree_with_sampled_poisson_weights() -> None:
    rng = np.random.default_rng(31)
    d = rng.lognormal(0, 1, 40) - 1.2
    weights = rng.poisson(1.0, size=(200_000, 40))
    means = (weights @ d) / weights.sum(axis=1)
    found = bootstrap_interval(d, method="percentile", resampling="poisson")
    error = d.std() / np.sqrt(40)
    low, high = np.quantile(means, [0.025, 0.975])
    assert found.low == pytest.approx(low, abs=0.02 * error)
    assert found.high == pytest.approx(high, abs=0.03 * error)


def test_clusters_are_the_units_of_poisson_resampling() -> None:
    rng = np.random.default_rng(32)
    clusters = np.repeat(np.arange(30), rng.integers(1, 5, 30))
    d = rng.normal(0.1, 1, clusters.size)
    sums, sizes = np.bincount(clusters, d), np.bincount(clusters)
    weights = rng.poisson(1.0, size=(200_000, 30))
    means = (weights @ sums) / (weights @ sizes)
    found = bootstrap_interval(
        d, method="percentile", clusters=clusters, resampling="poisson"
    )
    low, high = np.quantile(means, [0.025, 0.975])
    spread = means.std()
    assert found.low == pytest.approx(low, abs=0.03 * spread)
    assert found.high == pytest.approx(high, abs=0.03 * spread)


@pytest.mark.parametrize("method", ["percentile", "basic"])
def test_strata_are_resampled_one_by_one(method: str) -> None:
    d = np.array([0.1, 0.5, -0.3, 0.9, 1.0, 0.2, 0.2])
    strata = np.array([0, 0, 0, 1, 1, 1, 1])
    parts = [
        list(itertools.product(d[strata == s], repeat=n)) for s, n in ((0, 3), (1, 4))
    ]
    means = np.array(
        [(sum(one) + sum(two)) / 7 for one in parts[0] for two in parts[1]]
    ).round(12)
    weight = np.ones(means.size)
    low, high = (_quantile(means, weight, p) for p in (0.05, 0.95))
    if method == "basic":
        low, high = 2 * d.mean() - high, 2 * d.mean() - low
    delta = oc.paired_delta(
        np.zeros(7),
        d,
        interval=method,
        confidence_level=0.9,
        resampling="stratified",
        strata=["a"] * 3 + ["b"] * 4,
    )
    assert delta.interval is not None
    assert delta.interval.low == pytest.approx(low, abs=1e-9)
    assert delta.interval.high == pytest.approx(high, abs=1e-9)
    assert delta.bootstrap_interval is not None
    plain = oc.paired_delta(np.zeros(7), d, confidence_level=0.9)
    assert delta.bootstrap_interval != plain.bootstrap_interval
    assert delta.permutation_interval == plain.permutation_interval


@pytest.mark.parametrize("method", ["percentile", "basic", "expanded-percentile"])
@pytest.mark.parametrize("kind", ["poisson", "strata"])
def test_the_pvalue_is_the_tail_at_which_the_end_touches(
    method: str, kind: str
) -> None:
    rng = np.random.default_rng(33)
    d = rng.normal(0.3, 1, 40)
    how = (
        {"resampling": "poisson"}
        if kind == "poisson"
        else {"strata": np.arange(40) % 3}
    )
    found = bootstrap_interval(d, method=method, **how)  # type: ignore[arg-type]
    for end, side in ((found.low, "greater"), (found.high, "less")):
        p = bootstrap_pvalue(d, end, alternative=side, method=method, **how)  # type: ignore[arg-type]
        assert p == pytest.approx(0.025, rel=1e-3)


def test_poisson_resampling_of_few_questions_gives_way_with_a_note() -> None:
    rng = np.random.default_rng(34)
    b, v = rng.normal(size=19), rng.normal(size=19)
    few = oc.paired_delta(b, v, interval="percentile", resampling="poisson")
    plain = oc.paired_delta(b, v, interval="percentile")
    assert few.interval == plain.interval
    texts = [n.text for n in few.notes if n.code == "method-does-not-fit"]
    assert len(texts) == 1
    assert "needs 20 questions" in texts[0]


def test_a_stratum_of_one_question_is_noted() -> None:
    rng = np.random.default_rng(35)
    delta = oc.paired_delta(
        rng.normal(size=9),
        rng.normal(size=9),
        resampling="stratified",
        strata=["a"] * 4 + ["b"] * 4 + ["c"],
    )
    texts = [n.text for n in delta.notes if n.code == "small-stratum"]
    assert texts[0].startswith("1 of 3 strata have a single question")


def test_methods_without_such_a_form_do_not_fit() -> None:
    rng = np.random.default_rng(36)
    b, v = rng.normal(size=30), rng.normal(size=30)
    strata = paired_sample(b, v, strata=np.arange(30) % 2)
    weighted = paired_sample(b, v, resampling="poisson")
    for name in ("bca", "studentized", "bayesian"):
        assert misfit_of_interval(name, strata) is not None
    assert misfit_of_interval("bca", weighted) is None
    assert misfit_of_interval("studentized", weighted) is not None
    assert misfit_of_interval("t", strata) is None


def test_what_does_not_go_together_is_refused() -> None:
    b, v = np.zeros(6), np.ones(6)
    with pytest.raises(oc.InputError, match='resampling is "jackknife"'):
        oc.paired_delta(b, v, resampling="jackknife")
    with pytest.raises(oc.InputError, match="strata go with"):
        oc.paired_delta(b, v, strata=["a"] * 6)
    with pytest.raises(oc.InputError, match="strata go with"):
        oc.paired_delta(b, v, resampling="stratified")
    with pytest.raises(oc.InputError, match="cannot keep clusters whole"):
        oc.paired_delta(
            b, v, resampling="stratified", strata=["a"] * 6, clusters=range(6)
        )
    with pytest.raises(oc.PlanError, match="without strata"):
        Analysis(resampling="stratified")
    with pytest.raises(oc.PlanError, match="resampling is"):
        Analysis(strata="kind")


def _files(folder: Path) -> tuple[Path, Path]:
    rng = np.random.default_rng(37)
    before = pd.DataFrame(
        {
            "question_id": [f"q{i:02}" for i in range(40)],
            "kind": ["a", "b", "b", "c"] * 10,
            "score": rng.uniform(0, 1, 40).round(2),
        }
    )
    after = before.assign(score=rng.uniform(0, 1, 40).round(2))
    paths = folder / "b.csv", folder / "v.csv"
    before.to_csv(paths[0], index=False)
    after.to_csv(paths[1], index=False)
    return paths


PLAN = """
[[metric]]
name = "score"
direction = "higher"
range = [0, 1]
[[guardrail]]
metric = "score"
margin = 0.2
[[guardrail]]
metric = "score"
statistic = "p50"
margin = 0.5
[analysis]
interval = "percentile"
resampling = "stratified"
strata = "kind"
"""


def test_a_plan_resamples_within_strata(tmp_path: Path) -> None:
    paths = _files(tmp_path)
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    plan = oc.Plan.load(tmp_path / "plan.toml")
    comparison = oc.compare(*paths, plan)
    decision = oc.decide(comparison, plan)
    delta = next(row for row in comparison.deltas if row.statistic == "mean")
    arms = [pd.read_csv(path) for path in paths]
    right = oc.paired_delta(
        arms[0]["score"],
        arms[1]["score"],
        interval="percentile",
        resampling="stratified",
        strata=arms[0]["kind"],
        score_range=(0, 1),
    )
    assert delta.interval is not None
    assert right.interval is not None
    assert delta.interval.low == pytest.approx(right.interval.low, abs=1e-12)
    assert delta.interval.high == pytest.approx(right.interval.high, abs=1e-12)
    assert "resampling:stratified(kind)" in comparison.signature
    quantile = next(row for row in comparison.deltas if row.statistic == "p50")
    assert any(
        '"stratified" is not for quantiles' in note.text for note in quantile.notes
    )
    status = decision.statuses[0]
    assert status.fragility is not None  # rescored within strata, too
    oc.write_report(decision, tmp_path / "r.md")
    report = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "keep the number of questions of every kind" in report


def test_flags_resample_as_the_plan_does(tmp_path: Path) -> None:
    paths = _files(tmp_path)
    asked = ["--interval=percentile", "--metric=score"]
    flags = ["--resampling=stratified", "--strata=kind"]
    plain = run("compare", *paths, *asked)
    found = run("compare", *paths, *asked, *flags)
    assert found.returncode == 0
    assert "resampling:stratified(kind)" in found.stdout
    assert found.stdout.split("score ↑")[1] != plain.stdout.split("score ↑")[1]
    wrong = run("compare", *paths, "--resampling=stratified", "--strata=knid")
    assert wrong.returncode == 2
    assert 'strata "knid" is not a column of labels' in wrong.stderr
    poisson = run("compare", *paths, *asked, "--resampling=poisson")
    assert "resampling:poisson" in poisson.stdout


def test_power_does_not_pretend_to_resample_otherwise() -> None:
    plan = oc.Plan(analysis=Analysis(interval="percentile", resampling="poisson"))
    with pytest.raises(oc.MethodError, match="simulated with"):
        power(None, metric="score", delta=0.1, sd=0.35, plan=plan)


def test_strata_and_clusters_in_one_plan_are_refused(tmp_path: Path) -> None:
    paths = _files(tmp_path)
    plan = oc.Plan(
        columns=oc.Columns(cluster="kind"),
        metrics=[Metric("score", direction="higher")],
        guardrails=[Guardrail("score", margin=0.1)],
        analysis=Analysis(resampling="stratified", strata="kind"),
    )
    with pytest.raises(oc.PlanError, match="cannot keep clusters whole"):
        oc.compare(*paths, plan)
