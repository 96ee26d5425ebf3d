"""The simulator tells the truth it states, and the bundled example is its output."""

from __future__ import annotations

import json
from importlib import resources

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from onechange.errors import InputError
from onechange.report import render
from onechange.report.context import make_context
from onechange.report.question_table import question_table
from onechange.score import score
from onechange.simulate import QUESTION_TYPES, QuestionType, simulate, traces
from onechange.simulate.design import METRICS
from onechange.simulate.example import example, example_files

UNANSWERABLE = QUESTION_TYPES[-1]


def question_means(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.groupby("question_id")[list(METRICS)].mean()


@pytest.fixture(scope="module")
def experiment():
    return simulate()


def test_there_is_one_row_per_question_and_trial(experiment):
    for frame in (experiment.baseline, experiment.variant):
        assert len(frame) == 600
        assert not frame.duplicated(["question_id", "trial"]).any()
        assert frame["document"].nunique() == 60
        assert frame["question_type"].nunique() == 5
        assert frame["question"].nunique() == 200


def test_the_same_seed_gives_the_same_rows_and_another_seed_others(experiment):
    again = simulate()
    pd.testing.assert_frame_equal(again.variant, experiment.variant)
    other = simulate(seed=8)
    assert not other.variant["latency_ms"].equals(experiment.variant["latency_ms"])


def test_a_setting_of_one_metric_leaves_the_others_alone(experiment):
    slower = simulate(latency_ms=(1150.0, 2000.0))
    columns = [c for c in experiment.variant if c != "latency_ms"]
    pd.testing.assert_frame_equal(slower.variant[columns], experiment.variant[columns])


def test_failed_runs_have_no_score_and_abstentions_no_answer_score(experiment):
    frame = experiment.variant
    failed = frame["status"] == "failed"
    silent = frame["status"] == "insufficient_evidence"
    assert failed.any()
    assert silent.any()
    assert frame.loc[failed, list(METRICS)].isna().all().all()
    answers = ["correctness", "faithfulness", "citation_precision"]
    assert frame.loc[silent, answers].isna().all().all()
    assert frame.loc[silent, ["latency_ms", "input_tokens"]].notna().all().all()


def test_unanswerable_questions_are_told_by_abstention_alone(experiment):
    frame = experiment.baseline
    rows = frame[(frame["question_type"] == "unanswerable")]
    assert rows[["hit_at_5", "correctness"]].isna().all().all()
    ran = rows[rows["status"] != "failed"]
    silent = ran["status"] == "insufficient_evidence"
    assert (ran["abstention_correct"] == silent).all()


def test_the_retrieval_hit_is_the_same_in_all_trials_and_never_lost(experiment):
    hits = [
        frame.groupby("question_id")["hit_at_5"].agg(["min", "max"])
        for frame in (experiment.baseline, experiment.variant)
    ]
    for table in hits:
        assert table["min"].equals(table["max"])
    paired = hits[0]["min"].notna()
    assert (hits[1]["min"] >= hits[0]["min"])[paired].all()


def test_deltas_average_to_the_stated_truth():
    draws = []
    for seed in range(150):
        one = simulate(n_questions=120, n_documents=30, n_trials=2, seed=seed)
        delta = question_means(one.variant) - question_means(one.baseline)
        draws.append(delta.mean())
    table = pd.DataFrame(draws)
    error = table.std() / len(table) ** 0.5
    truth = pd.Series(one.true_deltas)
    assert list(truth.index) == list(METRICS)
    assert (((table.mean() - truth).abs() / error) < 4).all()


def test_slice_deltas_average_to_the_stated_truth():
    total: dict[str, list[float]] = {kind.name: [] for kind in QUESTION_TYPES[:4]}
    for seed in range(100):
        one = simulate(n_questions=100, n_documents=20, n_trials=1, seed=seed)
        kinds = one.baseline.set_index("question_id")["question_type"]
        delta = question_means(one.variant) - question_means(one.baseline)
        for kind, values in total.items():
            values.append(delta.loc[kinds == kind, "correctness"].mean())
    for kind, values in total.items():
        error = np.std(values, ddof=1) / len(values) ** 0.5
        truth = one.true_slice_deltas[kind]["correctness"]
        assert abs(np.mean(values) - truth) < 4 * error, kind


def test_the_truth_of_two_needed_passages_is_that_of_enumerated_ranks():
    kind = QuestionType("two", 1, n_evidence=2, findability=0.3, correct=(1.0, 1.0))
    sure = QuestionType(**{f: getattr(kind, f) for f in kind.__slots__})
    one = simulate(
        n_questions=1, n_documents=1, question_types=[sure], top_k=(3, 8)
    ).true_deltas["correctness"]
    mass = 0.3 * 0.7 ** np.arange(200)
    within = {3: 0.0, 8: 0.0}
    for first, p in enumerate(mass, start=1):
        for second, q in enumerate(mass, start=1):
            last = max(first, second + (second == first))
            for k in within:
                within[k] += p * q * (last <= k)
    assert one == pytest.approx((within[8] - within[3]) * (1 - 0.12), abs=1e-12)


def test_equal_arms_have_no_true_delta():
    kinds = [QuestionType("easy", 2, correct=(0.9, 0.9)), UNANSWERABLE]
    one = simulate(
        question_types=[kinds[0]],
        top_k=(5, 5),
        faithfulness=(0.9, 0.9),
        citation_precision=(0.9, 0.9),
        latency_ms=(900.0, 900.0),
    )
    assert set(one.true_deltas.values()) == {0.0}
    assert one.baseline_settings == one.variant_settings


def test_run_effects_move_whole_trials():
    calm, moved = (
        simulate(run_sd=sd, latency_sd=0.3, n_trials=8).variant for sd in (0.0, 0.5)
    )
    spread = [
        frame.groupby("trial")["latency_ms"].mean().std() for frame in (calm, moved)
    ]
    assert spread[1] > 3 * spread[0]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"n_questions": 5, "n_documents": 6}, "`n_questions` is 5"),
        ({"faithfulness": (0.9, 1.2)}, "`faithfulness` is (0.9, 1.2)"),
        ({"document_share": 0.9}, "add up to less than 1"),
        ({"n_trials": 0}, "at least 1"),
        ({"latency_ms": (0.0, 1.0)}, "above 0"),
        ({"question_types": []}, "not all 0"),
        ({"question_types": [QuestionType("x", 1, n_evidence=3)]}, "`n_evidence` 3"),
    ],
)
def test_settings_out_of_range_are_refused(arguments, part):
    with pytest.raises(InputError) as caught:
        simulate(**arguments)
    assert part in str(caught.value)


def test_the_bundled_example_is_the_simulators_output_byte_for_byte():
    folder = resources.files("onechange") / "examples" / "rag_top_k"
    for name, text in example_files(example()).items():
        assert (folder / name).read_bytes() == text.encode("utf-8"), name


def test_example_numbers_have_fixed_decimals_and_missing_ones_are_null():
    text = example_files(example())["variant.jsonl"]
    assert "NaN" not in text
    rows = [json.loads(line) for line in text.splitlines()]
    assert any(row["correctness"] is None for row in rows)
    assert all(isinstance(row["hit_at_5"], int | None) for row in rows)


def _example_rows(arm: str) -> list[dict]:
    text = example_files(example())[f"{arm}.jsonl"]
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("arm", ["baseline", "variant"])
def test_an_answer_of_the_example_is_the_reference_where_it_is_correct(arm):
    for row in _example_rows(arm):
        if row["correctness"] is not None:
            right = row["answer"] == row["reference"]
            assert right == (row["correctness"] == 1), row["question_id"]
        elif row["status"] == "failed":
            assert row["answer"] is None


def test_the_evidence_of_the_example_says_why_a_retrieval_hit():
    for arm, depth in (("baseline", 3), ("variant", 8)):
        for row in _example_rows(arm):
            if row["status"] == "failed":
                continue
            needed, context = row["evidence"].split("; in context ")
            needed = set(needed.removeprefix("needed ").split(", "))
            pages = context.split(", ")
            assert len(pages) == depth
            if row["hit_at_5"] is not None:
                assert bool(needed & set(pages[:5])) == (row["hit_at_5"] == 1)


def test_both_arms_of_the_example_are_shown_side_by_side():
    folder = resources.files("onechange") / "examples" / "rag_top_k"
    plan = oc.Plan.load(folder / "plan.toml")
    arms = [
        oc.read(folder / f"{arm}.jsonl", columns=plan.columns)
        for arm in ("baseline", "variant")
    ]
    text = render(oc.compare(*arms, plan), "markdown")
    assert "| baseline answer | variant answer |" in text
    page = question_table(make_context(oc.compare(*arms, plan)))
    assert set(page["texts"]) >= {"question", "reference", "answer", "evidence"}


def test_the_files_of_the_example_stay_small():
    files = example_files(example())
    for arm in ("baseline", "variant"):
        assert len(files[f"{arm}.jsonl"].encode()) < 400_000


@pytest.mark.parametrize("arm", ["baseline", "variant"])
def test_traces_score_back_to_the_rows(experiment, arm):
    rows = getattr(experiment, arm)
    scored = pd.DataFrame(score(traces(experiment, arm)).rows)
    assert scored["question_id"].tolist() == rows["question_id"].tolist()
    assert scored["status"].tolist() == rows["status"].tolist()
    for metric in METRICS:
        values = pd.to_numeric(scored[metric]).to_numpy(float)
        np.testing.assert_allclose(
            values, rows[metric].to_numpy(float), rtol=0, atol=1e-6, err_msg=metric
        )


def test_traces_of_an_unknown_arm_are_refused(experiment):
    with pytest.raises(InputError, match='use "baseline" or "variant"'):
        traces(experiment, "control")
