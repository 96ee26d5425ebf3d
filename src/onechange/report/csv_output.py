"""CSV output: one row per delta, overall and per slice, at full precision."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

from onechange.compare import Comparison
from onechange.decide import Decision
from onechange.delta import Delta
from onechange.display import escape_csv
from onechange.report.context import comparison_of
from onechange.stats.estimate import Interval

__all__ = ["to_csv"]


def to_csv(result: Comparison | Decision) -> str:
    """Write every delta as one row of CSV.

    Parameters
    ----------
    result : Comparison or Decision
        What `compare` or `decide` returned.

    Returns
    -------
    str
        A header and one row per delta; unknown and unbounded values are empty
        cells. Texts that a spreadsheet would run as a formula get a leading ``'``.
    """
    comparison = comparison_of(result)
    parts = [d for b in comparison.slices for d in (*b.deltas, *b.joined)]
    rows = [_row(d) for d in (*comparison.deltas, *comparison.rates, *parts)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_row(Delta(metric="", direction="higher", n_pairs=0)).keys())
    writer.writerows([[_cell(value) for value in row.values()] for row in rows])
    return out.getvalue()


def _row(delta: Delta) -> dict[str, Any]:
    slices = delta.slice or ()
    counted = delta.n_pairs > 0
    return {
        "metric": delta.metric,
        "slice_column": " × ".join(column for column, _ in slices),
        "slice": " × ".join(label for _, label in slices),
        "statistic": delta.statistic,
        "direction": delta.direction,
        "variant_name": delta.variant_name,
        "n_pairs": delta.n_pairs,
        "n_clusters": delta.n_clusters,
        "baseline": delta.baseline,
        "variant": delta.variant,
        "delta": delta.delta,
        "standard_error": delta.standard_error,
        "relative_delta": delta.relative.delta if delta.relative else None,
        **_ends("", delta.interval),
        "confidence_level": delta.interval.confidence_level if delta.interval else None,
        "interval_method": delta.interval.method if delta.interval else None,
        **_ends("bootstrap_", delta.bootstrap_interval),
        **_ends("permutation_", delta.permutation_interval),
        **_ends("simultaneous_", delta.simultaneous_interval),
        "pvalue": delta.test.pvalue if delta.test else None,
        "pvalue_adjusted": delta.pvalue_adjusted,
        "test_method": delta.test.method if delta.test else None,
        "wins": delta.wins if counted else None,
        "ties": delta.ties if counted else None,
        "losses": delta.losses if counted else None,
        "bounds_low": delta.bounds.low if delta.bounds else None,
        "bounds_high": delta.bounds.high if delta.bounds else None,
        "notes": " ".join(dict.fromkeys(note.code for note in delta.notes)),
    }


def _ends(prefix: str, interval: Interval | None) -> dict[str, float | None]:
    low = None if interval is None else interval.low
    high = None if interval is None else interval.high
    return {f"{prefix}low": low, f"{prefix}high": high}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return escape_csv(value)
    if isinstance(value, float):
        return repr(float(value) + 0.0) if math.isfinite(value) else ""
    return str(value)
