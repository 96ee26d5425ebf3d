"""What every part of a report needs: the result, its decimals and its notes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from onechange.compare import Comparison
from onechange.decide import Decision, Decisions, printed_decimals
from onechange.delta import Delta, DeltaTable
from onechange.display import (
    ARROWS,
    MISSING,
    SYMBOLS,
    escape_invisible,
    format_interval,
    format_number,
    format_percent,
    metric_text,
)
from onechange.ledger import Audit
from onechange.plan import Plan, SliceSpec
from onechange.slice_tables import SliceTable
from onechange.slices import slice_text
from onechange.stats.estimate import Interval, Note
from onechange.trials import MetricTrials, TrialsTable

__all__ = [
    "ARROWS",
    "SYMBOLS",
    "Context",
    "NoteList",
    "comparison_of",
    "decision_of",
    "delta_notes",
    "main_notes",
    "make_context",
    "metric_text",
    "place_of",
    "question_link",
    "shown_rates",
    "slice_text",
    "split_marks",
]

# Notes of single slices that everybody should read.
OF_SLICES = ("reversal", "adjusted-p-and-interval-disagree")
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_PLAIN_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_RAISED = "[⁰¹²³⁴⁵⁶⁷⁸⁹]+"
_MARKED = re.compile(rf"(?P<text>.*) (?P<numbers>{_RAISED}(?:,{_RAISED})*)", re.DOTALL)


def comparison_of(result: Comparison | Decision | Decisions) -> Comparison:
    """Return the comparison behind a result."""
    return result if isinstance(result, Comparison) else result.comparison


def decision_of(result: Comparison | Decision | Decisions) -> Decision | None:
    """Return the decision, None for a bare comparison and for several variants."""
    return result if isinstance(result, Decision) else None


@dataclass(slots=True)
class NoteList:
    """Notes in order of appearance; equal notes share one number.

    `places` says for each note where it was met (a metric, a slice, an arm).
    """

    places: dict[Note, list[str]] = field(default_factory=dict)

    def add(self, notes: Iterable[Note], place: str = "") -> tuple[int, ...]:
        """Register notes met at a place and return their numbers, from 1."""
        numbers = []
        for note in notes:
            met = self.places.setdefault(note, [])
            if place and place not in met:
                met.append(place)
            numbers.append(list(self.places).index(note) + 1)
        return tuple(dict.fromkeys(numbers))


def main_notes(comparison: Comparison, decision: Decision | None) -> NoteList:
    """Collect what everybody should read: all notes but those of single slices.

    Notes of the built-in rates count where a rule is about them.
    """
    met = NoteList()
    if decision is not None:
        met.add(decision.notes)
        for status in decision.statuses:
            met.add(status.notes, status.metric)
            if status.delta is not None:
                met.add(delta_notes(status.delta), status.metric)
    for delta in comparison.deltas:
        met.add(delta_notes(delta), place_of(comparison, delta))
    for audit in comparison.audits:
        for note in audit.notes:
            met.add((note,), _arm_of(comparison, audit, note))
    met.add(comparison.notes)
    for labelled in comparison.labelled:
        met.add(labelled.corrected.notes, labelled.audit.metric)
    for trials in comparison.trials:
        met.add(trials.notes, place_of(comparison, trials))
    for breakdown in comparison.slices:
        met.add(breakdown.notes, breakdown.spec.name)
        for delta in breakdown.deltas:
            met.add(
                (note for note in delta.notes if note.code in OF_SLICES),
                place_of(comparison, delta),
            )
    return met


def _arm_of(comparison: Comparison, audit: Audit, note: Note) -> str:
    """Name the variant of a note on the pairs, unless its text or all variants do."""
    name = audit.variant_name
    if all(note in other.notes for other in comparison.audits):
        return ""
    named = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", note.text)
    return "" if named else name


def place_of(comparison: Comparison, row: Delta | MetricTrials) -> str:
    """Name where a note was met: metric, variant if there are several, and slice."""
    name = row.metric
    if len(comparison.variants) > 1 and row.variant_name is not None:
        name += f" of {row.variant_name}"
    if isinstance(row, Delta) and row.slice is not None:
        name += f" in {slice_text(row.slice)}"
    return name


@dataclass(frozen=True, slots=True)
class Context:
    """A result with its choice of decimals and the notes met so far."""

    comparison: Comparison
    decision: Decision | None
    plan: Plan
    decimals: dict[str, int]
    notes: NoteList

    @property
    def level(self) -> str:
        """Confidence level as text, ``95 %``."""
        return format_percent(self.plan.analysis.confidence_level)

    @property
    def several(self) -> bool:
        """Whether more than one variant is compared."""
        return len(self.comparison.variants) > 1

    @property
    def leading_metric(self) -> str | None:
        """Metric that slices and questions are shown for: the primary, or the first."""
        if self.decision is not None:
            for status in self.decision.statuses:
                if status.role == "primary":
                    return status.metric
        measured = [d.metric for d in self.comparison.deltas if d.n_pairs]
        return measured[0] if measured else None

    def number(self, metric: str, value: float | None, *, signed: bool = False) -> str:
        """Write a figure of a metric with the metric's decimals."""
        return format_number(value, self.decimals.get(metric), signed=signed)

    def interval(
        self, metric: str, interval: Interval | None, *, signed: bool = True
    ) -> str:
        """Write an interval of a metric with the metric's decimals."""
        if interval is None:
            return MISSING
        text = format_interval(interval, self.decimals.get(metric, 3), signed=signed)
        return f"{text} (degenerate)" if interval.degenerate else text

    def marks(self, notes: Iterable[Note], place: str) -> str:
        """Register notes and return their raised numbers, to put behind a cell."""
        numbers = self.notes.add(notes, place)
        if not numbers:
            return ""
        return " " + ",".join(str(n).translate(SUPERSCRIPTS) for n in numbers)


def make_context(result: Comparison | Decision | Decisions) -> Context:
    """Collect what the parts of a report share."""
    comparison, decision = comparison_of(result), decision_of(result)
    whole = comparison
    if decision is not None:
        comparison = _only(comparison, decision.variant_name)
    plan = comparison.plan if isinstance(result, Comparison) else result.plan
    notes = main_notes(comparison, decision)
    for each in result if isinstance(result, Decisions) else ():
        notes.add(each.notes, each.variant_name)
        for status in each.statuses:
            notes.add(status.notes, f"{status.metric} of {each.variant_name}")
    return Context(
        comparison=comparison,
        decision=decision,
        plan=plan,
        decimals=printed_decimals(whole, plan),
        notes=notes,
    )


def _only(comparison: Comparison, variant: str) -> Comparison:
    """Return the part of a comparison that is about one variant."""
    names = [arm.name for arm in comparison.variants]
    if len(names) < 2 and not comparison.joint:
        return comparison
    position = names.index(variant)

    joint = {_place(row.delta, row.spec): row.delta for row in comparison.joint}

    def decisive(delta: Delta, spec: SliceSpec | None = None) -> Delta:
        """Take the intervals at the level at which this variant was decided."""
        twin = joint.get(_place(delta, spec))
        if twin is None:
            return delta
        return replace(twin, pvalue_adjusted=delta.pvalue_adjusted, notes=delta.notes)

    def kept(deltas: Iterable[Delta]) -> DeltaTable:
        return DeltaTable(
            decisive(delta) for delta in deltas if delta.variant_name == variant
        )

    named = tuple(row for row in comparison.trials if row.variant_name == variant)
    per_variant = len(comparison.trials) // len(names)
    first = position * per_variant
    return replace(
        comparison,
        variants=(comparison.variants[position],),
        audits=(comparison.audits[position],),
        pairs=(comparison.pairs[position],),
        deltas=kept(comparison.deltas),
        rates=kept(comparison.rates),
        slices=SliceTable(
            replace(
                part,
                deltas=tuple(decisive(delta, part.spec) for delta in part.deltas),
                joined=tuple(decisive(delta, part.spec) for delta in part.joined),
                rates=tuple(decisive(delta, part.spec) for delta in part.rates),
            )
            for part in (b.of_variant(variant) for b in comparison.slices)
        ),
        compositions=tuple(
            part for part in comparison.compositions if part.variant_name == variant
        ),
        trials=TrialsTable(named) or comparison.trials[first : first + per_variant],
        diagnoses=tuple(d for d in comparison.diagnoses if d.variant_name == variant),
        labelled=tuple(p for p in comparison.labelled if p.variant_name == variant),
    )


def _place(delta: Delta, spec: SliceSpec | None) -> tuple[object, ...]:
    return delta.metric, delta.statistic, delta.variant_name, delta.slice, spec


def shown_rates(comparison: Comparison, plan: Plan) -> tuple[Delta, ...]:
    """Return the built-in rates that say something, or that a rule is about.

    Where every row of both arms was answered they are 0 and 1 by definition.
    """
    named = {rule.metric for rule in plan.guardrails}
    named |= {primary.metric for primary in plan.primary}
    moved = any(
        rate.baseline or rate.variant
        for rate in comparison.rates
        if rate.metric != "answered"
    )
    return tuple(r for r in comparison.rates if moved or r.metric in named)


def delta_notes(delta: Delta) -> tuple[Note, ...]:
    """Return the notes of a delta, of its interval and of its test, each once."""
    found = list(delta.notes)
    for part in (delta.interval, delta.test):
        if part is not None:
            found += part.notes
    return tuple(dict.fromkeys(found))


def split_marks(text: str) -> tuple[str, tuple[int, ...]]:
    """Part a cell from the raised numbers that `Context.marks` put behind it.

    Examples
    --------
    >>> split_marks("latency_ms ↓ ¹,¹²")
    ('latency_ms ↓', (1, 12))
    """
    match = _MARKED.fullmatch(text)
    if match is None:
        return text, ()
    numbers = match["numbers"].translate(_PLAIN_DIGITS).split(",")
    return match["text"], tuple(int(number) for number in numbers)


def question_link(filters: Iterable[tuple[str, str]], metric: str = "") -> str:
    """Write which questions are meant, as the question table of a page reads it.

    Examples
    --------
    >>> question_link([("question_type", "multi page")], "correct")
    'question_type=multi+page&:metric=correct'
    """
    own = [(":metric", metric)] if metric else []
    shown = [(escape_invisible(a), escape_invisible(b)) for a, b in (*filters, *own)]
    return urlencode(shown, safe=":")
