"""Did the change help, and may it ship? Paired statistics for RAG and LLM evaluations.

Public names are resolved on first use, so that `import onechange` stays light.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from onechange.align import Audit, align
    from onechange.compare import Comparison, compare
    from onechange.decide import Decision, RuleStatus, decide, decide_each, exit_code
    from onechange.delta import Delta
    from onechange.errors import (
        InputError,
        MethodError,
        OnechangeError,
        PairingError,
        PlanError,
    )
    from onechange.gate import assert_ships
    from onechange.judge import judge_audit
    from onechange.oracle_context import with_oracle_context
    from onechange.paired import paired_delta
    from onechange.plan import Analysis, Change, Guardrail, Metric, Plan, Primary
    from onechange.power import PowerResult, power
    from onechange.read import read
    from onechange.report import write_report
    from onechange.results import Columns, Results
    from onechange.score import ScoredRows, ScoreOptions, read_traces, score
    from onechange.score.ragas import apply_judged, ragas_faithfulness
    from onechange.simulate import simulate
    from onechange.stats.estimate import Interval, Note, TestResult
    from onechange.status import Status

_HOMES = {
    "Analysis": "plan",
    "Audit": "align",
    "Change": "plan",
    "Columns": "results",
    "Comparison": "compare",
    "Decision": "decide",
    "Delta": "delta",
    "Guardrail": "plan",
    "InputError": "errors",
    "Interval": "stats.estimate",
    "MethodError": "errors",
    "Metric": "plan",
    "Note": "stats.estimate",
    "OnechangeError": "errors",
    "PairingError": "errors",
    "Plan": "plan",
    "PlanError": "errors",
    "PowerResult": "power",
    "Primary": "plan",
    "Results": "results",
    "RuleStatus": "decide",
    "ScoreOptions": "score",
    "ScoredRows": "score",
    "Status": "status",
    "TestResult": "stats.estimate",
    "align": "align",
    "apply_judged": "score.ragas",
    "assert_ships": "gate",
    "compare": "compare",
    "decide": "decide",
    "decide_each": "decide",
    "exit_code": "decide",
    "judge_audit": "judge",
    "paired_delta": "paired",
    "power": "power",
    "ragas_faithfulness": "score.ragas",
    "read": "read",
    "read_traces": "score",
    "score": "score",
    "simulate": "simulate",
    "with_oracle_context": "oracle_context",
    "write_report": "report",
}

__all__ = [
    "Analysis",
    "Audit",
    "Change",
    "Columns",
    "Comparison",
    "Decision",
    "Delta",
    "Guardrail",
    "InputError",
    "Interval",
    "MethodError",
    "Metric",
    "Note",
    "OnechangeError",
    "PairingError",
    "Plan",
    "PlanError",
    "PowerResult",
    "Primary",
    "Results",
    "RuleStatus",
    "ScoreOptions",
    "ScoredRows",
    "Status",
    "TestResult",
    "align",
    "apply_judged",
    "assert_ships",
    "compare",
    "decide",
    "decide_each",
    "exit_code",
    "judge_audit",
    "paired_delta",
    "power",
    "ragas_faithfulness",
    "read",
    "read_traces",
    "score",
    "simulate",
    "with_oracle_context",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'onechange' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"onechange.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


class _Package(ModuleType):
    """A package in which a public function wins over the module of its name.

    Importing ``onechange.compare`` would otherwise set the attribute ``compare`` of
    the package to that module, and ``oc.compare(...)`` would stop working.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and _HOMES.get(name) == name:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
