"""From the words of a call to a plan and the arms it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from onechange.assemble import in_sorted_order
from onechange.errors import InputError, PlanError
from onechange.plan import Plan, plan_from_flags
from onechange.read import read
from onechange.results import Results

__all__ = ["read_alone", "read_arms", "read_plan", "read_system"]


def read_plan(words: dict[str, Any], *, decide: bool = False) -> Plan:
    """Make the plan from ``--plan`` and the flags; flags win and are listed.

    Raises
    ------
    PlanError
        When the plan or a flag is not valid, or nothing says what to decide.
    """
    path = words.get("plan")
    plan = plan_from_flags(
        None if path is None else Plan.load(path),
        primary=_only("--primary", words.get("primary")),
        guardrails=words.get("guardrail") or (),
        slices=words.get("slice") or (),
        metrics=words.get("metric") or (),
        directions=words.get("direction") or (),
        ranges=words.get("range") or (),
        settings=words.get("setting") or (),
        columns={
            "question_id": words.get("id"),
            "trial": words.get("trial"),
            "judge_trial": words.get("judge_trial"),
            "status": words.get("status"),
            "cluster": words.get("cluster"),
        },
        analysis={
            name: words.get(name)
            for name in (
                "confidence_level",
                "interval",
                "test",
                "adjust",
                "min_slice",
                "n_resamples",
                "seed",
                "resampling",
                "strata",
            )
        },
    )
    if decide and not plan.has_rules:
        place = "nothing" if path is None else f"{path}: nothing in the plan"
        raise PlanError(
            f"{place} says what to decide; add a [primary] or a [[guardrail]] to a "
            "plan (--plan FILE), or pass --primary NAME and --guardrail NAME:MARGIN."
        )
    return plan


def _only(flag: str, values: Sequence[str] | None) -> str | None:
    """Take the one value of a flag that may be given once."""
    if values is not None and len(values) > 1:
        raise PlanError(
            f"{flag} is given {len(values)} times ({', '.join(values)}); give it once, "
            "or write several [[primary]] in a plan."
        )
    return values[0] if values else None


def read_arms(
    words: dict[str, Any], variants: Sequence[str], plan: Plan
) -> tuple[Results, list[Results]]:
    """Read the baseline and every variant, each with its further trials.

    Raises
    ------
    InputError
        When there is no variant and no names say which systems of the file to take.
    """
    if not variants:
        return _two_systems(words, plan)
    names = _names(words, variants)
    baseline = _arm(words, plan, words["baseline"], words["baseline_trial"], names[0])
    arms = [
        _arm(words, plan, source, words["variant_trial"], name)
        for source, name in zip(variants, names[1:], strict=True)
    ]
    return _with_oracle(words, plan, baseline, arms)


def read_alone(words: dict[str, Any], plan: Plan) -> Results:
    """Read one arm, with its further trials, to be looked at by itself."""
    name = words["baseline_name"] or Path(words["baseline"]).stem
    return _arm(words, plan, words["baseline"], words["baseline_trial"], name)


def read_system(words: dict[str, Any], plan: Plan) -> Results:
    """Read one system of a file."""
    from onechange.formats import read_systems

    if words["system"] is not None:
        systems = read_systems(
            words["file"],
            name=words["input_format"],
            columns=plan.columns,
            gold=words["gold"],
            systems=[words["system"]],
        )
        return in_sorted_order(systems[words["system"]])
    return _arm(words, plan, words["file"], None, Path(words["file"]).stem)


def _with_oracle(
    words: dict[str, Any], plan: Plan, baseline: Results, arms: list[Results]
) -> tuple[Results, list[Results]]:
    """Add scores under oracle context, where files of them are given."""
    given = [words.get(f"oracle_{arm}") for arm in ("baseline", "variant")]
    named = [str(source) for source in given if source is not None]
    if not named:
        return baseline, arms
    if len(named) < len(given) or len(arms) != 1:
        raise PlanError(
            "--oracle-baseline and --oracle-variant go together, with one variant: the "
            "change of the retrieval gap needs all four results."
        )
    from onechange.oracle_context import with_oracle_context

    both = [
        with_oracle_context(arm, _arm(words, plan, source, None, Path(source).stem))
        for arm, source in zip((baseline, arms[0]), named, strict=True)
    ]
    return both[0], [both[1]]


def _two_systems(words: dict[str, Any], plan: Plan) -> tuple[Results, list[Results]]:
    """Read both arms from one file that holds several systems."""
    from onechange.formats import read_systems

    names = (words["baseline_name"], words["variant_name"])
    if None in names:
        raise InputError(
            f"{words['baseline']}: no VARIANT is given; name a second file, or, when "
            "this one holds both systems, --baseline-name and --variant-name (list "
            "them with: onechange audit FILE)."
        )
    systems = read_systems(
        words["baseline"],
        name=words["input_format"],
        columns=plan.columns,
        gold=words["gold"],
        systems=names,
    )
    baseline, variant = (in_sorted_order(systems[name]) for name in names)
    return baseline, [variant]


def _names(words: dict[str, Any], variants: Sequence[str]) -> list[str]:
    baseline = words["baseline_name"] or "baseline"
    if len(variants) == 1:
        return [baseline, words["variant_name"] or "variant"]
    if words["variant_name"] or words["variant_trial"]:
        raise PlanError(
            "--variant-name and --variant-trial go with one variant; with several, "
            "each is named after its file and read from a folder or a trial column."
        )
    return [baseline, *_distinct_names(variants)]


def _distinct_names(sources: Sequence[str]) -> list[str]:
    """Name files by their stem, with as many folders before it as tell them apart."""
    parts = [Path(source).with_suffix("").parts for source in sources]
    for depth in range(1, max(map(len, parts)) + 1):
        names = ["/".join(part[-depth:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    raise PlanError(
        f"{', '.join(sources)}: the same file is given twice; name each variant once."
    )


def _arm(
    words: dict[str, Any],
    plan: Plan,
    source: str,
    trials: Sequence[str] | None,
    name: str,
) -> Results:
    if words["gold"] is not None:
        from onechange.formats import read_as, sniff

        chosen = words["input_format"] or sniff(Path(source))
        if chosen is None:
            raise InputError(
                f"--gold {words['gold']}: {source} is not in a format that keeps right "
                "answers apart; leave --gold out or name the --input-format."
            )
        found = read_as(chosen, Path(source), columns=plan.columns, gold=words["gold"])
        return in_sorted_order(replace(found, name=name))
    return read(
        [source, *trials] if trials else source,
        columns=plan.columns,
        input_format=words["input_format"],
        name=name,
    )
