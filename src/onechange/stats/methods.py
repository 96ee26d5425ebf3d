"""Every interval of a mean delta by its name: sample in, limits at any level out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from onechange.stats.binary import BINARY_LIMITS, binary_table
from onechange.stats.cluster import (
    bell_mccaffrey_df,
    cr2_law,
    design_effect,
    guarded_cr2_law,
)
from onechange.stats.cluster_binary import stretched_limits
from onechange.stats.estimate import Interval
from onechange.stats.fitting import check_fit, clustered, misfit_of_interval
from onechange.stats.interval import hall_limits, wider
from onechange.stats.names import BOOTSTRAP_NAMES
from onechange.stats.sample import PairedSample
from onechange.stats.student import StudentLaw, guarded_t_law, normal_quantile, t_law

__all__ = [
    "Method",
    "Sampling",
    "mean_method",
    "score_width",
    "touching_pvalue",
    "with_two_way",
]

Limits = tuple[float, float]
OneSided = Callable[[float, str], float | None]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the sampled methods draw.

    Parameters
    ----------
    n_resamples : int
    seed : int
    """

    n_resamples: int = 9999
    seed: int = 7


@dataclass(frozen=True, slots=True)
class Method:
    """A named interval bound to a sample.

    Parameters
    ----------
    name : str
        The name that is printed.
    interval : callable
        From the probability beyond either limit to an `Interval` whose level is
        set by the caller.
    pvalue : callable or None
        From a null value and an alternative to the one-sided p-value; None when
        it has to be searched over the level.
    finest : float
        Smallest tail probability that `interval` can tell from 0.
    """

    name: str
    interval: Callable[[float], Interval]
    pvalue: OneSided | None = None
    finest: float = 1e-300


def score_width(sample: PairedSample) -> float | None:
    """Width of the score range: declared, or 1 for a binary metric."""
    if sample.score_range is not None:
        return sample.score_range[1] - sample.score_range[0]
    return 1.0 if sample.binary else None


def mean_method(
    name: str,
    sample: PairedSample,
    sampling: Sampling,
    signflip: Interval | None = None,
) -> Method | None:
    """Bind the interval called `name` to a sample; whole clusters when declared.

    Parameters
    ----------
    name : str
        One of `INTERVAL_NAMES` but ``auto`` and ``two-way``.
    sample : PairedSample
    sampling : Sampling
    signflip : Interval, optional
        The sign-flip interval of the sample at one level, when it is known.

    Returns
    -------
    Method or None
        None when the data cannot carry the method (fewer than two pairs or
        clusters, or no changed answer and no declared score range).

    Raises
    ------
    MethodError
        If the method does not fit this kind of data.
    """
    check_fit("interval", name, misfit_of_interval(name, sample))
    if name in BINARY_LIMITS or name == "newcombe-cluster":
        return _binary_method(name, sample)
    if name in BOOTSTRAP_NAMES:
        return _bootstrap_method(name, sample, sampling)
    if name == "hall":
        return _hall_method(sample)
    if name == "sign-flip":
        return _signflip_method(sample, signflip)
    if name == "sign-flip+guarded-t":
        return _wider_method(sample, signflip)
    if name.startswith("guarded"):
        return _guarded_method(sample)
    return _plain_method(sample)


def with_two_way(method: Method, two_way: Interval | StudentLaw) -> Method:
    """At each end the wider of the question-only and the two-way interval.

    Parameters
    ----------
    method : Method
        The question-only method.
    two_way : Interval or StudentLaw
        An interval holds at its own level only; a law at every level.
    """

    def interval(tail: float) -> Interval:
        if isinstance(two_way, StudentLaw):
            other = two_way.limits(tail)
        else:
            other = (two_way.low, two_way.high)
        own = method.interval(tail)
        limits = wider((own.low, own.high), other)
        return Interval(*limits, 1 - 2 * tail, "two-way", notes=own.notes)

    def pvalue(null: float, alternative: str) -> float | None:
        assert isinstance(two_way, StudentLaw)
        own = touching_pvalue(method, null, alternative)
        both = (own, two_way.pvalue(null, alternative))
        return max((p for p in both if p is not None), default=None)

    by_law = isinstance(two_way, StudentLaw)
    return Method("two-way", interval, pvalue if by_law else None)


def touching_pvalue(method: Method, margin: float, alternative: str) -> float | None:
    """Tail probability at which an end of the interval touches the margin.

    Parameters
    ----------
    method : Method
    margin : float
    alternative : str
        ``greater`` looks at the low end, ``less`` at the high end.

    Returns
    -------
    float or None
        By the method's own formula, else by bisection over the level.
    """
    if method.pvalue is not None:
        return method.pvalue(margin, alternative)
    return _searched_pvalue(method, margin, alternative)


def _method_of_limits(
    name: str,
    limits: Callable[[float], Limits],
    pvalue: OneSided | None = None,
) -> Method:
    def interval(tail: float) -> Interval:
        low, high = limits(tail)
        return Interval(low, high, 1 - 2 * tail, name, degenerate=low == high)

    return Method(name, interval, pvalue)


def _method_of_law(name: str, law: StudentLaw | None) -> Method | None:
    return None if law is None else _method_of_limits(name, law.limits, law.pvalue)


def _binary_method(name: str, sample: PairedSample) -> Method | None:
    if sample.n_pairs == 0:
        return None
    base = BINARY_LIMITS[name.removesuffix("-cluster")]
    table = binary_table(sample.baseline, sample.variant)
    if not clustered(sample) or sample.clusters is None:
        return _method_of_limits(name, lambda tail: base(table, tail))
    deff = design_effect(sample.difference, sample.clusters)
    df = bell_mccaffrey_df(sample.clusters)
    if deff is None or df is None:
        return None
    return _method_of_limits(
        f"{name.removesuffix('-cluster')}-cluster",
        lambda tail: stretched_limits(
            base(table, tail), table.delta, deff=deff, df=df, tail=tail
        ),
    )


def _bootstrap_method(name: str, sample: PairedSample, sampling: Sampling) -> Method:
    from onechange.stats.bootstrap import bootstrap_interval
    from onechange.stats.bootstrap_pvalue import bootstrap_pvalue

    clusters = sample.clusters if clustered(sample) else None

    def interval(tail: float) -> Interval:
        return bootstrap_interval(
            sample.difference,
            method=name,
            clusters=clusters,
            strata=sample.strata,
            resampling=sample.resampling,
            confidence_level=1 - 2 * tail,
            n_resamples=sampling.n_resamples,
            seed=sampling.seed,
        )

    def pvalue(null: float, alternative: str) -> float | None:
        return bootstrap_pvalue(
            sample.difference,
            null,
            alternative=alternative,
            method=name,
            clusters=clusters,
            strata=sample.strata,
            resampling=sample.resampling,
            n_resamples=sampling.n_resamples,
            seed=sampling.seed,
        )

    return Method(name, interval, pvalue, finest=1e-12)


def _hall_method(sample: PairedSample) -> Method | None:
    if sample.n_pairs < 2:
        return None

    def limits(tail: float) -> Limits:
        found = hall_limits(sample.difference, tail)
        assert found is not None, "two pairs have limits"
        return found

    return _method_of_limits("hall", limits)


def _signflip_method(sample: PairedSample, known: Interval | None) -> Method:
    from onechange.stats.signflip import (
        signflip_interval,
        signflip_test,
        tail_probability,
    )

    clusters = sample.clusters if clustered(sample) else None
    known_tail = tail_probability(known.confidence_level) if known else None

    def interval(tail: float) -> Interval:
        if known is not None and tail == known_tail:
            return known
        return signflip_interval(
            sample.difference, clusters=clusters, confidence_level=1 - 2 * tail
        )

    def pvalue(null: float, alternative: str) -> float | None:
        return signflip_test(
            sample.difference, clusters=clusters, alternative=alternative, shift=null
        ).pvalue

    return Method("sign-flip", interval, pvalue, finest=1e-12)


def _guarded_method(sample: PairedSample) -> Method | None:
    width = score_width(sample)
    if clustered(sample) and sample.clusters is not None:
        law = guarded_cr2_law(sample.difference, sample.clusters, width=width)
        return _method_of_law("guarded-cr2-t", law)
    return _method_of_law("guarded-t", guarded_t_law(sample.difference, width=width))


def _plain_method(sample: PairedSample) -> Method | None:
    if clustered(sample) and sample.clusters is not None:
        law = cr2_law(sample.difference, sample.clusters)
        return _method_of_law("cr2-t", law)
    return _method_of_law("t", t_law(sample.difference))


def _wider_method(sample: PairedSample, known: Interval | None) -> Method | None:
    guarded = _guarded_method(sample)
    if guarded is None:
        return None
    signflip = _signflip_method(sample, known)
    assert guarded.pvalue is not None
    assert signflip.pvalue is not None
    pvalues = (guarded.pvalue, signflip.pvalue)

    def interval(tail: float) -> Interval:
        first, second = guarded.interval(tail), signflip.interval(tail)
        low, high = wider((first.low, first.high), (second.low, second.high))
        return replace(
            second,
            low=low,
            high=high,
            method="sign-flip+guarded-t",
            degenerate=False,
        )

    def pvalue(null: float, alternative: str) -> float | None:
        found = [p for p in (f(null, alternative) for f in pvalues) if p is not None]
        return max(found, default=None)

    return Method("sign-flip+guarded-t", interval, pvalue, finest=1e-12)


def _searched_pvalue(method: Method, margin: float, alternative: str) -> float:
    from scipy.special import ndtr

    def shown(z: float) -> bool:
        interval = method.interval(max(float(ndtr(-z)), method.finest))
        return interval.low > margin if greater else interval.high < margin

    def refuted(z: float) -> bool:
        interval = method.interval(max(float(ndtr(-z)), method.finest))
        return interval.high < margin if greater else interval.low > margin

    greater, smallest = alternative == "greater", 1e-9
    for excluded, wrong_side in ((shown, False), (refuted, True)):
        if not excluded(smallest):
            continue
        low, high = smallest, normal_quantile(method.finest)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if excluded(middle) else (low, middle)
        return float(ndtr(low if wrong_side else -low))
    return 0.5
