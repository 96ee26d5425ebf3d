"""Time of scoring traces against parsing them and ranking with trec_eval.

``python benchmarks/scores.py [N]`` writes N traces (100,000) with ten results each,
then times three times each: ours (reading, checking, 18 retrieval scores, rows) and
the peer (``json.loads`` of every line, ``pytrec_eval`` for the measures it has). The
shortest time of each counts; the target is a ratio of at most 2.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytrec_eval

from onechange.score import ScoreOptions, score

MEASURES = {"P.5,10", "recall.5,10", "success.5,10", "ndcg_cut.5,10", "map_cut.5,10"}
REPEATS = 3
TARGET = 2.0


def write_traces(path: Path, n: int) -> None:
    """Write n traces with two labels and ten results each."""
    rng = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        for number in range(n):
            results = rng.sample(range(1000), 10)
            labels = rng.sample(range(1000), 2)
            if rng.random() < 0.7:
                labels[0] = rng.choice(results)
            record = {
                "question_id": f"q{number}",
                "status": "answered",
                "answer": "some answer text",
                "evidence": [f"d{label}" for label in labels],
                "retrieved": [f"d{result}" for result in results],
                "latency_ms": round(1000 * rng.random(), 1),
            }
            file.write(json.dumps(record) + "\n")


def peer(path: Path) -> None:
    """Parse the lines and rank with trec_eval."""
    with path.open(encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    qrels = {r["question_id"]: dict.fromkeys(r["evidence"], 1) for r in records}
    run = {
        r["question_id"]: {unit: -float(i) for i, unit in enumerate(r["retrieved"])}
        for r in records
    }
    measures = MEASURES | {"recip_rank"}
    pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)


def shortest(job: Callable[[], object]) -> float:
    """Shortest of several times of a job, in seconds."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    """Print the table; 1 when the target is missed."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.jsonl"
        write_traces(path, n)
        theirs = shortest(lambda: peer(path))
        ours = shortest(lambda: score(path, options=ScoreOptions(k=(5, 10))))
    print("| traces | json + pytrec_eval (s) | onechange score (s) | ratio | target |")
    print("| --- | --- | --- | --- | --- |")
    print(f"| {n} | {theirs:.2f} | {ours:.2f} | {ours / theirs:.2f} | {TARGET:g} |")
    return int(ours > TARGET * theirs)


if __name__ == "__main__":
    raise SystemExit(main())
