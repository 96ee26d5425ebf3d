"""A metric with a file of human labels -> its judge audit and corrected delta."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from onechange.deltas import Delta
from onechange.errors import InputError
from onechange.judge.audit import JudgeAudit, corrected_delta, judge_audit
from onechange.judge.labels import ARMS, HumanLabel, read_labels
from onechange.pairs import Pairs, trial_table
from onechange.results import SourceFile
from onechange.stats.estimate import Interval
from onechange.stats.interval import clip
from onechange.stats.ppi import Corrected
from onechange.stats.runs import RunVariance, runs_note
from onechange.stats.student import t_quantile

__all__ = ["LabelledMetric", "Labels", "audit_metric", "load_labels"]


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Human labels of one variant's comparison, and the file that holds them."""

    labels: tuple[HumanLabel, ...]
    file: SourceFile


@dataclass(frozen=True, slots=True, eq=False)
class LabelledMetric:
    """A judged metric of one variant, audited against human labels.

    Parameters
    ----------
    variant_name : str
        Name of the variant.
    file : SourceFile
        The labels.
    audit : JudgeAudit
        Agreement, favour, corrections.
    corrected : Delta
        The corrected delta that rules apply to; its `statistic` is ``corrected``.
    """

    variant_name: str
    file: SourceFile
    audit: JudgeAudit
    corrected: Delta


def load_labels(
    path: str | Path,
    *,
    baseline_name: str,
    variant_name: str,
    other_names: Sequence[str] = (),
) -> Labels:
    """Read the labels that are about the baseline and one variant.

    Parameters
    ----------
    path : str or Path
        As for `read_labels`.
    baseline_name, variant_name : str
        Names of the arms in the file, next to ``baseline`` and ``variant``.
    other_names : sequence of str
        Further variants of the comparison; their labels are passed over.

    Returns
    -------
    Labels

    Raises
    ------
    InputError
        If the file cannot be read or is not valid.
    """
    names: dict[str, str | None] = dict.fromkeys(other_names)
    names |= {baseline_name: ARMS[0], variant_name: ARMS[1]}
    labels = read_labels(path, arm_names=names)
    try:
        digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    return Labels(labels, SourceFile(Path(path).name, digest))


def audit_metric(
    pairs: Pairs,
    metric: str,
    labels: Labels,
    *,
    direction: str = "higher",
    score_range: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
    runs: RunVariance | None = None,
    arm_runs: RunVariance | None = None,
    variant_name: str = "variant",
) -> LabelledMetric:
    """Audit one judged metric of a comparison.

    Parameters
    ----------
    pairs : Pairs
        Both arms, with the trials that labels name and the clusters.
    metric : str
        Name of the judged metric.
    labels : Labels
        Human labels.
    direction : {"higher", "lower"}
        Which direction is better.
    score_range : tuple of float, optional
        Declared (lowest, highest) score.
    confidence_level : float
        Two-sided level.
    runs, arm_runs : RunVariance, optional
        How far whole runs differ, for the delta and for an arm; where they do, the
        corrected intervals have their variance as well.
    variant_name : str
        Name of the variant.

    Returns
    -------
    LabelledMetric

    Raises
    ------
    InputError
        If an arm does not have the metric, or the labels do not fit.

    Notes
    -----
    Where runs differ their variance of the delta, Σ_a σ²_run Σ_k w²_ak, is added to
    that of the corrected estimate, and Student's t gets the smaller of both degrees
    of freedom, which errs on the wide side.
    """
    for name, arm in zip(ARMS, (pairs.baseline, pairs.variant), strict=True):
        if metric not in arm.metrics:
            raise InputError(
                f"the {name} has no metric {metric}; "
                f"found: {', '.join(sorted(arm.metrics)) or 'none'}"
            )
    audit = judge_audit(
        pairs.question_id[pairs.paired].tolist(),
        trial_table(pairs, "baseline", metric)[pairs.paired],
        trial_table(pairs, "variant", metric)[pairs.paired],
        labels.labels,
        trials=(pairs.baseline.trial_labels, pairs.variant.trial_labels),
        clusters=None if pairs.clusters is None else pairs.clusters[pairs.paired],
        metric=metric,
        direction=direction,
        score_range=score_range,
        confidence_level=confidence_level,
    )
    delta = corrected_delta(audit, variant_name=variant_name)
    if runs is not None and runs.differ:
        delta = _with_runs(delta, audit, runs, arm_runs)
    return LabelledMetric(variant_name, labels.file, audit, delta)


def _with_runs(
    delta: Delta, audit: JudgeAudit, runs: RunVariance, arm_runs: RunVariance | None
) -> Delta:
    """Add what whole runs vary by to the intervals of a corrected delta."""
    added = max(0.0, runs.variance) * sum(runs.trial_weights)
    reach = None
    if audit.scale is not None:
        reach = (audit.scale[0] - audit.scale[1], audit.scale[1] - audit.scale[0])
    wider = replace(
        delta,
        interval=_widened(delta.interval, audit.corrected, added, runs.trial.df, reach),
        notes=(*delta.notes, runs_note(runs)),
    )
    if delta.standard_error is not None:
        error = math.sqrt(delta.standard_error**2 + added)
        wider = replace(wider, standard_error=error)
    if arm_runs is None:
        return replace(wider, baseline_interval=None, variant_interval=None)
    arms = [
        _widened(
            interval,
            found,
            max(0.0, arm_runs.variance) * weight,
            arm_runs.trial.df,
            audit.scale,
        )
        for interval, found, weight in zip(
            (delta.baseline_interval, delta.variant_interval),
            (audit.baseline.corrected, audit.variant.corrected),
            arm_runs.trial_weights,
            strict=True,
        )
    ]
    return replace(wider, baseline_interval=arms[0], variant_interval=arms[1])


def _widened(
    interval: Interval | None,
    found: Corrected | None,
    added: float,
    df: float,
    reach: tuple[float, float] | None,
) -> Interval | None:
    if interval is None or found is None:
        return None
    tail = (1 - interval.confidence_level) / 2
    error = math.sqrt(found.standard_error**2 + added)
    half = t_quantile(tail, min(df, found.df)) * error
    wider = replace(
        interval,
        low=found.estimate - half,
        high=found.estimate + half,
        method=f"{interval.method}+runs",
        degenerate=half == 0,
    )
    return wider if reach is None else clip(wider, *reach)
