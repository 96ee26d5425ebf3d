"""False passes and coverage of the closed-form methods, judged by binomial limits.

A false pass: the limit of the interval lies inside the margin although the truth
sits exactly on it; nominal 2.5 %. Each negative control must fail.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc

from onechange.stats.choose import (
    arm_interval,
    decision_interval,
    quantile_arm_interval,
    ratio_delta,
    relative_interval,
)
from onechange.stats.estimate import Interval
from onechange.stats.methods import Sampling, mean_method
from onechange.stats.ratio import RatioPair, fieller_limits, mean_moments
from onechange.stats.sample import PairedSample, paired_sample
from onechange.stats.trial_quantile import TrialValues

pytestmark = pytest.mark.slow
RUNS = 2000
PSI, DROP = 0.05, 0.03


def _at_most(events: int, limit: float, runs: int = RUNS) -> bool:
    """No sign that the true rate is above the limit (one-sided, 0.1 %)."""
    return events == 0 or float(bdtrc(events - 1, runs, limit)) > 1e-3


def _at_least(events: int, limit: float, runs: int = RUNS) -> bool:
    return events == runs or float(bdtr(events, runs, limit)) > 1e-3


def _binary(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Baseline accuracy 0.70, discordance PSI, the variant worse by DROP."""
    lost, gained = (PSI + DROP) / 2, (PSI - DROP) / 2
    cells = rng.multinomial(n, [0.7 - lost, lost, gained, 0.3 - gained])
    b = np.repeat([1.0, 1.0, 0.0, 0.0], cells)
    v = np.repeat([1.0, 0.0, 1.0, 0.0], cells)
    return b, v


def _clustered_binary(
    rng: np.random.Generator, n_documents: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sizes = rng.integers(5, 11, n_documents)
    b, v = _binary(rng, int(sizes.sum()))
    order = rng.permutation(b.size)
    return b[order], v[order], np.repeat(np.arange(n_documents), sizes)


def _passes(interval: Interval | None, margin: float) -> bool:
    return interval is not None and interval.low >= -margin - 1e-9


def _count(event: Callable[[np.random.Generator], bool], seed: int) -> int:
    rng = np.random.default_rng(seed)
    return sum(event(rng) for _ in range(RUNS))


def _bare(sample: PairedSample, name: str) -> Interval | None:
    """Return the interval of the literature, which `decide` refuses without width."""
    method = mean_method(name, sample, Sampling())
    return None if method is None else method.interval(0.025)


def _binary_pass(
    n: int, name: str, *, bare: bool = False
) -> Callable[[np.random.Generator], bool]:
    def event(rng: np.random.Generator) -> bool:
        sample = paired_sample(*_binary(rng, n), binary=True)
        if bare:
            return _passes(_bare(sample, name), DROP)
        return _passes(decision_interval(sample, name=name).interval, DROP)

    return event


@pytest.mark.parametrize("n", [20, 50, 150])
@pytest.mark.parametrize("name", ["auto", "tango", "bonett-price"])
def test_score_intervals_hold_the_margin_of_a_binary_metric(n: int, name: str) -> None:
    assert _at_most(_count(_binary_pass(n, name), 1), 0.045)


def test_plain_t_passes_a_binary_metric_falsely() -> None:
    assert _at_least(_count(_binary_pass(20, "t", bare=True), 2), 0.25)


def test_a_named_t_without_width_does_not_pass() -> None:
    named, bare = (
        _count(_binary_pass(20, "t", bare=bare), 2) for bare in (False, True)
    )
    assert named < bare / 5


def _relative_pass(n: int, name: str) -> Callable[[np.random.Generator], bool]:
    def event(rng: np.random.Generator) -> bool:
        sample = paired_sample(*_binary(rng, n), binary=True)
        return _passes(relative_interval(sample, name=name).interval, DROP / 0.7)

    return event


@pytest.mark.parametrize("n", [20, 50, 150])
def test_the_guarded_fieller_holds_a_relative_margin(n: int) -> None:
    assert _at_most(_count(_relative_pass(n, "auto"), 3), 0.045)


def test_the_plain_fieller_passes_falsely() -> None:
    def event(rng: np.random.Generator) -> bool:
        moments = mean_moments(*_binary(rng, 20), guarded=False)
        limits = None if moments is None else fieller_limits(moments, 0.025)
        found = None if limits is None else Interval(*limits, 0.95, "fieller")
        return _passes(found, DROP / 0.7)

    assert _at_least(_count(event, 4), 0.25)


def _document_pass(
    n_documents: int, name: str, *, bare: bool = False
) -> Callable[[np.random.Generator], bool]:
    def event(rng: np.random.Generator) -> bool:
        b, v, clusters = _clustered_binary(rng, n_documents)
        sample = paired_sample(b, v, clusters=clusters, binary=True)
        if bare:
            return _passes(_bare(sample, name), DROP)
        return _passes(decision_interval(sample, name=name).interval, DROP)

    return event


@pytest.mark.parametrize("n_documents", [7, 21])
def test_newcombe_cluster_holds_the_margin(n_documents: int) -> None:
    assert _at_most(_count(_document_pass(n_documents, "auto"), 5), 0.045)


def test_plain_cr2_passes_clustered_shares_falsely() -> None:
    assert _at_least(_count(_document_pass(7, "cr2-t", bare=True), 6), 0.09)


@pytest.mark.parametrize("n_documents", [7, 21])
def test_guarded_cr2_covers_clustered_scores(n_documents: int) -> None:
    def misses(rng: np.random.Generator) -> bool:
        clusters = np.repeat(np.arange(n_documents), rng.integers(5, 11, n_documents))
        shared = rng.normal(scale=np.sqrt(0.3), size=n_documents)[clusters]
        d = shared + rng.normal(scale=np.sqrt(0.7), size=clusters.size)
        sample = paired_sample(np.zeros(d.size), d, clusters=clusters)
        interval = decision_interval(sample).interval
        return interval is None or not interval.low <= 0 <= interval.high

    assert _at_most(_count(misses, 7), 0.065)


@pytest.mark.parametrize("n", [20, 60])
def test_the_ratio_metric_interval_covers_the_true_delta(n: int) -> None:
    """Cost per token: skewed denominators that differ between the arms."""

    def misses(rng: np.random.Generator) -> bool:
        tokens = rng.lognormal(0.0, 0.5, (2, n))
        rate = 1 + 0.3 * rng.normal(size=(2, n)) + 0.2 * rng.normal(size=n)
        cost = tokens * rate * np.array([[1.0], [1.2]])
        got = ratio_delta(
            RatioPair(cost[0], tokens[0]), RatioPair(cost[1], tokens[1])
        ).interval
        return got is None or not got.low <= 0.2 <= got.high

    assert _at_most(_count(misses, 8), 0.07)


def test_own_mean_of_skewed_latency_is_covered() -> None:
    truth = float(np.exp(0.6**2 / 2))

    def misses(rng: np.random.Generator) -> bool:
        values = rng.lognormal(0.0, 0.6, 50)
        got = arm_interval(values, binary=False).interval
        return got is None or not got.low <= truth <= got.high

    assert _at_most(_count(misses, 9), 0.07)


def test_own_quantile_by_order_statistics_is_never_below_its_level() -> None:
    truth = 1.6448536269514722  # p95 of the standard normal law

    def misses(rng: np.random.Generator) -> bool:
        arm = TrialValues(rng.normal(size=100), np.arange(100))
        got, _ = quantile_arm_interval(arm, 0.95)
        return got is None or not got.low <= truth <= got.high

    assert _at_most(_count(misses, 10), 0.05)


def test_ordinal_scores_hold_the_margin() -> None:
    cuts = np.array([0.15, 0.30, 0.45, 0.65])
    edges = np.array([-1.0364, -0.5244, -0.1257, 0.3853])  # normal quantiles of cuts

    def scores(latent: np.ndarray) -> np.ndarray:
        return np.searchsorted(edges, latent) / cuts.size

    def arms(rng: np.random.Generator, n: int) -> PairedSample:
        shared, own = rng.normal(size=n), rng.normal(size=(2, n))
        latent = np.sqrt(0.7) * shared + np.sqrt(0.3) * own
        return paired_sample(scores(latent[0]), scores(latent[1] - 0.25))

    margin = -arms(np.random.default_rng(0), 2_000_000).difference.mean()

    def event(rng: np.random.Generator) -> bool:
        return _passes(decision_interval(arms(rng, 20)).interval, margin)

    assert _at_most(_count(event, 11), 0.04)
