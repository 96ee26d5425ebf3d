"""Bounds and tipping points on real gaps, against every way to fill them.

Small subsets of the common data: each missing score is set to each end of the range,
and the filled tables are compared and decided anew.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from casefiles import DATA

COMMON = DATA / "common"
METRICS = ("correct", "faithfulness")

pytestmark = pytest.mark.skipif(
    not COMMON.is_dir(),
    reason=f"no real results in {DATA}; set ONECHANGE_DATA to their folder",
)


@pytest.fixture(scope="module")
def arms() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Give the first trial of both arms, the questions they share."""
    frames = [
        pd.read_csv(COMMON / f"{arm}_t1.csv").set_index("question_id")
        for arm in ("baseline", "variant")
    ]
    shared = frames[0].index.intersection(frames[1].index).sort_values()
    return frames[0].loc[shared], frames[1].loc[shared]


def _subset(arms, metric: str, *, complete: int, incomplete: int, seed: int):
    """Draw some questions with both scores and some that lack one."""
    missing = arms[0][metric].isna() | arms[1][metric].isna()
    rng = np.random.default_rng(seed)
    ids = [
        *rng.choice(missing.index[~missing], complete, replace=False),
        *rng.choice(missing.index[missing], incomplete, replace=False),
    ]
    columns = [metric, "status"]
    return tuple(frame.loc[ids, columns] for frame in arms), ids[complete:]


def _decided(frames, metric: str, margin: float) -> tuple[oc.Delta, oc.RuleStatus]:
    plan = oc.Plan(
        guardrails=[oc.Guardrail(metric, margin=margin)],
        metrics=[oc.Metric(metric, range=(0, 1))],
    )
    comparison = oc.compare(*(frame.reset_index() for frame in frames), plan)
    (rule,) = oc.decide(comparison, plan).statuses
    return rule.delta, rule


def _fillings(frames, metric: str, questions: list[str]) -> Iterator[tuple]:
    """Fill the gaps of some questions with every combination of the ends."""
    gaps = [
        (arm, question)
        for arm, frame in enumerate(frames)
        for question in questions
        if np.isnan(frame.loc[question, metric])
    ]
    for ends in itertools.product((0.0, 1.0), repeat=len(gaps)):
        filled = [frame.copy() for frame in frames]
        for (arm, question), end in zip(gaps, ends, strict=True):
            filled[arm].loc[question, [metric, "status"]] = [end, "ok"]
        yield tuple(filled)


@pytest.mark.parametrize("metric", METRICS)
def test_bounds_are_the_extremes_over_all_fillings(arms, metric: str) -> None:
    frames, gaps = _subset(arms, metric, complete=12, incomplete=6, seed=3)
    found, _ = _decided(frames, metric, 0.1)
    filled = [_decided(way, metric, 0.1)[0] for way in _fillings(frames, metric, gaps)]
    assert len(filled) == 64
    bounds = found.bounds
    assert (bounds.n_questions, bounds.n_incomplete) == (18, 6)
    assert bounds.low == pytest.approx(min(d.delta for d in filled), abs=1e-12)
    assert bounds.high == pytest.approx(max(d.delta for d in filled), abs=1e-12)
    extremes = sorted(filled, key=lambda delta: delta.delta)
    assert bounds.interval.low == pytest.approx(extremes[0].interval.low, abs=1e-12)
    assert bounds.interval.high == pytest.approx(extremes[-1].interval.high, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(3))
def test_tipping_point_is_the_first_count_any_filling_reaches(
    arms, metric: str, seed: int
) -> None:
    frames, gaps = _subset(arms, metric, complete=24, incomplete=4, seed=seed)
    complete = frames[0].index.difference(gaps)
    pairs = tuple(frame.loc[complete] for frame in frames)
    low = _decided(pairs, metric, 0.1)[0].interval.low
    # The status must be a pass whose margin a few bad answers would cross.
    margin = round(-low, 3) + 0.03
    _, rule = _decided(frames, metric, margin)
    assert rule.status == "pass"
    assert rule.tipping.questions == _first(frames, metric, margin, gaps)
    assert (rule.tipping.n_questions, rule.tipping.end) == (4, "worst")


def _first(frames, metric: str, margin: float, gaps: list[str]) -> int | None:
    """Smallest number of questions that, filled somehow, end the pass."""
    complete = frames[0].index.difference(gaps)
    for count in range(1, len(gaps) + 1):
        for chosen in itertools.combinations(gaps, count):
            use = [*complete, *chosen]
            some = tuple(frame.loc[use] for frame in frames)
            for way in _fillings(some, metric, list(chosen)):
                if _decided(way, metric, margin)[1].status != "pass":
                    return count
    return None
