"""One line for a test suite that asks whether the change may ship."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from onechange.compare import compare
from onechange.decide import Decision, decide
from onechange.plan import Plan
from onechange.report import render
from onechange.results import Results

if TYPE_CHECKING:
    import pandas as pd

    Source = str | Path | Results | pd.DataFrame

__all__ = ["assert_ships"]


def assert_ships(
    baseline: Source, variant: Source, plan: Plan | str | Path
) -> Decision:
    """Fail a test unless the decision is *ship*.

    Parameters
    ----------
    baseline, variant : path, DataFrame or Results
        One arm each, as `compare` takes it.
    plan : Plan, str or Path
        The rules, or the plan file that holds them.

    Returns
    -------
    Decision
        For further checks.

    Raises
    ------
    AssertionError
        When the decision is *do not ship* or *inconclusive*; its message is the
        report.
    OnechangeError
        When nothing could be decided: an input or the plan is not valid.

    Examples
    --------
    In a test suite:

    >>> import pandas as pd
    >>> import onechange as oc
    >>> def test_the_new_prompt_may_ship() -> None:
    ...     ids = [f"q{i}" for i in range(40)]
    ...     before = pd.DataFrame({"question_id": ids, "correct": [0, 1, 0, 0] * 10})
    ...     after = pd.DataFrame({"question_id": ids, "correct": [1, 1, 1, 0] * 10})
    ...     oc.assert_ships(before, after, oc.Plan("correct"))
    >>> test_the_new_prompt_may_ship()
    """
    __tracebackhide__ = True  # pytest then points at the line of the test
    rules = plan if isinstance(plan, Plan) else Plan.load(plan)
    decision = decide(compare(baseline, variant, rules), rules)
    if decision.decision != "ship":
        raise AssertionError(f"{decision.decision}\n\n{render(decision, 'text')}")
    return decision
