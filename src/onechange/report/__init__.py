"""Reports: one comparison or decision, rendered for the reader at hand."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from onechange.compare import Comparison
from onechange.decide import Decision, Decisions
from onechange.errors import OnechangeError

__all__ = ["FORMATS", "SUFFIXES", "render", "writable", "write_report"]

Result = Comparison | Decision | Decisions


def _text(result: Result) -> str:
    from onechange.report.decisions_text import terminal_text

    return terminal_text(result)


def _markdown(result: Result) -> str:
    from onechange.report.markdown import render_markdown

    return render_markdown(result)


def _html(result: Result) -> str:
    from onechange.report.html import render_html

    return render_html(result)


def _latex(result: Result) -> str:
    from onechange.report.latex import render_latex

    return render_latex(result)


def _json(result: Result) -> str:
    from onechange.report.json_output import to_json

    return to_json(result)


def _junit(result: Result) -> str:
    from onechange.report.junit import render_junit

    return render_junit(result)


def _csv(result: Result) -> str:
    from onechange.report.csv_output import to_csv

    return to_csv(result)


FORMATS: dict[str, Callable[[Result], str]] = {
    "text": _text,
    "markdown": _markdown,
    "html": _html,
    "latex": _latex,
    "json": _json,
    "csv": _csv,
    "junit": _junit,
}
SUFFIXES = {
    ".md": "markdown",
    ".html": "html",
    ".tex": "latex",
    ".json": "json",
    ".csv": "csv",
    ".xml": "junit",
    ".txt": "text",
}


def render(result: Result | Sequence[Decision], format: str) -> str:
    """Return a result as text in one of the output formats.

    Parameters
    ----------
    result : Comparison, Decision or Decisions
        What `compare`, `decide` or `decide_each` returned; the decisions about several
        variants are one report.
    format : str
        ``text``, ``markdown``, ``html``, ``latex``, ``json``, ``csv`` or ``junit``.

    Returns
    -------
    str
        Ends with a line break; the same result gives the same bytes.

    Raises
    ------
    OnechangeError
        When the format is unknown.
    """
    if format not in FORMATS:
        raise OnechangeError(
            f'report format "{format}" is unknown; choose one of {", ".join(FORMATS)}.'
        )
    if not isinstance(result, Comparison | Decision | Decisions):
        result = Decisions(result)
    if isinstance(result, Decisions) and len(result) == 1:
        result = result[0]
    return writable(FORMATS[format](result))


def writable(text: str) -> str:
    """Escape what cannot be written as UTF-8.

    A lone surrogate is valid in JSON input; in JSON output its escape reads back as
    the same character.
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def write_report(
    result: Result | Sequence[Decision], path: str | Path, *, format: str | None = None
) -> None:
    """Write a result to a file, whole or not at all.

    Parameters
    ----------
    result : Comparison, Decision or Decisions
        What `compare`, `decide` or `decide_each` returned; the decisions about several
        variants are one report.
    path : str or Path
        Where to; the suffix names the format.
    format : str, optional
        One of `FORMATS`, for another suffix.

    Raises
    ------
    OnechangeError
        When the suffix or format is unknown, or the file cannot be written.
    """
    target = Path(path)
    if format is None:
        suffix = target.suffix.lower()
        if suffix not in SUFFIXES:
            raise OnechangeError(
                f'{target}: suffix "{suffix}" names no report format; use one of '
                f"{', '.join(SUFFIXES)} or pass format=."
            )
        format = SUFFIXES[suffix]
    _write_whole(target, render(result, format))


def _write_whole(target: Path, text: str) -> None:
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name}.", suffix=".part"
        )
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
        temporary.chmod(0o644)
        temporary.replace(target)
    except OSError as error:
        raise OnechangeError(
            f"{target}: cannot be written ({error.strerror}); choose a file in an "
            "existing folder that you may write to."
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
