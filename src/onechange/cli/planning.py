"""The commands that come before the results: a draft plan, and the power."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onechange.cli import options as o
from onechange.cli.output import print_out
from onechange.errors import OnechangeError

__all__ = ["plan_init"]


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
        with target.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise OnechangeError(
            f"--out {target}: cannot be written ({error.strerror}); choose a file in "
            "an existing folder that you may write to."
        ) from error
