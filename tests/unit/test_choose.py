"""The method table: each row, each name, each note."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from onechange.errors import MethodError
from onechange.stats.choose import (
    INTERVAL_NAMES,
    TEST_NAMES,
    arm_interval,
    automatic_interval,
    decision_interval,
    decision_test,
    margin_pvalue,
)
from onechange.stats.cluster import guarded_cr2_mean_law, skewed_cluster_limits
from onechange.stats.estimate import Interval
from onechange.stats.interval import hall_limits
from onechange.stats.sample import PairedSample, paired_sample
from onechange.stats.signflip import signflip_interval
from onechange.stats.student import StudentLaw, guarded_mean_law, guarded_t_law

ORACLE = Path(__file__).parents[1] / "oracle"
RNG = np.random.default_rng(12)
N = 40
SCORES_B = RNG.integers(0, 5, N) / 4
SCORES_V = np.clip(SCORES_B + RNG.integers(-2, 4, N) / 4, 0, 1)
BINARY_B = (RNG.random(N) < 0.6).astype(float)
BINARY_V = np.where(RNG.random(N) < 0.3, 1 - BINARY_B, BINARY_B)
CLUSTERS = np.repeat(np.arange(8), 5)


def _scores(n: int = N, **kwargs: object) -> PairedSample:
    return paired_sample(SCORES_B[:n], SCORES_V[:n], **kwargs)


def _binary(n: int = N, **kwargs: object) -> PairedSample:
    return paired_sample(BINARY_B[:n], BINARY_V[:n], binary=True, **kwargs)


def _codes(notes: tuple) -> list[str]:
    return [note.code for note in notes]


@pytest.mark.parametrize(
    ("sample", "interval", "test"),
    [
        (_scores(), "sign-flip+guarded-t", "sign-flip"),
        (_binary(), "newcombe", "mcnemar-midp"),
        (_scores(clusters=CLUSTERS), "guarded-cr2-t", "sign-flip"),
        (_binary(clusters=CLUSTERS), "newcombe-cluster", "sign-flip"),
        (_scores(clusters=np.arange(N)), "sign-flip+guarded-t", "sign-flip"),
        (_binary(clusters=np.arange(N)), "newcombe", "mcnemar-midp"),
    ],
    ids=["scores", "binary", "clusters", "binary-clusters", "single", "binary-single"],
)
def test_each_row_of_the_table_gets_its_method(
    sample: PairedSample, interval: str, test: str
) -> None:
    choice = decision_interval(sample)
    assert choice.interval is not None
    assert choice.interval.method == interval == automatic_interval(sample)
    assert choice.enough
    assert decision_test(sample).method == test


@pytest.mark.parametrize(("level", "fewest"), [(0.9, 5), (0.95, 6), (0.99, 8)])
@pytest.mark.parametrize("make", [_scores, _binary])
def test_fewer_than_the_fewest_questions_have_no_interval(
    make: object, level: float, fewest: int
) -> None:
    few = decision_interval(make(fewest - 1), confidence_level=level)
    assert few.interval is None
    assert not few.enough
    assert few.notes[0].code == "too-few-questions"
    assert f"{2.0 ** (2 - fewest):.4g}" in few.notes[0].text
    enough = decision_interval(make(fewest), confidence_level=level)
    assert enough.interval is not None
    assert enough.enough


def test_few_binary_questions_get_the_sign_flip_test() -> None:
    assert decision_test(_binary(5)).method == "sign-flip"
    assert decision_test(_binary(5), confidence_level=0.9).method == "mcnemar-midp"


def test_few_clusters_are_shown_but_not_enough() -> None:
    choice = decision_interval(_scores(clusters=np.repeat(np.arange(4), 10)))
    assert choice.interval is not None
    assert choice.interval.method == "guarded-cr2-t"
    assert not choice.enough
    assert "few-clusters" in _codes(choice.notes)


def test_one_cluster_has_no_interval() -> None:
    for make in (_scores, _binary):
        choice = decision_interval(make(clusters=np.zeros(N, dtype=np.int64)))
        assert choice.interval is None
        assert _codes(choice.notes)[0] == "few-clusters"


def test_a_method_asked_for_by_name_is_computed_for_few_questions() -> None:
    choice = decision_interval(_scores(4), name="t")
    assert choice.interval is not None
    assert choice.interval.method == "t"
    assert not choice.enough
    assert "too-few-questions" in _codes(choice.notes)


def test_the_default_is_at_each_end_the_wider_of_two() -> None:
    sample = _scores()
    got = decision_interval(sample).interval
    flips = signflip_interval(sample.difference)
    law = guarded_t_law(sample.difference, width=None)
    assert got is not None
    assert law is not None
    low, high = law.limits(0.025)
    assert got.low == min(low, flips.low)
    assert got.high == max(high, flips.high)


def test_a_constant_shift_has_the_right_decision_interval() -> None:
    b = np.array([0.26, 0.67, 0.41, 0.88, 0.15, 0.52, 0.73, 0.34])
    choice = decision_interval(paired_sample(b, b + 0.05))
    assert choice.interval is not None
    assert not choice.interval.degenerate
    assert (choice.interval.low, choice.interval.high) == pytest.approx(
        (0.02737837, 0.07262157), abs=1e-7
    )


def test_no_change_and_no_range_has_no_interval_and_says_why() -> None:
    choice = decision_interval(paired_sample(SCORES_B, SCORES_B))
    assert choice.interval is None
    assert choice.enough
    assert "equal-differences" in _codes(choice.notes)
    assert "--range" in choice.notes[-1].text


def test_no_change_with_a_range_has_an_interval_with_width() -> None:
    sample = paired_sample(SCORES_B, SCORES_B, score_range=(0.0, 1.0))
    choice = decision_interval(sample)
    assert choice.interval is not None
    half = scipy.stats.t.isf(0.025, N + 1) * math.sqrt(2 / (N + 1) / (N + 2))
    assert choice.interval.high == pytest.approx(half)
    assert choice.interval.low == pytest.approx(-half)


def test_limits_are_cut_to_what_the_range_allows() -> None:
    b = np.zeros(6)
    v = np.array([1.0, 1.0, 0.9, 1.0, 1.0, 1.0])
    inside = decision_interval(paired_sample(b, v, score_range=(0.0, 1.0)))
    beyond = decision_interval(paired_sample(b, v))
    assert inside.interval is not None
    assert beyond.interval is not None
    assert inside.interval.high == 1.0
    assert beyond.interval.high > 1.0


def test_few_changes_and_skew_are_noted() -> None:
    v = SCORES_B.copy()
    v[0] += 5.0
    notes = _codes(decision_interval(paired_sample(SCORES_B, v)).notes)
    assert notes == ["few-changed-answers", "skewed"]
    assert _codes(decision_interval(_scores()).notes) == []


@pytest.mark.parametrize(
    ("changed", "n", "words"),
    [
        (0, 60, "None of 60 questions changed: "),
        (3, 60, "Only 3 of 60 questions changed: the interval leans on few answers."),
        (9, 9, "All 9 questions changed, but 9 are few for an interval."),
    ],
)
def test_few_changes_are_told_in_words_that_fit(
    changed: int, n: int, words: str
) -> None:
    b, v = np.zeros(n), np.repeat([1.0, 0.0], [changed, n - changed])
    (note,) = decision_interval(paired_sample(b, v)).notes
    assert note.code == "few-changed-answers"
    assert note.text.startswith(words)


def test_without_an_interval_nothing_leans_on_few_answers() -> None:
    few = decision_interval(paired_sample(np.zeros(1), np.ones(1)))
    assert _codes(few.notes) == ["too-few-questions"]
    equal = decision_interval(paired_sample(SCORES_B, SCORES_B))
    assert _codes(equal.notes) == ["equal-differences"]


def test_4_gained_and_12_lost_of_150_split_interval_and_test() -> None:
    b = np.repeat([1.0, 0.0, 1.0, 0.0], [12, 4, 114, 20])
    v = np.repeat([0.0, 1.0, 1.0, 0.0], [12, 4, 114, 20])
    sample = paired_sample(b, v)
    interval, test = decision_interval(sample).interval, decision_test(sample)
    assert interval is not None
    assert interval.low == pytest.approx(-0.1091, abs=5e-5)
    assert interval.high == pytest.approx(0.0005, abs=5e-5)
    assert interval.high > 0
    assert test.pvalue == pytest.approx(0.049, abs=5e-4)


@pytest.mark.parametrize(
    "name",
    [
        n
        for n in INTERVAL_NAMES
        if n not in ("auto", "two-way", "fieller", "guarded-fieller", "wilson")
    ],
)
def test_every_name_is_selectable_with_clusters_or_without(name: str) -> None:
    without = name not in ("newcombe-cluster", "cr2-t", "guarded-cr2-t")
    if without:
        got = decision_interval(_binary(), name=name, n_resamples=999).interval
        assert got is not None
        assert got.method == name
        assert got.low < got.high
    if name != "hall":
        got = decision_interval(
            _binary(clusters=CLUSTERS), name=name, n_resamples=999
        ).interval
        assert got is not None
        assert got.low < got.high


@pytest.mark.parametrize(
    ("name", "clustered_name"),
    [
        ("newcombe", "newcombe-cluster"),
        ("wald", "wald-cluster"),
        ("t", "cr2-t"),
        ("guarded-t", "guarded-cr2-t"),
        ("cr2-t", "cr2-t"),
    ],
)
def test_with_clusters_a_name_acts_on_whole_clusters(
    name: str, clustered_name: str
) -> None:
    got = decision_interval(_binary(clusters=CLUSTERS), name=name).interval
    assert got is not None
    assert got.method == clustered_name


@pytest.mark.parametrize(
    ("make", "name", "way_out"),
    [
        (_scores, "newcombe", "sign-flip"),
        (_scores, "tango", "sign-flip"),
        (_scores, "fieller", "relative"),
        (_scores, "guarded-fieller", "relative"),
        (_binary, "wilson", "one arm"),
        (_scores, "cr2-t", '"t"'),
        (_scores, "guarded-cr2-t", '"guarded-t"'),
        (_binary, "newcombe-cluster", '"newcombe"'),
        (_scores, "two-way", "trials"),
        (_scores, "new-combe", "newcombe"),
        (_scores, "zzz", "known:"),
    ],
)
def test_an_unsuitable_interval_is_refused_with_the_way_out(
    make: object, name: str, way_out: str
) -> None:
    with pytest.raises(MethodError, match=way_out):
        decision_interval(make(), name=name)


def test_hall_is_refused_for_clusters() -> None:
    with pytest.raises(MethodError, match="guarded-cr2-t"):
        decision_interval(_scores(clusters=CLUSTERS), name="hall")


def test_names_that_need_two_pairs_give_none_for_one() -> None:
    for name in ("t", "hall"):
        choice = decision_interval(_scores(1), name=name)
        assert choice.interval is None
        assert "too-few-questions" in _codes(choice.notes)
    empty = paired_sample(np.empty(0), np.empty(0), binary=True)
    assert decision_interval(empty, name="newcombe").interval is None


@pytest.mark.parametrize("name", TEST_NAMES)
def test_every_test_name_is_selectable(name: str) -> None:
    got = decision_test(_binary(), name=name)
    assert got.method == ("mcnemar-midp" if name == "auto" else name)
    assert got.pvalue is not None
    assert 0 < got.pvalue <= 1


def test_t_and_wilcoxon_act_on_whole_clusters() -> None:
    sample = _scores(clusters=CLUSTERS)
    assert (
        decision_test(sample, name="t").pvalue
        != decision_test(_scores(), name="t").pvalue
    )
    assert (
        decision_test(sample, name="wilcoxon").pvalue
        != decision_test(_scores(), name="wilcoxon").pvalue
    )


def test_t_test_matches_scipy() -> None:
    got = decision_test(_scores(), name="t")
    expected = scipy.stats.ttest_rel(SCORES_V, SCORES_B)
    assert got.pvalue == pytest.approx(expected.pvalue, rel=1e-10)
    assert got.statistic == pytest.approx(expected.statistic, rel=1e-10)


def test_a_t_test_of_equal_differences_is_undefined_not_significant() -> None:
    got = decision_test(paired_sample(SCORES_B, SCORES_B + 0.05), name="t")
    assert got.pvalue is None
    assert _codes(got.notes) == ["test-undefined"]


@pytest.mark.parametrize(
    ("sample", "way_out"),
    [(_scores(), "sign-flip"), (_binary(clusters=CLUSTERS), "whole clusters")],
)
def test_an_unsuitable_test_is_refused_with_the_way_out(
    sample: PairedSample, way_out: str
) -> None:
    with pytest.raises(MethodError, match=way_out):
        decision_test(sample, name="mcnemar-exact")


def test_an_unknown_test_is_refused() -> None:
    with pytest.raises(MethodError, match="did you mean"):
        decision_test(_scores(), name="wilcoxn")


@pytest.mark.parametrize(
    "sample",
    [
        _scores(),
        _binary(),
        _scores(clusters=CLUSTERS),
        _binary(clusters=CLUSTERS),
    ],
    ids=["scores", "binary", "clusters", "binary-clusters"],
)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_p_at_a_limit_is_half_of_alpha(sample: PairedSample, level: float) -> None:
    interval = decision_interval(sample, confidence_level=level).interval
    assert interval is not None
    tail = (1 - level) / 2
    for margin, alternative in ((interval.low, "greater"), (interval.high, "less")):
        got = margin_pvalue(
            sample, margin, alternative=alternative, confidence_level=level
        )
        beyond = margin_pvalue(
            sample,
            margin + (-1e-9 if alternative == "greater" else 1e-9),
            alternative=alternative,
            confidence_level=level,
        )
        assert got is not None
        assert beyond is not None
        assert beyond <= tail * (1 + 1e-6)
        assert got >= tail * (1 - 1e-6)
        if interval.method != "sign-flip+guarded-t":  # its p has steps
            assert got == pytest.approx(tail, rel=1e-6)


@pytest.mark.parametrize("margin", [-0.3, -0.05, 0.0, 0.1, 0.9])
@pytest.mark.parametrize("make", [_scores, _binary])
def test_p_and_interval_never_disagree_about_a_margin(
    make: object, margin: float
) -> None:
    sample = make()
    interval = decision_interval(sample).interval
    assert interval is not None
    above = margin_pvalue(sample, margin, alternative="greater")
    below = margin_pvalue(sample, margin, alternative="less")
    assert above is not None
    assert below is not None
    assert (above < 0.025) == (interval.low > margin)
    assert (below < 0.025) == (interval.high < margin)


def test_p_at_the_estimate_of_a_binary_metric_is_one_half() -> None:
    sample = paired_sample(np.tile([0.0, 1.0], 10), np.tile([1.0, 0.0], 10))
    for alternative in ("greater", "less"):
        got = margin_pvalue(sample, 0.0, alternative=alternative)
        assert got == pytest.approx(0.5, abs=1e-6)


def test_p_beyond_what_can_be_attained_is_tiny_but_not_zero() -> None:
    got = margin_pvalue(_binary(), -2.0, alternative="greater")
    assert got is not None
    assert 0 < got < 1e-100


def test_named_t_gives_the_oracles_non_inferiority_p() -> None:
    family = json.loads(
        (ORACLE / "noninferiority_power.json").read_text(encoding="utf-8")
    )
    cases = [c for c in family["cases"] if c["name"].startswith("noninferiority_t/")]
    assert cases
    for case in cases:
        diffs = np.array(family["datasets"][case["data"]]["diffs"])
        sample = paired_sample(np.zeros(diffs.size), diffs)
        got = margin_pvalue(
            sample, -case["params"]["margin"], alternative="greater", name="t"
        )
        assert got == pytest.approx(case["value"], rel=1e-9)


def test_p_of_a_searched_bootstrap_agrees_with_its_interval() -> None:
    sample = _scores(12)
    interval = decision_interval(sample, name="percentile").interval
    assert interval is not None
    got = margin_pvalue(
        sample, interval.low - 1e-6, alternative="greater", name="percentile"
    )
    assert got is not None
    assert got <= 0.0251


def test_no_interval_means_no_p_at_the_margin() -> None:
    assert margin_pvalue(_scores(4), -0.1, alternative="greater") is None


def test_an_unknown_side_is_refused() -> None:
    with pytest.raises(MethodError, match="greater"):
        margin_pvalue(_scores(), 0.0, alternative="two-sided")


def test_two_way_widens_each_end_and_its_p() -> None:
    sample = _scores()
    plain = decision_interval(sample).interval
    assert plain is not None
    centre = float(sample.difference.mean())
    law = StudentLaw(centre, 0.5, 4.0)
    by_law = decision_interval(sample, two_way=law).interval
    low, high = law.limits(0.025)
    given = Interval(low, high, 0.95, "two-way")
    by_interval = decision_interval(sample, two_way=given, name="two-way").interval
    assert by_law is not None
    assert by_interval is not None
    assert by_law.method == "two-way"
    assert (by_law.low, by_law.high) == (low, high)
    assert (by_interval.low, by_interval.high) == (low, high)
    narrow = decision_interval(sample, two_way=StudentLaw(centre, 1e-9, 50.0)).interval
    assert narrow is not None
    assert (narrow.low, narrow.high) == (plain.low, plain.high)
    got = margin_pvalue(sample, low, alternative="greater", two_way=law)
    assert got == pytest.approx(0.025)


def test_two_way_does_not_stand_in_for_missing_change() -> None:
    sample = paired_sample(SCORES_B, SCORES_B)
    choice = decision_interval(sample, two_way=StudentLaw(0.0, 0.1, 9.0))
    assert choice.interval is None


def test_own_interval_of_a_binary_arm_is_wilson() -> None:
    got = arm_interval(np.repeat([1.0, 0.0], [38, 0]), binary=True).interval
    assert got is not None
    assert (got.low, got.high) == (pytest.approx(0.90819, abs=1e-6), 1.0)


def test_own_interval_of_scores_is_the_wider_of_guarded_t_and_hall() -> None:
    values = np.exp(RNG.normal(size=30))
    got = arm_interval(values, binary=False).interval
    law, hall = guarded_mean_law(values, width=None), hall_limits(values, 0.025)
    assert got is not None
    assert law is not None
    assert hall is not None
    low, high = law.limits(0.025)
    assert (got.low, got.high) == (min(low, hall[0]), max(high, hall[1]))


def test_own_interval_is_cut_to_the_declared_range() -> None:
    got = arm_interval(
        np.array([1.0, 1.0, 1.0, 0.9, 1.0, 1.0]), binary=False, score_range=(0.0, 1.0)
    ).interval
    assert got is not None
    assert got.high == 1.0


@pytest.mark.parametrize(
    ("binary", "method"), [(True, "wilson-cluster"), (False, "guarded-t+hall-cluster")]
)
def test_own_interval_with_clusters(binary: bool, method: str) -> None:
    got = arm_interval(BINARY_B, binary=binary, clusters=CLUSTERS)
    assert got.interval is not None
    assert got.interval.method == method
    single = arm_interval(BINARY_B, binary=binary, clusters=np.arange(N)).interval
    assert single == arm_interval(BINARY_B, binary=binary).interval


def _one_failed_row() -> np.ndarray:
    """180 questions, three trials each; one of the 540 rows failed."""
    return np.repeat([1 / 3, 0.0], [1, 179])


def test_one_failed_row_in_documents_is_bounded_like_a_rare_event() -> None:
    documents = np.repeat(np.arange(60), 3)
    got = arm_interval(
        _one_failed_row(), binary=False, clusters=documents, score_range=(0.0, 1.0)
    ).interval
    alone = arm_interval(_one_failed_row(), binary=False, score_range=(0, 1)).interval
    assert got is not None
    assert alone is not None
    assert got.low == 0.0
    assert got.high >= alone.high
    assert got.high > scipy.stats.chi2.ppf(0.975, 4) / 2 / 540  # exact Poisson, 0.0103


def test_own_interval_in_documents_contains_each_of_its_three_parts() -> None:
    values = np.exp(RNG.normal(size=N))
    got = arm_interval(values, binary=False, clusters=CLUSTERS).interval
    law = guarded_cr2_mean_law(values, CLUSTERS, width=None)
    skewed = skewed_cluster_limits(values, CLUSTERS, 0.025)
    alone = arm_interval(values, binary=False).interval
    assert got is not None
    assert law is not None
    assert skewed is not None
    assert alone is not None
    ends = (law.limits(0.025), skewed, (alone.low, alone.high))
    assert got.low <= min(low for low, _ in ends)
    assert got.high >= max(high for _, high in ends)


def test_own_interval_that_does_not_exist_is_none() -> None:
    assert arm_interval(np.empty(0), binary=True).interval is None
    assert arm_interval(np.full(9, 0.5), binary=False).interval is None
    one_cluster = np.zeros(N, dtype=np.int64)
    assert arm_interval(BINARY_B, binary=True, clusters=one_cluster).interval is None
    few = arm_interval(np.array([0.1, 0.2, 0.4]), binary=False)
    assert few.interval is not None
    assert not few.enough
