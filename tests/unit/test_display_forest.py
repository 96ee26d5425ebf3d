from __future__ import annotations

import pytest

from onechange.display import text_width
from onechange.display.forest import ForestRow, fitted_forest, forest_lines


def _row(label: str, delta: float | None, low: float | None, high: float | None):
    return ForestRow(label, 10, delta, low, high, "d")


def test_zero_and_the_points_stand_in_their_columns() -> None:
    lines = forest_lines(
        [_row("a", 0.2, 0.1, 0.3), _row("b", -0.3, -0.3, -0.3)], width=21
    )
    zero = lines[0].index("0", lines[0].index("−0.3") + 4)
    assert lines[1][zero] == "│"
    assert lines[1].index("●") > zero
    assert lines[2].index("●") == lines[0].index("−0.3")


@pytest.mark.parametrize("width", [20, 21, 41])
def test_all_rows_keep_to_the_same_columns(width: int) -> None:
    rows = [
        _row("short", 0.2, 0.1, 0.3),
        _row("日本語のラベル", -0.2, float("-inf"), 0.3),
        _row("x" * 80, 0.0, -50.0, 50.0),
        _row("new\nline\x1b[0m", None, None, None),
    ]
    lines = forest_lines(rows, width=width)
    assert len(lines) == len(rows) + 1
    starts = {text_width(line[: line.index(" d  ")]) for line in lines[1:4]}
    assert len(starts) == 1
    assert all("\n" not in line and "\x1b" not in line for line in lines)


def test_ends_beyond_the_scale_are_marked() -> None:
    (_, _, _, line) = forest_lines(
        [_row("a", 0.1, 0.0, 0.2), _row("b", 0.1, 0.0, 0.2), _row("c", 0.1, -9.0, 9.0)]
    )
    assert "◂" in line
    assert "▸" in line
    assert "┝" not in line


def test_one_huge_interval_of_two_does_not_flatten_the_other() -> None:
    (_, first, second) = forest_lines(
        [_row("a", 0.06, 0.01, 0.11), _row("b", -0.03, -2.1, 2.1)], width=41
    )
    assert first.index("┥") - first.index("┝") >= 4
    assert "◂" in second
    assert "▸" in second


def test_a_slice_without_interval_shows_its_point_alone() -> None:
    (_, line) = forest_lines([_row("a", 0.1, None, None)])
    assert "●" in line
    assert "━" not in line


def test_an_unmeasured_slice_shows_no_point() -> None:
    rows = [_row("a", 0.1, None, None), _row("b", None, None, None)]
    line = forest_lines(rows)[2]
    assert "●" not in line
    assert "–" in line


def test_the_better_side_is_named() -> None:
    rows = [_row("a", 0.1, None, None)]
    assert forest_lines(rows, direction="higher")[0].startswith("better →")
    assert forest_lines(rows, direction="lower")[0].startswith("← better")


def test_zero_deltas_draw_without_a_scale() -> None:
    lines = forest_lines([_row("a", 0.0, 0.0, 0.0)])
    assert lines[1].count("●") == 1


@pytest.mark.parametrize("columns", range(48, 131, 6))
def test_a_plot_takes_no_more_than_the_terminal_has(columns: int) -> None:
    rows = [
        ForestRow(
            label,
            1200,
            0.1,
            -0.2,
            0.4,
            "+0.100",
            "−0.200 … +0.400",
            "adj. p = 0.0033, opposite sign, not established",
            "",
            "adj. p = 0.0033",
            "opposite sign",
        )
        for label in ("x" * 80, "日本語のラベル" * 4, "short")
    ]
    lines = fitted_forest(rows, columns=columns)
    assert max(text_width(line) for line in lines) <= columns
    assert all("●" in line for line in lines[1:])
    assert "not established" in fitted_forest(rows, columns=180)[1]


def test_labels_that_differ_at_their_ends_stay_apart() -> None:
    rows = [_row(f"a slice with a long name, number {i}", 0.1, 0, 0.2) for i in (1, 2)]
    first, second = fitted_forest(rows, columns=60)[1:]
    assert first != second
