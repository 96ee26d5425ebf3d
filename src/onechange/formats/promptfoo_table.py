"""promptfoo CSV output: variables, then one block of columns per prompt."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from onechange.errors import InputError
from onechange.formats.build import build
from onechange.formats.delimited import parse_table
from onechange.formats.peek import Peek
from onechange.formats.rows import Row, number, number_trials, text_id
from onechange.formats.source import Document, parse_json
from onechange.results import FAILED, Columns, Results
from onechange.stats.estimate import Note

__all__ = ["name_systems", "read", "sniff"]

_BLOCK = ("Status", "Score", "Named Scores")
_OUTPUT = re.compile(r"\[(?P<label>.*?)\] (?P<prompt>.*)", re.DOTALL)
_MAX_SYSTEMS = 1000
_IDS = ("question_id", "qid", "id")


def sniff(seen: Peek) -> bool:
    """Whether a table has promptfoo's blocks.

    Parameters
    ----------
    seen : Peek
        The file.

    Returns
    -------
    bool
    """
    return bool(_block_starts(seen.header))


def read(document: Document, columns: Columns) -> dict[str, Results]:
    """Read the table: one system per block.

    Parameters
    ----------
    document : Document
        The file.
    columns : Columns
        Roles of columns.

    Returns
    -------
    dict of str to Results

    Raises
    ------
    InputError
        When there are no blocks, or a status is none of PASS, FAIL and ERROR.
    """
    table = parse_table(document.text, name=document.name)
    starts = _block_starts(table.header)
    if not starts:
        raise InputError(
            f"{document.name}: no block of Status, Score, Named Scores in the header."
        )
    ends = [*starts[1:], len(table.header)]
    variables = table.header[: starts[0]]
    ids, source = _ids(table.rows, variables)
    systems: dict[str, Results] = {}
    outputs = [_provider_and_prompt(table.header[start]) for start in starts]
    for start, end, name, (label, prompt) in zip(
        starts, ends, name_systems(outputs), outputs, strict=True
    ):
        block = table.header[start:end]
        rows = []
        for line, cells, question_id in zip(table.lines, table.rows, ids, strict=True):
            row = Row(question_id, f"line {line}", trial="")
            row.labels.update(zip(variables, cells, strict=False))
            cell = dict(zip(block, cells[start:end], strict=True))
            _fill(row, cell, block[0], f"{document.name}:{line}")
            rows.append(row)
        notes = _notes(name, source, number_trials(rows))
        systems[name] = build(
            name,
            [row for row in rows if row.metrics or row.status is not None],
            files=[document.file],
            settings={"provider": label, "prompt": prompt},
            notes=notes,
            columns=columns,
        )
    return systems


def name_systems(parts: Sequence[tuple[str, str]]) -> list[str]:
    """Name each prompt column by what tells it from the others.

    Parameters
    ----------
    parts : sequence of (str, str)
        Provider and prompt of each column.

    Returns
    -------
    list of str
        The provider when there is one prompt, the prompt when there is one
        provider, else both; a repeated name gets its position.

    Raises
    ------
    InputError
        When there are over 1,000 columns.

    Examples
    --------
    >>> name_systems([("a", "p"), ("b", "p")]), name_systems([("a", "p"), ("b", "q")])
    (['a', 'b'], ['a | p', 'b | q'])
    """
    if len(parts) > _MAX_SYSTEMS:
        raise InputError(f"{len(parts):,} prompt columns; at most 1,000 are read.")
    providers, prompts = ({part[side] for part in parts} for side in (0, 1))
    names: list[str] = []
    for index, (provider, prompt) in enumerate(parts):
        name = provider if len(prompts) == 1 else prompt
        if len(providers) > 1 and len(prompts) > 1:
            name = f"{provider} | {prompt}"
        name = " ".join(name.split())[:80]
        names.append(name if name not in names else f"{name} #{index}")
    return names


def _provider_and_prompt(output: str) -> tuple[str, str]:
    match = _OUTPUT.fullmatch(output)
    return (match["label"], match["prompt"]) if match else (output, output)


def _block_starts(header: tuple[str, ...]) -> list[int]:
    """Positions of the output columns: the column before each Status, Score, ..."""
    return [
        index - 1
        for index in range(1, len(header) - 1)
        if header[index : index + 2] == _BLOCK[:2] and header[index - 1].strip()
    ]


def _ids(
    rows: tuple[tuple[str, ...], ...], variables: tuple[str, ...]
) -> tuple[list[str], str]:
    tests = {row[: len(variables)] for row in rows}
    for name in (*_IDS, "Description"):
        if name in variables:
            column = variables.index(name)
            if len({test[column] for test in tests}) == len(tests):
                source = f'the column "{name}"'
                return [row[column] for row in rows], source
    found = []
    for row in rows:
        cells = dict(zip(variables, row, strict=False))
        cells.pop("Description", None)
        if len(cells) == 1:
            text = next(iter(cells.values()))
        else:
            text = "; ".join(f"{key}: {value}" for key, value in sorted(cells.items()))
        found.append(text_id(text))
    return found, "the test's variables"


def _fill(row: Row, cell: Mapping[str, str], output: str, place: str) -> None:
    row.labels.setdefault("response", cell[output] or None)
    row.labels["reason"] = cell.get("Grader Reason")
    status = cell["Status"].strip().upper()
    if status == "ERROR":
        row.status = FAILED
    elif status in ("PASS", "FAIL"):
        row.metrics["passed"] = float(status == "PASS")
        row.metrics["score"] = number(cell["Score"], place=place, what="Score")
    elif status:
        raise InputError(
            f'{place}: Status is "{status}"; expected PASS, FAIL or ERROR.'
        )
    else:
        return
    text = cell.get("Named Scores") or ""
    named = parse_json(text, name=f"{place} Named Scores") if text.strip() else {}
    for name, value in dict(named).items():
        row.metrics[name] = number(value, place=place, what=name)
    for column, value in cell.items():
        metric = column.removeprefix("Metric: ")
        if metric != column and metric not in row.metrics and not named:
            score = number(value, place=place, what=column)
            row.metrics[metric] = math.nan if row.status == FAILED else score


def _notes(name: str, source: str, n_trials: int) -> list[Note]:
    found = [Note("role-inferred", f"promptfoo: the question id is {source}.")]
    if n_trials > 1:
        found.append(
            Note(
                "trials-inferred",
                f'promptfoo: "{name}": rows with the same variables are read as '
                "trials, in the order of the file.",
            )
        )
    found.append(
        Note(
            "rounded",
            "promptfoo: the table holds scores with two decimals, and neither latency "
            "nor cost; the JSON output holds all.",
        )
    )
    return found
