"""An inconclusive status -> the questions, trials or scores that would settle it."""

from __future__ import annotations

import math

from onechange.decide.decision import RuleStatus
from onechange.decide.findings import (
    HIGH_MISSING_SHARE,
    Scope,
    missing_questions,
    too_few_pairs,
    uncounted_runs,
)
from onechange.decide.goals import Goal, Obstacle, open_parts
from onechange.decide.own_parts import own_contributions
from onechange.decide.sentences import about
from onechange.delta import Delta
from onechange.display import format_count
from onechange.sensitivity import (
    questions_needed,
    questions_of_design,
    trials_of_design,
)
from onechange.slice_sizes import slice_size
from onechange.stats.projection import Contributions

__all__ = ["next_step"]

MORE_TRIALS = (
    "run more trials: whole runs differ, and more questions do not make up for it."
)


def next_step(scope: Scope, status: RuleStatus, name: str) -> tuple[int | None, str]:
    """Say what it would take for an inconclusive status to become a pass.

    Parameters
    ----------
    scope : Scope
        What was compared.
    status : RuleStatus
        An inconclusive one.
    name : str
        What to call its rule.

    Returns
    -------
    further_questions : int or None
        For 80 % power; None where more questions are no answer.
    sentence : str
    """
    further, text = _next_step(scope, status)
    return further, f"{name}: {text}"


def _next_step(scope: Scope, status: RuleStatus) -> tuple[int | None, str]:
    delta = status.delta
    if delta is None:
        row = _slice_row(scope, status)
        if row is not None and slice_size(row) >= scope.plan.analysis.min_slice:
            return None, _score(scope, row, "of this slice ")
        whole = scope.delta(status.metric, status.statistic)
        if whole is not None and whole.n_pairs > 0:
            return None, "add questions: no slice has enough of them."
        return None, "score it in both arms; nothing can be said yet."
    before_all = _before_all(scope, status, delta)
    if before_all is not None:
        return None, before_all
    parts = [] if status.rule == "estimate" else list(open_parts(status, delta))
    if not parts:
        missing = _too_many_missing(scope, delta) or _score(scope, delta)
        return None, f"only missing scores stand in the way: {missing}"
    needs = [_need(scope, delta, part, alone=len(parts) == 1) for part in parts]
    worst = max(range(len(parts)), key=lambda i: needs[i][0])
    _, further, text = needs[worst]
    obstacle = isinstance(parts[worst], Obstacle)
    for i, part in enumerate(parts):
        if i != worst and not obstacle:
            text = text.rstrip(".") + f"; the {part.part} needs fewer."
    missing = _too_many_missing(scope, delta)
    return further, f"{text} Also {missing}" if missing else text


def _slice_row(scope: Scope, status: RuleStatus) -> Delta | None:
    """Find the row of the slice that a status is about."""
    if status.slice is None:
        return None
    rows = (
        row
        for part in scope.comparison.slices
        for row in (*part.deltas, *part.joined, *part.rates)
    )
    key = (status.metric, status.statistic, status.variant_name, status.slice)
    return next(
        (r for r in rows if (r.metric, r.statistic, r.variant_name, r.slice) == key),
        None,
    )


def _before_all(scope: Scope, status: RuleStatus, delta: Delta) -> str | None:
    """Say what must be mended before any number of questions means something."""
    if delta.metric in scope.comparison.audits[scope.position].scale_mismatch:
        return "rescale one arm, or declare the metric's range."
    for note in delta.notes:
        if note.code == "small-slice":
            if slice_size(delta) >= scope.plan.analysis.min_slice:
                return _score(scope, delta, "of this slice ")
            pairs = f"{format_count(delta.n_pairs)} pair{'s' * (delta.n_pairs != 1)}"
            return (
                f"add questions of this slice: it has {pairs}, and a status needs "
                f"{scope.plan.analysis.min_slice}."
            )
    few = too_few_pairs(scope, delta)
    if status.rule == "estimate":
        if isinstance(status.margin, str) and not (delta.baseline or 0.0) > 0:
            return (
                "give the margin in the metric's unit: of a baseline of 0 or less "
                "there is no share."
            )
        if few is None:
            return None
        return f"add questions: {few.clause.removeprefix('too few questions: ')}."
    for note in delta.notes:
        if note.code == "too-few-questions":
            return f"add questions: {note.text}"
        if note.code == "few-clusters":
            return f"add clusters: {note.text}"
    if any(uncounted_runs(scope, delta, own=own) for own in _intervals(status)):
        return (
            "decide on a mean, whose interval counts runs, or run more trials to see "
            "whether runs differ at all; no number of questions will do."
        )
    if any(row.corrected is delta for row in scope.comparison.labelled):
        return (
            "label further questions in both arms; the interval of the corrected delta "
            "narrows with the labels first."
        )
    return None


def _intervals(status: RuleStatus) -> list[bool]:
    """Say for each part of a rule whether the variant's own interval decides it."""
    about_delta = status.role == "primary" or status.margin is not None
    return [False] * about_delta + [True] * (status.limit is not None)


def _score(scope: Scope, delta: Delta, where: str = "") -> str:
    lacking, _ = missing_questions(scope, delta)
    noun, verb = ("questions", "lack") if lacking != 1 else ("question", "lacks")
    return f"score the {format_count(lacking)} {noun} {where}that {verb} a score."


def _too_many_missing(scope: Scope, delta: Delta) -> str:
    """Ask for the missing scores where they forbid a pass."""
    audit = scope.comparison.audits[scope.position]
    if audit.share_unmatched > HIGH_MISSING_SHARE:
        return (
            f"run the variant on the {format_count(len(audit.only_baseline))} "
            "questions of the baseline that it lacks."
        )
    lacking, total = missing_questions(scope, delta)
    if not total or lacking / total <= HIGH_MISSING_SHARE:
        return ""
    return _score(scope, delta)


def _need(
    scope: Scope, delta: Delta, part: Goal | Obstacle, *, alone: bool
) -> tuple[float, int | None, str]:
    """Return how much a part needs, for comparison, and the sentence that says it."""
    if isinstance(part, Obstacle):
        return math.inf, None, part.text
    if part.about_delta:
        parts = _contributions(scope, delta)
        runs_count = delta.interval is not None and delta.interval.method == "two-way"
    else:
        parts = own_contributions(scope, delta)
        runs_count = parts is not None
    if runs_count and parts is None:
        return math.inf, None, MORE_TRIALS
    level = scope.analysis(delta).confidence_level
    trials = None
    if parts is not None and alone:
        trials = trials_of_design(
            parts, part.gap, part.distance, confidence_level=level, power=part.power
        )
    if parts is not None and runs_count:
        needed = questions_of_design(
            parts, part.gap, part.distance, confidence_level=level, power=part.power
        )
    else:
        needed = questions_needed(
            delta.n_pairs, part.distance, part.spread, part.gap, power=part.power
        )
    rank = 1e15 if needed is None else float(needed)
    shown = "it" if alone else f"the {part.part}"
    return rank, *_what_it_takes(delta, part, shown, parts, (needed, trials))


def _what_it_takes(
    delta: Delta,
    goal: Goal,
    shown: str,
    parts: Contributions | None,
    found: tuple[int | None, int | None],
) -> tuple[int | None, str]:
    """Name the questions, or the trials, that would do."""
    needed, trials = found
    if needed is not None and needed <= delta.n_pairs:
        return 0, (
            f"{delta.n_pairs} questions show it in four of five runs, if "
            f"{goal.assumption}. Either this run is the fifth, or that is not so: "
            "repeat it, or add questions."
        )
    ways = []
    if needed is not None:
        ways.append(
            f"about {about(needed - delta.n_pairs)} further questions like these"
        )
    if trials is not None and parts is not None:
        ways.append(f"{trials} trials instead of {parts.n_trials[0]}")
    if not ways:
        return None, _no_way(parts)
    would = f"would show {shown} with 80 % probability, if {goal.assumption}"
    only = ""
    if parts is not None and len(ways) == 1 and shown == "it":
        other = "trials" if trials is None else "questions"
        only = f"; more {other} alone would not"
    further = None if needed is None else needed - delta.n_pairs
    return further, f"{' or '.join(ways)} {would}{only} (approximation)."


def _no_way(parts: Contributions | None) -> str:
    if parts is None:
        return "more questions are needed."
    return "neither more questions nor more trials alone would show it; add both."


def _contributions(scope: Scope, delta: Delta) -> Contributions | None:
    """Parts of the variance of an overall delta; None where trials do not tell."""
    rows = [row for row in scope.comparison.trials if row.metric == delta.metric]
    if len(rows) != len(scope.comparison.variants) or delta.slice is not None:
        return None
    found = rows[scope.position].delta
    return None if found is None or delta.statistic != "mean" else found.parts
