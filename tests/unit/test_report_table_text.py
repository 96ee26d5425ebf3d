from __future__ import annotations

import re

import pytest

from onechange.display import text_width
from onechange.report.document import Column, Table
from onechange.report.plain_text import block_text
from onechange.report.table_text import fitted_table, without_columns

COLUMNS = (
    Column("metric"),
    Column("n", "r"),
    Column("interval", "r"),
    Column("status"),
)
ROWS = (
    ("correct", "150", "+0.027 … +0.211", "✔ pass"),
    ("a_metric_with_a_long_name_\x1b[31m", "7", "−0.016 … +0.026", "✘ fail"),
)
TABLE = Table(COLUMNS, ROWS, row_status=("pass", "fail"))


@pytest.mark.parametrize("width", [28, 30, 40, 45, 60, 100])
@pytest.mark.parametrize("color", [False, True])
def test_every_cell_is_there_and_no_line_is_too_long(width: int, color: bool) -> None:
    lines = fitted_table([TABLE], width, color=color)
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    assert max(text_width(line) for line in plain) <= width
    text = "\n".join(plain)
    for row in ROWS:
        for cell in row[1:]:
            assert cell in text
    assert "a_metric_with_a_long" in text
    assert "\x1b[31m" not in text


def test_the_columns_needed_least_go_first() -> None:
    shorter = without_columns(TABLE, {"n"})
    (head, *_) = fitted_table([TABLE, shorter], 63)
    assert head.split() == ["metric", "interval", "status"]


def test_a_stacked_row_gives_each_figure_its_title() -> None:
    lines = fitted_table([TABLE], 28)
    assert lines[:3] == ["correct", "  n 150", "  interval +0.027 … +0.211"]


def test_a_long_cell_is_broken_not_cut() -> None:
    words = "a sentence that is far longer than a narrow terminal is wide, to its end"
    table = Table((Column("what"), Column("why")), (("x", words),))
    text = block_text(table, 30)
    assert " ".join(text.split()).endswith(words)


def test_long_heads_are_broken_before_names_lose_their_place() -> None:
    heads = (Column("metric"), Column("unscored in baseline / variant / both", "r"))
    table = Table(heads, (("a_rather_long_metric", "0 / 0 / 29"),))
    first, second, rule, row = fitted_table([table], 44)
    assert first.split() == ["unscored", "in", "baseline"]
    assert second.split() == ["metric", "/", "variant", "/", "both"]
    assert set(rule) == {"─"}
    assert row.split() == ["a_rather_long_metric", "0", "/", "0", "/", "29"]
