"""What every interval of a delta must satisfy, on data made by Hypothesis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onechange.stats.choose import (
    arm_interval,
    decision_interval,
    decision_test,
    margin_pvalue,
    relative_interval,
)
from onechange.stats.effect import effect_sizes
from onechange.stats.sample import PairedSample, paired_sample

BINARY_NAMES = ["newcombe", "tango", "bonett-price", "agresti-min", "wald"]
SCORE_NAMES = ["t", "guarded-t", "hall", "sign-flip", "sign-flip+guarded-t"]
CLUSTER_NAMES = ["auto", "cr2-t", "guarded-cr2-t", "sign-flip"]
FAST = settings(max_examples=30, deadline=None, derandomize=True)

levels = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99])


@st.composite
def score_samples(draw: st.DrawFn) -> PairedSample:
    n = draw(st.integers(8, 14))
    steps = st.lists(st.integers(0, 20), min_size=n, max_size=n)
    b, v = np.array(draw(steps)) / 20, np.array(draw(steps)) / 20
    return paired_sample(b, v, binary=False, score_range=(0.0, 1.0))


@st.composite
def binary_samples(draw: st.DrawFn) -> PairedSample:
    cells = [draw(st.integers(0, 25)) for _ in range(4)]
    cells[draw(st.integers(0, 3))] += 8
    b = np.repeat([1.0, 1.0, 0.0, 0.0], cells)
    v = np.repeat([1.0, 0.0, 1.0, 0.0], cells)
    return paired_sample(b, v)


@st.composite
def clustered_samples(draw: st.DrawFn) -> PairedSample:
    sizes = draw(st.lists(st.integers(1, 4), min_size=8, max_size=10))
    n = sum(sizes) + 2
    clusters = np.repeat(np.arange(len(sizes) + 1), [*sizes, 2])
    values = st.lists(st.integers(0, 8), min_size=n, max_size=n)
    b, v = np.array(draw(values)) / 8, np.array(draw(values)) / 8
    return paired_sample(b, v, clusters=clusters, binary=False, score_range=(0.0, 1.0))


def _swapped(sample: PairedSample) -> PairedSample:
    return paired_sample(
        sample.variant,
        sample.baseline,
        clusters=sample.clusters,
        score_range=sample.score_range,
        binary=sample.binary,
    )


def _limits(sample: PairedSample, name: str, level: float) -> tuple[float, float]:
    choice = decision_interval(sample, name=name, confidence_level=level)
    if choice.interval is None:  # it would have no width
        assert name not in ("auto", "newcombe", "guarded-t", "sign-flip+guarded-t")
        assert "equal-differences" in {note.code for note in choice.notes}
        centre = float(np.mean(sample.difference))
        return centre, centre
    return choice.interval.low, choice.interval.high


def _check_mirrored(sample: PairedSample, name: str, level: float) -> None:
    low, high = _limits(sample, name, level)
    other_low, other_high = _limits(_swapped(sample), name, level)
    assert (low, high) == pytest.approx((-other_high, -other_low), abs=1e-9)


def _check_nested(sample: PairedSample, name: str) -> None:
    inner, outer = _limits(sample, name, 0.8), _limits(sample, name, 0.95)
    assert outer[0] <= inner[0] + 1e-12
    assert inner[1] <= outer[1] + 1e-12


@pytest.mark.parametrize("name", SCORE_NAMES)
@given(sample=score_samples(), level=levels)
@FAST
def test_swapping_the_arms_mirrors_an_interval_of_scores(
    sample: PairedSample, level: float, name: str
) -> None:
    _check_mirrored(sample, name, max(level, 0.8))


@pytest.mark.parametrize("name", BINARY_NAMES)
@given(sample=binary_samples(), level=levels)
@FAST
def test_swapping_the_arms_mirrors_an_interval_of_shares(
    sample: PairedSample, level: float, name: str
) -> None:
    _check_mirrored(sample, name, level)


@pytest.mark.parametrize("name", CLUSTER_NAMES)
@given(sample=clustered_samples(), level=levels)
@FAST
def test_swapping_the_arms_mirrors_a_clustered_interval(
    sample: PairedSample, level: float, name: str
) -> None:
    _check_mirrored(sample, name, min(level, 0.95))


@pytest.mark.parametrize("name", SCORE_NAMES)
@given(sample=score_samples())
@FAST
def test_a_higher_level_contains_a_lower_one(sample: PairedSample, name: str) -> None:
    _check_nested(sample, name)


@pytest.mark.parametrize("name", BINARY_NAMES)
@given(sample=binary_samples())
@FAST
def test_a_higher_level_contains_a_lower_one_for_shares(
    sample: PairedSample, name: str
) -> None:
    _check_nested(sample, name)


@pytest.mark.parametrize("name", CLUSTER_NAMES)
@given(sample=clustered_samples())
@FAST
def test_a_higher_level_contains_a_lower_one_with_clusters(
    sample: PairedSample, name: str
) -> None:
    _check_nested(sample, name)


@pytest.mark.parametrize("name", SCORE_NAMES)
@given(sample=score_samples(), shift=st.sampled_from([-3.0, 0.1, 7.3]))
@FAST
def test_adding_a_constant_to_both_arms_changes_nothing(
    sample: PairedSample, shift: float, name: str
) -> None:
    low, high = sample.score_range or (0.0, 1.0)
    moved = paired_sample(
        sample.baseline + shift,
        sample.variant + shift,
        binary=False,
        score_range=(low + shift, high + shift),
    )
    assert _limits(moved, name, 0.95) == pytest.approx(
        _limits(sample, name, 0.95), abs=1e-9
    )
    assert decision_test(moved).pvalue == pytest.approx(decision_test(sample).pvalue)


@pytest.mark.parametrize("name", [*SCORE_NAMES, "auto"])
@given(sample=score_samples(), seed=st.integers(0, 5))
@FAST
def test_the_order_of_questions_changes_nothing(
    sample: PairedSample, seed: int, name: str
) -> None:
    order = np.random.default_rng(seed).permutation(sample.n_pairs)
    shuffled = paired_sample(
        sample.baseline[order],
        sample.variant[order],
        binary=False,
        score_range=sample.score_range,
    )
    assert _limits(shuffled, name, 0.95) == pytest.approx(
        _limits(sample, name, 0.95), abs=1e-12
    )


@given(sample=score_samples())
@FAST
def test_the_default_interval_contains_the_delta_and_never_collapses(
    sample: PairedSample,
) -> None:
    low, high = _limits(sample, "auto", 0.95)
    assert low < high
    assert low - 1e-12 <= sample.difference.mean() <= high + 1e-12
    assert low >= -1.0
    assert high <= 1.0


@given(sample=binary_samples())
@FAST
def test_newcombe_contains_the_delta_and_never_collapses(sample: PairedSample) -> None:
    low, high = _limits(sample, "newcombe", 0.95)
    assert low < high
    assert low - 1e-12 <= sample.difference.mean() <= high + 1e-12


@given(sample=binary_samples(), margin=st.floats(-0.9, 0.9))
@FAST
def test_one_sided_p_values_at_a_margin_add_up_and_fall(
    sample: PairedSample, margin: float
) -> None:
    above = margin_pvalue(sample, margin, alternative="greater")
    below = margin_pvalue(sample, margin, alternative="less")
    stricter = margin_pvalue(sample, margin + 0.05, alternative="greater")
    assert above is not None
    assert below is not None
    assert stricter is not None
    assert above + below == pytest.approx(1.0, abs=1e-6)
    assert above <= stricter + 1e-9


@given(sample=score_samples(), factor=st.sampled_from([1e-3, 3.0, 1e6]))
@FAST
def test_the_unit_of_the_score_changes_no_relative_interval(
    sample: PairedSample, factor: float
) -> None:
    scaled = paired_sample(
        sample.baseline * factor,
        sample.variant * factor,
        binary=False,
        score_range=(0.0, factor),
    )
    first, second = relative_interval(sample), relative_interval(scaled)
    assert first.reason == second.reason
    if first.interval is not None and second.interval is not None:
        assert (second.interval.low, second.interval.high) == pytest.approx(
            (first.interval.low, first.interval.high), rel=1e-6, abs=1e-9
        )


@given(sample=score_samples())
@FAST
def test_swapping_the_arms_turns_effect_sizes_round(sample: PairedSample) -> None:
    there, back = effect_sizes(sample), effect_sizes(_swapped(sample))
    for key, size in there.items():
        if size is None:
            assert back[key] is None
        else:
            assert back[key] == pytest.approx(-size, abs=1e-9)


@given(
    values=st.lists(st.integers(0, 10), min_size=6, max_size=20),
    binary=st.booleans(),
)
@FAST
def test_an_arms_own_interval_contains_its_mean(
    values: list[int], binary: bool
) -> None:
    scores = np.array(values) / 10
    if binary:
        scores = np.round(scores)
    got = arm_interval(scores, binary=binary, score_range=(0.0, 1.0)).interval
    assert got is not None
    assert 0.0 <= got.low <= scores.mean() + 1e-12
    assert scores.mean() - 1e-12 <= got.high <= 1.0
    assert got.low < got.high
