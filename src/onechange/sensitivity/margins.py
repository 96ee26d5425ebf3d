"""How firm a status is: p at the margin, smallest margin, what it would take."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onechange.plan import Analysis, relative_margin
from onechange.stats import choose
from onechange.stats.estimate import Interval
from onechange.stats.sample import PairedSample
from onechange.stats.sums import exact_sum
from onechange.stats.twoway import run_law
from onechange.status import worsening_ends

__all__ = [
    "MarginCheck",
    "margin_check",
    "normal_quantile",
    "questions_needed",
    "resampled_margin_check",
]

FloatArray = NDArray[np.float64]

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
    both_sides: bool = False,
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
        Standard error of the delta over questions; where runs count in the interval,
        theirs is added.
    analysis : Analysis
        Level and name of the interval.
    both_sides : bool, default False
        Whether a change in either direction counts (equivalence).

    Returns
    -------
    MarginCheck
        For a relative margin the smallest margin is a share of the baseline.

    Notes
    -----
    With w the distance from the estimate to the deciding end of the interval, the
    chance to pass if the true delta is 0 is Φ((margin − w)/SE); for a change in
    either direction max(0, 2 Φ((margin − w)/SE) − 1), w the larger distance. The p of
    both sides is the larger of the two one-sided ones.
    """
    if interval is None:
        return MarginCheck(None, None, None)
    relative = isinstance(margin, str)
    size = relative_margin(margin) if isinstance(margin, str) else float(margin)
    worse = "lower" if direction == "higher" else "higher"
    sides = (direction, worse) if both_sides else (direction,)
    pvalues = [
        _pvalue(sample, size, side, analysis, relative=relative) for side in sides
    ]
    unchanged = _unchanged_interval(sample, analysis, relative=relative)
    estimate = _estimate(sample, relative=relative)
    distance = max(_distance(interval, estimate, side) for side in sides)
    if relative:
        tail = (1 + interval.confidence_level) / 2
        standard_error = distance / normal_quantile(tail)
    else:
        law = run_law(sample, analysis.interval)
        standard_error = standard_error if law is None else law.standard_error
    chance = _pass_probability(size - distance, standard_error)
    if both_sides and chance is not None:
        chance = max(0.0, 2 * chance - 1)
    return MarginCheck(
        pvalue_margin=None
        if None in pvalues
        else max(pvalue for pvalue in pvalues if pvalue is not None),
        smallest_margin=None
        if unchanged is None
        else max(0.0, *(worsening_ends(unchanged, side)[1] for side in sides)),
        pass_probability_unchanged=chance,
    )


def resampled_margin_check(
    resamples: FloatArray,
    estimate: float,
    margin: float | str,
    direction: str,
    *,
    interval: Interval | None,
    both_sides: bool = False,
) -> MarginCheck:
    """Test a quantile at its margin, in the resamples that made its interval.

    Parameters
    ----------
    resamples : ndarray of float, shape (n_resamples,)
        Bootstrap deltas, relative ones for a relative margin.
    estimate : float
        The delta, or the relative delta.
    margin, direction, interval, both_sides
        As for `margin_check`.

    Returns
    -------
    MarginCheck
        Without a smallest margin: with no changed answer a quantile does not move
        in any resample.
    """
    if interval is None or resamples.size == 0:
        return MarginCheck(None, None, None)
    size = relative_margin(margin) if isinstance(margin, str) else float(margin)
    worse = "lower" if direction == "higher" else "higher"
    sides = (direction, worse) if both_sides else (direction,)
    pvalues = [
        choose.quantile_margin_pvalue(
            resamples,
            -size if side == "higher" else size,
            alternative="greater" if side == "higher" else "less",
        )
        for side in sides
    ]
    distance = max(_distance(interval, estimate, side) for side in sides)
    finite = resamples[np.isfinite(resamples)]
    spread = float(np.std(finite)) if finite.size == resamples.size else None
    chance = _pass_probability(size - distance, spread)
    if both_sides and chance is not None:
        chance = max(0.0, 2 * chance - 1)
    return MarginCheck(max(p for p in pvalues if p is not None), None, chance)


def questions_needed(
    n_pairs: int,
    distance: float,
    standard_error: float,
    gap: float,
    *,
    power: float = POWER,
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
    power : float
        Another power than 80 %.

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
    wanted = n_pairs * ((distance + normal_quantile(power) * standard_error) / gap) ** 2
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


def _pvalue(
    sample: PairedSample,
    size: float,
    direction: str,
    analysis: Analysis,
    *,
    relative: bool,
) -> float | None:
    delta = -size if direction == "higher" else size
    alternative = "greater" if direction == "higher" else "less"
    if relative:
        return choose.relative_margin_pvalue(
            sample,
            delta,
            alternative=alternative,
            name=choose.relative_name(analysis.interval),
            confidence_level=analysis.confidence_level,
        )
    return choose.margin_pvalue(
        sample,
        delta,
        alternative=alternative,
        name=choose.fitting_interval(analysis.interval, sample),
        confidence_level=analysis.confidence_level,
        n_resamples=analysis.n_resamples,
        seed=analysis.seed,
    )


def _unchanged_interval(
    sample: PairedSample, analysis: Analysis, *, relative: bool
) -> Interval | None:
    """Return the interval that decides if no answer changed.

    Then runs do not differ either: their difference is one of answers.
    """
    unchanged = replace(
        sample,
        variant=sample.baseline,
        difference=np.zeros_like(sample.difference),
        runs=None,
    )
    name = "auto" if analysis.interval == "two-way" else analysis.interval
    if relative:
        interval = choose.relative_interval(
            unchanged,
            name=choose.relative_name(analysis.interval),
            confidence_level=analysis.confidence_level,
        ).interval
    else:
        interval = choose.decision_interval(
            unchanged,
            name=choose.fitting_interval(name, unchanged),
            confidence_level=analysis.confidence_level,
            n_resamples=analysis.n_resamples,
            seed=analysis.seed,
        ).interval
    if interval is None or interval.degenerate or interval.low == interval.high:
        return None
    ends = (interval.low, interval.high)
    return interval if all(math.isfinite(end) for end in ends) else None


def _estimate(sample: PairedSample, *, relative: bool) -> float:
    total = exact_sum(sample.difference)
    base = exact_sum(sample.baseline)
    if relative:
        return total / base if base else math.nan
    return total / sample.n_pairs


def _distance(interval: Interval, estimate: float, direction: str) -> float:
    """From the estimate to the end of the interval where the worsening is largest."""
    end = interval.low if direction == "higher" else interval.high
    return abs(end - estimate)


def _pass_probability(room: float, standard_error: float | None) -> float | None:
    from scipy.special import ndtr

    if standard_error is None or math.isnan(room):
        return None
    if standard_error == 0:
        return 1.0 if room >= 0 else 0.0
    return float(ndtr(room / standard_error))
