"""How far clusters count: their number, the largest one, the design effect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onechange.delta import Delta
from onechange.display import (
    MISSING,
    format_count,
    format_number,
    format_percent,
    metric_text,
)
from onechange.report.context import Context
from onechange.report.document import Column, Table

__all__ = ["cluster_sentence", "clusters_line", "clusters_table"]


def clusters_table(context: Context, deltas: Sequence[Delta]) -> list[Table]:
    """Build the table of clusters metric by metric; none without clusters.

    Parameters
    ----------
    context : Context
        The result.
    deltas : sequence of Delta
        The rows, overall.
    """
    some = [delta for delta in deltas if delta.n_clusters is not None]
    if not some:
        return []
    columns = (
        Column("clusters"),
        *([Column("of")] if context.several else []),
        Column("number", "r", "sources that are resampled whole"),
        Column("questions", "r"),
        Column("largest holds", "r", "share of the questions in the largest cluster"),
        Column(
            "design effect",
            "r",
            "variance of the delta by clusters over that of independent questions",
        ),
    )
    rows = tuple(
        (
            metric_text(delta.metric, delta.direction, delta.statistic),
            *([delta.variant_name] if context.several else []),
            format_count(delta.n_clusters),
            format_count(delta.n_pairs),
            _share(delta),
            MISSING
            if delta.design_effect is None
            else format_number(delta.design_effect, 2),
        )
        for delta in some
    )
    return [Table(columns, rows, caption="Clusters")]


def clusters_line(context: Context, metric: str | None) -> str:
    """Say in one line what the clusters of a metric do; empty without clusters.

    Parameters
    ----------
    context : Context
        The result.
    metric : str or None
        The leading metric.
    """
    rows = [
        delta
        for delta in context.comparison.deltas
        if delta.metric == metric and delta.n_clusters is not None
    ]
    if not rows:
        return ""
    first = rows[0]
    line = (
        f"{format_count(first.n_clusters)} over {format_count(first.n_pairs)} "
        f"questions, the largest with {_share(first)} of them"
    )
    known = [delta for delta in rows if delta.design_effect is not None]
    if not known:
        return line + "."
    return f"{line}; design effect of {metric} {_effects(known[:1])}."


def cluster_sentence(deltas: Iterable[Delta]) -> str:
    """Write the clusters of a comparison as a sentence of the methods paragraph.

    Parameters
    ----------
    deltas : iterable of Delta
        Overall.

    Returns
    -------
    str
        Empty without clusters.
    """
    rows = [delta for delta in deltas if delta.n_clusters is not None]
    if not rows:
        return ""
    first = max(rows, key=lambda delta: delta.n_pairs)
    text = (
        "Questions that share a source were treated as one of "
        f"{format_count(first.n_clusters)} clusters"
    )
    if first.largest_cluster_share is not None:
        text += f", the largest with {_share(first)} of the questions"
    known = {
        delta.metric: delta for delta in rows if delta.design_effect is not None
    }.values()
    if known:
        named = [f"{_effects([delta])} for {delta.metric}" for delta in known]
        listed = named[0] if len(named) == 1 else ", ".join(named[:-1])
        if len(named) > 1:
            listed += f" and {named[-1]}"
        text += f"; the design effect of the delta is {listed}"
    return text + "."


def _share(delta: Delta) -> str:
    share = delta.largest_cluster_share
    return MISSING if share is None else format_percent(share, 1)


def _effects(deltas: Sequence[Delta]) -> str:
    return ", ".join(format_number(delta.design_effect, 2) for delta in deltas)
