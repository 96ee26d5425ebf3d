"""Comparison -> the text of a draft plan."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from onechange.compare import Comparison
from onechange.delta import Delta
from onechange.draft.resolution import Resolution, resolution, rounded_up
from onechange.draft.toml_text import can_be_written, commented, toml_value
from onechange.errors import PlanError
from onechange.ledger import SettingChange
from onechange.pairs import Pairs
from onechange.plan import BUILT_IN_RATES
from onechange.results import FloatArray
from onechange.sources import QUESTION_TEXTS, possible_sources

__all__ = ["draft_plan"]

MOST_LABELS = 20  # of a slice
FEWEST_PAIRS = 10  # of a slice that gets a status
MOST_SLICES = 3  # that the draft asks for; further candidates stand in a comment
SCALES = ((0.0, 1.0), (1.0, 5.0), (0.0, 10.0), (0.0, 100.0))


def draft_plan(comparison: Comparison) -> str:
    """Write a draft plan that loads, decides, and explains what to mend.

    Parameters
    ----------
    comparison : Comparison
        Of one baseline and one variant, made without rules.

    Returns
    -------
    str
        TOML with comments. No delta stands in it: a plan is written before looking.

    Raises
    ------
    PlanError
        When no metric is scored in both arms.

    Examples
    --------
    >>> import pandas as pd
    >>> import onechange as oc
    >>> ids = [f"q{i}" for i in range(40)]
    >>> before = pd.DataFrame({"question_id": ids, "correct": [0, 1, 0, 0] * 10})
    >>> after = pd.DataFrame({"question_id": ids, "correct": [1, 1, 1, 0] * 10})
    >>> text = draft_plan(oc.compare(before, after))
    >>> 'metric = "correct"' in text
    True
    """
    measured = [
        delta
        for delta in comparison.deltas
        if delta.statistic == "mean"
        and delta.n_pairs > 0
        and can_be_written(delta.metric)
        and delta.metric not in BUILT_IN_RATES
    ]
    if not measured:
        raise PlanError(
            "no metric is scored in both arms, so there is nothing to plan; look at "
            "onechange audit BASELINE VARIANT."
        )
    ranges = {delta.metric: _range(comparison, delta) for delta in measured}
    found = {
        delta.metric: resolution(comparison, delta, ranges[delta.metric])
        for delta in measured
    }
    primary = next((d for d in measured if d.direction == "higher"), measured[0])
    parts = [
        _experiment(comparison),
        _data(comparison),
        _metrics(comparison, measured, ranges),
        _primary(primary, found[primary.metric]),
        _guardrails([d for d in measured if d is not primary], found),
        _rates(comparison),
        _analysis(comparison),
    ]
    return "\n".join(line for part in parts for line in part) + "\n"


def _experiment(comparison: Comparison) -> Iterator[str]:
    audit = comparison.audits[0]
    changed = [row for row in audit.settings_changed if can_be_written(row.setting)]
    yield "# A draft: read every line, mend it, and fix it before you look at results."
    yield "# All keys: docs/plan.md. Lines behind a # are suggestions."
    yield ""
    yield "[experiment]"
    yield f"name = {toml_value(_title(changed))}"
    yield '# hypothesis = "What should improve, where, and what may suffer."'
    recorded = comparison.baseline.settings.get("question_set")
    if isinstance(recorded, str) and can_be_written(recorded):
        yield f"question_set = {toml_value(recorded)}"
    yield 'stage = "release"   # or "development": then confirm on held-out questions'
    if not changed:
        state = (
            "The recorded settings of both arms are the same."
            if all(audit.settings_recorded)
            else "Not both arms record settings, so nothing shows what changed."
        )
        yield f"# {state}"
        yield "# [experiment.change]"
        yield '# setting = "retriever.top_k"'
        yield ""
        return
    if len(changed) > 1:
        others = [row.setting for row in changed[1:]]
        yield (
            f"# {len(changed)} settings differ. Declare one; the others forbid ship "
            "unless accepted:"
        )
        yield f"# accepted_changes = {toml_value(others)}"
    yield from _change(changed[0])
    yield ""


def _title(changed: list[SettingChange]) -> str:
    if not changed:
        return "variant against baseline"
    first = changed[0]
    ends = (first.baseline, first.variant)
    if not all(isinstance(end, str | int | float) for end in ends):
        return first.setting
    title = f"{first.setting} {ends[0]} to {ends[1]}"
    return title if len(title) <= 80 and can_be_written(title) else first.setting


def _change(row: SettingChange) -> Iterator[str]:
    yield "[experiment.change]                # the one setting that may differ"
    yield f"setting = {toml_value(row.setting)}"
    for key, value in (("from", row.baseline), ("to", row.variant)):
        if value is not None and can_be_written(value):
            yield f"{key} = {toml_value(value)}"


def _data(comparison: Comparison) -> Iterator[str]:
    columns, pairs = comparison.plan.columns, comparison.pairs[0]
    yield "[data]"
    for key in ("question_id", "trial", "status", "cluster"):
        value = getattr(columns, key)
        if value is not None:
            yield f"{key} = {toml_value(value)}"
    for key in ("metrics", "settings"):
        names = list(getattr(columns, key))
        if names:
            yield f"{key} = {toml_value(names)}"
    sources = [] if columns.cluster else possible_sources(pairs, columns.settings)
    for source in sources:
        if can_be_written(source.column):
            yield (
                f"# cluster = {toml_value(source.column)}   # {source.n_values} values "
                f"over {source.n_labelled} questions: declare it if they share a source"
            )
    asked = [_slice_text(spec.columns, spec.cuts) for spec in comparison.plan.slices]
    seen = {columns.cluster, *(source.column for source in sources)}
    candidates = _slice_columns(pairs, {*seen, *columns.settings})
    chosen = candidates[:MOST_SLICES] if not asked else []
    values = asked or [_slice_text((column,), ()) for column in chosen]
    yield f"slices = [{', '.join(values)}]"
    further = [column for column in candidates if column not in chosen and not asked]
    if further:
        yield f"# further candidates: {', '.join(map(toml_value, further))}"
    yield ""


def _slice_text(columns: tuple[str, ...], cuts: tuple[float, ...]) -> str:
    if cuts:
        listed = ",".join(f"{cut:g}" for cut in cuts)
        return toml_value(f"{columns[0]}:{listed}")
    plain = len(columns) == 1 and not set(columns[0]) & set(",:")
    return toml_value(columns[0] if plain else list(columns))


def _slice_columns(pairs: Pairs, taken: set[str | None]) -> list[str]:
    """Columns with a few labels, at least two of which have enough pairs."""
    found = []
    for column, labels in pairs.labels.items():
        if column in taken or column in QUESTION_TEXTS or not can_be_written(column):
            continue
        paired = [text for text in labels[pairs.paired].tolist() if text is not None]
        _, counts = np.unique(np.array(paired, dtype=object), return_counts=True)
        if counts.size <= MOST_LABELS and np.sum(counts >= FEWEST_PAIRS) >= 2:
            found.append(column)
    return found


def _metrics(
    comparison: Comparison,
    measured: list[Delta],
    ranges: dict[str, tuple[float, float] | None],
) -> Iterator[str]:
    yield "# Directions are taken from the names, ranges from the scores: check both."
    for delta in measured:
        yield "[[metric]]"
        yield f"name = {toml_value(delta.metric)}"
        yield f'direction = "{delta.direction}"'
        declared = ranges[delta.metric]
        if declared is not None:
            ends = ", ".join(f"{end:g}" for end in declared)
            yield f"range = [{ends}]   # bounds for missing scores need it"
            continue
        scale = _scale(_scores(comparison, delta.metric))
        if scale is not None:
            yield f"# range = [{scale[0]:g}, {scale[1]:g}]   # if this is the scale"
    yield ""


def _range(comparison: Comparison, delta: Delta) -> tuple[float, float] | None:
    """Return the declared range, or 0 to 1 where the scores leave little doubt."""
    for metric in comparison.plan.metrics:
        if metric.name == delta.metric and metric.range is not None:
            return metric.range
    scores = _scores(comparison, delta.metric)
    # Seconds and costs may all lie below 1 without being shares.
    sure = delta.direction == "higher" or bool(np.all((scores == 0) | (scores == 1)))
    return SCALES[0] if sure and _scale(scores) == SCALES[0] else None


def _scores(comparison: Comparison, metric: str) -> FloatArray:
    """All scores of both arms, trial by trial."""
    pairs = comparison.pairs[0]
    arms = (pairs.baseline, pairs.variant)
    both = [arm.metrics[metric] for arm in arms if metric in arm.metrics]
    scores = np.concatenate(both)
    return scores[np.isfinite(scores)]


def _scale(scores: FloatArray) -> tuple[float, float] | None:
    """Return the first usual scale that holds all scores."""
    for low, high in SCALES:
        if scores.size and scores.min() >= low and scores.max() <= high:
            return low, high
    return None


def _primary(delta: Delta, found: Resolution) -> Iterator[str]:
    yield "[primary]"
    yield f"metric = {toml_value(delta.metric)}"
    yield "min_improvement = 0.0"
    if found.likely is not None:
        yield (
            f"# {delta.n_pairs} questions find an improvement of about "
            f"{rounded_up(found.likely):g} in four runs of five"
        )
    yield ""


def _guardrails(deltas: list[Delta], found: dict[str, Resolution]) -> Iterator[str]:
    if deltas:
        yield (
            "# Margins are what the questions can show, not what is tolerable: that is "
            "for you to say."
        )
    for delta in deltas:
        known = found[delta.metric]
        if known.likely is None:
            yield (
                f"# {commented(delta.metric)}: these questions can show no margin yet"
            )
            continue
        yield "[[guardrail]]"
        yield f"metric = {toml_value(delta.metric)}"
        yield (
            f"margin = {toml_value(rounded_up(known.likely))}"
            "   # passes in four runs of five if nothing changed"
        )
        if known.smallest is not None:
            yield (
                f"# the smallest that {delta.n_pairs} questions could show is "
                f"{rounded_up(known.smallest):g}, with no changed answer"
            )
        if delta.direction == "lower" and known.smallest is None:
            yield '# or relative to the baseline: margin = "10%"; or: limit = 3000'
    yield ""


def _rates(comparison: Comparison) -> Iterator[str]:
    """Suggest a guardrail on failures where the rows record a status."""
    rate = next((d for d in comparison.rates if d.metric == "failed"), None)
    if rate is None or rate.n_pairs == 0:
        yield "# The rows record no status, so failures cannot be guarded."
        yield ""
        return
    yield "[[guardrail]]"
    yield 'metric = "failed"                  # built in; also: "unscored", "answered"'
    known = resolution(comparison, rate)
    if known.likely is not None:
        yield (
            f"margin = {toml_value(rounded_up(known.likely))}"
            "   # passes in four runs of five if nothing changed"
        )
        if known.smallest is not None:
            yield (
                f"# the smallest that {rate.n_pairs} questions could show is "
                f"{rounded_up(known.smallest):g}, with no failure at all"
            )
    else:
        yield "limit = 0.05"
    yield '# or for this run alone: limit = 0.02 with rule = "estimate"'
    yield ""


def _analysis(comparison: Comparison) -> Iterator[str]:
    analysis = comparison.plan.analysis
    yield "[analysis]"
    yield f"confidence_level = {toml_value(float(analysis.confidence_level))}"
    yield f"seed = {analysis.seed}   # used only where sampling is unavoidable"
