from __future__ import annotations

import dataclasses
import html
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from onechange import display
from onechange.plan import Guardrail, Primary
from onechange.stats.estimate import Interval

NUMBER_LIKE = ["1e5", "007", "20200407_2", "42924e28", "1.10", "1.1", "0x10", "1_000"]
HOSTILE = [
    "multi|hop",
    "line one\nline two",
    "`code|span`",
    "*star* _under_",
    "<b>html</b>",
    "back\\slash",
    "tail\\|",
    "&amp; [link](http://x) ~~gone~~ $x$",
    "# no heading",
    "1. no list",
    "- no list",
    "---",
]


# ---------------------------------------------------------------- numbers


def test_a_value_that_rounds_to_zero_has_no_sign() -> None:
    for value in (-0.0004, 0.0004, -0.0, 0.0):
        assert display.format_number(value, 3) == "0.000"
        assert display.format_number(value, 3, signed=True) == "0.000"


def test_what_is_not_measured_is_a_dash_and_never_zero() -> None:
    assert display.format_number(None) == "–"
    assert display.format_number(float("nan"), 3) == "–"
    assert display.format_interval(None, 3) == "–"
    assert display.format_pvalue(None) == "–"
    assert display.format_count(None) == "–"
    assert display.format_percent(None) == "–"


def test_unbounded_ends_are_infinite_not_large_numbers() -> None:
    interval = Interval(float("-inf"), float("inf"), 0.95, "sign-flip")
    assert display.format_interval(interval, 3) == "−∞ … +∞"


def test_three_digits_where_they_matter() -> None:
    assert display.format_number(0.5266667) == "0.527"
    assert display.format_number(797.93) == "798"
    assert display.format_number(4.2149) == "4.21"
    assert display.format_number(0.0034512) == "0.00345"


@given(
    st.floats(-1e6, 1e6, allow_nan=False),
    st.integers(0, 6),
)
@settings(max_examples=200)
def test_a_printed_number_reads_back_as_the_rounded_one(
    value: float, decimals: int
) -> None:
    text = display.format_number(value, decimals, signed=True)
    read = float(text.replace("−", "-").replace(",", ""))
    assert read == float(f"{value:.{decimals}f}")
    assert not text.startswith(("-", "−0.0")) or read != 0


@given(st.floats(5e-324, 1.0))
@settings(max_examples=200)
def test_a_pvalue_is_never_printed_as_zero_nor_moved_over_a_level(p: float) -> None:
    text = display.format_pvalue(p)
    if text == "< 0.0001":
        assert p < 0.0001
        return
    assert float(text) > 0
    for level in (0.05, 0.01):
        assert (float(text) < level) == (p < level)
        assert (float(text) > level) == (p > level)


def test_numbers_of_the_plan_are_printed_as_chosen() -> None:
    assert display.format_exact(0.025) == "0.025"
    assert display.format_exact(1e-05) == "0.00001"
    assert display.format_exact(3000.0) == "3000"
    assert display.format_exact(0.1 + 0.2) == "0.3"


def test_the_signature_names_every_choice_once() -> None:
    line = display.signature(
        n=150,
        trials=(1, 4),
        intervals=["newcombe", "sign-flip+guarded-t", "newcombe"],
        tests=["mcnemar-midp", "sign-flip"],
        confidence_level=0.9,
        clusters=30,
        seed=7,
        plan_sha256="3f2a" * 16,
        version="0.1.0",
    )
    assert line == (
        "unit:question|n:150|clusters:30|trials:1/4|delta:mean|"
        "interval:newcombe/sign-flip+guarded-t,0.9|test:mcnemar-midp/sign-flip|"
        "seed:7|plan:3f2a3f2a|onechange:0.1.0"
    )


# ---------------------------------------------------------------- decimals per metric


def _row(**changes: Any) -> SimpleNamespace:
    values: dict[str, Any] = {
        "metric": "m",
        "direction": "higher",
        "baseline": 0.527,
        "variant": 0.584,
        "delta": 0.0578,
        "slice": None,
        "interval": Interval(-0.0012, 0.1167, 0.95, "t"),
        "variant_interval": None,
    }
    return SimpleNamespace(**(values | changes))


def _decimals(row: SimpleNamespace, **rules: Any) -> int:
    thresholds = display.rule_thresholds(
        rules.get("primaries", ()), rules.get("guardrails", ())
    )
    return display.metric_decimals([row], thresholds)["m"]


def test_an_interval_end_beside_zero_gets_the_digits_that_show_its_side() -> None:
    assert _decimals(_row()) == 3
    assert _decimals(_row(interval=Interval(0.00004, 0.1167, 0.95, "t"))) == 5
    assert _decimals(_row(interval=Interval(0.0, 0.1167, 0.95, "t"))) == 3


def test_an_interval_end_beside_a_margin_gets_the_digits_that_show_its_side() -> None:
    row = _row(interval=Interval(-0.02996, 0.02, 0.95, "t"))
    assert _decimals(row) == 3
    assert _decimals(row, guardrails=[Guardrail("m", margin=0.03)]) == 5
    assert _decimals(row, guardrails=[Guardrail("m", margin=0.05)]) == 3


def test_a_margin_on_the_harmless_side_needs_no_digits() -> None:
    row = _row(interval=Interval(-0.02, 0.02996, 0.95, "t"))
    assert _decimals(row, guardrails=[Guardrail("m", margin=0.03)]) == 3
    assert _decimals(row, primaries=[Primary("m", 0.03)]) == 5


def test_a_point_value_counts_where_the_rule_uses_it() -> None:
    limit = Guardrail("m", limit=0.584, rule="estimate")
    assert _decimals(_row(variant=0.5841), guardrails=[limit]) == 4


def test_a_small_delta_between_large_levels_keeps_its_digits() -> None:
    row = _row(baseline=798.0, variant=798.4, delta=0.4)
    assert _decimals(_row(**vars(row) | {"interval": None})) == 1
    close = Interval(0.12, 0.68, 0.95, "t")
    assert _decimals(_row(**vars(row) | {"interval": close})) == 2


def test_an_unmeasured_metric_has_decimals_too() -> None:
    row = _row(baseline=None, variant=None, delta=None, interval=None)
    assert _decimals(row) == 3


# ---------------------------------------------------------------- escaping


def _cell_text(markdown: str) -> list[str]:
    """Text of the body cells as a reader sees them; ``<br>`` becomes a line break."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown)
    cells = []
    for before, token in pairwise(tokens):
        if before.type == "td_open":
            text = ""
            for child in token.children or []:
                assert child.type in {"text", "html_inline", "text_special"}, child
                text += "\n" if child.type == "html_inline" else child.content
            cells.append(text)
    return cells


@pytest.mark.parametrize("label", [*HOSTILE, *NUMBER_LIKE])
def test_a_label_is_read_in_a_markdown_table_as_it_is(label: str) -> None:
    table = display.markdown_table(["a", "b"], [[label, "x"]])
    assert _cell_text(table) == [html.unescape(html.escape(label)), "x"]
    assert len(table.splitlines()) == 3


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=20))
@settings(max_examples=300)
def test_any_ascii_label_survives_a_markdown_table(label: str) -> None:
    table = display.markdown_table(["a", "b"], [[f"x{label}x", "y"]])
    assert _cell_text(table) == [f"x{label}x", "y"]


@pytest.mark.parametrize("label", HOSTILE)
def test_a_label_at_the_start_of_a_line_starts_no_block(label: str) -> None:
    text = display.escape_markdown(label, starts_line=True)
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    assert [t.type for t in tokens] == ["paragraph_open", "inline", "paragraph_close"]


def test_control_characters_are_shown_on_a_terminal_not_obeyed() -> None:
    text = display.escape_terminal("a\x1b[2Jb\r\n\u202ec\x00\u2028")
    assert text == "a\\x1b[2Jb\\r\\n\\u202ec\\x00\\u2028"
    assert display.escape_terminal("Größe 日本 ✔") == "Größe 日本 ✔"


def test_html_is_shown_not_run() -> None:
    text = display.escape_html("<script>alert('x')</script>&\x00")
    assert "<" not in text
    assert "'" not in text
    assert html.unescape(text) == "<script>alert('x')</script>&\\x00"


def test_latex_specials_are_escaped_one_by_one() -> None:
    text = display.escape_latex(r"a_b & 10% {x} \y ~ ^ #1 $")
    assert text == (
        r"a\_b \& 10\% \{x\} \textbackslash{}y \textasciitilde{} "
        r"\textasciicircum{} \#1 \$"
    )


def test_a_spreadsheet_runs_no_label_as_a_formula() -> None:
    for label in ("=1+1", "+1", "-1", "@x", "\tx"):
        assert display.escape_csv(label) == "'" + label
    assert display.escape_csv("a=1") == "a=1"
    assert display.escape_csv("") == ""


# ---------------------------------------------------------------- tables


def test_labels_that_look_like_numbers_are_never_reformatted() -> None:
    table = display.text_table(["label"], [[label] for label in NUMBER_LIKE])
    assert [line.strip() for line in table.splitlines()[2:]] == NUMBER_LIKE


def test_a_text_table_is_aligned_by_what_a_terminal_shows() -> None:
    table = display.text_table(["label", "n"], [["日本", "1"], ["abcd", "22"]], "lr")
    head, rule, *rows = table.splitlines()
    assert rows == ["日本    1", "abcd   22"]
    assert head == "label   n"
    assert set(rule) == {"─"}


def test_a_text_table_keeps_one_line_a_row() -> None:
    table = display.text_table(["a"], [["x\ny"], ["\x1b[31m"]])
    assert table.splitlines()[2:] == ["x\\ny", "\\x1b[31m"]


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Rows(display.TableMixin):
    rows: tuple[dict[str, Any], ...]

    def to_dicts(self) -> list[dict[str, Any]]:
        return list(self.rows)


ROWS = Rows(
    (
        {
            "metric": "1e5",
            "n": 12000,
            "mean": 0.5,
            "delta": 0.05778,
            "pvalue": 1e-9,
        },
        {"metric": "a|b", "n": 7, "delta": None, "pvalue": None},
        {"metric": "ms", "n": 7, "delta": -33.4, "pvalue": 0.084},
    )
)


def test_a_result_prints_as_its_table() -> None:
    lines = repr(ROWS).splitlines()
    assert lines[0].split() == ["metric", "n", "mean", "delta", "pvalue"]
    assert lines[2].split() == ["1e5", "12,000", "0.500", "+0.058", "<", "0.0001"]
    assert lines[3].split() == ["a|b", "7", "–", "–", "–"]
    assert lines[4].split() == ["ms", "7", "–", "−33.4", "0.0840"]
    assert repr(Rows(())) == "(no rows)"


def test_a_result_as_markdown_html_and_frame_holds_the_same_rows() -> None:
    cells = _cell_text(ROWS.to_markdown())
    assert cells[:5] == ["1e5", "12,000", "0.500", "+0.058", "< 0.0001"]
    assert "<td>a|b</td>" in ROWS._repr_html_()
    frame = ROWS.to_frame()
    assert frame["delta"].tolist()[0] == 0.05778
    assert list(frame.columns) == ["metric", "n", "mean", "delta", "pvalue"]


TINY = 2.8128249949384634e-15
GIANT = 3.0759e20


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (TINY, None, "2.81e-15"),
        (-6.1e-16, 17, "−6.1e-16"),
        (4e-18, 17, "0"),
        (GIANT, None, "3.08e20"),
        (-9.2e18, -18, "−9e18"),
        (4.9e17, -18, "0"),
        (5e11, -18, "0"),
        (1.5e9, None, "1.50e9"),
        (999_999_999.0, 0, "999,999,999"),
        (1e-6, None, "0.00000100"),
        (9.99e-7, None, "9.99e-7"),
        (0.0, 17, "0"),
        (0.0, 3, "0.000"),
        (1e300, 3, "1.000000e300"),
    ],
)
def test_sizes_far_from_one_are_written_with_a_power_of_ten(
    value: float, decimals: int | None, text: str
) -> None:
    assert display.format_number(value, decimals) == text


def test_chosen_numbers_are_never_rounded_to_zero() -> None:
    assert display.format_exact(1e-15) == "1e-15"
    assert display.format_exact(-2.5e20) == "−2.5e20"
    assert display.format_exact(1e-5) == "0.00001"


@pytest.mark.parametrize("scale", [1e-15, 1e-9, 1e12, 1e20])
def test_figures_of_tiny_and_giant_metrics_can_be_told_apart(scale: float) -> None:
    row = SimpleNamespace(
        metric="m",
        direction="higher",
        baseline=2.81 * scale,
        variant=2.21 * scale,
        delta=-0.6 * scale,
        slice=None,
        interval=Interval(-0.9 * scale, -0.3 * scale, 0.95, "t"),
        variant_interval=None,
    )
    decimals = display.metric_decimals([row])["m"]
    figures = [row.baseline, row.variant, row.delta, row.interval.low]
    texts = [display.format_number(figure, decimals) for figure in figures]
    assert len(set(texts)) == 4
    assert all(len(text) <= 9 for text in texts)
    for figure, text in zip(figures, texts, strict=True):
        read = float(text.replace("−", "-"))
        assert read == pytest.approx(figure, abs=0.006 * scale)
