"""The flags that commands share, in groups, and how a command takes a group."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

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
    "JUDGE",
    "JUNIT",
    "LEVEL",
    "ORACLE",
    "OUTPUT",
    "PAGE",
    "PLAN",
    "POWER",
    "QUESTION_SET",
    "RESULTS",
    "SCORE",
    "STDOUT",
    "TRACES",
    "TRIALS",
    "VARIANT",
    "VARIANTS",
    "Option",
    "with_options",
]


@dataclass(frozen=True, slots=True)
class Option:
    """One parameter of a command: its type and flag as Typer takes them."""

    annotation: Any
    default: Any = inspect.Parameter.empty


Group = dict[str, Option]


def with_options(
    *groups: Group,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command that takes ``words`` the parameters of several groups.

    Typer reads the signature of a function; writing out thirty parameters for each
    command would state every flag several times. The command receives its
    parameters as one dictionary.
    """
    options = {name: option for group in groups for name, option in group.items()}

    def decorate(command: Callable[[dict[str, Any]], None]) -> Callable[..., None]:
        def call(**words: Any) -> None:
            command(words)

        call.__name__ = command.__name__
        call.__doc__ = command.__doc__
        call.__annotations__ = {
            name: option.annotation for name, option in options.items()
        }
        call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=option.default,
                    annotation=option.annotation,
                )
                for name, option in options.items()
            ]
        )
        return call

    return decorate


def _argument(
    kind: Any, metavar: str, text: str, default: Any = inspect.Parameter.empty
) -> Option:
    return Option(Annotated[kind, typer.Argument(metavar=metavar, help=text)], default)


def _flag(
    kind: Any,
    flag: str,
    metavar: str | None,
    text: str,
    *,
    panel: str,
    default: Any = None,
) -> Option:
    info = typer.Option(flag, metavar=metavar, help=text, rich_help_panel=panel)
    return Option(Annotated[kind, info], default)


def _word(flag: str, metavar: str, text: str, panel: str) -> Option:
    return _flag(str | None, flag, metavar, text, panel=panel)


def _words(flag: str, metavar: str, text: str, panel: str) -> Option:
    return _flag(list[str] | None, flag, metavar, f"{text} Repeatable.", panel=panel)


BASELINE: Group = {"baseline": _argument(str, "BASELINE", "Results of the baseline.")}
RESULTS: Group = {
    "baseline": _argument(str, "RESULTS", "Results with repeated trials.")
}
VARIANTS: Group = {
    "variants": _argument(
        list[str] | None,
        "[VARIANT]...",
        "Results of one or more variants; none when BASELINE holds both systems.",
        None,
    )
}
VARIANT: Group = {
    "variant": _argument(
        str | None,
        "[VARIANT]",
        "Results of the variant; none when BASELINE holds both systems.",
        None,
    )
}
FILE: Group = {"file": _argument(str, "FILE", "Results in any readable format.")}

COLUMNS: Group = {
    "id": _word("--id", "COLUMN", "Column with the question id.", "Input"),
    "trial": _word("--trial", "COLUMN", "Column with the trial.", "Input"),
    "judge_trial": _word(
        "--judge-trial", "COLUMN", "Column with the grading of an answer.", "Input"
    ),
    "status": _word("--status", "COLUMN", "Column with each row's status.", "Input"),
    "cluster": _word(
        "--cluster", "COLUMN", "Column with the source that questions share.", "Input"
    ),
    "slice": _words(
        "--slice",
        "SPEC",
        "Break down by a column (a), crossed columns (a,b) or cut points (a:100,300).",
        "Input",
    ),
    "metric": _words("--metric", "NAME", "Only these metrics.", "Input"),
    "direction": _words(
        "--direction", "NAME=higher|lower", "Which values are better.", "Input"
    ),
    "range": _words(
        "--range", "NAME=LOW,HIGH", "Lowest and highest score of a metric.", "Input"
    ),
    "setting": _words(
        "--setting", "COLUMN", "Column that holds a setting of the arm.", "Input"
    ),
}
FILES: Group = {
    "input_format": _word(
        "--input-format", "NAME", "Read the files as this format.", "Input"
    ),
    "gold": _word(
        "--gold",
        "FILE",
        "Relevance judgements or right answers, where a format keeps them apart.",
        "Input",
    ),
}
ARMS: Group = {
    "baseline_name": _word(
        "--baseline-name",
        "NAME",
        "Name of the baseline, or its system in a file that holds several.",
        "Input",
    ),
    "variant_name": _word(
        "--variant-name",
        "NAME",
        "Name of the variant, or its system in a file that holds several.",
        "Input",
    ),
    "baseline_trial": _words(
        "--baseline-trial", "FILE", "A further trial of the baseline.", "Input"
    ),
    "variant_trial": _words(
        "--variant-trial", "FILE", "A further trial of the variant.", "Input"
    ),
}
ORACLE: Group = {
    "oracle_baseline": _word(
        "--oracle-baseline",
        "FILE",
        "The baseline with the right context given: reports the retrieval gap.",
        "Input",
    ),
    "oracle_variant": _word(
        "--oracle-variant", "FILE", "The variant with the right context given.", "Input"
    ),
}
PLAN: Group = {
    "plan": _flag(Path | None, "--plan", "FILE", "The plan (TOML).", panel="Decision"),
}
DECISION: Group = {
    "primary": _flag(
        list[str] | None,
        "--primary",
        "NAME[:MIN]",
        "Metric that must improve, by over MIN.",
        panel="Decision",
    ),
    "guardrail": _words(
        "--guardrail",
        "NAME:MARGIN",
        "Metric that may worsen by MARGIN at most (0.02 or 10%).",
        "Decision",
    ),
}
ANALYSIS: Group = {
    "confidence_level": _flag(
        float | None,
        "--confidence-level",
        "LEVEL",
        "Two-sided level of the intervals (0.95).",
        panel="Analysis",
    ),
    "interval": _word("--interval", "NAME", "Decision interval (auto).", "Analysis"),
    "test": _word("--test", "NAME", "Test of no difference (auto).", "Analysis"),
    "adjust": _word(
        "--adjust",
        "max-t|holm|bh|none",
        "Multiplicity over slices and metrics (max-t).",
        "Analysis",
    ),
    "min_slice": _flag(
        int | None,
        "--min-slice",
        "N",
        "Fewest pairs of a slice that is judged by itself (10).",
        panel="Analysis",
    ),
    "n_resamples": _flag(
        int | None,
        "--n-resamples",
        "N",
        "Resamples where sampling is unavoidable (9999).",
        panel="Analysis",
    ),
    "seed": _flag(
        int | None,
        "--seed",
        "N",
        "Seed where sampling is unavoidable (7).",
        panel="Analysis",
    ),
}
CONVERT: Group = {
    "out": Option(
        Annotated[
            str,
            typer.Option("--out", metavar="FILE", help="Rows: .jsonl or .csv."),
        ]
    ),
    "system": _word(
        "--system", "NAME", "The system to take, of a file that holds several.", "Input"
    ),
}
TRIALS: Group = {
    "half_width": _flag(
        float | None,
        "--half-width",
        "W",
        "Say the cheapest way to an interval of ± W for the first metric.",
        panel="Design",
    ),
    "question_cost": _flag(
        float,
        "--question-cost",
        "C",
        "Cost of a new question (1).",
        panel="Design",
        default=1.0,
    ),
    "answer_cost": _flag(
        float,
        "--answer-cost",
        "C",
        "Cost of one answer to one question, grading included (1).",
        panel="Design",
        default=1.0,
    ),
}
PAGE: Group = {
    "markdown": _word("--markdown", "FILE", "Markdown; - is stdout.", "Output"),
    "json": _word("--json", "FILE", "JSON; - is stdout.", "Output"),
}
TRACES: Group = {"traces": _argument(str, "TRACES", "Recorded traces (JSON Lines).")}
SCORE: Group = {
    "out": _word("--out", "FILE", "New table: .jsonl, .csv, .tsv or .xlsx.", "Output"),
    "append": _word(
        "--append", "FILE", "Table to add rows to; its rows stay as they are.", "Output"
    ),
    "options": _word(
        "--options", "FILE", "Settings and names of the fields (TOML).", "Input"
    ),
    "k": _words(
        "-k", "DEPTH", "Depth of the retrieval scores (5), or several: 1,5.", "Input"
    ),
}
JUDGE: Group = {
    "labels": _word(
        "--labels", "FILE", "Human labels: question_id, arm, label, weight.", "Judge"
    ),
    "draw": _flag(
        int | None,
        "--draw",
        "N",
        "Draw N questions to label instead, and write a sheet to fill in.",
        panel="Judge",
    ),
    "out": _word("--out", "FILE", "Where the sheet goes (stdout).", "Judge"),
    "seed": ANALYSIS["seed"],
    "confidence_level": ANALYSIS["confidence_level"],
}
QUESTION_SET: Group = {
    "other": _word(
        "--other", "FILE", "Traces of another set that should share nothing.", "Input"
    ),
    "options": SCORE["options"],
}
STDOUT: Group = {
    "format": _flag(
        str,
        "--format",
        "text|markdown|json",
        "What stdout gets.",
        panel="Output",
        default="text",
    ),
    "quiet": _flag(
        bool, "--quiet", None, "Nothing on stdout.", panel="Output", default=False
    ),
}
LEVEL: Group = {key: ANALYSIS[key] for key in ("confidence_level", "interval", "seed")}
POWER: Group = {
    "delta": _flag(
        float | None,
        "--delta",
        "D",
        "True delta, variant minus baseline (a guardrail: 0).",
        panel="Design",
    ),
    "margin": _flag(
        float | None, "--margin", "M", "A guardrail with this margin.", panel="Design"
    ),
    "min_improvement": _flag(
        float | None,
        "--min-improvement",
        "MIN",
        "A primary that must improve by over MIN (0).",
        panel="Design",
    ),
    "target": _flag(
        float,
        "--power",
        "P",
        "Wanted probability to pass (0.8).",
        panel="Design",
        default=0.8,
    ),
    "questions": _flag(
        list[int] | None,
        "--questions",
        "N",
        "Number of questions to look at. Repeatable.",
        panel="Design",
    ),
    "trials": _flag(
        list[int] | None,
        "--trials",
        "K",
        "Number of trials to look at. Repeatable.",
        panel="Design",
    ),
    "missing_rate": _flag(
        float | None,
        "--missing-rate",
        "SHARE",
        "Questions without a pair (as in the pilot).",
        panel="Design",
    ),
    "comparisons": _flag(
        int,
        "--comparisons",
        "N",
        "Variants or rules that must hold together (1).",
        panel="Design",
        default=1,
    ),
    "sd": _flag(
        float | None,
        "--sd",
        "SD",
        "SD of one paired difference, in place of a pilot.",
        panel="Design",
    ),
    "discordance": _flag(
        float | None,
        "--discordance",
        "SHARE",
        "Share of 0/1 pairs that differ, in place of a pilot.",
        panel="Design",
    ),
    "simulations": _flag(
        int,
        "--simulations",
        "N",
        "Simulated experiments per design (1000).",
        panel="Design",
        default=1000,
    ),
    "picture": _word("--picture", "FILE", "Power curve as .svg or .png.", "Output"),
}
DRAFT: Group = {
    "out": _word(
        "--out",
        "FILE",
        "Where to write the plan (stdout); not overwritten.",
        "Output",
    ),
}
JUNIT: Group = {
    "junit": _word(
        "--junit", "FILE", "One JUnit test case per status; - is stdout.", "Output"
    ),
}
OUTPUT: Group = {
    "markdown": _word("--markdown", "FILE", "Markdown report; - is stdout.", "Output"),
    "html": _word("--html", "FILE", "Report as one page; - is stdout.", "Output"),
    "latex": _word("--latex", "FILE", "Tables for a paper; - is stdout.", "Output"),
    "json": _word("--json", "FILE", "JSON output; - is stdout.", "Output"),
    "csv": _word("--csv", "FILE", "All deltas as CSV; - is stdout.", "Output"),
    "pictures": _flag(
        Path | None,
        "--pictures",
        "DIR",
        "Pictures (SVG, PNG), shown in the Markdown report.",
        panel="Output",
    ),
    **STDOUT,
}
