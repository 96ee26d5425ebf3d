"""`Plan`, its parts, its TOML form and its flags: what was fixed before looking."""

from onechange.plan.columns import check_columns
from onechange.plan.features import NOT_BUILT
from onechange.plan.flags import plan_from_flags
from onechange.plan.keys import BUILT_IN_RATES, EQUAL_WEIGHTS, did_you_mean
from onechange.plan.metrics import resolve_metrics
from onechange.plan.parts import (
    Analysis,
    Change,
    Guardrail,
    Metric,
    Primary,
    relative_margin,
)
from onechange.plan.plan import Plan
from onechange.plan.slicing import SliceSpec, parse_slice

__all__ = [
    "BUILT_IN_RATES",
    "EQUAL_WEIGHTS",
    "NOT_BUILT",
    "Analysis",
    "Change",
    "Guardrail",
    "Metric",
    "Plan",
    "Primary",
    "SliceSpec",
    "check_columns",
    "did_you_mean",
    "parse_slice",
    "plan_from_flags",
    "relative_margin",
    "resolve_metrics",
]
