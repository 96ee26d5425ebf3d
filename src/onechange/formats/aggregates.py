"""Files that look like results and hold none: refused with one clear sentence."""

from __future__ import annotations

from typing import Any

from onechange.errors import InputError
from onechange.formats.peek import Peek, first

__all__ = ["refuse"]

_VALUE_NAMES = {"score", "value", "mean", "average", "result"}
_SUMMARY_COLUMNS = {
    "faithfulness",
    "answer_relevancy",
    "answer_correctness",
    "context_precision",
    "context_recall",
    "factual_correctness",
}
_RUN_NAMES = {"version", "model", "system", "config", "configuration"}
_WAY_OUT = "questions cannot be paired from it; pass the file with one row per question"


def refuse(seen: Peek) -> None:
    """Raise when a file is known to hold no per-question results.

    Parameters
    ----------
    seen : Peek
        The file.

    Raises
    ------
    InputError
        For aggregates (tables of means, MTEB results, the results file of
        lm-evaluation-harness, HELM's stats) and for companions of result files.
    """
    reason = _table_reason(seen) or _json_reason(seen) or _gold_reason(seen)
    if reason:
        raise InputError(f"{seen.path.name}: {reason}.")


def _table_reason(seen: Peek) -> str | None:
    names = [name.strip().lower() for name in seen.header]
    measures = len(names) == 2 and names[0] in {"metric", "metrics", "measure"}
    if measures and (names[1] in _VALUE_NAMES or _looks_numeric(seen.rows, 1)):
        return f"holds one mean per metric; {_WAY_OUT}"
    means = _SUMMARY_COLUMNS.intersection(names)
    if means and names[0] in _RUN_NAMES and len(seen.rows) <= 20:
        firsts = [row[0] for row in seen.rows if row]
        if len(set(firsts)) == len(firsts) and len(names) <= len(means) + 3:
            return f"holds one row of means per {names[0]}; {_WAY_OUT}"
    if means and set(names) <= _SUMMARY_COLUMNS and len(seen.rows) == 1:
        return f"holds one row of means; {_WAY_OUT}"
    return None


def _json_reason(seen: Peek) -> str | None:
    keys = seen.keys
    if {"task_name", "scores"} <= keys and keys & {"dataset_revision", "mteb_version"}:
        return (
            "an MTEB result: means over the queries of one task; the queries cannot "
            "be paired from it"
        )
    if {"results", "configs", "versions"} <= keys and "n-shot" in keys:
        return (
            "the aggregate of an lm-evaluation-harness run; pass the samples_*.jsonl "
            "file, or the folder that holds both (run with --log_samples)"
        )
    if seen.kind == "json" and {"name", "count", "sum", "mean"} <= seen.item.keys():
        return "HELM's stats.json holds means; pass per_instance_stats.json"
    if {"testRunData"} == keys and not isinstance(seen.value["testRunData"], dict):
        return "a DeepEval file without a test run"
    if _looks_summarised(seen.value):
        return f"holds means and no rows; {_WAY_OUT}"
    return None


def _gold_reason(seen: Peek) -> str | None:
    """Right answers without anybody's answers."""
    data = seen.value.get("data") if isinstance(seen.value, dict) else None
    article = first(data)
    if isinstance(article, dict) and "paragraphs" in article:
        return (
            "a SQuAD file of right answers; pass the predictions, and this file with "
            "--gold"
        )
    if seen.kind == "text":
        lines = [line.split() for line in seen.head.split("\n")[:20] if line.strip()]
        whole = lines[:-1] if len(lines) == 20 else lines
        if whole and all(
            len(parts) == 4
            and parts[1] in ("0", "Q0")
            and parts[3].lstrip("-").isdigit()
            for parts in whole
        ):
            return (
                "relevance judgements (qrels); pass the run, and this file with --gold"
            )
    return None


def _looks_summarised(value: Any) -> bool:
    """Tell a small flat object of numbers under well-known names."""
    if not isinstance(value, dict) or not 0 < len(value) <= 40:
        return False
    numeric = all(
        isinstance(item, int | float) and not isinstance(item, bool)
        for item in value.values()
    )
    return numeric and bool(_SUMMARY_COLUMNS.intersection(value))


def _looks_numeric(rows: tuple[tuple[str, ...], ...], column: int) -> bool:
    cells = [row[column] for row in rows if len(row) > column]
    try:
        return bool(cells) and all(float(cell) == float(cell) for cell in cells)
    except ValueError:
        return False
