"""Human labels against the judge: agreement, favour for an arm, the corrected delta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onechange.delta import Delta
from onechange.errors import InputError, MethodError
from onechange.judge.labels import ARMS, HumanLabel
from onechange.judge.scores import LabelledScores
from onechange.stats.agreement import Agreement, agreement_table, cohen_kappa
from onechange.stats.estimate import Interval, Note
from onechange.stats.ppi import Corrected, corrected_mean

__all__ = [
    "MIN_LABELLED",
    "ArmAgreement",
    "JudgeAudit",
    "corrected_delta",
    "judge_audit",
]

FloatArray = NDArray[np.float64]

MIN_LABELLED = 30  # labelled pairs below which the delta is shown without a status
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
    agreement : Agreement or None
        Kappa; None when the values are too many to be labels.
    human, judge : float or None
        Mean label and mean judge score of these questions.
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
        Labels of questions without a judge score.
    baseline, variant : ArmAgreement
        Agreement per arm.
    favour : float or None
        Bias in the variant minus bias in the baseline: above 0 the judge favours the
        variant by that much.
    favour_interval : Interval or None
        Of the favour.
    uncorrected : float or None
        Delta by the judge alone.
    human_only : Corrected or None
        Delta by the labelled questions alone.
    corrected : Corrected or None
        Delta by prediction-powered inference; None under two labelled pairs.
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
    confidence_level: float = 0.95,
) -> JudgeAudit:
    """Compare judge scores with human labels, and correct the paired delta.

    Parameters
    ----------
    question_id : sequence of str, length n_questions
        Questions of both arms.
    baseline, variant : ndarray of float, shape (n_questions,)
        Judge scores, trials averaged; NaN is unscored.
    labels : sequence of HumanLabel
        A random sample of the questions, labelled in both arms on the judge's scale;
        several labels of a question and arm are averaged. With weights, each says
        how many questions its question stands for.
    metric : str
        Name of the judged metric.
    direction : {"higher", "lower"}
        Which direction is better.
    score_range : tuple of float, optional
        Declared (lowest, highest) score; a label outside is an error.
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
    Kappa is shown for up to ten distinct values. The corrected delta is PPI++ with
    power tuning and a guard (`onechange.stats.ppi.corrected_mean`).
    """
    if not len(question_id) == len(baseline) == len(variant):
        raise MethodError("question_id, baseline and variant must have one length")
    scores = np.column_stack([baseline, variant]).astype(np.float64)
    human, weights, n_unused = _label_table(question_id, labels, score_range)
    if not np.isfinite(human).any():
        raise InputError(
            f"none of the {len(labels)} labels belongs to a question of both arms; "
            "check question_id"
        )
    width = None if score_range is None else score_range[1] - score_range[0]
    arms = [
        _arm(arm, human[:, i], scores[:, i], weights, width, confidence_level)
        for i, arm in enumerate(ARMS)
    ]
    sample = LabelledScores(human, scores, weights)
    one_arm = sample.paired & (np.isfinite(human).sum(axis=1) == 1)
    y, f, _ = sample.parts(human[:, 1] - human[:, 0], scores[:, 1] - scores[:, 0])
    span = None if width is None else 2 * width
    n = int(sample.labelled.sum())
    favour = _mean(f - y, sample.weight, span, confidence_level)
    corrected = None
    if n >= 2:
        corrected, *own = sample.corrected(width, span, confidence_level)
        arms = [
            replace(arm, corrected=mean) for arm, mean in zip(arms, own, strict=True)
        ]
    judged = (scores[:, 1] - scores[:, 0])[sample.paired]
    return JudgeAudit(
        metric=metric,
        direction=direction,
        n_pairs=int(sample.paired.sum()),
        n_labelled=n,
        n_one_arm=int(one_arm.sum()),
        n_unused=n_unused,
        baseline=arms[0],
        variant=arms[1],
        favour=None if favour is None else favour.estimate,
        favour_interval=None if favour is None else favour.interval,
        uncorrected=float(judged.mean()) if judged.size else None,
        human_only=_mean(y, sample.weight, span, confidence_level),
        corrected=corrected,
        notes=_notes(metric, n, favour),
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
        Its `statistic` is ``corrected``. With fewer than 30 labelled pairs it has no
        interval, so that a status made from it is inconclusive.
    """
    found = audit.corrected
    baseline, variant = audit.baseline.corrected, audit.variant.corrected
    enough = audit.n_labelled >= MIN_LABELLED
    return Delta(
        metric=audit.metric,
        direction=audit.direction,
        n_pairs=audit.n_pairs,
        statistic="corrected",
        variant_name=variant_name,
        baseline=None if baseline is None else baseline.estimate,
        variant=None if variant is None else variant.estimate,
        baseline_interval=baseline.interval if baseline and enough else None,
        variant_interval=variant.interval if variant and enough else None,
        delta=None if found is None else found.estimate,
        standard_error=None if found is None else found.standard_error,
        interval=found.interval if found is not None and enough else None,
        notes=audit.notes,
    )


def _label_table(
    question_id: Sequence[str],
    labels: Sequence[HumanLabel],
    score_range: tuple[float, float] | None,
) -> tuple[FloatArray, FloatArray | None, int]:
    """Mean label by question and arm, sampling weight by question, unused labels."""
    row = {question: i for i, question in enumerate(question_id)}
    sums, counts = np.zeros((2, len(row), len(ARMS)))
    weights: dict[int, float] = {}
    n_unused = 0
    for label in labels:
        if score_range and not score_range[0] <= label.label <= score_range[1]:
            raise InputError(
                f"label of question {label.question_id!r}, {label.arm}: "
                f"{label.label!r} is outside [{score_range[0]:g}, {score_range[1]:g}]"
            )
        at = row.get(label.question_id)
        if at is None:
            n_unused += 1
            continue
        sums[at, ARMS.index(label.arm)] += label.label
        counts[at, ARMS.index(label.arm)] += 1
        _keep_weight(weights, at, label)
    human = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    labelled = {i for i in range(len(row)) if counts[i].any()}
    if weights and set(weights) != labelled:
        without = question_id[min(labelled - set(weights))]
        raise InputError(
            f"label of question {without!r} has no weight though others have; give "
            "a weight to all labels or to none"
        )
    table = np.full(len(row), np.nan)
    for at, weight in weights.items():
        table[at] = weight
    return human, table if weights else None, n_unused


def _keep_weight(weights: dict[int, float], at: int, label: HumanLabel) -> None:
    if label.weight is None:
        return
    if weights.setdefault(at, label.weight) != label.weight:
        raise InputError(
            f"question {label.question_id!r} has weights {weights[at]:g} and "
            f"{label.weight:g}; a question has one weight"
        )


def _arm(
    arm: str,
    human: FloatArray,
    judge: FloatArray,
    weights: FloatArray | None,
    width: float | None,
    confidence_level: float,
) -> ArmAgreement:
    use = np.isfinite(human) & np.isfinite(judge)
    n = int(use.sum())
    y, f = human[use], judge[use]
    w = None if weights is None else weights[use]
    bias = _mean(f - y, w, width, confidence_level)
    return ArmAgreement(
        arm=arm,
        n_labelled=n,
        agreement=_agreement(y, f, w, confidence_level),
        human=float(np.average(y, weights=w)) if n else None,
        judge=float(np.average(f, weights=w)) if n else None,
        bias=None if bias is None else bias.estimate,
        bias_interval=None if bias is None else bias.interval,
    )


def _agreement(
    human: FloatArray,
    judge: FloatArray,
    weights: FloatArray | None,
    confidence_level: float,
) -> Agreement | None:
    n_values = np.unique(np.concatenate([human, judge])).size
    if not human.size or n_values > _MOST_LABELS:
        return None
    _, table = agreement_table(human.tolist(), judge.tolist(), weights)
    n = human.size
    if weights is not None:  # Kish's effective number of questions
        n = max(1, round(float(weights.sum() ** 2 / (weights**2).sum())))
    return cohen_kappa(table, n=n, confidence_level=confidence_level)


def _mean(
    values: FloatArray,
    weights: FloatArray | None,
    width: float | None,
    confidence_level: float,
) -> Corrected | None:
    """Weighted mean of labelled questions with its guarded interval."""
    if values.size < 2:
        return None
    return corrected_mean(
        values,
        np.zeros(values.size),
        np.zeros(0),
        weight=0.0,
        sampling_weights=weights,
        width=width,
        confidence_level=confidence_level,
    )


def _notes(metric: str, n: int, favour: Corrected | None) -> tuple[Note, ...]:
    notes = []
    if n < MIN_LABELLED:
        text = (
            f"{metric}: {n} pairs are labelled by people in both arms; a status from "
            f"the corrected delta needs {MIN_LABELLED}."
        )
        notes.append(Note("too-few-questions", text))
    if favour is not None:
        interval = favour.interval
        if interval.low > 0 or interval.high < 0:
            arm = "variant" if favour.estimate > 0 else "baseline"
            text = (
                f"{metric}: against human labels the judge favours the {arm} by "
                f"{abs(favour.estimate):.4f}; use the corrected delta."
            )
            notes.append(Note("judge-favours-arm", text))
    return tuple(notes)
