"""The flags of the commands on traces and on human labels."""

from __future__ import annotations

from onechange.cli import options as o
from onechange.cli.option import Group, argument, flag, word, words

__all__ = ["JUDGE", "QUESTION_SET", "SCORE", "TRACES"]

TRACES: Group = {"traces": argument(str, "TRACES", "Recorded traces (JSON Lines).")}
SCORE: Group = {
    "out": word("--out", "FILE", "New table: .jsonl, .csv, .tsv or .xlsx.", "Output"),
    "append": word(
        "--append", "FILE", "Table to add rows to; its rows stay as they are.", "Output"
    ),
    "force": flag(
        bool,
        "--force",
        None,
        "Let --out replace an existing table.",
        panel="Output",
        default=False,
    ),
    "constant": words(
        "--constant",
        "NAME=VALUE",
        "Column with one value, such as run=topk8: keeps runs of a table apart.",
        "Output",
    ),
    "new_columns": word(
        "--new-columns",
        "refuse|leave-out|add",
        "What --append does where a CSV table lacks a column (refuse).",
        "Output",
    ),
    "options": word(
        "--options", "FILE", "Settings and names of the fields (TOML).", "Input"
    ),
    "k": words(
        "-k", "DEPTH", "Depth of the retrieval scores (5), or several: 1,5.", "Input"
    ),
}
JUDGE: Group = {
    "labels": word(
        "--labels", "FILE", "Human labels: question_id, arm, label, weight.", "Judge"
    ),
    "draw": flag(
        int | None,
        "--draw",
        "N",
        "Draw N questions to label instead, and write a sheet to fill in.",
        panel="Judge",
    ),
    "out": word("--out", "FILE", "Where the sheet goes (stdout).", "Judge"),
    "force": flag(
        bool,
        "--force",
        None,
        "Let --out replace an existing sheet, its labels included.",
        panel="Judge",
        default=False,
    ),
    "seed": o.ANALYSIS["seed"],
    "confidence_level": o.ANALYSIS["confidence_level"],
}
QUESTION_SET: Group = {
    "other": word(
        "--other", "FILE", "Traces of another set that should share nothing.", "Input"
    ),
    "options": SCORE["options"],
}
