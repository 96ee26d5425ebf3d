"""Leaves of the JSON output: numbers, intervals, tests, notes as plain values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from onechange.stats.estimate import Interval, Note, TestResult

__all__ = [
    "Json",
    "interval_json",
    "notes_json",
    "number_json",
    "numbers_json",
    "outcome_json",
    "plain_json",
    "pvalue_json",
    "slice_json",
]

SMALLEST_DOUBLE = 5e-324

Json = dict[str, Any]


def slice_json(labels: tuple[tuple[str, str], ...] | None) -> dict[str, str] | None:
    """Write the labels of a slice by column; None over all questions."""
    return None if labels is None else dict(labels)


def interval_json(interval: Interval | None) -> Json | None:
    """Write an interval; an unbounded end is null."""
    if interval is None:
        return None
    return {
        "low": number_json(interval.low),
        "high": number_json(interval.high),
        "confidence_level": interval.confidence_level,
        "method": interval.method,
        "degenerate": interval.degenerate,
        "n_resamples": interval.n_resamples,
        "notes": notes_json(interval.notes),
    }


def outcome_json(test: TestResult | None, adjusted: float | None) -> Json | None:
    """Write a test with its adjusted p-value."""
    if test is None:
        return None
    return {
        "pvalue": pvalue_json(test.pvalue),
        "pvalue_adjusted": pvalue_json(adjusted),
        "method": test.method,
        "alternative": test.alternative,
        "statistic": number_json(test.statistic),
        "exact": test.exact,
        "n_resamples": test.n_resamples,
        "monte_carlo_error": number_json(test.monte_carlo_error),
        "log10_pvalue": number_json(test.log10_pvalue),
        "notes": notes_json(test.notes),
    }


def notes_json(notes: Iterable[Note]) -> list[Json]:
    """Write notes, code and text."""
    return [{"code": note.code, "text": note.text} for note in notes]


def number_json(value: float | None) -> float | int | None:
    """Write a number; what is unknown or not finite is null."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, int) else float(value) + 0.0


def numbers_json(values: Iterable[float] | None) -> list[float | int | None] | None:
    """Write some numbers; None stays None."""
    return None if values is None else [number_json(value) for value in values]


def pvalue_json(pvalue: float | None) -> float | int | None:
    """Write a p below the double range as the smallest double, never as 0."""
    value = number_json(pvalue)
    return None if value is None else max(value, SMALLEST_DOUBLE)


def plain_json(value: Any) -> Any:
    """Write a value of any kind: containers and scalars as they are."""
    if isinstance(value, Mapping):
        return {str(key): plain_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(item) for item in value]
    if isinstance(value, float):
        return number_json(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)
