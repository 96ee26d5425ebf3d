"""Time of scoring traces against parsing them and ranking with trec_eval.

``python benchmarks/scores.py [N]`` writes N traces (100,000) with ten results each,
then times three times each: ours (reading, checking, 27 retrieval scores, rows) and
the peer (``json.loads`` of every line, ``pytrec_eval`` for the measures it has, at the
same three depths). Times
are seconds of the processor, so that a busy machine does not count, and the two take
turns. The shortest time of each counts; the target is a ratio of at most 2. Writes
``results/scores.json`` and ``results/scores.md``.
"""

from __future__ import annotations

import json
import platform
import random
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytrec_eval

from onechange.score import ScoreOptions, score

DEPTHS = (1, 5, 10)
MEASURES = {
    f"{name}.{','.join(map(str, DEPTHS))}"
    for name in ("P", "recall", "success", "ndcg_cut", "map_cut")
}
REPEATS = 3
TARGET = 2.0
RESULTS = Path(__file__).resolve().parent / "results"


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


def seconds(job: Callable[[], object]) -> float:
    """Time of the processor that a job takes."""
    start = time.process_time()
    job()
    return time.process_time() - start


def main() -> int:
    """Print and write the figures; 1 when the target is missed."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    options = ScoreOptions(k=DEPTHS)
    theirs, ours = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.jsonl"
        write_traces(path, n)
        n_scores = len(score(path, options=options).score_columns)
        for _ in range(REPEATS):
            theirs.append(seconds(lambda: peer(path)))
            ours.append(seconds(lambda: score(path, options=options)))
    figures = {
        "traces": n,
        "scores": n_scores,
        "peer_seconds": round(min(theirs), 2),
        "seconds": round(min(ours), 2),
        "ratio": round(min(ours) / min(theirs), 2),
        "target": TARGET,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "pytrec-eval-terrier": version("pytrec-eval-terrier"),
    }
    text = table(figures)
    print(text, end="")
    RESULTS.mkdir(exist_ok=True)
    content = json.dumps(figures, indent=2) + "\n"
    (RESULTS / "scores.json").write_text(content, encoding="utf-8")
    (RESULTS / "scores.md").write_text(text, encoding="utf-8")
    return int(min(ours) > TARGET * min(theirs))


def table(figures: dict[str, object]) -> str:
    """Write the figures as Markdown."""
    keys = ("traces", "scores", "peer_seconds", "seconds", "ratio", "target")
    heads = (
        *("traces", "scores a trace", "json + pytrec_eval (s)"),
        *("onechange score (s)", "ratio", "target: at most"),
    )
    versions = ", ".join(
        f"{name} {figures[name]}" for name in ("python", "numpy", "pytrec-eval-terrier")
    )
    return (
        "# Scoring traces\n\nWritten by `python benchmarks/scores.py`; seconds of the "
        f"processor, the shortest of {REPEATS}; {versions}.\n\n"
        f"| {' | '.join(heads)} |\n| {' | '.join(['---:'] * len(heads))} |\n"
        f"| {' | '.join(str(figures[key]) for key in keys)} |\n"
    )


if __name__ == "__main__":
    raise SystemExit(main())
