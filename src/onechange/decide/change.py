"""Whether exactly the declared setting changed, as far as settings are recorded."""

from __future__ import annotations

from difflib import get_close_matches

from onechange.align import SettingChange
from onechange.compare import ArmSummary, Comparison
from onechange.errors import PlanError
from onechange.plain_values import same_value
from onechange.plan import Change, Plan
from onechange.stats.estimate import Note

__all__ = ["change_notes", "change_objections", "change_steps", "check_question_set"]

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
        or neither arm records any setting. What one arm alone records is neither
        equal nor a change; but values that were declared must be recorded in both
        arms.
    """
    if plan.change is None:
        return []
    unchecked = _unchecked(comparison, plan, position)
    found = [] if unchecked is None else [unchecked]
    further = _further(comparison, plan, position)
    if further:
        listed = ", ".join(_text(row) for row in further)
        found.append(
            f"more than the declared setting {plan.change.setting} changed: {listed}"
        )
    return found + _mismatch(plan.change, _arms(comparison, position))


def change_steps(comparison: Comparison, plan: Plan, position: int) -> list[str]:
    """Say what would answer the objections.

    Parameters
    ----------
    comparison, plan, position
        As for `change_objections`.

    Returns
    -------
    list of str
        Sentences, one per kind of objection.
    """
    if plan.change is None:
        return []
    setting, steps = plan.change.setting, []
    if _unchecked(comparison, plan, position) is not None:
        steps.append(
            f"one change: record {setting} among the settings of both arms, or drop "
            "[experiment.change]."
        )
    further = _further(comparison, plan, position)
    if further:
        listed = ", ".join(f'"{row.setting}"' for row in further)
        steps.append(
            "one change: repeat the run with one change, or, where these may differ, "
            f"list them: accepted_changes = [{listed}]."
        )
    if _mismatch(plan.change, _arms(comparison, position)):
        steps.append(
            f"one change: compare runs with the declared values of {setting}, or mend "
            "[experiment.change]."
        )
    return steps


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
    arms = _arms(comparison, position)
    if plan.change is None or not all(arm.settings for arm in arms):
        return []
    return [*_of_declared(plan.change, arms), *_of_accepted(plan, arms)]


def _of_declared(change: Change, arms: tuple[ArmSummary, ArmSummary]) -> list[Note]:
    where = _not_recorded(change.setting, arms)
    if where is None:
        return []
    text = (
        f"The declared setting {change.setting} {where}, so its change cannot be "
        "checked."
    )
    return [Note("settings-unknown", text)]


def _of_accepted(plan: Plan, arms: tuple[ArmSummary, ArmSummary]) -> list[Note]:
    """Note accepted changes that no arm records: probably misspelt."""
    known = sorted(arms[0].settings.keys() | arms[1].settings.keys())
    notes = []
    for name in plan.accepted_changes:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f'; did the plan mean "{near[0]}"?' if near else "."
            text = f'The accepted change "{name}" is recorded in neither arm{hint}'
            notes.append(Note("settings-unknown", text))
    return notes


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
    for arm in _arms(comparison, position):
        recorded = arm.settings.get(QUESTION_SET)
        if recorded is not None and not same_value(recorded, plan.question_set):
            place = plan.places.get(("experiment", QUESTION_SET), "plan")
            raise PlanError(
                f"{place}: experiment.question_set: the plan is for "
                f'"{plan.question_set}" but {arm.name} records "{recorded}"; compare '
                "results of the same question set, or mend the plan."
            )


def _arms(comparison: Comparison, position: int) -> tuple[ArmSummary, ArmSummary]:
    return comparison.baseline, comparison.variants[position]


def _unchecked(comparison: Comparison, plan: Plan, position: int) -> str | None:
    """Say that the declared values cannot be checked; None where they can be.

    Without any settings at all nothing of the kind is to be had, which a note says.
    """
    change, arms = plan.change, _arms(comparison, position)
    if change is None or (change.before is None and change.after is None):
        return None
    if not any(arm.settings for arm in arms):
        return None
    where = _not_recorded(change.setting, arms)
    if where is None:
        return None
    return f"the declared setting {change.setting} {where}, so it cannot be checked"


def _not_recorded(setting: str, arms: tuple[ArmSummary, ArmSummary]) -> str | None:
    lacking = [arm.name for arm in arms if setting not in arm.settings]
    if not lacking:
        return None
    if len(lacking) == len(arms):
        return "is recorded in neither arm"
    return f"is not recorded for {lacking[0]}"


def _further(comparison: Comparison, plan: Plan, position: int) -> list[SettingChange]:
    """List settings that differ and are neither declared nor accepted."""
    if plan.change is None:
        return []
    accepted = {plan.change.setting, *plan.accepted_changes}
    changed = comparison.audits[position].settings_changed
    return [row for row in changed if row.setting not in accepted]


def _mismatch(change: Change, arms: tuple[ArmSummary, ArmSummary]) -> list[str]:
    """Compare the declared values with those that the arms record."""
    declared = (change.before, change.after)
    recorded = [arm.settings.get(change.setting) for arm in arms]
    objections = []
    for arm, want, found in zip(
        ("baseline", "variant"), declared, recorded, strict=True
    ):
        if want is not None and found is not None and not same_value(want, found):
            objections.append(
                f"{change.setting} was declared as {want} in the {arm} but is recorded "
                f"as {found}"
            )
    before, after = recorded
    if before is not None and after is not None and same_value(before, after):
        objections.append(
            f"the declared setting {change.setting} is {before} in both arms"
        )
    return objections


def _text(row: SettingChange) -> str:
    return f"{row.setting} ({row.baseline} → {row.variant})"
