"""Quantiles, loss rates and ratio metrics as deltas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from onechange.report.json_output import delta_json

RNG = np.random.default_rng(11)
N, K = 120, 3


def _frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    rows = {
        "question_id": np.repeat([f"q{i:03d}" for i in range(N)], K),
        "trial": np.tile(np.arange(K), N),
        "kind": np.repeat([("a", "b")[i % 2] for i in range(N)], K),
    }
    base = RNG.lognormal(0, 0.6, N * K)
    before = pd.DataFrame({**rows, "seconds": base, "calls": RNG.integers(1, 6, N * K)})
    after = before.assign(
        seconds=before.seconds * RNG.lognormal(0.1, 0.2, N * K),
        calls=RNG.integers(1, 7, N * K),
    )
    return before, after


def _row(comparison: oc.Comparison, metric: str, statistic: str) -> oc.Delta:
    return next(
        d
        for d in comparison.deltas
        if (d.metric, d.statistic) == (metric, statistic) and d.slice is None
    )


@pytest.mark.parametrize(("name", "p"), [("p50", 0.5), ("p90", 0.9), ("p95", 0.95)])
def test_a_quantile_is_over_all_trials_and_not_over_trial_means(
    name: str, p: float
) -> None:
    before, after = _frames()
    plan = oc.Plan(guardrails=[oc.Guardrail("seconds", margin=1.0, statistic=name)])
    delta = _row(oc.compare(before, after, plan), "seconds", name)
    right = [np.quantile(frame.seconds, p) for frame in (before, after)]
    assert delta.baseline == pytest.approx(right[0], rel=1e-12)
    assert delta.variant == pytest.approx(right[1], rel=1e-12)
    assert delta.delta == pytest.approx(right[1] - right[0], abs=1e-12)
    assert delta.interval.method == "percentile"
    assert delta.interval.low < delta.delta < delta.interval.high
    assert delta.test is None
    assert "sampled" in {note.code for note in delta.interval.notes}


def test_a_quantile_of_too_few_questions_has_no_interval_and_no_pass() -> None:
    before, after = (frame.head(90 * K) for frame in _frames())
    plan = oc.Plan(guardrails=[oc.Guardrail("seconds", margin=99.0, statistic="p95")])
    decision = oc.decide(oc.compare(before, after, plan), plan)
    assert decision.statuses[0].status == "inconclusive"
    assert "100 questions" in decision.statuses[0].reason


@pytest.mark.parametrize(("direction", "threshold"), [("lower", 0.4), ("higher", 0.1)])
def test_the_loss_rate_counts_questions_that_lost_more(
    direction: str, threshold: float
) -> None:
    before, after = _frames()
    plan = oc.Plan(
        metrics=[oc.Metric("seconds", direction=direction, threshold=threshold)],
        guardrails=[oc.Guardrail("seconds", margin=0.5, statistic="loss_rate")],
    )
    delta = _row(oc.compare(before, after, plan), "seconds", "loss_rate")
    means = [f.groupby("question_id").seconds.mean() for f in (before, after)]
    change = means[1] - means[0] if direction == "lower" else means[0] - means[1]
    assert delta.delta == pytest.approx(float((change > threshold).mean()), abs=1e-12)
    assert delta.interval.method == "newcombe"
    assert delta.direction == "lower"


def test_a_loss_of_exactly_the_threshold_does_not_count() -> None:
    ids = [f"q{i}" for i in range(10)]
    before = pd.DataFrame({"question_id": ids, "s": [0.9] * 10})
    after = pd.DataFrame({"question_id": ids, "s": [0.8] * 9 + [0.7]})
    plan = oc.Plan(
        metrics=[oc.Metric("s", threshold=0.1)],
        guardrails=[oc.Guardrail("s", margin=0.5, statistic="loss_rate")],
    )
    assert _row(oc.compare(before, after, plan), "s", "loss_rate").delta == 0.1


def test_a_loss_rate_without_a_threshold_is_refused() -> None:
    with pytest.raises(oc.PlanError, match="threshold"):
        oc.Plan(guardrails=[oc.Guardrail("seconds", margin=0.5, statistic="loss_rate")])


def test_a_ratio_metric_divides_the_sums() -> None:
    before, after = _frames()
    plan = oc.Plan(
        metrics=[
            oc.Metric(
                "pace", numerator="seconds", denominator="calls", direction="lower"
            )
        ],
        guardrails=[oc.Guardrail("pace", margin="30%")],
        slices=["kind"],
    )
    comparison = oc.compare(before, after, plan)
    delta = _row(comparison, "pace", "ratio")
    right = [frame.seconds.sum() / frame.calls.sum() for frame in (before, after)]
    assert delta.baseline == pytest.approx(right[0], rel=1e-12)
    assert delta.variant == pytest.approx(right[1], rel=1e-12)
    assert delta.relative.delta == pytest.approx(right[1] / right[0] - 1, rel=1e-9)
    assert (
        delta.relative.interval.low
        < delta.relative.delta
        < delta.relative.interval.high
    )
    assert oc.decide(comparison, plan).statuses[0].delta is delta
    part = next(
        d
        for d in comparison.slices[0].deltas
        if d.metric == "pace" and d.slice == (("kind", "a"),)
    )
    kept = [frame[frame.kind == "a"] for frame in (before, after)]
    assert part.delta == pytest.approx(
        kept[1].seconds.sum() / kept[1].calls.sum()
        - kept[0].seconds.sum() / kept[0].calls.sum(),
        abs=1e-12,
    )


def test_the_relative_delta_of_a_mean_has_an_interval() -> None:
    before, after = _frames()
    delta = _row(oc.compare(before, after), "seconds", "mean")
    right = after.seconds.mean() / before.seconds.mean() - 1
    assert delta.relative.delta == pytest.approx(right, rel=1e-9)
    assert delta.relative.interval.method == "guarded-fieller"
    assert delta.relative.interval.low < right < delta.relative.interval.high


def _pace(**changes: object) -> oc.Plan:
    metric = oc.Metric(
        "pace", numerator="seconds", denominator="calls", direction="lower"
    )
    return oc.Plan("pace", metrics=[metric], **changes)


def test_no_question_is_better_or_worse_in_a_ratio_or_a_quantile() -> None:
    before, after = _frames()
    rule = oc.Guardrail("seconds", margin=1.0, statistic="p50")
    comparison = oc.compare(before, after, _pace(guardrails=[rule]))
    for metric, statistic in (("pace", "ratio"), ("seconds", "p50")):
        delta = _row(comparison, metric, statistic)
        (row,) = delta.to_dicts()
        assert [row[name] for name in ("wins", "ties", "losses")] == [None] * 3
        assert " / " not in delta.to_markdown()
        plain = delta_json(delta)
        assert [plain[name] for name in ("wins", "ties", "losses")] == [None] * 3
    mean = _row(comparison, "seconds", "mean")
    assert mean.wins + mean.ties + mean.losses == N


def test_a_ratio_metric_has_a_standard_error() -> None:
    before, after = _frames()
    delta = _row(oc.compare(before, after, _pace()), "pace", "ratio")
    half = (delta.interval.high - delta.interval.low) / 2
    assert delta.standard_error == pytest.approx(half / 1.98, rel=0.05)


@pytest.mark.parametrize(
    ("rule", "named"),
    [
        (oc.Guardrail("seconds", margin=1.0, statistic="p50"), "delta:p50/mean|"),
        (oc.Guardrail("seconds", margin=1.0), "delta:mean|"),
    ],
)
def test_the_signature_names_the_statistics_of_the_rules_first(
    rule: oc.Guardrail, named: str
) -> None:
    before, after = _frames()
    plan = oc.Plan(guardrails=[rule], columns=oc.Columns(metrics=["seconds"]))
    signature = oc.compare(before, after, plan).signature
    assert named in signature
    assert ("seed:7" in signature) == (rule.statistic == "p50")


def test_the_signature_names_the_ratio_of_a_primary() -> None:
    before, after = _frames()
    assert "|delta:ratio/mean|" in oc.compare(before, after, _pace()).signature


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("sliced", [True, False])
def test_the_policy_for_unscored_rows_counts_in_a_quantile(
    own: bool, sliced: bool
) -> None:
    before, after = (frame.drop(columns="calls") for frame in _frames())
    lost = np.arange(N * K) % 9 == 0
    rule = oc.Guardrail(
        "seconds",
        margin=0.5,
        limit=8.0,
        statistic="p90",
        every_slice="kind" if sliced else None,
    )
    plan = oc.Plan(
        metrics=[
            oc.Metric(
                "seconds",
                direction="lower",
                range=(0, 100),
                unscored="worst" if own else None,
            )
        ],
        guardrails=[rule],
        analysis=oc.Analysis(unscored="exclude" if own else "worst"),
    )
    holes = after.assign(seconds=after.seconds.mask(lost))
    by_hand = after.assign(seconds=after.seconds.mask(lost, 100.0))
    found, right = (
        oc.decide(oc.compare(before, arm, plan)).statuses[0] for arm in (holes, by_hand)
    )
    assert found.status == right.status == "fail"
    assert found.delta.variant == right.delta.variant == 100.0
    for name in ("delta", "baseline", "interval", "variant_interval", "n_pairs"):
        assert getattr(found.delta, name) == getattr(right.delta, name), name


def _runs(shifts: tuple[float, ...]) -> pd.DataFrame:
    """Trials of 300 questions, each moved by its own shift as a whole."""
    rng = np.random.default_rng(7)
    base = rng.uniform(0.2, 0.8, 300)
    noise = rng.normal(0, 0.02, (len(shifts), 300))
    noise -= noise.mean(axis=1, keepdims=True)
    parts = [
        pd.DataFrame(
            {
                "question_id": [f"q{i:03d}" for i in range(300)],
                "trial": trial,
                "score": base + shift + noise[trial],
                "calls": 1 + np.arange(300) / 1000,
            }
        )
        for trial, shift in enumerate(shifts)
    ]
    return pd.concat(parts, ignore_index=True)


STEADY = (_runs((0.0, 0.0, 0.0)), _runs((0.02, 0.02, 0.02)))
UNSTEADY = (_runs((-0.04, 0.0, 0.04)), _runs((-0.03, 0.02, 0.07)))
RATIO = oc.Metric("score_per_call", numerator="score", denominator="calls")
NOT_COUNTED = {
    "ratio, primary": oc.Plan("score_per_call", metrics=[RATIO]),
    "ratio, limit": oc.Plan(
        guardrails=[oc.Guardrail("score_per_call", limit=0.1)], metrics=[RATIO]
    ),
    "median, margin": oc.Plan(
        guardrails=[oc.Guardrail("score", margin=0.1, statistic="p50")]
    ),
    "median, limit": oc.Plan(
        guardrails=[oc.Guardrail("score", limit=0.1, statistic="p50")]
    ),
    "loss rate": oc.Plan(
        guardrails=[oc.Guardrail("score", margin=0.2, statistic="loss_rate")],
        metrics=[oc.Metric("score", threshold=0.3)],
    ),
}


@pytest.mark.parametrize("plan", NOT_COUNTED.values(), ids=NOT_COUNTED)
def test_an_interval_that_counts_no_runs_shows_no_pass_where_runs_differ(
    plan: oc.Plan,
) -> None:
    assert oc.decide(oc.compare(*STEADY, plan)).decision == "ship"
    decision = oc.decide(oc.compare(*UNSTEADY, plan))
    (found,) = decision.statuses
    assert decision.decision == "inconclusive"
    assert "runs may differ, and this interval does not count runs" in found.reason
    assert "runs-not-counted" in {note.code for note in found.delta.notes}
    assert "no number of questions will do" in decision.next_steps[0]
    assert found.further_questions is None


def test_a_point_value_of_this_run_needs_no_other_runs() -> None:
    rule = oc.Guardrail("score", margin=0.1, statistic="p50", rule="estimate")
    plan = oc.Plan(guardrails=[rule])
    assert oc.decide(oc.compare(*UNSTEADY, plan)).decision == "ship"


def test_a_failure_is_shown_whether_runs_differ_or_not() -> None:
    rule = oc.Guardrail("score", limit=0.9, statistic="p50")
    plan = oc.Plan(guardrails=[rule])
    assert oc.decide(oc.compare(*UNSTEADY, plan)).decision == "do not ship"
