"""What one file holds: its systems, metrics, slices and trials."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from onechange import __version__
from onechange.display import (
    format_count,
    format_exact,
    format_number,
    markdown_table,
)
from onechange.errors import OnechangeError
from onechange.formats.contents import Contents, SystemContents
from onechange.report.document import Column, Table
from onechange.report.json_output import SCHEMA
from onechange.report.table_text import fitted_table, wrapped

__all__ = ["render_contents"]

FORMATS = ("text", "markdown", "json")
SYSTEMS = ("system", "questions", "trials", "rows", "unscored", "failed")
METRICS = ("system", "metric", "scored rows", "mean")


def render_contents(
    name: str, contents: Contents, *, format: str = "text", width: int = 100
) -> str:
    """Write what a file holds.

    Parameters
    ----------
    name : str
        Name of the file.
    contents : Contents
        As `formats.list_contents` gives it.
    format : str
        ``text``, ``markdown`` or ``json``.
    width : int
        Columns of text.

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
    kind = contents.format or "rows of one system"
    systems = [_system_row(s) for s in contents.systems]
    metrics = [row for s in contents.systems for row in _metric_rows(s)]
    lines = [line for s in contents.systems for line in _lines(s)]
    if format == "text":
        tables = [_text_table(SYSTEMS, systems, width)]
        tables += [_text_table(METRICS, metrics, width)] if metrics else []
        lines = ["\n".join(wrapped(line, width, rest="  ")) for line in lines]
    else:
        tables = [markdown_table(SYSTEMS, systems, "lrrrrr")]
        tables.append(markdown_table(METRICS, metrics, "llrr"))
    return "\n\n".join([f"{name}: {kind}", *tables, *lines]) + "\n"


def _text_table(
    titles: Sequence[str], rows: Sequence[Sequence[str]], width: int
) -> str:
    columns = tuple(
        Column(title, "l" if title in ("system", "metric") else "r") for title in titles
    )
    table = Table(columns, tuple(map(tuple, rows)))
    return "\n".join(fitted_table([table], width))


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
