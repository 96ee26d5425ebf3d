from __future__ import annotations

import re
from dataclasses import replace

import pytest

import builders
from onechange.plan.parts import ADJUSTMENTS as PLAN_ADJUSTMENTS
from onechange.report.methods import ADJUSTMENTS, INTERVALS, TESTS, methods_paragraph
from onechange.report.references import REFERENCES
from onechange.stats.choose import INTERVAL_NAMES, TEST_NAMES
from onechange.stats.estimate import TestResult


def test_only_references_of_methods_that_were_used_are_listed() -> None:
    changes = {"bootstrap_interval": None, "permutation_interval": None}
    delta = builders.binary("correct", **changes)
    plain = builders.comparison(deltas=(delta,), rates=(), slices=())
    found = methods_paragraph(plain)
    assert [r.short for r in found.references] == [
        "Newcombe",
        "McNemar",
        "Fagerland et al.",
    ]


def test_every_listed_reference_is_cited_once_in_the_text() -> None:
    found = methods_paragraph(builders.comparison())
    assert len(found.references) >= 8
    for reference in found.references:
        assert found.text.count(reference.citation) == 1
    years = re.findall(r"\b(?:19|20)\d\d\b", found.text)
    assert len(years) == len(found.references)


@pytest.mark.parametrize("name", [n for n in INTERVAL_NAMES if n != "auto"])
def test_every_interval_that_can_be_asked_for_is_described(name: str) -> None:
    assert name in INTERVALS


@pytest.mark.parametrize("name", [n for n in TEST_NAMES if n != "auto"])
def test_every_test_that_can_be_asked_for_is_described(name: str) -> None:
    assert name in TESTS


@pytest.mark.parametrize("name", [n for n in PLAN_ADJUSTMENTS if n != "none"])
def test_every_adjustment_is_described(name: str) -> None:
    assert name in ADJUSTMENTS


def test_every_cited_key_has_a_reference_with_its_short_form() -> None:
    for table in (INTERVALS, TESTS, ADJUSTMENTS):
        for _, keys in table.values():
            for key in keys:
                assert REFERENCES[key].short
                assert str(REFERENCES[key].year) in key


def test_sampling_is_named_with_its_seed() -> None:
    sampled = TestResult(0.02, "sign-flip", exact=False, n_resamples=9999)
    plain = builders.comparison(deltas=(builders.delta(test=sampled),))
    assert "sampled 9999 times with seed 7" in methods_paragraph(plain).text
    exact = methods_paragraph(builders.comparison(rates=()))
    assert "sampled" not in exact.text


def test_trials_and_clusters_are_said() -> None:
    text = methods_paragraph(builders.comparison()).text
    assert "trials were averaged" in text
    one = replace(builders.audit(), trials=(1, 1))
    plain = builders.comparison(
        audits=(one,), deltas=(builders.delta(n_clusters=30),), rates=()
    )
    text = methods_paragraph(plain).text
    assert "trials were averaged" not in text
    assert "30 clusters" in text
