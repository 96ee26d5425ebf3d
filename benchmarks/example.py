"""How often the bundled plan decides `ship` in other draws of the same experiment.

Run ``python benchmarks/example.py``; results go to ``benchmarks/results/example.json``
and ``.md``. The exit code is 1 when fewer than 90 % of the draws ship.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from importlib import resources
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import onechange as oc
from onechange.simulate import Simulation
from onechange.simulate.example import EXAMPLE_SEED, example
from onechange.stats.choose import decision_interval
from onechange.stats.components import fit_table
from onechange.stats.estimate import Interval
from onechange.stats.runs import run_variance
from onechange.stats.sample import paired_sample
from onechange.status import (
    Status,
    estimate_limit_status,
    margin_status,
    primary_status,
    worse_of,
)

RESULTS = Path(__file__).resolve().parent / "results"
WANTED = 90.0
HURT = ("question_type", "table_cell")

FloatArray = NDArray[np.float64]
Draw = tuple[str, tuple[str, ...], bool]


def decide_draw(seed: int) -> Draw:
    """Give the statuses of one draw, its decision, and whether the slice shows.

    The statuses come from the product's decision intervals and status rules, with
    the plan's clusters; what a report shows beside them is left out.
    """
    plan, draw = _plan(), example(seed=seed)
    statuses = [
        primary_status(_interval(draw, plan, p.metric), p.min_improvement, "higher")
        for p in plan.primary
    ]
    statuses += [_guardrail(draw, plan, rule) for rule in plan.guardrails]
    decision = {
        Status.PASS: "ship",
        Status.FAIL: "do not ship",
        Status.INCONCLUSIVE: "inconclusive",
    }[worse_of(statuses)]
    hurt = _interval(draw, plan, "correctness", HURT)
    return decision, tuple(map(str, statuses)), hurt is not None and hurt.high < 0


def _guardrail(draw: Simulation, plan: oc.Plan, rule: oc.Guardrail) -> Status:
    if rule.rule == "estimate":
        assert rule.metric == "failed", "the only rule on a point value"
        share = float((draw.variant["status"] == "failed").mean())
        return estimate_limit_status(share, rule.limit, "lower")
    direction = "lower" if rule.metric == "latency_ms" else "higher"
    interval = _interval(draw, plan, rule.metric)
    return margin_status(interval, float(rule.margin), direction)


def _interval(
    draw: Simulation,
    plan: oc.Plan,
    metric: str,
    members: tuple[str, str] | None = None,
) -> Interval | None:
    """Decision interval of a metric over the questions scored in both arms."""
    arms = [
        frame.groupby("question_id")[metric].mean()
        for frame in (draw.baseline, draw.variant)
    ]
    tables = [
        fit_table(_by_trial(frame, metric)) for frame in (draw.baseline, draw.variant)
    ]
    labels = draw.baseline.drop_duplicates("question_id").set_index("question_id")
    use = arms[0].notna() & arms[1].notna()
    if members is not None:
        use &= labels[members[0]] == members[1]
    cluster = plan.columns.cluster
    sample = paired_sample(
        arms[0][use].to_numpy(),
        arms[1][use].to_numpy(),
        clusters=None if cluster is None else labels[cluster][use].to_numpy(),
        runs=run_variance(*tables),
    )
    choice = decision_interval(sample)
    return choice.interval if choice.enough else None


def _by_trial(frame: pd.DataFrame, metric: str) -> FloatArray:
    table = frame.pivot(index="question_id", columns="trial", values=metric)
    return table.to_numpy()


def write_results(draws: Sequence[Draw]) -> float:
    """Write the shares in percent and return that of `ship`."""
    n = len(draws)
    decisions = Counter(draw[0] for draw in draws)
    rules = _rules()
    passed = {
        rule: 100 * sum(draw[1][i] == "pass" for draw in draws) / n
        for i, rule in enumerate(rules)
    }
    shown = 100 * sum(draw[2] for draw in draws) / n
    ship = 100 * decisions["ship"] / n
    truth = example().true_deltas
    about = {
        "date": date.today().isoformat(),
        "versions": {p: version(p) for p in ("onechange", "numpy", "scipy")},
        "draws": n,
    }
    result = {
        **about,
        "decisions": dict(decisions),
        "passed": passed,
        "slice_shown": shown,
        "true_deltas": truth,
    }
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(result, indent=1) + "\n"
    (RESULTS / "example.json").write_text(text, encoding="utf-8")
    versions = ", ".join(f"{k} {v}" for k, v in about["versions"].items())
    lines = [
        "# The bundled example in other draws",
        "",
        f"{about['date']}, {versions}; {n} draws of the simulator, each judged by "
        f"the bundled plan's rules on the product's decision intervals. The bundled "
        f"files are draw {EXAMPLE_SEED}.",
        "",
        "| decision | share of draws |",
        "|---|---|",
        *(f"| {name} | {100 * k / n:.1f} % |" for name, k in decisions.most_common()),
        "",
        "| rule of the plan | true delta | passes |",
        "|---|---|---|",
        *(
            f"| {rule} | {_delta(truth, rule)} | {share:.1f} % |"
            for rule, share in passed.items()
        ),
        "",
        f"Correctness of `{HURT[1]}` questions truly falls by "
        f"{-example().true_slice_deltas[HURT[1]]['correctness']:.3f}: its interval "
        f"lies below 0 in {shown:.1f} % of the draws.",
    ]
    (RESULTS / "example.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ship


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    with ProcessPoolExecutor(options.jobs) as pool:
        draws = list(pool.map(decide_draw, range(options.draws), chunksize=5))
    ship = write_results(draws)
    print(f"{options.draws} draws, {ship:.1f} % ship (wanted: at least {WANTED:g} %).")
    return 0 if ship >= WANTED else 1


def _plan() -> oc.Plan:
    folder = resources.files("onechange") / "examples" / "rag_top_k"
    with resources.as_file(folder / "plan.toml") as path:
        return oc.Plan.load(path)


def _rules() -> list[str]:
    plan = _plan()
    metrics = [*(p.metric for p in plan.primary), *(g.metric for g in plan.guardrails)]
    return metrics


def _delta(truth: dict[str, float], metric: str) -> str:
    return f"{truth[metric]:+.4g}" if metric in truth else "-"


if __name__ == "__main__":
    sys.exit(main())
