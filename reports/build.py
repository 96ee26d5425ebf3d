"""Write the reports on the bundled example and on real results: `make reports`.

Every report is Markdown with pictures; two are pages as well. The data are read from
the folder named by ONECHANGE_DATA (default: `shared/data` beside the checkout) and are
not part of the repository. Every report has a plan in `reports/plans/`.
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import onechange as oc
from onechange.report import writable
from onechange.report.markdown import render_markdown
from onechange.report.pictures import write_pictures

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ONECHANGE_DATA", HERE.parents[1] / "shared" / "data"))
EXAMPLE = Path(str(files("onechange") / "examples" / "rag_top_k"))


@dataclass(frozen=True, slots=True)
class Report:
    """One report: its file name, its plan and the two arms."""

    name: str
    plan: Path
    baseline: Path
    variant: Path
    systems: tuple[str, str] | None = None
    page: bool = False


def _financebench(name: str, before: str, after: str, *, page: bool = False) -> Report:
    folder = DATA / "financebench"
    return Report(
        name=f"financebench-{name}",
        plan=HERE / "plans" / "financebench.toml",
        baseline=folder / f"{before}.csv",
        variant=folder / f"{after}.csv",
        page=page,
    )


def _swebench(name: str, before: str, after: str) -> Report:
    long = DATA / "swebench" / "long.csv"
    return Report(
        name=f"swebench-{name}",
        plan=HERE / "plans" / "swebench.toml",
        baseline=long,
        variant=long,
        systems=(before, after),
    )


REPORTS = [
    Report(
        name="demo",
        plan=EXAMPLE / "plan.toml",
        baseline=EXAMPLE / "baseline.jsonl",
        variant=EXAMPLE / "variant.jsonl",
        page=True,
    ),
    _financebench(
        "gpt4-single-store", "gpt-4_sharedStore", "gpt-4_singleStore", page=True
    ),
    _financebench(
        "claude2-question-last", "claude-2_inContext", "claude-2_inContext_reverse"
    ),
    _financebench("gpt4-oracle-reverse", "gpt-4_oracle", "gpt-4_oracle_reverse"),
    _swebench(
        "claude-sonnet-4-to-4.5",
        "20250726_mini-v1.0.0_claude-sonnet-4-20250514",
        "20250929_mini-v1.13.3_sonnet-4-5-20250929",
    ),
    _swebench(
        "gpt-5-to-5.1",
        "20250807_mini-v1.7.0_gpt-5",
        "20251120_mini-v1.15.0_gpt-5.1-2025-11-13",
    ),
    _swebench(
        "gemini-2.5-to-3",
        "20250726_mini-v1.0.0_gemini-2.5-pro",
        "20251118_mini-v1.15.0_gemini-3-pro-preview-20251118",
    ),
    Report(
        name="llm-stability-fine-tuned",
        plan=HERE / "plans" / "llm_stability.toml",
        baseline=DATA / "repeated" / "llm_stability" / "gpt-3.5-turbo.csv",
        variant=DATA / "repeated" / "llm_stability" / "gpt-3.5-turbo-finetuned.csv",
    ),
]


def main() -> int:
    """Write every report whose data are there; say what is missing."""
    missing = []
    for report in REPORTS:
        absent = [p for p in (report.baseline, report.variant) if not p.is_file()]
        if absent:
            missing.append(f"{report.name}: {absent[0].name} is not in {DATA}")
            continue
        decision = build(report)
        write(report, decision, HERE)
        print(f"{report.name}: {decision.decision}")
    for line in missing:
        print(f"not written, {line}", file=sys.stderr)
    return 0


def write(report: Report, decision: oc.Decision, folder: Path) -> None:
    """Write the files of one report into a folder."""
    shown = write_pictures(decision, folder / report.name, formats=["svg"])
    text = render_markdown(decision, pictures=shown, folder=report.name)
    (folder / f"{report.name}.md").write_text(writable(text), encoding="utf-8")
    if report.page:
        oc.write_report(decision, folder / f"{report.name}.html")


def build(report: Report) -> oc.Decision:
    """Compare the two arms of a report and decide by its plan."""
    plan = oc.Plan.load(report.plan)
    with tempfile.TemporaryDirectory() as folder:
        arms = list(_arms(report, Path(folder)))
        comparison = oc.compare(*arms, plan)
    return oc.decide(comparison, plan)


def _arms(report: Report, folder: Path) -> Iterator[Path]:
    """Yield the files of both arms, cut out of a file of several systems if need be."""
    if report.systems is None:
        yield from (report.baseline, report.variant)
        return
    with report.baseline.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for system in report.systems:
        chosen = [row for row in rows if row["system"] == system]
        target = folder / f"{system}.csv"
        with target.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(chosen)
        yield target


if __name__ == "__main__":
    sys.exit(main())
