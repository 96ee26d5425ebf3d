"""The commands: read the arms, call the library, write the outputs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onechange.cli import options as o
from onechange.cli import score_options, scoring
from onechange.cli.output import (
    check_apart,
    input_files,
    outputs,
    print_out,
    terminal_columns,
)
from onechange.cli.step_summary import append_step_summary
from onechange.errors import OnechangeError

if TYPE_CHECKING:
    from onechange.plan import Plan

__all__ = ["COMMANDS"]

FILE_OUTPUTS = ("markdown", "html", "latex", "json", "csv", "junit")


@o.with_options(
    o.BASELINE,
    o.VARIANT,
    o.COLUMNS,
    o.ARMS,
    o.FILES,
    score_options.QUESTION_SET,
    o.PLAN,
    o.STDOUT,
)
def audit(words: dict[str, Any]) -> None:
    """Show what can be paired, what differs, what was left out, what a file holds."""
    from onechange.align import align
    from onechange.cli.inputs import read_arms, read_plan
    from onechange.report.audit import render_audit

    alone = words["variant"] is None and words["variant_name"] is None
    if alone and scoring.audit_traces(words):
        return
    for name in ("other", "options"):
        if words[name] is not None:
            raise OnechangeError(
                f"--{name} goes with one file of traces; leave the other results out."
            )
    plan = read_plan(words)
    if alone:
        _audit_file(words, plan)
        return
    baseline, variants = read_arms(words, _variants(words), plan)
    _, ledger = align(baseline, variants[0], columns=plan.columns)
    if not words["quiet"]:
        print_out(
            render_audit(ledger, format=words["format"], width=terminal_columns())
        )
    if not any(metric.pairs for metric in ledger.metrics.values()):
        raise typer.Exit(2)


@o.with_options(
    o.BASELINE,
    o.VARIANTS,
    o.COLUMNS,
    o.ARMS,
    o.ORACLE,
    o.FILES,
    o.PLAN,
    o.ANALYSIS,
    o.OUTPUT,
)
def compare(words: dict[str, Any]) -> None:
    """Show deltas with intervals, slices and trials."""
    from onechange.cli.inputs import read_arms, read_plan

    with _outputs(words) as out:
        plan = read_plan(words)
        baseline, variants = read_arms(words, words["variants"] or (), plan)
        from onechange.compare import compare as compare_arms

        out.write(compare_arms(baseline, variants, plan))


@o.with_options(
    o.BASELINE,
    o.VARIANTS,
    o.COLUMNS,
    o.ARMS,
    o.ORACLE,
    o.FILES,
    o.PLAN,
    o.DECISION,
    o.ANALYSIS,
    o.OUTPUT,
    o.JUNIT,
)
def decide(words: dict[str, Any]) -> None:
    """Decide by the plan whether the change may ship, as text and exit code."""
    from onechange.cli.inputs import read_arms, read_plan

    with _outputs(words) as out:
        plan = read_plan(words, decide=True)
        baseline, variants = read_arms(words, words["variants"] or (), plan)
        from onechange.compare import compare as compare_arms
        from onechange.decide import decide_each

        decisions = decide_each(compare_arms(baseline, variants, plan), plan)
        decided = decisions if len(decisions) > 1 else decisions[0]
        out.write(decided)
    append_step_summary(decided)
    raise typer.Exit(decisions.exit_code)


@o.with_options(
    o.RESULTS,
    o.VARIANT,
    o.COLUMNS,
    o.ARMS,
    o.FILES,
    o.PLAN,
    o.TRIALS,
    o.ANALYSIS,
    o.PAGE,
    o.STDOUT,
)
def trials(words: dict[str, Any]) -> None:
    """Show how much repeated runs vary, and what more of them would buy."""
    from onechange.cli.inputs import read_alone, read_arms, read_plan
    from onechange.report.trials_page import Target, render_trials
    from onechange.trials import analyse_trials

    targets = {name: words[name] for name in ("markdown", "json")}
    with outputs(
        targets,
        stdout=words["format"],
        quiet=words["quiet"],
        inputs=input_files(words),
    ) as out:
        plan = read_plan(words)
        result: Any
        if words["variant"] is None and words["variant_name"] is None:
            result = analyse_trials(read_alone(words, plan), plan)
        else:
            baseline, variants = read_arms(words, _variants(words), plan)
            from onechange.compare import compare as compare_arms

            result = compare_arms(baseline, variants, plan)
        target: Target | None = None
        if words["half_width"] is not None:
            target = (words["half_width"], words["question_cost"], words["answer_cost"])
        width = terminal_columns()
        out.write_pages(
            lambda name: render_trials(result, format=name, width=width, target=target)
        )


@o.with_options(o.FILE, o.COLUMNS, o.FILES, o.CONVERT)
def convert(words: dict[str, Any]) -> None:
    """Write any readable file in our own row format, and its settings beside it."""
    from onechange.cli.inputs import read_plan, read_system
    from onechange.formats import convert as write_rows

    check_apart({"out": words["out"]}, input_files(words))
    results = read_system(words, read_plan(words))
    for path in write_rows(results, words["out"]):
        typer.echo(f"Written: {path} ({results.n_rows} rows)", err=True)


def demo(
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the outputs.", metavar="DIR")
    ] = Path("demo-output"),
) -> None:
    """Run the whole job on bundled data."""
    from onechange.cli.demo import run_demo

    run_demo(out)


def _audit_file(words: dict[str, Any], plan: Plan) -> None:
    from onechange.formats import describe, list_contents, sniff
    from onechange.read import read
    from onechange.report.contents import render_contents

    path = Path(words["baseline"])
    if words["input_format"] is None and sniff(path) is None:
        results = read(path, columns=plan.columns, name=path.stem)
        contents = describe({results.name: results})
    else:
        contents = list_contents(
            path,
            name=words["input_format"],
            columns=plan.columns,
            gold=words["gold"],
        )
    if not words["quiet"]:
        width = terminal_columns()
        print_out(
            render_contents(path.name, contents, format=words["format"], width=width)
        )


def _variants(words: dict[str, Any]) -> list[str]:
    return [] if words["variant"] is None else [words["variant"]]


def _outputs(words: dict[str, Any]) -> Any:
    targets = {name: words[name] for name in FILE_OUTPUTS if name in words}
    return outputs(
        targets,
        stdout=words["format"],
        quiet=words["quiet"],
        pictures=words.get("pictures"),
        inputs=input_files(words),
    )


COMMANDS: dict[str, Callable[..., None]] = {
    "audit": audit,
    "compare": compare,
    "decide": decide,
    "trials": trials,
    "score": scoring.score,
    "judge-audit": scoring.judge_audit,
    "convert": convert,
    "demo": demo,
}
