"""Diagnosis and judge audit in the comparison and in every output."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from onechange.plan import Metric, Plan
from onechange.report import render
from onechange.report.content import build_document
from onechange.report.diagnosis import diagnosis_line
from onechange.report.document import Bullets, Table
from onechange.report.json_output import to_plain

N = 60
FLAGS = ("evidence_in_context", "grounded", "correct")


def _frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Retrieval improves by 20 questions; with evidence answers are right."""
    ids = [f"q{i:02d}" for i in range(N)]
    arms = []
    for n_evidence in (20, 40):
        evidence = np.arange(N) < n_evidence
        grounded = np.arange(N) % 3 != 0
        category = np.where(
            ~evidence,
            "RETRIEVAL_MISS",
            np.where(grounded, "SUCCESS", "UNFAITHFUL_CLAIM"),
        )
        arms.append(
            pd.DataFrame(
                {
                    "question_id": ids,
                    "evidence_in_context": evidence.astype(float),
                    "grounded": grounded.astype(float),
                    "correct": evidence.astype(float),
                    "oracle_correct": 1.0,
                    "faithfulness": np.where(grounded, 1.0, 0.5),
                    "recall_at_5": evidence.astype(float),
                    "failure_category": category,
                }
            )
        )
    return arms[0], arms[1]


@pytest.fixture(scope="module")
def comparison() -> oc.Comparison:
    return oc.compare(*_frames())


def test_the_comparison_carries_counts_and_stages(comparison: oc.Comparison) -> None:
    (found,) = comparison.diagnoses
    assert found.attribution is not None
    assert found.attribution.delta == pytest.approx(1 / 3)
    assert found.attribution.retrieval == pytest.approx(1 / 3)
    assert found.attribution.generation == pytest.approx(0.0)
    assert found.failures is not None
    moved = {cell: len(ids) for cell, ids in found.failures.questions.items()}
    assert moved["RETRIEVAL_MISS", "SUCCESS"] == 13
    assert moved["RETRIEVAL_MISS", "UNFAITHFUL_CLAIM"] == 7
    assert moved["RETRIEVAL_MISS", "RETRIEVAL_MISS"] == 20
    assert found.evidence_support is not None
    assert sum(found.evidence_support.baseline) == N
    assert found.correct_grounded is not None


def test_oracle_context_says_what_retrieval_still_costs(
    comparison: oc.Comparison,
) -> None:
    ((metric, gap),) = comparison.diagnoses[0].oracle
    assert metric == "correct"
    assert gap.baseline.delta == pytest.approx(2 / 3)
    assert gap.variant.delta == pytest.approx(1 / 3)
    assert gap.difference.delta == pytest.approx(-1 / 3)
    assert gap.oracle.delta == 0.0
    assert "retrieval is the larger loss" in gap.reading


def test_both_arms_are_read_against_the_same_thresholds(
    comparison: oc.Comparison,
) -> None:
    before, after = comparison.diagnoses[0].readings
    recall = [f[0] for f in (before, after)]
    assert [f.column for f in recall] == ["recall_at_5", "recall_at_5"]
    assert [f.value for f in recall] == pytest.approx([1 / 3, 2 / 3])
    assert [f.low for f in recall] == [True, True]


def test_rows_without_pipeline_scores_have_no_diagnosis() -> None:
    before, after = _frames()
    columns = ["question_id", "correct"]
    comparison = oc.compare(before[columns], after[columns])
    assert comparison.diagnoses == ()
    assert build_document(comparison).section("diagnosis") is None
    assert to_plain(comparison)["diagnosis"] == []
    assert "Diagnosis" not in render(comparison, "text")


def test_flags_with_other_values_are_left_alone_and_named() -> None:
    before, after = _frames()
    odd = after.assign(evidence_in_context=0.5)
    (found,) = oc.compare(before, odd).diagnoses
    assert found.attribution is None
    assert found.evidence_support is None
    assert [note.code for note in found.notes] == ["not-measured"]
    assert found.correct_grounded is not None


def test_neither_row_order_nor_an_unpaired_question_changes_the_diagnosis(
    comparison: oc.Comparison,
) -> None:
    before, after = _frames()
    extra = after.iloc[[0]].assign(question_id="only in the variant")
    other = oc.compare(
        before.sample(frac=1, random_state=3), pd.concat([after, extra])
    ).diagnoses[0]
    found = comparison.diagnoses[0]
    assert other.attribution == found.attribution
    for name in ("evidence_support", "correct_grounded", "failures"):
        one, two = getattr(found, name), getattr(other, name)
        assert (one.counts, one.questions) == (two.counts, two.questions)


def test_every_question_with_trials_has_one_category() -> None:
    before, after = _frames()
    again = after.assign(trial=2, failure_category="SUCCESS", correct=1.0)
    two = oc.compare(before, pd.concat([after.assign(trial=1), again])).diagnoses[0]
    once = oc.compare(before, after).diagnoses[0]
    assert two.failures is not None
    assert once.failures is not None
    # One of two trials: the earlier step of the pipeline counts.
    assert two.failures.counts == once.failures.counts
    three = oc.compare(
        before, pd.concat([after.assign(trial=1), again, again.assign(trial=3)])
    ).diagnoses[0]
    assert three.failures is not None
    assert {after for _, after in three.failures.questions} == {"SUCCESS"}


def test_the_plan_sets_the_thresholds_of_the_stages(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text("[diagnosis]\nfaithfulness = 0.95\ncontext_recall = 0.2\n")
    plan = oc.Plan.load(path)
    frames = [
        pd.DataFrame(
            {
                "question_id": [f"q{i}" for i in range(10)],
                "faithfulness": [0.9] * 10,
                "context_recall": [0.3] * 9 + [0.4],
            }
        )
        for _ in range(2)
    ]
    for given, low in ((None, (True, False)), (plan, (False, True))):
        (found, _) = oc.compare(*frames, given).diagnoses[0].readings
        read = {finding.metric: finding for finding in found}
        names = ("context_recall", "faithfulness")
        assert tuple(read[name].low for name in names) == low
    assert read["faithfulness"].threshold == 0.95
    rules = Plan("faithfulness", thresholds={"faithfulness": 0.95})
    with pytest.raises(oc.PlanError, match="other thresholds of the diagnosis"):
        oc.decide(oc.compare(*frames), rules)
    assert read["answer_relevance"].threshold == 0.7


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("faithfullness = 0.9", 'plan.toml:2: .*did you mean "faithfulness"'),
        ("faithfulness = 1.5", "plan.toml:2: diagnosis.faithfulness: is 1.5; give"),
        ("faithfulness = nan", "plan.toml:2: diagnosis.faithfulness: is nan; give"),
        ('faithfulness = "high"', "give a number"),
    ],
)
def test_a_threshold_that_is_none_names_its_line(
    tmp_path: Path, line: str, fact: str
) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(f"[diagnosis]\n{line}\n")
    with pytest.raises(oc.PlanError, match=fact):
        oc.Plan.load(path)


# ---------------------------------------------------------------- outputs


def test_the_section_lists_the_questions_of_every_changed_cell(
    comparison: oc.Comparison,
) -> None:
    section = build_document(comparison).section("diagnosis")
    assert section is not None
    captions = [
        b.caption for b in (*section.blocks, *section.details) if isinstance(b, Table)
    ]
    for name in ("Evidence in the context", "Answer correct", "Failure category"):
        assert any(c.startswith(name) and "by arm" in c for c in captions)
        assert any(c.startswith(name) and "transitions" in c for c in captions)
    lines = [i for b in section.details if isinstance(b, Bullets) for i in b.items]
    (cell,) = [line for line in lines if line.startswith("RETRIEVAL_MISS → SUCCESS")]
    assert "(13)" in cell
    assert "q20" in cell


def test_a_long_cell_is_cut_and_says_so() -> None:
    before, after = _frames()
    changed = after.assign(failure_category="GENERATION_ERROR")
    text = render(oc.compare(before, changed), "markdown")
    assert "RETRIEVAL_MISS → GENERATION_ERROR (40)" in text
    assert "and 20 more (in the JSON output)" in text


def test_the_terminal_has_one_line(comparison: oc.Comparison) -> None:
    text = render(comparison, "text")
    (line,) = [ln for ln in text.splitlines() if ln.startswith("Diagnosis")]
    assert "correct +0.333 = retrieval +0.333 and generation" in line
    assert "RETRIEVAL_MISS 40 → 20 questions" in text


@pytest.mark.parametrize("form", ["markdown", "html", "latex"])
def test_every_report_shows_the_stages(comparison: oc.Comparison, form: str) -> None:
    text = render(comparison, form)
    assert "Diagnosis" in text
    assert "retrieval: evidence more or less often in the context" in text
    assert "Oracle context" in text


def test_the_json_output_lists_every_question(comparison: oc.Comparison) -> None:
    (found,) = json.loads(render(comparison, "json"))["diagnosis"]
    cells = {
        (cell["from"], cell["to"]): cell["question_ids"]
        for cell in found["failure_categories"]["cells"]
    }
    assert len(cells["RETRIEVAL_MISS", "RETRIEVAL_MISS"]) == 20
    parts = found["attribution"]
    assert parts["retrieval"] + parts["generation"] == pytest.approx(parts["delta"])
    assert (
        parts["retrieval_interval"]["low"] < 1 / 3 < parts["retrieval_interval"]["high"]
    )
    assert found["stages"][0]["baseline"]["threshold"] == 0.7


def test_several_variants_are_diagnosed_one_by_one() -> None:
    before, after = _frames()
    comparison = oc.compare(before, {"a": after, "b": before})
    assert [d.variant_name for d in comparison.diagnoses] == ["a", "b"]
    text = render(comparison, "markdown")
    assert "Failure category (a): questions by arm" in text
    assert "Failure category (b): questions by arm" in text


def test_a_split_that_is_not_possible_gives_its_reason() -> None:
    before, after = _frames()
    every = after.assign(evidence_in_context=1.0)
    comparison = oc.compare(before, every)
    text = render(comparison, "markdown")
    assert "not split: a cell holds 0 questions" in text
    found = to_plain(comparison)["diagnosis"][0]["attribution"]
    assert found["retrieval"] is None
    assert found["reason"]


# ---------------------------------------------------------------- judge audit


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> oc.Decision:
    path = tmp_path_factory.mktemp("labels") / "labels.csv"
    before, after = _frames()
    rows = [
        (question, arm, label)
        for arm, frame in (("baseline", before), ("variant", after))
        for question, label in zip(
            frame.question_id[::2], frame.correct[::2], strict=True
        )
    ]
    pd.DataFrame(rows, columns=["question_id", "arm", "label"]).to_csv(
        path, index=False
    )
    metric = Metric("correct", range=(0, 1), labels=str(path))
    plan = Plan("correct", metrics=[metric])
    return oc.decide(oc.compare(before, after, plan))


@pytest.mark.parametrize("form", ["markdown", "html", "latex"])
def test_every_report_shows_the_judge_audit(judged: oc.Decision, form: str) -> None:
    text = render(judged, form)
    assert "Judge audit" in text
    assert "corrected (PPI++)" in text
    if form != "latex":  # tables alone
        assert "30 of 60 pairs have human labels in both arms" in text


def test_the_corrected_delta_is_one_figure_everywhere(judged: oc.Decision) -> None:
    plain = to_plain(judged)
    (audit,) = plain["judge"]
    (labelled,) = judged.comparison.labelled
    assert audit["corrected_delta"]["delta"] == labelled.corrected.delta
    assert audit["corrected_delta"]["statistic"] == "corrected"
    assert audit["labels"]["name"] == "labels.csv"
    assert len(audit["labels"]["sha256"]) == 64
    assert judged.statuses[0].delta is not None
    assert judged.statuses[0].delta.delta == labelled.corrected.delta


def test_diagnosis_and_judge_fit_the_schema(
    comparison: oc.Comparison, judged: oc.Decision
) -> None:
    from jsonschema import validate

    schema = json.loads(
        (Path(__file__).parents[2] / "docs" / "schema-1.json").read_text(
            encoding="utf-8"
        )
    )
    for result in (comparison, judged):
        plain = json.loads(render(result, "json"))
        for key in ("diagnosis", "judge"):
            validate(
                plain[key],
                {**schema["properties"][key], "$defs": _closed(schema["$defs"])},
            )


def _closed(definitions: dict[str, object]) -> dict[str, object]:
    """The definitions of this part with no key but those they name."""
    own = (
        "diagnosis",
        "judge",
        "transitions",
        "attribution",
        "agreement",
        "oracle_gap",
    )
    return {
        name: {**part, "additionalProperties": False} if name in own else part  # type: ignore[dict-item]
        for name, part in definitions.items()
    }


def test_one_line_says_nothing_where_nothing_is_known(judged: oc.Decision) -> None:
    from onechange.report.context import make_context

    before, after = _frames()
    columns = ["question_id", "correct", "grounded"]
    bare = oc.compare(before[columns], after[columns])
    assert diagnosis_line(make_context(bare)) == ""
