"""Where the samples of foreign formats lie, and small helpers for their tests."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onechange.results import ANSWERED, FAILED, UNSCORED, Results

DATA = Path(
    os.environ.get(
        "ONECHANGE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"
    )
)


def sample(*parts: str) -> Path:
    """A sample file, or a skipped test with the reason."""
    path = DATA.joinpath("formats", *parts)
    if not path.exists():
        pytest.skip(f"no sample {path}; set ONECHANGE_DATA to the folder of the data")
    return path


def load_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def load_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_json(folder: Path, name: str, value: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_lines(folder: Path, name: str, values: Iterable[Any]) -> Path:
    path = folder / name
    text = "".join(json.dumps(value) + "\n" for value in values)
    path.write_text(text, encoding="utf-8")
    return path


def write_text(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def assert_metric(results: Results, metric: str, raw: Iterable[float | None]) -> None:
    """The metric has the number and the mean of the raw values that are there."""
    present = [float(value) for value in raw if value is not None]
    values = results.metrics[metric]
    scored = values[~np.isnan(values)]
    assert scored.size == len(present)
    if present:
        assert scored.mean() == pytest.approx(math.fsum(present) / len(present))
        assert sorted(scored.tolist()) == pytest.approx(sorted(present))


def by_question(results: Results, metric: str) -> dict[str, float]:
    """Score of each question; for results without trials."""
    return dict(zip(results.question_id, results.metrics[metric], strict=True))


def statuses(results: Results) -> tuple[int, int, int]:
    """Rows that are answered, unscored and failed."""
    assert results.status is not None
    codes = results.status.tolist()
    return codes.count(ANSWERED), codes.count(UNSCORED), codes.count(FAILED)


def note_codes(results: Results) -> set[str]:
    return {note.code for note in results.notes}
