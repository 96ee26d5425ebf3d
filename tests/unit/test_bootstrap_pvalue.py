"""The one-sided p of a bootstrap interval: its end touches the null at that level."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from onechange.stats.bootstrap import bootstrap_interval
from onechange.stats.bootstrap_pvalue import bootstrap_pvalue
from onechange.stats.choose import margin_pvalue
from onechange.stats.methods import Sampling, _searched_pvalue, mean_method
from onechange.stats.resample import expanded_tail, unexpanded_tail
from onechange.stats.sample import paired_sample

SIX = np.array([0.1, 0.2, 0.6, 0.0, 0.8, 0.1])
METHODS = ("percentile", "expanded-percentile", "basic", "bca", "studentized")


def continuous(n: int) -> np.ndarray:
    return np.random.default_rng(5).normal(0.04, 0.2, n)


@pytest.mark.parametrize("null", [0.05, 0.13, 0.29, 0.5])
def test_percentile_is_the_share_of_all_resamples_at_or_below(null: float) -> None:
    tenths = np.rint(SIX * 10).astype(int)  # whole numbers: ties are exact
    sums = np.array(list(itertools.product(tenths, repeat=6))).sum(axis=1)
    point = round(null * 60, 6)
    share = float(np.mean(sums <= point))
    found = bootstrap_pvalue(SIX, null, alternative="greater", method="percentile")
    other = float(np.mean(sums >= point))
    right = share if share < 0.5 else 1.0 - other
    assert found == pytest.approx(right, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("alternative", ["greater", "less"])
@pytest.mark.parametrize("z", [-2.5, -1.0, 1.5])
@pytest.mark.parametrize("kind", ["six", "continuous", "binary"])
def test_the_direct_form_agrees_with_the_search(
    method: str, alternative: str, z: float, kind: str
) -> None:
    rng = np.random.default_rng(3)
    difference = {
        "six": SIX,
        "continuous": continuous(25),
        "binary": rng.choice([-1.0, 0.0, 1.0], 40),
    }[kind]
    zeros = np.zeros(difference.size)
    sample = paired_sample(zeros, difference)
    bound = mean_method(method, sample, Sampling(499, 7))
    assert bound is not None
    error = difference.std() / np.sqrt(difference.size)
    null = float(difference.mean() + z * error)
    assert bound.pvalue is not None
    assert bound.pvalue(null, alternative) == pytest.approx(
        _searched_pvalue(bound, null, alternative), rel=1e-5
    )


@pytest.mark.parametrize("method", METHODS)
def test_at_the_level_of_p_the_end_touches_the_null(method: str) -> None:
    difference = continuous(40)
    null = float(difference.mean() - 2 * difference.std() / np.sqrt(40))
    p = bootstrap_pvalue(difference, null, alternative="greater", method=method)
    ends = [
        bootstrap_interval(
            difference, method=method, confidence_level=1 - 2 * p * factor
        ).low
        for factor in (0.98, 1.02)
    ]
    assert ends[0] <= null <= ends[1]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("clustered", [False, True])
def test_a_null_far_beyond_the_differences_has_the_finest_p(
    method: str, clustered: bool
) -> None:
    rng = np.random.default_rng(8)
    baseline = rng.integers(0, 4, 60) / 3
    variant = rng.integers(0, 4, 60) / 3
    clusters = rng.integers(0, 15, 60) if clustered else None
    sample = paired_sample(baseline, variant, clusters=clusters, score_range=(0, 1))
    found = margin_pvalue(
        sample, -0.95, alternative="greater", name=method, n_resamples=499
    )
    assert found is not None
    # 499 drawn values of a studentized law can do no better than none of them
    assert found <= 1e-6


def test_equal_differences_leave_no_doubt() -> None:
    flat = np.full(9, 0.1)
    assert bootstrap_pvalue(flat, 0.0, alternative="greater") == 1e-12
    assert bootstrap_pvalue(flat, 0.2, alternative="greater") == 1 - 1e-12
    assert bootstrap_pvalue(flat, 0.1, alternative="less") == 0.5


@pytest.mark.parametrize("tail", [1e-9, 0.001, 0.025, 0.3, 0.5])
def test_the_expanded_tail_is_undone(tail: float) -> None:
    for n_units in (2, 7, 150):
        back = unexpanded_tail(n_units, expanded_tail(n_units, tail))
        if expanded_tail(n_units, tail) > 0:
            assert back == pytest.approx(tail, rel=1e-6)
