"""Intervals stay within what scores can attain, and lose nothing by it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from onechange.delta import Delta
from onechange.stats.estimate import Interval

RUNS = ((0.05, 0.95), (0.9, 0.1))  # whole runs that differ, so intervals are wide


def _arm(rates: tuple[float, ...], scale: float, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    ids = [f"q{i:02}" for i in range(24)]
    parts = [
        pd.DataFrame(
            {
                "question_id": ids,
                "trial": trial,
                "kind": ["a", "b"] * 12,
                "correct": scale * (rng.random(24) < rate),
            }
        )
        for trial, rate in enumerate(rates)
    ]
    return pd.concat(parts)


def _deltas(scale: float = 1.0, **declared: object) -> tuple[Delta, ...]:
    metric = oc.Metric("correct", direction="higher", **declared)  # type: ignore[arg-type]
    plan = oc.Plan(metrics=[metric], slices=["kind"], weights={"kind": "equal"})
    arms = [_arm(rates, scale, seed) for seed, rates in enumerate(RUNS)]
    comparison = oc.compare(*arms, plan)
    return (*comparison.deltas, *comparison.slices[0].deltas)


def _intervals(delta: Delta) -> list[tuple[Interval | None, float, float]]:
    return [
        (delta.interval, -1, 1),
        (delta.simultaneous_interval, -1, 1),
        (delta.baseline_interval, 0, 1),
        (delta.variant_interval, 0, 1),
    ]


def test_trial_means_of_0_and_1_have_intervals_within_their_range() -> None:
    found = [part for delta in _deltas() for part in _intervals(delta)]
    cut = 0
    for interval, lowest, highest in found:
        if interval is not None:
            assert lowest <= interval.low <= interval.high <= highest
            cut += interval.low == lowest or interval.high == highest
    assert cut > 0


def test_only_what_cannot_be_attained_is_cut_off() -> None:
    """Scores of 0 and 2 have no known range: halved, they show what was cut."""
    for delta, twice in zip(_deltas(), _deltas(2.0), strict=True):
        for (short, low, high), (whole, _, _) in zip(
            _intervals(delta), _intervals(twice), strict=True
        ):
            assert (short is None) == (whole is None)
            if short is not None and whole is not None:
                ends = (max(whole.low / 2, low), min(whole.high / 2, high))
                assert (short.low, short.high) == pytest.approx(ends, abs=1e-9)


def test_a_declared_range_bounds_intervals_of_any_scores() -> None:
    for delta in _deltas(2.0, range=(0, 2)):
        for interval, lowest, highest in _intervals(delta):
            if interval is not None:
                assert 2 * lowest <= interval.low <= interval.high <= 2 * highest


def test_the_mean_of_a_stated_mix_stays_within_the_range_too() -> None:
    metric = oc.Metric("correct", direction="higher")
    plan = oc.Plan(metrics=[metric], slices=["kind"], weights={"kind": "equal"})
    arms = [_arm(rates, 1.0, seed) for seed, rates in enumerate(RUNS)]
    (mix, *_) = oc.compare(*arms, plan).slices[0].weighted
    assert mix.interval is not None
    assert -1 <= mix.interval.low <= mix.interval.high <= 1
