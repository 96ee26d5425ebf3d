"""Names a plan may hold, and the checks and errors of its keys."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from onechange.errors import PlanError

__all__ = [
    "ADJUSTMENTS",
    "BUILT_IN_RATES",
    "EQUAL_WEIGHTS",
    "STAGE_SCORES",
    "STATISTICS",
    "Key",
    "PlanKeyError",
    "check_finite",
    "check_named",
    "check_not_negative",
    "check_one_of",
    "check_range",
    "check_thresholds",
    "check_whole",
    "comma_list",
    "did_you_mean",
    "is_number",
]

Key = tuple[str | int, ...]

BUILT_IN_RATES = {"failed": "lower", "unscored": "lower", "answered": "higher"}
STATISTICS = ("mean", "p50", "p90", "p95", "p99", "loss_rate")
EQUAL_WEIGHTS = "equal"  # in place of a mix: the macro average
# Scores that the diagnosis reads stage by stage, and their lowest value.
STAGE_SCORES = {
    "context_recall": 0.0,
    "context_precision": 0.0,
    "faithfulness": 0.0,
    "answer_relevance": -1.0,
}
ADJUSTMENTS = ("max-t", "holm", "bh", "none")


class PlanKeyError(PlanError):
    """A plan key holds something it may not hold.

    Parameters
    ----------
    key : tuple of str or int
        Path of the key, for example ``("guardrail", 1, "margin")``.
    text : str
        What was found, and the way out.
    """

    def __init__(self, key: Key, text: str) -> None:
        self.key = key
        self.text = text
        label = ".".join(str(part) for part in key if isinstance(part, str))
        super().__init__(f"plan: {label}: {text}" if label else f"plan: {text}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the hint for a misspelt name: the nearest valid one, and all of them.

    Examples
    --------
    >>> did_you_mean("margn", ["margin", "limit"])
    'did you mean "margin"? Valid: limit, margin.'
    """
    names = sorted(known)
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    listed = f"Valid: {', '.join(names) or 'none'}."
    return f'did you mean "{near[0]}"? {listed}' if near else listed


def check_named(field: str, value: object) -> None:
    """Refuse an empty name."""
    if not isinstance(value, str) or not value:
        raise PlanKeyError((field,), "is empty; give a name.")


def check_one_of(field: str, value: str | None, choices: Sequence[str]) -> None:
    """Refuse a word that is not among the choices (None is not given)."""
    if value is not None and value not in choices:
        raise PlanKeyError(
            (field,), f'is "{value}"; {did_you_mean(str(value), choices)}'
        )


def is_number(value: object) -> bool:
    """Return whether a value is a number; true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_finite(field: str, value: float, whose: str) -> None:
    """Refuse anything but a finite number."""
    if not is_number(value) or not math.isfinite(value):
        raise PlanKeyError((field,), f"{whose} is {value}; give a finite number.")


def check_not_negative(
    field: str, value: float, whose: str, *, what: str = "the value"
) -> None:
    """Refuse anything but a finite number of 0 or more."""
    if not is_number(value) or not math.isfinite(value) or value < 0:
        raise PlanKeyError(
            (field,),
            f"{whose} is {value}; give {what} as a finite number of 0 or more.",
        )


def check_whole(field: str, value: int, *, least: int) -> None:
    """Refuse anything but a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise PlanKeyError(
            (field,), f"is {value}; give a whole number of {least} or more."
        )


def check_range(name: str, declared: Sequence[float]) -> tuple[float, float]:
    """Return the (lowest, highest) of a declared score range."""
    values = tuple(declared)
    numbers = len(values) == 2 and all(
        is_number(value) and math.isfinite(value) for value in values
    )
    if not numbers or not values[0] < values[1]:
        raise PlanKeyError(
            ("range",),
            f'of "{name}" is [{comma_list(values)}]; give [lowest, highest] as two '
            "finite numbers.",
        )
    return float(values[0]), float(values[1])


def check_thresholds(thresholds: Mapping[str, float]) -> None:
    """Refuse a threshold of a score that no stage is read from, or out of its range.

    Raises
    ------
    PlanKeyError
        With the key below ``diagnosis``.
    """
    for name, value in thresholds.items():
        if name not in STAGE_SCORES:
            raise PlanKeyError(
                ("diagnosis", name), f"unknown key; {did_you_mean(name, STAGE_SCORES)}"
            )
        low = STAGE_SCORES[name]
        if not (is_number(value) and low <= value <= 1.0):
            raise PlanKeyError(
                ("diagnosis", name),
                f"is {value}; give a number from {low:g} to 1, below which the score "
                "is low.",
            )


def comma_list(values: Sequence[object]) -> str:
    """Return values as text, parted by commas."""
    return ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values)
