"""What rows and labels say beside the deltas: where it fails, whom a judge favours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onechange.diagnosis import Diagnosis, diagnose
from onechange.judge import LabelledMetric, audit_metric, load_labels
from onechange.plan import Metric, Plan
from onechange.stats.estimate import Note
from onechange.values import VariantValues, asked_methods

__all__ = ["diagnoses", "labelled_metrics"]


def diagnoses(
    variants: Sequence[VariantValues], metrics: Sequence[Metric], plan: Plan
) -> tuple[Diagnosis, ...]:
    """Diagnose every variant whose rows carry what it takes.

    Parameters
    ----------
    variants : sequence of VariantValues
        Each variant with its pairs.
    metrics : sequence of Metric
        Resolved metrics.
    plan : Plan
        Level, resamples and seed.

    Returns
    -------
    tuple of Diagnosis
    """
    methods = asked_methods(plan)
    found = (
        diagnose(part.pairs, metrics, methods, variant_name=part.name)
        for part in variants
    )
    return tuple(diagnosis for diagnosis in found if diagnosis is not None)


def labelled_metrics(
    variants: Sequence[VariantValues],
    metrics: Sequence[Metric],
    plan: Plan,
    baseline_name: str,
) -> tuple[LabelledMetric, ...]:
    """Audit every metric for which the plan names human labels.

    Parameters
    ----------
    variants : sequence of VariantValues
        Each variant with its pairs.
    metrics : sequence of Metric
        Resolved metrics.
    plan : Plan
        The level; that of several variants is shared among them (Bonferroni).
    baseline_name : str
        Name of the baseline in the labels.

    Returns
    -------
    tuple of LabelledMetric
        Metric by metric, variant by variant.

    Raises
    ------
    InputError
        If a file of labels cannot be read or does not fit.
    """
    level = 1 - (1 - plan.analysis.confidence_level) / len(variants)
    names = [part.name for part in variants]
    found = []
    for metric in metrics:
        for part in variants if metric.labels is not None else ():
            labels = load_labels(
                str(metric.labels),
                baseline_name=baseline_name,
                variant_name=part.name,
                other_names=[name for name in names if name != part.name],
            )
            values = part.metrics[metric.name]
            audited = audit_metric(
                part.pairs,
                metric.name,
                labels,
                direction=metric.direction or "higher",
                score_range=metric.range,
                confidence_level=level,
                runs=values.runs,
                arm_runs=values.arm_runs,
                variant_name=part.name,
            )
            found.append(_with_note(audited))
    return tuple(found)


def _with_note(labelled: LabelledMetric) -> LabelledMetric:
    audit = labelled.audit
    text = (
        f"{audit.metric}: rules apply to the delta corrected by the human labels of "
        f"{audit.n_labelled} pairs ({labelled.file.name}), not to the judge's own."
    )
    note = Note("corrected-by-labels", text)
    corrected = replace(labelled.corrected, notes=(note, *labelled.corrected.notes))
    return replace(labelled, corrected=corrected)
