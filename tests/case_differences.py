"""Cleaned differences of a case of ``tests/cases``, for tests of the statistics."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onechange.stats.sample import paired_sample

CASES = Path(__file__).parent / "cases"
LABELS = ("question_id", "question_type")


def case_difference(number: int, metric: str | None = None) -> NDArray[np.float64]:
    """Variant minus baseline of a metric (the first one), paired by question."""
    folder = next(CASES.glob(f"{number:02d}-*"))
    arms = []
    for arm in ("baseline", "variant"):
        with (folder / f"{arm}.csv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        name = metric or next(key for key in rows[0] if key not in LABELS)
        arms.append({row["question_id"]: float(row[name]) for row in rows})
    ids = sorted(arms[0])
    baseline, variant = (np.array([arm[i] for i in ids]) for arm in arms)
    return paired_sample(baseline, variant).difference


def case_expected(number: int) -> dict[str, Any]:
    """Right values of a case."""
    folder = next(CASES.glob(f"{number:02d}-*"))
    loaded = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded
