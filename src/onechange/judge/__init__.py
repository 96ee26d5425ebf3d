"""Human labels against the judge: agreement, favour, the corrected delta."""

from onechange.judge.audit import (
    ArmAgreement,
    JudgeAudit,
    corrected_delta,
    judge_audit,
)
from onechange.judge.labelled import (
    LabelledMetric,
    Labels,
    audit_metric,
    load_labels,
)
from onechange.judge.labels import (
    DrawnQuestion,
    HumanLabel,
    draw_for_audit,
    label_sheet,
    outcome_strata,
    read_labels,
)
from onechange.judge.notes import MIN_LABELLED, shown_interval
from onechange.judge.sheet import judged_metric, label_rows, sheet_csv

__all__ = [
    "MIN_LABELLED",
    "ArmAgreement",
    "DrawnQuestion",
    "HumanLabel",
    "JudgeAudit",
    "LabelledMetric",
    "Labels",
    "audit_metric",
    "corrected_delta",
    "draw_for_audit",
    "judge_audit",
    "judged_metric",
    "label_rows",
    "label_sheet",
    "load_labels",
    "outcome_strata",
    "read_labels",
    "sheet_csv",
    "shown_interval",
]
