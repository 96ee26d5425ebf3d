from __future__ import annotations

import csv
import io

import builders
from onechange.report.csv_output import to_csv
from onechange.stats.estimate import Interval


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_one_row_per_delta_overall_and_per_slice() -> None:
    rows = _rows(to_csv(builders.decision()))
    assert [(r["metric"], r["slice"]) for r in rows] == [
        ("correct", ""),
        ("latency_ms", ""),
        ("context_recall", ""),
        ("failed", ""),
        ("correct", "multi_hop"),
        ("correct", "factoid"),
    ]
    assert rows[4]["slice_column"] == "qtype"


def test_unknown_and_unbounded_values_are_empty_cells() -> None:
    unbounded = builders.delta(interval=Interval(float("-inf"), 0.2, 0.95, "sign-flip"))
    rows = _rows(to_csv(builders.comparison(deltas=(unbounded, builders.empty()))))
    assert (rows[0]["low"], rows[0]["high"]) == ("", "0.2")
    assert rows[1]["delta"] == rows[1]["wins"] == rows[1]["pvalue"] == ""


def test_numbers_keep_their_full_precision() -> None:
    rows = _rows(to_csv(builders.comparison(deltas=(builders.delta(delta=0.1 + 0.2),))))
    assert float(rows[0]["delta"]) == 0.1 + 0.2


def test_a_negative_number_is_a_number_and_a_label_is_no_formula() -> None:
    result = builders.comparison(slices=(builders.breakdown(("=HYPERLINK()", "-x")),))
    rows = [row for row in _rows(to_csv(result)) if row["slice"]]
    assert [row["slice"] for row in rows] == ["'=HYPERLINK()", "'-x"]
    assert float(rows[0]["delta"]) == -0.121


def test_a_label_with_a_line_break_stays_one_cell() -> None:
    result = builders.comparison(slices=(builders.breakdown(('a\n"b",c', "1e5")),))
    labels = [row["slice"] for row in _rows(to_csv(result))]
    assert labels[-2:] == ['a\n"b",c', "1e5"]
