"""Words and signs beside a number: scale words, currencies, units and their sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal

__all__ = [
    "CURRENCIES",
    "CURRENCY_NAMES",
    "MONEY_PATTERN",
    "PERCENT",
    "SCALES",
    "SCALES_GLUED",
    "SCALES_OF_MONEY",
    "STRICT_UNITS",
    "UNIT_PATTERN",
    "in_base_units",
    "unit_name",
]

PERCENT = "percent"
_POINT = "percentage point"

SCALES: Mapping[str, int] = {
    **dict.fromkeys(("thousand", "thousands", "k"), 3),
    **dict.fromkeys(("million", "millions", "mio", "mil", "mn", "mln", "m", "mm"), 6),
    **dict.fromkeys(("billion", "billions", "bn", "bln", "b"), 9),
    **dict.fromkeys(("trillion", "trillions", "tn", "trn", "t"), 12),
    **dict.fromkeys(("lakh", "lakhs"), 5),
    **dict.fromkeys(("crore", "crores"), 7),
}
# Letters that mean a scale only beside a currency: "12 m" alone may be metres.
SCALES_OF_MONEY = frozenset({"m", "mm", "b", "t"})
# Upper case and glued to the digits they are scales without a currency, "12M"; "MM"
# is one anywhere.
SCALES_GLUED = frozenset({"K", "M", "B", "T"})

CURRENCIES: Mapping[str, str] = {
    **dict.fromkeys(("$", "us$", "usd", "dollar", "dollars"), "USD"),
    **dict.fromkeys(("€", "eur", "euro", "euros"), "EUR"),
    **dict.fromkeys(("£", "gbp", "pound", "pounds"), "GBP"),
    **dict.fromkeys(("¥", "jpy", "yen"), "JPY"),
    **dict.fromkeys(("₹", "inr", "rupees"), "INR"),
    **dict.fromkeys(("cny", "rmb"), "CNY"),
    **dict.fromkeys(("c$", "cad"), "CAD"),
    **dict.fromkeys(("a$", "aud"), "AUD"),
    "chf": "CHF",
}
CURRENCY_NAMES = frozenset(CURRENCIES.values())

# Units that change what the number means: they must stand on both sides.
STRICT_UNITS = frozenset({PERCENT, _POINT, "basis point"})

# Words, read in any letter case; a plural s is understood.
_WORDS: Mapping[str, str] = {
    "%": PERCENT,
    "percent": PERCENT,
    "per cent": PERCENT,
    "pct": PERCENT,
    _POINT: _POINT,
    "pp": _POINT,
    "ppt": _POINT,
    "basis point": "basis point",
    "bp": "basis point",
    "x": "times",
    "times": "times",
    "ects": "ects",
    **{
        name: name
        for name in (
            *("nanosecond", "microsecond", "millisecond", "second", "minute", "hour"),
            *("day", "week", "month", "quarter", "year", "mile", "inch", "yard"),
            *("gram", "kilogram", "milligram", "tonne", "ton", "ounce", "gallon"),
            *("acre", "hectare", "barrel", "watt", "kilowatt", "megawatt", "gigawatt"),
            *("byte", "kilobyte", "megabyte", "gigabyte", "terabyte", "hertz"),
            *("share", "customer", "page", "token", "store", "unit", "vehicle"),
            *("joule", "volt", "kelvin", "megahertz", "gigahertz"),
        )
    },
    **dict.fromkeys(("sec", "secs"), "second"),
    "mins": "minute",
    **dict.fromkeys(("hr", "hrs"), "hour"),
    **dict.fromkeys(("yr", "yrs"), "year"),
    "inches": "inch",
    **dict.fromkeys(("foot", "feet"), "foot"),
    **dict.fromkeys(("millimetre", "millimeter"), "millimetre"),
    **dict.fromkeys(("centimetre", "centimeter"), "centimetre"),
    **dict.fromkeys(("metre", "meter"), "metre"),
    **dict.fromkeys(("kilometre", "kilometer", "km"), "kilometre"),
    "kg": "kilogram",
    **dict.fromkeys(("lb", "lbs"), "pound mass"),
    **dict.fromkeys(("litre", "liter"), "litre"),
    **dict.fromkeys(("millilitre", "milliliter", "ml"), "millilitre"),
    "bbl": "barrel",
    **dict.fromkeys(("watt-hour", "watt hour"), "watt hour"),
    **dict.fromkeys(("kilowatt-hour", "kilowatt hour", "kwh"), "kilowatt hour"),
    **dict.fromkeys(("megawatt-hour", "megawatt hour", "mwh"), "megawatt hour"),
    **dict.fromkeys(("gigawatt-hour", "gigawatt hour", "gwh"), "gigawatt hour"),
    **dict.fromkeys(("terawatt-hour", "terawatt hour", "twh"), "terawatt hour"),
    **dict.fromkeys(("°c", "degrees celsius", "celsius"), "degree Celsius"),
    **dict.fromkeys(("°f", "degrees fahrenheit", "fahrenheit"), "degree Fahrenheit"),
    **dict.fromkeys(("square metre", "square meter"), "square metre"),
    **dict.fromkeys(("km/h", "kph", "kmh"), "kilometre an hour"),
    "mph": "mile an hour",
    **dict.fromkeys(("kb", "kib"), "kilobyte"),
    **dict.fromkeys(("employee", "people", "person", "worker", "staff"), "person"),
}
_BINARY = ("KiB", "MiB", "GiB", "TiB")
# Signs whose letter case counts: mW is not MW.
_SIGNS: Mapping[str, str] = {
    **{"mm": "millimetre", "cm": "centimetre", "m": "metre"},
    **{"g": "gram", "mg": "milligram", "t": "tonne", "oz": "ounce", "ft": "foot"},
    **{"ns": "nanosecond", "µs": "microsecond", "μs": "microsecond"},
    **{"ms": "millisecond", "min": "minute", "h": "hour", "mi": "mile"},
    **{"kB": "kilobyte", "KB": "kilobyte", "MB": "megabyte", "mb": "megabyte"},
    **{"GB": "gigabyte", "gb": "gigabyte", "TB": "terabyte", "tb": "terabyte"},
    **{name: name for name in _BINARY},
    **{"W": "watt", "kW": "kilowatt", "KW": "kilowatt", "kw": "kilowatt"},
    **{"MW": "megawatt", "GW": "gigawatt", "mW": "milliwatt", "Wh": "watt hour"},
    **{"Hz": "hertz", "kHz": "kilohertz", "MHz": "megahertz", "GHz": "gigahertz"},
    **{"kJ": "kilojoule", "MJ": "megajoule", "GJ": "gigajoule", "L": "litre"},
    **{"V": "volt", "kV": "kilovolt", "m/s": "metre a second"},
    "s": "second",
    **{"m²": "square metre", "m2": "square metre", "km²": "square kilometre"},
}
# What a unit is of, and how many base units of that it is, by definition.
_SIZES: Mapping[str, tuple[str, Decimal]] = {
    unit: (quantity, Decimal(size))
    for quantity, units in {
        "points": {_POINT: "1", "basis point": "0.01"},
        "time": {
            **{"nanosecond": "1e-9", "microsecond": "1e-6", "millisecond": "1e-3"},
            **{"second": "1", "minute": "60", "hour": "3600", "day": "86400"},
            "week": "604800",
        },
        "years": {"month": "1", "quarter": "3", "year": "12"},
        "length": {
            **{"millimetre": "1e-3", "centimetre": "1e-2", "metre": "1"},
            **{"kilometre": "1e3", "mile": "1609.344", "foot": "0.3048"},
            **{"yard": "0.9144", "inch": "0.0254"},
        },
        "mass": {
            **{"milligram": "1e-3", "gram": "1", "kilogram": "1e3", "tonne": "1e6"},
            **{"pound mass": "453.59237", "ounce": "28.349523125"},
        },
        "volume": {"millilitre": "1e-3", "litre": "1"},
        "area": {"square metre": "1", "hectare": "1e4", "square kilometre": "1e6"},
        "data": {
            **{"byte": "1", "kilobyte": "1e3", "megabyte": "1e6", "gigabyte": "1e9"},
            **{"terabyte": "1e12", "KiB": "1024", "MiB": "1048576"},
            **{"GiB": "1073741824", "TiB": "1099511627776"},
        },
        "power": {
            **{"milliwatt": "1e-3", "watt": "1", "kilowatt": "1e3"},
            **{"megawatt": "1e6", "gigawatt": "1e9"},
        },
        "energy": {
            **{"joule": "1", "kilojoule": "1e3", "megajoule": "1e6"},
            **{"gigajoule": "1e9", "watt hour": "3600", "kilowatt hour": "3.6e6"},
            **{"megawatt hour": "3.6e9", "gigawatt hour": "3.6e12"},
            "terawatt hour": "3.6e15",
        },
        "frequency": {
            **{"hertz": "1", "kilohertz": "1e3", "megahertz": "1e6"},
            "gigahertz": "1e9",
        },
        "voltage": {"volt": "1", "kilovolt": "1e3"},
    }.items()
    for unit, size in units.items()
}


def in_base_units(unit: str | None) -> tuple[str | None, Decimal]:
    """Return what a unit is of, and its size.

    Parameters
    ----------
    unit : str or None
        As `unit_name` gives it.

    Returns
    -------
    str or None
        Units of one quantity have the same; a unit without relatives is its own.
    Decimal
        Base units in one of it.

    Examples
    --------
    >>> in_base_units("kilometre"), in_base_units("share")
    (('length', Decimal('1E+3')), ('share', Decimal('1')))
    """
    return _SIZES.get(unit or "", (unit, Decimal(1)))


def unit_name(sign: str) -> str | None:
    """Return the name of the unit that is written so; None when it is not known.

    Parameters
    ----------
    sign : str
        As it stands in the text.

    Returns
    -------
    str or None

    Examples
    --------
    >>> [unit_name(sign) for sign in ("GB", "Gigabytes", "mW", "MW", "dollars", "cats")]
    ['gigabyte', 'gigabyte', 'milliwatt', 'megawatt', 'USD', None]
    """
    if sign in _SIGNS:
        return _SIGNS[sign]
    word = sign.lower()
    for form in (word, word.removesuffix("s")):
        if form in CURRENCIES:
            return CURRENCIES[form]
        if form in _WORDS:
            return _WORDS[form]
    return None


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(
        re.escape(w) for w in sorted(set(words), key=lambda w: (-len(w), w))
    )


MONEY_PATTERN = _alternatives(CURRENCIES)
_PLURALS = [f"{word}s" for word in _WORDS if len(word) > 1 and word[-1].isalpha()]
# A lone "s" is seconds only after a blank: the 1990s are no unit.
UNIT_PATTERN = (
    f"(?-i:{_alternatives(sign for sign in _SIGNS if sign != 's')}|(?<=\\s)s)|"
    f"{_alternatives([*_WORDS, *_PLURALS, *CURRENCIES])}"
)
