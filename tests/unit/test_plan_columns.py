"""What a plan names and the data lack: file, line, key and the nearest name."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import onechange as oc

PRIMARY = '[primary]\nmetric = "correct"\n'
ARM = pd.DataFrame(
    {
        "question_id": [f"q{i}" for i in range(40)],
        "kind": ["a", "b"] * 20,
        "correct": [0, 1, 1, 0] * 10,
        "score": [0.1, 0.4] * 20,
        "latency_ms": [10.0, 12.0] * 20,
        "model": ["m1"] * 40,
    }
)


def _refusal(folder: Path, text: str) -> str:
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(oc.PlanError) as caught:
        oc.assert_ships(ARM, ARM, path)
    return str(caught.value)


GUARD = '[[guardrail]]\nmetric = "score"\nmargin = 0.1\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            '[data]\nslices = ["kin"]\n' + PRIMARY,
            'plan.toml:2: data.slices: slice "kin" is not a column of labels in the '
            'data; did you mean "kind"? Columns of labels: kind',
        ),
        (
            GUARD + 'every_slice = "kin"\n',
            'plan.toml:4: guardrail.every_slice: slice "kin"',
        ),
        (
            "[data]\nweights = { kin = { a = 1.0 } }\n" + PRIMARY,
            'plan.toml:2: data.weights: slice "kin"',
        ),
        (
            '[data]\ncluster = "knd"\n' + PRIMARY,
            'plan.toml:2: data.cluster: cluster "knd" is not a column of labels in '
            'the data; did you mean "kind"?',
        ),
        (
            '[data]\nsettings = ["foo"]\n' + PRIMARY,
            'plan.toml:2: data.settings: no column "foo" holds a setting',
        ),
        (
            '[data]\nslices = ["kind", "kind"]\n' + PRIMARY,
            'plan.toml:2: data.slices: "kind" stands twice',
        ),
        (
            GUARD + 'statistic = "loss_rate"\n',
            "plan.toml:4: guardrail.statistic: the loss rate of score needs",
        ),
        (
            '[[metric]]\nname = "pace"\nnumerator = "score"\ndenominator = '
            '"latency_ms"\n[[guardrail]]\nmetric = "pace"\nmargin = 1\n'
            'statistic = "p50"\n',
            'plan.toml:8: guardrail.statistic: is "p50", but "pace" is a ratio',
        ),
        (
            '[[metric]]\nname = "latency_ms"\nrange = [0, 20]\nunscored = "zero"\n'
            + PRIMARY,
            'plan.toml:4: metric.unscored: "zero" for "latency_ms" fits only a higher',
        ),
        ('\n[[primry]]\nmetric = "correct"\n', "plan.toml:2: primry: unknown table"),
        ("", "plan.toml: nothing says what to decide"),
        (
            '[[metric]]\nname = "points"\ncolumn = "scor"\n' + PRIMARY,
            'plan.toml:3: metric.column: "scor" is not a metric of the data; did you '
            'mean "score"?',
        ),
        (
            '[data]\nmetrics = ["corect"]\n' + PRIMARY,
            "Only these are read, and those that the rules need",
        ),
    ],
)
def test_the_place_the_key_and_the_nearest_name_are_told(
    tmp_path: Path, text: str, told: str
) -> None:
    assert told in _refusal(tmp_path, text)


def test_a_setting_of_a_column_or_beside_the_file_is_found() -> None:
    plan = oc.Plan("correct", columns=oc.Columns(settings=("model",)))
    assert oc.compare(ARM, ARM, plan).baseline.settings == {"model": "m1"}


def test_an_accepted_change_that_no_arm_records_has_a_hint() -> None:
    after = ARM.assign(model="m2", correct=1)
    plan = oc.Plan(
        "correct",
        columns=oc.Columns(settings=("model",)),
        change=oc.Change("top_k"),
        accepted_changes=["modl"],
    )
    decision = oc.decide(oc.compare(ARM, after, plan), plan, stability=False)
    texts = [note.text for note in decision.notes]
    assert any('"modl" is recorded in neither arm' in text for text in texts)
    assert any('did the plan mean "model"?' in text for text in texts)
    assert decision.decision == "inconclusive"
