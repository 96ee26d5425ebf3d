"""The rows of both arms -> everything that says where to look, when they carry it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.delta import Methods
from onechange.diagnosis.attribution import StageAttribution, stage_attribution
from onechange.diagnosis.oracle import OracleGap, oracle_gap
from onechange.diagnosis.reading import (
    STAGE_THRESHOLDS,
    StageFinding,
    is_read,
    stage_reading,
)
from onechange.diagnosis.transitions import (
    Transitions,
    correct_grounded,
    evidence_support,
    question_categories,
    transitions,
)
from onechange.pairs import ArmTable, Pairs, question_means, trial_table
from onechange.plan import Metric
from onechange.stats.estimate import Note

__all__ = [
    "CORRECT",
    "EVIDENCE",
    "FAILURE",
    "GROUNDED",
    "MISSING_FIELD",
    "ORACLE",
    "Diagnosis",
    "diagnose",
]

FloatArray = NDArray[np.float64]
Arms = tuple[FloatArray, FloatArray]

EVIDENCE = "evidence_in_context"
GROUNDED = "grounded"
CORRECT = ("correct", "correctness")  # the first that both arms have
FAILURE = "failure_category"
MISSING_FIELD = "failure_missing"
ORACLE = "oracle_"  # oracle_correct holds `correct` under oracle context
# The order of the pipeline, as scoring walks it.
_WALK = (
    *("CORPUS_MISSING", "BAD_CHUNKING", "RETRIEVAL_MISS", "RERANKING_MISS"),
    *("CONTEXT_NOISE", "GENERATION_ERROR", "UNFAITHFUL_CLAIM", "BAD_CITATION"),
    *("FAILED_TO_ABSTAIN", "SUCCESS", "UNDETERMINED"),
)
_FEWEST_READ = 2  # scores of the four that must be measured for a reading


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis:
    """Where a variant's questions changed along the pipeline; None is not recorded.

    Parameters
    ----------
    variant_name : str
        Name of the variant.
    evidence_support : Transitions or None
        Evidence in the context × answer supported, and the transitions.
    correct_grounded : Transitions or None
        Correctness × groundedness, and the transitions.
    failures : Transitions or None
        Failure categories, and the transitions.
    missing_fields : tuple of (str, int, int)
        Field whose absence left the category open; rows of the baseline and the
        variant.
    correct_column : str or None
        Column that holds correctness.
    attribution : StageAttribution or None
        Retrieval and generation part of the delta of correctness.
    oracle : tuple of (str, OracleGap)
        Metric, and what oracle context changes.
    readings : tuple of tuple of StageFinding
        The four scores of the baseline and of the variant; empty when fewer than
        two of them are measured.
    notes : tuple of Note
        Columns that could not be used.
    """

    variant_name: str
    evidence_support: Transitions | None = None
    correct_grounded: Transitions | None = None
    failures: Transitions | None = None
    missing_fields: tuple[tuple[str, int, int], ...] = ()
    correct_column: str | None = None
    attribution: StageAttribution | None = None
    oracle: tuple[tuple[str, OracleGap], ...] = ()
    readings: tuple[tuple[StageFinding, ...], ...] = ()
    notes: tuple[Note, ...] = ()


def diagnose(
    pairs: Pairs,
    metrics: Sequence[Metric],
    methods: Methods,
    *,
    thresholds: Mapping[str, float] | None = None,
    variant_name: str = "variant",
) -> Diagnosis | None:
    """Diagnose the paired questions of a variant.

    Parameters
    ----------
    pairs : Pairs
        Both arms. Columns are those that scoring writes: ``evidence_in_context``,
        ``grounded``, ``correct`` (or ``correctness``), ``failure_category``,
        ``failure_missing``; and ``oracle_<metric>`` for scores under oracle context.
    metrics : sequence of Metric
        Resolved metrics, for direction and range.
    methods : Methods
        Level, resamples and seed.
    thresholds : mapping of str to float, optional
        Score to the value below which its stage is low; 0.7 where none is given.
    variant_name : str
        Name of the variant.

    Returns
    -------
    Diagnosis or None
        None when the rows carry none of it.
    """
    flags, notes = _flags(pairs)
    correct = next((name for name in CORRECT if name in flags), None)
    ids = pairs.question_id[pairs.paired].tolist()

    def crossed(first: str | None, second: str | None) -> tuple[Arms, Arms] | None:
        if first not in flags or second not in flags:
            return None
        b, v = (
            (_table(pairs, arm, str(first)), _table(pairs, arm, str(second)))
            for arm in ("baseline", "variant")
        )
        return b, v

    support = crossed(EVIDENCE, GROUNDED)
    grounded = crossed(correct, GROUNDED)
    oracle = tuple(_oracle_gaps(pairs, metrics, methods))
    readings = _readings(pairs, {**STAGE_THRESHOLDS, **(thresholds or {})})
    failures = _failures(pairs, ids)
    attribution = None
    if correct is not None and EVIDENCE in flags:
        attribution = _attribution(pairs, correct, methods)
    found = (support, grounded, failures, attribution)
    if not (oracle or readings or notes or any(part is not None for part in found)):
        return None
    return Diagnosis(
        variant_name=variant_name,
        evidence_support=None if support is None else evidence_support(ids, *support),
        correct_grounded=None if grounded is None else correct_grounded(ids, *grounded),
        failures=failures,
        missing_fields=_missing_fields(pairs),
        correct_column=correct,
        attribution=attribution,
        oracle=oracle,
        readings=readings,
        notes=notes,
    )


def _flags(pairs: Pairs) -> tuple[set[str], tuple[Note, ...]]:
    """Columns of 0 and 1 that both arms have; a note on those with other values."""
    found, notes = set(), []
    for name in (EVIDENCE, GROUNDED, *CORRECT):
        scores = [arm.metrics.get(name) for arm in (pairs.baseline, pairs.variant)]
        known = [values[np.isfinite(values)] for values in scores if values is not None]
        if len(known) < 2:
            continue
        if all(np.all((values == 0) | (values == 1)) for values in known):
            found.add(name)
        elif name == EVIDENCE:
            text = f"{name} holds other values than 0 and 1; it is not diagnosed."
            notes.append(Note("not-measured", text))
    return found, tuple(notes)


def _means(pairs: Pairs, arm: str, metric: str) -> FloatArray:
    return question_means(pairs, arm, metric)[pairs.paired]


def _table(pairs: Pairs, arm: str, metric: str) -> FloatArray:
    return trial_table(pairs, arm, metric)[pairs.paired]


def _attribution(pairs: Pairs, correct: str, methods: Methods) -> StageAttribution:
    arms = [
        tuple(
            trial_table(pairs, arm, column)[pairs.paired]
            for column in (EVIDENCE, correct)
        )
        for arm in ("baseline", "variant")
    ]
    clusters = pairs.clusters
    return stage_attribution(
        (arms[0][0], arms[0][1]),
        (arms[1][0], arms[1][1]),
        clusters=None if clusters is None else clusters[pairs.paired],
        confidence_level=methods.confidence_level,
        n_resamples=methods.n_resamples,
        seed=methods.seed,
    )


def _failures(pairs: Pairs, ids: Sequence[str]) -> Transitions | None:
    arms = (pairs.baseline, pairs.variant)
    if not all(FAILURE in arm.texts for arm in arms):
        return None
    size = pairs.question_id.size
    found = []
    for arm in arms:
        names = question_categories(
            arm.question.tolist(),
            arm.texts[FAILURE].tolist(),
            size,
            worst_first=_WALK,
        )
        found.append([names[i] for i in np.flatnonzero(pairs.paired)])
    if all(name is None for names in found for name in names):
        return None
    return transitions(ids, found[0], found[1], categories=_WALK)


def _missing_fields(pairs: Pairs) -> tuple[tuple[str, int, int], ...]:
    counts = [_field_counts(pairs, arm) for arm in (pairs.baseline, pairs.variant)]
    names = sorted(counts[0].keys() | counts[1].keys())
    return tuple((name, counts[0][name], counts[1][name]) for name in names)


def _field_counts(pairs: Pairs, arm: ArmTable) -> Counter[str]:
    if MISSING_FIELD not in arm.texts:
        return Counter()
    texts = arm.texts[MISSING_FIELD][pairs.paired[arm.question]]
    return Counter(str(text) for text in texts if text is not None)


def _oracle_gaps(
    pairs: Pairs, metrics: Sequence[Metric], methods: Methods
) -> Iterable[tuple[str, OracleGap]]:
    names = set(pairs.baseline.metrics) & set(pairs.variant.metrics)
    clusters = pairs.clusters
    for metric in metrics:
        oracle = ORACLE + metric.name
        if metric.name not in names or oracle not in names:
            continue
        arms = [
            (_means(pairs, arm, metric.name), _means(pairs, arm, oracle))
            for arm in ("baseline", "variant")
        ]
        gap = oracle_gap(
            metric.name,
            baseline=arms[0],
            variant=arms[1],
            direction=metric.direction or "higher",
            score_range=metric.range or _unit_range(arms),
            clusters=None if clusters is None else clusters[pairs.paired],
            methods=methods,
        )
        yield metric.name, gap


def _unit_range(arms: Sequence[Arms]) -> tuple[float, float] | None:
    """0 to 1 for flags; None where the range is not known."""
    scores = np.concatenate([values for arm in arms for values in arm])
    known = scores[np.isfinite(scores)]
    binary = known.size and np.all((known == 0) | (known == 1))
    return (0.0, 1.0) if binary else None


def _readings(
    pairs: Pairs, thresholds: Mapping[str, float]
) -> tuple[tuple[StageFinding, ...], ...]:
    """Read each arm's own means over the paired questions."""
    found = []
    for name, arm in (("baseline", pairs.baseline), ("variant", pairs.variant)):
        means: dict[str, float | None] = {}
        for metric in filter(is_read, arm.metrics):
            values = _means(pairs, name, metric)
            known = values[np.isfinite(values)]
            means[metric] = float(known.mean()) if known.size else None
        found.append(stage_reading(means, thresholds=thresholds))
    measured = [sum(f.value is not None for f in findings) for findings in found]
    return tuple(found) if min(measured) >= _FEWEST_READ else ()
