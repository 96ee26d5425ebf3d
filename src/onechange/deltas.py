"""`Delta`: what is known of one metric over one set of pairs, and tables of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from onechange.display import (
    MISSING,
    TableMixin,
    format_count,
    format_interval,
    format_number,
    format_pvalue,
    metric_decimals,
)
from onechange.plots import IntervalRow, intervals_figure
from onechange.stats.estimate import Interval, Note, TestResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["BinaryTable", "Bounds", "Delta", "DeltaTable", "RelativeDelta"]

Cells = tuple[list[str], list[list[str]], str]


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
    its high on the best-filled ones; `relative_interval` is that of the relative
    delta, `variant_interval` that of the variant's own value, which a limit is about.
    `relative` and `variant` are their point values. `n_incomplete` questions have no
    score in an arm at all; `n_partial` more are scored in both, but some of their
    trials are not.
    """

    low: float | None
    high: float | None
    n_questions: int
    n_incomplete: int
    n_not_applicable: int
    interval: Interval | None = None
    reason: str | None = None
    n_partial: int = 0
    relative: tuple[float, float] | None = None
    relative_interval: Interval | None = None
    variant: tuple[float, float] | None = None
    variant_interval: Interval | None = None

    @property
    def share_incomplete(self) -> float:
        """Share of the questions to be scored that have no pair."""
        return self.n_incomplete / self.n_questions if self.n_questions else 0.0


@dataclass(frozen=True, slots=True, repr=False)
class Delta(TableMixin):
    """One metric compared over one set of pairs; delta is variant minus baseline.

    With clusters `largest_cluster_share` is the share of the pairs in the largest one,
    and `design_effect` the cluster-robust variance of the delta over that of
    independent questions.

    Prints as a table of one row, as `DeltaTable` does for several.
    """

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
    largest_cluster_share: float | None = None
    design_effect: float | None = None
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

    @property
    def counted(self) -> bool:
        """Whether questions are counted as better, the same and worse.

        They are not for a ratio or a quantile, which no single question has.
        """
        return self.wins + self.ties + self.losses > 0

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the row as one dictionary of plain values, at full precision."""
        return [_row(self)]

    def plot(self) -> Figure:
        """Draw the delta and its interval.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it; ``savefig`` writes it.
        """
        return DeltaTable([self]).plot()

    def _cells(self) -> Cells:
        return _cells([self])


class DeltaTable(TableMixin, tuple[Delta, ...]):
    """Several deltas: a tuple that prints as a table.

    Examples
    --------
    >>> table = DeltaTable([Delta("correct", "higher", 0), Delta("f1", "higher", 0)])
    >>> len(table), table[1].metric, len(table.to_dicts())
    (2, 'f1', 2)
    """

    __slots__ = ()

    def __iter__(self) -> Iterator[Delta]:
        return tuple.__iter__(self)

    @overload
    def __getitem__(self, key: SupportsIndex) -> Delta: ...

    @overload
    def __getitem__(self, key: slice) -> DeltaTable: ...

    def __getitem__(self, key: SupportsIndex | slice) -> Delta | DeltaTable:
        if isinstance(key, slice):
            return DeltaTable(tuple(self)[key])
        return tuple(self)[key]

    def of(self, metric: str) -> DeltaTable:
        """Return the rows of one metric."""
        return DeltaTable(delta for delta in self if delta.metric == metric)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary of plain values a delta, at full precision."""
        return [_row(delta) for delta in self]

    def plot(self) -> Figure:
        """Draw the deltas with their intervals, each on a scale of its own.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it; ``savefig`` writes it.
        """
        decimals = metric_decimals(self)
        rows = [_drawn(delta, decimals[delta.metric]) for delta in self]
        return intervals_figure(rows, one_scale=False)

    def _cells(self) -> Cells:
        return _cells(self)


# ---------------------------------------------------------------- plain values


def _row(delta: Delta) -> dict[str, Any]:
    slices = delta.slice or ()
    counted = delta.counted
    return {
        "metric": delta.metric,
        "slice_column": " × ".join(column for column, _ in slices),
        "slice": " × ".join(label for _, label in slices),
        "statistic": delta.statistic,
        "direction": delta.direction,
        "variant_name": delta.variant_name,
        "n_pairs": delta.n_pairs,
        "n_clusters": delta.n_clusters,
        "largest_cluster_share": delta.largest_cluster_share,
        "design_effect": delta.design_effect,
        "baseline": delta.baseline,
        "variant": delta.variant,
        "delta": delta.delta,
        "standard_error": delta.standard_error,
        "relative_delta": delta.relative.delta if delta.relative else None,
        **_ends("", delta.interval),
        "confidence_level": delta.interval.confidence_level if delta.interval else None,
        "interval_method": delta.interval.method if delta.interval else None,
        **_ends("bootstrap_", delta.bootstrap_interval),
        **_ends("permutation_", delta.permutation_interval),
        **_ends("simultaneous_", delta.simultaneous_interval),
        "pvalue": delta.test.pvalue if delta.test else None,
        "pvalue_adjusted": delta.pvalue_adjusted,
        "test_method": delta.test.method if delta.test else None,
        "wins": delta.wins if counted else None,
        "ties": delta.ties if counted else None,
        "losses": delta.losses if counted else None,
        "bounds_low": delta.bounds.low if delta.bounds else None,
        "bounds_high": delta.bounds.high if delta.bounds else None,
        "notes": " ".join(dict.fromkeys(note.code for note in delta.notes)),
    }


def _ends(prefix: str, interval: Interval | None) -> dict[str, float | None]:
    low = None if interval is None else interval.low
    high = None if interval is None else interval.high
    return {f"{prefix}low": low, f"{prefix}high": high}


# ---------------------------------------------------------------- figures to read


def _cells(deltas: Sequence[Delta]) -> Cells:
    """Round the cells; the figures of one metric share their decimals."""
    decimals = metric_decimals(deltas)
    several = len({delta.variant_name for delta in deltas}) > 1
    sliced = any(delta.slice is not None for delta in deltas)
    header = [
        "metric",
        *(["of"] if several else []),
        *(["slice"] if sliced else []),
        *("n", "baseline", "variant", "delta", "interval", "p", "better/same/worse"),
    ]
    rows = [
        [
            _name(delta),
            *([delta.variant_name] if several else []),
            *([_slice(delta)] if sliced else []),
            *_figures(delta, decimals[delta.metric]),
        ]
        for delta in deltas
    ]
    n_words = 1 + several + sliced
    return header, rows, "l" * n_words + "r" * (len(header) - n_words)


def _name(delta: Delta) -> str:
    arrow = "↑" if delta.direction == "higher" else "↓"
    named = "" if delta.statistic == "mean" else f" {delta.statistic}"
    return f"{delta.metric}{named} {arrow}"


def _slice(delta: Delta) -> str:
    if delta.slice is None:
        return "all"
    return " × ".join(label for _, label in delta.slice)


def _figures(delta: Delta, decimals: int) -> list[str]:
    counts = (delta.wins, delta.ties, delta.losses)
    return [
        format_count(delta.n_pairs),
        format_number(delta.baseline, decimals),
        format_number(delta.variant, decimals),
        "not measured"
        if delta.delta is None
        else format_number(delta.delta, decimals, signed=True),
        format_interval(delta.interval, decimals),
        format_pvalue(delta.test.pvalue if delta.test else None),
        " / ".join(map(format_count, counts)) if delta.counted else MISSING,
    ]


def _drawn(delta: Delta, decimals: int) -> IntervalRow:
    interval = delta.interval
    figures = _figures(delta, decimals)
    return IntervalRow(
        label=_name(delta) if delta.slice is None else _slice(delta),
        delta=delta.delta,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        text=f"{figures[3]}  ({figures[4]})" if interval else figures[3],
        direction=delta.direction,
    )
