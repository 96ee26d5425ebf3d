"""Exactly the declared setting changed: from the files to the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import onechange as oc
from casefiles import DATA, run
from formatfiles import sample
from onechange.report import render

PLAN = """
[experiment]
name = "top_k 3 to 8"
{more}
[experiment.change]
setting = "retriever.top_k"
from = 3
to = 8

[primary]
metric = "correct"
"""
BEFORE = {"retriever": {"top_k": 3}, "judge": {"model": "j1"}, "question_set": "s1"}
AFTER = {"retriever": {"top_k": 8}, "judge": {"model": "j1"}, "question_set": "s1"}


def written(
    folder: Path,
    before: dict[str, Any] | None = BEFORE,
    after: dict[str, Any] | None = AFTER,
    *,
    more: str = "",
) -> list[Path]:
    """Two arms of which the variant is clearly better, settings beside them."""
    for name, gain, settings in (("baseline", 0, before), ("variant", 1, after)):
        scores = [gain, 1, gain, 0] * 10
        rows = [
            json.dumps({"question_id": f"q{i}", "correct": score})
            for i, score in enumerate(scores)
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(rows), encoding="utf-8")
        if settings is not None:
            (folder / f"{name}.settings.json").write_text(
                json.dumps(settings), encoding="utf-8"
            )
    (folder / "plan.toml").write_text(PLAN.format(more=more), encoding="utf-8")
    return [folder / "baseline.jsonl", folder / "variant.jsonl"]


def decided(folder: Path, *words: str, **arguments: Any) -> Any:
    return run("decide", *written(folder, **arguments), "--plan", "plan.toml", *words)


def test_the_declared_change_alone_ships(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    done = decided(tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "as declared; no other recorded setting differs" in done.stdout


@pytest.mark.parametrize(
    ("setting", "value", "name"),
    [
        ("agent", {"version": 2}, "agent.version"),
        ("judge", {"model": "j2"}, "judge.model"),
        ("question_set", "s2", "question_set"),
        ("label_version", "2024-06", "label_version"),
        ("metrics", {"faithfulness": {"threshold": 0.7}}, "metrics.faithfulness"),
    ],
)
def test_a_second_change_cannot_ship_until_it_is_accepted(
    tmp_path: Path, monkeypatch: Any, setting: str, value: Any, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = {
        "agent": {"version": 1},
        "label_version": "2023",
        "metrics": {"faithfulness": {"threshold": 0.5}},
        **BEFORE,
    }
    after = {**before, **AFTER, setting: value}
    done = decided(tmp_path, before=before, after=after)
    assert done.returncode == 3, done.stderr
    assert "It cannot ship as one change" in done.stdout
    assert name in done.stdout
    key = name if setting != "metrics" else "metrics.faithfulness.threshold"
    accepted = decided(
        tmp_path, before=before, after=after, more=f'accepted_changes = ["{key}"]'
    )
    assert accepted.returncode == 0, accepted.stdout


def test_settings_that_neither_arm_records_are_said(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    done = decided(tmp_path, before=None, after=None)
    assert done.returncode == 0, done.stdout
    assert "settings-unknown" in done.stdout


JUDGE = {"judge": {"model": "j1"}}


@pytest.mark.parametrize(
    ("before", "after", "where"),
    [
        (BEFORE, None, "is not recorded for variant"),
        (None, AFTER, "is not recorded for baseline"),
        (BEFORE, JUDGE, "is not recorded for variant"),
        (JUDGE, AFTER, "is not recorded for baseline"),
        (JUDGE, JUDGE, "is recorded in neither arm"),
        (JUDGE, None, "is recorded in neither arm"),
    ],
)
def test_declared_values_that_cannot_be_checked_do_not_ship(
    tmp_path: Path, monkeypatch: Any, before: Any, after: Any, where: str
) -> None:
    """Deleting the evidence never turns a decision into ship."""
    monkeypatch.chdir(tmp_path)
    decision = _decision(tmp_path, before, after)
    assert decision.decision == "inconclusive"
    assert f"retriever.top_k {where}, so it cannot be checked" in decision.reason
    (step,) = decision.next_steps
    assert "record retriever.top_k among the settings of both arms" in step
    assert "drop [experiment.change]" in step
    # a change whose values are not declared only has a note
    named = _decision(tmp_path, before, after, change=oc.Change("retriever.top_k"))
    assert named.decision == "ship"
    notes = (*named.notes, *named.comparison.audit.notes)
    assert "settings-unknown" in [note.code for note in notes]


def _decision(
    folder: Path, before: Any, after: Any, change: oc.Change | None = None
) -> oc.Decision:
    for stale in folder.glob("*.settings.json"):
        stale.unlink()
    arms = written(folder, before=before, after=after)
    plan = oc.Plan.load(folder / "plan.toml")
    if change is not None:
        plan = oc.Plan("correct", change=change)
    return oc.decide(oc.compare(*arms, plan), plan, stability=False)


@pytest.mark.parametrize("arm", [0, 1])
@pytest.mark.parametrize("key", ["judge", "question_set", "model"])
def test_what_one_arm_alone_records_is_said_and_not_held_against_the_change(
    tmp_path: Path, arm: int, key: str
) -> None:
    settings = [dict(BEFORE), dict(AFTER)]
    for own in settings:
        own["model"] = "m1"
    del settings[arm][key]
    decision = _decision(tmp_path, *settings)
    assert decision.decision == "ship"
    name = "judge.model" if key == "judge" else key
    other = ("variant", "baseline")[arm]
    (text,) = [
        note.text
        for note in decision.comparison.audit.notes
        if note.code == "settings-unknown"
    ]
    assert f"{name} ({other})" in text


def test_a_second_change_says_what_would_answer_it(tmp_path: Path) -> None:
    after = {**AFTER, "judge": {"model": "j2"}}
    decision = _decision(tmp_path, BEFORE, after)
    (step,) = decision.next_steps
    assert 'accepted_changes = ["judge.model"]' in step


@pytest.mark.parametrize("pair", [(3, 3), (3, "3"), ("a", "a"), (True, "true")])
def test_a_change_from_a_value_to_itself_is_refused(pair: tuple[Any, Any]) -> None:
    with pytest.raises(oc.PlanError, match="give two different values"):
        oc.Change("top_k", *pair)


def test_a_change_to_itself_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.format(more="").replace("to = 8", "to = 3"), encoding="utf-8")
    with pytest.raises(oc.PlanError, match=r"plan\.toml:8: experiment\.change\.to"):
        oc.Plan.load(path)


@pytest.mark.parametrize(("before", "after"), [(3.0, 8), ("3", "8")])
def test_a_value_written_otherwise_is_as_declared(
    tmp_path: Path, before: Any, after: Any
) -> None:
    decision = _decision(
        tmp_path, {"retriever": {"top_k": before}}, {"retriever": {"top_k": after}}
    )
    assert decision.decision == "ship"
    assert "as declared" in render(decision, "markdown")


def test_development_asks_for_held_out_questions(tmp_path: Path) -> None:
    arms = written(tmp_path, more='stage = "development"')
    plan = oc.Plan.load(tmp_path / "plan.toml")
    decision = oc.decide(oc.compare(*arms, plan), plan)
    for form in ("text", "markdown", "html"):
        assert "confirm on held-out questions" in render(decision, form)


def test_the_hash_of_the_plan_and_its_deviations_stand_in_the_report(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    report, data = tmp_path / "report.md", tmp_path / "result.json"
    done = decided(
        tmp_path,
        "--seed=8",
        "--guardrail=correct:0.1",
        f"--markdown={report}",
        f"--json={data}",
    )
    assert done.returncode == 0, done.stderr
    plan = oc.Plan.load(tmp_path / "plan.toml")
    assert plan.sha256
    text = report.read_text(encoding="utf-8")
    assert f"plan:{plan.sha256[:8]}" in text
    assert "Deviations" in text
    assert "--seed 8 (plan: 7)" in text
    assert "--guardrail correct:0.1 (plan: none for correct)" in text
    assert plan.sha256 in data.read_text(encoding="utf-8")


def test_the_settings_of_financebench_are_compared() -> None:
    plan = oc.Plan("correct", change=oc.Change("eval_mode"))
    arms = [
        sample("financebench", f"gpt-4_{mode}.jsonl")
        for mode in ("sharedStore", "singleStore")
    ]
    decision = oc.decide(oc.compare(*arms, plan), plan, stability=False)
    assert "one change" not in decision.reason
    wrong = oc.Plan("correct", change=oc.Change("model_name"))
    decision = oc.decide(oc.compare(*arms, wrong), wrong, stability=False)
    assert decision.decision != "ship"
    assert "eval_mode (sharedStore → singleStore)" in decision.reason or (
        decision.decision == "do not ship"
    )


@pytest.mark.skipif(not DATA.exists(), reason="the shared data are not here")
def test_a_judge_that_changed_with_the_system_cannot_ship() -> None:
    arms = [
        DATA / "formats" / "inspect" / f"an_r_eval_{name}.json"
        for name in ("gpt4o", "claude37")
    ]
    metric = "model_graded_qa(partial_credit = TRUE)"
    plan = oc.Plan(
        guardrails=[oc.Guardrail(metric, margin=1.0)], change=oc.Change("model")
    )
    decision = oc.decide(oc.compare(*arms, plan), plan)
    (status,) = decision.statuses
    assert status.status == oc.Status.PASS  # a margin of the whole scale
    assert decision.decision == "inconclusive"
    assert "judge.model_graded_qa" in decision.reason
