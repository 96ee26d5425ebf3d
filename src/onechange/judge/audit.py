"""Human labels against the judge: agreement, favour for an arm, the corrected delta."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onechange.delta import Delta
from onechange.errors import InputError, MethodError
from onechange.judge.answers import (
    LabelledArm,
    label_arm,
    label_weights,
    scale_of,
    stated_scale,
)
from onechange.judge.labels import ARMS, HumanLabel
from onechange.judge.notes import MIN_LABELLED, audit_notes, shown_interval
from onechange.judge.scores import LabelledScores
from onechange.stats.agreement import (
    Agreement,
    agreement_table,
    clustered_kappa,
    cohen_kappa,
)
from onechange.stats.estimate import Interval, Note
from onechange.stats.ppi import Corrected

__all__ = [
    "MIN_LABELLED",
    "ArmAgreement",
    "JudgeAudit",
    "corrected_delta",
    "judge_audit",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_MOST_LABELS = 10  # distinct values up to which kappa makes sense


@dataclass(frozen=True, slots=True)
class ArmAgreement:
    """How the judge agrees with people on the labelled questions of one arm.

    Parameters
    ----------
    arm : str
        ``baseline`` or ``variant``.
    n_labelled : int
        Questions of the arm with a label and a judge score.
    n_answers : int
        Their answers with a label: a question has one a trial.
    agreement : Agreement or None
        Kappa over the labels; None when the values are too many to be labels.
    human, judge : float or None
        Mean label and mean judge score of these questions, over the same answers.
    bias : float or None
        Judge minus human.
    bias_interval : Interval or None
        Of the bias.
    corrected : Corrected or None
        Mean of the arm by the same prediction-powered estimate as the delta: that of
        the variant minus that of the baseline is the corrected delta.
    """

    arm: str
    n_labelled: int
    n_answers: int
    agreement: Agreement | None
    human: float | None
    judge: float | None
    bias: float | None
    bias_interval: Interval | None
    corrected: Corrected | None = None


@dataclass(frozen=True, slots=True)
class JudgeAudit:
    """The judge's delta, checked and corrected by human labels.

    Parameters
    ----------
    metric : str
        Name of the judged metric.
    direction : str
        ``higher`` or ``lower`` is better.
    n_pairs : int
        Questions scored by the judge in both arms.
    n_labelled : int
        Those with a human label in both arms.
    n_one_arm : int
        Questions labelled in one arm only: they count for that arm's agreement.
    n_unused : int
        Labels of answers without a judge score.
    baseline, variant : ArmAgreement
        Agreement per arm.
    favour : float or None
        Bias in the variant minus bias in the baseline: above 0 the judge favours the
        variant by that much.
    favour_interval : Interval or None
        Of the favour.
    uncorrected : float or None
        Delta by the judge alone, over all pairs.
    uncorrected_interval : Interval or None
        Of that delta: what it says of the judge, not of the truth.
    human_only : Corrected or None
        Delta by the labelled questions alone.
    corrected : Corrected or None
        Delta by prediction-powered inference; None under two labelled pairs.
    n_effective : float or None
        Equally weighted pairs that tell as much as the labelled ones with their
        weights: `n_labelled` without weights.
    scale : tuple of float, or None
        Lowest and highest score; intervals end there.
    notes : tuple of Note
        Caveats.
    """

    metric: str
    direction: str
    n_pairs: int
    n_labelled: int
    n_one_arm: int
    n_unused: int
    baseline: ArmAgreement
    variant: ArmAgreement
    favour: float | None
    favour_interval: Interval | None
    uncorrected: float | None
    human_only: Corrected | None
    corrected: Corrected | None
    uncorrected_interval: Interval | None = None
    n_effective: float | None = None
    scale: tuple[float, float] | None = None
    notes: tuple[Note, ...] = ()


def judge_audit(
    question_id: Sequence[str],
    baseline: FloatArray,
    variant: FloatArray,
    labels: Sequence[HumanLabel],
    *,
    metric: str = "correct",
    direction: str = "higher",
    score_range: tuple[float, float] | None = None,
    trials: tuple[Sequence[str], Sequence[str]] | None = None,
    clusters: IntArray | None = None,
    confidence_level: float = 0.95,
) -> JudgeAudit:
    """Compare judge scores with human labels, and correct the paired delta.

    Parameters
    ----------
    question_id : sequence of str, length n_questions
        Questions of both arms.
    baseline, variant : ndarray of float, shape (n_questions,) or (n_questions, K)
        Judge scores, with one column a trial; NaN is unscored.
    labels : sequence of HumanLabel
        A random sample of the questions, labelled in both arms on the judge's scale;
        a label belongs to the answer of its trial. Several labels of one answer are
        averaged. With weights, each says how many questions its question stands for.
    metric : str
        Name of the judged metric.
    direction : {"higher", "lower"}
        Which direction is better.
    score_range : tuple of float, optional
        Declared (lowest, highest) score; by default the scale that the judge's scores
        show (0 to 1, or their lowest and highest). A label outside is an error.
    trials : tuple of (sequence of str), optional
        Labels of the trials of the baseline and of the variant.
    clusters : ndarray of int, shape (n_questions,), optional
        Cluster of each question; questions of one are not independent.
    confidence_level : float
        Two-sided level.

    Returns
    -------
    JudgeAudit

    Raises
    ------
    InputError
        If no label belongs to a question, a label is outside the range, or only some
        labels have a weight.
    MethodError
        If the shapes do not fit.

    Notes
    -----
    Agreement counts labels, each beside the judge's score of the same answer; their
    questions (or clusters) are the independent units of its interval. Kappa is shown
    for up to ten distinct values. Means and deltas count questions: the label of a
    question is the mean over its labelled answers, its judge score that over the same
    answers. The corrected delta is PPI++ with power tuning and a guard
    (`onechange.stats.ppi.corrected_mean`).
    """
    if not len(question_id) == len(baseline) == len(variant):
        raise MethodError("question_id, baseline and variant must have one length")
    tables = [_as_table(scores) for scores in (baseline, variant)]
    row = {question: i for i, question in enumerate(question_id)}
    shown = scale_of(np.concatenate([table.ravel() for table in tables]))
    scale = stated_scale(labels, score_range, shown, metric)
    sides, sample = _matched(row, tables, labels, trials, clusters)
    sample = replace(sample, scale=scale)
    arms = [
        _arm(arm, sides[i], sample, i, confidence_level) for i, arm in enumerate(ARMS)
    ]
    corrected = None
    if sample.n_units >= 2:
        corrected, *own = sample.corrected(confidence_level)
        arms = [
            replace(arm, corrected=mean) for arm, mean in zip(arms, own, strict=True)
        ]
    favour = sample.favour(confidence_level)
    one_arm = sample.paired & (np.isfinite(sample.human).sum(axis=1) == 1)
    judged = sample.judge_delta(confidence_level)
    return JudgeAudit(
        metric=metric,
        direction=direction,
        n_pairs=int(sample.paired.sum()),
        n_labelled=int(sample.labelled.sum()),
        n_one_arm=int(one_arm.sum()),
        n_unused=sum(side.n_unused for side in sides),
        baseline=arms[0],
        variant=arms[1],
        favour=None if favour is None else favour.estimate,
        favour_interval=shown_interval(favour),
        uncorrected=None if judged is None else judged.estimate,
        uncorrected_interval=shown_interval(judged),
        human_only=sample.human_delta(confidence_level),
        corrected=corrected,
        n_effective=sample.n_effective,
        scale=scale,
        notes=audit_notes(metric, sample, favour, sides),
    )


def corrected_delta(audit: JudgeAudit, *, variant_name: str = "variant") -> Delta:
    """Return the corrected delta in the form that decisions are made from.

    Parameters
    ----------
    audit : JudgeAudit
    variant_name : str
        Name of the variant arm.

    Returns
    -------
    Delta
        Its `statistic` is ``corrected``. With fewer than 30 labelled pairs, or five
        labelled clusters, it has no interval, so that a status made from it is
        inconclusive; weights that differ make both count as fewer.
    """
    found = audit.corrected
    baseline, variant = audit.baseline.corrected, audit.variant.corrected
    codes = {note.code for note in audit.notes}
    enough = codes.isdisjoint(("too-few-questions", "few-clusters"))
    return Delta(
        metric=audit.metric,
        direction=audit.direction,
        n_pairs=audit.n_pairs,
        statistic="corrected",
        variant_name=variant_name,
        baseline=None if baseline is None else baseline.estimate,
        variant=None if variant is None else variant.estimate,
        baseline_interval=shown_interval(baseline) if enough else None,
        variant_interval=shown_interval(variant) if enough else None,
        delta=None if found is None else found.estimate,
        standard_error=None if found is None else found.standard_error,
        interval=shown_interval(found) if enough else None,
        notes=audit.notes,
    )


def _matched(
    row: Mapping[str, int],
    tables: Sequence[FloatArray],
    labels: Sequence[HumanLabel],
    trials: tuple[Sequence[str], Sequence[str]] | None,
    clusters: IntArray | None,
) -> tuple[list[LabelledArm], LabelledScores]:
    """Put the labels of each arm beside the judge's scores of the same answers."""
    sides = [
        label_arm([x for x in labels if x.arm == arm], row, table, names)
        for arm, table, names in zip(ARMS, tables, trials or (None, None), strict=True)
    ]
    if not any(side.n_answers for side in sides):
        raise InputError(
            f"none of the {len(labels)} labels belongs to "
            f"{_what_labels_miss(row, labels, trials)}"
        )
    return sides, LabelledScores(
        human=np.column_stack([side.human for side in sides]),
        judge=np.column_stack([side.judge for side in sides]),
        scores=np.column_stack([_question_means(table) for table in tables]),
        weights=label_weights(labels, row),
        clusters=clusters,
    )


def _what_labels_miss(
    row: Mapping[str, int],
    labels: Sequence[HumanLabel],
    trials: tuple[Sequence[str], Sequence[str]] | None,
) -> str:
    known = [label for label in labels if label.question_id in row]
    if not known:
        return "a question of both arms; check question_id"
    names = {*(trials[0] if trials else ()), *(trials[1] if trials else ())} - {""}
    asked = {label.trial for label in known if label.trial is not None}
    if names and asked and not asked & names:
        return (
            f"a trial of the results: they name {', '.join(sorted(asked))}, the "
            f"results {', '.join(sorted(names))}; correct the column trial, or leave "
            "it out to label a question as a whole"
        )
    return "an answer that the judge scored"


def _as_table(scores: FloatArray) -> FloatArray:
    table = np.asarray(scores, dtype=np.float64)
    return table[:, None] if table.ndim == 1 else table


def _question_means(table: FloatArray) -> FloatArray:
    known = np.isfinite(table)
    counts = known.sum(axis=1)
    totals = np.where(known, table, 0.0).sum(axis=1)
    means = np.full(len(table), np.nan)
    np.divide(totals, counts, out=means, where=counts > 0)
    return means


def _arm(
    arm: str,
    side: LabelledArm,
    sample: LabelledScores,
    index: int,
    confidence_level: float,
) -> ArmAgreement:
    use = np.isfinite(side.human)
    n = int(use.sum())
    w = None if sample.weights is None else sample.weights[use]
    bias = sample.bias(index, confidence_level)
    return ArmAgreement(
        arm=arm,
        n_labelled=n,
        n_answers=side.n_answers,
        agreement=_agreement(side, sample, confidence_level),
        human=float(np.average(side.human[use], weights=w)) if n else None,
        judge=float(np.average(side.judge[use], weights=w)) if n else None,
        bias=None if bias is None else bias.estimate,
        bias_interval=shown_interval(bias),
    )


def _agreement(
    side: LabelledArm, sample: LabelledScores, confidence_level: float
) -> Agreement | None:
    """Agreement label by label; questions or clusters are the units."""
    n_values = np.unique(np.concatenate([side.label, side.score])).size
    if not side.label.size or n_values > _MOST_LABELS:
        return None
    human, judge = side.label.tolist(), side.score.tolist()
    weights = None if sample.weights is None else sample.weights[side.question]
    units = side.question
    if sample.clusters is not None:
        units = sample.clusters[side.question]
    if np.unique(units).size < units.size:
        return clustered_kappa(
            human, judge, units, weights=weights, confidence_level=confidence_level
        )
    _, table = agreement_table(human, judge, weights)
    n = side.label.size
    if weights is not None:  # Kish's effective number of questions
        n = max(1, round(float(weights.sum() ** 2 / (weights**2).sum())))
    return cohen_kappa(table, n=n, confidence_level=confidence_level)
