"""Value types shared by all statistics: notes, intervals, test results."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Choice", "Interval", "Note", "TestResult"]


@dataclass(frozen=True, slots=True)
class Note:
    """A caveat that travels with a result.

    Parameters
    ----------
    code : str
        Stable code, documented in ``docs/notes.md``.
    text : str
        One plain sentence with the numbers that matter.
    """

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval with the name of the method that made it.

    Parameters
    ----------
    low, high : float
        Limits in the unit of the estimate; an unbounded end is ``-inf`` or ``inf``.
    confidence_level : float
        Two-sided level, for example 0.95.
    method : str
        Name of the method, as in ``--interval``.
    degenerate : bool
        True when the data cannot carry the method (all differences equal, say).
    n_resamples : int or None
        Number of resamples of a sampled method; None when exact.
    notes : tuple of Note
        Caveats of this interval.
    """

    low: float
    high: float
    confidence_level: float
    method: str
    degenerate: bool = False
    n_resamples: int | None = None
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """An interval with what has to be said about it.

    Parameters
    ----------
    interval : Interval or None
        None when the data carry no interval; the notes say why.
    notes : tuple of Note
    enough : bool
        False when there are fewer questions (clusters) than any status needs.
    """

    interval: Interval | None
    notes: tuple[Note, ...] = ()
    enough: bool = True


@dataclass(frozen=True, slots=True)
class TestResult:
    """A hypothesis test of "no difference" with the name of its method.

    Parameters
    ----------
    pvalue : float or None
        None when the test is undefined; never 0 and never NaN.
    method : str
        Name of the test, as in ``--test``.
    alternative : str
        ``two-sided``, ``less`` or ``greater``.
    statistic : float or None
        The test statistic, where the test has one.
    exact : bool
        False for asymptotic and for sampled p-values.
    n_resamples : int or None
        Number of resamples of a sampled test; None otherwise.
    monte_carlo_error : float or None
        Standard error of a sampled p-value.
    log10_pvalue : float or None
        Decimal logarithm of the p-value, also below the double range.
    notes : tuple of Note
        Caveats of this test.
    """

    __test__ = False  # not a test class, whatever pytest thinks of the name

    pvalue: float | None
    method: str
    alternative: str = "two-sided"
    statistic: float | None = None
    exact: bool = True
    n_resamples: int | None = None
    monte_carlo_error: float | None = None
    log10_pvalue: float | None = None
    notes: tuple[Note, ...] = ()
