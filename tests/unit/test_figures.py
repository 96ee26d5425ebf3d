"""One figure, one value: every number in every format is the same number, rounded."""

from __future__ import annotations

import json
import math
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest

import onechange as oc
from onechange.display import format_number, format_percent, format_pvalue
from onechange.report import render
from onechange.report.context import make_context
from onechange.report.terminal import render_text

FORMATS = ["text", "markdown", "html", "latex"]
NUMBER = re.compile(r"(?<![\w.])[+−]?\d[\d,]*\.\d+(?![\w.])")
LATEX = {"$-$": "−", r"\ldots{}": "…", r"\%": "%", r"$\leq$": "≤", r"$\geq$": "≥"}
LATEX |= {r"\textless{}": "<", r"\textgreater{}": ">", r"\_": "_", r"$\uparrow$": "↑"}
LATEX |= {r"$\downarrow$": "↓", r"\textasciicircum{}": "^", "--": "–"}

VARIANCES = {"components", "runs"}  # printed as standard deviations


@pytest.fixture(scope="module")
def decision() -> oc.Decision:
    """Scores, a 0/1 metric, a large scale, trials, failures, slices, a percentage."""
    rng = np.random.default_rng(11)
    n = 36
    trials = []
    for trial in (1, 2):
        trials.append(
            pd.DataFrame(
                {
                    "question_id": [f"q{i:02d}" for i in range(n)],
                    "trial": trial,
                    "status": ["failed" if i == 4 else "answered" for i in range(n)],
                    "kind": ["long" if i % 3 else "short" for i in range(n)],
                    "correct": rng.integers(0, 2, n),
                    "faithfulness": np.round(rng.uniform(0.3, 0.9, n), 2),
                    "latency_ms": np.round(rng.lognormal(6.5, 0.4, n), -1),
                }
            )
        )
    base = pd.concat(trials, ignore_index=True)
    other = base.assign(
        status="answered",
        correct=np.maximum(base["correct"], rng.integers(0, 2, 2 * n)),
        faithfulness=np.round(base["faithfulness"] + rng.normal(0, 0.05, 2 * n), 2),
        latency_ms=base["latency_ms"] + 10 * rng.integers(-3, 8, 2 * n),
    )
    plan = oc.Plan(
        "correct",
        [
            oc.Guardrail("faithfulness", margin=0.03),
            oc.Guardrail("latency_ms", margin="15%"),
            oc.Guardrail("failed", limit=0.1, rule="estimate"),
        ],
        ["kind"],
        metrics=[oc.Metric("correct", range=(0, 1))],
    )
    return oc.decide(oc.compare(base, other, plan), plan, stability=False)


class _Visible(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._hidden = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style")
        if tag in ("td", "th", "p", "li", "small", "figcaption"):
            self.texts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.texts.append(data)


def _plain(result: oc.Decision, format_name: str) -> str:
    """The text that a reader of a format sees."""
    if format_name == "text":
        return render_text(result) + render_text(result.comparison)
    text = render(result, format_name)
    if format_name == "html":
        return "".join(_Visible(text).texts)
    if format_name == "latex":
        text = text[text.index(r"\section*") :]
        for written, read in LATEX.items():
            text = text.replace(written, read)
        return re.sub(r"\\rlap\{(\**)\}", "", text)
    return re.sub(r"\\(.)", r"\1", text).replace("&lt;", "<").replace("&gt;", ">")


def _rounded(plain: Any) -> set[str]:
    """Every number of the JSON output in every way that a table may round it."""
    found: set[str] = set()
    stack = [(plain, False)]  # with whether it is a variance, printed as its root
    while stack:
        node, squared = stack.pop()
        if isinstance(node, dict):
            stack += [(v, squared or k in VARIANCES) for k, v in node.items()]
        elif isinstance(node, list):
            stack += [(value, squared) for value in node]
        elif isinstance(node, str):
            found |= set(NUMBER.findall(node))
        elif isinstance(node, float | int) and not isinstance(node, bool):
            roots = [math.sqrt(node)] if squared and node >= 0 else []
            for value in (float(node), 100.0 * node, -float(node), *roots):
                for decimals in range(7):
                    for signed in (False, True):
                        found.add(format_number(value, decimals, signed=signed))
            if 0 <= node <= 1:
                found.add(format_pvalue(node))
                found |= {format_percent(node, d).rstrip(" %") for d in range(4)}
    return found


def _chosen(decision: oc.Decision) -> set[str]:
    """Numbers of the plan, of the level, and of the scale of the drawings."""
    level = decision.plan.analysis.confidence_level
    found = {"0.03", "0.1", "+0.03", "−0.03", "2.5", "0.05", "0.01", "0.001"}
    found |= {"0.0001", str(level), __import__("onechange").__version__}
    return found


@pytest.mark.parametrize("format_name", FORMATS)
def test_every_printed_number_is_one_of_the_json_output(
    decision: oc.Decision, format_name: str
) -> None:
    known = _rounded(json.loads(render(decision, "json"))) | _chosen(decision)
    text = _plain(decision, format_name)
    if format_name in ("text", "markdown"):  # the scales of the drawings
        text = re.sub(r"^(better →|← better).*$", "", text, flags=re.M)
        text = re.sub(r"```text\n.*?```", "", text, flags=re.S)
    printed = set(NUMBER.findall(text))
    assert len(printed) > 40
    scale = {f"{sign}{end}" for sign in "+−" for end in ("0.4", "0.5", "0.3", "0.6")}
    questions = {
        format_number(v, d, signed=s)
        for values in decision.comparison.values.values()
        for pair in (values.baseline, values.variant, values.variant - values.baseline)
        for v in pair[np.isfinite(pair)]
        for d in range(5)
        for s in (False, True)
    }
    assert printed - known - scale - questions == set()


@pytest.mark.parametrize("format_name", FORMATS)
def test_the_row_of_a_metric_reads_the_same_in_every_format(
    decision: oc.Decision, format_name: str
) -> None:
    plain = json.loads(render(decision, "json"))
    context = make_context(decision)
    text = " ".join(_plain(decision, format_name).split())
    deltas = [d for d in plain["deltas"] if d["slice"] is None and d["n_pairs"]]
    assert len(deltas) >= 5
    for row in deltas:
        digits = context.decimals[row["metric"]]
        ends = [row["interval"]["low"], row["interval"]["high"]]
        cells = [
            format_number(row["baseline"], digits),
            format_number(row["variant"], digits),
            format_number(row["delta"], digits, signed=True),
            " … ".join(format_number(end, digits, signed=True) for end in ends),
            format_pvalue(row["test"]["pvalue"]),
        ]
        between = r"[\s|&*]+"
        pattern = between.join(re.escape(cell) for cell in cells)
        assert re.search(pattern, text), (row["metric"], cells)


@pytest.mark.parametrize("format_name", FORMATS)
def test_the_rows_of_the_rules_read_the_same_in_every_format(
    decision: oc.Decision, format_name: str
) -> None:
    text = " ".join(_plain(decision, format_name).split())
    for status in decision.statuses:
        assert status.reason.rstrip(".") in text
    for status in decision.statuses:
        name = f"{status.metric} {'↑' if status.delta.direction == 'higher' else '↓'}"
        assert name in text


def test_the_page_gives_questions_the_decimals_of_their_metric(
    decision: oc.Decision,
) -> None:
    html = render(decision, "html")
    data = json.loads(re.search(r'id="question-data">(.*?)</script>', html)[1])
    context = make_context(decision)
    rows = data["variants"][0]["questions"]
    ids = list(decision.comparison.pairs[0].question_id)
    for at, metric in enumerate(data["metrics"]):
        values = decision.comparison.values["variant", metric["name"]]
        digits = context.decimals[metric["name"]]
        for row in rows:
            value = values.baseline[ids.index(row[0])]
            shown = None if np.isnan(value) else format_number(float(value), digits)
            assert row[5][4 * at] == shown
