"""Transitions, stage attribution, oracle context and the reading of four scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onechange.diagnosis import (
    correct_grounded,
    evidence_support,
    oracle_gap,
    question_categories,
    stage_attribution,
    stage_reading,
    transitions,
)
from onechange.errors import MethodError
from onechange.score.failures import CATEGORIES

Arm = tuple[np.ndarray, np.ndarray]


def _arm(rng: np.random.Generator, n: int, share: float, gain: float) -> Arm:
    h = (rng.random(n) < share).astype(float)
    c = (rng.random(n) < 0.2 + gain * h).astype(float)
    return h, c


def test_transitions_list_the_questions_of_each_cell() -> None:
    table = transitions(
        ["q4", "q1", "q2", "q3", "q5"],
        ["RETRIEVAL_MISS", "SUCCESS", "RETRIEVAL_MISS", None, None],
        ["SUCCESS", "SUCCESS", "SUCCESS", "SUCCESS", None],
        categories=CATEGORIES,
    )
    assert table.categories == ("RETRIEVAL_MISS", "SUCCESS")
    assert table.counts == ((0, 2), (0, 1))
    assert table.questions["RETRIEVAL_MISS", "SUCCESS"] == ("q2", "q4")
    assert (table.baseline, table.variant) == ((2, 1), (0, 4))
    assert (table.n_unknown_baseline, table.n_unknown_both) == (1, 1)
    assert (table.n_questions, table.n_changed) == (3, 2)
    total = table.n_questions + table.n_unknown_baseline + table.n_unknown_both
    assert total + table.n_unknown_variant == 5
    assert table.to_dicts()[0] == {
        "baseline": "RETRIEVAL_MISS",
        "RETRIEVAL_MISS": 0,
        "SUCCESS": 2,
    }


def test_no_known_category_gives_an_empty_table() -> None:
    table = transitions(["q1"], [None], ["SUCCESS"])
    assert table.n_questions == 0
    assert table.symmetry.pvalue is None
    with pytest.raises(MethodError, match="lengths must agree"):
        transitions(["q1"], [], [])


def test_a_question_has_the_category_of_most_of_its_trials() -> None:
    question = [0, 0, 0, 1, 1, 2, 2, 3]
    category = ["A", None, "A", "A", "B", "B", "own", None]
    got = question_categories(question, category, 5, worst_first=["A", "B"])
    # Equally many: the first in order; a category that is not in it stands before.
    assert got == ["A", "A", "own", None, None]
    again = question_categories(
        question[::-1], category[::-1], 5, worst_first=["A", "B"]
    )
    assert again == got


def test_correct_but_ungrounded_is_named() -> None:
    one, zero = np.array([1.0]), np.array([0.0])
    table = correct_grounded(["q"], (one, zero), (one, one))
    assert table.questions == {
        ("correct but ungrounded", "correct and grounded"): ("q",)
    }
    tables = np.array([[0.0, 1.0, 1.0]]), np.array([[1.0, 1.0, 0.0]])
    table = evidence_support(["q"], (zero, one), tables)
    # One trial each of three categories: the worst counts.
    assert table.questions == {
        ("no evidence but supported", "no evidence but supported"): ("q",)
    }
    tables = np.array([[0.0, 1.0, 1.0]]), np.array([[0.0, 1.0, 1.0]])
    assert evidence_support(["q"], (zero, one), tables).questions == {
        ("no evidence but supported", "evidence and supported"): ("q",)
    }
    table = evidence_support(["q"], (zero, np.array([np.nan])), (one, one))
    assert table.n_unknown_baseline == 1


arms = st.integers(0, 2**32 - 1).map(
    lambda seed: _arm(np.random.default_rng(seed), 60, 0.5, 0.5)
)


@settings(deadline=None, max_examples=40)
@given(arms, arms)
def test_the_parts_add_up_to_the_delta(baseline: Arm, variant: Arm) -> None:
    parts = stage_attribution(baseline, variant, n_resamples=199)
    assert parts.reason is None
    assert parts.retrieval is not None
    assert parts.generation is not None
    assert parts.delta == pytest.approx(variant[1].mean() - baseline[1].mean())
    assert parts.retrieval + parts.generation == pytest.approx(parts.delta, abs=1e-12)
    back = stage_attribution(variant, baseline, n_resamples=199)
    assert back.retrieval == pytest.approx(-parts.retrieval, abs=1e-12)
    assert back.generation == pytest.approx(-parts.generation, abs=1e-12)


def test_a_change_of_retrieval_alone_has_no_generation_part() -> None:
    h_b = np.repeat([0.0, 1.0], [30, 20])
    h_v = np.repeat([0.0, 1.0], [10, 40])
    parts = stage_attribution((h_b, h_b), (h_v, h_v), n_resamples=499)
    assert parts.retrieval == pytest.approx(0.4)
    assert parts.generation == pytest.approx(0.0, abs=1e-15)
    assert parts.generation_interval is not None
    assert parts.generation_interval.degenerate


def test_the_intervals_are_those_of_a_plain_paired_bootstrap() -> None:
    rng = np.random.default_rng(5)
    n = 120
    baseline, variant = _arm(rng, n, 0.5, 0.5), _arm(rng, n, 0.7, 0.6)
    parts = stage_attribution(baseline, variant, n_resamples=9999)

    def retrieval(index: np.ndarray) -> float:
        (hb, cb), (hv, cv) = ((h[index], c[index]) for h, c in (baseline, variant))
        total = 0.0
        for value in (0.0, 1.0):
            b, v = hb == value, hv == value
            total += (v.mean() - b.mean()) * (cb[b].mean() + cv[v].mean()) / 2
        return total

    assert parts.retrieval == pytest.approx(retrieval(np.arange(n)), abs=1e-12)
    drawn = [retrieval(rng.integers(0, n, n)) for _ in range(4000)]
    interval = parts.retrieval_interval
    assert interval is not None
    # expanded tail: Φ(−√(n/(n−1)) t) at n = 120
    tail = 0.0233
    low, high = np.quantile(drawn, [tail, 1 - tail])
    assert interval.low == pytest.approx(low, abs=0.01)
    assert interval.high == pytest.approx(high, abs=0.01)
    assert interval.method == "expanded-percentile"


def test_neither_row_order_nor_repetition_changes_the_attribution() -> None:
    rng = np.random.default_rng(8)
    baseline, variant = _arm(rng, 80, 0.5, 0.5), _arm(rng, 80, 0.7, 0.6)
    clusters = rng.integers(0, 12, 80)
    order = rng.permutation(80)

    def shuffled(arm: Arm) -> Arm:
        return arm[0][order], arm[1][order]

    for labels in (None, clusters):
        first = stage_attribution(baseline, variant, clusters=labels, n_resamples=499)
        again = stage_attribution(
            shuffled(baseline),
            shuffled(variant),
            clusters=None if labels is None else labels[order],
            n_resamples=499,
        )
        assert first == again
    assert first.n_clusters == np.unique(clusters).size


def test_trials_are_averaged_within_their_question() -> None:
    rng = np.random.default_rng(3)
    h, c = _arm(rng, 40, 0.5, 0.5)
    single = stage_attribution((h, c), (1 - h, c), n_resamples=199)
    twice = stage_attribution(
        (np.column_stack([h, h]), np.column_stack([c, c])),
        (np.column_stack([1 - h, np.full(40, np.nan)]), np.column_stack([c, c])),
        n_resamples=199,
    )
    assert single == twice


def test_a_cell_with_fewer_than_five_questions_is_not_reported() -> None:
    h_b, h_v = np.repeat([0.0, 1.0], [20, 4]), np.repeat([0.0, 1.0], [10, 14])
    parts = stage_attribution((h_b, h_b), (h_v, h_v))
    assert parts.retrieval is None
    assert parts.delta == pytest.approx(10 / 24)
    assert parts.reason is not None
    assert "a cell holds 4 questions" in parts.reason


def test_unknown_values_leave_the_pair_out() -> None:
    h = np.repeat([0.0, 1.0], 10)
    c = h.copy()
    c[0] = np.nan
    parts = stage_attribution((h, c), (h, h), n_resamples=199)
    assert parts.n_pairs == 19
    nothing = stage_attribution((h, np.full(20, np.nan)), (h, h))
    assert nothing.n_pairs == 0
    assert nothing.delta is None


def test_resamples_with_an_empty_cell_are_counted() -> None:
    h_b = np.repeat([0.0, 1.0], [60, 5])
    clusters = np.r_[np.arange(60) % 11, np.full(5, 11)]
    h_v = 1 - h_b
    parts = stage_attribution(
        (h_b, h_b), (h_v, h_v), clusters=clusters, n_resamples=499
    )
    # one of twelve clusters holds the cell: (11/12)^12 = 0.352 of resamples lack it
    drawn_in_all = 499 + parts.n_redrawn
    assert parts.n_redrawn / drawn_in_all == pytest.approx(0.352, abs=0.06)


def test_few_clusters_have_parts_without_interval() -> None:
    h = np.tile([0.0, 1.0], 20)
    parts = stage_attribution((h, h), (h, h), clusters=np.repeat([0, 1, 2, 3], 10))
    assert parts.retrieval == 0.0
    assert parts.retrieval_interval is None
    assert [note.code for note in parts.notes] == ["few-clusters"]


def test_evidence_that_is_no_flag_is_refused() -> None:
    h = np.array([0.5] * 10)
    with pytest.raises(MethodError, match="evidence present must be 0, 1"):
        stage_attribution((h, h), (h, h))
    with pytest.raises(MethodError, match="expected the same shape"):
        stage_attribution((h, h[:3]), (h, h))
    flags = np.ones(10)
    with pytest.raises(MethodError, match="the same questions"):
        stage_attribution((flags, flags), (flags[:5], flags[:5]))
    with pytest.raises(MethodError, match="one cluster a question"):
        stage_attribution((flags, flags), (flags, flags), clusters=np.zeros(3, int))


def test_the_oracle_gap_is_a_difference_of_paired_deltas() -> None:
    rng = np.random.default_rng(2)
    n = 60
    retrieved_b = rng.integers(0, 2, n).astype(float)
    oracle_b = np.maximum(retrieved_b, rng.integers(0, 2, n))
    retrieved_v = np.maximum(retrieved_b, rng.integers(0, 2, n))
    retrieved_v[:5] = np.nan
    oracle_v = np.ones(n)
    gap = oracle_gap(
        "correct",
        baseline=(retrieved_b, oracle_b),
        variant=(retrieved_v, oracle_v),
        score_range=(0, 1),
    )
    assert gap.baseline.delta == pytest.approx((oracle_b - retrieved_b).mean())
    both = slice(5, None)
    assert gap.difference.n_pairs == n - 5
    assert gap.difference.delta == pytest.approx(
        (oracle_v - retrieved_v)[both].mean() - (oracle_b - retrieved_b)[both].mean()
    )
    assert gap.difference.interval is not None
    assert gap.oracle.delta == pytest.approx(1 - oracle_b.mean())
    assert gap.reading.endswith("retrieval is the larger loss.")
    low = oracle_gap("x", baseline=(oracle_b, oracle_b), variant=(oracle_b, oracle_b))
    assert "without a declared range" in low.reading
    empty = np.full(3, np.nan)
    none = oracle_gap("x", baseline=(empty, empty), variant=(empty, empty))
    assert "no question with both kinds of context" in none.reading


def test_each_low_score_points_at_its_stage() -> None:
    findings = stage_reading(
        {
            "faithfulness": 0.69,
            "page_recall_at_10": 0.2,
            "page_recall_at_5": 0.1,
            "page_context_precision_ranked_at_5": 0.7,
            "answer_relevance": None,
        }
    )
    got = {f.metric: (f.column, f.low, f.stage) for f in findings}
    assert got == {
        "context_recall": ("page_recall_at_5", True, "retrieval"),
        "context_precision": ("page_context_precision_ranked_at_5", False, "ranking"),
        "faithfulness": ("faithfulness", True, "generation"),
        "answer_relevance": (None, None, "generation"),
    }
    assert "below 0.7" in findings[0].sentence
    strict = stage_reading({"faithfulness": 0.9}, thresholds={"faithfulness": 0.95})
    assert strict[2].low is True
