"""Effect sizes, against SciPy, pingouin and the cases."""

from __future__ import annotations

import csv
import json
import time
from pathlib import Path

import numpy as np
import pingouin
import pytest
import scipy.stats

from onechange.stats.effect import cliffs_delta, effect_sizes, win_tie_loss
from onechange.stats.sample import paired_sample

CASES = Path(__file__).parents[1] / "cases"
RNG = np.random.default_rng(11)
B = RNG.integers(0, 5, 60) / 4
V = np.clip(B + RNG.integers(-2, 4, 60) / 4, 0, 1)


def _case(name: str) -> tuple[np.ndarray, np.ndarray, dict]:
    folder = CASES / name
    arms = []
    for arm in ("baseline", "variant"):
        with (folder / f"{arm}.csv").open(encoding="utf-8") as file:
            rows = sorted(list(csv.reader(file))[1:])
        arms.append(np.array([float(row[-1]) for row in rows]))
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    return arms[0], arms[1], expected


def test_paired_sizes_of_case_39() -> None:
    baseline, variant, expected = _case("39-paired-effect-size")
    got = effect_sizes(paired_sample(baseline, variant))
    assert got["cohen_dz"] == pytest.approx(expected["dz"], rel=1e-9)
    assert got["d_av"] == pytest.approx(expected["d_av"], rel=1e-9)
    assert got["hedges_gz"] == pytest.approx(expected["g_z"], abs=2e-3)


def test_a_constant_arm_is_no_obstacle_in_case_38() -> None:
    baseline, variant, expected = _case("38-one-arm-constant")
    got = effect_sizes(paired_sample(baseline, variant))
    assert got["cohen_dz"] == pytest.approx(expected["dz"], rel=1e-9)


def test_equal_differences_have_no_standardised_size() -> None:
    baseline, variant, _ = _case("02-constant-shift")
    got = effect_sizes(paired_sample(baseline, variant))
    assert got["cohen_dz"] is None
    assert got["hedges_gz"] is None
    assert got["rank_biserial"] == 1.0


def test_identical_arms_have_no_made_up_size() -> None:
    got = effect_sizes(paired_sample(B, B))
    assert got["cohen_dz"] is None
    assert got["rank_biserial"] is None
    assert got["cliffs_delta"] == 0.0
    assert got["d_av"] == 0.0


def test_arms_that_do_not_vary_have_no_d_av() -> None:
    got = effect_sizes(paired_sample(np.zeros(5), np.ones(5)))
    assert got["d_av"] is None
    assert got["cliffs_delta"] == 1.0


def test_no_pairs_and_one_pair_have_no_size() -> None:
    empty = effect_sizes(paired_sample(np.empty(0), np.empty(0)))
    assert set(empty.values()) == {None}
    one = effect_sizes(paired_sample(np.zeros(1), np.ones(1)))
    assert (one["cohen_dz"], one["d_av"]) == (None, None)


def test_two_pairs_have_no_hedges_correction() -> None:
    got = effect_sizes(paired_sample(np.zeros(2), np.array([0.1, 0.4])))
    assert got["cohen_dz"] is not None
    assert got["hedges_gz"] is None


def test_cliffs_delta_matches_mann_whitney() -> None:
    u = scipy.stats.mannwhitneyu(V, B).statistic
    assert cliffs_delta(B, V) == pytest.approx(2 * u / B.size**2 - 1, abs=1e-14)


def test_scores_equal_up_to_rounding_noise_are_ties() -> None:
    assert cliffs_delta(np.array([0.1 + 0.2]), np.array([0.3])) == 0.0


def test_rank_biserial_matches_pingouin() -> None:
    expected = pingouin.wilcoxon(V, B)["RBC"].iloc[0]
    got = effect_sizes(paired_sample(B, V))["rank_biserial"]
    assert got == pytest.approx(expected, abs=1e-12)


def test_cliffs_delta_takes_near_linear_time() -> None:
    values = np.random.default_rng(5).random((2, 400_000))
    start = time.process_time()
    cliffs_delta(values[0], values[1])
    assert time.process_time() - start < 5.0  # all pairs would be 1.6e11 comparisons


def test_ties_up_to_rounding_noise_are_counted_as_ties() -> None:
    baseline, variant, expected = _case("35-win-tie-loss")
    got = win_tie_loss(paired_sample(baseline, variant).difference)
    assert got == (expected["wins"], expected["ties"], expected["losses"])
