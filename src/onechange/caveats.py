"""What a reader of the audit must know about the pairs, as notes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onechange.ledger import SettingChange
from onechange.pairs import ArmTable, Pairs, first_texts, question_means, trial_table
from onechange.results import FloatArray, Results, TextArray
from onechange.sources import (
    QUESTION_TEXTS,
    label_counts,
    name_words,
    possible_sources,
)
from onechange.stats.estimate import Note

__all__ = [
    "arm_notes",
    "identity_notes",
    "incomparable",
    "label_notes",
    "listed",
    "mismatched_scales",
    "setting_notes",
    "trial_notes",
]

BoolArray = NDArray[np.bool_]

_COMPARED_TEXTS = (
    *QUESTION_TEXTS,
    *("reference", "reference_answer", "gold_answer", "ground_truth", "gold", "gt"),
    *("expected_answer", "expected_output", "target", "answer_key"),
    *("label_version", "labels_version", "reference_version", "question_version"),
)
_JUDGE_WORDS = frozenset(
    {"judge", "grader", "scorer", "evaluator", "annotator", "rubric"}
)
_OF_ROWS = frozenset({"failed-rows"})  # the same counts say nothing of other arms
_SHOWN = 5  # ids or names listed in a note


def arm_notes(baseline: Results, variant: Results) -> list[Note]:
    """Gather the notes of reading, each with the arms it holds for.

    Parameters
    ----------
    baseline, variant : Results
        Both arms.

    Returns
    -------
    list of Note
        A note that both arms have stands once; one that counts rows names both.
    """
    both = [note for note in baseline.notes if note in variant.notes]
    names = f"{baseline.name} and {variant.name}"
    notes = [
        Note(note.code, f"{names}: {note.text}") if note.code in _OF_ROWS else note
        for note in both
    ]
    for results in (baseline, variant):
        for note in results.notes:
            if note not in both:
                notes.append(Note(note.code, f"{results.name}: {note.text}"))
    return notes


def incomparable(pairs: Pairs) -> tuple[BoolArray, tuple[str, ...]]:
    """Find questions whose text, reference or label version differs between the arms.

    Parameters
    ----------
    pairs : Pairs
        Both arms.

    Returns
    -------
    differs : ndarray of bool, shape (n_questions,)
        True where both arms have a text and the texts differ, white space and
        Unicode composition aside.
    columns : tuple of str
        Columns in which some question differs.
    """
    n_questions = pairs.question_id.size
    differs = np.zeros(n_questions, dtype=np.bool_)
    columns = []
    for column in _COMPARED_TEXTS:
        if column in pairs.baseline.texts and column in pairs.variant.texts:
            found = _differing_texts(pairs, column)
            differs |= found
            if found.any():
                columns.append(column)
    return differs, tuple(columns)


def identity_notes(pairs: Pairs) -> list[Note]:
    """Note arms, or trials of one arm, that hold the very same scores.

    Parameters
    ----------
    pairs : Pairs
        Both arms.

    Returns
    -------
    list of Note
        ``identical-arms`` and ``identical-trials``.
    """
    notes = []
    b, v = pairs.baseline, pairs.variant
    if _same_rows(b, v):
        text = (
            "Both arms hold the same scores in every row; probably the same results "
            "were given twice."
        )
        notes.append(Note("identical-arms", text))
    for name, arm in (("baseline", b), ("variant", v)):
        twins = _identical_trials(pairs, name, arm)
        if twins:
            text = f"{name}: trials {twins} have the same score on every question."
            notes.append(Note("identical-trials", text))
    return notes


def trial_notes(pairs: Pairs, names: Sequence[str]) -> list[Note]:
    """Note unequal numbers of trials, and questions that were run more often.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    names : sequence of str
        Names of the baseline and of the variant.

    Returns
    -------
    list of Note
        ``unequal-trials`` and ``selective-rerun``.
    """
    notes = []
    n_questions = pairs.question_id.size
    ranges = []
    for name, arm in zip(names, (pairs.baseline, pairs.variant), strict=True):
        counts = np.bincount(arm.question, minlength=n_questions)[pairs.paired]
        ranges.append((int(counts.min(initial=10**9)), int(counts.max(initial=0))))
        sizes, shares = np.unique(counts, return_counts=True)
        if sizes.size > 1:
            usual = int(sizes[np.argmax(shares)])
            more = int(np.count_nonzero(counts > usual))
            if more:
                text = (
                    f"{name}: {more} of {counts.size} questions have more than "
                    f"{usual} trials (up to {sizes[-1]}); selective re-runs bias a "
                    "mean over rows, so trials are averaged per question."
                )
                notes.append(Note("selective-rerun", text))
    (b_low, b_high), (v_low, v_high) = ranges
    if len({b_low, b_high, v_low, v_high}) > 1 and n_questions:
        text = (
            f"{names[0]} has {_span(b_low, b_high)} per question, {names[1]} "
            f"{_span(v_low, v_high)}."
        )
        notes.insert(0, Note("unequal-trials", text))
    return notes


def setting_notes(
    changes: Sequence[SettingChange],
    settings: tuple[Mapping[str, Any], Mapping[str, Any]],
    names: Sequence[str],
) -> list[Note]:
    """Note unknown settings, several changes at once, and a judge that changed.

    Parameters
    ----------
    changes : sequence of SettingChange
        Settings that differ.
    settings : tuple of mapping
        Recorded settings of each arm.
    names : sequence of str
        Names of the baseline and of the variant.

    Returns
    -------
    list of Note
        ``settings-unknown``, ``more-than-one-change`` and ``judge-changed``.
    """
    notes = []
    silent = [name for name, known in zip(names, settings, strict=True) if not known]
    if silent:
        text = (
            f"No settings are recorded for {' and '.join(silent)}; whether only one "
            "thing changed cannot be checked."
        )
        notes.append(Note("settings-unknown", text))
    else:
        notes += _one_sided(settings, names)
    if len(changes) > 1 and not silent:
        shown = ", ".join(change.setting for change in changes[: 2 * _SHOWN])
        more = ", ..." if len(changes) > 2 * _SHOWN else ""
        text = f"{len(changes)} settings differ between the arms: {shown}{more}."
        notes.append(Note("more-than-one-change", text))
    judges = [
        f"{change.setting} ({change.baseline} to {change.variant})"
        for change in changes
        if not _JUDGE_WORDS.isdisjoint(name_words(change.setting)) and not silent
    ]
    if judges:
        text = (
            f"The judge or scorer changed with the system: {', '.join(judges)}; its "
            "change and that of the system cannot be told apart."
        )
        notes.append(Note("judge-changed", text))
    return notes


def _one_sided(
    settings: tuple[Mapping[str, Any], Mapping[str, Any]], names: Sequence[str]
) -> list[Note]:
    """Note settings that one arm records and the other does not."""
    parts = []
    for own, other, name in zip(settings, settings[::-1], names, strict=True):
        alone = sorted(own.keys() - other.keys())
        if alone:
            more = ", ..." if len(alone) > 2 * _SHOWN else ""
            parts.append(f"{', '.join(alone[: 2 * _SHOWN])}{more} ({name})")
    text = (
        f"Settings recorded in one arm alone: {'; '.join(parts)}. Whether they differ "
        "is not known."
    )
    return [Note("settings-unknown", text)] if parts else []


def label_notes(pairs: Pairs, declared: Iterable[str | None]) -> list[Note]:
    """Note undeclared columns that repeat like document ids, and repeated questions.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    declared : iterable of str or None
        Columns that have a declared role.

    Returns
    -------
    list of Note
        ``possible-cluster`` (only when no cluster is declared) and
        ``repeated-text``.
    """
    notes = []
    likely = possible_sources(pairs, declared) if pairs.clusters is None else []
    if likely:
        told = [
            f"{source.column} ({source.n_values} values over {source.n_labelled} "
            "questions)"
            for source in likely[:_SHOWN]
        ]
        text = (
            f"Questions may share a source: {', '.join(told)}. If so, "
            "declare it with --cluster, or the intervals come out too narrow."
        )
        notes.append(Note("possible-cluster", text))
    repeated = []
    for column in pairs.labels.keys() & set(QUESTION_TEXTS):
        n_values, n_labelled = label_counts(pairs, column)
        if n_values < n_labelled:
            repeated.append(f"{column} ({n_labelled - n_values})")
    if repeated:
        text = (
            f"The same question text stands under several ids: "
            f"{', '.join(sorted(repeated))} more ids than texts."
        )
        notes.append(Note("repeated-text", text))
    return notes


def mismatched_scales(pairs: Pairs, metric: str) -> str | None:
    """Say whether a metric seems a fraction in one arm and a percentage in the other.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    metric : str
        A higher-is-better metric.

    Returns
    -------
    str or None
        The sentence of the note: fractional values all in [0, 1] in one arm, and in
        the other all in [0, 100] with a median above 1.
    """
    spans = []
    for arm in ("baseline", "variant"):
        means = question_means(pairs, arm, metric)[pairs.paired]
        means = means[~np.isnan(means)]
        if means.size == 0:
            return None
        spans.append(means)
    for small, large in ((spans[0], spans[1]), (spans[1], spans[0])):
        inside = small.min() >= 0 and small.max() <= 1
        if not inside or large.max() <= 1:
            continue
        fractional = np.any((small > 0) & (small < 1))
        wide = large.min() >= 0 and large.max() <= 100 and np.median(large) > 1
        if fractional and wide:
            told = [f"from {span.min():g} to {span.max():g}" for span in spans]
            return (
                f"{metric} runs {told[0]} in the baseline and {told[1]} in the "
                "variant: a fraction against a percentage? Rescale one arm, or declare "
                "the range."
            )
    return None


def listed(items: Sequence[Any]) -> str:
    """First few items as text, with the number of the others.

    Parameters
    ----------
    items : sequence
        Ids or names.

    Returns
    -------
    str

    Examples
    --------
    >>> listed(["q1", "q2"]), listed(range(9))
    ('q1, q2', '0, 1, 2, 3, 4 and 4 more')
    """
    shown = ", ".join(str(item) for item in items[:_SHOWN])
    more = len(items) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _span(low: int, high: int) -> str:
    if low == high:
        return f"{low} trial{'s' if low != 1 else ''}"
    return f"{low} to {high} trials"


def _differing_texts(pairs: Pairs, column: str) -> BoolArray:
    n_questions = pairs.question_id.size
    texts: list[TextArray] = [
        first_texts(arm.question, arm.texts[column], n_questions)
        for arm in (pairs.baseline, pairs.variant)
    ]
    differs: BoolArray = np.not_equal(texts[0], texts[1]).astype(np.bool_)
    differs &= texts[0].astype(np.bool_) & texts[1].astype(np.bool_)
    for question in np.flatnonzero(differs).tolist():
        differs[question] = _plain(texts[0][question]) != _plain(texts[1][question])
    return differs


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _same_rows(first: ArmTable, second: ArmTable) -> bool:
    if first.metrics.keys() != second.metrics.keys() or not first.metrics:
        return False
    if first.question.size != second.question.size:
        return False
    return (
        bool(np.array_equal(first.question, second.question))
        and bool(np.array_equal(first.trial, second.trial))
        and all(
            np.array_equal(values, second.metrics[name], equal_nan=True)
            for name, values in first.metrics.items()
        )
    )


def _identical_trials(pairs: Pairs, name: str, arm: ArmTable) -> str:
    """Labels of the trials that agree with an earlier one in every score."""
    if len(arm.trial_labels) < 2 or pairs.question_id.size < 2:
        return ""
    tables = [trial_table(pairs, name, metric) for metric in arm.metrics]
    scored = [table for table in tables if not np.isnan(table).all()]
    if not scored:
        return ""
    seen: dict[bytes, list[str]] = {}
    for trial, label in enumerate(arm.trial_labels):
        columns: list[FloatArray] = [table[:, trial] + 0.0 for table in scored]
        content = np.concatenate(columns)
        content[np.isnan(content)] = np.nan
        seen.setdefault(content.tobytes(), []).append(label)
    twins = [" and ".join(labels) for labels in seen.values() if len(labels) > 1]
    return "; ".join(twins)
