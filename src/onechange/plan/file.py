"""TOML plan file -> checked keys with their line numbers."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onechange.errors import PlanError
from onechange.plan.keys import STAGE_SCORES, Key, did_you_mean

__all__ = ["PLAN_KEYS", "PlanFile", "read_plan_file"]

# Table -> key -> kind of value. The kinds are the keys of _KINDS below.
PLAN_KEYS: dict[str, dict[str, str]] = {
    "experiment": {
        "name": "text",
        "hypothesis": "text",
        "question_set": "text",
        "stage": "text",
        "change": "table",
        "accepted_changes": "texts",
    },
    "experiment.change": {"setting": "text", "from": "any", "to": "any"},
    "data": {
        "question_id": "text",
        "trial": "text",
        "judge_trial": "text",
        "status": "text",
        "statuses": "words",
        "cluster": "text",
        "slices": "slices",
        "weights": "weights",
        "metrics": "texts",
        "settings": "texts",
        "missing": "texts",
        "min_slice": "whole",
        "trials_paired": "flag",
    },
    "metric": {
        "name": "text",
        "column": "text",
        "direction": "text",
        "range": "numbers",
        "tie": "number",
        "unscored": "text",
        "threshold": "number",
        "numerator": "text",
        "denominator": "text",
        "labels": "text",
    },
    "primary": {"metric": "text", "min_improvement": "number"},
    "guardrail": {
        "metric": "text",
        "statistic": "text",
        "margin": "margin",
        "limit": "number",
        "rule": "text",
        "role": "text",
        "every_slice": "text",
        "small_slices": "text",
    },
    "analysis": {
        "confidence_level": "number",
        "interval": "text",
        "test": "text",
        "adjust": "text",
        "n_resamples": "whole",
        "seed": "whole",
        "unscored": "text",
        "primaries": "text",
        "bounds": "text",
        "resampling": "text",
        "strata": "text",
    },
    "diagnosis": dict.fromkeys(STAGE_SCORES, "number"),
}
_REQUIRED = {
    "experiment.change": "setting",
    "metric": "name",
    "primary": "metric",
    "guardrail": "metric",
}
_ARRAYS = ("metric", "guardrail")  # must be [[...]]; primary may be either
_TABLES = tuple(name for name in PLAN_KEYS if "." not in name)


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan file whose keys are known and whose values have the right kind.

    Parameters
    ----------
    name : str
        File name without folders, as shown in messages.
    sha256 : str
        Hash of the bytes.
    tables : mapping
        The TOML tables; ``metric``, ``primary`` and ``guardrail`` are lists.
    lines : mapping of tuple to int
        Line of each key, by its path such as ``("guardrail", 1, "margin")``.
    """

    name: str
    sha256: str
    tables: Mapping[str, Any]
    lines: Mapping[Key, int]

    def place(self, key: Key) -> str:
        """Return ``file:line`` of a key, or of the nearest table around it."""
        for stop in range(len(key), 0, -1):
            line = self.lines.get(key[:stop])
            if line is not None:
                return f"{self.name}:{line}"
        return self.name

    def error(self, key: Key, text: str) -> PlanError:
        """Return the error that a key of this file deserves."""
        label = ".".join(str(part) for part in key if isinstance(part, str))
        return PlanError(f"{self.place(key)}: {label}: {text}")


def read_plan_file(path: str | Path) -> PlanFile:
    """Read a TOML plan and check that every key is known and of the right kind.

    Parameters
    ----------
    path : str or Path
        A TOML file in UTF-8.

    Returns
    -------
    PlanFile

    Raises
    ------
    PlanError
        Unreadable file, invalid TOML, an unknown key (with the nearest valid one)
        or a value of the wrong kind, each with file and line.
    """
    source = Path(path)
    try:
        content = source.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise PlanError(
            f"{source}: cannot read the plan ({reason}); check the path."
        ) from error
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise PlanError(
            f"{source.name}:{line}: not UTF-8 text; save the plan as UTF-8."
        ) from error
    tables = _parsed(source.name, text)
    found = PlanFile(
        name=source.name,
        sha256=hashlib.sha256(content).hexdigest(),
        tables=tables,
        lines=line_numbers(text),
    )
    _check_tables(found)
    if isinstance(tables.get("primary"), dict):
        tables["primary"] = [tables["primary"]]
    return found


def line_numbers(text: str) -> dict[Key, int]:
    r"""Find the line on which each table and key of a TOML text starts.

    Parameters
    ----------
    text : str
        Valid TOML. Keys inside inline tables and arrays are not looked into.

    Returns
    -------
    dict of tuple to int
        Path of the key -> line number from 1. Elements of arrays of tables are
        numbered from 0 in the path.

    Examples
    --------
    >>> line_numbers("[[guardrail]]\nmargin = 1\n")
    {('guardrail', 0): 1, ('guardrail', 0, 'margin'): 2}
    """
    lines: dict[Key, int] = {}
    counts: dict[Key, int] = {}
    prefix: Key = ()
    depth, quote = 0, ""
    for number, line in enumerate(text.split("\n"), start=1):
        rest = line
        if depth == 0 and not quote:
            stripped = line.strip()
            if not stripped or stripped.startswith("#"):
                continue
            if stripped.startswith("["):
                prefix = _header(stripped, counts)
                lines.setdefault(prefix, number)
                continue
            parts, end = _dotted_key(line)
            lines.setdefault((*prefix, *parts), number)
            rest = line[end:]
        depth, quote = _open_brackets(rest, depth, quote)
    return lines


def _parsed(name: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        place = f"{name}:{found[1]}" if found else f"{name}:{text.count(chr(10)) + 1}"
        fact = re.sub(r"\s*\(at [^)]*\)$", "", str(error))
        raise PlanError(f"{place}: not valid TOML: {fact}; mend this line.") from error


_KEY_PART = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\'[^\']*\'|[A-Za-z0-9_-]+)\s*')


def _dotted_key(text: str) -> tuple[Key, int]:
    """Return the parts of the dotted key that a text starts with, and its end."""
    parts: list[str] = []
    position = 0
    while match := _KEY_PART.match(text, position):
        part = match[1]
        parts.append(part[1:-1] if part[0] in "\"'" else part)
        position = match.end()
        if text[position : position + 1] != ".":
            break
        position += 1
    return tuple(parts), position


def _header(stripped: str, counts: dict[Key, int]) -> Key:
    """Return the path of a table header, counting arrays of tables."""
    is_array = stripped.startswith("[[")
    parts, _ = _dotted_key(stripped[2 if is_array else 1 :])
    path: Key = ()
    for position, part in enumerate(parts):
        path = (*path, part)
        last = position == len(parts) - 1
        if last and is_array:
            counts[path] = counts.get(path, 0) + 1
        if path in counts:
            path = (*path, counts[path] - 1)
    return path


def _open_brackets(text: str, depth: int, quote: str) -> tuple[int, str]:
    """Follow brackets and strings through one line of a value."""
    position = 0
    while position < len(text):
        here = text[position]
        if quote:
            if here == "\\" and quote[0] == '"':
                position += 2
                continue
            if text.startswith(quote, position):
                position += len(quote)
                quote = ""
                continue
        elif here == "#":
            break
        elif here in "\"'":
            triple = text[position : position + 3] == here * 3
            quote = here * 3 if triple else here
            position += len(quote)
            continue
        else:
            depth += (here in "[{") - (here in "]}")
        position += 1
    return depth, quote if len(quote) == 3 else ""


def _check_tables(plan: PlanFile) -> None:
    for name, value in plan.tables.items():
        if name not in _TABLES:
            several = (name, 0) in plan.lines
            raise plan.error(
                (name, 0) if several else (name,),
                f"unknown table; {did_you_mean(name, _TABLES)}",
            )
        is_list = isinstance(value, list) and all(isinstance(v, dict) for v in value)
        if name in _ARRAYS and not is_list:
            raise plan.error(
                (name,), f"must be an array of tables; write [[{name}]] above its keys."
            )
        if is_list and (name in _ARRAYS or name == "primary"):
            for index, table in enumerate(value):
                _check_table(plan, name, (name, index), table)
        elif isinstance(value, dict):
            _check_table(plan, name, (name,), value)
        else:
            raise plan.error(
                (name,), f"must be a table; write [{name}] above its keys."
            )
    change = plan.tables.get("experiment", {}).get("change")
    if change is not None:
        _check_table(plan, "experiment.change", ("experiment", "change"), change)


def _check_table(plan: PlanFile, name: str, path: Key, table: dict[str, Any]) -> None:
    known = PLAN_KEYS[name]
    for key, value in table.items():
        if key not in known:
            raise plan.error((*path, key), f"unknown key; {did_you_mean(key, known)}")
        is_kind, wanted = _KINDS[known[key]]
        if not is_kind(value):
            raise plan.error((*path, key), f"is {_shown(value)}; give {wanted}.")
    required = _REQUIRED.get(name)
    if required is not None and required not in table:
        raise plan.error(path, f'has no "{required}"; add {required} = "…".')


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_words(value: object) -> bool:
    return isinstance(value, dict) and all(_is_text(item) for item in value.values())


def _is_weights(value: object) -> bool:
    return isinstance(value, dict) and all(
        _is_text(mix)
        or (isinstance(mix, dict) and all(_is_number(share) for share in mix.values()))
        for mix in value.values()
    )


def _is_slices(value: object) -> bool:
    return isinstance(value, list) and all(
        _is_text(item) or (_is_texts(item) and bool(item)) for item in value
    )


def _is_margin(value: object) -> bool:
    return _is_number(value) or _is_text(value)


_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "any": (lambda value: True, "a value"),
    "flag": (lambda value: isinstance(value, bool), "true or false"),
    "margin": (_is_margin, 'a number such as 0.02, or a text such as "10%"'),
    "number": (_is_number, "a number"),
    "numbers": (
        lambda value: isinstance(value, list) and all(map(_is_number, value)),
        "a list of two numbers such as [0, 1]",
    ),
    "slices": (
        _is_slices,
        'a list of columns such as ["qtype", ["qtype", "level"]]',
    ),
    "table": (lambda value: isinstance(value, dict), "a table"),
    "text": (_is_text, 'a text in quotes such as "name"'),
    "texts": (_is_texts, 'a list of texts such as ["a", "b"]'),
    "weights": (
        _is_weights,
        'a table of shares per column such as { qtype = { "easy" = 0.5 } }, or "equal"',
    ),
    "whole": (_is_whole, "a whole number"),
    "words": (_is_words, 'a table of texts such as { "parse_error" = "failed" }'),
}


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, dict):
        return "a table"
    return str(value)
