"""AlpacaEval, HELM, OpenAI evals, SQuAD; MTEB is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from formatfiles import (
    assert_metric,
    by_question,
    load_json,
    load_lines,
    note_codes,
    sample,
    statuses,
    write_json,
    write_lines,
)
from onechange import formats
from onechange.errors import InputError


@pytest.mark.parametrize("name", ["gpt-3.5-turbo-1106", "gpt-3.5-turbo-1106_concise"])
def test_preferences_become_win_shares(name: str) -> None:
    path = sample("alpaca_eval", f"{name}.annotations.json")
    assert formats.sniff(path) == "alpaca-eval"
    results = formats.read_as("alpaca-eval", path)
    raw = load_json(path)
    assert results.n_rows == 60
    assert_metric(results, "win_share", [row["preference"] - 1 for row in raw])
    assert results.settings["judge"] == "weighted_alpaca_eval_gpt4_turbo"
    assert results.settings["system"] == name


def test_both_arms_share_their_instructions() -> None:
    one, two = (
        formats.read_as(
            "alpaca-eval", sample("alpaca_eval", f"{name}.annotations.json")
        )
        for name in ("gpt-3.5-turbo-1106", "gpt-3.5-turbo-1106_concise")
    )
    assert set(one.question_id) == set(two.question_id)


def _annotation(text: str, preference: float | None) -> dict[str, Any]:
    return {
        "instruction": text,
        "generator_1": "ref",
        "generator_2": "sys",
        "preference": preference,
    }


def test_no_preference_is_unscored(tmp_path: Path) -> None:
    rows = [_annotation("a", None), _annotation("b", 0), _annotation("c", 2)]
    results = formats.read_as("alpaca-eval", write_json(tmp_path, "a.json", rows))
    assert_metric(results, "win_share", [None, None, 1.0])
    assert "no-preference" in note_codes(results)


def test_a_preference_out_of_range_is_refused(tmp_path: Path) -> None:
    path = write_json(tmp_path, "a.json", [_annotation("a", 3)])
    with pytest.raises(
        InputError, match=r"\[0\]: the preference is 3; expected 1 to 2"
    ):
        formats.read_as("alpaca-eval", path)


def _stat(instance: dict[str, Any], name: str) -> float:
    return next(s["mean"] for s in instance["stats"] if s["name"]["name"] == name)


def test_a_helm_folder_reads_the_metrics_it_asked_for() -> None:
    folder = sample("helm", "mmlu_philosophy_gpt2")
    assert formats.sniff(folder) == "helm"
    results = formats.read_as("helm", folder)
    raw = load_json(folder / "per_instance_stats.json")
    assert set(results.question_id) == {row["instance_id"] for row in raw}
    for metric in ("exact_match", "quasi_exact_match", "inference_runtime"):
        assert_metric(results, metric, [_stat(row, metric) for row in raw])
    assert "num_references" not in results.metrics
    assert results.settings["model"] == "openai/gpt2"
    assert set(results.labels["split"]) == {"test", "valid"}


def test_the_means_of_helm_are_refused() -> None:
    path = sample("helm", "mmlu_philosophy_gpt2", "stats.json")
    with pytest.raises(InputError, match=r"pass per_instance_stats\.json"):
        formats.sniff(path)


def _instance(key: str, mean: float, **changes: Any) -> dict[str, Any]:
    stats = [
        {"name": {"name": "exact_match", "split": "test"}, "count": 1, "mean": mean},
        {"name": {"name": "num_prompt_tokens", "split": "test"}, "count": 1, "mean": 9},
    ]
    return {"instance_id": key, "train_trial_index": 0, "stats": stats} | changes


def test_perturbed_copies_and_few_shot_draws_are_kept_apart(tmp_path: Path) -> None:
    rows = [
        _instance("i1", 1.0),
        _instance("i1", 0.0, perturbation={"name": "typos"}),
        _instance("i1", 0.5, train_trial_index=1),
    ]
    path = write_json(tmp_path, "per_instance_stats.json", rows)
    assert formats.sniff(path) == "helm"
    results = formats.read_as("helm", path)
    keys = zip(results.question_id, results.trial, strict=True)
    found = dict(zip(keys, results.metrics["exact_match"], strict=True))
    assert found == {("i1", "0"): 1.0, ("i1 [typos]", "0"): 0.0, ("i1", "1"): 0.5}
    assert set(results.metrics) == {"exact_match"}


def test_an_event_log_of_openai_evals_reads() -> None:
    path = sample("openai_evals", "autogpt_test_match.jsonl")
    assert formats.sniff(path) == "openai-evals"
    results = formats.read_as("openai-evals", path)
    matches = [e for e in load_lines(path) if e.get("type") == "match"]
    assert by_question(results, "correct") == {
        e["sample_id"]: float(e["data"]["correct"]) for e in matches
    }


def _event(number: int, sample_id: str, kind: str, **data: Any) -> dict[str, Any]:
    return {"event_id": number, "sample_id": sample_id, "type": kind, "data": data}


SPEC = {"spec": {"completion_fns": ["f"], "eval_name": "e"}}


def test_errors_and_silence_are_told_apart(tmp_path: Path) -> None:
    lines = [
        SPEC,
        {"final_report": {"accuracy": 1.0}},
        _event(0, "s1", "match", correct=True),
        _event(1, "s2", "error", message="boom"),
        _event(2, "s3", "sampling", prompt="p", sampled="x"),
        _event(3, "s4", "metrics", choice="__invalid__", score=None),
    ]
    results = formats.read_as("openai-evals", write_lines(tmp_path, "e.jsonl", lines))
    assert statuses(results) == (1, 2, 1)


def test_several_matches_of_a_sample_are_trials(tmp_path: Path) -> None:
    lines = [
        SPEC,
        _event(5, "s1", "match", correct=True),
        _event(4, "s1", "match", correct=False),
    ]
    results = formats.read_as("openai-evals", write_lines(tmp_path, "e.jsonl", lines))
    found = dict(zip(results.trial, results.metrics["correct"], strict=True))
    assert found == {"1": 0.0, "2": 1.0}


def test_a_match_and_the_metrics_of_one_answer_are_one_row(tmp_path: Path) -> None:
    lines = [
        SPEC,
        _event(0, "s1", "match", correct=True),
        _event(1, "s1", "metrics", score=0.5),
    ]
    results = formats.read_as("openai-evals", write_lines(tmp_path, "e.jsonl", lines))
    assert results.trial is None
    assert by_question(results, "correct") == {"s1": 1.0}
    assert by_question(results, "score") == {"s1": 0.5}


def test_the_squad_sample_shares_no_id_with_its_answers_and_is_refused() -> None:
    with pytest.raises(InputError, match=r"none of its ids is in BioASQ-test\.json"):
        formats.read_as("squad", sample("squad", "predictions.json"))
    with pytest.raises(InputError, match="a SQuAD file of right answers"):
        formats.sniff(sample("squad", "BioASQ-test.json"))


def _gold(*questions: tuple[str, list[str]]) -> dict[str, Any]:
    qas = [
        {"id": key, "question": "?", "answers": [{"text": text} for text in answers]}
        for key, answers in questions
    ]
    return {"version": "1", "data": [{"paragraphs": [{"context": "c", "qas": qas}]}]}


def test_predictions_are_scored_as_in_the_paper(tmp_path: Path) -> None:
    gold = _gold(
        ("q1", ["the Eiffel Tower"]),
        ("q2", ["Paris", "Paris, France"]),
        ("q3", []),
        ("q4", ["blue"]),
        ("q5", ["x"]),
    )
    write_json(tmp_path, "dev.json", gold)
    predictions = {
        "q1": "eiffel tower.",
        "q2": "in Paris France",
        "q3": "",
        "q4": "",
        "q9": "y",
    }
    path = write_json(tmp_path, "predictions.json", predictions)
    assert formats.sniff(path) == "squad"
    results = formats.read_as("squad", path)
    exact, overlap = (by_question(results, name) for name in ("exact_match", "f1"))
    assert [exact[f"q{n}"] for n in range(1, 5)] == [1.0, 0.0, 1.0, 0.0]
    assert [overlap[f"q{n}"] for n in range(1, 5)] == pytest.approx([1, 0.8, 1, 0])
    assert math.isnan(exact["q5"])
    assert {"absent-prediction", "absent-question"} <= note_codes(results)


def test_the_best_of_n_predictions_is_scored(tmp_path: Path) -> None:
    gold = write_json(tmp_path, "gold.json", _gold(("q1", ["blue"])))
    best = {"q1": [{"text": "blue", "probability": 0.9}, {"text": "red"}]}
    path = write_json(tmp_path, "nbest_predictions.json", best)
    results = formats.read_as("squad", path, gold=gold)
    assert by_question(results, "f1") == {"q1": 1.0}


@pytest.mark.parametrize("size", ["small", "base"])
@pytest.mark.parametrize("task", ["NFCorpus", "SciFact"])
def test_mteb_results_are_refused_as_aggregates(size: str, task: str) -> None:
    path = sample("mteb", f"intfloat__e5-{size}-v2__{task}.json")
    with pytest.raises(InputError, match="an MTEB result: means over the queries"):
        formats.sniff(path)
