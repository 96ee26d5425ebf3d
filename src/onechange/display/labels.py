"""A metric and a status in words and symbols, the same in every table."""

from __future__ import annotations

__all__ = ["ARROWS", "SYMBOLS", "metric_text"]

SYMBOLS = {
    "pass": "✔",
    "ship": "✔",
    "fail": "✘",
    "do not ship": "✘",
    "inconclusive": "◐",
}
ARROWS = {"higher": "↑", "lower": "↓"}


def metric_text(metric: str, direction: str, statistic: str = "mean") -> str:
    """Write a metric with its statistic and the arrow of its better direction.

    Parameters
    ----------
    metric, statistic : str
        What is measured; the mean is not named.
    direction : str
        ``higher`` or ``lower`` is better.

    Examples
    --------
    >>> metric_text("latency_ms", "lower", "p95")
    'latency_ms p95 ↓'
    """
    named = metric if statistic == "mean" else f"{metric} {statistic}"
    return f"{named} {ARROWS[direction]}"
