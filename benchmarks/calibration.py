"""Calibration of the product's intervals, tests and decisions on data of known truth.

Run ``python benchmarks/calibration.py`` for all rows; see ``--help``. Results go to
``benchmarks/results/calibration.json`` and ``.md``. The exit code is 1 when a row
breaks its limit.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
import time
import zlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy.special import bdtr, bdtrc

from rows import FALSE_PASS, Row, all_rows

RESULTS = Path(__file__).resolve().parent / "results"
BLOCK = 50
REPLICATIONS = {FALSE_PASS: 4000}
DEFAULT_REPLICATIONS = 2000
ACCEPTED_ERROR = 1e-3  # of a row that lies exactly on its limit, with --tolerant

GroupKey = tuple[str, int]


@dataclass(frozen=True)
class Outcome:
    """Counts of one row."""

    row: Row
    events: int
    unanswered: int
    replications: int

    @property
    def rate(self) -> float:
        """Share of events in percent."""
        return 100.0 * self.events / self.replications

    @property
    def error(self) -> float:
        """Monte Carlo standard error of the rate, in points."""
        share = self.events / self.replications
        return 100.0 * (share * (1 - share) / self.replications) ** 0.5

    def holds(self, *, tolerant: bool) -> bool:
        """Compare the rate with the row's limits.

        Tolerant: only a rate that a process on the limit would hardly ever give
        counts as beyond it, for runs of few replications.
        """
        row = self.row
        if row.kind == "report":
            return True
        if not tolerant:
            return row.low <= self.rate <= row.high
        n, k = self.replications, self.events
        at_most = bdtr(k, n, row.low / 100) if k < n else 1.0
        at_least = bdtrc(k - 1, n, row.high / 100) if k > 0 else 1.0
        return bool(at_most > ACCEPTED_ERROR and at_least > ACCEPTED_ERROR)


def measure(
    rows: Sequence[Row], *, replications: int | None = None, jobs: int = 1
) -> list[Outcome]:
    """Run the replications of some rows; rows of one cell and size share the data."""
    wanted = {
        row.name: replications or REPLICATIONS.get(row.table, DEFAULT_REPLICATIONS)
        for row in rows
    }
    tasks = list(_tasks(rows, wanted))
    counts = {row.name: np.zeros(3, dtype=np.int64) for row in rows}
    started = time.perf_counter()
    for done, found in enumerate(_run(tasks, jobs), start=1):
        for name, triple in found.items():
            counts[name] += triple
        if sys.stderr.isatty() or done == len(tasks) or done % 200 == 0:
            _say(f"{done}/{len(tasks)} blocks, {time.perf_counter() - started:.0f} s")
    return [Outcome(row, *map(int, counts[row.name])) for row in rows]


def _tasks(
    rows: Sequence[Row], wanted: dict[str, int]
) -> Iterable[tuple[GroupKey, tuple[str, ...], int, int]]:
    groups: dict[GroupKey, list[Row]] = {}
    for row in rows:
        groups.setdefault((row.cell.name, row.n), []).append(row)
    for key, members in groups.items():
        most = max(wanted[row.name] for row in members)
        for block, start in enumerate(range(0, most, BLOCK)):
            names = tuple(row.name for row in members if wanted[row.name] > start)
            size = min(BLOCK, most - start)
            yield key, names, block, size


def _run(
    tasks: Sequence[tuple[GroupKey, tuple[str, ...], int, int]], jobs: int
) -> Iterable[dict[str, np.ndarray]]:
    if jobs <= 1:
        yield from map(_block, tasks)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(_block, tasks, chunksize=1)


_ROWS = {row.name: row for row in all_rows()}
_TABLES: dict[tuple[str, bytes], bool | None] = {}


def _block(
    task: tuple[GroupKey, tuple[str, ...], int, int],
) -> dict[str, np.ndarray]:
    """Count events, unanswered and replications of some rows over one block."""
    (cell_name, n), names, block, size = task
    rows = [_ROWS[name] for name in names]
    cell = rows[0].cell
    seed = zlib.crc32(cell_name.encode())
    rng = np.random.default_rng([seed, n, block])
    counts = {name: np.zeros(3, dtype=np.int64) for name in names}
    for number in range(size):
        draw = replace(cell.draw(rng, n), key=(seed, n, block, number))
        for row in rows:
            result = _once(row, draw)
            counts[row.name] += (result is True, result is None, 1)
    return counts


def _once(row: Row, draw) -> bool | None:
    if not row.cell.counted:
        return row.event(draw, row.cell)
    codes = 2 * draw.baseline + draw.variant
    table = np.bincount(codes.astype(np.int64), minlength=4)
    key = (row.name, table.tobytes())
    if key not in _TABLES:
        _TABLES[key] = row.event(draw, row.cell)
    return _TABLES[key]


def write_results(outcomes: Sequence[Outcome], *, seconds: float, name: str) -> None:
    """Write the JSON and the Markdown table."""
    RESULTS.mkdir(exist_ok=True)
    about = {
        "date": date.today().isoformat(),
        "python": platform.python_version(),
        "versions": {p: version(p) for p in ("onechange", "numpy", "scipy")},
        "seconds": round(seconds),
    }
    rows = [
        {
            "table": o.row.table,
            "cell": o.row.cell.name,
            "n": o.row.n,
            "unit": o.row.unit,
            "method": o.row.method,
            "kind": o.row.kind,
            "low": o.row.low,
            "high": o.row.high,
            "reference": o.row.reference,
            "measured": round(o.rate, 2),
            "standard_error": round(o.error, 2),
            "unanswered": o.unanswered,
            "replications": o.replications,
            "holds": o.holds(tolerant=False),
        }
        for o in outcomes
    ]
    text = json.dumps({**about, "rows": rows}, indent=1) + "\n"
    (RESULTS / f"{name}.json").write_text(text, encoding="utf-8")
    (RESULTS / f"{name}.md").write_text(_markdown(about, outcomes), encoding="utf-8")


def _markdown(about: dict, outcomes: Sequence[Outcome]) -> str:
    broken = [o for o in outcomes if not o.holds(tolerant=False)]
    versions = ", ".join(f"{k} {v}" for k, v in about["versions"].items())
    lines = [
        "# Calibration",
        "",
        f"{about['date']}, Python {about['python']}, {versions}; "
        f"{len(outcomes)} rows, {len(broken)} beyond their limit. Rates in percent, "
        "± one Monte Carlo standard error. Rebuilt by `make calibration`.",
        "",
        "`control` rows are methods known to be bad: they must come out beyond the "
        "limit, which proves that the benchmark sees the problem. `report` rows have "
        "no limit. `study` is the rate measured when the limits were set.",
    ]
    for table in dict.fromkeys(o.row.table for o in outcomes):
        lines += ["", f"## {table[0].upper()}{table[1:]}", ""]
        lines += [
            "| data | n | method | kind | measured | study | limit | holds |",
            "|---|---|---|---|---|---|---|---|",
        ]
        lines += [_line(o) for o in outcomes if o.row.table == table]
    return "\n".join(lines) + "\n"


def _line(o: Outcome) -> str:
    row = o.row
    limit = "-"
    if row.kind != "report":
        limit = f"{row.low:g}-{row.high:g}"
        if row.low == 0:
            limit = f"≤ {row.high:g}"
        elif row.high == 100:
            limit = f"≥ {row.low:g}"
    study = "-" if row.reference is None else f"{row.reference:g}"
    cells = (
        row.cell.name.replace("->", "→"),
        f"{row.n} {row.unit}",
        row.method,
        row.kind,
        f"{o.rate:.1f} ± {o.error:.1f}"
        + (f" ({o.unanswered} without answer)" if o.unanswered else ""),
        study,
        limit,
        "yes" if o.holds(tolerant=False) else "**no**",
    )
    return "| " + " | ".join(cells) + " |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="", help="regular expression on row names")
    parser.add_argument("--replications", type=int, help="instead of 2000 and 4000")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true", help="list the rows and stop")
    parser.add_argument("--name", default="calibration", help="name of the results")
    options = parser.parse_args(arguments)
    rows = [row for row in all_rows() if re.search(options.rows, row.name)]
    if not rows:
        parser.error(f"no row matches {options.rows!r}; see --list")
    if options.list:
        print("\n".join(row.name for row in rows))
        return 0
    started = time.perf_counter()
    outcomes = measure(rows, replications=options.replications, jobs=options.jobs)
    write_results(outcomes, seconds=time.perf_counter() - started, name=options.name)
    broken = [o for o in outcomes if not o.holds(tolerant=False)]
    for outcome in broken:
        print(_line(outcome))
    print(f"{len(outcomes)} rows, {len(broken)} beyond their limit.")
    return 1 if broken else 0


def _say(text: str) -> None:
    end = "\r" if sys.stderr.isatty() else "\n"
    print(text, end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
