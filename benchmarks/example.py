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

import onechange as oc
from onechange.simulate.example import EXAMPLE_SEED, example

RESULTS = Path(__file__).resolve().parent / "results"
WANTED = 90.0
HURT = ("question_type", "table_cell")

Draw = tuple[str, tuple[str, ...], bool]


def decide_draw(seed: int) -> Draw:
    """Give the statuses of one draw, its decision, and whether the slice shows."""
    plan, draw = _plan(), example(seed=seed)
    comparison = oc.compare(draw.baseline, draw.variant, plan)
    decision = oc.decide(comparison, plan, stability=False)
    (hurt,) = (
        delta
        for breakdown in comparison.slices
        for delta in breakdown.deltas
        if delta.metric == "correctness" and delta.slice == (HURT,)
    )
    shown = hurt.interval is not None and hurt.interval.high < 0
    statuses = tuple(str(rule.status) for rule in decision.statuses)
    return str(decision.decision), statuses, shown


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
        "`compare` and `decide` with the bundled plan. The bundled files are draw "
        f"{EXAMPLE_SEED}.",
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
