from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest

import builders
import casefiles
import onechange as oc
from onechange.report import render
from onechange.report.content import build_document
from onechange.report.context import make_context
from onechange.report.document import Column, Table
from onechange.report.glossary import explained
from onechange.report.html import render_html
from onechange.report.question_table import question_table

HOSTILE = "</script><script>alert(1)</script> | `code` <b>x</b> &amp; \u202eevil\u200f"
VOID = {"meta", "link", "rect", "line", "circle", "input", "br", "wbr"}


class Page(HTMLParser):
    """What a browser would find: elements, ids, links and texts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.data = ""
        self._in_data = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in values:
            self.ids.append(str(values["id"]))
        if tag == "a":
            self.links.append(str(values["href"]))
        for name in ("src", "srcset", "action", "data"):
            if name in values:
                self.loads.append(str(values[name]))
        if tag == "link":
            self.loads.append(str(values["href"]))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        self._in_data = values.get("id") == "question-data"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()
        self._in_data = False

    def handle_data(self, data: str) -> None:
        if self._in_data:
            self.data += data
        elif self.open and self.open[-1] not in ("script", "style"):
            self.texts.append(data)
            if {"td", "th"} & set(self.open) and self.rows and self.rows[-1]:
                self.rows[-1][-1] += data


def _arms(n: int = 30, **columns: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(5)
    base = pd.DataFrame(
        {
            "question_id": [f"q{i:03d}" for i in range(n)],
            "kind": ["long" if i % 3 else "short" for i in range(n)],
            "correct": rng.integers(0, 2, n),
            "faithfulness": np.round(rng.uniform(0.2, 0.9, n), 3),
            **columns,
        }
    )
    other = base.assign(
        correct=np.maximum(base["correct"], rng.integers(0, 2, n)),
        faithfulness=np.round(base["faithfulness"] + rng.normal(0, 0.05, n), 3),
    )
    return base, other


@pytest.fixture(scope="module")
def decision() -> oc.Decision:
    plan = oc.Plan("correct", [oc.Guardrail("faithfulness", margin=0.03)], ["kind"])
    return oc.decide(oc.compare(*_arms(), plan), plan, stability=False)


def test_the_page_is_whole_and_loads_nothing(decision: oc.Decision) -> None:
    text = render_html(decision)
    assert text.startswith("<!DOCTYPE html>")
    page = Page(text)
    assert page.open == []
    assert page.loads == ["data:,"]
    assert page.tags.count("script") == 2
    assert not re.search(r"url\(|@import|https?://", text)
    assert "default-src 'none'" in text


def test_ids_are_unique_and_links_lead_somewhere(decision: oc.Decision) -> None:
    noted = builders.decision()
    for result in (decision, noted):
        page = Page(render_html(result))
        assert len(set(page.ids)) == len(page.ids)
        for link in page.links:
            assert link.startswith("#")
            assert link[1:].split("?")[0] in page.ids


def test_the_decision_comes_before_any_table(decision: oc.Decision) -> None:
    text = render_html(decision)
    assert text.index("<h1>") < text.index(decision.reason[:20]) < text.index("<table")
    titles = re.findall(r'<h2 id="h-(\w+)"', text)
    assert titles[:3] == ["compared", "rules", "metrics"]


def test_every_table_row_has_as_many_cells_as_its_head(decision: oc.Decision) -> None:
    text = render_html(builders.decision())
    for table in re.findall(r"<table class=\"data.*?</table>", text, flags=re.S):
        if "questions-table" not in table:
            rows = Page(table).rows
            assert {len(row) for row in rows} == {len(rows[0])}


def test_every_figure_has_an_explanation(decision: oc.Decision) -> None:
    for result in (decision, builders.decision(), builders.comparison()):
        for section in build_document(result).sections:
            if section.key == "questions":
                continue  # explained by the table of all questions
            for block in (*section.blocks, *section.details):
                if isinstance(block, Table):
                    for column in block.columns:
                        said = explained(column)
                        assert said or column.align == "l", (section.key, column.title)


def test_own_words_of_a_column_come_after_the_general_ones() -> None:
    words = explained(Column("p", "r", "of this slice alone"))
    assert words.startswith("How often")
    assert words.endswith("Here: of this slice alone.")
    assert explained(Column("x", "r", "Whole sentence.")) == "Whole sentence."
    assert explained(Column("x")) == ""


def test_hostile_texts_stay_texts() -> None:
    base, other = _arms(question=[HOSTILE] * 30, kind=[HOSTILE, "b"] * 15)
    plan = oc.Plan("correct", slices=["kind"], name=HOSTILE)
    result = oc.decide(oc.compare(base, other, plan), plan, stability=False)
    text = render_html(result)
    page = Page(text)
    assert page.tags.count("script") == 2
    assert "b" not in page.tags[page.tags.index("h2") :] or "<b>x</b>" not in text
    assert "\u202e" not in text
    assert "\u200f" not in text
    data = json.loads(page.data)
    shown = HOSTILE.replace("\u202e", "\\u202e").replace("\u200f", "\\u200f")
    assert data["breakdowns"][0]["labels"][0] == shown
    question = data["texts"].index("question")
    assert data["variants"][0]["questions"][0][6][str(question)] == shown


@pytest.mark.parametrize("number", [32, 33, 34])
def test_slice_labels_that_broke_others_are_shown_as_they_are(number: int) -> None:
    result = casefiles.compared(number, oc.Plan(slices=["question_type"]))
    page = Page(render_html(result))
    for label in [d.slice[0][1] for d in result.slices[0].deltas if d.slice]:
        shown = " ".join(label.encode("unicode_escape").decode().split())
        found = {" ".join(text.split()) for row in page.rows for text in row}
        assert {" ".join(label.split()), shown} & found, label


def test_the_question_table_counts_what_the_report_counts(
    decision: oc.Decision,
) -> None:
    table = question_table(make_context(decision))
    rows = table["variants"][0]["questions"]
    for at, metric in enumerate(table["metrics"]):
        delta = next(
            d for d in decision.comparison.deltas if d.metric == metric["name"]
        )
        changes = [row[5][4 * at + 3] for row in rows]
        assert changes.count(1) == delta.wins
        assert changes.count(0) == delta.ties
        assert changes.count(-1) == delta.losses


def test_the_question_table_labels_as_the_slices_do(decision: oc.Decision) -> None:
    table = question_table(make_context(decision))
    [breakdown] = table["breakdowns"]
    rows = table["variants"][0]["questions"]
    for delta in decision.comparison.slices[0].deltas:
        if delta.metric == "correct" and delta.slice:
            code = breakdown["labels"].index(delta.slice[0][1])
            assert sum(row[2] == [code] for row in rows) == delta.n_pairs


def test_lower_is_better_turns_the_direction_round() -> None:
    base, other = _arms(latency_ms=[100.0] * 30)
    other["latency_ms"] = [90.0] * 10 + [100.0] * 15 + [120.0] * 5
    table = question_table(make_context(oc.compare(base, other)))
    at = [m["name"] for m in table["metrics"]].index("latency_ms")
    assert table["metrics"][at]["better"] == -1
    changes = [r[5][4 * at + 3] for r in table["variants"][0]["questions"]]
    assert (changes.count(1), changes.count(0), changes.count(-1)) == (10, 15, 5)


def test_questions_of_one_arm_and_failed_rows_are_in_the_table() -> None:
    base, other = _arms(status=["answered"] * 30, answer=["one"] * 30)
    other["answer"] = "two"
    other.loc[3, "status"] = "failed"
    other = other.drop(index=5)
    table = question_table(make_context(oc.compare(base, other)))
    rows = {row[0]: row for row in table["variants"][0]["questions"]}
    assert rows["q005"][1] == 1
    assert rows["q005"][8] == []
    assert rows["q003"][3:5] == [0, 2]
    assert rows["q003"][5][3] is None
    answer = table["texts"].index("answer")
    assert rows["q000"][7][0][3] == {answer: "one"}
    assert rows["q000"][8][0][3] == {answer: "two"}


def _text_table(budget: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr("onechange.report.question_texts.TEXT_BUDGET", budget)
    base, other = _arms(answer=["word " * 300] * 30)
    other["answer"] = "more " * 300
    return question_table(make_context(oc.compare(base, other)))


def _sizes(table: dict[str, Any], *, changed: bool) -> list[int]:
    found = []
    for question in table["variants"][0]["questions"]:
        if (question[5][3] != 0) == changed:
            rows = (*question[7], *question[8])
            found += [len(text) for row in rows for text in row[3].values()]
    return found


def test_long_texts_are_cut_and_the_cut_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = _text_table(20_000, monkeypatch)
    changed, same = table["cut"]
    assert changed > same == 200
    answer = table["texts"].index("answer")
    text = next(
        q[7][0][3][answer] for q in table["variants"][0]["questions"] if q[5][3] == 0
    )
    assert text.endswith("… (1300 more characters)")


@pytest.mark.parametrize("budget", [20_000, 40_000, 60_000, 89_000])
def test_texts_fill_their_budget_and_changed_questions_keep_most(
    budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = _text_table(budget, monkeypatch)
    changed, same = (_sizes(table, changed=is_) for is_ in (True, False))
    assert 0.93 * budget < sum(changed) + sum(same) <= budget
    assert min(changed) >= max(same)


def test_texts_that_fit_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    table = _text_table(100_000, monkeypatch)
    assert table["cut"] is None
    assert max(_sizes(table, changed=True)) == 1500


def test_a_small_change_is_not_shown_as_zero() -> None:
    base, other = _arms()
    base["latency_ms"] = [600.0 + 3 * i for i in range(30)]
    other["latency_ms"] = [
        value + (-0.4 if i < 3 else 40.0) for i, value in enumerate(base["latency_ms"])
    ]
    table = question_table(make_context(oc.compare(base, other)))
    at = [metric["name"] for metric in table["metrics"]].index("latency_ms")
    for question in table["variants"][0]["questions"]:
        delta, change = question[5][4 * at + 2 : 4 * at + 4]
        assert (float(delta.replace("−", "-")) != 0) == (change != 0)


def test_each_variant_has_its_questions() -> None:
    base, other = _arms()
    result = oc.compare(base, {"first": other, "second": base.assign(correct=0)})
    table = question_table(make_context(result))
    assert [v["name"] for v in table["variants"]] == ["first", "second"]
    assert all(len(v["questions"]) == 30 for v in table["variants"])
    assert Page(render_html(result)).open == []


def test_notes_are_anchors_that_the_marks_point_to() -> None:
    page = Page(render_html(builders.decision()))
    marks = {link for link in page.links if link.startswith("#note-")}
    assert marks
    assert {mark[1:] for mark in marks} <= set(page.ids)


def test_a_result_without_trials_slices_or_rules_has_a_page() -> None:
    base = builders.comparison(slices=(), trials=(), values={}, notes=())
    page = Page(render_html(base))
    assert page.open == []
    assert json.loads(page.data)["metrics"] == []


def test_the_page_has_the_figures_of_the_markdown(decision: oc.Decision) -> None:
    page = Page(render_html(decision))
    cells = {" ".join(text.split()) for row in page.rows for text in row}
    document = build_document(decision)
    for key in ("rules", "metrics", "slices"):
        section = document.section(key)
        assert section is not None
        for block in (*section.blocks, *section.details):
            if isinstance(block, Table):
                for row in block.rows:
                    for cell in row[1:]:
                        plain = re.sub(r" [⁰¹²³⁴⁵⁶⁷⁸⁹,]+$", "", cell)
                        assert plain in cells or not plain


def test_the_same_result_gives_the_same_page(decision: oc.Decision) -> None:
    assert render(decision, "html") == render(decision, "html")


def test_a_status_is_said_in_words_not_by_colour_alone() -> None:
    rules = (
        builders.rule(),
        builders.guardrail(status="fail"),
        builders.guardrail(status="pass"),
    )
    page = Page(render_html(builders.decision(statuses=rules)))
    texts = " ".join(text for row in page.rows for text in row)
    for word in ("◐ inconclusive", "✘ fail", "✔ pass"):
        assert word in texts
    assert replace(rules[0], status="pass").status == "pass"


def _many_slices(n_slices: int) -> oc.Comparison:
    base, other = _arms(2 * n_slices)
    base["kind"] = other["kind"] = [f"slice number {i // 2}" for i in range(len(base))]
    return oc.compare(base, other, oc.Plan(slices=["kind"]))


def test_the_page_grows_in_step_with_its_slices() -> None:
    # Every note names its slices: written beside each row it would grow squared.
    few, many = (len(render_html(_many_slices(n))) for n in (60, 180))
    assert many - 40_000 < 3 * few


def test_a_note_stands_on_the_page_once() -> None:
    text = render_html(_many_slices(60))
    assert text.count("below the minimum slice size") == 1
    assert "… and 112 more" in text


def test_very_many_slices_are_folded_not_left_out() -> None:
    text = render_html(_many_slices(60))
    rest = re.search(r'<tbody class="rest">.*?</tbody>', text, flags=re.S)
    assert rest is not None
    assert rest.group().count("<tr>") == 30


def test_the_trials_are_drawn_once() -> None:
    text = render_html(builders.decision())
    section = re.search(r'<section id="trials".*?</section>', text, flags=re.S)
    assert section is not None
    assert section.group().count("mean of each trial") == 1


def test_the_line_under_a_link_lies_below_its_underscores() -> None:
    fonts = pytest.importorskip("matplotlib.ft2font")
    from matplotlib import get_data_path

    font = fonts.FT2Font(f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf")
    glyph = font.load_char(ord("_"), flags=fonts.LoadFlags.NO_SCALE)
    depth = -glyph.bbox[1] / font.units_per_EM
    page = render_html(builders.decision())
    offsets = re.findall(r"text-underline-offset: ([.\d]+)em", page)
    assert len(offsets) >= 2
    assert all(float(offset) > depth for offset in offsets)


@pytest.mark.parametrize(
    ("label", "isolated"),
    [
        ("\u05e2\u05d1\u05e8\u05d9\u05ea", "<bdi>\u05e2\u05d1\u05e8\u05d9\u05ea</bdi>"),
        ("a \u0628\u062a-\u062b 7", "a <bdi>\u0628\u062a-\u062b</bdi> 7"),
        ("\u0628<b> \u062b", "<bdi>\u0628</bdi>&lt;b&gt; <bdi>\u062b</bdi>"),
    ],
)
def test_words_written_from_the_right_are_isolated(label: str, isolated: str) -> None:
    rule = builders.rule(reason=f"In {label} (3) it passes.")
    page = render_html(builders.decision(statuses=(rule,), reason=f"See {label}: 4."))
    assert f"<li>In {isolated} (3) it passes.</li>" in page
    assert f'<p class="lead">See {isolated}: 4.</p>' in page
