"""Interval and margin -> pass, fail, inconclusive; exact comparison; nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Decimal
from enum import StrEnum
from typing import Protocol, TypeGuard

__all__ = [
    "Status",
    "equivalence_status",
    "estimate_limit_status",
    "estimate_margin_status",
    "estimate_relative_status",
    "improvement_ends",
    "limit_status",
    "margin_status",
    "primary_status",
    "worse_of",
    "worsening_ends",
]

TOLERANCE = 1e-9  # of a margin or a limit, and never less than this in its unit
DIGITS = 12  # significant digits of a mean that are free of binary noise


class Ends(Protocol):
    """Anything with two limits, such as an `Interval`."""

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...


class Status(StrEnum):
    """Status of the primary or of one guardrail."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


def improvement_ends(interval: Ends, direction: str) -> tuple[float, float]:
    """Turn an interval of the delta into one of the improvement.

    Parameters
    ----------
    interval : object with ``low`` and ``high``
        Interval of variant minus baseline, in the metric's unit.
    direction : str
        ``higher`` or ``lower`` is better.

    Returns
    -------
    low, high : float
        Positive is better.
    """
    if direction == "higher":
        return interval.low, interval.high
    return _negative(interval.high), _negative(interval.low)


def worsening_ends(interval: Ends, direction: str) -> tuple[float, float]:
    """Turn an interval of the delta into one of the worsening.

    Parameters
    ----------
    interval : object with ``low`` and ``high``
        Interval of variant minus baseline, in the metric's unit.
    direction : str
        ``higher`` or ``lower`` is better.

    Returns
    -------
    low, high : float
        Positive is worse.
    """
    low, high = improvement_ends(interval, direction)
    return _negative(high), _negative(low)


def primary_status(
    interval: Ends | None, min_improvement: float, direction: str
) -> Status:
    """Compare the interval of the primary with the least improvement.

    Parameters
    ----------
    interval : object with ``low`` and ``high``, or None
        Decision interval of variant minus baseline; None is not measured.
    min_improvement : float
        Improvement that must be exceeded, in the metric's unit.
    direction : str
        ``higher`` or ``lower`` is better.

    Returns
    -------
    Status
        ``pass`` if the whole interval lies above `min_improvement`, ``fail`` if it
        lies below; an end that equals it (but for rounding noise) does neither.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> primary_status(SimpleNamespace(low=0.01, high=0.2), 0.0, "higher")
    <Status.PASS: 'pass'>
    >>> primary_status(SimpleNamespace(low=0.0, high=0.2), 0.0, "higher")
    <Status.INCONCLUSIVE: 'inconclusive'>
    """
    if interval is None:
        return Status.INCONCLUSIVE
    low, high = improvement_ends(interval, direction)
    if math.isnan(low) or math.isnan(high):
        return Status.INCONCLUSIVE
    width = high - low if math.isfinite(high - low) else 0.0
    noise = TOLERANCE * max(abs(min_improvement), width)
    if low > min_improvement + noise:
        return Status.PASS
    return Status.FAIL if high < min_improvement - noise else Status.INCONCLUSIVE


def margin_status(interval: Ends | None, margin: float, direction: str) -> Status:
    """Compare the interval of the worsening with the tolerated margin.

    Parameters
    ----------
    interval : object with ``low`` and ``high``, or None
        Decision interval of variant minus baseline; None is not measured.
    margin : float
        Largest tolerated worsening, in the metric's unit; itself tolerated.
    direction : str
        ``higher`` or ``lower`` is better.

    Returns
    -------
    Status
        ``pass`` if the whole interval of the worsening lies at or below the margin,
        ``fail`` if it lies above.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> margin_status(SimpleNamespace(low=-0.02, high=0.05), 0.02, "higher")
    <Status.PASS: 'pass'>
    """
    if interval is None:
        return Status.INCONCLUSIVE
    low, high = worsening_ends(interval, direction)
    return _against(low, high, margin)


def equivalence_status(interval: Ends | None, margin: float) -> Status:
    """Compare an interval with a margin on both sides (two one-sided tests).

    Parameters
    ----------
    interval : object with ``low`` and ``high``, or None
        Decision interval of variant minus baseline; None is not measured.
    margin : float
        Largest tolerated change in either direction, in the metric's unit.

    Returns
    -------
    Status
        ``pass`` if the whole interval lies within the margin, ``fail`` if it lies
        beyond it on one side.
    """
    if interval is None:
        return Status.INCONCLUSIVE
    sides = [margin_status(interval, margin, side) for side in ("higher", "lower")]
    if Status.FAIL in sides:
        return Status.FAIL
    return worse_of(sides)


def limit_status(interval: Ends | None, limit: float, direction: str) -> Status:
    """Compare the interval of the variant's own value with its limit.

    Parameters
    ----------
    interval : object with ``low`` and ``high``, or None
        Interval of the variant's own value; None is not measured.
    limit : float
        Lowest (higher is better) or highest (lower is better) allowed value.
    direction : str
        ``higher`` or ``lower`` is better.

    Returns
    -------
    Status
        ``pass`` if the whole interval is within the limit, ``fail`` if it is beyond.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> limit_status(SimpleNamespace(low=2100.0, high=2900.0), 3000, "lower")
    <Status.PASS: 'pass'>
    """
    if interval is None:
        return Status.INCONCLUSIVE
    if direction == "lower":
        return _against(interval.low, interval.high, limit)
    return _against(-interval.high, -interval.low, -limit)


def estimate_margin_status(
    baseline: float | None, variant: float | None, margin: float, direction: str
) -> Status:
    """Compare the worsening of the point values with the margin, in decimals.

    Parameters
    ----------
    baseline, variant : float or None
        Values of the arms; None is not measured.
    margin : float
        Largest tolerated worsening, in the metric's unit; itself tolerated.
    direction : str
        ``higher`` or ``lower`` is better.

    Returns
    -------
    Status

    Notes
    -----
    Both values are rounded to 12 significant digits of the larger one and
    subtracted as decimals, so that 0.85 − 0.90 is −0.05 and not
    −0.050000000000000044.

    Examples
    --------
    >>> estimate_margin_status(18 / 20, 17 / 20, 0.05, "higher")
    <Status.PASS: 'pass'>
    """
    if not _measured(baseline) or not _measured(variant):
        return Status.INCONCLUSIVE
    before, after = _decimals(baseline, variant)
    worsening = before - after if direction == "higher" else after - before
    return Status.PASS if worsening <= Decimal(repr(float(margin))) else Status.FAIL


def estimate_relative_status(
    baseline: float | None, variant: float | None, share: float, direction: str
) -> Status:
    """Compare the point values with a margin relative to the baseline.

    Parameters
    ----------
    baseline, variant : float or None
        Values of the arms; None is not measured.
    share : float
        Largest tolerated worsening as a fraction of the baseline.
    direction : str
        ``higher`` or ``lower`` is better.

    Returns
    -------
    Status
        ``inconclusive`` for a baseline of 0 or less, of which there is no share.
    """
    if not _measured(baseline) or not _measured(variant):
        return Status.INCONCLUSIVE
    if baseline <= 0:
        return Status.INCONCLUSIVE
    before, after = _decimals(baseline, variant)
    worsening = before - after if direction == "higher" else after - before
    allowed = before * Decimal(repr(float(share)))
    quantum = Decimal(1).scaleb(before.as_tuple().exponent)  # type: ignore[arg-type]
    return Status.PASS if worsening <= allowed + quantum else Status.FAIL


def estimate_limit_status(
    variant: float | None, limit: float, direction: str
) -> Status:
    """Compare the variant's point value with its limit, in decimals.

    Parameters
    ----------
    variant : float or None
        Value of the variant; None is not measured.
    limit : float
        Lowest (higher is better) or highest (lower is better) allowed value.
    direction : str
        ``higher`` or ``lower`` is better.

    Returns
    -------
    Status
    """
    if not _measured(variant):
        return Status.INCONCLUSIVE
    (value,) = _decimals(variant)
    bound = Decimal(repr(float(limit)))
    within = value >= bound if direction == "higher" else value <= bound
    return Status.PASS if within else Status.FAIL


def worse_of(statuses: Iterable[Status]) -> Status:
    """Return the worst status: fail before inconclusive before pass.

    Parameters
    ----------
    statuses : iterable of Status
        At least one.

    Examples
    --------
    >>> worse_of([Status.PASS, Status.INCONCLUSIVE])
    <Status.INCONCLUSIVE: 'inconclusive'>
    """
    order = (Status.PASS, Status.INCONCLUSIVE, Status.FAIL)
    return max(statuses, key=order.index)


def _against(low: float, high: float, bound: float) -> Status:
    """Where [low, high] lies against an upper bound that is itself allowed."""
    if math.isnan(low) or math.isnan(high):
        return Status.INCONCLUSIVE
    allowed = bound + TOLERANCE * max(1.0, abs(bound))
    if high <= allowed:
        return Status.PASS
    return Status.FAIL if low > allowed else Status.INCONCLUSIVE


def _negative(value: float) -> float:
    return 0.0 if value == 0 else -value


def _measured(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)


def _decimals(*values: float) -> tuple[Decimal, ...]:
    """Round values to the same decimal place: 12 digits of the largest."""
    largest = max(abs(value) for value in values)
    place = 0 if largest == 0 else math.floor(math.log10(largest)) + 1 - DIGITS
    quantum = Decimal(1).scaleb(place)
    return tuple(
        Decimal(repr(float(value))).quantize(quantum, rounding=ROUND_HALF_EVEN)
        for value in values
    )
