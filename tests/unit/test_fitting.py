"""A method asked for by name meets data that it is not for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from onechange.plan import Analysis, Guardrail, Metric
from onechange.stats import choose
from onechange.stats.fitting import misfit_of_interval, misfit_of_test
from onechange.stats.ratio import RatioPair
from onechange.stats.relative import ratio_delta
from onechange.stats.sample import paired_sample

N = 40
IDS = [f"q{i}" for i in range(N)]


def _arms() -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(20)
    before = pd.DataFrame(
        {
            "question_id": IDS,
            "latency": rng.lognormal(5, 1, N).round(1),
            "same": 0.5,
            "correct": rng.integers(0, 2, N),
            "hits": rng.integers(1, 5, N),
            "asked": rng.integers(5, 9, N),
            "kind": ["a", "b"] * (N // 2),
        }
    )
    after = before.assign(
        latency=rng.lognormal(5, 1, N).round(1),
        correct=rng.integers(0, 2, N),
        hits=rng.integers(1, 5, N),
    )
    return before, after


def _plan(interval: str, *guardrails: Guardrail, **further: object) -> oc.Plan:
    metrics = [
        Metric("rate", numerator="hits", denominator="asked", direction="higher"),
        Metric("latency", direction="lower"),
    ]
    return oc.Plan(
        metrics=metrics,
        guardrails=guardrails,
        analysis=Analysis(interval=interval, **further),  # type: ignore[arg-type]
    )


def _misfits(delta: oc.Delta) -> list[str]:
    return [n.text for n in delta.notes if n.code == "method-does-not-fit"]


def _by_metric(comparison: oc.Comparison) -> dict[str, oc.Delta]:
    return {delta.metric: delta for delta in comparison.deltas}


def test_one_constant_metric_does_not_end_a_run_that_asks_for_bca() -> None:
    before, after = _arms()
    found = _by_metric(oc.compare(before, after, _plan("bca")))
    assert found["latency"].interval is not None
    assert found["latency"].interval.method == "bca"
    alone = oc.paired_delta(before["latency"], after["latency"], interval="bca")
    assert alone.interval is not None
    assert found["latency"].interval.low == alone.interval.low
    assert _misfits(found["latency"]) == []
    assert _misfits(found["same"]) == [
        'same gets the default interval: "bca" needs differences that are not all '
        "equal."
    ]


def test_a_constant_built_in_rate_does_not_end_a_run_that_asks_for_bca() -> None:
    before, after = _arms()
    comparison = oc.compare(before, after, _plan("bca"))
    rates = {rate.metric: rate for rate in comparison.rates}
    assert _misfits(rates["unscored"])
    assert rates["unscored"].interval is not None
    assert rates["unscored"].interval.method == "newcombe"


def test_a_slice_without_change_does_not_end_a_run_that_asks_for_bca() -> None:
    before, after = _arms()
    unchanged = before["kind"] == "a"
    after.loc[unchanged, "latency"] = before.loc[unchanged, "latency"]
    plan = oc.Plan(slices=["kind"], analysis=Analysis(interval="bca"))
    comparison = oc.compare(before, after, plan)
    rows = {
        row.slice: row for row in comparison.slices[0].deltas if row.metric == "latency"
    }
    assert _misfits(rows[(("kind", "a"),)])
    moved = rows[(("kind", "b"),)].interval
    assert moved is not None
    assert moved.method == "bca"


@pytest.mark.parametrize("name", ["fieller", "guarded-fieller"])
def test_fieller_by_name_is_the_interval_of_ratios_and_relative_deltas(
    name: str,
) -> None:
    before, after = _arms()
    rules = (Guardrail("rate", margin="10%"), Guardrail("latency", margin="30%"))
    plan = _plan(name, *rules)
    comparison = oc.compare(before, after, plan)
    found = _by_metric(comparison)
    rate, latency = found["rate"], found["latency"]
    expected = ratio_delta(
        RatioPair(before["hits"].to_numpy(float), before["asked"].to_numpy(float)),
        RatioPair(after["hits"].to_numpy(float), after["asked"].to_numpy(float)),
        name=name,
    )
    assert rate.interval is not None
    assert expected.interval is not None
    assert rate.interval.low == pytest.approx(expected.interval.low, rel=1e-12)
    assert rate.interval.high == pytest.approx(expected.interval.high, rel=1e-12)
    assert rate.interval.method == name
    assert _misfits(rate) == []
    assert latency.relative is not None
    assert latency.relative.interval is not None
    assert latency.relative.interval.method == name
    assert latency.interval is not None
    assert latency.interval.method == "sign-flip+guarded-t"
    assert len(_misfits(latency)) == 1
    assert name in comparison.signature
    statuses = oc.decide(comparison, plan).statuses
    assert {status.metric for status in statuses} == {"rate", "latency"}


def test_the_guard_makes_fiellers_interval_wider() -> None:
    before, after = _arms()
    b, v = before["latency"].to_numpy(), after["latency"].to_numpy()
    ends = [
        choose.relative_interval(paired_sample(b, v), name=name).interval
        for name in ("fieller", "guarded-fieller")
    ]
    assert ends[0] is not None
    assert ends[1] is not None
    assert ends[1].low < ends[0].low < ends[0].high < ends[1].high


def test_fieller_of_a_single_delta_goes_to_its_relative_delta() -> None:
    before, after = _arms()
    delta = oc.paired_delta(before["latency"], after["latency"], interval="fieller")
    assert delta.relative is not None
    assert delta.relative.interval is not None
    assert delta.relative.interval.method == "fieller"
    assert len(_misfits(delta)) == 1


def test_an_interval_of_means_is_not_dropped_silently_for_ratios_and_quantiles() -> (
    None
):
    before, after = _arms()
    rules = (
        Guardrail("rate", margin="10%"),
        Guardrail("latency", margin="30%"),
        Guardrail("latency", statistic="p50", margin=500),
    )
    plan = _plan("hall", *rules)
    comparison = oc.compare(before, after, plan)
    told = {
        (delta.metric, delta.statistic): _misfits(delta) for delta in comparison.deltas
    }
    assert told["rate", "ratio"] == [
        'rate gets the default interval: "hall" is not for ratio metrics.'
    ]
    assert told["latency", "p50"] == [
        'latency (p50) gets the default interval: "hall" is not for quantiles.'
    ]
    assert told["latency", "mean"] == [
        'The margin 30% of latency gets the default interval: "hall" is not for '
        "relative deltas."
    ]
    assert "guarded-fieller" in comparison.signature
    assert "percentile" in comparison.signature


def test_a_loss_rate_gets_the_interval_that_was_asked_for() -> None:
    before, after = _arms()
    plan = oc.Plan(
        metrics=[Metric("latency", direction="lower", threshold=50.0)],
        guardrails=[Guardrail("latency", statistic="loss_rate", margin=0.9)],
        analysis=Analysis(interval="tango"),
    )
    comparison = oc.compare(before, after, plan)
    rows = [d for d in comparison.deltas if d.statistic == "loss_rate"]
    assert rows[0].interval is not None
    assert rows[0].interval.method == "tango"


def test_a_decision_with_bca_survives_constant_metrics_and_rates() -> None:
    before, after = _arms()
    plan = _plan(
        "bca",
        Guardrail("latency", margin=500),
        Guardrail("same", margin=0.1),
        Guardrail("failed", limit=0.1),
    )
    decision = oc.decide(oc.compare(before, after, plan), plan)
    assert len(decision.statuses) == 3


def test_a_method_for_another_kind_of_data_than_all_metrics_is_refused() -> None:
    before, after = _arms()
    scores = before[["question_id", "latency"]], after[["question_id", "latency"]]
    plan = oc.Plan(analysis=Analysis(interval="newcombe"))
    with pytest.raises(oc.MethodError, match="is for scores of 0 and 1"):
        oc.compare(*scores, plan)
    with pytest.raises(oc.MethodError, match="needs clusters, and none are declared"):
        oc.compare(before, after, oc.Plan(analysis=Analysis(interval="cr2-t")))


def test_every_misfit_of_a_kind_of_data_has_a_reason() -> None:
    scores = paired_sample(np.zeros(8), np.linspace(0.1, 0.9, 8))
    grouped = paired_sample(
        np.zeros(8), np.linspace(0.1, 0.9, 8), clusters=np.arange(8) // 2
    )
    shares = paired_sample(np.zeros(8), np.ones(8), clusters=np.arange(8) // 2)
    for name in ("newcombe", "tango", "wald", "cr2-t", "two-way", "wilson", "fieller"):
        assert misfit_of_interval(name, scores) is not None, name
    assert misfit_of_interval("hall", grouped) is not None
    assert misfit_of_interval("cr2-t", grouped) is None
    assert misfit_of_interval("bca", grouped) is None
    assert misfit_of_interval("bca", shares) is not None  # every cluster gains 1
    assert misfit_of_test("mcnemar-midp", scores) is not None
    assert misfit_of_test("mcnemar-midp", shares) is not None
    assert misfit_of_test("wilcoxon", grouped) is None


@pytest.mark.parametrize("name", ["percentile", "studentized", "basic", "bayesian"])
def test_one_question_has_no_interval_under_any_name(name: str) -> None:
    delta = oc.paired_delta([0.1], [0.9], interval=name)
    assert delta.interval is None
    codes = [note.code for note in delta.notes]
    assert "too-few-questions" in codes
    assert "equal-differences" in codes
    assert "interval-and-test-disagree" not in codes


def test_one_question_has_nothing_that_could_disagree() -> None:
    delta = oc.paired_delta([0.1], [0.9])
    assert delta.interval is None
    codes = [note.code for note in delta.notes]
    assert "bootstrap-and-permutation-disagree" not in codes


@pytest.mark.parametrize("name", ["t", "percentile", "sign-flip", "hall"])
def test_an_interval_without_width_is_none_and_says_why(name: str) -> None:
    delta = oc.paired_delta([0.25] * 20, [0.5] * 20, interval=name)
    assert delta.interval is None
    reason = next(n.text for n in delta.notes if n.code == "equal-differences")
    assert "no width" in reason


def test_wald_of_no_discordant_pair_is_none() -> None:
    scores = [0, 1] * 15
    delta = oc.paired_delta(scores, scores, interval="wald")
    assert delta.interval is None
    assert any(note.code == "equal-differences" for note in delta.notes)


def test_fieller_of_unchanged_answers_has_no_width_and_no_interval() -> None:
    sample = paired_sample(np.linspace(1, 2, 20), np.linspace(1, 2, 20))
    found = choose.relative_interval(sample, name="fieller")
    assert found.interval is None
    assert found.reason == "the arms show no spread to fieller"


def test_the_terminal_tells_early_that_a_method_was_replaced() -> None:
    from onechange.report.terminal import render_text

    before, after = _arms()
    plan = _plan("hall", Guardrail("latency", margin="30%"))
    text = render_text(oc.decide(oc.compare(before, after, plan), plan))
    assert "method-does-not-fit" in text
    assert text.index("method-does-not-fit") < text.index("settings-unknown")
