"""`Plan`, its parts and their TOML form: what was fixed before looking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onechange.results import Columns

__all__ = ["Analysis", "Change", "Guardrail", "Metric", "Plan", "Primary", "SliceSpec"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A per-question score with a direction.

    `direction` is ``higher`` or ``lower`` (None: to be inferred from the name);
    `range` the declared (lowest, highest) score; `tie` the largest difference
    that counts as none; `unscored` is ``exclude``, ``worst`` or ``zero``;
    `threshold` the loss that the loss rate counts; `numerator`/`denominator`
    the two columns of a ratio metric.
    """

    name: str
    column: str | None = None
    direction: str | None = None
    range: tuple[float, float] | None = None
    tie: float | None = None
    unscored: str | None = None
    threshold: float | None = None
    numerator: str | None = None
    denominator: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """The one declared change: a setting, its value before and after."""

    setting: str
    before: Any = None
    after: Any = None


@dataclass(frozen=True, slots=True)
class Primary:
    """The metric that is predicted to improve, by more than `min_improvement`."""

    metric: str
    min_improvement: float = 0.0


@dataclass(frozen=True, slots=True)
class Guardrail:
    """A metric with a tolerated worsening and/or a limit for the variant itself.

    `margin` and `limit` are numbers in the metric's unit; a margin may also be
    a text such as ``"10%"``, relative to the baseline.
    """

    metric: str
    margin: float | str | None = None
    limit: float | None = None
    statistic: str = "mean"
    rule: str = "interval"
    role: str = "guardrail"
    every_slice: str | None = None
    small_slices: str | None = None


@dataclass(frozen=True, slots=True)
class SliceSpec:
    """One breakdown: one column, several crossed columns, or cut points of a number."""

    columns: tuple[str, ...]
    cuts: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """Name shown in reports, for example ``qtype × level``."""
        return " × ".join(self.columns)


@dataclass(frozen=True, slots=True)
class Analysis:
    """Settings of the statistics."""

    confidence_level: float = 0.95
    interval: str = "auto"
    test: str = "auto"
    adjust: str = "max-t"
    n_resamples: int = 9999
    seed: int = 7
    unscored: str = "exclude"
    primaries: str = "all"
    bounds: str = "applicable"
    min_slice: int = 10
    trials_paired: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What was fixed before looking: metrics, margins, slices, settings of the analysis.

    Simple forms are accepted and normalised: ``primary="correctness"``,
    ``slices=["qtype", ["qtype", "level"]]``.
    """

    primary: Sequence[Primary] | Primary | str | None = None
    guardrails: Sequence[Guardrail] = ()
    slices: Sequence[SliceSpec | str | Sequence[str]] = ()
    metrics: Sequence[Metric] = ()
    columns: Columns = field(default_factory=Columns)
    analysis: Analysis = field(default_factory=Analysis)
    weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    name: str | None = None
    hypothesis: str | None = None
    question_set: str | None = None
    stage: str = "release"
    change: Change | None = None
    accepted_changes: Sequence[str] = ()
    sha256: str | None = None
    deviations: tuple[str, ...] = ()

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a TOML plan."""
        raise NotImplementedError
