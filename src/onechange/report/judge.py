"""Judge audits: whether the judge agrees with people, and whom it favours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onechange.display import (
    MISSING,
    format_count,
    format_interval,
    format_number,
    format_percent,
)
from onechange.display.counting import counted
from onechange.judge import (
    ArmAgreement,
    JudgeAudit,
    LabelledMetric,
    shown_interval,
)
from onechange.report.context import Context
from onechange.report.document import (
    Block,
    Column,
    Paragraph,
    Section,
    Table,
)
from onechange.stats.estimate import Interval

__all__ = ["CORRECTIONS", "corrections", "judge_blocks", "judge_section"]

DECIMALS = 3

# How a delta is corrected -> what that is, and what it rests on.
_PPI = (
    "the delta corrected by human labels (prediction-powered inference with power "
    "tuning, PPI++, Student's t and a guard{})"
)
_RUNS = "; the variance of whole runs added"
_CR2 = (
    "; over clusters the cluster-robust CR2 variance with Bell–McCaffrey degrees of "
    "freedom"
)
_PPI_WORKS = ("angelopoulos2023",)
_CR2_WORKS = (*_PPI_WORKS, "bell2002", "pustejovsky2018")
CORRECTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "": ("the delta corrected by human labels, of which there are too few", ()),
    "guarded-ppi++": (_PPI.format(""), _PPI_WORKS),
    "guarded-ppi++-cr2": (_PPI.format(_CR2), _CR2_WORKS),
    "guarded-ppi+++runs": (_PPI.format(_RUNS), _PPI_WORKS),
    "guarded-ppi++-cr2+runs": (_PPI.format(_CR2 + _RUNS), _CR2_WORKS),
}


def corrections(labelled: Iterable[LabelledMetric]) -> dict[str, list[str]]:
    """Name the judged metrics by how their deltas are corrected.

    Parameters
    ----------
    labelled : iterable of LabelledMetric

    Returns
    -------
    dict of str to list of str
        Key of `CORRECTIONS` to the names of metrics.
    """
    groups: dict[str, list[str]] = {}
    for one in labelled:
        found = one.corrected.interval or (
            one.audit.corrected and one.audit.corrected.interval
        )
        groups.setdefault(found.method if found else "", []).append(one.audit.metric)
    return groups


def judge_section(context: Context) -> Section | None:
    """Build the section on judged metrics with human labels."""
    blocks: list[Block] = []
    for labelled in context.comparison.labelled:
        if context.several:
            blocks.append(Paragraph(f"{labelled.variant_name}:"))
        blocks += judge_blocks(labelled)
    return Section("judge", "Judge audit", tuple(blocks)) if blocks else None


def judge_blocks(labelled: LabelledMetric) -> Iterator[Block]:
    """Lay out agreement and deltas of one judged metric."""
    audit = labelled.audit
    others = [
        text
        for n, text in (
            (
                _fewer(audit),
                f"with their weights they tell as much as {audit.n_effective or 0:.1f} "
                "of equal weight",
            ),
            (
                audit.n_one_arm,
                f"{counted(audit.n_one_arm, 'question')} labelled in one arm only",
            ),
            (
                audit.n_unused,
                f"{counted(audit.n_unused, 'label')} of no paired and scored answer",
            ),
        )
        if n
    ]
    text = (
        f"{audit.metric}: {format_count(audit.n_labelled)} of "
        f"{format_count(audit.n_pairs)} pairs have human labels in both arms "
        f"({labelled.file.name})"
    )
    yield Paragraph("; ".join([text, *others]) + ".")
    yield _agreement_table(audit)
    yield _delta_table(labelled)


def _fewer(audit: JudgeAudit) -> bool:
    """Whether weights leave clearly less than the labelled pairs."""
    effective = audit.n_effective
    return effective is not None and audit.n_labelled - effective >= 0.5


def _agreement_table(audit: JudgeAudit) -> Table:
    columns = (
        Column("arm"),
        Column("labelled", "r", "questions with a label and a judge score"),
        Column("answers", "r", "labelled answers: a question has one a trial"),
        Column("people", "r", "mean label"),
        Column("judge", "r", "mean score of the same questions"),
        Column("bias", "r", "judge minus people"),
        Column("interval", "r", "of the bias"),
        Column("agreement", "r", "share of equal labels, answer by answer"),
        Column("kappa", "r", "Cohen's kappa: agreement beyond chance"),
        Column("interval", "r", "of kappa"),
    )
    rows = tuple(_agreement_row(arm) for arm in (audit.baseline, audit.variant))
    return Table(columns, rows, caption="Agreement of the judge with people")


def _agreement_row(arm: ArmAgreement) -> tuple[str, ...]:
    found = arm.agreement
    return (
        arm.arm,
        format_count(arm.n_labelled),
        format_count(arm.n_answers),
        _number(arm.human),
        _number(arm.judge),
        _number(arm.bias, signed=True),
        _interval(arm.bias_interval),
        MISSING if found is None else _percent(found.observed),
        MISSING if found is None else _number(found.kappa),
        MISSING if found is None else _interval(found.interval, signed=False),
    )


def _delta_table(labelled: LabelledMetric) -> Table:
    audit = labelled.audit
    human, corrected = audit.human_only, labelled.corrected
    columns = (
        Column("delta", help="variant minus baseline"),
        Column("estimate", "r"),
        Column("interval", "r"),
        Column("pairs", "r"),
    )
    rows = (
        (
            "by the judge alone",
            _number(audit.uncorrected, signed=True),
            _interval(audit.uncorrected_interval),
            audit.n_pairs,
        ),
        (
            "by people alone",
            _number(None if human is None else human.estimate, signed=True),
            _interval(shown_interval(human)),
            audit.n_labelled,
        ),
        (
            "corrected (PPI++)",
            _number(corrected.delta, signed=True),
            _interval(corrected.interval),
            audit.n_pairs,
        ),
        (
            "favour of the judge for the variant",
            _number(audit.favour, signed=True),
            _interval(audit.favour_interval),
            audit.n_labelled,
        ),
    )
    level = _level(labelled)
    return Table(
        columns,
        tuple((a, b, c, format_count(n)) for a, b, c, n in rows),
        caption=f"Delta of {audit.metric}{level}",
    )


def _level(labelled: LabelledMetric) -> str:
    interval = labelled.corrected.interval or labelled.audit.favour_interval
    if interval is None:
        return ""
    return f", {format_percent(interval.confidence_level)} intervals"


def _percent(share: float) -> str:
    return f"{format_number(100 * share, 1)} %"


def _number(value: float | None, *, signed: bool = False) -> str:
    return format_number(value, DECIMALS, signed=signed)


def _interval(interval: Interval | None, *, signed: bool = True) -> str:
    if interval is None:
        return MISSING
    return format_interval(interval, DECIMALS, signed=signed)
