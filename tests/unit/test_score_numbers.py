"""Numbers in answers: scale, unit, percent, sign, rounding."""

from __future__ import annotations

import pytest

from onechange.errors import MethodError
from onechange.score.numbers import numeric_match, quantities


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("12,000,000 USD", "$12 million", 1),
        ("$12 million", "12,000,000 USD", 1),
        ("US$ 0.012bn", "$12 million", 1),
        ("12 million", "$12 million", 1),
        ("12 million EUR", "$12 million", 0),
        ("$12", "$12 million", 0),
        ("15", "15%", 0),
        ("15%", "15", 0),
        ("15 percent", "15%", 1),
        ("15 percentage points", "15%", 0),
        ("50 bps", "50%", 0),
        ("(3.5)", "-3.5", 1),
        ("a loss of $(3.5) million", "-$3,500,000", 1),
        ("3.5", "(3.5)", 0),
        ("in (2018)", "2018", 1),
        ("12.345", "12.3", 1),
        ("12.36", "12.3", 0),
        ("12.35", "12.3", 1),
        ("12.3", "12.345", 0),
        ("1577", "$1577.00", 1),
        ("$12,345,678", "$12 million", 1),
        ("$12,345,678", "12,000,000 USD", 0),
        ("30 ECTS credits", "30 ECTS", 1),
        ("3 days", "3 weeks", 0),
        ("It rose 3% to 1,577 in 2018.", "1577", 1),
        ("between 10 and 20", "10-20", 1),
        ("10", "10-20", 0),
        ("20 and 20", "20, 20", 1),
        ("20", "20, 20", 0),
        ("no number here", "5", 0),
        ("COVID-19", "19", 0),
        ("Q3", "3", 0),
        ("1.2e6", "1.2 million", 1),
        ("5 million dollars", "$5M", 1),
        ("−5", "-5", 1),
        ("5", "-5", 0),
    ],
)
def test_numbers_match_as_numbers(answer: str, reference: str, expected: int) -> None:
    assert numeric_match(answer, [reference]) == float(expected)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5 GB", "5 MB"),
        ("5GB", "5 MB"),
        ("5 miles", "5 km"),
        ("5 kWh", "5 MWh"),
        ("5 ms", "5 s"),
        ("5 °C", "5 °F"),
        ("5 degrees Celsius", "5 °F"),
        ("5 tonnes", "5 kg"),
        ("5 million shares", "5 million dollars"),
        ("$5", "5 shares"),
        ("5 mW", "5 MW"),
        ("5 km/h", "5 km"),
        ("5 employees", "5 stores"),
        ("8 GiB", "8 GB"),
        ("5 years", "5 months"),
    ],
)
def test_another_unit_is_another_number(one: str, other: str) -> None:
    assert numeric_match(one, [other]) == numeric_match(other, [one]) == 0.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("100 bps", "1 percentage point"),
        ("12 MM", "12 million"),
        ("$12MM", "$12,000,000"),
        ("12 mil", "12 million"),
        ("12 billions", "12,000,000,000"),
        ("5 (five) million", "5,000,000"),
        ("5 (five) million dollars", "$5M"),
        ("12\nmillion", "12 million"),
        ("minus 5", "-5"),
        ("It was minus $5 million.", "-$5 million"),
        ("negative 5%", "-5%"),
        ("5 km", "5,000 metres"),
        ("5000 MB", "5 GB"),
        ("120 minutes", "2 hours"),
        ("3.6 MJ", "1 kWh"),
        ("5 kilograms", "5 kg"),
        ("5 employees", "5 people"),
        ("2 Years", "24 months"),
        ("5 s", "5 seconds"),
        ("5", "5 GB"),
    ],
)
def test_the_same_amount_in_other_words_matches(one: str, other: str) -> None:
    assert numeric_match(one, [other]) == numeric_match(other, [one]) == 1.0


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("the 1990s", []),
        ("10 minus 5", [10, 5]),
        ("5G networks", []),
        ("12 mm", [12]),
        ("12 m", [12]),
        ("5 in total", [5]),
        ("5 (net) million", [5]),
    ],
)
def test_words_beside_a_number_are_not_overread(text: str, values: list[float]) -> None:
    assert [float(found.value) for found in quantities(text)] == values


def test_a_reference_without_a_number_is_unscored() -> None:
    assert numeric_match("5", ["yes"]) is None
    assert numeric_match("5", ["yes", "5"]) == 1.0


def test_a_tolerance_is_relative_to_the_reference() -> None:
    assert numeric_match("101", ["100"], relative_tolerance=0.01) == 1.0
    assert numeric_match("101.1", ["100"], relative_tolerance=0.01) == 0.0
    assert numeric_match("12.34", ["12.3"], relative_tolerance=0.0) == 0.0
    with pytest.raises(MethodError, match="relative_tolerance = -1"):
        numeric_match("1", ["1"], relative_tolerance=-1)


def test_each_reference_number_needs_an_answer_number_of_its_own() -> None:
    # 1.4 fits both references, 1.1 only the second: a greedy choice would fail
    assert numeric_match("1.4 and 1.44", ["1.4 and 1"]) == 1.0


@pytest.mark.parametrize(
    "text", ["v1.2.3", "20200407_2", "FY2018", "10K-2022", "5th", "", "a-3"]
)
def test_digits_inside_words_are_not_numbers(text: str) -> None:
    assert quantities(text) == []


def test_a_long_run_of_digits_is_read_without_rounding() -> None:
    one, other = "9" * 200 + "1", "9" * 200 + "2"
    assert numeric_match(one, [one]) == 1.0
    assert numeric_match(one, [other]) == 0.0


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("FY2022", "2022", 1.0),
        ("2022", "FY2022", 1.0),
        ("FY2021", "FY2022", 0.0),
        ("It was $5 million", "FY2018 capex was $5 million", 1.0),
        ("1 000 000", "1,000,000", 1.0),
        ("1,000,000", "1 000 000 USD", 1.0),
        ("1 000 001", "1,000,000", 0.0),
        ("100 200 300", "200", 1.0),
        ("5 and 1 000", "5 and 5", 0.0),
        ("COVID-19", "19", 0.0),
    ],
)
def test_years_of_accounts_and_blanks_between_thousands_are_read(
    answer: str, reference: str, expected: float
) -> None:
    assert numeric_match(answer, [reference]) == expected
