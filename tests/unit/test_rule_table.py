"""One table of promises: every form of a decision shows the same rows."""

from __future__ import annotations

import re

import pandas as pd
import pytest

import builders
import onechange as oc
from onechange.decide.rule_table import OWN_INTERVAL
from onechange.report import render
from onechange.report.context import make_context
from onechange.report.rules import rules_table


@pytest.fixture(scope="module")
def decision() -> oc.Decision:
    """A decision with a margin, a relative margin, and a limit by point value."""
    ids = [f"q{i:02d}" for i in range(60)]
    frames = []
    for arm in (0, 1):
        frames.append(
            pd.DataFrame(
                {
                    "question_id": ids,
                    "status": ["failed" if i < arm else "answered" for i in range(60)],
                    "correct": [
                        float(i % 3 == 0 or (arm and i % 2)) for i in range(60)
                    ],
                    "latency_ms": [800.0 + (i * 37 % 90) + 20 * arm for i in range(60)],
                }
            )
        )
    plan = oc.Plan(
        primary="correct",
        guardrails=[
            oc.Guardrail("latency_ms", margin="10%"),
            oc.Guardrail("failed", limit=0.05, rule="estimate"),
        ],
    )
    return oc.decide(oc.compare(*frames, plan), plan, stability=False)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("| ").split(" | ")]


def test_print_notebook_and_markdown_show_the_rows_of_the_report(
    decision: oc.Decision,
) -> None:
    table = rules_table(make_context(decision))
    expected = [[re.sub(r" [¹²³⁴⁵⁶⁷⁸⁹⁰,]+$", "", c) for c in r] for r in table.rows]
    lines = decision.to_markdown().splitlines()
    shown = [_cells(line.replace("&gt;", ">").replace("&lt;", "<")) for line in lines]
    assert shown[0] == [column.title for column in table.columns]
    assert shown[2:5] == expected
    printed = repr(decision)
    page = re.sub("<[^>]+>", "|", decision._repr_html_())
    for row in expected:
        for cell in row:
            assert cell in printed
            assert cell.replace(">", "&gt;").replace("<", "&lt;") in page


def test_an_interval_of_the_variant_itself_is_marked_and_explained_in_every_format(
    decision: oc.Decision,
) -> None:
    own = decision.statuses[2].delta
    assert own is not None
    assert own.variant_interval is not None
    shown = f"{own.variant_interval.low:.3f} … {own.variant_interval.high:.3f} "
    for kind in ("text", "markdown", "html", "latex"):
        text = render(decision, kind)
        if kind == "latex":
            text = text.replace(r"\ldots{}", "…").replace(r"\textdagger{}", "†")
        assert shown + OWN_INTERVAL in text, kind
        assert f"{OWN_INTERVAL} of the variant" in " ".join(text.split()), kind
    for text in (repr(decision), decision.to_markdown(), decision._repr_html_()):
        assert shown + OWN_INTERVAL in text
        assert f"{OWN_INTERVAL} of the variant" in text


def test_a_table_without_such_an_interval_has_no_footnote() -> None:
    result = builders.decision(statuses=(builders.rule(),))
    assert OWN_INTERVAL not in repr(result)
    assert OWN_INTERVAL not in result._repr_html_()


def test_the_frame_holds_the_interval_that_each_rule_is_judged_by(
    decision: oc.Decision,
) -> None:
    frame = decision.to_frame()
    assert list(frame["interval_of"]) == ["delta", "relative delta", "variant"]
    assert list(frame["allowed"]) == ["> 0", "≤ +10%", "variant ≤ 0.05"]
    assert list(frame["direction"]) == ["higher", "lower", "lower"]
    assert set(frame["confidence_level"]) == {0.95}
    deltas = [status.delta for status in decision.statuses]
    assert deltas[0].interval.low == frame["low"][0]  # type: ignore[union-attr]
    relative = deltas[1].relative  # type: ignore[union-attr]
    assert relative.interval.high == frame["high"][1]  # type: ignore[union-attr]
    assert relative.delta == frame["relative_delta"][1]  # type: ignore[union-attr]
    own = deltas[2].variant_interval  # type: ignore[union-attr]
    assert (own.low, own.high) == (frame["low"][2], frame["high"][2])  # type: ignore[union-attr]
