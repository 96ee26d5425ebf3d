from __future__ import annotations

import math

import pytest

import builders
from onechange.delta import RelativeDelta
from onechange.display.forest import ForestRow
from onechange.report.strips import forest_strips, rule_strip, trial_strips


def test_an_interval_inside_what_is_allowed_is_drawn_inside() -> None:
    rule = builders.guardrail(margin=80.0)
    strip = rule_strip(rule, "lower")
    assert strip is not None
    assert strip.allowed is not None
    assert None not in (strip.low, strip.high, strip.point)
    assert strip.allowed[0] == 0.0
    assert strip.edges == (strip.allowed[1],)
    assert 0 < strip.low < strip.point < strip.high < strip.allowed[1] < 100


def test_positions_are_linear_in_the_values() -> None:
    strip = rule_strip(builders.guardrail(margin=80.0), "lower")
    assert strip is not None
    delta = builders.latency()
    share = (delta.delta - delta.interval.low) / (80.0 - delta.interval.low)
    drawn = (strip.point - strip.low) / (strip.edges[0] - strip.low)
    assert drawn == pytest.approx(share, abs=1e-3)


def test_a_primary_is_allowed_above_the_least_improvement() -> None:
    strip = rule_strip(builders.rule(min_improvement=0.02), "higher")
    assert strip is not None
    assert strip.allowed == (strip.edges[0], 100.0)
    assert strip.zero is not None
    assert strip.zero < strip.edges[0]
    assert strip.low < strip.edges[0] < strip.high


def test_equivalence_is_allowed_between_two_edges() -> None:
    strip = rule_strip(builders.guardrail(role="equivalence", margin=80.0), "lower")
    assert strip is not None
    assert len(strip.edges) == 2


def test_a_limit_shows_the_variant_itself() -> None:
    rule = builders.guardrail(
        metric="failed", margin=None, limit=0.05, delta=builders.binary()
    )
    strip = rule_strip(rule, "lower")
    assert strip is not None
    assert strip.zero is None
    assert strip.low < strip.point < strip.high < strip.edges[0]


def test_an_estimate_has_no_interval() -> None:
    strip = rule_strip(builders.guardrail(rule="estimate"), "lower")
    assert strip is not None
    assert strip.low is None
    assert strip.point is not None


def test_a_margin_in_percent_is_drawn_on_the_relative_scale() -> None:
    relative = RelativeDelta(0.04, builders.interval(-0.01, 0.09))
    rule = builders.guardrail(margin="10%", delta=builders.latency(relative=relative))
    strip = rule_strip(rule, "lower")
    assert strip is not None
    assert strip.low < strip.zero < strip.point < strip.high < strip.edges[0]


def test_what_is_not_measured_is_not_drawn() -> None:
    assert rule_strip(builders.rule(delta=None), "higher") is None
    assert rule_strip(builders.rule(delta=builders.empty()), "higher") is None


def test_an_unbounded_end_reaches_the_edge_and_is_open() -> None:
    delta = builders.delta(interval=builders.interval(-math.inf, 0.1))
    strip = rule_strip(builders.rule(delta=delta), "higher")
    assert strip is not None
    assert strip.low == 0.0
    assert strip.open_low
    assert not strip.open_high


def test_the_rows_of_a_forest_share_one_symmetric_scale() -> None:
    rows = [
        ForestRow("a", 10, -0.2, -0.4, 0.0, ""),
        ForestRow("b", 10, 0.2, 0.0, 0.4, ""),
        ForestRow("c", 0, None, None, None, ""),
    ]
    ticks, strips = forest_strips(rows)
    assert [text for _, text in ticks] == ["−0.4", "0", "+0.4"]
    a, b, c = strips
    assert a.zero == b.zero == c.zero == 50.0
    assert a.point + b.point == pytest.approx(100.0)
    assert a.high == b.low == 50.0
    assert c.point is None


def test_trial_means_share_a_line_and_missing_ones_are_left_out() -> None:
    first, second = trial_strips([[0.5, None, 0.6], [0.7, 0.7]])
    assert len(first.points) == 2
    assert second.points[0] == second.points[1]
    assert first.points[0] < first.point < first.points[1] < second.point
    (alone,) = trial_strips([[0.5]])
    assert alone.points == (50.0,)
