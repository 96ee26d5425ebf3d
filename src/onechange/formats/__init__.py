"""Result files of other tools -> `Results`: one module per format, `sniff` and `read`.

`sniff` names the format of a file, `read_as` reads a file of one system,
`read_systems` one that may hold several, `list_contents` says what a file holds, and
`convert` writes our own row format.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from onechange.errors import InputError
from onechange.formats import (
    aggregates,
    alpaca_eval,
    deepeval,
    financebench,
    hal,
    helm,
    inspect_ai,
    langfuse,
    langsmith,
    lm_eval,
    mlflow,
    openai_evals,
    phoenix,
    positional,
    promptfoo,
    ragas,
    squad,
    swebench,
    tau_bench,
    terminal_bench,
    tidy,
    trec,
    trec_per_query,
    trulens,
    wide,
)
from onechange.formats.contents import Contents, SystemContents, describe
from onechange.formats.convert import convert
from onechange.formats.peek import peek
from onechange.formats.workbook import is_workbook
from onechange.results import Columns, Results

__all__ = [
    "FORMATS",
    "Contents",
    "SystemContents",
    "convert",
    "describe",
    "list_contents",
    "read_as",
    "read_systems",
    "sniff",
]

_MODULES: tuple[ModuleType, ...] = (
    ragas,
    deepeval,
    promptfoo,
    inspect_ai,
    lm_eval,
    trec,
    trec_per_query,
    financebench,
    swebench,
    terminal_bench,
    tau_bench,
    hal,
    mlflow,
    langsmith,
    phoenix,
    langfuse,
    trulens,
    alpaca_eval,
    helm,
    openai_evals,
    squad,
    wide,
    tidy,
    positional,
)
FORMATS: dict[str, str] = {module.NAME: module.LOOKS_FOR for module in _MODULES}
_READERS: dict[str, ModuleType] = {module.NAME: module for module in _MODULES}


def sniff(path: Path | str) -> str | None:
    """Name of the foreign format of a file or folder.

    Parameters
    ----------
    path : Path or str
        File or folder.

    Returns
    -------
    str or None
        A key of `FORMATS`; None when the file looks like none of them (a plain
        table, say).

    Raises
    ------
    InputError
        When the file cannot be read, looks like several formats, or is known to
        hold no per-question results: a storage pointer, an aggregate, a list of
        questions without answers.
    """
    seen = peek(Path(path))
    aggregates.refuse(seen)
    found = [module.NAME for module in _MODULES if module.sniff(seen)]
    if len(found) > 1:
        raise InputError(
            f"{seen.path.name}: could be {' or '.join(found)}; say which with "
            "--input-format."
        )
    return found[0] if found else None


def read_as(
    name: str,
    path: Path | str,
    *,
    columns: Columns | None = None,
    gold: Path | str | None = None,
) -> Results:
    """Read a file that holds one system.

    Parameters
    ----------
    name : str
        Format, a key of `FORMATS`.
    path : Path or str
        File or folder.
    columns : Columns, optional
        Roles of columns; they win over what the format says.
    gold : Path or str, optional
        Relevance judgements or right answers, for formats that keep them apart.

    Returns
    -------
    Results

    Raises
    ------
    InputError
        When the file does not hold what the format promises, or holds several
        systems.
    """
    systems = read_systems(path, name=name, columns=columns, gold=gold)
    if len(systems) > 1:
        listed = ", ".join(f'"{system}"' for system in systems)
        raise InputError(
            f"{Path(path).name}: holds {len(systems)} systems: {listed}; choose two "
            "with --baseline-name and --variant-name."
        )
    return next(iter(systems.values()))


def read_systems(
    path: Path | str,
    *,
    name: str | None = None,
    columns: Columns | None = None,
    gold: Path | str | None = None,
    systems: Sequence[str] = (),
) -> dict[str, Results]:
    """Read a file that may hold several systems.

    Parameters
    ----------
    path : Path or str
        File or folder.
    name : str, optional
        Format, a key of `FORMATS`; None sniffs it. A plain table is ``wide`` when
        the systems are columns of it, and ``tidy`` when it has a column of systems.
    columns : Columns, optional
        Roles of columns; they win over what the format says.
    gold : Path or str, optional
        Relevance judgements or right answers, for formats that keep them apart.
    systems : sequence of str
        Systems that are wanted, in this order; empty means all.

    Returns
    -------
    dict of str to Results
        By name of the system, in the order of the file, or of `systems`.

    Raises
    ------
    InputError
        When the format is unknown or not recognised, a wanted system is absent, or
        the file does not hold what the format promises.
    """
    place = Path(path)
    chosen = name or sniff(place) or _table_format(place, systems)
    if chosen is None:
        raise InputError(
            f"{place.name}: not recognised as one of {', '.join(FORMATS)}; name the "
            "format with --input-format, or map the columns (--id, --metric)."
        )
    found = _read(_reader(chosen), place, columns or Columns(), gold, systems)
    for system in systems:
        if system not in found:
            near = difflib.get_close_matches(system, found, n=1)
            hint = f' (did you mean "{near[0]}"?)' if near else ""
            listed = ", ".join(f'"{known}"' for known in found)
            raise InputError(
                f'{place.name}: no system "{system}"{hint}; the file holds {listed}.'
            )
    return {system: found[system] for system in systems} if systems else found


def list_contents(
    path: Path | str,
    *,
    name: str | None = None,
    columns: Columns | None = None,
    gold: Path | str | None = None,
) -> Contents:
    """Systems, metrics, slices and trials of a foreign file.

    Parameters
    ----------
    path : Path or str
        File or folder.
    name : str, optional
        Format, a key of `FORMATS`; None sniffs it.
    columns : Columns, optional
        Roles of columns.
    gold : Path or str, optional
        Relevance judgements or right answers.

    Returns
    -------
    Contents

    Raises
    ------
    InputError
        As `read_systems`.
    """
    chosen = name or sniff(path) or _table_format(Path(path), ())
    systems = read_systems(path, name=chosen, columns=columns, gold=gold)
    return describe(systems, format_name=chosen)


def _read(
    module: ModuleType,
    path: Path,
    columns: Columns,
    gold: Path | str | None,
    systems: Sequence[str],
) -> dict[str, Results]:
    named = {"systems": systems} if module is tidy else {}
    try:
        found: dict[str, Results] = module.read(
            path, columns=columns, gold=None if gold is None else Path(gold), **named
        )
    except RecursionError:
        raise InputError(f"{path.name}: its content is nested too deeply.") from None
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        # A value of another kind than the format has at that place.
        raise InputError(
            f"{path.name}: not laid out as {module.NAME} files are ({error}); expected "
            f"{module.LOOKS_FOR}."
        ) from error
    return found


def _table_format(path: Path, systems: Sequence[str]) -> str | None:
    """Tell wide from tidy, for a plain table that is said to hold several systems."""
    if path.is_dir():
        return None
    if not is_workbook(path):
        seen = peek(path)
        if seen.kind not in ("table", "jsonl"):
            return None
        names = set(seen.header) or seen.item.keys()
        if systems and names >= set(systems):
            return wide.NAME
        if not systems and names.isdisjoint(tidy.SYSTEM_COLUMNS):
            return None
    file, records = tidy.records_in(path)
    found = tidy.system_column(records, systems, name=file.name)
    return tidy.NAME if found else None


def _reader(name: str) -> ModuleType:
    if name in _READERS:
        return _READERS[name]
    near: Sequence[str] = difflib.get_close_matches(name, FORMATS, n=1)
    hint = f'; did you mean "{near[0]}"?' if near else "."
    raise InputError(
        f'--input-format: "{name}" is not a format; known are '
        f"{', '.join(FORMATS)}{hint}"
    )
