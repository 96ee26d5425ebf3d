"""CSV output: one row per delta, overall and per slice, at full precision."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

from onechange.compare import Comparison
from onechange.decide import Decision, Decisions
from onechange.delta import Delta
from onechange.display import escape_csv
from onechange.report.context import comparison_of

__all__ = ["to_csv"]


def to_csv(result: Comparison | Decision | Decisions) -> str:
    """Write every delta as one row of CSV.

    Parameters
    ----------
    result : Comparison, Decision or Decisions
        What `compare`, `decide` or `decide_each` returned.

    Returns
    -------
    str
        A header and one row per delta; unknown and unbounded values are empty
        cells. Texts that a spreadsheet would run as a formula get a leading ``'``.
    """
    comparison = comparison_of(result)
    parts = [d for b in comparison.slices for d in (*b.deltas, *b.rates, *b.joined)]
    rows = [d.to_dicts()[0] for d in (*comparison.deltas, *comparison.rates, *parts)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    empty = Delta(metric="", direction="higher", n_pairs=0)
    writer.writerow(empty.to_dicts()[0].keys())
    writer.writerows([[_cell(value) for value in row.values()] for row in rows])
    return out.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return escape_csv(value)
    if isinstance(value, float):
        return repr(float(value) + 0.0) if math.isfinite(value) else ""
    return str(value)
