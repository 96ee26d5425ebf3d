"""Deltas reweighted to a stated mix of slices."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from onechange.errors import PlanError
from onechange.slice_weights import WeightedDelta
from onechange.stats.reweight import weighted_cr2_law


def arms(n_trials: int = 1, **columns: object) -> tuple[pd.DataFrame, pd.DataFrame]:
    """60 easy and 20 hard questions; easy ones gain, hard ones lose."""
    n = 80
    rng = np.random.default_rng(6)
    kind = ["easy"] * 60 + ["hard"] * 20
    score = rng.random(n)
    change = np.where(np.arange(n) < 60, 0.1, -0.3) + rng.normal(0, 0.1, n)
    made = []
    for arm in (score, score + change):
        rows = [
            pd.DataFrame(
                {
                    "question_id": [f"q{i:02}" for i in range(n)],
                    "trial": trial,
                    "kind": kind,
                    "score": arm + 0.15 * (trial - 1) + rng.normal(0, 0.01, n) * trial,
                    **columns,
                }
            )
            for trial in range(n_trials)
        ]
        frame = pd.concat(rows)
        made.append(frame if n_trials > 1 else frame.drop(columns="trial"))
    return made[0], made[1]


def weighted(weights: object, *frames: pd.DataFrame, **more: object) -> WeightedDelta:
    plan = oc.Plan(weights={"kind": weights}, **more)
    comparison = oc.compare(*(frames or arms()), plan)
    (breakdown,) = comparison.slices
    (found,) = breakdown.weighted
    return found


def slice_rows(*frames: pd.DataFrame) -> dict[str, oc.Delta]:
    comparison = oc.compare(*(frames or arms()), oc.Plan(slices=["kind"]))
    return {d.slice[0][1]: d for d in comparison.slices[0].deltas}


def test_a_stated_mix_moves_the_delta_and_its_interval() -> None:
    rows = slice_rows()
    found = weighted({"easy": 1, "hard": 3})
    assert found.kind == "reweighted"
    assert dict(found.weights) == {"easy": 0.25, "hard": 0.75}
    assert found.delta == pytest.approx(
        0.25 * rows["easy"].delta + 0.75 * rows["hard"].delta
    )
    assert found.variant - found.baseline == pytest.approx(found.delta)
    below = np.hypot(
        0.25 * (rows["easy"].delta - rows["easy"].interval.low),
        0.75 * (rows["hard"].delta - rows["hard"].interval.low),
    )
    assert found.interval.low == pytest.approx(found.delta - below)
    assert found.interval.method == "mover"


def test_equal_weights_are_the_macro_average() -> None:
    rows = slice_rows()
    found = weighted("equal")
    assert found.kind == "macro"
    assert found.delta == pytest.approx(np.mean([d.delta for d in rows.values()]))


def test_a_declared_slice_without_pairs_makes_it_undefined() -> None:
    found = weighted({"easy": 0.5, "medium": 0.5})
    assert found.delta is None
    assert found.interval is None
    assert found.reason == 'no pair in "medium"; slices with pairs: hard, easy'


def test_slices_without_a_weight_are_named() -> None:
    found = weighted({"hard": 2.0})
    assert found.left_out == ("easy",)
    rows = slice_rows()
    assert found.delta == pytest.approx(rows["hard"].delta)
    assert found.interval.low == pytest.approx(rows["hard"].interval.low)


def test_a_weight_of_zero_needs_no_pairs() -> None:
    found = weighted({"hard": 1.0, "medium": 0.0})
    assert found.delta == pytest.approx(slice_rows()["hard"].delta)


def test_a_slice_of_few_pairs_gives_its_guarded_interval() -> None:
    base, other = arms()
    keep = np.r_[0:60, 60:64]
    frames = base.iloc[keep], other.iloc[keep]
    assert slice_rows(*frames)["hard"].interval is None
    found = weighted({"easy": 0.5, "hard": 0.5}, *frames)
    assert found.interval.low < found.delta < found.interval.high


def test_clusters_across_slices_use_the_weighted_law() -> None:
    document = [f"d{i % 8}" for i in range(80)]
    base, other = arms(document=document)
    columns = oc.Columns(cluster="document")
    found = weighted({"easy": 0.5, "hard": 0.5}, base, other, columns=columns)
    difference = (other.score - base.score).to_numpy()
    law = weighted_cr2_law(
        difference,
        (np.arange(80) >= 60).astype(np.int64),
        np.array([0.5, 0.5]),
        np.arange(80) % 8,
    )
    assert found.interval.method == "cr2-t"
    assert (found.interval.low, found.interval.high) == pytest.approx(law.limits(0.025))


def test_clusters_within_slices_are_independent_parts() -> None:
    document = [f"d{i // 4}" for i in range(80)]
    base, other = arms(document=document)
    columns = oc.Columns(cluster="document")
    found = weighted({"easy": 0.5, "hard": 0.5}, base, other, columns=columns)
    assert found.interval.method == "mover"


def test_whole_runs_that_differ_widen_the_mix() -> None:
    frames = arms(n_trials=3)
    comparison = oc.compare(*frames, oc.Plan(weights={"kind": "equal"}))
    assert comparison.deltas[0].interval.method == "two-way"
    (found,) = comparison.slices[0].weighted
    assert found.interval.method == "two-way"
    whole = comparison.deltas[0].interval
    width = found.interval.high - found.interval.low
    assert width > 0.9 * (whole.high - whole.low)


def test_a_word_that_is_no_mix_is_refused() -> None:
    with pytest.raises(PlanError, match='give a share per label of kind, or "equal"'):
        weighted("evenly")


def test_the_mix_needs_its_column() -> None:
    with pytest.raises(PlanError, match='slice "kin" is not a column'):
        oc.compare(*arms(), oc.Plan(weights={"kin": "equal"}))
