"""The parts of a plan: each checks itself and names the key that is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from onechange.plain_values import same_value
from onechange.plan.keys import (
    ADJUSTMENTS,
    BUILT_IN_RATES,
    STATISTICS,
    PlanKeyError,
    check_finite,
    check_named,
    check_not_negative,
    check_one_of,
    check_range,
    check_whole,
    is_number,
)
from onechange.stats.names import INTERVAL_NAMES, RESAMPLING_NAMES, TEST_NAMES

__all__ = [
    "Analysis",
    "Change",
    "Guardrail",
    "Metric",
    "Primary",
    "relative_margin",
]


@dataclass(frozen=True, slots=True)
class Metric:
    """A per-question score with a direction.

    Parameters
    ----------
    name : str
        Name in the plan and in every output.
    column : str, optional
        Column of the files, where it differs from `name`.
    direction : str, optional
        ``higher`` or ``lower`` is better; None: to be inferred from the name.
    range : tuple of float, optional
        Declared (lowest, highest) score.
    tie : float, optional
        Largest difference that counts as none, in the metric's unit.
    unscored : str, optional
        ``exclude``, ``worst`` or ``zero``; None: as the analysis says.
    threshold : float, optional
        Loss above which a question counts in the loss rate.
    numerator, denominator : str, optional
        The two columns of a ratio metric.
    labels : str, optional
        File of human labels; rules then apply to the delta corrected by them.

    Examples
    --------
    >>> Metric("latency_ms", direction="lower").direction
    'lower'
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
    labels: str | None = None

    def __post_init__(self) -> None:
        check_named("name", self.name)
        if self.labels is not None and self.numerator is not None:
            told = f'"{self.name}" is a ratio; human labels correct a mean.'
            raise PlanKeyError(("labels",), told)
        check_one_of("direction", self.direction, ("higher", "lower"))
        check_one_of("unscored", self.unscored, ("exclude", "worst", "zero"))
        if self.range is not None:
            object.__setattr__(self, "range", check_range(self.name, self.range))
        for field in ("tie", "threshold"):
            value = getattr(self, field)
            if value is not None:
                check_not_negative(field, value, f'of "{self.name}"')
        if (self.numerator is None) != (self.denominator is None):
            missing = "denominator" if self.denominator is None else "numerator"
            raise PlanKeyError(
                (missing,),
                f'ratio metric "{self.name}" has no {missing}; name both columns.',
            )
        self._check_unscored()

    def _check_unscored(self) -> None:
        if self.unscored in ("worst", "zero") and self.range is None:
            raise PlanKeyError(
                ("unscored",),
                f'"{self.unscored}" for "{self.name}" needs a declared range; add '
                "range = [lowest, highest].",
            )
        if self.unscored == "zero" and (
            self.direction == "lower" or (self.range is not None and self.range[0] != 0)
        ):
            raise PlanKeyError(
                ("unscored",),
                f'"zero" for "{self.name}" fits only a higher-is-better metric whose '
                'range starts at 0; use "worst" or "exclude".',
            )


@dataclass(frozen=True, slots=True)
class Change:
    """The one declared change: a setting, its value before and after."""

    setting: str
    before: Any = None
    after: Any = None

    def __post_init__(self) -> None:
        check_named("setting", self.setting)
        if self.before is not None and same_value(self.before, self.after):
            text = f'is "{self.after}", as is "from"; give two different values.'
            raise PlanKeyError(("to",), text)


@dataclass(frozen=True, slots=True)
class Primary:
    """The metric that is predicted to improve, by more than `min_improvement`."""

    metric: str
    min_improvement: float = 0.0

    def __post_init__(self) -> None:
        check_named("metric", self.metric)
        check_not_negative(
            "min_improvement",
            self.min_improvement,
            f'of "{self.metric}"',
            what="the smallest improvement that counts",
        )


@dataclass(frozen=True, slots=True)
class Guardrail:
    """A metric with a tolerated worsening and/or a limit for the variant itself.

    Parameters
    ----------
    metric : str
        A metric of the data, or ``failed``, ``unscored``, ``answered``.
    margin : float or str, optional
        Largest tolerated worsening in the metric's unit, or a text such as
        ``"10%"``, relative to the baseline.
    limit : float, optional
        What the variant itself must stay within (above it when higher is better).
    statistic : str
        ``mean``, ``p50``, ``p90``, ``p95``, ``p99`` or ``loss_rate``.
    rule : str
        ``interval``, or ``estimate`` for the point value of this run.
    role : str
        ``guardrail``, or ``equivalence`` (within the margin on both sides).
    every_slice : str, optional
        Breakdown in each slice of which the guardrail must hold.
    small_slices : str, optional
        ``join`` (default) slices under the minimum size into one, or
        ``inconclusive``.
    """

    metric: str
    margin: float | str | None = None
    limit: float | None = None
    statistic: str = "mean"
    rule: str = "interval"
    role: str = "guardrail"
    every_slice: str | None = None
    small_slices: str | None = None

    def __post_init__(self) -> None:
        check_named("metric", self.metric)
        check_one_of("statistic", self.statistic, STATISTICS)
        check_one_of("rule", self.rule, ("interval", "estimate"))
        check_one_of("role", self.role, ("guardrail", "equivalence"))
        check_one_of("small_slices", self.small_slices, ("join", "inconclusive"))
        if self.margin is None and self.limit is None:
            raise PlanKeyError(
                (),
                f'guardrail "{self.metric}" allows nothing; give it a margin, a limit '
                "or both.",
            )
        if isinstance(self.margin, str):
            relative_margin(self.margin)
        elif self.margin is not None:
            check_not_negative(
                "margin",
                self.margin,
                f'of "{self.metric}"',
                what="the largest tolerated worsening",
            )
        if self.limit is not None:
            check_finite("limit", self.limit, f'of "{self.metric}"')
        self._check_combination()

    def _check_combination(self) -> None:
        if self.role == "equivalence" and (
            self.margin is None or self.limit is not None
        ):
            raise PlanKeyError(
                ("role",),
                f'equivalence of "{self.metric}" needs a margin and takes no limit.',
            )
        if self.metric in BUILT_IN_RATES and self.statistic != "mean":
            raise PlanKeyError(
                ("statistic",),
                f'"{self.metric}" is a rate, so only its mean exists; leave statistic '
                "out.",
            )
        if self.small_slices is not None and self.every_slice is None:
            raise PlanKeyError(
                ("small_slices",),
                f'"{self.metric}" has no every_slice, so small_slices has no effect; '
                "name the breakdown or leave it out.",
            )


@dataclass(frozen=True, slots=True)
class Analysis:
    """Settings of the statistics; the names are those of the plan keys."""

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
    resampling: str = "multinomial"
    strata: str | None = None

    def __post_init__(self) -> None:
        level = self.confidence_level
        if not is_number(level) or not 0 < level < 1:
            raise PlanKeyError(
                ("confidence_level",),
                f"is {level}; give a number between 0 and 1, such as 0.95.",
            )
        check_one_of("interval", self.interval, INTERVAL_NAMES)
        check_one_of("test", self.test, TEST_NAMES)
        check_one_of("adjust", self.adjust, ADJUSTMENTS)
        check_one_of("unscored", self.unscored, ("exclude", "worst", "zero"))
        check_one_of("primaries", self.primaries, ("all", "any"))
        check_one_of("bounds", self.bounds, ("applicable", "all"))
        check_one_of("resampling", self.resampling, RESAMPLING_NAMES)
        if self.resampling == "stratified" and self.strata is None:
            raise PlanKeyError(
                ("resampling",),
                'is "stratified" without strata; name a column of labels, such as '
                'strata = "question_type".',
            )
        if self.strata is not None and self.resampling != "stratified":
            raise PlanKeyError(
                ("strata",),
                f'is "{self.strata}", but resampling is "{self.resampling}"; set it to '
                '"stratified".',
            )
        check_whole("n_resamples", self.n_resamples, least=99)
        check_whole("seed", self.seed, least=0)
        check_whole("min_slice", self.min_slice, least=1)


def relative_margin(text: str) -> float:
    """Read a relative margin such as ``"10%"`` as a fraction.

    Parameters
    ----------
    text : str
        A number of 0 or more with a percent sign.

    Returns
    -------
    float
        The margin as a fraction of the baseline.

    Raises
    ------
    PlanError
        When the text is not of that form.

    Examples
    --------
    >>> relative_margin("10%")
    0.1
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*%\s*", text)
    if match is None:
        raise PlanKeyError(
            ("margin",),
            f'is "{text}"; give a number of 0 or more in the metric\'s unit, such as '
            '0.02, or relative to the baseline, such as "10%".',
        )
    return float(match[1]) / 100
