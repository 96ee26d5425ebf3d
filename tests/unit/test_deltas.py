from __future__ import annotations

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest

import builders
import onechange as oc
from onechange.deltas import DeltaTable
from onechange.errors import OnechangeError
from onechange.plots import picture
from onechange.report import render


@pytest.fixture(scope="module")
def comparison() -> oc.Comparison:
    rng = np.random.default_rng(8)
    base = pd.DataFrame(
        {
            "question_id": [f"q{i}" for i in range(24)] * 2,
            "trial": [1] * 24 + [2] * 24,
            "kind": (["a", "b"] * 12) * 2,
            "correct": rng.integers(0, 2, 48),
            "latency_ms": rng.integers(5, 50, 48) * 10,
        }
    )
    other = base.assign(correct=np.maximum(base["correct"], rng.integers(0, 2, 48)))
    plan = oc.Plan(
        "correct", [oc.Guardrail("latency_ms", margin="10%")], slices=["kind"]
    )
    return oc.compare(base, other, plan)


def test_a_table_of_deltas_is_a_tuple(comparison: oc.Comparison) -> None:
    table = comparison.deltas
    assert isinstance(table, tuple)
    assert isinstance(table[:1], DeltaTable)
    assert [d.metric for d in table] == ["correct", "latency_ms"]
    assert table.of("latency_ms")[0] is table[1]
    assert table == (table[0], table[1])


def test_the_frame_has_one_row_a_delta_at_full_precision(
    comparison: oc.Comparison,
) -> None:
    frame = comparison.deltas.to_frame()
    assert list(frame["metric"]) == ["correct", "latency_ms"]
    assert frame["delta"][0] == comparison.deltas[0].delta
    assert frame["low"][0] == comparison.deltas[0].interval.low
    assert comparison.to_frame().equals(frame)


def test_the_csv_has_the_columns_and_values_of_the_frame(
    comparison: oc.Comparison,
) -> None:
    rows = list(csv.DictReader(io.StringIO(render(comparison, "csv"))))
    frame = comparison.deltas.to_frame()
    assert list(rows[0]) == list(frame.columns)
    assert float(rows[0]["delta"]) == frame["delta"][0]


def test_a_result_prints_as_its_table(comparison: oc.Comparison) -> None:
    lines = repr(comparison).splitlines()
    assert lines[0].split()[:2] == ["metric", "n"]
    assert lines[2].startswith("correct ↑")
    assert repr(comparison.deltas) == repr(comparison)
    assert repr(comparison.deltas[0]).splitlines()[2].split()[0] == "correct"


def test_a_slice_is_named_in_its_row(comparison: oc.Comparison) -> None:
    parts = DeltaTable(comparison.slices[0].deltas)
    assert "slice" in repr(parts).splitlines()[0]
    assert {row["slice"] for row in parts.to_dicts()} == {"a", "b"}


def test_a_decision_prints_its_reason_and_its_statuses(
    comparison: oc.Comparison,
) -> None:
    decision = oc.decide(comparison, stability=False)
    lines = repr(decision).splitlines()
    assert lines[0] == f"{decision.decision}: {decision.reason}"
    assert [row["role"] for row in decision.to_dicts()] == ["primary", "guardrail"]
    assert list(decision.to_frame()["status"]) == [s.status for s in decision.statuses]


def test_a_notebook_gets_tables_without_live_markup() -> None:
    hostile = "<img src=x onerror=alert(1)>"
    rule = builders.rule(metric=hostile, delta=builders.delta(hostile))
    result = builders.decision(statuses=(rule,), reason=hostile)
    for part in (result, builders.comparison(deltas=(builders.delta(hostile),))):
        tags = set(re.findall(r"<(\w+)", part._repr_html_()))
        assert tags <= {"table", "thead", "tbody", "tr", "th", "td", "p", "strong"}


def test_markdown_has_as_many_cells_in_every_row(comparison: oc.Comparison) -> None:
    lines = comparison.to_markdown().splitlines()
    assert len({line.count("|") for line in lines}) == 1


@pytest.mark.parametrize("kind", ["deltas", "slices", "differences", "trials", "flow"])
def test_every_kind_of_picture_can_be_drawn(
    comparison: oc.Comparison, kind: str
) -> None:
    assert b"<svg" in picture(comparison.plot(kind))
    decision = oc.decide(comparison, stability=False)
    assert b"<svg" in picture(decision.plot(kind, metric="latency_ms"))


def test_one_delta_can_be_drawn(comparison: oc.Comparison) -> None:
    svg = picture(comparison.deltas[0].plot()).decode()
    assert "correct" in svg


def test_a_margin_in_percent_is_drawn_on_the_relative_scale(
    comparison: oc.Comparison,
) -> None:
    svg = picture(comparison.plot("deltas")).decode()
    assert "latency_ms ↓ (relative)" in svg


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"kind": "pie"}, r'"pie" is unknown; choose one of deltas, slices'),
        ({"kind": "slices", "by": "size"}, r"no breakdown by size; there are: kind"),
        ({"kind": "trials", "metric": "f1"}, r'"f1" is not measured; measured: corr'),
    ],
)
def test_a_picture_that_cannot_be_drawn_says_what_can(
    comparison: oc.Comparison, words: dict[str, str], message: str
) -> None:
    with pytest.raises(OnechangeError, match=message):
        comparison.plot(**words)


def test_the_audit_of_the_only_variant_has_its_name(
    comparison: oc.Comparison,
) -> None:
    assert comparison.audit is comparison.audits[0]
    two = builders.comparison(audits=(builders.audit(), builders.audit()))
    with pytest.raises(OnechangeError, match=r"2 variants .* \.audits"):
        _ = two.audit


def test_slices_are_a_tuple_and_print_as_a_table(comparison: oc.Comparison) -> None:
    slices = comparison.slices
    assert isinstance(slices, tuple)
    (breakdown,) = slices
    assert slices[0] is breakdown
    assert list(slices[:1]) == [breakdown]
    expected = DeltaTable(breakdown.deltas)
    for table in (slices, breakdown):
        assert table.to_dicts() == expected.to_dicts()
        assert list(table.to_frame()["slice"]) == [
            d.slice[0][1] for d in breakdown.deltas
        ]
        assert table.to_markdown() == expected.to_markdown()
        assert repr(table) == repr(expected)
        assert table._repr_html_() == expected._repr_html_()


def test_no_slices_are_an_empty_table() -> None:
    none = builders.comparison(slices=()).slices
    assert none == ()
    assert repr(none) == "(no rows)"
    assert none.to_frame().empty


def test_an_audit_prints_as_the_ledger_and_adds_up(comparison: oc.Comparison) -> None:
    audit = comparison.audit
    frame = audit.to_frame()
    rows = frame[frame["metric"].isna()].set_index("count")[["baseline", "variant"]]
    assert tuple(rows.loc["rows read"]) == audit.rows_read
    by_status = rows.loc[rows.index.str.startswith("rows with status")]
    assert tuple(by_status.sum()) == audit.rows_read
    for name, counts in audit.metrics.items():
        own = frame[frame["metric"] == name].set_index("count")
        assert own["baseline"]["scored in both arms"] == counts.pairs
        both = own.loc[["scored in both arms", "unscored in both arms"]]
        rest = own.loc[["unscored in this arm", "failed in this arm"]]
        failed = own["baseline"]["failed in both arms"]
        alone = rest["baseline"].sum() + rest["variant"].sum()
        assert both["baseline"].sum() + alone + failed == audit.paired
    assert repr(audit).splitlines()[2].split()[:3] == ["–", "rows", "read"]
    assert "<table>" in audit._repr_html_()
    assert audit.to_markdown().count("rows read") == 1
