"""Several variants against one baseline: the swept setting, and the best of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onechange.breakdowns import SliceBreakdown
from onechange.deltas import Delta
from onechange.plan import Plan
from onechange.slice_sizes import is_small
from onechange.slices import SliceLabel
from onechange.stats.estimate import Interval, Note, TestResult
from onechange.stats.related import cochran_q
from onechange.values import VariantValues

__all__ = ["BestVariant", "Sweep", "number", "sweep"]


@dataclass(frozen=True, slots=True)
class BestVariant:
    """The variant with the largest observed improvement of one metric.

    Parameters
    ----------
    metric, direction : str
    slice : tuple of (column, label), or None
        None over all questions.
    variant_name : str or None
        None when no variant improves on the baseline.
    delta : float
        Of that variant, or of the one that worsens least.
    interval : Interval or None
        Its simultaneous interval, which allows for the choice among all of them.
    pvalue_adjusted : float or None
    shown : bool
        Whether the interval shows an improvement.
    n_pairs : int
    """

    metric: str
    direction: str
    slice: SliceLabel | None
    variant_name: str | None
    delta: float
    interval: Interval | None
    pvalue_adjusted: float | None
    shown: bool
    n_pairs: int


@dataclass(frozen=True, slots=True)
class Sweep:
    """What several variants say together.

    Parameters
    ----------
    setting : str or None
        The declared setting, or the only recorded one that differs.
    baseline_value : object
        Its value in the baseline; None is not recorded.
    values : tuple of (variant name, value)
    numeric : bool
        Whether all values are numbers, the baseline's too.
    best : tuple of BestVariant
        Per metric over all questions, then slice by slice.
    related : tuple of (metric, TestResult)
        Cochran's Q over all arms of each 0/1 metric without clusters, on the
        questions scored in all of them.
    """

    setting: str | None
    baseline_value: Any
    values: tuple[tuple[str, Any], ...]
    numeric: bool
    best: tuple[BestVariant, ...]
    related: tuple[tuple[str, TestResult], ...] = ()

    @property
    def note(self) -> Note:
        """The warning that the best of several is partly the luckiest."""
        n = len(self.values)
        chosen = [
            f"{best.metric}: {best.variant_name}"
            for best in self.best
            if best.slice is None and best.variant_name is not None
        ]
        listed = f" ({'; '.join(chosen)})" if chosen else ""
        text = (
            f"{n} variants were compared on the same questions; the best of them"
            f"{listed} looks better than it is. Its simultaneous interval allows for "
            "the choice; confirm it on held-out questions."
        )
        return Note("best-of-many", text)


def sweep(
    variants: Sequence[VariantValues],
    settings: Sequence[Mapping[str, Any]],
    deltas: Sequence[Delta],
    breakdowns: Sequence[SliceBreakdown],
    plan: Plan,
) -> Sweep | None:
    """Collect what several variants say together.

    Parameters
    ----------
    variants : sequence of VariantValues
        Each variant with its pairs.
    settings : sequence of mapping
        Recorded settings of the baseline, then of each variant.
    deltas : sequence of Delta
        Overall, with simultaneous intervals.
    breakdowns : sequence of SliceBreakdown
    plan : Plan
        May declare the setting.

    Returns
    -------
    Sweep or None
        None for a single variant.
    """
    if len(variants) < 2:
        return None
    setting = _setting(settings, plan)
    values = [None if setting is None else part.get(setting) for part in settings]
    parts = [d for b in breakdowns for d in b.deltas if not is_small(d)]
    return Sweep(
        setting=setting,
        baseline_value=values[0],
        values=tuple(
            (variant.name, value)
            for variant, value in zip(variants, values[1:], strict=True)
        ),
        numeric=setting is not None
        and all(number(value) is not None for value in values),
        best=tuple(_best(deltas)) + tuple(_best(parts)),
        related=tuple(_related(variants, deltas)),
    )


def number(value: object) -> float | None:
    """Read a setting as a number; None for what is none, booleans too.

    Parameters
    ----------
    value : object
        Recorded value of a setting.

    Examples
    --------
    >>> number("3"), number(0.5), number(True), number("on")
    (3.0, 0.5, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _setting(settings: Sequence[Mapping[str, Any]], plan: Plan) -> str | None:
    """Find the declared setting, or the only recorded one that differs."""
    if plan.change is not None:
        return plan.change.setting
    names = dict.fromkeys(name for part in settings for name in part)
    differing = [
        name for name in names if len({repr(part.get(name)) for part in settings}) > 1
    ]
    return differing[0] if len(differing) == 1 else None


def _best(deltas: Sequence[Delta]) -> list[BestVariant]:
    """Choose per metric and slice, in their order of appearance."""
    groups: dict[tuple[str, SliceLabel | None], list[Delta]] = {}
    for delta in deltas:
        if delta.statistic in ("mean", "ratio") and delta.delta is not None:
            groups.setdefault((delta.metric, delta.slice), []).append(delta)
    found = []
    for (metric, label), rows in groups.items():
        best = max(rows, key=_improvement)
        interval = best.simultaneous_interval
        found.append(
            BestVariant(
                metric=metric,
                direction=best.direction,
                slice=label,
                variant_name=best.variant_name if _improvement(best) > 0 else None,
                delta=best.delta or 0.0,
                interval=interval,
                pvalue_adjusted=best.pvalue_adjusted,
                shown=interval is not None and _lowest_gain(best, interval) > 0,
                n_pairs=best.n_pairs,
            )
        )
    return found


def _improvement(delta: Delta) -> float:
    value = delta.delta or 0.0
    return value if delta.direction == "higher" else -value


def _lowest_gain(delta: Delta, interval: Interval) -> float:
    return interval.low if delta.direction == "higher" else -interval.high


def _related(
    variants: Sequence[VariantValues], deltas: Sequence[Delta]
) -> list[tuple[str, TestResult]]:
    """Test each 0/1 metric over all arms, on the questions scored in all of them."""
    found = []
    for metric in dict.fromkeys(d.metric for d in deltas if d.statistic == "mean"):
        parts = [variant.metrics[metric] for variant in variants]
        if any(part.clusters is not None or not part.binary for part in parts):
            continue
        scores: dict[str, list[float]] = {}
        for variant, part in zip(variants, parts, strict=True):
            rows = np.flatnonzero(part.complete)
            for i, question in zip(
                rows, variant.pairs.question_id[rows].tolist(), strict=True
            ):
                row = scores.setdefault(question, [float(part.baseline[i])])
                row.append(float(part.variant[i]))
        whole = [row for row in scores.values() if len(row) == len(variants) + 1]
        if whole:
            found.append((metric, cochran_q(np.array(whole))))
    return found
