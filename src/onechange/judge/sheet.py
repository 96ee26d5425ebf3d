"""A sheet for people to fill in: which answers to label, with their texts."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from onechange.errors import InputError
from onechange.judge.guard import guarded
from onechange.judge.labels import ARMS, draw_for_audit, outcome_strata
from onechange.pairs import ArmTable, Pairs, question_means
from onechange.plan import Plan, did_you_mean

__all__ = ["judged_metric", "label_rows", "sheet_csv"]

_TEXTS = ("question", "reference", "answer")  # shown to whoever labels
_USUAL = ("correct", "correctness")
_COLUMNS = ("question_id", "arm", "trial", "label", "weight", *_TEXTS)


def judged_metric(plan: Plan, pairs: Pairs, asked: Sequence[str]) -> str:
    """Choose the metric that people check.

    Parameters
    ----------
    plan : Plan
        Its metric with labels, or its primary, where none is asked for.
    pairs : Pairs
        Both arms.
    asked : sequence of str
        The metric asked for; at most one.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If it is not a metric of both arms, or nothing says which.
    """
    both = [name for name in pairs.baseline.metrics if name in pairs.variant.metrics]
    if len(asked) > 1:
        raise InputError(
            f"{len(asked)} metrics are named ({', '.join(asked)}); audit one at a time."
        )
    labelled = [metric.name for metric in plan.metrics if metric.labels is not None]
    named = [*asked, *labelled, *(primary.metric for primary in plan.primary)]
    if not named:
        named = [name for name in _USUAL if name in both] or (both * (len(both) == 1))
    if not named:
        raise InputError(
            f"nothing says which metric to audit; name one of {', '.join(both)} with "
            "--metric."
        )
    if named[0] not in both:
        raise InputError(
            f'"{named[0]}" is not a metric of both arms; {did_you_mean(named[0], both)}'
        )
    return named[0]


def label_rows(
    pairs: Pairs, metric: str, n: int, *, seed: int = 7
) -> list[dict[str, Any]]:
    """Draw questions and list the answers to label.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    metric : str
        The judged metric: questions are drawn from those that the judge scored in
        both arms, from the gained, lost and tied ones in proportion.
    n : int
        How many questions.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    list of dict
        One row a drawn question, arm and scored trial, by question: ``question_id``,
        ``arm``, ``trial`` (where there are several), ``label`` (empty), ``weight``,
        and the texts of question, reference and answer where they are recorded.

    Raises
    ------
    InputError
        If no question is scored in both arms.
    """
    means = [question_means(pairs, arm, metric) for arm in ARMS]
    scored = pairs.paired & np.isfinite(means[0]) & np.isfinite(means[1])
    where = np.flatnonzero(scored)
    if not where.size:
        raise InputError(f"{metric} is scored in both arms for no question.")
    ids = pairs.question_id[where].tolist()
    strata = outcome_strata(means[0][where], means[1][where])
    drawn = draw_for_audit(ids, n, strata=strata, seed=seed)
    place = dict(zip(ids, where.tolist(), strict=True))
    return [
        row
        for question in sorted(drawn, key=lambda item: place[item.question_id])
        for arm, table in zip(ARMS, (pairs.baseline, pairs.variant), strict=True)
        for row in _answers(
            table,
            metric,
            place[question.question_id],
            {"question_id": question.question_id, "arm": arm},
            question.weight,
        )
    ]


def sheet_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write the rows as CSV, for a person's spreadsheet program.

    A text that the program would run as a formula gets a quote before it, as does one
    that begins with such a quote already; `read_labels` takes one off again, so that
    every id comes back as it was.

    Parameters
    ----------
    rows : sequence of mapping
        As `label_rows` gives them.

    Returns
    -------
    str

    Examples
    --------
    >>> print(sheet_csv([{"question_id": "q1", "arm": "variant", "label": None}]))
    question_id,arm,label
    q1,variant,
    <BLANKLINE>
    """
    columns = [name for name in _COLUMNS if any(name in row for row in rows)]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        cells = [row.get(name) for name in columns]
        writer.writerow([guarded(c) if isinstance(c, str) else c for c in cells])
    return buffer.getvalue()


def _answers(
    arm: ArmTable, metric: str, question: int, key: Mapping[str, str], weight: float
) -> list[dict[str, Any]]:
    found = []
    for row in np.flatnonzero(arm.question == question):
        if not np.isfinite(arm.metrics[metric][row]):
            continue
        answer: dict[str, Any] = dict(key)
        if len(arm.trial_labels) > 1:
            answer["trial"] = arm.trial_labels[arm.trial[row]]
        answer |= {"label": None, "weight": weight}
        for name in _TEXTS:
            if name in arm.texts:
                answer[name] = arm.texts[name][row]
        found.append(answer)
    return found
