from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import builders
import onechange as oc
from onechange.decide.rule_table import allowed_text
from onechange.delta import RelativeDelta
from onechange.display import format_number, format_pvalue
from onechange.report import render
from onechange.report.content import build_document
from onechange.report.context import make_context
from onechange.report.document import Table
from onechange.report.questions import changes
from onechange.report.rules import rules_table

NUMBER = re.compile(r"[+−]?\d[\d,]*\.\d+")


@pytest.fixture(scope="module")
def decided() -> oc.Decision:
    """A real decision over scores, a 0/1 metric, a large scale and slices."""
    rng = np.random.default_rng(3)
    n = 40
    base = pd.DataFrame(
        {
            "question_id": [f"q{i:02d}" for i in range(n)],
            "kind": np.where(np.arange(n) % 3 == 0, "long", "short"),
            "correct": rng.integers(0, 2, n),
            "faithfulness": np.round(rng.uniform(0.3, 0.9, n), 2),
            "latency_ms": np.round(rng.lognormal(6.5, 0.4, n), 1),
        }
    )
    other = base.assign(
        correct=np.maximum(base["correct"], rng.integers(0, 2, n)),
        faithfulness=np.round(base["faithfulness"] + rng.normal(0, 0.05, n), 3),
        latency_ms=base["latency_ms"] + np.round(rng.normal(20, 60, n), 1),
    )
    plan = oc.Plan(
        "correct",
        [oc.Guardrail("faithfulness", margin=0.03), oc.Guardrail("latency_ms", 80.0)],
        ["kind"],
    )
    return oc.decide(oc.compare(base, other, plan))


def _json_texts(plain: Any, decimals: int) -> set[str]:
    """Every number of the JSON output, rounded the way tables round."""
    found: set[str] = set()
    stack = [plain]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            stack += node.values()
            found |= _percent_texts(node.get("relative"))
        elif isinstance(node, list):
            stack += node
        elif isinstance(node, str):
            found |= set(NUMBER.findall(node)) if "skewness" in node else set()
        elif isinstance(node, float | int) and not isinstance(node, bool):
            for signed in (False, True):
                found.add(format_number(node, decimals, signed=signed))
            found.add(format_pvalue(node) if node >= 0 else "")
    return found


def _percent_texts(relative: Any) -> set[str]:
    interval = (relative or {}).get("interval") or {}
    ends = ((relative or {}).get("delta"), interval.get("low"), interval.get("high"))
    return {format_number(x * 100, 1, signed=True) for x in ends if x is not None}


@pytest.mark.parametrize("format_name", ["text", "markdown"])
def test_every_printed_figure_is_one_of_the_json_output(
    decided: oc.Decision, format_name: str
) -> None:
    plain = json.loads(render(decided, "json"))
    known: set[str] = set()
    for decimals in (1, 2, 3, 4):
        known |= _json_texts(plain, decimals)
    text = render(decided, format_name)
    body = re.sub(r"```.*?```", "", text, flags=re.S)  # the scale of the plot
    body = re.sub(r"^better →.*$", "", body, flags=re.M)
    body = re.sub(r"<summary>Questions.*?</details>", "", body, flags=re.S)
    body = re.sub(r"<summary>Method.*?</details>", "", body, flags=re.S)
    body = re.sub(r"`unit:.*`|^unit:.*$", "", body, flags=re.M)
    figures = set(NUMBER.findall(body))
    assert len(figures) > 15
    chosen = {"0.03", "−0.03", "2.5"}  # the margin, the error of a status
    assert {f for f in figures if f not in known | chosen} == set()


def test_terminal_and_markdown_print_the_same_rule_rows(decided: oc.Decision) -> None:
    text, markdown = render(decided, "text"), render(decided, "markdown")
    context = make_context(decided)
    for row in rules_table(context, compact=True).rows:
        for cell in row:
            assert cell in text
        for cell in row[2:]:
            assert cell.replace("<", "&lt;").replace(">", "&gt;") in markdown


def test_every_table_is_rectangular(decided: oc.Decision) -> None:
    for result in (decided, builders.decision(), builders.comparison()):
        for section in build_document(result).sections:
            for block in (*section.blocks, *section.details):
                if isinstance(block, Table):
                    assert {len(row) for row in block.rows} <= {len(block.columns)}


@pytest.mark.parametrize(
    ("direction", "changes", "wanted"),
    [
        ("higher", {"role": "primary", "min_improvement": 0.0}, "> 0"),
        ("higher", {"role": "primary", "min_improvement": 0.05}, "> +0.05"),
        ("lower", {"role": "primary", "min_improvement": 5.0}, "< −5"),
        ("higher", {"margin": 0.03}, "≥ −0.03"),
        ("lower", {"margin": 80.0}, "≤ +80"),
        ("lower", {"margin": "10%"}, "≤ +10%"),
        ("higher", {"margin": "10%"}, "≥ −10%"),
        ("lower", {"limit": 3000.0}, "variant ≤ 3000"),
        ("higher", {"limit": 0.9}, "variant ≥ 0.9"),
        ("lower", {"margin": 80.0, "limit": 3000.0}, "≤ +80, variant ≤ 3000"),
        ("higher", {"margin": 0.02, "role": "equivalence"}, "within ±0.02"),
        ("higher", {"margin": 0.0}, "≥ 0"),
    ],
)
def test_what_is_allowed_is_said_in_terms_of_the_delta(
    direction: str, changes: dict[str, Any], wanted: str
) -> None:
    rule = builders.guardrail(**({"margin": None} | changes))
    assert allowed_text(rule, direction) == wanted


def test_the_worst_slice_of_an_every_slice_guardrail_is_named() -> None:
    worst = builders.sliced("multi_hop", 40, -0.121)
    rule = builders.guardrail(
        metric="correct", margin=0.25, slice=worst.slice, delta=worst
    )
    base = builders.decision(statuses=(rule,))
    cells = rules_table(make_context(base), compact=True).rows[0]
    assert cells[1] == "correct ↑, every qtype"
    assert cells[4] == "−0.121 (multi_hop)"


def test_losses_and_gains_follow_the_direction_of_the_metric() -> None:
    base = builders.comparison()
    context = make_context(base)
    losses, gains = changes(context, base.deltas[0])
    assert [c.question_id for c in losses] == ["q1"]
    assert [c.question_id for c in gains] == ["q2"]
    lower = replace(base.deltas[0], direction="lower")
    losses, gains = changes(context, lower)
    assert [c.question_id for c in losses] == ["q2"]
    assert [c.question_id for c in gains] == ["q1"]


def test_a_degenerate_interval_is_marked() -> None:
    flat = replace(builders.interval(0.1, 0.1), degenerate=True)
    delta = builders.delta(bootstrap_interval=flat)
    text = render(builders.comparison(deltas=(delta,)), "markdown")
    assert "+0.100 … +0.100 (degenerate)" in text


def test_an_undeclared_difference_of_settings_is_named_as_such() -> None:
    plan = builders.plan(change=oc.plan.Change("retriever.kind", "bm25", "dense"))
    text = render(builders.decision(plan=plan), "text")
    assert "retriever.top_k from 3 to 8 (not declared)" in " ".join(text.split())


def test_unrecorded_settings_are_not_taken_for_equal_ones() -> None:
    audit = builders.audit(settings_recorded=(True, False), settings_changed=())
    text = render(builders.comparison(audits=(audit,)), "text")
    assert "no settings are recorded for variant" in text
    assert "no recorded setting differs" not in text


def test_several_variants_are_told_apart_in_every_table() -> None:
    base = builders.comparison()
    second = [replace(d, variant_name="second") for d in base.deltas]
    result = replace(
        base,
        variants=(*base.variants, replace(base.variants[0], name="second")),
        audits=(*base.audits, builders.audit(variant_name="second")),
        pairs=(*base.pairs, *base.pairs),
        deltas=(*base.deltas, *second),
        trials=(*base.trials, *base.trials),
    )
    text = render(result, "text")
    assert text.startswith("baseline → variant, second\n")
    tables = re.split(r"^(?=\S+ [↑↓] )", text, flags=re.M)[1:]
    assert [table.split()[0] for table in tables] == list(
        dict.fromkeys(d.metric for d in (*base.deltas, *base.rates))
    )
    lines = tables[0].splitlines()
    names = [line.split()[0] for line in lines[2:] if line]
    assert names[:2] == ["variant", "second"]


def test_a_decision_about_one_variant_shows_no_other() -> None:
    base = builders.comparison()
    other = [replace(d, variant_name="second", delta=0.999) for d in base.deltas]
    both = replace(
        base,
        variants=(*base.variants, replace(base.variants[0], name="second")),
        audits=(*base.audits, builders.audit(variant_name="second", paired=77)),
        pairs=(*base.pairs, *base.pairs),
        deltas=(*base.deltas, *other),
        trials=(*base.trials, *base.trials),
    )
    alone = builders.decision(comparison=base)
    for format_name in ("text", "markdown"):
        text = render(builders.decision(comparison=both), format_name)
        assert text == render(alone, format_name)


def test_an_unmeasured_rate_keeps_its_direction() -> None:
    rule = builders.guardrail(metric="failed", margin=0.01, delta=None)
    cells = rules_table(make_context(builders.decision(statuses=(rule,)))).rows[0]
    assert cells[1].startswith("failed ↓")
    assert "≤ +0.01" in cells


def test_a_margin_in_percent_shows_the_relative_delta_and_its_interval() -> None:
    relative = RelativeDelta(0.0418, builders.interval(-0.0051, 0.1004, "fieller"))
    rule = builders.guardrail(
        metric="latency_ms",
        margin="10%",
        delta=builders.latency(relative=relative),
        status="inconclusive",
    )
    cells = rules_table(
        make_context(builders.decision(statuses=(rule,))), compact=True
    ).rows[0]
    assert cells[4:7] == ("+4.2 %", "−0.5 % … +10.04 %", "≤ +10%")


def test_an_undefined_relative_delta_has_no_interval() -> None:
    relative = RelativeDelta(None, None, "the baseline mean is not above 0")
    rule = builders.guardrail(
        metric="latency_ms", margin="10%", delta=builders.latency(relative=relative)
    )
    cells = rules_table(
        make_context(builders.decision(statuses=(rule,))), compact=True
    ).rows[0]
    assert cells[4:6] == ("+33", "–")


@pytest.mark.parametrize("format_name", ["text", "markdown"])
def test_rates_that_are_0_by_definition_are_left_out(format_name: str) -> None:
    clean = tuple(
        builders.binary(name, baseline=level, variant=level, delta=0.0)
        for name, level in (("failed", 0.0), ("unscored", 0.0), ("answered", 1.0))
    )
    shown = render(builders.comparison(rates=clean), format_name)
    assert not re.search(r"^\W*(failed|unscored|answered) [↑↓]", shown, flags=re.M)
    moved = (replace(clean[0], variant=0.02), *clean[1:])
    shown = render(builders.comparison(rates=moved), format_name)
    for name in ("failed ↓", "unscored ↓", "answered ↓"):
        assert name in shown


def test_a_rate_that_a_rule_names_is_kept() -> None:
    clean = (builders.binary("failed", variant=0.0, delta=0.0),)
    plan = builders.plan(guardrails=[oc.Guardrail("failed", limit=0.02)])
    result = builders.comparison(rates=clean, plan=plan)
    assert "failed ↓" in render(result, "text")


def test_what_would_change_the_decision_stands_in_every_report() -> None:
    from onechange.report import render
    from onechange.sensitivity import Fragility, TippingPoint
    from onechange.status import Status

    tipping = TippingPoint(3, 5, 8, 12, "worst", Status.INCONCLUSIVE)
    fragile = Fragility(None, 40, "worst", None)
    status = builders.guardrail(tipping=tipping, fragility=fragile)
    told = "latency_ms: 3 of the 8 questions with missing scores would do."
    decision = builders.decision(statuses=(status,), tipping_points=(told,))
    for form in ("text", "markdown", "html", "latex"):
        text = " ".join(render(decision, form).split())
        assert "3 of the 8 questions" in text.replace("\\", ""), form
    table = render(decision, "markdown")
    assert "3 of 8 (5 of 12 rows) → inconclusive" in table
    assert "none of 40" in table


def test_the_ledger_says_in_words_why_rows_were_left_out() -> None:
    ids = [f"q{i}" for i in range(8)]
    base = pd.DataFrame({"question_id": ids, "question": ids, "score": [0.5] * 8})
    other = base.assign(question=["other", *ids[1:]], score=0.6)
    text = render(oc.compare(base, other.head(7)), "markdown")
    assert "left out: question not comparable" in text
    assert "left out: question only in this arm" in text
    assert "not_comparable" not in text
