"""`Audit`: the ledger of what was paired and what was left out; its counts add up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onechange.display import TableMixin
from onechange.pairs import ArmTable, Pairs, scored_rows
from onechange.plain_values import same_value
from onechange.results import ANSWERED, FAILED, UNSCORED
from onechange.stats.estimate import Note

__all__ = [
    "HIGH_MISSING_SHARE",
    "Audit",
    "MetricAudit",
    "SettingChange",
    "changed_settings",
    "metric_audit",
    "rows_by_status",
    "rows_left_out",
]

BoolArray = NDArray[np.bool_]
HIGH_MISSING_SHARE = 0.2  # above it a pass needs more than the pairs at hand


@dataclass(frozen=True, slots=True)
class MetricAudit:
    """Where the paired questions of one metric went; the counts add up.

    Every paired question is in exactly one field. `failed_*` wins over
    `unscored_*`: a question without a score whose rows include a failed one. A
    question without a score in both arms that failed in one is in that arm's field.
    """

    pairs: int
    unscored_baseline: int = 0
    unscored_variant: int = 0
    unscored_both: int = 0
    failed_baseline: int = 0
    failed_variant: int = 0
    failed_both: int = 0


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One setting that both arms record and that differs between them."""

    setting: str
    baseline: Any
    variant: Any


@dataclass(frozen=True, slots=True, repr=False)
class Audit(TableMixin):
    """The ledger: rows read, questions paired and left out, scores per metric.

    Prints as its table, in a notebook as well.

    Parameters
    ----------
    baseline_name, variant_name : str
        Names of the arms.
    rows_read : tuple of int
        Rows of the baseline and of the variant; so with all pairs of numbers here.
    rows_by_status : dict of str to tuple of int
        Rows ``answered``, ``unscored`` and ``failed``; they add up to `rows_read`.
        ``failed`` is left out when no arm records a status.
    rows_left_out : dict of str to tuple of int
        Rows of questions that are ``unmatched`` or ``not_comparable``; with
        `rows_paired` they add up to `rows_read`.
    trials : tuple of int
        Trial labels of each arm.
    questions : tuple of int
        Questions of each arm: paired, only in it, and not comparable.
    paired : int
        Questions in both arms that can be compared.
    only_baseline, only_variant, not_comparable : tuple of str
        Ids of the questions that were left out.
    metrics : dict of str to MetricAudit
        Where the paired questions of each metric went.
    settings_changed : tuple of SettingChange
        Recorded settings that differ.
    settings_recorded : tuple of bool
        Whether each arm records any setting.
    notes : tuple of Note
        Caveats of reading and pairing.
    rows_paired : tuple of int
        Rows of the paired questions.
    scale_mismatch : tuple of str
        Metrics that seem to stand on different scales in the arms.
    """

    baseline_name: str
    variant_name: str
    rows_read: tuple[int, int]
    rows_by_status: dict[str, tuple[int, int]]
    rows_left_out: dict[str, tuple[int, int]]
    trials: tuple[int, int]
    questions: tuple[int, int]
    paired: int
    only_baseline: tuple[str, ...]
    only_variant: tuple[str, ...]
    not_comparable: tuple[str, ...]
    metrics: dict[str, MetricAudit]
    settings_changed: tuple[SettingChange, ...]
    settings_recorded: tuple[bool, bool]
    notes: tuple[Note, ...] = ()
    rows_paired: tuple[int, int] = (0, 0)
    scale_mismatch: tuple[str, ...] = ()

    @property
    def share_unmatched(self) -> float:
        """Share of the baseline's questions that the variant was not run on."""
        total = self.questions[0]
        return len(self.only_baseline) / total if total else 0.0

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the ledger as rows: what is counted, and how often in each arm.

        Returns
        -------
        list of dict
            Rows first, then questions, then where the paired questions of each metric
            went. ``in this arm`` counts what the other arm does not share.
        """
        left_out = {k.replace("_", " "): v for k, v in self.rows_left_out.items()}
        rows: list[tuple[str | None, str, tuple[int, int]]] = [
            (None, "rows read", self.rows_read),
            *(
                (None, f"rows with status {k}", v)
                for k, v in self.rows_by_status.items()
            ),
            *((None, f"rows left out, {k}", v) for k, v in left_out.items()),
            (None, "trials", self.trials),
            (None, "questions", self.questions),
            (None, "questions paired", (self.paired, self.paired)),
            (
                None,
                "questions only in this arm",
                (len(self.only_baseline), len(self.only_variant)),
            ),
            (
                None,
                "questions not comparable",
                (len(self.not_comparable), len(self.not_comparable)),
            ),
        ]
        for name, m in self.metrics.items():
            unscored = m.unscored_baseline, m.unscored_variant
            rows += [
                (name, "scored in both arms", (m.pairs, m.pairs)),
                (name, "unscored in this arm", unscored),
                (name, "unscored in both arms", (m.unscored_both, m.unscored_both)),
                (name, "failed in this arm", (m.failed_baseline, m.failed_variant)),
                (name, "failed in both arms", (m.failed_both, m.failed_both)),
            ]
        return [
            {"metric": metric, "count": count, "baseline": b, "variant": v}
            for metric, count, (b, v) in rows
        ]

    def to_dict(self) -> dict[str, Any]:
        """Give the ledger as plain values, as in the JSON output.

        Returns
        -------
        dict
            The ``audit`` object of schema 1.
        """
        return {
            "baseline_name": self.baseline_name,
            "variant_name": self.variant_name,
            "rows_read": _by_arm(self.rows_read),
            "rows_paired": _by_arm(self.rows_paired),
            "rows_left_out": {k: _by_arm(v) for k, v in self.rows_left_out.items()},
            "rows_by_status": {k: _by_arm(v) for k, v in self.rows_by_status.items()},
            "trials": _by_arm(self.trials),
            "questions": {
                "paired": self.paired,
                "only_baseline": len(self.only_baseline),
                "only_variant": len(self.only_variant),
                "not_comparable": len(self.not_comparable),
                "only_baseline_ids": list(self.only_baseline),
                "only_variant_ids": list(self.only_variant),
                "not_comparable_ids": list(self.not_comparable),
            },
            "metrics": {name: asdict(counts) for name, counts in self.metrics.items()},
            "settings_changed": [asdict(change) for change in self.settings_changed],
            "settings_recorded": _by_arm(self.settings_recorded),
            "scale_mismatch": list(self.scale_mismatch),
            "notes": [asdict(note) for note in self.notes],
        }


def metric_audit(pairs: Pairs, metric: str) -> MetricAudit:
    """Count where the paired questions of one metric went.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    metric : str
        Name of the metric; an arm without it scores no question.

    Returns
    -------
    MetricAudit
    """
    n_questions = pairs.question_id.size
    b_scored, b_failed = _scored_and_failed(pairs.baseline, metric, n_questions)
    v_scored, v_failed = _scored_and_failed(pairs.variant, metric, n_questions)
    b_failed &= ~b_scored
    v_failed &= ~v_scored
    neither = ~b_scored & ~v_scored

    def count(questions: BoolArray) -> int:
        return int(np.count_nonzero(questions & pairs.paired))

    return MetricAudit(
        pairs=count(b_scored & v_scored),
        unscored_baseline=count(~b_scored & v_scored & ~b_failed),
        unscored_variant=count(b_scored & ~v_scored & ~v_failed),
        unscored_both=count(neither & ~b_failed & ~v_failed),
        failed_baseline=count(b_failed & ~v_failed),
        failed_variant=count(v_failed & ~b_failed),
        failed_both=count(b_failed & v_failed),
    )


def rows_by_status(pairs: Pairs) -> dict[str, tuple[int, int]]:
    """Count the rows of each status in both arms.

    Parameters
    ----------
    pairs : Pairs
        Both arms.

    Returns
    -------
    dict of str to tuple of int
        Without a status column a row without any score is unscored.
    """
    arms = (pairs.baseline, pairs.variant)
    codes = []
    for arm in arms:
        status = arm.status
        if status is None:
            scored = scored_rows(arm.metrics, arm.question.size)
            status = np.where(scored, ANSWERED, UNSCORED).astype(np.int8)
        codes.append(np.bincount(status, minlength=3))
    names = {"answered": ANSWERED, "unscored": UNSCORED}
    if any(arm.status is not None for arm in arms):
        names["failed"] = FAILED
    return {
        name: (int(codes[0][code]), int(codes[1][code])) for name, code in names.items()
    }


def rows_left_out(
    pairs: Pairs, not_comparable: BoolArray
) -> tuple[tuple[int, int], dict[str, tuple[int, int]]]:
    """Count the rows that are paired, and those that are not, by reason.

    Parameters
    ----------
    pairs : Pairs
        Both arms.
    not_comparable : ndarray of bool, shape (n_questions,)
        Questions in both arms that must not be compared.

    Returns
    -------
    rows_paired : tuple of int
        Rows of paired questions in each arm.
    rows_left_out : dict of str to tuple of int
        The others: ``unmatched`` and ``not_comparable``.
    """
    arms = (pairs.baseline, pairs.variant)
    paired = [int(np.count_nonzero(pairs.paired[arm.question])) for arm in arms]
    excluded = [int(np.count_nonzero(not_comparable[arm.question])) for arm in arms]
    alone = [
        arm.question.size - p - e
        for arm, p, e in zip(arms, paired, excluded, strict=True)
    ]
    return (paired[0], paired[1]), {
        "unmatched": (alone[0], alone[1]),
        "not_comparable": (excluded[0], excluded[1]),
    }


def changed_settings(
    baseline: Mapping[str, Any], variant: Mapping[str, Any]
) -> tuple[SettingChange, ...]:
    """List the settings that both arms record and that differ between them.

    Parameters
    ----------
    baseline, variant : mapping
        Recorded settings; numbers and texts that read the same are equal. What one
        arm alone records is unknown: neither equal nor a change.

    Returns
    -------
    tuple of SettingChange
        Sorted by name.

    Examples
    --------
    >>> changed_settings({"top_k": 3, "model": "m"}, {"top_k": 8, "model": "m"})
    (SettingChange(setting='top_k', baseline=3, variant=8),)
    """
    return tuple(
        SettingChange(key, baseline[key], variant[key])
        for key in sorted(baseline.keys() & variant.keys())
        if not same_value(baseline[key], variant[key])
    )


def _by_arm(values: tuple[Any, Any]) -> dict[str, Any]:
    return {"baseline": values[0], "variant": values[1]}


def _scored_and_failed(
    arm: ArmTable, metric: str, n_questions: int
) -> tuple[BoolArray, BoolArray]:
    scored = np.zeros(n_questions, dtype=np.bool_)
    failed = np.zeros(n_questions, dtype=np.bool_)
    if metric in arm.metrics:
        scored[arm.question[~np.isnan(arm.metrics[metric])]] = True
    if arm.status is not None:
        failed[arm.question[arm.status == FAILED]] = True
    return scored, failed
