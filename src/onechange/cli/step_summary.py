"""In GitHub Actions: the decision on the summary page of the job."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from onechange.errors import OnechangeError

if TYPE_CHECKING:
    from onechange.decide import Decision, Decisions

__all__ = ["append_step_summary"]

VARIABLE = "GITHUB_STEP_SUMMARY"


def append_step_summary(decision: Decision | Decisions) -> None:
    """Append the decision to the file that GitHub Actions shows; else do nothing.

    Parameters
    ----------
    decision : Decision or Decisions
        What `decide` or `decide_each` returned.

    Raises
    ------
    OnechangeError
        When the variable is set and its file cannot be written.
    """
    target = os.environ.get(VARIABLE)
    if not target:
        return
    from onechange.report.step_summary import render_step_summary

    text = render_step_summary(decision)
    try:
        with Path(target).open("ab") as file:
            file.write(text.encode("utf-8", "backslashreplace") + b"\n")
    except OSError as error:
        raise OnechangeError(
            f"{VARIABLE}={target}: cannot be written ({error.strerror}); unset the "
            "variable, or name a file in an existing folder."
        ) from error
