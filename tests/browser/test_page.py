"""The HTML report as a reader meets it, in a real browser."""

from __future__ import annotations

import re
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import onechange as oc

HOSTILE = "<script>document.title='owned'</script> a|b `c` \u202eright\u200f <b>x</b>"
COLORS = "return getComputedStyle(document.body).backgroundColor"
ROWS = "#questions-table > tbody > tr"


def _arms(n: int, seed: int = 4) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    questions = [f"What is the figure number {i}?" for i in range(n)]
    questions[0] = HOSTILE
    base = pd.DataFrame(
        {
            "question_id": [f"q{i:05d}" for i in range(n)],
            "kind": np.array(["lookup", "compare", "multi|hop"])[np.arange(n) % 3],
            "status": ["answered"] * n,
            "question": questions,
            "answer": [f"The baseline says {i}." for i in range(n)],
            "failure_category": np.where(np.arange(n) % 5 == 0, "MISS", "SUCCESS"),
            "correct": rng.integers(0, 2, n),
            "score": np.round(rng.uniform(0, 1, n), 2),
            "latency_ms": np.round(rng.lognormal(6, 0.5, n), -1),
        }
    )
    other = base.assign(
        answer=[f"The variant says {i}." for i in range(n)],
        correct=np.maximum(base["correct"], rng.integers(0, 2, n)),
        score=np.round(np.clip(base["score"] + rng.normal(0, 0.1, n), 0, 1), 2),
        latency_ms=np.round(base["latency_ms"] * rng.uniform(0.9, 1.3, n), -1),
    )
    other.loc[1, "status"] = "failed"
    other.loc[[10, 20, 30], "failure_category"] = "SUCCESS"
    return base, other


def _decided(n: int) -> oc.Decision:
    plan = oc.Plan(
        "correct",
        [oc.Guardrail("score", margin=0.1), oc.Guardrail("latency_ms", margin="40%")],
        ["kind"],
        analysis=oc.Analysis(n_resamples=199),
    )
    return oc.decide(oc.compare(*_arms(n), plan), plan, stability=False)


class Reader:
    """A reader of one page: looks, types, clicks."""

    def __init__(self, driver: Any, path: Path) -> None:
        self.driver = driver
        self.path = path

    def open(self, fragment: str = "") -> None:
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get(self.path.as_uri() + fragment)

    def all(self, css: str) -> list[Any]:
        return list(self.driver.find_elements("css selector", css))

    def one(self, css: str) -> Any:
        return self.driver.find_element("css selector", css)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def choose(self, css: str, text: str) -> None:
        for option in self.all(f"{css} option"):
            if option.text == text:
                option.click()
                return
        raise AssertionError(f"{css} has no option {text}")

    def column(self, place: int) -> list[str]:
        return [cell.text for cell in self.all(f"{ROWS} > td:nth-child({place})")]

    def found(self) -> str:
        return str(self.one("#found").text)

    def errors(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="module")
def decision() -> oc.Decision:
    return _decided(150)


@pytest.fixture
def page(
    browser: Any, decision: oc.Decision, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reader]:
    path = tmp_path_factory.mktemp("page") / "report.html"
    oc.write_report(decision, path)
    reader = Reader(browser, path)
    reader.open()
    yield reader
    assert reader.errors() == []


def _wait(until: Callable[[], bool], seconds: float = 3.0) -> None:
    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end, "the page did not answer in time"
        time.sleep(0.02)


def test_the_decision_is_read_first(page: Reader, decision: oc.Decision) -> None:
    head = page.one("h1")
    words = {"ship": "Ship", "do not ship": "Do not ship"}
    assert words.get(decision.decision, "Inconclusive") in head.text
    assert head.location["y"] < 300
    assert page.one(".lead").text.startswith(decision.reason[:30])


def test_the_table_starts_with_the_largest_losses(page: Reader) -> None:
    deltas = [float(t.replace("−", "-")) for t in page.column(6) if t != "–"]
    assert deltas == sorted(deltas)
    assert deltas[0] < 0 or min(deltas) == deltas[0]


def test_a_click_on_a_head_sorts_and_a_second_one_turns_round(page: Reader) -> None:
    heads = {button.text: button for button in page.all("#questions-table .sort")}
    heads["id"].click()
    ids = page.column(1)
    assert ids == sorted(ids)
    assert page.one("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    page.all("#questions-table .sort")[0].click()
    assert page.column(1)[0] == "q00149"
    assert page.one("th[aria-sort]").get_attribute("aria-sort") == "descending"


def test_filters_narrow_the_table_and_clear_widens_it(
    page: Reader, decision: oc.Decision
) -> None:
    delta = decision.comparison.deltas[0]
    page.choose("#f-change", "better")
    _wait(lambda: page.found().startswith(f"{delta.wins} of 150 questions"))
    page.choose("#f-change", "all")
    page.one("#f-search").send_keys("variant says 77.")
    _wait(lambda: page.found().startswith("1 of 150"))
    assert page.column(1) == ["q00077"]
    page.one("#f-clear").click()
    _wait(lambda: page.found() == "150 questions")


def test_another_metric_shows_its_own_scores(
    page: Reader, decision: oc.Decision
) -> None:
    latency = next(d for d in decision.comparison.deltas if d.metric == "latency_ms")
    page.choose("#f-metric", "latency_ms ↓")
    page.choose("#f-change", "worse")
    _wait(lambda: page.found().startswith(f"{latency.losses} of 150"))


def test_a_slice_leads_to_its_questions(page: Reader, decision: oc.Decision) -> None:
    link = next(a for a in page.all("table.forest a") if a.text == "multi|hop")
    page.run("arguments[0].click()", link)
    _wait(lambda: page.found().startswith("50 of 150"))
    assert set(page.column(2)) == {"multi|hop"}
    place = "return document.getElementById('questions').getBoundingClientRect().top"
    _wait(lambda: 0 <= page.run(place) < 100)


def test_the_number_of_a_slice_is_the_number_of_questions_behind_it(
    page: Reader, decision: oc.Decision
) -> None:
    for row in page.all("table.forest tbody tr"):
        link = row.find_element("css selector", "a")
        n = row.find_element("css selector", "td.n").text
        page.run("arguments[0].click()", link)
        _wait(lambda n=n: page.found().startswith((f"{n} of", f"{n} questions")))


def test_the_way_back_from_a_slice_restores_the_table(page: Reader) -> None:
    link = next(a for a in page.all("table.forest a") if a.text == "lookup")
    page.run("arguments[0].focus()", link)
    link.send_keys("\ue007")  # Enter
    _wait(lambda: page.found().startswith("50 of 150"))
    assert page.run("return document.activeElement.id") == "found"
    page.driver.back()
    _wait(lambda: page.found() == "150 questions")
    assert page.one("[data-breakdown=kind]").get_attribute("value") == ""
    assert page.one("#f-change").get_attribute("value") == ""


def test_a_filter_set_by_hand_outlives_the_way_back(page: Reader) -> None:
    page.open("#slices")
    link = next(a for a in page.all("table.forest a") if a.text == "lookup")
    page.run("arguments[0].click()", link)
    _wait(lambda: page.found().startswith("50 of 150"))
    page.choose("#f-change", "worse")
    page.driver.back()
    _wait(lambda: page.run("return location.hash") == "#slices")
    assert page.one("#f-change").get_attribute("value") == "worse"


def test_a_transition_leads_to_its_questions(page: Reader) -> None:
    links = [
        a for a in page.all("#questions td a") if "failed" in a.get_attribute("href")
    ]
    changed = next(a for a in links if a.text == "1")
    page.run("arguments[0].click()", changed)
    _wait(lambda: page.found().startswith("1 of 150"))
    assert page.column(1) == ["q00001"]


def test_a_change_of_failure_category_leads_to_its_questions(page: Reader) -> None:
    links = page.all("#diagnosis td a")
    moved = next(
        a for a in links if "MISS+%E2%86%92+SUCCESS" in a.get_attribute("href")
    )
    count = moved.get_attribute("textContent")
    page.run("arguments[0].click()", moved)
    _wait(lambda: page.found().startswith(f"{count} of 150"))
    assert set(page.column(1)) == {"q00010", "q00020", "q00030"}
    page.one("#chips button").click()
    _wait(lambda: page.found() == "150 questions")


def test_the_bar_of_changes_leads_to_its_questions(
    page: Reader, decision: oc.Decision
) -> None:
    page.run("arguments[0].click()", page.one(".bar .better"))
    wins = decision.comparison.deltas[0].wins
    _wait(lambda: page.found().startswith(f"{wins} of 150"))


def test_a_link_can_be_shared(page: Reader) -> None:
    page.open("#questions?kind=lookup&:metric=score&:change=worse")
    assert page.one("#f-change").get_attribute("value") == "worse"
    assert set(page.column(2)) == {"lookup"}


def test_a_question_opens_to_both_answers_and_every_score(page: Reader) -> None:
    page.one("#f-search").send_keys("q00007")
    _wait(lambda: page.found().startswith("1 of"))
    button = page.one(f"{ROWS} .open")
    button.click()
    assert button.get_attribute("aria-expanded") == "true"
    text = page.one("tr.panel").text
    for words in (
        "The baseline says 7.",
        "The variant says 7.",
        "What is the figure number 7?",
        "latency_ms ↓",
    ):
        assert words in text
    button.click()
    assert page.all("tr.panel") == []


def test_hostile_texts_are_shown_and_do_nothing(page: Reader) -> None:
    page.one("#f-search").send_keys("q00000")
    _wait(lambda: page.found().startswith("1 of"))
    page.one(f"{ROWS} .open").click()
    shown = " ".join(node.text for node in page.all("tr.panel dd"))
    assert "<script>document.title='owned'</script> a|b `c`" in shown
    assert "\\u202eright\\u200f <b>x</b>" in shown
    assert "owned" not in page.driver.title
    assert page.all("tr.panel b") == []


def test_the_keyboard_reaches_and_opens_everything(page: Reader) -> None:
    button = page.one(f"{ROWS} .open")
    page.run("arguments[0].focus()", button)
    button.send_keys(" ")
    assert len(page.all("tr.panel")) == 1
    head = page.one(".rules .explain")
    page.run("arguments[0].focus()", head)
    _wait(lambda: page.one("#tip").is_displayed())
    assert head.get_attribute("aria-describedby") == "tip"
    head.send_keys("\ue00c")  # Escape
    _wait(lambda: not page.one("#tip").is_displayed())


def test_a_tap_on_a_figure_explains_it(page: Reader) -> None:
    cell = page.one(".rules tbody td:nth-child(5)")
    page.run("arguments[0].scrollIntoView({block: 'center'})", cell)
    cell.click()
    _wait(lambda: page.one("#tip").is_displayed())
    assert "95 % interval" in page.one("#tip").text
    assert "Where the true delta lies" in page.one("#tip").text


def test_a_raised_number_shows_its_note(page: Reader) -> None:
    mark = page.all("a.mark")[0]
    page.run("arguments[0].focus()", mark)
    _wait(lambda: page.one("#tip").is_displayed())
    note = page.one(mark.get_attribute("hash"))
    shown = " ".join(page.one("#tip").text.split())
    assert shown == " ".join(note.get_attribute("textContent").split())


def test_notes_open_where_the_marks_point_to(page: Reader) -> None:
    marks = page.all("a.mark")
    assert marks
    page.run("arguments[0].click()", marks[0])
    target = marks[0].get_attribute("href").split("#")[1]
    _wait(lambda: page.one(f"#{target}").is_displayed())


def test_dark_and_light_follow_the_reader(page: Reader) -> None:
    backgrounds = {}
    for scheme in ("light", "dark"):
        page.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
        )
        numbers = page.run(COLORS).strip("rgb()").split(",")
        backgrounds[scheme] = sum(map(int, numbers))
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert backgrounds["dark"] < 150 < 600 < backgrounds["light"]


CONTRAST = """
const light = (c) => {
  const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map((v) => {
    v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const ground = (n) => {
  for (; n; n = n.parentElement) {
    const c = getComputedStyle(n).backgroundColor;
    if (!/, 0\\)$|transparent/.test(c)) return c; }
  return 'rgb(255, 255, 255)'; };
const poor = [];
const all = 'h1,h2,p,td,th,a,li,label,summary,small,button';
for (const n of document.querySelectorAll(all)) {
  if (!n.innerText || !n.offsetParent) continue;
  if (n.disabled || n.classList.contains('skip')) continue;
  const a = light(getComputedStyle(n).color), b = light(ground(n));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) poor.push(n.tagName + ' ' + n.className + ' ' + ratio.toFixed(2));
}
return [...new Set(poor)];
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(page: Reader, scheme: str) -> None:
    page.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    poor = page.run(CONTRAST)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert poor == []


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_no_width_scrolls_the_page_sideways(page: Reader, width: int) -> None:
    size = {
        "width": width,
        "height": 800,
        "deviceScaleFactor": 1,
        "mobile": width < 500,
    }
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wide = page.run("return document.documentElement.scrollWidth")
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide <= width


BESIDE = """
const poor = [];
for (const node of document.querySelectorAll(arguments[0])) {
  const box = node.getBoundingClientRect();
  if (box.width && box.right > arguments[1] + 1) poor.push(node.textContent);
}
return poor;
"""


def test_a_phone_shows_every_figure_without_scrolling_sideways(page: Reader) -> None:
    size = {"width": 375, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    cells = "table.forest tbody *, #questions-table td, .stacked td, .stacked caption"
    beside = page.run(BESIDE, cells, 375)
    shown = [cell.is_displayed() for cell in page.all("table.forest .interval")]
    named = page.one(f"{ROWS} td:nth-child(6)").get_attribute("data-label")
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert beside == []
    assert all(shown)
    assert named == "delta"


def test_a_phone_shows_delta_and_interval_of_every_metric(
    browser: Any, tmp_path: Path
) -> None:
    path = tmp_path / "compared.html"
    base, other = _arms(60)
    oc.write_report(oc.compare(base, other, oc.Plan("correct")), path)
    reader = Reader(browser, path)
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    reader.open()
    rows = reader.all("#metrics > .scroll tbody tr")
    beside = reader.run(BESIDE, "#metrics > .scroll td", 390)
    found = [
        [
            cell.is_displayed()
            for cell in row.find_elements("css selector", "td")
            if cell.get_attribute("data-label") in ("delta", "95 % interval")
        ]
        for row in rows
    ]
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert found == [[True, True]] * len(rows) != []
    assert beside == []


def test_answers_fill_the_width_of_a_phone(page: Reader) -> None:
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.one(f"{ROWS} .open").click()
    widths = page.run(
        "return ['.panel', '.trial'].map(css =>"
        " document.querySelector(css).getBoundingClientRect().width)"
    )
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    panel, card = widths
    assert card > 0.9 * panel


def test_a_label_written_from_the_right_leaves_its_sentence_in_order(
    browser: Any, tmp_path: Path
) -> None:
    label = "\u05e2\u05d1\u05e8\u05d9\u05ea"
    base, other = _arms(60)
    kinds = np.where(np.arange(60) < 4, label, "other")
    path = tmp_path / "right.html"
    plan = oc.Plan("correct", slices=["kind"])
    result = oc.compare(base.assign(kind=kinds), other.assign(kind=kinds), plan)
    oc.write_report(result, path)
    reader = Reader(browser, path)
    reader.open()
    # Where the count behind the label stands: to the right of it, not to the left.
    places = reader.run(
        """
        const found = [];
        for (const node of document.querySelectorAll("#slices p bdi")) {
          const count = document.createRange();
          count.setStart(node.nextSibling, 0);
          count.setEnd(node.nextSibling, 4);
          found.push([node.getBoundingClientRect().right,
                      count.getBoundingClientRect().left]);
        }
        return found;
        """
    )
    assert places
    assert all(left >= right - 1 for right, left in places)


def test_a_long_label_leaves_the_figures_in_sight(browser: Any, tmp_path: Path) -> None:
    base, other = _arms(60)
    base["kind"] = other["kind"] = base["kind"] + "x" * 180
    path = tmp_path / "long.html"
    oc.write_report(oc.compare(base, other, oc.Plan(slices=["kind"])), path)
    reader = Reader(browser, path)
    reader.open()
    assert reader.run(BESIDE, "table.forest *, #questions-table td", 1280) == []
    label = reader.one("table.forest tbody a span")
    assert len(label.text) <= 60
    assert label.get_attribute("title").endswith("x" * 180)


def test_paper_clips_nothing(page: Reader) -> None:
    paper = 1047  # pixels between the margins of A4, landscape
    size = {"width": paper, "height": 700, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {
            "media": "print",
            "features": [{"name": "prefers-color-scheme", "value": "dark"}],
        },
    )
    page.run("dispatchEvent(new Event('beforeprint'))")
    beside = page.run(BESIDE, "main *", paper)
    shown = [cell.is_displayed() for cell in page.all("table.forest .interval")]
    heads = [head.is_displayed() for head in page.all("table.rules thead th")]
    page.run("dispatchEvent(new Event('afterprint'))")
    page.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"media": "", "features": []}
    )
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert beside == []
    assert all(shown)
    assert all(heads)


def test_paper_is_landscape(page: Reader) -> None:
    printed = page.driver.execute_cdp_cmd("Page.printToPDF", {})["data"]
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", b64decode(printed))
    assert boxes
    assert all(float(width) > float(height) for width, height in boxes)


def test_paper_shows_what_is_folded_and_hides_the_controls(page: Reader) -> None:
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert not page.one("#explorer").is_displayed()
    assert all(d.get_attribute("open") for d in page.all("details"))
    page.run("dispatchEvent(new Event('afterprint'))")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert not any(d.get_attribute("open") for d in page.all("details"))


def test_ten_thousand_questions_answer_within_two_seconds(
    browser: Any, tmp_path: Path
) -> None:
    path = tmp_path / "large.html"
    oc.write_report(_decided(10_000), path)
    reader = Reader(browser, path)
    start = time.monotonic()
    reader.open()
    _wait(lambda: reader.found() == "10000 questions", 10)
    assert time.monotonic() - start < 2.0
    # The work of the page alone, without the driver's round trips.
    actions = {
        "sort": "document.querySelectorAll('#questions-table .sort')[0].click()",
        "search": (
            "const f = document.getElementById('f-search'); f.value = 'says 9';"
            "f.dispatchEvent(new Event('input'))"
        ),
        "filter": (
            "const f = document.getElementById('f-change'); f.value = 'worse';"
            "f.dispatchEvent(new Event('change'))"
        ),
    }
    for name, script in actions.items():
        took = reader.run(
            f"const t = performance.now(); {script}; document.body.offsetHeight;"
            "return performance.now() - t"
        )
        assert took < 2000, name
    assert "of 10000 questions" in reader.found()
    assert reader.errors() == []
