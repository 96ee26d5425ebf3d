"""Wilcoxon's test, against enumeration of all signs and SciPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats

from onechange.errors import MethodError
from onechange.stats.rank import midranks, signed_ranks, wilcoxon_test

TIED = np.array([0.5, -0.25, 0.25, 0.0, 0.75, 0.25, -0.5, 0.0, 1.0])


def test_midranks_match_scipy() -> None:
    values = np.array([3.0, 1.0, 3.0, 2.0, 3.0, 1.0])
    assert midranks(values).tolist() == scipy.stats.rankdata(values).tolist()
    assert midranks(np.empty(0)).size == 0


@pytest.mark.parametrize("zeros", ["drop", "pratt"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_p_is_the_share_of_all_signs(zeros: str, alternative: str) -> None:
    signed = signed_ranks(TIED, zeros=zeros)
    ranks, observed = np.abs(signed), signed.sum()
    sums = np.array(
        [np.dot(s, ranks) for s in itertools.product((-1, 1), repeat=TIED.size)]
    )
    extreme = {
        "two-sided": np.abs(sums) >= abs(observed),
        "greater": sums >= observed,
        "less": sums <= observed,
    }[alternative]
    got = wilcoxon_test(TIED, zeros=zeros, alternative=alternative)
    assert got.pvalue == pytest.approx(extreme.mean(), rel=1e-12)


def test_without_ties_it_is_scipys_exact_test() -> None:
    d = np.array([0.11, -0.2, 0.35, 0.41, -0.05, 0.62, 0.77, 0.81])
    expected = scipy.stats.wilcoxon(d, method="exact")
    assert wilcoxon_test(d).pvalue == pytest.approx(expected.pvalue)
    assert wilcoxon_test(d).statistic == 36 - expected.statistic


def test_clusters_flip_whole() -> None:
    d, clusters = np.array([1.0, 2.0, 3.0, -4.0]), np.array([0, 0, 1, 1])
    # signed ranks add up to 3 and -1 per cluster: |±3 ± 1| >= 2 always
    assert wilcoxon_test(d, clusters=clusters).pvalue == 1.0


def test_the_note_says_that_it_tests_another_question() -> None:
    assert [n.code for n in wilcoxon_test(TIED).notes] == ["tests-another-question"]


def test_an_unknown_rule_for_zeros_is_refused() -> None:
    with pytest.raises(MethodError, match="pratt"):
        signed_ranks(TIED, zeros="zsplit")
