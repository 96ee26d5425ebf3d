"""The commands that come before the results: a draft plan, and the power."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from onechange.cli import options as o
from onechange.cli.output import outputs, print_out, terminal_columns
from onechange.errors import OnechangeError

__all__ = ["plan_init", "power"]

PATIENCE = 1.0  # seconds without a progress bar
PICTURES = ("svg", "png")


@o.with_options(o.BASELINE, o.VARIANT, o.COLUMNS, o.ARMS, o.FILES, o.DRAFT)
def plan_init(words: dict[str, Any]) -> None:
    """Write a commented draft plan from the results of both arms."""
    from onechange.cli.inputs import read_arms, read_plan
    from onechange.compare import compare
    from onechange.draft import draft_plan

    target = None if words["out"] in (None, "-") else Path(words["out"])
    if target is not None and target.exists():
        raise OnechangeError(
            f"--out {target}: exists; a plan is not overwritten, name another file."
        )
    plan = read_plan(words)
    variants = [] if words["variant"] is None else [words["variant"]]
    baseline, arms = read_arms(words, variants, plan)
    text = draft_plan(compare(baseline, arms[0], plan))
    if target is None:
        print_out(text)
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise OnechangeError(
            f"--out {target}: cannot be written ({error.strerror}); choose a file in "
            "a folder that you may write to."
        ) from error


@o.with_options(
    o.BASELINE,
    o.VARIANT,
    o.COLUMNS,
    o.ARMS,
    o.FILES,
    o.PLAN,
    o.POWER,
    o.LEVEL,
    o.PAGE,
    o.STDOUT,
)
def power(words: dict[str, Any]) -> None:
    """Find the questions and trials that a rule takes, from a pilot pair."""
    from onechange.cli.inputs import read_alone, read_arms, read_plan
    from onechange.power import power as find_power
    from onechange.report.power_page import render_power

    names = words.pop("metric") or []
    if len(names) != 1:
        raise OnechangeError("name the metric of the rule: --metric NAME, once.")
    picture = _picture_target(words["picture"])
    targets = {name: words[name] for name in ("markdown", "json")}
    with outputs(targets, stdout=words["format"], quiet=words["quiet"]) as out:
        plan = read_plan(words)
        variants = [] if words["variant"] is None else [words["variant"]]
        if variants or words["variant_name"] is not None:
            baseline, arms = read_arms(words, variants, plan)
        else:
            baseline, arms = read_alone(words, plan), []
        with _progress_bar() as progress:
            result = find_power(
                baseline,
                arms[0] if arms else None,
                metric=names[0],
                delta=words["delta"],
                plan=plan,
                min_improvement=words["min_improvement"],
                margin=words["margin"],
                target=words["target"],
                questions=words["questions"] or (),
                trials=words["trials"] or (),
                missing_rate=words["missing_rate"],
                comparisons=words["comparisons"],
                sd=words["sd"],
                discordance=words["discordance"],
                n_simulations=words["simulations"],
                seed=plan.analysis.seed,
                progress=progress,
            )
        if picture is not None:
            from onechange.plots import picture as drawn
            from onechange.report.power_page import power_figure

            content = drawn(power_figure(result), picture.suffix[1:].lower())
            _write(picture, content)
        width = terminal_columns()
        out.write_pages(lambda name: render_power(result, format=name, width=width))


def _picture_target(given: str | None) -> Path | None:
    if given is None:
        return None
    target = Path(given)
    if target.suffix[1:].lower() not in PICTURES:
        raise OnechangeError(
            f"--picture {given}: its ending names no picture format; use .svg or .png."
        )
    return target


def _write(target: Path, content: bytes) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    except OSError as error:
        raise OnechangeError(
            f"{target}: cannot be written ({error.strerror}); choose a file in a "
            "folder that you may write to."
        ) from error


@contextmanager
def _progress_bar() -> Iterator[Callable[[int, int], None] | None]:
    """Show a bar on stderr once the work has lasted a second, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task("Simulating", total=None)
    begun = time.monotonic()

    def advance(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)
        if not bar.live.is_started and time.monotonic() - begun > PATIENCE:
            bar.start()

    try:
        yield advance
    finally:
        bar.stop()
