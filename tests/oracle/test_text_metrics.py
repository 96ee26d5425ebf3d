"""Every right value of ``text_metrics.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from onechange.score.answers import (
    exact_match,
    joint_scores,
    normalise,
    rouge_l,
    supporting_fact_scores,
    token_f1,
)

FAMILY = json.loads(
    Path(__file__).with_name("text_metrics.json").read_text(encoding="utf-8")
)
CASES = FAMILY["cases"]


def _of(kind: str) -> list[dict[str, Any]]:
    return [case for case in CASES if case["name"].split("/")[0] == kind]


def _close(got: float, case: dict[str, Any], key: str) -> None:
    tolerance = case["tolerance"]
    assert got == pytest.approx(
        case["value"][key], rel=tolerance["rel"], abs=tolerance["abs"]
    )


def test_every_case_is_covered() -> None:
    kinds = ("squad_em_f1", "squad_multi_gold", "rouge_l", "hotpot_sp", "hotpot_joint")
    assert sum(len(_of(kind)) for kind in kinds) == len(CASES)


@pytest.mark.parametrize("case", _of("squad_em_f1"), ids=lambda case: case["name"])
def test_squad_scores_are_right(case: dict[str, Any]) -> None:
    params = case["params"]
    assert normalise(params["prediction"]) == params["normalized_prediction"]
    assert normalise(params["gold"]) == params["normalized_gold"]
    _close(exact_match(params["prediction"], [params["gold"]]), case, "em")
    _close(token_f1(params["prediction"], [params["gold"]]), case, "f1")


@pytest.mark.parametrize("case", _of("squad_multi_gold"), ids=lambda c: c["name"])
def test_the_best_reference_counts(case: dict[str, Any]) -> None:
    params = case["params"]
    _close(exact_match(params["prediction"], params["gold"]), case, "em")
    _close(token_f1(params["prediction"], params["gold"]), case, "f1")


@pytest.mark.parametrize("case", _of("rouge_l"), ids=lambda case: case["name"])
def test_rouge_l_is_right(case: dict[str, Any]) -> None:
    pytest.importorskip("rouge_score")
    params = case["params"]
    got = rouge_l(params["prediction"], [params["reference"]])
    _close(got, case, "fmeasure")


@pytest.mark.parametrize("case", _of("hotpot_sp"), ids=lambda case: case["name"])
def test_supporting_facts_are_right(case: dict[str, Any]) -> None:
    predicted = [tuple(fact) for fact in case["params"]["prediction"]]
    got = supporting_fact_scores(
        predicted, [tuple(fact) for fact in case["params"]["gold"]]
    )
    _close(got.exact_match, case, "em")
    _close(got.f1, case, "f1")
    _close(got.precision, case, "precision")
    _close(got.recall, case, "recall")


@pytest.mark.parametrize("case", _of("hotpot_joint"), ids=lambda case: case["name"])
def test_joint_scores_are_right(case: dict[str, Any]) -> None:
    params = case["params"]
    facts = supporting_fact_scores(
        [tuple(fact) for fact in params["pred_sp"]],
        [tuple(fact) for fact in params["gold_sp"]],
    )
    joint_em, joint_f1 = joint_scores(
        params["pred_answer"], [params["gold_answer"]], facts
    )
    _close(joint_em, case, "joint_em")
    _close(joint_f1, case, "joint_f1")
