"""Every method that can be asked for is listed where people look for it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import onechange as oc
from casefiles import run
from onechange.report.methods import INTERVALS, TESTS
from onechange.stats.names import (
    BINARY_NAMES,
    INTERVAL_NAMES,
    RESAMPLING_NAMES,
    TEST_NAMES,
)

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("page", ["methods.md", "cli.md", "plan.md"])
def test_the_guides_list_every_name(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    for name in (*INTERVAL_NAMES, *TEST_NAMES, *RESAMPLING_NAMES):
        listed = f"`{name}`" in text or f'"{name}"' in text
        assert listed or re.search(rf"[| `]{name}[|\\` ]", text), name


def test_the_help_lists_every_name() -> None:
    shown = run("compare", "--help", COLUMNS="200", TERM="dumb").stdout
    for name in (*INTERVAL_NAMES, *TEST_NAMES, *RESAMPLING_NAMES):
        assert re.search(rf"(?<![\w+-]){re.escape(name)}(?![\w+-])", shown), name


def test_every_name_has_words_in_the_methods_paragraph() -> None:
    b, v = np.repeat([0.0, 1.0], 20), np.tile([0.0, 1.0, 1.0, 1.0], 10)
    for name in set(INTERVAL_NAMES) - {"auto", "wilson"}:
        for clusters in (None, np.arange(40) // 2):
            try:
                delta = oc.paired_delta(b, v, interval=name, clusters=clusters)
            except oc.MethodError:
                continue
            assert delta.interval is not None
            assert delta.interval.method in INTERVALS
    assert set(TEST_NAMES) - {"auto"} == set(TESTS)
    assert set(INTERVALS) > BINARY_NAMES - set(TESTS)
