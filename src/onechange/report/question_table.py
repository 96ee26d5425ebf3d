"""Every question with its scores, statuses and texts, as data for a table to search.

Figures are written here, with the decimals of the report: a page shows them as they
are and sorts by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onechange.align import ArmTable, Pairs
from onechange.compare import SliceBreakdown
from onechange.delta import MetricValues, metric_sample
from onechange.display import decimals_for, escape_invisible, format_number
from onechange.report.context import ARROWS, Context, slice_text
from onechange.report.diagnosis import question_groups
from onechange.report.question_texts import cut_texts
from onechange.slices import slice_questions

__all__ = ["question_table"]

PAIRED, ONLY_BASELINE, ONLY_VARIANT, NOT_COMPARABLE = range(4)

Json = dict[str, Any]
IntArray = NDArray[np.int64]
Writer = Callable[[float, bool], str | None]


def question_table(context: Context) -> Json:
    """Collect every question of a result.

    Parameters
    ----------
    context : Context
        The result.

    Returns
    -------
    dict
        ``metrics`` (name, arrow, better: 1 or −1), ``breakdowns`` (name and labels),
        ``texts`` (names of the text columns), ``cut`` (characters kept of the texts of
        changed and of other questions, or None) and ``variants``, each with its
        ``groups`` (name to ids of the questions in a cell of a transition table) and
        its ``questions`` as short arrays: id, pairing, label codes, statuses, figures
        of each metric (baseline, variant, delta, and 1, 0, −1 or None for better, same,
        worse, not paired), texts shared by both arms, rows of the baseline, rows of the
        variant.
    """
    comparison = context.comparison
    names = _metrics(context)
    columns = _text_columns(comparison.pairs)
    breakdowns = [_labels(comparison.pairs, b) for b in comparison.slices]
    variants: list[Json] = []
    for position, arm in enumerate(comparison.variants):
        pairs = comparison.pairs[position]
        codes = [codes[position] for _, _, codes in breakdowns]
        rows = _Rows(context, pairs, arm.name, names, columns)
        variants.append(
            {
                "name": arm.name,
                "questions": list(rows.questions(codes)),
                "groups": _groups(context, arm.name),
            }
        )
    cut = cut_texts([q for arm in variants for q in arm["questions"]])
    return {
        "metrics": [
            {"name": name, "arrow": ARROWS[better], "better": _sign(better)}
            for name, better in names.items()
        ],
        "breakdowns": [{"name": n, "labels": labels} for n, labels, _ in breakdowns],
        "texts": columns,
        "cut": cut,
        "variants": variants,
    }


def _groups(context: Context, variant: str) -> dict[str, list[str]]:
    """Questions behind each cell of the transition tables of one variant."""
    return {
        escape_invisible(name): [escape_invisible(question) for question in ids]
        for diagnosis in context.comparison.diagnoses
        if diagnosis.variant_name == variant
        for name, ids in question_groups(diagnosis).items()
    }


def _metrics(context: Context) -> dict[str, str]:
    """Name and direction of the metrics with scores, the leading one first."""
    found = {
        delta.metric: delta.direction
        for delta in context.comparison.deltas
        if (delta.variant_name, delta.metric) in context.comparison.values
    }
    leading = context.leading_metric
    order = sorted(found, key=lambda name: name != leading)
    return {name: found[name] for name in order}


def _sign(direction: str) -> int:
    return 1 if direction == "higher" else -1


def _labels(
    pairs: Sequence[Pairs], breakdown: SliceBreakdown
) -> tuple[str, list[str], list[IntArray]]:
    """Labels of one breakdown, and the code of each question of each variant."""
    known: dict[str, int] = {}
    codes = []
    for each in pairs:
        code = np.full(each.question_id.size, -1, dtype=np.int64)
        for part in slice_questions(each, breakdown.spec):
            label = escape_invisible(slice_text(part.label))
            code[part.questions] = known.setdefault(label, len(known))
        codes.append(code)
    return breakdown.spec.name, list(known), codes


def _text_columns(pairs: Sequence[Pairs]) -> list[str]:
    arms = [arm for each in pairs for arm in (each.baseline, each.variant)]
    return list(dict.fromkeys(name for arm in arms for name in arm.texts))


class _Rows:
    """The questions of one variant, written out."""

    def __init__(
        self,
        context: Context,
        pairs: Pairs,
        variant: str,
        metrics: dict[str, str],
        columns: Sequence[str],
    ) -> None:
        self._pairs = pairs
        self._columns = columns
        self._metrics = metrics
        self._write = {name: _writer(context, name) for name in metrics}
        values = context.comparison.values
        self._figures = [
            _figures(values[variant, name], better, self._write[name])
            for name, better in metrics.items()
            if (variant, name) in values
        ]

    def questions(self, codes: Sequence[IntArray]) -> Iterator[list[Any]]:
        """Yield the cells of each question, in the order of the pairs."""
        pairs = self._pairs
        starts = [
            np.searchsorted(arm.question, np.arange(pairs.question_id.size + 1))
            for arm in (pairs.baseline, pairs.variant)
        ]
        for i, question_id in enumerate(pairs.question_id):
            rows = [range(start[i], start[i + 1]) for start in starts]
            shared = self._shared(rows[0], rows[1])
            yield [
                escape_invisible(str(question_id)),
                self._pairing(i, rows[0], rows[1]),
                [int(code[i]) for code in codes],
                _worst(pairs.baseline, rows[0]),
                _worst(pairs.variant, rows[1]),
                [figure for metric in self._figures for figure in metric[i]],
                shared,
                self._arm(pairs.baseline, rows[0], shared),
                self._arm(pairs.variant, rows[1], shared),
            ]

    def _pairing(self, question: int, baseline: range, variant: range) -> int:
        if self._pairs.paired[question]:
            return PAIRED
        if not variant:
            return ONLY_BASELINE
        return NOT_COMPARABLE if baseline else ONLY_VARIANT

    def _shared(self, baseline: range, variant: range) -> dict[int, str]:
        """Texts that every row of the question has in both arms."""
        found: dict[int, str] = {}
        for place, name in enumerate(self._columns):
            texts = {
                arm.texts[name][row] if name in arm.texts else None
                for arm, rows in (
                    (self._pairs.baseline, baseline),
                    (self._pairs.variant, variant),
                )
                for row in rows
            }
            only = next(iter(texts)) if len(texts) == 1 else None
            if only is not None:
                found[place] = escape_invisible(str(only))
        return found

    def _arm(
        self, arm: ArmTable, rows: range, shared: dict[int, str]
    ) -> list[list[Any]]:
        """Trial, status, scores and own texts of each row of one arm."""
        return [
            [
                escape_invisible(str(arm.trial_labels[arm.trial[row]])),
                -1 if arm.status is None else int(arm.status[row]),
                [
                    write(float(arm.metrics[name][row]), False)
                    if name in arm.metrics
                    else None
                    for name, write in self._write.items()
                ],
                {
                    place: escape_invisible(str(arm.texts[name][row]))
                    for place, name in enumerate(self._columns)
                    if place not in shared
                    and name in arm.texts
                    and arm.texts[name][row] is not None
                },
            ]
            for row in rows
        ]


def _writer(context: Context, metric: str) -> Writer:
    """Return how a figure of a metric is written; equal ones are written once."""
    decimals = context.decimals.get(metric)
    known: dict[tuple[float, bool], str] = {}

    def write(value: float, signed: bool) -> str | None:
        if value != value:
            return None
        if (value, signed) not in known:
            text = format_number(value, decimals, signed=signed)
            if signed and value and not text.strip("0."):
                # No zero is better or worse: a small change shows its digits.
                own = decimals_for([value], significant=1)
                text = format_number(value, own, signed=True)
            known[value, signed] = text
        return known[value, signed]

    return write


def _figures(
    values: MetricValues, direction: str, write: Writer
) -> list[tuple[str | None, str | None, str | None, int | None]]:
    """Baseline, variant, delta and direction of the change of every question."""
    difference = np.full(values.baseline.size, np.nan)
    difference[values.complete] = metric_sample(values).difference
    sign = _sign(direction)
    return [
        (
            write(before, False),
            write(after, False),
            write(change, True),
            None if change != change else sign * ((change > 0) - (change < 0)),
        )
        for before, after, change in zip(
            values.baseline.tolist(),
            values.variant.tolist(),
            difference.tolist(),
            strict=True,
        )
    ]


def _worst(arm: ArmTable, rows: range) -> int:
    """Worst status of a question's rows; −1 without one."""
    if arm.status is None or not rows:
        return -1
    return int(arm.status[rows.start : rows.stop].max())
