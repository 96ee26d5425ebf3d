"""Repeated trials from rows to reports: arms, delta, paired trials, gradings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest

import onechange as oc
from casefiles import DATA, codes, delta_of, run
from onechange.errors import InputError, PlanError
from onechange.pairs import ArmTable
from onechange.read import read
from onechange.report.json_output import to_json
from onechange.report.markdown import render_markdown
from onechange.report.terminal import render_text
from onechange.report.trials_page import render_trials
from onechange.trials import analyse_trials, score_table

DOCS = Path(__file__).resolve().parents[2] / "docs"
SCHEMA = json.loads((DOCS / "schema-1.json").read_text(encoding="utf-8"))


def _rows(scores: np.ndarray, *, first: int = 1, **columns: Any) -> pd.DataFrame:
    n, k = scores.shape
    return pd.DataFrame(
        {
            "question_id": np.repeat([f"q{i:03d}" for i in range(n)], k),
            "trial": np.tile(np.arange(first, first + k), n),
            "score": scores.ravel(),
            **columns,
        }
    )


def _arms(
    seed: int = 0, n: int = 40, trials: tuple[int, int] = (3, 3), run: float = 0.4
) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    level = rng.normal(size=(n, 1))
    return [
        level + 0.3 * rng.normal(size=(n, k)) + run * rng.normal(size=k) for k in trials
    ]


def _compared(arms: list[np.ndarray], plan: oc.Plan | None = None) -> oc.Comparison:
    return oc.compare(_rows(arms[0]), _rows(arms[1]), plan)


PAIRED = oc.Plan(analysis=oc.Analysis(trials_paired=True))


# ---------------------------------------------------------------- arms


def test_an_arm_is_described_over_the_pairs() -> None:
    arms = _arms()
    arms[1][0] = np.nan  # a question without a score in the variant is no pair
    row = _compared(arms).trials[0]
    scores = arms[0][1:]
    assert row.baseline.n_questions == 39
    assert row.baseline.means == pytest.approx(scores.mean(axis=0))
    assert row.baseline.between_trial_sd == pytest.approx(
        scores.mean(axis=0).std(ddof=1)
    )
    within = np.sqrt(np.mean(scores.var(axis=1, ddof=1)))
    assert row.baseline.within_question_sd == pytest.approx(within)
    assert row.baseline.flip_rate is None
    assert row.baseline.same_arm.n_deltas == 3


def test_answers_that_flip_are_named_the_least_settled_first() -> None:
    answers = np.array([[1, 1, 1, 1], [1, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]] * 3)
    row = _compared([answers, answers[::-1]]).trials[0]
    assert row.baseline.flip_rate == 0.5
    assert list(row.baseline.flips.rows())[:2] == [("q001", 2, 4), ("q005", 2, 4)]
    assert len(row.baseline.flips) == 6
    assert [rate.k for rate in row.baseline.pass_rates] == [1, 2, 3, 4]


def test_unequal_trials_are_used_as_far_as_they_go() -> None:
    arms = _arms(trials=(2, 5))
    arms[1][:5, 3:] = np.nan
    comparison = _compared(arms)
    row = comparison.trials[0]
    assert row.variant.n_scored == (40, 40, 40, 35, 35)
    assert row.delta.runs.trial.df == 1 + 4
    assert "unequal-trials" in codes(comparison.audits[0].notes)


def test_trials_over_different_questions_are_noted() -> None:
    arms = _arms(trials=(3, 3))
    arms[1][:20, 2] = np.nan
    row = _compared(arms).trials[0]
    assert row.variant.uneven
    assert not row.baseline.uneven
    assert codes(row.notes) == {"uneven-trials"}
    assert "(uneven)" in render_markdown(_compared(arms))


def test_labels_that_no_questions_share_are_no_runs() -> None:
    arms = []
    for shift in (0.0, 0.1):
        rows = _rows(_arms()[0] + shift)
        rows["trial"] = [f"id-{i}" for i in range(len(rows))]
        arms.append(rows)
    row = oc.compare(*arms).trials[0]
    assert row.baseline.within_question_sd is not None
    assert "not estimable" in row.baseline.reason
    assert row.delta.runs is None
    assert "share too few questions" in row.delta.reason


def test_a_label_per_row_leaves_the_spread_within_questions() -> None:
    scores = _arms(n=200)[0]
    rows = _rows(scores)
    rows["trial"] = [f"id-{i:04d}" for i in range(len(rows))]
    found = analyse_trials(read(rows)).metrics[0].trials
    assert found.reason == (
        "not estimable (trial labels differ from question to question)"
    )
    assert found.labels == ("1", "2", "3")
    within = np.sqrt(np.mean(scores.var(axis=1, ddof=1)))
    assert found.within_question_sd == pytest.approx(within)
    assert (found.between_trial_sd, found.same_arm) == (None, None)


def test_trials_without_a_repeated_question_tell_nothing() -> None:
    scores = np.full((20, 2), np.nan)
    scores[:10, 0] = scores[10:, 1] = np.arange(10)
    row = _compared([scores, scores]).trials[0]
    assert row.baseline.reason == ("not estimable (no question has two scored trials)")
    assert row.delta.runs is None


def test_many_labels_do_not_make_a_huge_table() -> None:
    n, k = 2000, 3
    rows = np.arange(n * k)
    arm = ArmTable(
        question=rows // k,
        trial=rows,
        trial_labels=tuple(map(str, rows)),
        status=None,
        metrics={},
        texts={},
    )
    scores = rows.astype(float)
    table = score_table(arm, scores, np.ones(n, dtype=bool))
    assert not table.shared
    assert table.labels == ("1", "2", "3")
    assert np.array_equal(table.scores, scores.reshape(n, k))


def test_a_missing_trial_counts_as_the_worst_when_the_plan_says_so() -> None:
    answers = (np.random.default_rng(1).random((2, 30, 3)) < 0.6).astype(float)
    answers[1][:6, 0] = np.nan
    metric = oc.Metric("score", range=(0, 1), unscored="worst", direction="higher")
    row = _compared(list(answers), oc.Plan(metrics=[metric])).trials[0]
    filled = np.where(np.isnan(answers[1]), 0.0, answers[1])
    assert row.variant.means == pytest.approx(filled.mean(axis=0))


# ---------------------------------------------------------------- delta


def test_runs_that_differ_widen_the_interval_and_say_so() -> None:
    comparison = _compared(_arms())
    delta = delta_of(comparison)
    assert delta.interval.method == "two-way"
    assert "runs-differ" in codes(delta.notes)
    assert "more questions will not make up" in delta.notes[0].text
    narrow = _compared(_arms(), oc.Plan(analysis=oc.Analysis(interval="guarded-t")))
    assert delta_of(narrow).interval.high < delta.interval.high
    assert "runs-differ" not in codes(delta_of(narrow).notes)


def test_slices_and_bounds_count_runs_too() -> None:
    arms = _arms()
    kinds = np.repeat(["a", "b"], 60)
    frames = [_rows(arm, kind=kinds) for arm in arms]
    frames[1].loc[4, "score"] = np.nan
    plan = oc.Plan(
        slices=["kind"],
        metrics=[oc.Metric("score", range=(-9, 9), direction="higher")],
    )
    comparison = oc.compare(*frames, plan)
    assert {d.interval.method for d in comparison.slices[0].deltas} == {"two-way"}
    assert delta_of(comparison).bounds.interval.method == "bounds of two-way"
    assert delta_of(comparison).variant_interval.method == "two-way"


def test_a_guardrail_is_tested_at_its_margin_by_the_same_interval() -> None:
    arms = _arms()
    margin = -delta_of(_compared(arms)).interval.low
    plan = oc.Plan(guardrails=[oc.Guardrail("score", margin=margin)])
    status = oc.decide(_compared(arms, plan), plan).statuses[0]
    assert status.pvalue_margin == pytest.approx(0.025, abs=1e-6)
    assert status.smallest_margin is None  # no range: no answer changed, no interval


def test_one_trial_in_both_arms_is_unknown_and_not_zero() -> None:
    row = _compared(_arms(trials=(1, 1))).trials[0]
    assert row.baseline.between_trial_sd is None
    assert row.delta.noise_floor is None
    assert row.delta.reason == "not estimable (1 trial)"
    [note] = row.notes
    assert (note.code, "unknown" in note.text) == ("one-trial", True)


def test_one_trial_in_one_arm_takes_the_runs_of_the_other() -> None:
    comparison = _compared(_arms(trials=(4, 1)))
    row = comparison.trials[0]
    assert row.variant.reason == "not estimable (1 trial)"
    assert row.delta.runs.sources == (0,)
    assert "taken to be that of the baseline" in row.notes[0].text


def test_few_questions_cannot_tell_runs_from_answers() -> None:
    row = _compared(_arms(n=9)).trials[0]
    assert row.delta.runs is None
    assert "9 questions have two scored trials; 10" in row.delta.reason
    assert row.baseline.between_trial_sd is not None


def test_the_noise_floor_is_the_spread_of_repeated_deltas() -> None:
    rng = np.random.default_rng(5)
    level = rng.normal(size=(60, 1))
    deltas, floors = [], []
    for draw in range(400):
        arms = [
            level + 0.5 * rng.normal(size=(60, 3)) + 0.1 * rng.normal(size=3)
            for _ in range(2)
        ]
        deltas.append(arms[1].mean() - arms[0].mean())
        if draw % 8 == 0:
            floors.append(_compared(arms).trials[0].delta.noise_floor ** 2)
    right = 2 / 3 * (0.25 / 60 + 0.01)
    assert np.var(deltas) == pytest.approx(right, rel=0.25)
    assert np.mean(floors) == pytest.approx(right, rel=0.35)


def test_paired_trials_drop_what_both_arms_share() -> None:
    shared = np.array([0.0, 2.0, -2.0])
    arms = [arm + shared for arm in _arms(seed=2, run=0.0)]
    apart, together = _compared(arms), _compared(arms, PAIRED)
    assert delta_of(apart).interval.method == "two-way"
    assert delta_of(together).interval.method != "two-way"
    assert together.trials[0].delta.paired
    # an arm's own mean still varies from run to run
    assert delta_of(together).variant_interval.method == "two-way"


def test_paired_trials_need_equal_numbers() -> None:
    with pytest.raises(PlanError, match="3 trials and the variant 2"):
        _compared(_arms(trials=(3, 2)), PAIRED)


def test_built_in_rates_count_runs() -> None:
    rng = np.random.default_rng(6)
    frames = []
    for _ in range(2):
        rows = _rows(rng.random((40, 4)))
        failed = (rows["trial"] == 2) & (rng.random(160) < 0.6)
        frames.append(rows.assign(status=np.where(failed, "failed", "ok")))
    comparison = oc.compare(*frames)
    [rate] = [d for d in comparison.rates if d.metric == "failed"]
    assert rate.interval.method == "two-way"
    together = oc.compare(*frames, PAIRED)
    [paired] = [d for d in together.rates if d.metric == "failed"]
    assert paired.interval.method != "two-way"


def test_swapped_arms_swap_the_signs() -> None:
    arms = _arms(trials=(3, 5))
    there, back = _compared(arms), _compared(arms[::-1])
    first, second = delta_of(there).interval, delta_of(back).interval
    assert (first.low, first.high) == pytest.approx((-second.high, -second.low))
    floors = [c.trials[0].delta.noise_floor for c in (there, back)]
    assert floors[0] == pytest.approx(floors[1])


def test_shuffled_rows_change_no_byte() -> None:
    arms = _arms(trials=(3, 4))
    arms[1][3, 2] = np.nan
    frames = [_rows(arm) for arm in arms]
    moved = [frame.sample(frac=1, random_state=1) for frame in frames]
    assert to_json(oc.compare(*frames)) == to_json(oc.compare(*moved))


# ---------------------------------------------------------------- gradings


def _graded(seed: int = 1, n: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    level = 0.3 * np.random.default_rng(0).normal(size=(n, 1))
    rng = np.random.default_rng(seed)
    answers = level + 0.2 * rng.normal(size=(n, 4))
    grades = answers[:, :, None] + 0.3 * rng.normal(size=(n, 4, 3))
    rows = pd.DataFrame(
        {
            "question_id": np.repeat([f"q{i:02d}" for i in range(n)], 12),
            "trial": np.tile(np.repeat(np.arange(4), 3), n),
            "judge_run": np.tile(np.arange(3), 4 * n),
            "score": grades.ravel(),
        }
    )
    return rows, grades


JUDGED = oc.Columns(judge_trial="judge_run")


def test_gradings_are_averaged_and_keep_a_component_of_their_own() -> None:
    rows, grades = _graded()
    results = read(rows.sample(frac=1, random_state=2), columns=JUDGED)
    assert results.n_rows == 240
    assert results.metrics["score"] == pytest.approx(grades.mean(axis=2).ravel())
    assert "gradings-averaged" in codes(results.notes)
    parts = analyse_trials(results).metrics[0].trials.components
    assert parts.judge.variance == pytest.approx(np.mean(grades.var(axis=2, ddof=1)))
    # nested analysis of variance: answers = residual less the gradings' share
    table = grades.mean(axis=2)
    rest = table - table.mean(1, keepdims=True) - table.mean(0) + table.mean()
    residual = np.sum(rest**2) / (59 * 3)
    assert parts.residual.variance == pytest.approx(residual)
    assert parts.answer.variance == pytest.approx(residual - parts.judge.variance / 3)
    assert parts.judge.low < 0.09 < parts.judge.high
    assert parts.answer.low < 0.04 < parts.answer.high


def test_gradings_have_a_share_of_the_deltas_variance() -> None:
    plan = oc.Plan(columns=JUDGED)
    comparison = oc.compare(_graded(1)[0], _graded(2)[0], plan)
    shares = comparison.trials[0].delta.parts.shares
    assert shares["gradings"] == pytest.approx(0.03 / (0.03 + 0.04), abs=0.15)
    assert sum(shares.values()) == pytest.approx(1)
    page = render_trials(comparison, format="markdown")
    assert "| gradings |" in page
    assert "SD of gradings" in page


def test_the_same_grading_twice_is_refused_with_its_rows(tmp_path: Path) -> None:
    file = tmp_path / "graded.csv"
    rows = _graded(n=3)[0]
    pd.concat([rows, rows.iloc[[4]]]).to_csv(file, index=False)
    with pytest.raises(InputError, match=r"graded.csv:6 and graded.csv:38.*grading"):
        read(file, columns=JUDGED)


def test_a_grading_without_a_score_or_that_failed_leaves_the_others() -> None:
    rows = _graded(n=20)[0].assign(status="ok", note="first")
    rows.loc[0, "score"] = np.nan
    rows.loc[1, "status"] = "failed"
    rows.loc[3:5, "status"] = "failed"
    results = read(rows, columns=JUDGED)
    assert results.metrics["score"][0] == rows.loc[2, "score"]
    assert results.status.tolist()[:2] == [oc.read(rows.iloc[[2]]).status[0], 2]
    assert results.gradings["score"].counts.tolist()[:3] == [1, 0, 3]


def test_one_trial_graded_several_times_knows_its_judge() -> None:
    rows = _graded()[0].query("trial == 0").drop(columns="trial")
    found = analyse_trials(read(rows, columns=JUDGED)).metrics[0].trials
    assert found.reason == "not estimable (1 trial)"
    assert found.components.judge.variance == pytest.approx(0.09, rel=0.3)
    assert found.components.answer is None


def test_gradings_survive_one_file_per_trial(tmp_path: Path) -> None:
    rows, _ = _graded()
    for trial, part in rows.groupby("trial"):
        part.drop(columns="trial").to_csv(tmp_path / f"run_{trial}.csv", index=False)
    one, several = read(rows, columns=JUDGED), read(tmp_path, columns=JUDGED)
    assert several.gradings["score"].squares == pytest.approx(
        one.gradings["score"].squares
    )
    assert several.trial.tolist() == one.trial.tolist()


def test_a_judge_column_that_is_absent_or_empty_is_refused() -> None:
    rows = _graded(n=3)[0]
    with pytest.raises(InputError, match='no judge-trial column "other"'):
        read(rows, columns=oc.Columns(judge_trial="other"))
    rows["judge_run"] = [None] * len(rows)
    with pytest.raises(InputError, match="empty"):
        read(rows, columns=JUDGED)


# ---------------------------------------------------------------- one arm


def test_one_arm_alone_gives_its_mean_and_noise_floor() -> None:
    scores = _arms(seed=3, run=0.3)[0]
    row = analyse_trials(read(_rows(scores))).metrics[0]
    assert row.mean == pytest.approx(scores.mean())
    assert row.interval.method == "two-way"
    trial = 40 * scores.mean(axis=0).var(ddof=1)
    assert row.noise_floor == pytest.approx(np.sqrt(trial / (40 * 3)))
    assert row.parts.shares["runs"] > 0.1


def test_one_arm_with_clusters() -> None:
    frame = _rows(_arms()[0], doc=np.repeat([f"d{i}" for i in range(8)], 15))
    plan = oc.Plan(columns=oc.Columns(cluster="doc"))
    analysis = analyse_trials(read(frame, columns=plan.columns), plan)
    assert analysis.n_clusters == 8
    assert analysis.metrics[0].parts.df < 39
    other = oc.Plan(columns=oc.Columns(cluster="other"))
    with pytest.raises(InputError, match='no cluster column "other"'):
        analyse_trials(read(frame), other)


def test_a_metric_without_scores_is_not_measured() -> None:
    frame = _rows(_arms()[0]).assign(empty=np.nan)
    analysis = analyse_trials(read(frame, columns=oc.Columns(metrics=("empty",))))
    row = analysis.metrics[0]
    assert (row.mean, row.trials.reason) == (None, "not measured")
    assert "not measured" in render_trials(analysis)


def test_no_row_is_refused() -> None:
    results = read(_rows(_arms()[0]))
    empty = replace(
        results, question_id=results.question_id[:0], trial=results.trial[:0]
    )
    with pytest.raises(InputError, match="no row"):
        analyse_trials(empty)


# ---------------------------------------------------------------- reports


def test_every_report_names_noise_floor_flips_and_shares() -> None:
    answers = (np.random.default_rng(4).random((2, 40, 5)) < 0.5).astype(float)
    comparison = _compared(list(answers))
    text = render_markdown(comparison)
    for part in (
        "noise floor",
        "delta / noise",
        "pass@k",
        "right in some trials and wrong in others",
        "A/A: every two single trials",
        "SD of runs",
        "expected half-width",
        "mean of each trial",
    ):
        assert part in text
    assert "Noise floor of the delta" in render_text(comparison)


def test_two_variants_have_trials_each() -> None:
    arms = _arms()
    frames = {"one": _rows(arms[1]), "two": _rows(arms[1] + 1)}
    comparison = oc.compare(_rows(arms[0]), frames)
    assert [row.variant_name for row in comparison.trials] == ["one", "two"]
    found = json.loads(to_json(comparison))["trials"]["score"]
    assert len(found["deltas"]) == len(found["variants"]) == 2
    assert "score (two)" in render_markdown(comparison)


def _schema_of(part: str) -> dict[str, Any]:
    return {"$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{part}"}


@pytest.mark.parametrize("trials", [(1, 1), (4, 1), (3, 3), (5, 6)])
def test_the_json_of_trials_fits_the_schema(trials: tuple[int, int]) -> None:
    comparison = _compared(_arms(trials=trials))
    plain = json.loads(render_trials(comparison, format="json"))
    for metric in plain["trials"].values():
        jsonschema.validate(metric, _schema_of("metric_trials"))
    single = json.loads(
        render_trials(
            analyse_trials(read(_rows(_arms(trials=trials)[0]))), format="json"
        )
    )
    arm = single["trials"]["score"]["results"]
    jsonschema.validate(arm, _schema_of("arm_trials"))
    jsonschema.validate(single["trials"]["score"]["runs"], _schema_of("runs"))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trials")
    for name, scores in zip(("b", "v"), _arms(trials=(3, 3)), strict=True):
        _rows(scores).to_csv(folder / f"{name}.csv", index=False)
        parts = folder / name
        parts.mkdir()
        for trial, part in _rows(scores).groupby("trial"):
            part.drop(columns="trial").to_csv(parts / f"run_{trial}.csv", index=False)
    return folder


def test_trials_come_from_a_column_a_folder_a_glob_or_several_files(
    files: Path,
) -> None:
    calls = [
        ("b.csv", "v.csv"),
        ("b", "v"),
        ("b/run_*.csv", "v/run_*.csv"),
        (
            "b/run_1.csv",
            "v/run_1.csv",
            *(f"--baseline-trial=b/run_{k}.csv" for k in (2, 3)),
            *(f"--variant-trial=v/run_{k}.csv" for k in (2, 3)),
        ),
    ]
    found = []
    for words in calls:
        done = run("trials", *words, "--format=json", cwd=files)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout)["trials"])
    assert found[0]["score"]["baseline"]["labels"] == ["1", "2", "3"]
    assert all(trials == found[0] for trials in found)


def test_the_command_looks_at_one_arm_and_writes_files(
    files: Path, tmp_path: Path
) -> None:
    done = run(
        "trials",
        files / "b.csv",
        f"--markdown={tmp_path / 'trials.md'}",
        f"--json={tmp_path / 'trials.json'}",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Trials of b\n")
    assert (tmp_path / "trials.md").read_text().startswith("## Trials of b\n")
    plain = json.loads((tmp_path / "trials.json").read_text())
    assert plain["inputs"]["results"]["trials"] == 3


def test_the_command_says_the_cheapest_way_to_a_half_width(files: Path) -> None:
    words = ("trials", files / "b.csv", files / "v.csv")
    done = run(*words, "--half-width=0.5", "--question-cost=50", "--answer-cost=0.1")
    assert "The cheapest way to ±0.5 is" in done.stdout
    assert "further cost" in done.stdout
    done = run(*words, "--half-width=50")
    assert "40 questions × 3 trials reach ±50 already" in " ".join(done.stdout.split())
    done = run(*words, "--half-width=0.000001")
    assert "No number of questions and trials reaches" in done.stdout


def test_the_cheapest_way_is_unknown_with_one_trial() -> None:
    analysis = analyse_trials(read(_rows(_arms(trials=(1, 1))[0])))
    text = render_trials(analysis, target=(0.1, 1.0, 1.0))
    assert "what more trials would buy is unknown" in text
    assert "one-trial" in text


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(oc.OnechangeError, match="choose one of"):
        render_trials(_compared(_arms()), format="pdf")


def test_native_files_have_no_repeated_gradings(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"info": {}, "results": {"task": {}}}))
    columns = oc.Columns(judge_trial="judge_run")
    with pytest.raises(InputError):
        read(file, columns=columns)
    native = DATA / "formats" / "taubench"
    if native.is_dir():
        path = next(path for path in sorted(native.rglob("*.json")))
        with pytest.raises(InputError, match="read from rows only"):
            read(path, columns=columns)


def test_a_single_arm_page_names_its_cheapest_way(files: Path) -> None:
    done = run("trials", files / "b.csv", "--half-width=0.4", "--confidence-level=0.9")
    assert "The cheapest way to ±0.4" in " ".join(done.stdout.split())
    assert "90 % interval" in done.stdout


def test_trials_print_as_a_table() -> None:
    comparison = _compared(_arms())
    frame = comparison.trials.to_frame()
    assert frame["arm"].tolist() == ["baseline", "variant"]
    assert frame["noise_floor"].nunique() == 1
    assert repr(comparison.trials).startswith("metric")
    assert comparison.trials[:1].to_dicts() == comparison.trials.to_dicts()
    analysis = analyse_trials(read(_rows(_arms()[0])))
    assert "noise_floor" in analysis.to_frame().columns
    assert "<table>" in analysis._repr_html_()
