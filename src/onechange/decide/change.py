"""Whether exactly the declared setting changed, as far as settings are recorded."""

from __future__ import annotations

from typing import Any

from onechange.align import SettingChange
from onechange.compare import Comparison
from onechange.errors import PlanError
from onechange.plan import Change, Plan
from onechange.stats.estimate import Note

__all__ = ["change_notes", "change_objections", "check_question_set"]

QUESTION_SET = "question_set"


def change_objections(comparison: Comparison, plan: Plan, position: int) -> list[str]:
    """List what speaks against "only the declared setting changed".

    Parameters
    ----------
    comparison : Comparison
        Recorded settings of the arms.
    plan : Plan
        Declared change and accepted further ones.
    position : int
        Position of the variant among the variants.

    Returns
    -------
    list of str
        Clauses; any of them forbids *ship*. Empty when the plan declares no change
        or the arms record no settings.
    """
    if plan.change is None:
        return []
    audit = comparison.audits[position]
    # An arm without settings shows no change: that is said in a note.
    changed = audit.settings_changed if all(audit.settings_recorded) else ()
    accepted = {plan.change.setting, *plan.accepted_changes}
    further = [row for row in changed if row.setting not in accepted]
    objections = []
    if further:
        listed = ", ".join(_text(row) for row in further)
        objections.append(
            f"more than the declared setting {plan.change.setting} changed: {listed}"
        )
    arms = (
        comparison.baseline.settings.get(plan.change.setting),
        comparison.variants[position].settings.get(plan.change.setting),
    )
    return objections + _mismatch(plan.change, arms)


def change_notes(comparison: Comparison, plan: Plan, position: int) -> list[Note]:
    """Note a declared setting that arms with settings do not record.

    Parameters
    ----------
    comparison, plan, position
        As for `change_objections`.

    Returns
    -------
    list of Note
        ``settings-unknown``, or nothing.
    """
    if plan.change is None:
        return []
    arms = (comparison.baseline, comparison.variants[position])
    lacking = [arm for arm in arms if plan.change.setting not in arm.settings]
    if not lacking or not all(arm.settings for arm in arms):
        return []
    where = "neither arm" if len(lacking) == 2 else f"all arms but {lacking[0].name}"
    text = (
        f"The declared setting {plan.change.setting} is recorded in {where}, so its "
        "change cannot be checked."
    )
    return [Note("settings-unknown", text)]


def check_question_set(comparison: Comparison, plan: Plan, position: int) -> None:
    """Refuse arms that record another question set than the plan's.

    Parameters
    ----------
    comparison : Comparison
        Recorded settings of the arms.
    plan : Plan
        Names the question set.
    position : int
        Position of the variant among the variants.

    Raises
    ------
    PlanError
        When an arm records another one.
    """
    if plan.question_set is None:
        return
    for arm in (comparison.baseline, comparison.variants[position]):
        recorded = arm.settings.get(QUESTION_SET)
        if recorded is not None and not _same(recorded, plan.question_set):
            place = plan.places.get(("experiment", QUESTION_SET), "plan")
            raise PlanError(
                f"{place}: experiment.question_set: the plan is for "
                f'"{plan.question_set}" but {arm.name} records "{recorded}"; compare '
                "results of the same question set, or mend the plan."
            )


def _mismatch(change: Change, recorded: tuple[Any, Any]) -> list[str]:
    """Compare the declared values with those that the arms record."""
    declared = (change.before, change.after)
    objections = []
    for arm, want, found in zip(
        ("baseline", "variant"), declared, recorded, strict=True
    ):
        if want is not None and found is not None and not _same(want, found):
            objections.append(
                f"{change.setting} was declared as {want} in the {arm} but is recorded "
                f"as {found}"
            )
    before, after = recorded
    if before is not None and after is not None and _same(before, after):
        objections.append(
            f"the declared setting {change.setting} is {before} in both arms"
        )
    return objections


def _same(a: object, b: object) -> bool:
    """Whether two recorded values are one, be they numbers or texts of numbers."""
    if isinstance(a, bool) or isinstance(b, bool):
        return str(a).lower() == str(b).lower()
    return a == b or str(a) == str(b)


def _text(row: SettingChange) -> str:
    ends = [
        "not recorded" if v is None else str(v) for v in (row.baseline, row.variant)
    ]
    return f"{row.setting} ({ends[0]} → {ends[1]})"
