from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

import builders
import casefiles
import onechange as oc
from onechange.report.markdown import render_markdown
from onechange.stats.estimate import Note

ORDER = [
    "What was compared",
    "Primary and guardrails",
    "All metrics",
    "Slices",
    "Trials",
    "Questions",
    "Unscored and failed",
    "Method and references",
    "Notes",
]


def _tokens(markdown: str) -> list[Token]:
    return MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown)


def _text(token: Token) -> str:
    text = ""
    for child in token.children or []:
        assert child.type in {"text", "text_special", "html_inline"}, child
        text += "\n" if child.type == "html_inline" else child.content
    return text


def _tables(markdown: str) -> list[list[list[str]]]:
    """Tables as rows of cells, the way a GitHub reader sees them."""
    tables: list[list[list[str]]] = []
    tokens = _tokens(markdown)
    for before, token in pairwise(tokens):
        if before.type == "table_open":
            tables.append([])
        elif before.type == "tr_open":
            tables[-1].append([])
        if before.type in {"td_open", "th_open"}:
            tables[-1][-1].append(_text(token))
    return tables


def _raw_rows(markdown: str) -> list[list[str]]:
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    return [re.split(r"(?<!\\)(?:\\\\)*\|", row)[1:-1] for row in rows]


def test_the_sections_stand_in_the_order_readers_need() -> None:
    text = render_markdown(builders.decision())
    assert text.startswith("## ◐ Inconclusive: top_k 3 to 8\n")
    heads = re.findall(r"(?:^### |<summary>)([^<\n]+)", text, flags=re.M)
    assert [h for h in heads if not h.endswith(": details")] == ORDER


def test_every_row_has_as_many_cells_as_its_header() -> None:
    labels = ("multi|hop", "`code|span`", "tail\\|", "a\nb", "<b>x</b>")
    result = builders.decision(
        comparison=builders.comparison(slices=(builders.breakdown(labels),))
    )
    text = render_markdown(result)
    tables = _tables(text)
    assert len(tables) >= 8
    for table in tables:
        assert {len(row) for row in table} == {len(table[0])}
    raw = iter(_raw_rows(text))
    for table in tables:
        for cells in [table[0], table[0], *table[1:]]:
            assert len(next(raw)) == len(cells)


@pytest.mark.parametrize("number", [32, 33])
def test_slice_labels_read_as_they_are(number: int) -> None:
    plan = oc.Plan(slices=["question_type"])
    result = casefiles.compared(number, plan)
    text = render_markdown(result)
    slices = next(t for t in _tables(text) if "question_type" in t[0])
    column = slices[0].index("question_type")
    right = casefiles.expected(number)
    wanted = right.get("slice_n", dict.fromkeys(right.get("slice_labels", ()), 2))
    found = {row[column]: int(row[slices[0].index("n")]) for row in slices[1:]}
    assert found == wanted


def test_no_number_is_minus_zero() -> None:
    for number in (32, 33, 34):
        text = render_markdown(casefiles.compared(number))
        assert not re.search(r"[-−]0(\.0+)?(?![\d.])", text)


def test_details_blocks_are_balanced_and_stand_alone() -> None:
    text = render_markdown(builders.decision())
    assert text.count("<details>") == text.count("</details>") > 3
    for line in text.splitlines():
        if "details>" in line:
            assert line.startswith(("<details><summary>", "</details>"))


def test_a_fence_is_longer_than_any_run_of_backticks_in_a_label() -> None:
    labels = ("````", "x")
    result = builders.comparison(slices=(builders.breakdown(labels),))
    fences = [t for t in _tokens(render_markdown(result)) if t.type == "fence"]
    [labelled] = [t for t in fences if "````" in t.content]
    assert labelled.info == "text"


def test_a_hostile_label_makes_no_link_image_or_html() -> None:
    label = "<script>x</script> ![i](http://e) [l](http://e) <!-- -->"
    result = builders.decision(
        reason=label,
        comparison=builders.comparison(slices=(builders.breakdown((label, "b")),)),
    )
    for token in _tokens(render_markdown(result)):
        if token.type == "html_block":
            assert re.fullmatch(
                r"(<details><summary>[^<]*</summary>|</details>)\s*", token.content
            )
        for child in token.children or []:
            assert child.type not in {"link_open", "image"}


def test_notes_are_numbered_and_referred_to() -> None:
    text = render_markdown(builders.decision())
    numbers = re.findall(r"^(\d+)\. ([a-z-]+):", text, flags=re.M)
    code = {name: number for number, name in numbers}
    assert code["skewed"] == "1"
    assert "latency_ms ↓ ¹" in text


def test_notes_of_single_slices_are_details_with_numbers_that_go_on() -> None:
    note = Note("small-slice", "4 pairs, below the minimum slice size 10.")
    broken = builders.breakdown()
    broken = replace(broken, deltas=(replace(broken.deltas[0], notes=(note,)),))
    text = render_markdown(
        builders.decision(comparison=builders.comparison(slices=(broken,)))
    )
    main, rest = text.split("<summary>Notes: details</summary>")
    last = re.findall(r"^(\d+)\. ", main, flags=re.M)[-1]
    number = re.search(r"^(\d+)\. small-slice: ", rest, flags=re.M)
    assert number is not None
    assert int(number[1]) == int(last) + 1
    starts = [
        t.attrGet("start") or 1 for t in _tokens(text) if t.type == "ordered_list_open"
    ]
    assert starts == [1, int(number[1])]


def test_what_is_not_measured_says_so() -> None:
    tables = _tables(render_markdown(builders.comparison()))
    row = next(r for t in tables for r in t if r[0].startswith("context_recall"))
    assert "not measured" in row
    assert not any(re.fullmatch(r"0(\.0+)?", cell) for cell in row[2:])


def test_the_signature_is_one_code_span() -> None:
    text = render_markdown(builders.decision())
    assert text.rstrip().endswith("`unit:question|n:150|onechange:0.1.0`")
