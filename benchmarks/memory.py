"""How much memory large comparisons take, each in a process of its own.

Writes ``results/memory.json`` and ``results/memory.md``. The file also holds the
jobs on Parquet files that ``speed.py`` times: ``python memory.py JOB DIRECTORY``.
"""

from __future__ import annotations

import datetime
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
N_QUESTIONS = 1_000_000
N_SLICES = 8


def table_files(directory: Path, n: int = N_QUESTIONS) -> None:
    """Write the two arms as Parquet: three metrics and a column of eight slices."""
    import pandas as pd

    import cells

    rng = np.random.default_rng(7)
    draws = {
        "correct": cells.binary(0.10, 0.03).draw(rng, n),
        "faithfulness": cells.faithfulness(0.60, 0.60).draw(rng, n),
        "latency_ms": cells.latency(1.1, name="latency").draw(rng, n),
    }
    ids = np.array([f"q{i:07d}" for i in range(n)])
    kind = np.array([f"kind {i}" for i in range(N_SLICES)])[rng.integers(0, 8, n)]
    for arm in ("baseline", "variant"):
        frame = pd.DataFrame({"question_id": ids, "kind": kind})
        for metric, draw in draws.items():
            frame[metric] = getattr(draw, arm)
        frame.to_parquet(directory / f"{arm}.parquet", index=False)


def read_job(directory: Path) -> None:
    """Read both files with pandas, which is the peer."""
    import pandas as pd

    frames = [
        pd.read_parquet(directory / f"{a}.parquet") for a in ("baseline", "variant")
    ]
    assert len(frames[0]) == len(frames[1])


def compare_job(directory: Path) -> None:
    """Read and compare both files."""
    import onechange as oc

    plan = oc.Plan(slices=["kind"])
    comparison = oc.compare(
        directory / "baseline.parquet", directory / "variant.parquet", plan
    )
    assert len(comparison.deltas) >= 3


def questions_job(directory: Path) -> None:
    """Bootstrap interval, test and interval of 200,000 questions with 4 slices."""
    from onechange.stats.bootstrap import bootstrap_interval
    from onechange.stats.signflip import signflip_interval, signflip_test

    index = np.arange(200_000)
    difference = (10 * ((index * 104_729) % 7 - 2)) / 1000.0
    for group in (difference, *(difference[k::4] for k in range(4))):
        bootstrap_interval(group)
        signflip_test(group)
        signflip_interval(group)


JOBS: dict[str, Callable[[Path], None]] = {
    "read": read_job,
    "compare": compare_job,
    "questions": questions_job,
}


def measured(job: str, directory: Path) -> dict[str, float]:
    """Run a job in a fresh process: seconds without imports, and peak memory."""
    done = subprocess.run(
        [sys.executable, str(HERE / "memory.py"), job, str(directory)],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return loaded


def peak_mb() -> float:
    """Peak resident memory of this process.

    Not from `getrusage`, which on Linux starts at the size of the parent process.
    """
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return float(line.split()[1]) / 1024
    raise RuntimeError("/proc/self/status has no VmHWM; run this on Linux")


def _run(job: str, directory: Path) -> None:
    import pandas  # noqa: F401  # part of both the peer and the package
    import pyarrow.parquet  # noqa: F401

    import onechange as oc

    assert oc.compare is not None  # resolves the lazy imports
    before = peak_mb()
    start, processor = time.perf_counter(), time.process_time()
    JOBS[job](directory)
    peak = peak_mb()
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - start,
                "processor_seconds": time.process_time() - processor,
                "peak_mb": peak,
                "imports_mb": before,
            }
        )
    )


def _frames_mb(directory: Path) -> float:
    import pandas as pd

    frames = [
        pd.read_parquet(directory / f"{a}.parquet") for a in ("baseline", "variant")
    ]
    size = sum(int(frame.memory_usage(deep=True).sum()) for frame in frames)
    return size / 2**20


def main() -> None:
    """Measure every job and write the tables."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        table_files(directory)
        frames = _frames_mb(directory)
        rows: list[dict[str, Any]] = []
        for job, text, limit in (
            ("questions", "200,000 questions × 5 groups, one metric", 1536.0),
            ("read", "pandas reads 1,000,000 questions × 3 metrics, both arms", None),
            ("compare", "the same read and compared over 8 slices", 4.0 * frames),
        ):
            row = measured(job, directory)
            above = row["peak_mb"] - row["imports_mb"]
            rows.append(
                {"job": text, **row, "above_imports_mb": above, "limit_mb": limit}
            )
    write(rows, frames)


def write(rows: list[dict[str, Any]], frames: float) -> None:
    """Write JSON and Markdown with date and versions."""
    import scipy

    import onechange as oc

    date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    head = {
        "date": date,
        "onechange": oc.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "data_frames_mb": frames,
    }
    results = HERE / "results"
    text = json.dumps({**head, "rows": rows}, indent=1) + "\n"
    (results / "memory.json").write_text(text, encoding="utf-8")
    lines = [
        "# Memory",
        "",
        f"{date}, onechange {oc.__version__}, Python {platform.python_version()}, "
        f"numpy {np.__version__}, scipy {scipy.__version__}. Peak resident memory of "
        f"a process of its own; the data frames of both arms take {frames:,.0f} MB.",
        "",
        "| job | peak MB | above the imports | limit | met |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        limit = row["limit_mb"]
        met = "–" if limit is None else ("yes" if row["peak_mb"] <= limit else "no")
        shown = "–" if limit is None else f"{limit:,.0f}"
        lines.append(
            f"| {row['job']} | {row['peak_mb']:,.0f} | {row['above_imports_mb']:,.0f} "
            f"| {shown} | {met} |"
        )
    (results / "memory.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        _run(sys.argv[1], Path(sys.argv[2]))
    else:
        main()
