"""What slices say together: reversals, heterogeneity, stated mixes, run means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onechange.breakdowns import SliceBreakdown
from onechange.composition import Composition, MixRow
from onechange.display import (
    MISSING,
    format_count,
    format_exact,
    format_number,
    format_percent,
    format_pvalue,
)
from onechange.families import Family
from onechange.report.context import Context, metric_text, slice_text
from onechange.report.document import (
    Block,
    Bullets,
    Column,
    Paragraph,
    Section,
    Table,
)
from onechange.slice_effects import Reversal
from onechange.slice_weights import WeightedDelta

__all__ = [
    "adjustment_text",
    "composition_section",
    "family_text",
    "heterogeneity_table",
    "heterogeneity_text",
    "mix_sentences",
    "reversal_blocks",
    "weighted_table",
]

MAX_LISTED = 8
ADJUSTMENT_WORDS = {
    "max-t": "step-down max-T",
    "holm": "Holm",
    "bh": "Benjamini–Hochberg (false discovery rate)",
}


def family_text(family: Family) -> str:
    """Say which tests were adjusted together, and how; may be empty."""
    words = adjustment_text(family)
    parts = [words] if words else []
    if family.interval_level is not None:
        level = format_number(family.interval_level, 4)
        parts.append(
            f"simultaneous intervals hold together, each at level {level} by itself"
        )
    return "; ".join(parts) + "." if parts else ""


def adjustment_text(family: Family) -> str:
    """Name the adjustment and its family; empty for none."""
    words = ADJUSTMENT_WORDS.get(family.adjust)
    return "" if words is None else f"{words} over {family.members}"


def heterogeneity_text(
    breakdown: SliceBreakdown, metric: str, variant_name: str
) -> str:
    """Say how likely the slices are to differ this much by chance; may be empty."""
    for found in breakdown.heterogeneity:
        if (found.metric, found.variant_name) == (metric, variant_name):
            return f"heterogeneity p {equals(format_pvalue(found.test.pvalue))}"
    return ""


def reversal_blocks(context: Context, breakdown: SliceBreakdown) -> list[Block]:
    """Name shown reversals, and list apart the slices whose sign merely differs."""
    blocks: list[Block] = []
    shown = [r for r in breakdown.reversals if r.shown]
    if shown:
        texts = [_reversal_text(context, reversal) for reversal in shown]
        blocks.append(Paragraph("; ".join(texts) + ".", "Reversals"))
    others = [r for r in breakdown.reversals if not r.shown]
    if others:
        texts = [_opposite_text(context, r) for r in others[:MAX_LISTED]]
        more = len(others) - MAX_LISTED
        if more > 0:
            texts.append(f"{format_count(more)} more")
        blocks.append(
            Paragraph("; ".join(texts) + ".", "Opposite sign, not shown to differ")
        )
    return blocks


def heterogeneity_table(context: Context, breakdown: SliceBreakdown) -> Table | None:
    """Lay out the heterogeneity test of every metric; None without any."""
    if not breakdown.heterogeneity:
        return None
    columns = (
        Column("slices differ in"),
        *([Column("of")] if context.several else []),
        Column("slices", "r"),
        Column("Q", "r", "weighted squared distances from the mean of the slices"),
        Column("p", "r", "by sign flips, of one delta for all slices"),
        Column("I²", "r", "share of Q beyond chance"),
        Column("SD between slices", "r", "of the true deltas, tau"),
        Column("mean of slices", "r", "weighted by their precision"),
    )
    rows = tuple(
        (
            h.metric,
            *([h.variant_name] if context.several else []),
            format_count(h.df + 1),
            format_number(h.test.statistic, 1),
            format_pvalue(h.test.pvalue),
            f"{format_number(h.i2, 0)} %",
            context.number(h.metric, h.tau2**0.5),
            context.number(h.metric, h.pooled_delta, signed=True),
        )
        for h in breakdown.heterogeneity
    )
    caption = f"Whether slices of {breakdown.spec.name} differ"
    return Table(columns, rows, caption=caption)


def weighted_table(context: Context, breakdown: SliceBreakdown) -> Table | None:
    """Lay out the deltas of a stated mix of slices; None without a mix."""
    if not breakdown.weighted:
        return None
    title = _weights_title(breakdown.weighted[0])
    columns = (
        Column("metric"),
        *([Column("of")] if context.several else []),
        Column("baseline", "r"),
        Column("variant", "r"),
        Column("delta", "r", title),
        Column(f"{context.level} interval", "r"),
        Column("remark"),
    )
    rows = tuple(
        (
            metric_text(w.metric, w.direction),
            *([w.variant_name] if context.several else []),
            context.number(w.metric, w.baseline),
            context.number(w.metric, w.variant),
            context.number(w.metric, w.delta, signed=True),
            context.interval(w.metric, w.interval),
            _weighted_remark(w),
        )
        for w in breakdown.weighted
    )
    return Table(columns, rows, caption=f"{breakdown.spec.name}: {title}")


def mix_sentences(context: Context, metric: str | None) -> Iterator[str]:
    """Write the reweighted deltas of one metric, a sentence each."""
    for breakdown in context.comparison.slices:
        for w in breakdown.weighted:
            if w.metric != metric:
                continue
            of = f" of {w.variant_name}" if context.several else ""
            what = f"{w.metric}{of} by {breakdown.spec.name}, {_weights_title(w)}: "
            if w.delta is None:
                yield f"{what}undefined, {w.reason}."
                continue
            value = context.number(w.metric, w.delta, signed=True)
            interval = (
                f"no interval, {w.reason}"
                if w.interval is None
                else context.interval(w.metric, w.interval)
            )
            yield f"{what}{value} ({interval})."


def composition_section(context: Context) -> Section | None:
    """Build the section on run means that tell another story; None without one."""
    differing = [c for c in context.comparison.compositions if c.differs]
    if not differing:
        return None
    blocks: list[Block] = [
        Paragraph(
            "The mean of each run over the questions it happens to be scored on, as a "
            "leaderboard shows it, against the paired delta over the same questions."
        ),
        _run_means_table(context, differing),
    ]
    details: list[Block] = []
    for part in differing:
        blocks.append(Bullets((_questions_text(context, part),)))
        details += [_mix_table(part, name, mix) for name, mix in part.mixes]
    return Section(
        "composition",
        "Run means and paired delta differ",
        tuple(blocks),
        tuple(details),
    )


def equals(text: str) -> str:
    """Put an equals sign before a figure that has no sign of its own."""
    return text if text.startswith("<") else f"= {text}"


def _reversal_text(context: Context, reversal: Reversal) -> str:
    interval = context.interval(reversal.metric, reversal.interval)
    return f"{_opposite_text(context, reversal)}, simultaneous interval {interval}"


def _opposite_text(context: Context, reversal: Reversal) -> str:
    of = f" of {reversal.variant_name}" if context.several else ""
    own = context.number(reversal.metric, reversal.delta, signed=True)
    whole = context.number(reversal.metric, reversal.overall, signed=True)
    label = slice_text(reversal.slice)
    return f"{reversal.metric}{of}: {own} in {label}, {whole} overall"


def _weights_title(weighted: WeightedDelta) -> str:
    if weighted.kind == "macro":
        return "all slices counting the same"
    shares = ", ".join(
        f"{label} {format_percent(round(share, 4))}"
        for label, share in weighted.weights
    )
    return f"reweighted to {shares}"


def _weighted_remark(weighted: WeightedDelta) -> str:
    parts = [weighted.reason] if weighted.reason else []
    if weighted.left_out:
        parts.append(f"not in the mix: {', '.join(weighted.left_out)}")
    return "; ".join(parts) or MISSING


def _run_means_table(context: Context, parts: Sequence[Composition]) -> Table:
    columns = (
        Column("metric"),
        *([Column("of")] if context.several else []),
        Column("baseline, all its questions", "r", "mean over all it is scored on"),
        Column("variant, all its questions", "r", "mean over all it is scored on"),
        Column("difference of the runs", "r", "of these two means"),
        Column("paired delta", "r", "over the questions scored in both arms"),
        Column("in one arm only", "r", "questions scored in one arm only"),
    )
    rows = tuple(
        (
            c.metric,
            *([c.variant_name] if context.several else []),
            f"{context.number(c.metric, c.baseline)} ({format_count(c.n_baseline)})",
            f"{context.number(c.metric, c.variant)} ({format_count(c.n_variant)})",
            context.number(c.metric, c.difference, signed=True),
            context.number(c.metric, c.delta, signed=True),
            format_count(c.n_one_arm),
        )
        for c in parts
    )
    return Table(columns, rows)


def _questions_text(context: Context, part: Composition) -> str:
    listed = ", ".join(
        f"{q.question_id} ({q.arm} {format_exact(round(q.score, 6))}, "
        f"{context.number(part.metric, q.shift, signed=True)})"
        for q in part.questions[:MAX_LISTED]
    )
    more = part.n_one_arm - min(len(part.questions), MAX_LISTED)
    rest = f" and {format_count(more)} more" if more > 0 else ""
    of = f" of {part.variant_name}" if context.several else ""
    return (
        f"{part.metric}{of}: questions scored in one arm only, with their score and "
        f"what it adds to the difference of the runs: {listed}{rest}."
    )


def _mix_table(part: Composition, name: str, mix: Sequence[MixRow]) -> Table:
    columns = (
        Column(f"{part.metric} by {name}"),
        Column("all questions", "r", "of either arm"),
        Column("pairs", "r", "scored in both arms"),
        Column("scored in baseline", "r", "its mean is over these"),
        Column("scored in variant", "r", "its mean is over these"),
    )
    totals = [
        max(sum(getattr(row, field) for row in mix), 1)
        for field in ("n_questions", "n_pairs", "n_baseline", "n_variant")
    ]
    return Table(
        columns,
        tuple(
            (
                row.label,
                *(
                    f"{format_count(count)} ({format_percent(count / total, 0)})"
                    for count, total in zip(
                        (row.n_questions, row.n_pairs, row.n_baseline, row.n_variant),
                        totals,
                        strict=True,
                    )
                ),
            )
            for row in mix
        ),
    )
