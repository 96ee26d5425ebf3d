"""What is counted in one simulated experiment: covered, rejected, passed, shipped.

Passes and ships go through `compare` and `decide`, from data frames and a plan.
An event takes a draw and its cell and is True, False, or None when the product
gives no answer (counted apart, and never as covered, rejected or passed).

An end of a decision interval lies beyond a point exactly when the product's
one-sided p-value at that point says so, and the p-value needs no search. For
differences without ties the coverage of nine of ten draws is therefore judged by the
p-value, and of every tenth by the interval, after checking that both agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

import onechange as oc
from cells import Cell, Draw, FloatArray, IntArray
from onechange.stats.choose import decision_interval, decision_test, margin_pvalue
from onechange.stats.components import fit_table
from onechange.stats.estimate import Interval
from onechange.stats.methods import Sampling, mean_method
from onechange.stats.quantile import quantile_delta
from onechange.stats.ratio import fieller_limits, mean_moments
from onechange.stats.relative import relative_by_name
from onechange.stats.runs import run_variance
from onechange.stats.sample import PairedSample, paired_sample
from onechange.stats.trial_quantile import TrialValues
from onechange.status import Status, margin_status

Event = Callable[[Draw, Cell], bool | None]

TAIL = 0.025
CHECKED = 10
TOLERANCE = 1e-9  # attainable deltas of 0/1 and rounded scores meet limits exactly


@dataclass(frozen=True)
class Row:
    """One line of the benchmark."""

    table: str
    cell: Cell
    n: int
    method: str
    event: Event
    kind: str = "pass"
    low: float = 0.0
    high: float = 100.0
    reference: float | None = None

    @property
    def unit(self) -> str:
        """What `n` counts."""
        return "documents" if self.cell.name.startswith("clustered") else "questions"

    @property
    def name(self) -> str:
        """Identify the row, for ``--rows`` and in the results."""
        return f"{self.table} | {self.cell.name} | {self.n} | {self.method}"


def covers(name: str) -> Event:
    """Count intervals of the named method that hold the true delta."""
    return partial(_covers, name=name)


def covers_ratio(name: str) -> Event:
    """Count intervals of the relative delta that hold the true ratio."""
    return partial(_covers_ratio, name=name)


def covers_p95(draw: Draw, cell: Cell, *, n_resamples: int = 999) -> bool | None:
    """Count bootstrap intervals of the p95 delta that hold the true one."""
    questions = np.arange(draw.baseline.size)
    arms = (TrialValues(values, questions) for values in (draw.baseline, draw.variant))
    found = quantile_delta(*arms, 0.95, n_resamples=n_resamples)
    return _holds(found.interval, cell.delta)


def covers_with_rows(draw: Draw, cell: Cell) -> bool | None:
    """Count t intervals over all rows, as if trials were independent questions."""
    sample = paired_sample(draw.baseline.ravel(), draw.variant.ravel())
    return _holds(decision_interval(sample, name="t").interval, cell.delta)


def covers_without_clusters(name: str) -> Event:
    """Count intervals that take clustered questions for independent ones."""
    return partial(_covers_without_clusters, name=name)


def rejects(name: str) -> Event:
    """Count rejections of "no difference" at 5 % by the named test."""
    return partial(_rejects, name=name)


def rejects_like_sacrebleu(draw: Draw, cell: Cell, *, n_resamples: int = 999) -> bool:
    """Count rejections by absolute resampled differences centred at their mean."""
    difference = draw.variant - draw.baseline
    rng = np.random.default_rng(draw.key)
    picks = rng.integers(0, difference.size, (n_resamples, difference.size))
    size = np.abs(difference[picks].mean(axis=1))
    beyond = np.count_nonzero(size - size.mean() > abs(difference.mean()))
    return bool((beyond + 1) / (n_resamples + 1) <= 0.05)


def passes(name: str = "auto") -> Event:
    """Count `decide` passing a guardrail though the metric worsens by its margin."""
    return partial(_passes, name=name)


def passes_relative(draw: Draw, cell: Cell) -> bool:
    """Count `decide` passing a percent margin that the metric just reaches."""
    return _passes(draw, cell, name="auto", relative=True)


def passes_plain_fieller(draw: Draw, cell: Cell) -> bool:
    """Count percent margins inside Fieller's bare interval, which may have no width."""
    sample = question_sample(draw)
    moments = mean_moments(sample.baseline, sample.variant, guarded=False)
    limits = None if moments is None else fieller_limits(moments, TAIL)
    interval = None if limits is None else Interval(*limits, 0.95, "fieller")
    share = abs((cell.ratio or 1.0) - 1.0)
    return margin_status(interval, share, cell.direction) is Status.PASS


def passes_plainly(name: str) -> Event:
    """Count margins inside a bare interval, which may have no width.

    `decide` has no interval then, so that it does not pass.
    """
    return partial(_passes_plainly, name=name)


def ships(draw: Draw, cell: Cell) -> bool:
    """Count `decide` saying `ship` though nothing changed."""
    plan = oc.Plan(primary=oc.Primary("score"), metrics=_metrics(cell))
    return _decide(draw, plan).decision == "ship"


def question_sample(draw: Draw) -> PairedSample:
    """Pair the trial means of both arms, with what the trials tell of whole runs."""
    runs = None
    if draw.baseline.ndim == 2:
        runs = run_variance(fit_table(draw.baseline), fit_table(draw.variant))
    return paired_sample(
        _means(draw.baseline),
        _means(draw.variant),
        clusters=draw.clusters,
        runs=runs,
    )


def _means(values: FloatArray) -> FloatArray:
    return values if values.ndim == 1 else values.mean(axis=1)


def _interval(draw: Draw, name: str) -> Interval | None:
    choice = decision_interval(question_sample(draw), name=name)
    return choice.interval if choice.enough else None


def _has_pvalue(cell: Cell, name: str) -> bool:
    """Tell whether p-values of this method are direct, and free of ties here."""
    return cell.continuous and name in ("auto", "sign-flip", "two-way")


def _by_pvalue(draw: Draw, cell: Cell, name: str) -> bool:
    return _has_pvalue(cell, name) and draw.key[-1] % CHECKED != 0


def _beyond(
    draw: Draw, cell: Cell, name: str, point: float
) -> tuple[bool, bool] | None:
    """Say by p-values whether `point` is below the low, above the high end."""
    sample = question_sample(draw)
    below = margin_pvalue(sample, point, alternative="greater", name=name)
    above = margin_pvalue(sample, point, alternative="less", name=name)
    if below is None or above is None:
        return None
    return below <= TAIL, above <= TAIL


def _checked(
    draw: Draw, cell: Cell, name: str, point: float
) -> tuple[bool, bool] | None:
    """Say whether `point` is below the low end, above the high end."""
    if _by_pvalue(draw, cell, name):
        return _beyond(draw, cell, name, point)
    interval = _interval(draw, name)
    if interval is None:
        return None
    ends = point < interval.low - TOLERANCE, point > interval.high + TOLERANCE
    if _has_pvalue(cell, name) and ends != _beyond(draw, cell, name, point):
        raise AssertionError(
            f"{cell.name}, {name}, draw {draw.key}: the interval {interval} and the "
            f"p-values at {point} disagree."
        )
    return ends


def _covers(draw: Draw, cell: Cell, *, name: str) -> bool | None:
    beyond = _checked(draw, cell, name, cell.delta)
    return None if beyond is None else not any(beyond)


def _covers_without_clusters(draw: Draw, cell: Cell, *, name: str) -> bool | None:
    return _covers(replace(draw, clusters=None), cell, name=name)


def _covers_ratio(draw: Draw, cell: Cell, *, name: str) -> bool | None:
    return _holds(_relative(draw, name=name), (cell.ratio or 1.0) - 1.0)


def _rejects(draw: Draw, cell: Cell, *, name: str) -> bool | None:
    pvalue = decision_test(question_sample(draw), name=name).pvalue
    return None if pvalue is None else pvalue <= 0.05


def _passes(draw: Draw, cell: Cell, *, name: str, relative: bool = False) -> bool:
    margin = f"{abs(cell.ratio - 1.0):.12%}" if relative else abs(cell.delta)
    plan = oc.Plan(
        guardrails=[oc.Guardrail("score", margin=margin)],
        metrics=_metrics(cell),
        analysis=oc.Analysis(interval=name),
        columns=oc.Columns(cluster=None if draw.clusters is None else "document"),
    )
    (rule,) = _decide(draw, plan).statuses
    return rule.status == "pass"


def _passes_plainly(draw: Draw, cell: Cell, *, name: str) -> bool:
    method = mean_method(name, question_sample(draw), Sampling())
    interval = None if method is None else method.interval(TAIL)
    return margin_status(interval, abs(cell.delta), cell.direction) is Status.PASS


def _decide(draw: Draw, plan: oc.Plan) -> oc.Decision:
    """Compare and decide as a user does, from one data frame an arm."""
    arms = (_frame(values, draw.clusters) for values in (draw.baseline, draw.variant))
    return oc.decide(oc.compare(*arms, plan), plan, stability=False)


def _metrics(cell: Cell) -> list[oc.Metric]:
    return [oc.Metric("score", direction=cell.direction)]


def _frame(values: FloatArray, clusters: IntArray | None) -> pd.DataFrame:
    """One row per question, or per question and trial."""
    trials = 1 if values.ndim == 1 else values.shape[1]
    questions = np.repeat(np.arange(len(values)), trials)
    frame = pd.DataFrame({"question_id": questions, "score": values.ravel()})
    if trials > 1:
        frame["trial"] = np.tile(np.arange(trials), len(values))
    if clusters is not None:
        frame["document"] = clusters
    return frame


def _relative(draw: Draw, *, name: str) -> Interval | None:
    sample = question_sample(draw)
    return relative_by_name(sample, name=name, confidence_level=0.95).interval


def _holds(interval: Interval | None, value: float) -> bool | None:
    if interval is None:
        return None
    return interval.low - TOLERANCE <= value <= interval.high + TOLERANCE
