"""Coverage of an arm's own mean when questions share documents, by binomial limits.

Rates averaged over trials, skewed latencies and scores under a ceiling; each with
several numbers of documents and shares of variance between documents.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc, ndtr

from onechange.stats.arm import arm_interval
from onechange.stats.cluster import guarded_cr2_mean_law

pytestmark = pytest.mark.slow
RUNS = 2000
Draw = Callable[[np.random.Generator], np.ndarray]


def _at_most(events: int, limit: float) -> bool:
    """No sign that the true rate is above the limit (one-sided, 0.1 %)."""
    return events == 0 or float(bdtrc(events - 1, RUNS, limit)) > 1e-3


def _misses(
    draw: Draw, truth: float, clusters: np.ndarray, score_range: tuple[float, float]
) -> tuple[int, int]:
    """How often the interval lies above the truth, and how often below it."""
    rng = np.random.default_rng(1)
    above = below = 0
    for _ in range(RUNS):
        got = arm_interval(
            draw(rng), binary=False, clusters=clusters, score_range=score_range
        ).interval
        assert got is not None
        above += got.low > truth
        below += got.high < truth
    return above, below


def _documents(n_documents: int, per_document: int) -> np.ndarray:
    return np.repeat(np.arange(n_documents), per_document)


def _failures(rate: float, clusters: np.ndarray, correlation: float) -> Draw:
    """Share of three trials that failed; documents differ by a beta law."""
    odds = (1 - correlation) / correlation if correlation else None

    def draw(rng: np.random.Generator) -> np.ndarray:
        if odds is None:
            return rng.binomial(3, rate, clusters.size) / 3
        own = rng.beta(rate * odds, (1 - rate) * odds, clusters.max() + 1)
        return rng.binomial(3, own[clusters]) / 3

    return draw


def _normal(clusters: np.ndarray, correlation: float) -> Draw:
    def draw(rng: np.random.Generator) -> np.ndarray:
        shared = rng.normal(size=clusters.max() + 1)[clusters]
        own = rng.normal(size=clusters.size)
        return np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own

    return draw


DOCUMENTS = [(60, 3), (20, 10), (10, 15)]


@pytest.mark.parametrize("documents", DOCUMENTS)
@pytest.mark.parametrize("rate", [0.006, 0.02, 0.05, 0.3])
def test_a_failure_rate_over_trials_is_covered(
    rate: float, documents: tuple[int, int]
) -> None:
    clusters = _documents(*documents)
    draw = _failures(rate, clusters, 0.0)
    above, below = _misses(draw, rate, clusters, (0.0, 1.0))
    assert _at_most(below, 0.025)
    assert _at_most(above, 0.035)


@pytest.mark.parametrize("documents", DOCUMENTS)
@pytest.mark.parametrize("rate", [0.006, 0.02, 0.05, 0.3])
def test_failures_that_come_together_in_documents_are_covered(
    rate: float, documents: tuple[int, int]
) -> None:
    clusters = _documents(*documents)
    draw = _failures(rate, clusters, 0.1)
    assert _at_most(sum(_misses(draw, rate, clusters, (0.0, 1.0))), 0.06)


def test_clustered_t_alone_misses_a_rare_failure_rate() -> None:
    clusters, rate = _documents(60, 3), 0.006
    draw, rng, below = _failures(rate, clusters, 0.0), np.random.default_rng(1), 0
    for _ in range(RUNS):
        law = guarded_cr2_mean_law(draw(rng), clusters, width=1.0)
        assert law is not None
        below += law.limits(0.025)[1] < rate
    assert float(bdtr(below, RUNS, 0.08)) > 1e-3  # nominal 0.025


@pytest.mark.parametrize("documents", DOCUMENTS)
@pytest.mark.parametrize("correlation", [0.0, 0.1, 0.4])
def test_skewed_latencies_in_documents_are_covered(
    documents: tuple[int, int], correlation: float
) -> None:
    clusters = _documents(*documents)
    normal = _normal(clusters, correlation)
    missed = _misses(
        lambda rng: np.exp(0.8 * normal(rng)), np.exp(0.32), clusters, (0.0, np.inf)
    )
    assert _at_most(sum(missed), 0.07)


@pytest.mark.parametrize("documents", DOCUMENTS)
@pytest.mark.parametrize("correlation", [0.0, 0.1, 0.4])
def test_scores_under_a_ceiling_in_documents_are_covered(
    documents: tuple[int, int], correlation: float
) -> None:
    """Most scores near 1 (P(score < x) = x⁶), in steps of a tenth."""
    clusters = _documents(*documents)
    normal = _normal(clusters, correlation)
    missed = _misses(
        lambda rng: np.round(ndtr(normal(rng)) ** (1 / 6), 1),
        _stepped_mean(),
        clusters,
        (0.0, 1.0),
    )
    assert _at_most(sum(missed), 0.07)


def _stepped_mean() -> float:
    """Mean of the law with P(score < x) = x⁶, rounded to tenths."""
    edges = np.concatenate([[0.0], np.arange(0.05, 1.0, 0.1), [1.0]])
    return float(np.sum(np.diff(edges**6) * np.arange(11) / 10))
