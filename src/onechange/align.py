"""Two `Results` -> `Pairs` plus `Audit`; nothing leaves without being counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from onechange.assemble import in_sorted_order
from onechange.caveats import (
    BoolArray,
    arm_notes,
    identity_notes,
    incomparable,
    label_notes,
    listed,
    mismatched_scales,
    setting_notes,
    trial_notes,
)
from onechange.errors import InputError, PairingError
from onechange.ledger import (
    HIGH_MISSING_SHARE,
    Audit,
    MetricAudit,
    SettingChange,
    changed_settings,
    metric_audit,
    rows_by_status,
    rows_left_out,
)
from onechange.pairs import (
    ArmTable,
    Pairs,
    arm_table,
    cluster_codes,
    first_texts,
    question_means,
    rate,
    scored_rows,
    trial_table,
    union_of_questions,
)
from onechange.plan.directions import infer_direction
from onechange.question_index import QuestionIndex
from onechange.results import UNSCORED, Columns, IntArray, Results, TextArray
from onechange.stats.caveats import unlabelled_note
from onechange.stats.estimate import Note

__all__ = [
    "ArmTable",
    "Audit",
    "MetricAudit",
    "Pairs",
    "SettingChange",
    "align",
    "question_means",
    "rate",
    "trial_table",
]


def align(
    baseline: Results, variant: Results, *, columns: Columns | None = None
) -> tuple[Pairs, Audit]:
    """Pair two arms question by question and account for every row.

    Parameters
    ----------
    baseline, variant : Results
        Both arms.
    columns : Columns, optional
        Declared roles: the cluster column, and which labels are slices.

    Returns
    -------
    pairs : Pairs
        Rows of both arms over the sorted union of their questions.
    audit : Audit
        The ledger.

    Raises
    ------
    InputError
        When an arm repeats a (question, trial), or no arm has the cluster column.
    PairingError
        When no question can be compared.

    Examples
    --------
    >>> import pandas as pd
    >>> from onechange.read import read
    >>> b = read(pd.DataFrame({"question_id": ["q1", "q2"], "f1": [0.5, 1]}), name="b")
    >>> v = read(pd.DataFrame({"question_id": ["q2", "q3"], "f1": [0.9, 1]}), name="v")
    >>> pairs, audit = align(b, v)
    >>> pairs.question_id.tolist(), pairs.paired.tolist(), audit.only_variant
    (['q1', 'q2', 'q3'], [False, True, False], ('q3',))
    """
    columns = columns or Columns()
    b, v = _labels_where_one_arm_is_empty(
        in_sorted_order(baseline), in_sorted_order(variant)
    )
    union, b_question, v_question = union_of_questions(
        cast("QuestionIndex", b.index), cast("QuestionIndex", v.index)
    )
    in_both = _present(b_question, union.size) & _present(v_question, union.size)
    if not in_both.any():
        raise PairingError(_no_overlap(b, v))
    pairs = Pairs(
        question_id=union,
        paired=in_both,
        baseline=arm_table(b, b_question),
        variant=arm_table(v, v_question),
        labels={},
        clusters=None,
    )
    differs, differing = incomparable(pairs)
    differs &= in_both
    if not (in_both & ~differs).any():
        raise PairingError(
            f"no question of {b.name} and {v.name} can be compared: all "
            f"{int(in_both.sum())} common ids differ in {', '.join(differing)}. "
            "Use results of the same question set."
        )
    pairs = replace(pairs, paired=in_both & ~differs)
    pairs = replace(pairs, labels=_labels(pairs))
    pairs = replace(pairs, clusters=_clusters(pairs, columns.cluster, (b, v)))
    return pairs, _audit(b, v, pairs, differs, differing, columns)


def _present(question: IntArray, n_questions: int) -> BoolArray:
    present = np.zeros(n_questions, dtype=np.bool_)
    present[question] = True
    return present


def _labels_where_one_arm_is_empty(
    baseline: Results, variant: Results
) -> tuple[Results, Results]:
    """Read a column without any value as labels when the other arm has labels there."""
    arms = [baseline, variant]
    for index, other in ((0, variant), (1, baseline)):
        arm = arms[index]
        empty = [
            name
            for name, values in arm.metrics.items()
            if name in other.labels and np.isnan(values).all()
        ]
        if empty:
            nothing = np.full(arm.n_rows, None, dtype=object)
            metrics = {k: v for k, v in arm.metrics.items() if k not in empty}
            labels = {**arm.labels, **dict.fromkeys(empty, nothing)}
            arms[index] = replace(arm, metrics=metrics, labels=labels)
    return arms[0], arms[1]


def _no_overlap(baseline: Results, variant: Results) -> str:
    examples = [
        listed([f'"{text[:60]}"' for text in dict.fromkeys(arm.question_id[:50])])
        for arm in (baseline, variant)
    ]
    return (
        f"{baseline.name} and {variant.name} have no question in common; ids of the "
        f"first: {examples[0]}; of the second: {examples[1]}. Compare results of the "
        "same question set, or name the id column with --id."
    )


def _labels(pairs: Pairs) -> dict[str, TextArray]:
    labels: dict[str, TextArray] = {}
    for arm in (pairs.baseline, pairs.variant):
        for column, texts in arm.texts.items():
            found = first_texts(arm.question, texts, pairs.question_id.size)
            if column in labels:
                labelled = labels[column].astype(np.bool_)
                found = np.where(labelled, labels[column], found)
            labels[column] = found
    return labels


def _conflict_notes(pairs: Pairs, columns: Columns) -> list[Note]:
    """Note the declared labels that differ between the arms for a question."""
    notes = []
    declared = [
        *columns.slices,
        *([] if columns.cluster is None else [columns.cluster]),
    ]
    for column in dict.fromkeys(declared):
        arms = (pairs.baseline, pairs.variant)
        if not all(column in arm.texts for arm in arms):
            continue
        first, second = (
            first_texts(arm.question, arm.texts[column], pairs.question_id.size)
            for arm in arms
        )
        both = pairs.paired & first.astype(np.bool_) & second.astype(np.bool_)
        differ = np.flatnonzero(both & (first != second))
        if differ.size:
            ids = [str(pairs.question_id[i]) for i in differ]
            text = (
                f"{column} differs between the arms for {differ.size} "
                f"{'question' if differ.size == 1 else 'questions'} ({listed(ids)}); "
                "the baseline's label is used."
            )
            notes.append(Note("labels-differ", text))
    return notes


def _clusters(
    pairs: Pairs, column: str | None, arms: Sequence[Results]
) -> IntArray | None:
    if column is None:
        return None
    if column not in pairs.labels:
        raise InputError(
            f'no cluster column "{column}" in {arms[0].name} or {arms[1].name}; '
            f"columns of labels: {', '.join(sorted(pairs.labels)) or 'none'}."
        )
    return cluster_codes(pairs.labels[column])


def _cluster_notes(pairs: Pairs, column: str | None) -> list[Note]:
    labels = None if column is None else pairs.labels.get(column)
    if labels is None:
        return []
    lacking = sum(label is None for label in labels[pairs.paired])
    n_questions = int(np.count_nonzero(pairs.paired))
    return [unlabelled_note(lacking, n_questions)] if lacking else []


def _audit(
    baseline: Results,
    variant: Results,
    pairs: Pairs,
    differs: BoolArray,
    differing: Sequence[str],
    columns: Columns,
) -> Audit:
    in_b = _present(pairs.baseline.question, pairs.question_id.size)
    in_v = _present(pairs.variant.question, pairs.question_id.size)
    names = (baseline.name, variant.name)
    paired_rows, left_out = rows_left_out(pairs, differs)
    changes = changed_settings(baseline.settings, variant.settings)
    recorded = (bool(baseline.settings), bool(variant.settings))
    scales = _scales(pairs, columns)
    audit = Audit(
        baseline_name=baseline.name,
        variant_name=variant.name,
        rows_read=(baseline.n_rows, variant.n_rows),
        rows_by_status=rows_by_status(pairs),
        rows_left_out=left_out,
        trials=(len(pairs.baseline.trial_labels), len(pairs.variant.trial_labels)),
        questions=(int(in_b.sum()), int(in_v.sum())),
        paired=int(pairs.paired.sum()),
        only_baseline=tuple(pairs.question_id[in_b & ~in_v].tolist()),
        only_variant=tuple(pairs.question_id[in_v & ~in_b].tolist()),
        not_comparable=tuple(pairs.question_id[differs].tolist()),
        metrics={metric: metric_audit(pairs, metric) for metric in _metrics(pairs)},
        settings_changed=changes,
        settings_recorded=recorded,
        rows_paired=paired_rows,
        scale_mismatch=tuple(scales),
    )
    notes = [
        *arm_notes(baseline, variant),
        *_coverage_notes(audit, differing),
        *_row_notes(pairs, names),
        *identity_notes(pairs),
        *trial_notes(pairs, names),
        *_metric_notes(pairs, names),
        *(Note("scale-mismatch", text) for text in scales.values()),
        *setting_notes(changes, (baseline.settings, variant.settings), names),
        *_conflict_notes(pairs, columns),
        *label_notes(pairs, (*columns.slices, columns.cluster, *columns.settings)),
        *_cluster_notes(pairs, columns.cluster),
    ]
    return replace(audit, notes=tuple(notes))


def _metrics(pairs: Pairs) -> list[str]:
    return list(dict.fromkeys([*pairs.baseline.metrics, *pairs.variant.metrics]))


def _scales(pairs: Pairs, columns: Columns) -> dict[str, str]:
    found = {}
    for metric in _metrics(pairs):
        if metric not in columns.ranges and infer_direction(metric) == "higher":
            text = mismatched_scales(pairs, metric)
            if text is not None:
                found[metric] = text
    return found


def _coverage_notes(audit: Audit, differing: Sequence[str]) -> list[Note]:
    notes = []
    parts = [
        f"{len(ids)} only in {name} ({listed(ids)})"
        for name, ids in (
            (audit.baseline_name, audit.only_baseline),
            (audit.variant_name, audit.only_variant),
        )
        if ids
    ]
    if parts:
        text = f"Questions left out, as they are in one arm: {'; '.join(parts)}."
        notes.append(Note("unmatched-questions", text))
    if audit.share_unmatched > HIGH_MISSING_SHARE:
        count, total = len(audit.only_baseline), audit.questions[0]
        text = (
            f"{100 * audit.share_unmatched:.0f} % of the questions of "
            f"{audit.baseline_name} ({count} of {total}) are not in "
            f"{audit.variant_name}: what it would do on them is not known."
        )
        notes.append(Note("high-missing-share", text))
    if audit.not_comparable:
        count = len(audit.not_comparable)
        who = (
            "1 question left out, as its"
            if count == 1
            else (f"{count} questions left out, as their")
        )
        verb = "differs" if len(differing) == 1 else "differ"
        text = (
            f"{who} {', '.join(differing)} {verb} between the arms: "
            f"{listed(audit.not_comparable)}."
        )
        notes.append(Note("not-comparable", text))
    return notes


def _row_notes(pairs: Pairs, names: Sequence[str]) -> list[Note]:
    notes = []
    counts = rows_by_status(pairs)
    for code, status in (("unscored-rows", "unscored"), ("failed-rows", "failed")):
        rows = counts.get(status, (0, 0))
        if any(rows):
            text = (
                f"Rows with status {status}: {names[0]} {rows[0]}, {names[1]} {rows[1]}"
            )
            scored = _scored_without_answer(pairs) if status == "unscored" else 0
            if scored:
                text += f"; the scores that {scored} of them carry are used"
            notes.append(Note(code, f"{text}."))
    for name, arm in zip(names, (pairs.baseline, pairs.variant), strict=True):
        if arm.metrics and not scored_rows(arm.metrics, arm.question.size).any():
            notes.append(Note("not-measured", f"{name} has no score at all."))
    return notes


def _scored_without_answer(pairs: Pairs) -> int:
    """Count the rows whose status is unscored and that carry a score all the same."""
    count = 0
    for arm in (pairs.baseline, pairs.variant):
        if arm.status is not None:
            scored = scored_rows(arm.metrics, arm.question.size)
            count += int(np.count_nonzero(scored & (arm.status == UNSCORED)))
    return count


def _metric_notes(pairs: Pairs, names: Sequence[str]) -> list[Note]:
    notes = []
    arms = (pairs.baseline, pairs.variant)
    for (name, arm), other in zip(
        zip(names, arms, strict=True), reversed(arms), strict=True
    ):
        alone = [metric for metric in arm.metrics if metric not in other.metrics]
        if alone:
            text = f"Metrics only in {name}: {listed(alone)}."
            notes.append(Note("metric-only-in-one-arm", text))
    return notes
