"""Run-to-run variation of each metric: in each arm, and in the delta."""

from onechange.trials.arm import ArmTrials, arm_trials
from onechange.trials.delta import DeltaTrials
from onechange.trials.metric import MetricTrials, metric_trials, rate_runs
from onechange.trials.single import SingleMetric, TrialsAnalysis, analyse_trials
from onechange.trials.table import TrialsTable
from onechange.trials.tables import score_table

__all__ = [
    "ArmTrials",
    "DeltaTrials",
    "MetricTrials",
    "SingleMetric",
    "TrialsAnalysis",
    "TrialsTable",
    "analyse_trials",
    "arm_trials",
    "metric_trials",
    "rate_runs",
    "score_table",
]
