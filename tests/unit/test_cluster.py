"""Clustered variances, against the matrix definitions and statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm

from onechange.stats.binary import PairedTable, binary_table, newcombe_limits
from onechange.stats.caveats import cluster_notes
from onechange.stats.cluster import (
    bell_mccaffrey_df,
    cr0,
    cr1,
    cr2,
    cr2_covariance,
    cr2_law,
    cr2_t_interval,
    design_effect,
    guarded_cr2_law,
    guarded_cr2_mean_law,
    guarded_cr2_t_interval,
    icc_anova,
    largest_share,
    skewed_cluster_limits,
    variance_ratio,
)
from onechange.stats.cluster_binary import (
    newcombe_cluster_interval,
    stretched_limits,
    wilson_cluster_limits,
)
from onechange.stats.interval import hall_limits, t_interval, wilson_limits
from onechange.stats.student import normal_quantile, t_quantile

RNG = np.random.default_rng(3)
CLUSTERS = np.repeat(np.arange(7), [1, 2, 3, 4, 5, 9, 2])
D = RNG.normal(size=CLUSTERS.size) + RNG.normal(size=7)[CLUSTERS]


def _matrix_cr2(d: np.ndarray, clusters: np.ndarray) -> tuple[float, float]:
    """Standard error and df from the hat matrix, with no closed form."""
    n = d.size
    hat = np.full((n, n), 1 / n)
    residual_maker = np.eye(n) - hat
    variance, rows = 0.0, []
    for g in np.unique(clusters):
        own = clusters == g
        block = residual_maker[np.ix_(own, own)]
        values, vectors = np.linalg.eigh(block)
        root = vectors @ np.diag(1 / np.sqrt(values)) @ vectors.T
        weight = np.ones(own.sum()) @ root / n
        rows.append(weight @ residual_maker[own])
        variance += float(weight @ (residual_maker @ d)[own]) ** 2
    gram = np.array(rows) @ np.array(rows).T
    return math.sqrt(variance), float(np.trace(gram) ** 2 / np.sum(gram**2))


def test_cr2_and_its_df_follow_from_the_matrices() -> None:
    got = cr2(D, CLUSTERS)
    assert (got.standard_error, got.df) == pytest.approx(
        _matrix_cr2(D, CLUSTERS), rel=1e-10
    )
    assert got.n_clusters == 7
    assert bell_mccaffrey_df(CLUSTERS) == got.df


def test_cr0_and_cr1_match_statsmodels() -> None:
    for function, correct in ((cr0, False), (cr1, True)):
        fit = sm.OLS(D, np.ones(D.size)).fit(
            cov_type="cluster",
            cov_kwds={
                "groups": CLUSTERS,
                "use_correction": correct,
                "df_correction": 0,
            },
        )
        assert function(D, CLUSTERS) == pytest.approx(fit.bse[0], rel=1e-10)


def test_singleton_clusters_give_the_paired_t_interval() -> None:
    each = np.arange(D.size)
    got, plain = cr2_t_interval(D, each), t_interval(D)
    assert got is not None
    assert plain is not None
    assert (got.low, got.high) == pytest.approx((plain.low, plain.high), rel=1e-12)
    assert design_effect(D, each) == pytest.approx(1.0)
    assert icc_anova(D, each) is None


def test_covariance_is_consistent_with_the_variance_of_a_difference() -> None:
    other = RNG.normal(size=D.size)
    parts = [cr2_covariance(a, b, CLUSTERS) for a, b in ((D, D), (other, other))]
    cross = cr2_covariance(D, other, CLUSTERS)
    whole = cr2_covariance(D - other, D - other, CLUSTERS)
    assert whole == pytest.approx(parts[0] + parts[1] - 2 * cross)


def test_one_cluster_shows_no_variance() -> None:
    one = np.zeros(D.size, dtype=np.int64)
    variance = cr2(D, one)
    assert (variance.standard_error, variance.df) == (None, None)
    for got in (
        cr1(D, one),
        cr2_law(D, one),
        cr2_covariance(D, D, one),
        bell_mccaffrey_df(one),
        design_effect(D, one),
        icc_anova(D, one),
        cr2_t_interval(D, one),
        guarded_cr2_t_interval(D, one, width=1.0),
        wilson_cluster_limits(np.ones(D.size), one, 0.025),
        newcombe_cluster_interval(PairedTable(1, 1, 1, 1), D, one),
    ):
        assert got is None


def test_the_guard_adds_two_pseudo_differences_to_the_variance() -> None:
    plain, guarded = cr2_law(D, CLUSTERS), guarded_cr2_law(D, CLUSTERS, width=None)
    assert plain is not None
    assert guarded is not None
    c2 = np.mean(D**2)
    expected = plain.standard_error**2 + 2 * c2 / D.size**2
    assert guarded.standard_error == pytest.approx(math.sqrt(expected))
    assert (guarded.estimate, guarded.df) == (plain.estimate, plain.df)


def test_the_guard_uses_changed_answers_only_or_the_range() -> None:
    d = np.where(np.arange(D.size) < 3, 0.5, 0.0)
    guarded, plain = guarded_cr2_law(d, CLUSTERS, width=9.0), cr2_law(d, CLUSTERS)
    assert guarded is not None
    assert plain is not None
    added = guarded.standard_error**2 - plain.standard_error**2
    assert added == pytest.approx(2 * 0.25 / D.size**2)
    assert guarded_cr2_law(np.zeros(D.size), CLUSTERS, width=None) is None
    empty = guarded_cr2_t_interval(np.zeros(D.size), CLUSTERS, width=1.0)
    assert empty is not None
    assert empty.high == pytest.approx(
        t_quantile(0.025, bell_mccaffrey_df(CLUSTERS)) * math.sqrt(2) / D.size
    )


def test_the_guard_of_an_arm_uses_deviations_from_its_mean() -> None:
    law, plain = guarded_cr2_mean_law(D + 5, CLUSTERS, width=None), cr2_law(D, CLUSTERS)
    assert law is not None
    assert plain is not None
    expected = plain.standard_error**2 + 2 * np.var(D) / D.size**2
    assert law.standard_error == pytest.approx(math.sqrt(expected))
    equal = guarded_cr2_mean_law(np.full(D.size, 0.7), CLUSTERS, width=1.0)
    assert equal is not None
    assert equal.estimate == 0.7
    assert equal.standard_error == pytest.approx(math.sqrt(2) / D.size)


def test_design_effect_without_spread_is_one() -> None:
    assert design_effect(np.zeros(D.size), CLUSTERS) == 1.0
    assert design_effect(np.ones(D.size), CLUSTERS) == 1.0
    assert variance_ratio(np.ones(D.size), CLUSTERS) is None
    assert icc_anova(np.ones(D.size), CLUSTERS) is None


def test_whole_clusters_that_move_together_have_icc_one() -> None:
    assert icc_anova(CLUSTERS.astype(float), CLUSTERS) == pytest.approx(1.0)


def test_newcombe_cluster_stretches_each_distance() -> None:
    baseline = (D > 0.2).astype(float)
    variant = (D > -0.4).astype(float)
    table = binary_table(baseline, variant)
    d = variant - baseline
    got = newcombe_cluster_interval(table, d, CLUSTERS)
    assert got is not None
    deff, df = design_effect(d, CLUSTERS), bell_mccaffrey_df(CLUSTERS)
    assert deff is not None
    assert df is not None
    low, high = newcombe_limits(table, 0.025)
    factor = math.sqrt(max(1, deff)) * t_quantile(0.025, df) / normal_quantile(0.025)
    assert got.low == pytest.approx(table.delta - factor * (table.delta - low))
    assert got.high == pytest.approx(table.delta + factor * (high - table.delta))


def test_a_design_effect_below_one_never_narrows() -> None:
    got = stretched_limits((-0.1, 0.1), 0.0, deff=0.2, df=1e9, tail=0.025)
    assert got == pytest.approx((-0.1, 0.1))


def test_clustered_limits_stay_within_what_can_be_attained() -> None:
    clusters = np.array([0, 0, 1, 1, 2, 2])
    got = wilson_cluster_limits(np.array([1.0, 1, 1, 1, 1, 1]), clusters, 0.025)
    assert got is not None
    assert 0.0 <= got[0] < wilson_limits(6, 6, 0.025)[0]
    assert got[1] == 1.0
    wide = newcombe_cluster_interval(
        PairedTable(0, 3, 3, 0), np.array([1.0, 1, -1, -1, 1, -1]), clusters
    )
    assert wide is not None
    assert (wide.low, wide.high) == (-1.0, 1.0)


def test_few_and_dominant_clusters_are_noted() -> None:
    notes = cluster_notes(np.repeat([0, 1, 2, 3], [20, 2, 2, 2]), fewest=6)
    assert [note.code for note in notes] == ["few-clusters", "dominant-cluster"]
    assert "0.125" in notes[0].text
    assert "77%" in notes[1].text
    assert largest_share(np.repeat([0, 1], [3, 1])) == 0.75


def test_even_clusters_are_not_called_dominant() -> None:
    assert cluster_notes(np.repeat(np.arange(8), 5), fewest=6) == ()
    codes = [n.code for n in cluster_notes(np.repeat([0, 1, 2], 5), fewest=6)]
    assert codes == ["few-clusters"]


def test_skewed_limits_of_single_questions_are_halls() -> None:
    values = np.exp(D)
    got = skewed_cluster_limits(values, np.arange(D.size), 0.025)
    assert got == pytest.approx(hall_limits(values, 0.025), rel=1e-12)


def test_skewed_limits_follow_the_scale_and_the_sign_of_the_scores() -> None:
    values = np.exp(D)
    low, high = skewed_cluster_limits(values, CLUSTERS, 0.025) or (0.0, 0.0)
    moved = skewed_cluster_limits(1e-6 * values + 4, CLUSTERS, 0.025)
    assert moved == pytest.approx((1e-6 * low + 4, 1e-6 * high + 4), rel=1e-12)
    mirrored = skewed_cluster_limits(-values, CLUSTERS, 0.025)
    assert mirrored == pytest.approx((-high, -low), rel=1e-12)


def test_skewed_limits_need_two_documents() -> None:
    assert skewed_cluster_limits(D, np.zeros(D.size, dtype=np.int64), 0.025) is None
    equal = skewed_cluster_limits(np.full(D.size, 0.4), CLUSTERS, 0.025)
    assert equal == (0.4, 0.4)
