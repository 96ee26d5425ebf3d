"""What rows and labels say beside the deltas: where it fails, whom a judge favours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from onechange.diagnosis import Diagnosis, diagnose
from onechange.errors import InputError
from onechange.judge import LabelledMetric, audit_metric, load_labels
from onechange.pairs import Pairs
from onechange.plan import Metric, Plan
from onechange.plan.directions import infer_direction
from onechange.stats.estimate import Note
from onechange.values import VariantValues, asked_methods, variant_values

__all__ = ["audit_variant", "diagnoses", "labelled_metrics"]


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
        Level, resamples, seed and thresholds of the stages.

    Returns
    -------
    tuple of Diagnosis
    """
    methods = asked_methods(plan)
    found = (
        diagnose(
            part.pairs,
            metrics,
            methods,
            thresholds=plan.thresholds,
            variant_name=part.name,
        )
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


def audit_variant(
    pairs: Pairs,
    metric: str,
    plan: Plan,
    names: tuple[str, str],
    *,
    path: str | Path | None = None,
) -> LabelledMetric:
    """Audit one judged metric of two arms against a file of human labels.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    metric : str
        Name of the judged metric.
    plan : Plan
        Direction, range, level; and the labels, where no path is given.
    names : tuple of str
        Names of the baseline and of the variant in the labels.
    path : str or Path, optional
        File of labels.

    Returns
    -------
    LabelledMetric

    Raises
    ------
    InputError
        If no labels are given, or they cannot be read or do not fit.
    """
    declared = [one for one in plan.metrics if one.name == metric] or [Metric(metric)]
    source = path or declared[0].labels
    if source is None:
        raise InputError(
            f"no human labels of {metric}; pass --labels FILE, or draw a sheet to fill "
            "in with --draw 60 --out labels.csv."
        )
    values = variant_values(names[1], pairs, declared, plan).metrics[metric]
    return audit_metric(
        pairs,
        metric,
        load_labels(source, baseline_name=names[0], variant_name=names[1]),
        direction=declared[0].direction or infer_direction(metric),
        score_range=declared[0].range,
        confidence_level=plan.analysis.confidence_level,
        runs=values.runs,
        arm_runs=values.arm_runs,
        variant_name=names[1],
    )


def _with_note(labelled: LabelledMetric) -> LabelledMetric:
    audit = labelled.audit
    text = (
        f"{audit.metric}: rules apply to the delta corrected by the human labels of "
        f"{audit.n_labelled} pairs ({labelled.file.name}), not to the judge's own."
    )
    note = Note("corrected-by-labels", text)
    corrected = replace(labelled.corrected, notes=(note, *labelled.corrected.notes))
    return replace(labelled, corrected=corrected)
