"""Members of a ZIP archive -> bytes: Deflate and Zstandard, counted while expanding."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from onechange.errors import InputError
from onechange.formats.source import MAX_BYTES, expansion_limit, load_file_hash
from onechange.results import SourceFile

__all__ = ["Archive", "open_archive"]

_STORED, _DEFLATED, _ZSTANDARD = 0, 8, 93
_LOCAL_HEADER = 30
_CHUNK = 1 << 20
_MAX_MEMBER = 256 << 20
_MAX_MEMBERS = 1_000_000


@dataclass(frozen=True, slots=True)
class Archive:
    """The members of a ZIP archive that passed the checks on their names."""

    path: Path
    file: SourceFile
    members: tuple[zipfile.ZipInfo, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the members, in the order of the archive."""
        return tuple(member.filename for member in self.members)

    def read(self, name: str) -> bytes:
        """Bytes of one member; the last one of that name, as ZIP readers do.

        Parameters
        ----------
        name : str
            Name of the member.

        Returns
        -------
        bytes

        Raises
        ------
        InputError
            When the member is absent, damaged or too large.
        """
        for member in reversed(self.members):
            if member.filename == name:
                return next(_expanded(self.path, [member]))[1]
        raise InputError(f'{self.path.name}: the archive has no member "{name}".')

    def read_all(self, names: Iterator[str]) -> Iterator[tuple[str, bytes]]:
        """Names and bytes of several members, expanded one at a time.

        Parameters
        ----------
        names : iterator of str
            Names of the members.

        Yields
        ------
        tuple of str and bytes

        Raises
        ------
        InputError
            When a member is damaged or too large, or a name occurs twice.
        """
        wanted = set(names)
        chosen = [member for member in self.members if member.filename in wanted]
        if len(chosen) > len(wanted):
            seen: set[str] = set()
            for member in chosen:
                if member.filename in seen:
                    raise InputError(
                        f'{self.path.name}: the member "{member.filename}" occurs '
                        "twice in the archive; keep one of them."
                    )
                seen.add(member.filename)
        yield from _expanded(self.path, chosen)

    def claimed_size(self, prefix: str) -> int:
        """Sum of the expanded sizes that members under a prefix claim to have.

        Parameters
        ----------
        prefix : str
            Beginning of the members' names.

        Returns
        -------
        int
            Bytes; a claim, not checked.
        """
        return sum(
            member.file_size
            for member in self.members
            if member.filename.startswith(prefix)
        )


def open_archive(path: Path) -> Archive:
    """Read the table of contents of a ZIP archive and check the names in it.

    Parameters
    ----------
    path : Path
        The archive.

    Returns
    -------
    Archive

    Raises
    ------
    InputError
        When the file is no ZIP archive, or a member has a path that leads out of
        the archive.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = tuple(archive.infolist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
        raise InputError(
            f"{path.name}: damaged ZIP archive ({error}); the file may be cut short."
        ) from error
    if len(members) > _MAX_MEMBERS:
        raise InputError(f"{path.name}: {len(members):,} members; not a result file.")
    for member in members:
        name = member.orig_filename
        parts = name.replace("\\", "/").split("/")
        if ".." in parts or name.startswith(("/", "\\")) or ":" in parts[0][1:2]:
            raise InputError(
                f'{path.name}: the member "{name[:80]}" leads out of the archive; '
                "refused."
            )
    return Archive(path, SourceFile(path.name, load_file_hash(path)), members)


def _expanded(
    path: Path, members: list[zipfile.ZipInfo]
) -> Iterator[tuple[str, bytes]]:
    total_limit = min(4 * MAX_BYTES, 4 * expansion_limit(path.stat().st_size))
    total = 0
    with path.open("rb") as stream:
        for member in members:
            data = _expand_member(stream, member, path.name)
            total += len(data)
            if total > total_limit:
                raise InputError(
                    f"{path.name}: the members expand to over {total_limit:,} bytes, "
                    "far more than result files do."
                )
            yield member.filename, data


def _expand_member(stream: BinaryIO, member: zipfile.ZipInfo, name: str) -> bytes:
    place = f'{name}: member "{member.filename}"'
    limit = min(_MAX_MEMBER, expansion_limit(member.compress_size))
    if member.file_size > limit:
        raise InputError(
            f"{place} claims {member.file_size:,} bytes; at most {limit:,} are read."
        )
    if member.flag_bits & 1:
        raise InputError(f"{place} is encrypted.")
    stream.seek(member.header_offset)
    header = stream.read(_LOCAL_HEADER)
    if len(header) < _LOCAL_HEADER or not header.startswith(b"PK\x03\x04"):
        raise InputError(f"{place}: damaged archive (no header at its offset).")
    name_length, extra_length = struct.unpack("<HH", header[26:30])
    stream.seek(name_length + extra_length, 1)
    packed = stream.read(member.compress_size)
    if len(packed) < member.compress_size:
        raise InputError(f"{place}: the archive is cut short.")
    data = _unpack(packed, member.compress_type, limit, place)
    if zlib.crc32(data) != member.CRC:
        raise InputError(f"{place}: damaged (the checksum differs).")
    return data


def _unpack(packed: bytes, method: int, limit: int, place: str) -> bytes:
    if method == _STORED:
        return packed
    if method == _DEFLATED:
        return _inflate(packed, limit, place)
    if method == _ZSTANDARD:
        return _unzstandard(packed, limit, place)
    raise InputError(
        f"{place} is compressed by ZIP method {method}; Deflate (8) and Zstandard "
        "(93) are read."
    )


def _inflate(packed: bytes, limit: int, place: str) -> bytes:
    unpacker = zlib.decompressobj(wbits=-15)
    try:
        data = unpacker.decompress(packed, limit + 1)
    except zlib.error as error:
        raise InputError(f"{place}: damaged ({error}).") from error
    if len(data) > limit:
        raise _too_large(place, limit)
    if not unpacker.eof:
        raise InputError(f"{place}: damaged (the data ends too early).")
    return data


def _unzstandard(packed: bytes, limit: int, place: str) -> bytes:
    import zstandard

    out = bytearray()
    try:
        with zstandard.ZstdDecompressor(max_window_size=128 << 20).stream_reader(
            packed, read_across_frames=True
        ) as reader:
            while chunk := reader.read(_CHUNK):
                out += chunk
                if len(out) > limit:
                    raise _too_large(place, limit)
    except zstandard.ZstdError as error:
        raise InputError(f"{place}: damaged ({error}).") from error
    return bytes(out)


def _too_large(place: str, limit: int) -> InputError:
    return InputError(
        f"{place} expands to over {limit:,} bytes, far more than result files do."
    )
