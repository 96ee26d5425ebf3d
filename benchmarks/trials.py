"""Time of the analysis of repeated trials against pandas' group-by means.

``python benchmarks/trials.py [N]`` makes two arms of N questions (10,000), 20 trials
and 5 metrics, and times: ours (variance components, ICCs, F tests, flips, pass@k, A/A
and the delta, from paired rows) and the peer (``groupby(...).mean()`` by question and
by trial). The shortest time of each counts; the target is a ratio below 3.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from onechange.align import align
from onechange.delta import MetricValues
from onechange.pairs import question_means
from onechange.read import read
from onechange.trials import metric_trials

TRIALS = 20
METRICS = tuple(f"m{number}" for number in range(5))
REPEATS = 10
TARGET = 3.0


def arm(rng: np.random.Generator, n: int, shift: float) -> pd.DataFrame:
    """Make two 0/1 metrics, two scores and a latency."""
    level = rng.normal(size=(n, 1))
    columns = {
        "question_id": np.repeat([f"q{number:06d}" for number in range(n)], TRIALS),
        "trial": np.tile(np.arange(TRIALS), n),
    }
    for number, metric in enumerate(METRICS):
        latent = level + rng.normal(size=(n, TRIALS)) + shift
        kinds = ((latent > 0).astype(float), np.round(latent, 3), np.exp(latent))
        columns[metric] = kinds[number // 2].ravel()
    return pd.DataFrame(columns)


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
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    rng = np.random.default_rng(0)
    arms = [arm(rng, n, shift) for shift in (0.0, 0.05)]
    pairs, _ = align(*(read(frame) for frame in arms))
    values = {
        metric: MetricValues(
            question_means(pairs, "baseline", metric),
            question_means(pairs, "variant", metric),
            pairs.paired,
        )
        for metric in METRICS
    }

    def ours() -> None:
        for metric in METRICS:
            metric_trials(pairs, metric, values[metric])

    def peer(*columns: str) -> None:
        for column in columns:
            for frame in arms:
                frame.groupby(column)[list(METRICS)].mean()

    mine, theirs = shortest(ours), shortest(lambda: peer("question_id", "trial"))
    by_question = shortest(lambda: peer("question_id"))
    print("| questions × trials × metrics | pandas (s) | ours (s) | ratio | target |")
    print("| --- | --- | --- | --- | --- |")
    size = f"{n} × {TRIALS} × {len(METRICS)}, 2 arms"
    print(
        f"| {size} | {theirs:.4f} | {mine:.4f} | {mine / theirs:.2f} | < {TARGET:g} |"
    )
    print(
        f"By question alone pandas takes {by_question:.4f} s: {mine / by_question:.2f}."
    )
    return int(mine >= TARGET * theirs)


if __name__ == "__main__":
    raise SystemExit(main())
