"""`Comparison` + `Plan` -> statuses, what it would take, and the `Decision`."""

from onechange.decide.decision import Decision, RuleStatus, exit_code
from onechange.decide.rule_table import printed_decimals
from onechange.decide.several import Decisions
from onechange.decide.verdict import decide, decide_each

__all__ = [
    "Decision",
    "Decisions",
    "RuleStatus",
    "decide",
    "decide_each",
    "exit_code",
    "printed_decimals",
]
