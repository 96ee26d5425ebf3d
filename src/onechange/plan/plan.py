"""`Plan` and its TOML form: what was fixed before looking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from onechange.plan.features import NOT_BUILT, features
from onechange.plan.file import read_plan_file
from onechange.plan.keys import (
    BUILT_IN_RATES,
    EQUAL_WEIGHTS,
    Key,
    PlanKeyError,
    check_thresholds,
    did_you_mean,
)
from onechange.plan.load import placed, plan_arguments
from onechange.plan.parts import (
    Analysis,
    Change,
    Guardrail,
    Metric,
    Primary,
)
from onechange.plan.slicing import SliceSpec, as_slices
from onechange.results import Columns

__all__ = ["Plan"]


@dataclass(frozen=True, slots=True, init=False)
class Plan:
    """What was fixed before looking: metrics, margins, slices, analysis.

    Parameters
    ----------
    primary : str, Primary or sequence of Primary, optional
        The metric that should improve; without one, guardrails alone decide.
    guardrails : sequence of Guardrail
        What may not get worse, and by how much.
    slices : sequence of SliceSpec, str or sequence of str
        Breakdowns: ``"qtype"``, ``["qtype", "level"]`` (crossed),
        ``"input_tokens:100,300"`` (cut points).
    metrics : sequence of Metric
        What differs from the inferred.
    columns : Columns
        Which column plays which role; completed by what the other parts name.
    analysis : Analysis
        Settings of the statistics.
    weights : mapping of str to mapping of str to float, or to ``"equal"``
        Production mix per slice column; equal weights give the macro average.
    name, hypothesis, question_set : str, optional
        Title, prediction, and the question set both arms must record.
    stage : str
        ``release`` or ``development``.
    change : Change, optional
        The one declared change.
    accepted_changes : sequence of str
        Further settings that may differ.
    thresholds : mapping of str to float
        Score of a stage (``faithfulness`` …) to the value below which it is low.
    sha256 : str, optional
        Hash of the plan file.
    deviations : sequence of str
        What flags changed in the plan.
    places : mapping of tuple to str, optional
        File and line of each key, for messages about the data.

    Raises
    ------
    PlanError
        When a part is not valid; the message names the key and the way out.

    Examples
    --------
    >>> plan = Plan("correctness", [Guardrail("faithfulness", margin=0.02)], ["qtype"])
    >>> plan.primary
    (Primary(metric='correctness', min_improvement=0.0),)
    """

    primary: tuple[Primary, ...]
    guardrails: tuple[Guardrail, ...]
    slices: tuple[SliceSpec, ...]
    metrics: tuple[Metric, ...]
    columns: Columns
    analysis: Analysis
    weights: Mapping[str, Mapping[str, float] | str]
    name: str | None
    hypothesis: str | None
    question_set: str | None
    stage: str
    change: Change | None
    accepted_changes: tuple[str, ...]
    thresholds: Mapping[str, float]
    sha256: str | None
    deviations: tuple[str, ...]
    places: Mapping[Key, str] = field(repr=False, compare=False)

    def __init__(
        self,
        primary: Sequence[Primary] | Primary | str | None = None,
        guardrails: Sequence[Guardrail] = (),
        slices: Sequence[SliceSpec | str | Sequence[str]] = (),
        metrics: Sequence[Metric] = (),
        columns: Columns | None = None,
        analysis: Analysis | None = None,
        weights: Mapping[str, Mapping[str, float] | str] | None = None,
        name: str | None = None,
        hypothesis: str | None = None,
        question_set: str | None = None,
        stage: str = "release",
        change: Change | None = None,
        accepted_changes: Sequence[str] = (),
        thresholds: Mapping[str, float] | None = None,
        sha256: str | None = None,
        deviations: Sequence[str] = (),
        places: Mapping[Key, str] | None = None,
    ) -> None:
        rules = _guardrails(guardrails)
        values: dict[str, Any] = {
            "primary": _primaries(primary),
            "guardrails": rules,
            "slices": as_slices(
                slices, [r.every_slice for r in rules if r.every_slice], weights or {}
            ),
            "metrics": tuple(metrics),
            "columns": columns or Columns(),
            "analysis": analysis or Analysis(),
            "weights": weights or {},
            "name": name,
            "hypothesis": hypothesis,
            "question_set": question_set,
            "stage": stage,
            "change": change,
            "accepted_changes": tuple(accepted_changes),
            "thresholds": dict(thresholds or {}),
            "sha256": sha256,
            "deviations": tuple(deviations),
            "places": places or {},
        }
        for field_name, value in values.items():
            object.__setattr__(self, field_name, value)
        _check(self)
        object.__setattr__(self, "columns", _completed_columns(self))

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a TOML plan.

        Parameters
        ----------
        path : str or Path
            The plan file; ``docs/plan.md`` describes its keys.

        Returns
        -------
        Plan

        Raises
        ------
        PlanError
            With file, line and key, what was found there and the way out.
        """
        source = read_plan_file(path)
        arguments = plan_arguments(source)
        arguments["metrics"] = tuple(
            metric
            if metric.labels is None
            else replace(metric, labels=str(Path(path).parent / metric.labels))
            for metric in arguments["metrics"]
        )
        places: dict[Key, str] = {key: source.place(key) for key in source.lines}
        places[()] = source.name
        plan: Plan = placed(
            source,
            (),
            lambda: cls(**arguments, sha256=source.sha256, places=places),
        )
        return plan

    def place(self, *keys: Key) -> str:
        """Return file and line of the first of some keys that the plan file has.

        Parameters
        ----------
        *keys : tuple of str or int
            Paths such as ``("guardrail", 1, "every_slice")``.

        Returns
        -------
        str
            ``plan`` where none of them stands in a file; without a key the file.
        """
        for key in keys or ((),):
            single = (key[0], *key[2:]) if key else key  # [primary] has no index
            found = self.places.get(key) or self.places.get(single)
            if found is not None:
                return found
        return "plan"

    @property
    def has_rules(self) -> bool:
        """Whether there is anything to decide."""
        return bool(self.primary or self.guardrails)


def _primaries(
    primary: Sequence[Primary] | Primary | str | None,
) -> tuple[Primary, ...]:
    if primary is None:
        return ()
    if isinstance(primary, str):
        return (Primary(primary),)
    return (primary,) if isinstance(primary, Primary) else tuple(primary)


def _guardrails(guardrails: Sequence[Guardrail]) -> tuple[Guardrail, ...]:
    seen: set[tuple[object, ...]] = set()
    for index, rule in enumerate(guardrails):
        same = (rule.metric, rule.statistic, rule.role, rule.every_slice, rule.rule)
        if same in seen:
            raise PlanKeyError(
                ("guardrail", index, "metric"),
                f'"{rule.metric}" has the same guardrail twice; keep one, with its '
                "margin and its limit.",
            )
        seen.add(same)
    return tuple(guardrails)


def _check(plan: Plan) -> None:
    stages = ("release", "development")
    if plan.stage not in stages:
        raise PlanKeyError(
            ("experiment", "stage"),
            f'is "{plan.stage}"; {did_you_mean(plan.stage, stages)}',
        )
    for key, names in (
        ("metric", [metric.name for metric in plan.metrics]),
        ("primary", [primary.metric for primary in plan.primary]),
    ):
        for index, name in enumerate(names):
            if name in names[:index]:
                raise PlanKeyError(
                    (key, index), f'"{name}" is declared twice; keep one of them.'
                )
    _check_labels(plan)
    _check_statistics(plan)
    check_thresholds(plan.thresholds)
    for column, mix in plan.weights.items():
        if isinstance(mix, str):
            if mix != EQUAL_WEIGHTS:
                raise PlanKeyError(
                    ("data", "weights", column),
                    f'is "{mix}"; give a share per label of {column}, or "equal".',
                )
            continue
        shares = list(mix.values())
        valid = all(math.isfinite(share) and share >= 0 for share in shares)
        if not valid or not sum(shares) > 0:
            raise PlanKeyError(
                ("data", "weights", column),
                f"of {column} must be finite numbers of 0 or more with a sum above 0.",
            )
    used = features(
        plan.primary,
        plan.guardrails,
        plan.metrics,
        plan.columns,
        plan.analysis,
        weights=plan.weights,
    )
    for feature, path in used:
        if feature in NOT_BUILT:
            raise PlanKeyError(path, NOT_BUILT[feature])


def _check_statistics(plan: Plan) -> None:
    """Refuse statistics that a metric does not have as it is declared."""
    declared = {metric.name: metric for metric in plan.metrics}
    for index, rule in enumerate(plan.guardrails):
        metric = declared.get(rule.metric)
        key = ("guardrail", index, "statistic")
        threshold = None if metric is None else metric.threshold
        if rule.statistic == "loss_rate" and threshold is None:
            raise PlanKeyError(
                key,
                f"the loss rate of {rule.metric} needs the loss that counts; add "
                "threshold = … to its [[metric]].",
            )
        if metric is not None and metric.numerator and rule.statistic != "mean":
            raise PlanKeyError(
                key,
                f'is "{rule.statistic}", but "{rule.metric}" is a ratio of two sums, '
                "which no question has by itself; leave the statistic out.",
            )


def _check_labels(plan: Plan) -> None:
    """Refuse rules to which the delta corrected by human labels cannot answer."""
    labelled = {m.name for m in plan.metrics if m.labels is not None}
    for index, rule in enumerate(plan.guardrails):
        if rule.metric not in labelled:
            continue
        for key, used in (
            ("statistic", rule.statistic != "mean"),
            ("every_slice", rule.every_slice is not None),
            ("margin", isinstance(rule.margin, str)),
        ):
            if used:
                raise PlanKeyError(
                    ("guardrail", index, key),
                    f'of "{rule.metric}" does not go with its human labels, which '
                    "correct the mean over all questions, in the metric's unit.",
                )


def _completed_columns(plan: Plan) -> Columns:
    """Add to the column roles what slices, metrics and rules name."""
    given = plan.columns
    labels = [c for spec in plan.slices if not spec.cuts for c in spec.columns]
    strata = [] if plan.analysis.strata is None else [plan.analysis.strata]
    # a rate needs no column, and is of the rows' scores of every metric
    wanted = [name for name in given.metrics if name not in BUILT_IN_RATES]
    if wanted:
        named = [
            *(metric.name for metric in plan.metrics),
            *(primary.metric for primary in plan.primary),
            *(rule.metric for rule in plan.guardrails),
        ]
        wanted += [name for name in named if name not in BUILT_IN_RATES]
        wanted += [spec.columns[0] for spec in plan.slices if spec.cuts]
        for metric in plan.metrics:
            if metric.numerator is not None and metric.denominator is not None:
                wanted = [name for name in wanted if name != metric.name]
                wanted += [metric.numerator, metric.denominator]
    return replace(
        given,
        slices=tuple(dict.fromkeys((*given.slices, *labels, *strata))),
        metrics=tuple(dict.fromkeys(wanted)),
        metric_columns={
            **given.metric_columns,
            **{m.name: m.column for m in plan.metrics if m.column is not None},
        },
        ranges={
            **given.ranges,
            **{m.name: m.range for m in plan.metrics if m.range is not None},
        },
    )
