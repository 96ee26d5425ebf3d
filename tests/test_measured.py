"""What the README says was measured stands in the committed results."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
README = (ROOT / "README.md").read_text(encoding="utf-8")
SECTION = README.split("## How right, how fast\n")[1].split("\n## ")[0]


def _rows(name: str) -> list[dict[str, object]]:
    text = (RESULTS / f"{name}.json").read_text(encoding="utf-8")
    return json.loads(text)["rows"]


def test_the_counts_of_the_calibration_are_those_of_its_results() -> None:
    rows = [row for row in _rows("calibration") if row["kind"] != "report"]
    beyond = [row for row in rows if not row["holds"]]
    assert f"{len(rows)} rows with a limit, {len(beyond)} beyond it" in SECTION


def test_every_rate_of_the_readme_is_a_row_of_the_calibration() -> None:
    quoted = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([\d.]+) \|$", SECTION, re.M)
    measured = {
        (row["cell"], f"{row['n']} {row['unit']}, {row['method']}"): row["measured"]
        for row in _rows("calibration")
    }
    assert len(quoted) >= 4
    for cell, method, rate in quoted:
        assert f"{measured[cell, method]:.1f}" == rate


def test_every_speed_of_the_readme_is_a_line_of_the_results() -> None:
    table = (RESULTS / "speed.md").read_text(encoding="utf-8").splitlines()
    cut = {
        tuple(line.split(" | ")[place] for place in (0, 1, 5))
        for line in table
        if line.startswith("| ")
    }
    quoted = re.findall(r"^(\| [^|]+) \| ([^|]+) \| ([\d.,]+×) \|$", SECTION, re.M)
    assert len(quoted) >= 4
    for line in quoted:
        assert line in cut


@pytest.mark.parametrize("name", ["calibration", "speed", "memory"])
def test_results_have_a_date(name: str) -> None:
    found = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", found["date"])
    assert found["date"] in (RESULTS / f"{name}.md").read_text(encoding="utf-8")


def test_the_limitations_quote_the_measured_false_passes() -> None:
    text = (ROOT / "docs" / "limitations.md").read_text(encoding="utf-8")
    rows = [row for row in _rows("calibration") if row["kind"] == "report"]
    for cell in (
        "latency, heavier variant",
        "zero-inflated delta=-0.05",
        "clustered skew delta=0.1",
        "rare collapse 0.7 in 3%",
    ):
        rates = [f"{row['measured']:.1f}" for row in rows if row["cell"] == cell]
        assert f"{' / '.join(rates)} %" in text
