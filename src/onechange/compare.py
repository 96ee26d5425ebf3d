"""Calls the parts for every metric -> `Comparison`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from onechange.align import Audit, Pairs
from onechange.delta import Delta
from onechange.plan import Analysis, Metric, Plan, SliceSpec
from onechange.results import SourceFile
from onechange.stats.estimate import Note

__all__ = ["ArmSummary", "ArmTrials", "Comparison", "MetricTrials", "SliceBreakdown", "compare"]


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """What was read for one arm."""

    name: str
    files: tuple[SourceFile, ...]
    n_rows: int
    n_trials: int
    settings: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ArmTrials:
    """Run-to-run variation of one metric in one arm; None = not estimable.

    `means` is the mean of each trial over the paired questions scored in it
    (None where a trial has no score), in the order of `labels`.
    """

    labels: tuple[str, ...]
    means: tuple[float | None, ...]
    between_trial_sd: float | None
    within_question_sd: float | None = None
    icc: float | None = None
    flip_rate: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class MetricTrials:
    """Run-to-run variation of one metric in both arms."""

    metric: str
    baseline: ArmTrials
    variant: ArmTrials
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class SliceBreakdown:
    """One breakdown: deltas of every metric in every slice, worst change first."""

    spec: SliceSpec
    deltas: tuple[Delta, ...]
    small: tuple[tuple[str, int], ...] = ()
    heterogeneity_pvalue: dict[str, float | None] | None = None
    reversals: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Everything computed for one baseline and its variants (one audit per variant).

    `deltas` holds the overall deltas, metric by metric in the order of `metrics`
    (within a metric: the mean first, further statistics asked for by guardrails,
    then variant by variant); the built-in rates stand in `rates`.
    """

    baseline: ArmSummary
    variants: tuple[ArmSummary, ...]
    audits: tuple[Audit, ...]
    pairs: tuple[Pairs, ...]
    metrics: tuple[Metric, ...]
    analysis: Analysis
    plan: Plan
    deltas: tuple[Delta, ...]
    rates: tuple[Delta, ...]
    slices: tuple[SliceBreakdown, ...]
    trials: tuple[MetricTrials, ...]
    notes: tuple[Note, ...]
    signature: str


def compare(*args: Any, **kwargs: Any) -> Comparison:
    """Compare a baseline with one or several variants."""
    raise NotImplementedError
