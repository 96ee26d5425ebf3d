"""What one file holds: its systems, metrics, slices and trials."""

from __future__ import annotations

import json
from dataclasses import asdict

from onechange import __version__
from onechange.display import (
    format_count,
    format_exact,
    format_number,
    markdown_table,
    text_table,
)
from onechange.errors import OnechangeError
from onechange.formats.contents import Contents, SystemContents
from onechange.report.json_output import SCHEMA

__all__ = ["render_contents"]

FORMATS = ("text", "markdown", "json")
SYSTEMS = ("system", "questions", "trials", "rows", "unscored", "failed")
METRICS = ("system", "metric", "scored rows", "mean")


def render_contents(name: str, contents: Contents, *, format: str = "text") -> str:
    """Write what a file holds.

    Parameters
    ----------
    name : str
        Name of the file.
    contents : Contents
        As `formats.list_contents` gives it.
    format : str
        ``text``, ``markdown`` or ``json``.

    Returns
    -------
    str
        Ends with a line break.

    Raises
    ------
    OnechangeError
        When the format is unknown.
    """
    if format == "json":
        plain = {"schema": SCHEMA, "version": __version__, "contents": asdict(contents)}
        return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if format not in FORMATS:
        raise OnechangeError(
            f'audit format "{format}" is unknown; choose one of {", ".join(FORMATS)}.'
        )
    table = text_table if format == "text" else markdown_table
    kind = contents.format or "rows of one system"
    parts = [
        f"{name}: {kind}",
        table(SYSTEMS, [_system_row(s) for s in contents.systems], "lrrrrr"),
        table(
            METRICS, [row for s in contents.systems for row in _metric_rows(s)], "llrr"
        ),
    ]
    parts += [line for s in contents.systems for line in _lines(s)]
    return "\n\n".join(parts) + "\n"


def _system_row(system: SystemContents) -> list[str]:
    counts = (
        system.n_questions,
        system.n_trials,
        system.n_rows,
        system.unscored,
        system.failed,
    )
    return [system.name, *map(format_count, counts)]


def _metric_rows(system: SystemContents) -> list[list[str]]:
    return [
        [system.name, metric, format_count(scored), format_number(system.means[metric])]
        for metric, scored in system.metrics.items()
    ]


def _lines(system: SystemContents) -> list[str]:
    lines = []
    if system.slices:
        slices = [f"{name} ({count})" for name, count in system.slices.items()]
        lines.append(f"{system.name}: slices (number of labels): {', '.join(slices)}")
    if system.settings:
        settings = [
            f"{key} = {_value(value)}" for key, value in system.settings.items()
        ]
        lines.append(f"{system.name}: settings: {', '.join(settings)}")
    lines += [f"{system.name}: {note.code}: {note.text}" for note in system.notes]
    return lines


def _value(value: object) -> str:
    return format_exact(value) if isinstance(value, float) else str(value)
