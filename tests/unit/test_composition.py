"""Run means that tell another story than the paired delta."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from onechange.report import render


def simpson() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The variant loses in every slice, and leaves hard questions unscored."""
    n = 100
    kind = np.repeat(["easy", "hard"], 50)
    rng = np.random.default_rng(1)
    score = np.where(kind == "easy", 0.8, 0.2) + rng.uniform(-0.05, 0.05, n)
    change = -0.06 + rng.uniform(-0.04, 0.04, n)
    other = score + change
    other[60:] = np.nan  # 40 of the 50 hard ones
    ids = [f"q{i:02}" for i in range(n)]
    return (
        pd.DataFrame({"question_id": ids, "kind": kind, "score": score}),
        pd.DataFrame({"question_id": ids, "kind": kind, "score": other}),
    )


def compared() -> oc.Comparison:
    return oc.compare(*simpson(), oc.Plan(slices=["kind"]))


def test_the_run_means_rise_while_the_delta_and_every_slice_fall() -> None:
    comparison = compared()
    (found,) = comparison.compositions
    base, other = simpson()
    assert found.baseline == pytest.approx(base.score.mean())
    assert found.variant == pytest.approx(other.score.mean())
    assert found.difference > 0.1
    assert found.delta == comparison.deltas[0].delta < 0
    assert all(d.delta < 0 for d in comparison.slices[0].deltas)
    assert found.differs


def test_the_shifts_of_all_questions_add_up_to_the_gap() -> None:
    (found,) = compared().compositions
    assert found.n_one_arm == 40
    base, _ = simpson()
    alone = base.score[60:]
    pairs = base.score[:60]
    shifts = -(alone - pairs.mean()) / 100
    assert shifts.sum() == pytest.approx(found.difference - found.delta)
    assert len(found.questions) == 20
    largest = max(found.questions, key=lambda q: q.shift)
    assert found.questions[0] == largest
    assert largest.shift == pytest.approx(shifts.max())
    assert largest.arm == "baseline"


def test_the_mix_of_slices_per_arm_is_listed() -> None:
    (found,) = compared().compositions
    ((name, rows),) = found.mixes
    assert name == "kind"
    counts = {
        row.label: (row.n_questions, row.n_pairs, row.n_baseline, row.n_variant)
        for row in rows
    }
    assert counts == {"easy": (50, 50, 50, 50), "hard": (50, 10, 50, 10)}


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_the_report_names_both_numbers(form: str) -> None:
    comparison = compared()
    (found,) = comparison.compositions
    text = " ".join(render(comparison, form).split())
    assert "composition" in text
    sentence = r"runs differ by \+(\S+), those over the same questions by −(\S+)\."
    difference, delta = map(float, re.search(sentence, text).groups())
    assert difference == pytest.approx(found.difference, abs=6e-4)
    assert -delta == pytest.approx(found.delta, abs=6e-4)
    assert "in one arm only: q" in text


def test_a_small_gap_is_kept_and_not_flagged() -> None:
    base, other = simpson()
    other = other.iloc[:-1].copy()
    other["score"] = base.score[:-1] - 0.05 + 0.2 * np.sin(np.arange(99))
    comparison = oc.compare(base, other)
    (found,) = comparison.compositions
    assert found.n_one_arm == 1
    assert not found.differs
    assert found.mixes == ()
    assert "composition" not in {note.code for note in comparison.deltas[0].notes}


def test_the_same_questions_need_no_comparison() -> None:
    base, _ = simpson()
    other = base.assign(score=base.score + 0.1)
    assert oc.compare(base, other).compositions == ()
