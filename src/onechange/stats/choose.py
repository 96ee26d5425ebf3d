"""The method table: which interval and which test a sample gets.

Nothing else in the package chooses a method.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.arm import arm_interval
from onechange.stats.caveats import enough_units, sample_notes
from onechange.stats.estimate import Choice, Interval, Note, TestResult
from onechange.stats.fitting import (
    check_fit,
    clustered,
    fitting_interval,
    misfit_note,
    misfit_of_interval,
    misfit_of_test,
    statistic_misfits,
)
from onechange.stats.interval import clip
from onechange.stats.methods import (
    Method,
    Sampling,
    mean_method,
    touching_pvalue,
    with_two_way,
)
from onechange.stats.names import INTERVAL_NAMES, RATIO_NAMES, TEST_NAMES, known_name
from onechange.stats.quantile import (
    quantile_arm_interval,
    quantile_delta,
    quantile_margin_pvalue,
)
from onechange.stats.relative import (
    Relative,
    fieller_margin_pvalue,
    ratio_delta,
    relative_by_name,
)
from onechange.stats.sample import PairedSample
from onechange.stats.signflip import n_min, tail_probability
from onechange.stats.significance import named_test
from onechange.stats.student import StudentLaw
from onechange.stats.twoway import run_law

__all__ = [
    "INTERVAL_NAMES",
    "RATIO_NAMES",
    "TEST_NAMES",
    "Choice",
    "arm_interval",
    "automatic_interval",
    "decision_interval",
    "decision_test",
    "fitting_interval",
    "margin_pvalue",
    "misfit_note",
    "misfit_of_interval",
    "misfit_of_test",
    "quantile_arm_interval",
    "quantile_delta",
    "quantile_margin_pvalue",
    "ratio_delta",
    "ratio_name",
    "relative_interval",
    "relative_margin_pvalue",
    "relative_name",
    "statistic_misfits",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def automatic_interval(
    sample: PairedSample, *, confidence_level: float = 0.95
) -> str | None:
    """Name of the decision interval that ``auto`` stands for; None for none.

    Parameters
    ----------
    sample : PairedSample
    confidence_level : float
        Two-sided level.
    """
    if clustered(sample):
        return "newcombe-cluster" if sample.binary else "guarded-cr2-t"
    if sample.n_pairs < n_min(confidence_level):
        return None
    return "newcombe" if sample.binary else "sign-flip+guarded-t"


def decision_interval(
    sample: PairedSample,
    *,
    name: str = "auto",
    confidence_level: float = 0.95,
    two_way: Interval | StudentLaw | None = None,
    n_resamples: int = 9999,
    seed: int = 7,
    signflip: Interval | None = None,
) -> Choice:
    """Interval of the mean delta on which statuses are decided.

    Parameters
    ----------
    sample : PairedSample
    name : str
        ``auto`` or a name from `INTERVAL_NAMES`.
    confidence_level : float
        Two-sided level.
    two_way : Interval or StudentLaw, optional
        The two-way interval or its law (by default from `sample.runs`, when runs
        differ): ``auto`` and ``two-way`` take the wider limit at each end.
    n_resamples, seed : int
        For the sampled methods only.
    signflip : Interval, optional
        The sign-flip interval of the sample, when it is known: it is not computed
        again for this level.

    Returns
    -------
    Choice
        Without interval, and with note ``too-few-questions``, below
        `n_min` questions under ``auto``.

    Raises
    ------
    MethodError
        If the named method does not fit the data.

    Examples
    --------
    >>> from onechange.stats.sample import paired_sample
    >>> b, v = np.zeros(20), np.repeat([1.0, 0.0], [6, 14])
    >>> decision_interval(paired_sample(b, v)).interval.method
    'newcombe'
    """
    tail = tail_probability(confidence_level)
    sampling = Sampling(n_resamples, seed)
    method = _bound_method(
        sample, name, confidence_level, two_way, sampling, signflip=signflip
    )
    interval = None if method is None else method.interval(tail)
    flat = interval is not None and interval.low == interval.high
    exists = interval is not None and not flat
    notes = sample_notes(sample, confidence_level, interval=exists)
    enough = enough_units(notes)
    if interval is None:
        return Choice(None, (*notes, *_why_none(sample, enough=enough)), enough)
    if flat:
        return Choice(None, (*notes, _no_width(interval, sample)), enough)
    interval = replace(interval, confidence_level=confidence_level)
    return Choice(_attainable(interval, sample), (*notes, *interval.notes), enough)


def decision_test(
    sample: PairedSample,
    *,
    name: str = "auto",
    n_resamples: int = 9999,
    seed: int = 7,
    confidence_level: float = 0.95,
) -> TestResult:
    """Two-sided test of "no difference", by name or by the method table.

    Parameters
    ----------
    sample : PairedSample
    name : str
        ``auto`` or a name from `TEST_NAMES`.
    n_resamples, seed : int
        Unused so far: every test here is exact or has a closed form.
    confidence_level : float
        Decides what counts as too few questions for McNemar under ``auto``.

    Returns
    -------
    TestResult
        pvalue None with note ``test-undefined`` where the test does not exist.

    Raises
    ------
    MethodError
        If the named test does not fit the data.
    """
    known_name(name, TEST_NAMES, "a test")
    if name == "auto":
        few = sample.n_pairs < n_min(confidence_level)
        plain_binary = sample.binary and not clustered(sample) and not few
        name = "mcnemar-midp" if plain_binary else "sign-flip"
    return named_test(name, sample)


def margin_pvalue(
    sample: PairedSample,
    margin_delta: float,
    *,
    alternative: str,
    name: str = "auto",
    confidence_level: float = 0.95,
    two_way: StudentLaw | None = None,
    n_resamples: int = 9999,
    seed: int = 7,
) -> float | None:
    """One-sided p-value at a margin, consistent with the decision interval.

    Parameters
    ----------
    sample : PairedSample
    margin_delta : float
        The margin as a delta (variant minus baseline), in the metric's unit.
    alternative : str
        ``greater``: the null is "the mean difference is `margin_delta` or less";
        ``less``: "or more".
    name : str
        The interval's name.
    confidence_level : float
        The decision's level: below its fewest questions there is no p-value.
    two_way : StudentLaw, optional
        As for `decision_interval`.
    n_resamples, seed : int
        For the sampled methods only.

    Returns
    -------
    float or None
        The tail probability at which that end of the interval touches the
        margin; None where there is no interval.

    Raises
    ------
    MethodError
        If `alternative` has another value, or the method does not fit.
    """
    if alternative not in ("greater", "less"):
        raise MethodError(
            f'alternative is "{alternative}"; choose "greater" or "less".'
        )
    sampling = Sampling(n_resamples, seed)
    method = _bound_method(sample, name, confidence_level, two_way, sampling)
    return (
        None if method is None else touching_pvalue(method, margin_delta, alternative)
    )


def relative_interval(
    sample: PairedSample, *, name: str = "auto", confidence_level: float = 0.95
) -> Relative:
    """Relative delta with its interval, or the reason why it is undefined.

    Parameters
    ----------
    sample : PairedSample
    name : str
        ``auto`` (guarded-fieller), ``guarded-fieller`` or ``fieller``.
    confidence_level : float
        Two-sided level.

    Returns
    -------
    Relative
        Under ``auto`` without interval below `n_min` questions.

    Examples
    --------
    >>> from onechange.stats.sample import paired_sample
    >>> relative_interval(paired_sample(np.zeros(8), np.ones(8))).reason
    'the baseline mean is 0'
    """
    resolved = ratio_name(name) if name == "auto" else name
    found = relative_by_name(sample, name=resolved, confidence_level=confidence_level)
    few = not clustered(sample) and sample.n_pairs < n_min(confidence_level)
    if name != "auto" or not few or found.interval is None:
        return found
    fewest = n_min(confidence_level)
    return Relative(found.delta, reason=f"fewer than {fewest} questions")


def relative_name(name: str) -> str:
    """Name of the interval of relative deltas under the asked interval.

    Parameters
    ----------
    name : str
        ``auto`` or a name from `INTERVAL_NAMES`.

    Returns
    -------
    str
        The name itself if it is for relative deltas, else ``auto``.

    Examples
    --------
    >>> relative_name("fieller"), relative_name("t")
    ('fieller', 'auto')
    """
    return name if name in RATIO_NAMES else "auto"


def ratio_name(name: str) -> str:
    """Name of the interval of a ratio metric under the asked interval."""
    return name if name in RATIO_NAMES else "guarded-fieller"


def relative_margin_pvalue(
    sample: PairedSample,
    relative_delta: float,
    *,
    alternative: str,
    name: str = "auto",
    confidence_level: float = 0.95,
) -> float | None:
    """One-sided p-value at a relative margin, consistent with `relative_interval`.

    Parameters
    ----------
    sample : PairedSample
    relative_delta : float
        The margin as a relative delta: -0.1 for "a fall by 10 %".
    alternative : str
        ``greater``: the null is "the relative delta is `relative_delta` or less";
        ``less``: "or more".
    name : str
    confidence_level : float

    Returns
    -------
    float or None
        None where `relative_interval` has no interval.
    """
    found = relative_interval(sample, name=name, confidence_level=confidence_level)
    if found.interval is None:
        return None
    used = found.interval.method
    return fieller_margin_pvalue(
        sample, relative_delta, alternative=alternative, name=used
    )


def _bound_method(
    sample: PairedSample,
    name: str,
    confidence_level: float,
    two_way: Interval | StudentLaw | None,
    sampling: Sampling,
    signflip: Interval | None = None,
) -> Method | None:
    known_name(name, INTERVAL_NAMES, "an interval")
    two_way = run_law(sample, name) if two_way is None else two_way
    if name == "two-way" and two_way is None:
        check_fit("interval", name, misfit_of_interval(name, sample))
    if name not in ("auto", "two-way"):
        return mean_method(name, sample, sampling, signflip)
    chosen = automatic_interval(sample, confidence_level=confidence_level)
    if chosen is None:
        return None
    method = mean_method(chosen, sample, sampling, signflip)
    if two_way is None or method is None:
        return method
    return with_two_way(method, two_way)


def _why_none(sample: PairedSample, *, enough: bool) -> tuple[Note, ...]:
    if not enough or sample.n_nonzero > 0:
        return ()
    text = (
        "No answer changed, so the differences show no spread: there is no interval "
        "unless the metric's range is declared (--range NAME=LOW,HIGH)."
    )
    return (Note("equal-differences", text),)


def _no_width(interval: Interval, sample: PairedSample) -> Note:
    n = sample.n_pairs
    text = (
        f"These {n} differences show no spread to {interval.method}, whose interval "
        'would have no width, so there is none; "auto" allows for what was not seen.'
    )
    if n == 1:
        text = "One question shows no spread, so there is no interval."
    return Note("equal-differences", text)


def _attainable(interval: Interval, sample: PairedSample) -> Interval:
    if sample.attainable is None:
        return interval
    width = sample.attainable[1] - sample.attainable[0]
    return clip(interval, -width, width)
