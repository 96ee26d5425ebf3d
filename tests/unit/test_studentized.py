"""The studentized interval is sampled, says so, and does as it is told."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import onechange as oc
from onechange.plan import Analysis
from onechange.stats.bootstrap import bootstrap_interval, ratio_of_sums_interval
from onechange.stats.studentized import studentized_law
from onechange.stats.units import units

RNG = np.random.default_rng(11)
SCORES = RNG.lognormal(0, 1, 30)
OTHERS = SCORES + RNG.normal(0.2, 1, 30)


def _limits(seed: int = 7, n_resamples: int = 9999) -> tuple[float, float]:
    delta = oc.paired_delta(
        SCORES, OTHERS, interval="studentized", n_resamples=n_resamples, seed=seed
    )
    assert delta.interval is not None
    return delta.interval.low, delta.interval.high


def test_seed_and_number_of_resamples_are_honoured() -> None:
    assert _limits(seed=7) == _limits()
    assert _limits(seed=2) != _limits()
    assert _limits(n_resamples=999) != _limits()
    few = oc.paired_delta(SCORES, OTHERS, interval="studentized", n_resamples=199)
    assert few.interval is not None
    assert few.interval.n_resamples == 199


def test_the_note_gives_resamples_seed_and_monte_carlo_error() -> None:
    asked = {"interval": "studentized", "n_resamples": 999, "seed": 3}
    delta = oc.paired_delta(SCORES, OTHERS, **asked)  # type: ignore[arg-type]
    text = next(note.text for note in delta.notes if note.code == "sampled")
    assert "999 resamples (seed 3)" in text
    told = float(text.rsplit(" ", 1)[1].rstrip("."))
    ends = [_limits(seed=seed, n_resamples=999) for seed in range(40)]
    spread = np.std(np.array(ends), axis=0, ddof=1).max()
    assert spread / 2 < told < spread * 2


def test_sampled_limits_agree_with_a_plain_loop() -> None:
    rng = np.random.default_rng(5)
    values = OTHERS - SCORES
    n = values.size
    drawn = values[rng.integers(0, n, (100_000, n))]
    t = (drawn.mean(axis=1) - values.mean()) / (drawn.std(axis=1) / np.sqrt(n))
    error = values.std() / np.sqrt(n)
    low, high = values.mean() - np.quantile(t, [0.975, 0.025]) * error
    found = bootstrap_interval(values, method="studentized", n_resamples=99_999)
    assert found.low == pytest.approx(low, abs=0.03 * error * 2)
    assert found.high == pytest.approx(high, abs=0.03 * error * 2)


def test_counts_of_cells_and_single_draws_are_one_law() -> None:
    rng = np.random.default_rng(8)
    lattice = rng.choice([-1.0, 0.0, 0.25, 1.0], size=2000, p=[0.1, 0.6, 0.2, 0.1])
    jittered = lattice + rng.normal(0, 1e-9, 2000)
    by_counts = bootstrap_interval(lattice, method="studentized", n_resamples=20_000)
    by_units = bootstrap_interval(jittered, method="studentized", n_resamples=20_000)
    width = by_counts.high - by_counts.low
    assert by_units.low == pytest.approx(by_counts.low, abs=0.03 * width)
    assert by_units.high == pytest.approx(by_counts.high, abs=0.03 * width)


def test_a_ratio_of_sums_is_studentized_by_its_linearised_error() -> None:
    rng = np.random.default_rng(9)
    y, x = rng.integers(0, 9, 60).astype(float), rng.integers(1, 9, 60).astype(float)
    rows = rng.integers(0, 60, (50_000, 60))
    ratio = y[rows].sum(1) / x[rows].sum(1)
    rest = y[rows] - ratio[:, None] * x[rows]
    t = (ratio - y.sum() / x.sum()) / (np.sqrt((rest**2).sum(1)) / x[rows].sum(1))
    whole = y - y.sum() / x.sum() * x
    error = np.sqrt((whole**2).sum()) / x.sum()
    low, high = y.sum() / x.sum() - np.quantile(t, [0.975, 0.025]) * error
    found = ratio_of_sums_interval(y, x, method="studentized", n_resamples=50_000)
    assert found.low == pytest.approx(low, abs=0.06 * error)
    assert found.high == pytest.approx(high, abs=0.06 * error)


def test_row_order_changes_nothing() -> None:
    order = np.random.default_rng(4).permutation(30)
    one = oc.paired_delta(SCORES, OTHERS, interval="studentized", seed=5)
    two = oc.paired_delta(SCORES[order], OTHERS[order], interval="studentized", seed=5)
    assert one.interval == two.interval


def test_too_few_resamples_for_the_level_bound_nothing() -> None:
    found = bootstrap_interval(OTHERS - SCORES, method="studentized", n_resamples=30)
    assert (found.low, found.high) == (-np.inf, np.inf)


def test_memory_does_not_grow_with_questions_times_resamples() -> None:
    values = np.random.default_rng(2).normal(size=20_000)
    tracemalloc.start()
    try:
        studentized_law(units(values, np.ones(values.size), None, None), 500, 7)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20e6  # 500 resamples of 20,000 would be 80 MB


def test_a_run_honours_its_seed_and_prints_it_where_it_was_used() -> None:
    import pandas as pd

    ids = [f"q{i:02}" for i in range(30)]
    before = pd.DataFrame({"question_id": ids, "m": SCORES})
    after = pd.DataFrame({"question_id": ids, "m": OTHERS})
    plan = oc.Plan(analysis=Analysis(interval="studentized", n_resamples=199, seed=2))
    comparison = oc.compare(before, after, plan)
    interval = comparison.deltas[0].interval
    assert interval is not None
    assert (interval.low, interval.high) == _limits(seed=2, n_resamples=199)
    assert "seed:2" in comparison.signature
    assert any(note.code == "sampled" for note in comparison.deltas[0].notes)
