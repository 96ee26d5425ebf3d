"""Caveats of a judge audit, and which of its intervals may be shown."""

from __future__ import annotations

from collections.abc import Sequence

from onechange.judge.answers import LabelledArm
from onechange.judge.scores import LabelledScores
from onechange.stats.estimate import Interval, Note
from onechange.stats.ppi import Corrected

__all__ = ["MIN_CLUSTERS", "MIN_LABELLED", "audit_notes", "shown_interval"]

MIN_LABELLED = 30  # labelled pairs below which the delta is shown without a status
MIN_CLUSTERS = 5  # labelled clusters below which the same holds


def shown_interval(found: Corrected | None) -> Interval | None:
    """Return the interval of an estimate; None when it has no width.

    Parameters
    ----------
    found : Corrected or None

    Returns
    -------
    Interval or None
    """
    if found is None or found.interval.degenerate:
        return None
    return found.interval


def audit_notes(
    metric: str,
    sample: LabelledScores,
    favour: Corrected | None,
    sides: Sequence[LabelledArm],
) -> tuple[Note, ...]:
    """Say what is in doubt about a judge audit.

    Parameters
    ----------
    metric : str
        Name of the judged metric.
    sample : LabelledScores
    favour : Corrected or None
        Bias in the variant minus that in the baseline.
    sides : sequence of LabelledArm

    Returns
    -------
    tuple of Note
    """
    notes = []
    n = int(sample.labelled.sum())
    if round(sample.n_effective) < MIN_LABELLED:
        text = (
            f"{metric}: {n} pairs are labelled by people in both arms"
            f"{_as_equals(n, sample.n_effective)}; a status from the corrected delta "
            f"needs {MIN_LABELLED}."
        )
        notes.append(Note("too-few-questions", text))
    units, effective = sample.n_units, sample.n_effective_units
    if sample.clusters is not None and round(effective) < MIN_CLUSTERS:
        text = (
            f"{metric}: the labelled pairs lie in {units} clusters"
            f"{_as_equals(units, effective)}; a status from the corrected delta needs "
            f"{MIN_CLUSTERS}."
        )
        notes.append(Note("few-clusters", text))
    interval = shown_interval(favour)
    if favour is not None and interval is None:
        text = (
            f"{metric}: labels and judge scores show one value throughout; declare the "
            f"range (--range {metric}=LOW,HIGH) for an interval."
        )
        notes.append(Note("equal-differences", text))
    if favour is not None and interval and (interval.low > 0 or interval.high < 0):
        arm = "variant" if favour.estimate > 0 else "baseline"
        text = (
            f"{metric}: against human labels the judge favours the {arm} by "
            f"{abs(favour.estimate):.4f}; use the corrected delta."
        )
        notes.append(Note("judge-favours-arm", text))
    n_differ = sum(side.n_differ for side in sides)
    if n_differ:
        text = (
            f"{metric}: {n_differ} answers have several labels that differ; each "
            "counts for the agreement, and their mean for the delta."
        )
        notes.append(Note("labels-differ", text))
    return tuple(notes)


def _as_equals(n: int, effective: float) -> str:
    """Say what weights leave of a number of pairs or clusters."""
    if n - effective < 0.05:
        return ""
    return f" and tell, with their weights, as much as {effective:.1f} of equal weight"
