"""Numbers, intervals, p-values and counts as text; the only place that rounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Protocol

__all__ = [
    "MISSING",
    "decimals_for",
    "format_count",
    "format_exact",
    "format_interval",
    "format_number",
    "format_percent",
    "format_pvalue",
    "signature",
]

MISSING = "–"  # what stands for "not measured"; never 0
MINUS = "\N{MINUS SIGN}"
MAX_DECIMALS = 12
FIXED_DECIMALS = 8  # a metric that needs more is smaller than 1e-6
LARGE = 1e9  # from here on the digits before the point are not all written
HUGE = 1e15  # beyond what a float knows to its last digit
SMALLEST_PVALUE = 1e-4


class HasEnds(Protocol):
    """Anything with two limits."""

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...


def decimals_for(
    values: Iterable[float | None], *, significant: int = 3, at_most: int | None = None
) -> int:
    """Choose the decimals that show the largest value with enough digits.

    Parameters
    ----------
    values : iterable of float or None
        Figures of one metric that shall share their decimals; None and
        non-finite values are skipped.
    significant : int
        Significant digits of the largest value.
    at_most : int, optional
        Upper limit of the answer.

    Returns
    -------
    int
        At least 3 for values up to 1 (a share of 1.000 stands beside 0.527); below 0
        for values from a billion on: so many digits before the point are left out.

    Examples
    --------
    >>> decimals_for([0.527, 0.584]), decimals_for([798.2, 831.6]), decimals_for([4.21])
    (3, 0, 2)
    >>> decimals_for([2.5e-15]), decimals_for([3.1e20])
    (17, -18)
    """
    scale = max(
        (abs(v) for v in values if v is not None and math.isfinite(v)), default=0
    )
    decimals = 0
    if scale > 0:
        decimals = significant - 1 - math.floor(math.log10(scale))
    if scale < LARGE:
        decimals = max(decimals, 3 if scale <= 1 else 0)
    return decimals if at_most is None else min(decimals, at_most)


def format_number(
    value: float | None, decimals: int | None = None, *, signed: bool = False
) -> str:
    """Write a number with a fixed count of decimals.

    Parameters
    ----------
    value : float or None
        None and NaN print as a dash: not measured is not zero.
    decimals : int, optional
        Decimals to keep; by default three significant digits. Below 0, or for a
        value under 1e-6 that more than eight decimals shall show, the number is
        written with a power of ten.
    signed : bool
        Write ``+`` before positive values, as for a delta.

    Returns
    -------
    str
        A value that rounds to zero has no sign.

    Examples
    --------
    >>> format_number(0.0578, 3, signed=True), format_number(-0.0004, 3)
    ('+0.058', '0.000')
    >>> format_number(None), format_number(12345.6, 0)
    ('–', '12,346')
    >>> format_number(2.813e-15), format_number(-3.0759e20), format_number(4e-19, 17)
    ('2.81e-15', '−3.08e20', '0')
    """
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return MINUS + "∞" if value < 0 else ("+∞" if signed else "∞")
    if decimals is None:
        decimals = decimals_for([value])
    digits = _digits(abs(value), decimals)
    if not digits.strip("0.,"):
        return digits
    sign = MINUS if value < 0 else ("+" if signed else "")
    return sign + digits


def format_exact(value: float | int, *, signed: bool = False) -> str:
    """Write a number that a person chose (a margin, a limit) as it was chosen.

    Parameters
    ----------
    value : float
        A margin, a limit, a cut point.
    signed : bool
        Write ``+`` before positive values.

    Examples
    --------
    >>> format_exact(0.03), format_exact(80.0), format_exact(-0.25)
    ('0.03', '80', '−0.25')
    """
    size = abs(float(value))
    text = f"{size:.12g}"
    if "e" in text and 1e-6 <= size < HUGE:
        text = f"{size:.12f}".rstrip("0").rstrip(".")
    elif "e" in text:
        text = _plain_power(text)
    if text == "0":
        return text
    return (MINUS if value < 0 else "+" if signed else "") + text


def _digits(size: float, decimals: int) -> str:
    """Write a size that is zero or more, with a power of ten where it takes one."""
    small = decimals > FIXED_DECIMALS and size < 1e-6
    if not (small or decimals < 0 or size >= HUGE):
        return f"{size:{',' if size >= 10_000 else ''}.{decimals}f}"
    if size == 0 or size < 0.5 * 10.0**-decimals:
        return "0"
    exponent = math.floor(math.log10(size))
    return _plain_power(f"{size:.{min(max(decimals + exponent, 0), 6)}e}")


def _plain_power(text: str) -> str:
    digits, _, power = text.partition("e")
    return f"{digits}e{int(power)}"


def format_interval(
    interval: HasEnds | None, decimals: int, *, signed: bool = True
) -> str:
    """Write both ends of an interval with the same decimals.

    Parameters
    ----------
    interval : object with ``low`` and ``high``, or None
        An unbounded end is infinite.
    decimals : int
        Decimals of both ends.
    signed : bool
        True for an interval of a delta, False for an arm's own value.

    Examples
    --------
    >>> from onechange.stats.estimate import Interval
    >>> format_interval(Interval(-0.0012, 0.1167, 0.95, "t"), 3)
    '−0.001 … +0.117'
    """
    if interval is None:
        return MISSING
    low = format_number(interval.low, decimals, signed=signed)
    high = format_number(interval.high, decimals, signed=signed)
    return f"{low} … {high}"


def format_pvalue(pvalue: float | None) -> str:
    """Write a p-value; never 0, and never rounded across 0.05 or 0.01.

    Examples
    --------
    >>> format_pvalue(2.8e-09), format_pvalue(0.0034), format_pvalue(0.3187)
    ('< 0.0001', '0.0034', '0.319')
    >>> format_pvalue(None), format_pvalue(0.04998)
    ('–', '0.04998')
    """
    if pvalue is None or math.isnan(pvalue):
        return MISSING
    if pvalue < SMALLEST_PVALUE:
        return "< 0.0001"
    decimals = 3 if pvalue >= 0.1 else 4
    while decimals < MAX_DECIMALS and any(
        round(pvalue, decimals) == level and pvalue != level for level in (0.05, 0.01)
    ):
        decimals += 1
    return f"{pvalue:.{decimals}f}"


def format_percent(share: float | None, decimals: int | None = None) -> str:
    """Write a share as a percentage.

    Examples
    --------
    >>> format_percent(0.95), format_percent(0.975), format_percent(1 / 3, 1)
    ('95 %', '97.5 %', '33.3 %')
    """
    if share is None or math.isnan(share):
        return MISSING
    if decimals is None:
        return format_exact(round(share * 100, 4)) + " %"
    return format_number(share * 100, decimals) + " %"


def format_count(count: int | None) -> str:
    """Write a count; thousands are parted from 10,000 on.

    Examples
    --------
    >>> format_count(909), format_count(1_000_000), format_count(None)
    ('909', '1,000,000', '–')
    """
    if count is None:
        return MISSING
    return f"{count:,}" if abs(count) >= 10_000 else str(count)


def signature(
    *,
    n: int,
    trials: tuple[int, int],
    intervals: Sequence[str],
    confidence_level: float,
    tests: Sequence[str],
    version: str,
    unit: str = "question",
    clusters: int | None = None,
    statistics: Sequence[str] = ("mean",),
    seed: int | None = None,
    resampling: str | None = None,
    plan_sha256: str | None = None,
) -> str:
    """One line that a paper can quote and that names every choice.

    Parameters
    ----------
    n : int
        Paired questions.
    trials : tuple of int
        Trials of the baseline and of the variant.
    intervals, tests, statistics : sequence of str
        Names of the methods and statistics used; repeated names are written once.
    confidence_level : float
        Two-sided level of the intervals.
    version : str
        Version of the package.
    unit : str
        The unit that is paired and resampled.
    clusters : int, optional
        Number of clusters, when clusters are declared.
    seed : int, optional
        Seed, when anything was sampled.
    resampling : str, optional
        How bootstrap intervals resample, when not with n draws of all questions.
    plan_sha256 : str, optional
        Hash of the plan file; the first eight digits are shown.

    Examples
    --------
    >>> signature(n=150, trials=(3, 3), intervals=["newcombe"], tests=["mcnemar-midp"],
    ...           confidence_level=0.95, version="0.1.0")
    'unit:question|n:150|trials:3|delta:mean|interval:newcombe,0.95|test:mcnemar-midp|onechange:0.1.0'
    """
    parts = [f"unit:{unit}", f"n:{n}"]
    if clusters is not None:
        parts.append(f"clusters:{clusters}")
    parts.append(f"trials:{trials[0]}" + (f"/{trials[1]}" * (trials[0] != trials[1])))
    parts.append("delta:" + _joined(statistics))
    parts.append(f"interval:{_joined(intervals)},{confidence_level:g}")
    parts.append("test:" + _joined(tests))
    if resampling is not None:
        parts.append(f"resampling:{resampling}")
    if seed is not None:
        parts.append(f"seed:{seed}")
    if plan_sha256:
        parts.append(f"plan:{plan_sha256[:8]}")
    parts.append(f"onechange:{version}")
    return "|".join(parts)


def _joined(names: Sequence[str]) -> str:
    return "/".join(dict.fromkeys(names)) or "none"
