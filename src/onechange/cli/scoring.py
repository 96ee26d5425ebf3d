"""The commands on traces and on human labels: score, judge-audit, question sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from onechange.cli import options as o
from onechange.cli.output import print_out
from onechange.errors import OnechangeError

__all__ = ["audit_traces", "score"]


@o.with_options(o.TRACES, o.SCORE, o.STDOUT)
def score(words: dict[str, Any]) -> None:
    """Compute per-question scores from recorded traces."""
    from onechange.report.scores import render_scores
    from onechange.score import options_from_flags, score_file

    check_format(words)
    options = options_from_flags(words["options"], words["k"] or ())
    rows = score_file(
        words["traces"], words["out"], options=options, append_to=words["append"]
    )
    for verb, path in (("Written", words["out"]), ("Appended to", words["append"])):
        if path is not None:
            typer.echo(f"{verb}: {path} ({len(rows.rows)} rows)", err=True)
    if not words["quiet"]:
        title = Path(words["traces"]).name
        print_out(render_scores(rows, title=title, format=words["format"]))


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
        text = render_question_set(audit, title=path.name, format=words["format"])
        print_out(text)
    return True


def check_format(words: dict[str, Any]) -> None:
    """Refuse an unknown ``--format`` before any work."""
    known = ("text", "markdown", "json")
    if words["format"] not in known:
        raise OnechangeError(
            f'--format is "{words["format"]}"; expected one of {", ".join(known)}.'
        )
