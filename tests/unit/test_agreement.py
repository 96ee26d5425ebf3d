"""Cohen's kappa against statsmodels, its interval, and the undefined cases."""

from __future__ import annotations

import numpy as np
import pytest

from onechange.errors import MethodError
from onechange.stats.agreement import agreement_table, cohen_kappa


@pytest.mark.parametrize("seed", range(5))
def test_kappa_and_its_large_sample_interval_agree_with_statsmodels(seed: int) -> None:
    from statsmodels.stats.inter_rater import cohens_kappa

    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 5))
    table = rng.integers(1, 40, (size, size)) + 20 * np.eye(size, dtype=int)
    ours, peer = cohen_kappa(table), cohens_kappa(table)
    assert ours.kappa == pytest.approx(peer.kappa, rel=1e-12)
    assert ours.interval is not None
    assert ours.interval.low <= peer.kappa_low + 1e-9
    assert ours.interval.high >= peer.kappa_upp - 1e-9


def test_full_agreement_does_not_collapse_the_interval() -> None:
    found = cohen_kappa(np.diag([15, 15]))
    assert found.kappa == 1.0
    assert found.interval is not None
    # Wilson: 30 of 30 agree → at least 0.8865; (0.8865 − 0.5)/0.5
    assert found.interval.low == pytest.approx(0.7730, abs=1e-3)
    assert found.interval.high == 1.0


def test_one_label_throughout_has_no_kappa() -> None:
    found = cohen_kappa(np.array([[20, 0], [0, 0]]))
    assert found.kappa is None
    assert found.reason is not None
    assert found.observed == 1.0


def test_the_table_counts_pairs_of_labels() -> None:
    labels, table = agreement_table(["a", "b", "a"], ["a", "a", "b"])
    assert labels == ("a", "b")
    assert table.tolist() == [[1, 1], [1, 0]]
    with pytest.raises(MethodError, match="labels of the same questions"):
        agreement_table([1], [])


def test_weights_are_as_good_as_repeated_questions() -> None:
    once = agreement_table([1, 0, 1], [1, 0, 0], np.array([2.0, 3.0, 1.0]))[1]
    often = agreement_table([1, 1, 0, 0, 0, 1], [1, 1, 0, 0, 0, 0])[1]
    assert cohen_kappa(once) == cohen_kappa(often)


@pytest.mark.parametrize("table", [[[0, 0], [0, 0]], [[1, 2]], [[1, -1], [1, 1]]])
def test_a_table_that_is_none_is_refused(table: list[list[int]]) -> None:
    with pytest.raises(MethodError, match="expected a square table"):
        cohen_kappa(np.array(table))


@pytest.mark.parametrize(
    "p", [[[0.45, 0.05], [0.05, 0.45]], [[0.85, 0.03], [0.05, 0.07]]]
)
def test_the_interval_covers_the_true_kappa(p: list[list[float]]) -> None:
    law = np.array(p)
    expected = float(law.sum(axis=0) @ law.sum(axis=1))
    kappa = (np.trace(law) - expected) / (1 - expected)
    rng = np.random.default_rng(4)
    hits = n = 0
    for drawn in rng.multinomial(40, law.ravel(), size=600):
        found = cohen_kappa(drawn.reshape(2, 2))
        if found.interval is not None:
            n += 1
            hits += found.interval.low <= kappa <= found.interval.high
    assert hits / n > 0.93  # 95 % less 2 binomial standard errors
