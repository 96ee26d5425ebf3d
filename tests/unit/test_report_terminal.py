from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import builders
from casefiles import run
from onechange.display import text_width
from onechange.report.terminal import render_text
from onechange.stats.estimate import Note

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def _screen(text: str, width: int = 100) -> int:
    return sum(max(-(-text_width(line) // width), 1) for line in text.splitlines())


def _crowded(n_slices: int, n_notes: int, n_guardrails: int = 4):
    labels = tuple(f"slice number {i}" for i in range(n_slices))
    words = "Some words that say it. " * 5
    notes = tuple(Note(f"code-{i}", words) for i in range(n_notes))
    base = builders.comparison(slices=(builders.breakdown(labels),), notes=notes)
    rules = (builders.rule(), *(builders.guardrail() for _ in range(n_guardrails)))
    return builders.decision(comparison=base, statuses=rules)


@pytest.mark.parametrize(("n_slices", "n_notes"), [(2, 0), (12, 3), (60, 40)])
def test_a_decision_fits_one_screen(n_slices: int, n_notes: int) -> None:
    text = render_text(_crowded(n_slices, n_notes))
    assert _screen(text) <= 40


def test_what_does_not_fit_is_counted() -> None:
    text = render_text(_crowded(30, 20))
    assert re.search(r"… and \d+ more slices; --csv/--html has all", text)
    assert re.search(r"· \d+ more in the report", text)


def test_the_serious_notes_come_before_those_about_the_reading() -> None:
    notes = (
        Note("role-inferred", "Roles."),
        Note("skewed", "Skewed."),
        Note("identical-arms", "The same file twice."),
    )
    text = render_text(builders.decision(comparison=builders.comparison(notes=notes)))
    places = [text.index(code) for code in ("identical-arms", "skewed", "role-infer")]
    assert places == sorted(places)


def test_the_decision_and_its_reason_come_first() -> None:
    lines = render_text(builders.decision()).splitlines()
    assert lines[0] == "◐ Inconclusive: top_k 3 to 8"
    assert lines[1].startswith("correct: inconclusive: the improvement lies between")


@pytest.mark.parametrize(
    ("decision", "head"),
    [("ship", "✔ Ship"), ("do not ship", "✘ Do not ship")],
)
def test_each_decision_has_its_words(decision: str, head: str) -> None:
    text = render_text(builders.decision(decision=decision))
    assert text.startswith(head)


def test_colour_only_adds_to_what_the_words_say() -> None:
    plain = render_text(builders.decision())
    painted = render_text(builders.decision(), color=True)
    assert "\x1b" not in plain
    assert "\x1b[33m◐ inconclusive" in painted
    assert "\x1b[32m✔ pass" in painted
    assert ANSI.sub("", painted) == plain


def test_roles_that_do_not_fit_are_said_in_the_head() -> None:
    name = "a_long_metric_name"
    wide = builders.guardrail(
        metric=name,
        rule="estimate",
        margin=None,
        limit=3000.0,
        delta=builders.delta(name),
    )
    text = render_text(builders.decision(statuses=(builders.rule(), wide)))
    head = text[text.index("primary") :].splitlines()[0]
    assert head.startswith("primary, guardrail ")
    assert max(text_width(line) for line in text.splitlines()) <= 100


def test_an_estimate_rule_says_so_and_a_limit_shows_the_variants_interval() -> None:
    rule = builders.guardrail(
        metric="failed",
        margin=None,
        limit=0.02,
        rule="estimate",
        delta=builders.binary(),
    )
    text = render_text(builders.decision(statuses=(rule,)))
    line = next(line for line in text.splitlines() if line.startswith("guardrail"))
    assert "✔ pass (estimate)" in line
    assert "variant ≤ 0.02" in line
    assert " 0.001 … 0.037 " in line


def test_an_unmeasured_rule_is_not_a_row_of_zeros() -> None:
    rule = builders.rule(delta=None, reason="correct: inconclusive: not measured.")
    text = render_text(builders.decision(statuses=(rule,)))
    line = next(line for line in text.splitlines() if line.startswith("primary"))
    assert "not measured" in line
    assert not re.search(r"\d\.\d", line)


def test_one_trial_is_not_zero_variation() -> None:
    trials = builders.trials()
    one = replace(trials.baseline, labels=("0",), means=(0.5,), between_trial_sd=None)
    result = builders.comparison(trials=(replace(trials, baseline=one, variant=one),))
    text = render_text(builders.decision(comparison=result))
    assert "run-to-run variation is not measured" in text


def test_control_characters_of_labels_do_not_reach_the_terminal() -> None:
    labels = ("\x1b[2J", "new\nline")
    base = builders.comparison(slices=(builders.breakdown(labels),))
    text = render_text(builders.decision(comparison=base, reason="\x1b]0;title\x07"))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "new\\nline" in text


def test_a_long_metric_name_is_cut_and_its_figures_are_not() -> None:
    name = "a_metric_with_a_name_that_never_ends_" * 3
    rule = builders.rule(metric=name, delta=builders.delta(name))
    base = builders.comparison(deltas=(builders.delta(name),), slices=(), trials=())
    text = render_text(builders.decision(statuses=(rule,), comparison=base))
    line = next(line for line in text.splitlines() if line.startswith("a_metric"))
    assert text_width(line) <= 100
    assert "…  " in line
    assert "−0.001 … +0.117" in line


def test_a_name_that_fits_a_line_stays_whole_above_its_figures() -> None:
    name = "retrieval.context_precision_at_10_over_all_pages"
    rule = builders.rule(metric=name, delta=builders.delta(name))
    short = builders.rule()
    text = render_text(builders.decision(statuses=(rule, short)))
    lines = text.splitlines()
    at = lines.index(f"{name} ↑")
    assert lines[at + 1].startswith("  ")
    assert "−0.001 … +0.117" in lines[at + 1]
    assert lines[at + 2].startswith("correct ↑")
    assert max(map(text_width, lines)) <= 100


def test_a_name_above_its_figures_leaves_the_colours_to_the_status() -> None:
    name = "retrieval.context_precision_at_10_over_all_pages"
    rule = builders.rule(metric=name, delta=builders.delta(name))
    result = builders.decision(statuses=(rule, builders.rule()))
    assert ANSI.sub("", render_text(result, color=True)) == render_text(result)


def test_a_comparison_shows_every_metric_without_a_decision() -> None:
    text = render_text(builders.comparison())
    assert text.startswith("baseline → variant\n")
    for name in ("correct ↑", "latency_ms ↓", "context_recall ↑", "failed ↓"):
        assert name in text
    assert "pass" not in text


@pytest.mark.parametrize("width", [60, 72, 80, 99])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    labels = ("a slice with a very long label indeed", "short", "日本語のラベル")
    base = builders.comparison(slices=(builders.breakdown(labels),))
    for result in (base, builders.decision(comparison=base)):
        *lines, signature = render_text(result, width=width).splitlines()
        assert signature.startswith("unit:")  # to be copied, never broken
        assert max(text_width(line) for line in lines) <= width


def test_a_narrow_terminal_loses_no_promise() -> None:
    text = render_text(builders.decision(), width=60)
    for status in builders.decision().statuses:
        assert status.metric in text
    assert "95 % interval −0.001 … +0.117" in text


def test_many_slices_are_counted_after_the_first_thirty() -> None:
    labels = tuple(f"slice number {i}" for i in range(200))
    base = builders.comparison(slices=(builders.breakdown(labels),))
    text = render_text(base)
    assert text.count("slice number") == 30
    assert "… and 170 more slices; --csv/--html has all" in text


def test_no_slice_is_hidden_while_the_screen_has_room_for_it(tmp_path: Path) -> None:
    text = run("demo", "--out", tmp_path / "demo").stdout.split("\nIn ")[0]
    shown = text.split("better →")[1].split("\n\n")[0]
    for label in ("table_cell", "lookup", "multi_page", "comparison", "unanswerable"):
        assert f"\n{label} " in shown
    assert "more slice" not in shown
