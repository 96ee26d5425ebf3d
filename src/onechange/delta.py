"""One metric over one set of pairs -> `Delta`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onechange.deltas import BinaryTable, Bounds, Delta, DeltaTable, RelativeDelta
from onechange.stats.estimate import Interval, Note, TestResult
from onechange.stats.fitting import resampling_notes, sample_resampling
from onechange.stats.runs import RunVariance, runs_note
from onechange.stats.sample import PairedSample, paired_sample
from onechange.stats.student import mean

__all__ = [
    "BinaryTable",
    "Bounds",
    "Delta",
    "DeltaTable",
    "Methods",
    "MetricValues",
    "RelativeDelta",
    "metric_delta",
    "metric_sample",
    "not_measured",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Methods:
    """Which statistics to use: the analysis settings that a delta needs.

    A method that does not fit is an error when `strict`; otherwise the default stands
    in for it, with note ``method-does-not-fit``. Fieller's intervals are for the
    relative delta, which every delta has, so that they are never an error.
    """

    confidence_level: float = 0.95
    interval: str = "auto"
    test: str = "auto"
    n_resamples: int = 9999
    seed: int = 7
    strict: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class MetricValues:
    """Question means of one metric in both arms, NaN where a question is unscored.

    Parameters
    ----------
    baseline, variant : ndarray of float, shape (n_questions,)
        Over the same questions, each arm's own (paired or not).
    paired : ndarray of bool, shape (n_questions,)
        True where the question may be paired (in both arms and comparable).
    clusters : ndarray of int, shape (n_questions,), or None
        Cluster code of each question.
    score_range : tuple of float or None
        Declared (lowest, highest) score.
    tie : float or None
        Largest difference that counts as none; None is rounding noise only.
    attainable : tuple of float or None
        (Lowest, highest) mean that scores allow, where that is known without a
        declared range: every single score is 0 or 1.
    runs, arm_runs : RunVariance or None
        How far whole runs differ, for the delta and for an arm's own mean; None
        when that is not known. The two differ only where trials are paired.
    strata : ndarray of int, shape (n_questions,), or None
        Stratum of each question, when a bootstrap resamples within strata.
    resampling : str
        ``multinomial``, ``poisson`` or ``stratified``, for bootstrap intervals.
    fill : float or None
        What stands in for a row's missing score, in the question means too.

    Attributes
    ----------
    complete : ndarray of bool, shape (n_questions,)
        Questions scored in both arms that may be paired.
    binary : bool
        True when every question mean of both arms over all pairs is 0 or 1.
    binary_arms : bool
        True when every score of either arm, paired or not, is 0 or 1.
    """

    baseline: FloatArray
    variant: FloatArray
    paired: BoolArray
    clusters: IntArray | None = None
    score_range: tuple[float, float] | None = None
    tie: float | None = None
    attainable: tuple[float, float] | None = None
    runs: RunVariance | None = None
    arm_runs: RunVariance | None = None
    strata: IntArray | None = None
    resampling: str = "multinomial"
    fill: float | None = None
    complete: BoolArray = field(init=False, repr=False)
    binary: bool = field(init=False)
    binary_arms: bool = field(init=False)

    def __post_init__(self) -> None:
        """Find out once what every slice asks again."""
        arms = (self.baseline, self.variant)
        scored = [np.isfinite(scores) for scores in arms]
        complete = self.paired & scored[0] & scored[1]
        binary = bool(complete.any()) and all(_is_binary(a, complete) for a in arms)
        own = all(_is_binary(a, s) for a, s in zip(arms, scored, strict=True))
        object.__setattr__(self, "complete", np.asarray(complete, dtype=np.bool_))
        object.__setattr__(self, "binary", binary)
        object.__setattr__(self, "binary_arms", own)


def metric_sample(
    values: MetricValues, questions: BoolArray | None = None
) -> PairedSample:
    """Pair a metric over some questions (all by default).

    Whether the metric is binary is decided over all pairs, never per slice.

    Parameters
    ----------
    values : MetricValues
        The metric over all questions.
    questions : ndarray of bool, shape (n_questions,), optional
        The questions of a slice.

    Returns
    -------
    PairedSample
        The complete pairs among the questions.
    """
    complete = values.complete
    use = _numbers(complete if questions is None else complete & questions)
    clusters = None if values.clusters is None else values.clusters[use]
    baseline = values.baseline[use]
    return paired_sample(
        baseline,
        values.variant[use],
        clusters=clusters,
        score_range=values.score_range,
        tie=values.tie,
        binary=values.binary,
        runs=values.runs,
        attainable=values.score_range or values.attainable,
        strata=None if values.strata is None else values.strata[use],
        resampling=sample_resampling(values.resampling, baseline.size, clusters),
    )


def metric_delta(
    name: str,
    direction: str,
    values: MetricValues,
    methods: Methods,
    *,
    questions: BoolArray | None = None,
    slice_label: tuple[tuple[str, str], ...] | None = None,
    variant_name: str = "variant",
) -> Delta:
    """Compute the delta of one metric over some questions (all by default).

    Parameters
    ----------
    name, direction : str
        Name of the metric; ``higher`` or ``lower`` is better.
    values : MetricValues
        The metric over all questions of both arms.
    methods : Methods
        Level and method names.
    questions : ndarray of bool, shape (n_questions,), optional
        The questions of a slice.
    slice_label : tuple of (column, label), optional
        Which slice it is.
    variant_name : str
        Name of the variant arm.

    Returns
    -------
    Delta
        Without numbers, and with note ``not-measured``, when no pair is scored.
    """
    sample = metric_sample(values, questions)
    told = resampling_notes(sample, values.resampling, name)
    shared: dict[str, Any] = {
        "metric": name,
        "direction": direction,
        "slice": slice_label,
        "variant_name": variant_name,
        "baseline_interval": _arm_interval(values, "baseline", methods, questions),
        "variant_interval": _arm_interval(values, "variant", methods, questions),
    }
    if sample.n_pairs == 0:
        return Delta(n_pairs=0, notes=(not_measured(name),), **shared)
    delta = _computed_delta(sample, methods, direction, shared)
    return replace(delta, notes=(*told, *delta.notes)) if told else delta


def not_measured(metric: str) -> Note:
    """Note that no pair of a metric is scored.

    Parameters
    ----------
    metric : str

    Returns
    -------
    Note
    """
    return Note("not-measured", f"{metric} is not measured: 0 pairs are scored.")


def _computed_delta(
    sample: PairedSample, methods: Methods, direction: str, shared: dict[str, Any]
) -> Delta:
    from onechange.stats import choose, effect
    from onechange.stats.bootstrap import bootstrap_interval
    from onechange.stats.cluster import cluster_figures
    from onechange.stats.signflip import signflip_interval

    level = methods.confidence_level
    difference = sample.difference
    fitting, misfits = _fitting(sample, methods, shared["metric"])
    permutation = signflip_interval(
        difference, clusters=sample.clusters, confidence_level=level
    )
    choice = choose.decision_interval(
        sample,
        name=fitting.interval,
        confidence_level=level,
        n_resamples=methods.n_resamples,
        seed=methods.seed,
        signflip=permutation,
    )
    test = choose.decision_test(
        sample, name=fitting.test, n_resamples=methods.n_resamples, seed=methods.seed
    )
    bootstrap = bootstrap_interval(
        difference,
        clusters=sample.clusters,
        strata=sample.strata,
        resampling=sample.resampling,
        confidence_level=level,
    )
    gain = difference if direction == "higher" else -difference
    notes = (
        *misfits,
        *_runs_notes(sample, choice.interval),
        *choice.notes,
        *test.notes,
        *_disagreements(choice.interval, test, bootstrap, permutation, level),
    )
    return Delta(
        n_pairs=sample.n_pairs,
        **cluster_figures(sample.difference, sample.clusters),
        baseline=float(np.mean(sample.baseline)),
        variant=float(np.mean(sample.variant)),
        delta=mean(difference),
        standard_error=_standard_error(sample),
        difference_range=(float(difference.min()), float(difference.max())),
        relative=_relative(sample, methods),
        interval=choice.interval,
        bootstrap_interval=bootstrap,
        permutation_interval=permutation,
        test=test,
        **_counts(gain, sample.tie),
        table=_table(sample) if sample.binary else None,
        effect_size=effect.effect_sizes(sample),
        notes=notes,
        **shared,
    )


def _counts(gain: FloatArray, tie: float) -> dict[str, Any]:
    """Count better, same and worse questions."""
    return {
        "wins": int(np.count_nonzero(gain > tie)),
        "ties": int(np.count_nonzero(np.abs(gain) <= tie)),
        "losses": int(np.count_nonzero(gain < -tie)),
    }


def _arm_interval(
    values: MetricValues, arm: str, methods: Methods, questions: BoolArray | None
) -> Interval | None:
    """Interval of an arm's own mean, over all questions scored in that arm."""
    from onechange.stats import choose

    scores = values.baseline if arm == "baseline" else values.variant
    scored = np.isfinite(scores)
    use = _numbers(scored if questions is None else scored & questions)
    own = scores[use]
    if own.size == 0:
        return None
    clusters = None if values.clusters is None else values.clusters[use]
    return choose.arm_interval(
        own,
        binary=values.binary_arms,
        clusters=clusters,
        confidence_level=methods.confidence_level,
        score_range=values.score_range,
        runs=values.arm_runs if methods.interval in ("auto", "two-way") else None,
        arm=0 if arm == "baseline" else 1,
        attainable=values.score_range or values.attainable,
    ).interval


def _runs_notes(sample: PairedSample, interval: Interval | None) -> tuple[Note, ...]:
    if interval is None or interval.method != "two-way" or sample.runs is None:
        return ()
    return (runs_note(sample.runs),)


def _fitting(
    sample: PairedSample, methods: Methods, metric: str
) -> tuple[Methods, tuple[Note, ...]]:
    """Put the default in place of a method that does not fit, and say so."""
    from onechange.stats import choose

    misfits = {
        "interval": choose.misfit_of_interval(methods.interval, sample),
        "test": choose.misfit_of_test(methods.test, sample),
    }
    lacking = {
        kind: misfit
        for kind, misfit in misfits.items()
        if misfit is not None
        and (not methods.strict or getattr(methods, kind) in choose.RATIO_NAMES)
    }
    if not lacking:
        return methods, ()
    notes = tuple(
        choose.misfit_note(metric, kind, getattr(methods, kind), misfit.reason)
        for kind, misfit in lacking.items()
    )
    fitting = replace(
        methods,
        interval="auto" if "interval" in lacking else methods.interval,
        test="auto" if "test" in lacking else methods.test,
    )
    return fitting, notes


def _relative(sample: PairedSample, methods: Methods) -> RelativeDelta:
    from onechange.stats import choose

    found = choose.relative_interval(
        sample,
        name=choose.relative_name(methods.interval),
        confidence_level=methods.confidence_level,
    )
    return RelativeDelta(found.delta, found.interval, found.reason)


def _disagreements(
    interval: Interval | None,
    test: TestResult,
    bootstrap: Interval,
    permutation: Interval,
    level: float,
) -> list[Note]:
    notes = []
    if interval is not None and test.pvalue is not None:
        excludes = _excludes_zero(interval)
        if excludes != (test.pvalue <= 1 - level):
            text = (
                f"The {interval.method} interval "
                f"{'excludes' if excludes else 'includes'} 0 although the "
                f"{test.method} test {'does not reject' if excludes else 'rejects'} "
                "it at the same level; the interval decides."
            )
            notes.append(Note("interval-and-test-disagree", text))
    comparable = not (bootstrap.degenerate or permutation.degenerate)
    if comparable and _excludes_zero(bootstrap) != _excludes_zero(permutation):
        first = "bootstrap" if _excludes_zero(bootstrap) else "permutation"
        second = "permutation" if first == "bootstrap" else "bootstrap"
        text = f"The {first} interval excludes 0 and the {second} interval does not."
        notes.append(Note("bootstrap-and-permutation-disagree", text))
    return notes


def _excludes_zero(interval: Interval) -> bool:
    return interval.low > 0 or interval.high < 0


def _standard_error(sample: PairedSample) -> float | None:
    if sample.clusters is not None and (sample.n_clusters or 0) < sample.n_pairs:
        from onechange.stats.cluster import cr2

        return cr2(sample.difference, sample.clusters).standard_error
    if sample.n_pairs < 2:
        return None
    return float(np.std(sample.difference, ddof=1) / math.sqrt(sample.n_pairs))


def _table(sample: PairedSample) -> BinaryTable:
    right_b, right_v = sample.baseline == 1, sample.variant == 1
    return BinaryTable(
        both=int(np.count_nonzero(right_b & right_v)),
        only_baseline=int(np.count_nonzero(right_b & ~right_v)),
        only_variant=int(np.count_nonzero(~right_b & right_v)),
        neither=int(np.count_nonzero(~right_b & ~right_v)),
    )


def _numbers(questions: BoolArray) -> IntArray | slice:
    """Index of some questions: quicker than a mask, and no copy when it is all."""
    found = np.flatnonzero(questions)
    return slice(None) if found.size == questions.size else found


def _is_binary(scores: FloatArray, counted: BoolArray) -> bool:
    """Whether all scores that count are 0 or 1."""
    return bool(np.all((scores == 0) | (scores == 1) | ~counted))
