"""The flags that commands share, in groups."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from onechange.cli.option import (
    Group,
    Option,
    argument,
    flag,
    with_options,
    word,
    words,
)
from onechange.stats.names import INTERVAL_NAMES, RESAMPLING_NAMES, TEST_NAMES

__all__ = [
    "ANALYSIS",
    "ARMS",
    "BASELINE",
    "COLUMNS",
    "CONVERT",
    "DECISION",
    "DRAFT",
    "FILE",
    "FILES",
    "JUNIT",
    "LEVEL",
    "ORACLE",
    "OUTPUT",
    "PAGE",
    "PLAN",
    "POWER",
    "RESULTS",
    "STDOUT",
    "TRIALS",
    "VARIANT",
    "VARIANTS",
    "with_options",
]

BASELINE: Group = {"baseline": argument(str, "BASELINE", "Results of the baseline.")}
RESULTS: Group = {"baseline": argument(str, "RESULTS", "Results with repeated trials.")}
VARIANTS: Group = {
    "variants": argument(
        list[str] | None,
        "[VARIANT]...",
        "Results of one or more variants; none when BASELINE holds both systems.",
        None,
    )
}
VARIANT: Group = {
    "variant": argument(
        str | None,
        "[VARIANT]",
        "Results of the variant; none when BASELINE holds both systems.",
        None,
    )
}
FILE: Group = {"file": argument(str, "FILE", "Results in any readable format.")}

COLUMNS: Group = {
    "id": word("--id", "COLUMN", "Column with the question id.", "Input"),
    "trial": word("--trial", "COLUMN", "Column with the trial.", "Input"),
    "judge_trial": word(
        "--judge-trial", "COLUMN", "Column with the grading of an answer.", "Input"
    ),
    "status": word("--status", "COLUMN", "Column with each row's status.", "Input"),
    "cluster": word(
        "--cluster", "COLUMN", "Column with the source that questions share.", "Input"
    ),
    "slice": words(
        "--slice",
        "SPEC",
        "Break down by a column (a), crossed columns (a,b) or cut points (a:100,300).",
        "Input",
    ),
    "metric": words("--metric", "NAME", "Only these metrics.", "Input"),
    "direction": words(
        "--direction", "NAME=higher|lower", "Which values are better.", "Input"
    ),
    "range": words(
        "--range", "NAME=LOW,HIGH", "Lowest and highest score of a metric.", "Input"
    ),
    "setting": words(
        "--setting", "COLUMN", "Column that holds a setting of the arm.", "Input"
    ),
}
FILES: Group = {
    "input_format": word(
        "--input-format", "NAME", "Read the files as this format.", "Input"
    ),
    "gold": word(
        "--gold",
        "FILE",
        "Relevance judgements or right answers, where a format keeps them apart.",
        "Input",
    ),
}
ARMS: Group = {
    "baseline_name": word(
        "--baseline-name",
        "NAME",
        "Name of the baseline, or its system in a file that holds several.",
        "Input",
    ),
    "variant_name": word(
        "--variant-name",
        "NAME",
        "Name of the variant, or its system in a file that holds several.",
        "Input",
    ),
    "baseline_trial": words(
        "--baseline-trial", "FILE", "A further trial of the baseline.", "Input"
    ),
    "variant_trial": words(
        "--variant-trial", "FILE", "A further trial of the variant.", "Input"
    ),
}
ORACLE: Group = {
    "oracle_baseline": word(
        "--oracle-baseline",
        "FILE",
        "The baseline with the right context given: reports the retrieval gap.",
        "Input",
    ),
    "oracle_variant": word(
        "--oracle-variant", "FILE", "The variant with the right context given.", "Input"
    ),
}
PLAN: Group = {
    "plan": flag(Path | None, "--plan", "FILE", "The plan (TOML).", panel="Decision"),
}
DECISION: Group = {
    "primary": flag(
        list[str] | None,
        "--primary",
        "NAME[:MIN]",
        "Metric that must improve, by over MIN.",
        panel="Decision",
    ),
    "guardrail": words(
        "--guardrail",
        "NAME:MARGIN",
        "Metric that may worsen by MARGIN at most (0.02 or 10%).",
        "Decision",
    ),
}
ANALYSIS: Group = {
    "confidence_level": flag(
        float | None,
        "--confidence-level",
        "LEVEL",
        "Two-sided level of the intervals (0.95).",
        panel="Analysis",
    ),
    "interval": word(
        "--interval",
        "NAME",
        f"Decision interval (auto): {', '.join(INTERVAL_NAMES[1:])}.",
        "Analysis",
    ),
    "test": word(
        "--test",
        "NAME",
        f"Test of no difference (auto): {', '.join(TEST_NAMES[1:])}.",
        "Analysis",
    ),
    "adjust": word(
        "--adjust",
        "max-t|holm|bh|none",
        "Multiplicity over slices and metrics (max-t).",
        "Analysis",
    ),
    "min_slice": flag(
        int | None,
        "--min-slice",
        "N",
        "Fewest pairs of a slice that is judged by itself (10).",
        panel="Analysis",
    ),
    "n_resamples": flag(
        int | None,
        "--n-resamples",
        "N",
        "Resamples where sampling is unavoidable (9999).",
        panel="Analysis",
    ),
    "seed": flag(
        int | None,
        "--seed",
        "N",
        "Seed where sampling is unavoidable (7).",
        panel="Analysis",
    ),
    "resampling": word(
        "--resampling",
        "|".join(RESAMPLING_NAMES),
        "How bootstrap intervals draw questions (multinomial).",
        "Analysis",
    ),
    "strata": word(
        "--strata",
        "COLUMN",
        "Labels within which --resampling stratified draws.",
        "Analysis",
    ),
}
CONVERT: Group = {
    "out": Option(
        Annotated[
            str,
            typer.Option("--out", metavar="FILE", help="Rows: .jsonl or .csv."),
        ]
    ),
    "system": word(
        "--system", "NAME", "The system to take, of a file that holds several.", "Input"
    ),
}
TRIALS: Group = {
    "half_width": flag(
        float | None,
        "--half-width",
        "W",
        "Say the cheapest way to an interval of ± W for the first metric.",
        panel="Design",
    ),
    "question_cost": flag(
        float,
        "--question-cost",
        "C",
        "Cost of a new question (1).",
        panel="Design",
        default=1.0,
    ),
    "answer_cost": flag(
        float,
        "--answer-cost",
        "C",
        "Cost of one answer to one question, grading included (1).",
        panel="Design",
        default=1.0,
    ),
}
PAGE: Group = {
    "markdown": word("--markdown", "FILE", "Markdown; - is stdout.", "Output"),
    "json": word("--json", "FILE", "JSON; - is stdout.", "Output"),
}
STDOUT: Group = {
    "format": flag(
        str,
        "--format",
        "text|markdown|json",
        "What stdout gets.",
        panel="Output",
        default="text",
    ),
    "quiet": flag(
        bool, "--quiet", None, "Nothing on stdout.", panel="Output", default=False
    ),
}
LEVEL: Group = {key: ANALYSIS[key] for key in ("confidence_level", "interval", "seed")}
POWER: Group = {
    "delta": flag(
        float | None,
        "--delta",
        "D",
        "True delta, variant minus baseline (a guardrail: 0).",
        panel="Design",
    ),
    "margin": flag(
        float | None, "--margin", "M", "A guardrail with this margin.", panel="Design"
    ),
    "min_improvement": flag(
        float | None,
        "--min-improvement",
        "MIN",
        "A primary that must improve by over MIN (0).",
        panel="Design",
    ),
    "target": flag(
        float,
        "--power",
        "P",
        "Wanted probability to pass (0.8).",
        panel="Design",
        default=0.8,
    ),
    "questions": flag(
        list[int] | None,
        "--questions",
        "N",
        "Number of questions to look at. Repeatable.",
        panel="Design",
    ),
    "trials": flag(
        list[int] | None,
        "--trials",
        "K",
        "Number of trials to look at. Repeatable.",
        panel="Design",
    ),
    "missing_rate": flag(
        float | None,
        "--missing-rate",
        "SHARE",
        "Questions without a pair (as in the pilot).",
        panel="Design",
    ),
    "comparisons": flag(
        int,
        "--comparisons",
        "N",
        "Variants or rules that must hold together (1).",
        panel="Design",
        default=1,
    ),
    "sd": flag(
        float | None,
        "--sd",
        "SD",
        "SD of one paired difference, in place of a pilot.",
        panel="Design",
    ),
    "discordance": flag(
        float | None,
        "--discordance",
        "SHARE",
        "Share of 0/1 pairs that differ, in place of a pilot.",
        panel="Design",
    ),
    "simulations": flag(
        int,
        "--simulations",
        "N",
        "Simulated experiments per design (1000).",
        panel="Design",
        default=1000,
    ),
    "picture": word("--picture", "FILE", "Power curve as .svg or .png.", "Output"),
}
DRAFT: Group = {
    "out": word(
        "--out",
        "FILE",
        "Where to write the plan (stdout); not overwritten.",
        "Output",
    ),
}
JUNIT: Group = {
    "junit": word(
        "--junit", "FILE", "One JUnit test case per status; - is stdout.", "Output"
    ),
}
OUTPUT: Group = {
    "markdown": word("--markdown", "FILE", "Markdown report; - is stdout.", "Output"),
    "html": word("--html", "FILE", "Report as one page; - is stdout.", "Output"),
    "latex": word("--latex", "FILE", "Tables for a paper; - is stdout.", "Output"),
    "json": word("--json", "FILE", "JSON output; - is stdout.", "Output"),
    "csv": word("--csv", "FILE", "All deltas as CSV; - is stdout.", "Output"),
    "pictures": flag(
        Path | None,
        "--pictures",
        "DIR",
        "Pictures (SVG, PNG), shown in the Markdown report.",
        panel="Output",
    ),
    **STDOUT,
}
