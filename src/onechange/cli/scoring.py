"""The commands on traces and on human labels: score, judge-audit, question sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from onechange.cli import options as o
from onechange.cli import score_options
from onechange.cli.output import check_apart, input_files, print_out, terminal_columns
from onechange.display.counting import counted
from onechange.errors import OnechangeError

if TYPE_CHECKING:
    from onechange.pairs import Pairs

__all__ = ["audit_traces", "judge_audit", "score"]


@o.with_options(score_options.TRACES, score_options.SCORE, o.STDOUT)
def score(words: dict[str, Any]) -> None:
    """Compute per-question scores from recorded traces."""
    from onechange.report.scores import render_scores
    from onechange.score import options_from_flags, score_file

    check_format(words)
    named = {name: words[name] for name in ("out", "append") if words[name]}
    check_apart(named, [words["traces"], *input_files(words)])
    options = options_from_flags(
        words["options"],
        words["k"] or (),
        constants=words["constant"] or (),
        new_columns=words["new_columns"],
    )
    rows = score_file(
        words["traces"],
        words["out"],
        options=options,
        append_to=words["append"],
        force=words["force"],
    )
    for verb, path in (("Written", words["out"]), ("Appended to", words["append"])):
        if path is not None:
            n = counted(len(rows.rows), "row")
            typer.echo(f"{verb}: {path} ({n})", err=True)
    if not words["quiet"]:
        title = Path(words["traces"]).name
        print_out(
            render_scores(
                rows, title=title, format=words["format"], width=terminal_columns()
            )
        )


@o.with_options(
    o.BASELINE,
    o.VARIANT,
    score_options.JUDGE,
    o.COLUMNS,
    o.ARMS,
    o.FILES,
    o.PLAN,
    o.STDOUT,
)
def judge_audit(words: dict[str, Any]) -> None:
    """Check a judge against human labels, and correct its delta by them."""
    from onechange.align import align
    from onechange.cli.inputs import read_arms, read_plan
    from onechange.evidence import audit_variant
    from onechange.judge import judged_metric
    from onechange.report.judge_page import render_judge_audit

    check_format(words)
    _check_sheet(words)
    plan = read_plan({**words, "metric": None})
    variants = [] if words["variant"] is None else [words["variant"]]
    baseline, arms = read_arms(words, variants, plan)
    pairs, _ = align(baseline, arms[0], columns=plan.columns)
    metric = judged_metric(plan, pairs, words["metric"] or ())
    if words["draw"] is not None:
        if not words["metric"]:
            typer.echo(
                f"Drawn by {metric}; --metric names another metric to check.", err=True
            )
        _draw(words, pairs, metric, plan.analysis.seed)
        return
    names = (baseline.name, arms[0].name)
    audited = audit_variant(pairs, metric, plan, names, path=words["labels"])
    if not words["quiet"]:
        width = terminal_columns()
        print_out(render_judge_audit(audited, format=words["format"], width=width))


def _check_sheet(words: dict[str, Any]) -> None:
    """Refuse words that do not go together, and to replace a sheet of labels."""
    out = words["out"]
    if words["draw"] is None:
        if out is not None:
            raise OnechangeError(
                "--out is where a drawn sheet goes, with --draw N; the audit itself is "
                "printed (--format json for a file of it)."
            )
        return
    if words["labels"] is not None:
        raise OnechangeError(
            "--draw and --labels do not go together: draw a sheet first, fill it in, "
            "then audit with --labels."
        )
    if out is None:
        return
    check_apart({"out": out}, input_files(words))
    if Path(out).exists() and not words["force"]:
        raise OnechangeError(
            f"--out {out}: exists, and labels in it would be lost; name another file, "
            "or replace it with --force."
        )


def _draw(words: dict[str, Any], pairs: Pairs, metric: str, seed: int) -> None:
    from onechange.judge import label_rows, sheet_csv
    from onechange.score.files import replace_file

    rows = label_rows(pairs, metric, words["draw"], seed=seed)
    drawn = len({row["question_id"] for row in rows})
    if drawn < words["draw"]:
        typer.echo(
            f"Only {drawn} questions are scored in both arms: all of them are drawn.",
            err=True,
        )
    if words["out"] is None:
        print_out(sheet_csv(rows))
        return
    replace_file(Path(words["out"]), sheet_csv(rows))
    n = counted(len(rows), "answer")
    typer.echo(f"Written: {words['out']} ({n} to label)", err=True)


def audit_traces(words: dict[str, Any]) -> bool:
    """Audit the question set of a trace file; False when it is another kind of file.

    Parameters
    ----------
    words : dict
        The words of ``onechange audit``.

    Returns
    -------
    bool
    """
    from onechange.formats import sniff
    from onechange.report.question_set import render_question_set
    from onechange.score import (
        audit_question_set,
        holds_traces,
        options_from_flags,
    )

    path = Path(words["baseline"])
    asked = words["other"] is not None or words["options"] is not None
    if not asked:
        named = words["input_format"] is not None
        if named or not holds_traces(path) or sniff(path) is not None:
            return False
    check_format(words)
    audit = audit_question_set(
        path,
        other=words["other"],
        categories=words["slice"] or (),
        options=options_from_flags(words["options"], ()),
    )
    if not words["quiet"]:
        text = render_question_set(
            audit, title=path.name, format=words["format"], width=terminal_columns()
        )
        print_out(text)
    return True


def check_format(words: dict[str, Any]) -> None:
    """Refuse an unknown ``--format`` before any work."""
    known = ("text", "markdown", "json")
    if words["format"] not in known:
        raise OnechangeError(
            f'--format is "{words["format"]}"; expected one of {", ".join(known)}.'
        )
