"""Status and numbers -> the clause that explains it in plain words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from onechange.display import format_count, format_exact, format_number, format_percent
from onechange.status import Ends, Status, improvement_ends, worsening_ends

__all__ = [
    "Wording",
    "about",
    "equivalence_clause",
    "estimate_limit_clause",
    "estimate_margin_clause",
    "limit_clause",
    "margin_clause",
    "primary_clause",
]


@dataclass(frozen=True, slots=True)
class Wording:
    """How the numbers of one metric are written.

    Parameters
    ----------
    direction : str
        ``higher`` or ``lower`` is better.
    decimals : int
        Decimals of the metric's figures, the same everywhere.
    share : float, optional
        Margin as a share of the baseline; changes are then shares, too, written as
        percentages that show on which side of it they are.
    """

    direction: str
    decimals: int = 3
    share: float | None = None

    @property
    def worse(self) -> str:
        """The word for a worsening."""
        return "drop" if self.direction == "higher" else "rise"

    @property
    def better(self) -> str:
        """The word for an improvement."""
        return "rise" if self.direction == "higher" else "drop"

    def size(self, value: float) -> str:
        """Write the size of a change."""
        if self.share is None or not math.isfinite(value):
            return format_number(value, self.decimals)
        decimals = 1
        while decimals < 6 and _looks_equal(100 * value, 100 * self.share, decimals):
            decimals += 1
        return format_percent(value, decimals)

    def change(self, worsening: float) -> str:
        """Write a change with its direction, given how much worse it is."""
        if worsening == 0:
            return "no change"
        word = self.worse if worsening > 0 else self.better
        return f"a {word} of {self.size(abs(worsening))}"


def primary_clause(
    status: Status, interval: Ends, min_improvement: float, words: Wording
) -> str:
    """Say where the improvement lies against the least improvement.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> ends = SimpleNamespace(low=-0.0012, high=0.1167)
    >>> primary_clause(Status.INCONCLUSIVE, ends, 0.0, Wording("higher"))
    'the improvement lies between −0.001 and +0.117, 0 is inside'
    """
    low, high = improvement_ends(interval, words.direction)
    ends = [format_number(end, words.decimals, signed=True) for end in (low, high)]
    least = "0"
    if min_improvement:
        least = f"the least improvement {format_exact(min_improvement)}"
    place = {
        Status.PASS: f"above {least}",
        Status.FAIL: f"below {least}",
        Status.INCONCLUSIVE: f"{least} is inside",
    }[status]
    clause = f"the improvement lies between {ends[0]} and {ends[1]}, {place}"
    if status is Status.FAIL:
        shown = "worse" if high < 0 else "smaller than needed"
        clause += f": it is shown to be {shown}"
    return clause


def margin_clause(
    status: Status, interval: Ends, margin: float | str, words: Wording
) -> str:
    """Say where the worsening lies against the margin.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> ends = SimpleNamespace(low=-0.026, high=-0.007)
    >>> margin_clause(Status.INCONCLUSIVE, ends, 0.02, Wording("higher"))
    'the drop lies between 0.007 and 0.026, the margin 0.02 is inside'
    """
    low, high = worsening_ends(interval, words.direction)
    allowed = _margin(margin)
    if status is Status.PASS:
        if high < 0:
            return (
                f"it is better by at least {words.size(-high)}; a {words.worse} up to "
                f"the {allowed} is tolerated"
            )
        return f"the {words.worse} is at most {words.size(high)}, within the {allowed}"
    if status is Status.FAIL:
        return f"the {words.worse} is at least {words.size(low)}, beyond the {allowed}"
    if low >= 0:
        ends = (
            f"the {words.worse} lies between {words.size(low)} and {words.size(high)}"
        )
    else:
        ends = f"it lies between {words.change(low)} and {words.change(high)}"
    return f"{ends}, the {allowed} is inside"


def equivalence_clause(
    status: Status, interval: Ends, margin: float | str, words: Wording
) -> str:
    """Say where the change lies against a margin on both sides.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> ends = SimpleNamespace(low=0.062, high=0.094)
    >>> equivalence_clause(Status.FAIL, ends, 0.05, Wording("higher"))
    'the rise is at least 0.062, beyond the margin 0.05'
    """
    low, high = worsening_ends(interval, words.direction)
    allowed = _margin(margin)
    if low < 0 < high:
        ends = f"it lies between {words.change(low)} and {words.change(high)}"
    else:
        word = words.worse if high > 0 else words.better
        near, far = sorted((abs(low), abs(high)))
        if status is Status.FAIL:
            return f"the {word} is at least {words.size(near)}, beyond the {allowed}"
        ends = f"the {word} lies between {words.size(near)} and {words.size(far)}"
        if near == 0:
            ends = f"the {word} is at most {words.size(far)}" if far else "no change"
    place = "within" if status is Status.PASS else "partly beyond"
    return f"{ends}, {place} the {allowed} on either side"


def estimate_margin_clause(
    status: Status, worsening: float, margin: float | str, words: Wording
) -> str:
    """Say how the point value compares with the margin."""
    change = words.change(worsening)
    place = "within" if status is Status.PASS else "beyond"
    return f"this run shows {change} (point value), {place} the {_margin(margin)}"


def limit_clause(status: Status, interval: Ends, limit: float, words: Wording) -> str:
    """Say where the variant's own value lies against its limit."""
    ends = [format_number(end, words.decimals) for end in (interval.low, interval.high)]
    bound = f"the limit {format_exact(limit)}"
    place = {
        Status.PASS: f"within {bound}",
        Status.FAIL: f"beyond {bound}",
        Status.INCONCLUSIVE: f"{bound} is inside",
    }[status]
    if ends[0] == ends[1] and status is not Status.INCONCLUSIVE:
        return f"the variant is at {ends[0]}, {place}"
    return f"the variant lies between {ends[0]} and {ends[1]}, {place}"


def estimate_limit_clause(
    status: Status, variant: float, limit: float, words: Wording
) -> str:
    """Say how the variant's point value compares with its limit."""
    place = "within" if status is Status.PASS else "beyond"
    value = format_number(variant, words.decimals)
    return (
        f"the variant is at {value} (point value), {place} the limit "
        + format_exact(limit)
    )


def about(count: int) -> str:
    """Write a rough count, rounded up to two significant digits.

    Examples
    --------
    >>> about(1234), about(38)
    ('1300', '38')
    """
    if count >= 100:
        unit = 10 ** (len(str(count)) - 2)
        count = -(-count // unit) * unit
    return format_count(count)


def _looks_equal(value: float, threshold: float, decimals: int) -> bool:
    return abs(value - threshold) > 1e-9 and round(value, decimals) == threshold


def _margin(margin: float | str) -> str:
    return f"margin {margin if isinstance(margin, str) else format_exact(margin)}"
