"""Slices: which questions they hold, how they are ordered, what they say together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from onechange.errors import PlanError
from onechange.plan import SliceSpec
from onechange.slices import (
    MAX_SLICES,
    NO_LABEL,
    labels_questions,
    slice_questions,
    small_label,
)

N = 40
IDS = [f"q{i:02}" for i in range(N)]


def frame(shift: float = 0.0, **columns: object) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    score = rng.random(N) + shift
    return pd.DataFrame({"question_id": IDS, "score": score, **columns})


def compared(plan: oc.Plan, shift: object = 0.1, **columns: object) -> oc.Comparison:
    return oc.compare(frame(**columns), frame(shift, **columns), plan)


def labels(comparison: oc.Comparison, spec: SliceSpec) -> dict[tuple[str, ...], int]:
    parts = slice_questions(comparison.pairs[0], spec)
    return {
        tuple(text for _, text in part.label): int(part.questions.sum())
        for part in parts
    }


def test_every_question_is_in_one_slice_and_a_missing_label_is_a_slice() -> None:
    kind = ["a", "b", None, "b"] * 10
    comparison = compared(oc.Plan(slices=["kind"]), kind=kind)
    found = labels(comparison, SliceSpec(("kind",)))
    assert found == {("a",): 10, ("b",): 20, (NO_LABEL,): 10}


def test_crossed_slices_hold_what_is_in_both() -> None:
    kind, level = ["a", "b"] * 20, ["x", "x", "y", "y"] * 10
    comparison = compared(oc.Plan(slices=["kind,level"]), kind=kind, level=level)
    assert labels(comparison, SliceSpec(("kind", "level"))) == {
        ("a", "x"): 10,
        ("a", "y"): 10,
        ("b", "x"): 10,
        ("b", "y"): 10,
    }
    names = {d.slice for d in comparison.slices[0].deltas}
    assert (("kind", "a"), ("level", "x")) in names


def test_a_number_is_cut_at_the_stated_points() -> None:
    tokens = np.arange(N, dtype=float)
    tokens[0] = np.nan
    comparison = compared(oc.Plan(slices=["tokens:10,30"]), tokens=tokens)
    assert labels(comparison, SliceSpec(("tokens",), (10, 30))) == {
        ("< 10",): 9,
        ("10 to < 30",): 20,
        (">= 30",): 10,
        (NO_LABEL,): 1,
    }


@pytest.mark.parametrize(("spec", "words"), [
    ("knd", 'did you mean "kind"'),
    ("scor:0.5", 'did you mean "score"'),
])  # fmt: skip
def test_a_column_that_is_not_there_is_named(spec: str, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        compared(oc.Plan(slices=[spec]), kind=["a", "b"] * 20)


def test_a_column_of_too_many_values_is_no_breakdown() -> None:
    n = MAX_SLICES + 1
    arm = pd.DataFrame(
        {
            "question_id": [f"q{i:05}" for i in range(n)],
            "label": [f"v{i}" for i in range(n)],
            "score": np.linspace(0, 1, n),
        }
    )
    with pytest.raises(PlanError, match=f"has {n} values over {n} questions"):
        oc.compare(arm, arm, oc.Plan(slices=["label"]))


def test_slices_are_sorted_by_worsening() -> None:
    kind = ["a"] * 12 + ["b"] * 14 + ["c"] * 14
    shift = np.concatenate([np.full(12, 0.1), np.full(14, -0.2), np.full(14, 0.3)])
    comparison = compared(oc.Plan(slices=["kind"]), shift, kind=kind)
    order = [d.slice[0][1] for d in comparison.slices[0].deltas]
    assert order == ["b", "a", "c"]
    plan = oc.Plan(slices=["kind"], metrics=[oc.Metric("score", direction="lower")])
    comparison = compared(plan, shift, kind=kind)
    order = [d.slice[0][1] for d in comparison.slices[0].deltas]
    assert order == ["c", "a", "b"]


def test_clusters_are_counted_inside_slices() -> None:
    kind, document = ["a", "b"] * 20, [f"d{i // 4}" for i in range(N)]
    plan = oc.Plan(slices=["kind"], columns=oc.Columns(cluster="document"))
    rng = np.random.default_rng(0)
    comparison = compared(plan, rng.normal(0.1, 0.2, N), kind=kind, document=document)
    for delta in comparison.slices[0].deltas:
        assert (delta.n_pairs, delta.n_clusters) == (20, 10)
        assert delta.interval.method == "guarded-cr2-t"


def test_row_order_changes_nothing() -> None:
    kind = ["a", "b", None, "b"] * 10
    rng = np.random.default_rng(4)
    base, other = frame(kind=kind), frame(rng.normal(0.1, 0.2, N), kind=kind)
    plan = oc.Plan(slices=["kind"])
    first = oc.compare(base, other, plan).slices[0]
    order = rng.permutation(N)
    second = oc.compare(base.iloc[order], other.iloc[order[::-1]], plan).slices[0]
    assert first.deltas == second.deltas
    assert first.heterogeneity == second.heterogeneity


def test_slices_taken_together_hold_the_questions_of_all() -> None:
    kind = ["a", "b", "c", "b"] * 10
    comparison = compared(oc.Plan(slices=["kind"]), kind=kind)
    spec, pairs = SliceSpec(("kind",)), comparison.pairs[0]
    found = labels_questions(pairs, spec, {(("kind", "a"),), (("kind", "c"),)})
    assert found.sum() == 20
    assert small_label(spec) == (("kind", "(small slices)"),)


# ---------------------------------------------------------------- what they say


def reversal_plan(**more: object) -> oc.Plan:
    return oc.Plan(slices=["kind"], **more)


def test_a_reversal_is_named_and_an_opposite_sign_listed_apart() -> None:
    n = 160
    kind = np.repeat(["up", "down", "little"], [100, 40, 20])
    rng = np.random.default_rng(2)
    change = np.concatenate([
        rng.normal(0.30, 0.10, 100),
        rng.normal(-0.20, 0.10, 40),
        rng.normal(-0.01, 0.20, 20),
    ])  # fmt: skip
    change[-20:] += -0.01 - change[-20:].mean()
    score = rng.random(n)
    arms = [
        pd.DataFrame(
            {"question_id": [f"q{i:03}" for i in range(n)], "kind": kind, "score": s}
        )
        for s in (score, score + change)
    ]
    comparison = oc.compare(*arms, oc.Plan(slices=["kind"]))
    shown, other = comparison.slices[0].reversals
    assert (shown.slice, shown.shown) == ((("kind", "down"),), True)
    assert shown.interval.high < 0 < comparison.deltas[0].interval.low
    assert (other.slice, other.shown) == ((("kind", "little"),), False)
    notes = {
        d.slice[0][1]: {note.code for note in d.notes}
        for d in comparison.slices[0].deltas
    }
    assert "reversal" in notes["down"]
    assert "opposite-sign" in notes["little"]
    assert not notes["up"] & {"reversal", "opposite-sign"}
    for form in ("text", "markdown"):
        from onechange.report import render

        report = render(comparison, form)
        assert "is shown to go the other way" in report or "Reversals" in report


def test_a_slice_that_is_shown_is_no_reversal_while_the_whole_is_open() -> None:
    kind = ["up"] * 20 + ["down"] * 20
    change = np.concatenate([np.linspace(0.1, 0.5, 20), np.linspace(-0.4, -0.15, 20)])
    comparison = compared(reversal_plan(), change, kind=kind)
    assert comparison.deltas[0].interval.low < 0 < comparison.deltas[0].interval.high
    (found,) = comparison.slices[0].reversals
    assert not found.shown
    (note,) = [
        note
        for d in comparison.slices[0].deltas
        for note in d.notes
        if note.code == "opposite-sign"
    ]
    assert "although the slice itself is shown" in note.text


def test_small_slices_are_no_reversals_and_in_no_family() -> None:
    kind = ["up"] * 34 + ["tiny"] * 6
    change = np.concatenate([np.linspace(0.1, 0.5, 34), np.linspace(-0.4, -0.15, 6)])
    comparison = compared(reversal_plan(), change, kind=kind)
    found = comparison.slices[0]
    assert found.reversals == ()
    tiny = next(d for d in found.deltas if d.slice[0][1] == "tiny")
    assert tiny.pvalue_adjusted is None
    assert tiny.simultaneous_interval is None
    assert "small-slice" in {note.code for note in tiny.notes}
    assert found.heterogeneity == ()


def test_the_minimum_size_can_be_set() -> None:
    kind = ["up"] * 34 + ["tiny"] * 6
    plan = reversal_plan(analysis=oc.Analysis(min_slice=5))
    comparison = compared(plan, np.linspace(-0.3, 0.5, N), kind=kind)
    assert all(d.pvalue_adjusted is not None for d in comparison.slices[0].deltas)
    assert len(comparison.slices[0].heterogeneity) == 1


def test_heterogeneity_is_tested_per_metric_with_shrunken_deltas() -> None:
    kind = ["a"] * 20 + ["b"] * 20
    change = np.concatenate([np.linspace(0.1, 0.5, 20), np.linspace(-0.4, 0.0, 20)])
    comparison = compared(reversal_plan(), change, kind=kind)
    (found,) = comparison.slices[0].heterogeneity
    assert found.test.pvalue < 0.01
    raw = {d.slice: d.delta for d in comparison.slices[0].deltas}
    for label, shrunken in found.shrunken:
        assert abs(shrunken - found.pooled_delta) < abs(raw[label] - found.pooled_delta)
        assert found.shrunken_delta(label) == shrunken
    assert found.shrunken_delta((("kind", "z"),)) is None
