"""Small results made by hand, for tests of the rendering.

The figures are those of a paired comparison of 150 questions with three trials each;
the per-question values only have to be there, not to reproduce the figures.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from onechange.align import ArmTable, Audit, MetricAudit, Pairs, SettingChange
from onechange.compare import (
    ArmSummary,
    ArmTrials,
    Comparison,
    MetricTrials,
    SliceBreakdown,
)
from onechange.decide import Decision, RuleStatus
from onechange.delta import BinaryTable, Bounds, Delta, MetricValues, RelativeDelta
from onechange.plan import Guardrail, Metric, Plan, Primary, SliceSpec
from onechange.results import SourceFile
from onechange.slice_effects import SliceHeterogeneity
from onechange.stats.estimate import Interval, Note, TestResult

SHA = "0123456789abcdef" * 4
REASON = "correct: inconclusive: the improvement lies between −0.001 and +0.117"


def interval(low: float, high: float, method: str = "sign-flip+guarded-t") -> Interval:
    return Interval(low, high, 0.95, method)


def delta(metric: str = "correct", **changes: Any) -> Delta:
    """The delta of `correct`, or of another metric with the fields given."""
    base = Delta(
        metric=metric,
        direction="higher",
        n_pairs=150,
        baseline=0.5266666666666667,
        variant=0.5844444444444444,
        delta=0.05777777777777778,
        standard_error=0.0298,
        difference_range=(-1.0, 1.0),
        relative=RelativeDelta(0.10970464135021096, None, None),
        interval=interval(-0.0011556, 0.1167111),
        bootstrap_interval=interval(-0.0005, 0.1165, "expanded-percentile"),
        permutation_interval=interval(-0.0010, 0.1166, "sign-flip"),
        variant_interval=interval(0.52, 0.65, "hall"),
        test=TestResult(0.05959126, "sign-flip", log10_pvalue=-1.2248),
        wins=51,
        ties=69,
        losses=30,
        effect_size={"cohen_dz": 0.158},
        bounds=Bounds(0.031, 0.084, 150, 6, 0, interval(-0.03, 0.15)),
    )
    return replace(base, **changes)


def latency(**changes: Any) -> Delta:
    values: dict[str, Any] = {
        "direction": "lower",
        "baseline": 798.21,
        "variant": 831.61,
        "delta": 33.40,
        "standard_error": 19.2,
        "difference_range": None,
        "relative": RelativeDelta(0.0418, interval(-0.005, 0.09, "fieller"), None),
        "interval": interval(-4.5, 71.3),
        "bootstrap_interval": interval(-4.1, 71.0, "expanded-percentile"),
        "permutation_interval": interval(-4.4, 71.2, "sign-flip"),
        "variant_interval": interval(790.2, 876.1, "hall"),
        "test": TestResult(0.08363827, "sign-flip"),
        "wins": 67,
        "ties": 0,
        "losses": 83,
        "bounds": None,
        "notes": (Note("skewed", "The differences are skewed."),),
    }
    return delta("latency_ms", **(values | changes))


def binary(metric: str = "failed", **changes: Any) -> Delta:
    values: dict[str, Any] = {
        "direction": "lower",
        "baseline": 0.0,
        "variant": 0.006666666666666667,
        "delta": 0.006666666666666667,
        "interval": interval(-0.0186, 0.0368, "newcombe"),
        "variant_interval": interval(0.0012, 0.0368, "wilson"),
        "test": TestResult(0.5, "mcnemar-midp"),
        "wins": 0,
        "ties": 149,
        "losses": 1,
        "table": BinaryTable(0, 0, 1, 149),
        "bounds": None,
    }
    return delta(metric, **(values | changes))


def empty(metric: str = "context_recall") -> Delta:
    """A metric that no question has in both arms."""
    return Delta(metric=metric, direction="higher", n_pairs=0)


def sliced(label: str, n_pairs: int, value: float, **changes: Any) -> Delta:
    half = 0.5 / np.sqrt(n_pairs)
    values: dict[str, Any] = {
        "slice": (("qtype", label),),
        "n_pairs": n_pairs,
        "baseline": 0.5,
        "variant": 0.5 + value,
        "delta": value,
        "interval": interval(value - half, value + half),
        "pvalue_adjusted": 0.2,
        "bounds": None,
    }
    return delta(**(values | changes))


def breakdown(labels: tuple[str, ...] = ("multi_hop", "factoid")) -> SliceBreakdown:
    deltas = [sliced(labels[0], 40, -0.121)]
    deltas += [sliced(label, 60, 0.131) for label in labels[1:]]
    return SliceBreakdown(
        spec=SliceSpec(("qtype",)),
        deltas=tuple(deltas),
        heterogeneity=(
            SliceHeterogeneity(
                metric="correct",
                variant_name="variant",
                test=TestResult(0.0123, "sign-flip", statistic=9.1),
                df=len(labels) - 1,
                i2=67.0,
                tau2=0.01,
                pooled_delta=0.02,
                shrunken=tuple((((("qtype", label),)), 0.03) for label in labels),
            ),
        ),
    )


def arm_table(n_questions: int, status: bool = True) -> ArmTable:
    return ArmTable(
        question=np.arange(n_questions),
        trial=np.zeros(n_questions, dtype=np.int64),
        trial_labels=("1", "2", "3"),
        status=np.zeros(n_questions, dtype=np.int8) if status else None,
        metrics={},
        texts={},
    )


def pairs(question_ids: tuple[str, ...], labels: tuple[str, ...] = ()) -> Pairs:
    size = len(question_ids)
    marked = {"qtype": np.array(labels, dtype=object)} if labels else {}
    return Pairs(
        question_id=np.array(question_ids, dtype=object),
        paired=np.ones(size, dtype=bool),
        baseline=arm_table(size),
        variant=arm_table(size),
        labels=marked,
        clusters=None,
    )


def audit(**changes: Any) -> Audit:
    base = Audit(
        baseline_name="baseline",
        variant_name="variant",
        rows_read=(453, 456),
        rows_by_status={"answered": (448, 442), "unscored": (5, 11), "failed": (0, 3)},
        rows_left_out={"question only in this arm": (3, 6)},
        trials=(3, 3),
        questions=(151, 152),
        paired=150,
        only_baseline=("q151",),
        only_variant=("q152", "q153"),
        not_comparable=(),
        metrics={"correct": MetricAudit(150), "latency_ms": MetricAudit(150)},
        settings_changed=(SettingChange("retriever.top_k", 3, 8),),
        settings_recorded=(True, True),
        notes=(Note("unmatched-questions", "3 questions are in one arm only."),),
    )
    return replace(base, **changes)


def trials(metric: str = "correct") -> MetricTrials:
    return MetricTrials(
        metric,
        ArmTrials(("1", "2", "3"), (0.500, 0.513, 0.587), 0.0468),
        ArmTrials(("1", "2", "3"), (0.541, 0.615, 0.582), 0.0371),
    )


def comparison(**changes: Any) -> Comparison:
    values: dict[str, Any] = {
        "baseline": ArmSummary("baseline", (SourceFile("b.csv", SHA),), 453, 3, {}),
        "variants": (ArmSummary("variant", (SourceFile("v.csv", SHA),), 456, 3, {}),),
        "audits": (audit(),),
        "pairs": (pairs(("q1", "q2", "q3"), ("multi_hop", "factoid", "factoid")),),
        "metrics": (Metric("correct"), Metric("latency_ms"), Metric("context_recall")),
        "plan": plan(),
        "deltas": (delta(), latency(), empty()),
        "rates": (binary(),),
        "slices": (breakdown(),),
        "trials": (trials(),),
        "notes": (Note("direction-assumed", "latency_ms: lower is better."),),
        "signature": "unit:question|n:150|onechange:0.1.0",
        "values": {
            ("variant", "correct"): MetricValues(
                baseline=np.array([1.0, 0.0, 0.5]),
                variant=np.array([0.0, 1.0, 0.5]),
                paired=np.ones(3, dtype=bool),
            )
        },
    }
    return Comparison(**(values | changes))


def plan(**changes: Any) -> Plan:
    values: dict[str, Any] = {
        "primary": Primary("correct"),
        "guardrails": [Guardrail("latency_ms", margin=80.0)],
        "slices": ["qtype"],
        "name": "top_k 3 to 8",
    }
    return Plan(**(values | changes))


def rule(metric: str = "correct", **changes: Any) -> RuleStatus:
    values: dict[str, Any] = {
        "metric": metric,
        "role": "primary",
        "statistic": "mean",
        "status": "inconclusive",
        "reason": REASON,
        "min_improvement": 0.0,
        "delta": delta(),
    }
    return RuleStatus(**(values | changes))


def guardrail(**changes: Any) -> RuleStatus:
    values: dict[str, Any] = {
        "metric": "latency_ms",
        "role": "guardrail",
        "status": "pass",
        "reason": "latency_ms: pass: the rise is at most 71, within the margin 80",
        "margin": 80.0,
        "min_improvement": None,
        "pvalue_margin": 0.0081,
        "smallest_margin": 38.2,
        "pass_probability_unchanged": 0.98,
        "delta": latency(),
    }
    return rule(**(values | changes))


def decision(**changes: Any) -> Decision:
    values: dict[str, Any] = {
        "decision": "inconclusive",
        "reason": REASON,
        "statuses": (rule(), guardrail()),
        "comparison": comparison(),
        "plan": plan(),
        "next_steps": ("About 120 more questions like these would settle it",),
    }
    return Decision(**(values | changes))
