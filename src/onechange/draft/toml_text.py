"""Plain values -> TOML text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["can_be_written", "commented", "toml_key", "toml_value"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def can_be_written(value: Any) -> bool:
    """Return whether TOML has a form for a value: it has none for None.

    Examples
    --------
    >>> can_be_written({"k": [1, 2]}), can_be_written([None])
    (True, False)
    """
    if isinstance(value, Mapping):
        return all(isinstance(key, str) for key in value) and all(
            can_be_written(part) for part in (*value, *value.values())
        )
    if isinstance(value, list | tuple):
        return all(can_be_written(part) for part in value)
    if isinstance(value, str):
        return not any(0xD800 <= ord(sign) <= 0xDFFF for sign in value)
    return isinstance(value, bool | int | float)


def toml_value(value: Any) -> str:
    """Write a value as TOML, in one line.

    Parameters
    ----------
    value : bool, int, float, str, list or mapping
        One that `can_be_written`.

    Returns
    -------
    str

    Examples
    --------
    >>> toml_value({"model": "a", "k": [3, 0.5]})
    '{ model = "a", k = [3, 0.5] }'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{"".join(_sign(sign) for sign in value)}"'
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        parts = [f"{toml_key(key)} = {toml_value(part)}" for key, part in value.items()]
        return "{ " + ", ".join(parts) + " }" if parts else "{}"
    return "[" + ", ".join(toml_value(part) for part in value) + "]"


def toml_key(name: str) -> str:
    """Write a name as the key of a TOML table, in quotes where it needs them.

    Examples
    --------
    >>> toml_key("qtype"), toml_key("top k")
    ('qtype', '"top k"')
    """
    return name if _BARE.fullmatch(name) else toml_value(name)


def commented(text: str) -> str:
    """Make one line of a text that may stand behind a ``#``."""
    return "".join(" " if _is_control(sign) else sign for sign in text)


def _sign(sign: str) -> str:
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    return f"\\u{ord(sign):04X}" if _is_control(sign) else sign


def _is_control(sign: str) -> bool:
    return ord(sign) < 0x20 or 0x7F <= ord(sign) <= 0x9F or sign in "\u2028\u2029"


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return repr(float(value))
