from __future__ import annotations

from pathlib import Path

import pytest

from formatfiles import (
    assert_metric,
    load_json,
    note_codes,
    sample,
    statuses,
    write_json,
)
from onechange import formats
from onechange.errors import InputError


@pytest.mark.parametrize("name", ["generated_base", "generated_variant"])
def test_counts_and_means_agree_with_the_file(name: str) -> None:
    path = sample("deepeval", f"{name}.latest_run_full.json")
    assert formats.sniff(path) == "deepeval"
    results = formats.read_as("deepeval", path)
    cases = load_json(path)["testCases"]
    assert set(results.question_id) == {case["name"] for case in cases}
    for index, metric in enumerate(("Faithfulness", "Answer Relevancy")):
        raw = [case["metricsData"][index].get("score") for case in cases]
        assert_metric(results, metric, raw)
    assert_metric(results, "token_cost", [case["tokenCost"] for case in cases])
    assert results.settings["hyperparameters.top_k"] in ("5", "10")
    assert set(results.labels["question_type"]) == {"factoid", "multi-hop"}


@pytest.mark.parametrize("name", ["deal_run1", "deal_run2"])
def test_the_wrapped_file_of_older_releases_reads(name: str) -> None:
    path = sample("deepeval", f"{name}.latest_test_run.json")
    results = formats.read_as("deepeval", path)
    case = load_json(path)["testRunData"]["testCases"][0]
    assert_metric(
        results, "AnswerCorrectness [GEval]", [case["metricsData"][0]["score"]]
    )
    assert results.settings["judge.AnswerCorrectness [GEval]"].startswith("google/")
    assert results.question_id[0].startswith("=== DEAL SNAPSHOT ===")


def test_metrics_of_the_trace_are_not_counted_twice() -> None:
    results = formats.read_as("deepeval", sample("deepeval", "test_run_sample.json"))
    assert_metric(results, "Answer Relevancy", [0.92])
    assert_metric(results, "passed", [0.0])


def _case(name: str, **metrics: dict[str, object]) -> dict[str, object]:
    data = [{"name": key, "threshold": 0.5, **value} for key, value in metrics.items()]
    return {"name": name, "input": f"Q {name}?", "metricsData": data}


OK = {"score": 0.9, "success": True}
BAD = {"score": 0.1, "success": False}
ERROR = {"success": False, "error": "judge timed out"}


def _run(*cases: dict[str, object]) -> dict[str, object]:
    return {"testCases": list(cases), "metricsScores": [], "testPassed": 0}


def test_a_metric_that_raised_is_unscored_and_not_a_fail(tmp_path: Path) -> None:
    run = _run(
        _case("a", F=OK, G=ERROR), _case("b", F=BAD, G=ERROR), _case("c", F=OK, G=OK)
    )
    results = formats.read_as("deepeval", write_json(tmp_path, "run.json", run))
    assert_metric(results, "G", [0.9])
    assert_metric(results, "passed", [None, 0.0, 1.0])
    assert "metric-errors" in note_codes(results)


def test_a_case_whose_metrics_all_raised_is_unscored(tmp_path: Path) -> None:
    run = _run(_case("a", F=ERROR), _case("b", F=OK))
    results = formats.read_as("deepeval", write_json(tmp_path, "run.json", run))
    assert statuses(results) == (1, 1, 0)


def test_positional_names_give_way_to_the_input(tmp_path: Path) -> None:
    run = _run(_case("test_case_0", F=OK), _case("test_case_1", F=BAD))
    results = formats.read_as("deepeval", write_json(tmp_path, "run.json", run))
    assert results.question_id.tolist() == ["Q test_case_0?", "Q test_case_1?"]


def test_a_metric_twice_in_one_case_is_refused(tmp_path: Path) -> None:
    case = _case("a", F=OK)
    case["metricsData"] = [*case["metricsData"], *case["metricsData"]]  # type: ignore[misc]
    path = write_json(tmp_path, "run.json", _run(case))
    with pytest.raises(
        InputError, match=r'testCases\[0\]: the metric "F" occurs twice'
    ):
        formats.read_as("deepeval", path)


def test_a_run_without_cases_is_refused(tmp_path: Path) -> None:
    path = write_json(tmp_path, "run.json", _run())
    with pytest.raises(InputError, match="the test run has no test cases"):
        formats.read_as("deepeval", path)
