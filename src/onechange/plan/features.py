"""Which features a plan uses, and which of them are known but not built yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from onechange.plan.keys import Key
from onechange.plan.parts import Analysis, Guardrail, Metric, Primary
from onechange.results import Columns

__all__ = ["NOT_BUILT", "features"]

# Known keys whose machinery does not exist yet -> the sentence that says so.
# Whoever builds one deletes its line; nothing else needs to change.
NOT_BUILT: dict[str, str] = {}


def features(
    primaries: Sequence[Primary],
    guardrails: Sequence[Guardrail],
    metrics: Sequence[Metric],
    columns: Columns,
    analysis: Analysis,
    *,
    weights: Mapping[str, Mapping[str, float] | str],
) -> Iterator[tuple[str, Key]]:
    """Yield each feature of a plan that `NOT_BUILT` may list, with its key.

    Parameters
    ----------
    primaries, guardrails, metrics, columns, analysis, weights
        The parts of the plan.

    Yields
    ------
    feature : str
        Name of the feature, as in `NOT_BUILT`.
    key : tuple of str or int
        Path of the key that uses it.
    """
    if columns.cluster is not None:
        yield "data.cluster", ("data", "cluster")
    if weights:
        yield "data.weights", ("data", "weights")
    if analysis.trials_paired:
        yield "data.trials_paired", ("data", "trials_paired")
    if analysis.unscored != "exclude":
        yield "analysis.unscored", ("analysis", "unscored")
    if analysis.primaries != "all":
        yield "analysis.primaries", ("analysis", "primaries")
    for index, metric in enumerate(metrics):
        if metric.unscored not in (None, "exclude"):
            yield "metric.unscored", ("metric", index, "unscored")
        if metric.threshold is not None:
            yield "metric.threshold", ("metric", index, "threshold")
        if metric.numerator is not None:
            yield "metric.numerator", ("metric", index, "numerator")
    for index, rule in enumerate(guardrails):
        if rule.statistic != "mean":
            yield "guardrail.statistic", ("guardrail", index, "statistic")
        if isinstance(rule.margin, str):
            yield "guardrail.margin", ("guardrail", index, "margin")
        if rule.role != "guardrail":
            yield "guardrail.role", ("guardrail", index, "role")
        if rule.every_slice is not None:
            yield "guardrail.every_slice", ("guardrail", index, "every_slice")
