"""Every right value of ``ir_metrics.json``, and agreement with trec_eval at random."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onechange.score.retrieval import retrieval_scores

FAMILY = json.loads(
    Path(__file__).with_name("ir_metrics.json").read_text(encoding="utf-8")
)
CASES = {case["name"]: case for case in FAMILY["cases"]}
GRADED = FAMILY["datasets"]["graded_run"]
FULL_DEPTH = 1000
OURS = {
    "P": ("precision", "linear"),
    "recall": ("recall", "linear"),
    "hit": ("hit", "linear"),
    "ndcg": ("ndcg", "linear"),
    "ndcg_exp": ("ndcg", "exponential"),
    "rr": ("rr", "linear"),
    "ap": ("ap", "linear"),
    "P_returned": ("precision_returned", "linear"),
    "context_precision_ranked": ("context_precision_ranked", "linear"),
}
PER_QUERY = [case for case in FAMILY["cases"] if case["name"] != "means/all"]


def _score(query: str, k: int, gain: str) -> dict[str, float | None]:
    return retrieval_scores(
        GRADED["run"][query], GRADED["qrels"][query], k=[k], gain=gain
    )


@pytest.mark.parametrize("case", PER_QUERY, ids=lambda case: case["name"])
def test_the_score_of_one_query_is_right(case: dict[str, Any]) -> None:
    kind = case["name"].split("/")[0].split("@")[0]
    name, gain = OURS[kind]
    k = case["params"].get("k", FULL_DEPTH)
    got = _score(case["params"]["query"], k, gain)[f"{name}_at_{k}"]
    tolerance = case["tolerance"]
    assert got == pytest.approx(
        case["value"], rel=tolerance["rel"], abs=tolerance["abs"]
    )


def test_the_means_over_queries_are_right() -> None:
    wanted = CASES["means/all"]["value"]
    names = {
        "MRR": ("rr", FULL_DEPTH),
        "MAP": ("ap", FULL_DEPTH),
        "nDCG5": ("ndcg", 5),
        "P5": ("precision", 5),
        "R5": ("recall", 5),
        "hit5": ("hit", 5),
    }
    assert set(names) == set(wanted)
    for key, (name, k) in names.items():
        values = [_score(q, k, "linear")[f"{name}_at_{k}"] for q in GRADED["qrels"]]
        assert len(values) == 5
        assert np.mean(values) == pytest.approx(wanted[key], rel=1e-9)


def _random_case(rng: np.random.Generator) -> tuple[list[str], dict[str, int]]:
    n_run, n_labels = rng.integers(0, 25), rng.integers(1, 9)
    run = [f"d{i}" for i in rng.permutation(40)[:n_run]]
    labels = rng.permutation(40)[:n_labels]
    return run, {f"d{i}": int(rng.integers(0, 4)) for i in labels}


def test_random_runs_agree_with_trec_eval() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(11)
    cases = {f"q{i}": _random_case(rng) for i in range(300)}
    cases = {q: c for q, c in cases.items() if c[0] and any(c[1].values())}
    qrels = {q: labels for q, (_, labels) in cases.items()}
    # scores must fall strictly: trec_eval orders by score, not by position
    run = {
        q: {d: float(len(units) - i) for i, d in enumerate(units)}
        for q, (units, _) in cases.items()
    }
    measures = {"P.3,10", "recall.3,10", "success.3,10", "ndcg_cut.3,10"}
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, measures | {"map_cut.3,10", "recip_rank"}
    )
    peers = {
        "precision": "P",
        "recall": "recall",
        "hit": "success",
        "ndcg": "ndcg_cut",
        "ap": "map_cut",
    }
    results = evaluator.evaluate(run)
    assert len(results) > 200
    for query, wanted in results.items():
        units, labels = cases[query]
        got = retrieval_scores(units, labels, k=[3, 10, 100], gain="linear")
        for ours, theirs in peers.items():
            for k in (3, 10):
                assert got[f"{ours}_at_{k}"] == pytest.approx(
                    wanted[f"{theirs}_{k}"], abs=1e-12
                ), (query, ours, k)
        assert got["rr_at_100"] == pytest.approx(wanted["recip_rank"], abs=1e-12)


def test_random_runs_agree_with_ir_measures() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    rng = np.random.default_rng(12)
    names = {"P": "precision", "R": "recall", "nDCG": "ndcg", "RR": "rr", "AP": "ap"}
    for i in range(25):
        units, labels = _random_case(rng)
        if not units or not any(labels.values()):
            continue
        run = {"q": {d: float(len(units) - j) for j, d in enumerate(units)}}
        measures = [getattr(ir_measures, name) @ 7 for name in names]
        wanted = ir_measures.calc_aggregate(measures, {"q": labels}, run)
        got = retrieval_scores(units, labels, k=[7], gain="linear")
        for measure, value in wanted.items():
            ours = names[str(measure).split("@")[0]]
            assert got[f"{ours}_at_7"] == pytest.approx(value, abs=1e-9), (i, measure)


def test_exponential_gain_is_the_definition() -> None:
    got = retrieval_scores(["b", "x", "a"], {"a": 3, "b": 1}, k=[3])["ndcg_at_3"]
    gained = 1 / math.log2(2) + 7 / math.log2(4)
    best = 7 / math.log2(2) + 1 / math.log2(3)
    assert got == pytest.approx(gained / best, rel=1e-12)
