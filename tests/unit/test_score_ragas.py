"""Faithfulness through the real Ragas library with a local model that is no network."""

from __future__ import annotations

import asyncio
import importlib.util
import warnings
from dataclasses import replace
from typing import Any

import pytest

import onechange as oc
from onechange.errors import InputError, MethodError
from onechange.score import Passages, Trace, score
from onechange.score.ragas import (
    JudgedScore,
    JudgedScores,
    apply_judged,
    ragas_faithfulness,
)

CONTEXT = Passages(ids=("c1",), texts=("Capex was 1577 million in 2018.",))
TRACE = Trace(
    "q1",
    status="answered",
    question="What was capex?",
    answer="Capex was 1577 million. It rose.",
    selected=CONTEXT,
)


def _ragas() -> Any:
    if importlib.util.find_spec("ragas") is None:
        pytest.skip("ragas is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library's own deprecations
        return importlib.import_module("ragas.llms.base")


def _model(**behaviour: Any) -> Any:
    """A model that splits at full stops and looks statements up in the prompt."""
    base = _ragas()

    class Model(base.InstructorBaseRagasLLM):  # type: ignore[misc]
        def __init__(self) -> None:
            self.prompts: list[str] = []

        def generate(self, prompt: str, response_model: Any) -> Any:
            raise NotImplementedError

        async def agenerate(self, prompt: str, response_model: Any) -> Any:
            self.prompts.append(prompt)
            if "raises" in behaviour:
                raise behaviour["raises"]
            if response_model.__name__ == "StatementGeneratorOutput":
                statements = behaviour.get("statements", ["1577 million", "It rose"])
                return response_model(statements=statements)
            verdicts = behaviour.get("verdicts", [1, 0])
            return response_model.model_validate(
                {
                    "statements": [
                        {"statement": "s", "reason": "r", "verdict": verdict}
                        for verdict in verdicts
                    ]
                }
            )

    return Model()


def _score(traces: list[Trace], llm: Any, **options: Any) -> JudgedScores:
    return asyncio.run(
        ragas_faithfulness(traces, llm=llm, evaluator="local 1", **options)
    )


def test_faithfulness_is_the_share_of_supported_statements() -> None:
    judged = _score([TRACE], _model())
    assert judged.scores[0].value == 0.5
    assert judged.settings["library"] == "ragas"
    assert judged.settings["library_version"].startswith("0.4")
    assert judged.settings["evaluator"] == "local 1"
    (trace,) = apply_judged([TRACE], judged)
    assert score([trace]).rows[0]["faithfulness"] == 0.5


def test_an_abstention_is_unscored_without_asking_the_evaluator() -> None:
    model = _model()
    abstained = Trace("q2", status="insufficient_evidence")
    failed = Trace("q3", status="failed", error="timeout")
    judged = _score([abstained, failed], model)
    assert model.prompts == []
    assert [(s.state, s.value) for s in judged.scores] == [
        ("unscored", None),
        ("failed", None),
    ]
    assert apply_judged([abstained, failed], judged) == (abstained, failed)


def test_an_error_of_the_evaluator_leaves_a_failed_row() -> None:
    judged = _score([TRACE], _model(raises=TimeoutError("no reply")))
    assert judged.scores[0].state == "failed"
    assert judged.scores[0].reason == "evaluator: TimeoutError: no reply"
    (trace,) = apply_judged([TRACE], judged)
    assert trace.failed
    assert trace.error == judged.scores[0].reason


@pytest.mark.parametrize(
    "change",
    [
        {"status": "done"},
        {"status": None},
        {"question": " "},
        {"answer": None},
        {"selected": None},
        {"selected": Passages(ids=("c1", "c2"), texts=("x", None))},
    ],
)
def test_an_unknown_status_or_empty_field_raises_before_asking(
    change: dict[str, Any],
) -> None:
    model = _model()
    with pytest.raises(InputError, match="question 'q1'"):
        _score([TRACE, replace(TRACE, **change)], model)
    assert model.prompts == []


def test_a_score_that_is_not_finite_raises() -> None:
    with pytest.raises(InputError, match="faithfulness is nan; expected a finite"):
        _score([TRACE], _model(statements=[]))


def test_wrong_arguments_are_refused() -> None:
    model = _model()
    with pytest.raises(MethodError, match="context = 'all'"):
        _score([TRACE], model, context="all")
    with pytest.raises(MethodError, match="max_concurrency"):
        _score([TRACE], model, max_concurrency=0)
    with pytest.raises(MethodError, match="llm: "):
        _score([TRACE], "gpt")
    judged = _score([TRACE], model)
    with pytest.raises(MethodError, match="belong to other traces"):
        apply_judged([], judged)


def test_without_the_library_the_way_out_is_named() -> None:
    if importlib.util.find_spec("ragas") is not None:
        pytest.skip("ragas is installed")
    with pytest.raises(MethodError, match=r"pip install 'onechange\[ragas\]'"):
        _score([TRACE], None)


def test_records_are_taken_as_scoring_takes_them() -> None:
    record = {
        "question_id": "q1",
        "question": "What was capex?",
        "answer": "Capex was 1577 million. It rose.",
        "selected": [{"id": "c1", "text": "Capex was 1577 million in 2018."}],
    }
    judged = asyncio.run(
        oc.ragas_faithfulness([record], llm=_model(), evaluator="local 1")
    )
    assert judged.scores[0].value == 0.5
    rows = oc.score(oc.apply_judged([record], judged))
    assert rows.rows[0]["faithfulness"] == 0.5


def test_a_record_is_checked_before_the_library_is_needed() -> None:
    record = {"question_id": "q1", "answer": "x", "question": "y"}
    with pytest.raises(InputError, match="question 'q1': selected lacks a text"):
        asyncio.run(oc.ragas_faithfulness([record], llm=None, evaluator="local 1"))
    with pytest.raises(InputError, match="record 1: question 'q1': status is 'done'"):
        asyncio.run(
            oc.ragas_faithfulness(
                [{**record, "status": "done"}], llm=None, evaluator="local 1"
            )
        )


def test_scores_can_be_put_into_records_without_the_library() -> None:
    record = {"question_id": "q1", "answer": "x", "question": "y"}
    judged = JudgedScores(
        "faithfulness", (JudgedScore("q1", None, "scored", 0.75),), {"evaluator": "e"}
    )
    (trace,) = oc.apply_judged([record], judged)
    assert oc.score([trace]).rows[0]["faithfulness"] == 0.75
