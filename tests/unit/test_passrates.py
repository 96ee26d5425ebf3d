"""Flips, disagreement, pass@k and pass^k against counting."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from onechange.stats.passrates import disagreement, flipping, pass_rates

ANSWERS = [
    (1, 0, 0, 1),
    (1, 1, 1, 1),
    (0, 0, 0, 0),
    (0, 1, 1),
    (1, 0),
    (1,),
]
RIGHT = np.array([sum(answers) for answers in ANSWERS])
TRIALS = np.array([len(answers) for answers in ANSWERS])


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_pass_rates_are_averages_over_all_draws(k: int) -> None:
    enough = [answers for answers in ANSWERS if len(answers) >= k]
    some, every = [], []
    for answers in enough:
        draws = list(combinations(answers, k))
        some.append(np.mean([max(draw) for draw in draws]))
        every.append(np.mean([min(draw) for draw in draws]))
    rate = pass_rates(RIGHT, TRIALS)[k - 1]
    assert (rate.k, rate.n_questions) == (k, len(enough))
    assert rate.any_right == pytest.approx(np.mean(some))
    assert rate.all_right == pytest.approx(np.mean(every))


def test_disagreement_is_the_share_of_pairs_that_differ() -> None:
    shares = [
        np.mean([a != b for a, b in combinations(answers, 2)])
        for answers in ANSWERS
        if len(answers) > 1
    ]
    assert disagreement(RIGHT, TRIALS) == pytest.approx(np.mean(shares))
    assert disagreement(np.array([1, 0]), np.array([1, 1])) is None


def test_flipping_questions_are_neither_all_right_nor_all_wrong() -> None:
    assert flipping(RIGHT, TRIALS).tolist() == [True, False, False, True, True, False]


def test_many_trials_lose_no_accuracy() -> None:
    rate = pass_rates(np.array([13]), np.array([200]))[9]
    assert rate.any_right == pytest.approx(0.49755111473060615, rel=1e-12)
