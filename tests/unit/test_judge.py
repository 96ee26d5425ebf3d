"""Judge audit: agreement, favour for an arm, the corrected delta, the draw."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onechange.errors import InputError, MethodError
from onechange.judge import (
    HumanLabel,
    JudgeAudit,
    corrected_delta,
    draw_for_audit,
    judge_audit,
    label_sheet,
    outcome_strata,
    read_labels,
)
from onechange.stats.ppi import corrected_mean


def _experiment(
    rng: np.random.Generator, n: int, bias: float
) -> tuple[np.ndarray, np.ndarray]:
    """Human and judge outcomes, shape (n, 2); the judge is too kind to the variant."""
    human = (rng.random((n, 2)) < [0.5, 0.5]).astype(float)
    wrong = rng.random((n, 2))
    kind = (human == 0) & (wrong < [0.05, 0.05 + bias])
    strict = (human == 1) & (wrong < 0.05)
    return human, np.where(kind, 1.0, np.where(strict, 0.0, human))


def _labels(ids: list[str], human: np.ndarray, n: int) -> list[HumanLabel]:
    return [
        HumanLabel(ids[i], arm, float(human[i, j]))
        for i in range(n)
        for j, arm in enumerate(("baseline", "variant"))
    ]


def test_a_judge_that_favours_an_arm_is_found_and_corrected() -> None:
    rng = np.random.default_rng(1)
    n = 400
    ids = [f"q{i:03d}" for i in range(n)]
    human, judge = _experiment(rng, n, bias=0.4)
    audit = judge_audit(
        ids, *judge.T, _labels(ids, human, 120), metric="correct", score_range=(0, 1)
    )
    assert (audit.n_pairs, audit.n_labelled) == (n, 120)
    assert audit.uncorrected == pytest.approx(np.diff(judge, axis=1).mean())
    assert audit.favour is not None
    assert audit.favour_interval is not None
    assert audit.favour_interval.low > 0
    assert audit.baseline.agreement is not None
    assert audit.variant.agreement is not None
    assert audit.baseline.agreement.kappa > audit.variant.agreement.kappa
    assert [note.code for note in audit.notes] == ["judge-favours-arm"]
    truth = float(np.diff(human, axis=1).mean())
    assert audit.corrected is not None
    assert abs(audit.corrected.estimate - truth) < abs(audit.uncorrected - truth)
    delta = corrected_delta(audit)
    assert delta.interval == audit.corrected.interval
    assert delta.n_pairs == n


def test_under_thirty_labelled_pairs_there_is_no_status() -> None:
    rng = np.random.default_rng(2)
    ids = [f"q{i}" for i in range(100)]
    human, judge = _experiment(rng, 100, bias=0.0)
    audit = judge_audit(ids, *judge.T, _labels(ids, human, 29), score_range=(0, 1))
    assert audit.corrected is not None
    delta = corrected_delta(audit)
    assert delta.delta == audit.corrected.estimate
    assert delta.interval is None
    assert "too-few-questions" in [note.code for note in delta.notes]
    audit = judge_audit(ids, *judge.T, _labels(ids, human, 30), score_range=(0, 1))
    assert corrected_delta(audit).interval is not None


def test_every_label_is_accounted_for() -> None:
    ids = ["q1", "q2", "q3"]
    judge = np.array([[1, 1], [0, np.nan], [0, 1]], dtype=float)
    labels = [
        HumanLabel("q1", "baseline", 1),
        HumanLabel("q1", "baseline", 0),
        HumanLabel("q1", "variant", 1),
        HumanLabel("q2", "baseline", 0),
        HumanLabel("q3", "variant", 1),
        HumanLabel("q9", "variant", 1),
    ]
    audit = judge_audit(ids, *judge.T, labels)
    assert (audit.n_pairs, audit.n_labelled, audit.n_one_arm) == (2, 1, 1)
    assert audit.n_unused == 1
    assert (audit.baseline.n_labelled, audit.variant.n_labelled) == (2, 2)
    assert audit.baseline.human == pytest.approx(0.25)
    assert audit.corrected is None
    assert corrected_delta(audit).delta is None


def test_scores_of_many_values_have_no_kappa() -> None:
    rng = np.random.default_rng(3)
    ids = [f"q{i}" for i in range(50)]
    scores = rng.random((50, 2))
    audit = judge_audit(ids, *scores.T, _labels(ids, scores, 40))
    assert audit.baseline.agreement is None
    assert audit.baseline.bias == pytest.approx(0.0, abs=1e-12)


def test_labels_that_do_not_fit_are_refused() -> None:
    ids, judge = ["q1", "q2"], np.zeros((2, 2))
    with pytest.raises(InputError, match="none of the 1 labels belongs"):
        judge_audit(ids, *judge.T, [HumanLabel("x", "variant", 1)])
    with pytest.raises(InputError, match=r"'q1', variant: 2 is outside \[0, 1\]"):
        judge_audit(ids, *judge.T, [HumanLabel("q1", "variant", 2)], score_range=(0, 1))
    with pytest.raises(InputError, match="'q2' has no weight though others have"):
        judge_audit(
            ids,
            *judge.T,
            [HumanLabel("q1", "variant", 1, 2.0), HumanLabel("q2", "variant", 1)],
        )
    with pytest.raises(InputError, match="has weights 2 and 3"):
        judge_audit(
            ids,
            *judge.T,
            [HumanLabel("q1", "variant", 1, 2), HumanLabel("q1", "baseline", 1, 3)],
        )
    with pytest.raises(MethodError, match="must have one length"):
        judge_audit(["q1"], *judge.T, [])


def test_equal_weights_and_the_plain_estimate_nearly_agree() -> None:
    rng = np.random.default_rng(6)
    human, judge = _experiment(rng, 300, bias=0.2)
    y, f = (np.diff(x, axis=1).ravel() for x in (human, judge))
    plain = corrected_mean(y[:100], f[:100], f[100:], width=2)
    weighted = corrected_mean(
        y[:100], f[:100], f[100:], sampling_weights=np.full(100, 3.0), width=2
    )
    assert weighted.estimate == pytest.approx(plain.estimate, abs=0.02)
    assert weighted.standard_error == pytest.approx(plain.standard_error, rel=0.15)


def test_weights_undo_an_unequal_draw() -> None:
    rng = np.random.default_rng(7)
    errors = []
    covered = 0
    for _ in range(200):
        human, judge = _experiment(rng, 400, bias=0.3)
        y, f = (np.diff(x, axis=1).ravel() for x in (human, judge))
        ids = [f"{i:03d}" for i in range(400)]
        strata = outcome_strata(judge[:, 0], judge[:, 1])
        drawn = draw_for_audit(ids, 60, strata=strata, seed=int(rng.integers(1 << 30)))
        at = np.array([int(question.question_id) for question in drawn])
        rest = np.setdiff1d(np.arange(400), at)
        found = corrected_mean(
            y[at],
            f[at],
            f[rest],
            sampling_weights=np.array([question.weight for question in drawn]),
            width=2,
        )
        errors.append(found.estimate)
        covered += found.interval.low <= 0.0 <= found.interval.high
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(200)
    assert covered >= 184  # 95 % of 200 less 2 binomial standard errors


@pytest.mark.parametrize("n_labelled", [30, 60])
def test_the_corrected_interval_covers_where_the_uncorrected_fails(
    n_labelled: int,
) -> None:
    rng = np.random.default_rng(n_labelled)
    replications = 300
    plain = corrected = 0
    for _ in range(replications):
        human, judge = _experiment(rng, 200, bias=0.3)
        y, f = (np.diff(x, axis=1).ravel() for x in (human, judge))
        half = 1.96 * f.std(ddof=1) / np.sqrt(200)
        plain += abs(f.mean()) <= half  # the truth is 0
        interval = corrected_mean(
            y[:n_labelled], f[:n_labelled], f[n_labelled:], width=2
        ).interval
        corrected += interval.low <= 0.0 <= interval.high
    assert plain / replications < 0.5
    assert corrected / replications >= 0.95 - 2 * np.sqrt(0.95 * 0.05 / replications)


def test_a_judge_that_always_agrees_leaves_an_interval() -> None:
    same = np.tile([0.0, 1.0, 0.0, -1.0], 10)
    found = corrected_mean(same, same, np.tile(same, 3), weight=1.0, width=2)
    assert found.interval.high - found.interval.low > 0.2
    assert not found.interval.degenerate


@pytest.mark.parametrize(
    ("human", "judge", "fact"),
    [
        ([1.0], [1.0], "1 labelled questions; expected 2"),
        ([1.0, 0.0], [1.0], "one judge score for each"),
        ([1.0, np.nan], [1.0, 0.0], "must be finite"),
    ],
)
def test_values_that_cannot_be_corrected_are_refused(
    human: list[float], judge: list[float], fact: str
) -> None:
    with pytest.raises(MethodError, match=fact):
        corrected_mean(np.array(human), np.array(judge), np.zeros(3))


def test_wrong_weights_and_methods_are_refused() -> None:
    two = np.array([0.0, 1.0])
    with pytest.raises(MethodError, match="must be positive"):
        corrected_mean(two, two, two, sampling_weights=np.array([1.0, 0.0]))
    with pytest.raises(MethodError, match="expected guarded-ppi"):
        corrected_mean(two, two, two, method="ppi")


def test_the_draw_is_stratified_seeded_and_free_of_order() -> None:
    ids = [f"q{i:03d}" for i in range(150)]
    strata = ["rare" if i < 5 else "single" if i == 5 else None for i in range(150)]
    drawn = draw_for_audit(ids, 60, strata=strata)
    assert len(drawn) == 60
    by = {name: [q for q in drawn if q.stratum == name] for name in {*strata} - {None}}
    assert (len(by["rare"]), len(by["single"])) == (2, 1)
    assert by["rare"][0].weight == 2.5
    assert sum(question.weight for question in drawn) == pytest.approx(150)
    again = draw_for_audit(ids[::-1], 60, strata=strata[::-1])
    assert again == drawn
    assert draw_for_audit(ids, 60, strata=strata, seed=8) != drawn
    assert len(draw_for_audit(ids, 1000)) == 150
    assert len(draw_for_audit(ids, 1, strata=strata)) == 1
    with pytest.raises(MethodError, match="expected 1 or more"):
        draw_for_audit(ids, 0)
    with pytest.raises(MethodError, match="stands twice"):
        draw_for_audit(["a", "a"], 1)
    with pytest.raises(MethodError, match="one stratum a question"):
        draw_for_audit(["a", "b"], 1, strata=["x"])


def test_a_filled_sheet_is_read_back(tmp_path: Path) -> None:
    rows = label_sheet(draw_for_audit(["q1", "q2", "q3"], 2, seed=3))
    rows[0]["label"], rows[1]["label"] = "true", 0
    path = tmp_path / "labels.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    labels = read_labels(path)
    assert [(label.arm, label.label) for label in labels] == [
        ("baseline", 1.0),
        ("variant", 0.0),
    ]
    assert {label.weight for label in labels} == {1.5}


def test_labels_are_read_from_json_lines_and_tabs(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"question_id": 7, "arm": "topk8", "human": 1}\n\n', "utf-8")
    (label,) = read_labels(path, arm_names={"topk8": "variant"})
    assert label == HumanLabel("7", "variant", 1.0)
    path = tmp_path / "labels.tsv"
    path.write_text("question_id\tarm\thuman_label\n007\tbaseline\t0.5\n", "utf-8")
    assert read_labels(path) == (HumanLabel("007", "baseline", 0.5),)


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        (
            "question_id,label\nq1,1\n",
            "labels.csv:2: expected columns question_id, arm",
        ),
        (
            "question_id,arm,label\nq1,control,1\n",
            "arm is 'control'; expected baseline",
        ),
        ("question_id,arm,label\nq1,variant,good\n", "label is 'good'; expected a fin"),
        ("question_id,arm,label\n,variant,1\n", "labels.csv:2: question_id is ''"),
        ("question_id,arm,label\nq1,variant\n", "another number of cells"),
        ("question_id,arm,label\nq1,variant,\n", "no row has a label"),
        (
            "question_id,arm,label,weight\nq1,variant,1,nan\n",
            "weight is 'nan'; expected a number above 0",
        ),
        (
            "question_id,arm,label,weight\nq1,variant,1,0\n",
            "weight is 0; expected above",
        ),
        ("question_id,arm,label\nq1,variant,1e999\n", "expected a finite number"),
    ],
)
def test_a_sheet_that_is_not_valid_names_its_place(
    tmp_path: Path, content: str, fact: str
) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=fact):
        read_labels(path)


def test_label_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_labels(tmp_path / "absent.csv")
    path = tmp_path / "labels.jsonl"
    path.write_text("[1]\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"labels\.jsonl:1: not a JSON object"):
        read_labels(path)
    path.write_bytes(b"\xff\n")
    with pytest.raises(InputError, match="not UTF-8"):
        read_labels(path)


def test_without_help_of_the_judge_the_labels_stand_alone() -> None:
    y = np.array([0.0, 1.0, 1.0, 0.0])
    alone = corrected_mean(y, y, np.zeros(0))
    assert (alone.estimate, alone.weight) == (0.5, 0.0)
    constant = corrected_mean(y, np.ones(4), np.ones(9), method="ppi++")
    assert (constant.estimate, constant.weight) == (0.5, 0.0)
    trusted = corrected_mean(y, y, np.zeros(0), weight=1.0, method="ppi++")
    assert trusted.estimate == 0.5


def test_a_mean_without_spread_has_no_pvalue() -> None:
    ones = np.ones(5)
    flat = corrected_mean(ones, ones, ones, method="ppi++")
    assert flat.interval.degenerate
    assert flat.pvalue() is None
    guarded = corrected_mean(ones, ones, ones, width=1)
    assert guarded.pvalue(1.0) == 1.0


def _repeated(
    rng: np.random.Generator, n: int, trials: int
) -> tuple[list[str], list[np.ndarray], list[np.ndarray]]:
    """Human labels and judge scores by arm, shape (n, trials); 10 % are flipped."""
    ids = [f"q{i:03d}" for i in range(n)]
    human = [(rng.random((n, trials)) < 0.5).astype(float) for _ in range(2)]
    judge = [np.where(rng.random(h.shape) < 0.1, 1 - h, h) for h in human]
    return ids, human, judge


def test_agreement_counts_answers_and_not_means_of_questions() -> None:
    from statsmodels.stats.inter_rater import cohens_kappa

    rng = np.random.default_rng(9)
    ids, human, judge = _repeated(rng, 60, 3)
    names = ("1", "2", "3")
    use = rng.random((60, 3)) < 0.67  # a third of the cells is left blank
    labels = [
        HumanLabel(ids[i], arm, float(human[a][i, k]), trial=names[k])
        for a, arm in enumerate(("baseline", "variant"))
        for i, k in zip(*np.nonzero(use), strict=True)
    ]
    audit = judge_audit(ids, *judge, labels, trials=(names, names))
    for a, found in enumerate((audit.baseline, audit.variant)):
        pairs = human[a][use], judge[a][use]
        table = np.array(
            [
                [np.sum((pairs[0] == x) & (pairs[1] == y)) for y in (0, 1)]
                for x in (0, 1)
            ]
        )
        assert found.agreement is not None
        assert found.agreement.observed == pytest.approx(np.mean(pairs[0] == pairs[1]))
        assert found.agreement.kappa == pytest.approx(cohens_kappa(table).kappa)
        assert found.n_answers == use.sum()
        assert found.n_labelled == use.any(axis=1).sum()
        # Both means are over the same, labelled answers.
        kept = use.any(axis=1)
        for mean, values in ((found.human, human[a]), (found.judge, judge[a])):
            by_question = [values[i][use[i]].mean() for i in np.flatnonzero(kept)]
            assert mean == pytest.approx(np.mean(by_question))


def test_a_label_belongs_to_the_answer_of_its_trial() -> None:
    scores = np.array([[1.0, 0.0], [0.0, 1.0]])
    names = ("1", "2")
    labels = [
        HumanLabel("q1", "baseline", 1, trial="1"),
        HumanLabel("q1", "baseline", 0, trial="2"),
        HumanLabel("q2", "baseline", 0, trial="1"),
        HumanLabel("q2", "baseline", 0, trial="7"),
        HumanLabel("q1", "variant", 0.5),
    ]
    audit = judge_audit(["q1", "q2"], scores, scores, labels, trials=(names, names))
    assert audit.baseline.agreement is not None
    assert audit.baseline.agreement.observed == 1.0
    assert (audit.baseline.n_answers, audit.n_unused) == (3, 1)
    assert audit.baseline.judge == pytest.approx((0.5 + 0.0) / 2)
    assert (audit.variant.judge, audit.variant.n_answers) == (0.5, 1)


def test_labels_of_one_answer_that_differ_are_said() -> None:
    ids, judge = ["q1", "q2"], np.array([[1.0, 1.0], [0.0, 1.0]])
    labels = [HumanLabel("q1", "baseline", x) for x in (0, 1)]
    notes = judge_audit(ids, *judge.T, labels).notes
    (note,) = [note for note in notes if note.code == "labels-differ"]
    assert "1 answers have several labels that differ" in note.text


def test_a_label_off_the_judges_scale_is_refused_without_a_declared_range() -> None:
    ids = [f"q{i}" for i in range(40)]
    judge = np.tile([[0.0, 1.0], [1.0, 1.0]], (20, 1))
    sevens = [HumanLabel(q, arm, 7.0) for q in ids for arm in ("baseline", "variant")]
    with pytest.raises(
        InputError, match=r"7\.0 is not on the judge's scale, .*\[0, 1\]"
    ):
        judge_audit(ids, *judge.T, sevens)
    audit = judge_audit(ids, *judge.T, sevens, score_range=(0, 10))
    assert audit.baseline.human == 7.0
    graded = np.tile([[1.0, 5.0], [3.0, 4.0]], (20, 1))
    with pytest.raises(InputError, match=r"lie in \[1, 5\]"):
        judge_audit(ids, *graded.T, sevens)


def test_no_interval_of_zero_width_is_shown() -> None:
    ids = [f"q{i}" for i in range(60)]
    rng = np.random.default_rng(3)
    judge = (rng.random((60, 2)) < 0.5).astype(float)
    ones = [
        HumanLabel(q, arm, 1.0) for q in ids[:40] for arm in ("baseline", "variant")
    ]
    audit = judge_audit(ids, *judge.T, ones)
    declared = judge_audit(ids, *judge.T, ones, score_range=(0, 1))
    assert audit.human_only is not None
    assert audit.human_only.interval == declared.human_only.interval
    assert audit.human_only.interval.low < 0 < audit.human_only.interval.high
    threes = np.full((60, 2), 3.0)
    same = [
        HumanLabel(q, arm, 3.0) for q in ids[:40] for arm in ("baseline", "variant")
    ]
    flat = judge_audit(ids, *threes.T, same)
    assert flat.favour_interval is None
    assert corrected_delta(flat).interval is None
    assert "equal-differences" in [note.code for note in flat.notes]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("whole_clusters", [False, True])
def test_the_clustered_interval_covers_where_the_plain_fails(
    weighted: bool, whole_clusters: bool
) -> None:
    # Twenty documents of ten questions; judge and people share an effect of the
    # document, and the judge a bias of its own there. The true mean is 0.
    rng = np.random.default_rng(12)
    clusters = np.repeat(np.arange(20), 10)
    repetitions, n = 400, 60
    plain = clustered = 0
    for _ in range(repetitions):
        human = rng.normal(0, 0.5, 20)[clusters] + rng.normal(0, 0.5, 200)
        judge = human + rng.normal(0.3, 0.3, 20)[clusters] + rng.normal(0, 0.3, 200)
        order = rng.permutation(200)
        if whole_clusters:
            order = np.argsort(rng.permutation(20)[clusters], kind="stable")
        use, rest = order[:n], order[n:]
        weights = np.full(n, 200 / n) if weighted else None
        arms = human[use], judge[use], judge[rest]
        one = corrected_mean(*arms, sampling_weights=weights).interval
        other = corrected_mean(
            *arms,
            sampling_weights=weights,
            clusters=np.concatenate([clusters[use], clusters[rest]]),
        ).interval
        plain += one.low <= 0 <= one.high
        clustered += other.low <= 0 <= other.high
    assert plain / repetitions < 0.8
    assert clustered / repetitions >= 0.95 - 2 * np.sqrt(0.95 * 0.05 / repetitions)


def test_clusters_of_one_question_are_no_clusters() -> None:
    rng = np.random.default_rng(13)
    y, f = rng.normal(size=(2, 50))
    plain = corrected_mean(y[:30], f[:30], f[30:])
    single = corrected_mean(y[:30], f[:30], f[30:], clusters=np.arange(50))
    assert single.estimate == plain.estimate
    assert single.standard_error == pytest.approx(plain.standard_error, rel=1e-12)
    assert single.df == pytest.approx(plain.df)


def test_clusters_that_do_not_fit_are_refused() -> None:
    two = np.array([0.0, 1.0])
    with pytest.raises(MethodError, match="expected one for each of 2 labelled and 2"):
        corrected_mean(two, two, two, clusters=np.zeros(3, dtype=int))
    with pytest.raises(MethodError, match="lie in one cluster"):
        corrected_mean(two, two, two, clusters=np.array([0, 0, 1, 2]))
    with pytest.raises(MethodError, match="go with the method guarded"):
        corrected_mean(two, two, two, clusters=np.arange(4), method="ppi++")


def _weighted_audit(weights: list[float], **options: Any) -> JudgeAudit:
    """Two hundred questions, the labelled first: people and judge agree."""
    rng = np.random.default_rng(5)
    judge = (rng.random((200, 2)) < [0.5, 0.7]).astype(float)
    labels = [
        HumanLabel(f"q{i}", arm, float(judge[i, j]), weight=weight)
        for i, weight in enumerate(weights)
        for j, arm in enumerate(("baseline", "variant"))
    ]
    ids = [f"q{i}" for i in range(200)]
    return judge_audit(ids, *judge.T, labels, score_range=(0, 1), **options)


def test_one_heavy_label_does_not_count_as_many() -> None:
    audit = _weighted_audit([1000.0, *[1.0] * 39])
    # Kish: (1000 + 39)² / (1000² + 39)
    assert audit.n_effective == pytest.approx(1039**2 / (1000**2 + 39))
    assert audit.corrected is not None
    assert audit.corrected.df == pytest.approx(1039**2 / (1000**2 + 39) - 1)
    assert audit.corrected.interval.low == -1.0
    assert audit.corrected.interval.high == 1.0
    delta = corrected_delta(audit)
    assert delta.interval is None
    note = next(n for n in delta.notes if n.code == "too-few-questions")
    assert "40 pairs are labelled" in note.text
    assert "as much as 1.1 of equal weight" in note.text


def test_the_thirty_pairs_of_a_status_are_counted_by_their_weights() -> None:
    few = _weighted_audit([8.0] * 10 + [1.0] * 30)  # (80 + 30)² / (640 + 30) = 18.06
    assert few.n_effective == pytest.approx(110**2 / 670)
    assert corrected_delta(few).interval is None
    enough = _weighted_audit([2.0] * 10 + [1.0] * 30)  # 50² / 70 = 35.7
    assert corrected_delta(enough).interval is not None
    assert _weighted_audit([3.0] * 30).n_effective == 30.0


def test_weights_leave_few_clusters() -> None:
    clusters = np.arange(200) % 10
    heavy = [20.0 if i % 10 < 2 else 1.0 for i in range(200)]
    light = _weighted_audit([1.0] * 200, clusters=clusters)
    assert "few-clusters" not in [note.code for note in light.notes]
    audit = _weighted_audit(heavy, clusters=clusters)
    # cluster weights 400, 400 and eight of 20: 960² / (2·400² + 8·20²) = 2.85
    note = next(n for n in audit.notes if n.code == "few-clusters")
    assert "10 clusters and tell, with their weights, as much as 2.9" in note.text
    assert corrected_delta(audit).interval is None


def test_intervals_of_an_audit_stay_within_what_scores_can_attain() -> None:
    ids = [f"q{i}" for i in range(60)]
    judge = np.column_stack([np.zeros(60), np.ones(60)])
    judge[0] = 1.0, 0.0
    audit = judge_audit(ids, *judge.T, _labels(ids, judge, 40), score_range=(0, 1))
    assert audit.human_only is not None
    assert audit.human_only.interval.high == 1.0
    assert audit.corrected is not None
    assert audit.corrected.interval.high <= 1.0
    assert audit.uncorrected_interval is not None
    assert audit.uncorrected_interval.high == 1.0
    for arm in (audit.baseline, audit.variant):
        assert arm.corrected is not None
        assert 0.0 <= arm.corrected.interval.low < arm.corrected.interval.high <= 1.0


def _stratified_coverage(replications: int, n_per: tuple[int, int], seed: int) -> float:
    """Coverage when a fifth of the questions has most of the labels; the delta is 0."""
    rng = np.random.default_rng(seed)
    covered = 0
    for _ in range(replications):
        rare = rng.random(300) < 0.2
        human = (rng.random((300, 2)) < 0.5).astype(float)
        judge = np.where(rng.random((300, 2)) < [0.1, 0.2], 1 - human, human)
        y, f = (np.diff(x, axis=1).ravel() for x in (human, judge))
        at, weights = [], []
        for stratum, k in zip((rare, ~rare), n_per, strict=True):
            where = np.flatnonzero(stratum)
            at.append(rng.choice(where, k, replace=False))
            weights.append(np.full(k, where.size / k))
        use = np.concatenate(at)
        found = corrected_mean(
            y[use],
            f[use],
            np.delete(f, use),
            sampling_weights=np.concatenate(weights),
            width=2,
        )
        covered += found.interval.low <= 0.0 <= found.interval.high
    return covered / replications


def test_few_heavy_labels_do_not_make_the_interval_too_narrow() -> None:
    # By the number of labels, and not by their weights, 84 % were covered.
    assert _stratified_coverage(300, (37, 3), seed=1) >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize("n_per", [(35, 5), (36, 4), (37, 3), (20, 20), (5, 35)])
def test_weighted_labels_cover_at_their_level(n_per: tuple[int, int]) -> None:
    assert _stratified_coverage(3000, n_per, seed=sum(n_per)) >= 0.93


def test_labels_of_a_trial_that_is_not_there_are_refused_with_that_cause() -> None:
    ids = ["q0", "q1", "q2"]
    judge = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    labels = [HumanLabel(q, "variant", 1.0, trial="7") for q in ids]
    names = (["a", "b"], ["a", "b"])
    with pytest.raises(InputError, match=r"they name 7, the results a, b; correct"):
        judge_audit(ids, judge, judge, labels, trials=names)
    with pytest.raises(InputError, match="check question_id"):
        judge_audit(ids, judge, judge, [HumanLabel("x", "variant", 1.0)], trials=names)
    nothing = np.full((3, 2), np.nan)
    labels = [HumanLabel(q, "variant", 1.0, trial="a") for q in ids]
    with pytest.raises(InputError, match="an answer that the judge scored"):
        judge_audit(ids, judge, nothing, labels, trials=names)
