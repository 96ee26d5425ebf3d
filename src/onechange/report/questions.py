"""The questions behind a delta: which gained, which lost, and their texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.align import ArmTable, Pairs
from onechange.delta import Delta, metric_sample
from onechange.display import format_count, shorten
from onechange.report.context import Context, question_link, slice_text
from onechange.report.document import Block, Column, Paragraph, Section, Table
from onechange.results import ANSWERED, FAILED, UNSCORED

__all__ = ["Change", "changes", "questions_section"]

SHOWN = 5
TEXT_WIDTH = 160
QUESTION_TEXTS = ("question", "query", "prompt", "input")
ANSWER_TEXTS = (
    "answer",
    "response",
    "output",
    "prediction",
    "generated_answer",
    "model_answer",
    "actual_output",
)
STATUS_NAMES = {ANSWERED: "answered", UNSCORED: "unscored", FAILED: "failed"}


@dataclass(frozen=True, slots=True)
class Change:
    """One question whose score changed: both question means and their difference."""

    index: int
    question_id: str
    baseline: float
    variant: float
    difference: float


def questions_section(context: Context) -> Section | None:
    """Build the section on the questions of the leading metric."""
    metric = context.leading_metric
    blocks: list[Block] = []
    for delta, pairs in _measured(context, metric):
        losses, gains = changes(context, delta)
        blocks.append(Paragraph(_counts_text(context, delta)))
        for title, found in (("Largest losses", losses), ("Largest gains", gains)):
            if found:
                blocks.append(_table(context, delta, pairs, found, title))
        transitions = _transitions(pairs)
        if transitions is not None:
            blocks.append(transitions)
    return Section("questions", "Questions", (), tuple(blocks)) if blocks else None


def changes(
    context: Context, delta: Delta, *, at_most: int = SHOWN
) -> tuple[list[Change], list[Change]]:
    """List the largest losses and gains of one metric, in the metric's direction.

    Parameters
    ----------
    context : Context
        The result.
    delta : Delta
        The overall delta of the metric and variant.
    at_most : int
        Questions in each list.

    Returns
    -------
    losses, gains : list of Change
        Largest first, equal ones by question id.
    """
    values = context.comparison.values.get((delta.variant_name, delta.metric))
    position = _position(context, delta.variant_name)
    if values is None or position is None:
        return [], []
    ids = context.comparison.pairs[position].question_id
    where = np.flatnonzero(values.complete)
    sample = metric_sample(values)
    sign = 1.0 if delta.direction == "higher" else -1.0
    improvement = sign * sample.difference
    order = np.argsort(improvement, kind="stable")  # ids are sorted already

    def listed(places: NDArray[np.int64]) -> list[Change]:
        return [
            Change(
                index=int(where[place]),
                question_id=str(ids[where[place]]),
                baseline=float(sample.baseline[place]),
                variant=float(sample.variant[place]),
                difference=float(sample.difference[place]),
            )
            for place in places[:at_most]
        ]

    gains = np.argsort(-improvement, kind="stable")
    return (
        listed(order[improvement[order] < 0]),
        listed(gains[improvement[gains] > 0]),
    )


def _measured(context: Context, metric: str | None) -> Iterator[tuple[Delta, Pairs]]:
    for delta in context.comparison.deltas:
        if delta.metric == metric and delta.statistic == "mean" and delta.n_pairs:
            position = _position(context, delta.variant_name)
            if position is not None:
                yield delta, context.comparison.pairs[position]


def _position(context: Context, variant_name: str) -> int | None:
    names = [arm.name for arm in context.comparison.variants]
    return names.index(variant_name) if variant_name in names else None


def _counts_text(context: Context, delta: Delta) -> str:
    counts = (
        f"{format_count(delta.wins)} better, {format_count(delta.ties)} the same, "
        f"{format_count(delta.losses)} worse"
    )
    arm = f" ({delta.variant_name})" if context.several else ""
    return f"{delta.metric}{arm}: {counts}."


def _table(
    context: Context,
    delta: Delta,
    pairs: Pairs,
    found: Sequence[Change],
    title: str,
) -> Table:
    labels = list(
        dict.fromkeys(
            column
            for breakdown in context.comparison.slices
            for column in breakdown.spec.columns
            if column in pairs.labels
        )
    )
    texts = _text_columns(pairs, found)
    columns = (
        Column("question_id"),
        *(Column(label) for label in labels),
        Column("baseline", "r"),
        Column("variant", "r"),
        Column("delta", "r"),
        *(Column(name) for name, _ in texts),
    )
    rows = tuple(
        (
            change.question_id,
            *(_label(pairs, label, change.index) for label in labels),
            context.number(delta.metric, change.baseline),
            context.number(delta.metric, change.variant),
            context.number(delta.metric, change.difference, signed=True),
            *(cells[i] for _, cells in texts),
        )
        for i, change in enumerate(found)
    )
    return Table(columns, rows, caption=title)


def _label(pairs: Pairs, column: str, question: int) -> str:
    label = pairs.labels[column][question]
    return "(none)" if label is None else slice_text(((column, str(label)),))


def _text_columns(pairs: Pairs, found: Sequence[Change]) -> list[tuple[str, list[str]]]:
    """Question and answer texts of the listed questions, where the files hold them."""
    columns = []
    for names, arms in (
        (QUESTION_TEXTS, (("", pairs.baseline), ("", pairs.variant))),
        (ANSWER_TEXTS, (("baseline ", pairs.baseline),)),
        (ANSWER_TEXTS, (("variant ", pairs.variant),)),
    ):
        for prefix, arm in arms:
            name = next((n for n in names if n in arm.texts), None)
            if name is None:
                continue
            cells = [_first_text(arm, name, change.index) for change in found]
            columns.append((prefix + name, cells))
            break
    return columns


def _first_text(arm: ArmTable, column: str, question: int) -> str:
    """Text of a question's first trial that has one, shortened."""
    for row in np.flatnonzero(arm.question == question):
        text = arm.texts[column][row]
        if text is not None:
            return shorten(str(text), TEXT_WIDTH)
    return ""


def _transitions(pairs: Pairs) -> Table | None:
    """Count paired questions by the worst status of their trials in either arm."""
    if pairs.baseline.status is None or pairs.variant.status is None:
        return None
    size = pairs.question_id.size
    worst = []
    for arm in (pairs.baseline, pairs.variant):
        found = np.zeros(size, dtype=np.int64)
        if arm.status is not None:
            np.maximum.at(found, arm.question, arm.status.astype(np.int64))
        worst.append(found[pairs.paired])
    codes = (ANSWERED, UNSCORED, FAILED)
    if all((states == ANSWERED).all() for states in worst):
        return None
    rows = tuple(
        (
            STATUS_NAMES[before],
            *(
                format_count(int(np.sum((worst[0] == before) & (worst[1] == after))))
                for after in codes
            ),
        )
        for before in codes
    )
    columns = (
        Column("baseline ↓, variant →"),
        *(
            Column(
                STATUS_NAMES[code],
                "r",
                "Paired questions with this status in the variant.",
            )
            for code in codes
        ),
    )
    links = tuple(
        (
            "",
            *(
                question_link(
                    [
                        ("baseline:status", STATUS_NAMES[before]),
                        ("variant:status", STATUS_NAMES[after]),
                    ]
                )
                for after in codes
            ),
        )
        for before in codes
    )
    caption = "Questions by the worst status of their trials"
    return Table(columns, rows, caption=caption, links=links)
