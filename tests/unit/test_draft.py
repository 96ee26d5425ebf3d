"""The draft plan loads, decides, and says what it was read from."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onechange as oc
from casefiles import folder, run
from onechange.draft import draft_plan
from onechange.draft.resolution import rounded_up
from onechange.draft.toml_text import can_be_written, toml_key, toml_value

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "src" / "onechange" / "examples" / "rag_top_k"
ARMS = (EXAMPLE / "baseline.jsonl", EXAMPLE / "variant.jsonl")


def frames(**columns: object) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(1)
    ids = [f"q{i}" for i in range(60)]
    arms = [
        pd.DataFrame({"question_id": ids, "correct": rng.integers(0, 2, 60), **columns})
        for _ in range(2)
    ]
    return arms[0], arms[1]


def loaded(text: str, folder: Path) -> oc.Plan:
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    return oc.Plan.load(path)


def test_the_draft_of_the_example_loads_and_decides(tmp_path: Path) -> None:
    target = tmp_path / "plan.toml"
    done = run("plan", "init", *ARMS, "--out", target)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    plan = oc.Plan.load(target)
    assert plan.change == oc.Change("retriever.top_k", 3, 8)
    assert plan.question_set == "filings-200 v1"
    assert [spec.text for spec in plan.slices] == ["question_type"]
    text = target.read_text(encoding="utf-8")
    assert '# cluster = "document"   # 60 values over 200 questions' in text
    decided = run("decide", *ARMS, "--plan", target)
    assert decided.returncode in (0, 1, 3)
    assert decided.stderr == ""


def test_the_draft_tells_no_delta() -> None:
    comparison = oc.compare(*ARMS)
    numbers = {float(n) for n in re.findall(r"\d+\.\d+", draft_plan(comparison))}
    for delta in comparison.deltas:
        assert delta.delta is not None
        assert all(abs(abs(delta.delta) - number) > 1e-9 for number in numbers)


def test_directions_and_ranges_are_written_out(tmp_path: Path) -> None:
    arms = frames(latency_s=np.linspace(0.1, 0.9, 60), grade=[1, 3, 5] * 20)
    plan = loaded(draft_plan(oc.compare(*arms)), tmp_path)
    found = {metric.name: (metric.direction, metric.range) for metric in plan.metrics}
    assert found["correct"] == ("higher", (0.0, 1.0))
    # seconds below 1 are no shares, and a scale of 1 to 5 is only suggested
    assert found["grade"] == ("higher", None)
    assert found["latency_s"] == ("lower", None)


def test_the_smallest_margin_of_a_binary_metric_is_newcombes(tmp_path: Path) -> None:
    before, after = frames(second=[0, 1] * 30)
    before["second"] = 0
    after["second"] = 0
    text = draft_plan(oc.compare(before, after))
    z = 1.959963984540054
    smallest = z**2 / (60 + z**2)  # no event at all
    assert f"could show is {rounded_up(smallest):g}," in text


def test_several_changed_settings_are_named() -> None:
    arms = [
        replace(oc.read(frame), settings=settings, name=name)
        for frame, settings, name in zip(
            frames(),
            ({"k": 3, "model": "a"}, {"k": 8, "model": "b"}),
            ("baseline", "variant"),
            strict=True,
        )
    ]
    text = draft_plan(oc.compare(arms[0], arms[1]))
    assert "# 2 settings differ" in text
    assert '# accepted_changes = ["model"]' in text
    assert 'setting = "k"\nfrom = 3\nto = 8' in text


def test_declared_columns_stay_declared(tmp_path: Path) -> None:
    sources = [f"d{i % 20}" for i in range(60)]
    before, after = (f.rename(columns={"question_id": "qid"}) for f in frames())
    before["doc"] = after["doc"] = sources
    plan = oc.Plan(columns=oc.Columns(question_id="qid", cluster="doc"))
    found = loaded(draft_plan(oc.compare(before, after, plan)), tmp_path)
    assert (found.columns.question_id, found.columns.cluster) == ("qid", "doc")


def test_odd_names_are_quoted(tmp_path: Path) -> None:
    name, label = 'score "a"\\b\n[x] # y', "type, of: it"
    before, after = (f.rename(columns={"correct": name}) for f in frames())
    before[label] = after[label] = ["a", "b"] * 30
    comparison = oc.compare(before, after)
    plan = loaded(draft_plan(comparison), tmp_path)
    assert plan.primary[0].metric == name
    assert plan.slices[0].columns == (label,)
    oc.decide(oc.compare(before, after, plan), plan, stability=False)


def test_an_existing_plan_is_not_overwritten(tmp_path: Path) -> None:
    target = tmp_path / "plan.toml"
    target.write_text("mine", encoding="utf-8")
    done = run("plan", "init", *ARMS, "--out", target)
    assert done.returncode == 2
    assert "exists" in done.stderr
    assert target.read_text(encoding="utf-8") == "mine"


def test_arms_without_a_common_score_have_no_draft() -> None:
    before, after = frames()
    before["correct"] = np.nan
    with pytest.raises(oc.OnechangeError):
        draft_plan(oc.compare(before, after))


@pytest.mark.parametrize("number", [10, 24, 26, 28, 33, 36])
def test_the_draft_of_a_case_decides(number: int, tmp_path: Path) -> None:
    here = folder(number)
    arms = (here / "baseline.csv", here / "variant.csv")
    if not all(path.exists() for path in arms):
        pytest.skip("the case has other files")
    comparison = oc.compare(*arms)
    plan = loaded(draft_plan(comparison), tmp_path)
    decision = oc.decide(oc.compare(*arms, plan), plan, stability=False)
    assert decision.decision in ("ship", "do not ship", "inconclusive")


VALUES = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(VALUES)
def test_any_plain_value_survives_toml(value: object) -> None:
    assert can_be_written(value)
    assert tomllib.loads(f"key = {toml_value(value)}") == {"key": value}


@given(st.text())
def test_any_name_survives_as_a_key(name: str) -> None:
    assert tomllib.loads(f"{toml_key(name)} = 1") == {name: 1}


@given(st.floats(1e-9, 1e9))
def test_a_margin_is_rounded_up_by_less_than_a_tenth(value: float) -> None:
    rounded = rounded_up(value)
    assert value * (1 - 1e-9) <= rounded <= value * 1.1 * (1 + 1e-9)
