"""Deltas of one metric, from arrays."""

from __future__ import annotations

import numpy as np
import pytest

import onechange as oc


def test_a_tie_width_counts_ties_and_changes_no_delta() -> None:
    b, v = np.repeat([0.2, 0.4], 10), np.repeat([0.22, 0.9], 10)
    plain, wide = oc.paired_delta(b, v), oc.paired_delta(b, v, tie=0.05)
    assert (plain.wins, plain.ties) == (20, 0)
    assert (wide.wins, wide.ties) == (10, 10)
    assert wide.delta == plain.delta == pytest.approx(0.26)
    assert wide.interval == plain.interval
    assert wide.test == plain.test


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9, 1e12])
def test_a_constant_added_to_both_arms_changes_nothing(offset: float) -> None:
    b = offset + 7.0 * np.arange(30)
    v = b + 1
    v[::7] -= 3
    delta = oc.paired_delta(b, v)
    right = oc.paired_delta(b - offset, v - offset)
    assert delta.delta == right.delta
    assert (delta.wins, delta.ties, delta.losses) == (25, 0, 5)
    assert delta.test.pvalue == right.test.pvalue


@pytest.mark.parametrize("value", [(0, 1), (1, 1), (0, 0)])
def test_equal_differences_in_unequal_clusters_are_no_crash(value: tuple) -> None:
    clusters = [f"d{i}" for i in range(30) for _ in range(1 + i % 5)]
    n = len(clusters)
    delta = oc.paired_delta([value[0]] * n, [value[1]] * n, clusters=clusters)
    assert delta.delta == value[1] - value[0]
    assert delta.n_clusters == 30


def test_arrays_that_cannot_be_paired_are_refused() -> None:
    with pytest.raises(oc.InputError, match="3 scores and variant 2"):
        oc.paired_delta([1, 2, 3], [1, 2])
    with pytest.raises(oc.InputError, match="infinite"):
        oc.paired_delta([1.0, float("inf")], [1, 2])
    with pytest.raises(oc.InputError, match="not a number"):
        oc.paired_delta(["a"], [1])
    with pytest.raises(oc.InputError, match="clusters"):
        oc.paired_delta([1, 2], [1, 2], clusters=["a"])
    with pytest.raises(oc.InputError, match="direction"):
        oc.paired_delta([1, 2], [1, 2], direction="up")
    with pytest.raises(oc.InputError, match="outside the declared"):
        oc.paired_delta([1, 2], [1, 2], score_range=(0, 1))
    with pytest.raises(oc.InputError, match="confidence_level"):
        oc.paired_delta([1, 2], [1, 2], confidence_level=95)
    with pytest.raises(oc.InputError, match="baseline has 2 dimensions"):
        oc.paired_delta(np.zeros((5, 2)), np.ones((5, 2)))
    with pytest.raises(oc.InputError, match="clusters has 2 dimensions"):
        oc.paired_delta([1, 2], [1, 2], clusters=[["a"], ["b"]])
    with pytest.raises(oc.InputError, match=r"variant\[1\] is '0': not a number"):
        oc.paired_delta([1, 0], [1, "0"])


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("n_resamples", 0, "n_resamples is 0; pass a whole number of 99 or more"),
        ("n_resamples", 99.5, "n_resamples is 99.5"),
        ("seed", -1, "seed is -1; pass a whole number of 0 or more"),
        ("seed", True, "seed is True"),
        ("tie", -0.1, "tie is -0.1; pass a finite number of 0 or more"),
        ("tie", float("nan"), "tie is nan"),
        ("score_range", (1, 0), r"score_range is \(1, 0\)"),
        ("score_range", (0, float("inf")), "score_range is"),
    ],
)
def test_settings_out_of_their_range_are_refused(
    setting: str, value: object, told: str
) -> None:
    asked = {setting: value}
    with pytest.raises(oc.InputError, match=told):
        oc.paired_delta([0, 1, 1], [1, 1, 0], **asked)  # type: ignore[arg-type]


MISSING_LABELS = [None, float("nan"), "", np.nan]


@pytest.mark.parametrize("missing", MISSING_LABELS)
def test_questions_without_a_cluster_label_are_clusters_of_their_own(
    missing: object,
) -> None:
    b, v = np.zeros(8), np.linspace(0.1, 0.8, 8)
    labels = ["a", "a", "b", "b", *[missing] * 4]
    delta = oc.paired_delta(b, v, clusters=labels)
    assert delta.n_clusters == 6
    right = oc.paired_delta(b, v, clusters=["a", "a", "b", "b", *"cdef"])
    assert delta.standard_error == right.standard_error
    texts = [n.text for n in delta.notes if n.code == "cluster-unlabelled"]
    assert texts == [
        "4 of 8 questions have no cluster label; each counts as a cluster of its own."
    ]


def test_missing_values_of_pandas_are_unscored_and_unlabelled() -> None:
    import pandas as pd

    b = pd.Series([1, 0, pd.NA, 1, 0, 1, 1], dtype="Int64")
    labels = pd.Series(["a", "a", pd.NA, "b", "b", "c", pd.NA], dtype="string")
    delta = oc.paired_delta(b, [1, 1, 1, 1, 0, 1, 1], clusters=labels)
    assert delta.n_pairs == 6
    assert delta.n_clusters == 4


def test_labels_of_several_kinds_are_clusters() -> None:
    labels = [None] * 4 + [1, 2, "2", 2]
    delta = oc.paired_delta(np.zeros(8), np.linspace(0.1, 0.8, 8), clusters=labels)
    assert delta.n_clusters == 7


def test_a_run_counts_the_questions_without_a_cluster_label() -> None:
    import pandas as pd

    ids = [f"q{i}" for i in range(8)]
    frame = pd.DataFrame({"question_id": ids, "m": np.arange(8) / 8})
    frame["doc"] = ["a", "a", None, None, "b", "b", "c", "c"]
    plan = oc.Plan(columns=oc.Columns(cluster="doc"))
    comparison = oc.compare(frame, frame.assign(m=frame["m"] + 0.1), plan)
    assert comparison.deltas[0].n_clusters == 5
    assert "cluster-unlabelled" in {n.code for n in comparison.audit.notes}


def test_one_question_has_no_intervals_that_could_disagree() -> None:
    delta = oc.paired_delta([1.0], [0.0])
    assert delta.interval is None
    assert "bootstrap-and-permutation-disagree" not in {n.code for n in delta.notes}
