"""Which tests are adjusted together, over metrics, slices and variants."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

import onechange as oc
from onechange.families import question_units
from onechange.report import render
from onechange.stats.multiplicity import simultaneous_level
from onechange.values import variant_values

N = 60
IDS = [f"q{i:02}" for i in range(N)]
KIND = ["a", "b", "c"] * 20


def frame(*changes: float, seed: int = 1, **columns: object) -> pd.DataFrame:
    """Three metrics; the variant's differ by a shift and noise."""
    base, noise = np.random.default_rng(0), np.random.default_rng(seed)
    metrics = {}
    for i, change in enumerate(changes or (0.0, 0.0, 0.0)):
        score = base.random(N)
        if changes:
            score = score + change + 0.2 * noise.normal(size=N)
        metrics[f"score_{i}"] = score
    return pd.DataFrame({"question_id": IDS, "kind": KIND, **metrics, **columns})


def plan(adjust: str = "max-t", **more: object) -> oc.Plan:
    return oc.Plan(slices=["kind"], analysis=oc.Analysis(adjust=adjust), **more)


@pytest.mark.parametrize(("adjust", "method"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_metrics_and_slices_are_two_families(adjust: str, method: str) -> None:
    comparison = oc.compare(frame(), frame(0.08, 0.05, 0.0), plan(adjust))
    overall, slices = comparison.families
    assert (overall.scope, overall.n_tests) == ("overall", 3)
    assert (slices.scope, slices.n_tests) == ("slices", 9)
    assert slices.members == "9 tests: 3 metrics × 3 slices of kind"
    for deltas in (comparison.deltas, comparison.slices[0].deltas):
        raw = [d.test.pvalue for d in deltas]
        right = multipletests(raw, method=method)[1]
        assert [d.pvalue_adjusted for d in deltas] == pytest.approx(list(right))


def test_max_t_is_never_below_the_raw_p() -> None:
    comparison = oc.compare(frame(), frame(0.08, 0.05, 0.0), plan())
    for delta in (*comparison.deltas, *comparison.slices[0].deltas):
        assert delta.test.pvalue <= delta.pvalue_adjusted <= 1


def test_simultaneous_intervals_are_the_decision_intervals_at_the_joint_level() -> None:
    comparison = oc.compare(frame(), frame(0.08, 0.05, 0.0), plan())
    family = comparison.families[1]
    level = simultaneous_level(family.critical, 0.95)
    assert family.interval_level == level > 0.95
    at_level = oc.compare(
        frame(),
        frame(0.08, 0.05, 0.0),
        oc.Plan(slices=["kind"], analysis=oc.Analysis(confidence_level=level)),
    )
    for joint, alone in zip(
        comparison.slices[0].deltas, at_level.slices[0].deltas, strict=True
    ):
        found = joint.simultaneous_interval
        assert (found.low, found.high) == (alone.interval.low, alone.interval.high)
        assert found.confidence_level == 0.95
        assert found.low < joint.interval.low


def test_without_adjustment_the_intervals_still_hold_together() -> None:
    comparison = oc.compare(frame(), frame(0.08, 0.05, 0.0), plan("none"))
    delta = comparison.slices[0].deltas[0]
    assert delta.pvalue_adjusted is None
    assert delta.simultaneous_interval is not None


def test_one_test_is_no_family() -> None:
    comparison = oc.compare(
        frame(0.0)[["question_id", "score_0"]], frame(0.1)[["question_id", "score_0"]]
    )
    assert comparison.families == ()
    assert comparison.deltas[0].pvalue_adjusted is None
    assert "seed" not in comparison.signature


def test_a_sampled_family_says_so_with_its_error() -> None:
    comparison = oc.compare(frame(), frame(0.08, 0.05, 0.0), plan())
    (note,) = [note for note in comparison.notes if note.code == "sampled"]
    assert "9999 sign flips (seed 7)" in note.text
    worst = max(family.monte_carlo_error for family in comparison.families)
    assert 0 < worst <= 0.005
    assert f"{worst:.2g}" in note.text
    assert "seed:7" in comparison.signature


def test_few_questions_are_enumerated_and_need_no_seed() -> None:
    keep = slice(0, 12)
    comparison = oc.compare(frame().iloc[keep], frame(0.2, 0.1, 0.0).iloc[keep])
    (family,) = comparison.families
    assert (family.n_resamples, family.seed) == (None, None)
    assert all(note.code != "sampled" for note in comparison.notes)


def test_the_seed_changes_only_what_is_sampled() -> None:
    other = oc.Plan(slices=["kind"], analysis=oc.Analysis(seed=8))
    first = oc.compare(frame(), frame(0.08, 0.05, 0.0), plan())
    second = oc.compare(frame(), frame(0.08, 0.05, 0.0), other)
    for a, b in zip(first.slices[0].deltas, second.slices[0].deltas, strict=True):
        assert a.interval == b.interval
        assert a.pvalue_adjusted == pytest.approx(b.pvalue_adjusted, abs=0.03)
    assert first.deltas[0].pvalue_adjusted != second.deltas[1].pvalue_adjusted


def test_a_slice_without_changes_is_noted_and_not_counted() -> None:
    base, other = frame(), frame(0.1, 0.1, 0.1)
    other.loc[other.kind == "a", "score_0"] = base.score_0[base.kind == "a"]
    comparison = oc.compare(base, other, plan())
    assert comparison.families[1].n_tests == 8
    (silent,) = [
        d
        for d in comparison.slices[0].deltas
        if d.metric == "score_0" and d.slice[0][1] == "a"
    ]
    assert silent.pvalue_adjusted is None
    assert "test-undefined" in {note.code for note in silent.notes}
    assert "of those defined" in comparison.families[1].members


def test_a_ratio_metric_has_no_signs_to_flip() -> None:
    ratio = oc.Metric("ratio", numerator="score_0", denominator="score_1")
    declared = plan(metrics=[ratio])
    comparison = oc.compare(frame(), frame(0.08, 0.05, 0.0), declared)
    found = next(d for d in comparison.deltas if d.metric == "ratio")
    assert found.pvalue_adjusted is None
    holm = oc.compare(frame(), frame(0.08, 0.05, 0.0), plan("holm", metrics=[ratio]))
    assert (
        next(d for d in holm.deltas if d.metric == "ratio").pvalue_adjusted is not None
    )


# ---------------------------------------------------------------- several variants


def test_variants_share_one_family_and_one_stream() -> None:
    variants = {"v1": frame(0.1, 0.0, 0.0), "v2": frame(0.1, 0.05, 0.0, seed=2)}
    comparison = oc.compare(frame(), variants, plan())
    overall, slices = comparison.families
    assert overall.members == "6 tests: 3 metrics × 2 variants"
    assert slices.members == "18 tests: 3 metrics × 3 slices of kind × 2 variants"


def test_a_copy_of_a_variant_costs_nothing() -> None:
    variant = frame(0.08, 0.05, 0.0)
    alone = oc.compare(frame(), variant)
    twice = oc.compare(frame(), {"v1": variant, "v2": variant.copy()})
    first = [d for d in twice.deltas if d.variant_name == "v1"]
    for one, two in zip(alone.deltas, first, strict=True):
        assert two.pvalue_adjusted == pytest.approx(one.pvalue_adjusted, abs=1e-12)
    assert twice.families[0].critical == pytest.approx(alone.families[0].critical)


def test_a_question_flips_alike_in_variants_of_other_questions() -> None:
    variants = {
        "v1": frame(0.1, 0.0, 0.0).iloc[5:],
        "v2": frame(0.1, 0.0, 0.0).iloc[:50],
    }
    comparison = oc.compare(frame(), variants)
    values = [
        variant_values(arm.name, pairs, comparison.metrics, comparison.plan)
        for arm, pairs in zip(comparison.variants, comparison.pairs, strict=True)
    ]
    units = question_units(values, None)
    named = [
        dict(zip(pairs.question_id.tolist(), codes.tolist(), strict=True))
        for pairs, codes in zip(comparison.pairs, units, strict=True)
    ]
    assert all(named[1][question] == code for question, code in named[0].items())
    assert len(set(named[0].values())) == len(named[0])


def test_a_cluster_flips_whole_in_all_variants() -> None:
    document = [f"d{i // 3}" for i in range(N - 1)] + [None]
    variants = {
        "v1": frame(0.1, 0.0, 0.0, document=document),
        "v2": frame(0.1, 0.0, 0.0, document=document).iloc[10:],
    }
    columns = oc.Columns(cluster="document")
    comparison = oc.compare(
        frame(document=document), variants, oc.Plan(columns=columns)
    )
    values = [
        variant_values(arm.name, pairs, comparison.metrics, comparison.plan)
        for arm, pairs in zip(comparison.variants, comparison.pairs, strict=True)
    ]
    units = question_units(values, "document")
    for codes in units:
        assert len(set(codes.tolist())) == 20 + (document[-1] is None)
    assert np.array_equal(units[0], units[1])


@pytest.mark.parametrize(("shift", "seed"), [(0.065, 1), (0.08, 2), (0.2, 1)])
def test_an_adjusted_p_and_an_interval_that_disagree_say_why(
    shift: float, seed: int
) -> None:
    comparison = oc.compare(frame(), frame(shift, shift / 2, 0.0, seed=seed), plan())
    told = 0
    for delta in (*comparison.deltas, *comparison.slices[0].deltas):
        interval = delta.simultaneous_interval
        if interval is None or delta.pvalue_adjusted is None:
            continue
        excluded = interval.low > 0 or interval.high < 0
        found = [
            note.text
            for note in delta.notes
            if note.code == "adjusted-p-and-interval-disagree"
        ]
        assert bool(found) == (excluded != (delta.pvalue_adjusted < 0.05))
        told += len(found)
        for text in found:
            assert ("excludes 0" in text) == excluded
            assert "max-T by sign flips" in text
    assert bool(told) == (shift < 0.1)


def test_the_disagreement_of_a_slice_stands_among_the_main_notes() -> None:
    comparison = oc.compare(frame(), frame(0.08, 0.04, 0.0, seed=2), plan())
    text = " ".join(render(comparison, "text").split())
    assert "adjusted-p-and-interval-disagree (score_0 in b): The adjusted p is" in text
