"""The statuses of a decision as JUnit XML, for the test view of a CI service."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from onechange.compare import Comparison
from onechange.decide import Decision, RuleStatus
from onechange.display import escape_invisible
from onechange.errors import OnechangeError
from onechange.report.context import slice_text
from onechange.status import Status

__all__ = ["render_junit"]

# An inconclusive status is no pass: a service must not show it in green.
ELEMENTS = {"fail": "failure", "inconclusive": "error"}


def render_junit(result: Comparison | Decision) -> str:
    """Write one test case per rule of the plan.

    Parameters
    ----------
    result : Decision
        What `decide` returned.

    Returns
    -------
    str
        XML; a status ``fail`` is a failure, ``inconclusive`` an error, each with its
        sentence. No times are written, so that equal results give equal bytes.

    Raises
    ------
    OnechangeError
        For a comparison without a decision.
    """
    if not isinstance(result, Decision):
        raise OnechangeError(
            "a JUnit file needs a decision; use decide with a plan or with --primary "
            "and --guardrail."
        )
    statuses = (*result.statuses, *_whole(result))
    counts = {
        name: sum(ELEMENTS.get(str(s.status)) == name for s in statuses)
        for name in ("failure", "error")
    }
    name = result.plan.name or "onechange"
    head = (
        f"<testsuite name={_quoted(name)} tests={_quoted(str(len(statuses)))} "
        f"failures={_quoted(str(counts['failure']))} "
        f"errors={_quoted(str(counts['error']))}>"
    )
    summary = f"{result.decision}: {result.reason}"
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            head,
            *(_case(status) for status in statuses),
            f"  <system-out>{_text(summary)}</system-out>",
            "</testsuite>",
            "",
        ]
    )


def _whole(result: Decision) -> tuple[RuleStatus, ...]:
    """Return what withholds *ship* though every rule passes, as one more case."""
    if result.decision == "ship" or any(
        str(status.status) in ELEMENTS for status in result.statuses
    ):
        return ()
    return (
        RuleStatus(
            "one change", "decision", "mean", Status.INCONCLUSIVE, result.reason
        ),
    )


def _case(status: RuleStatus) -> str:
    name = status.metric
    if status.statistic != "mean":
        name += f" {status.statistic}"
    if status.slice is not None:
        name += f" in {slice_text(status.slice)}"
    head = (
        f"  <testcase classname={_quoted(f'onechange.{status.role}')} "
        f"name={_quoted(name)}"
    )
    element = ELEMENTS.get(str(status.status))
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
