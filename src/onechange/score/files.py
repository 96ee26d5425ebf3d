"""Files around a table: its text, its settings, and writing it in one step."""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onechange.errors import InputError

__all__ = [
    "arm_settings",
    "read_text",
    "replace_file",
    "settings_path",
    "write_settings",
]


def settings_path(path: Path) -> Path:
    """Return where the settings of a table are written: ``<stem>.settings.json``."""
    return path.with_name(f"{path.stem}.settings.json")


def arm_settings(path: Path) -> dict[str, Any]:
    """Read the settings that stand beside a file.

    Parameters
    ----------
    path : Path
        The file; settings are ``<stem>.settings.toml`` or ``<stem>.settings.json``.
        Those of ``run.traces.jsonl`` may also stand in ``run.settings.toml``.

    Returns
    -------
    dict
        Empty when there are none.

    Raises
    ------
    InputError
        If both files exist or one is not valid.
    """
    toml, json_path = path.with_name(f"{path.stem}.settings.toml"), settings_path(path)
    if not toml.exists() and not json_path.exists() and path.stem.endswith(".traces"):
        return arm_settings(path.with_name(path.stem.removesuffix(".traces")))
    if toml.exists() and json_path.exists():
        raise InputError(f"{toml} and {json_path.name} both exist; keep one of them")
    try:
        if toml.exists():
            return tomllib.loads(read_text(toml))
        if json_path.exists():
            content = json.loads(read_text(json_path))
            if isinstance(content, dict):
                return content
            raise InputError(f"{json_path}: expected an object of settings")
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: its settings cannot be read ({error})") from error
    return {}


def write_settings(path: Path, settings: Mapping[str, Any]) -> None:
    """Write settings beside a table.

    Parameters
    ----------
    path : Path
        The table.
    settings : mapping
        Plain values.
    """
    text = json.dumps(
        settings, ensure_ascii=False, indent=2, sort_keys=True, default=str
    )
    replace_file(settings_path(path), text + "\n")


def read_text(path: Path) -> str:
    """Read a UTF-8 text with its line ends as they are.

    Parameters
    ----------
    path : Path

    Returns
    -------
    str

    Raises
    ------
    InputError
        If it cannot be read or is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file beside its place and then put it there in one step.

    Parameters
    ----------
    path : Path
        Where the file goes; an existing one is replaced as a whole.
    content : str or bytes
        A text is written as UTF-8.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    try:
        data = content.encode("utf-8") if isinstance(content, str) else content
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        raise InputError(f"{path}: a text holds half a character ({half})") from error
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = path.stat().st_mode if path.exists() else None
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            umask = os.umask(0)
            os.umask(umask)
            temporary.chmod(0o666 & ~umask if mode is None else mode & 0o777)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from error
