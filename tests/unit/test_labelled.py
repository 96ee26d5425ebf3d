"""Human labels in the plan: the corrected delta decides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from onechange.align import align
from onechange.errors import InputError, PlanError
from onechange.judge import HumanLabel, Labels, audit_metric, load_labels
from onechange.plan import Guardrail, Metric, Plan
from onechange.read import read
from onechange.report.judge import CORRECTIONS
from onechange.report.methods import methods_paragraph
from onechange.results import SourceFile
from onechange.stats.ppi import corrected_mean
from onechange.values import variant_values

N = 200
ARMS = ("baseline", "variant")
PLAN = """
[[metric]]
name = "correct"
range = [0, 1]
labels = "labels.csv"
[primary]
metric = "correct"
"""


def _truth(seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Human labels without a delta, and a judge that favours the variant."""
    rng = np.random.default_rng(seed)
    human = (rng.random((N, 2)) < 0.5).astype(float)
    judge = human.copy()
    judge[rng.random(N) < 0.4, 1] = 1.0
    return human, judge


def _frames(judge: np.ndarray) -> tuple[pd.DataFrame, pd.DataFrame]:
    ids = [f"q{i:03d}" for i in range(len(judge))]
    return tuple(
        pd.DataFrame({"question_id": ids, "correct": judge[:, arm]}) for arm in (0, 1)
    )  # type: ignore[return-value]


def _write_labels(
    path: Path,
    human: np.ndarray,
    n: int,
    names: tuple[str, str] = ("baseline", "variant"),
) -> None:
    rows = [(f"q{i:03d}", names[k], human[i, k]) for i in range(n) for k in (0, 1)]
    pd.DataFrame(rows, columns=["question_id", "arm", "label"]).to_csv(
        path, index=False
    )


def _plan(folder: Path, human: np.ndarray, n: int) -> Plan:
    _write_labels(folder / "labels.csv", human, n)
    (folder / "plan.toml").write_text(PLAN)
    return Plan.load(folder / "plan.toml")


def test_a_biased_judge_ships_and_its_corrected_delta_does_not(tmp_path: Path) -> None:
    human, judge = _truth()
    frames = _frames(judge)
    alone = Plan("correct", metrics=[Metric("correct", range=(0, 1))])
    assert oc.decide(oc.compare(*frames, alone)).decision == "ship"
    plan = _plan(tmp_path, human, 100)
    decision = oc.decide(oc.compare(*frames, plan))
    assert decision.decision == "inconclusive"
    (status,) = decision.statuses
    assert status.delta is not None
    assert status.delta.statistic == "corrected"
    codes = {note.code for note in status.delta.notes}
    assert {"corrected-by-labels", "judge-favours-arm"} <= codes
    assert "label further questions" in decision.next_steps[0]


def test_the_corrected_delta_is_that_of_prediction_powered_inference(
    tmp_path: Path,
) -> None:
    human, judge = _truth()
    comparison = oc.compare(*_frames(judge), _plan(tmp_path, human, 60))
    (found,) = comparison.labelled
    y, f = human[:, 1] - human[:, 0], judge[:, 1] - judge[:, 0]
    right = corrected_mean(y[:60], f[:60], f[60:], width=2.0)
    assert found.corrected.delta == pytest.approx(right.estimate, abs=1e-12)
    assert found.corrected.interval is not None
    assert found.corrected.interval.low == pytest.approx(right.interval.low, abs=1e-12)
    assert found.file.name == "labels.csv"


def test_the_arms_differ_by_exactly_the_corrected_delta(tmp_path: Path) -> None:
    human, judge = _truth()
    comparison = oc.compare(*_frames(judge), _plan(tmp_path, human, 60))
    delta = comparison.labelled[0].corrected
    assert delta.baseline is not None
    assert delta.variant is not None
    assert delta.variant - delta.baseline == pytest.approx(delta.delta, abs=1e-12)
    assert delta.variant_interval is not None
    assert delta.variant_interval.low < delta.variant < delta.variant_interval.high


def test_margin_and_limit_of_a_labelled_guardrail_use_the_correction(
    tmp_path: Path,
) -> None:
    human, judge = _truth()
    _write_labels(tmp_path / "labels.csv", human, 150)
    metric = Metric("correct", range=(0, 1), labels=str(tmp_path / "labels.csv"))
    rule = Guardrail("correct", margin=0.2, limit=0.55)
    plan = Plan(None, [rule], metrics=[metric])
    (status,) = oc.decide(oc.compare(*_frames(judge), plan)).statuses
    # The judge gives the variant 0.65; people give it 0.5, which is not above 0.55.
    assert judge[:, 1].mean() > 0.6
    assert status.status == "inconclusive" or status.status == "fail"
    assert "margin" in status.reason
    assert "limit" in status.reason


def test_few_labels_leave_the_rule_open(tmp_path: Path) -> None:
    human, judge = _truth()
    decision = oc.decide(oc.compare(*_frames(judge), _plan(tmp_path, human, 20)))
    assert decision.decision == "inconclusive"
    assert "20 pairs are labelled" in decision.reason


def test_labels_may_name_the_arms_and_other_variants_are_passed_over(
    tmp_path: Path,
) -> None:
    human, _ = _truth()
    path = tmp_path / "labels.csv"
    _write_labels(path, human, 60, ("base", "top8"))
    with path.open("a") as file:
        file.write("q000,top20,1\n")
    labels = load_labels(
        path, baseline_name="base", variant_name="top8", other_names=["top20"]
    )
    assert len(labels.labels) == 120
    with pytest.raises(InputError, match="top20"):
        load_labels(path, baseline_name="base", variant_name="top8")


def test_several_variants_share_the_level(tmp_path: Path) -> None:
    human, judge = _truth()
    path = tmp_path / "labels.csv"
    rows = [
        (f"q{i:03d}", arm, human[i, k])
        for i in range(60)
        for arm, k in (("baseline", 0), ("a", 1), ("b", 1))
    ]
    pd.DataFrame(rows, columns=["question_id", "arm", "label"]).to_csv(
        path, index=False
    )
    baseline, variant = _frames(judge)
    plan = Plan("correct", metrics=[Metric("correct", range=(0, 1), labels=str(path))])
    comparison = oc.compare(baseline, {"a": variant, "b": variant}, plan)
    levels = [
        found.corrected.interval.confidence_level
        for found in comparison.labelled
        if found.corrected.interval
    ]
    assert levels == pytest.approx([0.975, 0.975])
    assert oc.decide(comparison, plan, variant="b").decision == "inconclusive"


@pytest.mark.parametrize(
    ("rules", "key"),
    [
        ([Guardrail("correct", margin="10%")], "margin"),
        ([Guardrail("correct", margin=0.1, every_slice="level")], "every_slice"),
        ([Guardrail("correct", margin=0.1, statistic="p95")], "statistic"),
    ],
)
def test_rules_that_labels_cannot_answer_are_refused(
    rules: list[Guardrail], key: str
) -> None:
    with pytest.raises(PlanError, match=f"guardrail.{key}"):
        Plan(None, rules, metrics=[Metric("correct", labels="labels.csv")])


def test_labels_do_not_go_with_ratios() -> None:
    with pytest.raises(PlanError, match="ratio"):
        Metric("cost", numerator="a", denominator="b", labels="labels.csv")


def test_clusters_widen_the_corrected_interval(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    n_clusters, size = 20, 10
    shared = np.repeat(rng.normal(0, 0.6, n_clusters), size)
    human = np.column_stack([np.zeros(N), shared + rng.normal(0, 0.3, N)])
    judge = human + np.column_stack([np.zeros(N), 0.4 + rng.normal(0, 0.2, N)])
    frames = _frames(judge)
    for frame in frames:
        frame["document"] = [f"d{i // size:02d}" for i in range(N)]
    order = rng.permutation(N)[:80]
    rows = [
        (f"q{i:03d}", arm, human[i, k]) for i in order for k, arm in enumerate(ARMS)
    ]
    path = tmp_path / "labels.csv"
    pd.DataFrame(rows, columns=["question_id", "arm", "label"]).to_csv(
        path, index=False
    )
    metric = Metric("correct", labels=str(path), range=(-5, 5))
    plain = Plan("correct", metrics=[metric])
    clustered = Plan(
        "correct", metrics=[metric], columns=oc.Columns(cluster="document")
    )
    deltas = [
        oc.compare(*frames, plan).labelled[0].corrected for plan in (plain, clustered)
    ]
    assert deltas[0].delta == pytest.approx(deltas[1].delta, abs=1e-12)
    widths = [d.interval.high - d.interval.low for d in deltas if d.interval]
    assert widths[1] > 1.3 * widths[0]
    codes = np.repeat(np.arange(n_clusters), size)
    y, f = human[:, 1] - human[:, 0], judge[:, 1] - judge[:, 0]
    use = np.isin(np.arange(N), order)
    right = corrected_mean(
        y[use],
        f[use],
        f[~use],
        clusters=np.concatenate([codes[use], codes[~use]]),
        width=20.0,
    )
    assert deltas[1].interval is not None
    assert deltas[1].interval.low == pytest.approx(right.interval.low, abs=1e-12)


def test_few_labelled_clusters_have_no_status(tmp_path: Path) -> None:
    human, judge = _truth()
    frames = _frames(judge)
    for frame in frames:
        frame["document"] = [f"d{i // 20}" for i in range(N)]
    path = tmp_path / "labels.csv"
    _write_labels(path, human, 80)  # four documents
    plan = Plan(
        "correct",
        metrics=[Metric("correct", labels=str(path), range=(0, 1))],
        columns=oc.Columns(cluster="document"),
    )
    comparison = oc.compare(*frames, plan)
    corrected = comparison.labelled[0].corrected
    assert corrected.interval is None
    assert "few-clusters" in [note.code for note in corrected.notes]
    assert oc.decide(comparison, plan).decision == "inconclusive"


def test_an_absent_file_of_labels_is_named(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    plan = Plan.load(tmp_path / "plan.toml")
    with pytest.raises(InputError, match=r"labels\.csv: cannot be read"):
        oc.compare(*_frames(_truth()[1]), plan)


def test_a_plan_with_other_labels_needs_its_own_comparison(tmp_path: Path) -> None:
    human, judge = _truth()
    plan = _plan(tmp_path, human, 60)
    comparison = oc.compare(*_frames(judge), Plan("correct"))
    with pytest.raises(PlanError, match="other human labels"):
        oc.decide(comparison, plan)


def test_runs_that_differ_widen_the_corrected_interval_enough() -> None:
    # Whole runs shift by 0.1 SD; people agree with the judge. Without the variance
    # of runs the interval misses the true delta of 0 in most repetitions.
    rng = np.random.default_rng(5)
    n, trials, repetitions = 60, 4, 150
    ids = [f"q{i:02d}" for i in range(n)]
    plain = widened = 0
    metric = Metric("score", direction="higher")
    for _ in range(repetitions):
        arms = []
        for _ in range(2):
            shift = rng.normal(0, 0.1, trials)
            scores = rng.normal(0, 0.05, (n, trials)) + shift
            arms.append(scores)
        frames = [
            pd.DataFrame(
                {
                    "question_id": np.repeat(ids, trials),
                    "trial": np.tile(np.arange(trials), n),
                    "score": scores.ravel(),
                }
            )
            for scores in arms
        ]
        pairs, _ = align(
            read(frames[0], name="baseline"), read(frames[1], name="variant")
        )
        values = variant_values("variant", pairs, [metric], Plan()).metrics["score"]
        labels = Labels(
            tuple(
                HumanLabel(ids[i], arm, float(scores[i].mean()))
                for i in range(40)
                for arm, scores in zip(("baseline", "variant"), arms, strict=True)
            ),
            SourceFile("labels.csv", ""),
        )
        without = audit_metric(pairs, "score", labels).corrected.interval
        found = audit_metric(
            pairs, "score", labels, runs=values.runs, arm_runs=values.arm_runs
        ).corrected.interval
        assert without is not None
        assert found is not None
        plain += without.low <= 0 <= without.high
        widened += found.low <= 0 <= found.high
    assert plain / repetitions < 0.5
    assert widened / repetitions > 0.92


def test_the_method_that_decides_is_named_and_cited(tmp_path: Path) -> None:
    human, judge = _truth()
    comparison = oc.compare(*_frames(judge), _plan(tmp_path, human, 100))
    assert "|delta:corrected/mean|" in comparison.signature
    assert "|interval:guarded-ppi++/newcombe,0.95|" in comparison.signature
    methods = methods_paragraph(comparison)
    assert "Rules on correct apply to the delta corrected by human labels" in (
        methods.text
    )
    assert "PPI++" in methods.text
    assert "Angelopoulos et al." in [work.short for work in methods.references]
    for work in methods.references:
        assert methods.text.count(work.citation) == 1


def test_the_corrected_method_over_clusters_is_named_and_cited(tmp_path: Path) -> None:
    human, judge = _truth()
    frames = _frames(judge)
    for frame in frames:
        frame["document"] = [f"d{i % 20}" for i in range(N)]
    plan = _plan(tmp_path, human, 100)
    clustered = replace(plan, columns=replace(plan.columns, cluster="document"))
    comparison = oc.compare(*frames, clustered)
    assert "interval:guarded-ppi++-cr2/newcombe-cluster" in comparison.signature
    shorts = [work.short for work in methods_paragraph(comparison).references]
    assert {"Angelopoulos et al.", "Bell & McCaffrey"} <= set(shorts)


@pytest.mark.parametrize("method", ["guarded-ppi++", "guarded-ppi++-cr2"])
def test_every_correction_is_described_with_and_without_runs(method: str) -> None:
    assert {method, f"{method}+runs"} <= CORRECTIONS.keys()
