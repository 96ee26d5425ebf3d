"""Traces of a simulated experiment: what the pipeline recorded, question by question.

Scored with `onechange score`, they give the scores of the simulated rows back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from onechange.errors import InputError
from onechange.simulate.arms import Simulation
from onechange.simulate.draws import ArmDraws
from onechange.simulate.questions import QuestionType

__all__ = ["traces"]

_N_CANDIDATES = 12
_N_PAGES = 60
_Pages = tuple[list[str], list[str], QuestionType, int]
_CONTRADICTED = 3  # every third unsupported claim contradicts its source


def traces(simulation: Simulation, arm: str) -> list[dict[str, Any]]:
    """Write one arm of a simulation as trace records.

    Parameters
    ----------
    simulation : Simulation
        The experiment.
    arm : {"baseline", "variant"}
        Which arm.

    Returns
    -------
    list of dict
        One record per question and trial with question, reference, labelled
        evidence, candidates, retrieved ids, selected passages with their texts,
        answer, status, claims with labels and citations, latency and tokens.

    Raises
    ------
    InputError
        When `arm` is another word.

    Examples
    --------
    >>> from onechange.simulate import simulate, traces
    >>> records = traces(simulate(n_questions=40, n_documents=10), "variant")
    >>> len(records), len(records[0]["retrieved"])
    (120, 8)
    """
    if arm not in ("baseline", "variant"):
        raise InputError(f'traces: `arm` is {arm!r}; use "baseline" or "variant".')
    index = 0 if arm == "baseline" else 1
    draws = simulation.draws[index]
    frame = simulation.baseline if index == 0 else simulation.variant
    rows: list[dict[str, Any]] = frame.to_dict(orient="records")  # type: ignore[assignment]
    top_k = simulation.design.top_k[index]
    trials = simulation.design.n_trials
    records = []
    for question, pages in enumerate(_pages(simulation)):
        for trial in range(trials):
            row = rows[question * trials + trial]
            records.append(_record(row, pages, draws, (question, trial), top_k))
    return records


def _pages(simulation: Simulation) -> Iterator[_Pages]:
    """Give the evidence, ranked candidates, type and answer of each question."""
    questions, design = simulation.questions, simulation.design
    rng = np.random.default_rng([design.seed, 1_000])
    ranks = simulation.draws[0].evidence_rank
    for number, document in enumerate(questions.document_index.tolist()):
        name = f"d{document + 1:02d}"
        order = (1 + np.argsort(rng.random(_N_PAGES))).tolist()
        value = 100 + int(rng.random() * 900)
        found = [rank for rank in ranks[number].tolist() if rank > 0]
        evidence = [f"{name}-p{order.pop()}" for _ in found]
        candidates = [f"{name}-p{page}" for page in order[:_N_CANDIDATES]]
        for rank, page in sorted(zip(found, evidence, strict=True)):
            if rank <= _N_CANDIDATES:
                candidates.insert(rank - 1, page)
        kind = design.question_types[questions.type_index[number]]
        yield evidence, candidates[:_N_CANDIDATES], kind, value


def _record(
    row: dict[str, Any],
    pages: _Pages,
    draws: ArmDraws,
    place: tuple[int, int],
    top_k: int,
) -> dict[str, Any]:
    evidence, candidates, kind, value = pages
    retrieved = candidates[:top_k]
    record: dict[str, Any] = {
        key: row[key]
        for key in ("question_id", "document", "question_type", "trial", "status")
    }
    record |= {
        "question": row["question"],
        "answerable": bool(evidence),
        "reference": [kind.reference.format(value=value)] if evidence else [],
        "evidence": evidence,
        "candidates": candidates,
    }
    if row["status"] == "failed":
        return record | {"error": "the request timed out"}
    record |= {
        "retrieved": retrieved,
        "selected": [{"id": page, "text": _text(record, page)} for page in retrieved],
        "latency_ms": row["latency_ms"],
        "input_tokens": int(row["input_tokens"]),
    }
    if row["status"] != "answered":
        return record
    right = bool(draws.correct[place])
    stated = value if right else 100 + (value + 37) % 900
    record["answer"] = kind.reference.format(value=stated)
    if evidence:
        record |= {"correct": int(right), "scores": {"correctness": int(right)}}
    record["claims"] = _claims(draws, place, retrieved)
    return record


def _text(record: dict[str, Any], page: str) -> str:
    if page in record["evidence"]:
        return f"{record['question']} {record['reference'][0]}"
    return f"Page {page.rpartition('-p')[2]}, on another matter."


def _claims(
    draws: ArmDraws, place: tuple[int, int], retrieved: list[str]
) -> list[dict[str, Any]]:
    claims = []
    for number in range(int(draws.n_claims[place])):
        made = draws.cites[place][number]
        supports = draws.cite_supports[place][number]
        cited = [
            retrieved[(number + offset) % len(retrieved)]
            for offset in range(int(made.sum()))
        ]
        label = "supported"
        if not draws.supported[place][number]:
            label = "unsupported" if number % _CONTRADICTED else "contradicted"
        claims.append(
            {
                "text": f"Claim {number + 1}.",
                "label": label,
                "cited": cited,
                "supporting": [
                    page
                    for page, good in zip(cited, supports.tolist(), strict=False)
                    if good
                ],
            }
        )
    return claims
