"""Every right value of ``seed_examples.json``, through the public functions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onechange.score import Claim, ScoreOptions, score
from onechange.score.answers import exact_match, token_f1
from onechange.score.claims import (
    answer_relevance,
    citation_precision,
    citation_recall,
    context_recall,
    correct_and_grounded,
    faithfulness,
)
from onechange.score.retrieval import retrieval_scores

FAMILY = json.loads(
    Path(__file__).with_name("seed_examples.json").read_text(encoding="utf-8")
)
Params = dict[str, Any]


def _ranked(ranks: list[int], depth: int = 10) -> list[str]:
    """A list whose relevant results r1, r2, … stand at the given ranks."""
    names = {rank: f"r{i}" for i, rank in enumerate(ranks)}
    return [names.get(rank, f"x{rank}") for rank in range(1, depth + 1)]


def _precision_recall(params: Params) -> Any:
    k = params["k"]
    got = retrieval_scores(params["retrieved"], params["gold"], k=[k])
    return {"precision": got[f"precision_at_{k}"], "recall": got[f"recall_at_{k}"]}


def _hit_mrr(params: Params) -> Any:
    rows = [
        retrieval_scores(_ranked([rank] if rank else []), {"r0"}, k=[5])
        for rank in params["first_relevant_ranks"]
    ]
    return {
        "hit5": sum(row["hit_at_5"] or 0 for row in rows) / 4,
        "mrr": sum(row["rr_at_5"] or 0 for row in rows) / 4,
    }


def _duplicates(params: Params) -> Any:
    got = retrieval_scores(params["retrieved"], params["gold"], k=[3])
    return {name: got[f"{name}_at_3"] for name in ("precision", "recall", "hit")}


def _empty_gold(params: Params) -> Any:
    got = retrieval_scores(params["retrieved"], params["gold"], k=[2])
    rows = score(
        [{"question_id": "q", "evidence": [], "retrieved": params["retrieved"]}]
    )
    assert "recall_at_5" not in rows.score_columns
    return {"recall": got["recall_at_2"], "evidence_recall": got["recall_at_2"]}


def _no_answer(params: Params) -> Any:
    abstained = {
        "question_id": "q1",
        "status": params["status"],
        "evidence": [params["evidence_page"]],
        "retrieved": params["retrieved_pages"],
        "claims": [],
    }
    answered = {
        **abstained,
        "question_id": "q2",
        "status": "answered",
        "answer": "x",
        "correct": 1,
        "claims": [{"label": "supported"}],
    }
    rows = score([abstained, answered], options=ScoreOptions(k=(params["k"],)))
    row = rows.rows[0]
    return {
        "correctness": row["correct"],
        "faithfulness": row["faithfulness"],
        "page_hit_at_5": row["page_hit_at_5"],
    }


def _page_hit(params: Params) -> Any:
    record = {
        "question_id": "q",
        "evidence": [params["evidence_page"]],
        "retrieved": params["retrieved_pages"],
    }
    return {"page_hit_at_5": score([record]).rows[0]["page_hit_at_5"]}


def _table(params: Params) -> Any:
    correct, grounded = [1, 0, 1], [1, 0, 0]
    both = [
        correct_and_grounded(float(c), float(g))
        for c, g in zip(correct, grounded, strict=True)
    ]
    return {
        "correct": correct,
        "grounded": grounded,
        "both": both,
        "mean_correct": sum(correct) / 3,
        "mean_grounded": sum(grounded) / 3,
    }


def _em_f1(params: Params) -> Any:
    given, gold = params["prediction"], [params["gold"]]
    return {"em": exact_match(given, gold), "f1": token_f1(given, gold)}


def _citation(params: Params) -> Any:
    claims = []
    for name in params["claims_needing_support"]:
        made = [(c, ok) for owner, c, ok in params["citations"] if owner == name]
        claims.append(
            Claim(
                "supported",
                cited=tuple(c for c, _ in made),
                supporting=tuple(c for c, ok in made if ok),
            )
        )
    return {"precision": citation_precision(claims), "recall": citation_recall(claims)}


def _empty_retrieval(params: Params) -> Any:
    got = retrieval_scores([], params["gold"], k=[5])
    empty = retrieval_scores(["x"], [], k=[5])
    return {
        "context_precision": got["precision_returned_at_5"],
        "recall_empty_gold": empty["recall_at_5"],
    }


def _average_precision(params: Params) -> Any:
    gold = {f"r{i}" for i in range(params["n_relevant"])}
    ranked = _ranked(params["relevant_ranks"])
    return retrieval_scores(ranked, gold, k=[10])["ap_at_10"]


def _context_precision(params: Params) -> Any:
    flags = params["relevance"]
    ranked = _ranked([i for i, flag in enumerate(flags, 1) if flag], len(flags))
    got = retrieval_scores(ranked, {"r0", "r1"}, k=[len(flags)])
    return got[f"context_precision_ranked_at_{len(flags)}"]


COMPUTE: dict[str, Callable[[Params], Any]] = {
    "seed1_precision_recall_at_5": _precision_recall,
    "seed1_hit5_mrr": _hit_mrr,
    "seed1_faithfulness": lambda p: faithfulness([Claim(x) for x in p["claims"]]),
    "seed1_duplicate_ids": _duplicates,
    "seed1_empty_gold": _empty_gold,
    "seed1_no_answer_row": _no_answer,
    "seed1_page_hit_at_5": _page_hit,
    "seed2_correct_grounded_table": _table,
    "seed2_em_f1": _em_f1,
    "seed2_citation": _citation,
    "seed2_empty_retrieval": _empty_retrieval,
    "seed3_ap": _average_precision,
    "seed3_context_precision": _context_precision,
    "seed3_context_recall": lambda p: context_recall([*map(bool, p["attributable"])]),
    "seed3_answer_relevance": lambda p: answer_relevance(p["cos"]),
}


@pytest.mark.parametrize("case", FAMILY["cases"], ids=lambda case: case["name"])
def test_the_worked_value_is_right(case: dict[str, Any]) -> None:
    got, wanted = COMPUTE[case["name"]](case["params"]), case["value"]
    tolerance = case["tolerance"]
    if not isinstance(wanted, dict):
        got, wanted = {"value": got}, {"value": wanted}
    assert set(got) == set(wanted)
    for key, value in wanted.items():
        if value is None:
            assert got[key] is None, key
        else:
            assert got[key] == pytest.approx(
                value, rel=tolerance["rel"], abs=tolerance["abs"]
            ), key
