"""Bytes of a result file -> text, JSON or table, within bounds on memory and time."""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from onechange.errors import InputError
from onechange.results import SourceFile

__all__ = [
    "MAX_BYTES",
    "Document",
    "decode",
    "expand",
    "expansion_limit",
    "load",
    "load_file_hash",
    "parse_json",
    "parse_lines",
    "refuse_pointer",
]

MAX_BYTES = 1 << 30  # largest text that is read whole
_FREE_EXPANSION = 64 << 20  # below this no compression ratio is suspicious
_MAX_RATIO = 100
_CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"
_LONE_SURROGATE = re.compile(
    r"(?<!\\)((?:\\\\)*)\\u(?:[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u)[dD][c-fC-F][0-9a-fA-F]{2})"
)
_POINTERS = {
    re.compile(rb"version https://git-lfs\.github\.com/spec/"): (
        "Git LFS; run `git lfs pull`"
    ),
    re.compile(rb"(\.\./)*(\.git)?/?annex/objects/"): "git-annex; run `git annex get`",
}


@dataclass(frozen=True, slots=True)
class Document:
    """One text file: where it lies, how reports call it, and its text."""

    path: Path
    file: SourceFile
    text: str

    @property
    def name(self) -> str:
        """Name of the file without folders."""
        return self.file.name


def load(path: Path, *, encoding: str | None = None) -> Document:
    """Read a text file, gzip or not.

    Parameters
    ----------
    path : Path
        The file.
    encoding : str, optional
        Encoding for bytes that are not UTF-8; None refuses them.

    Returns
    -------
    Document

    Raises
    ------
    InputError
        When the file is absent, empty, too large, a storage pointer, expands
        suspiciously, or is not text.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(
                f"{path.name}: {path.stat().st_size:,} bytes; at most {MAX_BYTES:,} "
                "are read. Split the file, or convert it to Parquet."
            )
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
    file = SourceFile(path.name, hashlib.sha256(data).hexdigest())
    if data.startswith(_GZIP):
        data = expand(data, name=path.name)
    refuse_pointer(data[:200], name=path.name)
    text = decode(data, name=path.name, fallback=encoding)
    if not text.strip():
        raise InputError(f"{path.name}: the file is empty.")
    return Document(path, file, text)


def load_file_hash(path: Path) -> str:
    """SHA-256 of a file, read in pieces.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str
        Hexadecimal digest.
    """
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def refuse_pointer(head: bytes, *, name: str) -> None:
    """Refuse the stand-in that a storage system leaves in place of a large file.

    Parameters
    ----------
    head : bytes
        First bytes of the file.
    name : str
        Name of the file, for the message.

    Raises
    ------
    InputError
        When the bytes are a storage pointer.
    """
    for mark, system in _POINTERS.items():
        if mark.match(head.lstrip()):
            raise InputError(
                f"{name}: this is a storage pointer and not the data ({system})."
            )


def expansion_limit(compressed: int) -> int:
    """Largest size that compressed bytes may expand to before they are refused.

    Parameters
    ----------
    compressed : int
        Number of compressed bytes.

    Returns
    -------
    int
        Bytes: 64 MiB, or 100 times the compressed size, and never over 1 GiB.

    Examples
    --------
    >>> expansion_limit(1000) == 64 * 2**20
    True
    """
    return min(MAX_BYTES, max(_FREE_EXPANSION, _MAX_RATIO * compressed))


def expand(data: bytes, *, name: str) -> bytes:
    """Expand gzip data, all members of it.

    Parameters
    ----------
    data : bytes
        Compressed bytes.
    name : str
        Name of the file, for messages.

    Returns
    -------
    bytes

    Raises
    ------
    InputError
        When the data is damaged, or expands beyond `expansion_limit`.
    """
    limit = expansion_limit(len(data))
    out = bytearray()
    try:
        while data:
            unpacker = zlib.decompressobj(wbits=31)
            while data and not unpacker.eof:
                out += unpacker.decompress(data, _CHUNK)
                data = unpacker.unconsumed_tail
                if len(out) > limit:
                    raise InputError(
                        f"{name}: expands to over {limit:,} bytes, far more than "
                        "result files do; decompress it and look at it first."
                    )
            if not unpacker.eof:
                raise InputError(f"{name}: the gzip data ends too early.")
            data = unpacker.unused_data.lstrip(b"\0")
    except zlib.error as error:
        raise InputError(f"{name}: damaged gzip data ({error}).") from error
    return bytes(out)


def decode(data: bytes, *, name: str, fallback: str | None = None) -> str:
    """Text of a file: UTF-8 with or without a byte-order mark, or marked UTF-16.

    Parameters
    ----------
    data : bytes
        Content.
    name : str
        Name of the file, for messages.
    fallback : str, optional
        Encoding for bytes that are not UTF-8; None refuses them.

    Returns
    -------
    str

    Raises
    ------
    InputError
        When the bytes are not text.
    """
    encoding = "utf-8-sig"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if fallback is None:
            line = data.count(b"\n", 0, error.start) + 1
            expected = encoding.removesuffix("-sig").upper()
            raise InputError(
                f"{name}:{line}: byte {error.start:,} is not {expected} text; "
                "save the file as UTF-8."
            ) from error
        text = data.decode(fallback)
    if "\0" in text:
        raise InputError(f"{name}: holds NUL characters; it is not a text file.")
    return text


def parse_json(text: str, *, name: str, line: int | None = None) -> Any:
    """Value of a JSON text; strict about keys, lenient about ``NaN``.

    Parameters
    ----------
    text : str
        JSON text; the bare tokens ``NaN`` and ``Infinity`` are read.
    name : str
        Name of the file, for messages.
    line : int, optional
        Line of a JSON Lines file.

    Returns
    -------
    JSON value

    Raises
    ------
    InputError
        When the text is not JSON, repeats a key in one object, is nested too
        deeply, or holds a number of absurd length.
    """
    place = name if line is None else f"{name}:{line}"

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            _refuse_repeated_key(pairs, place)
        return found

    if "\\ud" in text or "\\uD" in text:
        text = _LONE_SURROGATE.sub(r"\1\\ufffd", text)  # could not be written as UTF-8
    try:
        return json.loads(text, object_pairs_hook=unique)
    except RecursionError:
        raise InputError(f"{place}: the JSON is nested too deeply.") from None
    except json.JSONDecodeError as error:
        where = f"{place}:{error.lineno}" if line is None else place
        raise InputError(
            f"{where}: not JSON ({error.msg} at character {error.colno}); "
            "the file may be cut short."
        ) from error
    except ValueError as error:
        raise InputError(f"{place}: a number is too long to be read.") from error


def parse_lines(text: str, *, name: str) -> Iterator[tuple[int, Any]]:
    """Values of a JSON Lines text; blank lines are skipped.

    Parameters
    ----------
    text : str
        JSON Lines text.
    name : str
        Name of the file, for messages.

    Yields
    ------
    tuple of int and JSON value
        Line number from 1, and the value.

    Raises
    ------
    InputError
        As `parse_json`.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, parse_json(line, name=name, line=number)


def _refuse_repeated_key(pairs: list[tuple[str, Any]], place: str) -> NoReturn:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            first, second = (repr(item)[:40] for item in (seen[key], value))
            raise InputError(
                f'{place}: the key "{key[:80]}" occurs twice in one object '
                f"({first} and {second}); keep one of them."
            )
        seen[key] = value
    raise AssertionError("called without a repeated key")
