"""Numbers in answers, compared as numbers: scale words, units, percent, parentheses."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext

from onechange.errors import MethodError
from onechange.score.unit_words import (
    CURRENCIES,
    CURRENCY_NAMES,
    MONEY_PATTERN,
    PERCENT,
    SCALES,
    SCALES_GLUED,
    SCALES_OF_MONEY,
    STRICT_UNITS,
    UNIT_PATTERN,
    in_base_units,
    unit_name,
)

__all__ = ["Quantity", "numeric_match", "quantities"]

_SPACE = r"[ \t\u00a0\u202f]*"
_MINUS = "[-\u2212\u2013]"  # hyphen, minus sign, en dash
_NUMBER_WORDS = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|"
    "fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|"
    "sixty|seventy|eighty|ninety|hundred|thousand|and"
)
# "5 (five) million": the number once more in words.
_IN_WORDS = rf"(?:{_SPACE}\((?:(?:{_NUMBER_WORDS})[ -]?)+\))?"
_NUMBER = re.compile(
    r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d{1,3}(?:[\u00a0\u202f]\d{3})+(?!\d)|\d+)"
    r"(?:\.\d+)?(?:[eE][+-]?\d{1,3}(?!\w))?|\.\d+"
)
_BEFORE = re.compile(
    rf"(?P<sign>(?<![\w)]){_MINUS})?(?P<open>\({_SPACE})?"
    rf"(?:(?<![^\W\d_])(?P<money>{MONEY_PATTERN}){_SPACE})?"
    rf"(?P<inner_open>\({_SPACE})?(?P<inner_sign>(?<![\w)]){_MINUS})?$",
    re.IGNORECASE,
)
_scales = "|".join(sorted(SCALES, key=len, reverse=True))
_AFTER = re.compile(
    rf"{_IN_WORDS}(?P<inner_close>{_SPACE}\))?"
    rf"(?:(?P<glue>{_SPACE}-?{_SPACE})"
    rf"(?P<scale>{_scales})(?!\w|-\d))?"
    rf"(?:{_SPACE}-?{_SPACE}(?P<unit>{UNIT_PATTERN})(?!\w))?"
    rf"(?P<close>{_SPACE}\))?",
    re.IGNORECASE,
)
_SCALE_ON_NEXT_LINE = re.compile(
    r"(?<=\d)[ \t]*\r?\n[ \t]*(?=(?:thousand|million|billion|trillion)s?\b)",
    re.IGNORECASE,
)
# "minus 5", but not "10 minus 5".
_MINUS_WORD = re.compile(
    r"(?<![\d%)])(?P<before>^|[^\w\s]\s*|[^\W\d]\s+)(?:minus|negative)\s+"
    r"(?=[$€£¥₹]?\s?\.?\d)",
    re.IGNORECASE,
)
# "1 000 000" may be one number or three: both readings are tried.
_SPACED = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?![\d,])")
_FISCAL = re.compile(r"(?<!\w)(?:FY|CY)-?(?=(?:19|20)\d{2}(?!\w))", re.IGNORECASE)
_LOOK_BACK = 16  # characters before a number that can hold its sign and currency
_DIGITS = 2200  # enough for any number of the grammar: sums stay exact


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as written: its value, its unit, and how finely it is given.

    Parameters
    ----------
    value : Decimal
        Value with its scale word multiplied in; percent stays as written.
    unit : str or None
        ``USD``, ``percent``, ``day`` …; None when no known unit stands beside it.
    step : Decimal
        Size of its last written digit: 0.1 million for "12.3 million".
    """

    value: Decimal
    unit: str | None
    step: Decimal


def quantities(text: str) -> list[Quantity]:
    """Find the numbers of a text.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of Quantity
        In the order of the text.

    Notes
    -----
    English notation: "," and hard spaces group thousands, "." is the decimal point.
    An amount, a percentage or a bare number wholly inside parentheses is negative, as
    in accounts; a bare year such as (2018) is not. Digits that are part of a word
    (Q3, FY2018, COVID-19) are not numbers.

    Examples
    --------
    >>> [float(q.value) for q in quantities("$12 million, a loss of $(3.5) million")]
    [12000000.0, -3500000.0]
    >>> quantities("15%")[0].unit
    'percent'
    """
    text = _SCALE_ON_NEXT_LINE.sub(" ", text)
    text = _MINUS_WORD.sub(r"\g<before>-", text)
    found = (_quantity(text, match) for match in _NUMBER.finditer(text))
    return [quantity for quantity in found if quantity is not None]


def numeric_match(
    answer: str,
    references: Sequence[str],
    *,
    relative_tolerance: float | None = None,
) -> float | None:
    """Compare the numbers of an answer with those of the references.

    Parameters
    ----------
    answer : str
    references : sequence of str
        Accepted answers; the best one counts.
    relative_tolerance : float, optional
        Largest allowed |answer - reference| / |reference|. By default the answer
        must equal the reference after rounding to the reference's last digit.

    Returns
    -------
    float or None
        1 if every number of some reference stands in the answer, each matched by
        another number; 0 if not; None when no reference holds a number.

    Raises
    ------
    MethodError
        If the tolerance is negative or not a finite number.

    Notes
    -----
    Scale words count ($12 million = 12,000,000 USD). Percent, percentage points and
    basis points must stand on both sides (15% is not 15); another unit that is known
    must agree when both sides name one, and may be left out on one. Units of one
    quantity are converted by definition (5 km = 5,000 m, 100 bp = 1 percentage point).
    Digits in groups of three with blanks between are tried as one number and as
    several. The year of FY2022 counts as a number of an answer, and as one of a
    reference that holds no other.

    Examples
    --------
    >>> numeric_match("It was 12,000,000 USD.", ["$12 million"])
    1.0
    >>> numeric_match("15", ["15%"])
    0.0
    """
    if relative_tolerance is not None and not 0 <= relative_tolerance < math.inf:
        raise MethodError(
            f"relative_tolerance = {relative_tolerance!r}: expected a finite number, "
            "0 or more"
        )
    tolerance = None if relative_tolerance is None else Decimal(str(relative_tolerance))
    wanted = [
        found
        for reference in references
        for found in (_readings(reference) or _readings(_FISCAL.sub(" ", reference)))
    ]
    if not wanted:
        return None
    given = _readings(_FISCAL.sub(" ", answer)) or [[]]
    return float(
        any(_all_matched(need, have, tolerance) for need in wanted for have in given)
    )


def _readings(text: str) -> list[list[Quantity]]:
    """Find the numbers of a text, once more where blanks may group thousands."""
    texts = [text]
    if _SPACED.search(text):
        texts.append(_SPACED.sub(lambda m: m.group().replace(" ", "\u00a0"), text))
    return [found for found in map(quantities, texts) if found]


def _quantity(text: str, match: re.Match[str]) -> Quantity | None:
    left = text[max(0, match.start() - _LOOK_BACK) : match.start()]
    before, after = _BEFORE.search(left), _AFTER.match(text, match.end())
    assert before is not None  # both patterns match the empty text
    assert after is not None
    if _in_word(left, before, text[after.end() : after.end() + 2]):
        return None
    number = Decimal(re.sub(r"[,\u00a0\u202f]", "", match.group()))
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)  # the pattern admits neither NaN nor infinity
    power, unit = _scale_and_unit(before, after)
    scale = Decimal(1).scaleb(power)
    with localcontext(prec=_DIGITS):
        value = number * scale
        return Quantity(
            value=-value if _is_negative(before, after, unit, match.group()) else value,
            unit=unit,
            step=Decimal(1).scaleb(exponent) * scale,
        )


def _in_word(left: str, before: re.Match[str], rest: str) -> bool:
    """Whether the digits belong to a word, such as Q3, COVID-19 or 1.2.3."""
    if before["money"] is None:
        start = before.start("inner_sign") if before["inner_sign"] else len(left)
        if re.search(r"[\w.]$", left[:start]):
            return True
        if re.search(rf"[^\W\d]{_MINUS}$", left):
            return True
    return re.match(r"\w|\.\d", rest) is not None


def _is_negative(
    before: re.Match[str], after: re.Match[str], unit: str | None, digits: str
) -> bool:
    if before["sign"] or before["inner_sign"]:
        return True
    opened = before["open"] or before["inner_open"]
    closed = after["inner_close"] or after["close"]
    if not (opened and closed):
        return False
    if unit is None:
        return not (len(digits) == 4 and digits[:2] in ("19", "20"))
    return unit == PERCENT or unit in CURRENCY_NAMES


def _scale_and_unit(
    before: re.Match[str], after: re.Match[str]
) -> tuple[int, str | None]:
    """Power of ten and unit, with "m" read as million only beside money."""
    money = CURRENCIES.get((before["money"] or "").lower())
    named = unit_name(after["unit"]) if after["unit"] else None
    unit = named if money is None or named in CURRENCY_NAMES else money
    scale = after["scale"]
    if scale is None:
        return 0, unit
    letters = scale.lower()
    sure = scale == "MM" or (scale in SCALES_GLUED and not after["glue"])
    if letters in SCALES_OF_MONEY and not (sure or unit in CURRENCY_NAMES):
        return 0, unit or unit_name(scale)
    return SCALES[letters], unit


def _all_matched(
    wanted: list[Quantity], given: list[Quantity], tolerance: Decimal | None
) -> bool:
    """Whether each wanted number has a given one of its own (bipartite matching)."""
    owner: dict[int, int] = {}

    def assign(need: int, tried: set[int]) -> bool:
        for i, quantity in enumerate(given):
            if i in tried or not _same(quantity, wanted[need], tolerance):
                continue
            tried.add(i)
            if i not in owner or assign(owner[i], tried):
                owner[i] = need
                return True
        return False

    return all(assign(need, set()) for need in range(len(wanted)))


def _same(given: Quantity, wanted: Quantity, tolerance: Decimal | None) -> bool:
    (of, size), (wanted_of, wanted_size) = map(in_base_units, (given.unit, wanted.unit))
    if of != wanted_of:
        named = given.unit is not None and wanted.unit is not None
        if named or {given.unit, wanted.unit} & STRICT_UNITS:
            return False
        size = wanted_size  # one side names no unit: it is that of the other
    with localcontext(prec=_DIGITS):
        gap = abs(given.value * size - wanted.value * wanted_size)
        if tolerance is not None:
            return gap <= tolerance * abs(wanted.value * wanted_size)
        return 2 * gap <= wanted.step * wanted_size
