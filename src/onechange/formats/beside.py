"""The settings file beside a result file: ``<stem>.settings.toml`` or ``.json``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onechange.errors import InputError
from onechange.formats.source import load, parse_json
from onechange.plain_values import flatten
from onechange.results import SourceFile

__all__ = ["Beside", "is_settings", "settings_beside"]

_ENDINGS = (".settings.toml", ".settings.json")
_OWN = "onechange"  # what `onechange score` says about the file itself


@dataclass(frozen=True, slots=True)
class Beside:
    """Settings that stand beside a file.

    Parameters
    ----------
    settings : mapping
        Flat settings of all rows.
    runs : tuple of (mapping, mapping)
        For each run in the table the columns and values that name it, and its
        settings.
    files : tuple of SourceFile
        The settings file; empty when there is none.
    """

    settings: Mapping[str, Any]
    runs: tuple[tuple[Mapping[str, str], Mapping[str, Any]], ...] = ()
    files: tuple[SourceFile, ...] = ()

    def of_run(self, column: str, value: str) -> dict[str, Any]:
        """Return the settings of one run: the common ones and its own.

        Parameters
        ----------
        column, value : str
            Column that names the run, and its name.

        Returns
        -------
        dict
            Where several runs have that name, only what they agree on.
        """
        own = [part for where, part in self.runs if where.get(column) == value]
        return {**self.settings, **_agreed(own)}

    def of_all(self) -> dict[str, Any]:
        """Return the settings of the table as one arm: what all runs agree on."""
        return {**self.settings, **_agreed([part for _, part in self.runs])}

    def run_column(self, names: frozenset[str]) -> str | None:
        """Return the column in which some runs have these names, if there is one."""
        columns = dict.fromkeys(key for where, _ in self.runs for key in where)
        for column in columns:
            if names <= {where.get(column) for where, _ in self.runs}:
                return column
        return None


def settings_beside(path: Path) -> Beside:
    """Read the settings beside a file.

    Parameters
    ----------
    path : Path
        The result file.

    Returns
    -------
    Beside

    Raises
    ------
    InputError
        When both files are there, or one cannot be read as settings.
    """
    stem = Path(re.sub(r"\.gz$", "", path.name)).stem or "results"
    beside = [path.with_name(stem + ending) for ending in _ENDINGS]
    present = [candidate for candidate in beside if candidate.is_file()]
    if not present:
        return Beside({})
    if len(present) > 1:
        names = " and ".join(candidate.name for candidate in present)
        raise InputError(f"{path.name}: {names} both hold its settings; keep one.")
    document = load(present[0])
    name = document.name
    if name.endswith(".toml"):
        try:
            value: Any = tomllib.loads(document.text)
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{name}: not TOML ({error}).") from error
    else:
        value = parse_json(document.text, name=name)
    if not isinstance(value, Mapping):
        raise InputError(f"{name}: expected an object of settings.")
    own = value.get(_OWN)
    runs = _runs(own, name) if isinstance(own, Mapping) else ()
    about_itself = isinstance(own, Mapping) and "tables" in own
    rest = {k: item for k, item in value.items() if k != _OWN or not about_itself}
    return Beside(flatten(rest), runs, (document.file,))


def is_settings(path: Path) -> bool:
    """Say whether a file holds settings and no results, by its name."""
    return path.name.endswith(_ENDINGS)


def _runs(
    own: Mapping[str, Any], name: str
) -> tuple[tuple[Mapping[str, str], Mapping[str, Any]], ...]:
    found = []
    for entry in own.get("runs", ()):
        if not isinstance(entry, Mapping) or not all(
            isinstance(entry.get(key), Mapping) for key in ("where", "settings")
        ):
            raise InputError(
                f"{name}: onechange.runs: expected objects with where and settings."
            )
        where = {str(key): str(item) for key, item in entry["where"].items()}
        found.append((where, flatten(entry["settings"])))
    return tuple(found)


def _agreed(parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    if not parts:
        return {}
    first, *rest = parts
    return {
        key: value
        for key, value in first.items()
        if all(key in other and other[key] == value for other in rest)
    }
