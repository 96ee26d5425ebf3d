"""All metrics, over all questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from onechange.delta import Delta
from onechange.display import (
    MISSING,
    format_count,
    format_number,
    format_pvalue,
)
from onechange.report.clusters import clusters_table
from onechange.report.context import (
    Context,
    delta_notes,
    metric_text,
    place_of,
    shown_rates,
)
from onechange.report.document import (
    Block,
    Column,
    Paragraph,
    Section,
    Table,
)
from onechange.report.slice_findings import adjustment_text, family_text

__all__ = [
    "clusters_column",
    "counts_text",
    "figures",
    "marked_by",
    "metrics_section",
    "metrics_table",
    "overall",
]

_ADJUSTED = Column("adjusted p", "r", "for the number of tests, see below")
EFFECT_NAMES = {
    "cohen_dz": "d_z",
    "hedges_gz": "g_z",
    "rank_biserial": "rank-biserial",
    "cliffs_delta": "Cliff's delta",
}


def metrics_section(context: Context) -> Section:
    """Build the section of all metrics; in the open when nothing was decided."""
    table = metrics_table(context)
    meaning = Paragraph(
        "p is two-sided, against no difference between the arms; better, same and "
        "worse count questions." + _family_sentence(context)
    )
    details: list[Block] = []
    measured = [d for d in overall(context) if d.n_pairs]
    if measured:
        details += [
            _methods_table(context, measured),
            _effects_table(context, measured),
            *clusters_table(context, measured),
        ]
    tables = [d for d in measured if d.table is not None]
    if tables:
        details.append(_binary_table(context, tables))
    if context.several:  # the section of variants has the tables
        return Section("metrics", "All metrics", (), (table, meaning, *details))
    if context.decision is None:
        return Section("metrics", "All metrics", (table, meaning), tuple(details))
    return Section("metrics", "All metrics", (), (table, meaning, *details))


def _family_sentence(context: Context) -> str:
    """Say how the p-values of all metrics are adjusted; may be empty."""
    families = [f for f in context.comparison.families if f.scope == "overall"]
    return "".join(f" Adjusted p: {family_text(family)}" for family in families)


def metrics_table(context: Context, *, marks: bool = True) -> Table:
    """Build the table of every overall delta, the built-in rates last.

    Parameters
    ----------
    context : Context
        The result.
    marks : bool
        Whether the numbers of the notes are put behind the metrics.
    """
    deltas = overall(context)
    adjusted = any(delta.pvalue_adjusted is not None for delta in deltas)
    columns = (
        Column("metric", help="↑ higher is better, ↓ lower is better"),
        *([Column("of")] if context.several else []),
        Column("n", "r", "pairs: questions scored in both arms"),
        *clusters_column(deltas),
        Column("baseline", "r"),
        Column("variant", "r"),
        Column("delta", "r", "variant minus baseline"),
        Column(f"{context.level} interval", "r"),
        Column("p", "r", "two-sided, against no difference"),
        *([_ADJUSTED] if adjusted else []),
        Column("better/same/worse", "r", "questions"),
        Column("d_z", "r", "Cohen's d_z: mean over SD of the differences"),
    )
    rows = []
    for delta in deltas:
        name = metric_text(delta.metric, delta.direction, delta.statistic)
        if marks:
            place = place_of(context.comparison, delta)
            name += context.marks(delta_notes(delta), place)
        rows.append(
            (
                name,
                *([delta.variant_name] if context.several else []),
                *figures(context, delta, deltas),
                *([format_pvalue(delta.pvalue_adjusted)] if adjusted else []),
                counts_text(delta),
                _effect(delta, "cohen_dz"),
            )
        )
    return Table(columns, tuple(rows), **marked_by(context, deltas, "overall"))


class Marked(TypedDict):
    """What marks small p-values in a table, as fields of `Table`."""

    pvalues: tuple[float | None, ...]
    stars: str


def marked_by(context: Context, deltas: Sequence[Delta], scope: str) -> Marked:
    """Choose the one p that marks all rows of a table, and name it.

    Parameters
    ----------
    context : Context
        The result.
    deltas : sequence of Delta
        The rows.
    scope : str
        ``overall`` or ``slices``: which family of tests they belong to.

    Returns
    -------
    Marked
        The adjusted p where any row has one (a row without stays unmarked), else the
        two-sided p.
    """
    if all(delta.pvalue_adjusted is None for delta in deltas):
        own = tuple(d.test.pvalue if d.test else None for d in deltas)
        return Marked(pvalues=own, stars="two-sided p")
    found = [f for f in context.comparison.families if f.scope == scope]
    words = "; ".join(filter(None, map(adjustment_text, found)))
    stars = f"adjusted p ({words})" if words else "adjusted p"
    if any(d.pvalue_adjusted is None and d.delta is not None for d in deltas):
        stars += ", none where there is no adjusted p"
    return Marked(pvalues=tuple(d.pvalue_adjusted for d in deltas), stars=stars)


def _effects_table(context: Context, deltas: Sequence[Delta]) -> Table:
    names = list(dict.fromkeys(name for d in deltas for name in d.effect_size or {}))
    columns = (
        Column("effect size"),
        *([Column("of")] if context.several else []),
        *(Column(EFFECT_NAMES.get(name, name), "r") for name in names),
    )
    rows = tuple(
        (
            metric_text(d.metric, d.direction, d.statistic),
            *([d.variant_name] if context.several else []),
            *(_effect(d, name) for name in names),
        )
        for d in deltas
    )
    return Table(columns, rows, caption="Effect sizes")


def _effect(delta: Delta, name: str) -> str:
    return format_number((delta.effect_size or {}).get(name), 2, signed=True)


def overall(context: Context) -> list[Delta]:
    """Return the deltas over all questions, with the rates that say something."""
    rates = shown_rates(context.comparison, context.plan)
    return [*context.comparison.deltas, *rates]


def figures(context: Context, delta: Delta, column: Sequence[Delta]) -> tuple[str, ...]:
    """Cells from n to p, the same for a metric and for a slice."""
    return (
        format_count(delta.n_pairs),
        *([format_count(delta.n_clusters)] if clusters_column(column) else []),
        context.number(delta.metric, delta.baseline),
        context.number(delta.metric, delta.variant),
        "not measured"
        if delta.delta is None
        else context.number(delta.metric, delta.delta, signed=True),
        context.interval(delta.metric, delta.interval),
        format_pvalue(delta.test.pvalue if delta.test else None),
    )


def clusters_column(deltas: Sequence[Delta]) -> list[Column]:
    """Return the column of cluster counts, when any row has clusters."""
    if all(delta.n_clusters is None for delta in deltas):
        return []
    return [Column("clusters", "r", "sources that are resampled whole")]


def counts_text(delta: Delta) -> str:
    """Write how many questions got better, stayed the same and got worse."""
    if not delta.counted:
        return MISSING
    gained, lost = delta.wins, delta.losses
    return " / ".join(format_count(count) for count in (gained, delta.ties, lost))


def _methods_table(context: Context, deltas: Sequence[Delta]) -> Table:
    columns = (
        Column("metric"),
        *([Column("of")] if context.several else []),
        Column("decision interval"),
        Column("bootstrap interval", "r"),
        Column("permutation interval", "r"),
        Column("test"),
        Column("relative delta", "r", "mean of the variant over the baseline's, − 1"),
    )
    rows = tuple(
        (
            metric_text(d.metric, d.direction, d.statistic),
            *([d.variant_name] if context.several else []),
            d.interval.method if d.interval else MISSING,
            context.interval(d.metric, d.bootstrap_interval),
            context.interval(d.metric, d.permutation_interval),
            _test_text(d),
            _relative_text(d),
        )
        for d in deltas
    )
    return Table(columns, rows, caption="Further intervals, test, relative delta")


def _test_text(delta: Delta) -> str:
    test = delta.test
    if test is None:
        return MISSING
    if test.monte_carlo_error is not None:
        error = format_number(test.monte_carlo_error)
        return f"{test.method}, Monte Carlo error {error}"
    return test.method


def _relative_text(delta: Delta) -> str:
    relative = delta.relative
    if relative is None or relative.delta is None:
        reason = relative.reason if relative else None
        return f"undefined: {reason}" if reason else MISSING
    text = _signed_percent(relative.delta)
    if relative.interval is None:
        return text
    low, high = relative.interval.low, relative.interval.high
    return f"{text} ({_signed_percent(low)} … {_signed_percent(high)})"


def _signed_percent(share: float) -> str:
    return format_number(share * 100, 1, signed=True) + " %"


def _binary_table(context: Context, deltas: Sequence[Delta]) -> Table:
    columns = (
        Column("0/1 metric"),
        *([Column("of")] if context.several else []),
        Column("1 in both", "r"),
        Column("only baseline", "r"),
        Column("only variant", "r"),
        Column("0 in both", "r"),
    )
    rows = []
    for d in deltas:
        if d.table is None:
            continue
        t = d.table
        counts = (t.both, t.only_baseline, t.only_variant, t.neither)
        rows.append(
            (
                metric_text(d.metric, d.direction, d.statistic),
                *([d.variant_name] if context.several else []),
                *(format_count(count) for count in counts),
            )
        )
    return Table(columns, tuple(rows), caption="Scores of 0 and 1 in both arms")
