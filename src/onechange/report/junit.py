"""The statuses of a decision as JUnit XML, for the test view of a CI service."""

from __future__ import annotations

from dataclasses import replace
from xml.sax.saxutils import escape, quoteattr

from onechange.compare import Comparison
from onechange.decide import Decision, Decisions, RuleStatus
from onechange.decide.decision import rule_names
from onechange.display import escape_invisible
from onechange.errors import OnechangeError
from onechange.plan import Guardrail
from onechange.status import Status

__all__ = ["render_junit"]

# An inconclusive status is no pass: a service must not show it in green.
ELEMENTS = {"fail": "failure", "inconclusive": "error"}
NOT_NEEDED = "another primary passes, and the plan asks for any: "


def render_junit(result: Comparison | Decision | Decisions) -> str:
    """Write one test case per rule of the plan.

    Parameters
    ----------
    result : Decision or Decisions
        What `decide` or `decide_each` returned; of several variants each is a suite.

    Returns
    -------
    str
        XML; a status ``fail`` is a failure, ``inconclusive`` an error, each with its
        sentence; a primary that need not pass, since another does, is skipped. A rule
        that must hold in every slice is one case, whichever slice is the worst. No
        times are written, so that equal results give equal bytes.

    Raises
    ------
    OnechangeError
        For a comparison without a decision.
    """
    if isinstance(result, Comparison):
        raise OnechangeError(
            "a JUnit file needs a decision; use decide with a plan or with --primary "
            "and --guardrail."
        )
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    if isinstance(result, Decisions):
        lines.append("<testsuites>")
        for decision in result:
            lines += _suite(decision, f" ({decision.variant_name})")
        lines.append("</testsuites>")
    else:
        lines += _suite(result)
    return "\n".join((*lines, ""))


def _suite(decision: Decision, variant: str = "") -> list[str]:
    named = _named(decision)
    elements = [_element(decision, status) for _, status in named]
    skipped = elements.count("skipped")
    name = (decision.plan.name or "onechange") + variant
    head = (
        f"<testsuite name={_quoted(name)} tests={_quoted(str(len(named)))} "
        f"failures={_quoted(str(elements.count('failure')))} "
        f"errors={_quoted(str(elements.count('error')))}"
        f"{f' skipped={_quoted(str(skipped))}' if skipped else ''}>"
    )
    summary = f"{decision.decision}: {decision.reason}"
    return [
        head,
        *(
            _case(name, status, element)
            for (name, status), element in zip(named, elements, strict=True)
        ),
        f"  <system-out>{_text(summary)}</system-out>",
        "</testsuite>",
    ]


def _named(decision: Decision) -> list[tuple[str, RuleStatus]]:
    """Name every case by its rule, so that its name is the same in every run."""
    rules = (*decision.plan.primary, *decision.plan.guardrails)
    shown = []
    for rule, status in zip(rules, decision.statuses, strict=True):
        spec = rule.every_slice if isinstance(rule, Guardrail) else None
        part = None if spec is None else (("every slice", f"every slice of {spec}"),)
        shown.append(replace(status, slice=part))
    # the role is the class of a case, so a name has to differ within its role alone
    names: dict[int, str] = {}
    for role in dict.fromkeys(status.role for status in shown):
        places = [i for i, status in enumerate(shown) if status.role == role]
        told = rule_names([shown[i] for i in places])
        names.update(zip(places, told, strict=True))
    cases = [(names[i], status) for i, status in enumerate(decision.statuses)]
    return cases + [(status.metric, status) for status in _whole(decision)]


def _whole(result: Decision) -> tuple[RuleStatus, ...]:
    """Return what withholds *ship* though every rule passes, as one more case."""
    if result.decision == "ship" or any(
        _element(result, status) in ELEMENTS.values() for status in result.statuses
    ):
        return ()
    return (
        RuleStatus(
            "one change", "decision", "mean", Status.INCONCLUSIVE, result.reason
        ),
    )


def _element(decision: Decision, status: RuleStatus) -> str | None:
    """Name the element of a status; None for a pass."""
    element = ELEMENTS.get(str(status.status))
    if element != "error" or status.role != "primary":
        return element
    primaries = [s.status for s in decision.statuses if s.role == "primary"]
    any_will_do = decision.plan.analysis.primaries == "any"
    enough = Status.PASS in primaries and Status.FAIL not in primaries
    return "skipped" if any_will_do and enough else element


def _case(name: str, status: RuleStatus, element: str | None) -> str:
    head = (
        f"  <testcase classname={_quoted(f'onechange.{status.role}')} "
        f"name={_quoted(name)}"
    )
    if element == "skipped":
        said = f"    <skipped message={_quoted(NOT_NEEDED + status.reason)}/>"
        return f"{head}>\n{said}\n  </testcase>"
    if element is None:
        said = f"    <system-out>{_text(status.reason)}</system-out>"
        return f"{head}>\n{said}\n  </testcase>"
    said = (
        f"    <{element} type={_quoted(str(status.status))} "
        f"message={_quoted(status.reason)}/>"
    )
    return f"{head}>\n{said}\n  </testcase>"


def _text(text: str) -> str:
    return escape(escape_invisible(text))


def _quoted(text: str) -> str:
    return quoteattr(escape_invisible(text))
