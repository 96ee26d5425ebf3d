"""Values of files and arrays -> plain Python values, nested or flat."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["flatten", "plain_value", "same_value"]


def plain_value(value: object) -> Any:
    """Plain Python value of a setting: NumPy scalars and NaN taken off.

    Parameters
    ----------
    value : object
        JSON, TOML, NumPy or Python value.

    Returns
    -------
    None, bool, int, float, str, list or dict

    Examples
    --------
    >>> plain_value(np.float64("nan")), plain_value({"k": (np.int64(3),)})
    (None, {'k': [3]})
    """
    if isinstance(value, Mapping):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def same_value(first: object, second: object) -> bool:
    """Whether two recorded values are one, be they numbers or texts of numbers.

    Parameters
    ----------
    first, second : object
        Plain values of settings.

    Returns
    -------
    bool

    Examples
    --------
    >>> same_value(3, 3.0), same_value("3", 3), same_value(True, "true")
    (True, True, True)
    >>> same_value(True, 1), same_value(None, "None")
    (False, False)
    """
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second or str(first).casefold() == str(second).casefold()
    return first == second or (
        first is not None and second is not None and str(first) == str(second)
    )


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings as one level with dotted keys, sorted by key.

    Parameters
    ----------
    values : mapping
        Settings; inner mappings are opened, lists are kept whole.
    prefix : str
        What stands before every key.

    Returns
    -------
    dict of str to plain Python value

    Examples
    --------
    >>> flatten({"retriever": {"top_k": 3}, "model": "m"})
    {'model': 'm', 'retriever.top_k': 3}
    """
    flat: dict[str, Any] = {}
    pending: list[tuple[str, Any]] = [(prefix, values)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, Mapping) and value:
            stem = f"{path}." if path else ""
            pending.extend((f"{stem}{key}", inner) for key, inner in value.items())
        elif path:
            flat[path] = plain_value(value)
    return dict(sorted(flat.items()))
