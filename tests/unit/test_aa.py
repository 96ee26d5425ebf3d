"""A/A comparisons against the decision interval, pair by pair."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from onechange.stats.aa import GUARDED, same_arm_deltas
from onechange.stats.choose import decision_interval
from onechange.stats.sample import paired_sample
from onechange.stats.student import guarded_t_law


def _scores(seed: int, *, binary: bool, missing: bool, run: float = 0.8) -> np.ndarray:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(15, 60)), int(rng.integers(5, 8))
    latent = (
        rng.normal(size=(n, 1)) + rng.normal(size=(n, k)) + run * rng.normal(size=k)
    )
    scores = (latent > 0).astype(float) if binary else np.round(4 * latent) / 4
    if missing:
        scores[rng.random(scores.shape) < 0.15] = np.nan
    return scores


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("clustered", [False, True])
def test_every_pair_of_trials_is_judged_like_a_comparison(
    binary: bool, missing: bool, clustered: bool
) -> None:
    for seed in range(6):
        scores = _scores(seed, binary=binary, missing=missing)
        clusters = np.arange(scores.shape[0]) // 2 if clustered else None
        deltas, alarms = [], 0
        for first, second in combinations(range(scores.shape[1]), 2):
            both = np.isfinite(scores[:, first]) & np.isfinite(scores[:, second])
            sample = paired_sample(
                scores[both, first],
                scores[both, second],
                binary=binary,
                clusters=None if clusters is None else clusters[both],
            )
            deltas.append(sample.difference.mean())
            interval = decision_interval(sample).interval
            low, high = (interval.low, interval.high)
            if not binary and not clustered:
                low, high = guarded_t_law(sample.difference, width=None).limits(0.025)
            alarms += low > 0 or high < 0
        found = same_arm_deltas(scores, binary=binary, clusters=clusters)
        assert found.n_deltas == len(deltas)
        assert found.low == pytest.approx(min(deltas))
        assert found.high == pytest.approx(max(deltas))
        assert found.n_alarms == alarms
        assert found.false_alarm_share == pytest.approx(alarms / len(deltas))


def test_runs_that_differ_raise_many_alarms_and_equal_ones_few() -> None:
    rng = np.random.default_rng(3)
    shares = {}
    for run in (0.0, 0.5):
        latent = rng.normal(size=(150, 1)) + 0.5 * rng.normal(size=(150, 8))
        answers = latent + run * rng.normal(size=8) > 0
        found = same_arm_deltas(answers.astype(float), binary=True)
        shares[run] = found.false_alarm_share
    assert shares[0.0] <= 0.2
    assert shares[0.5] >= 0.5


def test_under_five_trials_there_is_a_range_and_no_share() -> None:
    scores = np.array([[0.0, 1, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]])
    found = same_arm_deltas(scores, binary=True)
    assert (found.low, found.high, found.n_deltas) == (-0.25, 0.25, 3)
    assert found.false_alarm_share is None
    assert "3 trials are too few" in found.reason


def test_trials_without_a_common_question_have_no_delta() -> None:
    assert same_arm_deltas(np.array([[1.0, np.nan], [np.nan, 1.0]])) is None
    assert same_arm_deltas(np.array([[1.0], [0.0]])) is None


def test_clustered_trials_without_a_common_question_are_left_out() -> None:
    scores = np.random.default_rng(5).random((40, 6))
    scores[:20, 0] = scores[20:, 1] = np.nan
    found = same_arm_deltas(scores, clusters=np.arange(40) // 4)
    assert found.n_deltas == 14


def test_too_few_questions_have_no_share() -> None:
    found = same_arm_deltas(np.random.default_rng(1).random((4, 5)))
    assert found.false_alarm_share is None
    assert found.reason == "no comparison of two trials has an interval"


def test_equal_trials_raise_no_alarm() -> None:
    same = np.repeat(np.random.default_rng(2).random((20, 1)), 5, axis=1)
    assert same_arm_deltas(same).n_alarms == 0


def test_ties_do_not_matter_over_many_questions() -> None:
    rng = np.random.default_rng(4)
    scores = np.round(rng.normal(size=(GUARDED + 1, 5)), 1)
    few = same_arm_deltas(scores[:GUARDED]), same_arm_deltas(scores)
    assert few[0].n_alarms == few[1].n_alarms
