"""Deltas of one metric, from arrays."""

from __future__ import annotations

import numpy as np
import pytest

import onechange as oc


def test_a_tie_width_counts_ties_and_changes_no_delta() -> None:
    b, v = np.repeat([0.2, 0.4], 10), np.repeat([0.22, 0.9], 10)
    plain, wide = oc.paired_delta(b, v), oc.paired_delta(b, v, tie=0.05)
    assert (plain.wins, plain.ties) == (20, 0)
    assert (wide.wins, wide.ties) == (10, 10)
    assert wide.delta == plain.delta == pytest.approx(0.26)
    assert wide.interval == plain.interval
    assert wide.test == plain.test


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9, 1e12])
def test_a_constant_added_to_both_arms_changes_nothing(offset: float) -> None:
    b = offset + 7.0 * np.arange(30)
    v = b + 1
    v[::7] -= 3
    delta = oc.paired_delta(b, v)
    right = oc.paired_delta(b - offset, v - offset)
    assert delta.delta == right.delta
    assert (delta.wins, delta.ties, delta.losses) == (25, 0, 5)
    assert delta.test.pvalue == right.test.pvalue


@pytest.mark.parametrize("value", [(0, 1), (1, 1), (0, 0)])
def test_equal_differences_in_unequal_clusters_are_no_crash(value: tuple) -> None:
    clusters = [f"d{i}" for i in range(30) for _ in range(1 + i % 5)]
    n = len(clusters)
    delta = oc.paired_delta([value[0]] * n, [value[1]] * n, clusters=clusters)
    assert delta.delta == value[1] - value[0]
    assert delta.n_clusters == 30


def test_arrays_that_cannot_be_paired_are_refused() -> None:
    with pytest.raises(oc.InputError, match="3 scores and variant 2"):
        oc.paired_delta([1, 2, 3], [1, 2])
    with pytest.raises(oc.InputError, match="infinite"):
        oc.paired_delta([1.0, float("inf")], [1, 2])
    with pytest.raises(oc.InputError, match="not a number"):
        oc.paired_delta(["a"], [1])
    with pytest.raises(oc.InputError, match="clusters"):
        oc.paired_delta([1, 2], [1, 2], clusters=["a"])
    with pytest.raises(oc.InputError, match="direction"):
        oc.paired_delta([1, 2], [1, 2], direction="up")
    with pytest.raises(oc.InputError, match="outside the declared"):
        oc.paired_delta([1, 2], [1, 2], score_range=(0, 1))
    with pytest.raises(oc.InputError, match="confidence_level"):
        oc.paired_delta([1, 2], [1, 2], confidence_level=95)
