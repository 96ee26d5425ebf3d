"""How many missing scores, or how many other answers, would turn a status."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onechange.plan import Analysis, Guardrail, Primary
from onechange.sensitivity.rescoring import Scores, mean_status
from onechange.status import Status, worse_of

__all__ = ["Fragility", "TippingPoint", "first_change", "fragility", "tipping_point"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TippingPoint:
    """How many questions that lack a score, filled at an end, change a status.

    Parameters
    ----------
    questions, rows : int or None
        The first count that does, as questions and as rows without a score; None:
        not even all of them do.
    n_questions, n_rows : int
        All of them.
    end : str
        ``worst``, or ``best`` when the status is ``fail``.
    status : Status or None
        What becomes of the status: a worse one, or a better one than ``fail``.
    """

    questions: int | None
    rows: int | None
    n_questions: int
    n_rows: int
    end: str
    status: Status | None


@dataclass(frozen=True, slots=True)
class Fragility:
    """How many other answers of the variant change a status.

    Parameters
    ----------
    answers : int or None
        The smallest number that does; None: not even all of them do.
    n_answers : int
        Answers that could be worse (better when the status is ``fail``).
    end : str
        ``worst`` or ``best``: what the answers are set to.
    status : Status or None
        What becomes of the status: a worse one, or a better one than ``fail``.
    """

    answers: int | None
    n_answers: int
    end: str
    status: Status | None


def tipping_point(
    rule: Primary | Guardrail,
    scores: Scores,
    filled: Scores,
    missing_rows: IntArray,
    reported: Status,
    analysis: Analysis,
    *,
    pair_position: IntArray | None = None,
    further_position: IntArray | None = None,
) -> TippingPoint:
    """Let questions that lack a score join, filled, until the status changes.

    Parameters
    ----------
    rule : Primary or Guardrail
        A rule on the mean.
    scores : Scores
        The pairs.
    filled : Scores
        The questions that lack a score, with what is missing at its worst (for a
        ``fail`` at its best), in the order of their ids.
    missing_rows : ndarray of int, shape (n_questions,)
        Rows without a score of each of them.
    reported : Status
        The reported status.
    analysis : Analysis
        Level and name of the interval.
    pair_position : ndarray of int, shape (n_questions,), optional
        Position of each of them among the pairs, −1 for none: a pair of which only
        some trials are scored is replaced when it joins.
    further_position : ndarray of int, shape (n_questions,), optional
        Position of each of them in ``scores.further_variant``, −1 for none: a score
        that joins the pairs is no longer counted there.

    Returns
    -------
    TippingPoint

    Notes
    -----
    They join in the order of their filled difference, the one that speaks most
    against the status first, ties by id; the rest stays as it is. Only a worse status
    counts (a better one than ``fail``): that is what such questions can bring about.
    The count is found by bisection: once changed, a status stays changed while such
    questions join. All of them together give the pairs behind the bounds.
    """
    end = "best" if reported is Status.FAIL else "worst"
    sign = 1.0 if scores.direction == "higher" else -1.0
    improvement = sign * (filled.variant - filled.baseline)
    order = np.argsort(-improvement if end == "best" else improvement, kind="stable")

    def status_at(count: int, *, quick: bool = False) -> Status:
        joined = _joined(scores, filled, order[:count], pair_position, further_position)
        return mean_status(rule, joined, analysis, quick=quick)

    total = int(order.size)
    count = _first(status_at, reported, total)
    return TippingPoint(
        questions=count,
        rows=None if count is None else int(np.sum(missing_rows[order[:count]])),
        n_questions=total,
        n_rows=int(np.sum(missing_rows)),
        end=end,
        status=None if count is None else status_at(count),
    )


def fragility(
    rule: Primary | Guardrail,
    scores: Scores,
    reported: Status,
    analysis: Analysis,
    *,
    withheld: Callable[[FloatArray, bool], bool] | None = None,
) -> Fragility | None:
    """Set answers of the variant to an end until the status changes.

    Parameters
    ----------
    rule : Primary or Guardrail
        A rule on the mean.
    scores : Scores
        The pairs.
    reported : Status
        Their status; answers are set to their best for ``fail``, else to their worst.
    analysis : Analysis
        Level and name of the interval.
    withheld : callable, optional
        Whether missing scores take back a pass of such scores of the variant, and
        whether a quick look will do.

    Returns
    -------
    Fragility or None
        None without a declared range, unless the metric is binary.

    Notes
    -----
    Largest resulting change first, ties by id. On a binary metric all changes are
    equal, but it matters whether the baseline was right too: for a given number j
    the delta and both margins of the 2×2 table are fixed, and the phi of Newcombe's
    interval rises with the number of wins among the j. So its width is extreme, and
    the status decided, where as many or as few of them as possible are wins: both
    orders are tried, and the smaller number counts.
    """
    ends = (0.0, 1.0) if scores.binary else scores.score_range
    if ends is None:
        return None
    end = "best" if reported is Status.FAIL else "worst"
    wanted = ends[1] if (scores.direction == "higher") == (end == "best") else ends[0]
    change = np.abs(scores.variant - wanted)
    open_to_change = np.flatnonzero(change > 0)

    def search(order: IntArray) -> tuple[int | None, Status | None]:
        def status_at(count: int, *, quick: bool = False) -> Status:
            variant = scores.variant.copy()
            variant[order[:count]] = wanted
            altered = scores.with_variant(variant)
            status = mean_status(rule, altered, analysis, quick=quick)
            if status is not Status.PASS or withheld is None:
                return status
            return Status.INCONCLUSIVE if withheld(variant, quick) else status

        count = _first(status_at, reported, int(order.size))
        return count, None if count is None else status_at(count)

    found = [search(order) for order in _orders(scores, change, open_to_change)]
    answers, status = min(
        found, key=lambda pair: (pair[0] is None, pair[0] or 0), default=(None, None)
    )
    return Fragility(answers, int(open_to_change.size), end, status)


def first_change(
    changed: Callable[[int], bool], last: int, *, guess: int = 1
) -> int | None:
    """Find the smallest count that changes something which then stays changed.

    Parameters
    ----------
    changed : callable
        Whether a count from 1 to `last` changes it; 0 does not.
    last : int
        The largest count.
    guess : int, default 1
        Where to start.

    Returns
    -------
    int or None
        None when `last` does not change it.

    Examples
    --------
    >>> first_change(lambda count: count >= 37, 100)
    37
    >>> first_change(lambda count: count >= 37, 36) is None
    True
    """
    if last < 1:
        return None
    at = min(max(guess, 1), last)
    step = 1
    if changed(at):
        low, high = 0, at
        while high - step > 0 and changed(high - step):
            high -= step
            step *= 2
        low = max(0, high - step)
    else:
        low = at
        while True:
            if low == last:
                return None
            high = min(low + step, last)
            if changed(high):
                break
            low, step = high, step * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if changed(middle) else (middle, high)
    return high


def _first(status_at: Callable[..., Status], reported: Status, last: int) -> int | None:
    """First count that turns the status: a quick search, then the full rule near it."""

    def turned(count: int, *, quick: bool = False) -> bool:
        status = status_at(count, quick=quick)
        return status is not reported and _turns(reported, status)

    near = first_change(lambda count: turned(count, quick=True), last)
    return first_change(turned, last, guess=last if near is None else near)


def _turns(reported: Status, status: Status) -> bool:
    """Whether a status lies where the filled scores pull: worse, from fail better."""
    return (worse_of((reported, status)) is reported) == (reported is Status.FAIL)


def _orders(scores: Scores, change: FloatArray, where: IntArray) -> Sequence[IntArray]:
    if not scores.binary:
        return [where[np.argsort(-change[where], kind="stable")]]
    right_before = scores.baseline[where]
    return [
        where[np.argsort(-right_before, kind="stable")],
        where[np.argsort(right_before, kind="stable")],
    ]


def _joined(
    scores: Scores,
    filled: Scores,
    chosen: IntArray,
    pair_position: IntArray | None,
    further_position: IntArray | None,
) -> Scores:
    """Put the chosen questions in the place of their pair, or behind the pairs."""
    baseline, variant = scores.baseline, scores.variant
    new = chosen
    if pair_position is not None:
        replaced = chosen[pair_position[chosen] >= 0]
        new = chosen[pair_position[chosen] < 0]
        baseline, variant = baseline.copy(), variant.copy()
        baseline[pair_position[replaced]] = filled.baseline[replaced]
        variant[pair_position[replaced]] = filled.variant[replaced]
    clusters = scores.clusters
    if clusters is not None and filled.clusters is not None:
        clusters = np.concatenate([clusters, filled.clusters[new]])
    strata = scores.strata
    if strata is not None and filled.strata is not None:
        strata = np.concatenate([strata, filled.strata[new]])
    joined = replace(
        scores,
        baseline=np.concatenate([baseline, filled.baseline[new]]),
        variant=np.concatenate([variant, filled.variant[new]]),
        clusters=clusters,
        strata=strata,
    )
    if further_position is None or scores.further_variant is None:
        return joined
    moved = further_position[chosen]
    moved = moved[moved >= 0]
    others = scores.further_clusters
    return replace(
        joined,
        further_variant=np.delete(scores.further_variant, moved),
        further_clusters=None if others is None else np.delete(others, moved),
    )
