"""Bowker's and the Stuart–Maxwell test, against statsmodels and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from onechange.errors import MethodError
from onechange.stats.symmetry import bowker_test, stuart_maxwell_test

# unaided distance vision of 7,477 women, right eye by left eye (Stuart 1955)
VISION = np.array(
    [
        [1520, 266, 124, 66],
        [234, 1512, 432, 78],
        [117, 362, 1772, 205],
        [36, 82, 179, 492],
    ]
)


def test_the_vision_data_give_the_published_statistics() -> None:
    homogeneity = stuart_maxwell_test(VISION)
    assert homogeneity.statistic == pytest.approx(11.96, abs=0.005)
    symmetry = bowker_test(VISION)
    assert symmetry.statistic == pytest.approx(19.11, abs=0.005)


@pytest.mark.parametrize("seed", range(6))
def test_full_tables_agree_with_statsmodels(seed: int) -> None:
    from statsmodels.stats.contingency_tables import SquareTable

    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    table = rng.integers(1, 30, (size, size))
    peer = SquareTable(table, shift_zeros=False)
    ours, theirs = bowker_test(table), peer.symmetry(method="bowker")
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-9)
    assert ours.pvalue == pytest.approx(theirs.pvalue, rel=1e-9)
    ours, theirs = stuart_maxwell_test(table), peer.homogeneity()
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-8)
    assert ours.pvalue == pytest.approx(theirs.pvalue, rel=1e-8)


def test_two_categories_are_mcnemars_test() -> None:
    table = np.array([[5, 12], [4, 9]])
    for test in (bowker_test, stuart_maxwell_test):
        assert test(table).statistic == pytest.approx((12 - 4) ** 2 / 16)


def test_a_category_that_nobody_uses_changes_nothing() -> None:
    wide = np.zeros((5, 5), dtype=int)
    wide[:4, :4] = VISION
    for test in (bowker_test, stuart_maxwell_test):
        assert test(wide).pvalue == pytest.approx(test(VISION).pvalue, rel=1e-9)


def test_categories_in_separate_groups_lose_a_degree_of_freedom() -> None:
    table = np.zeros((4, 4), dtype=int)
    table[:2, :2] = [[3, 9], [2, 3]]
    table[2:, 2:] = [[3, 8], [1, 3]]
    expected = 7**2 / 11 + 7**2 / 9
    for test in (bowker_test, stuart_maxwell_test):
        result = test(table)
        assert result.statistic == pytest.approx(expected)
        assert result.pvalue == pytest.approx(np.exp(-expected / 2))  # 2 df


def test_nothing_changed_is_no_test() -> None:
    for test in (bowker_test, stuart_maxwell_test):
        result = test(np.diag([3, 4]))
        assert result.pvalue is None
        assert [note.code for note in result.notes] == ["test-undefined"]


def test_few_changes_carry_a_note() -> None:
    result = bowker_test(np.array([[5, 3], [1, 5]]))
    assert [note.code for note in result.notes] == ["few-changed-answers"]


@pytest.mark.parametrize("table", [[[1, 2]], [[1, -1], [0, 1]], [1, 2]])
def test_a_table_that_is_not_square_counts_is_refused(table: list[object]) -> None:
    with pytest.raises(MethodError, match="the table has"):
        bowker_test(np.array(table))
