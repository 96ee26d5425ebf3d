"""What was compared for a rule, and what forbids it a status or takes one back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from onechange.compare import Comparison
from onechange.decide.sentences import Wording
from onechange.delta import Delta
from onechange.display import format_count, format_number, format_percent
from onechange.ledger import HIGH_MISSING_SHARE
from onechange.plan import BUILT_IN_RATES, Analysis, Plan, parse_slice, relative_margin
from onechange.stats.caveats import unit_notes
from onechange.stats.estimate import Note
from onechange.status import Status

__all__ = [
    "HIGH_MISSING_SHARE",
    "OWN_VALUE",
    "Finding",
    "Scope",
    "guarded",
    "missing_questions",
    "no_interval",
    "too_few",
    "too_few_pairs",
    "uncounted_runs",
    "unmeasured",
]

OWN_VALUE = "variant's own value"
TOO_FEW = ("too-few-questions", "few-clusters")


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """Where a rule is applied: what was compared, for which variant.

    Parameters
    ----------
    comparison : Comparison
        What was computed.
    plan : Plan
        The rules.
    position : int
        Position of the variant among the variants.
    decimals : dict of str to int
        Decimals of each metric's figures.
    """

    comparison: Comparison
    plan: Plan
    position: int
    decimals: dict[str, int]

    @property
    def variant_name(self) -> str:
        """Name of the variant."""
        return self.comparison.variants[self.position].name

    def delta(self, metric: str, statistic: str = "mean") -> Delta | None:
        """Return the overall delta of a metric, or of a built-in rate.

        For the mean of a metric with human labels: the delta that they correct.
        """
        for labelled in self.comparison.labelled if statistic == "mean" else ():
            row = labelled.corrected
            if (row.metric, row.variant_name) == (metric, self.variant_name):
                return row
        rows: Iterable[Delta] = (*self.comparison.deltas, *self.comparison.rates)
        if self.several:
            rows = [row.delta for row in self.comparison.joint if row.spec is None]
        found = self._of(rows, metric, statistic)
        return found[0] if found else None

    def primary_delta(self, metric: str) -> Delta | None:
        """Return the delta of a primary, at the joint level where any may pass."""
        if not self.several:
            found = self._of(
                (row.delta for row in self.comparison.joint), metric, "mean"
            )
            if found:
                return found[0]
        return self.delta(metric)

    def slices(self, metric: str, statistic: str, spec_text: str) -> tuple[Delta, ...]:
        """Return the deltas of a metric in each slice of a breakdown."""
        return self._parts(metric, statistic, spec_text, joined=False)

    def joined(self, metric: str, statistic: str, spec_text: str) -> tuple[Delta, ...]:
        """Return the delta of a metric in the joined small slices, where there are."""
        return self._parts(metric, statistic, spec_text, joined=True)

    def analysis(self, delta: Delta) -> Analysis:
        """Return the settings of the analysis with the interval that a delta got.

        A delta corrected by human labels has its own; with several variants, or
        primaries of which any may pass, the level is the one at which all hold
        together.
        """
        asked = self.plan.analysis
        for row in self.comparison.joint:
            if row.delta is delta:
                asked = replace(asked, confidence_level=row.confidence_level)
        corrected = any(row.corrected is delta for row in self.comparison.labelled)
        return replace(asked, interval="auto") if corrected else asked

    @property
    def several(self) -> bool:
        """Whether several variants were compared, so that one may be chosen."""
        return len(self.comparison.variants) > 1

    def _parts(
        self, metric: str, statistic: str, spec_text: str, *, joined: bool
    ) -> tuple[Delta, ...]:
        spec = parse_slice(spec_text)
        if self.several:
            return self._of(
                (
                    row.delta
                    for row in self.comparison.joint
                    if row.spec == spec and row.joined == joined
                ),
                metric,
                statistic,
            )
        return self._of(
            (
                row
                for breakdown in self.comparison.slices
                if breakdown.spec == spec
                for row in (
                    breakdown.joined
                    if joined
                    else (*breakdown.deltas, *breakdown.rates)
                )
            ),
            metric,
            statistic,
        )

    def _of(
        self, rows: Iterable[Delta], metric: str, statistic: str
    ) -> tuple[Delta, ...]:
        return tuple(
            row
            for row in rows
            if row.metric == metric
            and _is_statistic(row, statistic)
            and row.variant_name == self.variant_name
        )

    def number(self, metric: str, value: float) -> str:
        """Write a change of a metric with its sign and decimals."""
        return format_number(value, self.decimals.get(metric, 3), signed=True)

    def words(
        self, metric: str, direction: str, margin: float | str | None = None
    ) -> Wording:
        """Return how the numbers of a metric are written."""
        share = relative_margin(margin) if isinstance(margin, str) else None
        return Wording(direction, self.decimals.get(metric, 3), share)


@dataclass(frozen=True, slots=True)
class Finding:
    """Status of one part of a rule, and the clause that explains it."""

    status: Status
    clause: str
    notes: tuple[Note, ...] = ()


def _is_statistic(row: Delta, statistic: str) -> bool:
    """Whether a row holds the statistic; a ratio metric has its ratio for a mean."""
    return row.statistic == statistic or (row.statistic, statistic) == ("ratio", "mean")


def unmeasured(scope: Scope, metric: str, delta: Delta | None) -> Finding | None:
    """Return the finding for a metric without pairs; None when there are some."""
    if delta is not None and delta.n_pairs > 0:
        return None
    audit = scope.comparison.audits[scope.position]
    if metric in BUILT_IN_RATES:
        clause = "not measured: the rows record no status"
    else:
        clause = (
            f"not measured: 0 of {format_count(audit.paired)} paired questions are "
            "scored in both arms"
        )
    text = f"{metric}: {clause}."
    return Finding(Status.INCONCLUSIVE, clause, (Note("not-measured", text),))


def too_few(delta: Delta | None) -> Finding | None:
    """Return the finding for too few questions or clusters; None when enough."""
    for note in () if delta is None else delta.notes:
        if note.code in TOO_FEW:
            text = note.text[0].lower() + note.text[1:].rstrip(".")
            return Finding(Status.INCONCLUSIVE, f"too few questions: {text}")
    return None


def too_few_pairs(scope: Scope, delta: Delta | None) -> Finding | None:
    """Return the finding for too few questions under a rule by the point value.

    One question would decide whatever its margin. A built-in rate is exempt: it
    counts this run and estimates nothing.
    """
    if delta is None or delta.metric in BUILT_IN_RATES:
        return None
    few = unit_notes(delta.n_pairs, None, scope.analysis(delta).confidence_level)
    return too_few(replace(delta, notes=few))


def no_interval(delta: Delta | None, *, relative: bool = False) -> Finding:
    """Return the finding for a delta without interval, with the reason."""
    reason = "the interval does not exist for these scores"
    if delta is not None:
        for note in delta.notes:
            if note.code in ("equal-differences", "few-questions-for-quantile"):
                reason = note.text[0].lower() + note.text[1:].rstrip(".")
        if relative and delta.relative is not None and delta.relative.reason:
            reason = f"no relative delta: {delta.relative.reason.rstrip('.')}"
    return Finding(Status.INCONCLUSIVE, reason)


def guarded(
    scope: Scope,
    delta: Delta,
    finding: Finding,
    under: Finding | None,
    subject: str,
    *,
    by_interval: bool = True,
) -> Finding:
    """Take back a status that scales, missing scores or runs do not support.

    Parameters
    ----------
    scope : Scope
    delta : Delta
    finding : Finding
        What the scores at hand say.
    under : Finding or None
        What the bounds of missing scores say; None where there are none.
    subject : str
        What the rule is about: `OWN_VALUE`, or a delta.
    by_interval : bool, default True
        Whether an interval decided, or the point value.
    """
    audit = scope.comparison.audits[scope.position]
    if delta.metric in audit.scale_mismatch:
        clause = (
            "the arms seem to be on different scales (0 to 1 against 0 to 100), so the "
            "delta means nothing; rescale one or declare the metric's range"
        )
        return Finding(Status.INCONCLUSIVE, clause)
    if finding.status is not Status.PASS:
        return finding
    if by_interval and uncounted_runs(scope, delta, own=subject == OWN_VALUE):
        clause = (
            f"{finding.clause}, but runs may differ, and this interval does not count "
            "runs; use a mean, or more runs"
        )
        return Finding(Status.INCONCLUSIVE, clause)
    if audit.share_unmatched > HIGH_MISSING_SHARE:
        clause = (
            f"{finding.clause}, but {format_percent(audit.share_unmatched, 0)} of the "
            f"{format_count(audit.questions[0])} questions of the baseline are not in "
            "the variant"
        )
        return Finding(Status.INCONCLUSIVE, clause)
    lacking, total = missing_questions(scope, delta)
    if under is not None and under.status is Status.PASS:
        return finding
    share = lacking / total if total else 0.0
    if share <= HIGH_MISSING_SHARE:
        return finding
    clause = (
        f"{finding.clause}, but {format_percent(share, 0)} of {format_count(total)} "
        f"questions lack a score; {_under_text(delta, under, subject)}"
    )
    return Finding(Status.INCONCLUSIVE, clause)


def uncounted_runs(scope: Scope, delta: Delta, *, own: bool) -> bool:
    """Whether whole runs may differ that the interval of a statistic does not count.

    Parameters
    ----------
    scope : Scope
    delta : Delta
        Of the mean, whose interval counts them, or of another statistic.
    own : bool
        Whether the interval is that of the variant's own value.
    """
    if delta.statistic == "mean":
        return False
    names = [delta.metric]
    for metric in scope.comparison.metrics:
        if metric.name == delta.metric and metric.numerator and metric.denominator:
            names = [metric.numerator, metric.denominator]
    known = scope.comparison.values
    values = [known.get((delta.variant_name, name)) for name in names]
    runs = [part.arm_runs if own else part.runs for part in values if part is not None]
    return any(found is not None and found.differ for found in runs)


def missing_questions(scope: Scope, delta: Delta) -> tuple[int, int]:
    """Count the questions to be scored that have no pair, and all to be scored."""
    if delta.bounds is not None:
        total, lacking = delta.bounds.n_questions, delta.bounds.n_incomplete
    elif delta.slice is None and delta.metric not in BUILT_IN_RATES:
        ledger = scope.comparison.audits[scope.position].metrics.get(delta.metric)
        if ledger is None:
            return 0, 0
        lacking = (
            ledger.unscored_baseline
            + ledger.unscored_variant
            + ledger.failed_baseline
            + ledger.failed_variant
            + ledger.failed_both
        )
        total = ledger.pairs + lacking
    else:
        return 0, 0
    return lacking, total


def _under_text(delta: Delta, under: Finding | None, subject: str) -> str:
    """Say what the missing scores could do, by the bounds that decided."""
    if under is not None:
        return f"with each of them at its worst and at its best, {under.clause}"
    bounds = delta.bounds
    if delta.statistic not in ("mean", "ratio"):
        return f"what they could do to the {delta.statistic} is not known"
    if bounds is None or bounds.low is None:
        if bounds is None or bounds.reason is None:
            return "without a declared range it cannot be said what they could change"
        return f"{bounds.reason}, so it cannot be said what they could change"
    return f"the interval of the {subject} that they bound does not exist"
