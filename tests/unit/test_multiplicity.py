"""Max-T against enumeration written down anew, ties, joining, error rate and power."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from onechange.errors import MethodError
from onechange.stats.flips import (
    MAX_UNITS,
    N_GROUPS,
    UnitColumns,
    flips,
    numbered,
    on_grid,
    unit_columns,
)
from onechange.stats.multiplicity import adjusted_pvalues, max_t, simultaneous_level


def whole(differences: np.ndarray) -> UnitColumns:
    """Columns over the same questions, all scored."""
    return UnitColumns(
        np.arange(len(differences)), differences, np.ones_like(differences)
    )


def enumerated(columns: list[dict[int, Fraction]]) -> list[float]:
    """Step-down adjusted p of U over all sign vectors, in exact arithmetic."""
    units = sorted(set().union(*columns))

    def squared_u(signs: dict[int, int]) -> list[Fraction]:
        return [
            sum(signs[u] * x for u, x in c.items()) ** 2
            / sum(x * x for x in c.values())
            for c in columns
        ]

    observed = squared_u(dict.fromkeys(units, 1))
    order = sorted(range(len(columns)), key=lambda j: -observed[j])
    counts = [0] * len(columns)
    for signs in itertools.product((1, -1), repeat=len(units)):
        found = squared_u(dict(zip(units, signs, strict=True)))
        for rank, j in enumerate(order):
            counts[j] += max(found[k] for k in order[rank:]) >= observed[j]
    pvalues = [0.0] * len(columns)
    highest = 0.0
    for j in order:
        highest = max(highest, counts[j] / 2 ** len(units))
        pvalues[j] = highest
    return pvalues


def test_slices_and_metrics_with_missing_scores_by_enumeration() -> None:
    rng = np.random.default_rng(11)
    steps = rng.integers(-3, 5, size=(9, 2))
    paired = rng.random((9, 2)) < 0.8
    parts = [np.arange(0, 5), np.arange(5, 9)]
    columns = [unit_columns(rows, steps[rows] / 10, paired[rows]) for rows in parts]
    exact = [
        {int(i): Fraction(int(steps[i, j]), 10) for i in rows if paired[i, j]}
        for rows in parts
        for j in range(2)
    ]
    found = max_t(columns)
    assert found.n_resamples is None
    assert list(found.pvalues) == pytest.approx(enumerated(exact), abs=1e-12)


def test_whole_clusters_flip_by_enumeration() -> None:
    rng = np.random.default_rng(5)
    clusters = np.array([0, 0, 1, 1, 1, 2, 3, 3, 4, 5, 5, 6, 7])
    steps = rng.integers(-2, 4, size=(clusters.size, 3))
    slices = np.arange(clusters.size) % 2
    columns, exact = [], []
    for label in (0, 1):
        rows = np.flatnonzero(slices == label)
        columns.append(
            unit_columns(clusters[rows], steps[rows] / 4, np.ones((rows.size, 3), bool))
        )
        for j in range(3):
            sums: dict[int, Fraction] = {}
            for i in rows:
                unit = int(clusters[i])
                sums[unit] = sums.get(unit, Fraction(0)) + Fraction(int(steps[i, j]), 4)
            exact.append(sums)
    assert list(max_t(columns).pvalues) == pytest.approx(enumerated(exact), abs=1e-12)


def test_ties_of_decimals_are_counted() -> None:
    column = whole(np.array([[0.1], [0.2], [0.3], [0.1], [0.7]]))
    exact = enumerated([{i: Fraction(x, 10) for i, x in enumerate((1, 2, 3, 1, 7))}])
    assert max_t([column]).pvalues == tuple(exact)


def test_sampling_agrees_with_enumeration_within_its_error() -> None:
    rng = np.random.default_rng(3)
    columns = [whole(rng.normal(0.25, 1, size=(12, 4)))]
    exact = max_t(columns)
    sampled = max_t(columns, n_resamples=3999)
    assert exact.n_resamples is None
    assert sampled.n_resamples == 3999
    for right, found in zip(exact.pvalues, sampled.pvalues, strict=True):
        assert found == pytest.approx(
            right, abs=4 * max(sampled.monte_carlo_error(right), 1e-3)
        )
    assert sampled.critical == pytest.approx(exact.critical, abs=0.12)


def test_a_sampled_p_is_never_zero() -> None:
    found = max_t([whole(np.ones((40, 1)))], n_resamples=99)
    assert found.pvalues == (1 / 100,)


def test_a_column_without_any_difference_leaves_the_family() -> None:
    values = np.zeros((10, 2))
    values[:, 1] = np.arange(1, 11)
    found = max_t([whole(values)])
    alone = max_t([whole(values[:, 1:])])
    assert found.pvalues == (None, *alone.pvalues)
    assert found.n_tests == 1


def test_nothing_is_tested_where_nothing_changed() -> None:
    found = max_t([whole(np.zeros((10, 2)))])
    assert found.pvalues == (None, None)
    assert found.critical is None
    assert found.n_tests == 0


def test_u_is_bounded_where_t_is_infinite() -> None:
    values = np.zeros((12, 2))
    values[:3, 0] = 0.1  # three equal differences: |t| is infinite
    values[3:, 1] = 1 + 0.1 * np.arange(9)
    paired = values != 0
    columns = [unit_columns(np.arange(12), values, paired)]
    by_u, by_t = (max_t(columns, statistic=name) for name in ("u", "t"))
    assert by_u.pvalues[1] < by_t.pvalues[1]
    assert by_t.observed[0] == np.inf


def test_the_critical_value_is_the_quantile_of_all_flips() -> None:
    rng = np.random.default_rng(8)
    values = rng.normal(size=(10, 3)) + 2
    centred = values - values.mean(axis=0)
    norms = np.sqrt((centred**2).sum(axis=0))
    largest = sorted(
        max(np.abs(np.array(signs) @ centred) / norms)
        for signs in itertools.product((1, -1), repeat=10)
    )
    found = max_t([whole(values)], confidence_level=0.9)
    assert found.critical == pytest.approx(largest[int(np.ceil(0.9 * 1024)) - 1])


def test_what_is_enumerated_has_no_monte_carlo_error() -> None:
    found = max_t([whole(np.arange(1.0, 9.0)[:, None])])
    assert found.monte_carlo_error(0.05) is None


def test_no_interval_is_narrower_than_its_own_level() -> None:
    assert simultaneous_level(0.5, 0.95) == 0.95
    assert simultaneous_level(3.0, 0.95) == pytest.approx(1 - 2 * norm.sf(3.0))


def test_one_column_is_simultaneous_at_about_its_own_level() -> None:
    rng = np.random.default_rng(1)
    found = max_t([whole(rng.normal(size=(200, 1)))])
    assert simultaneous_level(found.critical, 0.95) == pytest.approx(0.95, abs=0.01)


def test_sums_do_not_depend_on_the_order_of_addition() -> None:
    rng = np.random.default_rng(2)
    values = on_grid(rng.normal(size=(5000, 3)) * np.array([1e-9, 1.0, 1e7]))
    forward = values.sum(axis=0)
    order = rng.permutation(5000)
    assert np.array_equal(forward, values[order].sum(axis=0))
    assert np.array_equal(forward, np.ones(5000) @ values)


def test_the_stream_is_the_same_for_every_family_of_the_same_units() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(0.3, 1, size=(50, 2))
    alone = max_t([whole(values[:, :1])])
    both = max_t([whole(values[:, :1]), whole(values[:, 1:])])
    assert both.pvalues[0] >= alone.pvalues[0]
    assert max_t([whole(values)]).pvalues == both.pvalues


def test_very_many_units_are_joined_and_still_give_the_normal_p() -> None:
    rng = np.random.default_rng(6)
    n = MAX_UNITS + 5000
    values = rng.normal(0.015, 1, size=(n, 1))
    columns, n_units = numbered([whole(values)])
    assert n_units == N_GROUPS
    assert columns[0].sizes.sum() == n
    (found,) = max_t([whole(values)]).pvalues
    u = abs(values.sum()) / np.sqrt((values**2).sum())
    assert found == pytest.approx(2 * norm.sf(u), abs=0.012)


def test_all_assignments_are_listed_once() -> None:
    stream = flips(5, n_resamples=31)
    (signs,) = stream.batches()
    assert signs.shape == (5, 16)
    both = {tuple(s) for s in signs.T} | {tuple(-s) for s in signs.T}
    assert len(both) == 32
    (every,) = flips(4, mirrored=False).batches()
    assert len({tuple(s) for s in every.T}) == 16


def test_more_assignments_than_resamples_are_sampled() -> None:
    assert flips(5, n_resamples=31).exact
    assert not flips(5, n_resamples=30).exact
    parts = list(flips(20, n_resamples=300).batches())
    assert [part.shape for part in parts] == [(20, 128), (20, 128), (20, 44)]
    assert set(np.unique(parts[0])) == {-1.0, 1.0}


def test_undefined_tests_are_not_counted() -> None:
    assert adjusted_pvalues([0.02, None, 0.03], "holm") == (0.04, None, 0.04)
    assert adjusted_pvalues([None], "bh") == (None,)


@pytest.mark.parametrize("call", [
    lambda: max_t([whole(np.ones((3, 1)))], statistic="z"),
    lambda: adjusted_pvalues([0.1], "sidak"),
])  # fmt: skip
def test_unknown_names_are_refused(call) -> None:
    with pytest.raises(MethodError, match="choose"):
        call()


def correlated(rng: np.random.Generator, effect: float) -> list[UnitColumns]:
    """20 metrics that share half of their variance, over 5 slices of 12 to 48."""
    sizes = (12, 18, 24, 36, 48)
    parts, start = [], 0
    for label, n in enumerate(sizes):
        common = rng.normal(size=(n, 1))
        values = np.sqrt(0.5) * common + np.sqrt(0.5) * rng.normal(size=(n, 20))
        if label == len(sizes) - 1:
            values[:, :4] += effect
        units = np.arange(start, start + n)
        parts.append(UnitColumns(units, values, np.ones_like(values)))
        start += n
    return parts


@pytest.mark.slow
def test_family_wise_error_and_power_of_100_correlated_tests() -> None:
    from onechange.stats.signflip import signflip_test

    rng = np.random.default_rng(20)
    n_false = sum(
        min(max_t(correlated(rng, 0.0), n_resamples=399, seed=i).pvalues) <= 0.05
        for i in range(1000)
    )
    assert n_false / 1000 <= 0.065
    shown = {"max-t": 0, "holm": 0}
    for i in range(30):
        columns = correlated(rng, 0.55)
        joint = max_t(columns, n_resamples=1999, seed=i).pvalues
        raw = [
            signflip_test(column).pvalue for part in columns for column in part.values.T
        ]
        holm = adjusted_pvalues(raw, "holm")
        shown["max-t"] += sum(p <= 0.05 for p in joint[80:84])
        shown["holm"] += sum(p <= 0.05 for p in holm[80:84])
    assert shown["max-t"] >= shown["holm"]
    assert shown["holm"] > 30  # the comparison is not one of nothing
