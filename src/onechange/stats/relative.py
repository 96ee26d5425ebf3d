"""Relative deltas and ratio metrics with intervals, tests and reasons."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.estimate import Interval, TestResult
from onechange.stats.fitting import clustered
from onechange.stats.methods import score_width
from onechange.stats.names import RATIO_NAMES
from onechange.stats.ratio import (
    Moments,
    RatioPair,
    bottom_reason,
    fieller_limits,
    fieller_pvalue,
    guard_variance,
    linearised,
    mean_moments,
    ratio_delta_limits,
    ratio_limits,
    undefined_reason,
)
from onechange.stats.runs import RunVariance
from onechange.stats.sample import PairedSample, paired_sample
from onechange.stats.signflip import tail_probability
from onechange.stats.student import mean
from onechange.stats.twoway import two_way_law

__all__ = [
    "RatioDelta",
    "Relative",
    "fieller_margin_pvalue",
    "pseudo_sample",
    "ratio_delta",
    "relative_by_name",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Relative:
    """mean(variant)/mean(baseline) - 1 with its interval, or the reason for none.

    Parameters
    ----------
    delta : float or None
    interval : Interval or None
    reason : str or None
        Why the delta or the interval is undefined.
    test : TestResult or None
        Two-sided test of "no relative change" by the same method.
    """

    delta: float | None
    interval: Interval | None = None
    reason: str | None = None
    test: TestResult | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RatioDelta:
    """The delta of a ratio metric, Σ numerator / Σ denominator per arm.

    Parameters
    ----------
    baseline, variant, delta : float or None
        The ratios and their difference; None where a denominator sums to 0 or less.
    interval, baseline_interval, variant_interval : Interval or None
    relative : Relative
    reason : str or None
        Why there is no delta or no interval.
    standard_error : float or None
        Of the delta: that of the mean difference of the linearised values, CR2 with
        clusters; None for a single question or cluster.
    differences : ndarray of float, shape (n_pairs,), or None
        Differences of the linearised values, whose mean is the delta.
    """

    baseline: float | None
    variant: float | None
    delta: float | None
    interval: Interval | None
    baseline_interval: Interval | None
    variant_interval: Interval | None
    relative: Relative
    reason: str | None = None
    standard_error: float | None = None
    differences: FloatArray | None = None


def relative_by_name(
    sample: PairedSample, *, name: str = "guarded-fieller", confidence_level: float
) -> Relative:
    """Relative delta with a named Fieller interval.

    Parameters
    ----------
    sample : PairedSample
    name : str
        ``guarded-fieller`` or ``fieller``.
    confidence_level : float
        Two-sided level.

    Returns
    -------
    Relative

    Raises
    ------
    MethodError
        If the name is another.
    """
    if name not in RATIO_NAMES:
        raise MethodError(
            f'The interval "{name}" is not for relative deltas or ratio metrics; '
            'choose "auto", "guarded-fieller" or "fieller".'
        )
    if sample.n_pairs == 0:
        return Relative(None, reason="there are no pairs")
    tail = tail_probability(confidence_level)
    counted = name == "guarded-fieller"
    plain = _moments(sample, guarded=False, runs=counted)
    if plain is None:
        bottom, top = mean(sample.baseline), mean(sample.variant)
    else:
        bottom, top = plain.bottom, plain.top
    reason = bottom_reason(bottom)
    if reason is not None:
        return Relative(None, reason=reason)
    delta = top / bottom - 1
    if plain is None:
        unit = "cluster" if clustered(sample) else "question"
        return Relative(delta, reason=f"one {unit} shows no variance")
    reason = undefined_reason(plain, tail)
    if reason is not None:
        return Relative(None, reason=reason)
    extra = guard_variance(sample.difference, score_width(sample)) if counted else 0.0
    if extra is None:
        reason = "no answer changed and the metric's range is not declared"
        return Relative(delta, reason=reason)
    moments = replace(plain, guard_variance=extra)
    limits = fieller_limits(moments, tail)
    assert limits is not None, "the ratio is defined"
    if limits[0] == limits[1]:
        return Relative(delta, reason=f"the arms show no spread to {name}")
    interval = Interval(*limits, confidence_level, name)
    if never_negative(sample):
        interval = replace(interval, low=max(interval.low, -1.0))
    return Relative(delta, interval, test=_ratio_test(moments, name))


def never_negative(sample: PairedSample) -> bool:
    """Whether no score lies below 0, so that none can fall by more than 100 %.

    By the declared range; without one, by the scores at hand.
    """
    if sample.score_range is not None:
        return sample.score_range[0] >= 0
    return bool(np.all(sample.baseline >= 0) and np.all(sample.variant >= 0))


def fieller_margin_pvalue(
    sample: PairedSample,
    relative_delta: float,
    *,
    alternative: str,
    name: str = "guarded-fieller",
) -> float | None:
    """One-sided p-value at a relative margin, consistent with Fieller's interval.

    Parameters
    ----------
    sample : PairedSample
    relative_delta : float
        -0.1 for "a fall by 10 %".
    alternative : str
        ``greater`` or ``less``.
    name : str
        ``guarded-fieller`` or ``fieller``.

    Returns
    -------
    float or None
        None where the interval does not exist.
    """
    counted = name == "guarded-fieller"
    moments = _moments(sample, guarded=counted, runs=counted)
    if moments is None:
        return None
    return fieller_pvalue(moments, relative_delta, alternative)


def ratio_delta(
    baseline: RatioPair,
    variant: RatioPair,
    *,
    clusters: IntArray | None = None,
    name: str = "guarded-fieller",
    confidence_level: float = 0.95,
    score_range: tuple[float, float] | None = None,
) -> RatioDelta:
    """Delta and relative delta of a ratio metric over the same questions.

    Parameters
    ----------
    baseline, variant : RatioPair
        Trial-averaged numerators and denominators, each of shape (n_pairs,).
    clusters : ndarray of int, shape (n_pairs,), optional
    name : str
        ``guarded-fieller`` or ``fieller``.
    confidence_level : float
    score_range : tuple of float, optional
        Declared range of the ratio.

    Returns
    -------
    RatioDelta

    Notes
    -----
    Each arm's ratio by Fieller; their difference by square-and-add of Fieller's
    distances with the guard (`ratio_delta_limits`); the relative delta by Fieller
    on the linearised values.
    """
    tail = tail_probability(confidence_level)
    for label, arm in (("baseline", baseline), ("variant", variant)):
        if arm.denominator.size == 0 or mean(arm.denominator) <= 0:
            reason = f"the {label}'s denominators do not sum to more than 0"
            nothing = Relative(None, reason=reason)
            return RatioDelta(None, None, None, None, None, None, nothing, reason)
    sample = pseudo_sample(baseline, variant, clusters, score_range)
    used = sample.clusters if clustered(sample) else None
    limits = ratio_delta_limits(
        baseline,
        variant,
        tail,
        clusters=used,
        guarded=name == "guarded-fieller",
        width=score_width(sample),
    )
    relative = relative_by_name(sample, name=name, confidence_level=confidence_level)
    if relative.interval is not None and _all_positive(baseline, variant):
        held = replace(relative.interval, low=max(relative.interval.low, -1.0))
        relative = replace(relative, interval=held)
    unclear = "a denominator's sum is not clearly above 0, or nothing changed"
    if limits is not None and limits[0] == limits[1]:
        limits = None

    def interval(pair: tuple[float, float] | None) -> Interval | None:
        if pair is None:
            return None
        flat = pair[0] == pair[1]
        return Interval(*pair, confidence_level, name, degenerate=flat)

    return RatioDelta(
        baseline=baseline.ratio,
        variant=variant.ratio,
        delta=variant.ratio - baseline.ratio,
        interval=interval(limits),
        baseline_interval=interval(ratio_limits(baseline, tail, used)),
        variant_interval=interval(ratio_limits(variant, tail, used)),
        relative=relative,
        reason=unclear if limits is None else None,
        standard_error=_standard_error(_moments(sample, guarded=False, runs=False)),
        differences=sample.difference,
    )


def pseudo_sample(
    baseline: RatioPair,
    variant: RatioPair,
    clusters: IntArray | None,
    score_range: tuple[float, float] | None,
) -> PairedSample:
    """Paired sample of linearised values: its means are the ratios of the arms."""
    return paired_sample(
        linearised(baseline),
        linearised(variant),
        clusters=clusters,
        score_range=score_range,
        binary=False,
    )


def _all_positive(*arms: RatioPair) -> bool:
    """Whether no part of a ratio metric is negative: then no ratio is."""
    return all(
        bool(np.all(arm.numerator >= 0) and np.all(arm.denominator >= 0))
        for arm in arms
    )


def _standard_error(moments: Moments | None) -> float | None:
    """Return the standard error of the difference of both means."""
    if moments is None:
        return None
    variance = moments.var_top + moments.var_bottom - 2 * moments.covariance
    return math.sqrt(max(variance, 0.0))


def _moments(sample: PairedSample, *, guarded: bool, runs: bool) -> Moments | None:
    found = mean_moments(
        sample.baseline,
        sample.variant,
        clusters=sample.clusters if clustered(sample) else None,
        guarded=guarded,
        width=score_width(sample),
        difference=sample.difference,
    )
    if found is None or not runs or sample.runs is None or not sample.runs.differ:
        return found
    return _with_runs(found, sample, sample.runs)


def _with_runs(moments: Moments, sample: PairedSample, runs: RunVariance) -> Moments:
    """Add the variance between runs to that of each mean.

    Degrees of freedom are those of the two-way interval where it has fewer. Paired
    trials tell of their difference only, which is laid on the variant.
    """
    law = two_way_law(sample, runs)
    between = max(0.0, runs.variance)
    before, after = (0.0, *runs.trial_weights) if runs.paired else runs.trial_weights
    return replace(
        moments,
        var_bottom=moments.var_bottom + before * between,
        var_top=moments.var_top + after * between,
        df=moments.df if law is None else min(moments.df, law.df),
    )


def _ratio_test(moments: Moments, name: str) -> TestResult | None:
    one_sided = [fieller_pvalue(moments, 0.0, side) for side in ("greater", "less")]
    found = [p for p in one_sided if p is not None]
    if not found:
        return None
    pvalue = min(1.0, 2 * min(found))
    return TestResult(pvalue, name, exact=False, log10_pvalue=math.log10(pvalue))
