"""The folders of ``tests/cases`` and the command line, for tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import onechange as oc

CASES = Path(__file__).parent / "cases"
DATA = Path(
    os.environ.get(
        "ONECHANGE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"
    )
)


def folder(number: int) -> Path:
    """Folder of a case."""
    return next(CASES.glob(f"{number:02d}-*"))


def expected(number: int) -> dict[str, Any]:
    """Right values of a case."""
    return json.loads((folder(number) / "expected.json").read_text(encoding="utf-8"))


def compared(
    number: int,
    plan: oc.Plan | None = None,
    baseline: str = "baseline.csv",
    variant: str = "variant.csv",
) -> oc.Comparison:
    """Compare the two files of a case."""
    return oc.compare(folder(number) / baseline, folder(number) / variant, plan)


def delta_of(comparison: oc.Comparison, metric: str | None = None) -> oc.Delta:
    """Overall delta of a metric (of the first one by default)."""
    return next(d for d in comparison.deltas if metric is None or d.metric == metric)


def slices_of(
    comparison: oc.Comparison, metric: str | None = None
) -> dict[str, oc.Delta]:
    """Deltas of the first breakdown by label."""
    deltas = comparison.slices[0].deltas
    metric = metric or deltas[0].metric
    return {d.slice[-1][1]: d for d in deltas if d.slice and d.metric == metric}


def codes(notes: Any) -> set[str]:
    """Codes of some notes."""
    return {note.code for note in notes}


def run(*words: object, cwd: Path | None = None, **environment: str) -> Any:
    """Run the command line as a user would, on a screen of 100 columns by default."""
    return subprocess.run(
        [sys.executable, "-m", "onechange", *map(str, words)],
        capture_output=True,
        cwd=cwd,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "100", **environment},
    )
