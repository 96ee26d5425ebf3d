"""How long the exact engines take, next to named peers on the same data.

Absolute times differ from machine to machine, so every row is a ratio of two times
measured in one run; processor time, so that other work on the machine counts little.
The peers run in an environment of their own (``.venv-bench``, made by
``make bench``). Writes ``results/speed.json`` and ``results/speed.md``;
``--quick`` leaves out the slowest rows and writes nothing.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cells
import memory
import onechange as oc
from onechange.stats.bootstrap import bootstrap_interval
from onechange.stats.flips import UnitColumns
from onechange.stats.multiplicity import max_t
from onechange.stats.sample import paired_sample
from onechange.stats.signflip import signflip_interval, signflip_test

FloatArray = NDArray[np.float64]

HERE = Path(__file__).parent
PEERS = HERE.parent / ".venv-bench" / "bin" / "python"
METRICS = (
    cells.binary(0.10, 0.03),
    cells.faithfulness(0.60, 0.60),
    cells.latency(1.2, name="latency"),
)
FASTER = {150: 10.0, 1_000: 60.0, 10_000: 300.0}  # than SciPy, at least


@dataclass(frozen=True)
class Row:
    """One job next to one peer; times in seconds."""

    job: str
    peer: str
    peer_seconds: float
    seconds: float
    target: str
    met: bool | None
    peer_mb: float | None = None

    @property
    def result(self) -> str:
        """The ratio in the direction of the target."""
        if self.target.startswith("≥"):
            return f"{self.peer_seconds / self.seconds:,.0f}×"
        return f"{self.seconds / self.peer_seconds:.2f}×"


def groups_of(n: int) -> list[FloatArray]:
    """Differences of three metrics, overall and in four slices."""
    rng = np.random.default_rng(n)
    slices = rng.integers(0, 4, n)
    groups = []
    for cell in METRICS:
        draw = cell.draw(rng, n)
        difference = paired_sample(draw.baseline, draw.variant).difference
        groups += [difference, *(difference[slices == k] for k in range(4))]
    return groups


def our_job(groups: list[FloatArray]) -> None:
    """Bootstrap interval, sign-flip test and permutation interval of every group."""
    for difference in groups:
        bootstrap_interval(difference)
        signflip_test(difference)
        signflip_interval(difference)


def our_bootstrap(groups: list[FloatArray]) -> None:
    """Bootstrap interval of every group."""
    for difference in groups:
        bootstrap_interval(difference)


def seconds(job: Callable[[], object], repeats: int = 5) -> float:
    """Smallest processor time of some runs."""
    job()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        job()
        times.append(time.process_time() - start)
    return min(times)


def peers(groups: list[FloatArray], names: list[str]) -> list[dict[str, Any]]:
    """Run the peers on the same groups in their own environment."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "groups.npz"
        np.savez(path, *groups)
        command = [str(PEERS), str(HERE / "peers.py"), str(path), *names]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def sampling_rows(sizes: list[int], versions: dict[str, str]) -> list[Row]:
    """Compare with packages that sample: intervals and tests of 15 groups."""
    rows = []
    for n in sizes:
        groups = groups_of(n)
        target = f"≥ {FASTER[n]:.0f}×"
        ours = seconds(lambda groups=groups: our_job(groups))
        # Beyond a thousand questions the others take minutes: one group is enough.
        few = groups if n <= 1_000 else groups[10:11]
        bootstrap = seconds(lambda few=few: our_bootstrap(few))
        job = f"{n:,} questions: 3 metrics × 5 groups, interval and test"
        # Apart, so that each has its own peak memory.
        for name in ("scipy, 32 MB batches", "scipy"):
            (row,) = peers(groups, [name])
            versions["scipy of the peers"] = row["version"]
            met = row["seconds"] / ours >= FASTER[n]
            mb = row["peak_mb"]
            rows.append(Row(job, name, row["seconds"], ours, target, met, mb))
        which = "15 groups" if n <= 1_000 else "latency, overall"
        job = f"{n:,} questions: {which}, bootstrap interval"
        for row in peers(few, ["arch", "pingouin"]):
            versions[row["peer"]] = row["version"]
            met = row["seconds"] / bootstrap >= FASTER[n]
            mb = row["peak_mb"]
            rows.append(
                Row(job, row["peer"], row["seconds"], bootstrap, target, met, mb)
            )
    return rows


def large_difference(n: int) -> FloatArray:
    """Continuous differences without ties."""
    draw = cells.latency(1.0, name="latency").draw(np.random.default_rng(n), n)
    return draw.variant - draw.baseline


def sorting_rows() -> list[Row]:
    """Compare with sorting a million numbers, and see how time grows with them."""
    times = {}
    for n in (10_000, 100_000, 1_000_000):
        difference = large_difference(n)
        times[n] = seconds(
            lambda d=difference: (signflip_test(d), signflip_interval(d)), repeats=5
        )
    difference = large_difference(1_000_000)
    sort = seconds(lambda: np.sort(difference), repeats=9)
    exponent = float(np.log10(times[1_000_000] / times[10_000]) / 2.0)
    ratio = times[1_000_000] / sort
    return [
        Row(
            "1,000,000 differences: sign-flip test and interval",
            "numpy.sort",
            sort,
            times[1_000_000],
            "≤ 30×",
            ratio <= 30.0,
        ),
        Row(
            f"growth from 10,000 to 1,000,000 differences: exponent {exponent:.2f}",
            "10,000 differences",
            times[10_000],
            times[1_000_000],
            "exponent ≤ 1.15",
            exponent <= 1.15,
        ),
    ]


def family_row() -> Row:
    """Compare max-T with the bare matrix product of its size."""
    rng = np.random.default_rng(7)
    n, metrics, flips = 10_000, 20, 9999
    values = rng.normal(size=(n, metrics))
    slices = rng.integers(0, 8, n)
    parts = [np.arange(n), *(np.flatnonzero(slices == k) for k in range(8))]
    columns = [
        UnitColumns(part, values[part], np.ones((part.size, metrics))) for part in parts
    ]
    ours = seconds(lambda: max_t(columns, n_resamples=flips), repeats=2)
    signs = rng.choice(np.array([-1.0, 1.0], dtype=np.float32), size=(1000, n))
    wide = np.zeros((n, metrics * 9), dtype=np.float32)
    product = seconds(lambda: signs @ wide, repeats=3) * flips / 1000
    return Row(
        "max-T over 20 metrics × 9 groups, 10,000 questions, 9,999 flips",
        "float32 matrix product",
        product,
        ours,
        "≤ 3×",
        ours / product <= 3.0,
    )


def reading_row() -> Row:
    """Compare reading and comparing Parquet files with reading them."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        memory.table_files(directory)
        runs = [
            [memory.measured(job, directory)["processor_seconds"] for _ in range(2)]
            for job in ("read", "compare")
        ]
    read, compare = (min(times) for times in runs)
    return Row(
        "1,000,000 questions × 3 metrics × 8 slices from Parquet, read and compared",
        "pandas.read_parquet",
        read,
        compare,
        "≤ 6×",
        compare / read <= 6.0,
    )


def process_seconds(command: list[str], repeats: int = 5) -> float:
    """Smallest processor time of a whole process.

    Modules are compiled beforehand, as an installer does, also where the environment
    forbids to write what was compiled beside a checkout.
    """
    times = []
    with tempfile.TemporaryDirectory() as compiled:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for _ in range(repeats + 1):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, capture_output=True, check=True, env=environment)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(
                after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
            )
    return min(times)


def process_rows() -> list[Row]:
    """Compare whole commands with importing pandas."""
    python = sys.executable
    pandas = process_seconds([python, "-c", "import pandas"])
    rows = []
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        memory.table_files(directory, n=150)
        arms = [str(directory / f"{arm}.parquet") for arm in ("baseline", "variant")]
        for job, arguments, limit in (
            ("onechange --help", ["--help"], 0.7),
            ("onechange compare, 150 questions", ["compare", *arms], 2.5),
        ):
            ours = process_seconds([python, "-m", "onechange", *arguments])
            met = ours / pandas <= limit
            rows.append(Row(job, "import pandas", pandas, ours, f"≤ {limit}×", met))
    return rows


def write(rows: list[Row], versions: dict[str, str]) -> None:
    """Write JSON and Markdown with date and versions."""
    date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    shown = ", ".join(f"{name} {version}" for name, version in versions.items())
    lines = [
        "# Speed",
        "",
        f"{date}; {shown}. Processor seconds, the smallest of some runs (peers that "
        "take longer: one run); differences of the calibration cells. The peers draw "
        "9,999 resamples; ours are exact and add the permutation interval.",
        "",
        "| job | next to | its seconds | its peak MB | ours | ratio | target | met |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        mb = "–" if row.peer_mb is None else f"{row.peer_mb:,.0f}"
        met = "yes" if row.met else "no"
        lines.append(
            f"| {row.job} | {row.peer} | {row.peer_seconds:.3g} | {mb} "
            f"| {row.seconds:.3g} | {row.result} | {row.target} | {met} |"
        )
    table = "\n".join(lines) + "\n"
    results = HERE / "results"
    document = {"date": date, **versions, "rows": [asdict(row) for row in rows]}
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    (results / "speed.json").write_text(text, encoding="utf-8")
    (results / "speed.md").write_text(table, encoding="utf-8")
    print(table)


def main() -> None:
    """Measure every row, or with ``--quick`` print the rows that take seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    if not PEERS.exists():
        sys.exit(f"{PEERS} does not exist; run `make bench`, which installs the peers.")
    import scipy

    versions = {
        "onechange": oc.__version__,
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }
    sizes = [150, 1_000] if quick else [150, 1_000, 10_000]
    blocks: list[Callable[[], list[Row]]] = [
        lambda: sampling_rows(sizes, versions),
        sorting_rows,
    ]
    if not quick:
        blocks += [lambda: [family_row()], lambda: [reading_row()], process_rows]
    rows = []
    for block in blocks:
        for row in block():
            print(row.job, row.peer, row.result, row.target, sep=" | ", flush=True)
            rows.append(row)
    if not quick:
        write(rows, versions)


if __name__ == "__main__":
    main()
