"""How firm a status is: p at the margin, smallest margin, what it would take."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from onechange.errors import MethodError
from onechange.plan import Analysis, relative_margin
from onechange.stats import choose
from onechange.stats.estimate import Interval
from onechange.stats.sample import PairedSample
from onechange.status import worsening_ends

__all__ = [
    "MarginCheck",
    "margin_check",
    "normal_quantile",
    "questions_needed",
]

POWER = 0.8


@dataclass(frozen=True, slots=True)
class MarginCheck:
    """What a margin means at this number of questions.

    Parameters
    ----------
    pvalue_margin : float or None
        One-sided p-value of "the worsening is the margin or more".
    smallest_margin : float or None
        Smallest margin that could pass with no changed answer; None where the
        interval of unchanged answers does not exist.
    pass_probability_unchanged : float or None
        Probability to pass if nothing changed on average, with the observed spread
        (normal approximation).
    """

    pvalue_margin: float | None
    smallest_margin: float | None
    pass_probability_unchanged: float | None


def margin_check(
    sample: PairedSample,
    margin: float | str,
    direction: str,
    *,
    interval: Interval | None,
    standard_error: float | None,
    analysis: Analysis,
) -> MarginCheck:
    """Test at the margin, and say which margins this sample could show at all.

    Parameters
    ----------
    sample : PairedSample
        The pairs behind the delta.
    margin : float or str
        Largest tolerated worsening, in the metric's unit or as ``"10%"``.
    direction : str
        ``higher`` or ``lower`` is better.
    interval : Interval or None
        The interval that decides: of the delta, or of the relative delta.
    standard_error : float or None
        Standard error of the delta.
    analysis : Analysis
        Level and name of the interval.

    Returns
    -------
    MarginCheck

    Notes
    -----
    With w the distance from the estimate to the deciding end of the interval, the
    chance to pass if the true delta is 0 is Φ((margin − w)/SE).
    """
    if interval is None:
        return MarginCheck(None, None, None)
    if isinstance(margin, str):
        return _relative_check(sample, relative_margin(margin), direction, analysis)
    pvalue = choose.margin_pvalue(
        sample,
        -margin if direction == "higher" else margin,
        alternative="greater" if direction == "higher" else "less",
        name=analysis.interval,
        confidence_level=analysis.confidence_level,
        n_resamples=analysis.n_resamples,
        seed=analysis.seed,
    )
    return MarginCheck(
        pvalue_margin=pvalue,
        smallest_margin=_smallest_margin(sample, direction, analysis),
        pass_probability_unchanged=_pass_probability(
            margin - _worse_distance(sample, interval, direction), standard_error
        ),
    )


def questions_needed(
    n_pairs: int, distance: float, standard_error: float, gap: float
) -> int | None:
    """Questions for 80 % power, going by the width of the interval at hand.

    Parameters
    ----------
    n_pairs : int
        Pairs behind the interval.
    distance : float
        From the estimate to the end of the interval that decides.
    standard_error : float
        Standard error of the delta.
    gap : float
        From the assumed truth to the threshold, in the same unit.

    Returns
    -------
    int or None
        None when the truth assumed is not on the passing side of the threshold.

    Notes
    -----
    Both widths shrink with 1/√n, so n·((distance + z₀.₈·SE)/gap)²; an
    approximation.

    Examples
    --------
    >>> questions_needed(100, 1.96, 1.0, 1.4)
    401
    """
    if not gap > 0 or not math.isfinite(distance):
        return None
    wanted = n_pairs * ((distance + normal_quantile(POWER) * standard_error) / gap) ** 2
    return math.ceil(wanted * (1 - 1e-12))


def normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal law.

    Examples
    --------
    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    from scipy.special import ndtri

    return float(ndtri(probability))


def _relative_check(
    sample: PairedSample, share: float, direction: str, analysis: Analysis
) -> MarginCheck:
    pvalue = choose.relative_margin_pvalue(
        sample,
        -share if direction == "higher" else share,
        alternative="greater" if direction == "higher" else "less",
        confidence_level=analysis.confidence_level,
    )
    return MarginCheck(pvalue, None, None)


def _smallest_margin(
    sample: PairedSample, direction: str, analysis: Analysis
) -> float | None:
    unchanged = replace(
        sample, variant=sample.baseline, difference=np.zeros_like(sample.difference)
    )
    try:
        interval = choose.decision_interval(
            unchanged,
            name=analysis.interval,
            confidence_level=analysis.confidence_level,
            n_resamples=analysis.n_resamples,
            seed=analysis.seed,
        ).interval
    except MethodError:  # the named method does not exist without changed answers
        return None
    if interval is None or interval.degenerate:
        return None
    return max(0.0, worsening_ends(interval, direction)[1])


def _worse_distance(sample: PairedSample, interval: Interval, direction: str) -> float:
    """From the estimate to the end of the interval where the worsening is largest."""
    estimate = math.fsum(sample.difference) / sample.n_pairs
    end = interval.low if direction == "higher" else interval.high
    return abs(end - estimate)


def _pass_probability(room: float, standard_error: float | None) -> float | None:
    from scipy.special import ndtr

    if standard_error is None:
        return None
    if standard_error == 0:
        return 1.0 if room >= 0 else 0.0
    return float(ndtr(room / standard_error))
