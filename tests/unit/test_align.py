"""Pairing: the ledger, the notes, question means, trial tables, built-in rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onechange as oc
from casefiles import expected, folder
from onechange.align import Audit, Pairs, align, question_means, rate, trial_table
from onechange.errors import InputError, PairingError
from onechange.ledger import SettingChange, changed_settings
from onechange.read import read
from onechange.report.ledger import ledger_text
from onechange.results import Columns, Results
from onechange.stats.estimate import Note


def _arm(name: str, columns: Mapping[str, Sequence[Any]], **roles: Any) -> Results:
    return read(pd.DataFrame(dict(columns)), name=name, columns=Columns(**roles))


def _case(number: int, **roles: Any) -> tuple[Pairs, Audit]:
    columns = Columns(slices=("question_type",), **roles)
    arms = [
        read(next(folder(number).glob(f"{arm}.*")), columns=columns, name=arm)
        for arm in ("baseline", "variant")
    ]
    return align(*arms, columns=columns)


def _notes(audit: Audit, code: str) -> list[str]:
    return [note.text for note in audit.notes if note.code == code]


def _difference(pairs: Pairs, metric: str) -> np.ndarray:
    difference = question_means(pairs, "variant", metric) - question_means(
        pairs, "baseline", metric
    )
    difference = difference[pairs.paired]
    return difference[~np.isnan(difference)]


@pytest.mark.parametrize(
    ("number", "metric"),
    [(number, "answer_score") for number in (4, 15, 16, 18, 19, 20, 21, 31, 33, 35)]
    + [(22, "correct")],
)
def test_the_delta_of_each_case_is_right(number: int, metric: str) -> None:
    pairs, _ = _case(number)
    delta = _difference(pairs, metric).mean()
    assert delta == pytest.approx(expected(number)["delta"], abs=1e-9)


def test_unscored_answers_leave_their_question_out_on_both_sides() -> None:
    pairs, audit = _case(4)
    counts = audit.metrics["answer_score"]
    assert (counts.pairs, counts.unscored_baseline, counts.unscored_variant) == (
        6,
        1,
        1,
    )
    both = [
        question_means(pairs, arm, "answer_score") for arm in ("baseline", "variant")
    ]
    scored = ~np.isnan(both[0]) & ~np.isnan(both[1])
    assert both[0][scored].mean() == pytest.approx(expected(4)["baseline_mean"])
    assert both[1][scored].mean() == pytest.approx(expected(4)["variant_mean"])
    found = _notes(audit, "unscored-rows")
    assert found == ["Rows with status unscored: baseline 1, variant 1."]


def test_a_row_without_an_answer_is_told_apart_from_a_missing_score() -> None:
    words = ["answered", "abstained", "abstained", "failed"] * 5
    frame = pd.DataFrame(
        {
            "question_id": [f"q{i}" for i in range(20)],
            "status": words,
            "abstention_correct": [1.0, 0.0, 1.0, 1.0] * 5,
            "correct": [1.0, None, None, None] * 5,
        }
    )
    audit = oc.compare(frame, frame.assign(correct=[0.0, None, None, None] * 5)).audit
    assert audit.metrics["abstention_correct"].unscored_both == 0
    assert audit.metrics["correct"].unscored_both == 10
    assert _notes(audit, "unscored-rows") == [
        "Rows with status unscored: baseline 10, variant 10; the scores that 20 of "
        "them carry are used."
    ]
    assert "40 rows (status unscored 20, failed 10)" in ledger_text(audit)


def test_questions_of_one_arm_are_counted_and_named() -> None:
    _, audit = _case(19)
    right = expected(19)
    assert audit.paired == right["n_pairs"]
    assert list(audit.only_baseline) == right["only_baseline"]
    assert list(audit.only_variant) == right["only_variant"]
    assert audit.rows_left_out["unmatched"] == (2, 1)
    assert "2 only in baseline (q09, q10)" in _notes(audit, "unmatched-questions")[0]


def test_labels_such_as_na_are_slices() -> None:
    pairs, _ = _case(20)
    labels = pairs.labels["question_type"].tolist()
    assert {label: labels.count(label) for label in set(labels)} == expected(20)[
        "slice_n"
    ]


def test_row_and_column_order_do_not_matter() -> None:
    means = []
    for ending in ("", "_shuffled", "_wide"):
        arms = [
            read(folder(15) / f"{arm}{ending}.csv", name=arm)
            for arm in ("baseline", "variant")
        ]
        pairs, _ = align(*arms)
        means.append(_difference(pairs, "answer_score").tobytes())
    assert means[0] == means[1] == means[2]


def test_percent_against_fraction_is_noted_unless_a_range_is_declared() -> None:
    _, audit = _case(37)
    assert audit.scale_mismatch == ("faithfulness",)
    assert "from 66 to 91 in the variant" in _notes(audit, "scale-mismatch")[0]
    _, declared = _case(37, ranges={"faithfulness": (0.0, 100.0)})
    assert declared.scale_mismatch == ()


def test_scales_of_costs_and_whole_numbers_are_not_compared() -> None:
    b = _arm("b", {"question_id": ["1", "2"], "cost": [0.2, 0.4], "hit": [0, 1]})
    v = _arm("v", {"question_id": ["1", "2"], "cost": [3.0, 4.0], "hit": [3, 4]})
    assert align(b, v)[1].scale_mismatch == ()


def test_an_empty_metric_has_no_pairs_and_removes_none() -> None:
    _, audit = _case(40)
    assert audit.metrics["context_recall"].pairs == 0
    assert audit.metrics["context_recall"].unscored_both == 6
    assert audit.metrics["answer_score"].pairs == 6


def test_arms_without_a_common_question_are_refused_with_their_ids() -> None:
    b, v = ({"question_id": [f"{arm}1"], "a": [1]} for arm in "bv")
    with pytest.raises(PairingError, match=r'no question in common.*"b1".*"v1".*--id'):
        align(_arm("x", b), _arm("y", v))


def test_a_changed_question_text_is_not_comparable() -> None:
    ids = ["q1", "q2", "q3"]
    b = _arm(
        "b", {"question_id": ids, "question": ["A  b?", "C?", None], "f1": [1, 0, 1]}
    )
    v = _arm(
        "v", {"question_id": ids, "question": ["A b?", "D?", "E?"], "f1": [1, 1, 1]}
    )
    pairs, audit = align(b, v)
    assert audit.not_comparable == ("q2",)
    assert pairs.paired.tolist() == [True, False, True]
    assert audit.rows_left_out["not_comparable"] == (1, 1)
    assert _notes(audit, "not-comparable")[0].startswith(
        "1 question left out, as its question differs between the arms: q2"
    )
    _, several = align(
        b,
        _arm("v", {"question_id": ids, "question": ["X?", "D?", "E?"], "f1": [1] * 3}),
    )
    assert "2 questions left out, as their" in _notes(several, "not-comparable")[0]


def test_another_label_version_leaves_nothing_to_compare() -> None:
    b = _arm("b", {"question_id": ["1", "2"], "label_version": ["v1"] * 2, "a": [0, 1]})
    v = _arm("v", {"question_id": ["1", "2"], "label_version": ["v2"] * 2, "a": [0, 1]})
    with pytest.raises(PairingError, match="all 2 common ids differ in label_version"):
        align(b, v)


def test_settings_that_differ_are_listed_and_more_than_one_is_noted() -> None:
    rows = {"question_id": ["1", "2"], "a": [0, 1]}
    b = _arm("b", {**rows, "top_k": [3, 3], "model": ["m", "m"], "judge": ["x", "x"]})
    v = _arm("v", {**rows, "top_k": [8, 8], "model": ["m", "m"], "judge": ["y", "y"]})
    _, audit = align(b, v)
    changed = [(c.setting, c.baseline, c.variant) for c in audit.settings_changed]
    assert changed == [("judge", "x", "y"), ("top_k", 3, 8)]
    assert audit.settings_recorded == (True, True)
    assert "2 settings differ" in _notes(audit, "more-than-one-change")[0]
    assert "judge (x to y)" in _notes(audit, "judge-changed")[0]
    assert not _notes(audit, "settings-unknown")
    _, unknown = align(_arm("b", rows), v)
    assert "for b;" in _notes(unknown, "settings-unknown")[0]
    assert not _notes(unknown, "more-than-one-change")


def test_settings_that_read_the_same_are_equal() -> None:
    b = {"stream": True, "k": "3", "m": None, "rerank": False}
    v = {"stream": "True", "k": 3, "m": None, "rerank": True}
    changed = changed_settings(b, v)
    assert [(c.setting, c.baseline, c.variant) for c in changed] == [
        ("rerank", False, True)
    ]


def test_what_one_arm_alone_records_is_neither_equal_nor_a_change() -> None:
    assert changed_settings({"k": 1, "m": None}, {"m": 2, "j": 1}) == (
        SettingChange("m", None, 2),
    )


def test_texts_whose_labels_are_partly_absent_are_filled_from_the_variant() -> None:
    b = _arm("b", {"question_id": ["1", "2"], "a": [1, 0], "kind": ["x", None]})
    v = _arm("v", {"question_id": ["1", "2", "3"], "a": [1, 0, 1], "kind": ["y"] * 3})
    pairs, _ = align(b, v)
    assert pairs.labels["kind"].tolist() == ["x", "y", "y"]


def test_arms_of_different_shape_are_not_identical() -> None:
    one = _arm("b", {"question_id": ["1", "2"], "a": [1, 0]})
    fewer = _arm("v", {"question_id": ["1"], "a": [1]})
    other = _arm("v", {"question_id": ["1", "2"], "b": [1, 0]})
    for arm in (fewer, other):
        assert not _notes(align(one, arm)[1], "identical-arms")


def test_identical_arms_are_noted() -> None:
    assert _notes(_case(1)[1], "identical-arms")
    assert not _notes(_case(2)[1], "identical-arms")


def _trials(counts: Sequence[int], **metrics: Sequence[float]) -> dict[str, list[Any]]:
    ids = [f"q{i}" for i, count in enumerate(counts) for _ in range(count)]
    trials = [str(trial) for count in counts for trial in range(count)]
    return {"question_id": ids, "trial": trials, **metrics}


def test_unequal_trials_and_selective_reruns_are_noted() -> None:
    equal = _arm("b", _trials([2, 2, 2], a=[0, 1, 0, 1, 1, 1]))
    more = _arm("v", _trials([2, 2, 4], a=[0, 1, 0, 1, 1, 1, 0, 0]))
    _, audit = align(equal, more)
    assert audit.trials == (2, 4)
    assert (
        "b has 2 trials per question, v 2 to 4 trials"
        in (_notes(audit, "unequal-trials")[0])
    )
    assert (
        "v: 1 of 3 questions have more than 2 trials (up to 4)"
        in (_notes(audit, "selective-rerun")[0])
    )
    assert not _notes(align(equal, equal)[1], "unequal-trials")


def test_identical_trials_are_noted() -> None:
    arm = _arm("b", _trials([3, 3], a=[0, 0, 1, 0.5, 0.5, 1]))
    _, audit = align(arm, arm)
    assert (
        "baseline: trials 0 and 1 have the same score"
        in (_notes(audit, "identical-trials")[0])
    )


def test_metrics_of_one_arm_are_noted() -> None:
    b = _arm("b", {"question_id": ["1"], "a": [1], "only_b": [1]})
    v = _arm("v", {"question_id": ["1"], "a": [0]})
    pairs, audit = align(b, v)
    assert _notes(audit, "metric-only-in-one-arm") == ["Metrics only in b: only_b."]
    assert audit.metrics["only_b"].pairs == 0
    assert np.isnan(question_means(pairs, "variant", "only_b")).all()


def test_a_column_that_one_arm_left_empty_is_a_label_when_the_other_says_so() -> None:
    b = _arm("b", {"question_id": ["1", "2"], "a": [1, 0], "note": [None, None]})
    v = _arm("v", {"question_id": ["1", "2"], "a": [0, 1], "note": ["x", "y"]})
    for first, second in ((b, v), (v, b)):
        pairs, audit = align(first, second)
        assert list(audit.metrics) == ["a"]
        assert pairs.labels["note"].tolist() == ["x", "y"]


def test_possible_clusters_and_repeated_questions_are_noted() -> None:
    n = 60
    rows = {
        "question_id": [f"q{i:02d}" for i in range(n)],
        "doc_name": [f"d{i // 5}" for i in range(n)],
        "supplier": [f"s{i // 2}" for i in range(n)],
        "qtype": [f"t{i % 3}" for i in range(n)],
        "question": [f"text {i // 2 * 2 if i < 4 else i}" for i in range(n)],
        "score": [i % 2 for i in range(n)],
    }
    _, audit = align(_arm("b", rows), _arm("v", rows))
    text = _notes(audit, "possible-cluster")[0]
    assert "doc_name (12 values over 60 questions)" in text
    assert "supplier (30 values" in text
    assert "qtype" not in text
    assert "question (2)" in _notes(audit, "repeated-text")[0]
    declared = Columns(cluster="doc_name")
    arms = [_arm(name, rows, cluster="doc_name") for name in "bv"]
    pairs, audit = align(*arms, columns=declared)
    assert not _notes(audit, "possible-cluster")
    assert pairs.clusters is not None
    assert np.unique(pairs.clusters).size == 12


def test_a_question_without_cluster_label_is_a_cluster_of_its_own() -> None:
    rows = {"question_id": ["1", "2", "3", "4"], "doc": ["d", None, "d", None]}
    arm = _arm("b", {**rows, "a": [0, 1, 1, 0]}, cluster="doc")
    pairs, _ = align(arm, arm, columns=Columns(cluster="doc"))
    assert pairs.clusters is not None
    assert pairs.clusters[0] == pairs.clusters[2]
    assert np.unique(pairs.clusters).size == 3
    with pytest.raises(InputError, match=r'no cluster column "page".*doc'):
        align(arm, arm, columns=Columns(cluster="page"))


def test_trials_are_averaged_over_those_that_are_scored() -> None:
    rows = _trials([2, 3], a=[1, 0, None, None, 1], b=[None] * 5)
    pairs, _ = align(_arm("b", rows), _arm("v", rows))
    np.testing.assert_array_equal(question_means(pairs, "baseline", "a"), [0.5, 1.0])
    assert np.isnan(question_means(pairs, "variant", "b")).all()
    nan = np.nan
    np.testing.assert_array_equal(
        trial_table(pairs, "variant", "a"), [[1, 0, nan], [nan, nan, 1]]
    )
    assert np.isnan(trial_table(pairs, "variant", "none")).all()


def test_built_in_rates_are_shares_of_the_trials() -> None:
    rows = _trials([2, 2, 1], a=[1, 0, None, None, None])
    status = ["ok", "failed", "refused", "ok", "timeout"]
    extra = {"question_id": ["q0"], "a": [None]}
    pairs, audit = align(_arm("b", {**rows, "status": status}), _arm("v", extra))
    for name, right in (
        ("failed", [0.5, 0.0, 1.0]),
        ("unscored", [0.0, 0.5, 0.0]),
        ("answered", [0.5, 0.5, 0.0]),
    ):
        np.testing.assert_array_equal(rate(pairs, "baseline", name), right)
    assert rate(pairs, "variant", "failed") is None
    np.testing.assert_array_equal(
        rate(pairs, "variant", "unscored"), [1.0, np.nan, np.nan]
    )
    assert audit.rows_by_status == {
        "answered": (2, 0),
        "unscored": (1, 1),
        "failed": (2, 0),
    }
    assert _notes(audit, "not-measured") == ["v has no score at all."]


def test_failed_wins_over_unscored_in_the_ledger() -> None:
    ids = ["1", "2", "3", "4", "5", "6"]
    b = {"a": [1, None, None, None, None, 1], "status": ["ok", "failed"] * 3}
    v = {"a": [1, 1, None, None, 1, None]}
    v["status"] = ["ok", "ok", "ok", "failed", "ok", "error"]
    arms = (_arm("b", {"question_id": ids, **b}), _arm("v", {"question_id": ids, **v}))
    _, audit = align(*arms)
    counts = audit.metrics["a"]
    assert counts.pairs == 1
    assert counts.failed_baseline == 1
    assert counts.failed_variant == 0
    assert counts.failed_both == 2
    assert counts.unscored_both == 1
    assert counts.unscored_baseline == 1


def test_notes_of_reading_say_which_arm_they_are_of() -> None:
    rows = {"question_id": ["1", "2"], "a": [0, 1]}
    b, v = _arm("b", rows), _arm("v", {**rows, "x": [0, 1]})
    audit = align(b, v)[1]
    texts = _notes(audit, "role-inferred")
    assert texts == [
        "b: Roles read from the columns: metrics: a.",
        "v: Roles read from the columns: metrics: a, x.",
    ]


def test_the_audit_as_plain_values_follows_the_schema() -> None:
    _, audit = _case(19)
    found = audit.to_dict()
    assert found["rows_read"] == {"baseline": 10, "variant": 9}
    assert found["questions"]["only_baseline"] == 2
    assert found["questions"]["only_variant_ids"] == ["q11"]
    assert found["metrics"]["answer_score"]["pairs"] == 8
    assert found["settings_changed"] == []
    assert {"code", "text"} == set(found["notes"][0])
    assert isinstance(audit.notes[0], Note)


STATUS = st.sampled_from(["ok", "failed", "refused"])
ROW = st.tuples(
    st.sampled_from([f"q{i}" for i in range(8)]),
    st.sampled_from(["1", "2", "3"]),
    STATUS,
    st.one_of(st.none(), st.sampled_from([0.0, 0.25, 1.0])),
    st.one_of(st.none(), st.floats(-5, 5)),
    st.sampled_from([None, "text A", "text B"]),
)
ROWS = st.lists(ROW, min_size=1, max_size=30, unique_by=lambda row: row[:2])
NAMES = ("question_id", "trial", "status", "a", "b", "question")


def _frame(rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(NAMES), dtype=object)


@given(ROWS, ROWS, st.booleans(), st.randoms(use_true_random=False))
def test_the_ledger_adds_up_and_ignores_row_order(
    first: list[Any], second: list[Any], with_status: bool, random: Any
) -> None:
    columns = Columns(metrics=("a", "b"))

    def aligned(one: list[Any], two: list[Any]) -> tuple[Pairs, Audit] | None:
        frames = [_frame(one), _frame(two)]
        if not with_status:
            frames = [frame.drop(columns="status") for frame in frames]
        arms = [
            read(frame, name=name, columns=columns)
            for frame, name in zip(frames, "bv", strict=True)
        ]
        try:
            return align(*arms)
        except PairingError:
            return None

    found = aligned(first, second)
    shuffled = aligned(
        random.sample(first, len(first)), random.sample(second, len(second))
    )
    if found is None or shuffled is None:
        assert found is shuffled
        return
    pairs, audit = found
    assert shuffled[1] == audit
    for arm, rows in enumerate((first, second)):
        assert audit.rows_read[arm] == len(rows)
        left_out = sum(counts[arm] for counts in audit.rows_left_out.values())
        assert audit.rows_paired[arm] + left_out == len(rows)
        assert sum(counts[arm] for counts in audit.rows_by_status.values()) == len(rows)
        alone = (audit.only_baseline, audit.only_variant)[arm]
        assert audit.questions[arm] == len({row[0] for row in rows})
        assert audit.questions[arm] == (
            audit.paired + len(alone) + len(audit.not_comparable)
        )
    for metric in ("a", "b"):
        counts = audit.to_dict()["metrics"][metric]
        assert sum(counts.values()) == audit.paired
        for name in ("baseline", "variant"):
            means = question_means(pairs, name, metric)
            again = question_means(shuffled[0], name, metric)
            assert means.tobytes() == again.tobytes()
    for arm_name, rows in (("baseline", first), ("variant", second)):
        means = question_means(pairs, arm_name, "a")
        for question, mean in zip(pairs.question_id, means, strict=True):
            scores = [
                row[3]
                for row in rows
                if row[0] == question
                and row[3] is not None
                and not (with_status and row[2] == "failed")
            ]
            right = np.mean(scores) if scores else np.nan
            np.testing.assert_allclose(mean, right)
