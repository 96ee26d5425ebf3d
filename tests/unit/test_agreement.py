"""Cohen's kappa against statsmodels, its interval, and the undefined cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from onechange.errors import MethodError
from onechange.stats.agreement import (
    agreement_table,
    clustered_kappa,
    cohen_kappa,
)


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


def test_clustered_kappa_is_that_of_the_answers() -> None:
    from statsmodels.stats.inter_rater import cohens_kappa

    rng = np.random.default_rng(4)
    clusters = np.repeat(np.arange(40), 3)
    human = rng.integers(0, 2, 120)
    judge = np.where(rng.random(120) < 0.2, 1 - human, human)
    found = clustered_kappa(human.tolist(), judge.tolist(), clusters)
    _, table = agreement_table(human.tolist(), judge.tolist())
    assert found.kappa == pytest.approx(cohens_kappa(table).kappa, rel=1e-12)
    assert found.observed == pytest.approx(np.mean(human == judge))


def test_the_jackknife_over_clusters_is_leaving_each_out() -> None:
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(30), 4)
    human = rng.integers(0, 3, 120)
    judge = np.where(rng.random(120) < 0.3, rng.integers(0, 3, 120), human)
    found = clustered_kappa(human.tolist(), judge.tolist(), clusters)
    kappas = np.array(
        [
            cohen_kappa(
                agreement_table(human[keep].tolist(), judge[keep].tolist())[1]
            ).kappa
            for keep in (clusters != g for g in range(30))
        ],
        dtype=float,
    )
    error = np.sqrt(29 / 30 * np.sum((kappas - kappas.mean()) ** 2))
    half = float(stats.t.ppf(0.975, 29)) * error
    assert found.interval is not None
    assert found.kappa is not None
    assert found.interval.low <= found.kappa - half + 1e-12
    assert found.interval.high >= found.kappa + half - 1e-12


def test_the_clustered_interval_of_kappa_covers_where_the_plain_fails() -> None:
    # The judge errs on all four answers of a question or on none; true kappa is 0.6.
    rng = np.random.default_rng(6)
    plain = clustered = 0
    repetitions = 300
    for _ in range(repetitions):
        clusters = np.repeat(np.arange(50), 4)
        human = np.repeat(rng.integers(0, 2, 50), 4)
        wrong = np.repeat(rng.random(50) < 0.2, 4)
        judge = np.where(wrong, 1 - human, human)
        table = agreement_table(human.tolist(), judge.tolist())[1]
        intervals = (
            cohen_kappa(table).interval,
            clustered_kappa(human.tolist(), judge.tolist(), clusters).interval,
        )
        assert all(intervals)
        plain += intervals[0].low <= 0.6 <= intervals[0].high
        clustered += intervals[1].low <= 0.6 <= intervals[1].high
    assert plain / repetitions < 0.8
    assert clustered / repetitions >= 0.95 - 2 * np.sqrt(0.95 * 0.05 / repetitions)


def test_full_agreement_of_repeated_answers_counts_questions() -> None:
    labels = [1, 1, 1, 0, 0, 0] * 5
    clusters = np.repeat(np.arange(10), 3)
    found = clustered_kappa(labels, labels, clusters)
    assert found.n == 10
    assert found.interval is not None
    assert found.interval.low == cohen_kappa(np.diag([5, 5])).interval.low


def test_one_label_throughout_has_no_kappa_by_cluster() -> None:
    found = clustered_kappa([1] * 6, [1] * 6, np.array([0, 0, 1, 1, 2, 2]))
    assert found.observed == 1.0
    assert found.kappa is None
