"""Where a change of correctness arises: in retrieval, or in generation.

A description of the two arms, not a causal effect.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onechange.errors import MethodError
from onechange.stats.estimate import Interval, Note
from onechange.stats.resample import quantile_error
from onechange.stats.signflip import n_min, tail_probability
from onechange.stats.student import t_quantile

__all__ = ["MIN_CELL", "ArmStages", "StageAttribution", "stage_attribution"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MIN_CELL = 5  # questions that each arm needs with, and without, evidence
_BATCH = 2_000_000  # counts drawn at a time
_MOST_REDRAWS = 20  # per wanted resample


@dataclass(frozen=True, slots=True)
class ArmStages:
    """Correctness of one arm by whether the evidence is in the context.

    Parameters
    ----------
    evidence_share : float
        P(evidence present).
    correct_with, correct_without : float or None
        P(correct | evidence present) and P(correct | evidence absent).
    n_with, n_without : int
        Questions with some trial of either kind.
    """

    evidence_share: float
    correct_with: float | None
    correct_without: float | None
    n_with: int
    n_without: int


@dataclass(frozen=True, slots=True)
class StageAttribution:
    """A delta of correctness as retrieval part plus generation part.

    Parameters
    ----------
    n_pairs : int
        Questions with evidence and correctness known in both arms.
    delta : float or None
        Delta of correctness over these pairs: the sum of both parts.
    retrieval, generation : float or None
        The parts; None with `reason` when a cell is too small.
    retrieval_interval, generation_interval : Interval or None
        Paired bootstrap intervals.
    baseline, variant : ArmStages or None
        What the parts are made of.
    n_redrawn : int
        Resamples drawn again because a cell was empty in them.
    n_clusters : int or None
        Clusters that were resampled whole.
    reason : str or None
        Why the parts are not reported.
    notes : tuple of Note
        Caveats.
    """

    n_pairs: int
    delta: float | None = None
    retrieval: float | None = None
    generation: float | None = None
    retrieval_interval: Interval | None = None
    generation_interval: Interval | None = None
    baseline: ArmStages | None = None
    variant: ArmStages | None = None
    n_redrawn: int = 0
    n_clusters: int | None = None
    reason: str | None = None
    notes: tuple[Note, ...] = ()


def stage_attribution(
    baseline: tuple[FloatArray, FloatArray],
    variant: tuple[FloatArray, FloatArray],
    *,
    clusters: IntArray | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    seed: int = 7,
) -> StageAttribution:
    """Split the delta of correctness into a retrieval and a generation part.

    Parameters
    ----------
    baseline, variant : tuple of two ndarray of float
        Evidence present (0 or 1) and correctness, each of shape (n_questions,) or
        (n_questions, n_trials); NaN is not known. Trials need both.
    clusters : ndarray of int, shape (n_questions,), optional
        Cluster of each question; whole clusters are resampled.
    confidence_level : float
        Two-sided level.
    n_resamples : int
        Number of resamples.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    StageAttribution

    Raises
    ------
    MethodError
        If shapes do not fit, or evidence is neither 0 nor 1.

    Notes
    -----
    With h = evidence present or absent and c = correctness,
    retrieval = Σ_h ΔP(h) · ½(P_b(c|h) + P_v(c|h)) and
    generation = Σ_h ½(P_b(h) + P_v(h)) · ΔP(c|h); their sum is the delta. Each of the
    four cells (arm × h) needs 5 questions. Intervals are expanded percentiles of a
    paired bootstrap; resamples with an empty cell are drawn again and counted.

    Examples
    --------
    >>> import numpy as np
    >>> h_b, h_v = np.repeat([0.0, 1.0], 10), np.repeat([0.0, 1.0], [5, 15])
    >>> parts = stage_attribution((h_b, h_b), (h_v, h_v), n_resamples=199)
    >>> parts.delta, parts.retrieval, parts.generation
    (0.25, 0.25, 0.0)
    """
    moments, labels = _moments(baseline, variant, clusters)
    n_pairs = len(moments)
    if n_pairs == 0:
        reason = "no question has evidence and correctness in both arms"
        return StageAttribution(n_pairs=0, reason=reason)
    sums = moments.sum(axis=0)
    arms = [_arm(moments, start) for start in (1, 4)]
    delta = float((sums[6] - sums[3]) / n_pairs)
    n_clusters = None if labels is None else int(np.unique(labels).size)
    smallest = min(min(arm.n_with, arm.n_without) for arm in arms)
    if smallest < MIN_CELL:
        reason = (
            f"a cell holds {smallest} questions; each arm needs {MIN_CELL} with and "
            f"{MIN_CELL} without evidence in the context"
        )
        return StageAttribution(
            n_pairs=n_pairs,
            delta=delta,
            baseline=arms[0],
            variant=arms[1],
            n_clusters=n_clusters,
            reason=reason,
        )
    retrieval, generation = (float(part[0]) for part in _parts(sums[None, :]))
    units = moments if labels is None else _cluster_sums(moments, labels)
    intervals: list[Interval | None] = [None, None]
    notes: tuple[Note, ...] = ()
    n_redrawn = 0
    if len(units) < n_min(confidence_level):
        many = "1 cluster is" if len(units) == 1 else f"{len(units)} clusters are"
        text = f"{many} too few for an interval of the parts."
        notes = (Note("few-clusters", text),)
    else:
        sampled, n_redrawn = _resample(units, n_resamples, seed)
        intervals = [
            _interval(values, len(units), confidence_level, seed) for values in sampled
        ]
    return StageAttribution(
        n_pairs=n_pairs,
        delta=delta,
        retrieval=retrieval,
        generation=generation,
        retrieval_interval=intervals[0],
        generation_interval=intervals[1],
        baseline=arms[0],
        variant=arms[1],
        n_redrawn=n_redrawn,
        n_clusters=n_clusters,
        notes=notes,
    )


def _moments(
    baseline: tuple[FloatArray, FloatArray],
    variant: tuple[FloatArray, FloatArray],
    clusters: IntArray | None,
) -> tuple[FloatArray, IntArray | None]:
    """Trial means of 1, h, h·c, c (baseline), h, h·c, c (variant), one row a pair."""
    columns = [*_arm_moments(*baseline), *_arm_moments(*variant)]
    if len({column.shape for column in columns}) > 1:
        raise MethodError("both arms must hold the same questions")
    table = np.column_stack([np.ones(columns[0].size), *columns])
    use = np.isfinite(table).all(axis=1)
    if clusters is None:
        return table[use], None
    if np.shape(clusters) != columns[0].shape:
        raise MethodError("clusters must name one cluster a question")
    return table[use], np.asarray(clusters)[use]


def _arm_moments(evidence: FloatArray, correct: FloatArray) -> tuple[FloatArray, ...]:
    h = np.asarray(evidence, dtype=np.float64)
    c = np.asarray(correct, dtype=np.float64)
    if h.shape != c.shape or h.ndim not in (1, 2):
        raise MethodError(
            f"evidence has shape {h.shape} and correctness {c.shape}; expected the "
            "same shape (n_questions,) or (n_questions, n_trials)"
        )
    if h.ndim == 1:
        h, c = h[:, None], c[:, None]
    if not np.all((h == 0) | (h == 1) | np.isnan(h)):
        raise MethodError("evidence present must be 0, 1 or NaN")
    known = np.isfinite(h) & np.isfinite(c)
    n = known.sum(axis=1).astype(np.float64)
    n[n == 0] = np.nan
    h, c = np.where(known, h, 0.0), np.where(known, c, 0.0)
    return h.sum(axis=1) / n, (h * c).sum(axis=1) / n, c.sum(axis=1) / n


def _arm(moments: FloatArray, start: int) -> ArmStages:
    h, hc, c = moments[:, start : start + 3].T
    with_, without = float(h.sum()), float((1 - h).sum())
    return ArmStages(
        evidence_share=float(h.mean()),
        correct_with=float(hc.sum()) / with_ if with_ > 0 else None,
        correct_without=float((c - hc).sum()) / without if without > 0 else None,
        n_with=int(np.count_nonzero(h > 0)),
        n_without=int(np.count_nonzero(h < 1)),
    )


def _parts(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split each row of sums of moments, shape (n, 7), into its two parts."""
    n, h_b, hc_b, c_b, h_v, hc_v, c_v = sums.T
    retrieval = np.zeros(len(sums))
    generation = np.zeros(len(sums))
    cells = ((h_b, hc_b, h_v, hc_v), (n - h_b, c_b - hc_b, n - h_v, c_v - hc_v))
    for size_b, right_b, size_v, right_v in cells:
        correct_b, correct_v = right_b / size_b, right_v / size_v
        retrieval += (size_v - size_b) / n * (correct_b + correct_v) / 2
        generation += (size_b + size_v) / (2 * n) * (correct_v - correct_b)
    return retrieval, generation


def _cluster_sums(moments: FloatArray, labels: IntArray) -> FloatArray:
    codes = np.unique(labels, return_inverse=True)[1]
    order = np.lexsort((*moments.T, codes))  # row order must not change the rounding
    sums = np.zeros((int(codes.max()) + 1, moments.shape[1]))
    np.add.at(sums, codes[order], moments[order])
    return sums


def _resample(
    units: FloatArray, n_resamples: int, seed: int
) -> tuple[tuple[FloatArray, FloatArray], int]:
    """Both parts in resamples of the units; equal units are drawn together."""
    rng = np.random.default_rng(seed)
    kinds, counts = np.unique(units, axis=0, return_counts=True)
    shares = counts / counts.sum()
    parts: list[tuple[FloatArray, FloatArray]] = []
    missing, n_redrawn = n_resamples, 0
    size = max(1, _BATCH // len(kinds))
    while missing > 0:
        drawn = rng.multinomial(len(units), shares, size=min(missing, size))
        sums = drawn @ kinds
        filled = _all_cells_filled(sums)
        n_redrawn += int(np.count_nonzero(~filled))
        if n_redrawn > _MOST_REDRAWS * n_resamples:
            raise MethodError(
                "nearly every resample lacks a cell of evidence and arm; declare "
                "fewer, larger groups or leave the attribution out"
            )
        parts.append(_parts(sums[filled]))
        missing -= int(np.count_nonzero(filled))
    retrieval, generation = (np.concatenate(part) for part in zip(*parts, strict=True))
    return (retrieval, generation), n_redrawn


def _all_cells_filled(sums: FloatArray) -> NDArray[np.bool_]:
    n, h_b, h_v = sums[:, 0], sums[:, 1], sums[:, 4]
    noise = 1e-9
    filled = (h_b > noise) & (h_v > noise) & (n - h_b > noise) & (n - h_v > noise)
    return np.asarray(filled, dtype=np.bool_)


def _interval(
    values: FloatArray, n_units: int, confidence_level: float, seed: int
) -> Interval:
    """Take the expanded percentiles of sampled values."""
    from scipy.special import ndtr

    tail = tail_probability(confidence_level)
    spread = math.sqrt(n_units / (n_units - 1))
    tail = float(ndtr(-spread * t_quantile(tail, n_units - 1)))
    rank = max(1, int((values.size + 1) * tail * (1 + 1e-12)))
    ordered = np.sort(values)
    low, high = float(ordered[rank - 1]), float(ordered[values.size - rank])
    errors = (quantile_error(ordered, tail), quantile_error(ordered, 1 - tail))
    note = Note(
        "sampled",
        f"Sampled with {values.size} resamples (seed {seed}); Monte Carlo standard "
        f"error of the limits {max(errors):.2g}.",
    )
    return Interval(
        low=low,
        high=high,
        confidence_level=confidence_level,
        method="expanded-percentile",
        degenerate=low == high,
        n_resamples=int(values.size),
        notes=(note,),
    )
