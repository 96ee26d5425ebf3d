"""One metric over one set of pairs -> `Delta`."""

from __future__ import annotations

from dataclasses import dataclass

from onechange.stats.estimate import Interval, Note, TestResult

__all__ = ["BinaryTable", "Bounds", "Delta", "RelativeDelta", "paired_delta"]


@dataclass(frozen=True, slots=True)
class BinaryTable:
    """Counts of a 0/1 metric: who was right."""

    both: int
    only_baseline: int
    only_variant: int
    neither: int


@dataclass(frozen=True, slots=True)
class RelativeDelta:
    """mean(variant) / mean(baseline) - 1, or the reason why it is undefined."""

    delta: float | None
    interval: Interval | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Bounds:
    """The delta with every missing score at its worst and at its best end.

    `low`/`high` are None, with the `reason`, when no score range is declared.
    `interval` runs from the decision interval's low on the worst-filled pairs to
    its high on the best-filled ones.
    """

    low: float | None
    high: float | None
    n_questions: int
    n_incomplete: int
    n_not_applicable: int
    interval: Interval | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Delta:
    """The comparison of one metric over one set of pairs (delta = variant - baseline)."""

    metric: str
    direction: str
    n_pairs: int
    baseline: float | None = None
    variant: float | None = None
    delta: float | None = None
    slice: tuple[tuple[str, str], ...] | None = None
    statistic: str = "mean"
    variant_name: str = "variant"
    n_clusters: int | None = None
    standard_error: float | None = None
    difference_range: tuple[float, float] | None = None
    relative: RelativeDelta | None = None
    baseline_interval: Interval | None = None
    variant_interval: Interval | None = None
    interval: Interval | None = None
    bootstrap_interval: Interval | None = None
    permutation_interval: Interval | None = None
    test: TestResult | None = None
    pvalue_adjusted: float | None = None
    simultaneous_interval: Interval | None = None
    wins: int = 0
    ties: int = 0
    losses: int = 0
    table: BinaryTable | None = None
    effect_size: dict[str, float | None] | None = None
    bounds: Bounds | None = None
    notes: tuple[Note, ...] = ()
