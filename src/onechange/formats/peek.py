"""The first bytes of a file or folder, understood well enough to name its format."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onechange.errors import InputError
from onechange.formats.source import refuse_pointer

__all__ = ["Peek", "first", "outline", "peek"]

_WINDOW = 1 << 20
_MAX_DEPTH = 6
_MAX_CHILDREN = 80
_TOKEN = re.compile(
    r'[\s,:]*(?:("[^"\\]*(?:\\.[^"\\]*)*")|([{}\[\]])|([^\s,:{}\[\]"]+))', re.DOTALL
)
_LITERALS = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Peek:
    """What is seen without reading a whole file.

    Parameters
    ----------
    path : Path
        File or folder.
    kind : str
        ``folder``, ``zip``, ``parquet``, ``json``, ``jsonl``, ``table`` or ``text``.
    names : tuple of str
        Names in the folder or in the archive.
    value : JSON value
        Partial value of a JSON file, or of the first line of JSON Lines.
    header : tuple of str
        First row of a table.
    rows : tuple of tuple of str
        Some rows of a table after the header.
    head : str
        First part of the text.
    """

    path: Path
    kind: str
    names: tuple[str, ...] = ()
    value: Any = None
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    head: str = ""

    @property
    def keys(self) -> frozenset[str]:
        """Keys of the top-level object, empty for anything else."""
        return frozenset(self.value) if isinstance(self.value, dict) else frozenset()

    @property
    def item(self) -> dict[str, Any]:
        """First object of a list, or the object of a JSON Lines file's first line."""
        value = self.value
        if self.kind == "json":
            value = first(value) if isinstance(value, list) else None
        return value if isinstance(value, dict) else {}


def peek(path: Path) -> Peek:
    """Look at the start of a file, or at the names in a folder.

    Parameters
    ----------
    path : Path
        File or folder.

    Returns
    -------
    Peek

    Raises
    ------
    InputError
        When the path cannot be read, or the file is a storage pointer.
    """
    try:
        if path.is_dir():
            names = tuple(sorted(entry.name for entry in path.iterdir()))
            return Peek(path, "folder", names=names)
        with path.open("rb") as stream:
            data = stream.read(_WINDOW)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
    if data.startswith(b"PK\x03\x04"):
        return Peek(path, "zip", names=_archive_names(path))
    if data.startswith(b"PAR1"):
        return Peek(path, "parquet")
    if data.startswith(b"\x1f\x8b"):
        data = _first_of_gzip(data)
    refuse_pointer(data[:200], name=path.name)
    return _peek_text(path, _lenient_text(data))


def outline(text: str) -> Any:
    """Partial value of a JSON text that may be cut off.

    Parameters
    ----------
    text : str
        The beginning of a JSON text.

    Returns
    -------
    JSON value
        The value as far as it was seen: at most six levels and eighty entries per
        list or object; long strings are cut. None when nothing was understood.

    Examples
    --------
    >>> outline('{"results": [{"id": 1, "ok": tr')
    {'results': [{'id': 1}]}
    """
    root: list[Any] = []
    stack: list[Any] = [root]  # None: a container that is not kept
    pending: list[str | None] = [None]
    for token in _TOKEN.finditer(text):
        string, bracket, literal = token.groups()
        if bracket in ("}", "]"):
            stack.pop()
            pending.pop()
            if len(stack) <= 1:
                break
        elif bracket:
            child: Any = {} if bracket == "{" else []
            kept = _attach(stack[-1], pending, child)
            stack.append(child if kept and len(stack) < _MAX_DEPTH else None)
            pending.append(None)
        elif isinstance(stack[-1], dict) and pending[-1] is None:
            if string is None:
                break
            pending[-1] = _string(string)
        else:
            whole = string is not None or token.end() < len(text)
            value = _string(string) if string is not None else _scalar(literal)
            if whole:
                _attach(stack[-1], pending, value)
    return first(root)


def first(values: Any) -> Any:
    """First entry of a list or object, None when there is none.

    Parameters
    ----------
    values : list or dict
        Anything else gives None.

    Returns
    -------
    JSON value

    Examples
    --------
    >>> first([3, 4]), first({"a": 1}), first([]), first("text")
    (3, 1, None, None)
    """
    if isinstance(values, list):
        return values[0] if values else None
    if isinstance(values, dict):
        return next(iter(values.values()), None)
    return None


def _attach(parent: Any, pending: list[str | None], value: Any) -> bool:
    key, pending[-1] = pending[-1], None
    if parent is None or len(parent) >= _MAX_CHILDREN:
        return False
    if isinstance(parent, dict):
        parent[key] = value
    else:
        parent.append(value)
    return True


def _string(token: str) -> str:
    if len(token) > 400:
        return token[1:200]
    try:
        return str(json.loads(token))
    except ValueError:
        return token[1:-1]


def _scalar(token: str) -> Any:
    if token in _LITERALS:
        return _LITERALS[token]
    try:
        return float(token) if re.search(r"[.eENI]", token) else int(token[:300])
    except ValueError:
        return token


def _archive_names(path: Path) -> tuple[str, ...]:
    try:
        with zipfile.ZipFile(path) as archive:
            return tuple(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return ()


def _first_of_gzip(data: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(data, _WINDOW)
    except zlib.error:
        return b""


def _lenient_text(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    return data.decode("utf-8-sig", errors="replace")


def _peek_text(path: Path, text: str) -> Peek:
    start = text.lstrip()
    if start.startswith(("{", "[")):
        line, _, rest = start.partition("\n")
        lines = path.name.lower().removesuffix(".gz").endswith((".jsonl", ".ndjson"))
        several = rest.lstrip().startswith("{") and line.rstrip().endswith("}")
        if start.startswith("{") and (lines or several):
            return Peek(path, "jsonl", value=outline(line), head=text)
        return Peek(path, "json", value=outline(start), head=text)
    rows = _first_rows(path, text)
    if rows and len(rows[0]) > 1:
        return Peek(path, "table", header=rows[0], rows=rows[1:], head=text)
    return Peek(path, "text", head=text)


def _first_rows(path: Path, text: str) -> tuple[tuple[str, ...], ...]:
    first_line = text.split("\n", 1)[0]
    delimiter = max(",\t;", key=first_line.count)
    if ".tsv" in path.name.lower():
        delimiter = "\t"
    rows: list[tuple[str, ...]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if row:
                rows.append(tuple(row))
            if len(rows) > 200:
                break
    except csv.Error:  # a cell beyond the reader's default size: enough was seen
        pass
    return tuple(rows)
